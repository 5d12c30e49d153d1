import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib._parallel_backends import SequentialBackend
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    KMeans,
)
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.naive import generation as naive

from conclust import Ensemble, EnsembleGenerator
from conclust.exceptions import InputError, ParameterError
from conclust.generation import members
from conclust.generation.kinds.registry import KINDS
from conclust.generation.labelling.models import Centers

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
        EnsembleGenerator("kmeans", n_partitions=3),
        EnsembleGenerator("mixed", n_clusters=[1, 2]),
        EnsembleGenerator("spectral", 4, n_clusters=[1, 2]),
        EnsembleGenerator(["graph", "density"], 4, n_clusters=[1, 2]),
        EnsembleGenerator(DBSCAN(), 1, scale="minmax"),
    ],
    expected_failed_checks=_expected_failures,
)
def test_the_generator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------- k-means


def test_defaults_make_a_hundred_canonical_partitions():
    labels = EnsembleGenerator("kmeans", random_state=0).fit_transform(IRIS)
    assert labels.shape == (150, 100)
    assert labels.dtype == np.int8
    for column in labels.T:
        assert column.tolist() == naive.canonical(column.tolist())
    actual = labels.max(axis=0) + 1
    assert set(actual.tolist()) == set(range(2, 13))
    assert np.shares_memory(Ensemble(labels).codes, labels)


