"""NaN and infinite values in points are refused with their columns, and distances in place of points warned of."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import KernelPCA

import conclust as cc
from conclust.exceptions import DistancesWarning, InputError
from conclust.generation.points import warn_of_distances

POINTS = np.arange(60.0).reshape(10, 6)


def refusal(X):
    with pytest.raises(InputError) as caught:
        cc.EnsembleGenerator("kmeans", 2).fit(X)
    return str(caught.value)


def test_gaps_are_counted_by_column():
    X = POINTS.copy()
    X[:3, 1] = np.nan
    X[4, 2] = np.nan
    X[4, 0] = np.inf
    assert refusal(X) == (
        "Input X contains NaN in columns 1 (3 rows), 2 (1 row): fill them first, e.g. with scikit-learn's "
        "SimpleImputer, or use `conclust cluster --impute median`."
    )


def test_columns_have_their_names():
    frame = pd.DataFrame(POINTS, columns=["age", "b", "c", "d", "e", "f"])
    frame.loc[[2, 5], "age"] = np.nan
    assert "NaN in column 'age' (2 rows): fill" in refusal(frame)
    frame.loc[1] = np.nan
    assert "'age' (3 rows), 'b' (1 row), 'c' (1 row), 'd' (1 row) and 2 more: fill" in refusal(
        frame
    )


def test_infinite_values_have_a_separate_message():
    X = POINTS.copy()
    X[7, 5] = -np.inf
    assert refusal(X) == (
        "Input X contains infinity in column 5 (1 row): replace such values, or leave out their rows."
    )


POINTS_OF_TWO = np.random.default_rng(0).normal(size=(60, 3)) + 9 * np.arange(2).repeat(30)[:, None]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_new_points_and_blocks_with_gaps_are_refused(value):
    X = POINTS_OF_TWO
    bad = X.copy()
    bad[5, 1] = value
    generator = cc.EnsembleGenerator("kmeans", 3, random_state=0).fit(X)
    model = cc.ConsensusClustering(generator=generator, random_state=0).fit(X)
    kind = "NaN" if np.isnan(value) else "infinity"
    for call in (
        generator.transform,
        lambda points: next(generator.transform_blocks(points)),
        lambda points: next(generator.transform_blocks([points])),
        cc.EnsembleGenerator("kmeans", 3, fit_on=30).fit,
        model.predict,
    ):
        with pytest.raises(InputError, match=rf"^Input X contains {kind} in column 1 \(1 row\)"):
            call(bad)


def test_functions_of_points_and_labels_name_the_column():
    labels = np.arange(2).repeat(30)
    bad = pd.DataFrame(POINTS_OF_TWO, columns=["age", "b", "c"])
    bad.loc[3, "age"] = np.nan
    for call in (
        lambda: cc.confidence.border_tests(bad, labels),
        lambda: cc.confidence.cluster_gaps(bad, labels),
        lambda: cc.weighting.validity_weights(labels[:, None].repeat(2, axis=1), bad),
        lambda: cc.neighbours.find_neighbours(bad, 3),
        lambda: cc.selection.choose(bad, [2, 3]),
    ):
        with pytest.raises(InputError, match=r"NaN in column 'age' \(1 row\): fill"):
            call()
    with pytest.raises(InputError, match="'X' must form an array"):
        cc.confidence.border_tests([[1, 2], [3]], [0, 1])


def test_points_of_one_dimension_are_refused_with_the_way_to_reshape_them():
    line = POINTS[:, 0]
    model = cc.ConsensusClustering().fit(POINTS[:, :1])
    for X, way in (
        (line, "X.reshape(-1, 1)"),
        (pd.Series(line), "X.to_frame()"),
        (line.tolist(), "np.reshape(X, (-1, 1))"),
        ([np.nan, 1.0], "np.reshape(X, (-1, 1))"),
    ):
        sentence = re.escape(f"Reshape your data using {way} if it is a single feature")
        for call in (
            cc.ConsensusClustering().fit,
            cc.EnsembleGenerator("kmeans", 2).fit,
            model.predict,
            cc.selection.choose,
        ):
            with pytest.raises(InputError, match=sentence):
                call(X)
    with pytest.raises(
        InputError, match=r"points \(n_samples, n_features\) in 'rna', got 1D array"
    ):
        cc.MultiViewGenerator().fit({"rna": line, "atac": POINTS})
    with pytest.raises(InputError, match=r"A single feature is given as X\.reshape\(-1, 1\)"):
        cc.confidence.border_tests(line, np.arange(10) // 5)
    for call in (cc.ConsensusClustering().fit, cc.EnsembleGenerator().fit):
        with pytest.raises(InputError, match="got no object"):
            call([])


@pytest.mark.parametrize(
    "column", [pd.Timestamp("2020-01-01"), pd.Timedelta("1D"), [[1, 2]] * 10, {"a": 1}]
)
def test_frames_with_other_values_than_numbers_are_refused_by_column(column):
    values = column if isinstance(column, list) else [column] * 10
    frame = pd.DataFrame(POINTS[:, :2], columns=["a", "b"]).assign(c=values)
    with pytest.raises(InputError, match=r"must be real numbers\. Got .* in column 'c'"):
        cc.ConsensusClustering().fit(frame)
    with pytest.raises(InputError, match="in column 'c'"):
        cc.selection.choose(frame)


DAYS = np.arange("2020-01-01", "2020-01-11", dtype="M8[D]").astype("M8[us]")


@pytest.mark.parametrize(
    "dates",
    [
        *(DAYS[:, np.newaxis], (DAYS - DAYS[0])[:, np.newaxis]),
        *(pd.DataFrame({"c": DAYS}), pd.DataFrame({"c": pd.Series(DAYS).dt.tz_localize("UTC")})),
        *(pl.DataFrame({"b": range(10), "c": DAYS}), pl.DataFrame({"c": DAYS - DAYS[0]})),
    ],
)
def test_dates_are_no_numbers(dates):
    refusal = r"Got values of type .* in column (0|'c')"
    with pytest.raises(InputError, match=refusal):
        cc.ConsensusClustering().fit(dates)
    with pytest.raises(InputError, match=refusal):
        cc.selection.choose(dates)


def test_tables_of_arrow_are_refused_by_the_names_of_their_columns():
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    model = cc.ConsensusClustering(n_clusters=2, random_state=0)
    with pytest.raises(InputError, match=r"Got values of type timestamp\[us\] in column 'c'"):
        model.fit(pa.table({"b": range(10), "c": DAYS}))
    words = pa.array(["u", "v"] * 5).dictionary_encode()
    with pytest.raises(InputError, match=r"X holds text in column 'c' \('u' at row 0\)"):
        model.fit(pa.table({"b": range(10), "c": words}))
    with pytest.raises(InputError, match=r"contains NaN in column 'c' \(5 rows\)"):
        model.fit(pa.table({"b": range(10), "c": [True, None] * 5}))
    table = pa.table({"b": POINTS[:, 0], "c": POINTS[:, 1]})
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.fit(table).predict(table.select(["c", "b"]))


def test_missing_values_of_pandas_in_an_array_are_refused_by_their_place():
    X = POINTS[:, :2].astype(object)
    X[3, 1] = pd.NA
    with pytest.raises(InputError, match=r"Got .* in column 1 at row 3 instead"):
        cc.ConsensusClustering().fit(X)


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(POINTS[:, :3], columns=["a", "b", "a"])
    with pytest.raises(InputError, match=r"different names\. Got 'a' more than once"):
        cc.ConsensusClustering().fit(frame)


def test_masked_values_are_gaps():
    X = np.random.default_rng(0).normal(size=(60, 2))
    masked = np.ma.array(X, mask=np.zeros(X.shape, dtype=bool))
    plain = cc.EnsembleGenerator(n_partitions=4, random_state=0).fit_transform(X)
    given = cc.EnsembleGenerator(n_partitions=4, random_state=0).fit_transform(masked)
    np.testing.assert_array_equal(given, plain)
    masked[7, 1] = np.ma.masked
    with pytest.raises(InputError, match="contains NaN in column 1"):
        cc.EnsembleGenerator(n_partitions=4, random_state=0).fit(masked)


def test_an_ensemble_in_place_of_points_is_refused():
    ensemble = cc.Ensemble([[0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1]] * 20)
    for call in (
        cc.ConsensusClustering().fit,
        cc.EnsembleGenerator().fit_transform,
        cc.selection.choose,
    ):
        with pytest.raises(
            InputError, match=r"whose numbers are names of clusters: AutoConsensus\(\)"
        ):
            call(ensemble)


@pytest.fixture
def distances():
    points = np.random.default_rng(0).normal(size=(30, 3)) + 6 * np.eye(3)[np.arange(30) % 3]
    return np.linalg.norm(points[:, None] - points, axis=2)


@pytest.mark.parametrize(
    "make",
    [np.asarray, lambda D: np.exp(-D), lambda D: pd.DataFrame(D), lambda D: 1 - np.corrcoef(D)],
)
def test_distances_and_similarities_in_place_of_points_are_warned_of(distances, make):
    for call in (
        cc.EnsembleGenerator("kmeans", 2, random_state=0).fit,
        cc.ConsensusClustering(random_state=0).fit,
        lambda X: cc.selection.choose(X, [2], n_resamples=5, n_references=19, random_state=0),
    ):
        with pytest.warns() as caught:
            call(make(distances))
        messages = [str(one.message) for one in caught if one.category is DistancesWarning]
        assert len(messages) == 1
        assert "between 30 objects" in messages[0]


@pytest.mark.filterwarnings("error")
def test_other_square_matrices_are_points(distances):
    uneven = distances + np.arange(30)
    for X in (np.eye(30), uneven, uneven + uneven.T, distances[:, ::-1]):
        cc.EnsembleGenerator("kmeans", 2, n_clusters=2, random_state=0).fit(X)


@pytest.mark.filterwarnings("error")
def test_square_points_of_any_size_are_compared():
    """More rows than are compared at a time, and differences that overflow."""
    X = np.random.default_rng(1).normal(size=(200, 200))
    for points in (X, 1.7e308 * np.sign(X), np.full((5, 5), np.nan)):
        warn_of_distances(points)
    alike = X + X.T
    np.fill_diagonal(alike, 1.0)
    with pytest.raises(DistancesWarning, match="between 200 objects"):
        warn_of_distances(alike)
    alike[199, 150] += 1e-6
    warn_of_distances(alike)


@pytest.mark.filterwarnings("error")
def test_clusterers_of_distances_are_given_them(distances):
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    made = cc.EnsembleGenerator(clusterer, 1, n_clusters=3, random_state=0)
    labels = made.fit_transform(distances)
    assert len(np.unique(labels[:, 0])) == 3
    assert (labels[:, 0] == labels[np.arange(30) % 3, 0]).all()


def test_the_points_of_the_message_have_the_distances(distances):
    with pytest.warns(DistancesWarning) as caught:
        cc.EnsembleGenerator("kmeans", 2, random_state=0).fit(distances)
    message = str(caught[0].message)
    expression = message.split("first, ")[1].split(" with ")[0]
    points = eval(expression, {"KernelPCA": KernelPCA, "X": distances})
    np.testing.assert_allclose(
        np.linalg.norm(points[:, None] - points, axis=2), distances, atol=1e-6
    )
