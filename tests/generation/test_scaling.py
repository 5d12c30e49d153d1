"""The warning about columns whose spreads differ so much that the widest dominate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust import EAC, ConsensusClustering, EnsembleGenerator
from conclust.exceptions import ScaleWarning
from conclust.generation.scaling import Thinned, fitted_scaling, tighter_standardised


@pytest.fixture
def customers():
    """Three clear segments in age and visits; the income in euros is the same in all of them."""
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, 2, centers=[(0, 0), (8, 0), (0, 8)], random_state=0)
    frame = pd.DataFrame({"age": 40 + 2 * X[:, 0], "visits": 9 + X[:, 1]})
    return frame.assign(income=rng.normal(40_000, 9_000, 300)), y


def quiet(generator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return generator.fit(X)


def test_columns_of_different_units_are_standardised_with_a_message(customers):
    X, y = customers
    model = ConsensusClustering(
        EAC(3), EnsembleGenerator("kmeans", n_partitions=20), random_state=0
    )
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9
    made = model.generator_
    assert made.scale_ == "standard"
    assert made.scale_reason_.startswith(
        "Columns scaled to mean 0 and deviation 1, because their units seem to differ: column 'income' has"
    )
    assert "column 'visits'" in made.scale_reason_
    np.testing.assert_allclose(made.scaler_.scale_, StandardScaler().fit(X).scale_)
    # Unscaled, the widest column hides the segments.
    kept = EnsembleGenerator("kmeans", n_partitions=20, scale=None)
    model = ConsensusClustering(EAC(3), kept, random_state=0)
    assert adjusted_rand_score(y, quiet(model, X).labels_) < 0.1


def test_auto_scaling_equals_standard_to_the_bit(customers):
    X = customers[0].to_numpy()
    labels = [
        EnsembleGenerator("kmeans", n_partitions=5, scale=scale, random_state=0).fit_transform(X)
        for scale in ("auto", "standard")
    ]
    np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize("call", ["fit", "fit_transform"])
def test_custom_clusterers_get_unscaled_columns_and_a_warning(customers, call):
    X = customers[0].to_numpy()
    generator = EnsembleGenerator([KMeans(3, n_init=1, random_state=0)] * 2)
    with pytest.warns(ScaleWarning, match=r"column 2 \(from 0\) has") as caught:
        getattr(generator, call)(X)
    assert len(caught) == 1
    assert "2 of 3 columns have almost no influence" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert generator.scale_ is None
    quiet(generator.set_params(scale=None), X)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_an_explicit_scale_is_used(customers, scale):
    assert (
        quiet(EnsembleGenerator("kmeans", n_partitions=2, scale=scale), customers[0]).scale_
        == scale
    )


def test_pipelines_and_cosines_get_unscaled_columns(customers):
    pipeline = make_pipeline(StandardScaler(), KMeans(3, n_init=1))
    assert quiet(EnsembleGenerator([pipeline, pipeline]), customers[0]).scale_ is None
    spherical = EnsembleGenerator("spherical", n_partitions=2)
    assert quiet(spherical, customers[0].to_numpy()).scale_ is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["customers", "wine", "digits", "iris"])
def test_resampling_and_order_do_not_change_the_scaling(customers, name, seed):
    sets = {
        "customers": customers[0].to_numpy(),
        "wine": load_wine().data,
        "digits": load_digits().data,
        "iris": load_iris().data,
    }
    X, rng = sets[name], np.random.default_rng(seed)
    expected = "standard" if name in ("customers", "wine") else None
    half = X[rng.permutation(len(X))[: len(X) // 2]]
    for points in (X, X[::-1], half, X[rng.integers(0, len(X), len(X))]):
        assert fitted_scaling("auto", [points]).scale == expected


def test_the_scaling_is_the_same_in_blocks():
    X = load_wine().data
    whole = fitted_scaling("auto", [X])
    parts = fitted_scaling("auto", np.array_split(X, 5))
    assert whole.reason == parts.reason
    np.testing.assert_allclose(whole.scaler.scale_, parts.scaler.scale_)


def durations(n=300, seed=0):
    """Two clusters of two durations in minutes, one of which varies twelve times as much within clusters as the other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.column_stack(
        [2 + 2 * y + 0.4 * rng.normal(size=n), 54 + 26 * y + 6 * rng.normal(size=n)]
    ), y


