"""SPCE against the published iteration on all objects, and its edge cases."""

import numpy as np
import pytest
from tests.cases import planted
from tests.naive.refinement import self_paced

from conclust import EAC, SPCE, Ensemble
from conclust.consensus.literature.spce import _LEAST_SHARE, _Pairs, learned_graph
from conclust.metrics import adjusted_rand_index


def of_objects(labels, k, gamma):
    start = Ensemble(labels).distinct_rows(noise="apart")
    S = learned_graph(_Pairs(start), k, gamma)
    return S[np.ix_(start.inverse, start.inverse)]


@pytest.mark.long
@pytest.mark.parametrize(("k", "gamma"), [(2, 0.5), (3, 0.5), (4, 0.1), (3, 2.0)])
def test_rows_with_counts_follow_the_published_iteration(k, gamma):
    labels, _ = planted(seed=0, n=24, m=6, k=4, flip=0.25)
    labels = np.repeat(labels, np.random.default_rng(0).integers(1, 4, 24), axis=0)
    twin = self_paced(labels, k, gamma, _LEAST_SHARE / 6)
    np.testing.assert_allclose(of_objects(labels, k, gamma), twin, atol=1e-6)


@pytest.mark.parametrize(
    ("seed", "n", "k", "m", "gamma"),
    [(7, 6, 2, 5, 2.0), (46, 6, 2, 4, 2.0), (57, 12, 2, 3, 0.1), (68, 6, 3, 5, 2.0)],
)
def test_weights_of_equal_partitions_differ_by_at_most_a_factor_of_a_thousand(seed, n, k, m, gamma):
    # The graph becomes the first partition, from which the others differ in one or two objects each.
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    columns = [truth]
    for _ in range(m - 1):
        moved = rng.choice(n, int(rng.integers(1, 3)), replace=False)
        columns.append(truth.copy())
        columns[-1][moved] = rng.integers(0, k + 1, len(moved))
    labels = np.column_stack(columns)
    S = of_objects(labels, k, gamma)
    np.testing.assert_allclose(S, self_paced(labels, k, gamma, 1e-3 / m), atol=1e-6)
    assert np.abs(S - self_paced(labels, k, gamma, 1e-6 / m)).max() > 1e-5


def test_more_components_than_clusters_are_joined_by_average_linkage():
    labels = np.column_stack([np.repeat([0, 1, 2, 3], 5)] * 3)
    model = SPCE(2, random_state=0).fit(labels)
    assert model.n_components_ == 4
    assert model.n_clusters_ == 2
    # Pairs across the components are sometimes together where the learned graph was cut too far.
    noisy, truth = planted(n=60, m=8, k=3, flip=0.05)
    for k in (2, 3):
        assert SPCE(k, gamma=50.0, random_state=0).fit(noisy).n_clusters_ == k
    found = SPCE(3, gamma=50.0, random_state=0).fit(noisy)
    assert found.n_components_ > 3
    assert adjusted_rand_index(truth, found.labels_) >= 0.95
    assert adjusted_rand_index(EAC(3).fit(noisy).labels_, found.labels_) >= 0.95
