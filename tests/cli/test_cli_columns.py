"""Roles of columns: names, categories, selected and dropped columns; empty cells, decimal commas."""

import bz2
import csv
import gzip
import json
import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from conclust import Ensemble
from conclust.cli import main
from conclust.cli.options import names as column_names
from conclust.cli.reading.inputs import Reading, read_ensemble, read_points
from conclust.cli.reading.notation import last_word
from conclust.exceptions import FileFormatError, InputError

AUTO = Reading()


def write(path, rows, header=None, delimiter=","):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        if header:
            writer.writerow(header)
        writer.writerows(rows)
    return path


def read(out, name="labels.csv"):
    with (out / name).open(newline="") as file:
        return list(csv.DictReader(file))


def refused(call, *parts, error=InputError):
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
    assert str(caught.value).endswith(".")


def run(*arguments):
    return main([*map(str, arguments), "--jobs", "1"])


@pytest.fixture
def runs(tmp_path):
    """Three clusterings of thirty objects in three plain clusters, with names and classes."""
    truth = np.repeat([0, 1, 2], 10)
    rows = [[f"u{i}", k, (k + 1) % 3, "abc"[k], "xyz"[k]] for i, k in enumerate(truth)]
    return write(tmp_path / "runs.csv", rows, ["customer_id", "r1", "r2", "r3", "class"])


@pytest.fixture
def customers(tmp_path):
    """Four segments: two numeric columns separate them into pairs, and a category separates each pair."""
    X, y = make_blobs(240, 2, centers=[(0, 0), (9, 9)], random_state=0)
    rng = np.random.default_rng(0)
    region = rng.integers(0, 2, 240)
    rows = [
        [
            f"C{i:03}",
            f"Customer {i}",
            *np.round(X[i], 3),
            ["north", "south"][region[i]],
            2 * y[i] + region[i],
        ]
        for i in range(240)
    ]
    rows[3][2] = ""
    rows[5][3] = "NA"
    rows[7][4] = ""
    header = ["customer_id", "name", "income", "visits", "region", "segment"]
    return write(tmp_path / "customers.csv", rows, header), 2 * y + region


# ---- names of the objects


def test_name_columns_are_recognised_by_header_and_content(runs):
    labels = read_ensemble(runs, Reading(label_column="class"))
    assert labels.ids == [f"u{i}" for i in range(30)]
    assert labels.id_name == "customer_id"
    assert labels.names == ("r1", "r2", "r3")
    assert "its column 'customer_id' read as names of the rows" in labels.notes


def test_numbers_and_a_first_column_of_words_can_be_names(tmp_path):
    rows = [[100 + i, i % 2, i % 2] for i in range(12)]
    names = [str(100 + i) for i in range(12)]
    assert read_ensemble(write(tmp_path / "a.csv", rows), AUTO).ids == names
    words = write(tmp_path / "c.csv", [[f"u{i}", "xy"[i % 2], i % 2] for i in range(4)])
    assert read_ensemble(words, AUTO).ids == ["u0", "u1", "u2", "u3"]
    named = write(tmp_path / "b.csv", [row[::-1] for row in rows[:4]], ["a", "b", "patientId"])
    assert read_ensemble(named, AUTO).ids == ["100", "101", "102", "103"]


def test_a_second_column_of_names_is_left_out(tmp_path):
    rows = [[i % 2, f"u{i}", f"Customer {i}", i % 2] for i in range(12)]
    read = read_ensemble(write(tmp_path / "a.csv", rows, ["r1", "id", "name", "r2"]), AUTO)
    assert read.ids == [f"u{i}" for i in range(12)]
    assert read.names == ("r1", "r2")
    assert "its column 'name', which may name the rows, left out" in read.notes


def test_a_column_with_repeats_is_not_taken_as_names(tmp_path):
    rows = [[f"u{i // 2}", i % 2] for i in range(12)]
    read = read_ensemble(write(tmp_path / "a.csv", rows, ["id", "r1"]), AUTO)
    assert read.ids is None
    assert read.names == ("id", "r1")


