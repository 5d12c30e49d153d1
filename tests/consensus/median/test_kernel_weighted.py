"""KernelWeightedPartition against the kernel's definition and brute force over all partitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.cases import E1
from tests.naive import optima
from tests.naive.resemblance import kernel, resemblance

from conclust import Ensemble, KernelWeightedPartition
from conclust._kernels import ResemblanceSearch
from conclust.consensus.median import kernel_weighted
from conclust.consensus.median.kernel_weighted import (
    Tables,
    log_joined,
    log_norms,
    log_resemblances,
)
from conclust.exceptions import InputError
from conclust.weighting import relevance_weights

KERNELS = ["pairs", "subsets"]


def random_ensembles(count, seed=0, n=7, reserved=False):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m = rng.integers(5, 10)
        labels = np.column_stack([rng.integers(0, rng.integers(2, 5), n) for _ in range(m)])
        if reserved:
            labels[rng.random(labels.shape) < 0.2] = -1
            labels[rng.random(labels.shape) < 0.1] = -2
            labels[:2, 0] = labels[0] = 0
            labels[:, 0] = np.maximum(labels[:, 0], 0)
        yield labels


def naive_objective(consensus, labels, weights, kind):
    return sum(
        w * resemblance(consensus, column, kind == "pairs")
        for w, column in zip(weights, labels.T, strict=True)
    )


# -- the kernel


def test_the_closed_form_of_the_kernel_equals_the_sum_over_subsets():
    for labels in random_ensembles(10, n=6, reserved=True):
        seen = labels[:, 1] != -1
        ensemble = Ensemble(labels[seen][:, :2])
        consensus = np.arange(seen.sum()) % 2
        tables = Tables.of(ensemble, consensus)
        norm = kernel(labels[seen, 1], labels[seen, 1])
        assert np.exp2(log_norms(tables, "subsets"))[1] == pytest.approx(norm)
        for kind in KERNELS:
            actual = np.exp2(log_resemblances(tables, kind))
            expected = [
                resemblance(consensus, column, kind == "pairs") for column in ensemble.labels.T
            ]
            np.testing.assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KERNELS)
def test_resemblances_are_updated_exactly_for_a_new_object(kind):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (9, 4))
    labels[2, 1] = labels[5, 3] = -2
    labels[4, 2] = -1
    labels[:3] = np.maximum(np.arange(3)[:, None], labels[:3] * (labels[:3] < 0))
    ensemble, consensus = Ensemble(labels), np.arange(9) % 3
    tables = Tables.of(ensemble, consensus)
    by_label, as_noise = log_joined(tables, kind)
    for t in range(int(ensemble.offsets[-1])):
        for c in range(3):
            u = int(np.searchsorted(ensemble.offsets, t, side="right")) - 1
            common, seen = tables.common.copy(), tables.observed.copy()
            common[t, c] += 1
            seen[u, c] += 1
            with_it = Tables(common, tables.noise, seen, tables.sizes, tables.alone, tables.offsets)
            assert by_label[t, c] == pytest.approx(log_resemblances(with_it, kind)[u])
    for u in range(4):
        noise, seen = tables.noise.copy(), tables.observed.copy()
        noise[u, 1] += 1
        seen[u, 1] += 1
        with_it = Tables(tables.common, noise, seen, tables.sizes, tables.alone, tables.offsets)
        assert as_noise[u, 1] == pytest.approx(log_resemblances(with_it, kind)[u])


# -- worked examples


# -- objectives match their definitions


@pytest.mark.long
@pytest.mark.parametrize("kind", KERNELS)
def test_the_log_objective_is_the_logarithm(kind):
    for r, labels in enumerate(random_ensembles(10, seed=2)):
        model = KernelWeightedPartition(3, kernel=kind, random_state=r).fit(labels)
        assert model.n_clusters_ == 3
        expected = optima.resemblances(labels, model.weights_, kind)[optima.place_of(model.labels_)]
        assert model.log_objective_ == pytest.approx(np.log(expected))
        naively = naive_objective(model.labels_, labels, model.weights_, kind)
        assert naively == pytest.approx(expected)


@pytest.mark.long
@pytest.mark.parametrize("kind", KERNELS)
def test_missing_noise_and_weights_count_as_documented(kind):
    for r, labels in enumerate(random_ensembles(12, seed=3, reserved=True)):
        given = np.random.default_rng(r).integers(0, 4, labels.shape[1])
        given[0] = 1
        model = KernelWeightedPartition(kernel=kind, learn_weights=False, random_state=r)
        model.fit(Ensemble(labels, weights=given))
        np.testing.assert_allclose(model.weights_, given / given.sum())
        expected = [resemblance(model.labels_, column, kind == "pairs") for column in labels.T]
        np.testing.assert_allclose(model.resemblances_, expected, atol=1e-12)
        assert model.objective_ == pytest.approx(given @ expected / given.sum())


# -- the search


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize(("m", "lowest"), [(6, -2), (6, 0), (19, -2), (19, 0)])
def test_the_tracked_objective_is_exact_and_transfers_raise_it(kind, k, m, lowest):
    rng = np.random.default_rng(4)
    labels = rng.integers(lowest, 4, (25, m))
    labels[:4] = np.arange(4)[:, None]
    ensemble = Ensemble(labels)
    everybody = Tables.of(ensemble, np.zeros(25, dtype=np.int64))
    weights = rng.random(m)
    logs = np.log2(weights) - 0.5 * log_norms(everybody, kind)
    search = ResemblanceSearch(
        np.ascontiguousarray(ensemble.labels, dtype=np.int32),
        np.ones(25),
        ensemble.offsets,
        everybody.sizes,
        logs if kind == "subsets" else np.exp2(logs),
        kind == "subsets",
        k is not None,
    )
    now = np.arange(25) % 3
    search.set(now, 3)
    value = search.objective()

    def recomputed():
        search.read(now)
        resemblances = np.exp2(log_resemblances(Tables.of(ensemble, now), kind))
        total = weights @ resemblances
        return np.log2(total) if kind == "subsets" else total

    assert value == pytest.approx(recomputed())
    for i in rng.integers(0, 25, 60):
        search.transfer(np.array([i]))
        assert search.objective() >= value - 1e-9
        value = search.objective()
        assert value == pytest.approx(recomputed())
    assert search.mean_fall(5, 100) > 0
    assert search.objective() == pytest.approx(value)
    assert search.anneal(5, 0, 0.1, 400) > 0
    assert search.objective() == pytest.approx(recomputed())
    if k is not None:
        assert search.n_clusters == 3


def test_subsets_of_thousands_of_objects_do_not_overflow():
    rng = np.random.default_rng(6)
    truth = np.repeat([0, 1], 2000)
    labels = np.where(rng.random((4000, 5)) < 0.1, rng.integers(0, 2, (4000, 5)), truth[:, None])
    model = KernelWeightedPartition(kernel="subsets", n_init=1, random_state=0).fit(labels)
    assert np.isfinite(model.log_objective_)
    assert adjusted_rand_score(truth, model.labels_) > 0.7


@pytest.mark.parametrize("kind", KERNELS)
def test_new_objects_join_the_cluster_with_the_largest_gain(kind):
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1, 2], 10)
    labels = np.column_stack([rng.permutation(3)[truth] for _ in range(6)])
    labels[rng.random(labels.shape) < 0.1] = -1
    model = KernelWeightedPartition(3, kernel=kind, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.predict(labels), truth)
    none = np.full((1, 6), -1)
    assert model.predict(none)[0] == -1


# -- weights and parameters


def test_relevance_matches_its_formula():
    values = np.array([[0.0, 0.5, 1.0, 1.0], [3.0, 3.0, 3.0, 5.0], [7.0, 7.0, 7.0, 7.0]])
    first = -(0.25 * np.log(0.25) * 2 + 0.5 * np.log(0.5)) * (1 - np.abs(values[0] - 0.625))
    index = np.array([0.0, 0.0, 0.0, 1.0])
    second = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25)) * (1 - np.abs(index - 0.25))
    actual = relevance_weights(values)
    np.testing.assert_allclose(actual, (first + second) / (first + second).max())
    np.testing.assert_array_equal(relevance_weights([2.0, 2.0]), [1.0, 1.0])
    kept = relevance_weights(values, weights=[1, 0, 2, 1])
    repeated = relevance_weights(values[:, [0, 2, 2, 3]])
    np.testing.assert_allclose(kept[[0, 2, 2, 3]], repeated)
    assert kept[1] == 0.0
    with pytest.raises(InputError, match="'values' must hold finite numbers"):
        relevance_weights([0.0, np.nan])
    with pytest.raises(InputError, match="'weights' must be 2 non-negative numbers"):
        relevance_weights([0.0, 1.0], weights=[0, 0])


def test_user_indices_weight_the_partitions():
    values = [[0.1, 0.2, 0.9]]
    model = KernelWeightedPartition(indices=values, random_state=0).fit(E1)
    expected = relevance_weights(values)
    np.testing.assert_allclose(model.weights_, expected / expected.sum())
    given = np.array([1.0, 2.0, 0.5])
    expected = given * relevance_weights(values, weights=given)
    model.fit(Ensemble(E1, weights=given))
    np.testing.assert_allclose(model.weights_, expected / expected.sum())
    with pytest.raises(InputError, match="'indices' must have a column for each of the 3"):
        KernelWeightedPartition(indices=[[1.0, 2.0]]).fit(E1)
    with pytest.raises(InputError, match="'indices' must be numbers"):
        KernelWeightedPartition(indices=[[1.0, 2.0], [3.0]]).fit(E1)
    with pytest.raises(InputError, match="'indices' must hold finite numbers"):
        KernelWeightedPartition(indices=[1.0, np.inf, 2.0]).fit(E1)


def test_annealings_end_when_three_agree(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 300)
    labels = np.where(rng.random((300, 9)) < 0.3, rng.integers(0, 4, (300, 9)), truth[:, None])
    begun = []
    annealed = kernel_weighted._annealed

    def watched(search, start, seed):
        begun.append(seed)
        return annealed(search, start, seed)

    monkeypatch.setattr(kernel_weighted, "_annealed", watched)
    model = KernelWeightedPartition(n_init=6, random_state=0).fit(labels)
    assert len(begun) == 3
    monkeypatch.setattr(kernel_weighted, "_AGREE", 7)
    every = KernelWeightedPartition(n_init=6, random_state=0).fit(labels)
    assert len(begun) == 3 + 6
    assert every.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_array_equal(every.labels_, model.labels_)
