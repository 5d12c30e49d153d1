"""Predicted clusters are those of the fit, although memberships have columns for others."""

import numpy as np
import pytest

import conclust as cc


@pytest.mark.parametrize(
    "name", ["PCC", "PEACE", "WeightedPCC", "MixtureModel", "BayesianEnsemble"]
)
def test_new_objects_are_in_clusters_of_the_fit(name):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 300)
    labels = np.column_stack(
        [np.where(rng.random(300) < 0.15, rng.integers(0, 6, 300), truth) for _ in range(10)]
    )
    model = getattr(cc, name)(12, random_state=0).fit(labels)
    new = rng.integers(-2, 6, (200, 10))
    new[:5] = -2
    new[5] = -1
    found = model.predict(new)
    assert found[5] == -1
    assert np.delete(found, 5).min() >= 0
    assert found.max() < model.n_clusters_
    inside = model.predict_proba(new)[:, : model.n_clusters_]
    placed = (inside.max(axis=1) > 1e-9) & (found >= 0)
    np.testing.assert_array_equal(found[placed], inside[placed].argmax(axis=1))


def test_an_object_without_membership_in_the_clusters_is_in_none():
    labels = np.repeat(np.arange(3), 10)[:, None] * np.ones((1, 6), dtype=int)
    model = cc.MixtureModel(3, random_state=0).fit(labels)
    codes = np.zeros((3, 6), dtype=np.uint8)
    shares = np.array([[0.0, 0.0, 0.0], [0.0, 1e-12, 0.0], [1e-10, 0.0, 1e-11]])
    assert model._place_in_clusters(codes, shares).tolist() == [-1, 1, 0]
