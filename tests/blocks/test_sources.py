"""All sources give the same labels."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.cases import planted

from conclust import HBGF, LWGP, Ensemble
from conclust.blocks import BlockedArray, LabelStore
from conclust.blocks.sources import open_source
from conclust.exceptions import InputError

LABELS, _ = planted(seed=1, n=200, m=6, k=3, flip=0.2, missing=0.1, noise=0.05)


def same(store):
    plain = LabelStore(LABELS, block_rows=store.block_rows).facts
    facts = store.facts
    for name in ("cluster_counts", "missing_counts", "noise_counts", "offsets"):
        np.testing.assert_array_equal(getattr(facts, name), getattr(plain, name), err_msg=name)
    codes = [facts.codes(store.source.rows(*facts.span(b))) for b in range(facts.n_blocks)]
    expected = [plain.codes(LABELS[slice(*plain.span(b))]) for b in range(plain.n_blocks)]
    np.testing.assert_array_equal(np.vstack(codes), np.vstack(expected))
    return facts


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
def test_npy_files_may_hold_any_integer_type(dtype, tmp_path):
    np.save(tmp_path / "labels.npy", LABELS.astype(dtype))
    store = LabelStore(tmp_path / "labels.npy", block_rows=64)
    same(store)
    assert repr(store) == "LabelStore(200 objects, 6 partitions, 4 blocks)"


@pytest.mark.parametrize("dtype", [np.uint8, str])
def test_masked_cells_are_missing(dtype):
    given = np.where(LABELS < 0, 99, LABELS).astype(dtype)
    masked = np.ma.masked_array(given, LABELS < 0)
    store = LabelStore(masked, block_rows=64)
    np.testing.assert_array_equal(store.facts.missing_counts, (LABELS < 0).sum(axis=0))
    assert store.ensemble() == Ensemble(masked)
    expected = HBGF(3, random_state=0).fit(masked)
    actual = HBGF(3, random_state=0).fit(store)
    np.testing.assert_array_equal(actual.labels_, expected.labels_)
    np.testing.assert_array_equal(actual.objective_, expected.objective_)


@pytest.mark.parametrize("kind", ["pandas", "floats as index", "polars", "arrow"])
def test_frames_with_gaps_read_like_in_memory(kind):
    frame = pd.DataFrame(
        {
            "number": pd.array([1, None, 2, 1, 1] * 8, dtype="Int64"),
            "category": pd.Categorical(["x", "y", None, "x", "z"] * 8),
            "large": np.arange(40) % 2 + (1 << 60),
            "share": np.tile([0.0, 1.0, np.nan, 1.0], 10),
        }
    )
    if kind == "floats as index":
        frame.index = np.linspace(40, 1, 40)
    other = {"polars": pl.DataFrame, "arrow": pa.table}
    given = other[kind](frame) if kind in other else frame
    store, expected = LabelStore(given, block_rows=7), Ensemble(given)
    np.testing.assert_array_equal(store.facts.cluster_counts, expected.cluster_counts)
    np.testing.assert_array_equal(store.facts.missing_counts, expected.missing_counts)
    np.testing.assert_array_equal(store.facts.cluster_counts, [2, 3, 2, 2])
    codes = [store.facts.codes(store.source.rows(*store.facts.span(b))) for b in range(6)]
    np.testing.assert_array_equal(np.vstack(codes), expected.codes)


def test_large_integers_in_files_with_floats_stay_apart(tmp_path):
    large = 1 << 60
    one = pd.DataFrame({"a": [large, large + 1, large], "b": [0.0, 1.0, np.nan]})
    one.to_parquet(tmp_path / "part.0.parquet")
    one.astype({"a": float}).iloc[:1].to_parquet(tmp_path / "part.1.parquet")
    facts = LabelStore(tmp_path, block_rows=2).facts
    assert facts.names == ((large, large + 1), (0, 1))


def frame(labels):
    """Columns of numbers, of names, and of categories."""
    table = pd.DataFrame(labels, columns=[f"r{u}" for u in range(labels.shape[1])])
    table["r1"] = table["r1"].map(lambda c: {-1: None, -2: "-2"}.get(c, f"name {c}"))
    table["r1"] = table["r1"].where(table["r1"] != "-2", None)
    table["r2"] = table["r2"].astype("category")
    table["r3"] = table["r3"].astype("Int64").where(table["r3"] != -1)
    return table


def test_parquet_files_are_read_in_pieces(tmp_path):
    table = frame(LABELS)
    table.to_parquet(tmp_path / "labels.parquet", row_group_size=33)
    one = LabelStore(tmp_path / "labels.parquet", block_rows=40)
    (tmp_path / "parts").mkdir()
    for part in range(4):
        piece = table.iloc[50 * part : 50 * part + 50]
        piece.to_parquet(tmp_path / "parts" / f"part-{part}.parquet", row_group_size=17)
    many = LabelStore(tmp_path / "parts", block_rows=40)
    for store in (one, many):
        names = store.facts.names
        assert set(names[1]) == {"name 0", "name 1", "name 2"}
        assert set(names[0]) == set(names[3]) == {0, 1, 2}
    np.testing.assert_array_equal(
        LWGP(3, random_state=0).fit(one).labels_, LWGP(3, random_state=0).fit(many).labels_
    )
    in_memory = LWGP(3, random_state=0).fit(table)
    np.testing.assert_array_equal(LWGP(3, random_state=0).fit(one).labels_, in_memory.labels_)


def test_columns_can_be_selected(tmp_path):
    frame(LABELS).to_parquet(tmp_path / "labels.parquet")
    assert LabelStore(tmp_path / "labels.parquet", columns=["r4", "r0"]).shape == (200, 2)
    with pytest.raises(InputError, match="has no column 'r9'"):
        LabelStore(tmp_path / "labels.parquet", columns=["r9"])
    with pytest.raises(InputError, match="Columns can be chosen"):
        LabelStore(LABELS, columns=["r0"])


def test_invalid_sources_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_source(tmp_path / "none.npy")
    (tmp_path / "labels.csv").write_text("1,2\n")
    with pytest.raises(InputError, match="must be in NPY, Zarr or Parquet"):
        open_source(tmp_path / "labels.csv")
    with pytest.raises(InputError, match="two-dimensional"):
        open_source(np.arange(5))
    with pytest.raises(InputError, match="at least 2 objects"):
        LabelStore(np.zeros((1, 3), dtype=int))


def test_a_partition_that_is_missing_in_all_blocks_is_refused():
    bad = LABELS.copy()
    bad[:, 4] = -1
    with pytest.raises(InputError, match="Partition 4 is missing everywhere"):
        HBGF(3).fit(LabelStore(bad, block_rows=40))


@pytest.mark.parametrize("value", [-7, 0.5, np.inf])
def test_errors_about_labels_in_blocks_are_those_in_memory(value):
    bad = np.where(LABELS < 0, 0, LABELS).astype(np.float64 if value != -7 else np.int64)
    bad[137, 4] = value
    with pytest.raises(InputError, match="at row 137, partition 4") as whole:
        Ensemble(bad)
    with pytest.raises(InputError) as in_blocks:
        _ = LabelStore(bad, block_rows=50).facts
    assert str(in_blocks.value) == str(whole.value)


def test_a_source_can_be_sent_to_another_process(tmp_path):
    np.save(tmp_path / "labels.npy", LABELS)
    source = open_source(tmp_path / "labels.npy")
    source.rows(0, 5)
    restored = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(restored.rows(3, 9), LABELS[3:9])
    assert len(pickle.dumps(source)) < 2000


def test_minus_one_is_noise_on_request():
    facts = LabelStore(LABELS, missing="noise", block_rows=50).facts
    assert facts.missing_counts.sum() == 0
    assert facts.noise_counts.sum() == (LABELS < 0).sum()


def test_parts_of_a_folder_are_in_the_order_of_their_numbers(tmp_path):
    labels, _ = planted(n=60)
    for part in range(12):
        rows = labels[5 * part : 5 * part + 5]
        frame = pd.DataFrame(rows, columns=[f"m{u}" for u in range(rows.shape[1])])
        frame.to_parquet(tmp_path / f"part.{part}.parquet")
    store = LabelStore(tmp_path)
    np.testing.assert_array_equal(store.ensemble().labels, LabelStore(labels).ensemble().labels)


def test_the_index_of_a_frame_is_not_a_partition(tmp_path):
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 1]}, index=pd.Index(list("xyz"), name="cell"))
    frame.to_parquet(tmp_path / "labels.parquet")
    assert LabelStore(tmp_path / "labels.parquet").shape == (3, 2)


class TestBlockedArray:
    values = np.arange(33).reshape(11, 3)

    def array(self):
        return BlockedArray((11, 3), np.int64, 4, lambda b: self.values[4 * b : 4 * b + 4])

    def test_a_lazy_array_reads_like_its_array(self):
        array = self.array()
        np.testing.assert_array_equal(np.asarray(array), self.values)
        np.testing.assert_array_equal(np.array(list(array)), self.values)
        np.testing.assert_array_equal(np.asarray(array, dtype=float), self.values.astype(float))
        assert (len(array), array.ndim, array.size, array.n_blocks) == (11, 2, 33, 3)

    @pytest.mark.parametrize(
        "some",
        [
            slice(None), slice(2, 9), slice(9, 2), slice(-3, None), slice(1, 10, 3), slice(8, 1, -2), 5, -1,
            [1, 9, 0], (slice(2, 7), 1), (3, 2), (slice(None), slice(1, None)), np.arange(11) % 2 == 0,
        ],
    )  # fmt: skip
    def test_indexing_matches_numpy(self, some):
        np.testing.assert_array_equal(self.array()[some], self.values[some])

    def test_rows_beyond_the_end_are_refused(self):
        with pytest.raises(IndexError):
            self.array()[11]

    def test_only_requested_blocks_are_made(self):
        made = []

        def make(block):
            made.append(block)
            return self.values[4 * block : 4 * block + 4]

        array = BlockedArray((11, 3), np.int64, 4, make)
        np.testing.assert_array_equal(array[5:7], self.values[5:7])
        assert made == [1]

    def test_a_link_is_written_through(self, tmp_path):
        real, link = tmp_path / "real.npy", tmp_path / "link.npy"
        real.touch()
        link.symlink_to(real)
        self.array().save(link)
        assert link.is_symlink()
        np.testing.assert_array_equal(np.load(real), self.values)

    def test_a_device_stays_a_device(self):
        self.array().save("/dev/null")
        assert not Path("/dev/null").is_file()

    def test_a_block_that_fails_leaves_the_old_file(self, tmp_path):
        self.array().save(tmp_path / "values.npy")

        def make(block):
            if block == 2:
                raise OSError("no such block")
            return -self.values[4 * block : 4 * block + 4]

        with pytest.raises(OSError, match="no such block"):
            BlockedArray((11, 3), np.int64, 4, make).save(tmp_path / "values.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "values.npy"), self.values)
        assert [path.name for path in tmp_path.iterdir()] == ["values.npy"]

    def test_files_and_pickles_keep_the_values(self, tmp_path):
        self.array().save(tmp_path / "values.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "values.npy"), self.values)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(self.array()))[2:], self.values[2:])
