"""Evidence on the edges of a graph equals that of all pairs at these edges."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import corrupt_graphs, random_labels

from conclust import EAC, Ensemble, coassociation, copresence
from conclust.evidence import SparseEvidence, edge_evidence
from conclust.exceptions import InputError
from conclust.metrics import adjusted_rand_index


def graph_of(seed, n, density=0.2):
    rng = np.random.default_rng(seed)
    return sp.random_array((n, n), density=density, rng=rng, format="csr")


@pytest.mark.parametrize("kind", ["plain", "gaps", "weighted", "soft"])
@pytest.mark.parametrize("form", ["csr", "coo", "upper", "doubled"])
def test_counts_at_edges_match_those_of_all_pairs(kind, form):
    labels = random_labels(3, 30, 7, 4, missing=0.4 * (kind == "gaps"))
    ensemble = Ensemble(labels, weights=range(1, 8) if kind == "weighted" else None)
    if kind == "soft":
        rng = np.random.default_rng(0)
        ensemble = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 30) for _ in range(4)])
    graph = graph_of(1, 30)
    whole = (graph.toarray() != 0) | (graph.toarray().T != 0)
    np.fill_diagonal(whole, False)
    if form == "coo":
        graph = sp.coo_matrix(graph)
    elif form == "upper":
        graph = sp.triu(sp.csr_array(whole.astype(float)))
    elif form == "doubled":
        twice = sp.coo_array(graph)
        graph = sp.coo_array(
            (
                np.concatenate([twice.data, twice.data, [0.0]]),
                (
                    np.concatenate([twice.row, twice.row, [0]]),
                    np.concatenate([twice.col, twice.col, [29]]),
                ),
            ),
            shape=graph.shape,
        )
        whole[0, 29] = whole[29, 0] = graph_of(1, 30).toarray()[[0, 29], [29, 0]].any()
    actual = edge_evidence(ensemble, graph)
    SparseEvidence(
        actual.indptr, actual.indices, actual.counts, actual.copresence
    )  # checks its form
    c, N = coassociation(ensemble), copresence(ensemble)
    observed = whole & (N > 0)
    counts, both = (matrix.toarray() for matrix in actual.matrices())
    np.testing.assert_allclose(counts, np.where(observed, c, 0), atol=1e-12)
    np.testing.assert_allclose(both, np.where(observed, N, 0), atol=1e-12)
    assert actual.n_pairs == np.count_nonzero(observed) // 2


def test_a_method_is_restricted_to_the_edges():
    G = nx.connected_caveman_graph(4, 6)
    groups = np.arange(24) // 6
    rng = np.random.default_rng(0)
    labels = np.column_stack(
        [np.where(rng.random(24) < 0.1, rng.integers(0, 4, 24), groups) for _ in range(15)]
    )
    evidence = edge_evidence(labels, nx.to_scipy_sparse_array(G))
    found_labels = EAC(4, linkage="single", pairs=evidence).fit_predict(labels)
    assert adjusted_rand_index(groups, found_labels) == 1.0


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (np.eye(3), "Got ndarray instead"),
        (sp.eye_array(4), r"Got shape \(4, 4\) instead"),
        (nx.Graph(), "Got Graph"),
    ],
)
def test_invalid_edges_are_refused(graph, said):
    with pytest.raises(InputError, match=said):
        edge_evidence([[0], [0], [1]], graph)


def test_graphs_with_indices_outside_are_refused():
    for graph in corrupt_graphs(sp.csr_array(graph_of(1, 30))):
        with pytest.raises(InputError, match="graph of edge_evidence is not a valid sparse matrix"):
            edge_evidence(random_labels(3, 30, 7, 4), graph)
