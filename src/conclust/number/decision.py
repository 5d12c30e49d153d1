"""The clusters by the points: the division of a tree with the most evidence at its borders, or clusters that overlap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from conclust._arrays.containers import spread_rounded_columns
from conclust._arrays.rows import EqualRows
from conclust._types import Bools, Floats, Ints
from conclust.borders import leading_components
from conclust.consensus.auto.decision import (
    AtBorders,
    Decision,
    decide,
    decision_on,
)
from conclust.consensus.auto.trees import ALIKE, Trees
from conclust.consensus.auto.votes import clusters_with_most_votes, votes_for
from conclust.neighbours import NeighbourGraph, neighbour_graph
from conclust.number.borders import (
    Branches,
    Divisions,
    counts_at_borders,
    evidence_of,
    evidence_of_pieces,
    without_paths,
)
from conclust.number.centers import Discriminants, Ellipsoids
from conclust.number.constants import (
    CLEAR,
    COST,
    HALVINGS,
    LESS_TORN,
    NEIGHBOURS,
    SMALLEST,
)
from conclust.number.halves import Halved, divide_by_halves
from conclust.trees.agglomeration import counted_cut, has_specks, least_counted

_SEED = 0
# Most numbers that are as well supported.
_NEAR = 3


class Shown(NamedTuple):
    """A decision, and what places points in its clusters if these are the points around centres.

    If the points chose the number, `offered` has the evidence for the other ones that the reason names, and what a fit decides
    that is given one of them.
    """

    decision: Decision
    centers: Discriminants | None = None
    offered: dict[int, tuple[float, Shown]] = {}  # noqa: RUF012


def decide_by_points(
    points: Floats,
    trees: Trees,
    n_clusters: int | None = None,
    *,
    min_clusters: int = 1,
    n_jobs: int | None = None,
) -> Shown:
    """Decide the clusters of a consensus by the points.

    The clusters are branches of the tree of all members alike. At each join of two branches, the evidence for a border is the logarithm of a
    likelihood ratio: few points near the border, as counted in `counts_at_borders`, and few along the paths of the neighbour
    graph (`without_paths`). The score of a number is the largest sum of evidence of a division into that many branches,
    less 3 for each further cluster. The smallest number is chosen whose score is within 1 of the largest; one cluster
    has a score of 0. Clusters that overlap are
    found in one half of the points and judged by the other, and chosen if their evidence is larger than that of the
    branches, counted in the same way (`divide_by_halves`).

    If a number is given that the points do not show by themselves, or only with a speck, the clusters are those around
    centres, or a cut of a tree if it tears clearly fewer near neighbours apart (`share_torn`): members are made from
    neighbours, so that their tree has seen the ties that judge it. The halvings of the
    points are the same in every run.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_features)
        The points that the trees join, in the scale of the members.
    trees : Trees
        The trees of the members.
    n_clusters : int, default=None
        The number, if it is given.
    min_clusters : int, default=1
        Smallest number considered.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Shown
        The number, why, and the clusters.
    """
    if not trees.n_objects:
        return Shown(decide(trees))
    given = None if n_clusters is None else decision_on(trees, n_clusters, None)
    most = min(trees.max_clusters or trees.n_numbers, trees.n_numbers)
    found = divide(points, trees, n_jobs=n_jobs)
    number = shown = found.best(1, most) or 1
    least = max(min_clusters, trees.bounds.smallest)  # constraints may need more than one cluster
    if shown < (least if shown == 1 else min_clusters):
        number = found.best(least, most) or int(min(least, most))
    halved = None
    if found.graph is not None:
        above = CLEAR if number > shown else max(CLEAR, found.score_as_of_halves(number))
        halved, evidence = divide_by_halves(found.points, found.graph, least, most, above)
        if halved is None and number == 1:
            found = replace(found, by_halves=evidence)
    others = found.others(number, min_clusters, most)
    asked = number > shown and halved is None
    answer = _of_halves(halved) if halved else _of_trees(found, number, others, asked)
    answer = _divided_further(found, answer, most, n_jobs)
    if answer.n_clusters != number:
        others = [K for K in (number, *others) if K not in (1, answer.n_clusters)]
    around = None if answer.around is None else answer.around.of_points(points, found.points)
    if given is not None:
        given = replace(given, seen=None if found.graph is None else answer.n_clusters)
        if n_clusters != answer.n_clusters or answer.labels is None or has_specks(answer.labels):
            return _cut_into(points, found, trees, given, n_jobs)
        return Shown(replace(given, labels=answer.labels, depths=tuple(answer.depths)), around)
    decision = Decision(
        answer.n_clusters,
        "points",
        answer.n_clusters if found.graph is None else trees.n_clusters_shown,
        supports=trees.supports,
        alternatives=tuple(others),
        labels=answer.labels,
        borders=answer.borders,
        near=answer.near,
        at_least=min_clusters,
        at_most=trees.max_clusters,
        depths=tuple(answer.depths),
        seen=shown if asked and found.graph is not None else None,
    )
    named = {*others[:1], *decision.near, decision.shown} - {1, answer.n_clusters}
    offered = {
        K: (found.score(K), _cut_into(points, found, trees, decision_on(trees, K), n_jobs))
        for K in sorted(named, key=lambda K: (-found.score(K), K))
        if trees.constraints is None
    }
    if asked:
        return _cut_into(points, found, trees, decision, n_jobs)._replace(offered=offered)
    return Shown(decision, around, offered)


class Answer(NamedTuple):
    """A number of clusters, the clusters (None: a single one), the depths of their borders, and numbers as well supported.

    If the clusters overlap, `around` places points in them.
    """

    n_clusters: int
    labels: Ints | None
    depths: list[float]
    borders: AtBorders
    near: tuple[int, ...] = ()
    around: Ellipsoids | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The best divisions of the tree.

    Attributes
    ----------
    points : ndarray of shape (n_objects, n_components)
        The points.
    graph : NeighbourGraph or None
        The graph of their nearest neighbours; None if they are too few for a border.
    branches : Branches
        The branches of the tree.
    divisions : Divisions
        Their divisions.
    counts : ndarray of shape (n_joins, 3)
        Points at the border of each join (`counts_at_borders`).
    evidence : ndarray of shape (n_joins,)
        Evidence for a border between the branches of each join.
    of_pieces : ndarray of bool of shape (n_joins,)
        Whether the evidence is that between the pieces of the branches, which is more than that of these counts.
    by_halves : dict of int to float
        Beside one cluster: the evidence of halves for each number, where it is larger.
    """

    points: Floats
    graph: NeighbourGraph | None
    branches: Branches
    divisions: Divisions
    counts: Floats
    evidence: Floats
    of_pieces: Bools
    by_halves: dict[int, float] = field(default_factory=dict)

    def score(self, n_clusters: int) -> float:
        """Return the evidence for a number of clusters, less the cost of each; -inf if the tree has no division into that many."""
        evidence = self.divisions.evidence
        if n_clusters > len(evidence) or evidence[n_clusters - 1] == -np.inf:
            return -np.inf
        of_tree = float(evidence[n_clusters - 1]) - COST * (n_clusters - 1)
        return max(of_tree, self.by_halves.get(n_clusters, of_tree))

    def score_as_of_halves(self, n_clusters: int) -> float:
        """Return the score of a division of the tree that counts points at its borders as halves do (`divide_by_halves`)."""
        undone = self.divisions.branches_of(n_clusters)[1]
        evidence = np.maximum(self.evidence[undone], evidence_of(self.counts[undone][:, [0, 2]]))
        return float(evidence.sum()) - COST * (n_clusters - 1)

    def best(self, least: int, most: int) -> int | None:
        """Return the smallest number whose score is within 1 of the largest; None if two are asked for and no branches exist."""
        scores = {K: self.score(K) for K in range(least, most + 1)}
        largest = max(scores.values(), default=-np.inf)
        if not np.isfinite(largest):
            return None
        return next(K for K, score in scores.items() if score >= largest - CLEAR)

    def others(self, number: int, least: int, most: int) -> list[int]:
        """Return other numbers with more evidence than one cluster, best first; of one cluster, the next best."""
        scores = {K: self.score(K) for K in range(max(least, 2), most + 1) if number != K}
        finite = [K for K, score in scores.items() if np.isfinite(score)]
        ranked = sorted(finite, key=lambda K: (-scores[K], K))
        return [K for K in ranked if scores[K] > CLEAR] or ranked[: number == 1]

    def near(self, number: int, others: list[int]) -> list[int]:
        """Return those of the others that are as well supported."""
        if number == 1:
            return others
        largest = max(map(self.score, (number, *others)))
        return [K for K in others if self.score(K) >= largest - CLEAR][:_NEAR]

    def labels(self, n_clusters: int) -> Ints:
        """Return the clusters; objects that are in none of the branches are in the cluster of the nearest object."""
        labels = self.branches.labels(self.divisions.branches_of(n_clusters)[0])
        out = labels < 0
        if out.any():
            from scipy.spatial import cKDTree

            labels[out] = labels[~out][cKDTree(self.points[~out]).query(self.points[out])[1]]
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    def depths(self, n_clusters: int) -> list[float]:
        """Return for each division how much fewer points are near the border than near the middle, from 0 to 1."""
        near, middle, _ = self.counts[self.divisions.branches_of(n_clusters)[1]].T
        return [float(depth) for depth in np.clip(1.0 - (near + 1.0) / (middle + 1.0), 0.0, 1.0)]

    def is_of_pieces(self, n_clusters: int) -> bool:
        """Return whether the evidence for a division is partly that between small pieces."""
        return bool(self.of_pieces[self.divisions.branches_of(n_clusters)[1]].any())


