"""Mixtures of normal distributions, against scikit-learn and closed forms; their numbers of components."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import chi2, kstest, multivariate_normal, norm
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.mixture import GaussianMixture

from conclust import ConsensusClustering
from conclust._files.saving import of_bytes, to_bytes
from conclust.metrics import adjusted_rand_index
from conclust.number.components import clusters_of_one_shape, fit_mixtures
from conclust.number.mixture import (
    Mixture,
    best_mixture,
    density_misfit,
    fit_mixture,
    kmeans_labels,
    misfit,
    n_parameters,
    saddles,
)
from conclust.points import Refinement, refine_by_centers


def stretched(seed=0, n=600):
    """Three clusters, long in one direction, that overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + np.array([[0, 0], [0, 4.0], [5.0, 3.0]])[y]
    return X @ [[0.6, -0.6], [-0.4, 0.8]], y


@pytest.mark.parametrize("shape", ["spherical", "tied"])
def test_the_fixed_point_matches_scikit_learn(shape):
    X, y = stretched()
    ours = fit_mixture(X, y, 3, shape, 1e-10)
    if shape == "tied":
        theirs = GaussianMixture(
            3,
            covariance_type="tied",
            tol=1e-10,
            max_iter=2000,
            reg_covar=0,
            means_init=ours.means,
            weights_init=ours.weights,
        ).fit(X)
        np.testing.assert_allclose(ours.covariances[0], theirs.covariances_, rtol=1e-3)
        np.testing.assert_allclose(ours.means, theirs.means_, atol=1e-3)
        np.testing.assert_allclose(ours.bic, theirs.bic(X), rtol=1e-6)
    density = sum(
        weight * multivariate_normal(mean, ours.covariances[0]).pdf(X)
        for weight, mean in zip(ours.weights, ours.means, strict=True)
    )
    np.testing.assert_allclose(ours.log_likelihood, np.log(density).sum(), rtol=1e-5)
    parameters = {"spherical": 1, "tied": 3}[shape] + 3 * 2 + 2
    np.testing.assert_allclose(ours.bic, parameters * np.log(600) - 2 * ours.log_likelihood)


def test_ellipsoids_of_each_component_are_shrunk_towards_the_pooled_one():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [400, 300])
    X = np.where(y[:, None] == 0, rng.normal(size=(700, 2)), rng.normal(size=(700, 2)) * 0.2 + 50)
    mixture = fit_mixture(X, y, 2, "full")
    scatters = [np.cov(X[y == k].T, bias=True) * (y == k).sum() for k in (0, 1)]
    pooled = sum(scatters) / 700
    for k in (0, 1):
        shrunk = (scatters[k] + 3 * pooled) / ((y == k).sum() + 3)
        np.testing.assert_allclose(mixture.covariances[k], shrunk, atol=1e-5)


def test_numbers_of_parameters_match_hand_counts():
    assert [n_parameters(shape, 4, 3) for shape in ("spherical", "tied", "full")] == [
        1 + 12 + 3,
        6 + 12 + 3,
        24 + 12 + 3,
    ]


def test_discriminants_and_densities_place_points_alike():
    X, y = stretched()
    for shape in ("spherical", "tied", "full"):
        mixture = fit_mixture(X, y, 3, shape)
        centers, whitening, offsets = mixture.discriminants()
        whitenings = np.broadcast_to(whitening, (3, 2, 2))
        places = np.stack([X @ W - c for W, c in zip(whitenings, centers, strict=True)])
        nearest = ((places**2).sum(axis=2).T + offsets).argmin(axis=1)
        assert np.array_equal(nearest, mixture.labels(X))


def test_the_misfit_in_one_dimension_matches_kolmogorov_smirnov():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=120), rng.normal(4, 1, 80)])
    mixture = Mixture(
        "spherical", np.array([0.5, 0.5]), np.array([[0.0], [4.0]]), np.ones((1, 1, 1)), 0.0, 0.0
    )
    expected = kstest(x, lambda t: (norm.cdf(t) + norm.cdf(t - 4)) / 2).statistic
    assert misfit(x[:, np.newaxis], mixture, 1_000) == pytest.approx(expected * np.sqrt(200))
    assert misfit(x[:, np.newaxis], mixture, 50) == pytest.approx(expected * np.sqrt(50))


def test_samples_of_a_mixture_fit_and_other_shapes_do_not():
    X, y = stretched()
    assert misfit(X, best_mixture(X, [y], 3), 1_000) < 0.85
    rings, inner = make_circles(600, noise=0.05, factor=0.5, random_state=0)
    assert misfit(rings, best_mixture(rings, [inner], 2), 1_000) > 0.85


def test_densities_of_one_normal_distribution_are_compared_with_chi_square():
    X = np.random.default_rng(2).normal(size=(800, 3))
    mixture = fit_mixture(X, np.zeros(800, dtype=np.int64), 1, "full")
    offsets = X - mixture.means[0]
    squared = np.einsum("ij,ij->i", offsets @ np.linalg.inv(mixture.covariances[0]), offsets)
    expected = kstest(squared, chi2(3).cdf).statistic * np.sqrt(500)
    # The distribution of the density is that of 20,000 draws.
    assert density_misfit(X, mixture, 500, 0) == pytest.approx(
        expected, abs=1.36 * np.sqrt(500 / 20_000)
    )
    assert density_misfit(X, mixture, 500, 0) == density_misfit(X, mixture, 500, 0)


