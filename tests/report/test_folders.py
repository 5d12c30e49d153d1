"""Result folders of all commands are reported; incomplete, changed and foreign ones are refused."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from tests.forging import rewrite

from conclust import Ensemble, report
from conclust.cli import main
from conclust.confidence import cluster_features, cluster_gaps
from conclust.exceptions import ConclustError, FileFormatError, InputError
from conclust.report.reading import read_result
from conclust.results import load
from conclust.results.folder import load_alone

QUICK = ["--resamples", "10", "--references", "19", "-k", "2:4"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Folders of each command, made once."""
    home = tmp_path_factory.mktemp("results")
    X, y = make_blobs(60, centers=3, n_features=3, cluster_std=0.5, random_state=1)
    points = home / "points.csv"
    with points.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "=a", "b", "c", "kind"])
        for i, row in enumerate((X * [1, 10, 0.1]).tolist()):
            writer.writerow([f"=plant {i}", *row, f"class {y[i]}"])
    given = ["--label-column", "kind", "-q", "--seed", "6"]
    assert (
        main(["cluster", str(points), *given, "--partitions", "20", "--out", str(home / "cluster")])
        == 0
    )
    assert main(["select", str(points), *given, *QUICK, "--out", str(home / "select")]) == 0
    members = str(home / "cluster" / "ensemble.npz")
    hbgf = ["--method", "hbgf", "-k", "3"]
    assert main(["combine", members, *hbgf, "-q", "--out", str(home / "combine")]) == 0
    cloud = home / "cloud.npy"
    np.save(cloud, np.random.default_rng(2).normal(size=(50, 2)))
    assert main(["select", str(cloud), *QUICK, "-q", "--out", str(home / "one")]) == 0
    return home


@pytest.fixture
def copied(results, tmp_path):
    """Yield a folder that may be damaged."""

    def copy(name):
        return shutil.copytree(results / name, tmp_path / name)

    return copy


def blocks(found, name):
    return next(part["blocks"] for part in found["sections"] if part["id"] == name)


def test_a_folder_of_cluster_is_reported(results):
    content = report.account(results / "cluster", pictures=False)
    assert content["decision"]["clusters"] == 3
    assert content["decision"]["by"] == "borders"
    assert "(-k auto runs it)" in content["decision"]["why_no_p"]
    assert content["source"].endswith("points.csv")
    facts = {fact["name"]: fact["value"] for fact in content["facts"]}
    record = json.loads((results / "cluster" / "result.json").read_text())
    assert facts["Objects"] == "60"
    assert facts["Features"] == "3"
    assert facts["Clusterings"] == "20"
    assert facts["Mean confidence"] == f"{record['mean_confidence']:.2f}"
    assert facts["By chance"] == f"{record['mean_confidence_by_chance']:.2f}"
    names = [row[0] for row in blocks(content, "objects")[1]["rows"]]
    assert set(names) == {f"=plant {i}" for i in range(60)}
    features = {row["feature"] for row in blocks(content, "features")[1]["clusters"][0]["rows"]}
    assert features == {"=a", "b", "c"}
    (timings,) = [block for block in blocks(content, "run") if block["kind"] == "table"]
    seconds = dict(timings["rows"])
    assert seconds["total"] == record["seconds"]["total"]
    (code,) = [block["text"] for block in blocks(content, "repeat") if block["kind"] == "code"]
    assert code.startswith("conclust cluster ")
    assert "--seed 6" in code
    assert any("accuracy H = 1.000" in block.get("text", "") for block in blocks(content, "run"))


def test_a_number_chosen_by_resampling_is_tested(results, tmp_path):
    out = tmp_path / "auto"
    more = ["--label-column", "kind", "--partitions", "20", "-k", "auto", "-q", "--out", str(out)]
    assert main(["cluster", str(results / "points.csv"), *more]) == 0
    content = report.account(out, pictures=False)
    assert content["decision"]["sentence"].startswith(
        "3 clusters in 60 objects: one Gaussian cloud is rejected (p = 0.025, "
    )
    assert content["decision"]["asked_for"] is None
    stored = read_result(out).selection
    assert sorted(stored.labels) == stored.k.tolist() == list(range(2, 11))
    (settings,) = [block for block in blocks(content, "repeat") if block["kind"] == "settings"]
    assert settings["settings"]["selection"]["null"] == "rotation"


def test_memberships_are_read_back_unchanged(results):
    reported = read_result(results / "cluster")
    assert reported.judged.membership.shape == (60, 3)
    np.testing.assert_allclose(reported.judged.membership.sum(axis=1), 1.0, rtol=1e-12)
    assert (reported.judged.membership.argmax(axis=1) == reported.labels).all()


def test_a_folder_of_select_is_reported(results):
    content = report.account(results / "select", pictures=False)
    assert content["decision"]["sentence"] == (
        "3 clusters in 60 objects: one Gaussian cloud is rejected (p = 0.05, 19 rotations); 3 of 3 borders hold (p < .05, Holm)."
    )
    record = json.loads((results / "select" / "result.json").read_text())
    assert content["decision"]["reason"] == record["reason"]
    why = blocks(content, "why")
    table = next(block for block in why if block["kind"] == "table")
    assert [row[0] for row in table["rows"]] == [2, 3, 4]
    assert blocks(content, "features")[1]["of"] == 3


def test_a_folder_of_combine_is_reported_without_points(results):
    content = report.account(results / "combine", pictures=False)
    assert content["decision"]["sentence"].startswith(
        "3 clusters in 60 objects, the number requested"
    )
    assert "made from clusterings" in blocks(content, "features")[0]["text"]
    assert any("HBGF" in item for item in blocks(content, "cite")[1]["items"])


