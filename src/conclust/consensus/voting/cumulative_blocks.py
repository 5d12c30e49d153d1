"""Cumulative voting on objects that are read in blocks.

Partitions that vote for a fixed reference do so in one pass. Where the reference adapts and all labels are
there, what clusters share with it is a sum over B'B; else it is added up in a pass for each partition, and
blocks keep their mean votes from pass to pass. Then one pass for each merge of two clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks, added
from conclust.blocks.own import Kept
from conclust.consensus.voting.count import (
    FIXED,
    Count,
    Scheme,
    cluster_range,
    merge_columns,
    reference_clusters,
    votes_for,
    votes_of_reference,
)
from conclust.similarity.bottleneck import Merging, common_of_one, common_of_pairs

__all__ = ["vote_in_blocks"]

_DOUBLE = 8  # bytes


@dataclass(frozen=True)
class _Poll:
    """How far the voting is.

    Attributes
    ----------
    votes : ndarray of shape (T, k)
        Of each cluster of a partition that has voted.
    voted : int
        How many partitions have, in their order.
    step : int
        Visits made of the blocks, which keep the mean votes of their objects.
    """

    votes: NDArray[np.float64]
    voted: int
    step: int


@dataclass(frozen=True)
class _How:
    """What all blocks are told: the order of the partitions, clusters of the reference, the scheme."""

    order: NDArray[np.int64]
    k: int
    scheme: Scheme


def vote_in_blocks(
    labels: LabelBlocks, order: NDArray[np.int64], scheme: Scheme, n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], Answer, Answer]:
    """Let the clusters vote, and merge those they voted for.

    Parameters
    ----------
    labels : LabelBlocks
        The objects.
    order : ndarray of int64 of shape (n_partitions,)
        In which the partitions vote; the first is the reference.
    scheme : {"urcv", "rcv", "acv", "cvote", "bvote"}
        How.
    n_clusters : int
        How many clusters are to be left.

    Returns
    -------
    tuple
        The votes (T, k), the number that each of the k clusters has after merging, and the rules that
        give the mean votes of a block's objects after and before.
    """
    how = _How(order, reference_clusters(labels, order, scheme), scheme)
    # Mean votes, and the weight of the partitions that had one.
    kept = labels.keeping(_DOUBLE * (how.k + 1), "votes")

    def first() -> _Poll:
        votes = np.zeros((int(labels.offsets[-1]), how.k))
        reference = cluster_range(labels, order[0])
        votes[reference] = votes_of_reference(reference, how.k)
        return _Poll(votes, 1, 0)

    poll = labels.stages.state("votes", _Poll, first)
    while poll.voted < labels.n_partitions:
        if not labels.has_missing and not labels.has_noise:
            poll = _Poll(_complete(labels, poll.votes, how), labels.n_partitions, 0)
        elif scheme in FIXED:
            poll = _Poll(_for_reference(labels, poll.votes, how), labels.n_partitions, 0)
        else:
            poll = _next(labels, poll, how, kept)
        labels.stages.save("votes", poll)
        kept.settle(poll.step)
    last = poll.step + 1
    labels.visit("mean votes", _counted, kept, last, shared=(poll.votes, how))
    merging = _merged(labels, kept, last, n_clusters, how)
    numbers = merging.numbers
    after = Answer(_own_merged, (numbers, n_clusters), kept, last)
    return poll.votes, numbers, after, Answer(_own, (), kept, last)


def _complete(labels: LabelBlocks, votes: NDArray[np.float64], how: _How) -> NDArray[np.float64]:
    """Let all vote where every partition has every object in a cluster: from B'B."""
    votes, order = votes.copy(), how.order
    weights, gram = labels.partition_weights, labels.gram
    sizes = labels.cluster_sizes
    reference = cluster_range(labels, order[0])
    so_far = gram[:, reference] @ votes[reference]
    counted, total = so_far * weights[order[0]], float(weights[order[0]])
    column_sums = votes[reference].T @ sizes[reference]
    for u in order[1:]:
        own = cluster_range(labels, u)
        shared = so_far[own] if how.scheme in FIXED else counted[own] / total
        votes[own] = votes_for(np.array(shared), sizes[own], column_sums, how.scheme)
        counted += weights[u] * (gram[:, own] @ votes[own])
        total += float(weights[u])
    return votes


def _for_reference(
    labels: LabelBlocks, votes: NDArray[np.float64], how: _How
) -> NDArray[np.float64]:
    """Let all vote for a reference that is fixed: one pass."""
    votes = votes.copy()
    shared, known, sizes = labels.total("votes", _shared_with_reference, votes, how)
    for u in how.order[1:]:
        own = cluster_range(labels, u)
        votes[own] = votes_for(shared[own], known[own], sizes, how.scheme)
    return votes