@pytest.mark.parametrize("kinds", [300, 290])
def test_a_clustering_of_single_objects_is_refused_at_once(tmp_path, kinds, capsys):
    # With a column of identifiers, 'combine' computed for minutes: 300 singletons.
    rows = [[i % 3, f"x{i % kinds}", i % 3] for i in range(300)]
    path = write(tmp_path / "a.csv", rows, ["r1", "who", "r2"])
    assert run("combine", path, "--out", tmp_path / "o") == 1
    error_output = capsys.readouterr().err
    assert f"the column 'who' has {kinds} different labels for 300 objects" in error_output
    assert "--drop" in error_output
    assert run("combine", path, "--out", tmp_path / "o", "--drop", "who", "-q") == 0
    assert run("combine", path, "--out", tmp_path / "p", "--id-column", "who", "-q") == 0
    # If it is selected as a clustering, it is used as one.
    read = read_ensemble(path, Reading(columns=("r1", "who")))
    assert read.ensemble.cluster_counts.tolist() == [3, kinds]


def test_arrays_with_a_column_of_names_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([np.arange(50) % 2, np.arange(50)]))
    refused(lambda: read_ensemble(tmp_path / "a.npy", AUTO), "column '2' has 50 different labels")
    assert read_ensemble(tmp_path / "a.npy", Reading(drop=("2",))).ensemble.shape == (50, 1)


def test_clusterings_of_few_objects_may_be_all_singletons(tmp_path):
    path = write(tmp_path / "a.csv", [[0, i] for i in range(5)])
    assert read_ensemble(path, AUTO).ensemble.cluster_counts.tolist() == [1, 5]


def test_the_last_word_of_a_column_name_is_found():
    for name in ("id", "customer_id", "CustomerID", "customer id", "user.id", "patientId"):
        assert last_word(name) == "id"
    assert [last_word(name) for name in ("grid", "idea", "Visits", "é", "12")] == [
        *("grid", "idea", "visits", "é", ""),
    ]


def test_numeric_columns_of_points_are_names_only_when_unambiguous(tmp_path):
    rows = [[i + 1, 2 * i, 5.5 * i % 7] for i in range(12)]
    actual = read_points(write(tmp_path / "a.csv", rows, ["id", "visits", "x"]), AUTO)
    assert (actual.ids, actual.names) == ([str(i + 1) for i in range(12)], ("visits", "x"))
    actual = read_points(write(tmp_path / "b.csv", rows, ["age", "sample", "x"]), AUTO)
    assert (actual.ids, actual.names) == (None, ("age", "sample", "x"))
    actual = read_points(tmp_path / "a.csv", Reading(columns=("id", "x")))
    assert (actual.ids, actual.names) == (None, ("id", "x"))


def test_the_column_of_names_keeps_its_name(runs, tmp_path):
    out = tmp_path / "o"
    assert run("combine", runs, "-k", "3", "--label-column", "class", "--out", out, "-q") == 0
    assert list(read(out)[0]) == ["customer_id", "label", "confidence"]
    assert next(iter(read(out, "memberships.csv")[0])) == "customer_id"
    rows = [[f"u{i}", i % 2] for i in range(12)]
    # Names reserved for the output tables are not used.
    path = write(tmp_path / "l.csv", rows, ["label", "r1"])
    assert run("combine", path, "--id-column", "label", "--out", tmp_path / "p", "-q") == 0
    assert list(read(tmp_path / "p")[0])[:2] == ["object", "label"]


def test_compare_reads_the_table_that_was_clustered(customers, tmp_path, capsys):
    path, _ = customers
    more = ["--columns", "income,visits", "--impute", "mean", "--method", "eac", "-k", "2"]
    more += ["--partitions", "10", "-q"]
    assert run("cluster", path, *more, "--out", tmp_path / "o") == 0
    assert capsys.readouterr().out.startswith("2 clusters of 240 objects")
    labels = tmp_path / "o" / "labels.csv"
    lines = labels.read_text().splitlines()
    labels.write_text("\n".join([lines[0], *lines[:0:-1]]))  # matched by name, so in any order
    asked = ["compare", path, labels, "--column", "segment", "--json"]
    for more in (["--id-column", "customer_id"], []):
        assert main([*map(str, asked), *more]) == 0
        actual = json.loads(capsys.readouterr().out)
        assert (actual["matched_by"], actual["objects"]) == ("name", 240)
        assert actual["consistency_index"] == pytest.approx(0.5, abs=0.05)
    pair = tmp_path / "pair.csv"
    pair.write_text("customer_id,segment\n" + "".join(f"C{i:03},{i % 2}\n" for i in range(240)))
    assert main(["compare", str(pair), str(labels), "--id-column", "customer_id"]) == 0


