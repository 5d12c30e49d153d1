"""Hard rows of labels, which kernels read by their own paths, against soft rows and scaled weights."""

import numpy as np
import pytest

from conclust import Ensemble
from conclust._kernels import seed_labels
from conclust.consensus.label_rows import RowLoss, RowMoves


def labels_of(n, missing=0.0, noise=0.0):
    rng = np.random.default_rng(n)
    labels = rng.integers(0, [2, 3, 5, 9, 4, 7, 3], (n, 7))
    labels[rng.random(labels.shape) < noise] = -2
    labels[rng.random(labels.shape) < missing] = -1
    labels[(labels < 0).all(axis=1), 0] = 0
    return labels


@pytest.mark.parametrize("k", [1, 3, 4, 7, 18, 33])
@pytest.mark.parametrize("spread", ["quadratic", "entropic", "norm", "cut"])
def test_hard_rows_move_like_soft_ones(spread, k):
    labels = labels_of(150)
    weights = np.random.default_rng(0).random(7) + 0.5  # no ties
    hard = Ensemble(labels, weights=weights)
    soft = Ensemble.from_memberships(
        [np.eye(column.max() + 1)[column] for column in hard.labels.T], weights=weights
    )
    start = np.random.default_rng(k).integers(-1, k, 150)
    results = []
    for ensemble in (hard, soft):
        rows = ensemble.distinct_rows()
        search = RowMoves(k, RowLoss(spread, 2.0), 4, 0.0)
        results.append(search._refined(rows, start[rows.first].copy()))
    one, other = results
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_seeds_of_equal_weights_do_not_depend_on_their_size(missing, noise):
    ensemble = Ensemble(labels_of(400, missing, noise))
    masses = np.random.default_rng(0).integers(1, 4, 400).astype(np.float64)
    for seed in range(5):
        found = []
        for weight in (1.0, 2.0):
            view = ensemble.label_view.reweighted(np.full(7, weight))
            labels = np.zeros(400, dtype=np.int64)
            seed_labels(view, masses, 6, seed, labels)
            found.append(labels)
        np.testing.assert_array_equal(*found)
