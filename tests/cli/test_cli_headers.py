"""Headers, names of objects, delimiters and weights as other programs write them."""

import numpy as np
import pandas as pd
import pytest

from conclust import Ensemble
from conclust.cli.parser import build_parser
from conclust.cli.reading.inputs import Reading, read_ensemble, read_points
from conclust.cli.requested import reading
from conclust.exceptions import FileFormatError, InputError


def test_numbers_that_nearly_name_the_objects_are_no_measurement(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "points.csv"
    ids = [1000 + i for i in range(50)]
    ids[-1] = ids[3]
    rows = [
        f"{one},{a:.3f},{b:.3f}" for one, (a, b) in zip(ids, rng.normal(size=(50, 2)), strict=True)
    ]
    path.write_text("\n".join(["id,a,b", *rows]))
    with pytest.raises(InputError, match=r"'id' +whole numbers, 49 values for 50 objects"):
        read_points(path, Reading())
    assert read_points(path, Reading(drop=("id",))).X.shape == (50, 2)
    assert read_points(path, Reading(columns=("id", "a"))).X.shape == (50, 2)


@pytest.mark.parametrize("header", ["id,2011,2012", "sample,1017,1018"])
def test_a_header_may_have_years_as_names(tmp_path, header):
    rng = np.random.default_rng(0)
    path = tmp_path / "points.csv"
    rows = [f"p{i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(rng.normal(size=(20, 2)))]
    path.write_text("\n".join([header, *rows]))
    points = read_points(path, Reading())
    assert points.X.shape == (20, 2)
    assert list(points.names) == header.split(",")[1:]
    assert points.ids[0] == "p0"


def test_numbers_with_a_fraction_of_zero_name_the_objects(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "points.csv"
    rows = [f"{i}.0,{a:.3f},{b:.3f}" for i, (a, b) in enumerate(rng.normal(size=(20, 2)))]
    path.write_text("\n".join(["id,x,y", *rows]))
    assert read_points(path, Reading()).X.shape == (20, 2)


def test_a_row_of_weights_is_read_by_the_names_of_the_partitions(tmp_path):
    labels, weights = tmp_path / "labels.csv", tmp_path / "weights.csv"
    labels.write_text("a,b,c\n" + "0,0,1\n0,1,1\n1,1,0\n" * 4)
    for text in ("c,a,b\n3,1,2\n", "1,2,3\n", "weight\n1\n2\n3\n"):
        weights.write_text(text)
        ensemble = read_ensemble(labels, Reading(weights=weights)).ensemble
        assert ensemble.weights.tolist() == [1, 2, 3]
    weights.write_text("c,a,z\n3,1,2\n")
    with pytest.raises(InputError, match=r"no column 'b'\. Its columns are \['c', 'a', 'z'\]"):
        read_ensemble(labels, Reading(weights=weights))


def test_a_saved_ensemble_is_no_table_of_labels(tmp_path):
    path = tmp_path / "ensemble.npz"
    Ensemble([[0, 1], [0, 1], [1, 0]]).save(path)
    with pytest.raises(
        InputError, match="is a saved ensemble, which is read by 'conclust combine'"
    ):
        read_points(path, Reading())


def test_options_of_columns_may_be_repeated():
    words = ["cluster", "points.csv", "--columns", "a", "--columns", "b,c"]
    assert reading(build_parser().parse_args(words)).columns == ("a", "b", "c")


def test_names_of_rows_may_have_no_header(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text('"a","b"\n' + "".join(f'"r{i}",{i}.5,{i * i}\n' for i in range(12)))
    points = read_points(path, Reading())
    assert points.names == ("a", "b")
    assert points.ids[:2] == ["r0", "r1"]
    assert points.X[3].tolist() == [3.5, 9.0]
    path.write_text("a,b\n" + "".join(f"r{i},{i % 2},{i % 3}\n" for i in range(12)))
    labels = read_ensemble(path, Reading())
    assert labels.ensemble.shape == (12, 2)
    path.write_text("a,b\n1,2,3\n4,5\n")
    with pytest.raises(FileFormatError, match="is ragged"):
        read_points(path, Reading())


@pytest.mark.parametrize("stem", ["sample", "object_", "row "])
def test_a_first_object_with_a_number_is_no_header(tmp_path, stem):
    path = tmp_path / "points.csv"
    path.write_text("".join(f"{stem}{i},{i % 3},{i % 5}\n" for i in range(20)))
    points = read_points(path, Reading())
    assert points.X.shape == (20, 2)
    assert points.ids[0] == f"{stem}0"


@pytest.mark.parametrize("name", ["body_mass_index", "refractive_index"])
def test_measurements_called_index_are_numbers(tmp_path, name):
    rng = np.random.default_rng(0)
    path = tmp_path / "points.csv"
    rows = [f"{a:.3f},{b:.4f}" for a, b in rng.normal(size=(60, 2))]
    path.write_text("\n".join([f"age,{name}", *rows]))
    assert read_points(path, Reading()).X.shape == (60, 2)


def test_a_first_column_without_a_name_is_not_data_if_another_has_the_names(tmp_path):
    points = np.random.default_rng(0).normal(size=(30, 2))
    path = tmp_path / "points.csv"
    rows = [f"{i},p{i},{a!r},{b!r}" for i, (a, b) in enumerate(points.tolist())]
    path.write_text("\n".join([",name,a,b", *rows]))  # as pandas writes an index
    read = read_points(path, Reading(id_column="name"))
    np.testing.assert_array_equal(read.X, points)
    assert read.ids[3] == "p3"
    assert "its column 1, which may name the rows, left out" in read.notes
    assert read_points(path, Reading(id_column="name", columns=("1", "a"))).X.shape == (30, 2)
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join([",name,r,s", *(f"{i},p{i},{i % 2},{i % 3}" for i in range(60))]))
    assert read_ensemble(labels, Reading(id_column="name")).ensemble.shape == (60, 2)


@pytest.mark.parametrize("header", ["name,id,a,b", ",id,a,b"])
def test_a_second_column_of_names_is_not_data(tmp_path, header):
    points = np.random.default_rng(0).normal(size=(30, 2))
    path = tmp_path / "points.csv"
    rows = [f"p{i},{i + 100},{a!r},{b!r}" for i, (a, b) in enumerate(points.tolist())]
    path.write_text("\n".join([header, *rows]))
    how = Reading(id_column="name" if header[0] == "n" else None)
    read = read_points(path, how)
    np.testing.assert_array_equal(read.X, points)
    assert read.ids[3] == "p3"
    assert "its column 'id', which may name the rows, left out" in read.notes
    chosen = Reading(id_column=how.id_column, columns=("id", "a"))
    assert read_points(path, chosen).names == ("id", "a")


def test_numbers_in_quotation_marks_may_have_decimal_commas_between_commas(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text('"name","a","b"\n' + "".join(f'"p{i}","{i},5","-{i},25"\n' for i in range(9)))
    read = read_points(path, Reading(decimal="comma"))
    np.testing.assert_array_equal(read.X[:, 0], np.arange(9) + 0.5)
    np.testing.assert_array_equal(read.X[1:, 1], -np.arange(1, 9) - 0.25)
    assert read.names == ("a", "b")
    path.write_text("name;a;b\n" + "".join(f"p{i}, x;{i},5;-{i},25\n" for i in range(9)))
    assert read_points(path, Reading(decimal="comma")).X[2].tolist() == [2.5, -2.25]


def test_commas_between_columns_are_no_decimal_commas(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("a,b\n1.5,2.5\n3.5,4.5\n")
    with pytest.raises(InputError, match=r"'a' .*'1\.5', which may be point \(--decimal\)"):
        read_points(path, Reading(decimal="comma"))


@pytest.mark.parametrize("name", ["PAR1", "BZh", "BZh9", "PK"])
def test_names_of_columns_are_no_signatures(tmp_path, name):
    path = tmp_path / "points.csv"
    path.write_text(f"{name},b\n1,2\n3,4\n")
    assert read_points(path, Reading()).names == (name, "b")


FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])


@pytest.mark.parametrize(
    ("index", "name", "first"),
    [
        (range(0, 300, 10), None, None),  # a range is not stored
        (np.arange(30)[::-1], None, "29"),
        ([f"p{i}" for i in range(30)], None, "p0"),
        (pd.date_range("2020", periods=30), None, "2020-01-01 00:00:00"),
        (pd.Index(np.arange(30)[::-1], name="number"), "number", "29"),
        (pd.Index(np.arange(30) // 10, name="group"), None, None),
        (pd.MultiIndex.from_product([range(6), range(5)], names=["g", "h"]), None, None),
    ],
)
def test_an_index_in_a_parquet_file_is_not_data(tmp_path, index, name, first):
    pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    path = tmp_path / "points.parquet"
    FRAME.set_axis(index).to_parquet(path)
    read = read_points(path, Reading())
    np.testing.assert_array_equal(read.X, FRAME.to_numpy())
    assert (None if read.ids is None else read.ids[0]) == first
    assert read.id_name == (name or "object")


def test_an_index_in_a_parquet_file_may_be_chosen_or_give_way(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    path = tmp_path / "points.parquet"
    names = [f"p{i}" for i in range(30)]
    frame = FRAME.assign(name=names).set_axis(np.arange(30)[::-1])
    frame.to_parquet(path)
    for how in (Reading(), Reading(id_column="name")):
        read = read_points(path, how)
        np.testing.assert_array_equal(read.X, FRAME.to_numpy())
        assert read.ids == names
    chosen = Reading(columns=("__index_level_0__", "a"))
    assert read_points(path, chosen).X[:, 0].tolist() == [*range(29, -1, -1)]
    runs = pd.DataFrame({"r": [0, 1] * 30, "s": [0, 1, 2] * 20}, index=np.arange(60) // 9)
    runs.to_parquet(path)
    assert read_ensemble(path, Reading()).ensemble.shape == (60, 2)


def test_labels_beyond_int64_in_a_parquet_file_are_refused_in_a_sentence(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    path = tmp_path / "labels.parquet"
    numbers = np.array([2**63 + i // 10 for i in range(30)], dtype=np.uint64)
    pd.DataFrame({"r": [0, 1] * 15, "s": numbers}).to_parquet(path)
    with pytest.raises(InputError, match="must fit in int64"):
        read_ensemble(path, Reading())


def test_names_that_are_dropped_are_not_written(tmp_path):
    names = [f"p{i}" for i in range(30)]
    frame = FRAME.set_axis(pd.Index(names, name="patient"))
    path = tmp_path / "points.csv"
    frame.to_csv(path, index_label="")
    assert read_points(path, Reading()).ids == names
    assert read_points(path, Reading(drop=("1",))).ids is None
    pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    path = tmp_path / "points.parquet"
    for table, name in ((frame, "patient"), (frame.rename_axis(None), "__index_level_0__")):
        table.to_parquet(path)
        assert read_points(path, Reading()).ids == names
        dropped = read_points(path, Reading(drop=(name,)))
        assert dropped.ids is None
        np.testing.assert_array_equal(dropped.X, FRAME.to_numpy())


@pytest.mark.parametrize(
    "first", ["01.02.2020;02.02.2020", "1.0.1;1.0.2", "10.0.0.1;10.0.0.2", "2 3;3 4", "1'2;3'4"]
)
def test_dates_and_versions_above_numbers_are_a_header(first, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(f"{first}\n3;4\n5;6\n1;2\n")
    read = read_points(path, Reading())
    assert read.names == tuple(first.split(";"))
    assert len(read.X) == 3
    path.write_text(f"id;{first}\na;3;4\nb;5;6\nc;1;2\n")
    assert read_points(path, Reading()).ids == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "hour;0,5;1,5\n3;4;1\n5;6;2\n",
        "id;0,5;1,5\na;4;1\nb;6;2\nc;7;8\n",
        ";0,5;1,5;x\na;4;1;1\nb;6;2;1\n",
    ],
)
def test_numbers_in_another_notation_after_a_name_are_in_the_header(text, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(text)
    assert len(read_points(path, Reading()).X) == text.count("\n") - 1


@pytest.mark.parametrize("first", ["0,1;0,2", "01.02.2020;02.02.2020", "1.000,5;2.000,5"])
def test_numbers_that_are_no_labels_name_the_columns_of_labels(first, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(f"{first}\n0;1\n0;1\n1;0\n")
    read = read_ensemble(path, Reading())
    assert read.names == tuple(first.split(";"))
    assert read.ensemble.n_samples == 3


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1.234,5;2\n3;4\n5,5;6\n", 1234.5),  # a sign between thousands
        ("1,5;2\n3;4\n5;6\n", 1.5),  # the only decimal comma is in the first row
        ("12 345;2\n3;4\n5;6\n", 12345),
        ("12\u202f345;2\n3;4\n5;6\n", 12345),
        ("1'234'567;2\n3;4\n5;6\n", 1234567),
        ("1,5e-03;2\n3;4\n5;6\n", 0.0015),
        ("ada;1,5\nbob;2\ncy;3\n", 1.5),
    ],
)
def test_a_first_row_of_numbers_is_not_lost_as_a_header(text, first, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8")
    read = read_points(path, Reading())
    assert len(read.X) == 3
    assert read.X[0, 0] == first
    if not text.startswith("ada"):
        assert len(read_points(path, Reading(header=True)).X) == 2
