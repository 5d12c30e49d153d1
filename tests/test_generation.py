import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib._parallel_backends import SequentialBackend
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.naive import generation as naive
from threadpoolctl import threadpool_info

from conclust import Ensemble, EnsembleGenerator
from conclust.exceptions import DenseLimitError, InputError, ParameterError
from conclust.generation import members, mixed, plan

IRIS = load_iris().data
BLOBS, BLOB_OF = make_blobs(120, 3, centers=4, cluster_std=0.6, random_state=3)

_NO_CENTRES = "no centres: other points than those of fit, or in another order, are new to it"
_SETS_N_CLUSTERS = "the check sets n_clusters, which DBSCAN does not take"
EXPECTED_FAILURES = {
    "mixed": {
        "check_fit_idempotent": _NO_CENTRES,
        "check_methods_sample_order_invariance": _NO_CENTRES,
        "check_methods_subset_invariance": _NO_CENTRES,
    },
    "DBSCAN": {
        "check_dont_overwrite_parameters": _SETS_N_CLUSTERS,
        "check_fit2d_1feature": _SETS_N_CLUSTERS,
        "check_fit2d_predict1d": _SETS_N_CLUSTERS,
        "check_fit_idempotent": _NO_CENTRES,
        "check_methods_sample_order_invariance": _NO_CENTRES,
        "check_methods_subset_invariance": _NO_CENTRES,
    },
}


def _expected_failures(generator):
    name = (
        generator.method if isinstance(generator.method, str) else type(generator.method).__name__
    )
    return EXPECTED_FAILURES.get(name, {})


