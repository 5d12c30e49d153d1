"""Data sets: by name, from a formula, and only from valid files."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.stats import multivariate_normal
from sklearn import datasets as sk

from conclust import datasets, metrics
from conclust.exceptions import (
    InputError,
    ParameterError,
)

# Name, points and class sizes.
GENERATED = {
    "rings": (75, 150, 225),
    "half_rings": (100, 300),
    "spirals": (100, 100),
    "cigars": (100, 100, 25, 25),
    "gaussian_mixture": (200, 200, 200, 200),
    "image_1": (200, 100, 150, 150, 120, 120, 80, 80),
    "image_c": (150, 130, 110, 120, 80, 89, 60),
}


# ------------------------------------------------------------------------------------ generators


@pytest.mark.parametrize(("name", "sizes"), GENERATED.items(), ids=str)
def test_generated_sets_have_their_shapes_and_classes(name, sizes):
    dataset = datasets.load(name)
    assert dataset.name == name
    assert dataset.X.shape == (sum(sizes), 2)
    assert dataset.X.dtype == np.float64
    assert np.isfinite(dataset.X).all()
    assert dataset.y.dtype == np.int64
    assert tuple(np.bincount(dataset.y)) == sizes
    assert len(dataset.target_names) == len(sizes)
    assert dataset.feature_names == ("x", "y")
    repeated = getattr(datasets, name)(random_state=0)
    assert (repeated.X == dataset.X).all()
    assert (datasets.load(name, random_state=1).X != dataset.X).any()
    with pytest.raises(FrozenInstanceError):
        dataset.name = "other"


def test_sizes_match_the_papers():
    points = {name: sum(sizes) for name, sizes in GENERATED.items()}
    assert (
        points.items()
        >= {
            "rings": 450,
            "half_rings": 400,
            "spirals": 200,
            "cigars": 250,
            "gaussian_mixture": 800,
            "image_1": 1000,
            "image_c": 739,
        }.items()
    )


def test_rings_have_the_given_radii():
    actual = datasets.rings((500, 500, 500), noise=0.1, random_state=0)
    radius = np.hypot(*actual.X.T)
    for k in range(3):
        radii = radius[actual.y == k]
        assert radii.mean() == pytest.approx(k + 1, abs=0.02)
        assert radii.std() == pytest.approx(0.1, abs=0.01)
    exact = datasets.rings((9, 9), noise=0, random_state=0)
    assert np.hypot(*exact.X.T) == pytest.approx(exact.y + 1)


@pytest.mark.parametrize("name", ["half_rings", "spirals", "image_1", "image_c"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_groups_are_separated(name, seed):
    dataset = datasets.load(name, random_state=seed)
    groups = fcluster(linkage(dataset.X, "single"), len(dataset.target_names), "maxclust")
    assert metrics.adjusted_rand_index(dataset.y, groups) == 1


def test_membership_is_the_posterior():
    means = [[0.0, 0, 0], [2, 1, 0], [0, -1, 3]]
    covariances = [np.eye(3), np.diag([2.0, 1, 0.5]), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 2]]]
    sizes = (50, 100, 30)
    actual = datasets.gaussian_mixture(sizes, means=means, covariances=covariances, random_state=0)
    density = np.column_stack(
        [
            size * multivariate_normal(mean, covariance).pdf(actual.X)
            for size, mean, covariance in zip(sizes, means, covariances, strict=True)
        ]
    )
    assert actual.membership == pytest.approx(density / density.sum(axis=1, keepdims=True))
    assert actual.feature_names == ("x1", "x2", "x3")


def test_the_mixture_matches_the_paper():
    actual = datasets.gaussian_mixture((4000, 4000, 4000, 4000), random_state=3)
    means = np.array([actual.X[actual.y == k].mean(axis=0) for k in range(4)])
    assert [tuple(np.sign(mean)) for mean in means] == [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    assert ((np.abs(means) > 0.9) & (np.abs(means) < 3.1)).all()
    spread = [np.cov(actual.X[actual.y == k].T) for k in range(4)]
    assert np.array(spread) == pytest.approx(np.tile(np.eye(2), (4, 1, 1)), abs=0.1)
    assert actual.membership.sum(axis=1) == pytest.approx(1)
    # The soft truth is calibrated: a share p of the points with probability p belongs to the class.
    assert actual.membership.mean(axis=0) == pytest.approx([0.25] * 4, abs=0.01)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: datasets.rings((10, 0)),
            r"'sizes' parameter of rings must be an int in the range",
        ),
        (lambda: datasets.rings(()), "'sizes' parameter of rings must be a sequence of ints"),
        (lambda: datasets.rings("12"), "'sizes' parameter of rings"),
        (lambda: datasets.rings(450), "'sizes' parameter of rings"),
        (lambda: datasets.cigars((10, 10)), "'sizes' parameter of cigars must be a sequence of 4"),
        (lambda: datasets.half_rings((1, 2, 3)), "a sequence of 2 ints"),
        (lambda: datasets.rings(noise=-0.1), "'noise' parameter of rings must be a float"),
        (lambda: datasets.half_rings(noise=1.5), r"'noise' parameter of half_rings .* \[0, 1\]"),
        (lambda: datasets.spirals(turns=0), "'turns' parameter of spirals"),
        (lambda: datasets.image_1(random_state=-1), "'random_state' parameter of image_1"),
        (lambda: datasets.gaussian_mixture((5, 5)), "given for 2 components"),
        (lambda: datasets.gaussian_mixture((5, 5), means=[[0, 0]]), r"shape \(2, n_features\)"),
        (lambda: datasets.gaussian_mixture((5,), means=[["a"]]), "numbers"),
        (lambda: datasets.gaussian_mixture((5,), means=[[np.nan]]), "finite"),
        (lambda: datasets.gaussian_mixture(covariances=-1.0), "positive definite"),
        (lambda: datasets.gaussian_mixture(covariances=[1, 2]), "positive definite"),
        (
            lambda: datasets.gaussian_mixture(
                (5,), means=[[0, 0]], covariances=[[[1, 0.5], [0, 1]]]
            ),
            "positive definite",
        ),
    ],
)
def test_invalid_parameters_of_generators_are_refused(call, sentence):
    with pytest.raises(ParameterError, match=sentence):
        call()


# ------------------------------------------------------------------------------------- ensembles


def test_planted_ensembles_follow_the_membership():
    rows = np.array([[1.0, 0, 0], [0, 0, 1], [0.5, 0, 0.5], [0.2, 0.3, 0.5], [0, 1, 0]])
    ensemble = datasets.planted_ensemble(rows, 20_000, random_state=0)
    names = np.array(
        [[ensemble.names[u][c] for c in codes] for u, codes in enumerate(ensemble.codes.T)]
    )
    shares = np.array([(names == k).mean(axis=0) for k in range(3)]).T
    assert shares == pytest.approx(rows, abs=0.015)
    assert (shares[rows == 0] == 0).all()
    repeated = datasets.planted_ensemble(rows, 20_000, random_state=0)
    assert repeated == ensemble


def test_planted_ensembles_take_rows_that_rounding_left_below_1():
    rows = np.array([[1 / 3 - 3e-7, 2 / 3 - 3e-7, 0.0]] * 5000)
    ensemble = datasets.planted_ensemble(rows, 20, random_state=0)
    assert set(ensemble.cluster_counts) == {2}


def test_random_ensembles_have_the_requested_form():
    ensemble = datasets.random_ensemble(200, 6, 4, missing=0.25, noise=0.1, random_state=0)
    assert ensemble.shape == (200, 6)
    assert set(ensemble.cluster_counts) == {4}
    labels = ensemble.labels
    assert ((labels == -1).sum(axis=0) == 50).all()
    assert ((labels == -2).sum(axis=0) == 20).all()
    similar = metrics.partition_similarities(ensemble, measure="ari")
    assert np.abs(similar[~np.eye(6, dtype=bool)]).max() < 0.1
    assert datasets.random_ensemble(200, 6, 4, random_state=1) != ensemble


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: datasets.planted_ensemble([[0.5, 0.4]], 2), InputError, "row 0"),
        (lambda: datasets.planted_ensemble([[1.0]] * 3, 0), ParameterError, "'n_partitions'"),
        (lambda: datasets.random_ensemble(1, 2), ParameterError, "'n_samples'"),
        (lambda: datasets.random_ensemble(5, 2, 0), ParameterError, "'n_clusters'"),
        (lambda: datasets.random_ensemble(5, 2, missing=1.0), ParameterError, "'missing'"),
        (
            lambda: datasets.random_ensemble(5, 2, missing=0.5, noise=0.5),
            ParameterError,
            r"'noise' .* \[0, 0.5\)",
        ),
    ],
)
def test_invalid_parameters_of_ensembles_are_refused(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
def test_sets_of_scikit_learn_are_loaded(name):
    dataset = datasets.load(name)
    expected = getattr(sk, f"load_{name}")()
    assert np.array_equal(dataset.X, expected.data)
    assert (dataset.y == expected.target).all()
    assert dataset.target_names == tuple(str(target) for target in expected.target_names)
    assert len(dataset.feature_names) == dataset.X.shape[1]


@pytest.mark.parametrize(
    "name", ["irsi", "../iris", "/etc/passwd", "iris.csv.gz", "", "zoo\0", 3, None, ["iris"]]
)
def test_unknown_names_are_refused(name):
    with pytest.raises(
        ParameterError, match="'name' parameter of load must be one of breast_cancer, "
    ):
        datasets.load(name)
