"""``conclust predict``: new objects, placed by a result folder that holds no pickle."""

import csv
import json
import shutil

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from tests.forging import forge, rewrite

import conclust
from conclust import PCC, ConsensusClustering, EnsembleGenerator
from conclust._files.storage import read_npz, write_npz
from conclust.cli import main
from conclust.exceptions import FileFormatError
from conclust.results.folder import load_alone

X, TRUTH = make_blobs(240, 3, centers=4, cluster_std=0.7, random_state=1)
OLD, NEW = slice(0, 180), slice(180, 240)
PLACING = [
    m.estimator for m in conclust.methods() if hasattr(getattr(conclust, m.estimator), "predict")
]


def run(*arguments):
    return main([*map(str, arguments), "--jobs", "1"])


def write(path, rows, header):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows])
    return path


def read(out, name="labels.csv"):
    with (out / name).open(newline="") as file:
        return list(csv.DictReader(file))


def labels_of(out):
    return np.array([int(row["label"]) for row in read(out)])


def points(path, part, names=("id", "a", "b", "c", "kind")):
    columns = {"a": X[:, 0], "b": 100 * X[:, 1], "c": X[:, 2], "kind": TRUTH}
    columns["id"] = [f"o{i}" for i in range(len(X))]
    rows = list(zip(*([*np.asarray(columns[name])[part]] for name in names), strict=True))
    return write(path, rows, names)


@pytest.fixture
def clustered(tmp_path):
    """A result of the first 180 of 240 points, and a file of the others with shuffled columns."""
    old = points(tmp_path / "old.csv", OLD)
    more = ["--generator", "kmeans", "--partitions", "20", "--label-column", "kind", "-q"]
    more += ["--out", tmp_path / "r"]
    assert (
        run(
            "cluster",
            old,
            *more,
            "--method",
            "pcc",
            "--max-clusters",
            "8",
            "--set",
            "divergence=l2",
        )
        == 0
    )
    return tmp_path / "r", points(tmp_path / "new.csv", NEW, ("kind", "c", "a", "id", "b"))


def test_new_points_get_the_labels_of_the_python_model(clustered, tmp_path, capsys):
    result, new = clustered
    assert run("predict", result, new, "--label-column", "kind", "--out", tmp_path / "p") == 0
    printed = capsys.readouterr()
    assert "60 new objects placed in" in printed.out
    assert "Against the known classes: H = " in printed.out
    generator = EnsembleGenerator("kmeans", n_partitions=20, n_jobs=1)
    columns = np.column_stack([X[:, 0], 100 * X[:, 1], X[:, 2]])
    # The files hold repr() of the numbers, which are read exactly.
    consensus = PCC(8, divergence="l2", n_jobs=1)
    model = ConsensusClustering(consensus, generator, random_state=0).fit(columns[OLD])
    np.testing.assert_array_equal(labels_of(tmp_path / "p"), model.predict(columns[NEW]))
    rows = read(tmp_path / "p", "memberships.csv")
    soft = np.array([[float(row[f"cluster_{k}"]) for k in range(len(row) - 1)] for row in rows])
    np.testing.assert_allclose(soft, model.predict_proba(columns[NEW]), atol=1e-9)
    assert [row["id"] for row in rows] == [f"o{i}" for i in range(180, 240)]
    written = json.loads((tmp_path / "p/result.json").read_text())
    assert (written["command"], written["placed_by"]) == ("predict", "by PCC")
    assert written["input"]["objects"] == 60


@pytest.mark.parametrize("kind", ["spectral", "kmeans+spectral"])
def test_members_on_landmarks_label_new_points(tmp_path, kind):
    old, new = points(tmp_path / "old.csv", OLD), points(tmp_path / "new.csv", NEW)
    more = ["--generator", kind, "--partitions", "10", "--drop", "kind"]
    out = tmp_path / "r"
    assert run("cluster", old, *more, "--method", "pcc", "-k", "4", "-q", "--out", out) == 0
    assert run("predict", out, old, "--out", tmp_path / "again", "-q") == 0
    np.testing.assert_array_equal(labels_of(tmp_path / "again"), labels_of(out))
    assert run("predict", out, new, "--out", tmp_path / "p", "-q") == 0
    assert adjusted_rand_score(TRUTH[NEW], labels_of(tmp_path / "p")) > 0.9
    forge(out / "model.npz", "LandmarkCut", "centers", lambda a: a[:, 1:])
    with pytest.raises(FileFormatError, match=r"model\.npz is damaged"):
        conclust.load(out / "model.npz")


