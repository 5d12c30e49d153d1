"""The measures against scikit-learn, their definitions and brute force."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from tests.naive import measures as naive

from conclust import Ensemble, metrics
from conclust.exceptions import DenseLimitError, EvidenceWarning, InputError, ParameterError

TWO = [
    metrics.consistency_index,
    metrics.rand_index,
    metrics.adjusted_rand_index,
    metrics.pairwise_f1,
    metrics.pairwise_precision,
    metrics.pairwise_recall,
    metrics.class_f1,
    metrics.purity,
    metrics.fowlkes_mallows_index,
    metrics.bcubed_f1,
    metrics.normalized_mutual_information,
    metrics.variation_of_information,
    metrics.mirkin_distance,
]
ZERO_IS_BEST = (metrics.variation_of_information, metrics.mirkin_distance)
# Classes and clusters exchanged: the other of the pair.
EXCHANGED = {metrics.pairwise_precision: metrics.pairwise_recall}
SYMMETRIC = [
    measure
    for measure in TWO
    if measure not in (metrics.class_f1, metrics.purity, *EXCHANGED, *EXCHANGED.values())
]
by_name = pytest.mark.parametrize("measure", TWO, ids=lambda measure: measure.__name__)

# The worked example of the adjusted Rand index.
A, B = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]


def two_labels(low, high, size):
    column = st.lists(st.integers(low, high), min_size=size, max_size=size)
    return st.tuples(column, column)


complete = st.integers(2, 9).flatmap(lambda n: two_labels(0, 3, n))
incomplete = st.integers(2, 8).flatmap(lambda n: two_labels(-2, 2, n))


def observed(a, b):
    return any(x != -1 and y != -1 for x, y in zip(a, b, strict=True))


def ari_of(pairs):
    both, only_a, only_b, _ = pairs
    total, a, b = sum(pairs), both + only_a, both + only_b
    if total == 0 or (a + b) / 2 == a * b / total:
        return 1.0
    return (both - a * b / total) / ((a + b) / 2 - a * b / total)


def together(a, b):
    """Return whether any pair of objects is together in a partition: measures of such pairs are 0 / 0 otherwise."""
    pairs = metrics.pair_confusion(a, b)
    return pairs.neither < pairs.n_pairs


@pytest.mark.long
@settings(derandomize=True, max_examples=60, deadline=None)
@given(complete)
def test_measures_agree_with_scikit_learn(labels):
    a, b = labels
    assume(together(a, b))
    assert metrics.rand_index(a, b) == pytest.approx(sk.rand_score(a, b))
    if len(set(a)) < len(a) or len(set(b)) < len(b):  # otherwise 0 / 0 is 0 there
        expected = sk.fowlkes_mallows_score(a, b)
        assert metrics.fowlkes_mallows_index(a, b) == pytest.approx(expected)
    assume(len(set(a)) > 1 and len(set(b)) > 1)  # scikit-learn: 0 / 0 is 1 there
    for average in ("geometric", "arithmetic", "max", "min"):
        expected = sk.normalized_mutual_info_score(a, b, average_method=average)
        actual = metrics.normalized_mutual_information(a, b, average=average)
        assert actual == pytest.approx(expected, abs=1e-12)
        # Else the denominator may be 0, where versions of scikit-learn differ.
        if average != "min" and len(set(a)) < len(a):
            expected = sk.adjusted_mutual_info_score(a, b, average_method=average)
            actual = metrics.adjusted_mutual_information(a, b, average=average)
            assert actual == pytest.approx(expected, abs=1e-9)


def test_adjusted_mutual_information_is_zero_by_chance():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 30, 120)
    shuffled = [metrics.adjusted_mutual_information(a, rng.permutation(a)) for _ in range(60)]
    assert abs(np.mean(shuffled)) < 3 * np.std(shuffled) / np.sqrt(60)
    singletons = np.arange(120)
    # The mutual information is the same for every partition: chance explains all of it.
    for average in ("arithmetic", "geometric", "max", "min"):
        assert metrics.adjusted_mutual_information(a, singletons, average=average) == pytest.approx(
            0
        )
    assert metrics.adjusted_mutual_information(a, a) == 1.0
    assert metrics.adjusted_mutual_information(a, np.zeros(120)) == 0.0
    assert metrics.adjusted_mutual_information([0, 0], [1, 1]) == 1.0
    with pytest.raises(ParameterError, match="'average' parameter of adjusted_mutual_information"):
        metrics.adjusted_mutual_information(a, a, average="mean")


def test_adjusted_mutual_information_of_missing_objects_and_noise():
    a, b = [0, 0, 1, 1, 2], [0, 1, 1, 1, 0]
    # Noise is a cluster of one; what is missing from either is left out.
    assert metrics.adjusted_mutual_information([*a, -2, -2, 0], [*b, 0, 1, -1]) == pytest.approx(
        sk.adjusted_mutual_info_score([*a, 8, 9], [*b, 0, 1])
    )


@settings(derandomize=True, max_examples=60, deadline=None)
@given(incomplete)
def test_measures_match_their_definitions_with_missing_and_noise(labels):
    a, b = labels
    assume(observed(a, b) and together(a, b))
    pairs = naive.pairs(a, b)
    both, only_a, only_b, _ = pairs
    actual = metrics.pair_confusion(a, b)
    assert (actual.both, actual.only_true, actual.only_pred, actual.neither) == pairs
    assert actual.n_pairs == sum(pairs)
    assert metrics.consistency_index(a, b) == naive.consistency_index(a, b)
    assert metrics.adjusted_rand_index(a, b) == pytest.approx(ari_of(pairs))
    assert metrics.mirkin_distance(a, b) == only_a + only_b
    assert metrics.class_f1(a, b) == pytest.approx(naive.class_f1(a, b))
    assert metrics.purity(a, b) == naive.purity(a, b)
    precision, recall = naive.bcubed_precision(a, b), naive.bcubed_precision(b, a)
    assert metrics.bcubed_f1(a, b) == pytest.approx(2 / (1 / precision + 1 / recall))
    assert metrics.pairwise_precision(a, b) == (both / (both + only_b) if both + only_b else 1)
    assert metrics.pairwise_recall(a, b) == (both / (both + only_a) if both + only_a else 1)
    for average in ("geometric", "arithmetic", "max", "min"):
        assert metrics.normalized_mutual_information(a, b, average=average) == pytest.approx(
            naive.nmi(a, b, average), abs=1e-12
        )
    assert metrics.variation_of_information(a, b) == pytest.approx(
        naive.variation_of_information(a, b), abs=1e-12
    )


@pytest.mark.long
@settings(derandomize=True, max_examples=50, deadline=None)
@given(incomplete, st.permutations(range(3)), st.randoms(use_true_random=False))
def test_names_and_order_change_no_bit(labels, names, random):
    a, b = labels
    assume(observed(a, b) and together(a, b))
    renamed = [names[x] if x >= 0 else x for x in a]
    order = list(range(len(a)))
    random.shuffle(order)
    for measure in TWO:
        assert measure(renamed, b) == measure(a, b)
        assert measure([a[i] for i in order], [b[i] for i in order]) == measure(a, b)
    for measure in SYMMETRIC:
        assert measure(a, b) == measure(b, a)
    for measure, other in EXCHANGED.items():
        assert measure(a, b) == other(b, a)


@by_name
@pytest.mark.parametrize(
    "labels",
    [[0, 0, 1, 1, 2], [0, 0, 0], [0, 0, 1, -2, -2], ["a", "b", "a"], [0, 0, 1, -1]],
    ids=str,
)
def test_equal_partitions_are_perfect(measure, labels):
    other = {0: 5, 1: 3, 2: 9, "a": "y", "b": "x", -1: -1, -2: -2}
    assert measure(labels, [other[x] for x in labels]) == (0 if measure in ZERO_IS_BEST else 1)


def test_degenerate_partitions_have_defined_scores():
    one, single = [0, 0, 0, 0], [0, 1, 2, 3]
    assert metrics.adjusted_rand_index(one, single) == 0
    assert metrics.rand_index(one, single) == 0
    assert metrics.normalized_mutual_information(one, [0, 0, 1, 1]) == 0
    assert metrics.pairwise_precision(one, single) == 1  # no pair was predicted
    assert metrics.pairwise_recall(one, single) == 0
    assert metrics.pairwise_f1(one, single) == 0
    assert metrics.fowlkes_mallows_index(one, single) == 0
    assert metrics.purity([0, 0, 1, 1], single) == 1
    assert metrics.bcubed_f1(one, single) == 0.4  # precision 1, recall a quarter
    assert metrics.rand_index([0, -1], [0, 0]) == 1  # one object in common: no pair


def test_two_partitions_of_single_objects_have_no_measure_of_pairs():
    single = [0, 1, 2, 3]
    for name in (
        "adjusted_rand_index",
        "pairwise_precision",
        "pairwise_f1",
        "fowlkes_mallows_index",
    ):
        with pytest.warns(EvidenceWarning, match="alone in both partitions"):
            assert np.isnan(getattr(metrics, name)(single, [9, 8, 7, 6]))
    assert metrics.rand_index(single, single) == 1


def test_clusters_that_split_classes_are_pure_to_the_bit():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 137, 1_000)
    classes = clusters % 11
    assert metrics.purity(classes, clusters) == 1
    assert metrics.purity(clusters, classes) < 1


def test_pair_counts_do_not_overflow():
    n = 200_000  # 2e10 pairs: their products exceed 64 bits
    a = np.zeros(n, dtype=np.int64)
    b = np.arange(n) % 2
    pairs = metrics.pair_confusion(a, b)
    assert pairs.both == 2 * (n // 2 * (n // 2 - 1) // 2)
    assert pairs.n_pairs == n * (n - 1) // 2
    assert metrics.adjusted_rand_index(a, b) == 0.0
    assert metrics.adjusted_rand_index(b, 1 - b) == 1.0


def test_noise_objects_are_singletons():
    a, b = [0, 0, -2, -2, 1, 1], [0, 0, 0, 1, 1, -2]
    alone_a, alone_b = [0, 0, 7, 8, 1, 1], [0, 0, 0, 1, 1, 9]
    for measure in TWO:
        assert measure(a, b) == measure(alone_a, alone_b)


@pytest.mark.parametrize(
    "column",
    [
        ["x", "x", None, "y"],
        [4.0, 4.0, np.nan, 6.0],
        pd.Series([4, 4, None, 6], dtype="Int64"),
        pl.Series(["x", "x", None, "y"]),
        np.array([6, -1, 4, 4])[::-1],
    ],
    ids=["names", "floats", "pandas", "polars", "view"],
)
def test_containers_and_missing_labels_are_accepted(column):
    assert metrics.rand_index(column, [0, 0, 1, 1]) == 1.0
    actual = metrics.contingency(column, [0, 0, 1, 1])
    assert actual.n_samples == 3
    assert actual.table.tolist() == [[2, 0], [0, 1]]


def test_contingency_tables_have_names_and_sizes():
    actual = metrics.contingency(["b", "a", "b", "c"], [9, 2, 9, -1])
    assert actual.row_labels == ("b", "a")
    assert actual.column_labels == (9, 2)
    assert actual.shape == (2, 2)
    assert actual.row_sizes.tolist() == actual.column_sizes.tolist() == [2, 1]
    assert "n_samples=3" in repr(actual)
    n = 30_000
    every = metrics.contingency(np.arange(n), np.arange(n)[::-1])
    assert every.counts.size == n
    with pytest.raises(DenseLimitError, match="'rows', 'columns' and 'counts'"):
        _ = every.table


@pytest.mark.long
def test_very_many_clusters_are_compared():
    # 30,000 x 30,000 clusters (7 GB): only the sparse assignment can do it.
    rng = np.random.default_rng(0)
    n = 30_000
    a, b = np.arange(n), np.arange(n)
    a[:10_000] = rng.integers(100, size=10_000)
    b[5_000:15_000] = rng.integers(100, size=10_000)
    actual = metrics.consistency_index(a, b)
    assert 0.5 < actual < 1
    assert actual == metrics.consistency_index(b, a)


@pytest.mark.parametrize("measure", [metrics.purity, metrics.consistency_index])
@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ([0, 1, 1], [0, 1], "the same length. Got 3 labels in 'labels_true' and 2"),
        ([], [], "at least two objects. Got 0"),
        ([0], [0], "at least two objects. Got 1"),
        (
            [[0, 1], [1, 0]],
            [0, 1],
            r"1-D array, one label per object. Got an array of shape \(2, 2",
        ),
        ([0, [1, 2]], [0, 1], "ragged"),
        ([0, -1], [-1, 0], "No object has a label in both"),
        ([0, -3], [0, 0], "'labels_true' cannot be read.*-3"),
        ([0, 1], [0.5, 1], "'labels_pred' cannot be read.*whole"),
        ([0, np.inf], [0, 1], "infinite"),
        ([0, 1j], [0, 1], "Complex"),
        (pd.DataFrame({"a": [0, 1]}), [0, 1], "choose a column"),
    ],
    ids=[
        "length",
        "empty",
        "one",
        "2d",
        "ragged",
        "apart",
        "neg",
        "part",
        "inf",
        "complex",
        "frame",
    ],
)
def test_invalid_labels_are_refused(measure, a, b, sentence):
    with pytest.raises(InputError, match=sentence):
        measure(a, b)


# --------------------------------------------------------------------------------- memberships


def soft(rng, n, k):
    return rng.dirichlet(np.full(k, 0.5), size=n)


@pytest.mark.parametrize(("k", "j"), [(1, 1), (2, 2), (3, 3), (5, 5), (2, 4), (5, 1)])
def test_js_divergence_minimises_over_permutations(k, j):
    rng = np.random.default_rng([k, j])
    Z, Y = soft(rng, 6, k), soft(rng, 6, j)
    Z[0], Z[1] = np.eye(k)[0], np.eye(k)[-1]
    actual = metrics.js_divergence(Z, Y)
    assert actual == pytest.approx(naive.js_divergence(Z.tolist(), Y.tolist()), abs=1e-12)
    assert actual == pytest.approx(metrics.js_divergence(Y, Z), abs=1e-14)
    assert 0 <= actual <= 1


@pytest.mark.parametrize(
    ("Z", "sentence"),
    [
        ([[0.5, 0.4], [1, 0]], "row 0 .* sum 0.9"),
        ([[1, 0], [1.5, -0.5]], "row 1 .* smallest value -0.5"),
        ([[1, 0], [np.nan, 1]], "row 1"),
        ([1, 0], "2-D"),
        ([["a", "b"], ["c", "d"]], "must be numbers"),
        ([[1, 0]], "as many rows. Got 1 in 'Z' and 2 in 'Y'"),
    ],
    ids=["sum", "negative", "nan", "1d", "text", "length"],
)
def test_invalid_memberships_are_refused(Z, sentence):
    with pytest.raises(InputError, match=sentence):
        metrics.js_divergence(Z, [[1, 0], [0, 1]])


# --------------------------------------------------------------------------------- ensembles


def random_labels(rng, n, m, low, k):
    labels = rng.integers(low, k, size=(n, m))
    labels[0], labels[1] = 0, 1
    return labels


@pytest.mark.parametrize("low", [0, -1, -2])
@pytest.mark.parametrize("average", ["geometric", "arithmetic", "max", "min"])
def test_anmi_is_the_weighted_mean(low, average):
    rng = np.random.default_rng(abs(low))
    members = random_labels(rng, 30, 6, low, 4)
    labels = random_labels(rng, 30, 1, low, 3)[:, 0]
    shares = [int(((labels != -1) & (column != -1)).sum()) for column in members.T]
    scores = [naive.nmi(labels.tolist(), column.tolist(), average) for column in members.T]
    expected = np.average(scores, weights=shares)
    assert metrics.anmi(labels, members, average=average) == pytest.approx(expected)
    weights = np.array([0.0, 1, 2, 0.5, 1, 3])
    expected = np.average(scores, weights=weights * shares)
    weighted = Ensemble(members, weights=weights)
    assert metrics.anmi(labels, weighted, average=average) == pytest.approx(expected)


def test_anmi_of_a_unanimous_ensemble_is_one():
    a = [0, 0, 1, 1, 2]
    assert metrics.anmi(a, np.column_stack([a, a, [2 - x for x in a]])) == 1
    assert metrics.anmi(["x", "x", "y", "y", "z"], np.column_stack([a, a])) == 1


@pytest.mark.parametrize("low", [0, -1, -2])
@pytest.mark.parametrize("measure", ["nmi", "ari"])
@pytest.mark.parametrize("average", ["geometric", "arithmetic", "max", "min"])
def test_partition_similarities_equal_the_pairwise_measures(low, measure, average):
    rng = np.random.default_rng(7)
    members = random_labels(rng, 25, 7, low, 4)
    members[:, 5] = 0
    members[:, 6] = np.where(members[:, 4] >= 0, members[:, 4] + 3, members[:, 4])
    similarities = metrics.partition_similarities(members, measure=measure, average=average)
    for u in range(7):
        for v in range(7):
            if measure == "nmi":
                expected = metrics.normalized_mutual_information(
                    members[:, u], members[:, v], average=average
                )
            else:
                expected = metrics.adjusted_rand_index(members[:, u], members[:, v])
            assert similarities[u, v] == pytest.approx(expected, abs=1e-12)
    assert (similarities == similarities.T).all()


def test_members_without_shared_objects_have_undefined_similarity():
    labels = [[0, -1], [1, -1], [-1, 0], [-1, 1]]
    similarities = metrics.partition_similarities(labels)
    assert np.isnan(similarities[0, 1])
    assert similarities[0, 0] == similarities[1, 1] == 1


def test_members_with_one_shared_object_have_similarity_one():
    for shared in (0, -2):
        labels = [[0, -1], [1, -1], [shared, shared], [-1, 0], [-1, 1]]
        for measure in ("nmi", "ari"):
            assert metrics.partition_similarities(labels, measure=measure)[0, 1] == 1


def test_partitions_of_noise_are_compared():
    labels = np.array([[-2, 0], [-2, 0], [-2, 1], [-2, 1]])
    for measure, of_two in (
        ("nmi", metrics.normalized_mutual_information),
        ("ari", metrics.adjusted_rand_index),
    ):
        similarities = metrics.partition_similarities(labels, measure=measure)
        assert similarities[0, 1] == pytest.approx(of_two(labels[:, 0], labels[:, 1]))


def test_invalid_ensembles_are_refused():
    members = [[0, 0], [0, 1], [1, 1]]
    with pytest.raises(InputError, match="Got 2 labels and an ensemble of 3 objects"):
        metrics.anmi([0, 1], members)
    with pytest.raises(InputError, match="No member"):
        metrics.anmi([-1, -1, 0], [[0], [0], [-1]])
    with pytest.raises(ParameterError, match="'average' parameter of anmi must be one of"):
        metrics.anmi([0, 0, 1], members, average="harmonic")
    with pytest.raises(ParameterError, match="'measure' parameter of partition_similarities"):
        metrics.partition_similarities(members, measure="rand")
    with pytest.raises(ParameterError, match="'average' parameter of normalized_mutual"):
        metrics.normalized_mutual_information([0, 1], [0, 1], average="mean")


def test_soft_members_are_compared_by_their_most_probable_clusters():
    rng = np.random.default_rng(0)
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 30) for _ in range(4)])
    labels = rng.integers(0, 3, 30)
    for measure in ("nmi", "ari", "vi"):
        actual = metrics.partition_similarities(soft, measure=measure)
        expected = metrics.partition_similarities(soft.labels, measure=measure)
        np.testing.assert_array_equal(actual, expected)
    assert metrics.anmi(labels, soft) == metrics.anmi(labels, soft.labels)
