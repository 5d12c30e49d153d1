"""FCA-Consensus against its slow twin, on the worked examples, and by its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from tests.cases import E2
from tests.naive import lattice as naive

from conclust import Ensemble, EnsembleGenerator, FCAConsensus
from conclust._kernels import ConceptGrowth
from conclust.ensemble.labels import label_view
from conclust.evidence import evidence
from conclust.exceptions import EvidenceWarning, ParameterError


def numbered(clusters):
    """Number any hashable clusters by first appearance."""
    numbers = {}
    return [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]


def correlated(rng, n, m, k=4, errors=0.1, missing=0.0, noise=0.0):
    """Two groups of partitions that follow one planted partition each, with errors."""
    truths = rng.integers(0, k, (2, n))
    labels = truths[np.arange(m) % 2].T.copy()
    wrong = rng.random((n, m)) < errors
    labels[wrong] = rng.integers(0, k, np.count_nonzero(wrong))
    labels[rng.random((n, m)) < missing] = -1
    labels[rng.random((n, m)) < noise] = -2
    labels[labels.max(axis=1) < 0] = 0
    labels[0] = 0
    return labels


# -- worked examples


# -- the slow twin


def check_against_the_twin(labels, threshold, weights=None):
    model = FCAConsensus(int(threshold)).fit(Ensemble(labels, weights=weights))
    expected = naive.fca_labels(labels.tolist(), threshold, weights)
    np.testing.assert_array_equal(model.labels_, numbered(expected))
    concept, intents, *_, passes = naive.fca_consensus(labels.tolist(), threshold, weights)
    # The twin repeats passes until one changes nothing; the kernel makes one.
    assert model.n_iter_ == passes <= 2
    np.testing.assert_array_equal(model.covered_, [c is not None for c in concept])
    for k in range(model.n_clusters_):
        cluster = expected[int(np.argmax(model.labels_ == k))]
        if isinstance(cluster, int):
            voting = {u for u, _ in intents[cluster]}
            assert voting == set(np.flatnonzero(model.intents_[k]).tolist())

    order = naive.by_size(labels.tolist())
    by_size = FCAConsensus(int(threshold), order="size").fit(Ensemble(labels, weights=weights))
    found = np.empty(len(labels), dtype=object)
    found[order] = naive.fca_labels(labels[order].tolist(), threshold, weights)
    np.testing.assert_array_equal(by_size.labels_, numbered(found))


@pytest.mark.long
@settings(max_examples=120, deadline=None, derandomize=True)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
def test_the_kernel_matches_its_twin(data):
    n, m = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 6))
    low = data.draw(st.sampled_from([0, -1, -2]))
    labels = np.array(
        data.draw(
            st.lists(st.lists(st.integers(low, 2), min_size=m, max_size=m), min_size=n, max_size=n)
        )
    )
    labels[0, (labels == -1).all(axis=0)] = 0
    labels[(labels == -1).all(axis=1), 0] = 1
    weights = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=m, max_size=m))
    total = m if weights is None else sum(weights)
    check_against_the_twin(labels, data.draw(st.integers(1, total)), weights)


CASES = {
    "complete": {},
    "missing": {"missing": 0.15},
    "noise": {"noise": 0.05},
    "missing, noise": {"missing": 0.1, "noise": 0.05},
    "many errors": {"errors": 0.5},
    "many clusters": {"k": 40},
}


@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
@pytest.mark.parametrize("threshold", [2, 5, 8])
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_matches_its_twin_for_many_words_of_bits(case, threshold):
    rng = np.random.default_rng(threshold)
    labels = correlated(rng, 140, 12, **CASES[case])
    check_against_the_twin(labels, threshold)
    check_against_the_twin(labels, threshold, rng.integers(1, 3, 12).tolist())


@pytest.mark.long
def test_the_kernel_matches_its_twin_for_blocks_of_words():
    labels = correlated(np.random.default_rng(0), 700, 10, errors=0.3)
    assert len(Ensemble(labels).distinct_rows()) > 512
    check_against_the_twin(labels, 4)
    check_against_the_twin(labels, 5, np.random.default_rng(1).uniform(0.2, 1.5, 10).tolist())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_all_code_types_and_budgets_give_the_same(dtype):
    labels = correlated(np.random.default_rng(0), 150, 8, errors=0.2)
    codes = Ensemble(labels).codes
    units = np.ascontiguousarray(codes[Ensemble(labels).distinct_rows().first])
    found = []
    for words in (1, 100, 10**9):
        kernel = ConceptGrowth(label_view(units.astype(dtype)))
        for _ in range(2):  # a second start resets the first
            kernel.start(3)
            calls = 1
            while not kernel.grow(words):
                calls += 1
        assert (calls == 1) == (words == 10**9)
        concept_of = np.empty(len(units), dtype=np.int64)
        intents = np.empty((kernel.n_concepts, 8), dtype=np.uint8)
        kernel.read(concept_of, intents)
        found.append((concept_of, intents))
    for concept_of, intents in found[1:]:
        np.testing.assert_array_equal(concept_of, found[0][0])
        np.testing.assert_array_equal(intents, found[0][1])


# -- properties of a consensus


@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
def test_remaining_objects_join_the_cluster_with_most_of_their_labels():
    labels = correlated(np.random.default_rng(6), 2500, 12, missing=0.5)
    model = FCAConsensus(6).fit(labels)
    held = np.flatnonzero(model.covered_)
    clusters, first = np.unique(model.labels_[held], return_index=True)
    intents = np.where(model.intents_[clusters], labels[held[first]], -3)
    sizes = np.bincount(model.labels_[held])[clusters]
    left = np.flatnonzero(~model.covered_)
    assert left.size > 500
    for g in left:
        votes = (labels[g] == intents).sum(axis=1)
        best = votes.max()
        assert best > 0
        largest = sizes[votes == best].max()
        k = np.searchsorted(clusters, model.labels_[g])
        assert votes[k] == best
        assert sizes[k] == largest


def test_an_object_without_shared_labels_is_a_singleton():
    labels = np.array([[0, 0, 0], [0, 0, 0], [1, -1, -1], [1, -1, -1]])
    with pytest.warns(EvidenceWarning):
        model = FCAConsensus(2).fit(labels)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.intents_, [[True] * 3, [True, False, False]])


# -- thresholds and weights


@pytest.mark.parametrize(
    ("m", "share", "votes"),
    [(5, 0.5, 3), (4, 0.5, 2), (100, 0.07, 7), (3, 1.0, 3), (10, 0.001, 1), (100, 0.29, 29)],
)
def test_a_share_is_rounded_up(m, share, votes):
    labels = np.zeros((4, m), dtype=int)
    assert FCAConsensus(share).fit(labels).threshold_ == votes


def fit_of_pairs(labels, ensemble):
    """Covariance of the shares with "one cluster", by the latter's deviation, from all pairs."""
    c, present = evidence(ensemble)
    upper = np.triu_indices(len(labels), 1)
    weight = present[upper]
    seen = weight > 0
    share = (c[upper] / np.where(seen, weight, 1))[seen]
    same = np.equal.outer(labels, labels)[upper][seen]
    if same.all() or not same.any():
        return 0.0
    cov = np.cov(share, same, aweights=weight[seen], ddof=0)
    return cov[0, 1] / np.sqrt(cov[1, 1])