def test_fitted_points_keep_their_labels_if_the_method_cannot_predict(tmp_path):
    old = points(tmp_path / "old.csv", OLD)
    more = ["--partitions", "20", "--drop", "kind", "-q", "--method", "eac", "-k", "4"]
    for scale in ("minmax", "standard", "none"):
        out = tmp_path / scale
        assert run("cluster", old, *more, "--scale", scale, "--out", out) == 0
        assert run("predict", out, old, "--out", tmp_path / f"p{scale}", "-q") == 0
        np.testing.assert_array_equal(labels_of(tmp_path / f"p{scale}"), labels_of(out))
        # Likewise their confidence, which is the company because the method has no probabilities.
        assert [row["confidence"] for row in read(tmp_path / f"p{scale}")] == [
            row["confidence"] for row in read(out)
        ]
        assert not (tmp_path / f"p{scale}" / "memberships.csv").exists()
        new = points(tmp_path / "new.csv", NEW)
        assert run("predict", out, new, "--out", tmp_path / f"n{scale}", "-q") == 0
        if scale != "none":
            assert adjusted_rand_score(TRUTH[NEW], labels_of(tmp_path / f"n{scale}")) > 0.95


def test_labels_can_go_to_standard_output(clustered, capsys):
    result, new = clustered
    capsys.readouterr()
    assert run("predict", result, new, "--out", "-", "-q") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert (len(rows), list(rows[0])) == (60, ["id", "label", "confidence"])


def test_one_new_object_keeps_its_name(clustered, tmp_path):
    folder, _ = clustered
    one = points(tmp_path / "one.csv", slice(200, 201), ("kind", "c", "a", "id", "b"))
    assert run("predict", folder, one, "--out", tmp_path / "placed") == 0
    (row,) = read(tmp_path / "placed")
    assert row["id"] == "o200"
    twice = points(tmp_path / "twice.csv", [200, 200], ("id", "a", "b", "c"))
    assert run("predict", folder, twice, "--out", tmp_path / "twice") == 0
    assert [row["id"] for row in read(tmp_path / "twice")] == ["o200", "o200"]


def test_unnamed_columns_are_matched_by_order(tmp_path):
    np.save(tmp_path / "old.npy", X[OLD])
    np.save(tmp_path / "new.npy", X[NEW])
    more = ["--partitions", "10", "-q"]
    assert run("cluster", tmp_path / "old.npy", *more, "--out", tmp_path / "r") == 0
    assert run("predict", tmp_path / "r", tmp_path / "new.npy", "--out", tmp_path / "p") == 0
    assert len(labels_of(tmp_path / "p")) == 60
    np.save(tmp_path / "new.npy", X[NEW, :2])
    assert run("predict", tmp_path / "r", tmp_path / "new.npy", "--out", tmp_path / "q") == 1


def test_columns_in_another_order_are_matched_by_name(tmp_path):
    names = ("a", "b", "c")
    old = points(tmp_path / "old.csv", OLD, names)
    assert run("cluster", old, "--partitions", "10", "-q", "--out", tmp_path / "r") == 0
    for order in (names, ("c", "a", "b")):
        new = points(tmp_path / "new.csv", NEW, order)
        assert run("predict", tmp_path / "r", new, "-q", "--out", tmp_path / "".join(order)) == 0
    np.testing.assert_array_equal(labels_of(tmp_path / "abc"), labels_of(tmp_path / "cab"))


def test_new_points_may_have_categories_and_empty_cells(tmp_path):
    names = ["a", "b", "kind"]
    rows = [[*X[i, :2], "uvwx"[TRUTH[i]]] for i in range(240)]
    rows[3][0] = ""
    rows[200][0] = rows[201][2] = ""
    rows[202][2] = "never seen"
    old, new = (
        write(tmp_path / "o.csv", rows[OLD], names),
        write(tmp_path / "n.csv", rows[NEW], names),
    )
    more = ["--categories", "kind", "--partitions", "10", "-q"]
    more += ["--method", "pcc", "--max-clusters", "4", "--set", "divergence=l2"]
    out = tmp_path / "r"
    assert run("cluster", old, *more, "--impute", "median", "--out", out) == 0
    assert run("predict", out, new, "--out", tmp_path / "p") == 0
    actual = labels_of(tmp_path / "p")
    sure = [float(row["confidence"]) for row in read(tmp_path / "p")]
    record = json.loads((tmp_path / "p" / "result.json").read_text("utf-8"))
    assert record["mean_confidence"] == pytest.approx(np.mean(sure), abs=1e-5)
    assert adjusted_rand_score(TRUTH[NEW], actual) > 0.9


# ---- label matrices


