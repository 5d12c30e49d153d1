import numpy as np
import pytest
from tests.naive import neighbours as naive

from conclust.exceptions import ParameterError
from conclust.neighbours import neighbour_graph


@pytest.mark.parametrize("weights", ["uniform", "jaccard"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (12, 3), (80, 7), (80, 200)])
def test_the_graph_matches_its_definition(n, k, weights):
    points = np.random.default_rng(n).normal(size=(n, 3))
    graph = neighbour_graph(points, k, weights=weights)
    actual, _ = naive.nearest(points, min(k, n - 1))
    expected = naive.graph(actual, k, weights == "jaccard")
    assert np.array_equal(graph.to_scipy().toarray(), expected)
    assert (np.diff(graph.ends) > 0).sum() >= len(graph.ends) - n
    assert np.array_equal(graph.sources, np.nonzero(expected)[0])


def test_equal_points_are_one_node():
    points = np.array([[0.0], [1.0], [0.0], [4.0]])
    graph = neighbour_graph(points, 1)
    assert graph.n_points == 3
    assert graph.rows.inverse.tolist() == [0, 1, 0, 2]
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_invalid_arguments_are_refused():
    with pytest.raises(ParameterError, match="'weights' parameter"):
        neighbour_graph([[0.0], [1.0]], 1, weights="heat")
