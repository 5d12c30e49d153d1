"""Selects pairs of objects to ask a person about: those whose answer affects a consensus most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.consensus.auto import AutoConsensus
from conclust.consensus.constraints import Constraints, given_links, read_constraints
from conclust.ensemble import Ensemble, as_ensemble


def questions(
    ensemble: Ensemble | ArrayLike,
    n: int,
    *,
    must_link: Any = None,
    cannot_link: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Ints:
    """Return the pairs of objects that are most worth asking a person about.

    Every merge of the tree of :class:`conclust.AutoConsensus` joins two parts. The larger both are, and the nearer the merge
    is to where the tree is cut, the more an answer decides. Of each such merge the question is about the two most typical objects.
    Answers go into ``fit(must_link=, cannot_link=)``, and back in here for the next round of questions: few questions in several
    rounds decide more than many at once.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions.
    n : int
        Number of pairs.
    must_link, cannot_link : array-like of int of shape (n_pairs, 2), default=None
        Known answers: pairs whose answer follows from them are left out.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects of the tree where there are more than 3,000.
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
        If the labels are malformed, or the answers contradict each other.

    Notes
    -----
    The worth of a merge of parts of a and b objects, which leaves K - 1 of K parts, is ``sqrt(a b) min(K / c, c / K)`` with
    c = the number of clusters that the tree is cut into, and 1/2. The most typical object of a part shares most partitions
    with it.

    Examples
    --------
    >>> from conclust.confidence import questions
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 0, 1], [1, 0, 1], [2, 1, 1], [2, 1, 1]]
    >>> questions(labels, 2)
    array([[0, 2],
           [0, 4]])
    """
    check_int(n, "n", "questions")
    members = as_ensemble(ensemble)
    links = given_links(must_link, cannot_link)
    constraints = read_constraints(must_link, cannot_link, members.n_samples)
    model = AutoConsensus(random_state=random_state, n_jobs=n_jobs).fit(members, **links)
    tree, objects = model.linkage_matrix_, model.tree_objects_
    m = len(objects)
    sizes = np.concatenate([np.ones(m), tree[:, 3]])
    ends = tree[:, :2].astype(np.int64)
    ratio = np.arange(m, 1, -1) / (model.n_clusters_cut_ + 0.5)
    worth = np.sqrt(sizes[ends[:, 0]] * sizes[ends[:, 1]]) * np.minimum(ratio, 1.0 / ratio)
    pairs: list[tuple[int, int]] = []
    for row in np.argsort(-worth, kind="stable").tolist():
        if len(pairs) == n:
            break
        one, other = (_typical(members, objects[_leaves(tree, int(end), m)]) for end in ends[row])
        if not _is_known(constraints, one, other):
            pairs.append((min(one, other), max(one, other)))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _leaves(tree: Floats, node: int, m: int) -> Ints:
    """Return the leaves below a node of a tree of m leaves."""
    waiting, leaves = [node], []
    while waiting:
        one = waiting.pop()
        if one < m:
            leaves.append(one)
        else:
            waiting += [int(tree[one - m, 0]), int(tree[one - m, 1])]
    return np.sort(np.array(leaves, dtype=np.int64))


def _typical(members: Ensemble, part: Ints) -> int:
    """Return the object of a part that shares most partitions with the others; the first one if tied."""
    rows = members.indicator[part]
    shared = rows @ (members.column_weights * np.asarray(rows.sum(axis=0)).ravel())
    return int(part[int(np.argmax(shared))])


def _is_known(constraints: Constraints | None, one: int, other: int) -> bool:
    """Return whether the answer for a pair follows from the known answers."""
    if constraints is None:
        return False
    a, b = sorted((int(constraints.groups[one]), int(constraints.groups[other])))
    return a == b or bool((constraints.apart == (a, b)).all(axis=1).any())