def divide(points: Floats, trees: Trees, *, n_jobs: int | None = None) -> Found:
    """Return the best divisions of the tree of all members alike into each number of clusters.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_features)
        The points that the trees join.
    trees : Trees
        The trees.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    """
    spread = points
    if len(EqualRows.of(points)) >= 2 * SMALLEST:  # fewer are places of their own, not rounded
        spread = spread_rounded_columns(points, np.random.default_rng(_SEED))
    compared = leading_components(spread)
    tree = trees.matrices[ALIKE]
    branches = Branches.of(tree)
    counts, evidence = np.zeros((len(branches.joined), 3)), np.zeros(len(branches.joined))
    graph, of_pieces = None, np.zeros(len(evidence), dtype=np.bool_)
    if len(points) >= 2 * SMALLEST:
        graph = neighbour_graph(compared, NEIGHBOURS, n_jobs=n_jobs)
        counts = counts_at_borders(compared, tree, branches)
        across = without_paths(evidence_of(counts[:, :2]), compared, graph, branches)
        pieces = evidence_of_pieces(compared, tree, branches, graph, n_jobs)
        evidence, of_pieces = np.maximum(across, pieces), pieces > across
    divisions = Divisions(branches, evidence, trees.n_objects)
    return Found(compared, graph, branches, divisions, counts, evidence, of_pieces)


