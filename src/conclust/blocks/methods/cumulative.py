"""Cumulative voting on objects that are read in blocks.

Partitions that vote for a fixed reference do so in one pass. Where the reference adapts and all labels are
there, what clusters share with it is a sum over B'B; else it is added up in a pass for each partition, and
blocks keep their mean votes from pass to pass. Then one pass for each merge of two clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer, rows_of
from conclust.blocks.labels import LabelBlocks, added
from conclust.blocks.runners import Kept
from conclust.consensus.voting.ballots import (
    FIXED,
    Count,
    Scheme,
    merge_columns,
    reference_clusters,
    votes_for,
    votes_of_reference,
)
from conclust.consensus.voting.cumulative import CumulativeVoting
from conclust.ensemble.labels import cluster_range
from conclust.similarity.bottleneck import Merging, common_of_one, common_of_pairs

_DOUBLE = 8  # bytes


@dataclass(frozen=True)
class _Poll:
    """State of the voting.

    Attributes
    ----------
    votes : ndarray of shape (T, k)
        Votes of each cluster of the partitions that have voted.
    voted : int
        Number of partitions that have voted, in their order.
    step : int
        Visits made of the blocks, which keep the mean votes of their objects.
    """

    votes: Floats
    voted: int
    step: int


@dataclass(frozen=True)
class _How:
    """Data shared by all blocks.

    Attributes
    ----------
    order : ndarray of int64 of shape (n_partitions,)
        Order in which the partitions vote; the first one is the reference.
    k : int
        Clusters of the reference.
    scheme : {"urcv", "rcv", "acv", "cvote", "bvote", "lwcv"}
        Voting scheme.
    certainty : ndarray of shape (T,) or None
        Weights of the votes of the clusters; None: equal.
    """

    order: Ints
    k: int
    scheme: Scheme
    certainty: Floats | None

    @property
    def twice(self) -> bool:
        """Whether all vote again, for the mean vote of all."""
        return self.scheme == "lwcv"


def fit(model: CumulativeVoting, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
    """Count the votes of the clusters, and merge the clusters of the reference.

    Parameters
    ----------
    model : CumulativeVoting
        Estimator, whose attributes are set.
    labels : LabelBlocks
        The objects.
    seed : SeedSequence
        Unused: nothing is random.
    """
    order = model._order(labels)
    with one_library_thread():
        certainty = model._certainty(labels)
        how = _How(order, reference_clusters(labels, order, model.scheme), model.scheme, certainty)
        votes, merged, kept, last = _counted_votes(labels, how, model.n_clusters)
    model.merged_ = merged
    model.reference_membership_ = rows_of(labels, Answer(_own, (), kept, last), votes.shape[1])
    model._keep(labels, merge_columns(votes, merged, model.n_clusters), certainty)
    return Answer(_own_merged, (merged, model.n_clusters), kept, last)


def _counted_votes(
    labels: LabelBlocks, how: _How, n_clusters: int
) -> tuple[Floats, Ints, Kept, int]:
    """Return the votes (T, k), the number that each of the k clusters has after merging, and the mean votes of the blocks.

    The last is the number of the visit that computed these.
    """
    # Mean votes, and the weight of the partitions that had one.
    poll_files = labels.keeping(_DOUBLE * (how.k + 1), "votes")

    votes = np.zeros((int(labels.offsets[-1]), how.k))
    reference = cluster_range(labels.offsets, how.order[0])
    votes[reference] = votes_of_reference(reference, how.k)
    poll = _Poll(votes, 1, 0)
    while poll.voted < labels.n_partitions:
        if not labels.has_missing and not labels.has_noise and not how.twice:
            poll = _Poll(_complete(labels, poll.votes, how), labels.n_partitions, 0)
        elif how.scheme in FIXED:
            poll = _Poll(_for_reference(labels, poll.votes, how), labels.n_partitions, 0)
        else:
            poll = _next(labels, poll, how, poll_files)
        poll_files.settle(poll.step)
    if how.twice and poll.voted == labels.n_partitions:
        poll = _again(labels, poll, how, poll_files)
        poll_files.settle(poll.step)
    last = poll.step + 1
    labels.visit(
        "mean votes",
        _counted,
        poll_files,
        last,
        shared=(poll.votes, how),
    )
    merging = _merged(labels, poll_files, last, n_clusters, how)
    return poll.votes, merging.numbers, poll_files, last


def _complete(labels: LabelBlocks, votes: Floats, how: _How) -> Floats:
    """Let all vote where every partition has every object in a cluster: from B'B."""
    votes, order = votes.copy(), how.order
    weights, gram = labels.partition_weights, labels.gram
    sizes = labels.cluster_sizes
    reference = cluster_range(labels.offsets, order[0])
    so_far = gram[:, reference] @ votes[reference]
    counted, total = so_far * weights[order[0]], float(weights[order[0]])
    column_sums = votes[reference].T @ sizes[reference]
    for u in order[1:]:
        columns = cluster_range(labels.offsets, u)
        shared = so_far[columns] if how.scheme in FIXED else counted[columns] / total
        votes[columns] = votes_for(np.array(shared), sizes[columns], column_sums, how.scheme)
        counted += weights[u] * (gram[:, columns] @ votes[columns])
        total += float(weights[u])
    return votes


def _for_reference(labels: LabelBlocks, votes: Floats, how: _How) -> Floats:
    """Let all vote for a reference that is fixed: one pass."""
    votes = votes.copy()
    shared, observed, sizes = labels.total("votes", _shared_with_reference, votes, how)
    for u in how.order[1:]:
        columns = cluster_range(labels.offsets, u)
        votes[columns] = votes_for(shared[columns], observed[columns], sizes, how.scheme)
    return votes


