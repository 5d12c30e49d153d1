"""Gibbs sampling in the mixed-membership model: draws of the clusters behind all labels, and their means.

``_kernels/models/chains/mixed_gibbs.h`` has the model and the draw of a cluster. Here are the draw of alpha, the
chain, the matching of cluster names over all draws, and the chain without a bound on the number of clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import mixed_gibbs_sweep
from conclust._progress import tracked
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import over_clusters, over_partitions
from conclust.measures.matching import assign

# Range of alpha.
LEAST_ALPHA = 1e-3
MOST_ALPHA = 1e4
# Without a bound on the clusters: sticks are broken until less than _LEFT is left, or _MOST_STICKS are; the least jump.
_LEFT = 1e-8
_MOST_STICKS = 200
_LEAST_JUMP = 1e-30


@dataclass(frozen=True)
class MixedPrior:
    """Priors.

    Attributes
    ----------
    alpha : float
        The mean of the exponential prior of each entry of alpha (between the ends that it has); or, if
        alpha is not drawn, each entry.
    draws_alpha : bool
        Whether alpha is drawn.
    smoothing : float
        b, of the symmetric Dirichlet prior of the label distributions.
    """

    alpha: float
    draws_alpha: bool
    smoothing: float


@dataclass(frozen=True)
class Posterior:
    """Means over the draws kept, with matched clusters; and the draws.

    Attributes
    ----------
    membership : ndarray of shape (n, K)
        Estimate of theta.
    alpha : ndarray of shape (K,)
        Estimate of alpha.
    beta : ndarray of shape (T, K)
        Probability of each label in each cluster.
    draws : ndarray of int32 of shape (n, n_draws)
        A cluster of each object, drawn from its theta.
    log_probabilities : ndarray of shape (n_sweeps,)
        log P(labels, clusters behind them) after each sweep, given alpha.
    """

    membership: Floats
    alpha: Floats
    beta: Floats
    draws: NDArray[np.int32]
    log_probabilities: Floats


class Chain:
    """The clusters behind all labels, drawn again sweep by sweep.

    Parameters
    ----------
    ensemble : Ensemble
        Hard partitions.
    prior : MixedPrior
        The priors.
    alpha : ndarray of shape (K,)
        Initial alpha.
    clusters : ndarray of int32 of shape (n, N)
        Initial clusters; read only where there is a label.
    """

    def __init__(
        self, ensemble: Ensemble, prior: MixedPrior, alpha: Floats, clusters: NDArray[np.int32]
    ) -> None:
        self.prior = prior
        self.alpha = np.clip(alpha, LEAST_ALPHA, MOST_ALPHA) if prior.draws_alpha else alpha
        self.clusters = clusters
        self._offsets = ensemble.offsets
        self._weights = np.array(ensemble.partition_weights)
        self._view = ensemble.label_view.reweighted(self._weights)
        k = len(alpha)
        self.mass = np.zeros((ensemble.n_samples, k))
        self.use = np.zeros((int(ensemble.offsets[-1]), k))

    def sweep(self, rng: np.random.Generator) -> None:
        """Draw the cluster behind each label, then alpha."""
        seed = int(rng.integers(2**63))
        mixed_gibbs_sweep(
            self._view, self.alpha, self.prior.smoothing, seed, self.clusters, self.mass, self.use
        )
        if self.prior.draws_alpha:
            self.alpha = drawn_alpha(self.alpha, self.mass, self.prior.alpha, rng)

    def theta(self) -> Floats:
        """Return the mean of each object's theta, given the clusters behind its labels."""
        gamma = self.alpha + self.mass
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def beta(self) -> Floats:
        """Return the mean of the label distributions, given the clusters behind the labels."""
        raised = self.use + self.prior.smoothing
        sums = over_partitions(raised, self._offsets)
        return np.asarray(raised / over_clusters(sums, self._offsets))

    def log_probability(self) -> float:
        """Return log P(labels, clusters behind them), given alpha."""
        from scipy.special import gammaln

        alpha, b = self.alpha, self.prior.smoothing
        total, mass = alpha.sum(), self.mass
        objects = gammaln(alpha + mass).sum() - gammaln(total + mass.sum(axis=1)).sum()
        objects += len(mass) * (gammaln(total) - gammaln(alpha).sum())
        sizes = over_partitions(self.use, self._offsets)
        prior = (b * np.diff(self._offsets))[:, None]
        rises = (gammaln(self.use + b) - gammaln(b)).sum(axis=1)
        labels = over_partitions(rises, self._offsets) + _of_some(prior, sizes)
        return float(objects + self._weights @ labels)

    def run(
        self, n_burn_in: int, n_draws: int, reference: Floats, rng: np.random.Generator
    ) -> Posterior:
        """Draw samples, and keep the last ones.

        Parameters
        ----------
        n_burn_in, n_draws : int
            Numbers of sweeps before draws are kept, and of draws kept.
        reference : ndarray of shape (n, K)
            A membership that numbers the clusters: those of each draw are numbered so that its memberships come
            nearest, in squares, to the mean of this one and those kept so far.
        rng : Generator
            Source of all draws.
        """
        n, k = self.mass.shape
        logs = np.empty(n_burn_in + n_draws)
        draws = np.empty((n, n_draws), dtype=np.int32)
        named = reference.copy()
        sums = (np.zeros((n, k)), np.zeros(k), np.zeros(self.use.shape))
        with one_library_thread():
            for sweep in tracked(range(len(logs)), "sweeps"):
                self.sweep(rng)
                logs[sweep] = self.log_probability()
                n_kept = sweep - n_burn_in
                if n_kept < 0:
                    continue
                theta = self.theta()
                order = assign(named.T @ theta)  # the cluster of the draw for each column
                theta = theta[:, order]
                named += theta
                draws[:, n_kept] = drawn_columns(theta, rng)
                drawn = (theta, self.alpha[order], self.beta()[:, order])
                for total, part in zip(sums, drawn, strict=True):
                    total += part
        membership, alpha, beta = (total / n_draws for total in sums)
        return Posterior(membership, alpha, beta, draws, logs)


