"""Every command reads the same table whatever separates its columns, with and without a header."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from conclust.cli import main
from conclust.cli.reading.inputs import Reading, read_ensemble, read_points
from conclust.exceptions import FileFormatError

SEPARATORS = {
    "blank": " ",
    "blanks": "   ",
    "tab": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
}
EVERY = pytest.mark.parametrize(
    ("separator", "header"), [(sign, yes) for sign in SEPARATORS.values() for yes in (True, False)]
)
N = 30
TRUTH = np.repeat([0, 1, 2], N // 3)


def labels():
    """Return six clusterings of thirty objects in three clusters, each with two other labels."""
    table = np.tile(TRUTH[:, None], (1, 6))
    for u in range(6):
        table[[u, 10 + u], u] = 2
    return table


def written(path, table, separator, header, fmt="%d"):
    """Write a table as NumPy does, with letters as names of the columns."""
    names = separator.join(f"r{chr(97 + u)}" for u in range(np.atleast_2d(table).shape[1]))
    np.savetxt(
        path, np.atleast_2d(table), fmt, separator, header=names if header else "", comments=""
    )
    return str(path)


def run(*words):
    assert (
        main([*map(str, words), "-q"] if words[0] not in ("compare",) else [*map(str, words)]) == 0
    )


def found(folder):
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        return [int(row["label"]) for row in csv.DictReader(file)]


@EVERY
def test_combine_reads_every_separator(tmp_path, separator, header):
    path = written(tmp_path / "labels.txt", labels(), separator, header)
    run("combine", path, "--method", "voting", "-k", 3, "--out", tmp_path / "o")
    assert found(tmp_path / "o") == TRUTH.tolist()


@EVERY
def test_weights_are_read_with_every_separator(tmp_path, separator, header):
    path = written(tmp_path / "labels.csv", labels(), ",", True)
    weights = written(tmp_path / "w.txt", np.arange(1, 7) / 2, separator, header, "%.1f")
    assert read_ensemble(
        tmp_path / "labels.csv", Reading(weights=tmp_path / "w.txt")
    ).ensemble.weights.tolist() == [0.5, 1, 1.5, 2, 2.5, 3]
    more = ["--weights", weights, "--method", "voting", "-k", 3]
    run("combine", path, *more, "--out", tmp_path / "o")


@EVERY
def test_draws_are_read_with_every_separator(tmp_path, separator, header):
    path = written(tmp_path / "draws.txt", labels().T, separator, False)
    if header:
        path = tmp_path / "named.txt"
        names = separator.join(f"p{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(N))
        np.savetxt(path, labels().T, "%d", separator, header=names, comments="")
    run("combine", path, "--rows", "draws", "--method", "bayesestimate", "--out", tmp_path / "o")
    assert found(tmp_path / "o") == TRUTH.tolist()


@EVERY
def test_compare_reads_every_separator(tmp_path, separator, header, capsys):
    """As SNAP and LFR publish communities: a node and its community in each line."""
    nodes = np.arange(N)
    one = written(tmp_path / "truth.txt", np.column_stack([nodes, TRUTH]), separator, header)
    other = written(
        tmp_path / "found.dat", np.column_stack([nodes, TRUTH])[::-1], separator, header
    )
    run("compare", one, other, "--json")
    assert json.loads(capsys.readouterr().out)["adjusted_rand_index"] == 1
    random = np.random.default_rng(0).permutation(TRUTH)
    other = written(tmp_path / "found.dat", np.column_stack([nodes, random]), separator, header)
    run("compare", one, other, "--json")
    measures = json.loads(capsys.readouterr().out)
    assert measures["clusters"] == [3, 3]
    assert measures["adjusted_rand_index"] < 0.5


@EVERY
@pytest.mark.parametrize("command", ["cluster", "select"])
def test_points_are_read_with_every_separator(tmp_path, separator, header, command):
    X = np.random.default_rng(0).normal(size=(N, 3)) + 20 * TRUTH[:, None]
    path = written(tmp_path / "points.txt", X, separator, header, "%.6f")
    np.testing.assert_allclose(read_points(tmp_path / "points.txt", Reading()).X, X, atol=1e-6)
    if command == "select":
        run(
            "select", path, "-k", "2:4", "--resamples", 4, "--null", "none", "--out", tmp_path / "o"
        )
        return
    run("cluster", path, "--partitions", 5, "-k", 3, "--out", tmp_path / "o")
    assert found(tmp_path / "o") == TRUTH.tolist()
    new = written(tmp_path / "new.txt", X[[0, 15, 29]], separator, header, "%.6f")
    run("predict", tmp_path / "o", new, "--out", tmp_path / "p")
    assert found(tmp_path / "p") == [0, 1, 2]


def test_r_leaves_out_the_name_of_the_names_of_rows(tmp_path):
    """write.table of R: blanks, quotation marks, one name less than columns."""
    rows = [f'"row {i}" {i % 3} {i % 2}' for i in range(N)]
    (tmp_path / "r.txt").write_text("\n".join(['"ra" "rb"', *rows]))
    read = read_ensemble(tmp_path / "r.txt", Reading())
    assert read.names == ("ra", "rb")
    assert read.ids[:2] == ["row 0", "row 1"]


def test_clumpp_files_are_columns(tmp_path):
    lines = [f"{i + 1}:    0.{i:03}  {1 - i / 1000:.3f}  " for i in range(N)]
    (tmp_path / "K2.txt").write_text("\n".join(lines))
    read = read_points(tmp_path / "K2.txt", Reading())
    assert read.X.shape == (N, 2)
    assert read.ids[0] == "1:"


@pytest.mark.parametrize("command", ["combine", "compare"])
def test_lines_that_are_not_divided_are_no_labels(tmp_path, command, capsys):
    """A clustering in which every line is one label is refused, unless its separator is given."""
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{i} {i * 7} {'x ' * (i % 4)}\n" for i in range(N)))
    words = [command, str(path), *[str(path)] * (command == "compare")]
    assert main([*words, *["--out", str(tmp_path / "o")] * (command != "compare")]) == 1
    assert "one column of text" in capsys.readouterr().err
    for text in (path.read_text(), "0:1:2\n0:1:2\n1:0:2\n" * 5):
        path.write_text(text)
        with pytest.raises(FileFormatError, match="--delimiter comma"):
            read_ensemble(path, Reading())
    (tmp_path / "named.txt").write_text("kind\n" + "class a\nclass b\nclass a\n" * 5)
    assert read_ensemble(tmp_path / "named.txt", Reading()).ensemble.names == (
        ("class a", "class b"),
    )


def test_two_partitions_of_single_objects_are_not_compared(tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("label\n" + "\n".join(map(str, range(6))))
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 1
    assert "Every object is alone in both" in capsys.readouterr().err


def test_the_sign_that_makes_numbers_separates(tmp_path):
    for text, X in (
        ("1,5 2,5\n3,5 4\n-1 0,25\n", [[1.5, 2.5], [3.5, 4], [-1, 0.25]]),
        ("1, 2\n3, 4\n5, 6\n", [[1, 2], [3, 4], [5, 6]]),
        ("  1.0e+00   2\n -3.0e+00  40\n  5 6  \n", [[1, 2], [-3, 40], [5, 6]]),
        ("12 345;2\n3;4\n5;6\n", [[12345, 2], [3, 4], [5, 6]]),
    ):
        (tmp_path / "a.txt").write_text(text)
        assert read_points(tmp_path / "a.txt", Reading()).X.tolist() == X