def _of_trees(found: Found, number: int, others: list[int], asked: bool) -> Answer:
    """Return the division of a tree into a number of clusters; without the clusters if more were asked for than the points show."""
    labels = None if number == 1 or asked else found.labels(number)
    depths = [] if asked else found.depths(number)
    if found.graph is None:
        borders = AtBorders("too few", needed=2 * SMALLEST)
    elif asked or number == 1:
        borders = AtBorders("asked" if asked else "none")
    else:
        touching = found.is_of_pieces(number)
        borders = AtBorders("touching" if touching else "clear", tuple(depths))
    return Answer(number, labels, depths, borders, tuple(found.near(number, others)))


def _of_halves(halved: Halved) -> Answer:
    """Return the overlapping clusters that one half of the points shows and the other confirms."""
    number, depths = int(halved.labels.max()) + 1, halved.depths
    borders = AtBorders("overlapping", tuple(depths))
    return Answer(number, halved.labels, depths, borders, around=halved.around)


def _divided_further(found: Found, answer: Answer, most: int, n_jobs: int | None) -> Answer:
    """Return the clusters, those divided again that hold clusters that overlap."""
    if answer.labels is None:
        return answer
    labels, number, depths = answer.labels.copy(), answer.n_clusters, list(answer.depths)
    for cluster in range(answer.n_clusters):
        rows = np.flatnonzero(answer.labels == cluster)
        if len(rows) < 4 * SMALLEST:
            continue
        halved, _ = divide_by_halves(found.points[rows], None, 2, most - number + 1, CLEAR, n_jobs)
        if halved is not None:
            new = halved.labels > 0
            labels[rows[new]] = number - 1 + halved.labels[new]
            number += int(halved.labels.max())
            depths += halved.depths
    if number == answer.n_clusters:
        return answer
    borders = replace(answer.borders, divided=answer.n_clusters)
    return Answer(number, labels, depths, borders)


