"""--borders: the shell prints and stores the border tests of the library, and the report shows them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.forging import rewrite

import conclust as cc
from conclust import report, results
from conclust.cli import main
from conclust.confidence import border_tests, consensus_tree
from conclust.exceptions import FileFormatError, InputError
from conclust.report.pictures import Gallery

MEMBERS = ["--generator", "kmeans", "--partitions", "10", "--jobs", "1", "-q"]


def blobs(n=300, apart=8.0):
    """Three clusters, two of them close together, in columns of different units."""
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [apart, 0], [4 * apart, 0]])
    return (rng.normal(size=(n, 2)) + centres[np.arange(n) % 3]) * [1, 1000]


@pytest.fixture(scope="module")
def clustered(tmp_path_factory):
    """A folder of 'cluster --borders', and its points."""
    home = tmp_path_factory.mktemp("borders")
    X = blobs()
    np.save(home / "points.npy", X)
    given = ["cluster", str(home / "points.npy"), "--borders", "-k", "3", *MEMBERS]
    assert main([*given, "--out", str(home / "result")]) == 0
    return home, X


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_folder_holds_the_border_tests_of_the_model(clustered):
    home, X = clustered
    members = cc.EnsembleGenerator("kmeans", n_partitions=10)
    model = cc.ConsensusClustering(cc.AutoConsensus(3), members, random_state=0).fit(X)
    tests = border_tests(X, model, random_state=0)
    tree = consensus_tree(model, X, random_state=0)
    rows = rows_of(home / "result" / "borders.csv")
    assert len(rows) == tests.n_borders > 0
    for name, column in tests.table.items():
        assert [row[name] for row in rows] == [str(value) for value in column.tolist()]
    actual = results.load(home / "result")
    assert str(actual.borders) == str(tests)
    assert actual.border_tree.splits == tree.splits
    np.testing.assert_array_equal(actual.border_tree.leaves, tree.leaves)
    record = json.loads((home / "result" / "result.json").read_text())["borders"]
    assert (record["alpha"], record["adjusted_by"], record["splits"]) == (0.05, "Holm", 15)


def test_a_model_is_tested_in_the_scale_of_its_members():
    X = blobs()
    members = cc.EnsembleGenerator("kmeans", n_partitions=10)
    model = cc.ConsensusClustering(cc.AutoConsensus(3), members, random_state=0).fit(X)
    assert model.generator_.scale_ == "standard"
    actual = border_tests(X, model, random_state=0)
    # Another unit changes nothing: the scaled points are the same up to rounding.
    refitted = cc.ConsensusClustering(cc.AutoConsensus(3), members, random_state=0).fit(
        X * [1, 1024]
    )
    other = border_tests(X * [1, 1024], refitted, random_state=0)
    np.testing.assert_allclose(actual.p_value, other.p_value, equal_nan=True)
    assert actual.n_held() == other.n_held() >= 1
    with pytest.raises(ValueError, match="features"):
        border_tests(X[:, :1], model)


def test_a_consensus_that_takes_no_number_clusters_parts_by_itself():
    X = blobs()
    members = cc.EnsembleGenerator("kmeans", n_partitions=10)
    model = cc.ConsensusClustering(cc.FCAConsensus(), members, random_state=0).fit(X)
    assert border_tests(X, model, n_splits=3, random_state=0).n_clusters == model.n_clusters_


def test_the_output_begins_with_the_headline(tmp_path, capsys):
    square = np.random.default_rng(1).random((200, 2))
    np.save(tmp_path / "square.npy", square)
    given = [str(tmp_path / "square.npy"), "--borders", "--out", "-", "--jobs", "1"]
    quick = ["--resamples", "10", "--references", "19", "-k", "4", "--scale", "none"]
    assert main(["cluster", *given, "--generator", "kmeans", "--partitions", "10", "-k", "4"]) == 0
    error_output = capsys.readouterr().err.splitlines()
    assert (
        "4 clusters, but no border holds (p < .05, Holm): treat it as one cluster." in error_output
    )
    labels = KMeans(4, n_init=5, random_state=0).fit_predict(square)
    assert border_tests(square, labels, random_state=0).n_held() == 0
    assert main(["select", *given, *quick]) == 0
    error_output = capsys.readouterr().err
    assert (
        "no border holds (p < .05, Holm): treat it as one cluster." in error_output
        or "1 cluster" in error_output
    )


def test_one_cluster_has_no_border(tmp_path, capsys):
    np.save(tmp_path / "points.npy", blobs(60))
    out = tmp_path / "out"
    given = ["cluster", str(tmp_path / "points.npy"), "-k", "1", *MEMBERS[:-1], "--borders"]
    assert main([*given, "--out", str(out)]) == 0
    assert "1 cluster: there is no border to test." in capsys.readouterr().out
    assert rows_of(out / "borders.csv") == []
    assert results.load(out).border_tree is None


def test_borders_of_other_objects_are_refused(clustered, tmp_path):
    home, _ = clustered
    for file in (home / "result").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = (tmp_path / "report.npz").read_bytes()
    found = results.load(tmp_path)
    borders, tree = found.borders, found.border_tree
    first, *others = tree.splits
    for fields in (
        {"borders": replace(borders, alpha="small")},
        {"borders": replace(borders, counts=borders.counts[:2])},
        {"border_tree": replace(tree, splits=(replace(first, left=7), *others))},
        {"border_tree": replace(tree, splits=(first, *others, first))},
        {"border_tree": replace(tree, leaves=tree.leaves + 999)},
        {"border_tree": replace(tree, leaves=tree.leaves[1:])},
    ):
        rewrite(tmp_path, **fields)
        with pytest.raises(FileFormatError):
            results.load(tmp_path)
        (tmp_path / "report.npz").write_bytes(before)


def section_of(account):
    return next((s for s in account["sections"] if s["id"] == "borders"), None)


def test_the_report_shows_table_and_tree(clustered):
    home, X = clustered
    account = report.account(home / "result", pictures=False)
    result = results.load(home / "result")
    borders, tree = result.borders, result.border_tree
    words = f"; {borders.n_held()} of {borders.n_borders} borders hold (p < .05, Holm)."
    assert words in account["decision"]["sentence"]
    assert "no p-value" not in account["decision"]["sentence"]
    section = section_of(account)
    text, _, table, _ = section["blocks"]
    assert f"and testing again, leaves {borders.merged().max() + 1} clusters." in text["text"]
    assert [row[2] for row in table["rows"]].count("yes") == borders.n_held() > 0
    (picture,) = Gallery().of_tree(tree)["pictures"]
    assert f"{tree.holds().sum()} of 9 splits hold (p < .05)" in picture["alt"]
    # The same tests in Python give the same section.
    members = cc.EnsembleGenerator("kmeans", n_partitions=10)
    model = cc.ConsensusClustering(cc.AutoConsensus(3), members, random_state=0).fit(X)
    tests = border_tests(X, model, random_state=0)
    tree = consensus_tree(model, X, random_state=0)
    same = report.account(model, X=X, borders=tests, tree=tree, pictures=False)
    assert section_of(same) == section
    assert section_of(report.account(model, X=X, pictures=False)) is None


def test_borders_of_other_clusters_are_refused_in_the_report():
    X = blobs(90)
    members = cc.EnsembleGenerator("kmeans", n_partitions=10)
    model = cc.ConsensusClustering(cc.AutoConsensus(3), members, random_state=0).fit(X)
    halves = border_tests(X, np.arange(90) % 2, n_splits=2, random_state=0)
    tree = consensus_tree(model)
    with pytest.raises(InputError, match="of the clusters that are reported"):
        report.account(model, borders=halves)
    with pytest.raises(InputError, match="'tree' goes with them"):
        report.account(model, tree=tree)
    tests_of_model = border_tests(X, model.labels_, n_splits=2, random_state=0)
    with pytest.raises(InputError, match="must be a ConsensusTree"):
        report.account(model, borders=tests_of_model, tree=tests_of_model)
