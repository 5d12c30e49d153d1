"""CumulativeVoting: every cluster votes for all clusters of a reference, by the objects they share."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from conclust._parameters import Parameters, Range
from conclust._progress import stage, tracked
from conclust._threads import one_library_thread
from conclust._types import Bools, Floats, Ints
from conclust.consensus.method import Method, NumberOfClusters
from conclust.consensus.voting.ballots import (
    FIXED,
    Count,
    Scheme,
    VotingClusterer,
    merge_columns,
    reference_clusters,
    votes_for,
    votes_of_reference,
)
from conclust.ensemble import Ensemble, Missing
from conclust.ensemble.derived import Derived
from conclust.ensemble.labels import cluster_range
from conclust.similarity import cluster_certainty, information_bottleneck


@dataclass(eq=False, repr=False)
class CumulativeVoting(VotingClusterer):
    """Cumulative voting: clusters vote for all clusters of a reference, in proportion to shared objects.

    Clusters are not matched one to one. The partition with the largest entropy is the reference. A
    cluster of another partition votes for the clusters of the reference, in proportion to the objects
    that it shares with them, and gives this vote to each of its objects. The mean vote of an object
    is a distribution over the reference's clusters. There may be many more than `n_clusters` of these; the two whose merger
    loses least information about the objects are merged repeatedly, until `n_clusters` are left.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters of the consensus, at most n_samples. Fewer are found if the reference has fewer, or fewer win the
        vote of any object. Required: ``fit`` refuses None.
    scheme : {"acv", "cvote", "urcv", "rcv", "bvote", "lwcv"}, default="acv"
        "urcv": the reference is fixed, votes as above [1]_. "rcv": likewise, the shared objects
        counted in shares of the reference's cluster, so that its large clusters do not draw votes
        by size alone [1]_. "acv": the reference adapts: partitions vote in the order of falling
        entropy, for the mean vote of the partitions before them [1]_. "cvote": another name of
        "acv", used in [2]_. "bvote": like "acv", but each cluster gives its whole vote to one cluster
        of the reference, one to one [2]_; the reference has the number of clusters of the largest
        partition. "lwcv", a new scheme (its form was chosen among six on the published pools of the leaderboard):
        like "acv", but a cluster's vote is weighted by its certainty
        (:func:`conclust.similarity.cluster_certainty`), as in LWEA, and then all vote a second time, for
        the mean vote of all, which no longer depends much on the order; the reference has at most
        4 `n_clusters` + 20 clusters, if any partition has so few.
    theta : float, default=0.4
        Parameter of "lwcv", positive: smaller values reduce the votes of uncertain clusters.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Cluster with the most votes, consecutive from 0 by first appearance; -1: missing in every
        partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Mean votes of the objects, merged; rows sum to 1. A column for each cluster that is not
        empty; the clusters of ``labels_`` come first.
    reference_ : int
        Index of the reference, for whose clusters the other partitions vote.
    reference_membership_ : ndarray of shape (n_observed, n_reference_clusters)
        Mean votes before the merging, of the objects that any partition observed; for labels in blocks: of all objects, uniform
        if none did.
    merged_ : ndarray of int64 of shape (n_reference_clusters,)
        Column of ``votes_`` into which each cluster of the reference was merged.
    votes_ : ndarray of shape (n_clusters_of_all_partitions, n_clusters)
        The votes of each cluster of a partition (in the order of ``Ensemble.indicator``), for the
        columns of ``membership_``, then for empty clusters. A row of zeros abstains.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int
        Number of partitions.

    Notes
    -----
    With complete labels "urcv" and "acv" preserve the reference's shares: every column mean of
    ``reference_membership_`` is the share of the objects in that cluster of the reference.

    A partition has no vote on objects that it did not observe. A cluster abstains if the reference
    observed none of its objects. Noise is a cluster of one object: it repeats the vote of the
    reference on the object. Noise in the reference itself is spread evenly over its clusters
    ("bvote": noise has no cluster to match, and has the same vote). Weights of the partitions multiply their votes, but do not
    change their place in the order; a partition of weight 0 is not a reference. Soft members count by their most probable
    clusters. In "lwcv" noise abstains.

    A merge loses the weighted Jensen-Shannon divergence of the two clusters' distributions over the
    objects (the agglomerative information bottleneck). Objects with the same labels are counted
    together.

    The result depends on the order of the partitions if entropies are equal.

    Labels in blocks (:class:`conclust.blocks.LabelStore`) are read once for each merge. If labels are missing or noise, all
    schemes but "urcv" and "rcv" also read them once for each partition;
    so does "lwcv", whatever the labels.

    References
    ----------
    .. [1] H. G. Ayad and M. S. Kamel, "Cumulative voting consensus method for partitions with a
       variable number of clusters", IEEE TPAMI 30(1), 2008.
    .. [2] H. G. Ayad and M. S. Kamel, "On voting-based consensus of cluster ensembles", Pattern
       Recognition 43(5), 2010.

    Examples
    --------
    >>> from conclust import CumulativeVoting
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = CumulativeVoting(n_clusters=2).fit(labels)
    >>> model.membership_.round(4)
    array([[0.8889, 0.1111],
           [0.8889, 0.1111],
           [0.2222, 0.7778],
           [0.    , 1.    ]])
    >>> model.membership_.mean(axis=0)
    array([0.5, 0.5])
    """

    reference_: int = field(init=False)
    reference_membership_: Any = field(init=False)  # an array, or in blocks
    merged_: Ints = field(init=False)

    method = Method(
        title="Cumulative voting",
        n_clusters="exact",
        fewer=True,
        membership=True,
        cost="n N K_ref + n K_ref^2",
        citation="Ayad and Kamel 2008, IEEE TPAMI 30",
        blocks="conclust.blocks.methods.cumulative",
        use="clusterings have different numbers of clusters, and you want memberships",
    )
    parameters: ClassVar[Parameters] = {"theta": Range(above=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    scheme: Scheme = "acv"
    theta: float = 0.4
    missing: Missing = "unobserved"
    verbose: int = 0

    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        order = self._order(ensemble)
        with one_library_thread():
            certainty = self._certainty(ensemble)
            votes, U = _vote(ensemble, order, self.scheme, certainty)
            merged = information_bottleneck(*_pooled(ensemble, U), self.n_clusters)
        self.reference_membership_ = U
        self.merged_ = merged
        self._keep(ensemble, merge_columns(votes, merged, self.n_clusters), certainty)
        return merge_columns(U, merged, self.n_clusters)

    def _order(self, ensemble: Derived) -> Ints:
        """Return the order in which the partitions vote, the reference first."""
        most = 4 * self.n_clusters + 20 if self.scheme == "lwcv" else None
        order = _by_entropy(ensemble, self.n_clusters, most)
        self.reference_ = int(order[0])
        return order

    def _certainty(self, ensemble: Derived) -> Floats | None:
        """Return the weights of the clusters' votes; None: all equal."""
        return cluster_certainty(ensemble, self.theta) if self.scheme == "lwcv" else None

    def _keep_clusters(self, clusters: Ints) -> None:
        super()._keep_clusters(clusters)
        self.merged_ = np.argsort(self._all_clusters(clusters))[self.merged_]


