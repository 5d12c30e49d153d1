"""The files that the command line reads, and those that it refuses."""

import csv
import sys
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble
from conclust._files import parquetfile
from conclust._files.formats import INPUTS, WHOLE
from conclust._files.opening import opened
from conclust.cli.console import STREAM
from conclust.cli.reading import textfile
from conclust.cli.reading.inputs import (
    Reading,
    points_of,
    read_ensemble,
    read_points,
)
from conclust.cli.reading.tables import Table
from conclust.cli.reading.textfile import TextFile
from conclust.exceptions import FileFormatError, InputError, MissingExtraError

AUTO = Reading()


def write(tmp_path, content, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_points_of(path, how):
    """Read points of which there may be only one."""
    with opened(path) as source:
        return points_of(Table(source, how, "points"), how)


def points(tmp_path, content, **how):
    return read_points_of(write(tmp_path, content), Reading(**how))


def labels(tmp_path, content, missing="unobserved", **how):
    return read_ensemble(write(tmp_path, content), Reading(**how, missing=missing))


def headed(tmp_path, content, *, labels):
    with opened(write(tmp_path, content)) as source:
        return TextFile(source, AUTO, labels=labels).headed


def refused(error, call, *parts):
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
    assert str(caught.value).endswith(".")


# ---- CSV: its form


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_byte_order_marks_and_line_ends_are_recognised(tmp_path, sign, mark, end):
    rows = [["x", "größe"], ["1.5", "-2"], ["3e1", " 4 "]]
    read = points(tmp_path, mark + end.join(sign.join(row) for row in rows) + end)
    np.testing.assert_array_equal(read.X, [[1.5, -2.0], [30.0, 4.0]])
    assert read.names == ("x", "größe")
    assert read.notes == ("its first line read as the header",)


@pytest.mark.parametrize("first", ["", "city"])
def test_years_after_a_column_of_names_are_a_header(tmp_path, first):
    rows = [f"c{k},{k}.5,2,3,4" for k in range(20)]
    read = points(tmp_path, "\n".join([f"{first},2019,2020,2021,2022", *rows]))
    assert (read.names, len(read.X)) == (("2019", "2020", "2021", "2022"), 20)


def test_a_file_without_a_header_keeps_its_first_line(tmp_path):
    read = points(tmp_path, "1,2\n3,4")
    np.testing.assert_array_equal(read.X, [[1, 2], [3, 4]])
    assert read.names == ("1", "2")
    assert read.notes == ("no header",)


def test_quoted_fields_are_read(tmp_path):
    read = points(tmp_path, '"a, or b","say ""c"""\n"1",2\n')
    assert read.names == ("a, or b", 'say "c"')
    np.testing.assert_array_equal(read.X, [[1, 2]])


def test_the_delimiter_can_be_set(tmp_path):
    assert points(tmp_path, "a;b\n1;2\n", delimiter=";").X.shape == (1, 2)
    refused(
        InputError,
        lambda: points(tmp_path, "a;b\n1;2\n", delimiter=",", header=True),
        "'1;2'",
    )


FORM = {
    "empty": ("", "is empty"),
    "blank": ("\n \n", "is empty"),
    "only a header": ("a,b\n", "has a header and no rows"),
    "NUL": ("a,b\n1,2\n3,\0\n", "NUL character at line 3"),
    "ragged, short": (
        "a,b\n1,2\n3\n",
        "line 3 has 1 field, the first line has 2 (separated by comma)",
    ),
    "ragged, long": ("a;b\n1;2\n3;4;5\n", "line 3 has 3 fields, the first line has 2"),
    "ragged far below": ("a,b\n" + "1,2\n" * 9000 + "3\n", "line 9002 has 1 field"),
    "duplicate header": ("a,b, a \n1,2,3\n", "the column name 'a' more than once"),
    "header without a name": ("a,b,\n1,2,\n3,4,\n", "no name for column 3 in its header"),
    "UTF-32": ("a,b\n1,2\n".encode("utf-32"), "is in UTF-32"),
    "UTF-16 cut off": ("a,b\n1,2\n".encode("utf-16")[:-1], "is not valid utf-16"),
    "UTF-16 without a mark": ("a,b\n1,2\n".encode("utf-16-le"), "--encoding utf-16-le"),
    "UTF-16, big-endian": ("\xfc,b\n1,2\n".encode("utf-16-be"), "utf-16-be"),
    "Latin-1": (
        b"a,b\n1,2\n3,\xfc\n",
        "is not valid utf-8 at line 3: it is damaged, or in another encoding. Give its encoding, for instance --encoding cp1252",
    ),
    "quote left open": ('a,b\n1,2\n"3,4\n', "left open in the row that begins in line 3"),
    "quote in the middle": (
        'a,b\n"1"x,2\n',
        "quotation mark that is misplaced or left open in the row that begins in line 2",
    ),
    "counting header": ("0,1,2\n5,6,7\n", "a first line (0, 1, 2) of names, or of an object"),
    "header of years": ("2019,2020,2021,2022\n5,6,7,8\n", "(2019, 2020, 2021, 2022) of names"),
    "comment": ("# note\nx,y\n1,2\n3,4\n", "leave out lines that are not rows"),
    "empty line in one column": ("a\n1\n\n3\n", "is empty in line 3"),
}


@pytest.mark.parametrize("name", FORM)
def test_malformed_points_are_refused(tmp_path, name):
    content, sentence = FORM[name]
    refused(FileFormatError, lambda: points(tmp_path, content), "a.csv", sentence)


def test_long_lines_and_fields_are_refused(tmp_path, monkeypatch):
    long = 'a,b\n1,"' + "2" * (csv.field_size_limit() + 1) + '"\n'
    refused(FileFormatError, lambda: labels(tmp_path, long), "line 2", "field limit")
    monkeypatch.setattr(textfile, "_MAX_FIELDS", 3)
    refused(FileFormatError, lambda: points(tmp_path, "1,2,3,4\n"), "has 4 columns; at most 3")


def test_trailing_empty_lines_are_ignored(tmp_path):
    assert points(tmp_path, "a\n1\n2\n\n\n").X.shape == (2, 1)
    assert points(tmp_path, "a,b\n1,2\n\n3,4\n\n").X.shape == (2, 2)


def test_line_numbers_count_lines_within_quotes(tmp_path):
    content = 'name,x\n"two\nlines",1\n"b",oops\n'
    refused(
        InputError, lambda: points(tmp_path, content, id_column="name"), "line 4, column 2 ('x')"
    )


# ---- CSV: headers


@pytest.mark.parametrize(
    ("content", "of_points", "of_labels"),
    [
        ("a,b\n1,2\n", True, True),
        ("1,2\n1,2\n", False, False),
        ("id,2001,2002\n1,5,6\n", True, True),  # a name above numbers
        (",a,b\n0,5,6\n", True, True),  # the index of a data frame
        (",a,2\nu,x,2\nv,y,1\n", None, True),  # names that are numbers beside it
        (",5,6\n0,5,6\n", True, False),  # a label is missing
        ("first,second\nred,x\nblue,y\n", True, True),
        ("red,x\nred,x\nblue,x\n", None, False),
        ("red,1\nred,2\n", False, False),
        ("run,1\n3,2\n", True, True),
    ],
)
def test_headers_are_recognised(tmp_path, content, of_points, of_labels):
    assert of_points is None or headed(tmp_path, content, labels=False) is of_points
    assert headed(tmp_path, content, labels=True) is of_labels


def test_an_ambiguous_header_is_refused_with_the_option(tmp_path):
    content = "red,x\nred,y\nblue,z\n"
    refused(FileFormatError, lambda: labels(tmp_path, content), "--header yes or --header no")
    assert labels(tmp_path, content, header=False).ensemble.n_samples == 3
    assert labels(tmp_path, content, header=True).ensemble.n_samples == 2


# ---- CSV: points


CONTENT = {
    "text": ("a,b\n1,2\n3,four\n", "'four' in line 3, column 2 ('b') is not a number", "--na=four"),
    "names": (
        "kind,x\nu,1\nv,2\n",
        "text, 2 values for 2 objects (such as 'u')",
        "--categories=kind",
    ),
    "empty": (
        "a,b\n1,\n2,3\n",
        "1 empty cell, the first ('') in line 2, column 2",
        "--impute=median",
    ),
    "NA": ("a,b\n1,NA\n2,3\n", "the first ('NA') in line 2, column 2 ('b')", "--impute=median"),
    "empty column": ("a,b\n1,\n2,\n", "empty", "--drop=b"),
    "inf": ("a,b\n1,-inf\n", "'-inf' in line 2, column 2 ('b')", "--na=-inf"),
    "overflow": ("a,b\n1,1e999\n", "'1e999' in line 2, column 2 ('b')", "--na=1e999"),
    "far below": ("a,b\n" + "1,2\n1,3\n" * 75_000 + "3,x\n", "'x' in line 150002", "--na=x"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_invalid_points_are_refused_with_their_position(tmp_path, name):
    content, *facts = CONTENT[name]
    refused(InputError, lambda: points(tmp_path, content), "a.csv", *facts)


def test_columns_are_selected_by_name_and_number(tmp_path):
    content = "id,x,class,y\n=1+1,1,a,2\nv,3,b,4\n"
    for ids, classes in (("id", "class"), ("1", "3")):
        read = points(tmp_path, content, id_column=ids, label_column=classes)
        assert read.names == ("x", "y")
        assert read.ids == ["=1+1", "v"]
        assert read.classes == ["a", "b"]
        np.testing.assert_array_equal(read.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("wanted", ["z", "0", "5", "-1", "\u0661"])
def test_unknown_columns_are_refused(tmp_path, wanted):
    refused(
        InputError,
        lambda: points(tmp_path, "a,b\n1,2\n", id_column=wanted),
        f"a.csv: --id-column: there is no column {wanted!r}. Its columns are ['a', 'b']",
    )


def test_selections_without_data_columns_are_refused(tmp_path):
    refused(InputError, lambda: points(tmp_path, "a\n1\n", id_column="a"), "no column of data")
    text = "plan,city\n" + "a,b\nc,d\n" * 9
    refused(InputError, lambda: points(tmp_path, text), "None has numbers in every cell")
    refused(
        InputError,
        lambda: points(tmp_path, "a,b\n1,2\n", id_column="a", label_column="1"),
        "name the same column",
    )


def test_the_nameless_index_column_is_taken_as_names(tmp_path):
    read = points(tmp_path, '"","x"\n"r1",1\n"r2",2\n')
    assert read.ids == ["r1", "r2"]
    assert read.names == ("x",)
    assert "its column 1 read as names of the rows" in read.notes


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_numbers_are_read_exactly(tmp_path_factory, rows, named):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    lines = [",".join([f"o{i}"] * named + [repr(x) for x in row]) for i, row in enumerate(rows)]
    path.write_text("\n".join(["id,"[: 3 * named] + "x,y,z", *lines]))
    read = read_points_of(path, Reading(id_column="id" if named else None))
    np.testing.assert_array_equal(read.X, rows)


# ---- CSV: labels


def test_labels_may_be_missing_noise_or_names(tmp_path):
    with pytest.warns(UserWarning, match="line 4, .*'total' is read as a label.*give --na=total"):
        labels(tmp_path, "a,b\n0,1\n1,1\ntotal,2\n")
    read = labels(tmp_path, "a,b,c\n0,x,\n1,NA,1.0\n-1,y,01\n-2,-1,nan\n0,-2,7\n")
    expected = [[0, 0, -1], [1, -1, 0], [-1, 1, 0], [-2, -1, -1], [0, -2, 1]]
    np.testing.assert_array_equal(read.ensemble.labels, expected)
    assert read.ensemble.names == ((0, 1), ("x", "y"), (1, 7))


@pytest.mark.parametrize("more", ["", ",x"])  # numbers only, and the slower reader of names
def test_minus_one_as_noise_leaves_empty_cells_missing(tmp_path, more):
    content = f"0,0{more}\n0,1{more}\n-1,-1{more}\n1,0{more}\n"
    read = labels(
        tmp_path, content + (f",1{more}\n" if more else ""), missing="noise", header=False
    )
    assert (read.ensemble.labels[2, :2] == -2).all()
    if more:
        assert read.ensemble.labels[4, 0] == -1


@pytest.mark.parametrize("cell", ["1.5", "-3", "inf"])
def test_invalid_labels_are_refused_with_their_position(tmp_path, cell):
    content = f"a,b\n1,1\n1,{cell}\n2,2\n"
    sentence = f"line 3, column 2 ('b'): {cell!r} is not a label. Labels are whole numbers"
    refused(InputError, lambda: labels(tmp_path, content), sentence, "use: conclust cluster")


def test_names_and_classes_are_separated_from_labels(tmp_path):
    read = labels(
        tmp_path, "id,a,b,truth\nu,1,1,x\nv,1,2,y\n", id_column="id", label_column="truth"
    )
    assert read.ids == ["u", "v"]
    assert read.classes == ["x", "y"]
    assert read.ensemble.shape == (2, 2)


def test_errors_of_the_ensemble_name_the_file(tmp_path):
    refused(InputError, lambda: labels(tmp_path, "a,b\n1,\n2,\n"), "a.csv", "missing")


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(-2, 4), min_size=3, max_size=3), min_size=2, max_size=12),
    st.booleans(),
)
def test_label_matrices_are_read_back_unchanged(tmp_path_factory, rows, named):
    matrix = np.array([[0, 0, 0], *rows])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    lines = [",".join([f"o{i}"] * named + [str(x) for x in row]) for i, row in enumerate(matrix)]
    path.write_text("\n".join(["id,"[: 3 * named] + "x,y,z", *lines]))
    read = read_ensemble(path, Reading(id_column="id" if named else None))
    assert read.ensemble == Ensemble(matrix)


# ---- other formats


def test_points_are_read_from_arrays(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", X=X, y=[1, 2, 3])
    np.savez(tmp_path / "b.npz", p=X, q=X + 1)
    np.testing.assert_array_equal(read_points(tmp_path / "a.npy", AUTO).X, X)
    np.testing.assert_array_equal(read_points(tmp_path / "a.npz", AUTO).X, X)
    refused(InputError, lambda: read_points(tmp_path / "b.npz", AUTO), "'p', 'q'", "X, points")
    refused(
        InputError,
        lambda: read_points(tmp_path / "a.npy", Reading(id_column="x")),
        "there is no column 'x'",
    )


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros((1, 3)), "holds 1 object; a clustering needs at least two"),
        (np.zeros((0, 3)), "holds 0 object"),
        (np.zeros((3, 0)), "no column"),
        (np.zeros(3), "Got shape (3,)"),
        (np.zeros((2, 2), complex), "dtype complex128"),
        (np.array([["a"]]), "dtype <U1"),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), "the first ('nan') in row 1, column 2"),
    ],
)
def test_invalid_arrays_of_points_are_refused(tmp_path, array, sentence):
    np.save(tmp_path / "a.npy", array)
    refused(InputError, lambda: read_points(tmp_path / "a.npy", AUTO), "a.npy", sentence)