@parametrize_with_checks(
    [
        EnsembleGenerator(n_partitions=3),
        EnsembleGenerator("mixed", n_clusters=[1, 2]),
        EnsembleGenerator(MiniBatchKMeans(n_init=1), 2, n_clusters=range(1, 3), scale="standard"),
        EnsembleGenerator(DBSCAN(), 1, scale="minmax"),
    ],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_law(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------- k-means


def test_defaults_make_a_hundred_canonical_partitions_that_the_ensemble_takes_as_they_are():
    labels = EnsembleGenerator(random_state=0).fit_transform(IRIS)
    assert labels.shape == (150, 100)
    assert labels.dtype == np.uint8
    for column in labels.T:
        assert column.tolist() == naive.canonical(column.tolist())
    found = labels.max(axis=0) + 1
    assert set(found.tolist()) == set(range(2, 11))
    assert np.shares_memory(Ensemble(labels).codes, labels)


@pytest.mark.parametrize(("n", "top"), [(30, 10), (1000, 10), (2000, 13), (8000, 20)])
def test_default_range_of_n_clusters(n, top):
    X = np.random.default_rng(0).normal(size=(n, 1))
    # A tenth of the objects makes the members quick; the range is that of all objects.
    generator = EnsembleGenerator(n_partitions=200, sample_fraction=0.1, random_state=1).fit(X)
    sizes = {member.n_clusters for member in generator.members_}
    assert sizes == set(range(2, min(top, n // 10) + 1))


def test_default_range_ends_at_fifty():
    assert plan._default_choices(10**7) == range(2, 51)


def test_default_range_ends_at_the_distinct_points():
    X = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    generator = EnsembleGenerator(n_partitions=40, random_state=0)
    labels = generator.fit_transform(X)
    assert {member.n_clusters for member in generator.members_} == {2, 3}
    assert all(
        len(np.unique(labels[:, u])) == m.n_clusters for u, m in enumerate(generator.members_)
    )
    one = EnsembleGenerator(n_partitions=3).fit_transform(np.ones((5, 2)))
    assert (one == 0).all()


def test_default_range_ends_at_the_distinct_points_drawn():
    X = np.arange(12.0).reshape(6, 2)
    generator = EnsembleGenerator(n_partitions=30, sample_fraction=0.5, random_state=0).fit(X)
    assert {member.n_clusters for member in generator.members_} == {2, 3}
    mixed_ones = EnsembleGenerator("mixed", sample_fraction=0.5, random_state=0).fit(X)
    assert {member.n_clusters for member in mixed_ones.members_} == {2, 3}


def test_n_clusters_is_drawn_uniformly_from_what_is_given():
    generator = EnsembleGenerator(n_partitions=600, n_clusters=[2, 3, 3, 7], random_state=0)
    sizes = [member.n_clusters for member in generator.fit(IRIS).members_]
    counts = np.array([sizes.count(k) for k in (2, 3, 7)])
    assert counts.sum() == 600
    # Four standard deviations of a binomial count.
    assert (np.abs(counts - [150, 300, 150]) < 4 * np.sqrt([113, 150, 113])).all()
    fixed = EnsembleGenerator(n_partitions=3, n_clusters=4, random_state=0).fit(IRIS)
    assert [member.n_clusters for member in fixed.members_] == [4, 4, 4]


def test_more_clusters_than_objects_is_an_error_that_names_both():
    with pytest.raises(ParameterError, match=r"at most n_samples=150\. Got 200 instead"):
        EnsembleGenerator(n_clusters=range(2, 201)).fit(IRIS)
    with pytest.raises(
        ParameterError, match=r"15 objects that a member draws .*sample_fraction=0.1"
    ):
        EnsembleGenerator(n_clusters=[2, 16], sample_fraction=0.1).fit(IRIS)


def test_fewer_distinct_points_than_asked_clusters_warns_once():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="5 of 5 members found fewer") as caught:
        labels = EnsembleGenerator(n_partitions=5, n_clusters=4).fit_transform(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert (labels == np.repeat([[0], [1]], 10, axis=0)).all()


def test_more_than_254_clusters():
    X = np.arange(300.0)[:, None]
    generator = EnsembleGenerator(n_partitions=2, n_clusters=[280], random_state=0)
    labels = generator.fit_transform(X)
    assert labels.dtype == np.int32
    assert (Ensemble(labels).cluster_counts == 280).all()


def test_members_are_what_plain_k_means_finds():
    # Well apart, every start that has one point in each blob ends in the same partition.
    generator = EnsembleGenerator(n_partitions=30, n_clusters=4, random_state=0)
    labels = generator.fit_transform(BLOBS)
    scores = [adjusted_rand_score(BLOB_OF, column) for column in labels.T]
    assert max(scores) == 1
    for column, member in zip(labels.T, generator.members_, strict=True):
        # A fixed point of Lloyd's iteration: centres are means, labels the nearest centre.
        means = np.array([BLOBS[column == k].mean(axis=0) for k in range(member.n_clusters)])
        np.testing.assert_allclose(member.centers, means, rtol=0, atol=1e-9)
        assert (naive.nearest(BLOBS, member.centers) == column).all()


def test_random_starts_are_distinct_points_even_if_most_are_equal():
    X = np.zeros((1000, 1))
    X[-4:, 0] = [1, 2, 3, 4]
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = members._first_distinct(X, rng.permutation(1000), 5)
        assert sorted(X[rows, 0]) == [0, 1, 2, 3, 4]
    assert members.count_distinct(X, 3) == 3
    assert members.count_distinct(X, 50) == 5


# ---------------------------------------------------------------------- randomness and threads


@pytest.mark.parametrize("method", ["kmeans", "mixed", "clusterer"])
def test_same_bits_for_every_backend_and_n_jobs(method):
    chosen = GaussianMixture(2) if method == "clusterer" else method
    several = {"n_partitions": 6, "n_clusters": [2, 5]} if method == "kmeans" else {}
    several = {"n_clusters": [2, 5]} if method == "mixed" else several
    several = {"n_partitions": 3} if method == "clusterer" else several
    base = EnsembleGenerator(
        chosen, sample_fraction=0.8, feature_fraction=0.7, random_state=5, **several
    )
    expected = base.fit_transform(IRIS)
    for backend, n_jobs in [("threading", 3), ("loky", 2)]:
        with joblib.parallel_config(backend):
            again = clone(base).set_params(n_jobs=n_jobs)
            assert np.array_equal(again.fit_transform(IRIS), expected)
            assert again.members_ == base.members_


class _ListBackend(SequentialBackend):
    """A backend that hands out all results at the end."""

    supports_return_generator = False


def test_backends_without_generators():
    joblib.register_parallel_backend("list", _ListBackend)
    base = EnsembleGenerator(n_partitions=4, random_state=0)
    expected = base.fit_transform(IRIS)
    with joblib.parallel_config("list"):
        assert np.array_equal(clone(base).fit_transform(IRIS), expected)


def test_thread_limits_are_restored():
    def limits():
        return [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]

    before = limits()
    EnsembleGenerator(n_partitions=8, n_jobs=4, random_state=0).fit(IRIS)
    assert limits() == before


def test_result_depends_on_random_state_alone():
    def run(seed, **parameters):
        return EnsembleGenerator(n_partitions=5, random_state=seed, **parameters).fit_transform(
            IRIS
        )

    assert np.array_equal(run(1), run(1))
    assert not np.array_equal(run(1), run(2))
    sequence = np.random.SeedSequence(1)
    assert np.array_equal(run(sequence), run(sequence))
    generator = np.random.default_rng(0)
    assert not np.array_equal(run(generator), run(generator))
    more = EnsembleGenerator(n_partitions=9, random_state=1).fit_transform(IRIS)
    assert np.array_equal(more[:, :5], run(1))


@pytest.mark.parametrize("method", ["kmeans", "mixed"])
def test_type_and_layout_of_the_points_change_nothing(method):
    X = np.asarray(IRIS[:60], dtype=np.float32).astype(np.float64)
    generator = EnsembleGenerator(method, n_clusters=[2, 4], scale="minmax", random_state=0)
    if method == "kmeans":
        generator.n_partitions = 4
    expected = generator.fit_transform(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((60, 8))
    wide[:, ::2] = X
    for same in (frozen, np.asfortranarray(X), wide[:, ::2], X.tolist(), X.astype(np.float32)):
        assert np.array_equal(generator.fit_transform(same), expected)
        assert np.array_equal(generator.transform(same), expected)
    assert np.array_equal(frozen, X)


# --------------------------------------------------------------------------------- sub-sampling


def test_objects_that_are_not_drawn_are_missing():
    generator = EnsembleGenerator(n_partitions=20, sample_fraction=0.7, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.dtype == np.int32
    assert ((labels >= 0).sum(axis=0) == 105).all()
    assert labels.min() == -1
    assert len({tuple(column >= 0) for column in labels.T}) == 20
    assert Ensemble(labels).has_missing
    assert not Ensemble(labels).has_noise
    assert {member.n_objects for member in generator.members_} == {105}
    # transform labels every object, and those that were drawn as before.
    everywhere = generator.transform(IRIS)
    assert everywhere.min() == 0
    assert np.array_equal(everywhere[labels >= 0], labels[labels >= 0])


def test_objects_drawn_do_not_depend_on_other_parameters():
    kept = []
    for parameters in ({}, {"n_clusters": [3]}, {"feature_fraction": 0.5}, {"scale": "minmax"}):
        generator = EnsembleGenerator(
            n_partitions=5, sample_fraction=0.5, random_state=0, **parameters
        )
        kept.append(generator.fit_transform(IRIS) >= 0)
    assert all(np.array_equal(present, kept[0]) for present in kept)


def test_features_drawn():
    generator = EnsembleGenerator(
        n_partitions=30, n_clusters=3, feature_fraction=0.5, random_state=0, scale="standard"
    )
    labels = generator.fit_transform(IRIS)
    pairs = {member.features for member in generator.members_}
    assert pairs == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    scaled = StandardScaler().fit_transform(IRIS)
    for column, member in zip(labels.T, generator.members_, strict=True):
        own = scaled[:, member.features]
        assert (naive.nearest(own, member.centers) == column).all()


def test_scaling_is_fitted_on_all_objects():
    generator = EnsembleGenerator(
        n_partitions=3, scale="minmax", sample_fraction=0.2, random_state=0
    ).fit(IRIS)
    np.testing.assert_array_equal(generator.scaler_.data_max_, IRIS.max(axis=0))
    outside = generator.fit(MinMaxScaler().fit_transform(IRIS))
    plain = EnsembleGenerator(n_partitions=3, sample_fraction=0.2, random_state=0).fit(
        MinMaxScaler().fit_transform(IRIS)
    )
    for ours, theirs in zip(outside.members_, plain.members_, strict=True):
        np.testing.assert_allclose(ours.centers, theirs.centers, atol=1e-12)


# ----------------------------------------------------------------------------------- new points


def test_new_points_get_the_nearest_centre_of_each_member():
    generator = EnsembleGenerator(
        n_partitions=12, scale="minmax", feature_fraction=0.6, sample_fraction=0.9, random_state=2
    ).fit(IRIS)
    new = IRIS[:40] + np.random.default_rng(0).normal(scale=0.3, size=(40, 4))
    labels = generator.transform(new)
    scaled = generator.scaler_.transform(new)
    for column, member in zip(labels.T, generator.members_, strict=True):
        assert (naive.nearest(scaled[:, member.features], member.centers) == column).all()
    generator.n_jobs = 2
    assert np.array_equal(generator.transform(new), labels)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40),
    st.integers(0, 5),
)
def test_on_a_lattice_full_of_ties_transform_repeats_fit_transform(points, seed):
    X = np.array(points, dtype=float) / 3
    generator = EnsembleGenerator(n_partitions=4, random_state=seed)
    labels = generator.fit_transform(X)
    assert np.array_equal(generator.transform(X), labels)
    one_by_one = np.vstack([generator.transform(row[None]) for row in X])
    assert np.array_equal(one_by_one, labels)


def test_centres_that_win_no_object_are_dropped():
    found = members.Found(np.array([2, 2, 0]), np.array([[0.0], [9.0], [5.0]]))
    done = members.finish(found, np.array([0, 2, 3]), 5)
    assert done.labels.tolist() == [0, -1, 0, 1, -1]
    assert done.centers.tolist() == [[5.0], [0.0]]
    assert done.n_clusters == 2


def test_members_without_centres_label_only_the_points_of_fit():
    generator = EnsembleGenerator("mixed", n_clusters=[2, 3], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert np.array_equal(generator.transform(IRIS), labels)
    assert np.array_equal(clone(generator).fit(IRIS).transform(IRIS), labels)
    with pytest.raises(InputError, match=r"10 of the 12 members \(average, centroid, single, spec"):
        generator.transform(IRIS[::-1])


def test_own_k_means_label_new_points():
    generator = EnsembleGenerator(KMeans(3, n_init=1), 4, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert np.array_equal(generator.transform(IRIS), labels)
    assert np.array_equal(generator.transform(IRIS[20:30]), labels[20:30])


def test_the_points_are_not_kept():
    X = np.random.default_rng(0).normal(size=(5000, 4))
    generator = EnsembleGenerator(n_partitions=5, random_state=0).fit(X)
    assert len(pickle.dumps(generator)) < 20_000
    again = pickle.loads(pickle.dumps(generator))
    assert np.array_equal(again.transform(X), generator.transform(X))


# ----------------------------------------------------------------------------------- the mixed


def _counted(monkeypatch, module, name):
    calls = []
    original = getattr(module, name)

    def wrapper(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, wrapper)
    return calls


def test_mixed_grows_each_tree_once(monkeypatch):
    trees = _counted(monkeypatch, mixed, "linkage")
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


def test_mixed_trees_are_scipys():
    labels = EnsembleGenerator("mixed", n_clusters=[2, 3, 5]).fit_transform(BLOBS)
    for row, name in enumerate(["single", "average", "ward"]):
        tree = linkage(BLOBS, name)
        for i, k in enumerate([2, 3, 5]):
            expected = fcluster(tree, k, "maxclust")
            assert adjusted_rand_score(expected, labels[:, 3 * row + i]) == 1


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=25),
    st.sampled_from(mixed.TREES),
    st.data(),
)
def test_cut_leaves_exactly_k_clusters(points, method, data):
    tree = linkage(pdist(np.array(points, dtype=float)), method)
    k = data.draw(st.integers(1, len(points)))
    labels = mixed.cut(tree, k)
    assert len(np.unique(labels)) == k
    assert naive.canonical(labels) == naive.canonical(naive.cut(tree, k))


def test_cut_of_a_tree_with_inversions():
    # The centroid of two corners of an equilateral triangle is nearer to the third than they are.
    tree = linkage([[0.0, 0.0], [2.0, 0.0], [1.0, 1.74], [9.0, 9.0]], "centroid")
    assert tree[1, 2] < tree[0, 2]
    assert naive.canonical(mixed.cut(tree, 3)) == [0, 0, 1, 2]


def test_spectral_finds_what_scikit_learn_finds():
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


def test_spectral_by_both_eigensolvers(monkeypatch):
    def run():
        return mixed.SpectralRecipe().run(BLOBS, [2, 4], np.random.default_rng(0))

    direct = run()
    monkeypatch.setattr(mixed, "_DIRECT", 10)
    for a, b in zip(direct, run(), strict=True):
        assert adjusted_rand_score(a.labels, b.labels) == 1


@pytest.mark.parametrize(
    "X",
    [
        np.ones((6, 2)),
        np.r_[np.zeros((9, 1)), [[1.0], [2.0]]],
        np.r_[np.random.default_rng(0).normal(size=(9, 1)), [[1e9]]],
    ],
    ids=["equal", "mostly equal", "outlier"],
)
def test_spectral_on_degenerate_points(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = mixed.SpectralRecipe().run(X, [1, 2, 3], np.random.default_rng(0))
    assert [len(each.labels) for each in found] == [len(X)] * 3
    if X[-1, 0] == 1e9:
        assert naive.canonical(found[1].labels) == [0] * 9 + [1]


def test_mixed_shares_the_draw_of_a_tree():
    generator = EnsembleGenerator("mixed", n_clusters=[2, 3], sample_fraction=0.9, random_state=0)
    present = generator.fit_transform(IRIS) >= 0
    assert (present.sum(axis=0) == 135).all()
    assert (present[:, 0:10:2] == present[:, 1:10:2]).all()
    assert len({tuple(column) for column in present.T}) == 7


def test_mixed_refuses_large_matrices_and_names_k_means():
    with pytest.raises(DenseLimitError, match=r"150 x 150.*100 objects.*'kmeans'"):
        EnsembleGenerator("mixed", max_dense=100).fit(IRIS)
    EnsembleGenerator("mixed", n_clusters=[2], max_dense=100, sample_fraction=0.6).fit(IRIS)


def test_mixed_makes_as_many_as_its_grid_has():
    with pytest.raises(ParameterError, match=r"None or 12 with method='mixed'.*Got 100 instead"):
        EnsembleGenerator("mixed", 100, n_clusters=[2, 3]).fit(IRIS)
    assert len(EnsembleGenerator("mixed", 12, n_clusters=[3, 2, 2]).fit(IRIS).members_) == 12


# ------------------------------------------------------------------------------- own clusterers


@pytest.mark.parametrize("clusterer", [DBSCAN(eps=0.4), HDBSCAN(15, copy=True)])
def test_noise_is_noise_and_not_missing(clusterer):
    labels = EnsembleGenerator([clusterer], sample_fraction=0.8, random_state=0).fit_transform(IRIS)
    assert labels.shape == (150, 1)
    present = labels[:, 0] != -1
    assert present.sum() == 120
    theirs = clone(clusterer).fit_predict(IRIS[present])
    assert (theirs == -1).any()
    expected = [-2 if label == -1 else label for label in theirs.tolist()]
    assert naive.canonical(expected) == labels[present, 0].tolist()
    assert Ensemble(labels).has_noise


def test_clusterers_are_taken_in_turn():
    methods = [KMeans(n_init=1), AgglomerativeClustering(4), DBSCAN(eps=0.5)]
    generator = EnsembleGenerator(methods, 6, n_clusters=range(3, 6), sample_fraction=0.9)
    generator.fit(IRIS)
    names = [member.method for member in generator.members_]
    assert names == ["KMeans", "AgglomerativeClustering", "DBSCAN"] * 2
    assert {member.n_clusters for member in generator.members_[::3]} <= {3, 4, 5}
    one_each = EnsembleGenerator(methods).fit(IRIS)
    assert len(one_each.members_) == 3
    assert one_each.members_[1].n_clusters == 4  # none given: the clusterer's own


def test_clusterers_are_cloned_and_seeded():
    own = KMeans(3, n_init=1, init="random", random_state=0)
    labels = EnsembleGenerator(own, 20, random_state=0).fit_transform(IRIS)
    assert not hasattr(own, "labels_")
    assert own.random_state == 0
    assert len({column.tobytes() for column in labels.T}) > 1
    again = EnsembleGenerator(own, 20, random_state=0).fit_transform(IRIS)
    assert np.array_equal(again, labels)


def test_pipelines_are_clusterers_too():
    own = make_pipeline(StandardScaler(), MiniBatchKMeans(n_init=1))
    generator = EnsembleGenerator(own, 6, n_clusters=[2, 3], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert {member.n_clusters for member in generator.members_} <= {2, 3}
    assert np.array_equal(clone(generator).fit_transform(IRIS), labels)


class _Writer(KMeans):
    """Overwrites the points it is given."""

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X)
        X[:] = 0
        return labels


def test_a_clusterer_cannot_spoil_the_points_of_the_others():
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
def test_answers_that_are_no_labels(monkeypatch, answer, sentence):
    monkeypatch.setattr(_Answers, "answer", answer)
    with pytest.raises(InputError, match=sentence):
        EnsembleGenerator([_Answers()]).fit(IRIS)


def test_large_label_numbers(monkeypatch):
    answer = np.repeat([10**15, -1, 7], 50)
    monkeypatch.setattr(_Answers, "answer", answer)
    labels = EnsembleGenerator([_Answers()]).fit_transform(IRIS)
    assert labels[::50, 0].tolist() == [0, -2, 1]


def test_nothing_random_is_refused():
    with pytest.raises(ParameterError, match=r"100 partitions .* DBSCAN has nothing random"):
        EnsembleGenerator(DBSCAN()).fit(IRIS)
    EnsembleGenerator(DBSCAN(), 1).fit(IRIS)
    EnsembleGenerator(DBSCAN(), 2, feature_fraction=0.5).fit(IRIS)
    EnsembleGenerator(AgglomerativeClustering(), 2, n_clusters=[2, 3]).fit(IRIS)


# ------------------------------------------------------------------------------------ the edges


def test_data_frames_in_and_out():
    frame = pd.DataFrame(IRIS, columns=list("abcd"), index=np.arange(150) * 2)
    generator = EnsembleGenerator(n_partitions=3, random_state=0).set_output(transform="pandas")
    labels = generator.fit_transform(frame)
    assert labels.columns.tolist() == ["partition_0", "partition_1", "partition_2"]
    assert labels.index.equals(frame.index)
    assert generator.feature_names_in_.tolist() == list("abcd")
    plain = EnsembleGenerator(n_partitions=3, random_state=0).fit_transform(IRIS)
    assert np.array_equal(labels.to_numpy(), plain)
    assert np.array_equal(generator.transform(frame).to_numpy(), plain)


def test_progress_goes_to_standard_error(capsys):
    EnsembleGenerator(n_partitions=40, verbose=1).fit(IRIS)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("EnsembleGenerator: 40 of 40 members, ")
    EnsembleGenerator("mixed", n_clusters=[2, 3], verbose=2).fit(IRIS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5 + 2
    assert lines[0].endswith("(last: single)")
    EnsembleGenerator(n_partitions=3).fit(IRIS)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"method": "kmean"}, r"'method' parameter of EnsembleGenerator must be one of {'kmeans',"),
        ({"method": KMeans}, "must be 'kmeans', 'mixed', a scikit-learn clusterer"),
        ({"method": []}, "non-empty list of them. Got"),
        ({"method": [KMeans(), "mixed"]}, "scikit-learn clusterer"),
        ({"method": StandardScaler()}, "scikit-learn clusterer"),
        ({"n_partitions": 0}, r"'n_partitions' .* int in the range \[1, inf\) or None. Got 0"),
        ({"n_partitions": 2.5}, "Got 2.5 instead"),
        ({"n_clusters": 0}, r"'n_clusters' .*non-empty range or list.*Got \[0\]"),
        ({"n_clusters": []}, r"Got \[\]"),
        ({"n_clusters": range(3, 3)}, r"Got range\(3, 3\)"),
        ({"n_clusters": range(3)}, r"Got range\(0, 3\)"),
        ({"n_clusters": [2, 2.5]}, r"Got \[2, 2.5\]"),
        ({"n_clusters": "many"}, "Got 'many'"),
        ({"n_clusters": [True]}, r"Got \[True\]"),
        ({"method": DBSCAN(), "n_clusters": [2]}, "None with DBSCAN, which has no such parameter"),
        ({"sample_fraction": 0}, r"'sample_fraction' .* float in the range \(0, 1\]. Got 0"),
        ({"sample_fraction": 1.5}, "Got 1.5"),
        ({"feature_fraction": np.nan}, "'feature_fraction' .*Got nan"),
        ({"scale": "max"}, "'scale' .* one of {'minmax', 'standard', None}. Got 'max'"),
        ({"max_dense": 0}, "'max_dense' .*Got 0"),
        ({"random_state": -1}, "'random_state' .*Got -1"),
        ({"n_jobs": 0}, "'n_jobs' .*non-zero int or None. Got 0"),
        ({"verbose": -1}, "'verbose' .*Got -1"),
        ({"cache_dir": 3}, "'cache_dir' .*path or None. Got 3"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        EnsembleGenerator(**parameters).fit(IRIS)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.r_[IRIS, [[np.nan, 1, 1, 1]]], "NaN"),
        (np.r_[IRIS, [[np.inf, 1, 1, 1]]], "infinity"),
        (IRIS[:1], "minimum of 2 is required"),
        (IRIS[:0], "0 sample"),
        (IRIS[:, 0], "Expected 2D array"),
        (IRIS[None], "dim 3"),
        (IRIS * 1j, "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float"),
    ],
)
def test_bad_points(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        EnsembleGenerator(n_partitions=2).fit(X)


def test_transform_checks_its_points():
    generator = EnsembleGenerator(n_partitions=2, random_state=0)
    with pytest.raises(NotFittedError):
        generator.transform(IRIS)
    generator.fit(IRIS)
    with pytest.raises(ValueError, match="expecting 4 features"):
        generator.transform(IRIS[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        generator.transform([[np.nan, 1, 1, 1]])


def test_two_objects():
    assert EnsembleGenerator(n_partitions=2).fit_transform([[0.0], [1.0]]).tolist() == [
        [0, 0],
        [1, 1],
    ]
    assert EnsembleGenerator("mixed").fit_transform([[0.0], [1.0]]).tolist() == [[0] * 6, [1] * 6]
