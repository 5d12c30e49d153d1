"""The nearest centres of many members in one pass: every form of the kernel against sums in plain NumPy."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import generation as naive

from conclust._kernels import bitslice_forms, label_block
from conclust.generation.labelling.labelling import Labelling
from conclust.generation.labelling.models import Centers, CenterSets, nearest_center

FORMS = bitslice_forms()
ARRANGEMENTS = [
    # n, d, clusters of each member
    (1, 1, [1]),
    (3, 1, [2, 1]),
    (64, 2, [6, 12, 5]),
    (65, 39, [1, 2, 3, 4, 5, 6, 7, 50]),
    (200, 8, [13, 4]),
    (131, 17, [254, 3]),
]


def kernel_labels(X, centers, columns=None, *, form="auto", threads=1, dtype=np.int32):
    """Return the labels, and the number of labels that needed exact sums."""
    every = np.arange(X.shape[1], dtype=np.int32)
    columns = columns or [every] * len(centers)
    labels = np.full((len(X), len(centers)), 77, dtype=dtype)
    summed = label_block(
        np.ascontiguousarray(X),
        np.concatenate([c.ravel() for c in centers]).astype(float),
        np.cumsum([0, *map(len, centers)]),
        np.concatenate(columns).astype(np.int32),
        np.cumsum([0, *map(len, columns)]),
        np.arange(len(centers), dtype=np.int32),
        labels,
        threads,
        form,
    )
    return labels, summed


def summed_labels(X, centers, columns=None):
    """Add up the squares feature by feature, as in the definition of the label."""
    columns = columns or [np.arange(X.shape[1])] * len(centers)
    values = []
    for member_centers, some in zip(centers, columns, strict=True):
        squares = np.zeros((len(X), len(member_centers)))
        for j, column in enumerate(some):
            with np.errstate(over="ignore", under="ignore"):
                squares += (X[:, column].astype(float)[:, None] - member_centers[:, j]) ** 2
        values.append(squares.argmin(axis=1))
    return np.stack(values, axis=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "d", "sizes"), ARRANGEMENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_form_gives_the_labels_of_exact_sums(form, n, d, sizes, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)).astype(dtype)
    centers = [rng.normal(size=(k, d)) for k in sizes]
    for threads in (1, 3):
        labels, _ = kernel_labels(X, centers, form=form, threads=threads)
        np.testing.assert_array_equal(labels, summed_labels(X, centers))


@pytest.mark.parametrize("form", FORMS)
def test_ties_of_integers_go_to_the_first_centre(form):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (500, 3)).astype(float)
    centers = [rng.integers(-3, 4, (k, 3)).astype(float) for k in (2, 9, 30)]
    centers.append(np.repeat(centers[0], 4, axis=0))  # the same centre again and again
    labels, summed = kernel_labels(X, centers, form=form)
    expected = np.stack([naive.nearest(X, member_centers) for member_centers in centers], axis=1)
    np.testing.assert_array_equal(labels, expected)
    assert summed > 500  # ties are what single precision leaves in doubt


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("shift", "spread"),
    [
        (0, 1),
        (1e6, 1),
        (-1e12, 1e-3),
        (0, 1e-30),
        (1, 1e-12),
        (0, 1e30),
        (0, 1e-160),
        (0, 1e155),
        (0, 1e-310),
    ],
)
def test_distant_points_of_any_magnitude_get_the_labels_of_exact_sums(form, shift, spread):
    rng = np.random.default_rng(1)
    X = shift + spread * rng.normal(size=(150, 5))
    centers = [shift + spread * rng.normal(size=(k, 5)) for k in (3, 20)]
    labels, _ = kernel_labels(X, centers, form=form)
    np.testing.assert_array_equal(labels, summed_labels(X, centers))


@pytest.mark.parametrize("form", FORMS)
def test_outliers_and_wide_features_are_labelled_exactly(form):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    X[::7] *= 1e9
    X[3] = 1e200
    X[:, 2] *= 1e8
    centers = [rng.normal(size=(k, 4)) for k in (5, 12)]
    labels, _ = kernel_labels(X, centers, form=form)
    np.testing.assert_array_equal(labels, summed_labels(X, centers))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data())
def test_labels_of_extreme_points_are_exact(data):
    d = data.draw(st.integers(1, 3))
    value = st.one_of(
        st.floats(-1e300, 1e300, allow_nan=False),
        st.sampled_from([0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-24, 0.5, 1e-200, -1e150]),
    )
    X = np.array(
        data.draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=1, max_size=8))
    )
    member_centers = np.array(
        data.draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=1, max_size=8))
    )
    for form in FORMS:
        labels, _ = kernel_labels(X, [member_centers], form=form)
        np.testing.assert_array_equal(labels, summed_labels(X, [member_centers]))


def test_single_precision_suffices_for_nearly_all_points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 39)) + 100.0
    centers = [rng.normal(size=(k, 39)) + 100.0 for k in range(2, 22)]
    for form in FORMS:
        labels, summed = kernel_labels(X, centers, form=form)
        assert summed < 1e-3 * labels.size
    np.testing.assert_array_equal(labels, summed_labels(X, centers))


@pytest.mark.parametrize("form", FORMS)
def test_members_read_only_their_columns(form):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 9))
    columns = [np.array([8]), np.array([0, 3, 7]), np.arange(9)]
    centers = [
        rng.normal(size=(k, len(features))) for k, features in zip((2, 7, 11), columns, strict=True)
    ]
    labels, _ = kernel_labels(X, centers, columns, form=form)
    np.testing.assert_array_equal(labels, summed_labels(X, centers, columns))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
def test_only_the_columns_of_the_members_are_written(dtype):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    centers = [rng.normal(size=(k, 2)) for k in (3, 4)]
    labels = np.full((90, 5), 99, dtype=dtype)
    every = np.arange(2)
    CenterSets(centers, [every, every], [3, 1]).label(X, labels, 2)
    np.testing.assert_array_equal(labels[:, [3, 1]], summed_labels(X, centers))
    assert (labels[:, [0, 2, 4]] == 99).all()


def test_a_label_does_not_depend_on_the_other_points():
    rng = np.random.default_rng(6)
    X, member_centers = rng.integers(0, 4, (200, 3)) / 3, rng.integers(0, 4, (9, 3)) / 3
    whole = nearest_center(X, member_centers)
    assert [int(nearest_center(x[None], member_centers)[0]) for x in X] == whole.tolist()
    np.testing.assert_array_equal(nearest_center(X[::-1], member_centers)[::-1], whole)


def test_labelling_functions_can_be_pickled():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 4))
    models = [Centers(rng.normal(size=(k, 4 if u else 2))) for u, k in enumerate((3, 5))]
    members = [
        SimpleNamespace(model=model, features=features)
        for model, features in zip(models, ((1, 3), None), strict=True)
    ]
    labelling = Labelling(members, 4, np.uint8)
    expected = summed_labels(X, [m.centers for m in models], [np.array([1, 3]), np.arange(4)])
    sent = pickle.loads(pickle.dumps(labelling))
    np.testing.assert_array_equal(sent(X), expected)
    assert sent(X).dtype == np.uint8
    assert sent(X[:0]).shape == (0, 2)
    with pytest.raises(ValueError, match="NaN"):
        sent(np.full((2, 4), np.nan))


def test_an_unknown_kind_of_model_is_refused():
    """Otherwise its column would be uninitialised memory."""

    with pytest.raises(TypeError, match="a model of the type NoneType"):
        Labelling([SimpleNamespace(model=None, features=None)], 2, np.uint8)