def _cut_into(
    points: Floats, found: Found, trees: Trees, given: Decision, n_jobs: int | None
) -> Shown:
    """Return the clusters of a number that the points do not show by themselves."""
    number = given.n_clusters
    if not 1 < number < len(points):
        return Shown(given)
    graph = found.graph or neighbour_graph(
        found.points, min(NEIGHBOURS, len(points) - 1), n_jobs=n_jobs
    )
    cuts = [_cut(trees, tree, number) for tree in trees.matrices.values()]
    torn = [share_torn(graph, number, placed) for _, placed, _ in cuts]
    compared = leading_components(points)  # no border is looked for: as they are
    around, specks = _around_centers(compared, number)
    if around is not None:
        labels = around.labels(compared)
        share = share_torn(graph, number, labels)
        if LESS_TORN * share <= min(torn) and share < np.inf:
            found_around = replace(given, labels=labels, specks=tuple(specks.tolist()))
            return Shown(found_around, around.of_points(points, compared))
    if min(torn) == np.inf:
        return Shown(given)
    labels, _, specks = cuts[int(np.argmin(torn))]
    return Shown(replace(given, labels=labels, specks=tuple(specks.tolist())))


def _around_centers(points: Floats, n_clusters: int) -> tuple[Ellipsoids | None, Ints]:
    """Return clusters around centres, and the objects of specks, which have no say in them.

    If more than a tenth of the objects are in specks, the user's clusters are that small, and nothing is a speck.
    """
    rows = np.arange(len(points))
    while 10 * len(rows) >= 9 * len(points):
        around = Ellipsoids.fit(points[rows], n_clusters, _SEED, n_runs=HALVINGS)
        if around is None:
            break
        labels = around.labels(points[rows])
        counted = np.bincount(labels, minlength=n_clusters) >= least_counted(len(rows), n_clusters)
        if counted.all():
            return around, np.setdiff1d(np.arange(len(points)), rows)
        rows = rows[counted[labels]]
    return Ellipsoids.fit(points, n_clusters, _SEED, n_runs=HALVINGS), rows[:0]


def _cut(trees: Trees, tree: Floats, n_clusters: int) -> tuple[Ints, Ints, Ints]:
    """Return a cut of a tree into a number of clusters, the same where most votes are, and the objects of specks, which are there in both."""
    labels = counted_cut(tree, n_clusters)
    specks = np.flatnonzero(labels < 0)
    part, within = trees.ensemble, labels
    if len(specks):
        clustered = np.flatnonzero(labels >= 0)
        part, within = part.part(clustered), labels[clustered]
    votes = votes_for(part, within, trees.counting)
    placed = clusters_with_most_votes(trees.ensemble, votes)
    return np.where(labels < 0, placed, labels), placed, specks


def share_torn(graph: NeighbourGraph, n_clusters: int, labels: Ints) -> float:
    """Return the largest share of its ties between near neighbours that a cluster loses, of those it could keep.

    A cluster of m points can keep m - 1 ties of each.

    Parameters
    ----------
    graph : NeighbourGraph
        The graph of the nearest neighbours of the points.
    n_clusters : int
        The number of clusters; of labels with fewer the share is inf.
    labels : ndarray of int64 of shape (n_objects,)
        The clusters.
    """
    if len(np.unique(labels)) != n_clusters:
        return np.inf
    of_points = labels[graph.rows.first]
    source, sizes = of_points[graph.sources], np.bincount(of_points)
    kept = np.bincount(source, weights=source == of_points[graph.ends])
    could = np.minimum(np.diff(graph.starts), sizes[of_points] - 1)
    return float((1.0 - kept / np.maximum(np.bincount(of_points, weights=could), 1.0)).max())
