"""P-values of borders: one split against its naive twin, several splits by definition, level, power, merging."""

import numpy as np
import pytest
from scipy.stats import binom, kstest
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import GaussianMixture
from tests.naive import borders as naive

import conclust as cc
from conclust.confidence import border_tests, dip
from conclust.confidence.borders.dips import dip_p_value, dips_of_rows
from conclust.confidence.borders.parts import BINS, matched
from conclust.confidence.borders.result import combined, gabriel_neighbours, holm
from conclust.exceptions import InputError, ParameterError


def three(seed, n=300, distance=6.0, d=2):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    centres = np.zeros((3, d))
    centres[1, 0], centres[2, 0], centres[2, 1] = distance, distance / 2, distance * 0.866
    return rng.normal(size=(n, d)) + centres[y], y


def halves(X, K, seed=0):
    return KMeans(K, n_init=2, random_state=seed).fit_predict(X)


@pytest.mark.parametrize("n", [4, 7, 40, 300, 3000])
def test_p_values_of_dips_are_uniform_for_uniform_samples(n):
    draws = 400 if n < 3000 else 100
    samples = np.random.default_rng(n).random((draws, n))
    p = np.array([dip_p_value(d, n) for d in dips_of_rows(samples, 1)])
    assert p.min() > 0
    assert p.max() == 1
    if n < 10:  # few different dips: the share is at most the p-value
        assert (p <= 0.05).mean() <= 0.09
    else:
        clipped = np.where(p == 1, np.random.default_rng(0).uniform(0.95, 1, draws), p)
        assert kstest(clipped, "uniform").pvalue > 0.01


def test_p_values_of_dips_fall_and_have_a_floor():
    values = [dip_p_value(d, 500) for d in np.linspace(0, 0.25, 60)]
    assert values[0] == 1
    assert values[-1] == pytest.approx(1e-5)
    assert (np.diff(values) <= 0).all()
    assert dip_p_value(0.25, 3) == 1
    assert dip_p_value(0.02, 10**6) == pytest.approx(1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_split_matches_the_naive_twin(seed):
    X, y = three(seed, n=240, distance=3.0, d=3)
    y[:5] = -1
    first = np.random.default_rng(seed).random(240) < 0.4
    clusters = halves(X[first], 4, seed)
    part, agreement = matched(X, y, 3, first, clusters.astype(np.int64))
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    actual = part.tested(pairs, np.arange(3), placed=True)
    labels = np.full(240, -1)
    labels[first] = np.minimum(part.clusters, 3)  # one cluster has no match
    assert agreement == np.mean(labels[first & (y >= 0)] == y[first & (y >= 0)])
    Z, centres = naive.whitened(X, first, labels, estimated=True)
    for b, (p, q) in enumerate(pairs):
        t = naive.places(Z, centres, p, q)
        n1, n2, n3 = naive.counts(t, first)
        np.testing.assert_array_equal(actual.counts[b], (n1, n2, n3))
        tails = binom.cdf(n2, n1 + n2, 0.5), binom.cdf(n2, n2 + n3, 0.5)
        assert actual.valley[b] == pytest.approx(max(tails))
        along = t[~first & ~np.isnan(t)]
        assert actual.dip[b] == pytest.approx(dip_p_value(dip(along), len(along)))
        np.testing.assert_allclose(actual.places[b], np.histogram(along, BINS)[0], atol=1)


def test_a_cluster_missing_from_a_part_is_never_separated():
    X, y = three(0)
    first = np.arange(300) < 150
    part, _ = matched(X, y, 3, first, np.zeros(150, dtype=np.int64))
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    actual = part.tested(pairs, np.arange(3))
    np.testing.assert_array_equal(actual.dip, 1)
    np.testing.assert_array_equal(actual.valley, 1)
    nothing, agreement = matched(X, y, 3, first, np.full(150, -1))
    assert agreement == 0
    np.testing.assert_array_equal(nothing.tested(pairs, np.arange(3)).dip, 1)


def test_p_values_are_twice_the_median_and_adjusted_by_holm():
    np.testing.assert_allclose(
        combined(np.array([[0.01, 0.9], [0.02, 0.7], [0.9, 0.6]])), [0.04, 1]
    )
    np.testing.assert_allclose(holm(np.array([0.03, 0.01, 0.04])), [0.06, 0.03, 0.06])
    np.testing.assert_allclose(holm(np.array([0.6, 0.7])), [1, 1])


def test_neighbours_have_no_centre_in_the_ball_between_them():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(9, 2))
    actual = gabriel_neighbours(centres @ centres.T)
    for p in range(9):
        for q in range(9):
            middle = (centres[p] + centres[q]) / 2
            radius = np.linalg.norm(centres[p] - middle)
            inside = [
                c for c in range(9) if c not in (p, q)
                if np.linalg.norm(centres[c] - middle) < radius
            ]  # fmt: skip
            assert actual[p, q] == (p != q and not inside)


def test_borders_are_significant_between_clusters_only():
    X, y = three(0)
    tests = border_tests(X, y, random_state=0)
    assert tests.n_borders == 3
    assert tests.separated().sum() == 6
    assert tests.summary() == "3 of 3 borders hold (p < .05, Holm)"
    assert tests.agreement.min() > 0.95
    np.testing.assert_array_equal(tests.counts[0, 1], tests.counts[1, 0][::-1])
    finer = halves(X, 7)
    repeated = border_tests(X, finer, random_state=0)
    merged = repeated.merged()
    assert merged.max() == 2
    assert all(len(set(merged[finer == k])) == 1 for k in range(7))
    table = np.zeros((3, 3))
    np.add.at(table, (merged, y), 1)
    assert table.max(axis=1).sum() > 290