def _next(labels: LabelBlocks, poll: _Poll, how: _How, store: Kept) -> _Poll:
    """Let the next partition vote, for the mean vote of those before."""
    u = how.order[poll.voted]
    results = labels.visit(
        f"votes of partition {poll.voted + 1} of {labels.n_partitions}",
        _shared_so_far,
        store,
        poll.step + 1,
        shared=(poll.votes, poll.voted, how),
    )
    shared, observed, sizes = added(results)
    votes = poll.votes.copy()
    votes[cluster_range(labels.offsets, u)] = votes_for(shared, observed, sizes, how.scheme)
    return _Poll(votes, poll.voted + 1, poll.step + 1)


def _again(labels: LabelBlocks, poll: _Poll, how: _How, store: Kept) -> _Poll:
    """Let all partitions vote for the mean vote of all; afterwards the count is one above the number of partitions."""
    results = labels.visit(
        "votes, again", _shared_with_mean, store, poll.step + 1, shared=(poll.votes, how)
    )
    shared, observed, sizes = added(results)
    votes = votes_for(shared, observed, sizes, how.scheme)
    return _Poll(votes, labels.n_partitions + 1, poll.step + 1)


def _merged(labels: LabelBlocks, store: Kept, step: int, n_clusters: int, how: _How) -> Merging:
    """Merge clusters that were voted for until `n_clusters` are left."""
    (cluster_masses,) = added(labels.look("masses", _masses, store, (step,)))

    def pairs() -> Floats:
        (common,) = added(labels.look("losses of pairs", _pairs, store, (step,)))
        return np.asarray(common)

    def common(group: Ints, q: int, r: int) -> Floats:
        what = f"merges, {len(np.unique(group))} clusters left"
        (information,) = added(labels.look(what, _with_one, store, (step,), group, q))
        return np.asarray(information)

    merging = Merging.begin(cluster_masses, n_clusters, pairs)
    while merging.left > n_clusters:
        merging = merging.merged(common)
    return merging


# -- tasks of blocks


def _shared_with_reference(part: Part, votes: Floats, how: _How) -> tuple[Floats, ...]:
    """Return the overlaps of all clusters with a fixed reference."""
    count = Count(part.ensemble, how.k, fixed=True)
    count.add(how.order[0], votes[cluster_range(part.ensemble.offsets, how.order[0])])
    shared, observed = np.zeros_like(votes), np.zeros(len(votes))
    sizes = np.zeros(how.k)
    for u in how.order[1:]:
        columns = cluster_range(part.ensemble.offsets, u)
        shared[columns], observed[columns], sizes = count.shared(u)
    return shared, observed, sizes


def _shared_so_far(
    part: Part, stored: Any, votes: Floats, voted: int, how: _How
) -> tuple[Floats, tuple[Floats, ...]]:
    """Count the votes of the last partition; return the overlaps of the next one with the mean."""
    count = _resumed(part, stored, votes, voted, how)
    state = np.column_stack([count.means, count.weight])
    return state, count.shared(how.order[voted])


def _shared_with_mean(
    part: Part, stored: Any, votes: Floats, how: _How
) -> tuple[Floats, tuple[Floats, ...]]:
    """Count the votes of the last partition; return the overlaps of all clusters with the mean."""
    count = _resumed(part, stored, votes, len(how.order), how)
    shared, observed, sizes = np.zeros_like(votes), np.zeros(len(votes)), np.zeros(how.k)
    for u in how.order:
        own_clusters = cluster_range(part.ensemble.offsets, u)
        shared[own_clusters], observed[own_clusters], sizes = count.shared(u)
    return np.column_stack([count.means, count.weight]), (shared, observed, sizes)


def _resumed(part: Part, stored: Any, votes: Floats, voted: int, how: _How) -> Count:
    """Return a count of the first partitions.

    `stored`: the count without the last of them; None in a resumed run, in which all are counted again.
    """
    count = Count(part.ensemble, how.k, fixed=how.scheme in FIXED, certainty=how.certainty)
    left = how.order[:voted]
    if stored is not None:
        count.carry_on(np.array(stored[:, :-1]), np.array(stored[:, -1]))
        left = left[-1:]
    for u in left:
        count.add(u, votes[cluster_range(part.ensemble.offsets, u)])
    return count


def _counted(part: Part, stored: Any, votes: Floats, how: _How) -> tuple[Floats, bool]:
    """Count the last votes, or all of them where the partitions have voted twice; the means are kept."""
    begun = None if how.twice else stored
    return _resumed(part, begun, votes, len(how.order), how).mean(), True


def _masses(part: Part, stored: Floats) -> tuple[Floats]:
    return (stored.sum(axis=0),)


def _pairs(part: Part, stored: Floats) -> tuple[Floats]:
    """Return the overlaps of all pairs of clusters in a block."""
    return (common_of_pairs(np.ascontiguousarray(stored.T), np.ones(len(stored))),)


def _with_one(part: Part, stored: Floats, group: Ints, q: int) -> tuple[Floats]:
    """Return the overlap of the group of column q with each other group in a block."""
    numbers = np.unique(group, return_inverse=True)[1]
    firsts = np.unique(group)
    columns = np.ascontiguousarray(merge_columns(stored, numbers, len(firsts)).T)
    place = int(np.searchsorted(firsts, q))
    others = np.delete(np.arange(len(firsts)), place)
    information = np.zeros(len(group))
    information[firsts[others]] = common_of_one(columns, np.ones(len(stored)), place, others)
    return (information,)


def _own(part: Part, stored: Floats) -> Floats:
    return stored


def _own_merged(part: Part, stored: Floats, numbers: Ints, k: int) -> Floats:
    """Return the mean votes of a block's objects, merged."""
    return merge_columns(stored, numbers, k)
