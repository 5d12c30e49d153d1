"""The test of one cluster: references, exactness, sequential form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from conclust.confidence import dip
from conclust.selection.choosing import components_for, scores_of
from conclust.selection.resampled.null import (
    fixed_test,
    gaussian,
    independent_axes,
    rotation,
    sequential_p_value,
    sequential_test,
    unimodal,
    with_one_mode,
)
from conclust.selection.resampled.resampling import Settings
from conclust.selection.resampled.testing import OneClusterTest


def rng_of(seed=0):
    return np.random.default_rng(seed)


def one_cluster_test(
    X, seed, ks=(2, 3), n_references=19, null="rotation", n_resamples=10, resamples=None
):
    """Run the test alone, without the other measurements of `choose`."""
    asked = Settings(tuple(ks), "kmeans", n_resamples, 0.8, null, n_references, 1)
    points = scores_of(X, components_for(*X.shape, None, "test"))
    if resamples is None:
        resamples = asked.resamples(len(X), np.random.SeedSequence(seed))
    return OneClusterTest(
        asked, points, resamples, seed=np.random.SeedSequence((seed, 1)), report=lambda _: None
    )


def p_of(X, seed, **changes):
    return one_cluster_test(X, seed, **changes).verdict(sequential=False).p_value


def test_the_p_value_is_exact_with_more_features_than_objects():
    # 80 single Gaussians of 20 objects and 50 features; rejections at 0.05 are binomial.
    rng = rng_of(0)
    rejected = 0
    for seed in range(80):
        X = rng.normal(size=(20, 50)) * np.arange(1, 51) ** -0.7
        rejected += p_of(X, seed) <= 0.05
    assert 1 <= rejected <= 10


def test_single_gaussians_of_four_covariances_have_uniform_p_values():
    # Experiments/selection has the same with more resamples, references and numbers of clusters.
    rng = rng_of(4)
    turn, _ = np.linalg.qr(rng.normal(size=(10, 10)))
    ways = (
        lambda: rng.normal(size=(150, 10)),
        lambda: rng.normal(size=(150, 10)) * np.sqrt(np.geomspace(1.0, 0.1, 10)) @ turn,
        lambda: rng.normal(size=(150, 10)) * np.array([3.0] + [1.0] * 9),
        lambda: rng.normal(size=(150, 400)) * np.arange(1, 401) ** -0.35,
    )
    actual = np.array(
        [p_of(ways[seed % 4](), seed, ks=(2, 3, 4), n_resamples=20) for seed in range(40)]
    )
    assert np.count_nonzero(actual <= 0.05) <= 5
    # Multiples of 1 / 20, less half a step: uniform but for the steps.
    assert scipy.stats.kstest(actual - 0.5 / 20, "uniform").statistic < 0.22


def test_the_order_of_the_draws_changes_nothing():
    # The masks permuted among the runs, with their seeds, for the points and all references alike.
    X = rng_of(3).normal(size=(60, 3)) + 2.0 * (np.arange(60) % 2)[:, None]
    test = one_cluster_test(X, 5, ks=(2, 3, 4))
    plain = test.verdict(sequential=False)
    made = test._resamples
    for seed in range(3):
        order = rng_of(seed).permutation(10)
        other = replace(
            made, drawn=made.drawn[order], seeds={k: s[order] for k, s in made.seeds.items()}
        )
        actual = one_cluster_test(X, 5, ks=(2, 3, 4), resamples=other).verdict(sequential=False)
        assert actual.p_value == plain.p_value
        assert actual.logs.tobytes() == plain.logs.tobytes()
        assert actual.real.tobytes() == plain.real.tobytes()


@pytest.mark.parametrize(("n", "p"), [(40, 3), (20, 50)])
def test_a_rotation_keeps_mean_and_covariance(n, p):
    Z = scores_of(rng_of(n).normal(size=(n, p)) * np.arange(1, p + 1) + 5.0, None)
    assert Z.shape[1] == min(p, n - 1)
    turned = rotation(Z, rng_of(1))
    scale = np.abs(Z.T @ Z).max()
    np.testing.assert_allclose(turned.T @ turned, Z.T @ Z, atol=1e-10 * scale)
    np.testing.assert_allclose(turned.mean(axis=0), 0, atol=1e-12)
    assert not np.allclose(turned, Z, atol=0.1 * np.abs(Z).max())


def test_rotations_are_uniform():
    # Each entry of a uniform Q has mean 0 and variance 1 / (n - 1), within the space orthogonal to the mean.
    Z = scores_of(rng_of(0).normal(size=(15, 2)), None)
    drawn = np.array([rotation(Z, rng_of(seed)) for seed in range(2000)])
    scaled = drawn / np.sqrt((Z * Z).sum(axis=0))
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose((scaled**2).mean(axis=0), 1 / 15, atol=0.01)
    assert scipy.stats.kstest(scaled[:, 0, 0] ** 2 * 15 / 14, "beta", (0.5, 6.5)).pvalue > 1e-4


def test_scores_keep_distances_and_drop_axes_units_and_constants():
    X = rng_of(3).normal(size=(25, 4)) * [1, 2, 5, 0.1]
    Z = scores_of(X, None)
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    ratio = gaps[0, 1] / distances[0, 1]
    np.testing.assert_allclose(gaps, distances * ratio, atol=1e-12)
    Q, _ = np.linalg.qr(rng_of(4).normal(size=(4, 4)))
    for changed in (X @ Q, np.column_stack([X, np.full(25, 7.0)]), 1e200 * X, 1e-200 * X):
        repeated = scores_of(changed, None)
        assert repeated.shape == Z.shape
        apart = np.linalg.norm(repeated[:, None] - repeated[None], axis=2)
        np.testing.assert_allclose(
            apart / apart[0, 1], distances / distances[0, 1], rtol=1e-8, atol=1e-10
        )


@pytest.mark.parametrize(("n", "p"), [(40, 200), (200, 40)])
def test_leading_scores_match_the_singular_values(n, p):
    X = rng_of(5).normal(size=(n, p)) * np.arange(1, p + 1)[::-1]
    some, whole = scores_of(X, 7), scores_of(X, None)[:, :7]
    np.testing.assert_allclose(
        np.abs(some), np.abs(whole), rtol=1e-6, atol=1e-8 * np.abs(whole).max()
    )


def test_the_p_value_is_the_rank_of_the_largest_studentised_gap():
    rng = rng_of(6)
    for _ in range(20):
        real, references = rng.normal(size=3), rng.normal(size=(9, 3))
        actual = fixed_test(real, references).p_value
        logs = [real, *references]
        columns = list(zip(*logs, strict=True))
        T = [
            max(
                (np.mean(column) - value) / np.std(column)
                for value, column in zip(row, columns, strict=True)
            )
            for row in logs
        ]
        assert actual == sum(t >= T[0] for t in T) / 10


def test_a_p_value_of_exchangeable_sets_is_uniform():
    rng = rng_of(7)
    values = [fixed_test(x[0], x[1:]).p_value for x in rng.normal(size=(4000, 20, 4))]
    counts = np.bincount(np.rint(np.array(values) * 20).astype(int), minlength=21)
    assert counts[0] == 0
    assert scipy.stats.chisquare(counts[1:]).pvalue > 1e-4


@pytest.mark.parametrize("most", [99])
def test_sequential_p_values_keep_their_level(most):
    # Statistics replaced by uniform numbers, 10,000 runs.
    rng = rng_of(8)
    actual, used = [], []
    for _ in range(10_000):
        real, others = rng.random(), rng.random(most)
        p, drawn = sequential_p_value(
            lambda r, real=real, others=others: bool(others[r] >= real), most
        )
        actual.append(p)
        used.append(drawn)
    for level in (0.01, 0.05, 0.2):
        share = np.mean(np.array(actual) <= level)
        assert share <= level + 3 * np.sqrt(level * (1 - level) / 10_000)
    assert np.mean(used) < 1.2 * 10 * (1 + np.log(most / 10))


def test_a_sequential_test_stops_early_and_does_not_depend_on_its_batches():
    rng = rng_of(9)
    references = rng.normal(size=(300, 3))
    asked = []

    def logs(begin, end):
        asked.append(end)
        return references[begin:end]

    plain = sequential_test(np.zeros(3), logs, 199, 8)
    assert plain.p_value > 0.1
    assert max(asked) < 150
    for batch in (1, 50, 199):
        repeated = sequential_test(np.zeros(3), logs, 199, batch)
        assert (repeated.p_value, repeated.n_references) == (plain.p_value, plain.n_references)
        assert (repeated.logs == plain.logs).all()
    clear = sequential_test(np.full(3, -20.0), logs, 199, 8)
    assert clear.p_value == 1 / 200
    assert clear.n_references == 199
    units, real = references[200:], np.full(3, -0.5)
    gaps = ((units.mean(axis=0) - [real, *references[:39]]) / units.std(axis=0)).max(axis=1)
    others = np.flatnonzero(gaps[1:] >= gaps[0])
    assert sequential_test(real, logs, 39, 8, fixing=units).p_value == 10 / (others[9] + 1)


def test_the_gaussian_null_has_the_deviations_of_the_components():
    Z = scores_of(rng_of(10).normal(size=(4000, 3)) * [3, 2, 1], None)
    made = gaussian(Z, rng_of(0))
    np.testing.assert_allclose(made.std(axis=0), Z.std(axis=0), rtol=0.05)


@pytest.mark.parametrize("distance", [0.0, 3.0, 8.0])
def test_the_distribution_with_one_mode_is_near_if_the_dip_is_small(distance):
    values = rng_of(11).normal(size=400) + distance * (np.arange(400) % 2)
    at, F = with_one_mode(values)
    density = np.diff(F) / np.diff(at)
    mode = np.argmax(density)
    assert np.diff(density[: mode + 1]).min() > -1e-9
    assert np.diff(density[mode:]).max() < 1e-9
    steps = (np.arange(400) + 0.5) / 400
    apart, least = np.abs(F - steps).max(), dip(values)
    assert least - 0.5 / 400 <= apart <= 2 * least


def test_independent_components_are_found_again():
    components = rng_of(12).laplace(size=(3000, 3))
    Z = scores_of(components @ scipy.stats.ortho_group.rvs(3, random_state=13), None)
    found = Z / Z.std(axis=0) @ independent_axes(Z / Z.std(axis=0))
    alike = np.abs(np.corrcoef(found.T, components.T)[:3, 3:])
    assert (alike.max(axis=0) > 0.98).all()


def test_single_clouds_keep_products_and_shape_but_no_gap():
    rng = rng_of(14)
    X = rng.laplace(size=(4000, 3)) * [6, 5, 1]
    draw = unimodal(Z := scores_of(X, None))
    made = draw(Z, rng)
    np.testing.assert_allclose(made.T @ made, Z.T @ Z, atol=1e-8 * (Z.T @ Z).max())
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=1e-12)
    assert not np.array_equal(made, draw(Z, rng))
    tails = [scipy.stats.kurtosis(each, axis=0) for each in (made, Z)]
    assert np.abs(tails[0] - tails[1]).max() < 1.0
    two = scores_of(np.concatenate([rng.normal(-4, 1, 300), rng.normal(4, 1, 300)])[:, None], None)
    share = (np.abs(unimodal(two)(two, rng)) < 0.3 * two.std()).mean()
    assert (np.abs(two) < 0.3 * two.std()).mean() < 0.02
    assert share > 0.08  # the gap is filled
