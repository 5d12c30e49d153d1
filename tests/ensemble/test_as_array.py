"""An ensemble as an array of labels, and containers of labels that are not label arrays."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

import conclust as cc
from conclust import metrics, plotting, report
from conclust.exceptions import InputError

LABELS = np.array([[0, 0], [0, 1], [1, -1], [1, -2]])


def test_an_ensemble_converts_to_an_array_of_labels():
    ensemble = cc.Ensemble(LABELS)
    array = np.asarray(ensemble)
    assert array.dtype == np.int64
    np.testing.assert_array_equal(array, LABELS)
    assert not array.flags.writeable  # the ensemble's own
    assert np.asarray(ensemble) is array
    copy = np.array(ensemble)
    copy[0, 0] = 7
    assert ensemble.labels[0, 0] == 0
    for dtype in (np.int8, np.int32, np.float64):
        actual = np.asarray(ensemble, dtype=dtype)
        assert actual.dtype == dtype
        np.testing.assert_array_equal(actual, LABELS)
    np.testing.assert_array_equal(np.asarray(ensemble, dtype=np.int64), LABELS)


def test_impossible_conversions_to_arrays_are_refused():
    with pytest.raises(InputError, match="do not fit into uint8"):
        np.asarray(cc.Ensemble(LABELS), dtype=np.uint8)
    whole = cc.Ensemble(LABELS[:, :1])
    assert np.asarray(whole, dtype=np.uint8).dtype == np.uint8
    with pytest.raises(ValueError, match="must be copied"):
        np.array(whole, dtype=np.int32, copy=False)
    soft = cc.Ensemble.from_memberships([[[0.5, 0.5], [0.0, 1.0]]])
    with pytest.raises(InputError, match="Soft partitions are not an array of labels"):
        np.asarray(soft)


def test_a_single_membership_is_given_as_a_list():
    Y = np.eye(3)[[0, 1, 2, 0]]
    with pytest.raises(InputError, match=r"given as a list, \[Y\]"):
        cc.Ensemble.from_memberships(Y)
    assert cc.Ensemble.from_memberships([Y]).shape == (4, 1)


class Mine(ClusterMixin, BaseEstimator):
    """A custom consensus, as written by a user."""

    def fit(self, X, y=None):
        self.labels_ = np.unique(np.asarray(X), axis=0, return_inverse=True)[1].ravel()
        return self


def test_every_estimator_of_labels_accepts_an_ensemble():
    truth = np.repeat([0, 1, 2], 20)
    labels = np.column_stack([truth, (truth + 1) % 3, truth])
    ensemble = cc.Ensemble(labels)
    hamming = AgglomerativeClustering(3, metric="hamming", linkage="average")
    for method in (Mine(), KMeans(3, random_state=0), hamming):
        assert adjusted_rand_score(truth, method.fit_predict(ensemble)) == 1.0
    X = np.column_stack([10.0 * truth, np.arange(60) % 7])
    generator = cc.EnsembleGenerator(n_partitions=5, n_clusters=3, scale="minmax", random_state=0)
    model = cc.ConsensusClustering(Mine(), generator=generator).fit(X)
    assert len(model.labels_) == 60


class FakeAnnData:
    """Behaves like an AnnData, whose items are AnnData again, endlessly."""

    obs = obsm = ()
    shape = (60, 5)

    def __len__(self):
        return 60

    def __getitem__(self, item):
        return FakeAnnData()


class Walked:
    """A user's class with items of its own kind, unrelated to AnnData."""

    def __len__(self):
        return 3

    def __getitem__(self, item):
        return Walked()


CALLS = {
    "report": lambda given: report.write(given, "never.html"),
    "metrics": lambda given: metrics.adjusted_rand_index(given, [0, 0, 1, 1]),
    "bars": plotting.membership_bars,
    "heatmap": plotting.coassociation_heatmap,
    "fit": lambda given: cc.AutoConsensus().fit(given),
    "ensemble": cc.Ensemble,
    "confidence": lambda given: cc.confidence.object_confidence(given, LABELS),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("kind", [FakeAnnData, Walked])
def test_objects_that_hold_labels_are_refused_at_once(call, kind):
    with pytest.raises(InputError, match=kind.__name__) as stop:
        call(kind())
    if kind is FakeAnnData:
        assert "adata.obs" in str(stop.value)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ([[{1, 2}, {3}], [{1}, {2, 3}]], r"Ensemble.from_communities\(runs\)"),
        ([[frozenset("ab"), frozenset("c")]], r"Ensemble.from_communities\(runs\)"),
        ([{1, 2}, {3}], r"Ensemble.from_communities\(\[communities\]\)"),
        ([{"a": 0, "b": 1}, {"a": 0, "b": 0}], r"Ensemble.from_communities\(runs\)"),
    ],
)
def test_communities_are_refused_with_the_right_constructor(given, way):
    with pytest.raises(InputError, match=way):
        cc.Ensemble(given)


@pytest.mark.parametrize("name", ["weights", "sample_weight"])
def test_weights_passed_to_fit_are_refused_with_an_alternative(name):
    for method in (cc.AutoConsensus(), cc.PCC(2)):
        for call in (method.fit, method.fit_predict):
            with pytest.raises(
                TypeError, match=r"objects have no weights here.*cc\.Ensemble\(labels, weights=w\)"
            ):
                call(LABELS, **{name: [1, 2]})
    with pytest.raises(TypeError, match="points have no weights here"):
        cc.ConsensusClustering().fit(np.eye(4), **{name: [1, 2, 3, 4]})
    with pytest.raises(TypeError, match=r"argument 'colour'$"):
        cc.PCC(2).fit(LABELS, colour=1)