def test_guarded_names_are_matched(tmp_path, capsys):
    rows = [[f"=f({i})", i % 2, i % 2] for i in range(12)]
    path = write(tmp_path / "a.csv", rows, ["id", "r1", "r2"])
    assert run("combine", path, "-k", "2", "--out", tmp_path / "o", "-q") == 0
    assert read(tmp_path / "o")[0]["id"] == "'=f(0)"
    assert main(["compare", str(path), str(tmp_path / "o/labels.csv"), "--column", "r1"]) == 0
    assert "12 objects compared, matched by name" in capsys.readouterr().out


# ---- selected and dropped columns


def test_columns_and_drop_select_columns(runs):
    assert read_ensemble(runs, Reading(columns=("r3", "r1"))).names == ("r3", "r1")
    assert read_ensemble(runs, Reading(columns=("r3", "r1"))).ids == [f"u{i}" for i in range(30)]
    assert read_ensemble(runs, Reading(columns=("2", "3"))).names == ("r1", "r2")
    assert read_ensemble(runs, Reading(drop=("class", "r2"))).names == ("r1", "r3")
    assert read_ensemble(runs, Reading(columns=("r*",), drop=("r2",))).names == ("r1", "r3")
    dropped = read_ensemble(runs, Reading(drop=("customer_id",)))
    assert (dropped.ids, dropped.names) == (None, ("r1", "r2", "r3", "class"))


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_all_columns_may_be_read_in_another_order(tmp_path, ending):
    table, order = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 2]]), (2, 0, 1)
    path = tmp_path / f"t.{ending}"
    if ending == "npy":
        np.save(path, table)
    elif ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pyarrow.table({str(j + 1): table[:, j] for j in range(3)}), path
        )
    else:
        write(path, table, ["x", "y", "z"])
    how = Reading(columns=("3", "1", "2"))
    np.testing.assert_array_equal(read_points(path, how).X, table[:, order])
    np.testing.assert_array_equal(read_ensemble(path, how).ensemble.labels, table[:, order])


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"columns": ("r1", "z")}, "--columns: "),
        ({"drop": ("z",)}, "--drop: "),
        ({"columns": ("r1", "2")}, "--columns and --columns name the same column, 'r1'"),
        ({"columns": ("r1",), "id_column": "r1"}, "--id-column and --columns name the same column"),
        ({"drop": ("class",), "label_column": "class"}, "--label-column and --drop name the same"),
        ({"drop": ("r1", "r2", "r3", "class")}, "no column of data is left"),
    ],
)
def test_columns_that_contradict_each_other(runs, how, sentence):
    refused(lambda: read_ensemble(runs, Reading(**how)), sentence)


def test_column_names_may_contain_commas():
    assert column_names('a, "b, or c",d') == ("a", "b, or c", "d")


def test_columns_of_arrays_are_selected_by_number(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(4, 3))
    actual = read_points(tmp_path / "a.npy", Reading(columns=("3", "1")))
    np.testing.assert_array_equal(actual.X, np.arange(12.0).reshape(4, 3)[:, [2, 0]])
    assert actual.names == ("3", "1")


# ---- categories and empty cells


def test_text_among_points_is_refused_with_all_options(customers):
    path, _ = customers
    refused(
        lambda: read_points(path, Reading(gaps=True)),
        "'region'",
        "text, 2 values",
        "--categories=region",
        "--drop",
    )
    refused(
        lambda: read_points(path, Reading(drop=("region",))),
        "line 5, column 3 ('income')",
        "--impute=median",
    )


