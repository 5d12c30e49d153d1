"""The features that distinguish clusters, object by object."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from conclust.exceptions import InputError, ParameterError
from conclust.plotting import signature_heatmap

RNG = np.random.default_rng(0)
LABELS = np.array(["b", "a", "c", "b", "a", "c"] * 20)
NAMES = ["noise", "of a", "of b", "of c", "second of a", "constant"]


def points():
    X = RNG.normal(size=(120, 6))
    X[LABELS == "a", 1] += 20
    X[LABELS == "b", 2] += 20
    X[LABELS == "c", 3] -= 20
    X[LABELS == "a", 4] += 5
    X[:, 5] = 3.0
    return X


def picture(ax):
    """Return the image in standard deviations: rows from top to bottom."""
    return np.asarray((ax.images[0].get_array() - 0.5) * 4)


def names_of(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def test_features_are_grouped_by_the_cluster_that_they_distinguish():
    X = points()
    ax = signature_heatmap(X, LABELS, n_features=2, feature_names=NAMES)
    names = [name for name in names_of(ax) if name != "noise"]
    assert names == ["of a", "second of a", "of b", "of c"]
    order = np.concatenate([np.flatnonzero(name == LABELS) for name in "abc"])
    column = names_of(ax).index("of a")
    expected = (X[:, 1] - X[:, 1].mean()) / X[:, 1].std()
    np.testing.assert_allclose(picture(ax)[:, column], np.clip(expected[order], -2, 2))


def test_columns_of_arrow_give_the_names_of_features():
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    table = pa.table(dict(zip(NAMES, points().T, strict=True)))
    assert "of a" in names_of(signature_heatmap(table, LABELS, n_features=1))


def test_a_feature_that_never_varies_is_left_out():
    ax = signature_heatmap(points(), LABELS, feature_names=NAMES)
    assert "constant" not in names_of(ax)
    with pytest.raises(InputError, match="needs a feature that differs"):
        signature_heatmap(np.ones((120, 2)), LABELS)


def test_objects_without_a_cluster_are_left_out():
    labels = np.arange(120) % 3
    labels[:30] = -1
    ax = signature_heatmap(points(), labels)
    assert picture(ax).shape[0] == 90
    assert ax.get_title() == "Signatures of 90 objects"


def test_neighbouring_objects_are_averaged_without_empty_cells():
    X = points()
    X[:, 1][LABELS == "a"] = np.where(np.arange(40) < 20, np.nan, X[:, 1][LABELS == "a"])
    ax = signature_heatmap(X, LABELS, feature_names=NAMES, max_pixels=6)
    image = ax.images[0].get_array()
    assert image.shape[0] == 6
    column = names_of(ax).index("of a")
    assert list(np.ma.getmaskarray(image)[:, column]) == [True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"feature_names": ["one"]}, InputError, "each of the 6 features"),
        ({"n_features": 0}, ParameterError, "'n_features'"),
        ({"max_pixels": 0}, ParameterError, "'max_pixels'"),
        ({"labels": [0, 1]}, InputError, "120"),
        ({"labels": None}, InputError, "one label for each object"),
        ({"labels": {"a": LABELS}}, InputError, "one label for each object"),
        ({"labels": np.full(120, -1)}, InputError, "needs an object in a cluster"),
        ({"labels": np.zeros(120, dtype=int)}, InputError, "feature that differs"),
    ],
)
def test_invalid_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        signature_heatmap(points(), **{"labels": LABELS, "ax": Figure().add_subplot(), **arguments})


def test_a_single_number_is_refused():
    with pytest.raises(InputError, match="needs a row of features for each object"):
        signature_heatmap(1.5, LABELS)