def test_label_arrays_and_saved_ensembles_are_read(tmp_path):
    matrix = np.array([[0, 1], [0, -1], [1, 1]])
    np.save(tmp_path / "a.npy", matrix)
    np.savez(tmp_path / "a.npz", labels=matrix)
    Ensemble(matrix, weights=[1, 2]).save(tmp_path / "e.npz")
    for name in ("a.npy", "a.npz"):
        assert read_ensemble(tmp_path / name, AUTO).ensemble == Ensemble(matrix)
    saved = read_ensemble(tmp_path / "e.npz", AUTO)
    assert saved.ensemble == Ensemble(matrix, weights=[1, 2])
    refused(
        InputError,
        lambda: read_ensemble(tmp_path / "e.npz", Reading(missing="noise")),
        "leave --missing",
    )
    for labels in (matrix, matrix.astype(float), matrix.astype(str)):
        np.save(tmp_path / "a.npy", labels)
        noise = read_ensemble(tmp_path / "a.npy", Reading(missing="noise"))
        assert noise.ensemble == Ensemble(matrix, missing="noise")


def test_weights_are_read(tmp_path):
    matrix = write(tmp_path, "a,b,c\n0,1,1\n0,0,1\n1,1,0\n")
    np.save(tmp_path / "w.npy", [1.0, 2.0, 0.5])
    write(tmp_path, "1,2,0.5\n", "r.csv")
    write(tmp_path, "weight\n1\n2\n0.5\n", "c.csv")
    for name in ("r.csv", "c.csv", "w.npy"):
        read = read_ensemble(matrix, Reading(weights=tmp_path / name))
        np.testing.assert_array_equal(read.ensemble.weights, [1, 2, 0.5])
    for content, sentence in (("1,2,-1\n", "at least 0"), ("1,2\n", "one number per partition")):
        how = Reading(weights=write(tmp_path, content, "n.csv"))
        refused(InputError, lambda how=how: read_ensemble(matrix, how), sentence)


