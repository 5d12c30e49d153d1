"""The reporting checklist: what the result tells, what was not done, what only its authors can say."""

import csv

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from conclust import ConsensusClustering, EnsembleGenerator
from conclust.confidence import border_tests, calibrated
from conclust.report import account, write
from conclust.words.page.checklist import HEADS, as_markdown

POINTS = make_blobs(80, centers=2, n_features=3, cluster_std=0.5, random_state=1)[0]


@pytest.fixture(scope="module")
def model():
    members = EnsembleGenerator("kmeans", n_partitions=12)
    return ConsensusClustering(generator=members, random_state=7).fit(POINTS)


def told(found):
    """Return the state and the text of each item."""
    return {item: (state, text) for _, item, state, text in found["checklist"]}


def test_items_are_filled_in_from_the_result(model):
    items = told(account(model, X=POINTS, feature_names=["a", "b", "c"], pictures=False))
    assert items["Number of objects"] == ("done", "80.")
    assert items["Variables"] == ("done", "a, b, c")
    assert items["Seed"] == ("done", "Seed 7.")
    assert items["How it was found"] == ("done", model.reason_)
    sizes = np.bincount(model.labels_)
    assert items["Sizes"] == ("done", f"{sizes[0]}, {sizes[1]}; 0 in no cluster.")
    assert items["Test against one cluster"][0] == "not done"
    assert items["Stability in fresh samples"][0] == "not done"
    assert items["Aim"][0] == items["Data and code"][0] == "only you can say"
    assert all(text for _, text in items.values())


def test_one_cluster_has_variables_and_certainty_but_neither_borders_nor_differences():
    model = ConsensusClustering(n_clusters=1, random_state=0).fit(POINTS)
    sure = calibrated(model, POINTS, n_halvings=1, random_state=0)
    content = account(model, X=POINTS, feature_names=["a", "b", "c"], pictures=False)
    items = told(content)
    assert content["sections"][0]["blocks"][0]["text"] == sure.told()
    assert sure.told() in model._repr_html_()
    assert items["Variables"] == ("done", "a, b, c")
    assert items["Separation"] == items["Description"] == ("done", "There is no other cluster.")


def test_measured_items_become_done(model):
    tests = border_tests(POINTS, model.labels_, n_splits=5, random_state=0)
    calibrated(model, POINTS, n_halvings=1, random_state=0)
    content = account(model, X=POINTS, borders=tests, pictures=False)
    items = told(content)
    assert (
        "not tested" not in content["decision"]["plain"]
    )  # a border that holds is a test of groups
    assert items["Separation"] == ("done", "1 of 1 border holds (p < .05, Holm).")
    assert items["Stability in fresh samples"] == ("done", model.calibration_.told())


def test_it_is_written_alone_as_csv_and_markdown(model, tmp_path):
    found = account(model, X=POINTS, feature_names=["=a", "b|c", "d"], pictures=False)
    kept = {"X": POINTS, "feature_names": ["=a", "b|c", "d"]}
    with write(model, tmp_path / "list.csv", **kept).open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == HEADS
    assert len(rows) == len(found["checklist"]) + 1
    assert ["Data", "Variables", "done", "'=a, b|c, d"] in rows
    text = write(model, tmp_path / "list.md", **kept).read_text("utf-8")
    assert text == as_markdown(found["checklist"])
    assert {line.replace("\\|", "").count("|") for line in text.splitlines()} == {5}