@pytest.mark.parametrize(("n", "top"), [(90, 10), (400, 20), (900, 30), (8000, 50)])
def test_the_default_range_of_n_clusters_follows_the_objects(n, top):
    X = np.random.default_rng(0).normal(size=(n, 1))
    # Members on a sample are fast to make; the range depends on all objects.
    generator = EnsembleGenerator(
        "kmeans", n_partitions=400, sample_fraction=0.1, random_state=1
    ).fit(X)
    sizes = {member.n_clusters for member in generator.members_}
    assert sizes == set(range(2, min(top, n // 10) + 1))


def test_the_default_range_ends_at_the_number_of_distinct_points():
    X = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    generator = EnsembleGenerator("kmeans", n_partitions=40, random_state=0)
    labels = generator.fit_transform(X)
    assert {member.n_clusters for member in generator.members_} == {2, 3}
    assert all(
        len(np.unique(labels[:, u])) == m.n_clusters for u, m in enumerate(generator.members_)
    )
    one = EnsembleGenerator("kmeans", n_partitions=3).fit_transform(np.ones((5, 2)))
    assert (one == 0).all()


def test_n_clusters_is_drawn_uniformly_from_the_given_values():
    generator = EnsembleGenerator(
        "kmeans", n_partitions=600, n_clusters=[2, 3, 3, 7], random_state=0
    )
    sizes = [member.n_clusters for member in generator.fit(IRIS).members_]
    counts = np.array([sizes.count(k) for k in (2, 3, 7)])
    assert counts.sum() == 600
    # Four standard deviations of a binomial count.
    assert (np.abs(counts - [150, 300, 150]) < 4 * np.sqrt([113, 150, 113])).all()
    fixed = EnsembleGenerator("kmeans", n_partitions=3, n_clusters=4, random_state=0).fit(IRIS)
    assert [member.n_clusters for member in fixed.members_] == [4, 4, 4]


def test_more_clusters_than_objects_is_an_error_that_names_both():
    with pytest.raises(ParameterError, match=r"at most n_samples=150\. Got 200 instead"):
        EnsembleGenerator("kmeans", n_clusters=range(2, 201)).fit(IRIS)
    with pytest.raises(
        ParameterError, match=r"15 objects that a member draws .*sample_fraction=0.1"
    ):
        EnsembleGenerator("kmeans", n_clusters=[2, 16], sample_fraction=0.1).fit(IRIS)


def test_fewer_distinct_points_than_requested_clusters_warn_once():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="5 of 5 members found fewer") as caught:
        labels = EnsembleGenerator("kmeans", n_partitions=5, n_clusters=4).fit_transform(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert (labels == np.repeat([[0], [1]], 10, axis=0)).all()


def test_labels_are_as_narrow_as_they_can_be():
    X = np.random.default_rng(0).normal(size=(200, 2))
    for fraction, k, kind in (
        (1.0, 127, "int8"),
        (0.9, 127, "int8"),
        (1.0, 128, "int16"),
        (0.9, 128, "int16"),
    ):
        generator = EnsembleGenerator(
            "kmeans", n_partitions=2, n_clusters=[k], sample_fraction=fraction, random_state=0
        )
        labels = generator.fit_transform(X)
        assert labels.dtype == kind
        assert generator.transform(X).dtype == kind
        assert (Ensemble(labels).labels == labels).all()
        assert np.shares_memory(Ensemble(labels).codes, labels) == (kind == "int8")


def test_members_equal_those_of_plain_k_means():
    # With well-separated blobs, every start with one point in each blob ends in the same partition.
    generator = EnsembleGenerator("kmeans", n_partitions=30, n_clusters=4, random_state=0)
    labels = generator.fit_transform(BLOBS)
    scores = [adjusted_rand_score(BLOB_OF, column) for column in labels.T]
    assert max(scores) == 1
    for column, member in zip(labels.T, generator.members_, strict=True):
        # A fixed point of Lloyd's iteration: centres are means, labels the nearest centre.
        means = np.array([BLOBS[column == k].mean(axis=0) for k in range(member.n_clusters)])
        np.testing.assert_allclose(member.centers, means, rtol=0, atol=1e-9)
        assert (naive.nearest(BLOBS, member.centers) == column).all()


def test_random_starts_are_distinct_points_even_with_many_duplicates():
    X = np.zeros((1000, 1))
    X[-4:, 0] = [1, 2, 3, 4]
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = members.first_distinct(X, rng.permutation(1000), 5)
        assert sorted(X[rows, 0]) == [0, 1, 2, 3, 4]
    assert members.count_distinct(X, 3) == 3
    assert members.count_distinct(X, 50) == 5


# ---------------------------------------------------------------------- randomness and threads


@pytest.mark.parametrize(
    "method",
    ["mixed", *KINDS, "clusterer"],
)
def test_every_backend_and_n_jobs_give_the_same_bits(method):
    chosen = GaussianMixture(2) if method == "clusterer" else method
    several = {"n_partitions": 6, "n_clusters": [2, 5]}
    several = {"n_clusters": [2, 5]} if method == "mixed" else several
    several = {"n_partitions": 3} if method == "clusterer" else several
    base = EnsembleGenerator(
        chosen, sample_fraction=0.8, feature_fraction=0.7, random_state=5, **several
    )
    expected = base.fit_transform(IRIS)
    for backend, n_jobs in [("threading", 3), ("loky", 2)]:
        with joblib.parallel_config(backend):
            repeated = clone(base).set_params(n_jobs=n_jobs)
            assert np.array_equal(repeated.fit_transform(IRIS), expected)
            assert repeated.members_ == base.members_


class _ListBackend(SequentialBackend):
    """A backend that returns all results at the end."""

    supports_return_generator = False


def test_backends_without_generators_are_supported():
    joblib.register_parallel_backend("list", _ListBackend)
    base = EnsembleGenerator("kmeans", n_partitions=4, random_state=0)
    expected = base.fit_transform(IRIS)
    with joblib.parallel_config("list"):
        assert np.array_equal(clone(base).fit_transform(IRIS), expected)


def test_results_depend_on_random_state_only():
    def run(seed, **parameters):
        return EnsembleGenerator(
            "kmeans", n_partitions=5, random_state=seed, **parameters
        ).fit_transform(IRIS)

    assert np.array_equal(run(1), run(1))
    assert not np.array_equal(run(1), run(2))
    sequence = np.random.SeedSequence(1)
    assert np.array_equal(run(sequence), run(sequence))
    generator = np.random.default_rng(0)
    assert not np.array_equal(run(generator), run(generator))
    more = EnsembleGenerator("kmeans", n_partitions=9, random_state=1).fit_transform(IRIS)
    assert np.array_equal(more[:, :5], run(1))


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_documented_and_labels_new_points(name):
    assert f'- "{name}": ' in EnsembleGenerator.__doc__
    points = np.random.default_rng(0).normal(size=(60, 3))
    generator = EnsembleGenerator(name, 3, random_state=0).fit(points)
    assert all(member.model is not None for member in generator.members_)


@pytest.mark.parametrize("method", ["mixed", *KINDS])
def test_type_and_layout_of_the_points_change_nothing(method):
    X = np.asarray(IRIS[:60], dtype=np.float32).astype(np.float64)
    generator = EnsembleGenerator(method, n_clusters=[2, 4], scale="minmax", random_state=0)
    if method != "mixed":
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
    generator = EnsembleGenerator("kmeans", n_partitions=20, sample_fraction=0.7, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.dtype == np.int8
    assert ((labels >= 0).sum(axis=0) == 105).all()
    assert labels.min() == -1
    assert len({tuple(column >= 0) for column in labels.T}) == 20
    assert Ensemble(labels).has_missing
    assert not Ensemble(labels).has_noise
    assert {member.n_objects for member in generator.members_} == {105}
    # transform labels every object, and drawn objects as in fit_transform.
    everywhere = generator.transform(IRIS)
    assert everywhere.min() == 0
    assert np.array_equal(everywhere[labels >= 0], labels[labels >= 0])


def test_objects_drawn_do_not_depend_on_other_parameters():
    kept = []
    for parameters in ({}, {"n_clusters": [3]}, {"feature_fraction": 0.5}, {"scale": "minmax"}):
        generator = EnsembleGenerator(
            "kmeans", n_partitions=5, sample_fraction=0.5, random_state=0, **parameters
        )
        kept.append(generator.fit_transform(IRIS) >= 0)
    assert all(np.array_equal(present, kept[0]) for present in kept)


def test_features_are_sampled_per_member():
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=30,
        n_clusters=3,
        feature_fraction=0.5,
        random_state=0,
        scale="standard",
    )
    labels = generator.fit_transform(IRIS)
    pairs = {member.features for member in generator.members_}
    assert pairs == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    scaled = StandardScaler().fit_transform(IRIS)
    for column, member in zip(labels.T, generator.members_, strict=True):
        member_points = scaled[:, member.features]
        assert (naive.nearest(member_points, member.centers) == column).all()


def test_scaling_is_fitted_on_all_objects():
    generator = EnsembleGenerator(
        "kmeans", n_partitions=3, scale="minmax", sample_fraction=0.2, random_state=0
    ).fit(IRIS)
    np.testing.assert_array_equal(generator.scaler_.data_max_, IRIS.max(axis=0))
    outside = generator.fit(MinMaxScaler().fit_transform(IRIS))
    plain = EnsembleGenerator("kmeans", n_partitions=3, sample_fraction=0.2, random_state=0).fit(
        MinMaxScaler().fit_transform(IRIS)
    )
    for ours, theirs in zip(outside.members_, plain.members_, strict=True):
        np.testing.assert_allclose(ours.centers, theirs.centers, atol=1e-12)


# ----------------------------------------------------------------------------------- new points


def test_new_points_get_the_nearest_centre_of_each_member():
    generator = EnsembleGenerator(
        "kmeans",
        n_partitions=12,
        scale="minmax",
        feature_fraction=0.6,
        sample_fraction=0.9,
        random_state=2,
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
def test_transform_repeats_fit_transform_on_a_lattice_with_ties(points, seed):
    X = np.array(points, dtype=float) / 3
    generator = EnsembleGenerator("kmeans", n_partitions=4, random_state=seed)
    labels = generator.fit_transform(X)
    assert np.array_equal(generator.transform(X), labels)
    one_by_one = np.vstack([generator.transform(row[None]) for row in X])
    assert np.array_equal(one_by_one, labels)


def test_centres_that_win_no_object_are_dropped():
    centers = Centers(np.array([[0.0], [9.0], [5.0]]))
    actual = members.Found(np.array([2, 2, 0]), centers)
    done = members.finish(actual, np.array([0, 2, 3]), 5)
    assert done.labels.tolist() == [0, -1, 0, 1, -1]
    assert done.model.centers.tolist() == [[5.0], [0.0]]
    assert done.n_clusters == 2


def test_members_without_centres_label_only_fitted_points():
    generator = EnsembleGenerator("mixed", n_clusters=[2, 3], random_state=0)
    labels = generator.fit_transform(IRIS)
    assert np.array_equal(generator.transform(IRIS), labels)
    assert np.array_equal(clone(generator).fit(IRIS).transform(IRIS), labels)
    with pytest.raises(InputError, match=r"10 of the 12 members \(average, centroid, single, spec"):
        generator.transform(IRIS[::-1])


def test_the_points_are_not_kept():
    X = np.random.default_rng(0).normal(size=(5000, 4))
    generator = EnsembleGenerator("kmeans", n_partitions=5, random_state=0).fit(X)
    assert len(pickle.dumps(generator)) < 20_000
    restored = pickle.loads(pickle.dumps(generator))
    assert np.array_equal(restored.transform(X), generator.transform(X))


# ------------------------------------------------------------------------------------ edge cases


def test_data_frames_give_data_frames():
    frame = pd.DataFrame(IRIS, columns=list("abcd"), index=np.arange(150) * 2)
    generator = EnsembleGenerator("kmeans", n_partitions=3, random_state=0).set_output(
        transform="pandas"
    )
    labels = generator.fit_transform(frame)
    assert labels.columns.tolist() == ["partition_0", "partition_1", "partition_2"]
    assert labels.index.equals(frame.index)
    assert generator.feature_names_in_.tolist() == list("abcd")
    plain = EnsembleGenerator("kmeans", n_partitions=3, random_state=0).fit_transform(IRIS)
    assert np.array_equal(labels.to_numpy(), plain)
    assert np.array_equal(generator.transform(frame).to_numpy(), plain)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"method": "kmean"},
            r"'method' parameter of EnsembleGenerator must be 'auto', 'kmeans', .* Is it 'kmeans'\?",
        ),
        (
            {"method": KMeans},
            "must be 'auto', 'kmeans', 'mixed', 'spherical', 'spectral', 'graph', 'density', 'som', a scikit-learn",
        ),
        (
            {"method": []},
            "list of clusterers, 'kmeans', 'spherical', 'spectral', 'graph', 'density' and 'som', or a list of pairs",
        ),
        ({"method": [KMeans(), "mixed"]}, "scikit-learn clusterer"),
        ({"method": StandardScaler()}, "scikit-learn clusterer"),
        ({"n_clusters": 0}, r"'n_clusters' .*non-empty range or list.*Got 0 instead"),
        ({"n_clusters": np.array(3)}, r"Got array\(3\)"),
        ({"n_clusters": range(2, 10**12)}, r"at most n_samples=150. Got 999999999999 instead"),
        ({"n_clusters": range(3)}, r"Got range\(0, 3\)"),
        ({"n_clusters": [2, 2.5]}, r"Got \[2, 2.5\]"),
        ({"method": DBSCAN(), "n_clusters": [2]}, "None with DBSCAN, which has no such parameter"),
        ({"cache_dir": 3}, "'cache_dir' .*path or None. Got 3"),
    ],
)
def test_invalid_parameters_are_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        EnsembleGenerator(**{"method": "kmeans", **parameters}).fit(IRIS)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.r_[IRIS, [[np.nan, 1, 1, 1]]], "NaN"),
        (np.r_[IRIS, [[np.inf, 1, 1, 1]]], "infinity"),
        (IRIS[:1], "minimum of 2 is required"),
        (IRIS[:0], "0 sample"),
        (
            IRIS[:, 0],
            r"got 1D array instead: shape \(150,\)\. Reshape your data using X\.reshape\(-1, 1\)",
        ),
        (IRIS[:, 0].tolist(), r"Reshape your data using np\.reshape\(X, \(-1, 1\)\)"),
        ([], "got no object"),
        (IRIS[None], r"got 3D array instead: shape \(1, 150, 4\)"),
        (IRIS * 1j, "Complex data not supported: .* pass their parts as columns"),
        (
            [["a", "b"], ["c", "d"]],
            r"all columns of X hold text \('a' at row 0\). If each .* AutoConsensus",
        ),
    ],
)
def test_invalid_points_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        EnsembleGenerator("kmeans", n_partitions=2).fit(X)


def test_transform_validates_its_points():
    generator = EnsembleGenerator("kmeans", n_partitions=2, random_state=0)
    with pytest.raises(NotFittedError):
        generator.transform(IRIS)
    generator.fit(IRIS)
    with pytest.raises(ValueError, match="expecting 4 features"):
        generator.transform(IRIS[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        generator.transform([[np.nan, 1, 1, 1]])


def test_two_objects_are_clustered():
    assert EnsembleGenerator("kmeans", n_partitions=2).fit_transform([[0.0], [1.0]]).tolist() == [
        [0, 0],
        [1, 1],
    ]
    assert EnsembleGenerator("mixed").fit_transform([[0.0], [1.0]]).tolist() == [[0] * 6, [1] * 6]
