"""Decisions by the points when a consensus is fitted: the number of clusters, or the cut into a given number."""

from __future__ import annotations

from typing import Any, Literal

from conclust.consensus.auto import AutoConsensus, ChosenNumber, GrownTrees
from conclust.generation.labelling.labelling import scaled_points
from conclust.points.number import BorderDecision, cut_by_islands, number_by_borders


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
    """

    decision: BorderDecision | None = None

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
            labels = cut_by_islands(points, trees, K, self._seed, n_jobs=n_jobs)
            return ChosenNumber(K, "", "given", labels=labels)
        decision = number_by_borders(
            points,
            trees,
            self._seed,
            min_clusters=max(self._min_clusters, trees.smallest),
            max_clusters=consensus.max_clusters,
            n_jobs=n_jobs,
        )
        self.decision = decision
        by: Literal["points", "partitions"] = "points" if decision.by_points else "partitions"
        return ChosenNumber(
            decision.n_clusters,
            decision.reason,
            by,
            decision.alternatives,
            decision.labels,
            self._min_clusters,
        )