def _next(labels: LabelBlocks, poll: _Poll, how: _How, kept: Kept) -> _Poll:
    """Let the next partition vote, for the mean vote of those before."""
    u = how.order[poll.voted]
    told = labels.visit(
        f"votes of partition {poll.voted + 1} of {labels.n_partitions}",
        _shared_so_far,
        kept,
        poll.step + 1,
        shared=(poll.votes, poll.voted, how),
    )
    shared, known, sizes = added(told)
    votes = poll.votes.copy()
    votes[cluster_range(labels, u)] = votes_for(shared, known, sizes, how.scheme)
    return _Poll(votes, poll.voted + 1, poll.step + 1)


def _merged(labels: LabelBlocks, kept: Kept, step: int, n_clusters: int, how: _How) -> Merging:
    """Merge clusters that were voted for until `n_clusters` are left."""

    def masses() -> Merging:
        (found,) = added(labels.look("masses", _masses, kept, (step,)))

        def pairs() -> NDArray[np.float64]:
            (common,) = added(labels.look("losses of pairs", _pairs, kept, (step,)))
            return np.asarray(common)

        return Merging.begin(found, n_clusters, pairs)

    def common(group: NDArray[np.int64], q: int, r: int) -> NDArray[np.float64]:
        what = f"merges, {len(np.unique(group))} clusters left"
        (found,) = added(labels.look(what, _with_one, kept, (step,), group, q))
        return np.asarray(found)

    merging = labels.stages.state("merges", Merging, masses)
    while merging.left > n_clusters:
        merging = merging.merged(common)
        labels.stages.save("merges", merging)
    return merging


# -- what blocks do


def _shared_with_reference(
    part: Part, votes: NDArray[np.float64], how: _How
) -> tuple[NDArray[np.float64], ...]:
    """Return what all clusters share with a fixed reference."""
    count = Count(part.ensemble, how.k, fixed=True)
    count.add(how.order[0], votes[cluster_range(part.ensemble, how.order[0])])
    shared, known = np.zeros_like(votes), np.zeros(len(votes))
    sizes = np.zeros(how.k)
    for u in how.order[1:]:
        own = cluster_range(part.ensemble, u)
        shared[own], known[own], sizes = count.shared(u)
    return shared, known, sizes


def _shared_so_far(
    part: Part, own: Any, votes: NDArray[np.float64], voted: int, how: _How
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], ...]]:
    """Count the votes of the partition that voted last; return what the next shares with the mean."""
    count = _resumed(part, own, votes, voted, how)
    state = np.column_stack([count.means, count.weight])
    return state, count.shared(how.order[voted])


def _resumed(part: Part, own: Any, votes: NDArray[np.float64], voted: int, how: _How) -> Count:
    """Return a count of the first partitions.

    `own`: of all but the last of them; None, in a run that goes on: all are counted again.
    """
    count = Count(part.ensemble, how.k, fixed=how.scheme in FIXED)
    left = how.order[:voted]
    if own is not None:
        count.carry_on(np.array(own[:, :-1]), np.array(own[:, -1]))
        left = left[-1:]
    for u in left:
        count.add(u, votes[cluster_range(part.ensemble, u)])
    return count


def _counted(
    part: Part, own: Any, votes: NDArray[np.float64], how: _How
) -> tuple[NDArray[np.float64], bool]:
    """Count what is left to count; keep the mean votes."""
    return _resumed(part, own, votes, len(how.order), how).mean(), True


def _masses(part: Part, own: NDArray[np.float64]) -> tuple[NDArray[np.float64]]:
    return (own.sum(axis=0),)


def _pairs(part: Part, own: NDArray[np.float64]) -> tuple[NDArray[np.float64]]:
    """Return what all pairs of clusters have in common in a block."""
    return (common_of_pairs(np.ascontiguousarray(own.T), np.ones(len(own))),)


def _with_one(
    part: Part, own: NDArray[np.float64], group: NDArray[np.int64], q: int
) -> tuple[NDArray[np.float64]]:
    """Return what the group of column q has in common with each other group in a block."""
    numbers = np.unique(group, return_inverse=True)[1]
    firsts = np.unique(group)
    columns = np.ascontiguousarray(merge_columns(own, numbers, len(firsts)).T)
    place = int(np.searchsorted(firsts, q))
    others = np.delete(np.arange(len(firsts)), place)
    found = np.zeros(len(group))
    found[firsts[others]] = common_of_one(columns, np.ones(len(own)), place, others)
    return (found,)


def _own(part: Part, own: NDArray[np.float64]) -> NDArray[np.float64]:
    return own


def _own_merged(
    part: Part, own: NDArray[np.float64], numbers: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """Return the mean votes of a block's objects, merged."""
    return merge_columns(own, numbers, k)