@pytest.mark.parametrize("case", ["complete", "missing, noise"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
def test_auto_is_the_default_and_picks_the_best_threshold_tried(case, weighted):
    rng = np.random.default_rng(4)
    labels = correlated(rng, 120, 11, **CASES[case])
    weights = rng.integers(1, 4, 11) if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    model = FCAConsensus().fit(ensemble)
    assert model.threshold == "auto"
    total = 11 if weights is None else weights.sum()
    np.testing.assert_allclose(model.thresholds_, np.arange(1, 12) * total / 11)
    if not weighted:
        for t, score in zip(model.thresholds_, model.scores_, strict=True):
            found = FCAConsensus(int(t)).fit_predict(ensemble)
            assert score == pytest.approx(fit_of_pairs(found, ensemble), abs=1e-12)
    best = fit_of_pairs(model.labels_, ensemble)
    assert model.scores_.max() == pytest.approx(best, abs=1e-12)
    assert model.threshold_ == model.thresholds_[np.argmax(model.scores_)]
    assert not hasattr(model.set_params(threshold=3).fit(labels), "scores_")


@pytest.mark.long
def test_auto_recovers_classes_that_a_threshold_of_half_shatters():
    """Members of 3 to 20 clusters of 3 classes, as in the papers' ensembles."""
    auto, half = [], []
    for seed in range(6):
        generator = EnsembleGenerator(
            "kmeans", 60, n_clusters=range(3, 21), init="random", random_state=seed
        )
        labels = generator.fit_transform(load_iris().data)
        auto.append(FCAConsensus().fit(labels).n_clusters_)
        half.append(FCAConsensus(0.5).fit(labels).n_clusters_)
    assert np.median(auto) <= 8
    assert min(half) > 16
    assert max(np.array(auto) / half) < 0.8


def test_auto_handles_one_cluster_and_singletons():
    np.testing.assert_array_equal(FCAConsensus().fit_predict(np.zeros((5, 3), int)), 0)
    apart = np.repeat(np.arange(5)[:, None], 3, axis=1)
    np.testing.assert_array_equal(FCAConsensus().fit_predict(apart), np.arange(5))


@pytest.mark.long
def test_auto_tries_a_hundred_thresholds_from_a_twentieth_on():
    for m, expected in ((35, np.arange(2, 36)), (60, np.arange(3, 61)), (200, 100)):
        model = FCAConsensus().fit(np.repeat([[0], [0], [1], [2]], m, axis=1))
        if isinstance(expected, int):
            assert len(model.thresholds_) == len(np.unique(model.thresholds_)) == expected
            assert (model.thresholds_[0], model.thresholds_[-1]) == (m // 20, m)
        else:
            np.testing.assert_array_equal(model.thresholds_, expected)


@pytest.mark.parametrize("threshold", [0, -1, 4, 0.0, 1.01, -0.5, np.nan, "half", None, True, [2]])
def test_invalid_thresholds_are_refused(threshold):
    with pytest.raises(
        ParameterError, match=r"'threshold' parameter of FCAConsensus must be an int in .*\[1, 3\]"
    ):
        FCAConsensus(threshold).fit(E2)
