"""Python, shell and report give the same results."""

import csv
import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs

import conclust
import conclust as cc
from conclust.cli import main
from conclust.selection import choose
from conclust.words.reason import SHELL

FEW = 12
KINDS = ("blobs", "units")


def points_of(kind):
    """Return points of one unit, or of several, some of them negative, and a column of categories."""
    if kind == "units":
        X = load_wine().data
    else:
        X, _ = make_blobs(90, centers=4, n_features=3, random_state=3)
    names = np.array(["red", "blue", "green"])
    kinds = names[np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))]
    kinds[::7] = names[0]
    return X, kinds.astype(object)


@pytest.fixture(params=KINDS)
def points(request):
    return points_of(request.param)


@pytest.fixture
def file(points, tmp_path):
    X, kinds = points
    path = tmp_path / "points.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "kind"])
        writer.writerows(
            [*map(repr, row), kind] for row, kind in zip(X.tolist(), kinds, strict=True)
        )
    return path


def shell(command, file, out, *more):
    arguments = [command, str(file), "--seed", "5", "-q", "--jobs", "1", "--out", str(out), *more]
    assert main(arguments) == 0
    return json.loads((out / "result.json").read_text())


def column(path, name, kind):
    with path.open(newline="") as stream:
        return np.array([kind(row[name]) for row in csv.DictReader(stream)])


def fitted(X, n_clusters=None, partitions=None):
    generator = cc.EnsembleGenerator(n_partitions=FEW, n_jobs=1)
    model = cc.ConsensusClustering(generator=generator, n_clusters=n_clusters, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, partitions=partitions)


def by_chance(told):
    values = [fact["value"] for fact in told["facts"] if fact["name"] == "By chance"]
    return values[0] if values else None


def number_of(told):
    return told["decision"]["sentence"].partition(" objects")[0]


def same(model, written, out):
    """Compare a model with a folder of the shell, and the reports of both."""
    np.testing.assert_array_equal(column(out / "labels.csv", "label", int), model.labels_)
    with (out / "memberships.csv").open(newline="") as stream:
        rows = [list(map(float, row[1:])) for row in list(csv.reader(stream))[1:]]
    np.testing.assert_array_equal(np.array(rows), np.round(model.membership_, 9))
    assert cc.Ensemble.load(out / "ensemble.npz") == model.ensemble_
    assert written["clusters"] == model.n_clusters_
    assert written["settings"]["scale"] == model.generator_.scale_
    assert written["reason"] == model.reason_parts.text(SHELL)
    of_folder = cc.report.account(out, pictures=False)
    of_model = cc.report.account(model, pictures=False)
    assert by_chance(of_folder) == by_chance(of_model) is not None
    assert f"{written['mean_confidence_by_chance']:.2f}" == by_chance(of_model)
    assert number_of(of_folder) == number_of(of_model)


def test_cluster_gives_the_result_of_the_pipeline(points, file, tmp_path):
    X, _ = points
    out = tmp_path / "out"
    written = shell("cluster", file, out, "--drop", "kind", "--partitions", str(FEW))
    same(fitted(X), written, out)


def test_cluster_with_a_number_and_a_cache_gives_the_result_of_the_pipeline(points, file, tmp_path):
    X, _ = points
    more = ["--drop", "kind", "--partitions", str(FEW), "-k", "3", "--cache", str(tmp_path / "c")]
    shell("cluster", file, tmp_path / "first", *more)
    written = shell("cluster", file, tmp_path / "second", *more)
    same(fitted(X, 3), written, tmp_path / "second")


def test_cluster_with_categories_gives_the_result_of_the_pipeline(points, file, tmp_path):
    X, kinds = points
    out = tmp_path / "out"
    more = ["--partitions", str(FEW), "-k", "3", "--categories", "kind"]
    same(fitted(X, 3, kinds[:, None]), shell("cluster", file, out, *more), out)


@pytest.mark.parametrize("points", ["blobs"], indirect=True)
def test_resampling_gives_the_result_of_the_pipeline(points, file, tmp_path):
    X, kinds = points
    more = ["--partitions", str(FEW), "-k", "auto", "--categories", "kind"]
    written = shell("cluster", file, tmp_path / "out", *more)
    model = fitted(X, "auto", kinds[:, None])
    same(model, written, tmp_path / "out")
    assert written["selection"]["p_value"] == model.selection_.p_value
    assert written["selection"]["reason"] == model.selection_.reason


@pytest.mark.parametrize(
    ("points", "of_categories"), [("blobs", True), ("units", False)], indirect=["points"]
)
def test_select_gives_the_result_of_choose(points, of_categories, file, tmp_path):
    X, kinds = points
    out = tmp_path / "out"
    given = ["--categories" if of_categories else "--drop", "kind"]
    quick = ["--resamples", "8", "--references", "19", "-k", "2:3", *given]
    written = shell("select", file, out, *quick)
    few = {"n_resamples": 8, "n_references": 19, "random_state": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selection = choose(X, [2, 3], categories=kinds[:, None] if of_categories else None, **few)
    np.testing.assert_array_equal(column(out / "labels.csv", "label", int), selection.labels_)
    assert (written["clusters"], written["p_value"]) == (selection.n_clusters, selection.p_value)
    assert written["reason"] == selection.reason
    assert written["settings"]["scale"] == selection.settings["scale"]
    accounts = [cc.report.account(result, pictures=False) for result in (out, selection)]
    assert number_of(accounts[0]) == number_of(accounts[1])


def test_combine_gives_the_result_of_the_method(points, tmp_path):
    ensemble = fitted(points[0]).ensemble_
    ensemble.save(tmp_path / "ensemble.npz")
    out = tmp_path / "out"
    written = shell("combine", tmp_path / "ensemble.npz", out)
    model = cc.AutoConsensus(random_state=5).fit(ensemble)
    np.testing.assert_array_equal(column(out / "labels.csv", "label", int), model.labels_)
    assert written["reason"] == model.reason_parts.text(SHELL)
    accounts = [
        cc.report.account(out, pictures=False),
        cc.report.account(model, ensemble=ensemble, pictures=False),
    ]
    assert by_chance(accounts[0]) == by_chance(accounts[1]) is not None


def test_the_record_matches_the_model(points, file, tmp_path):
    X, _ = points
    out = tmp_path / "out"
    shell("cluster", file, out, "--drop", "kind", "--partitions", str(FEW))
    model, record = fitted(X), cc.results.load(out).record
    assert record.n_clusters == model.n_clusters_
    assert list(record.cluster_sizes) == np.bincount(model.labels_).tolist()
    assert (record.reason, record.number_by) == (
        model.reason_parts.text(SHELL),
        model.consensus_.number_by_,
    )
    assert record.supports == tuple(model.consensus_.supports_)
    assert (record.seed, record.source.objects) == (5, len(X))
    assert record.ensemble["fingerprint"] == model.ensemble_.fingerprint
    restored = conclust.load(out / "model.npz")
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))


def test_new_points_go_to_the_same_clusters(points, file, tmp_path):
    X, kinds = points
    out, placed = tmp_path / "out", tmp_path / "placed"
    more = ["--partitions", str(FEW), "-k", "3", "--categories", "kind"]
    shell("cluster", file, out, *more)
    assert main(["predict", str(out), str(file), "-q", "--out", str(placed)]) == 0
    expected = fitted(X, 3, kinds[:, None]).predict(X, partitions=kinds[:, None])
    np.testing.assert_array_equal(column(placed / "labels.csv", "label", int), expected)
