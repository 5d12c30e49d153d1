"""Selects pairs of objects to ask a person about: those whose answer affects a consensus most."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._random import RandomStateLike
from conclust._types import Bools, Floats, Ints
from conclust._validation import check_int
from conclust.confidence.reading import read_consensus
from conclust.consensus.auto.estimator import AutoConsensus
from conclust.consensus.auto.repair import merges_of, pieces_of, typical_objects
from conclust.consensus.auto.votes import PIECES, certain_clusters, with_relative_weights
from conclust.consensus.base import given_links
from conclust.consensus.constraints import Constraints, read_constraints, unlinked
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import InputError


def questions(
    ensemble: Any,
    n: int,
    *,
    n_clusters: int | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Ints:
    """Return the pairs of objects that it is most useful to ask a person about.

    The clusters of :class:`conclust.AutoConsensus`, or of a fitted model, are cut into pieces. These are merged into a tree,
    starting with pieces of the same cluster or with answers in favour. Every merge joins two parts. The larger both are, and
    the nearer the merge is to the number of clusters, the more an answer decides. The question about a merge concerns the most
    typical object of each part. Answers go into ``fit(must_link=, cannot_link=)``, and back in here for the next round of
    questions: few questions in several rounds decide more than many at once.

    Parameters
    ----------
    ensemble : Ensemble, array-like of shape (n_samples, n_partitions) or ConsensusClustering
        The partitions, or a model that was fitted with the default consensus and the known answers.
    n : int
        Number of pairs.
    n_clusters : int, default=None
        Number of clusters, if it is known. A fitted model has its own.
    must_link, cannot_link : array-like of int of shape (n_pairs, 2), default=None
        Known answers: pairs whose answer follows from them are left out.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects of the tree if there are more than 3,000.
    n_jobs : int, default=None
        Threads for counting evidence. The result does not depend on it.

    Returns
    -------
    ndarray of int64 of shape (n_pairs, 2)
        Indices of the objects, the most informative pair first. Fewer than `n` if there are no more merges with an
        unknown answer.

    Raises
    ------
    ParameterError
        If `n` is not a positive int.
    InputError
        If the labels are malformed, the answers contradict each other, or a model does not have the default consensus or was
        fitted without the answers.

    Notes
    -----
    The value of merging parts of a and b objects, which reduces K parts to K - 1, is ``min(a, b) min(K / c, c / K)`` with c =
    the number of clusters + 1/2. The object that represents a part is the one with the largest mean similarity to it, with
    clusters weighted by their certainty, among those that are typical of their piece.

    Examples
    --------
    >>> from conclust.confidence import questions
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 0, 1], [1, 0, 1], [2, 1, 1], [2, 1, 1]]
    >>> questions(labels, 2)
    array([[0, 2],
           [0, 4]])
    """
    check_int(n, "n", "questions")
    model, members = ensemble, None
    if not hasattr(ensemble, "fit"):
        members = as_ensemble(ensemble)
        model = AutoConsensus(n_clusters, random_state=random_state, n_jobs=n_jobs)
        model.fit(members, **given_links(must_link, cannot_link))
    elif n_clusters is not None:
        raise InputError("A fitted model has its own number of clusters: leave out 'n_clusters'.")
    members = with_relative_weights(read_consensus(model, members, "questions").members)
    constraints = read_constraints(must_link, cannot_link, members.n_samples)
    consensus = _default_consensus_of(model, constraints)
    objects = consensus.tree_objects_
    m = len(objects)
    if m < 2:
        return np.empty((0, 2), dtype=np.int64)
    labels = canonical_labels(np.asarray(model.labels_)[objects])
    weighted, certainty = certain_clusters(members, objects)
    counting = weighted.column_weights * certainty
    links = unlinked(m) if constraints is None else constraints.of(objects)
    tree = consensus.linkage_matrix_
    typical = typical_objects(pieces_of(tree, labels, PIECES), weighted, counting)
    # As many pieces more as answers are known or asked for.
    pieces = pieces_of(tree, labels, PIECES + n + int(links.touched.sum()))
    left, right, _, smallest = merges_of(pieces, labels, typical, weighted, counting, links)
    parts = [np.flatnonzero(pieces == piece) for piece in range(len(left) + 1)]
    ends: list[tuple[Ints, Ints]] = []
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        ends.append((parts[one], parts[other]))
        parts[one] = np.concatenate(ends[-1])
    ends = ends[: len(parts) - smallest]
    smaller = np.array([min(len(one), len(other)) for one, other in ends])
    ratio = np.arange(len(parts), smallest, -1) / (model.n_clusters_ + 0.5)
    worth = smaller * np.minimum(ratio, 1.0 / ratio)
    pairs: list[tuple[int, int]] = []
    for at in np.argsort(-worth, kind="stable").tolist():
        if len(pairs) == n:
            break
        objects_of_parts = (
            _typical(weighted, counting, np.sort(part), typical) for part in ends[at]
        )
        a, b = sorted(int(objects[each]) for each in objects_of_parts)
        if not _is_known(constraints, a, b):
            pairs.append((a, b))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _default_consensus_of(model: Any, constraints: Constraints | None) -> AutoConsensus:
    """Return the consensus of a fitted model, which must be the default one, with its answers."""
    consensus = getattr(model, "consensus_", model)
    if not isinstance(consensus, AutoConsensus):
        raise InputError(
            f"questions needs a model with the default consensus. Got {type(consensus).__name__}: pass its ensemble."
        )
    if constraints is not None:
        touched = np.flatnonzero(constraints.touched)
        if not np.isin(touched, consensus.tree_objects_).all():
            raise InputError(
                "The model of questions must be fitted with the answers: fit(X, must_link=, cannot_link=)."
            )
    return consensus


def _typical(ensemble: Ensemble, counting: Floats, part: Ints, typical: Bools) -> int:
    """Return the object of a part that is most similar to the others, if possible one that is typical of its piece."""
    rows = ensemble.indicator[part]
    similarity = rows @ (counting * np.asarray(rows.sum(axis=0)).ravel())
    eligible = typical[part]
    if eligible.any():
        similarity[~eligible] = -1.0
    return int(part[int(np.argmax(similarity))])


def _is_known(constraints: Constraints | None, one: int, other: int) -> bool:
    """Return whether the answer for a pair follows from the known answers."""
    if constraints is None:
        return False
    a, b = sorted((int(constraints.groups[one]), int(constraints.groups[other])))
    return a == b or bool((constraints.apart == (a, b)).all(axis=1).any())
