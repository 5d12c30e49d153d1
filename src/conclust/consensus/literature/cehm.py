"""CEHM: medoids of the clusters are the seeds, and all clusters vote on the other objects."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import scipy.sparse as sp

from conclust._arrays.rows import ratio
from conclust._progress import advance, rounds, stage, tracked
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.voting.ballots import VotingClusterer
from conclust.ensemble import DistinctRows, Ensemble
from conclust.similarity.jaccard import jaccard_of_others

# Maximum number of rounds in which all objects are labelled again: two states may alternate forever.
_MOST_ROUNDS = 50
# Relative difference below which numbers are equal up to rounding.
_EQUAL = 1e-12


@dataclass(eq=False, repr=False)
class CEHM(VotingClusterer):
    """Clustering ensemble by k-hyperedge medoids.

    The clusters of all partitions, as hyperedges, are themselves clustered: k-medoids under the Jaccard
    similarity finds `n_clusters` representatives. An object in only one of these is a seed of it. Then every cluster votes for
    the clusters of the consensus, in proportion to the objects that it has there; each round labels another 1 / K of the
    objects, those with the clearest votes. Finally all objects are relabelled by all votes until nothing changes [1]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, K. Fewer are found if there are fewer distinct clusters, or fewer win the vote of any object.
        Required: ``fit`` refuses None.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Cluster with the most votes, consecutive from 0 by first appearance; -1: missing in every partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Mean votes on the objects; rows sum to 1. A column for each cluster that is not empty; the clusters
        of ``labels_`` come first.
    medoids_ : ndarray of int64 of shape (n_medoids,)
        Medoids of the clusters, in the order of ``Ensemble.indicator``.
    votes_ : ndarray of shape (n_clusters_of_all_partitions, n_medoids)
        The votes of each cluster of a partition, for the columns of ``membership_``, then for empty clusters.
    n_iter_ : int
        Number of rounds in which all objects were labelled again, at most 50.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int
        Number of partitions.

    See Also
    --------
    CumulativeVoting : votes for the clusters of one partition, merged in the end.

    Notes
    -----
    K-medoids starts greedily and swaps a medoid for another cluster as long as that is better: no swap improves the final
    medoids, and nothing is random. If all objects of a medoid also belong to others, they are its seeds. All objects with
    equally clear votes are labelled.

    Objects with the same labels are counted together, and get the same cluster. A partition has no vote on objects
    that it did not observe or took for noise. An object without votes has an even membership. Weights of the partitions
    multiply votes, and clusters in k-medoids; soft members count by their most probable clusters, and
    seeds belong to a medoid more than to all others. O(n N K) time per round, K rounds and more; O(T^2) for
    k-medoids.

    References
    ----------
    .. [1] F. Li, J. Wang, L. Zhang, Y. Qian, S. Jin, T. Yan and L. Du, "k-HyperEdge medoids for
       clustering ensemble", AAAI 2025.

    Examples
    --------
    >>> from conclust import CEHM
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = CEHM(n_clusters=2).fit(labels)
    >>> model.labels_, model.medoids_
    (array([0, 0, 1, 1]), array([0, 1]))
    >>> model.membership_.round(3)
    array([[0.889, 0.111],
           [0.889, 0.111],
           [0.222, 0.778],
           [0.   , 1.   ]])
    """

    medoids_: Ints = field(init=False)

    method = Method(
        title="K-hyperedge medoids",
        n_clusters="exact",
        fewer=True,
        membership=True,
        cost="n N K per round + T^2",
        citation="Li, Wang, Zhang, Qian, Jin, Yan and Du 2025, AAAI",
    )
    n_clusters: NumberOfClusters = None
    _: KW_ONLY

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        weights = ensemble.column_weights / ensemble.partition_weights.sum()
        with one_library_thread():
            self.medoids_ = medoids(jaccard_of_others(ensemble), weights, self.n_clusters)
            if not len(self.medoids_):  # noise everywhere
                self._keep(ensemble, np.zeros((len(weights), 1)))
                return np.ones((ensemble.n_samples, 1))
            rows = ensemble.distinct_rows()
            votes, self.n_iter_ = _Election(rows, weights, len(self.medoids_)).held(self.medoids_)
            self._keep(ensemble, votes)
            self._column_weights = weights
            self._n_held = votes.shape[1]
            memberships = self._read_votes(rows.ensemble.indicator, rows.ensemble.present)
        return memberships[rows.inverse]

    def _keep_clusters(self, clusters: Ints) -> None:
        if len(self.medoids_):
            self.medoids_ = self.medoids_[self._all_clusters(clusters)]
        super()._keep_clusters(clusters)


def medoids(J: sp.csr_array, weights: Floats, k: int) -> Ints:
    """Return up to k medoids of the clusters, which no swap improves.

    Parameters
    ----------
    J : csr_array of shape (T, T)
        Similarities from 0 to 1, symmetric, nothing on the diagonal.
    weights : ndarray of shape (T,)
        Weight of each cluster; those of weight 0 are not medoids.
    k : int
        Maximum number of medoids; fewer are returned if fewer clusters differ.

    Returns
    -------
    ndarray of int64
        In the order in which they were found. The sum over the clusters of their weight times the
        similarity to the nearest medoid is a local maximum; the first of equals is taken.
    """
    T = J.shape[0]
    S = sp.coo_array(J + sp.eye_array(T))
    weighted = weights[S.coords[1]] > 0
    of, other, value = S.coords[0][weighted], S.coords[1][weighted], S.data[weighted]
    weight, enough = weights[of], _EQUAL * float(weights.sum())
    chosen: list[int] = []
    best = np.zeros(T)
    stage("medoids")
    for _ in tracked(range(k), "medoids", at_most=True):
        gain = np.bincount(other, weight * np.maximum(value - best[of], 0.0), minlength=T)
        if gain.max(initial=0.0) <= enough:
            break
        first = int(np.argmax(gain >= gain.max() - enough))
        chosen.append(first)
        mine = other == first
        np.maximum.at(best, of[mine], value[mine])
    medoid_clusters = np.array(chosen, dtype=np.int64)
    similarity = sp.csc_array((value, (of, other)), shape=(T, T))
    while len(medoid_clusters):
        near = similarity[:, medoid_clusters].toarray()
        nearest = near.argmax(axis=1)
        best = near.max(axis=1)
        near[np.arange(T), nearest] = 0.0
        second = near.max(axis=1)
        # For a swap of a medoid: the gain of objects nearest to the new one, what the new one saves of
        # those that lose their medoid, and their loss.
        gain = np.bincount(other, weight * np.maximum(value - best[of], 0.0), minlength=T)
        instead = weight * np.maximum(np.minimum(value, best[of]) - second[of], 0.0)
        saved = sp.csr_array(
            (instead, (nearest[of], other)), shape=(len(medoid_clusters), T)
        ).toarray()
        lost = np.bincount(nearest, weights * (best - second), minlength=len(medoid_clusters))
        swaps = saved + gain - lost[:, None]
        if swaps.max() <= enough:
            break
        leaving, coming = divmod(int(np.argmax(swaps >= swaps.max() - enough)), T)
        medoid_clusters[leaving] = coming
    return medoid_clusters


class _Election:
    """Clusters that vote by the labels of their objects, and objects that are labelled by the votes."""

    def __init__(self, rows: DistinctRows, weights: Floats, k: int) -> None:
        self.masses, self.k = rows.masses, k
        self.B = rows.ensemble.indicator
        self.counted = sp.csr_array(self.B.T @ sp.diags_array(rows.masses))
        sizes = np.asarray(self.counted.sum(axis=1)).ravel()
        self.shares = ratio(weights, sizes)
        self.sizes = sizes

    def held(self, chosen: Ints) -> tuple[Floats, int]:
        """Return the final votes of all clusters (T, K), and the number of rounds of relabelling."""
        labels = self._seeds(chosen)
        self._extend(labels)
        done = 0
        stage("votes on all objects")
        while done < _MOST_ROUNDS:
            done += 1
            rounds("rounds", done, _MOST_ROUNDS)
            scores = self._scores(labels)
            top = scores.max(axis=1)
            scores_of_label = scores[np.arange(len(labels)), np.maximum(labels, 0)]
            moved = (top > _EQUAL) & ((labels < 0) | (scores_of_label < top - _EQUAL))
            if not moved.any():
                break
            labels[moved] = _first_best(scores[moved])
        return ratio(self._held(labels), self.sizes[:, None]), done

    def _seeds(self, chosen: Ints) -> Ints:
        """Return labels of the objects that belong to one medoid more than to all others; -1: none."""
        indicator = self.B[:, chosen].toarray()
        total = indicator.sum(axis=1)
        sure = indicator.max(axis=1) > (0.5 + _EQUAL) * total
        labels = np.where(sure, indicator.argmax(axis=1), -1)
        # Smaller ones first: the remaining objects of larger ones are still their seeds.
        without = np.flatnonzero(np.bincount(labels[sure], minlength=len(chosen)) == 0)
        for k in without[np.argsort(self.sizes[chosen[without]], kind="stable")]:
            labels[(labels < 0) & (indicator[:, k] > 0)] = k
        return labels

    def _held(self, labels: Ints) -> Floats:
        """Return the number of objects of each cluster with each label (T, K)."""
        labelled = np.flatnonzero(labels >= 0)
        Y = sp.csr_array(
            (np.ones(len(labelled)), (labelled, labels[labelled])), shape=(len(labels), self.k)
        )
        return np.asarray((self.counted @ Y).toarray())

    def _scores(self, labels: Ints) -> Floats:
        """Return the votes on all rows, by the labels that they have (n, K)."""
        return np.asarray(self.B @ (self._held(labels) * self.shares[:, None]))

    def _extend(self, labels: Ints) -> None:
        """Label more objects in each round, those with the clearest votes; the others have no label until then."""
        total, done = float(self.masses.sum()), float(self.masses[labels >= 0].sum())
        step = max(np.floor(np.sqrt(total)), np.ceil((total - done) / self.k))
        stage("votes on the clearest objects first")
        while done < total:
            advance(done, total)
            done = min(total, done + step)
            scores = self._scores(labels)
            ranked = np.sort(scores, axis=1)
            clear = ranked[:, -1] - (ranked[:, -2] if self.k > 1 else 0.0)
            clear[ranked[:, -1] <= _EQUAL] = -1.0  # no votes
            order = np.argsort(-clear, kind="stable")
            last = order[np.searchsorted(np.cumsum(self.masses[order]), done)]
            labels[:] = np.where(clear >= max(clear[last] - _EQUAL, 0.0), _first_best(scores), -1)


def _first_best(scores: Floats) -> Ints:
    """Return the best column of each row, the first one if tied."""
    best: Ints = (scores >= scores.max(axis=1, keepdims=True) - _EQUAL).argmax(axis=1)
    return best
