"""The output of the default: the number of clusters, its reason, and the confidence."""

import csv
import json
import re

import numpy as np
from sklearn.datasets import load_iris, make_blobs

from conclust import ConsensusClustering
from conclust.cli import main


def result(out):
    return json.loads((out / "result.json").read_text())


def test_the_default_prints_the_number_and_its_reason(tmp_path, capsys):
    X, _ = make_blobs(200, centers=4, n_features=5, random_state=0)
    points = tmp_path / "blobs.csv"
    np.savetxt(points, X, delimiter=",", header="a,b,c,d,e", comments="")
    more = ["--partitions", "40", "--out"]
    assert main(["cluster", str(points), *more, str(tmp_path / "r")]) == 0
    printed = capsys.readouterr().out
    assert "4 clusters of 200 objects" in printed
    assert "4 clusters: few points are near each border" in printed
    assert "Pass -k auto to test what k-means finds" in printed
    assert re.search(
        r"Mean confidence [01]\.\d\d \([01]\.\d\d expected from random partitions", printed
    )
    written = result(tmp_path / "r")
    assert written["settings"]["method"] == "autoconsensus"
    assert 0 < written["mean_confidence_by_chance"] < 0.6 < written["mean_confidence"]
    assert max(written["supports"], key=lambda s: s["support"])["n_clusters"] == 4
    assert main(["cluster", str(points), *more, str(tmp_path / "s"), "--max-clusters", "3"]) == 0
    assert result(tmp_path / "s")["clusters"] <= 3


def test_the_default_prints_why_there_is_one_cluster(tmp_path, capsys):
    points = tmp_path / "noise.csv"
    X = np.random.default_rng(1).uniform(size=(300, 2))
    np.savetxt(points, X, delimiter=",", header="a,b", comments="")
    more = ["--partitions", "60", "--out"]
    assert main(["cluster", str(points), *more, str(tmp_path / "r")]) == 0
    printed = capsys.readouterr().out
    assert " of 300 objects, from " in printed
    assert "One cluster: " in printed
    assert "confidence" not in printed
    assert main(["cluster", str(points), *more, str(tmp_path / "s"), "-k", "3"]) == 0
    reason = "3 clusters: this number was given. The points alone suggest one cluster: leave -k out to see why."
    assert reason in capsys.readouterr().out


def test_the_next_best_numbers_have_their_clusters_in_a_file(tmp_path, capsys):
    points = tmp_path / "iris.csv"
    np.savetxt(points, load_iris().data, delimiter=",", header="a,b,c,d", comments="")
    assert main(["cluster", str(points), "--out", str(tmp_path / "r")]) == 0
    assert "pass -k 3 to see it" in capsys.readouterr().out
    with (tmp_path / "r" / "alternatives.csv").open() as file:
        rows = list(csv.DictReader(file))
    model = ConsensusClustering(random_state=0).fit(load_iris().data)
    assert [int(row["k3"]) for row in rows] == model.labels_at(3).tolist()


def test_confidence_not_above_chance_is_printed(tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    drawn = np.random.default_rng(0).integers(0, 3, size=(60, 12))
    np.savetxt(labels, drawn, "%d", delimiter=",", header=",".join("abcdefghijkl"), comments="")
    printed = []
    for seed in range(6):
        more = ["--method", "voting", "-k", "3", "--seed", str(seed), "--force"]
        assert main(["combine", str(labels), *more, "--out", str(tmp_path / "r")]) == 0
        printed.append(capsys.readouterr().out)
    assert any("It is not higher than expected" in text for text in printed)


def test_too_few_objects_to_distinguish_agreement_from_chance_are_reported(tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    labels.write_text("name,a,b\nada,1,x\nbob,1,x\ncy,2,y\ndee,2,y\n")
    assert main(["combine", str(labels), "-k", "2", "--out", str(tmp_path / "r")]) == 0
    printed = capsys.readouterr().out
    assert "cannot distinguish agreement from chance" in printed
    assert "do not agree" not in printed
