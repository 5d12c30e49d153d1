from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust import EAC, PCC, ConsensusClustering, Ensemble, EnsembleGenerator
from conclust.exceptions import InputError, ParameterError

X, truth = make_blobs(240, 2, centers=3, cluster_std=0.6, random_state=0)


def test_it_is_the_generator_then_the_consensus():
    generator = EnsembleGenerator(n_partitions=12, random_state=3)
    model = ConsensusClustering(PCC(3, random_state=4), generator).fit(X)
    labels = clone(generator).fit_transform(X)
    by_hand = PCC(3, random_state=4).fit(labels)
    assert model.ensemble_ == Ensemble(labels)
    np.testing.assert_array_equal(model.labels_, by_hand.labels_)
    np.testing.assert_array_equal(model.membership_, by_hand.membership_)
    assert model.n_clusters_ == by_hand.n_clusters_
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_parts_are_cloned_and_left_alone():
    generator, consensus = EnsembleGenerator(n_partitions=5), PCC(3)
    ConsensusClustering(consensus, generator, random_state=0).fit(X)
    assert not hasattr(generator, "members_")
    assert not hasattr(consensus, "labels_")
    assert consensus.random_state is None


def test_one_seed_for_both_parts():
    fits = [
        ConsensusClustering(PCC(3), EnsembleGenerator(n_partitions=6), random_state=7).fit(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].membership_, fits[1].membership_)
    other = ConsensusClustering(PCC(3), EnsembleGenerator(n_partitions=6), random_state=8).fit(X)
    assert other.ensemble_ != fits[0].ensemble_


def test_new_points_are_labelled_by_every_member_and_placed():
    model = ConsensusClustering(PCC(3), EnsembleGenerator(n_partitions=20), random_state=0).fit(X)
    new = X + 1e-9
    np.testing.assert_array_equal(model.predict(new), model.labels_)
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba.argmax(axis=1), model.predict(new))
    far = model.predict(X[:5] + 0.01)
    np.testing.assert_array_equal(far, model.labels_[:5])


def test_subsampled_members_leave_labels_missing_and_predict_all():
    generator = EnsembleGenerator(n_partitions=30, sample_fraction=0.5)
    model = ConsensusClustering(PCC(3), generator, random_state=0).fit(X)
    assert model.ensemble_.has_missing
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert adjusted_rand_score(model.labels_, model.predict(X)) > 0.95


def test_members_that_cannot_label_new_points_say_so():
    generator = EnsembleGenerator([DBSCAN(eps=0.5), DBSCAN(eps=0.7)])
    model = ConsensusClustering(PCC(3), generator, random_state=0).fit(X)
    with pytest.raises(InputError, match="cannot label new points"):
        model.predict(X + 1)


def test_a_consensus_that_cannot_predict_has_no_predict():
    model = ConsensusClustering(EAC(3), EnsembleGenerator(n_partitions=6), random_state=0)
    assert not hasattr(model, "predict")
    assert not hasattr(model.fit(X), "predict_proba")
    with pytest.raises(AttributeError):
        _ = model.membership_


def test_in_a_pipeline_and_with_frames():
    model = make_pipeline(StandardScaler(), ConsensusClustering(PCC(3), random_state=0))
    labels = model.fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.9
    frame = pd.DataFrame(X, columns=["x", "y"])
    direct = ConsensusClustering(PCC(3), random_state=0).fit(frame)
    assert list(direct.feature_names_in_) == ["x", "y"]
    np.testing.assert_array_equal(direct.predict(frame), direct.predict(frame[["x", "y"]]))
    with pytest.raises(ValueError, match="feature names"):
        direct.predict(frame.rename(columns={"x": "z"}))


def test_generator_and_consensus_chain_as_a_pipeline():
    labels = make_pipeline(
        EnsembleGenerator(n_partitions=20, random_state=0), PCC(3, random_state=0)
    ).fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.9


def test_frames_out_of_the_generator_are_frames_in():
    generator = EnsembleGenerator(n_partitions=8, random_state=0).set_output(transform="pandas")
    model = PCC(3, random_state=0).fit(generator.fit_transform(X))
    assert list(model.feature_names_in_) == [f"partition_{u}" for u in range(8)]
    plain = EnsembleGenerator(n_partitions=8, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(model.labels_, PCC(3, random_state=0).fit(plain).labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"generator": 3}, "'generator' parameter of ConsensusClustering"),
        ({"consensus": 3}, "'consensus' parameter of ConsensusClustering"),
        ({"random_state": "x"}, "'random_state'"),
        ({"consensus": PCC(0)}, "'n_clusters' parameter of PCC"),
        ({"generator": EnsembleGenerator(n_partitions=0)}, "'n_partitions'"),
    ],
)
def test_bad_parts_are_named(parameters, message):
    with pytest.raises((ParameterError, TypeError), match=message):
        ConsensusClustering(**parameters).fit(X)


def test_prediction_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        ConsensusClustering().predict(X)
    with pytest.raises(NotFittedError):
        _ = ConsensusClustering().labels_
