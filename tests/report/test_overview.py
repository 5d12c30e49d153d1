"""The groups at a glance: their names, their separation, and the heatmap of features."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import EAC, ConsensusClustering
from conclust.exceptions import InputError
from conclust.report import account
from conclust.report.page import page

pd = pytest.importorskip("pandas")


def overview(found):
    (part,) = [part for part in found["sections"] if part["id"] == "overview"]
    return part["blocks"]


def tables(found):
    return [block for block in overview(found) if block["kind"] == "table"]


@pytest.fixture(scope="module")
def customers():
    """Three groups: one old, one rich with the premium plan, one in between."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 40)
    return pd.DataFrame(
        {
            "age": np.array([70.0, 40.0, 40.0])[group] + rng.normal(0, 2, 120),
            "income": np.array([40e3, 110e3, 60e3])[group] + rng.normal(0, 3e3, 120),
            "plan": np.where(group == 1, "premium", "basic"),
        }
    )


@pytest.fixture(scope="module")
def found(customers):
    model = ConsensusClustering(random_state=0).fit(customers[["age", "income"]])
    assert model.n_clusters_ == 3
    return account(model, X=customers, pictures=False)


def test_groups_come_first_with_their_distinguishing_features(found, customers):
    assert found["sections"][0]["id"] == "overview"
    text, what_next, table, heat = overview(found)
    columns = [column["name"] for column in table["columns"]]
    assert columns == ["cluster", "features", "size", "share", "confidence", "separation"]
    names = [row[1] for row in table["rows"]]
    mean, others = customers["age"][:40].mean(), customers["age"][40:].mean()
    assert f"high age {mean:.3g} ({others:.3g} elsewhere)" in names[0]
    assert "plan = premium 100 % (0 % elsewhere)" in names[1]
    assert [row[2] for row in table["rows"]] == [40, 40, 40]
    assert [row[5] for row in table["rows"]] == ["well separated by gaps"] * 3
    assert text["title"] == "Certainty."
    assert text["text"].startswith("All 120 objects have a confidence of at least 0.9. Con")
    assert (what_next["title"], what_next["text"]) == ("Next steps.", found["decision"]["next"])
    assert heat["rows"][0][0] in {"age", "income", "plan = premium", "plan = basic"}


def test_the_heatmap_shows_means_and_differences(found, customers):
    heat = tables(found)[1]
    assert [column["kind"] for column in heat["columns"]] == ["name", *["heat"] * 3]
    (age,) = [row for row in heat["rows"] if row[0] == "age"]
    inside = [customers["age"][40 * k : 40 * k + 40] for k in range(3)]
    for k, (difference, shown) in enumerate(age[1:]):
        outside = np.concatenate([inside[j] for j in range(3) if j != k])
        assert shown == f"{inside[k].mean():.1f}".removesuffix(".0")
        squares = ((inside[k] - inside[k].mean()) ** 2).sum() + (
            (outside - outside.mean()) ** 2
        ).sum()
        deviation = np.sqrt(squares / (120 - 2))
        assert difference == pytest.approx(
            (inside[k].mean() - outside.mean()) / deviation, abs=1e-3
        )


def test_without_points_there_are_sizes_and_separations():
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [2, 2, 1]], 20, axis=0)
    blocks = overview(account(EAC(3).fit(labels), ensemble=labels, pictures=False))
    assert [column["name"] for column in blocks[2]["columns"]][1] == "size"
    assert len(blocks) == 3


def test_objects_that_are_alone_in_every_clustering_overlap_with_no_cluster():
    labels = np.vstack([np.repeat([[0] * 4, [1] * 4], 20, axis=0), [[5] * 4, [6] * 4]])
    model = EAC(3).fit(labels)
    model.labels_ = np.r_[np.repeat([0, 1], 20), 2, 2]
    content = account(model, ensemble=labels, pictures=False)
    assert [row[-1] for row in tables(content)[0]["rows"]] == [
        *["rarely confused with others (gaps not tested)"] * 2,
        "each of its objects is alone in every clustering",
    ]
    (objects,) = [part for part in content["sections"] if part["id"] == "objects"]
    text = objects["blocks"][0]["text"]
    assert "2 objects are alone in every clustering: no clustering shows the right cluster." in text
    # An object that the consensus puts apart, too, is certain.
    model.labels_ = np.r_[np.repeat([0, 1], 20), 2, 3]
    model.n_clusters_ = 4
    content = account(model, ensemble=labels, pictures=False)
    rows = tables(content)[0]["rows"]
    assert [row[-1] for row in rows] == ["rarely confused with others (gaps not tested)"] * 4
    assert [row[3] for row in rows] == [1.0] * 4


def test_clusters_have_the_numbers_of_their_labels(found):
    table, heat = tables(found)
    assert found["clusters"] == ["0", "1", "2"]
    assert [row[0] for row in table["rows"]] == [0, 1, 2]
    assert "Its label in" in table["columns"][0]["how"]
    assert [column["title"] for column in heat["columns"]][1:] == [
        "Cluster 0",
        "Cluster 1",
        "Cluster 2",
    ]


@pytest.mark.long
def test_clusters_have_the_given_names(customers):
    model = ConsensusClustering(random_state=0).fit(customers[["age", "income"]])
    names = [" pensioners", "premium", "<b>basic</b>\u202e"]
    content = account(model, X=customers, cluster_names=names)
    assert content["clusters"] == ["pensioners", "premium", "<b>basic</b>\\u202e"]
    table, heat = tables(content)
    assert table["columns"][0]["how"].startswith("Its name. Labels in the result: 0 is pensioners")
    assert heat["columns"][2]["title"] == "premium"
    pictures = {
        picture["id"]: picture
        for section in content["sections"]
        for block in section["blocks"]
        if block["kind"] == "pictures"
        for picture in block["pictures"]
    }
    assert {"heatmap", "embedding", "bars", "silhouette"} <= pictures.keys()
    assert [picture.get("error") for picture in pictures.values()] == [None] * len(pictures)
    assert "pensioners: " in pictures["silhouette"]["alt"]
    assert "<b>" not in page(content).partition('<script type="application/json"')[0]
    assert "<bdi>pensioners</bdi>: 40" in page(content)


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "b"], ["a", " ", "c"], "abc", 3])
def test_names_for_other_clusters_are_refused(customers, names):
    model = ConsensusClustering(random_state=0).fit(customers[["age", "income"]])
    with pytest.raises(InputError, match=r"must be 3 different names, one for each cluster\. Got"):
        account(model, cluster_names=names, pictures=False)


def test_the_heatmap_has_the_share_of_each_category_in_each_cluster(found, customers):
    heat = tables(found)[1]
    rows = [row for row in heat["rows"] if row[0].startswith("plan = ")]
    assert rows
    for name, *cells in rows:
        plan = customers["plan"] == name.removeprefix("plan = ")
        shares = [f"{100 * plan[40 * k : 40 * k + 40].mean():.0f} %" for k in range(3)]
        assert [shown for _, shown in cells] == shares
