import warnings

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.naive import generation as naive

from conclust import ConsensusClustering, Ensemble, EnsembleGenerator
from conclust.exceptions import DenseLimitError, InputError, ParameterError
from conclust.generation.kinds import grid as mixed

IRIS = load_iris().data
BLOBS, BLOB_OF = make_blobs(120, 3, centers=4, cluster_std=0.6, random_state=3)


# ----------------------------------------------------------------------------------- the mixed


def _counted(monkeypatch, module, name):
    calls = []
    original = getattr(module, name)

    def wrapper(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, wrapper)
    return calls


def test_mixed_builds_each_tree_once(monkeypatch):
    trees = _counted(monkeypatch, hierarchy, "linkage")
    embeddings = _counted(monkeypatch, mixed, "_leading_vectors")
    generator = EnsembleGenerator("mixed", n_clusters=range(2, 9), random_state=0)
    labels = generator.fit_transform(IRIS)
    assert len(trees) == 4
    assert len(embeddings) == 1
    assert labels.shape == (150, 6 * 7)
    names = [member.method for member in generator.members_]
    order = ["single", "average", "ward", "centroid", "spectral", "kmeans"]
    assert names == [name for name in order for _ in range(7)]
    assert [member.n_clusters for member in generator.members_] == list(range(2, 9)) * 6
    for column in labels.T:
        assert column.tolist() == naive.canonical(column.tolist())


def test_mixed_trees_equal_those_of_scipy():
    labels = EnsembleGenerator("mixed", n_clusters=[2, 3, 5]).fit_transform(BLOBS)
    for row, name in enumerate(["single", "average", "ward"]):
        tree = linkage(BLOBS, name)
        for i, k in enumerate([2, 3, 5]):
            expected = fcluster(tree, k, "maxclust")
            assert adjusted_rand_score(expected, labels[:, 3 * row + i]) == 1


def test_spectral_members_match_scikit_learn():
    squared = squareform(pdist(BLOBS, "sqeuclidean"))
    sigma2 = np.median(squared[np.triu_indices(len(BLOBS), 1)])
    affinity = np.exp(-squared / (2 * sigma2))
    theirs = SpectralClustering(4, affinity="precomputed", random_state=0).fit_predict(affinity)
    ours = mixed.SpectralRecipe().run(BLOBS, [4], np.random.default_rng(0))[0].labels
    assert adjusted_rand_score(theirs, ours) == 1
    np.testing.assert_allclose(
        mixed._normalised_affinity(BLOBS),
        affinity / np.sqrt(np.outer(affinity.sum(axis=0), affinity.sum(axis=1))),
        atol=1e-14,
    )


