"""``conclust repeat``: the same to the bit, or the first difference."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.forging import rewrite

from conclust.cli import main
from conclust.results.folder import load_alone


@pytest.fixture(scope="module")
def points():
    return make_blobs(90, centers=3, center_box=(-8, 8), random_state=3)[0].round(4)


@pytest.fixture
def made(points, tmp_path):
    """A result folder, and a function that writes a file of points and repeats the result with it."""
    path, out = tmp_path / "points.csv", tmp_path / "result"

    def written(X, rows=None):
        names = [f"item {i}" for i in range(len(X))] if rows is None else rows
        lines = [f"{name},{a!r},{b!r}" for name, (a, b) in zip(names, X.tolist(), strict=True)]
        path.write_text("\n".join(["id,width,height", *lines]) + "\n", encoding="utf-8")

    written(points)
    options = ["--generator", "kmeans", "--partitions", "8", "--seed", "5", "--quiet"]
    assert main(["cluster", str(path), *options, "--out", str(out)]) == 0

    def repeat(X=points, rows=None):
        written(X, rows)
        return main(["repeat", str(out), str(path), "--quiet"])

    return out, repeat


def test_the_same_points_give_the_same_result(made, capsys):
    _, repeat = made
    capsys.readouterr()
    assert repeat() == 0
    files = (
        "ensemble.npz, model.npz, labels.csv, memberships.csv, alternatives.csv and features.csv"
    )
    said = f"The same, to the bit: 90 labels, and all of {files}, with the seed 5.\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize(("name", "column"), [("labels", 1), ("labels", 2), ("memberships", 3)])
def test_cells_edited_in_the_folder_are_found(made, capsys, name, column):
    out, repeat = made
    file = out / f"{name}.csv"
    rows = [row.split(",") for row in file.read_text(encoding="utf-8").splitlines()]
    for row in rows[1:]:
        row[-1] = f"{float(row[-1]):.9f}"  # as spreadsheets may write it
    file.write_text("\r\n".join(map(",".join, rows)), encoding="utf-8-sig")  # saved by Excel
    assert repeat() == 0
    for row in rows[5:7]:
        row[column] = "0.9876"
    file.write_text("\r\n".join(map(",".join, rows)), encoding="utf-8-sig")
    assert repeat() == 1
    assert f"{name}.csv differs in 2 rows: 'item 4', 'item 5'." in capsys.readouterr().err


def test_one_changed_cell_is_found_in_its_column(made, points, capsys):
    _, repeat = made
    rng = np.random.default_rng(0)
    for _ in range(5):
        i, j = int(rng.integers(len(points))), int(rng.integers(2))
        changed = points.copy()
        changed[i, j] += 1e-4
        assert repeat(changed) == 1
        where = f"in 1 of 2 columns ({['width', 'height'][j]!r}), in 1 of 90 rows ('item {i}')."
        assert where in capsys.readouterr().err


def test_missing_and_exchanged_objects_are_found(made, points, capsys):
    _, repeat = made
    assert repeat(points[:-1]) == 1
    assert "The data differ: 90 objects then, 89 now." in capsys.readouterr().err
    assert repeat(points, [f"item {i}" for i in reversed(range(90))]) == 1
    assert "the objects have different names or a different order" in capsys.readouterr().err
    order = [0, 2, 1, *range(3, 90)]
    assert repeat(points[order], [f"item {i}" for i in order]) == 1
    assert "2 of 90 rows are in another order ('item 1', 'item 2')." in capsys.readouterr().err


def test_moved_objects_are_counted_and_versions_named(made, capsys):
    out, repeat = made
    record = load_alone(out).record
    words = list(record.arguments)
    words[words.index("--seed") + 1] = "6"
    rewrite(out, arguments=tuple(words), versions={**record.versions, "numpy": "1.0"})
    assert repeat() == 1
    error = capsys.readouterr().err
    assert "ensemble.npz differs" in error or "moved to another cluster" in error
    assert "The result was made with numpy 1.0 (now" in error


def test_only_results_of_cluster_are_repeated(tmp_path, capsys):
    np.save(tmp_path / "labels.npy", np.repeat([[0, 0], [1, 1]], 5, axis=0))
    out = str(tmp_path / "result")
    assert main(["combine", str(tmp_path / "labels.npy"), "--out", out, "--quiet"]) == 0
    assert main(["repeat", out, str(tmp_path / "labels.npy")]) == 1
    assert "is for results of 'conclust cluster' of this version" in capsys.readouterr().err
