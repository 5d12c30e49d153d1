"""Variational inference in the mixed-membership model of BayesianEnsemble: the model, its rounds, the climb to a maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.containers import holds, starts_of
from conclust._kernels import mixed_membership_round
from conclust._progress import rounds
from conclust._types import Floats, Ints
from conclust.consensus.acceleration import leap
from conclust.consensus.label_rows import RowLoss, RowMoves, trusted
from conclust.consensus.mixture.chain import LEAST_ALPHA, MOST_ALPHA
from conclust.ensemble import DistinctRows
from conclust.ensemble.labels import indicator_of, label_view, over_clusters, over_partitions

# A start has _BRIEF iterations, which show how good it is. Alpha is fixed in the first _SETTLING: with a small alpha objects hardly leave their
# first cluster.
_BRIEF, _SETTLING = 1, 10
# The partition at which a start begins: k-means on the rows of labels by relative entropy, whose last pass lowers the loss by less than
# this share.
_PASSES, _LITTLE = 100, 1e-3
# Minimum share of every probability, after two iterations, that a leap keeps.
_LEFT = 0.01
# After an undone leap the next leaps are shorter; they grow again while they succeed.
_SHORTER, _LONGER = 0.25, 2.0
# For new objects: maximum number of iterations, and relative change of a row that ends them.
_PLACING, _PLACED = 200, 1e-8


@dataclass(frozen=True)
class Round:
    """The sums at the best q(z): see ``_kernels/models/mixed_membership.h``."""

    bound: float
    mass: Floats
    use: Floats
    logs: Floats


@dataclass(frozen=True)
class MixedMemberships:
    """Weights (N,), alpha (K,) and the probability of each label in each cluster, (T, K)."""

    offsets: Ints
    weights: Floats
    alpha: Floats
    beta: Floats

    def fits(self, counts: Ints, n_clusters: int) -> bool:
        """Return whether this is a model of the labels of partitions with these numbers of clusters."""
        return (
            np.array_equal(self.offsets, starts_of(counts))
            and holds(self.weights, len(counts))
            and holds(self.alpha, n_clusters)
            and holds(self.beta, counts.sum(), n_clusters)
        )

    def round(
        self, codes: NDArray[Any], counts: Floats, mass: Floats, room: Floats, threads: int
    ) -> Round:
        """Find the best q(z) for q(theta_i) = Dirichlet(alpha + mass_i), and the ELBO of both.

        The new mass is written into `room`.
        """
        from scipy.special import gammaln

        use, logs = np.empty_like(self.beta), np.empty_like(self.alpha)
        bound = mixed_membership_round(
            label_view(codes, self.offsets, self.weights),
            counts,
            self.alpha,
            self.beta,
            mass,
            room,
            use,
            logs,
            threads,
        )
        bound += counts.sum() * (gammaln(self.alpha.sum()) - gammaln(self.alpha).sum())
        return Round(float(bound), room, use, logs)

    def prior(self, smoothing: float) -> float:
        """Return the part of the objective that the pseudo-counts add."""
        per_partition = over_partitions(np.log(self.beta).sum(axis=1), self.offsets)
        return smoothing * float(self.weights @ per_partition)

    def first_mass(self, codes: NDArray[Any]) -> Floats:
        """Return the mass of objects that each belong to a single unknown cluster."""
        B = indicator_of(codes, self.offsets)
        columns = over_clusters(self.weights, self.offsets)
        z = B @ (columns[:, None] * np.log(self.beta)) + np.log(self.alpha / self.alpha.sum())
        z = np.exp(z - z.max(axis=1, keepdims=True))
        z /= z.sum(axis=1, keepdims=True)
        return np.ascontiguousarray((B @ columns)[:, None] * z)

    def likeliest(self, codes: NDArray[Any], membership: Floats) -> NDArray[np.int32]:
        """Return the most probable cluster behind each label, given the memberships (arbitrary without a label)."""
        logs, beta = np.log(membership), np.log(self.beta)
        clusters = np.zeros(codes.shape, dtype=np.int32)
        for u, first in enumerate(self.offsets[:-1]):
            labelled = np.flatnonzero(codes[:, u] < self.offsets[u + 1] - first)
            clusters[labelled, u] = (logs[labelled] + beta[first + codes[labelled, u]]).argmax(
                axis=1
            )
        return clusters

    def placed(self, codes: NDArray[Any]) -> Floats:
        """Return memberships of objects by their labels alone."""
        mass = self.first_mass(codes)
        counts, room = np.ones(len(codes)), np.empty_like(mass)
        for _ in range(_PLACING):
            before, mass = mass, self.round(codes, counts, mass, room, 1).mass
            room = before
            total = self.alpha.sum() + mass.sum(axis=1)
            if (np.abs(mass - before).sum(axis=1) <= _PLACED * total).all():
                break
        return self.membership(mass)

    def membership(self, mass: Floats) -> Floats:
        """Return the mean of q(theta_i)."""
        gamma = self.alpha + mass
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Fitted:
    """Final state of the iteration; the trace holds the objective at the start and after each iteration."""

    model: MixedMemberships
    mass: Floats
    trace: list[float]
    converged: bool


@dataclass(frozen=True)
class _Point:
    """A model and mass, the objective there, and what the next iteration makes of them."""

    model: MixedMemberships
    mass: Floats
    value: float
    next_model: MixedMemberships
    next_mass: Floats


@dataclass(frozen=True)
class Search:
    """Climbs to a maximum of the bound, from several starts: see `best_of_restarts`."""

    alpha: Floats
    learn_alpha: bool
    smoothing: float
    max_iter: int
    tol: float
    threads: int

    def begin(self, rows: DistinctRows, start: int, seed: int) -> Fitted:
        """Climb for some iterations, from a partition by k-means."""
        k = len(self.alpha)
        moves = RowMoves(k, RowLoss("entropic"), _PASSES, _LITTLE)
        z = trusted(moves.begin(rows, start, seed).labels, k)
        B = rows.ensemble.indicator
        beta = _normalised(B.T @ (rows.masses[:, None] * z) + self.smoothing, rows)
        model = MixedMemberships(
            rows.ensemble.offsets, np.array(rows.ensemble.partition_weights), self.alpha, beta
        )
        mass = (B @ rows.ensemble.column_weights)[:, None] * z
        return replace(self, max_iter=min(_BRIEF, self.max_iter), threads=1)._climb(
            rows, model, mass, _SETTLING
        )

    def finish(self, result: Fitted, rows: DistinctRows, chosen: Ints) -> Fitted:
        """Continue with all rows."""
        mass = result.model.first_mass(rows.ensemble.codes)
        return self._climb(rows, result.model, mass, 0)

    def carry_on(self, result: Fitted, rows: DistinctRows) -> Fitted:
        """Climb to the maximum from the end of a start on the same rows."""
        done = len(result.trace) - 1
        if result.converged or done >= self.max_iter:
            return result
        left = replace(self, max_iter=self.max_iter - done)
        end = left._climb(rows, result.model, result.mass, max(_SETTLING - done, 0))
        return replace(end, trace=[*result.trace, *end.trace[1:]])

    def loss(self, result: Fitted) -> float:
        """Return the negative bound at the end of a start."""
        return -result.trace[-1]

    def _climb(
        self, rows: DistinctRows, model: MixedMemberships, mass: Floats, settling: int
    ) -> Fitted:
        """Maximise the bound; alpha is fixed for the first `settling` iterations.

        An iteration optimises q(z), alpha, beta and q(theta) in turn, given the others. After two of them
        mass, beta and alpha leap ahead, unless that lowers the bound.
        """
        codes, counts = np.ascontiguousarray(rows.ensemble.codes), rows.masses
        total = counts.sum()
        learns = self.learn_alpha and len(model.alpha) > 1

        def at(model: MixedMemberships, mass: Floats, iteration: int) -> _Point:
            sums = model.round(codes, counts, mass, np.empty_like(mass), self.threads)
            value = sums.bound + model.prior(self.smoothing)
            learning = learns and iteration >= settling
            alpha = _better_alpha(model.alpha, sums.logs, total) if learning else model.alpha
            beta = _normalised(sums.use + self.smoothing, rows)
            return _Point(model, mass, value, replace(model, alpha=alpha, beta=beta), sums.mass)

        here = at(model, mass, 0)
        trace, longest = [here.value], np.inf
        while (done := len(trace) - 1) < self.max_iter:
            rounds("iterations", done, self.max_iter)
            there = at(here.next_model, here.next_mass, done + 1)
            trace.append(there.value)
            small = there.value - here.value <= self.tol * max(abs(there.value), total)
            if small and (not learns or done >= settling):
                return Fitted(there.model, there.mass, trace, True)
            if done <= settling or done + 1 == self.max_iter:
                here = there
                continue
            ahead, mass, length = _leap(here, there, rows, longest)
            here = at(ahead, mass, done + 2)
            if here.value >= there.value:
                longest = max(longest, _LONGER * length)
            else:
                longest = max(1.0, _SHORTER * length)
                here = at(there.next_model, there.next_mass, done + 2)
            trace.append(here.value)
        return Fitted(here.model, here.mass, trace, False)


def _leap(
    first: _Point, second: _Point, rows: DistinctRows, longest: float
) -> tuple[MixedMemberships, Floats, float]:
    """Extrapolate two iterations, at most `longest` steps: mass, and the logarithms of alpha and beta.

    The length is the larger one of those by mass and by alpha: either may be the last to settle.
    """
    third = second.next_model
    alphas = _changes(first.model.alpha, second.model.alpha, third.alpha)
    betas = _changes(first.model.beta, second.model.beta, third.beta)
    curved = float(alphas[1] @ alphas[1])
    by_alpha = float(np.sqrt(alphas[0] @ alphas[0] / curved)) if curved > 0.0 else 1.0
    mass, length = leap(
        first.mass, second.mass, second.next_mass, longest, least=max(by_alpha, 1.0)
    )

    def ahead(now: Floats, change: Floats, bend: Floats) -> Floats:
        # As 2 length change + length^2 bend from the first point.
        further = 2.0 * (length - 1.0) * change + (length**2 - 1.0) * bend
        return np.asarray(now * np.exp(np.clip(further, np.log(_LEFT), -np.log(_LEFT))))

    alpha = np.clip(ahead(third.alpha, *alphas), LEAST_ALPHA, MOST_ALPHA)
    beta = _normalised(ahead(third.beta, *betas), rows)
    return replace(third, alpha=alpha, beta=beta), mass, length


def _changes(first: Floats, second: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Return the first change of the logarithms, and how the second one differs."""
    change = np.log(second / first)
    return change, np.log(third / second) - change


def _normalised(use: Floats, rows: DistinctRows) -> Floats:
    """Return label probabilities: each cluster's use of the labels, scaled to sum 1 within each partition."""
    sums = over_partitions(use, rows.ensemble.offsets)
    shares: Floats = use / over_clusters(sums, rows.ensemble.offsets)
    return shares


def _better_alpha(alpha: Floats, logs: Floats, n: float) -> Floats:
    """One Newton step (the Hessian is a diagonal plus a constant), shortened until it helps.

    `logs` holds the sums over the `n` objects of E[log theta].
    """
    from scipy.special import gammaln, psi, zeta

    def value(a: Floats) -> float:
        return float(n * (gammaln(a.sum()) - gammaln(a).sum()) + (a * logs).sum())

    g = logs + n * (psi(alpha.sum()) - psi(alpha))
    h = -n * zeta(2.0, alpha)
    z = n * zeta(2.0, alpha.sum())
    c = (g / h).sum() / (1.0 / z + (1.0 / h).sum())
    step = (g - c) / h
    before = value(alpha)
    for halvings in range(30):
        tried: Floats = np.clip(alpha - step / 2.0**halvings, LEAST_ALPHA, MOST_ALPHA)
        if value(tried) > before:
            return tried
    return alpha