def test_a_folder_of_one_cluster_is_reported(results):
    content = report.account(results / "one", pictures=False)
    assert content["decision"]["clusters"] == 1
    assert "clusters" not in [part["id"] for part in content["sections"]]
    assert not (results / "one" / "ensemble.npz").exists()


@pytest.mark.parametrize("name", ["cluster", "select", "combine"])
def test_every_missing_file_is_an_error(name, copied):
    whole = copied(name)
    for file in ("ensemble.npz", "report.npz", "result.json"):
        content = (whole / file).read_bytes()
        (whole / file).unlink()
        with pytest.raises(InputError, match=rf"(lacks|has no) {file}"):
            report.account(whole, pictures=False)
        (whole / file).write_bytes(content)
    report.account(whole, pictures=False)


def respelled(folder, change):
    path = folder / "result.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return folder


def test_another_version_is_refused_in_one_sentence(copied):
    folder = respelled(copied("cluster"), lambda content: content.update(format=1))
    with pytest.raises(InputError, match=r"has format 1, written by conclust 0\..*reads format 3"):
        report.account(folder)


@pytest.mark.parametrize("command", ["predict", "demo", None, 3])
def test_folders_of_other_commands_are_refused(copied, command):
    folder = respelled(copied("cluster"), lambda content: content.update(command=command))
    with pytest.raises(InputError, match="not a result that can be reported"):
        report.account(folder)


@pytest.mark.parametrize("text", ["[]", '{"format": 3', "{}", '{"command": 3}', ""])
def test_a_damaged_seal_is_refused(text, copied):
    folder = copied("cluster")
    (folder / "result.json").write_text(text)
    with pytest.raises(ConclustError) as stop:
        report.account(folder, pictures=False)
    assert str(folder) in str(stop.value)


def less(reported):
    """Return a field of a result for each way in which its parts can be of other objects or clusters."""
    selection, gaps, features = reported.selection, reported.gaps, reported.features
    yield {"labels": reported.labels[:-1]}
    yield {"labels": reported.labels[::-1].copy()}
    yield {"names": reported.names[:-1]}
    yield {"names": [1] * 60}
    yield {"kept": np.ones(3)}
    yield {"gaps": replace(gaps, dip=gaps.dip[:-1])}
    yield {"gaps": replace(gaps, n_splits="x")}
    yield {"features": replace(features, names=features.names[:-1])}
    yield {"seconds": {"total": "x"}}
    yield {"selection": features}
    if selection is not None:
        labels = {k: one[:-1] for k, one in selection.labels.items()}
        yield {"selection": replace(selection, labels=labels)}
        yield {"selection": replace(selection, k=selection.k[:-1])}
        yield {"selection": replace(selection, p_value=2.0)}


@pytest.mark.parametrize("name", ["cluster", "select"])
def test_parts_that_do_not_fit_each_other_are_refused(name, copied):
    folder = copied(name)
    before = (folder / "report.npz").read_bytes()
    for fields in less(load_alone(folder)):
        rewrite(folder, **fields)
        with pytest.raises(FileFormatError) as stop:
            read_result(folder)
        assert str(folder) in str(stop.value)
        (folder / "report.npz").write_bytes(before)


def test_files_of_another_result_are_refused(results, copied):
    folder = copied("cluster")
    shutil.copy(results / "one" / "report.npz", folder)
    shutil.copy(results / "one" / "result.json", folder)
    assert read_result(folder).n_clusters == 1
    shutil.copy(results / "cluster" / "model.npz", folder / "report.npz")
    with pytest.raises(FileFormatError, match="damaged, or of another result"):
        read_result(folder)
    shutil.copy(results / "cluster" / "report.npz", folder)
    Ensemble([[0], [1]]).save(folder / "ensemble.npz")
    with pytest.raises(FileFormatError, match="does not fit the other files"):
        read_result(folder)


def test_one_byte_changed_is_noticed_or_without_effect(copied):
    folder = copied("cluster")
    path, whole = folder / "report.npz", load_alone(folder)
    content, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for place in rng.integers(0, len(content), 100).tolist():
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            found = load_alone(folder)
        except FileFormatError:
            refused += 1
        else:
            assert found.record == whole.record
            assert (found.labels == whole.labels).all()
    assert refused > 40


def test_sections_on_points_describe_the_points(results):
    """Features are in the units of the file, gaps in the scale of the clustering."""
    with (results / "points.csv").open(newline="") as file:
        X = np.array(
            [[float(row[name]) for name in ("=a", "b", "c")] for row in csv.DictReader(file)]
        )
    for name in ("cluster", "select"):
        reported = read_result(results / name)
        expected = cluster_features(X, reported.labels)
        np.testing.assert_array_equal(reported.features.found.difference, expected.difference)
        gaps = cluster_gaps(StandardScaler().fit_transform(X), reported.labels, random_state=0)
        np.testing.assert_array_equal(reported.gaps.p_value, gaps.p_value)


def test_features_are_read_back_in_order(results):
    with (results / "cluster" / "features.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = read_result(results / "cluster").features
    assert found.names == ("=a", "b", "c")
    for row in rows:
        j, k = ["'=a", "b", "c"].index(row["feature"]), int(row["cluster"])
        for name in ("inside", "outside", "deviation", "difference"):
            assert float(row[name]) == getattr(found.found, name)[k, j]


def test_a_result_read_back_is_shown_in_one_line(results):
    assert repr(load(results / "cluster")) == "Reported(60 objects in 3 clusters)"
