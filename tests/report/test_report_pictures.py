"""Reports of every method and of unusual ensembles: their pictures, all drawn and reproducible."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import conclust
import conclust as cc
from conclust.cli import main
from conclust.report.page import data_block, page
from conclust.selection import choose, choose_from

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
QUICK = {"n_resamples": 12, "n_references": 19, "random_state": 0}


def pictures(found):
    """Return the pictures by section; each is drawn."""
    by_section = {}
    for part in found["sections"]:
        for block in part["blocks"]:
            for picture in block.get("pictures", ()):
                assert "error" not in picture, picture["error"]
                by_section.setdefault(part["id"], []).append(picture["id"])
    return by_section


def test_a_selection_has_its_pictures(chosen, blobs):
    assert pictures(cc.report.account(chosen, X=blobs)) == {
        "why": ["rcsi", "pac", "delta", "cdf", "flow", "tree"],
        "clusters": ["heatmap", "embedding"],
        "objects": ["bars", "silhouette"],
        "partitions": ["map"],
    }


def test_ensembles_without_references_have_their_pictures(chosen):
    actual = pictures(cc.report.account(choose_from(chosen.ensembles)))
    assert actual["why"] == ["sharp", "pac", "delta", "cdf", "flow", "tree"]


def test_one_cluster_has_its_pictures():
    cloud = np.random.default_rng(2).normal(size=(60, 3))
    one = choose(cloud, range(2, 5), **QUICK)
    assert one.n_clusters == 1
    assert pictures(cc.report.account(one, X=cloud)) == {"why": ["rcsi", "pac", "delta", "cdf"]}
    model = cc.ConsensusClustering(random_state=1).fit(cloud[:, :2])
    assert model.n_clusters_ == 1
    assert pictures(cc.report.account(model)) == {
        "why": ["support"],
        "evidence": ["heatmap", "embedding"],
        "partitions": ["map"],
    }


@pytest.mark.parametrize(
    "method",
    [cc.EAC(3), cc.WeightedPCC(3, random_state=0)],
    ids=["tree", "memberships and weights"],
)
def test_methods_have_their_pictures(method, blobs):
    ensemble = cc.EnsembleGenerator("kmeans", n_partitions=12, random_state=0).fit_transform(blobs)
    fitted = method.fit(ensemble)
    actual = pictures(cc.report.account(fitted, ensemble=ensemble))
    assert ("tree" in actual.get("why", ())) == isinstance(method, cc.EAC)


def test_supported_numbers_have_their_pictures(blobs):
    model = cc.ConsensusClustering(generator=cc.EnsembleGenerator("kmeans"), random_state=0).fit(
        blobs
    )
    assert len(model.consensus_.supports_) == 1  # nothing to compare
    assert pictures(cc.report.account(model))["why"] == ["tree"]
    X, _ = make_blobs(90, centers=5, n_features=2, random_state=0)
    model = cc.ConsensusClustering(generator=cc.EnsembleGenerator("kmeans"), random_state=0).fit(X)
    more = len(model.consensus_.supports_) > 1
    assert ("support" in pictures(cc.report.account(model))["why"]) == more


def test_unclustered_objects_are_drawn():
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [-1, -1, -1]], [8, 8, 2], axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cc.EAC(2).fit(labels)
    assert "bars" in pictures(cc.report.account(model, ensemble=labels))["objects"]


def test_folders_have_their_pictures(blobs, tmp_path):
    np.save(tmp_path / "points.npy", blobs)
    quick = ["--resamples", "10", "--references", "19", "-k", "2:4"]
    for command, more in (("select", quick), ("cluster", ["--partitions", "20"])):
        out = tmp_path / command
        assert main([command, str(tmp_path / "points.npy"), *more, "-q", "--out", str(out)]) == 0
    assert pictures(cc.report.account(tmp_path / "select")) == {
        "why": ["rcsi", "pac", "delta", "cdf", "flow"],
        "clusters": ["heatmap", "embedding"],
        "objects": ["bars", "silhouette"],
        "partitions": ["map"],
    }
    assert pictures(cc.report.account(tmp_path / "cluster"))["clusters"] == ["heatmap", "embedding"]


def test_a_failed_number_leaves_the_others(blobs):
    chosen = choose(blobs, range(2, 9), n_resamples=12, n_references=19, random_state=0)
    table = {name: values.copy() for name, values in chosen.table.items()}
    for values in table.values():
        values[5] = np.nan
    null = chosen.null.copy()
    null[:, 5] = np.nan
    parts = {
        name: {k: v for k, v in getattr(chosen, name).items() if k != 7}
        for name in ("labels", "ensembles", "pairs")
    }
    content = cc.report.account(replace(chosen, table=table, null=null, **parts), X=blobs)
    assert content["decision"]["clusters"] == 3
    why = next(part["blocks"] for part in content["sections"] if part["id"] == "why")
    rows = next(block["rows"] for block in why if block["kind"] == "table")
    assert rows[5][:2] == [7, [None, None]]
    shown = {picture["id"]: picture for picture in why[-1]["pictures"]}
    assert "7: none" in shown["rcsi"]["alt"]
    failed = {name: picture["error"] for name, picture in shown.items() if "error" in picture}
    assert list(failed) == ["cdf"]
    assert "one of the numbers tried" in failed["cdf"]
    assert "NaN" not in data_block(content)


def _ensembles():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (40, 6))
    gaps = np.where(rng.random(labels.shape) < 0.4, -1, labels)
    many = rng.integers(0, 70, 300)
    cells = np.where(rng.random(labels.shape) < 0.1, -2, gaps)
    return {
        "soft": cc.Ensemble.from_memberships([rng.dirichlet([0.5] * 3, 30) for _ in range(5)]),
        "weighted, missing": cc.Ensemble(cells, weights=rng.uniform(0.5, 2.0, 6)),
        "two objects": cc.Ensemble([[0], [1]]),
        "noise": cc.Ensemble(np.full((9, 3), -2)),
        "singletons": cc.Ensemble(np.arange(6)[:, None].repeat(3, axis=1)),
        "many clusters": cc.Ensemble(many[:, None].repeat(8, axis=1)),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _ensembles())
def test_unusual_ensembles_have_pictures(name):
    ensemble = _ensembles()[name]
    content = cc.report.account(cc.AutoConsensus(random_state=0).fit(ensemble), ensemble=ensemble)
    assert "partitions" in pictures(content)
    assert page(content).startswith("<!doctype html>")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [method.estimator for method in conclust.methods()])
def test_every_method_is_reported(name, blobs):
    ensemble = cc.EnsembleGenerator("kmeans", n_partitions=12, random_state=0).fit_transform(blobs)
    kind = getattr(conclust, name)
    model = (kind() if kind.method.n_clusters == "emerges" else kind(n_clusters=3)).fit(ensemble)
    content = cc.report.account(model, ensemble=ensemble, X=blobs, pictures=False)
    assert content["decision"]["clusters"] == model.n_clusters_
    clusters = next(part["blocks"] for part in content["sections"] if part["id"] == "clusters")
    assert [row[1] for row in clusters[0]["rows"]] == np.bincount(model.labels_).tolist()


def test_the_same_result_gives_the_same_page(tmp_path):
    labels = np.repeat([[0, 0, 1], [1, 1, 1], [2, 1, 0]], 6, axis=0)
    model = cc.EAC(3).fit(labels)
    first = cc.report.write(model, tmp_path / "a.html", ensemble=labels)
    second = cc.report.write(model, str(tmp_path / "b.html"), ensemble=labels)
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()