@pytest.mark.parametrize("K", [2, 4])
def test_a_cloud_cut_into_pieces_is_one_cluster(K):
    rng = np.random.default_rng(1)
    for draw in (rng.normal, rng.uniform, rng.exponential):
        X = draw(size=(600, 2))
        tests = border_tests(X, halves(X, K), random_state=0)
        assert not tests.separated().any()
        assert tests.merged().max() == 0
        assert np.nanmin(tests.valley_p_value) > 0.05


def test_same_bits_for_any_threads_and_seed_type():
    X, y = three(3, n=600, distance=3.5, d=60)
    first = border_tests(X, y, n_splits=5, random_state=7, n_jobs=1)
    assert np.nanmin(first.p_value) > 1e-4
    for jobs in (2, 4):
        repeated = border_tests(X, y, n_splits=5, random_state=7, n_jobs=jobs)
        for name in ("p_value", "adjusted", "valley_p_value", "counts", "agreement"):
            np.testing.assert_array_equal(getattr(first, name), getattr(repeated, name))
        assert first.merges == repeated.merges
    same = border_tests(X, y, n_splits=5, random_state=np.random.SeedSequence(7))
    np.testing.assert_array_equal(first.p_value, same.p_value)


def test_any_clusterer_and_any_fitted_model_are_accepted():
    X, y = three(0)
    bare = border_tests(X, y, n_splits=5, random_state=0)
    mixture = GaussianMixture(1, random_state=0)
    for clusterer in (mixture, KMeans(n_init=2), HDBSCAN(min_cluster_size=20, copy=True)):
        tests = border_tests(X, y, clusterer=clusterer, n_splits=5, random_state=0)
        assert tests.separated().sum() == 6
    model = cc.ConsensusClustering(
        generator=cc.EnsembleGenerator("kmeans", n_partitions=10), n_clusters=3, random_state=0
    ).fit(X)
    by_model = border_tests(X, model, n_splits=3, random_state=0)
    np.testing.assert_array_equal(by_model.labels, model.labels_)
    assert by_model.separated().all() == bare.separated().all()
    assert by_model.separated().sum() == 6
    # A consensus of labels does not cluster points; k-means does.
    consensus = cc.EAC(3).fit(np.column_stack([y, y]))
    same = border_tests(X, consensus, n_splits=5, random_state=0)
    np.testing.assert_array_equal(
        same.p_value, border_tests(X, consensus.labels_, n_splits=5, random_state=0).p_value
    )


def test_unclustered_points_are_counted_and_stay_unclustered():
    X, y = three(0)
    names = np.array(["a", "b", "c"], dtype=object)[y]
    names[:9] = None
    tests = border_tests(X, names, random_state=0)
    assert set(tests.names) == {"a", "b", "c"}
    assert (tests.merged()[:9] == -1).all()
    assert tests.merged().max() == 2


def test_the_table_and_the_frame_list_each_border():
    X = three(0)[0]
    tests = border_tests(X, halves(X, 5), n_splits=5, random_state=0)
    frame = tests.to_frame()
    assert len(frame) == tests.n_borders
    assert (np.diff(frame["p_value"]) <= 0).all()
    assert frame["holds"].sum() == tests.separated().sum() // 2
    p = frame.iloc[0]
    first, second = (list(tests.names).index(p[side]) for side in ("first", "second"))
    assert p["adjusted"] == tests.adjusted[first, second]
    lines = repr(tests).splitlines()
    assert lines[0] == tests.summary()
    assert len(lines) == tests.n_borders + 3
    assert lines[-1].startswith("Clusterings of parts agree with the labels on ")


def test_one_cluster_has_no_border():
    tests = border_tests(np.random.default_rng(0).normal(size=(30, 2)), np.zeros(30, dtype=int))
    assert tests.n_borders == 0
    assert tests.merged().max() == 0
    assert repr(tests) == "One cluster: there is no border to test."


def test_large_sets_are_sampled():
    X, y = three(0, n=3000)
    tests = border_tests(X, y, max_samples=60, n_splits=5, random_state=0)
    assert tests.separated().sum() == 6
    assert np.nansum(tests.counts[0, 1]) < 660


def test_untestable_input_is_refused():
    X, y = three(0)
    few = {"n_splits": 0, "alpha": 0.0, "max_samples": 2, "clusterer": "kmeans", "n_jobs": 0}
    for name, bad in few.items():
        with pytest.raises(ParameterError, match=name):
            border_tests(X, y, **{name: bad})
    with pytest.raises(ParameterError, match="ConsensusClustering"):
        border_tests(X, y, clusterer=cc.EAC(3))
    with pytest.raises(InputError, match="a third of the points into 10 clusters"):
        border_tests(X[:20], np.arange(20) % 10)
    with pytest.raises(InputError, match="a row for each"):
        border_tests(X[:-1], y)
    with pytest.raises(InputError, match="with a cluster"):
        border_tests(X, np.full(300, -1))
    tests = border_tests(X, y, n_splits=1, random_state=0)
    with pytest.raises(ParameterError, match="alpha"):
        tests.merged(1e-9)


@pytest.mark.parametrize("distance", [0.0, 3.0])
def test_rounded_values_have_borders_only_between_groups(distance):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group = np.arange(300) % 2
        scores = 3 + (group[:, None] - 0.5) * distance + rng.normal(size=(300, 2))
        X = np.clip(np.round(scores), 1, 5)  # answers from 1 to 5
        labels = group if distance else KMeans(3, n_init=3, random_state=seed).fit_predict(X)
        tests = border_tests(X, labels, random_state=seed)
        assert tests.n_held() == (1 if distance else 0)
    if not distance:
        items = (rng.random((300, 6)) < 0.5).astype(float)
        halves = items[:, 0].astype(int)
        assert border_tests(items, halves, random_state=0).n_held() == 0
