"""Labels in columns of Arrow, of every type and with empty cells, are those of the same Python objects."""

import numpy as np
import pytest

import conclust as cc
from conclust.blocks import LabelStore
from conclust.cli.reading.inputs import read_ensemble
from conclust.cli.requested import Reading
from conclust.ensemble.columns import arrow_labels
from conclust.exceptions import InputError

pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'parquet'")

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TEXT = ["string", "large_string", "string_view"]
N = 60


def cells(rng, kind):
    """Return cells of a column as Python objects, some of them empty."""
    numbers = rng.integers(0, 4, N)
    if kind == "bool":
        values = (numbers > 1).tolist()
    elif kind in (*TEXT, "dictionary"):
        values = [f"c{number}" for number in numbers]
        values[3:7] = [" ", "-1", "-2", " -1"]
    elif kind == "beyond":
        values = (numbers + (1 << 60)).tolist()
    else:
        values = numbers.tolist()
        if not kind.startswith("uint"):
            values[5], values[7] = -1, -2
    return [None if rng.random() < 0.2 else value for value in values]


def column(values, kind):
    """Return a column of Arrow in two chunks, of which the second lists its texts in another order."""
    plain = {"beyond": "int64", "dictionary": "string"}.get(kind, kind)
    chunks = [pa.array(part, type=plain) for part in (values[:20], values[20:])]
    if kind == "dictionary":
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    return pa.chunked_array(chunks)


@pytest.mark.parametrize("missing", ["unobserved", "noise"])
@pytest.mark.parametrize(
    "kinds",
    [
        *[(kind, "int64") for kind in WHOLE],
        ("bool", "int8"),
        ("beyond", "int8"),
        ("string", "int16"),
        ("large_string", "dictionary"),
        ("string_view", "string"),
        ("dictionary", "bool", "beyond"),
    ],
    ids="-".join,
)
def test_every_type_of_column_has_the_labels_of_its_objects(tmp_path, kinds, missing):
    rng = np.random.default_rng(len("".join(kinds)))
    values = [cells(rng, kind) for kind in kinds]
    values.append(rng.integers(0, 3, N).tolist())  # without empty cells
    kinds = (*kinds, "int32")
    objects = np.array(values, dtype=object).T
    expected = cc.Ensemble(objects, missing=missing)
    table = pa.table({f"p{u}": column(values[u], kinds[u]) for u in range(len(kinds))})
    found = cc.Ensemble(table, missing=missing)
    assert found == expected
    assert found.names == expected.names
    path = tmp_path / "labels.parquet"
    parquet.write_table(table, path, row_group_size=25)
    assert read_ensemble(path, Reading(missing=missing)).ensemble == expected
    for block_rows in (7, 40):
        store = LabelStore(path, missing=missing, block_rows=block_rows)
        assert tuple(map(tuple, store.facts.names)) == tuple(map(tuple, expected.names))
        np.testing.assert_array_equal(
            np.asarray(cc.HBGF(2, random_state=0).fit(store).labels_),
            np.asarray(
                cc.HBGF(2, random_state=0)
                .fit(LabelStore(objects, missing=missing, block_rows=block_rows))
                .labels_
            ),
        )


@pytest.mark.parametrize("kind", [*WHOLE, "bool"])
def test_whole_numbers_with_empty_cells_stay_numbers(kind):
    values = cells(np.random.default_rng(0), kind)
    read = arrow_labels(column(values, kind))
    assert read.dtype.kind == "f"  # objects take ten times as long
    assert [None if np.isnan(value) else int(value) for value in read] == values


def test_text_is_coded_by_arrow():
    values = cells(np.random.default_rng(0), "string")
    for kind in (*TEXT, "dictionary"):
        assert arrow_labels(column(values, kind)).objects().tolist() == values


def test_text_is_coded_before_its_chunks_are_combined():
    """Chunks of more than 2 GB together cannot be one array of text."""

    class Chunks:
        type = pa.string()

        def combine_chunks(self):
            raise pa.ArrowInvalid("offset overflow while concatenating arrays")

        def dictionary_encode(self):
            return pa.chunked_array([["a", "b"], ["b", None]]).dictionary_encode()

    assert arrow_labels(Chunks()).objects().tolist() == ["a", "b", "b", None]


def test_negative_whole_numbers_are_shown_as_such():
    with pytest.raises(InputError, match="Got -3 at row 1, partition 0"):
        cc.Ensemble(pa.table({"a": pa.array([1, -3, None, 0])}))


@pytest.mark.parametrize("kind", [*TEXT, "int8"])
def test_columns_without_chunks_have_no_objects(kind):
    empty = pa.schema([("a", pa.chunked_array([], type=kind).type)]).empty_table()
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\)"):
        cc.Ensemble(empty)
