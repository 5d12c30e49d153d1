"""Weights and selections of partitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from tests.naive import weighting as naive

from conclust import EAC, PCC, Ensemble, weighting
from conclust.exceptions import InputError, ParameterError
from conclust.metrics import adjusted_rand_index


def mixed(seed=0, n=80, good=7, bad=5, k=3):
    """Labels of good partitions followed by random ones, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    columns = [np.where(rng.random(n) < 0.1, rng.integers(k, size=n), truth) for _ in range(good)]
    columns += [rng.integers(k, size=n) for _ in range(bad)]
    return np.column_stack(columns), truth


def points(truth, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(truth), 2)) * 0.3 + 3 * np.eye(3)[truth][:, :2]


SELECTIONS = {
    "joint_criterion": lambda E: weighting.joint_criterion(E),
    "cluster_and_select": lambda E: weighting.cluster_and_select(E, random_state=0),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_are_valid_indices_of_an_ensemble(name):
    labels, _ = mixed()
    ensemble = Ensemble(labels, weights=np.arange(1.0, 13.0))
    chosen = SELECTIONS[name](ensemble)
    assert chosen.dtype == np.int64
    assert (np.diff(chosen) > 0).all()
    part = ensemble.subset(partitions=chosen)
    np.testing.assert_array_equal(part.weights, 1.0 + chosen)
    assert EAC(3).fit(part).n_clusters_ == 3
    np.testing.assert_array_equal(SELECTIONS[name](ensemble), chosen)


@pytest.mark.parametrize("name", SELECTIONS)
def test_missing_labels_and_noise_are_accepted(name):
    labels, _ = mixed()
    rng = np.random.default_rng(1)
    labels[rng.random(labels.shape) < 0.1] = -1
    labels[rng.random(labels.shape) < 0.05] = -2
    chosen = SELECTIONS[name](labels)
    assert 1 <= len(chosen) <= labels.shape[1]


@pytest.mark.parametrize("name", SELECTIONS)
def test_one_partition_is_selected(name):
    np.testing.assert_array_equal(SELECTIONS[name](np.tile([[0], [1], [2]], (4, 1))), [0])


@pytest.mark.parametrize("measure", ["nmi", "ari"])
def test_agreement_weights_are_mean_similarities(measure):
    labels, _ = mixed(bad=2)
    S = np.maximum(naive.similarities(labels, measure), 0)
    q = naive.quality(S)
    actual = weighting.agreement_weights(labels, measure=measure)
    np.testing.assert_allclose(actual, q / q.max(), atol=1e-12)
    scaled = weighting.agreement_weights(labels, measure=measure, scale=True)
    np.testing.assert_allclose(scaled, (q - q.min()) / (q.max() - q.min()), atol=1e-12)


def test_equal_partitions_have_equal_weights():
    labels = np.tile([[0], [0], [1], [1]], (1, 3))
    for scale in (False, True):
        np.testing.assert_array_equal(weighting.agreement_weights(labels, scale=scale), 1.0)
    apart = [[0, -1], [0, -1], [-1, 0], [-1, 1]]
    np.testing.assert_array_equal(weighting.agreement_weights(apart), 1.0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_joint_criterion_is_greedy(seed, alpha):
    labels, _ = mixed(seed)
    S = naive.similarities(labels)
    for size in (1, 2, 5, 12):
        actual = weighting.joint_criterion(labels, size, alpha=alpha)
        assert actual.tolist() == naive.joint_criterion(S, size, alpha)


def test_duplicates_are_never_both_selected_by_clusters():
    labels, _ = mixed()
    doubled = np.hstack([labels, labels[:, ::-1]])
    chosen = weighting.cluster_and_select(doubled, 12, random_state=0)
    assert len(chosen) == 12
    assert len(np.unique(doubled[:, chosen], axis=1).T) == 12
    for size in (2, 5, 8):
        chosen = weighting.cluster_and_select(doubled, size, random_state=0)
        assert len(np.unique(doubled[:, chosen], axis=1).T) == len(chosen) == size


def test_clusters_of_partitions_select_their_best_member():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 90))
    noisy = [
        np.where(rng.random(90) < p, rng.integers(3, size=90), x)
        for x in (a, b)
        for p in (0, 0.1, 0.2)
    ]
    labels = np.column_stack(noisy)
    chosen = weighting.cluster_and_select(labels, 2, random_state=0)
    assert [u // 3 for u in chosen] == [0, 1]
    q = naive.quality(naive.similarities(labels))
    assert [int(q[:3].argmax()), 3 + int(q[3:].argmax())] == chosen.tolist()


def test_validity_weights_are_the_mean_of_scaled_indices():
    labels, truth = mixed()
    X = points(truth)
    rows = [
        [silhouette_score(X, column) for column in labels.T],
        [calinski_harabasz_score(X, column) for column in labels.T],
        [-davies_bouldin_score(X, column) for column in labels.T],
    ]
    scaled = [(np.array(row) - min(row)) / (max(row) - min(row)) for row in rows]
    np.testing.assert_allclose(
        weighting.validity_weights(labels, X), np.mean(scaled, axis=0), atol=1e-12
    )
    for name, expected in zip(
        ("silhouette", "calinski_harabasz", "davies_bouldin"), scaled, strict=True
    ):
        np.testing.assert_allclose(
            weighting.validity_weights(labels, X, indices=name), expected, atol=1e-12
        )
    assert weighting.validity_weights(labels, X)[:7].min() > 0.3


def test_validity_ignores_unclustered_objects():
    labels, truth = mixed()
    X = points(truth)
    holes = labels.copy()
    holes[:20, 0] = -1
    holes[20:30, 0] = -2
    expected = [calinski_harabasz_score(X[30:], labels[30:, 0])]
    expected += [calinski_harabasz_score(X, column) for column in labels.T[1:]]
    scaled = (np.array(expected) - min(expected)) / (max(expected) - min(expected))
    actual = weighting.validity_weights(holes, X, indices="calinski_harabasz")
    np.testing.assert_allclose(actual, scaled, atol=1e-12)


def test_partitions_without_an_index_rank_last():
    labels = np.column_stack([np.repeat([0, 1], 5), np.zeros(10, int), np.arange(10)])
    X = np.repeat([[0.0], [5.0]], 5, axis=0) + np.linspace(0, 1, 10)[:, None]
    np.testing.assert_array_equal(weighting.validity_weights(labels, X), [1, 0, 0])
    np.testing.assert_array_equal(weighting.validity_weights(labels[:, 1:], X), [1, 1])


def test_silhouettes_can_use_a_sample():
    labels, truth = mixed(n=300)
    X = points(truth)
    whole = weighting.validity_weights(labels, X, indices="silhouette")
    some = weighting.validity_weights(
        labels, X, indices="silhouette", max_samples=150, random_state=0
    )
    assert np.abs(whole - some).max() < 0.2
    repeated = weighting.validity_weights(
        labels, X, indices="silhouette", max_samples=150, random_state=0
    )
    np.testing.assert_array_equal(some, repeated)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 2)), r"X must be of shape \(80, n_features\)"),
        (np.zeros(80), r"X must be of shape \(80, n_features\)"),
        (np.full((80, 2), np.nan), "'X' contains NaN in columns 0"),
        ([["a"]] * 80, "'X' must be numbers"),
    ],
)
def test_mismatched_data_are_refused(X, message):
    labels, _ = mixed()
    with pytest.raises(InputError, match=message):
        weighting.validity_weights(labels, X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda L: weighting.joint_criterion(L, 13),
            r"'size' parameter of joint_criterion must be",
        ),
        (lambda L: weighting.cluster_and_select(L, 0), "'size' parameter of cluster_and_select"),
        (lambda L: weighting.validity_weights(L, L, indices=()), "'indices' parameter"),
        (lambda L: weighting.validity_weights(L, L, indices="dunn"), "'indices' parameter"),
    ],
)
def test_invalid_parameters_are_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call(mixed()[0])


