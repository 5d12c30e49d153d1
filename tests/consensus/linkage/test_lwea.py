"""Clusters weighted by certainty (LWEA, LWGP), against worked examples and naive twins on all pairs."""

import warnings

import numpy as np
import pytest
from tests.cases import planted
from tests.naive import similarity as naive
from tests.naive.linkage import between, random_labels, replay

from conclust import LWEA, LWGP, Ensemble
from conclust.exceptions import EvidenceWarning


def quiet(model, ensemble):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return model.fit(ensemble)


def heights(model):
    return np.sort(model.linkage_matrix_[:, 2])


@pytest.mark.parametrize("linkage", ["single", "average", "complete", "ward"])
@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.3, 0), (0, 0.2), (0.2, 0.2)])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_tree_matches_greedy_merging_of_all_pairs(linkage, missing, noise, normalized):
    rng = np.random.default_rng(11)
    labels = random_labels(rng, 18, 6, missing=missing, noise=noise)
    weights = rng.random(6) + 0.1
    certainty = naive.certainty(labels, 0.3, weights, normalized)[1]
    S = naive.locally_weighted(labels, certainty, weights)
    self_similarity = np.diag(S).copy()
    if noise:  # in a singleton, which is certain
        self_similarity += (labels == -2) @ weights / ((labels != -1) @ weights)
    S = S / self_similarity.max() if normalized else S
    D = np.where(np.isnan(S), 1.0, 1.0 - S)
    model = quiet(
        LWEA(3, theta=0.3, normalized=normalized, linkage=linkage),
        Ensemble(labels, weights=weights),
    )
    same = (labels[:, None, :] == labels[None, :, :]).all(axis=2) & (labels >= 0).any(axis=1)
    noisy = (labels == -2).any(axis=1)
    same &= ~noisy[:, None] & ~noisy
    D[same] = 0.0
    np.fill_diagonal(D, 0.0)
    D = np.sqrt(D) if linkage == "ward" else D
    replay(model.linkage_matrix_, lambda A, B: between(D, A, B, linkage), 1e-8)


def test_lifetimes_start_where_distinct_rows_are_formed():
    # Uncertain clusters make all similarities small: from height 0 the rows would live longest.
    labels, _ = planted(n=60, m=12, k=3, flip=0.15)
    for theta in (0.4, 1.0):
        model = LWEA(theta=theta).fit(labels)
        distinct = len(np.unique(labels, axis=0))
        assert model.n_clusters_ == 3 < distinct
        assert (model.lifetimes_ >= 0).all()
        assert heights(model)[60 - distinct] > model.lifetimes_[distinct - 2]


# -- LWGP


@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.2, 0), (0.2, 0.2)])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_graph_is_the_indicator_times_certainty(missing, noise, normalized):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 30, 6, missing=missing, noise=noise)
    weights = rng.random(6) + 0.1
    certainty = naive.certainty(labels, 0.3, weights, normalized)[1]
    columns = [
        weights[u] * np.isin(np.arange(30), list(cluster))
        for u, part in enumerate(naive.blocks(labels))
        for cluster in part
    ]
    A = np.column_stack(columns) * certainty
    rows, cols = A.sum(axis=1), A.sum(axis=0)
    rows[rows == 0] = np.inf
    values = np.linalg.svd(A / np.sqrt(rows[:, None] * cols), compute_uv=False)
    model = LWGP(4, theta=0.3, normalized=normalized, random_state=0)
    model.fit(Ensemble(labels, weights=weights))
    np.testing.assert_allclose(model.certainty_, certainty, rtol=1e-11)
    np.testing.assert_allclose(model.singular_values_, values[:4], atol=1e-9)