class UnboundedChain(Chain):
    """The same with any number of clusters: a hierarchical Dirichlet process.

    The alphas are the jumps of a gamma process of mass `concentration`: theta_i is drawn from the Dirichlet process DP(A, G),
    where A = sum_k alpha_k has the distribution Gamma(concentration, 1), and the weights alpha_k / A of G have that of
    broken sticks, GEM(concentration). Clusters behind no label share what is left of A: `rest`. Before each sweep sticks
    are broken off it, down to less than _LEFT: a cluster that begins takes its stick.

    Parameters
    ----------
    ensemble : Ensemble
        Hard partitions.
    smoothing : float
        b, of the symmetric Dirichlet prior of the label distributions.
    concentration : float
        The mass of the gamma process.
    labels : ndarray of int of shape (n,)
        Initial cluster of all labels of each object, consecutive from 0.
    """

    def __init__(
        self, ensemble: Ensemble, smoothing: float, concentration: float, labels: Ints
    ) -> None:
        clusters = np.repeat(labels.astype(np.int32)[:, None], ensemble.n_partitions, axis=1)
        super().__init__(
            ensemble, MixedPrior(1.0, False, smoothing), np.ones(int(labels.max()) + 1), clusters
        )
        self.concentration, self.rest = concentration, 1.0
        self._labelled = ensemble.labels >= 0

    def sweep(self, rng: np.random.Generator) -> None:
        """Draw the cluster behind each label, then alpha."""
        self.alpha = np.concatenate([self.alpha, _sticks(self.rest, self.concentration, rng)])
        self.mass = np.zeros((len(self.mass), len(self.alpha)))
        self.use = np.zeros((len(self.use), len(self.alpha)))
        super().sweep(rng)
        begun = self.use.any(axis=0)  # the clusters behind some label
        self.clusters = np.where(self._labelled, (np.cumsum(begun) - 1)[self.clusters], 0).astype(
            np.int32
        )
        self.mass, self.use = self.mass[:, begun].copy(), self.use[:, begun].copy()
        totals = _Repeated.of(self.mass.sum(axis=1))
        self.rest = float(self.alpha[~begun].sum())
        self.alpha = self.alpha[begun]
        for k, mass in enumerate(self.mass.T):
            others = float(np.delete(self.alpha, k).sum()) + self.rest
            self.alpha[k] = _jump(0.0, others, mass, totals, self.alpha[k], rng)
        self.rest = _jump(
            self.concentration,
            float(self.alpha.sum()),
            self.mass[:0].ravel(),
            totals,
            self.rest,
            rng,
        )

    def draw_concentration(self, rng: np.random.Generator) -> float:
        """Draw the concentration, under a Gamma(1, 1) prior, given the clusters begun and the rest; return it."""
        k, log_rest = len(self.alpha), math.log(self.rest)

        def height(t: float) -> float:
            c = math.exp(t)
            return (k + 1) * t + c * (log_rest - 1.0) - math.lgamma(c)

        self.concentration = math.exp(_sliced(height, math.log(self.concentration), rng))
        return self.concentration


