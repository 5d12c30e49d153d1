"""FuzzyCommunities: inner products of memberships fit the co-association, the diagonal included."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import scipy.sparse as sp

from conclust._arrays.simplex import project_simplex
from conclust._progress import rounds
from conclust._random import RandomStateLike
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.label_rows import normalized_norm, normalized_rows, start_labels, trusted
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.papers.probabilistic.objective import squared, together
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.membership import bridgeness

# Number of successive steps with nearly no gain after which the iteration ends.
_PATIENCE = 3
# Maximum number of objects for which the evidence of all pairs is squared.
_ALL_PAIRS = 20_000
# Maximum number of distinct rows for which a matrix of all pairs is formed.
_FEW = 2000


@dataclass(eq=False, repr=False)
class FuzzyCommunities(SoftConsensusClusterer):
    r"""Fuzzy communities of the co-association, with the bridgeness of each object.

    Finds a membership U, rows on the simplex, with inner products near the co-association. It
    minimises

    .. math::

        f(U) = \sum_{i, j} w_{ij} \left(s_{ij} - u_i^\top u_j\right)^2

    with s_ij the share of the partitions that put i and j together, among those that observed both, and s_ii = 1,
    which pulls every object towards a certain membership [1]_. w_ij is the share of the
    partitions that observed both: 1 without missing labels. This is the least-squares PCC with the
    diagonal counted. Objects between communities have a high bridgeness.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of communities, K. Required: ``fit`` refuses None.
    n_init : int, default=5
        U starts at the partition of :class:`InformationTheoreticKMeans`; this is the number of starts (k-means++) of that
        search. With more than 5,000 distinct rows of labels they run on 5,000 objects drawn at
        random, and the best is continued with all.
    max_iter : int, default=1000
        Maximum number of steps.
    tol : float, default=1e-9
        Stop when three steps in a row lower the objective by less than this share of its value at
        U = 0.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        The most probable community; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        U. A column for each community that is not empty; the clusters of ``labels_`` come first.
    bridgeness_ : ndarray of shape (n_samples,)
        0 for an object of one community, 1 for one that all share evenly: see
        :func:`conclust.membership.bridgeness`.
    n_clusters_ : int
        Number of communities that are the most probable one of some object.
    objective_ : float
        f(U). With missing labels and more than 20,000 objects, the sum over partitions of
        (1[together] - u_i'u_j)^2 instead, which exceeds f by a constant.
    trace_ : ndarray of shape (n_iter + 1,)
        f at the start and after each step. It never rises.
    n_iter_ : int
        Steps.
    converged_ : bool
        Whether `tol` ended the iteration, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the iteration.

    Notes
    -----
    Projected gradient steps of Barzilai and Borwein's length. Along a step the objective is a
    polynomial of fourth degree, and the step goes to its minimum. Everything is computed by products
    with the indicator of the ensemble: O(n (N K + K^2)) per step, no matrix of pairs. Objects with the
    same labels have the same membership throughout and are computed once. With missing labels a
    step costs n K^2 for each set of objects that a partition observed: there are at most N.

    A pair that no partition observed is left out. A noise object is apart from all objects in its
    partition. Soft partitions count with sums of products of probabilities.

    References
    ----------
    .. [1] T. Nepusz, A. Petróczi, L. Négyessy, F. Bazsó: Fuzzy communities and the concept of
       bridgeness in complex networks. Physical Review E 77, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import FuzzyCommunities
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = FuzzyCommunities(2, random_state=0).fit(ensemble)
    >>> model.labels_, model.bridgeness_.argmax()
    (array([0, 0, 1, 1]), np.int64(2))
    """

    bridgeness_: Floats = field(init=False)

    method = Method(
        title="Fuzzy communities",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=True,
        cost="n (N K + K^2) per step",
        citation="Nepusz, Petróczi, Négyessy and Bazsó 2008, Physical Review E 77",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    n_init: int = 5
    max_iter: int = 1000
    tol: float = 1e-9
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        owner, k = "FuzzyCommunities", self.n_clusters
        labels = start_labels(ensemble, k, self.n_init, self.random_state, owner)
        rows = ensemble.distinct_rows()
        with one_library_thread():
            start = trusted(rows.one_of_each(labels), k)
            U = self._descend(_Evidence.of(ensemble, rows, k), start)
        return U[rows.inverse]

    def _finish(self, observed: Bools) -> None:
        super()._finish(observed)
        self.bridgeness_ = bridgeness(self.membership_)

    def _descend(self, evidence: _Evidence, U: Floats) -> Floats:
        dot = evidence.dot
        S, P = evidence.times(U), evidence.grams(U, U)
        trace, idle = [evidence.value(U, S, P)], 0
        G = 4.0 * (evidence.spread(U, P) - S)
        step = 1.0 / (4.0 * max(float(np.linalg.norm(P, axis=(1, 2)).sum()), 1e-12))
        while idle < _PATIENCE and len(trace) <= self.max_iter:
            rounds("steps", len(trace) - 1, self.max_iter)
            D = project_simplex(U - step * G) - U
            SD, Q, R = evidence.times(D), evidence.grams(U, D), evidence.grams(D, D)
            Q = Q + Q.transpose(0, 2, 1)
            c1 = -4.0 * dot(U, SD) + 2.0 * float((P * Q).sum())
            c2 = -2.0 * dot(D, SD) + float((Q * Q).sum()) + 2.0 * float((P * R).sum())
            c3, c4 = 2.0 * float((Q * R).sum()), float((R * R).sum())
            far, change = _least(c1, c2, c3, c4)
            U, S = U + far * D, S + far * SD
            P = evidence.grams(U, U)
            new = 4.0 * (evidence.spread(U, P) - S)
            bend, length = dot(D, new - G), far * dot(D, D)
            step = length / bend if bend > 0 < length else 2.0 * step
            step = min(max(step, 1e-12), 1e6)
            G = new
            trace.append(max(trace[-1] + change, 0.0))
            idle = idle + 1 if -change <= self.tol * evidence.total else 0
        U = project_simplex(U)
        self._keep_course(trace, idle >= _PATIENCE)
        self.objective_ = evidence.value(U, evidence.times(U), evidence.grams(U, U))
        return U


@dataclass(frozen=True)
class _Evidence:
    """Products with the matrices w_ij s_ij and w_ij, which are never formed, for distinct rows of labels.

    w_ij s_ij is AA', with `lift` added for an object with itself. w_ij is the sum over groups of
    partitions that observed the same objects of presence_ig presence_jg; `counts` is the number of objects of each
    row, `total` is f(0). `roots` is the matrix of sqrt(w_ij), where rows are so few
    that it costs less than a Gram matrix for each group.
    """

    A: sp.csr_array
    counts: Floats
    lift: Floats
    presence: Floats
    total: float
    roots: Floats | None

    @classmethod
    def of(cls, ensemble: Ensemble, rows: DistinctRows, n_clusters: int) -> _Evidence:
        A, counts = normalized_rows(rows.ensemble), rows.masses
        self_pairs = np.asarray(A.multiply(A).sum(axis=1)).ravel()
        if ensemble.has_missing:
            groups, present = rows.ensemble.presence_groups, rows.ensemble.present
            every = float(rows.ensemble.partition_weights.sum())
            weights = np.bincount(groups.of_partition, rows.ensemble.partition_weights / every)
            # Sorted, so that no bit depends on the order of the partitions.
            order = sorted(range(len(weights)), key=lambda g: present[:, groups.first[g]].tobytes())
            presence = present[:, groups.first[order]] * np.sqrt(weights[order])
            few = ensemble.n_samples <= _ALL_PAIRS
            total = 2.0 * (squared(ensemble, 1) if few else together(ensemble)) / every
        else:
            presence = np.ones((len(self_pairs), 1))
            total = normalized_norm(ensemble) - float(counts @ self_pairs**2)
        observed = (presence**2).sum(axis=1)
        lift = (observed - self_pairs)[:, np.newaxis]
        few = len(rows) <= _FEW and len(rows) < n_clusters * presence.shape[1]
        roots = np.sqrt(presence @ presence.T) if few else None
        return cls(A, counts, lift, presence, total + float(counts @ observed), roots)

    def dot(self, U: Floats, V: Floats) -> float:
        """Return the sum over objects and clusters of u_ik v_ik."""
        return float(self.counts @ np.einsum("ik,ik->i", U, V))

    def times(self, V: Floats) -> Floats:
        """Return the products of w_ij s_ij with the columns of V."""
        return np.asarray(self.A @ (self.A.T @ (self.counts[:, np.newaxis] * V)) + self.lift * V)

    def grams(self, U: Floats, V: Floats) -> Floats:
        """Return U'V over the objects of each group, (groups, K, K), or by `roots` UV', (1, n, n).

        Sums of their products are the same: sum_ij w_ij (u_i'u_j) (v_i'v_j) of U'U and V'V.
        """
        if self.roots is not None:
            mass_roots = np.sqrt(self.counts)[:, np.newaxis]
            return (self.roots * ((mass_roots * U) @ (mass_roots * V).T))[np.newaxis]
        mass = self.counts[:, np.newaxis] * self.presence
        return np.stack([(column[:, np.newaxis] * U).T @ V for column in mass.T])

    def spread(self, U: Floats, P: Floats) -> Floats:
        """Return sum_j w_ij (u_i'u_j) u_j, from the grams of U with itself."""
        if self.roots is not None:
            mass_roots = np.sqrt(self.counts)[:, np.newaxis]
            return np.asarray((self.roots * P[0]) @ (mass_roots * U) / mass_roots)
        sums = np.zeros_like(U)
        for column, gram in zip(self.presence.T, P, strict=True):
            sums += column[:, np.newaxis] * (U @ gram)
        return sums

    def value(self, U: Floats, S: Floats, P: Floats) -> float:
        """Return f(U)."""
        return max(0.0, self.total - 2.0 * self.dot(U, S) + float((P * P).sum()))


def _least(c1: float, c2: float, c3: float, c4: float) -> tuple[float, float]:
    """Return the minimiser of the polynomial c1 e + ... + c4 e^4 in [0, 1], and its value."""
    roots = np.roots([4.0 * c4, 3.0 * c3, 2.0 * c2, c1]) if c4 > 0 else np.zeros(0)
    real = roots.real[np.abs(roots.imag) <= 1e-9 * (1.0 + np.abs(roots.real))]
    tried = np.concatenate([[0.0, 1.0], np.clip(real, 0.0, 1.0)])
    values = tried * (c1 + tried * (c2 + tried * (c3 + tried * c4)))
    best = int(values.argmin())
    return float(tried[best]), float(values[best])