@pytest.mark.parametrize("categories", ["region", "all"])
def test_categories_are_clusterings(customers, tmp_path, categories, capsys):
    path, truth = customers
    out = tmp_path / "o"
    more = ["--categories", categories, "--impute", "median"]
    more += ["--label-column", "segment", "--method", "qmi", "--clusters", "4"]
    assert run("cluster", path, *more, "--partitions", "30", "--out", out) == 0
    printed = capsys.readouterr()
    assert "240 objects, 2 columns, 1 column of categories" in printed.err
    assert "its column 'name', which may name the rows, left out" in printed.err
    assert "Each column of categories counts for 15 clusterings" in printed.err
    assert "2 empty cells filled by the median of the column" in printed.err.lower()
    ensemble = Ensemble.load(out / "ensemble.npz")
    assert ensemble.n_partitions == 31
    assert ensemble.names[30] == ("north", "south") or ensemble.names[30] == ("south", "north")
    np.testing.assert_array_equal(ensemble.weights, [*[1.0] * 30, 15.0])
    assert ensemble.labels[7, 30] == -1  # the empty cell: not observed
    values = [int(row["label"]) for row in read(out)]
    assert adjusted_rand_score(truth, values) > 0.95
    written = json.loads((out / "result.json").read_text())
    assert written["input"]["columns"] == ["income", "visits"]
    assert written["input"]["categories"] == ["region"]
    assert written["settings"]["category_weight"] == 15


def test_columns_of_very_different_spread_warn_once_by_name(tmp_path, capsys):
    rows = [[20 + i % 40, 1000 * (i * 7 % 50)] for i in range(60)]
    path = write(tmp_path / "a.csv", rows, ["age", "income"])
    more = ["--partitions", "3", "--method", "eac", "--out", tmp_path / "o"]
    assert run("cluster", path, *more) == 0
    error_output = capsys.readouterr().err
    assert error_output.count("units seem to differ: column 'income' has standard deviation") == 1
    written = json.loads((tmp_path / "o/result.json").read_text())["settings"]
    assert written["scale"] == "standard"
    assert "column 'age' 11.1" in written["scale_reason"]
    assert run("cluster", path, *more, "--scale", "none", "--force") == 0
    assert "spread" not in capsys.readouterr().err


def test_numbers_can_be_declared_categories(tmp_path):
    rows = [[0.5 * i, i % 3 + 1, i] for i in range(30)]
    path = write(tmp_path / "a.csv", rows, ["x", "plan", "zip"])
    actual = read_points(path, Reading(categories=("plan",)))
    assert actual.names == ("x", "zip")
    assert actual.categories[:3, 0].tolist() == ["1", "2", "3"]
    refused(
        lambda: read_points(path, Reading(categories=("zip",))), "names, 30 values for 30 objects"
    )
    how = Reading(categories=("plan",), drop=("x", "zip"))
    refused(lambda: read_points(path, how), "use: conclust combine")
    refused(
        lambda: read_points(path, Reading(categories=("plan", "2"))), "name the same column, 'plan'"
    )


@pytest.mark.parametrize(("how", "value"), [("mean", 4.0), ("median", 3.0), ("most_frequent", 1.0)])
def test_empty_cells_are_imputed_on_request(tmp_path, how, value, capsys):
    rows = [[1, 0], [1, 1], [3, 0], [7, 1], [8, 0], ["", 1]]
    path = write(tmp_path / "a.csv", rows, ["x", "y"])
    more = ["--impute", how, "--partitions", "2", "--scale", "none", "-k", "2"]
    assert run("cluster", path, *more, "--out", tmp_path / "o") == 0
    assert "1 empty cell filled" in capsys.readouterr().err
    content = json.loads((tmp_path / "o/result.json").read_text())
    assert content["settings"]["filling"][0] == value


def test_empty_columns_are_refused(tmp_path, capsys):
    path = write(tmp_path / "a.csv", [["", 1], ["NA", 2], ["", 3]], ["x", "y"])
    assert run("cluster", path, "--impute", "mean", "--out", tmp_path / "o") == 1
    assert re.search("'x' +empty", refusal := capsys.readouterr().err)
    assert "--drop=x" in refusal
    path = write(tmp_path / "a.csv", [["inf", 1], [1, 2], [2, 3]], ["x", "y"])
    assert run("cluster", path, "--impute", "mean", "--out", tmp_path / "o") == 1
    assert "'inf' in line 2, column 1" in capsys.readouterr().err