def test_parquet_files_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    from pyarrow import parquet

    table = pa.table(
        {
            "id": ["u", "v", "w"],
            "x": [1.0, 2.0, 3.0],
            "a": [0, None, 1],
            "b": pa.array(["p", "q", None]).dictionary_encode(),
            "c": pa.array([0, 1, 1], pa.int8()),
        }
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(table.select(["id", "x", "c"]), path)
    read = read_points(path, Reading(id_column="id"))
    np.testing.assert_array_equal(read.X, [[1, 0], [2, 1], [3, 1]])
    assert read.ids == ["u", "v", "w"]
    assert read_points(path, AUTO).ids == ["u", "v", "w"]
    how = Reading(columns=("id", "x"))
    refused(InputError, lambda: read_points(path, how), "'id'", "text, 3 values")
    refused(InputError, lambda: read_points(path, Reading(id_column="z")), "no column 'z'")
    parquet.write_table(table.select(["id", "a", "b", "c"]), path)
    actual = read_ensemble(path, Reading(id_column="id")).ensemble
    np.testing.assert_array_equal(actual.labels, [[0, 0, 0], [-1, 1, 1], [1, -1, 1]])
    noisy = pa.table({"a": [0, -1, None, 0], "b": ["p", "q", "q", None]})
    parquet.write_table(noisy, path)
    actual = read_ensemble(path, Reading(missing="noise")).ensemble
    np.testing.assert_array_equal(actual.labels, [[0, 0], [-2, 1], [-1, 1], [0, -1]])
    parquet.write_table(pa.table({"a": [0, -1, 0], "b": [1, 1, -1]}), path)
    actual = read_ensemble(path, Reading(missing="noise")).ensemble
    np.testing.assert_array_equal(actual.labels, [[0, 0], [-2, 0], [0, -2]])
    parquet.write_table(pa.table({"t": pa.array([1, 2], pa.timestamp("s"))}), path)
    seconds = read_points(path, AUTO).X[:, 0] * 86_400  # dates are days
    np.testing.assert_allclose(seconds, [1, 2])
    path.write_bytes(path.read_bytes()[:-10])
    refused(FileFormatError, lambda: read_points(path, AUTO), "not a valid Parquet file")


def test_formats_are_recognised_by_ending_and_beginning_and_named_in_help(tmp_path, monkeypatch):
    for form in WHOLE.values():
        assert form.title in INPUTS
        for ending in form.endings:
            with opened(write(tmp_path, b"", f"a{ending.upper()}")) as source:
                assert source.form.kind == form.kind
        content = (form.beginning or b"x,y") + b"\n1,2\n"
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(content)))
        with opened(STREAM) as source:
            assert source.form.kind == form.kind
            assert source.path.read_bytes() == content


