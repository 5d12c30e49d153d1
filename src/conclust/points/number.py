"""The number of clusters by valleys: each border of the consensus has fewer points than the adjacent clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt, log
from typing import Literal, TypeAlias

import numpy as np

from conclust._arrays.points import along_line, spread_rounded_columns
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.borders import leading_components
from conclust.consensus.auto import GrownTrees
from conclust.neighbours import NeighbourGraph
from conclust.points.bent import BentBorders, joined
from conclust.points.components import Mixtures, fit_mixtures
from conclust.points.evidence import Borders, cuts_with_islands, find_borders, touching_pairs
from conclust.points.line import LEVEL, clusters_on_line
from conclust.points.margin import EMPTY_MARGIN, margin_ratio
from conclust.points.paths import PathsOfPoints, contact_ratio
from conclust.points.unbroken import unbroken_graph

# Below this number of objects the points are too few for a neighbour graph and counts: their separation is tested.
_FEWEST_OBJECTS = 50
# Below this number of objects the partitions decide.
_FEWEST_SEPARATED = 8
# From this number of objects, clusters that are smaller than pieces are not searched for.
_MANY_OBJECTS = 400
_OBJECTS_A_PIECE = 25
_MAX_PIECES = 60
# The constants below were chosen as described in experiments/default/README.md.
# Pieces whose pooled valley is less than half as dense as the lower peak stay apart.
_MERGED_ABOVE = 0.5
# Several clusters must have more evidence than a single one, by at least this; numbers whose scores
# differ by less are equally well supported.
_CLEAR_EVIDENCE = 2.0
# Minimum gain in evidence and lifetime by an additional cluster.
_COST_OF_A_CLUSTER = 1.5
# A border between complete clusters counts up to this density of its valley, if the pieces show none.
_SHALLOWEST = 0.64
# A border needs no valley if its contact is at most this share of that within clusters.
_LITTLE_CONTACT = 0.5
_MOST_BY_MARGINS = 8
_LIFETIMES_TRIED = 8
_SHORTEST_LIFETIME = 1e-4

_Evidence: TypeAlias = Literal["valley", "contact", "margin"]


@dataclass(frozen=True)
class BorderDecision:
    """A number of clusters, with its reason.

    Attributes
    ----------
    n_clusters : int
        The number.
    reason : str
        Reason in a sentence.
    depths : tuple of float
        For each pair of clusters that touch, how deep the valley between them is: 1 less the density in it as a
        share of the lower peak's, from 0. If margins decided, 1 less their shares (`margin_ratio`). Empty where no
        two clusters touch.
    by_points : bool
        Whether the points decided; False where the partitions alone did.
    alternatives : tuple of int
        Other numbers with more evidence than one cluster, best first.
    labels : ndarray of int64 of shape (n_samples,) or None
        The clusters, where they are not those of the tree cut at the number.
    """

    n_clusters: int
    reason: str
    depths: tuple[float, ...] = ()
    by_points: bool = True
    alternatives: tuple[int, ...] = ()
    labels: Ints | None = None


def number_by_borders(
    X: Floats,
    trees: GrownTrees,
    seed: int,
    *,
    min_clusters: int = 1,
    max_clusters: int | None = None,
    n_jobs: int | None = None,
) -> BorderDecision:
    """Choose the number of clusters at which every border runs through a valley of the points.

    The trees are cut into small pieces. For each border between two pieces that touch in the graph of the ten
    nearest neighbours, half of the points fixes the axis, the region and the windows; the other half is counted
    (`conclust.borders`). A cut of the tree is supported by the summed evidence (logarithm of the likelihood ratio
    of a valley and none) of its borders. The score of a number is its evidence, plus the logarithm of its lifetime
    in the tree, less 1.5 per cluster; of the numbers with clearly more evidence than one cluster, the one with the
    largest score is chosen. Where all pieces merge into one, or no number has clearly more evidence, whole clusters
    are examined: the number that the ensemble shows and those of the longest lifetimes. There a border also counts if
    less than half as many ties of the neighbour graph cross it as cross the middle of either cluster (`contact_ratio`).
    If no number is accepted, the largest one up to 8 is chosen at which all clusters have 25 points or more and every
    border has an empty margin: at most .12 times as many points as an equally wide band of either cluster
    (`margin_ratio`).

    The graph of a thin curve of many points may break at a random gap. With 2,000 points or more, the graph of twenty
    nearest neighbours is used if it connects the ends of curves (`unbroken_graph`).

    A straight axis between two parts of a ring runs through its hole. Clusters are joined whose border is bent and has
    no valley along the neighbour graph (`BentBorders`).

    Fewer than 50 points are too few to be counted. They are several clusters if these are farther apart than the parts
    of a flat, a skewed or a Gaussian cloud (`separated_clusters`). Below 400 points clusters may be smaller than the
    pieces. If there is more than one cluster, and the partition with the largest silhouette has more clusters than
    there are pieces, its number is chosen if all neighbours are that far apart (`neighbours_are_separated`).

    Clusters that overlap have no deep valley between them. If a mixture of more normal distributions explains the
    points, its number is chosen: where the distributions have one shape (`Mixtures.number_of_one_shape`), and there is
    clear evidence for valleys within the clusters, or more than one cluster and densities that the mixture expects
    (`Mixtures.fits_densities`); or where all borders between them have a valley,
    and clearly more evidence, less 1.5 for each additional cluster (`Mixtures.clusters`). The second gives the
    clusters, too.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points that the trees join, in the scale of the members.
    trees : GrownTrees
        The consensus, cut at any number of clusters.
    seed : int
        Draws the halvings.
    min_clusters : int, default=1
        Smallest number considered.
    max_clusters : int, default=None
        Largest number considered. None: no limit.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    BorderDecision
        The number, and the sentence that explains it.
    """
    n = len(X)
    most = trees.n_numbers if max_clusters is None else min(max_clusters, trees.n_numbers)
    if n < _FEWEST_OBJECTS:
        return _by_separation(X, trees, seed, min_clusters, most)
    line = along_line(X)
    if line is not None:
        on_line = _on_line(line, trees, seed, min_clusters, most)
        if on_line.n_clusters > 1 and n < _MANY_OBJECTS:
            return _beyond_pieces(on_line, on_line.n_clusters, line, seed, most)
        return on_line
    points, graph = _points_and_graph(X, seed, n_jobs)

    def borders_of(labels: Ints) -> Borders:
        return find_borders(points, labels, graph, seed, n_jobs)

    pieces = borders_of(trees.cut(_number_of_pieces(n)))
    bent = BentBorders(PathsOfPoints(points, graph), pieces.pieces)
    decision = None
    if len(np.unique(pieces.merged(_MERGED_ABOVE))) > 1:
        decision = _by_pieces(pieces, bent, trees, min_clusters, most)
    if decision is None:
        decision = _by_whole_clusters(borders_of, bent, trees, min_clusters, most)
    clusters = _clusters_of(decision, trees)
    mixtures = fit_mixtures(X, clusters, min(most, n // _OBJECTS_A_PIECE), seed)
    if mixtures is not None:
        decision = _by_components(decision, mixtures, X, borders_of, trees)
    if 1 < decision.n_clusters <= pieces.n_pieces and n < _MANY_OBJECTS:
        decision = _beyond_pieces(decision, pieces.n_pieces, X, seed, most)
    return decision


def _on_line(X: Floats, trees: GrownTrees, seed: int, least: int, most: int) -> BorderDecision:
    """Choose the largest number of clusters at which no two neighbours have one mode together."""
    most_sizeable = min(most, len(X) // 5)
    found = clusters_on_line(X, trees, least, most_sizeable, np.random.default_rng(seed))
    why = f"at no number do all pairs of neighbours have more than one mode together (dip test at level {LEVEL:g})"
    if found is None and least > 1:
        return _by_ensemble(trees, least, most, why)
    if found is None:
        return _one_cluster(trees, why)
    neighbours = "they have" if found.n_clusters == 2 else "each two neighbours have"
    reason = f"{count(found.n_clusters, 'cluster')}: {neighbours} more than one mode together (dip test at level {LEVEL:g})."
    return BorderDecision(found.n_clusters, reason, alternatives=found.others)


def _number_of_pieces(n: int) -> int:
    return max(3, min(isqrt(n), n // _OBJECTS_A_PIECE, _MAX_PIECES))


def _points_and_graph(X: Floats, seed: int, n_jobs: int | None) -> tuple[Floats, NeighbourGraph]:
    """Return the points in which borders are counted, and the graph of their nearest neighbours."""
    points = leading_components(spread_rounded_columns(X, np.random.default_rng(seed)))
    return points, unbroken_graph(points, n_jobs)


def _by_pieces(
    pieces: Borders, bent: BentBorders, trees: GrownTrees, min_clusters: int, most: int
) -> BorderDecision | None:
    """Choose among the cuts of the tree by the evidence at borders between pieces; None: no cut has any."""
    cuts = {K: trees.cut(K) for K in range(1, min(pieces.n_pieces, most) + 1)}
    apart = cuts_with_islands(pieces, cuts)
    evidence = {K: value for K, (_, value) in apart.items()}
    # One cluster is not an alternative if there is known to be more than one.
    least_evidence = evidence[1] + (_CLEAR_EVIDENCE if min_clusters == 1 else 0.0)
    scores = {
        K: value - _COST_OF_A_CLUSTER * K + log(max(trees.lifetime(K), _SHORTEST_LIFETIME))
        for K, value in evidence.items()
        if max(2, min_clusters) <= K and value > least_evidence
    }
    if not scores:
        return None
    ordered = sorted(scores, key=lambda K: (-scores[K], K))
    number, next_best = ordered[0], ordered[1:]
    labels = _joined_where_bent(pieces, bent, apart[number][0])
    n_clusters = int(labels.max()) + 1
    if n_clusters < number and (
        n_clusters < max(2, min_clusters) or pieces.evidence(labels) <= least_evidence
    ):
        return None
    near = [K for K in next_best if scores[K] >= scores[number] - _CLEAR_EVIDENCE]
    ratios = pieces.pooled_ratios(pieces.clusters_of_pieces(labels))[1]
    # Numbers at which a bent cluster is cut are no alternatives, nor is the number itself.
    others = [
        K
        for K in near
        if n_clusters != K and _joined_where_bent(pieces, bent, apart[K][0]) is apart[K][0]
    ]
    next_best = [K for K in next_best if K in others or K not in {*near, n_clusters}]
    decision = _explained(n_clusters, ratios, others, next_best)
    return decision if labels is cuts[number] else replace(decision, labels=labels)


def _joined_where_bent(pieces: Borders, bent: BentBorders, labels: Ints) -> Ints:
    """Join the clusters of a partition between which there is a valley only along the straight axis."""
    while True:
        pairs, ratios = pieces.pooled_ratios(pieces.clusters_of_pieces(labels))
        straight = pairs[ratios <= _SHALLOWEST]
        flat = straight[bent.without_valley(labels, straight, _MERGED_ABOVE)]
        if not len(flat):
            return labels
        labels = joined(labels, flat)


def _by_whole_clusters(
    borders_of: Callable[[Ints], Borders],
    bent: BentBorders,
    trees: GrownTrees,
    least: int,
    most: int,
) -> BorderDecision:
    """Accept the number with the longest lifetime whose clusters are all separated by valleys."""
    longest = sorted(range(2, trees.n_numbers + 1), key=lambda K: (-trees.lifetime(K), K))
    candidates = dict.fromkeys([trees.n_clusters_shown, *longest[:_LIFETIMES_TRIED]])
    accepted: dict[int, tuple[Ints, Floats]] = {}
    some_valley = False
    n = trees.n_objects
    # A thin curve breaks into hundreds of clusters, whose borders are too many to be counted and have too few points.
    largest = min(most, n // 5, max(_MAX_PIECES, n // _OBJECTS_A_PIECE))
    for K in candidates:
        if max(2, least) <= K <= largest:
            labels = trees.cut(K)
            while True:
                borders = borders_of(labels)
                valleys = borders.ratios <= _SHALLOWEST
                some_valley |= bool(valleys.any())
                straight = borders.pairs[valleys]
                flat = straight[bent.without_valley(labels, straight, _MERGED_ABOVE)]
                if not len(flat):
                    break
                labels = joined(labels, flat)
            if borders.n_pieces >= max(2, least) and all(
                contact_ratio(bent.paths, labels, pair) <= _LITTLE_CONTACT
                for pair in borders.pairs[~valleys]
            ):
                accepted[K] = labels, borders.ratios
    if accepted:
        ordered = sorted(accepted, key=lambda K: (-trees.lifetime(K), K))
        labels, ratios = accepted[ordered[0]]
        numbers = list(dict.fromkeys(int(accepted[K][0].max()) + 1 for K in ordered))
        by: _Evidence = "contact" if (ratios > _SHALLOWEST).any() else "valley"
        decision = _explained(numbers[0], ratios, numbers[1:], numbers[1:], by=by)
        return decision if numbers[0] == ordered[0] else replace(decision, labels=labels)
    by_margins = _by_margins(bent, trees, least, most)
    if by_margins is not None:
        return by_margins
    why = "no border has a valley"
    if some_valley:
        why = "at no number of clusters does every border have a valley"
    if least > 1:
        return _by_ensemble(trees, least, most, why)
    return _one_cluster(trees, why)


def _one_cluster(trees: GrownTrees, why: str) -> BorderDecision:
    """Return the decision for one cluster, with the number that the partitions alone favour."""
    indicated = trees.n_clusters_shown
    lean = f"; the partitions alone favour {indicated}" if indicated > 1 else ""
    return BorderDecision(1, f"One cluster: {why}{lean}.")


def _by_margins(
    bent: BentBorders, trees: GrownTrees, least: int, most: int
) -> BorderDecision | None:
    """Accept the largest number at which no cluster is small and every border has an empty margin; None: no number."""
    most = min(most, _MOST_BY_MARGINS, trees.n_objects // _OBJECTS_A_PIECE)
    accepted: dict[int, Floats] = {}
    for K in range(most, max(2, least) - 1, -1):
        labels = trees.cut(K)
        if np.bincount(labels).min() < _OBJECTS_A_PIECE:
            continue
        margins: list[float] = []
        for pair in touching_pairs(labels, bent.paths.graph):
            margins.append(margin_ratio(bent.paths, labels, pair))
            if (
                margins[-1] > EMPTY_MARGIN
                or bent.without_valley(labels, pair[np.newaxis], _MERGED_ABOVE)[0]
            ):
                break
        else:
            accepted[K] = np.array(margins)
    if not accepted:
        return None
    number, *others = accepted
    return _explained(number, accepted[number], [], others, by="margin")


def _beyond_pieces(
    decision: BorderDecision, n_pieces: int, X: Floats, seed: int, most: int
) -> BorderDecision:
    """Return a number of clusters that are too small to be pieces, if they are far apart; or else the decision.

    Parameters
    ----------
    decision : BorderDecision
        The decision by borders: more than one cluster.
    n_pieces : int
        Number of pieces, above which borders show no number.
    X : ndarray of shape (n_samples, n_features)
        The points.
    seed : int
        Draws the clouds.
    most : int
        Maximum number considered.
    """
    from conclust.selection.resampled.separation import (
        SMALLEST,
        largest_silhouette,
        neighbours_are_separated,
    )

    points = spread_rounded_columns(X, np.random.default_rng(seed))
    with one_library_thread():
        silhouette, labels = largest_silhouette(points, 2, min(most, len(points) // SMALLEST))
    if (
        labels is None
        or labels.max() < n_pieces
        or not neighbours_are_separated(points, labels, seed)
    ):
        return decision
    number = int(labels.max()) + 1
    reason = (
        f"{count(number, 'cluster')}: they have too few points for valleys, but neighbours are farther apart than the parts of "
        f"one cloud (silhouette {silhouette:.2f})."
    )
    return BorderDecision(number, reason)


def _by_separation(
    X: Floats, trees: GrownTrees, seed: int, least: int, most: int
) -> BorderDecision:
    """Choose the number of clusters that are farther apart than the parts of a single cloud."""
    # Loaded here, because few sets are that small.
    from conclust.selection.resampled.separation import (
        SMALLEST,
        largest_silhouette,
        separated_clusters,
        vary,
    )

    n = len(X)
    few = f"{n} points are too few to find valleys"
    if n < _FEWEST_SEPARATED or not vary(X):
        return _by_ensemble(trees, least, most, few)
    points = spread_rounded_columns(X, np.random.default_rng(seed))
    found = separated_clusters(points, seed)
    clouds = f"(silhouette {found.silhouette:.2f}, p = {found.p_value:.2g}, {found.n_references} {found.cloud} clouds)"
    if least <= found.n_clusters <= most:
        if found.n_clusters > 1:
            reason = f"{count(found.n_clusters, 'cluster')}: they are farther apart than the parts of one cloud {clouds}."
            return BorderDecision(found.n_clusters, reason)
        if not found.n_references:
            return BorderDecision(
                1,
                f"One cluster: each division leaves fewer than {SMALLEST} points in a cluster.",
            )
        return _one_cluster(
            trees, f"its parts are no farther apart than those of one cloud {clouds}"
        )
    with one_library_thread():
        silhouette, labels = largest_silhouette(points, max(2, least), most)
    if labels is None:
        return _by_ensemble(trees, least, most, few)
    number = int(labels.max()) + 1
    reason = f"{count(number, 'cluster')}: the largest silhouette ({silhouette:.2f}) of the numbers from {max(2, least)} on."
    return BorderDecision(number, reason)


def _by_components(
    decision: BorderDecision,
    mixtures: Mixtures,
    X: Floats,
    borders_of: Callable[[Ints], Borders],
    trees: GrownTrees,
) -> BorderDecision:
    """Return the decision for more clusters, if these are the components of a mixture that explains the points."""
    fewer, clusters = decision.n_clusters, _clusters_of(decision, trees)
    number = mixtures.number_of_one_shape()
    if number is not None and number > fewer and decision.by_points:
        borders = borders_of(trees.cut(number))
        within = borders.within(clusters)
        if within.evidence_of_one_depth() > _CLEAR_EVIDENCE or (
            fewer > 1 and mixtures.fits_densities()
        ):
            return _explained_by_components(number, decision, borders.ratios, " of one shape")
    labels = mixtures.clusters(X)
    if labels is None or labels.max() < fewer:
        return decision
    # Mixtures of many components approximate clusters of other shapes too, in parts without a valley between them.
    borders = borders_of(labels)
    if (borders.ratios >= 1.0).any():
        return decision
    before = borders_of(clusters)
    gain = borders.evidence_of_one_depth() - before.evidence_of_one_depth()
    if gain <= _CLEAR_EVIDENCE + _COST_OF_A_CLUSTER * (borders.n_pieces - fewer):
        return decision
    found = _explained_by_components(borders.n_pieces, decision, borders.ratios)
    return replace(found, labels=labels)


def _clusters_of(decision: BorderDecision, trees: GrownTrees) -> Ints:
    return trees.cut(decision.n_clusters) if decision.labels is None else decision.labels


def _explained_by_components(
    number: int, decision: BorderDecision, ratios: Floats, which: str = ""
) -> BorderDecision:
    fewer = decision.n_clusters
    reason = (
        f"{count(number, 'cluster')}: the points are distributed as a mixture of {number} normal distributions{which}; "
        f"valleys alone show {fewer}."
    )
    depths = tuple(float(depth) for depth in np.clip(1.0 - ratios, 0.0, 1.0))
    others = dict.fromkeys([fewer, *(K for K in decision.alternatives if number != K)])
    return BorderDecision(number, reason, depths, alternatives=tuple(others))


def _by_ensemble(trees: GrownTrees, least: int, most: int, why: str) -> BorderDecision:
    number = trees.n_clusters_shown
    if least > most:
        number, why = most, f"{why}, and at most {most} can be distinguished"
    elif not least <= number <= most:
        number = max(range(least, most + 1), key=trees.lifetime)
    return BorderDecision(
        number, f"{count(number, 'cluster')} by the partitions alone: {why}.", by_points=False
    )


def _explained(
    number: int,
    ratios: Floats,
    others: list[int],
    next_best: list[int],
    *,
    by: _Evidence = "valley",
) -> BorderDecision:
    """Return the decision with its reason, which names the `others` that are as well supported.

    With "contact", every border without a deep valley has little contact; with "margin", every border has an empty margin.
    """
    depths = np.clip(1.0 - ratios, 0.0, 1.0)
    single = "the border" if number == 2 else "the only border"  # of more clusters, two touch
    if by == "contact":
        which = single if len(depths) == 1 else "each border without a deep valley"
        reason = f"{count(number, 'cluster')}: few ties of the neighbour graph cross {which}"
    elif by == "margin" and len(depths):
        which = single if len(depths) == 1 else "every border"
        reason = f"{count(number, 'cluster')}: few points are near {which}"
    elif not len(depths):
        reason = f"{count(number, 'cluster')}: no two of them touch"
    elif depths.min() > 0:
        share = round(100 * float(depths.min()))
        which = f"{single if len(depths) == 1 else 'every border'} has a valley"
        shallowest = "" if len(depths) == 1 else "the shallowest "
        reason = f"{count(number, 'cluster')}: {which} ({shallowest}{share} % deep)"
    else:
        reason = f"{count(number, 'cluster')}: {int(np.count_nonzero(depths))} of {len(depths)} borders have a valley"
    if others:
        few = others[:3]
        listed = " and ".join(map(str, few)) if len(few) < 3 else f"{few[0]}, {few[1]} and {few[2]}"
        reason += f"; {listed} {'is' if len(few) == 1 else 'are'} as well supported"
    return BorderDecision(
        number, reason + ".", tuple(float(depth) for depth in depths), alternatives=tuple(next_best)
    )
