"""The dip against linear programs, and gaps between clusters."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from tests.naive import confidence as naive

from conclust.confidence import cluster_gaps, dip
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError, ParameterError


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 10, 13])
@pytest.mark.parametrize("kind", ["uniform", "two", "gaussian", "ties"])
def test_the_dip_is_the_least_distance_of_a_distribution_with_one_mode(n, kind):
    rng = np.random.default_rng([n, len(kind)])
    for _ in range(6):
        sample = {
            "uniform": lambda: rng.uniform(size=n),
            "two": lambda: np.r_[rng.normal(size=n // 2), 5 + rng.normal(size=n - n // 2)],
            "gaussian": lambda: rng.normal(size=n),
            "ties": lambda: rng.integers(0, 5, n).astype(float),
        }[kind]()
        assert dip(sample) == pytest.approx(naive.dip(sample), abs=1e-9)


def test_dips_match_known_values():
    assert dip([3.0]) == 0
    assert dip([2, 2, 2]) == 0
    assert dip([0, 0, 1, 1]) == pytest.approx(0.25)
    n = 50
    assert dip(np.arange(n)) == pytest.approx(1 / (2 * n))
    assert dip(np.arange(n)[::-1]) == dip(np.arange(n))
    values = np.random.default_rng(0).normal(size=200)
    assert dip(3 * values - 7) == pytest.approx(dip(values))
    assert dip(np.r_[values, values + 50]) == pytest.approx(0.25, abs=0.03)
    for wrong in ([], [[1.0]], [np.nan], ["a"]):
        with pytest.raises(InputError, match="dip needs"):
            dip(wrong)


def pair_of_clusters(apart, seed, n=150, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[n // 2 :, 0] += apart
    return X


def gap_of(X, seed, k=2):
    labels = KMeans(k, n_init=5, random_state=seed).fit_predict(X)
    return labels, cluster_gaps(X, labels, random_state=seed, n_draws=199)


def test_only_separate_clusters_have_a_gap():
    wrong = 0
    for s in range(10):
        X = np.random.default_rng(s).uniform(size=(400, 2))
        labels, gaps = gap_of(X, s, 4)
        labels = np.array(canonical_labels(labels))
        centres = np.array([X[labels == k].mean(axis=0) for k in range(4)])
        apart = np.linalg.norm(centres[:, None] - centres, axis=2)
        # Quarters that touch in a corner have others between them: there is a gap.
        side_by_side = np.argsort(apart, axis=1)[:, 1:3]
        wrong += np.take_along_axis(gaps.separated(), side_by_side, axis=1).sum()
    assert wrong <= 4  # of 80 looks
    clouds = [gap_of(pair_of_clusters(0.0, s), s)[1] for s in range(20)]
    assert sum(gaps.separated()[0, 1] for gaps in clouds) == 0
    clusters = [gap_of(pair_of_clusters(5.0, s), s)[1] for s in range(20)]
    assert sum(gaps.separated()[0, 1] for gaps in clusters) >= 19


def test_p_values_are_never_zero():
    X = pair_of_clusters(1000.0, 0)
    gaps = cluster_gaps(X, np.repeat([0, 1], 75), random_state=0, n_draws=19)
    assert gaps.p_value[0, 1] == pytest.approx(1 / 20)  # no drawn sample has as large a dip


def test_a_p_value_equal_to_alpha_is_a_gap():
    gaps = cluster_gaps(
        pair_of_clusters(1000.0, 0), np.repeat([0, 1], 75), random_state=0, n_draws=19
    )
    exactly = gaps.p_value[0, 1]
    assert gaps.separated(exactly)[0, 1]
    assert not gaps.separated(exactly * 0.999)[0, 1]


def test_separate_halves_prevent_false_gaps_in_many_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2000))
    labels = np.repeat([0, 1], 30)
    assert not cluster_gaps(X, labels, random_state=0).separated()[0, 1]
    line = X[labels == 1].mean(axis=0) - X[labels == 0].mean(axis=0)
    assert dip(X @ line) > 0.15  # with the same points for both


def test_gaps_form_a_symmetric_table():
    X, labels = make_blobs(120, centers=3, random_state=1)
    X = np.r_[X, X[:1]]
    labels = np.r_[labels, 9]  # a cluster of one
    gaps = cluster_gaps(X, labels, random_state=0)
    np.testing.assert_array_equal(gaps.dip, gaps.dip.T)
    np.testing.assert_array_equal(gaps.p_value, gaps.p_value.T)
    assert np.isnan(gaps.p_value[3, :3]).all()
    assert not gaps.separated()[3].any()
    np.testing.assert_array_equal(np.diag(gaps.dip), 0)
    np.testing.assert_array_equal(np.diag(gaps.p_value), 1)
    repeated = cluster_gaps(X, labels, random_state=0, n_jobs=3)
    np.testing.assert_array_equal(gaps.dip, repeated.dip)
    np.testing.assert_array_equal(gaps.p_value, repeated.p_value)
    # Excluded clusters change only the numbers of the others.
    assert cluster_gaps(X, np.where(labels == 9, -1, labels)).dip.shape == (3, 3)
    np.testing.assert_array_equal(
        cluster_gaps(np.zeros((8, 2)), np.repeat([0, 1], 4), random_state=0).dip, 0
    )


def test_invalid_input_of_gaps_is_refused():
    X = np.zeros((6, 2))
    labels = [0, 0, 0, 1, 1, 1]
    with pytest.raises(InputError, match="a row for each of the 6 labels"):
        cluster_gaps(X[:5], labels)
    with pytest.raises(InputError, match="NaN in column"):
        cluster_gaps(X * np.nan, labels)
    for name in ("n_splits", "n_draws", "max_samples"):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of cluster_gaps"):
            cluster_gaps(X, labels, **{name: 0})


def test_gaps_between_distant_clusters_are_marked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) * [5, 1]
    fifths = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.2, 0.4, 0.6, 0.8]))
    gaps = cluster_gaps(X, fifths, random_state=0, n_draws=199)
    order = canonical_labels(fifths)
    place = np.array([fifths[order == k][0] for k in range(5)])
    side_by_side = np.abs(place[:, None] - place) == 1
    np.testing.assert_array_equal(gaps.neighbours, side_by_side)
    assert not (gaps.separated() & gaps.neighbours).any()
    assert (gaps.separated() & ~gaps.neighbours).any()
    # The twin: no third centre in the ball over two centres.
    centres = np.array([X[order == k].mean(axis=0) for k in range(5)])
    for a in range(5):
        for b in range(5):
            middle, radius = (
                (centres[a] + centres[b]) / 2,
                np.linalg.norm(centres[a] - centres[b]) / 2,
            )
            others = [c for c in range(5) if c not in (a, b)]
            alone = all(np.linalg.norm(centres[c] - middle) >= radius for c in others)
            assert gaps.neighbours[a, b] == (a != b and alone)


def answers(seed, n_items, distance=0.0, n=300):
    """Return answers from 1 to 5 of two groups whose means are at a distance, one cloud if it is 0."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    scores = 3 + (group[:, None] - 0.5) * distance + rng.normal(size=(n, n_items))
    return np.clip(np.round(scores), 1, 5), group


@pytest.mark.parametrize("n_items", [2, 4])
def test_values_of_answers_are_no_gaps(n_items):
    for seed in range(5):
        X, _ = answers(seed, n_items)
        cut = KMeans(2, n_init=3, random_state=seed).fit_predict(X)
        assert not cluster_gaps(X, cut, random_state=seed).separated()[0, 1]
        # The same decision as for scores that are not rounded.
        binary = (X > 3).astype(float)
        assert not cluster_gaps(binary, binary[:, 0], random_state=seed).separated()[0, 1]


def test_groups_of_answers_have_a_gap():
    for n_items, distance in ((2, 3.0), (10, 1.5)):
        for seed in range(3):
            X, group = answers(seed, n_items, distance)
            assert cluster_gaps(X, group, random_state=seed).separated()[0, 1]