def strips(n, seed):
    """Two uniform bows around a uniform disc."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.5, 1.5, 2 * n)
    bows = np.column_stack([x, np.cos(x) + 0.1 + rng.uniform(0.0, 1.0, 2 * n)])
    bows[:n, 1] *= -1.0
    radius, angle = 0.7 * np.sqrt(rng.uniform(size=n // 2)), rng.uniform(0, 2 * np.pi, n // 2)
    disc = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.concatenate([bows, disc]), np.repeat([0, 1, 2], [n, n, n // 2])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_uniform_clusters_are_not_cut_into_components(seed):
    X, y = strips(800, seed)
    model = ConsensusClustering(random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) > 0.99


def test_a_mixture_with_an_empty_component_is_rejected():
    X = np.concatenate([np.zeros((20, 2)), np.ones((20, 2))])
    X += np.random.default_rng(0).normal(size=X.shape) * 1e-3
    labels = np.zeros(40, dtype=np.int64)
    labels[0] = 1
    assert fit_mixture(X, labels, 2, "full") is None


def test_refinement_by_a_mixture_separates_stretched_clusters():
    X, y = stretched()
    rough = kmeans_labels(X, 3, 0)
    refinement = refine_by_centers(X, rough, 3, lambda refined: np.zeros((0, refined.max() + 1)))
    assert refinement.offsets is not None
    assert adjusted_rand_index(y, refinement.labels(X)) > 0.9
    order = np.array([2, 0, 1])
    repeated = refinement.renumbered(order)
    assert np.array_equal(order[repeated.labels(X)], refinement.labels(X))


@pytest.mark.parametrize("shape", ["spherical", "tied", "full"])
def test_a_refinement_is_read_back_unchanged(shape):
    X, y = stretched()
    centers, whitening, offsets = fit_mixture(X, y, 3, shape).discriminants()
    refinement = Refinement(centers, np.ones((5, 3)), whitening, offsets)
    restored = of_bytes(to_bytes(refinement), "it")
    assert restored.fits(2, 5, 3)
    assert np.array_equal(restored.labels(X), refinement.labels(X))
    assert np.array_equal(restored.offsets, offsets)
    assert np.array_equal(restored.whitening, whitening)


def test_overlapping_blobs_are_counted():
    X, _ = make_blobs(600, centers=[[0, 0], [3, 0], [0, 3.2], [9, 9], [9, 12]], random_state=1)
    assert clusters_of_one_shape(X, kmeans_labels(X, 2, 0), 20, 0).max() + 1 == 5
    assert ConsensusClustering(random_state=0).fit(X).n_clusters_ == 5


@pytest.mark.parametrize(
    "X",
    [
        make_moons(600, noise=0.06, random_state=0)[0],
        make_circles(600, noise=0.05, factor=0.5, random_state=0)[0],
        np.random.default_rng(0).exponential(size=(600, 2)),
        np.random.default_rng(0).uniform(size=(600, 2)) * [8.0, 1.0],
        np.random.default_rng(0).normal(size=(60, 12)),
    ],
)
def test_other_shapes_are_not_counted_as_components(X):
    assert clusters_of_one_shape(X, kmeans_labels(X, 2, 0), 20, 0) is None


@pytest.mark.parametrize("shape", ["spherical", "tied", "full"])
def test_saddles_are_lowest_densities_between_two_centres(shape):
    X, y = stretched()
    mixture = fit_mixture(X, y, 3, shape)
    covariances = np.broadcast_to(mixture.covariances, (3, 2, 2))

    def density(x):
        parts = zip(mixture.weights, mixture.means, covariances, strict=True)
        return sum(weight * multivariate_normal(mean, c).pdf(x) for weight, mean, c in parts)

    lowest = saddles(mixture)
    for a in range(3):
        for b in range(3):
            ends = mixture.means[[a, b]]
            segment = [ends[0] + t * (ends[1] - ends[0]) for t in np.linspace(0, 1, 21)]
            expected = min(map(density, segment)) / min(density(ends[0]), density(ends[1]))
            assert lowest[a, b] == pytest.approx(expected, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_clouds_that_mixtures_fit_in_parts_remain_one_cluster(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 1500)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(1500, 2)) * 0.1
    for X in (ring, rng.uniform(size=(3000, 2)), rng.standard_t(3, size=(3000, 2))):
        assert ConsensusClustering(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("shape", ["spherical", "tied", "full"])
@pytest.mark.filterwarnings("error")
def test_points_that_all_lie_in_the_centres_have_no_mixture(shape):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 30, axis=0)
    assert fit_mixture(X, np.repeat([0, 1], 30), 2, shape) is None
    assert ConsensusClustering(random_state=0).fit(X).n_clusters_ == 2


def test_many_features_are_refused_before_their_covariances_are_made():
    X = np.random.default_rng(0).normal(size=(300, 2000))
    labels = np.zeros(300, dtype=np.int64)
    tracemalloc.start()
    assert fit_mixtures(X, labels, 12, 0) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes
