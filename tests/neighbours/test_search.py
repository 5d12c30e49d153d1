import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from tests.naive import neighbours as naive

from conclust._kernels import bitslice_forms
from conclust.exceptions import InputError, ParameterError
from conclust.neighbours import find_neighbours
from conclust.neighbours.search import PointIndex

FORMS = ["portable", *(form for form in bitslice_forms() if form != "portable")]
KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "grid": lambda rng, n, d: rng.integers(0, 4, (n, d)).astype(float),
    "far from the origin": lambda rng, n, d: 1e6 + 1e-3 * rng.normal(size=(n, d)),
    "outliers": lambda rng, n, d: (
        rng.normal(size=(n, d)) * np.where(rng.random((n, 1)) < 0.02, 1e9, 1)
    ),
    "lines": lambda rng, n, d: np.repeat(np.arange(n)[:, None], d, axis=1) / 3,
    "wide": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 8, d),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (9, 1), (66, 3), (300, 5), (180, 17)])
def test_the_search_is_exact_to_the_bit(kind, n, d):
    points = np.unique(KINDS[kind](np.random.default_rng(n), n, d), axis=0)
    queries = np.concatenate([points[:7], points[:20] + 0.25])
    index = PointIndex(points)
    for k in (1, 5, 40):
        wanted = min(k, len(points) - 1)
        among = naive.nearest(points, wanted) if wanted else None
        of_queries = naive.nearest(points, k, queries)
        for form in FORMS:
            found = index.neighbours(k, 2, form)
            assert found[0].shape == (len(points), wanted), form
            if wanted:
                assert all(map(np.array_equal, found, among)), form
            assert all(map(np.array_equal, index.nearest(queries, k, 1, form), of_queries)), form


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 2.0**-1040, 1e200, 1e307])
def test_the_unit_of_the_points_does_not_matter(scale):
    points = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    exact = 2.0 ** round(np.log2(scale))
    assert np.array_equal(
        find_neighbours(points * exact, 5).found, find_neighbours(points, 5).found
    )


@pytest.mark.parametrize("apart", [0.0, 1e-150])
@pytest.mark.parametrize("at", [[0.0, 0.0], [1.0, 0.0]])
def test_points_at_tiny_distances_are_all_compared(at, apart):
    points = np.array([at] * 40)
    points[:, 1] += apart * np.arange(40)
    queries = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, -2.0]])
    expected = naive.nearest(points, 15, queries)
    for form in FORMS:
        assert all(map(np.array_equal, PointIndex(points).nearest(queries, 15, 1, form), expected))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_match_scikit_learn(metric):
    points = np.random.default_rng(1).normal(size=(1200, 8))
    neighbours = find_neighbours(points, 12, metric=metric)
    brute = NearestNeighbors(n_neighbors=12, metric=metric, algorithm="brute").fit(points)
    distances, found = brute.kneighbors()
    assert np.array_equal(neighbours.found, found)
    ours = np.sqrt(neighbours.squares) if metric == "euclidean" else neighbours.squares / 2
    np.testing.assert_allclose(ours, distances, atol=1e-9)


def test_equal_rows_count_as_one_point():
    rng = np.random.default_rng(2)
    distinct = rng.normal(size=(40, 2))
    objects = np.concatenate([np.arange(40), rng.integers(0, 40, 200)])
    neighbours = find_neighbours(distinct[objects], 6)
    assert np.array_equal(neighbours.rows.inverse, objects)
    assert np.array_equal(neighbours.found, naive.nearest(distinct, 6)[0])
    assert neighbours.rows.counts.sum() == 240
    # By the cosine, rows of one direction are equal.
    lengths = 2.0 ** rng.integers(-3, 4, 240)[:, None]
    assert find_neighbours(distinct[objects] * lengths, 6, metric="cosine").n_points == 40
    assert find_neighbours([[0.0], [-0.0], [1.0]], 1).n_points == 2


def test_threads_change_no_bit():
    points = np.random.default_rng(3).normal(size=(3000, 6))
    one, two, four = (find_neighbours(points, 9, n_jobs=threads) for threads in (1, 2, 4))
    for other in (two, four):
        assert np.array_equal(one.found, other.found)
        assert np.array_equal(one.squares, other.squares)


@pytest.mark.parametrize("kind", ["normal", "grid", "clusters", "outliers"])
def test_cells_lose_few_neighbours(kind):
    rng = np.random.default_rng(4)
    if kind == "clusters":
        points = (
            rng.normal(size=(4000, 8)) * 0.2 + rng.normal(size=(12, 8))[rng.integers(0, 12, 4000)]
        )
    else:
        points = np.unique(KINDS[kind](rng, 4000, 6), axis=0)
    every, cells = PointIndex(points), PointIndex(points, 500)
    for k in (1, 15, 40):
        squares = every.neighbours(k)[1]
        found, near = cells.neighbours(k, 2)
        assert not (found == np.arange(len(points))[:, None]).any()
        # By distance, because ties may be broken in any way.
        assert (near <= squares[:, -1:]).mean() >= 0.97
        assert np.array_equal(cells.neighbours(k, 1)[0], found)
    some = rng.permutation(len(points))[:300]
    found, near = cells.nearest(points[some], 3, 2)
    assert np.array_equal(found[:, 0], some)
    assert not near[:, 0].any()
    queries = points[some] + rng.normal(size=(len(some), points.shape[1])) * 0.1
    together = cells.nearest(queries, 15)[0]
    assert (cells.nearest(queries, 15)[1] <= every.nearest(queries, 15)[1][:, -1:]).mean() >= 0.96
    for i in range(0, 300, 37):
        assert np.array_equal(cells.nearest(queries[i : i + 1], 15)[0][0], together[i])


def test_more_neighbours_than_points_in_a_cell_are_found():
    points = np.random.default_rng(5).normal(size=(130, 2))
    for k in (1, 60, 129):
        found, _ = PointIndex(points, 100).neighbours(k)
        assert found.shape == (130, k)
        assert all(len(set(row)) == k for row in found.tolist())
    assert np.array_equal(found, PointIndex(points).neighbours(129)[0])


def test_few_points_are_searched():
    assert find_neighbours([[1.0, 2.0]], 3).found.shape == (1, 0)
    assert find_neighbours(np.ones((5, 2)), 3).found.shape == (1, 0)
    assert find_neighbours([[0.0], [1.0]], 3).found.tolist() == [[1], [0]]


def test_invalid_arguments_are_refused():
    with pytest.raises(InputError, match="3 of 4 points have none"):
        find_neighbours([[0.0, 0.0]] * 3 + [[1.0, 0.0]], 1, metric="cosine")
    for wrong in ([[np.nan]], [1.0, 2.0], np.empty((3, 0))):
        with pytest.raises(InputError, match="find_neighbours"):
            find_neighbours(wrong, 1)
    with pytest.raises(ParameterError, match="'k' parameter"):
        find_neighbours([[0.0], [1.0]], 0)
    with pytest.raises(ParameterError, match="'metric' parameter"):
        find_neighbours([[0.0], [1.0]], 1, metric="manhattan")