@pytest.fixture
def combined(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    numbers = np.where(rng.random((60, 6)) < 0.05, 0, truth[:, None])
    rows = [
        [f"o{i}", *row, "abc"[k]] for i, (row, k) in enumerate(zip(numbers, truth, strict=True))
    ]
    header = ["id", *(f"r{u}" for u in range(6)), "named"]
    return write(tmp_path / "old.csv", rows, header)


def test_one_object_with_new_labels_keeps_its_name(combined, tmp_path):
    assert run("combine", combined, "-k", "3", "--out", tmp_path / "r", "-q") == 0
    one = tmp_path / "one.csv"
    one.write_text("\n".join(combined.read_text().splitlines()[:2]))
    assert run("predict", tmp_path / "r", one, "--out", tmp_path / "placed") == 0
    (row,) = read(tmp_path / "placed")
    assert row["id"] == "o0"


@pytest.mark.parametrize("name", [*PLACING, "EAC", "FCAConsensus"])
def test_every_kind_of_method_places_new_labels(combined, tmp_path, name):
    method = next(m for m in conclust.methods() if m.estimator == name)
    number = [] if method.n_clusters == "emerges" else ["-k", "3"]
    assert run("combine", combined, "--method", name, *number, "--out", tmp_path / "r", "-q") == 0
    truth = [2, 0, 1, 1]
    rows = [["abc"[k], *[k] * 6] for k in truth]
    new = write(tmp_path / "new.csv", rows, ["named", *(f"r{u}" for u in range(6))])
    assert run("predict", tmp_path / "r", new, "--out", tmp_path / "p", "-q") == 0
    actual = labels_of(tmp_path / "p")
    old = labels_of(tmp_path / "r")
    np.testing.assert_array_equal(
        actual, [np.bincount(old[20 * k : 20 * k + 20]).argmax() for k in truth]
    )


def test_missing_and_unknown_new_labels_are_placed(combined, tmp_path, capsys):
    assert (
        run("combine", combined, "--method", "eac", "-k", "3", "--out", tmp_path / "r", "-q") == 0
    )
    header = [*(f"r{u}" for u in range(6)), "named"]
    rows = [[0] * 6 + ["7"], [""] * 7, ["x"] + [1] * 5 + ["b"]]
    new = write(tmp_path / "new.csv", rows, header)
    assert run("predict", tmp_path / "r", new, "--out", tmp_path / "p") == 0
    actual = labels_of(tmp_path / "p")
    assert actual[1] == -1
    assert actual[0] != actual[2]
    sure = [float(row["confidence"] or "nan") for row in read(tmp_path / "p")]
    assert np.isnan(sure[1])
    assert min(sure[0], sure[2]) > 0.8
    written = json.loads((tmp_path / "p/result.json").read_text())
    assert written["mean_confidence"] == pytest.approx((sure[0] + sure[2]) / 2, abs=1e-6)
    assert "1 object without any known label" in capsys.readouterr().out


# ---- refusals


def test_invalid_result_folders_are_refused(clustered, combined, tmp_path, capsys):
    result, new = clustered

    def told(*arguments):
        assert run("predict", *arguments, "-q") == 1
        return capsys.readouterr().err

    out = ["--out", tmp_path / "p"]
    assert "is not a complete result folder" in told(tmp_path, new, *out)
    assert "holds the result that is read" in told(result, new, "--out", result, "--force")
    assert "lacks ['a', 'b', 'c'], from which the result was made" in told(result, combined, *out)
    short = points(tmp_path / "short.csv", NEW, ("a", "b"))
    assert "lacks ['c']" in told(result, short, *out)
    changed = tmp_path / "changed"
    shutil.copytree(result, changed)
    forge(changed / "model.npz", "PCC", "_code_type", lambda _: None)
    assert "model.npz is damaged" in told(changed, new, *out)
    conclust.EAC(2).fit([[0, 0], [1, 1]]).save(changed / "model.npz")
    assert "model.npz does not fit report.npz" in told(changed, new, *out)
    (changed / "model.npz").unlink()
    assert "of an earlier version of conclust. Make the result again: conclust cluster" in told(
        changed, new, *out
    )
    assert main(["report", str(changed), "-q"]) == 0
    assert not (tmp_path / "p").exists()


def test_a_mixed_ensemble_does_not_label_new_points(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X[:30])
    more = ["--generator", "mixed", "--max-clusters", "3", "-q", "--out", tmp_path / "r"]
    assert run("cluster", tmp_path / "x.npy", *more) == 0
    assert run("predict", tmp_path / "r", tmp_path / "x.npy", "--out", tmp_path / "p") == 1
    assert (
        "others can: those made by default, and with --generator kmeans, spectral, graph"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("centers", lambda a: np.zeros((4, 3))),
        ("centers", lambda a: np.zeros((3, 3))),
        ("whitening", lambda a: np.eye(3)),
        ("whitening", lambda a: np.ones((7, 2, 2))),
        ("votes", lambda a: a[:, :1]),
        ("votes", lambda a: a[:-1]),
        ("votes", lambda a: a - 100),
        ("votes", lambda a: a * np.nan),
    ],
)
def test_forged_centres_are_refused(default, tmp_path, name, change, capsys):
    out = tmp_path / "r"
    shutil.copytree(default, out)
    arrays, meta = read_npz(out / "model.npz")
    (centers,) = (parts for kind, parts in meta["records"] if kind == "ClusterCenters")
    arrays["forged"] = change(arrays[centers[name]["array"]])
    centers[name] = {"array": "forged"}
    write_npz(out / "model.npz", arrays, meta)
    assert run("predict", out, default.parent / "old.csv", "--out", tmp_path / "p") == 1
    assert "model.npz is damaged" in capsys.readouterr().err


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    """A result of the default consensus, with centres."""
    home = tmp_path_factory.mktemp("default")
    more = ["--generator", "kmeans", "--partitions", "10", "-k", "3", "-q", "--out", home / "r"]
    overlapping, _ = make_blobs(150, 2, centers=[[0, 0], [3.5, 0], [0, 3.5]], random_state=1)
    assert run("cluster", write(home / "old.csv", overlapping, ["a", "b"]), *more) == 0
    return home / "r"


