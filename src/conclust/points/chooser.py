"""Decisions by the points about a consensus: the number of clusters, the cut into a given number, and refined clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust.consensus.auto import Decision, Trees, decide, decision_on, evidence_for, grow
from conclust.ensemble import Ensemble
from conclust.generation.labelling.labelling import scaled_points
from conclust.points.given import cut_into
from conclust.points.number import BorderDecision, number_by_borders
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers

# More columns of two values than these show valleys between latent classes, and a mixture of many columns takes long.
_FEW_COLUMNS = 30
# Maximum number of clusters that such answers are asked for.
_MOST_OF_ANSWERS = 10


def refined_by_points(
    generator: Any, X: Any, ensemble: Ensemble, labels: Ints, seed: int
) -> tuple[Refinement, Ints] | None:
    """Refine the clusters of a consensus by their centres, if the points agree.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator of the members, for the scale of the points.
    X : array-like of shape (n_samples, n_features)
        The points.
    ensemble : Ensemble
        The members.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, 0 to K - 1.
    seed : int
        Draws the points that centres are computed from.

    Returns
    -------
    (Refinement, ndarray of int64 of shape (n_samples,)) or None
        The centres, and the nearest one of each point; None if the points do not agree.
    """
    objects = objects_to_refine(labels, seed)
    refinement = refine_by_centers(
        scaled_points(generator, X, objects),
        labels[objects],
        int(labels.max()) + 1,
        lambda refined: evidence_for(ensemble, objects, refined),
        seed=seed,
        n_jobs=generator.n_jobs,
    )
    return None if refinement is None else (refinement, refinement.nearest(generator, X))


def decide_by_points(
    points: Floats,
    trees: Trees,
    seed: int,
    n_clusters: int | None = None,
    *,
    min_clusters: int = 1,
    n_jobs: int | None = None,
) -> Decision:
    """Decide the number of clusters of a consensus by the points, or cut it into the number given.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_features)
        The points that the trees join, in the scale of the members.
    trees : Trees
        The trees of the members.
    seed : int
        Draws the halvings of the points.
    n_clusters : int, default=None
        The number given.
    min_clusters : int, default=1
        Smallest number considered.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Decision
        The number, why, and the clusters if they are not a horizontal cut.
    """
    if not trees.n_objects:
        return decide(trees, n_clusters)
    if n_clusters is not None:
        found = cut_into(points, trees, n_clusters, seed, n_jobs=n_jobs)
        decision = decision_on(trees, n_clusters, None if found is None else found.labels)
        if found is None or not len(found.specks):
            return decision
        return replace(decision, specks=tuple(found.specks.tolist()))
    # Constraints may need more than one cluster.
    for least in (min_clusters, max(min_clusters, trees.bounds.smallest)):
        chosen = number_by_borders(
            points,
            trees,
            seed,
            min_clusters=least,
            max_clusters=trees.max_clusters,
            n_jobs=n_jobs,
        )
        if not chosen.n_clusters == 1 < trees.bounds.smallest:
            break
    chosen = _with_classes_named(chosen, points, n_jobs)
    return Decision(
        chosen.n_clusters,
        "points" if chosen.by_points else "partitions",
        trees.n_clusters_shown,
        supports=trees.supports,
        alternatives=chosen.alternatives,
        labels=chosen.labels,
        of_points=chosen.reason,
        at_least=min_clusters,
        at_most=trees.max_clusters,
        depths=chosen.depths,
    )


def _with_classes_named(
    decision: BorderDecision, points: Floats, n_jobs: int | None
) -> BorderDecision:
    """Return the decision; if points of two values per column are one cluster, the reason names the clusters of these answers.

    Few columns of two values show no valleys, even between distinct classes.
    """
    if decision.n_clusters > 1 or not len(points):
        return decision
    lowest, highest = points.min(axis=0), points.max(axis=0)
    varies = lowest < highest
    if (
        not 3 <= varies.sum() <= _FEW_COLUMNS
        or not ((points == lowest) | (points == highest)).all()
    ):
        return decision
    answers = grow(
        Ensemble((points > lowest)[:, varies].astype(np.int64)),
        max_clusters=_MOST_OF_ANSWERS,
        n_jobs=n_jobs,
    )
    shown = decide(answers).testimony
    if shown is None or shown.n_clusters == 1:
        return decision
    return replace(
        decision,
        reason=f"{decision.reason} All columns have two values: as answers, {shown.n_clusters} clusters make them most probable. "
        f"AutoConsensus({shown.n_clusters}).fit(X > X.min(axis=0)) finds them.",
    )