def test_parquet_larger_than_memory_is_refused(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": np.zeros(10_000)}), tmp_path / "a.parquet")
    monkeypatch.setattr(parquetfile, "reading_limit", lambda: 1000)
    refused(FileFormatError, lambda: read_points(tmp_path / "a.parquet", AUTO), "10000 cells")


def test_parquet_without_pyarrow_names_the_missing_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path, b"PAR1", "a.parquet")
    refused_extra = pytest.raises(MissingExtraError, match=r"pip install 'pyarrow>=16'")
    with refused_extra:
        read_points(path, AUTO)


# ---- one labelling


def one(path, *names):
    return read_ensemble(path, AUTO, names).ensemble.labels[:, 0].tolist()


def test_a_labelling_is_read_from_its_column(tmp_path):
    ours = write(tmp_path, "object,label,confidence\nu,0,0.9\nv,1,0.8\n")
    assert one(ours) == [0, 1]
    assert read_ensemble(ours, AUTO, ()).ids == ["u", "v"]
    assert one(write(tmp_path, "3\n4\n4\n")) == [0, 1, 1]
    two = write(tmp_path, "id,a,b\nu,x,1\nv,y,2\nw,x,1\n")
    assert one(two, "z", "a") == [0, 1, 0]
    refused(InputError, lambda: one(two), "'a', 'b'", "--column")