def _by_entropy(ensemble: Derived, n_clusters: int, most: int | None) -> Ints:
    """Order the partitions by decreasing entropy, those without weight last.

    The first one has from `n_clusters` to `most` clusters, where a partition has.
    """
    from scipy.special import xlogy

    sizes = ensemble.cluster_sizes
    observed = ensemble.observed_counts.astype(np.float64)
    blocks = [sizes[a:b] for a, b in zip(ensemble.offsets[:-1], ensemble.offsets[1:], strict=True)]
    # log n - sum s log s / n; noise objects, clusters of one, add 1 log 1 = 0.
    inside = np.array([float(xlogy(block, block).sum()) for block in blocks])
    entropy = np.round(np.log(observed) - inside / observed, 12)
    few = ensemble.cluster_counts < n_clusters
    many = np.zeros_like(few) if most is None else ensemble.cluster_counts > most
    many &= ~(few | many).all()
    # A partition of noise only has the most entropy, but no cluster: it cannot be the reference.
    empty = ensemble.cluster_counts == 0
    order = np.lexsort(
        (-entropy, (few & ~few.all()) | many, empty, ensemble.partition_weights == 0)
    )
    # Only the reference needs enough clusters; the others are ordered by entropy alone.
    rest = np.lexsort((-entropy, ensemble.partition_weights == 0))
    return np.concatenate([order[:1], rest[rest != order[0]]]).astype(np.int64)


def _vote(
    ensemble: Ensemble, order: Ints, scheme: Scheme, certainty: Floats | None
) -> tuple[Floats, Floats]:
    """Return the votes of each cluster of each partition, and the mean vote of each object."""
    k = reference_clusters(ensemble, order, scheme)
    votes = np.zeros((int(ensemble.offsets[-1]), k))
    count = Count(ensemble, k, fixed=scheme in FIXED, certainty=certainty)
    stage("votes of the partitions")
    for u in tracked(order, "partitions"):
        columns = cluster_range(ensemble.offsets, u)
        if u == order[0]:
            votes[columns] = votes_of_reference(columns, k)
        else:
            votes[columns] = votes_for(*count.shared(u), scheme)
        count.add(u, votes[columns])
    if scheme == "lwcv":
        votes, count = _vote_again(count, order, scheme)
    return votes, count.mean()


def _vote_again(count: Count, order: Ints, scheme: Scheme) -> tuple[Floats, Count]:
    """Let all partitions vote for the mean vote of all."""
    ensemble = count.ensemble
    votes = np.zeros((int(ensemble.offsets[-1]), count.k))
    again = Count(ensemble, count.k, certainty=count.certainty)
    stage("votes of the partitions, again")
    for u in tracked(order, "partitions"):
        columns = cluster_range(ensemble.offsets, u)
        votes[columns] = votes_for(*count.shared(u), scheme)
        again.add(u, votes[columns])
    return votes, again


def _pooled(ensemble: Ensemble, U: Floats) -> tuple[Floats, Floats]:
    """Return the distinct rows of U, and the number of objects with each."""
    if ensemble.is_soft or ensemble.has_noise:
        return U, np.ones(len(U))
    rows = ensemble.distinct_rows()
    return U[rows.first], rows.masses
