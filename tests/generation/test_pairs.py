"""Algorithms with their numbers of clusters, and k-means by the cosine."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris

from conclust import EnsembleGenerator
from conclust.exceptions import DenseLimitError, InputError, ParameterError
from conclust.generation.members import SphericalKMeansRecipe
from conclust.metrics import adjusted_rand_index

IRIS = load_iris().data
ALL_PAIRS = ("single", "average", "ward", "centroid", "dense_spectral")


def test_the_algorithms_of_mixed_with_equal_numbers_give_mixed():
    pairs = [(name, [3, 5]) for name in (*ALL_PAIRS, "kmeans")]
    mixed = EnsembleGenerator("mixed", n_clusters=[3, 5], sample_fraction=0.8, random_state=4)
    listed = EnsembleGenerator(pairs, sample_fraction=0.8, random_state=4)
    np.testing.assert_array_equal(listed.fit_transform(IRIS), mixed.fit_transform(IRIS))
    assert listed.members_ == mixed.members_


def test_numbers_differ_by_algorithm():
    # The 56 members of the robust paper's mixed ensembles: no six algorithms share their numbers.
    linkages = [(name, range(2, 11)) for name in ("single", "average", "ward", "centroid")]
    generator = EnsembleGenerator(
        [*linkages, ("dense_spectral", range(2, 12)), ("kmeans", range(2, 12))], random_state=0
    )
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 56)
    assert labels.dtype == np.int8
    values = [len(np.unique(column)) for column in labels.T]
    assert values == [*range(2, 11)] * 4 + [*range(2, 12)] * 2
    assert [member.method for member in generator.members_[::9]][:4] == [
        "single", "average", "ward", "centroid",
    ]  # fmt: skip
    assert clone(generator).set_params(n_jobs=2).fit_transform(IRIS).tobytes() == labels.tobytes()


def test_clusterers_use_their_numbers():
    generator = EnsembleGenerator(
        [(AgglomerativeClustering(), [2, 4]), (KMeans(n_init=1), 3), ("spectral", (2, 3))],
        random_state=0,
    )
    labels = generator.fit_transform(IRIS)
    assert labels.dtype == np.int32
    assert [len(np.unique(column)) for column in labels.T] == [2, 4, 3, 2, 3]
    ward = AgglomerativeClustering(4).fit_predict(IRIS)
    assert adjusted_rand_index(ward, labels[:, 1]) == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": [("singel", [2])]}, r"a list of pairs, .*'single', .*Got \('singel', \[2\]\)"),
        ({"method": [("single", [])]}, "range or list of ints"),
        ({"method": [("single", [0, 2])]}, "range or list of ints"),
        ({"method": [("single", [2], 3)]}, "a list of pairs"),
        ({"method": [("single", [2]), "kmeans"]}, "a list of pairs.* Got 'kmeans'"),
        ({"method": [("mixed", [2])]}, r"a list of pairs.* Got \('mixed', \[2\]\)"),
        ({"method": [("single", [2])], "n_clusters": 3}, "'n_clusters' .* must be None where"),
        ({"method": [("single", [2])], "n_partitions": 2}, "None or 1, one for each algorithm"),
        ({"method": [("single", [151])]}, "at most n_samples=150. Got 151"),
    ],
)
def test_invalid_pairs_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        EnsembleGenerator(**{"method": "kmeans", **parameters}).fit(IRIS)


def test_pairs_with_quadratic_algorithms_refuse_many_objects(monkeypatch):
    monkeypatch.setattr("conclust.generation.plan.MOST_DENSE", 100)
    with pytest.raises(DenseLimitError, match=r"method='ward' needs matrices of 150 x 150"):
        EnsembleGenerator([("kmeans", [2]), ("ward", [2])]).fit(IRIS)
    EnsembleGenerator([("kmeans", [2])]).fit(IRIS)


def test_pairs_that_label_new_points_are_fitted_on_a_sample():
    generator = EnsembleGenerator([("kmeans", [2, 3])], fit_on=60, random_state=0).fit(IRIS)
    assert [member.n_fitted for member in generator.members_] == [60, 60]
    with pytest.raises(ParameterError, match=r"'fit_on' .* draws with single"):
        EnsembleGenerator([("kmeans", [2]), ("single", [2])], fit_on=60).fit(IRIS)


def directions(seed, n=300):
    """Points around three directions, of any length."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return (np.eye(6)[y] + 0.1 * rng.normal(size=(n, 6))) * rng.uniform(0.1, 10, (n, 1)), y