def test_a_labelling_is_read_from_an_array(tmp_path):
    np.save(tmp_path / "a.npy", [0, 1, 1])
    assert one(tmp_path / "a.npy") == [0, 1, 1]
    np.save(tmp_path / "a.npy", [[0, 5], [1, 6]])
    assert one(tmp_path / "a.npy", "2") == [0, 1]
    refused(InputError, lambda: one(tmp_path / "a.npy"), "--column")
    for column in ("class", "²", "3", "0", "9" * 5000):
        refused(InputError, lambda column=column: one(tmp_path / "a.npy", column), "no column")
    np.save(tmp_path / "a.npy", np.zeros((2, 2, 2)))
    refused(InputError, lambda: one(tmp_path / "a.npy"), "shape (2, 2, 2)")


def test_answers_are_labels_and_spellings_of_empty_cells_are_missing(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("brand,metal\nnone,Na\nNull,K\n.,#N/A\nNone,<NA>\nNULL,n/a\n<na>,N/a\nnone,K\n")
    found = read_ensemble(path, Reading())
    assert found.ensemble.names == (("none", "Null"), ("Na", "K"))
    assert found.ensemble.labels.T.tolist() == [
        [0, 1, -1, -1, -1, -1, 0],
        [0, 1, -1, -1, -1, -1, 1],
    ]


def test_codes_of_empty_cells_are_given_by_na(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("id,a,b\n-9,1,yes\n99,2,no\n3,-9,refused\n4,99,yes\n")
    how = Reading(id_column="id", na=("-9", "99", "refused"))
    found = read_ensemble(path, how)
    assert found.ids == ["-9", "99", "3", "4"]
    assert found.ensemble.labels.tolist() == [[0, 0], [1, 1], [-1, -1], [-1, 0]]
    points = read_points(path, replace(how, categories=("b",), gaps=True))
    np.testing.assert_array_equal(points.X[:, 0], [1, 2, np.nan, np.nan])
    assert points.categories[:, 0].tolist() == ["yes", "no", None, "yes"]
    with pytest.raises(
        InputError, match=r"2 empty cells, the first \('-9'\) in line 4, column 2 \('a'\)"
    ):
        read_points(path, replace(how, drop=("b",)))
    with pytest.raises(InputError, match=r"'-9' is not a label.*--na=-9"):
        read_ensemble(path, Reading(id_column="id"))
    np.save(tmp_path / "a.npy", np.zeros((4, 2), dtype=int))
    with pytest.raises(InputError, match="--encoding and --na are for CSV files"):
        read_ensemble(tmp_path / "a.npy", Reading(na=("99",)))
