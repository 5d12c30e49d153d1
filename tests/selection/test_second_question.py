"""The second test of `choose`: whether borders hold, or another single cloud is as stable."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from conclust.exceptions import SelectionWarning
from conclust.selection import choose, choosing
from conclust.selection.second import clear_borders


@pytest.mark.long
def test_a_square_is_one_cluster_and_separate_quarters_are_four():
    square = np.random.default_rng(0).random((300, 2))
    selection = choose(square, random_state=0)
    assert (selection.n_clusters, selection.alternatives, selection.doubts) == (1, (), ())
    assert selection.p_value <= 0.05 < selection.p_value_clouds
    assert selection.reason.startswith(
        "1 cluster: more structure than one Gaussian (p = 0.01, 99 rotations), but no border holds (p < .05, Holm) and single clouds of the same shape are as stable"
    )
    assert (selection.labels_ == 0).all()
    assert selection.n_held == 0 < selection.n_borders == selection.borders.n_borders
    number = selection.borders.n_clusters
    np.testing.assert_array_equal(selection.borders.labels, selection.labels[number])
    apart = choose(square + 2.0 * (square > 0.5), random_state=0)
    assert apart.n_clusters == 4
    assert apart.n_held >= 4
    assert np.isnan(apart.p_value_clouds)
    assert apart.reason.endswith(
        f"; {apart.n_held} of {apart.n_borders} borders hold (p < .05, Holm)."
    )


def test_overlapping_clusters_count_if_no_cloud_is_as_stable():
    rng = np.random.default_rng(0)
    centres = np.zeros((3, 10))
    np.fill_diagonal(centres, 3.2 / np.sqrt(2))
    X = rng.normal(size=(150, 10)) + centres[np.arange(150) % 3]
    with pytest.warns(SelectionWarning, match="No border between the clusters holds"):
        selection = choose(X, range(2, 6), random_state=0, n_jobs=1)
    assert (selection.n_clusters, selection.n_held) == (3, 0)
    assert selection.p_value_clouds <= 0.05
    assert "and than in single clouds of the same shape (p = " in selection.reason
    assert selection.reason.endswith("; no border holds (p < .05, Holm).")


@pytest.mark.parametrize("seed", [8801, 8802])
def test_the_arms_of_one_cloud_are_not_clusters(seed):
    """A square root of the density is a diamond: k-means cuts it into a centre and four arms, as stably in any other such cloud."""
    X = np.random.default_rng(seed).laplace(size=(350, 2))
    assert choose(X, n_references=39, random_state=0).n_clusters == 1


def test_without_references_borders_only_raise_doubts():
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    with pytest.warns(SelectionWarning, match="No border between the clusters holds"):
        selection = choose(X, range(2, 5), null=None, random_state=0)
    assert selection.n_clusters > 1
    assert np.isnan(selection.p_value_clouds)
    assert selection.n_borders > selection.n_held == 0


def long_clusters(n, seed, gap):
    """Two clusters along a line on which they are four times as wide as across."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.36).astype(int)
    return np.column_stack([gap * y + rng.normal(size=n), 0.25 * rng.normal(size=n)]), y


@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_clear_borders_are_enough_although_a_long_gaussian_is_as_stable(seed):
    X, y = long_clusters(600, seed, 4.2)
    found = choose(X, n_references=39, scale=None, random_state=0)
    assert found.p_value > 0.05
    assert found.n_clusters == 2
    assert adjusted_rand_score(y, found.labels[2]) > 0.9
    assert found.reason.startswith(
        "2 clusters: 1 of 1 border holds (p < .01, Holm), although K = 2 to 10 clusters are not more stable than in one Gaussian"
    )
    assert found.borders.adjusted[0, 1] <= 0.01


@pytest.mark.long
def test_long_clouds_remain_one_cluster():
    reasons = [
        choose(
            long_clusters(200, seed, 0)[0],
            n_references=19,
            n_resamples=20,
            scale=None,
            random_state=0,
        ).reason
        for seed in range(4)
    ]
    assert not any("although" in reason for reason in reasons)
    assert sum(reason.startswith("1 cluster") for reason in reasons) >= 3


@pytest.mark.long
def test_borders_that_do_not_all_hold_at_a_fifth_of_the_level_do_not_overrule(monkeypatch):
    X, _ = long_clusters(600, 1, 4.2)
    asked = []

    def weaker(*arguments):
        second = clear_borders(*arguments)
        asked.append(second.level)
        second.borders.adjusted[:] = 0.011
        return second

    monkeypatch.setattr(choosing, "clear_borders", weaker)
    found = choose(X, n_references=39, scale=None, random_state=0)
    assert asked == [pytest.approx(0.01)]
    assert found.n_clusters == 1
    assert found.borders is None


@pytest.mark.long
@pytest.mark.parametrize("seed", [8])
def test_gaps_between_two_values_are_not_borders(seed):
    """Principal axes mix the columns, so the gaps are closed before."""
    rng = np.random.default_rng(seed)
    X = rng.random((400, 8)) < rng.uniform(0.1, 0.9, 8)
    chosen = choose(X.astype(float), n_references=39, random_state=0)
    assert chosen.n_clusters == 1
    assert not chosen.borders.separated(0.05).any()