def _sticks(rest: float, concentration: float, rng: np.random.Generator) -> Floats:
    """Break sticks off `rest` in the proportions of GEM, until less than _LEFT is left."""
    sticks: list[float] = []
    while rest > _LEFT and len(sticks) < _MOST_STICKS:
        sticks.append(rest * rng.beta(1.0, concentration))
        rest -= sticks[-1]
    return np.maximum([*sticks, rest], _LEAST_JUMP)


def _jump(
    shape: float,
    others: float,
    mass: Floats,
    totals: _Repeated,
    at: float,
    rng: np.random.Generator,
) -> float:
    """Draw a jump of the gamma process, or the sum of those behind no label, given the other jumps."""
    rises = _Repeated.of(mass)

    def height(t: float) -> float:
        a = math.exp(t)
        return shape * t + rises.rises(a) - totals.rises(others + a) - a

    return math.exp(_sliced(height, math.log(max(at, _LEAST_JUMP)), rng, _LEAST_JUMP))


def _of_some(prior: Floats, sizes: Floats) -> Floats:
    """Sum log Gamma(prior) - log Gamma(prior + size) over clusters; 0 for a partition of noise only."""
    from scipy.special import gammaln

    some = prior > 0
    safe = np.where(some, prior, 1.0)
    return np.asarray((some * (gammaln(safe) - gammaln(safe + sizes))).sum(axis=1))


def drawn_columns(theta: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column for each row, by the row's probabilities."""
    below = np.cumsum(theta[:, :-1], axis=1)
    drawn: Ints = (below <= rng.random((len(theta), 1))).sum(axis=1)
    return drawn


def drawn_alpha(alpha: Floats, mass: Floats, mean: float, rng: np.random.Generator) -> Floats:
    """Draw each entry of alpha in turn, given the others and the clusters behind all labels.

    By slice sampling of log alpha, under an exponential prior of that mean.
    """
    alpha = alpha.copy()
    totals = _Repeated.of(mass.sum(axis=1))
    for k in range(len(alpha)):
        others = float(np.delete(alpha, k).sum())
        height = partial(_height, others, _Repeated.of(mass[:, k]), totals, mean)
        alpha[k] = math.exp(_sliced(height, math.log(alpha[k]), rng))
    return np.clip(alpha, LEAST_ALPHA, MOST_ALPHA)


@dataclass(frozen=True)
class _Repeated:
    """Distinct numbers with their counts."""

    values: Floats
    counts: Ints

    @staticmethod
    def of(numbers: Floats) -> _Repeated:
        return _Repeated(*np.unique(numbers, return_counts=True))

    def rises(self, a: float) -> float:
        """Sum log Gamma(a + x) - log Gamma(a) over the numbers x."""
        from scipy.special import gammaln

        return float(self.counts @ (gammaln(a + self.values) - gammaln(a)))


def _height(others: float, repeated: _Repeated, totals: _Repeated, mean: float, t: float) -> float:
    """Return the log density of t = log alpha_k up to a constant; `others` is the rest of alpha's sum."""
    a = math.exp(t)
    return repeated.rises(a) - totals.rises(others + a) - a / mean + t


def _sliced(
    height: Callable[[float], float],
    at: float,
    rng: np.random.Generator,
    least: float = LEAST_ALPHA,
) -> float:
    """Draw from the density exp(height) on the range of log alpha, by a slice that shrinks (Neal 2003)."""
    low, high = math.log(least), math.log(MOST_ALPHA)
    level = height(at) + math.log1p(-rng.random())
    while high - low > 1e-12:
        tried = low + (high - low) * rng.random()
        if height(tried) >= level:
            return tried
        if tried < at:
            low = tried
        else:
            high = tried
    return at  # the slice has shrunk to a rounding error