# -- degenerate partitions


def with_degenerate(seed=0, n=120, k=4):
    """Labels of good partitions, with a degenerate one after each: outliers cut off, in fours."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    columns = []
    for u in range(6):
        columns.append(np.where(rng.random(n) < 0.1, rng.integers(k, size=n), truth))
        lump = np.zeros(n, dtype=np.int64)
        lump[rng.choice(n, 3, replace=False)] = 1 + np.arange(3) % (1 + u % 3)
        columns.append(lump)
    return np.column_stack(columns), truth


def test_degenerate_partitions_have_one_large_cluster():
    labels, _ = with_degenerate()
    assert weighting.degenerate_partitions(labels).tolist() == [False, True] * 6
    assert not weighting.degenerate_partitions(labels, 1.0).any()
    # 118 of 120 objects, one more than that many, and less.
    edge = np.column_stack([np.arange(120) % 4, np.maximum(np.arange(120) - 117, 0)])
    assert weighting.degenerate_partitions(edge, 118 / 120).tolist() == [False, False]
    assert weighting.degenerate_partitions(edge, 117.5 / 120).tolist() == [False, True]


def test_missing_and_noise_count_in_the_share():
    four = np.repeat([0, 1, 2, 3], 5)
    hidden = np.where(np.arange(20) < 11, -1, np.where(np.arange(20) < 12, 1, 0))  # 8 of 9
    noisy = np.where(np.arange(20) < 11, -2, np.where(np.arange(20) < 12, 1, 0))  # 8 of 20
    labels = np.column_stack([four, hidden, noisy])
    assert weighting.degenerate_partitions(labels).tolist() == [False, True, False]


def test_a_large_cluster_in_nearly_all_partitions_is_not_degenerate():
    labels, _ = with_degenerate()
    most = np.column_stack([labels[:, 0], labels[:, 1::2]])
    assert not weighting.degenerate_partitions(most).any()
    weighted = Ensemble(most, weights=[6.0] + [1.0] * 6)
    assert weighting.degenerate_partitions(weighted).tolist() == [False] + [True] * 6
    soft = Ensemble.from_memberships([np.eye(4)[labels[:, u]] for u in (0, 1, 2)])
    assert weighting.degenerate_partitions(soft).tolist() == [False, True, False]


@pytest.mark.parametrize("name", SELECTIONS)
def test_degenerate_partitions_are_not_selected(name):
    labels, truth = with_degenerate()
    chosen = SELECTIONS[name](labels)
    assert (chosen % 2 == 0).all()
    found_labels = PCC(4, divergence="l2", random_state=0).fit(labels[:, chosen]).labels_
    assert adjusted_rand_index(truth, found_labels) > 0.9


def test_diversity_alone_selects_degenerate_partitions():
    labels, _ = with_degenerate()
    assert (weighting.joint_criterion(labels, max_share=1.0) % 2 == 1).any()
    assert len(weighting.joint_criterion(labels, 8)) == 6


def test_max_share_must_be_a_share():
    labels, _ = with_degenerate()
    for function in (weighting.degenerate_partitions, weighting.joint_criterion):
        with pytest.raises(ParameterError, match=f"'max_share' parameter of {function.__name__}"):
            function(labels, max_share=1.5)


def test_the_first_of_equally_good_partitions_is_selected():
    halves = np.repeat([0, 1], 6)
    # Two pairs of partitions that are equal but for the order of objects: qualities are equal within a pair.
    first, second = halves.copy(), halves.copy()
    first[0], second[2] = 1, 1
    across = np.arange(12) % 2
    third, fourth = across.copy(), across.copy()
    third[6], fourth[8] = 1, 1
    labels = np.column_stack([first, second, third, fourth])
    quality = naive.quality(naive.similarities(labels))
    assert quality[0] == pytest.approx(quality[1])
    assert quality[2] == pytest.approx(quality[3])
    assert weighting.cluster_and_select(labels, 2, random_state=0).tolist() == [0, 2]


def test_a_partition_of_weight_0_does_not_decide_the_range_of_an_index():
    actual = weighting.relevance_weights([[0.1, 0.5, 0.9, 7.0]], weights=[1.0, 1.0, 2.0, 0.0])
    np.testing.assert_allclose(
        actual[:3], weighting.relevance_weights([[0.1, 0.5, 0.9]], weights=[1, 1, 2])
    )
    assert actual[3] == 0.0


def test_relevance_matches_a_worked_example():
    # I - mean = -.4, -.2, .6: three bins, so that the entropy is log 3; relevance log 3 times .6, .8, .4.
    actual = weighting.relevance_weights([[3.0, 5.0, 13.0]])
    np.testing.assert_allclose(actual, [0.75, 1.0, 0.5])
    # The second index has two values: entropy of (1/3, 2/3); I - mean = -2/3, 1/3, 1/3.
    entropy = -(np.log(1 / 3) + 2 * np.log(2 / 3)) / 3
    both = np.log(3) * np.array([0.6, 0.8, 0.4]) + entropy * np.array([1 / 3, 2 / 3, 2 / 3])
    actual = weighting.relevance_weights([[3.0, 5.0, 13.0], [0.0, 1.0, 1.0]])
    np.testing.assert_allclose(actual, both / both.max())