@pytest.mark.parametrize(
    "X",
    [
        np.ones((6, 2)),
        np.r_[np.zeros((9, 1)), [[1.0], [2.0]]],
        np.r_[np.random.default_rng(0).normal(size=(9, 1)), [[1e9]]],
    ],
    ids=["equal", "mostly equal", "outlier"],
)
def test_spectral_members_handle_degenerate_points(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        actual = mixed.SpectralRecipe().run(X, [1, 2, 3], np.random.default_rng(0))
    assert [len(each.labels) for each in actual] == [len(X)] * 3
    if X[-1, 0] == 1e9:
        assert naive.canonical(actual[1].labels) == [0] * 9 + [1]


def test_cuts_of_one_tree_share_its_draw():
    generator = EnsembleGenerator("mixed", n_clusters=[2, 3], sample_fraction=0.9, random_state=0)
    present = generator.fit_transform(IRIS) >= 0
    assert (present.sum(axis=0) == 135).all()
    assert (present[:, 0:10:2] == present[:, 1:10:2]).all()
    assert len({tuple(column) for column in present.T}) == 7


def test_mixed_refuses_large_matrices_and_names_k_means(monkeypatch):
    monkeypatch.setattr("conclust.generation.plan.MOST_DENSE", 100)
    with pytest.raises(DenseLimitError, match=r"150 x 150.*100 objects.*'kmeans'"):
        EnsembleGenerator("mixed").fit(IRIS)
    EnsembleGenerator("mixed", n_clusters=[2], sample_fraction=0.6).fit(IRIS)


def test_mixed_makes_one_member_per_cell_of_its_grid():
    with pytest.raises(
        ParameterError, match=r"None or 12, one for each algorithm.*Got 100 instead"
    ):
        EnsembleGenerator("mixed", 100, n_clusters=[2, 3]).fit(IRIS)
    assert len(EnsembleGenerator("mixed", 12, n_clusters=[3, 2, 2]).fit(IRIS).members_) == 12


# ------------------------------------------------------------------------------- custom clusterers


@pytest.mark.parametrize("clusterer", [DBSCAN(eps=0.4), HDBSCAN(15, copy=True)])
def test_noise_is_not_read_as_missing(clusterer):
    labels = EnsembleGenerator([clusterer], sample_fraction=0.8, random_state=0).fit_transform(IRIS)
    assert labels.shape == (150, 1)
    present = labels[:, 0] != -1
    assert present.sum() == 120
    theirs = clone(clusterer).fit_predict(IRIS[present])
    assert (theirs == -1).any()
    expected = [-2 if label == -1 else label for label in theirs.tolist()]
    assert naive.canonical(expected) == labels[present, 0].tolist()
    assert Ensemble(labels).has_noise


def test_clusterers_alternate():
    methods = [KMeans(n_init=1), AgglomerativeClustering(4), DBSCAN(eps=0.5)]
    generator = EnsembleGenerator(methods, 6, n_clusters=range(3, 6), sample_fraction=0.9)
    generator.fit(IRIS)
    names = [member.method for member in generator.members_]
    assert names == ["KMeans", "AgglomerativeClustering", "DBSCAN"] * 2
    assert {member.n_clusters for member in generator.members_[::3]} <= {3, 4, 5}
    one_each = EnsembleGenerator(methods).fit(IRIS)
    assert len(one_each.members_) == 3
    assert one_each.members_[1].n_clusters == 4  # the clusterer's default if none is given


def test_clusterers_are_cloned_and_seeded():
    clusterer = KMeans(3, n_init=1, init="random", random_state=0)
    labels = EnsembleGenerator(clusterer, 20, random_state=0).fit_transform(IRIS)
    assert not hasattr(clusterer, "labels_")
    assert clusterer.random_state == 0
    assert len({column.tobytes() for column in labels.T}) > 1
    repeated = EnsembleGenerator(clusterer, 20, random_state=0).fit_transform(IRIS)
    assert np.array_equal(repeated, labels)


def test_pipelines_are_accepted_as_clusterers():
    pipeline = make_pipeline(StandardScaler(), MiniBatchKMeans(n_init=1))
    generator = EnsembleGenerator(pipeline, 6, n_clusters=[2, 3], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert {member.n_clusters for member in generator.members_} <= {2, 3}
    assert np.array_equal(clone(generator).fit_transform(IRIS), labels)


class _Writer(KMeans):
    """Overwrites the points it is given."""

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X)
        X[:] = 0
        return labels


def test_a_clusterer_cannot_modify_the_points_of_others():
    X = IRIS.copy()
    writers = EnsembleGenerator(_Writer(3, n_init=1), 3, random_state=0).fit_transform(X)
    assert np.array_equal(X, IRIS)
    assert (writers.max(axis=0) == 2).all()


class _Answers(DBSCAN):
    answer = None

    def fit_predict(self, X, y=None):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (np.zeros(3, dtype=int), r"must label 150 objects with ints.*shape \(3,\)"),
        (np.zeros(150), "dtype float64"),
        (np.full(150, -3), "-1 for noise. Got -3"),
    ],
)
def test_invalid_labels_of_a_clusterer_are_refused(monkeypatch, answer, sentence):
    monkeypatch.setattr(_Answers, "answer", answer)
    with pytest.raises(InputError, match=sentence):
        EnsembleGenerator([_Answers()]).fit(IRIS)


def test_large_label_numbers_are_accepted(monkeypatch):
    answer = np.repeat([10**15, -1, 7], 50)
    monkeypatch.setattr(_Answers, "answer", answer)
    labels = EnsembleGenerator([_Answers()]).fit_transform(IRIS)
    assert labels[::50, 0].tolist() == [0, -2, 1]


def test_a_data_set_of_scikit_learn_is_refused_with_its_attribute():
    for estimator in (EnsembleGenerator(), ConsensusClustering()):
        with pytest.raises(InputError, match=r"Got Bunch: .* attribute 'data'"):
            estimator.fit(load_iris())


def test_deterministic_members_are_refused():
    with pytest.raises(
        ParameterError, match=r"100 partitions .* DBSCAN has nothing random.* a list of clusterers"
    ):
        EnsembleGenerator(DBSCAN()).fit(IRIS)
    EnsembleGenerator(DBSCAN(), 1).fit(IRIS)
    EnsembleGenerator(DBSCAN(), 2, feature_fraction=0.5).fit(IRIS)
    EnsembleGenerator(AgglomerativeClustering(), 2, n_clusters=[2, 3]).fit(IRIS)


class _Failing(ClusterMixin, BaseEstimator):
    """Fails on points that have a value above 8."""

    def fit(self, X, y=None):
        if np.max(X) > 8:
            raise KeyboardInterrupt
        self.labels_ = (X[:, 0] > 0).astype(int)
        return self


def test_an_unfinished_fit_leaves_the_generator_unchanged():
    X = np.random.default_rng(0).normal(size=(30, 3))
    generator = EnsembleGenerator(
        [_Failing()], 4, sample_fraction=0.8, scale=None, random_state=0, n_jobs=1
    )
    new = dict(vars(generator))
    with pytest.raises(KeyboardInterrupt):
        generator.fit(X + 10)
    assert vars(generator) == new
    generator.fit(X)
    fitted = dict(vars(generator))
    with pytest.raises(KeyboardInterrupt):
        generator.fit(X[:, :2] + 10)
    assert vars(generator) == fitted
    assert generator.n_features_in_ == 3
