"""The dyadic aspect model against its definition, and objects placed against landmarks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from tests.cases import planted
from tests.naive.least_squares import counts

from conclust import DyadicAspect, Ensemble
from conclust.consensus.papers.matrix.dyadic import _Dyads, _Landmarks
from conclust.consensus.papers.probabilistic.descent import place_against
from conclust.divergences import kl


def flipped(seed=0, n=80, m=10, flip=0.2):
    """Labels of three planted clusters."""
    return planted(seed, n, m, flip=flip)


def naive_shares(labels, weights=None):
    c, N = counts(labels, weights)
    return np.divide(c, N, out=np.zeros_like(c), where=N > 0)


def dyads(shares, counts):
    """Pairs of rows with the given p_ab, in the form of the model."""
    weights = shares * np.outer(counts, counts)
    np.fill_diagonal(weights, shares.diagonal() * counts * (counts - 1))
    once = sp.csr_array(np.triu(weights))
    partners = weights.sum(axis=1) / counts
    starts, columns = once.indptr.astype(np.int64), once.indices.astype(np.int32)
    return _Dyads(counts, starts, columns, once.data, partners, weights.sum()), weights


@pytest.mark.parametrize(("n", "k"), [(1100, 5), (90, 1), (40, 11), (30, 23)])
def test_dyadic_steps_equal_those_by_matrices(n, k):
    # More rows than are processed together, and different numbers of objects.
    rng = np.random.default_rng(11)
    shares = rng.random((n, n)) * (rng.random((n, n)) < 0.7)
    shares = np.triu(shares) + np.triu(shares, 1).T
    model, weights = dyads(shares, rng.integers(1, 4, n).astype(float))
    joint = rng.random((n, k))
    joint *= (model.partners / joint.sum(axis=1))[:, None]
    loss, new = model.step(joint)
    alpha = model.counts @ joint / model.total
    beta = (joint / (model.counts @ joint)).T
    P = beta.T @ np.diag(alpha) @ beta
    assert -loss == pytest.approx((weights * np.log(P)).sum())
    T = np.diag(alpha) @ beta * (beta @ (weights / P)) / model.counts
    np.testing.assert_allclose(new, T.T)
    np.testing.assert_allclose(new.sum(axis=1), model.partners)


def test_dyads_are_pairs_of_objects():
    labels, _ = flipped(3, n=90, m=4)
    labels[::11, 1] = -1
    ensemble = Ensemble(labels)
    rows = ensemble.distinct_rows()
    model = _Dyads.of(rows)
    p = naive_shares(labels)
    np.testing.assert_allclose(model.partners[rows.inverse], p.sum(axis=1))
    assert model.total == pytest.approx(p.sum())
    member = np.eye(len(rows))[rows.inverse]
    np.testing.assert_allclose(
        sp.csr_array((model.weights, model.columns, model.starts)).toarray(),
        np.triu(member.T @ p @ member),
    )


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_dyadic_likelihood_matches_its_definition_and_never_falls(missing, copies):
    labels, truth = flipped(9, n=60, flip=0.3)
    labels[::9, 2] = -2
    labels, truth = np.repeat(labels, copies, axis=0), np.repeat(truth, copies)
    if missing:
        labels[::4, 3] = -1
    weights = np.arange(10) % 3
    model = DyadicAspect(3, tol=1e-12, max_iter=20_000, random_state=0)
    model.fit(Ensemble(labels, weights=weights))
    p = naive_shares(labels, weights)
    # The stationary point: alpha_r beta_ri = p(r | i) (share of i in all pairs).
    joint = model.membership_ * p.sum(axis=1, keepdims=True) / p.sum()
    alpha = joint.sum(axis=0)
    P = joint @ (joint / alpha).T
    assert model.objective_ == pytest.approx(p[p > 0] @ np.log(P[p > 0]), rel=1e-6)
    np.testing.assert_allclose(model.aspects_, alpha, atol=1e-4)
    assert (np.diff(model.trace_) >= -1e-9 * p.sum()).all()
    assert model.converged_
    assert adjusted_rand_score(truth, model.labels_) > 0.7


def test_all_rows_as_landmarks_equal_the_full_form():
    labels, _ = flipped(5, n=300, flip=0.3)
    labels[::7, 2] = -1
    full = DyadicAspect(3, random_state=0).fit(labels)
    placed = DyadicAspect(3, max_dense=1, random_state=0).fit(labels)
    np.testing.assert_array_equal(placed.membership_, full.membership_)
    np.testing.assert_array_equal(placed.trace_, full.trace_)
    np.testing.assert_allclose(placed.aspects_, full.aspects_, rtol=1e-12)


def landmarks(ensemble, n, k):
    """The first n objects, fitted, as landmarks; their rows among those of all."""
    rows = ensemble.distinct_rows()
    some, indices = rows.some(np.arange(n))
    model = _Dyads.of(some)
    joint = np.random.default_rng(0).dirichlet(np.ones(k), len(some)) * model.partners[:, None]
    for _ in range(300):
        joint = model.step(joint)[1]
    return rows, some, indices, joint


@pytest.mark.parametrize("kind", ["labels", "weights", "missing", "soft"])
def test_landmark_shares_match_their_definition(kind):
    labels, _ = flipped(2, n=90, m=6, flip=0.3)
    labels[::8, 1] = -2
    weights = np.arange(6) % 3 + 0.5 if kind != "labels" else np.ones(6)
    if kind == "missing":
        labels[::3, 4] = -1
    if kind == "soft":
        B = np.hstack([np.random.default_rng(u).dirichlet(np.ones(3), 90) for u in range(6)])
        blocks = [B[:, 3 * u : 3 * u + 3] for u in range(6)]
        ensemble = Ensemble.from_memberships(blocks, weights=weights)
        p = (B * np.repeat(weights, 3)) @ B.T / weights.sum()
    else:
        ensemble = Ensemble(labels, weights=weights)
        p = naive_shares(labels, weights)
    rows, some, _, joint = landmarks(ensemble, 40, 3)
    model = _Landmarks.of(some, joint, n_prototypes=8)
    assert model.beta.shape == (8, 3)
    pool = np.asarray((model.member.toarray() > 0).argmax(axis=1))[some.inverse]
    others = np.arange(40, 90)
    actual = model.shares(rows.ensemble, rows.inverse[others])
    np.testing.assert_allclose(actual, p[others, :40] @ np.eye(8)[pool])


def test_placed_objects_are_at_their_maximum():
    labels, _ = flipped(4, n=400, m=8, flip=0.4)
    labels[::5, 0] = -1
    labels[-1] = [-1, 99, 98, 97, 96, 95, 94, 93]  # never with another
    rows, some, indices, joint = landmarks(Ensemble(labels), 150, 3)
    model = _Landmarks.of(some, joint, n_prototypes=200)
    placed = model.joint_of(rows, indices, joint)
    np.testing.assert_array_equal(placed[indices], joint)
    p = naive_shares(labels)[:, :150] @ np.eye(len(some))[some.inverse]
    beta = joint / (some.masses @ joint)
    others = np.delete(np.arange(len(rows)), indices)
    assert not placed[rows.inverse[-1]].any()
    shares = p[rows.first[others]]
    held = shares.sum(axis=1) > 0
    assert len(others) - held.sum() == 1
    shares, others = shares[held], others[held]
    Y = np.full((len(others), 3), 1 / 3)
    for _ in range(5000):
        Y *= (shares / (Y @ beta.T)) @ beta / shares.sum(axis=1, keepdims=True)
    Y *= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(placed[others], Y, atol=1e-3)


def test_fitted_objects_are_where_they_would_be_placed():
    labels, _ = flipped(6, n=60, m=9, flip=0.3)
    rows, some, _, joint = landmarks(Ensemble(labels), 60, 3)
    model = _Dyads.of(some)
    for _ in range(20_000):
        joint = model.step(joint)[1]
    p = naive_shares(labels)[rows.first][:, rows.first] * rows.masses
    np.fill_diagonal(p, rows.masses - 1)
    beta = joint / (rows.masses @ joint)
    placed = place_against(p, p, beta / beta.max(), kl, 1e-10)
    np.testing.assert_allclose(placed * p.sum(axis=1, keepdims=True), joint, atol=1e-4)


@pytest.mark.long
def test_many_objects_are_placed_against_landmarks():
    labels, truth = flipped(0, n=2600, m=10, flip=0.4)
    full = DyadicAspect(3, random_state=0).fit(labels)
    placed = DyadicAspect(3, max_dense=2000, random_state=0).fit(labels)
    assert (
        adjusted_rand_score(truth, placed.labels_) > adjusted_rand_score(truth, full.labels_) - 0.01
    )
    assert np.abs(np.sort(placed.aspects_) - np.sort(full.aspects_)).max() < 0.01
    np.testing.assert_allclose(placed.membership_.sum(axis=1), 1)
    assert len(placed.trace_) == placed.n_iter_ + 1