def test_a_forged_filling_is_refused(tmp_path, capsys):
    rows = [[*row] for row in X[OLD]]
    rows[3][0] = ""
    old, out = write(tmp_path / "o.csv", rows, ["a", "b", "c"]), tmp_path / "r"
    assert run("cluster", old, "-k", "4", "--impute", "median", "-q", "--out", out) == 0
    settings = load_alone(out).record.settings
    for filling in ([0.0, 1.0], ["x"] * 3, 7):
        rewrite(out, settings={**settings, "filling": filling})
        assert run("predict", out, old, "--out", tmp_path / "p") == 1
        assert "Make the result again" in capsys.readouterr().err


def test_empty_cells_are_refused_with_advice_that_predict_can_follow(clustered, tmp_path, capsys):
    file = points(tmp_path / "gaps.csv", NEW)
    lines = file.read_text().splitlines()
    fields = lines[3].split(",")
    lines[3] = ",".join([fields[0], "", *fields[2:]])
    file.write_text("\n".join(lines))
    assert run("predict", clustered[0], file, "--out", tmp_path / "placed") == 1
    error = capsys.readouterr().err
    assert "1 empty cell, the first ('') in line 4, column 2 ('a')" in error
    assert "--id-column" not in error
    assert "make the result by 'conclust cluster --impute median'" in error


def test_new_files_have_the_spellings_of_empty_cells_of_the_result(tmp_path):
    rows = [[k % 2, (k + (k == 7)) % 2, k % 2] for k in range(30)]
    rows[3][1] = 99
    old = write(tmp_path / "old.csv", rows, ["a", "b", "c"])
    new = write(tmp_path / "new.csv", [[0, 99, 0], [1, 1, 1]], ["a", "b", "c"])
    empty = write(tmp_path / "empty.csv", [[0, "", 0], [1, 1, 1]], ["a", "b", "c"])
    combine = ["combine", old, "--method", "pcc", "-k", "2", "--na", "99", "-q"]
    assert run(*combine, "--out", tmp_path / "r") == 0
    assert json.loads((tmp_path / "r" / "result.json").read_text())["settings"]["na"] == ["99"]
    for file in (new, empty):
        assert run("predict", tmp_path / "r", file, "-q", "--out", tmp_path / file.stem) == 0
    coded, left_empty = (tmp_path / file.stem / "memberships.csv" for file in (new, empty))
    assert coded.read_text() == left_empty.read_text()
    np.save(tmp_path / "new.npy", np.array([[0, -1, 0], [1, 1, 1]]))
    assert run("predict", tmp_path / "r", tmp_path / "new.npy", "-q", "--out", tmp_path / "p") == 0
    assert labels_of(tmp_path / "p").tolist() == labels_of(tmp_path / "new").tolist()


def test_new_points_have_the_spellings_of_empty_cells_of_the_result(tmp_path):
    table = X[OLD].round(3).astype(object)
    table[5, 1] = "99"
    old = write(tmp_path / "old.csv", table, ["a", "b", "c"])
    new = X[NEW].round(3).astype(object)
    for name, cell in (("coded", "99"), ("empty", "")):
        new[2, 1] = cell
        write(tmp_path / f"{name}.csv", new, ["a", "b", "c"])
    cluster = ["cluster", old, "-k", "4", "--na", "99", "--impute", "median", "-q"]
    assert run(*cluster, "--out", tmp_path / "r") == 0
    for name in ("coded", "empty"):
        out = tmp_path / name
        assert run("predict", tmp_path / "r", tmp_path / f"{name}.csv", "-q", "--out", out) == 0
    assert (tmp_path / "coded" / "labels.csv").read_text() == (
        tmp_path / "empty" / "labels.csv"
    ).read_text()
