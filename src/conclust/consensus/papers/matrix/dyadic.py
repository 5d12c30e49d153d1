"""DyadicAspect: co-associated pairs as draws from a mixture of distributions over objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays.rows import ratio
from conclust._kernels import aspect_pairs
from conclust._progress import tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.acceleration import follow
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.label_rows import start_labels, trusted
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic.descent import place_against
from conclust.consensus.papers.probabilistic.placements.factored_model import padded
from conclust.consensus.papers.probabilistic.placements.landmarks import N_PROTOTYPES, pooled
from conclust.consensus.papers.probabilistic.solvers.landmark import N_LANDMARKS
from conclust.divergences import kl
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.labels import one_hot_rows
from conclust.evidence.dense import coassociation_blocks

# Number of rows of the matrix of pairs between checks for interrupts.
_ROWS = 512
# Number of rows placed at once, and their gap per unit of evidence.
_PLACED, _GAP = 1000, 1e-8


@dataclass(eq=False, repr=False)
class DyadicAspect(SoftConsensusClusterer):
    r"""Dyadic aspect model of the co-association.

    The model draws pairs of objects that share a cluster: first an aspect r with probability alpha_r,
    then both objects independently with probabilities beta_r [1]_. The fit maximises

    .. math::

        L = \sum_{i \neq j} p_{ij} \log P(i, j), \qquad P(i, j) = \sum_r \alpha_r\, \beta_{ri}\, \beta_{rj}

    with p_ij the share of the partitions that put i and j together, of those that observed both. The
    membership of an object is the probability of each aspect given that the object was drawn.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of aspects, K. Required: ``fit`` refuses None.
    n_init : int, default=5
        The model starts at the partition of :class:`InformationTheoreticKMeans`; this is the number of starts (k-means++)
        of that search. With more than 5,000 distinct rows of labels they run on 5,000 objects drawn
        at random, and the best is continued with all.
    max_iter : int, default=2000
        Maximum number of iterations: steps of EM, and leaps ahead after two of them [2]_.
    tol : float, default=1e-8
        Stop when a step raises L by less than this times the sum of all p_ij.
    max_dense : int, default=5000
        Maximum number of distinct rows of labels whose pairs are all formed. Above it, the model is fitted to the pairs of
        2,000 objects drawn at random, the landmarks, and the others are placed relative to them.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable aspect; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        p(r | i). An object that is never with another stays where the search started. A column for each aspect that is
        not empty; the clusters of ``labels_`` come first.
    aspects_ : ndarray of shape (n_held,)
        alpha. With landmarks an object counts by its p_ij with them.
    n_clusters_ : int
        Number of aspects that are the most probable one of some object.
    objective_ : float
        L, which is maximised. With landmarks it is a sum over their pairs, in ``trace_`` too.
    trace_ : ndarray of shape (n_iter + 1,)
        L at the start and after each iteration. It never falls.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    The EM algorithm over the p pairs of distinct rows of labels that ever fall together, O(p K) an
    iteration: objects with the same labels begin with the same membership, and EM leaves it the same.
    Leaps that would lower L are undone. The model explains only pairs that fall together; unlike
    in PCC, an expected pair that never falls together costs nothing directly. A missing label leaves
    its partition out of the shares of its object's pairs, and a pair that no partition observed is
    left out. Noise is apart from all objects. Soft partitions count with sums of products of
    probabilities.

    No form linear in n is exact, since log P(i, j) does not separate into a factor of i and one of j. With beta
    fixed, however, the likelihood of an object is concave in its membership: above `max_dense` each further object
    is placed at the maximum, on its sums of p_ij over groups of landmarks with nearly equal memberships (at most
    128). Without missing labels these sums are products with the indicator of the partitions. On 10,000 objects x
    20 of ten planted clusters with 20, 50 and 65 % of the labels at random, landmarks give adjusted Rand indices of
    1.000, .997 and .928, and all pairs 1.000, .997 and .930; L is lower by .0012 to .0016 per unit of p_ij.

    References
    ----------
    .. [1] A. Lourenço, A. Fred, M. Figueiredo: A generative dyadic aspect model for evidence
       accumulation clustering. SIMBAD 2011. There counts are taken for p_ij; without missing labels
       the two differ by a factor.
    .. [2] R. Varadhan, C. Roland: Simple and globally convergent methods for accelerating the
       convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import DyadicAspect
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> DyadicAspect(2, random_state=0).fit(ensemble).membership_.round(2)
    array([[1. , 0. ],
           [1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    aspects_: Floats = field(init=False)

    method = Method(
        title="Dyadic aspect model",
        n_clusters="exact",
        fewer=True,
        membership=True,
        cost="n^2 K per iteration up to max_dense rows, then n (N + K)",
        citation="Lourenço, Fred and Figueiredo 2011, SIMBAD",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 5
    max_iter: int = 2000
    tol: float = 1e-8
    max_dense: int = 5000
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        k = self.n_clusters
        seed = seed_sequence(self.random_state, "DyadicAspect")
        labels = start_labels(ensemble, k, self.n_init, seed, "DyadicAspect")
        rows = ensemble.distinct_rows()
        first = rows.one_of_each(labels)
        fitted, indices = rows, np.arange(len(rows))
        if len(rows) > self.max_dense:
            # The first children of the seed draw the starts.
            drawer = spawn_generators(seed, self.n_init + 2)[-1]
            drawn = drawer.permutation(ensemble.n_samples)[:N_LANDMARKS]
            fitted, indices = rows.some(np.sort(drawn))
        with one_library_thread():
            model = _Dyads.of(fitted)
            path = follow(
                model.step,
                trusted(first[indices], k) * model.partners[:, np.newaxis],
                lambda before, after, _: before - after <= self.tol * model.total,
                self.max_iter,
            )
            joint = path.point
            if fitted is not rows:
                joint = _Landmarks.of(fitted, joint).joint_of(rows, indices, joint)
        mass = rows.masses @ joint
        total = mass.sum() if fitted is not rows else model.total
        self.aspects_ = mass / total if total else np.full(k, 1.0 / k)
        self._keep_course(0.0 - np.array(path.trace), path.converged)
        totals = joint.sum(axis=1, keepdims=True)
        alone = one_hot_rows(first, joint.shape[1])
        return np.asarray(np.divide(joint, totals, out=alone, where=totals > 0)[rows.inverse])

    def _keep_clusters(self, clusters: Ints) -> None:
        self.aspects_ = self.aspects_[clusters]


@dataclass(frozen=True)
class _Dyads:
    """Pairs of rows of labels that share a cluster, each once.

    ``weights`` is p_ab times the number of pairs of their objects (ordered ones within a row). A
    membership is stored as alpha_r beta_ri times the sum of all p_ij, for one object of each row: its
    rows sum to `partners`, the sum of p_ij over the other objects j.
    """

    counts: Floats
    starts: Ints
    columns: NDArray[np.int32]
    weights: Floats
    partners: Floats
    total: float

    @classmethod
    def of(cls, rows: DistinctRows) -> _Dyads:
        counts = rows.masses
        partners = np.empty(len(counts))
        pairs = []
        for block, shares in _shares(rows):
            here = np.arange(len(block))
            self_shares = shares[here, block] * (counts[block] - 1.0)
            shares *= counts
            shares[here, block] = self_shares
            partners[block] = shares.sum(axis=1)
            shares *= counts[block, np.newaxis]
            pairs.append(sp.csr_array(np.triu(shares[:, block.start :])))
        sizes = [np.diff(part.indptr) for part in pairs]
        return cls(
            counts,
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.concatenate(
                [(part.indices + i * _ROWS).astype(np.int32) for i, part in enumerate(pairs)]
            ),
            np.concatenate([part.data for part in pairs]),
            partners,
            float(counts @ partners),
        )

    def step(self, joint: Floats) -> tuple[float, Floats]:
        """Return -L of a membership, and the membership after a step of EM."""
        x = padded(joint / self.total if self.total else joint)
        beta = padded(ratio(joint, self.counts @ joint))
        value, sums = 0.0, np.zeros_like(x)
        for begin in range(0, len(joint), _ROWS):
            end = min(len(joint), begin + _ROWS)
            value += aspect_pairs(
                self.starts, self.columns, self.weights, x, beta, begin, end, sums
            )
        return -value, (x * sums / self.counts[:, np.newaxis])[:, : joint.shape[1]]


def _shares(rows: DistinctRows) -> Iterator[tuple[range, Floats]]:
    """Yield p_ab of some rows with all rows, including pairs of objects with the same labels."""
    ensemble = rows.ensemble
    B = ensemble.indicator
    alike = B.multiply(B) @ ensemble.column_weights
    blocks = coassociation_blocks(ensemble, block_rows=_ROWS)
    for block in tracked(blocks, "blocks of pairs", len(alike) // _ROWS + 1):
        shares = block.counts.astype(np.float64)
        shares[np.arange(len(block.rows)), block.rows] = alike[block.rows]
        if ensemble.has_missing:
            np.divide(shares, block.copresence, out=shares, where=block.copresence > 0)
        else:
            shares /= ensemble.partition_weights.sum()
        yield block.rows, shares


@dataclass(frozen=True)
class _Landmarks:
    """Fitted rows of labels, against which other rows are placed one by one.

    With beta fixed, the likelihood of an object, sum_j p_ij log sum_r y_r beta_rj, is concave in its
    membership y. Landmarks of nearly the same membership are pooled to a prototype: beta_rj is in
    proportion to p(r | j) / alpha_r, so that landmarks of equal membership lose nothing.

    `beta` (G, K) holds the prototypes, scaled so that the largest entry of all is 1; `member` (n_landmarks, G)
    has the number of objects of each landmark in the column of its prototype.
    """

    ensemble: Ensemble
    beta: Floats
    member: sp.csr_array

    @classmethod
    def of(cls, rows: DistinctRows, joint: Floats, n_prototypes: int = N_PROTOTYPES) -> _Landmarks:
        totals = joint.sum(axis=1)
        held = np.flatnonzero(totals > 0)
        pool = pooled(joint[held] / totals[held, np.newaxis], n_prototypes)
        size = int(pool.max(initial=-1)) + 1
        shape = (len(rows), size)
        member = sp.csr_array((rows.masses[held], (held, pool)), shape=shape)
        sums = np.asarray(member.T @ joint)
        mean = sums / sums.sum(axis=1, keepdims=True)
        beta = ratio(mean, rows.masses @ joint)
        return cls(rows.ensemble, beta / beta.max(initial=1e-300), member)

    def joint_of(self, rows: DistinctRows, fitted: Ints, joint: Floats) -> Floats:
        """Return the memberships of all rows, times their sums of p_ij over landmarks; `fitted` have `joint`."""
        others = np.delete(np.arange(len(rows)), fitted)
        everything = np.zeros((len(rows), joint.shape[1]))
        everything[fitted] = joint
        for begin in tracked(range(0, len(others), _PLACED), "parts of the objects placed"):
            some = others[begin : begin + _PLACED]
            counts = self.shares(rows.ensemble, some)
            placed = place_against(counts, counts, self.beta, kl, _GAP)
            everything[some] = placed * counts.sum(axis=1, keepdims=True)
        return everything

    def shares(self, ensemble: Ensemble, some: Ints) -> Floats:
        """Return the sums of p_ij of some rows i over the landmarks j of each prototype."""
        weights = ensemble.column_weights
        rows = ensemble.indicator[some]
        if not ensemble.has_missing:
            # p is B B', weighted: no pair is formed.
            sums = (self.ensemble.indicator.T @ self.member).toarray() * weights[:, np.newaxis]
            return np.asarray(rows @ (sums / ensemble.partition_weights.sum()))
        c = (rows @ self.ensemble.indicator.multiply(weights).T).toarray()
        N = (ensemble.present[some] * ensemble.partition_weights) @ self.ensemble.present.T
        return np.asarray(ratio(c, N) @ self.member)
