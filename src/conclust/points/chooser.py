"""Clusters of a consensus, refined by the points."""

from __future__ import annotations

from typing import Any

from conclust._types import Ints
from conclust.consensus.auto import evidence_for
from conclust.ensemble import Ensemble
from conclust.generation.labelling.labelling import scaled_points
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers


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
