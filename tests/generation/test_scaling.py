"""The warning of columns with spreads so different that the widest decide alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conclust import EAC, ConsensusClustering, EnsembleGenerator
from conclust.exceptions import ScaleWarning


@pytest.fixture
def customers():
    """Three plain segments in age and visits; the income in euros is the same in all of them."""
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, 2, centers=[(0, 0), (8, 0), (0, 8)], random_state=0)
    frame = pd.DataFrame({"age": 40 + 2 * X[:, 0], "visits": 9 + X[:, 1]})
    return frame.assign(income=rng.normal(40_000, 9_000, 300)), y


def quiet(generator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generator.fit(X)


def test_one_warning_that_names_the_columns_and_the_way(customers):
    X, y = customers
    model = ConsensusClustering(EAC(3), EnsembleGenerator(n_partitions=20), random_state=0)
    with pytest.warns(ScaleWarning) as caught:
        model.fit(X)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith("The columns of X differ much in spread: column 'income' has standard")
    assert "column 'visits'" in said
    assert "2 of 3 columns count for next to nothing" in said
    assert 'scale="standard"' in said
    # The warning is right: the segments are lost. So is its advice: then they are found.
    assert adjusted_rand_score(y, model.labels_) < 0.1
    scaled = EnsembleGenerator(n_partitions=20, scale="standard")
    model = ConsensusClustering(EAC(3), scaled, random_state=0)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9


@pytest.mark.parametrize("call", ["fit", "fit_transform"])
def test_it_points_at_the_line_of_the_user(customers, call):
    X = customers[0].to_numpy()
    with pytest.warns(ScaleWarning, match=r"column 2 \(from 0\) has") as caught:
        getattr(EnsembleGenerator(n_partitions=2), call)(X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_none_where_columns_are_scaled(customers, scale):
    quiet(EnsembleGenerator(n_partitions=2, scale=scale), customers[0])


def test_none_where_the_clusterer_may_scale(customers):
    pipeline = make_pipeline(StandardScaler(), KMeans(3, n_init=1))
    quiet(EnsembleGenerator([pipeline, pipeline]), customers[0])


def rare(n):
    return (np.arange(n)[:, None] % [2, 3, 500] == 0).astype(float)


@pytest.mark.parametrize(
    "X",
    [
        load_iris().data,
        load_digits().data,  # pixels that are nearly always white
        rare(1000),  # an indicator of a rare property
        np.column_stack([load_iris().data, np.full(150, 1e9)]),  # a constant
        1e-300 * load_iris().data,
        np.zeros((5, 2)),
    ],
    ids=["iris", "digits", "rare", "constant", "tiny", "nothing"],
)
def test_none_where_columns_are_alike(X):
    quiet(EnsembleGenerator(n_partitions=2, random_state=0), X)


def test_wine_warns():
    with pytest.warns(ScaleWarning, match="11 of 13 columns"):
        EnsembleGenerator(n_partitions=2).fit(load_wine().data)
