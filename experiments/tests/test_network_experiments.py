"""Experiments on networks: communities by formula, and the published networks and consensuses."""

import csv

import networkx as nx
import numpy as np
import pytest
from experiments.networks import communities, formulas, published

from conclust.exceptions import DatasetNotFoundError
from conclust.metrics import adjusted_rand_index


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_published_networks_are_read_and_scored(tmp_path):
    """Nodes are counted from 1, edges are there in both directions, and one node is in no published community."""
    graph, labels = communities.ring(30, 6)
    ties = graph.tocoo()
    folder = tmp_path / "lfr_training" / "default" / "mu_0.1"
    folder.mkdir(parents=True)
    nodes = np.arange(len(labels)) + 1
    both = np.vstack([np.column_stack([ties.row, ties.col]), np.column_stack([ties.col, ties.row])])
    np.savetxt(folder / "network.dat", both + 1, fmt="%d")
    np.savetxt(folder / "community.dat", np.column_stack([nodes, labels + 7]), fmt="%d")
    np.savetxt(folder / "leiden_mod.dat", np.column_stack([nodes, labels // 2]), fmt="%d")
    partition = np.column_stack([nodes, labels])[:-1]
    np.savetxt(folder / "fec_leiden_mod_0.8.dat", partition, fmt="%d")
    arguments = ["--folder", str(tmp_path), "--conditions", "lfr_training/default", "--seeds", "2"]
    published.main([*arguments, "--out", str(tmp_path)])
    (row,) = rows_of(tmp_path / "published.csv")
    assert float(row["ARI"]) == 1.0
    assert 0.97 < float(row["ARI, published"]) < 1.0
    assert float(row["Leiden, published"]) == pytest.approx(
        adjusted_rand_index(labels, labels // 2)
    )
    assert float(row["mean degree"]) == pytest.approx(2 * (30 * 15 + 30) / 180)
    assert row["found, published"] == "31"
    with pytest.raises(DatasetNotFoundError, match="clone"):
        published.main(["--folder", str(tmp_path), "--conditions", "lfr_training/d_20"])


@pytest.mark.parametrize(
    ("name", "kind", "n_runs", "resolution"),
    [
        ("fec_leiden_mod.dat", "fast", 10, None),
        ("fec_100_leiden_mod.dat", "fast", 100, None),
        ("fec_leiden_0.8_cpm_r0.001.dat", "fast", 10, 0.001),
        ("strict_np50_leiden_cpm_r1e-05.dat", "strict", 50, 1e-5),
        ("strict_np5_leiden_mod.dat", "strict", 5, None),
        ("fec_nw_leiden_mod_0.8.dat", "threshold", 10, None),
        ("fec_leiden_mod_np50.dat", "fast", 50, None),
        ("fec_0.9.dat", "fast", 10, None),
    ],
)
def test_parameters_of_a_published_consensus(tmp_path, name, kind, n_runs, resolution):
    network = published.Published(tmp_path, name)
    assert network.method["kind"] == kind
    assert network.method["n_runs"] == n_runs
    assert network.method["resolution"] == resolution
    assert network.method["quality"] == ("cpm" if resolution else "modularity")
    (tmp_path / "network.dat").touch()
    for file in (name, "community.dat", "ecg.dat", "leiden_mod.dat", "louvain.dat"):
        (tmp_path / file).touch()
    assert [each.consensus for each in published.published_in(tmp_path.parent, tmp_path.name)] == [
        name
    ] * (network.method["quality"] == "modularity")
    network.run.touch()
    assert published.published_in(tmp_path.parent, tmp_path.name) == [network]


def test_rings_without_a_file_are_made_by_their_formula(tmp_path):
    folder = tmp_path / "ring_mod" / "n_12"
    folder.mkdir(parents=True)
    for file in ("community.dat", "fec_50_leiden_mod.dat"):
        (folder / file).touch()
    (network,) = published.published_in(tmp_path, "ring_mod")
    edges = published.edges_of(network.folder)
    assert (edges[:, 0] < edges[:, 1]).all()
    actual = {frozenset(edge) for edge in edges.tolist()}
    assert actual == {frozenset(edge) for edge in nx.ring_of_cliques(12, 10).edges}
    assert published.single_run(network, np.zeros(120, dtype=int), 0) is None


def test_lfr_networks_without_a_file_are_made_by_their_formula(tmp_path):
    """The published network of 1,000 nodes and mixing .5 has 5,845 edges, 81 of them loops, and 32 communities."""
    edges, made = formulas.lfr_network(1000, 0.5, 10)
    assert len(edges) == len(np.unique(edges, axis=0)) == 5845
    assert np.count_nonzero(edges[:, 0] == edges[:, 1]) == 81
    sizes = np.bincount(made)
    assert (len(sizes), sizes.min(), sizes.max()) == (32, 10, 101)
    folder = tmp_path / "lfr_training" / "n_1000" / "mu_0.5"
    folder.mkdir(parents=True)
    nodes = np.arange(1000)[::-1]
    np.savetxt(folder / "community.dat", np.column_stack([nodes, 40 - made[nodes]]), fmt="%d")
    for file in ("fec_leiden_mod_0.8.dat", "leiden_mod.dat"):
        (folder / file).touch()
    (network,) = published.published_in(tmp_path, "lfr_training/n_1000")
    np.testing.assert_array_equal(published.edges_of(network.folder), edges)
    published.edges_of.cache_clear()
    np.savetxt(folder / "community.dat", np.column_stack([nodes, made]), fmt="%d")
    with pytest.raises(ValueError, match="communities that networkx makes"):
        published.edges_of(network.folder)


@pytest.mark.parametrize(
    ("n_runs", "threshold", "least"),
    [(10, 0.8, 8), (10, 0.9, 9), (50, 0.8, 41), (100, 0.8, 81), (5, 0.8, 4), (10, 1.0, 10)],
)
def test_least_share_matches_repeated_subtraction(n_runs, threshold, least):
    assert published.least_share(n_runs, threshold) == least / n_runs
    weight = 1.0
    for _ in range(n_runs - least):
        weight -= 1 / n_runs
    assert weight >= threshold > weight - 1 / n_runs
