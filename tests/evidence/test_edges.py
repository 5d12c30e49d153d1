"""The evidence of GraphConsensus on the edges of a graph equals that of all pairs at these edges."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from tests.cases import random_labels

from conclust import EAC, Ensemble, GraphConsensus, coassociation, copresence
from conclust.evidence import SparseEvidence
from conclust.metrics import adjusted_rand_index


@pytest.mark.parametrize("kind", ["plain", "gaps", "weighted", "soft"])
def test_counts_at_edges_match_those_of_all_pairs(kind):
    labels = random_labels(3, 30, 7, 4, missing=0.4 * (kind == "gaps"))
    ensemble = Ensemble(labels, weights=range(1, 8) if kind == "weighted" else None)
    rng = np.random.default_rng(1)
    if kind == "soft":
        ensemble = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 30) for _ in range(4)])
    graph = sp.triu(sp.random_array((30, 30), density=0.2, rng=rng), k=1, format="csr")
    whole = (graph + graph.T).toarray() != 0
    actual = GraphConsensus(random_state=0).fit(graph, ensemble=ensemble).evidence_
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
    evidence = GraphConsensus(random_state=0).fit(G, ensemble=labels).evidence_
    found_labels = EAC(4, linkage="single", pairs=evidence).fit_predict(labels)
    assert adjusted_rand_index(groups, found_labels) == 1.0
