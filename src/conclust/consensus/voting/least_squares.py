"""Voting: one-to-one matched partitions, averaged."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import NamedClusterer
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.suitability import warn_of_merged, warn_of_misfit
from conclust.consensus.voting.alignment import Alignment, align, harden, one_pass, squared_distance
from conclust.consensus.voting.ballots import VotingClusterer, spread, tally
from conclust.ensemble import Ensemble, Missing, Naming
from conclust.ensemble.labels import one_hot_rows

Algorithm: TypeAlias = Literal["least_squares", "one_pass"]

# Maximum number of objects for which the hard consensus is computed from every start, not just the best.
_EVERY_START = 5000


@dataclass(eq=False, repr=False)
class Voting(NamedClusterer, VotingClusterer):
    r"""Voting: match the clusters of all partitions one to one, and average.

    Finds memberships M and, for every partition u, a one-to-one matching P_u of its clusters with the
    clusters of the consensus (some may stay unmatched), so that the partitions are nearest to M:

    .. math::

        f = \sum_u w_u \sum_{i \text{ observed by } u} \lVert M_i - P_u^\top b_{ui} \rVert^2

    with b_ui the indicator (or the probabilities) of object i in partition u.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters of the consensus, at most n_samples. Fewer are found if fewer win the vote of any object.
        Required with ``names="own"``: ``fit`` refuses None.
    algorithm : {"least_squares", "one_pass"}, default="least_squares"
        "least_squares": a fixed point of f, which depends on the order of the partitions only through the starts of the
        descents [2]_. "one_pass": each partition is matched once to the mean of those before it, in random order [1]_;
        with the clusters of the largest partition, of which the `n_clusters` with the most votes are kept.
    hard : bool, default=False
        Whether M is restricted to partitions: each row then has a single 1, and f is least where
        it is at the cluster with the most votes.
    names : {"own", "shared"}, default="own"
        Meaning of the names of clusters. "own": those of each partition are arbitrary, unless ``Ensemble(...,
        names="shared")`` says otherwise. "shared": a name is the same class in all partitions, as in answers of
        raters. Then nothing is matched, `membership_` has the shares of the answers, and `labels_` is the majority
        vote, with ties going to the class of the first column. `n_clusters` must be None.
    n_init : int, default=10
        Number of starts of "least_squares": partitions of the ensemble, each once, then random matchings.
    max_iter : int, default=100
        Maximum number of sweeps of a descent.
    tol : float, default=1e-8
        A descent ends when a sweep lowers f by at most this share of it, or nothing changes.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the starts and the order of the one pass.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Cluster with the most votes, consecutive from 0 by first appearance; -1: missing in every
        partition.
    membership_ : ndarray of shape (n_samples, n_held)
        M: shares of the votes, rows sum to 1. A column for each cluster that is not empty; the clusters of ``labels_``
        come first.
    votes_ : ndarray of shape (n_clusters_of_all_partitions, n_clusters)
        1 where a cluster of a partition (in the order of ``Ensemble.indicator``) stands for a
        cluster of the consensus: the columns of ``membership_``, then empty clusters.
    classes_ : ndarray of shape (n_classes,)
        With ``names="shared"``: the names, first those of the columns of ``membership_``. ``classes_[labels_]`` are the answers
        of objects whose label is not -1.
    n_clusters_ : int
        Clusters found.
    objective_ : float
        f of the consensus.
    n_iter_ : int
        Number of sweeps of the best descent.
    converged_ : bool
        Whether it ended before `max_iter`.
    trace_ : ndarray of shape (n_iter + 1,)
        f at the start and after every sweep; it never rises. One value for "one_pass".
    n_features_in_ : int
        Number of partitions.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the best descent.
    EnsembleWarning
        If the consensus merged groups of objects that the partitions with the most clusters separate, or
        many partitions have far more clusters than `n_clusters` or nearly all objects in one. The
        warning names methods that suit such an ensemble.

    Notes
    -----
    A missing label does not count: M is the mean over the partitions that observed the object. Noise,
    and unmatched clusters of partitions with more than `n_clusters`, vote for no cluster. Rows of M
    sum to 1, so these lost votes are spread evenly, which minimises f. Weights of the partitions multiply their votes; soft
    members vote with their probabilities.

    Voting assumes that the partitions have about `n_clusters` clusters each. If they have many more, most of their clusters
    have no vote; in :class:`conclust.CumulativeVoting` all of them do.

    f depends on the matched partitions only through the contingency tables of all pairs of them, T x
    T numbers for T clusters of all partitions: the cost of a sweep does not depend on the number of
    objects. With ``hard=True`` the descent goes over the objects. With more than 5,000 objects it starts only from the best
    soft solution, with fewer from all of them and from their starts.

    References
    ----------
    .. [1] E. Dimitriadou, A. Weingessel and K. Hornik, "A combination scheme for fuzzy clustering",
       International Journal of Pattern Recognition and Artificial Intelligence 16(7), 2002.
    .. [2] K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005
       (soft and hard Euclidean consensus partitions).

    Examples
    --------
    >>> from conclust import Voting
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = Voting(n_clusters=2, random_state=0).fit(labels)
    >>> model.membership_.round(3)
    array([[1.   , 0.   ],
           [1.   , 0.   ],
           [0.333, 0.667],
           [0.   , 1.   ]])
    >>> round(model.objective_, 4)
    1.3333
    """

    method = Method(
        title="Voting (matched partitions averaged)",
        n_clusters="exact",
        fewer=True,
        membership=True,
        soft_members=True,
        cost="n N^2, then T^2 K per sweep",
        citation="Dimitriadou, Weingessel and Hornik 2002, IJPRAI 16",
        use="clusterings have the same number of clusters, and you want memberships",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    algorithm: Algorithm = "least_squares"
    hard: bool = False
    names: Naming = "own"
    n_init: int = 10
    max_iter: int = 100
    tol: float = 1e-8
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        with one_library_thread():
            best, membership = self._solve(ensemble)
        self._keep(ensemble, best.votes)
        self.trace_ = np.array(best.trace)
        self._keep_end(
            squared_distance(ensemble, best.votes, membership),
            max(1, len(best.trace) - 1),
            best.converged,
            "sweeps with partitions still changing their matching",
        )
        return membership

    def _review(self, ensemble: Ensemble, labels: Ints) -> None:
        if not self._by_name:
            warn_of_misfit(ensemble, self.n_clusters, "Voting")
            warn_of_merged(ensemble, labels, self.n_clusters, "Voting")

    def _solve(self, ensemble: Ensemble) -> tuple[Alignment, Floats]:
        seed = seed_sequence(self.random_state, "Voting")
        generators = spawn_generators(seed, self.n_init)
        if self._by_name or self.algorithm == "one_pass":
            if self._by_name:
                votes = self._votes_by_name(ensemble)
            else:
                order = generators[0].permutation(ensemble.n_partitions)
                votes = one_pass(ensemble, self.n_clusters, order)
            membership = _mean(ensemble, votes)
            if self.hard:
                sums = tally(ensemble, votes)
                membership = one_hot_rows(sums.argmax(axis=1), sums.shape[1])
            value = squared_distance(ensemble, votes, membership)
            return Alignment(votes, value, True, [value], votes), membership
        best = align(
            ensemble,
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            generators=generators,
        )
        if not self.hard:
            return best[0], _mean(ensemble, best[0].votes)
        starts = [best[0].votes]
        if ensemble.n_samples <= _EVERY_START:
            starts = [votes for one in best for votes in (one.votes, one.start)]
        return harden(ensemble, starts, max_iter=self.max_iter)

    def _read_votes(self, indicator: sp.csr_array, observed: Bools) -> Floats:
        membership = self._mean_votes(indicator, np.asarray(observed @ self._partition_weights))
        if self.hard:
            winners = membership.argmax(axis=1)
            membership[:] = 0.0
            membership[np.arange(len(winners)), winners] = 1.0
        return membership


def _mean(ensemble: Ensemble, votes: Floats) -> Floats:
    return spread(tally(ensemble, votes), ensemble.observed_weights)