def naive_spherical(X, starts):
    """Spherical k-means by the book: loops over points and clusters."""
    units = [row / np.sqrt((row * row).sum()) for row in X]
    centers = [units[start] for start in starts]
    for _ in range(300):
        labels = [int(np.argmax([unit @ center for center in centers])) for unit in units]
        sums = [
            sum(unit for unit, label in zip(units, labels, strict=True) if label == k)
            for k in range(len(centers))
        ]
        moved = [total / np.sqrt(total @ total) for total in sums]
        if np.allclose(moved, centers, rtol=0, atol=1e-14):
            break
        centers = moved
    return np.array(labels), np.array(centers)


@pytest.mark.parametrize("seed", range(3))
def test_spherical_members_equal_spherical_k_means(seed):
    X, _ = directions(seed)
    recipe = SphericalKMeansRecipe(tol=0.0)
    # The starts are the first points of a permutation: all directions differ.
    starts = np.random.default_rng(seed).permutation(len(X))[:3]
    (actual,) = recipe.run(X, [3], np.random.default_rng(seed))
    labels, centers = naive_spherical(X, starts)
    np.testing.assert_array_equal(actual.labels, labels)
    np.testing.assert_allclose(actual.model.centers, centers, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fit_on", [None, 60])
@pytest.mark.parametrize("exponent", [-1040, -340, -60, -50, -24, 24, 40, 60, 340, 900])
def test_spherical_members_do_not_depend_on_the_unit_of_the_points(exponent, fit_on):
    X = np.random.default_rng(3).normal(size=(80, 4)).astype(np.float32).astype(np.float64)
    X = np.round(X * 2**12) / 2**12  # exact, even if multiplied by 2^-1040
    generator = EnsembleGenerator(
        "spherical", 5, n_clusters=4, fit_on=fit_on, scale=None, random_state=0
    )
    expected = generator.fit_transform(X)
    scaled = np.ldexp(X, exponent)
    assert np.array_equal(generator.fit_transform(scaled), expected)
    assert np.array_equal(generator.transform(scaled[:10]), expected[:10])
    mixed = np.ldexp(X, np.where(np.arange(80) % 2, exponent, 0)[:, None])
    assert np.array_equal(generator.fit(X).transform(mixed), expected)


def test_points_out_of_scale_are_labelled_by_the_features_of_each_member():
    X = np.random.default_rng(4).normal(size=(80, 6))
    generator = EnsembleGenerator(
        ["spherical", "kmeans"], 8, n_clusters=4, feature_fraction=0.5, scale=None, random_state=0
    )
    generator.fit(X)
    spherical = [u for u, member in enumerate(generator.members_) if member.method == "spherical"]
    assert len(spherical) == 4
    mixed = np.ldexp(X, np.where(np.arange(80) % 2, 60, 0)[:, None])
    np.testing.assert_array_equal(
        generator.transform(mixed)[:, spherical], generator.transform(X)[:, spherical]
    )


def test_spherical_members_need_directions():
    X, _ = directions(0)
    X[[3, 7]] = 0.0
    with pytest.raises(InputError, match="2 of 300 points have none"):
        EnsembleGenerator("spherical", 2, random_state=0).fit(X)


def test_points_without_direction_are_refused_in_memory_and_in_blocks():
    X, _ = directions(0)
    generator = EnsembleGenerator("spherical", 2, n_clusters=3, fit_on=50, random_state=0).fit(X)
    X[7] = 0.0
    with pytest.raises(InputError, match="1 of 300 points have none"):
        generator.transform(X)
    with pytest.raises(InputError, match="points have none"):
        list(generator.transform_blocks(X))
    # Labelled although the members did not draw it.
    with pytest.raises(InputError, match="points have none"):
        clone(generator).fit_transform(X)


def test_spherical_members_handle_few_directions():
    X = np.repeat([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], 4, axis=0)
    labels = EnsembleGenerator("spherical", 3, n_clusters=2, random_state=1).fit_transform(X)
    assert labels.tolist() == [[0] * 3] * 4 + [[1] * 3] * 4 + [[0] * 3] * 4
