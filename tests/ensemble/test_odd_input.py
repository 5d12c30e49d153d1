"""Invalid and unusual input: consistent results and consistent errors."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conclust import HBGF, PCC, ConsensusClustering, Ensemble, EnsembleGenerator, Voting, metrics
from conclust.blocks import LabelStore
from conclust.ensemble.derived import LARGEST, SMALLEST, within_range
from conclust.exceptions import InputError
from conclust.membership import soft_centroids
from conclust.neighbours import neighbour_graph
from conclust.placing import shared_clusterings
from conclust.plotting.maps import embedding_of


def column(*values):
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = values
    return cells


def tupled(value):
    """A column with a tuple as a label: NumPy would make more columns of it."""
    cells = np.empty((2, 1), dtype=object)
    cells[0, 0], cells[1, 0] = value, 0
    return cells


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (column(2**70, 2**70, 1), r"must fit in int64\. Got 1180591620717411303424 in partition 0"),
        (column(2.0**70, 1), "must fit in int64"),
        (column(np.float64(1e300), "a"), "must fit in int64"),
        (column(-(2**70), 1), "whole numbers from 0 on"),
        (np.array([[np.inf], [1]], dtype=np.float16), "infinite"),
        (tupled(([1],)), r"Got \(\[1\],\) in partition 0"),
        (column(Decimal("sNaN"), 1), "sNaN"),
        (column(Decimal("0.5"), 1), "whole numbers from 0 on"),
        (column(Decimal("Infinity"), 1), "whole numbers from 0 on"),
        (column(Fraction(1, 2), 1), "whole numbers from 0 on"),
        (column(np.complex64(1j), 1), "Complex data"),
    ],
)
def test_invalid_labels_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        Ensemble(labels)


def test_new_labels_are_read_like_fitted_ones():
    model = Voting(2).fit([[0], [0], [1]])
    with pytest.raises(InputError, match="must fit in int64"):
        model.predict(column(2**70, 0))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([Decimal("NaN"), 1, Decimal(1), Decimal(-1), Decimal(-2)], [-1, 0, 0, -1, -2]),
        ([Fraction(2), 1, 2, 2.0], [0, 1, 0, 0]),
        ([2**62, 1, 2**62], [0, 1, 0]),
    ],
)
def test_other_numeric_types_are_accepted(cells, expected):
    assert Ensemble(column(*cells)).labels[:, 0].tolist() == expected


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("read", [np.array, pd.DataFrame, pl.DataFrame, pa.table])
def test_minus_one_written_into_unsigned_labels_is_refused(kind, read):
    labels = {"a": np.array([0, 1, 1, 0], kind), "b": np.array([0, 1, 2, 0], kind)}
    columns = read(np.column_stack(list(labels.values())) if read is np.array else labels)
    assert Ensemble(columns).shape == (4, 2)
    labels["b"] = np.where([False, False, True, False], -1, labels["b"].astype(int)).astype(kind)
    columns = read(np.column_stack(list(labels.values())) if read is np.array else labels)
    with pytest.raises(InputError, match=r"labels\.astype\(int\)"):
        Ensemble(columns)
    with pytest.raises(InputError, match=r"labels\.astype\(int\)"):
        metrics.adjusted_rand_index(labels["a"], labels["b"])


def test_missing_labels_can_be_written_into_generated_ones():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for k in (4, 140):
        labels = EnsembleGenerator("kmeans", 2, n_clusters=k, random_state=0).fit_transform(X)
        labels[::7, 1] = -1
        assert (Ensemble(labels).labels == -1).sum(axis=0).tolist() == [0, 43]


@pytest.mark.parametrize("texts", [["1"], [" 1"], ["b", "1"], ["1.0"]])
def test_a_number_and_its_text_are_not_two_labels(texts):
    """As pandas reads a long CSV file whose chunks have different types."""
    values = pd.DataFrame({"a": ["x", "y"] * 3, "b": [1, 2, 1, 3, *["b", *texts][-2:]]})
    with pytest.raises(InputError, match=r"label 1 of partition 1 occurs as a number and as text"):
        Ensemble(values)
    halves = LabelStore(values.to_numpy(), block_rows=3)
    with pytest.raises(InputError, match=r"label 1 of partition 1 occurs as a number and as text"):
        HBGF(2).fit(halves)
    assert Ensemble(values.astype(str)).cluster_counts.tolist()[0] == 2


@pytest.mark.parametrize("read", [Ensemble, lambda *a, **k: LabelStore(*a, **k).ensemble()])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_weights_with_names_follow_the_columns(read, kind):
    labels = {"a": [0, 0, 1], "b": [0, 1, 1], "c": [1, 1, 0]}
    if kind is pl.LazyFrame and read is not Ensemble:
        pytest.skip("blocks are not read from lazy frames")
    given = kind(labels)
    by_name = pd.Series({"c": 3.0, "a": 1.0, "b": 2.0})
    for weights in (by_name, by_name.to_numpy()[[1, 2, 0]], pd.Series([1.0, 2, 3])):
        assert read(given, weights=weights).weights.tolist() == [1.0, 2.0, 3.0]
    # Without names in the labels, and names of something else: in the order given.
    for other in (by_name.reset_index(drop=True), by_name.rename("r{}".format)):
        assert read(given, weights=other).weights.tolist() == [3.0, 1.0, 2.0]
    assert Ensemble(np.eye(3, dtype=int), weights=by_name).weights.tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(InputError, match="names of other partitions: there is no 'd'"):
        read(given, weights=by_name.rename({"c": "d"}))


def test_a_stack_of_maps_is_refused_with_the_way_to_read_it():
    stack = np.random.default_rng(0).integers(0, 3, (4, 5, 6))
    with pytest.raises(InputError, match=r"labels\.reshape\(len\(labels\), -1\)\.T"):
        Ensemble(stack)
    assert Ensemble(stack.reshape(len(stack), -1).T).shape == (30, 4)


# -- masks


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float64, object, str])
def test_masked_cells_are_missing(dtype):
    data = np.array([[5, 1], [5, 2], [6, 1], [7, 2]]).astype(dtype)
    mask = np.array([[0, 0], [0, 1], [1, 0], [0, 0]], dtype=bool)
    given = np.ma.masked_array(data, mask=mask)
    ensemble = Ensemble(given)
    assert ensemble.labels.tolist() == [[0, 0], [0, -1], [-1, 0], [1, 1]]
    assert not ensemble.has_noise
    np.testing.assert_array_equal(given.data, data)
    model = PCC(2, random_state=0).fit(given)
    np.testing.assert_array_equal(model.labels_, PCC(2, random_state=0).fit(ensemble).labels_)
    np.testing.assert_array_equal(model.predict(given), model.predict(given.tolist()))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.uint64, np.float32])
@pytest.mark.parametrize("missing", ["unobserved", "noise"])
def test_a_masked_raster_reads_like_its_list(dtype, missing):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 300 if np.dtype(dtype).itemsize > 1 else 200, (400, 5)).astype(dtype)
    given = np.ma.masked_array(data, mask=rng.random(data.shape) < 0.3)
    expected = Ensemble(given.tolist(), missing=missing)
    assert Ensemble(given, missing=missing) == expected
    assert Ensemble(np.ma.masked_array(np.asfortranarray(data), given.mask)) == expected


def test_masked_labels_beyond_the_integers_of_floats_stay_apart():
    large = 1 << 53
    given = np.ma.masked_array([[large], [large + 1], [large], [0]], mask=[[0], [0], [0], [1]])
    assert Ensemble(given).labels[:, 0].tolist() == [0, 1, 0, -1]
    assert Ensemble(given).names == ((large, large + 1),)


def test_a_mask_is_missing_where_minus_one_is_noise():
    labels = np.ma.masked_array([[0], [-1], [0], [1]], mask=[[0], [0], [0], [1]])
    assert Ensemble(labels, missing="noise").labels[:, 0].tolist() == [0, -2, 0, -1]


def test_measures_ignore_masked_cells():
    masked = np.ma.masked_array([0, 0, 1, 1], mask=[0, 0, 0, 1])
    assert metrics.contingency(masked, [0, 0, 1, 0]).n_samples == 3
    assert metrics.contingency([0, 0, 1, 0], masked).n_samples == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda labels, points: embedding_of(points, labels),
        lambda labels, points: embedding_of(points.data, labels),
        lambda labels, points: embedding_of(points, labels.data),
        lambda labels, points: soft_centroids(np.eye(2)[labels.data], points),
        lambda labels, points: shared_clusterings(Ensemble([[0], [0], [1], [1]]), labels, [[0]]),
        lambda labels, points: neighbour_graph(points, 2),
    ],
)
def test_masked_cells_are_not_read_as_values(call):
    labels = np.ma.masked_array([0, 0, 1, 1], mask=[0, 0, 0, 1])
    points = np.ma.masked_array([[0.0, 1], [1, 0], [5, 5], [-9999, 6]], mask=np.eye(4, 2, -3))
    with pytest.raises(InputError, match=r"masked array|contains NaN"):
        call(labels, points)


def test_masked_memberships_are_missing():
    P = np.ma.masked_array([[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]], mask=[[1, 1], [0, 0], [0, 0]])
    assert Ensemble.from_memberships([P]).present[:, 0].tolist() == [False, True, True]
    P.mask = [[1, 0], [0, 0], [0, 0]]
    with pytest.raises(InputError, match=r"Got .nan, 0.0. in row 0 of membership 0"):
        Ensemble.from_memberships([P])


# -- weights


def test_weights_over_the_full_range_are_accepted():
    weights = [SMALLEST, LARGEST, 0.0]
    assert Ensemble([[0, 0, 0], [0, 1, 1]], weights=weights).weights.tolist() == weights


def test_learned_weights_stay_in_the_range():
    ordinary = np.array([0.25, 1e-12, 0.0])
    np.testing.assert_array_equal(within_range(ordinary), ordinary)
    np.testing.assert_array_equal(within_range(np.array([1.0, 1e-40])), [1.0, 0.0])
    np.testing.assert_array_equal(within_range(np.array([2e-40, 1e-40, 1e-80])), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(within_range(np.array([2e40, 1e40])), [1.0, 0.5])


# -- tables and files


@pytest.mark.parametrize("missing", ["unobserved", "noise"])
def test_categories_are_read_as_their_names(missing):
    rng = np.random.default_rng(3)
    names = np.array(["b", "a", None, "-1", "c", 7, "unused"], dtype=object)
    columns = {
        f"u{u}": pd.Categorical(
            names[rng.integers(0, 6, 40)],
            categories=rng.permutation(names[names != None]),  # noqa: E711
        )
        for u in range(4)
    }
    columns["number"] = pd.Categorical(rng.integers(0, 3, 40))
    frame = pd.DataFrame(columns)
    coded = Ensemble(frame, missing=missing)
    plain = Ensemble(frame.astype(object), missing=missing)
    np.testing.assert_array_equal(coded.codes, plain.codes)
    assert coded.names == plain.names
    assert coded.has_missing


def test_column_names_of_mixed_types_are_refused():
    frame = pd.DataFrame({1: [0, 0, 1], "b": [0, 1, 1]})
    message = r"types int, str instead: set X.columns = X.columns.astype\(str\)"
    with pytest.raises(InputError, match=message):
        PCC(2).fit(frame)
    with pytest.raises(InputError, match=message):
        Voting(2).fit(frame.to_numpy()).predict(frame)
    with pytest.raises(InputError, match=message):
        EnsembleGenerator("kmeans", n_partitions=2).fit(frame)
    with pytest.raises(InputError, match=message):
        ConsensusClustering(PCC(2)).fit(frame)
    assert len(PCC(2).fit(frame.set_axis(["1", "b"], axis=1)).labels_) == 3
    assert len(PCC(2).fit(frame.set_axis([0, 1], axis=1)).labels_) == 3


def test_names_that_cannot_be_saved_are_refused(tmp_path):
    with pytest.raises(InputError, match="half of a surrogate pair: rename it first"):
        Ensemble([["\ud800"], ["b"]]).save(tmp_path / "e.npz")
    assert not list(tmp_path.iterdir())


def test_subsets_of_partitions_keep_clusters_and_names():
    # Clusters and their names are kept even if the codes need a smaller type.
    labels = np.column_stack([np.arange(300), np.arange(300) % 2, np.full(300, -2)])
    labels[0] = [-1, -2, -1]
    whole = Ensemble(labels, weights=[1, 2, 3])
    part = whole.subset(partitions=[2, 1])
    assert part == Ensemble(labels[:, [2, 1]], weights=[3, 2])
    assert part.codes.dtype == np.uint8
    assert part.names == (whole.names[2], whole.names[1])


@pytest.mark.parametrize("missing", ["unobserved", "noise"])
def test_reserved_labels_as_text_equal_those_as_numbers(missing):
    numbers = np.array([[0, 1], [-1, 1], [-2, 0], [0, -1], [1, 0]])
    texts = pd.DataFrame(numbers.astype(str))
    expected = Ensemble(numbers, missing=missing)
    for frame in (texts, texts.astype("category"), texts.to_numpy(), texts.map(" {} ".format)):
        actual = Ensemble(frame, missing=missing)
        np.testing.assert_array_equal(actual.codes, expected.codes)
    codes, unseen = Ensemble(texts, missing=missing).encode([["-1", "-2"]], missing=missing)
    kept, _ = expected.encode([[-1, -2]], missing=missing)
    np.testing.assert_array_equal(codes, kept)
    assert unseen == 0


@pytest.mark.parametrize("missing", ["unobserved", "noise"])
def test_the_text_of_nan_is_missing(missing):
    objects = np.array([["a", "x"], [np.nan, "x"], ["b", np.nan], ["a", "y"]], dtype=object)
    expected = Ensemble(objects, missing=missing)
    assert not expected.present[1, 0]
    texts = objects.astype(str)  # what np.array([["a", nan], ...]) makes of it
    for given in (texts, pd.DataFrame(texts), pd.DataFrame(texts).astype("category")):
        assert Ensemble(given, missing=missing) == expected
    codes, unseen = Ensemble(texts, missing=missing).encode([["nan", "Nan"]], missing=missing)
    kept, _ = expected.encode([[None, "Nan"]], missing=missing)  # other spellings are names
    np.testing.assert_array_equal(codes, kept)
    assert unseen == 1


def test_the_text_of_the_missing_value_of_pandas_is_missing():
    numbers = pd.DataFrame({"a": pd.array([1, None, 2, 1], dtype="Int64"), "b": [0, 0, 1, 1]})
    # As `numbers.astype(str)` gives them in pandas 2.
    texts = pd.DataFrame({"a": ["1", "<NA>", "2", "1"], "b": ["0", "0", "1", "1"]})
    for given in (texts, texts.astype("category"), texts.to_numpy(), pl.from_pandas(texts)):
        assert np.array_equal(Ensemble(given).codes, Ensemble(numbers).codes)
