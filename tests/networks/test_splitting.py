import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from tests.naive import networks as naive

from conclust import GraphConsensus
from conclust.metrics import adjusted_rand_index
from conclust.networks.estimator import weigh_splits
from conclust.networks.reading import read_network


def planted(number, size, inside, outside, seed):
    """Return a graph of equal groups, with mean degrees inside and outside of them, and the groups."""
    rng = np.random.default_rng(seed)
    n = number * size
    one = rng.integers(0, n, rng.poisson(n * inside / 2))
    other = one // size * size + rng.integers(0, size, len(one))
    far = rng.integers(0, n, (rng.poisson(n * outside / 2), 2))
    edges = np.vstack([np.column_stack([one, other]), far])
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    A = sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
    return A, np.arange(n) // size


def pieces_of(labels, parts, group):
    nodes = np.flatnonzero(labels == group)
    return [set(nodes[parts[nodes] == part].tolist()) for part in np.unique(parts[nodes])]


@pytest.mark.parametrize("seed", range(2))
def test_the_gain_of_a_split_matches_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], [9, 6, 5])
    parts = np.concatenate([rng.integers(0, 3, 9), 3 + rng.integers(0, 2, 6), np.full(5, 5)])
    parts = np.unique(parts, return_inverse=True)[1]
    near = labels[:, None] == labels
    together = parts[:, None] == parts
    A = sp.csr_array(np.triu(near & (rng.random((20, 20)) < np.where(together, 0.9, 0.3)), 1) * 1.0)
    network = read_network(A)
    split = weigh_splits(network, labels, parts)
    every = [(int(a), int(b)) for a, b in zip(*A.nonzero(), strict=True)]
    for group in range(3):
        pieces = pieces_of(labels, parts, group)
        nodes = set().union(*pieces)
        edges = [(a, b) for a, b in every if a in nodes]
        expected = naive.description(edges, nodes, [nodes]) - naive.description(
            edges, nodes, pieces
        )
        assert split.saved[group] == pytest.approx(expected if len(pieces) > 1 else 0.0, abs=1e-9)
        crossing = sum(parts[a] != parts[b] for a, b in edges)
        assert split.cut[group] == pytest.approx(crossing / len(edges))


def test_certainty_counts_and_the_unit_of_weights_does_not():
    A, labels = planted(2, 40, 10, 1, 0)
    rng = np.random.default_rng(0)
    whole = np.zeros(80, dtype=np.int64)
    plain = weigh_splits(read_network(A), whole, labels)
    scaled = weigh_splits(read_network(A * 0.1), whole, labels)
    np.testing.assert_array_equal(plain.saved, scaled.saved)
    uneven = A.copy()
    uneven.data = rng.exponential(size=A.nnz)
    weighed = weigh_splits(read_network(uneven), whole, labels)
    other_unit = weigh_splits(read_network(uneven * 1000.0), whole, labels)
    assert 0 < weighed.saved[0] < plain.saved[0]
    assert other_unit.saved[0] == pytest.approx(weighed.saved[0], rel=1e-9)


def test_many_small_groups_are_found():
    A, truth = planted(200, 50, 8, 4, 0)
    model = GraphConsensus(random_state=0).fit(A)
    merged = GraphConsensus(random_state=0, split=False).fit(A)
    assert adjusted_rand_index(truth, merged.labels_) < 0.9
    assert adjusted_rand_index(truth, model.labels_) > 0.96
    # It only splits.
    for part in np.unique(model.labels_):
        assert len(np.unique(merged.labels_[model.labels_ == part])) == 1


def test_one_group_is_not_split():
    A, _ = planted(8, 100, 10, 2, 0)
    model = GraphConsensus(random_state=0).fit(A)
    merged = GraphConsensus(random_state=0, split=False).fit(A)
    np.testing.assert_array_equal(model.labels_, merged.labels_)
    karate = nx.karate_club_graph()
    assert GraphConsensus(random_state=0).fit(karate).n_clusters_ == 4


def test_graphs_of_points_are_not_split_into_fragments():
    from sklearn.datasets import make_blobs
    from sklearn.neighbors import kneighbors_graph

    X, _ = make_blobs(1200, 6, centers=6, random_state=0)
    A = sp.csr_array(kneighbors_graph(X, 10))
    A = sp.csr_array(A + A.T)
    A.data[:] = 1.0
    model = GraphConsensus(random_state=0).fit(A)
    merged = GraphConsensus(random_state=0, split=False).fit(A)
    assert model.n_clusters_ <= 1.2 * merged.n_clusters_


def test_the_default_of_split_depends_on_other_arguments():
    G = nx.ring_of_cliques(300, 5)
    runs = GraphConsensus(random_state=0, split=False).fit(G).ensemble_
    assert GraphConsensus(random_state=0).fit(G).n_clusters_ == 300
    assert GraphConsensus(resolution=1.0, random_state=0).fit(G).n_clusters_ == 300
    for parameters, given in (
        ({"resolution": 0.8}, {}),
        ({}, {"ensemble": runs}),
        ({"recluster": False, "threshold": 0.3}, {}),
    ):
        whole = GraphConsensus(**parameters, random_state=0).fit(G, **given)
        assert whole.n_clusters_ < 300
        apart = GraphConsensus(**parameters, split=True, random_state=0).fit(G, **given)
        assert apart.n_clusters_ == 300