def test_gaps_in_arrays_are_filled(tmp_path):
    np.save(tmp_path / "a.npy", [[1.0, np.nan], [2.0, 3.0]])
    refused(lambda: read_points(tmp_path / "a.npy", AUTO), "row 1, column 2", "--impute=median")
    assert np.isnan(read_points(tmp_path / "a.npy", Reading(gaps=True)).X[0, 1])
    np.save(tmp_path / "a.npy", [[1.0, np.inf], [2.0, 3.0]])
    refused(lambda: read_points(tmp_path / "a.npy", Reading(gaps=True)), "'inf' in row 1")


# ---- forms of files


PACKINGS = [(".gz", gzip.compress), (".bz2", bz2.compress)]


@pytest.mark.parametrize(("suffix", "pack"), PACKINGS)
def test_compressed_tables_are_read(tmp_path, monkeypatch, suffix, pack):
    monkeypatch.setattr("conclust._files.opening.reading_limit", lambda: 1 << 62)
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(pack(b"x,y\n" + b"1,2\n3,4\n" * 1000))
    assert read_points(path, AUTO).X.shape == (2000, 2)
    (tmp_path / f"b{suffix}").write_bytes(path.read_bytes())
    assert read_points(tmp_path / f"b{suffix}", AUTO).X.shape == (2000, 2)
    # Several streams, as written by parallel compressors.
    path.write_bytes(pack(b"x,y\n1,2\n") + pack(b"3,4\n5,6\n"))
    np.testing.assert_array_equal(read_points(path, AUTO).X, [[1, 2], [3, 4], [5, 6]])
    content = pack(b"x,y\n" + b"1,2\n3,4\n" * 1000)
    for bad in (content[:-20], b"x,y\n1,2\n"):  # damaged bits have a test of their own
        path.write_bytes(bad)
        refused(lambda: read_points(path, AUTO), "damaged or cut off", error=FileFormatError)
    path.write_bytes(pack(b"1,2\n" * 100_000))
    monkeypatch.setattr("conclust._files.opening.reading_limit", lambda: 10_000)
    refused(lambda: read_points(path, AUTO), "holds more than", error=FileFormatError)
    (tmp_path / "a.dat").write_bytes(content)  # by its first bytes
    monkeypatch.undo()
    assert read_points(tmp_path / "a.dat", AUTO).X.shape == (2000, 2)


def read_or_refused(path):
    try:
        return read_points(path, AUTO).X
    except FileFormatError as error:
        return str(error)


@pytest.mark.parametrize(("suffix", "pack"), PACKINGS)
def test_all_streams_of_a_compressed_table_are_read_or_it_is_refused(tmp_path, suffix, pack):
    """As `cat` and parallel compressors write them; BZ2File and LZMAFile end silently before a damaged one."""
    path = tmp_path / f"a.csv{suffix}"
    first, second = pack(b"x,y\n" + b"1,2\n" * 3000), pack(b"3,4\n" * 3000)
    path.write_bytes(first + second)
    wanted = np.repeat([[1, 2], [3, 4]], 3000, axis=0)
    np.testing.assert_array_equal(read_points(path, Reading()).X, wanted)
    damaged = bytes([second[0] ^ 255]) + second[1:]
    for more in (damaged, second[:-10], b"and more", bytes(8)):
        path.write_bytes(first + more)
        with pytest.raises(FileFormatError, match="it does not unpack"):
            read_points(path, Reading())


def test_damaged_compressed_tables_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    rows = b"".join(b"%d,%d\n" % tuple(row) for row in rng.integers(0, 99, (300, 2)))
    for suffix, pack in PACKINGS:
        path = tmp_path / f"a.csv{suffix}"
        content = bytearray(pack(b"x,y\n" + rows))
        path.write_bytes(content)
        wanted = read_points(path, AUTO).X
        for at in rng.choice(len(content), 100, replace=False):
            path.write_bytes(
                content[:at] + bytes([content[at] ^ 1 << int(at) % 8]) + content[at + 1 :]
            )
            actual = read_or_refused(path)
            # A bit of the header that does not affect the content may differ. Lines are read while
            # they are unpacked, so a damaged line may be refused before the checksum.
            assert isinstance(actual, str) or np.array_equal(actual, wanted)


