"""Confidence compared with that of random partitions."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import conclust as cc
from conclust.confidence import (
    chance_confidence,
    cluster_confidence,
    company,
    confidences,
    object_confidence,
)
from conclust.exceptions import (
    InputError,
    ParameterError,
    UnsupportedEnsembleError,
)


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(150, centers=3, n_features=4, random_state=0)
    return cc.EnsembleGenerator(
        "kmeans", n_partitions=30, n_clusters=[3, 4], random_state=0
    ).fit_transform(X)


def test_confidence_of_methods_without_memberships_is_the_company(blobs):
    model = cc.EAC(3).fit(blobs)
    sure = chance_confidence(model, blobs, random_state=0)
    assert sure.mean == pytest.approx(object_confidence(model, blobs).company.mean())
    assert (sure.by_chance < sure.mean - 0.2).all()


@pytest.mark.parametrize("model", [cc.PCC(3, divergence="l2"), cc.Voting(3), cc.AutoConsensus()])
def test_agreed_clusters_have_confidence_above_chance(model, blobs):
    model.set_params(random_state=0).fit(blobs)
    sure = chance_confidence(model, blobs, random_state=0)
    assert sure.mean == pytest.approx(model.membership_.max(axis=1).mean())
    assert sure.by_chance.shape == (3,)
    assert sure.means_something
    assert (sure.by_chance < sure.mean - 0.2).all()


@pytest.mark.parametrize("model", [cc.PCC(4, divergence="l2"), cc.Voting(4), cc.AutoConsensus(4)])
def test_random_partitions_have_chance_confidence(model):
    labels = np.random.default_rng(1).integers(0, 4, size=(200, 20))
    model.set_params(random_state=0).fit(labels)
    sure = chance_confidence(model, labels, n_draws=5, random_state=0)
    assert abs(sure.mean - sure.by_chance.mean()) < 0.05


def test_draws_keep_sizes_missing_noise_and_weights(monkeypatch):
    labels = np.array([[0, 0, 1], [0, 1, 1], [1, 1, -1], [1, -2, 0], [1, 0, 0], [0, 0, 0]])
    model = cc.PCC(2, divergence="l2", random_state=0).fit(cc.Ensemble(labels, weights=[1, 2, 3]))
    met = []
    fit = cc.PCC.fit
    monkeypatch.setattr(cc.PCC, "fit", lambda self, X, y=None: met.append(X) or fit(self, X))
    chance_confidence(model, cc.Ensemble(labels, weights=[1, 2, 3]), n_draws=4, random_state=0)
    assert len(met) == 4
    for drawn in met:
        np.testing.assert_array_equal(drawn.weights, [1, 2, 3])
        np.testing.assert_array_equal(drawn.labels == -1, labels == -1)
        for u in range(3):
            assert np.count_nonzero(drawn.labels[:, u] == -2) == np.count_nonzero(
                labels[:, u] == -2
            )
            sizes = [np.bincount(x[x >= 0]) for x in (drawn.labels[:, u], labels[:, u])]
            np.testing.assert_array_equal(*map(np.sort, sizes))
    assert any((drawn.labels != met[0].labels).any() for drawn in met[1:])


def test_draws_use_the_number_of_clusters_of_the_model(blobs):
    model = cc.AutoConsensus().fit(blobs)
    assert model.n_clusters_ == 3
    assert (chance_confidence(model, blobs, random_state=0).by_chance < 0.9).all()


@pytest.mark.parametrize(
    "method",
    [cc.BayesEstimate, cc.MedianPartition, cc.NonparametricBayesianEnsemble, cc.FCAConsensus],
)
def test_methods_without_a_number_are_compared_with_as_many_clusters(method, blobs, monkeypatch):
    model = method()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(blobs)
    numbers = []
    fit = cc.AddRemAdd.fit
    monkeypatch.setattr(
        cc.AddRemAdd, "fit", lambda self, X: numbers.append(fit(self, X).n_clusters_) or self
    )
    sure = chance_confidence(model, blobs, random_state=0)
    assert numbers == [model.n_clusters_] * 3
    assert sure.means_something  # before, one cluster of random partitions had confidence 1
    assert 1 / model.n_clusters_ < sure.by_chance.min() <= sure.by_chance.max() < 0.6


def test_many_objects_are_sampled():
    labels = np.random.default_rng(0).integers(0, 3, size=(5000, 6))
    model = cc.Voting(3, random_state=0).fit(labels)
    repeated = [
        chance_confidence(model, labels, max_samples=100, random_state=4).by_chance
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*repeated)


def test_invalid_arguments_are_refused(blobs):
    with pytest.raises(ParameterError, match="must be a fitted consensus"):
        chance_confidence([0, 1], blobs)
    model = cc.Voting(2, random_state=0).fit(blobs)
    with pytest.raises(InputError, match=r"of 150 objects\. Got one of 149"):
        chance_confidence(model, blobs[1:])
    soft = cc.Ensemble.from_memberships([np.full((6, 2), 0.5)] * 2)
    with pytest.raises(UnsupportedEnsembleError, match="takes hard partitions"):
        chance_confidence(cc.PCC(2, divergence="l2", random_state=0).fit(soft), soft)
    with pytest.raises(ParameterError, match="'n_draws' parameter of chance_confidence"):
        chance_confidence(model, blobs, n_draws=0)


def test_a_pipeline_gives_the_confidence_of_its_consensus():
    X, _ = make_blobs(60, centers=3, random_state=0)
    model = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(X)
    whole = chance_confidence(model, model.ensemble_, random_state=0)
    part = chance_confidence(model.consensus_, model.ensemble_, random_state=0)
    assert whole.mean == part.mean
    np.testing.assert_array_equal(whole.by_chance, part.by_chance)


def test_an_object_that_is_always_alone_has_no_confidence_of_its_own():
    labels = np.vstack(
        [np.repeat([0, 1], 10)[:, None] * np.ones((1, 6), dtype=int), np.full((1, 6), 9)]
    )
    consensus = np.append(np.repeat([0, 1], 10), 0)
    assert np.isnan(company(consensus, labels)[-1]).all()
    values = confidences(consensus, labels)
    assert values[-1] == 0.5
    as_noise = labels.copy()
    as_noise[-1] = -2
    np.testing.assert_array_equal(values, confidences(consensus, cc.Ensemble(as_noise)))


@pytest.mark.parametrize("label", [9, -2])
def test_an_object_that_all_partitions_and_the_consensus_put_apart_is_certain(label):
    labels = np.vstack([np.repeat([0, 1], 10)[:, None] * np.ones((1, 6), dtype=int), [[label] * 6]])
    consensus = np.append(np.repeat([0, 1], 10), 2)
    sure = object_confidence(consensus, labels)
    np.testing.assert_array_equal(sure.membership[-1], [0, 0, 1])
    assert sure.confidence[-1] == sure.company[-1] == sure.margin[-1] == 1
    assert sure.entropy[-1] == 0
    np.testing.assert_array_equal(cluster_confidence(consensus, labels).overlap, np.eye(3))
    # One of the six partitions puts it among ten others, itself the eleventh.
    labels[-1, 0] = 0
    expected = (5 + 1 / 11) / 6
    assert confidences(consensus, labels)[-1] == pytest.approx(expected, abs=1e-12)
    # A partition that observed no other object does not put it apart.
    labels[:-1, 1:] = -1
    assert confidences(consensus, labels)[-1] == pytest.approx(1 / 11, abs=1e-12)
