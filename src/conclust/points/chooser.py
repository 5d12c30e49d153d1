"""Decisions by the points when a consensus is fitted: the number of clusters, the cut into a given number, and refined clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.consensus.auto import AutoConsensus, ChosenNumber, GrownTrees, evidence_for
from conclust.consensus.auto.number import most_considered
from conclust.ensemble import Ensemble
from conclust.generation.labelling.labelling import scaled_points
from conclust.points.given import cut_into
from conclust.points.number import BorderDecision, number_by_borders
from conclust.points.refinement import Refinement, objects_to_refine, refine_by_centers

# More columns of two values than these show valleys between latent classes, and a mixture of many columns takes long.
_FEW_COLUMNS = 30


class RefinerByPoints:
    """Refines the clusters of a consensus by their centres, if the points agree.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator of the members, for the scale of the points.
    X : array-like of shape (n_samples, n_features)
        The points.
    ensemble : Ensemble
        The members.
    seed : int
        Draws the points that centres are computed from.

    Attributes
    ----------
    refinement : Refinement or None
        The centres that the last call found; None if the points did not agree.
    """

    refinement: Refinement | None = None

    def __init__(self, generator: Any, X: Any, ensemble: Ensemble, seed: int) -> None:
        self._generator, self._X, self._ensemble, self._seed = generator, X, ensemble, seed

    def __call__(self, labels: Ints) -> Ints | None:
        """Return the nearest centre of each point for the clusters 0 to K - 1; None if the points do not agree."""
        objects = objects_to_refine(labels, self._seed)
        self.refinement = refine_by_centers(
            scaled_points(self._generator, self._X, objects),
            labels[objects],
            int(labels.max()) + 1,
            lambda refined: evidence_for(self._ensemble, objects, refined),
            seed=self._seed,
            n_jobs=self._generator.n_jobs,
        )
        return (
            None if self.refinement is None else self.refinement.nearest(self._generator, self._X)
        )


class ChooserByPoints:
    """Chooses the number of clusters of a consensus by the points, or cuts it into the number given.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator of the members, for the scale of the points.
    X : array-like of shape (n_samples, n_features)
        The points.
    consensus : AutoConsensus
        The consensus that is fitted.
    seed : int
        Draws the halvings of the points.
    min_clusters : int
        Smallest number considered.

    Attributes
    ----------
    decision : BorderDecision or None
        Number chosen, with its reason, if it was chosen.
    specks : tuple of int
        Objects in groups that were too small to count as clusters of a given number.
    """

    decision: BorderDecision | None = None
    specks: tuple[int, ...] = ()

    def __init__(
        self, generator: Any, X: Any, consensus: AutoConsensus, seed: int, min_clusters: int
    ) -> None:
        self._generator, self._X, self._consensus = generator, X, consensus
        self._seed, self._min_clusters = seed, min_clusters

    def __call__(self, trees: GrownTrees) -> ChosenNumber:
        """Return the number, the sentence that explains it, and the clusters if they are not a horizontal cut."""
        consensus, points = self._consensus, scaled_points(self._generator, self._X, trees.objects)
        K, n_jobs = consensus.n_clusters, consensus.n_jobs
        if K is not None:
            found = cut_into(points, trees, K, self._seed, n_jobs=n_jobs)
            if found is None:
                return ChosenNumber(K, "", "given")
            self.specks = tuple(trees.objects[found.specks].tolist())
            return ChosenNumber(K, _specks_named(self.specks), "given", labels=found.labels)
        decision = number_by_borders(
            points,
            trees,
            self._seed,
            min_clusters=max(self._min_clusters, trees.smallest),
            max_clusters=consensus.max_clusters,
            n_jobs=n_jobs,
        )
        self.decision = decision = _with_classes_named(decision, points, trees, consensus)
        by: Literal["points", "partitions"] = "points" if decision.by_points else "partitions"
        return ChosenNumber(
            decision.n_clusters,
            decision.reason,
            by,
            decision.alternatives,
            decision.labels,
            self._min_clusters,
        )


def _specks_named(specks: tuple[int, ...]) -> str:
    if not specks:
        return ""
    return f" {count(len(specks), 'object')} in groups too small to be clusters went to the nearest ones (specks_)."


def _with_classes_named(
    decision: BorderDecision, points: Floats, trees: GrownTrees, consensus: AutoConsensus
) -> BorderDecision:
    """Return the decision; if points of two values per column are one cluster, the reason names their latent classes.

    Few columns of two values show no valleys, even between distinct latent classes.
    """
    if decision.n_clusters > 1 or not len(points) or len(points) != trees.n_objects:
        return decision
    lowest, highest = points.min(axis=0), points.max(axis=0)
    varies = lowest < highest
    if (
        not 3 <= varies.sum() <= _FEW_COLUMNS
        or not ((points == lowest) | (points == highest)).all()
    ):
        return decision
    from conclust.consensus.auto.classes import latent_classes  # not needed by a first fit

    answers = Ensemble((points > lowest)[:, varies].astype(np.int64))
    *_, tree = trees.matrices.values()
    most = consensus.max_clusters or most_considered(answers)
    shown = latent_classes(answers, tree, 1, most, consensus.n_jobs).shown
    if shown == 1:
        return decision
    return replace(
        decision,
        reason=f"{decision.reason} All columns have two values: as answers, they have {shown} latent classes by the lowest ICL. "
        f"AutoConsensus({shown}).fit(X > X.min(axis=0)) finds them.",
    )
