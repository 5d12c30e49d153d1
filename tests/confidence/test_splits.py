import numpy as np
import pytest

from conclust import Ensemble
from conclust.confidence import cluster_splits, inconsistency
from conclust.exceptions import ParameterError, UnsupportedEnsembleError
from conclust.metrics import element_centric_similarity


def naive_ecs(a, b):
    """Return the mean over objects of 1 less half of the distance of their personalised page ranks over alpha."""
    n, alpha = len(a), 0.9

    def affinity(labels):
        P = np.zeros((n, n))
        for i in range(n):
            mine = labels == labels[i]
            P[i] = alpha * mine / mine.sum()
            P[i, i] += 1 - alpha
        return P

    gap = np.abs(affinity(a) - affinity(b)).sum(axis=1)
    return float(np.mean(1 - gap / (2 * alpha)))


@pytest.mark.parametrize("seed", range(5))
def test_element_centric_similarity_matches_page_rank(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, 40), rng.integers(0, 6, 40)
    assert element_centric_similarity(a, b) == pytest.approx(naive_ecs(a, b), abs=1e-12)
    assert element_centric_similarity(b, a) == pytest.approx(element_centric_similarity(a, b))
    assert element_centric_similarity(a, (a + 1) % 4) == 1.0


def test_inconsistency_averages_over_all_pairs_of_runs():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, (50, 4))
    labels = base[:, [0, 1, 0, 2, 3, 3, 3]]
    actual = inconsistency(labels)
    pairs = np.array([[naive_ecs(a, b) for a in labels.T] for b in labels.T])
    assert actual.coefficient == pytest.approx(1 / pairs.mean())
    np.testing.assert_allclose(actual.similarity, pairs)
    assert actual.n_different == 4
    assert actual.typical == int(pairs.mean(axis=1).argmax())
    assert inconsistency(labels[:, [0, 2]]).coefficient == 1.0


def test_weights_act_as_repetitions():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, (30, 3))
    repeated = inconsistency(labels[:, [0, 0, 1, 2]]).coefficient
    weighted = inconsistency(Ensemble(labels, weights=[2, 1, 1])).coefficient
    assert weighted == pytest.approx(repeated)


def test_the_first_of_equal_partitions_is_the_typical_one():
    # The product with the shares rounds equal rows differently, by their place.
    for seed in range(200):
        rng = np.random.default_rng(seed)
        base = np.column_stack([rng.permutation(np.arange(30) % 3) for _ in range(4)])
        places = rng.integers(0, 4, int(rng.integers(3, 25)))
        typical = inconsistency(base[:, places]).typical
        assert typical == np.flatnonzero(places == places[typical])[0]


def test_soft_members_are_refused():
    soft = Ensemble.from_memberships([np.array([[0.5, 0.5], [1.0, 0.0]])])
    with pytest.raises(UnsupportedEnsembleError, match="soft members"):
        inconsistency(soft)


def halves(splitting, n=40, columns=8):
    """Return labels in which two clusters are merged, except in the given number of columns."""
    labels = np.zeros((2 * n + 20, columns), dtype=int)
    labels[n : 2 * n, :splitting] = 1
    labels[2 * n :] = 2
    return labels, np.repeat([0, 0, 1], [n, n, 20])


@pytest.mark.parametrize("splitting", range(9))
def test_columns_that_split_a_cluster_are_counted(splitting):
    labels, consensus = halves(splitting)
    splits = cluster_splits(consensus, labels)
    assert splits.n_parts.tolist() == [2 if splitting else 1, 1]
    assert splits.n_partitions.tolist() == [splitting, 0]
    assert splits.n_observing.tolist() == [8, 8]
    assert bool(splits.told()) == (splitting > 4)
    if splitting:
        assert len(np.unique(splits.parts[:40])) == len(np.unique(splits.parts[40:80])) == 1
        assert splits.parts[0] != splits.parts[79]


def test_columns_with_different_splits_do_not_count():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (200, 8))
    splits = cluster_splits(np.zeros(200, dtype=int), labels)
    assert splits.n_partitions[0] <= 1
    assert not splits.told()


def test_finer_columns_count_if_they_respect_the_parts():
    labels, consensus = halves(4)
    labels[:40, 0] = 5 + np.arange(40) % 3  # three pieces of the first half
    assert cluster_splits(consensus, labels).n_partitions[0] == 4
    # 90 to 10: columns that have both together do not split the cluster, however pure they are.
    few = np.zeros((100, 5), dtype=int)
    few[90:, :2] = 1
    assert cluster_splits(np.zeros(100, dtype=int), few).n_partitions[0] == 2


def test_missing_labels_and_noise_are_no_splits():
    labels, consensus = halves(5)
    labels[::7, 0] = -1
    labels[3, 1] = -2
    labels[:, 7] = -1
    labels[-1, 7] = 0
    splits = cluster_splits(consensus, labels)
    assert splits.n_partitions[0] == 5
    assert splits.n_observing[0] == 7


def test_partitions_of_weight_0_split_nothing():
    labels, consensus = halves(3, columns=6)
    ensemble = Ensemble(labels, weights=[0, 0, 1, 2, 1, 1])
    splits, expected = cluster_splits(consensus, ensemble), cluster_splits(consensus, labels[:, 2:])
    for name in ("n_parts", "n_partitions", "n_observing", "parts"):
        np.testing.assert_array_equal(getattr(splits, name), getattr(expected, name))
    assert splits.n_observing.tolist() == [4, 4]


def test_large_clusters_are_sampled():
    labels, consensus = halves(5, n=3000)
    splits = cluster_splits(consensus, labels)
    assert splits.told(["T", "B"], "columns") == ["cluster T is split in two by 5 of 8 columns"]
    assert np.count_nonzero(splits.parts >= 0) == 2000


@pytest.mark.parametrize("parameters", [{"least": 0.0}, {"least": 0.6}, {"purity": 1.5}])
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ParameterError, match="cluster_splits"):
        cluster_splits([0, 0], [[0], [0]], **parameters)
