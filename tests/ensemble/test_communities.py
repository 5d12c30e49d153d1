"""Communities of several runs are converted to labels of nodes."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from conclust import Ensemble
from conclust.exceptions import InputError

RUNS = [[{3, 1}, {2}], [{1, 2}, set()], [[3], [2, 1]]]
LABELS = [[0, 0, 1], [1, 0, 1], [0, -1, 0]]  # of the nodes 1, 2, 3


def by_definition(runs, nodes):
    """The number of the first community that has the node."""
    return [
        [next((k for k, actual in enumerate(run) if node in actual), -1) for run in runs]
        for node in nodes
    ]


def test_nodes_are_sorted_or_in_the_given_order():
    assert Ensemble.from_communities(RUNS) == Ensemble(LABELS)
    turned = Ensemble.from_communities(RUNS, nodes=[3, 2, 1])
    assert turned == Ensemble(LABELS[::-1])
    assert turned.names == Ensemble(by_definition(RUNS, [3, 2, 1])).names


def test_communities_of_networkx_are_read():
    G = nx.planted_partition_graph(4, 12, 0.8, 0.05, seed=1)
    G = nx.relabel_nodes(G, {i: f"node {(i * 7) % 48}" for i in G})
    runs = [nx.community.louvain_communities(G, seed=seed) for seed in range(5)]
    made = Ensemble.from_communities(runs, nodes=G, weights=[1, 2, 1, 1, 1])
    assert made == Ensemble(by_definition(runs, G), weights=[1, 2, 1, 1, 1])
    assert Ensemble.from_communities(runs) == Ensemble(by_definition(runs, sorted(G)))


def test_every_form_of_a_run_gives_the_same_labels():
    objects = [SimpleNamespace(communities=[sorted(c) for c in run], overlap=False) for run in RUNS]
    dicts = [{node: k for k, c in enumerate(run) for node in c} for run in RUNS]
    generators = (iter([frozenset(c) for c in run]) for run in RUNS)
    for form in (objects, dicts, generators):
        assert Ensemble.from_communities(form, nodes=[1, 2, 3]) == Ensemble(LABELS)
    assert Ensemble.from_communities([{1: "b", 2: "a", 3: "b"}]).labels.ravel().tolist() == [
        0,
        1,
        0,
    ]


def test_a_node_repeated_in_one_community_does_not_overlap():
    assert Ensemble.from_communities([[[1, 1, 2], [3]]]).labels.ravel().tolist() == [0, 0, 1]


def test_nodes_in_no_run_are_missing():
    made = Ensemble.from_communities([[{0}, {1}]], nodes=range(4))
    assert made.labels.ravel().tolist() == [0, 1, -1, -1]


def test_nodes_may_be_tuples():
    G = nx.grid_2d_graph(2, 3)
    made = Ensemble.from_communities([[{(0, 0), (0, 1)}, {(1, 1)}]], nodes=G)
    assert made.labels.ravel().tolist() == [0, 0, -1, -1, 1, -1]


@pytest.mark.parametrize(
    ("runs", "nodes", "said"),
    [
        ([[{1, 2}, {2, 3}]], None, "Communities 0 and 1 of run 0 overlap: both have the node 2"),
        ([[{1}], [{1, 4}]], [1, 2], "Run 1 has the node 4, which is not among"),
        ([[{1, 2}]], [1, 2, 1], "must be different. Got 1 duplicates"),
        ([[{1, "a"}]], None, "cannot be sorted together: give them as 'nodes'"),
        ([{1, 2}, {3}], None, "If this is one run, give it as a list of one"),
        ([["ab", "c"]], None, "'ab' as community 0 of run 0"),
        ([3], None, "Got int as run 0"),
        ([], None, "Got no run"),
        ("abc", None, "Got str"),
        ({"a": 0}, None, "Got dict"),
        ([[{1, 2}], [set()]], [1, 2], "Partition 1 is missing everywhere"),
    ],
)
def test_invalid_communities_are_refused(runs, nodes, said):
    with pytest.raises(InputError, match=said):
        Ensemble.from_communities(runs, nodes)


def test_the_order_of_sets_changes_nothing():
    names = [f"{i:03d}" for i in range(200)]
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 7, 200)
    run = [{names[i] for i in np.flatnonzero(groups == k)} for k in range(7)]
    assert Ensemble.from_communities([run]) == Ensemble(groups[:, None])


@pytest.mark.parametrize("empty", [None, float("nan"), np.nan, pd.NA, -1, "-1"])
def test_nodes_with_an_empty_label_are_missing(empty):
    runs = [{"a": 0, "b": empty, "c": empty, "d": 0}, {"a": "x", "b": "y", "c": "y", "d": "x"}]
    labels = Ensemble.from_communities(runs).labels
    np.testing.assert_array_equal(labels, [[0, 0], [-1, 1], [-1, 1], [0, 0]])
    noisy = Ensemble.from_communities([{"a": 0, "b": -2, "c": 1}], nodes=["b", "a", "c"])
    np.testing.assert_array_equal(noisy.labels, [[-2], [0], [1]])
