"""Pairs of objects to show to a person: those whose answer has the largest effect on a consensus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from conclust._random import RandomStateLike
from conclust._validation import check_int
from conclust.consensus.auto import AutoConsensus
from conclust.consensus.auto.answers import followed
from conclust.consensus.auto.votes import certain_clusters
from conclust.consensus.constraints import Constraints, given_links, read_constraints
from conclust.ensemble import Ensemble, as_ensemble
from conclust.trees.dendrogram import cut

__all__ = ["questions"]

# Parts of the tree below these are not asked about one by one.
_MOST_PARTS = 200
# Share of all pairs of objects that a merge decides, at least.
_SMALLEST_SHARE = 1e-5
# An object stands for those that most partitions put beside it.
_TWINS = 0.5
# The chance of a yes, before there are answers: its exponent in the similarity, and how sure that and the level are.
_STEEPNESS, _STEEPNESS_SPREAD, _LEVEL_SPREAD = 3.0, 1.0, 1.5
_LEAST = 1e-3
# Share of a part that follows an object which answers are about, at least, where that object is asked about.
_FOLLOWING = 0.3
# Questions about one object in a round.
_TIMES = 2


def questions(
    ensemble: Ensemble | ArrayLike,
    n: int,
    *,
    n_clusters: int | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Return the pairs of objects that are most worth asking a person about.

    The tree of :class:`conclust.AutoConsensus` is cut. Two parts of a cluster may belong apart, two clusters together: an
    answer decides about all pairs of objects between them, and is worth the number of these pairs times the chance that it
    differs from the consensus. Asked are the most typical objects of both. Answers go into ``fit(must_link=,
    cannot_link=)``, and back in here for the next round: few questions in several rounds decide more than many at once.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions.
    n : int
        Number of pairs.
    n_clusters : int, default=None
        Number of clusters of the consensus that the answers are for. None: that of AutoConsensus.
    must_link, cannot_link : array-like of int of shape (n_pairs, 2), default=None
        Known answers: pairs whose answer follows from them are left out.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the objects of the tree where there are more than 3,000.
    n_jobs : int, default=None
        Threads for counting evidence. The result does not depend on it.

    Returns
    -------
    ndarray of int64 of shape (n_pairs, 2)
        Indices of the objects, the most informative pair first. Fewer than `n` if no more parts have an unknown answer. An
        object is in two pairs at most.

    Raises
    ------
    ParameterError
        If `n` or `n_clusters` is not a positive int.
    InputError
        If the labels are malformed, or the answers contradict each other.

    Notes
    -----
    The similarity of two parts is the mean over their pairs of objects, clusters counted by their certainty. The chance that
    the answer is yes is a logistic function of its logarithm, 1/2 where the tree is cut; known answers refit it. The most
    typical object of a part shares most partitions with it.

    Examples
    --------
    >>> from conclust.confidence import questions
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 0, 1], [1, 0, 1], [2, 1, 1], [2, 1, 1]]
    >>> questions(labels, 2)
    array([[0, 2],
           [2, 4]])
    """
    check_int(n, "n", "questions")
    if n_clusters is not None:
        check_int(n_clusters, "n_clusters", "questions")
    members = as_ensemble(ensemble)
    links = given_links(must_link, cannot_link)
    known = read_constraints(must_link, cannot_link, members.n_samples)
    model = AutoConsensus(random_state=random_state, n_jobs=n_jobs).fit(members, **links)
    tree, objects = model.linkage_matrix_, model.tree_objects_
    m = len(objects)
    if m < 2:
        return np.empty((0, 2), dtype=np.int64)
    alike = _Similarity.of(members, objects)
    into = min(max(2, model.n_clusters_cut_ if n_clusters is None else n_clusters), m)
    yes = _chance(members, alike, tree, into, links)
    found: list[tuple[int, int]] = []
    times: dict[int, int] = {}
    spread = None if known is None else followed(members, known)
    for one, other in _worth_asking(alike, tree, into, yes):
        if len(found) == n:
            break
        a, b = (_representative(members, known, spread, objects[part]) for part in (one, other))
        pair = (min(a, b), max(a, b))
        often = max(times.get(a, 0), times.get(b, 0)) >= _TIMES
        if not often and pair not in found and not _is_known(known, a, b):
            found.append(pair)
            times[a], times[b] = times.get(a, 0) + 1, times.get(b, 0) + 1
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class _Similarity:
    """Mean similarities of parts, from sums of their rows of the indicator.

    Attributes
    ----------
    rows : csr_array of shape (n_objects, n_columns)
        The indicator of the objects of the tree.
    weights : ndarray of shape (n_columns,)
        How much a common cluster adds to the similarity.
    """

    rows: Any
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, members: Ensemble, objects: NDArray[np.int64]) -> _Similarity:
        weighted, certainty = certain_clusters(members, objects)
        weights = weighted.column_weights * certainty
        return cls(weighted.indicator, weights / float(weighted.partition_weights.sum()))

    def sums(self, parts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sums of rows of parts, numbered from 0, of shape (n_parts, n_columns)."""
        m = len(parts)
        member = sp.csr_array((np.ones(m), (parts, np.arange(m))))
        found: NDArray[np.float64] = (member @ self.rows).toarray()
        return found


@dataclass(frozen=True)
class _Chance:
    """The chance that two objects of parts are together, by the mean similarity of the parts."""

    exponent: float
    level: float

    def __call__(self, similarity: NDArray[np.float64]) -> NDArray[np.float64]:
        at = self.exponent * np.log(np.maximum(similarity, _LEAST)) + self.level
        chance: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * at))
        return chance


def _chance(
    members: Ensemble,
    alike: _Similarity,
    tree: NDArray[np.float64],
    into: int,
    links: dict[str, Any],
) -> _Chance:
    """Fit the chance of a yes to the answers, from 1/2 at the height where the tree is cut."""
    m = len(tree) + 1
    heights = tree[m - into - 1 : m - into + 1, 2]
    start = np.log(max(1.0 - float(heights.mean()), _LEAST))
    answers = [
        (int(a), int(b), name == "must_link") for name, pairs in links.items() for a, b in pairs
    ]
    x = np.array([_around(members, alike, a, b) for a, b, _ in answers])
    z = np.log(np.maximum(x, _LEAST))
    sign = np.array([-1.0 if together else 1.0 for *_, together in answers])

    def loss(at: NDArray[np.float64]) -> float:
        prior = ((at[0] - _STEEPNESS) / _STEEPNESS_SPREAD) ** 2
        prior += ((at[1] + at[0] * start) / _LEVEL_SPREAD) ** 2
        return float(np.logaddexp(0.0, sign * (at[0] * z + at[1])).sum() + 0.5 * prior)

    best = np.array([_STEEPNESS, -_STEEPNESS * start])
    if answers:
        best = minimize(loss, best, method="Nelder-Mead").x
    return _Chance(float(best[0]), float(best[1]))


def _around(members: Ensemble, alike: _Similarity, one: int, other: int) -> float:
    """Return the mean similarity of the objects that most partitions put beside each of two."""
    sums, counts = [], []
    for at in (one, other):
        own = members.indicator[[at]]
        weighted = own.multiply(members.column_weights).tocsr()
        shared = (alike.rows @ weighted.T).toarray().ravel()
        near = shared >= _TWINS * weighted.sum()
        sums.append(alike.rows[near].sum(axis=0))
        counts.append(max(1, int(near.sum())))
    return float(sums[0] @ (alike.weights * sums[1]) / (counts[0] * counts[1]))


def _worth_asking(
    alike: _Similarity, tree: NDArray[np.float64], into: int, yes: _Chance
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return pairs of parts of the tree, the one whose answer is worth most first."""
    m = len(tree) + 1
    fine = min(m, max(_MOST_PARTS, into))
    parts = cut(tree, fine)
    sums = alike.sums(parts)
    sizes = np.bincount(parts).astype(np.float64)
    of = [[part] for part in range(fine)]
    # The part that each node of the tree is in.
    place = {root: int(parts[leaf]) for root, leaf in _roots(tree, fine).items()}
    pairs: list[tuple[list[int], list[int]]] = []
    x: list[float] = []
    counts: list[float] = []
    apart: list[bool] = []

    def add(a: int, b: int, together: bool) -> None:
        pairs.append((of[a], of[b]))
        counts.append(sizes[a] * sizes[b])
        x.append(float(sums[a] @ (alike.weights * sums[b])))
        apart.append(not together)

    for row in range(m - fine, m - into):
        a, b = (place.pop(int(end)) for end in tree[row, :2])
        add(a, b, True)
        of[a] = of[a] + of[b]
        sizes[a] += sizes[b]
        sums[a] += sums[b]
        place[m + row] = a
    rest = sorted(place.values())
    for k, a in enumerate(rest):
        for b in rest[:k]:
            add(a, b, False)
    number = np.array(counts)
    chance = yes(np.array(x) / number)
    worth = number * np.where(apart, chance, 1.0 - chance)
    worth[number < _SMALLEST_SHARE * m * m] = 0.0
    for at in np.argsort(-worth, kind="stable").tolist():
        yield tuple(np.flatnonzero(np.isin(parts, each)) for each in pairs[at])  # type: ignore[misc]


def _roots(tree: NDArray[np.float64], n_parts: int) -> dict[int, int]:
    """Return the nodes of a tree cut into parts, each with a leaf below it."""
    m = len(tree) + 1
    leaf = {node: node for node in range(m)}
    for row in range(m - n_parts):
        a, b = (int(end) for end in tree[row, :2])
        leaf[m + row] = leaf.pop(a)
        del leaf[b]
    return leaf


def _typical(members: Ensemble, part: NDArray[np.int64]) -> int:
    """Return the object of a part that shares most partitions with the others; the first one if tied."""
    rows = members.indicator[part]
    shared = rows @ (members.column_weights * np.asarray(rows.sum(axis=0)).ravel())
    return int(part[int(np.argmax(shared))])


def _representative(
    members: Ensemble,
    known: Constraints | None,
    spread: Constraints | None,
    part: NDArray[np.int64],
) -> int:
    """Return the object of a part that a question is about: one with answers that many follow, or the most typical."""
    if known is not None and spread is not None:
        counts = np.bincount(spread.groups[part])
        most = int(counts.argmax())
        asked = part[known.touched[part] & (spread.groups[part] == most)]
        if len(asked) and counts[most] >= _FOLLOWING * len(part):
            return int(asked[0])
    return _typical(members, part)


def _is_known(known: Constraints | None, one: int, other: int) -> bool:
    """Return whether the answer for a pair follows from the known answers."""
    if known is None:
        return False
    a, b = sorted((int(known.groups[one]), int(known.groups[other])))
    return a == b or bool((known.apart == (a, b)).all(axis=1).any())