def test_files_of_any_name_are_text_or_refused_by_their_content(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_points(tmp_path / "a.xlsx", AUTO)
    for name, content, sentence in (
        ("a.xlsx", b"PK\x03\x04", "Save its table as CSV"),
        ("a.xz", b"\xfd7zXZ\0", "Unpack it in a pipe, 'xz -dc FILE | conclust COMMAND -'"),
        ("a.zst", b"(\xb5/\xfd\x04\0", "Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'"),
        ("a.csv", b"PAR1\x15\x04\x15", "is a Parquet file"),
        ("a.h5ad", b"\x89HDF\r\n", "adata"),
        ("a.pkl", b"\x80\x05\x95\0", "a pickle, which is never read"),
        ("a.mat", b"MATLAB 5.0", "scipy.io.loadmat"),
        ("a.json", b'{"x": 1}', "is JSON"),
        ("a", b"", "is empty"),
    ):
        (tmp_path / name).write_bytes(content)
        refused(
            lambda name=name: read_points(tmp_path / name, AUTO), sentence, error=FileFormatError
        )
    (tmp_path / "a").write_text("1,2\n3,4\n")
    assert read_points(tmp_path / "a", AUTO).X.tolist() == [[1, 2], [3, 4]]


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    refused(lambda: read_ensemble(tmp_path, AUTO), "is a folder. Give a file in it")


# ---- the command line


def test_the_folder_has_a_default_and_is_never_overwritten(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("combine", runs, "--label-column", "class", "-q") == 0
    assert (tmp_path / "result/labels.csv").exists()
    assert run("combine", runs, "--label-column", "class", "-q") == 1
    assert "The folder result is not empty" in capsys.readouterr().err


def test_invalid_command_lines_are_refused_in_one_line(capsys):
    for arguments, sentence in (
        (["clutser", "x.csv"], "there is no 'clutser'. Is it 'cluster'?"),
        (
            ["cluster", "x.csv", "--max-cluster", "3"],
            "no option --max-cluster. Is it --max-clusters?",
        ),
        (["cluster", "x.csv", "--impute", "medain"], "there is no 'medain'. Is it 'median'?"),
        (["combine"], "Give a file of labels, or --memberships with files of memberships."),
        (["cluster"], "the following arguments are required: FILE."),
        (["combine", "x.csv", "--method", "hbgf"], "HBGF needs the number of clusters: pass -k."),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        error_output = capsys.readouterr().err
        assert error_output.count("\n") == 1
        assert sentence in error_output
        assert error_output.endswith("--help\n")


def test_k_is_an_upper_bound_for_methods_that_find_the_number(runs, tmp_path, capsys):
    more = [
        "--label-column",
        "class",
        "--out",
        tmp_path / "o",
        "--force",
        "--method",
        "pcc",
        "-k",
        "5",
    ]
    assert run("combine", runs, *more) == 0
    printed = capsys.readouterr().out
    assert "3 clusters of 30 objects" in printed
    assert "3 clusters: at most 5 were allowed; no more have objects." in printed
    same = (tmp_path / "o/labels.csv").read_bytes()
    assert run("combine", runs, *more[:-2], "--max-clusters", "5", "-q") == 0
    assert (tmp_path / "o/labels.csv").read_bytes() == same
    assert run("combine", runs, *more[:-1], "3") == 0
    assert "all have objects" in capsys.readouterr().out


def test_the_scaling_is_printed_once_with_the_names_of_the_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    lines = [f"{income:.0f},{age:.1f}" for income, age in rng.normal(size=(60, 2)) * [9000, 9]]
    (tmp_path / "people.csv").write_text("\n".join(["income,age", *lines]))
    assert run("cluster", tmp_path / "people.csv", "--out", tmp_path / "r") == 0
    printed = capsys.readouterr().err
    assert printed.count("units seem to differ") == 1
    assert "column 'income' has standard deviation" in printed
