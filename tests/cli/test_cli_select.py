"""``conclust select``: estimates the number of clusters of a file, with reasons."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from conclust import ConsensusClustering, EnsembleGenerator, results
from conclust.cli import main
from conclust.confidence import power
from conclust.report import account
from conclust.selection import choose

QUICK = ["--resamples", "10", "--references", "19", "-k", "2:4"]


@pytest.fixture
def blobs(tmp_path):
    """Three clusters of named objects, with their class; the columns differ in scale."""
    X, y = make_blobs(60, centers=3, n_features=3, cluster_std=0.5, random_state=1)
    path = tmp_path / "points.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "c", "kind"])
        for i, row in enumerate((X * [1, 10, 0.1]).tolist()):
            writer.writerow([f"o{i}", *row, f"class {y[i]}"])
    return path, X * [1, 10, 0.1], y


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
def test_select_gives_the_result_of_choose(blobs, tmp_path, capsys):
    path, X, y = blobs
    out = tmp_path / "out"
    assert main(["select", str(path), *QUICK, "--label-column", "kind", "--out", str(out)]) == 0
    printed, steps = capsys.readouterr()
    actual = choose(X, [2, 3, 4], n_resamples=10, n_references=19, random_state=0)
    assert actual.settings["scale_reason"].startswith("Columns scaled to mean 0")
    assert (
        "Columns scaled to mean 0 and deviation 1, because their units seem to differ: column '"
        in steps
    )
    assert actual.n_clusters == 3
    assert actual.why in printed
    assert "*  3" in printed
    assert "H = 1.000" in printed
    assert sorted(p.name for p in out.iterdir()) == [
        "criteria.csv",
        "ensemble.npz",
        "features.csv",
        "labels.csv",
        "partitions.csv",
        "report.npz",
        "result.json",
    ]
    labels = table(out / "labels.csv")
    assert [row["id"] for row in labels] == [f"o{i}" for i in range(60)]
    assert [int(row["label"]) for row in labels] == actual.labels_.tolist()
    partitions = table(out / "partitions.csv")
    for k in (2, 3, 4):
        assert [int(row[f"k{k}"]) for row in partitions] == actual.labels[k].tolist()
    criteria = table(out / "criteria.csv")
    assert [row["k"] for row in criteria] == ["2", "3", "4"]
    for name, column in actual.table.items():
        assert [float(row[name]) for row in criteria] == column.tolist()
    result = json.loads((out / "result.json").read_text())
    assert result["clusters"] == 3
    assert result["p_value"] == actual.p_value
    assert result["reason"] == actual.reason
    assert np.array(result["null"]).shape == (19, 3)
    np.testing.assert_array_equal(results.load(out).selection.cdf(3), actual.cdf(3))
    assert result["agreement_with_known_classes"]["adjusted_rand_index"] == 1.0
    assert len(np.unique(y)) == 3


def test_power_equals_the_result_of_the_library_and_is_in_the_report(blobs, tmp_path, capsys):
    path, out = blobs[0], tmp_path / "out"
    given = ["--label-column", "kind", "--scale", "none", "--power", "--out", str(out)]
    assert main(["select", str(path), *QUICK, *given]) == 0
    found = results.load(out)
    expected = power(found.labels, blobs[1], random_state=0)
    assert expected.told() in capsys.readouterr().out
    assert [float(row["needed"]) for row in table(out / "power.csv")] == list(
        expected.table["needed"]
    )
    np.testing.assert_array_equal(found.power.at(60), expected.probability)
    [section] = [each for each in account(found)["sections"] if each["id"] == "borders"]
    text = " ".join(block.get("text", "") for block in section["blocks"])
    held = int((expected.at(60) >= 0.8).sum())
    assert f"{expected.told()} Of {len(expected.needed)} borders, {held or 'none'} would" in text
    [picture] = section["blocks"][-1]["pictures"]
    assert (picture["id"], "error" in picture) == ("power", False)


def test_one_cluster_is_a_result_and_a_missing_p_value_is_null(tmp_path, capsys):
    path = tmp_path / "cloud.npy"
    np.save(path, np.random.default_rng(2).normal(size=(50, 2)))
    out = tmp_path / "out"
    assert main(["select", str(path), *QUICK, "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("1 cluster: ")
    assert {row["label"] for row in table(out / "labels.csv")} == {"0"}
    assert main(["select", str(path), *QUICK, "--null", "none", "--force", "--out", str(out)]) == 0
    assert json.loads((out / "result.json").read_text())["p_value"] is None


def test_labels_go_to_standard_output_on_request(blobs, capsys):
    assert main(["select", str(blobs[0]), *QUICK, "--drop", "kind", "--out", "-", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "id,label"
    assert len(lines) == 61


def test_gaps_are_imputed(tmp_path, capsys):
    X = np.random.default_rng(3).normal(size=(40, 2))
    text = "a,b\n" + "\n".join(
        f"{a:.4f},{'' if i == 5 else f'{b:.4f}'}" for i, (a, b) in enumerate(X)
    )
    path = tmp_path / "gaps.csv"
    path.write_text(text + "\n")
    out = tmp_path / "out"
    assert main(["select", str(path), *QUICK, "--out", str(out)]) == 1
    assert "--impute" in capsys.readouterr().err
    assert main(["select", str(path), *QUICK, "--impute", "mean", "--out", str(out)]) == 0
    assert all(int(row["label"]) >= 0 for row in table(out / "labels.csv"))


@pytest.mark.parametrize("text", ["1:4", "5:2", "two", "2,1", "", "2:x", "2:900000000000"])
def test_invalid_numbers_of_clusters_are_refused(blobs, text, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["select", str(blobs[0]), "--k", text])
    assert stop.value.code == 2
    assert "like 2:10 or 2,3,5" in capsys.readouterr().err


def test_too_many_clusters_and_too_few_references_are_refused_in_one_sentence(
    blobs, tmp_path, capsys
):
    out = ["--out", str(tmp_path / "out"), "--drop", "kind"]
    assert main(["select", str(blobs[0]), "-k", "2:49", *out]) == 1
    assert "up to the 48 objects that a resample draws" in capsys.readouterr().err
    assert main(["select", str(blobs[0]), "-k", "2", "--references", "5", *out]) == 1
    assert "Fewer references cannot give a p-value that small" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_cluster_selects_the_number_on_request(blobs, tmp_path, capsys):
    path, X, _ = blobs
    out = tmp_path / "out"
    given = ["cluster", str(path), "--label-column", "kind", "--partitions", "12"]
    assert main([*given, "-k", "auto", "--method", "hbgf", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    generator = EnsembleGenerator("kmeans", n_partitions=12)
    model = ConsensusClustering("hbgf", generator, n_clusters="auto", random_state=0).fit(X)
    actual = model.selection_
    assert actual.n_clusters == 3
    assert actual.why in printed
    content = json.loads((out / "result.json").read_text())
    assert content["clusters"] == content["settings"]["consensus"]["n_clusters"] == 3
    assert content["selection"]["p_value"] == actual.p_value == 0.025
    assert content["selection"]["criteria"]["pac"] == actual.table["pac"].tolist()
    assert "choose" in content["seconds"]
    assert main([*given, "--out", str(out), "--force"]) == 0
    assert "Pass -k auto to test" in capsys.readouterr().out
    assert json.loads((out / "result.json").read_text())["selection"] is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["combine", "-k", "auto"], "Omit -k to let the clusterings determine"),
        (
            ["cluster", "-k", "auto", "--method", "fcaconsensus"],
            "determines the number of clusters itself",
        ),
        (["cluster", "-k", "auto", "--max-clusters", "4"], "give only one of them"),
        (["cluster", "-k", "some"], "of at least 1, or auto, got 'some'"),
    ],
)
def test_auto_is_refused_without_points(given, sentence, blobs, capsys):
    with pytest.raises(SystemExit) as ended:
        main([given[0], str(blobs[0]), *given[1:]])
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Three groups: the age separates the third from the others, and the plan separates all."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 120)
    path = tmp_path_factory.mktemp("select") / "mixed.csv"
    lines = [
        f"{a:.4f},{b:.4f},{'' if i % 15 == 0 else f'plan {g}'},{c}"
        for i, (a, b, g, c) in enumerate(
            zip(
                rng.normal(4 * (group // 2), 0.5),
                rng.normal(size=120),
                group,
                rng.choice(["N", "S"], 120),
                strict=True,
            )
        )
    ]
    path.write_text("age,noise,plan,region\n" + "\n".join(lines) + "\n")
    return path, group


def test_suggested_categories_are_accepted(mixed, tmp_path, capsys):
    path, group = mixed
    assert main(["select", str(path), *QUICK]) == 1
    advice = capsys.readouterr().err
    assert "--categories=plan,region\n" in advice
    out = tmp_path / "out"
    words = ["--categories", "plan", "--drop", "region,noise", "--out", str(out)]
    assert main(["select", str(path), *QUICK, *words]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("3 clusters: ")
    assert "1 column, 1 column of categories" in printed.err
    result = json.loads((out / "result.json").read_text())
    assert result["input"]["categories"] == ["plan"]
    assert result["settings"]["n_categories"] == 1
    labels = np.array([int(row["label"]) for row in table(out / "labels.csv")])
    seen = np.arange(120) % 15 != 0
    assert adjusted_rand_score(group[seen], labels[seen]) == 1.0
    shares = [row for row in table(out / "features.csv") if row["category"]]
    assert {(row["feature"], row["category"]) for row in shares} == {
        *(("plan", f"plan {g}") for g in range(3)),
    }


def test_auto_uses_the_categories(mixed, tmp_path):
    path = tmp_path / "whole.csv"
    path.write_text(
        "\n".join(line for line in mixed[0].read_text().splitlines() if ",," not in line)
    )
    out = tmp_path / "out"
    words = ["--categories", "plan", "--drop", "region,noise", "--partitions", "20", "-k", "auto"]
    assert main(["cluster", str(path), *words, "-q", "--out", str(out)]) == 0
    chosen = json.loads((out / "result.json").read_text())["selection"]
    assert chosen["settings"]["category_weight"] == 1.0
    assert chosen["clusters"] == 3
