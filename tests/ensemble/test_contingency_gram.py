"""The Gram matrix B'B: the kernel against the naive twin and against the sparse product."""

import numpy as np
import pytest
from tests.naive import evidence as naive

from conclust import Ensemble
from conclust._kernels import contingency_gram, contingency_rows
from conclust.ensemble.derived import counted_rows
from conclust.spectra import gram as products


def random_labels(rng, n, clusters, missing, noise):
    labels = np.column_stack([rng.integers(0, k, n) for k in clusters])
    labels[rng.random(labels.shape) < noise] = -2
    labels[rng.random(labels.shape) < missing] = -1
    labels[0] = 0
    return labels


@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.4, 0.2)])
@pytest.mark.parametrize(
    ("n", "clusters"),
    [
        (2, [1]),
        (50, [2, 1, 5]),
        (400, [3] * 40),
        # More objects than are counted together, by bits; the last group of words is not full.
        (4096, [2, 3]),
        (9000, [2, 7, 9, 1, 12]),
        # Too many clusters for bits.
        (60, [30, 40]),
        # Wider than the rows of one task: several tasks, and uint16 codes.
        (700, [300, 2, 280, 7, 250]),
    ],
)
def test_kernel_equals_the_naive_twin(missing, noise, n, clusters):
    rng = np.random.default_rng(n)
    ensemble = Ensemble(random_labels(rng, n, clusters, missing, noise))
    offsets = ensemble.offsets
    grams = {threads: np.full((offsets[-1], offsets[-1]), -7) for threads in (1, 2, 4)}
    for threads, gram in grams.items():
        contingency_gram(ensemble.label_view, gram, threads)
    columns = ensemble.labels.T
    for u in range(len(clusters)):
        for v in range(len(clusters)):
            k, l = ensemble.cluster_counts[[u, v]]  # noqa: E741
            expected = naive.contingency(columns[u], columns[v], k, l)
            for threads, gram in grams.items():
                block = gram[offsets[u] : offsets[u + 1], offsets[v] : offsets[v + 1]]
                np.testing.assert_array_equal(block, expected, err_msg=f"{threads} threads")


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_rows_of_some_partitions_equal_rows_of_the_product(noise):
    rng = np.random.default_rng(3)
    clusters = [300, 2, 1, 280, 7, 250, 4]
    ensemble = Ensemble(random_labels(rng, 700, clusters, noise, noise))
    whole = (ensemble.indicator.T @ ensemble.indicator).toarray()
    offsets, m = ensemble.offsets, ensemble.n_partitions
    for first in range(m):
        for last in range(first + 1, m + 1):
            expected = whole[offsets[first] : offsets[last]]
            for threads in (1, 2, 4):
                rows = np.full(expected.shape, -7)
                contingency_rows(ensemble.label_view, first, last, rows, threads)
                np.testing.assert_array_equal(rows, expected)


def test_both_algorithms_give_the_same_gram():
    # Above 4096 clusters the sparse product is used: both must agree.
    rng = np.random.default_rng(0)
    many = Ensemble(np.column_stack([rng.permutation(2500), rng.permutation(2500) // 3]))
    few = Ensemble(many.labels // 100)
    for ensemble in (many, few):
        B = ensemble.indicator
        assert (ensemble.gram != B.T @ B).nnz == 0
        assert ensemble.gram.dtype == np.float64
    assert many.offsets[-1] + few.offsets[-1] < 4096
    wide = Ensemble(np.column_stack([rng.permutation(2500) for _ in range(2)]))
    assert wide.offsets[-1] > 4096
    assert wide.gram.sum() == 2500 * 4


def test_rows_with_many_zeros_are_not_counted_into_a_dense_matrix(monkeypatch):
    """Many small clusters, such as superpixels: rows of B'B would have clusters squared entries, most of them 0."""
    counted = []

    def recorded(labels, partitions, height):
        counted.append(height * labels.n_clusters)
        return counted_rows(labels, partitions, height)

    monkeypatch.setattr(products, "counted_rows", recorded)
    monkeypatch.setattr(products, "_ENTRIES", 100_000)
    monkeypatch.setattr(products, "_BLOCK", 100_000)
    rng = np.random.default_rng(5)
    clusters = [3000, 2, 5, 4, 700, 3]
    ensemble = Ensemble(random_labels(rng, 5000, clusters, 0.1, 0.1))
    product = (ensemble.indicator.T @ ensemble.indicator).toarray()
    rows = []
    for block in products.gram_blocks(ensemble):
        np.testing.assert_array_equal(block.gram.toarray(), product[block.rows])
        rows += range(block.rows.start, block.rows.stop)
    assert rows == list(range(len(product)))
    assert 0 < sum(counted) < 5000 * len(clusters) ** 2