def strip(n=1000, seed=0):
    """Twenty round clusters in a strip that is ten times as long as wide."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, (20, 2)) * (120, 12)
    return centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 2))


@pytest.mark.parametrize("seed", range(4))
def test_moderate_differences_in_spread_are_scaled_where_clusters_are_tighter_then(seed):
    X, _ = durations(seed=seed)
    scaled, kept = fitted_scaling("auto", [X]), fitted_scaling("auto", [strip(seed=seed)])
    for spread in (X.std(0).max() / X.std(0).min(), np.ptp(strip(seed=seed), 0)[0] / 24):
        assert 5 < spread < 20
    assert scaled.scale == "standard"
    assert scaled.reason.startswith(
        "Columns scaled to mean 0 and deviation 1, because clusters are then tighter: column 1"
    )
    assert kept.scale is None
    assert kept.reason.startswith(
        "Columns not scaled, because clusters are tighter as they are: column 0"
    )


@pytest.mark.parametrize("make", [lambda: durations(7001)[0], lambda: strip(7001)])
def test_tightness_is_the_same_in_blocks(make):
    X = make()
    whole = fitted_scaling("auto", [X])
    for blocks in (np.array_split(X, 5), np.array_split(X, [1, 2, 4000, 4001])):
        assert fitted_scaling("auto", blocks).reason == whole.reason
    thinned = Thinned()
    for block in np.array_split(X, 13):
        thinned.add(block)
    np.testing.assert_array_equal(thinned.rows, X[::4])


def test_tightness_does_not_depend_on_the_unit_of_all_columns():
    X, _ = durations()
    decisions = {fitted_scaling("auto", [factor * X + 7]).scale for factor in (1e-6, 1.0, 1e9)}
    assert decisions == {"standard"}


def test_a_single_column_is_not_scaled():
    scaling = fitted_scaling("auto", [np.arange(30.0)[:, None]])
    assert scaling.scale is None
    assert scaling.reason == "The column is not scaled: it is the only one."


def test_columns_without_spread_in_the_rows_looked_at_are_kept():
    assert not tighter_standardised(np.ones((40, 2)))
    assert not tighter_standardised(np.zeros((3, 2)))


def test_the_scaling_reads_all_objects_when_members_are_fitted_on_a_sample(customers):
    X = customers[0].to_numpy()
    made = EnsembleGenerator("kmeans", n_partitions=2, fit_on=50, random_state=0).fit(X)
    assert made.scale_ == "standard"
    np.testing.assert_allclose(made.scaler_.scale_, X.std(axis=0))


def test_automatic_scalers_equal_scikit_learn_ones():
    X = load_wine().data
    np.testing.assert_array_equal(
        fitted_scaling("auto", [X]).scaler.transform(X), StandardScaler().fit_transform(X)
    )
    huge = 1e160 * X
    scaling = fitted_scaling("auto", [huge])
    assert scaling.scale == "minmax"
    np.testing.assert_array_equal(
        scaling.scaler.transform(huge), MinMaxScaler().fit_transform(huge)
    )


def rare(n):
    return (np.arange(n)[:, None] % [2, 3, 500] == 0).astype(float)


@pytest.mark.parametrize(
    "X",
    [
        load_iris().data,
        load_digits().data,  # pixels that are nearly always white
        rare(1000),  # an indicator of a rare property
        np.column_stack([load_iris().data, np.full(150, 1e9)]),  # a constant
        1e-140 * load_iris().data,
        1e150 * load_iris().data,
        np.zeros((5, 2)),
        PCA().fit_transform(load_wine().data),  # components of different variance
    ],
    ids=["iris", "digits", "rare", "constant", "tiny", "huge", "nothing", "components"],
)
def test_similar_columns_are_not_scaled(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted_scaling("auto", [X]).scale is None


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e-20, 1e-15])
def test_minmax_reaches_columns_of_any_unit(unit):
    X = np.random.default_rng(0).normal(size=(50, 2))
    narrow = np.column_stack([X[:, 0], 3 * unit + unit * X[:, 1]])
    expected = MinMaxScaler().fit_transform(X)
    for blocks in ([narrow], [narrow[:20], narrow[20:]]):
        actual = fitted_scaling("minmax", blocks).scaler.transform(narrow)
        np.testing.assert_allclose(actual, expected, atol=1e-12)
    scaled = fitted_scaling("auto", [narrow[:, 1:]]).scaler
    if unit < 1e-150:
        np.testing.assert_allclose(scaled.transform(narrow[:, 1:]), expected[:, 1:], atol=1e-12)


def test_minmax_leaves_columns_that_vary_by_rounding_alone():
    X = np.array([[1.0], [1.0 + 2**-52], [1.0]])
    np.testing.assert_allclose(fitted_scaling("minmax", [X]).scaler.transform(X), 0, atol=1e-12)
