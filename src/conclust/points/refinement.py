"""A final step with the points: a mixture of normal distributions if one fits, or Lloyd's iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import holds
from conclust._arrays.ratios import shares_of_rows
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.borders import leading_components, valley_counts
from conclust.consensus.auto import evidence_for
from conclust.ensemble import Ensemble
from conclust.generation.labelling.labelling import scaled_blocks, scaled_points
from conclust.generation.labelling.nearest import nearest_center
from conclust.neighbours import NeighbourGraph, neighbour_graph
from conclust.number.mixture import Mixture, best_mixture, kmeans_labels, misfit, n_parameters

# Maximum number of objects on which Lloyd's iterations run and are judged.
_MAX_OBJECTS = 5_000
_MAX_ITER = 100
# The constants below were chosen as described in experiments/default/README.md.
_WIDE, _NARROW = 20, 5
_SAME_CUT = 1.01
_ALLOWED_FACTOR, _ALLOWED_SHARE = 1.2, 0.006
# The covariance within clusters is shrunk towards a sphere by this share; points with more features are not whitened.
_SHRINKAGE = 0.1
_MAX_WHITENED = 1_000
# A mixture is considered if there are four points for each parameter of its most general form. It
# fits below this value of `misfit` of as many points; the graphs reject it if the consensus cuts fewer than half as many
# ties (.4 with few neighbours).
_POINTS_A_PARAMETER = 4
_FITS, _JUDGED_AS = 0.85, 2_000
_CLEARLY_FEWER, _CLEARLY_FEWER_NARROW = 0.5, 0.4
# Clearly more evidence for valleys at borders, which are ties of that many neighbours; halvings, and depths of equal probability.
_MORE_EVIDENCE, _AT_BORDERS = 10.0, 10
_SPLITS, _DEPTHS = 8, np.array([0.4, 0.55, 0.7, 0.85])


@dataclass(frozen=True, eq=False)
class Refinement:
    """Clusters as the points nearest to centres, with the evidence of the members for them.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters, in the coordinates after `whitening`.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters)
        Votes of each cluster of the ensemble for each of the clusters.
    whitening : ndarray of shape (n_features, n_features) or (n_clusters, n_features, n_features) or None
        Points times this matrix have about the same spread within clusters in all directions; one matrix, or one for
        each cluster. None: distances are those of the points as they are.
    offsets : ndarray of shape (n_clusters,) or None
        Added to the squared distances from the centres; None: nothing is.
    """

    centers: Floats
    votes: Floats
    whitening: Floats | None = None
    offsets: Floats | None = None

    def fits(self, d: int, n_columns: int, K: int) -> bool:
        """Return whether these are K centres of points with d features, with the votes of `n_columns` clusters."""
        whitening, offsets = self.whitening, self.offsets
        each = whitening is not None and whitening.ndim == 3
        return (
            holds(self.centers, K, d)
            and holds(self.votes, n_columns, K)
            and bool((self.votes >= 0).all())
            and (whitening is None or holds(whitening, *[K] * each, d, d))
            and (holds(offsets, K) if offsets is not None else not each)
        )

    def labels(self, X: Floats) -> Ints:
        """Return the nearest centre of each point, of shape (n_samples,)."""
        if self.offsets is None:
            return nearest_center(_white(X, self.whitening), self.centers).astype(np.int64)
        K, d = self.centers.shape
        whitenings = np.eye(d) if self.whitening is None else self.whitening
        distances = np.empty((len(X), K))
        with one_library_thread():
            for k, whitening in enumerate(np.broadcast_to(whitenings, (K, d, d))):
                residuals = X @ whitening - self.centers[k]
                distances[:, k] = np.einsum("ij,ij->i", residuals, residuals) + self.offsets[k]
        return np.asarray(np.argmin(distances, axis=1), dtype=np.int64)

    def nearest(self, generator: Any, X: Any) -> Ints:
        """Return the nearest centre of each point of X, (n_samples,), in the scale of a fitted generator."""
        return np.concatenate([self.labels(block) for block in scaled_blocks(generator, X)])

    def membership(self, labels: Ints, indicator: sp.csr_array) -> Floats:
        """Return the share of the members' evidence for each cluster.

        If the members favour another cluster than the nearest centre, both get the same share: they are equally
        likely.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The nearest centre of each point.
        indicator : sparse array of shape (n_samples, n_ensemble_clusters)
            The clusters of the ensemble that each point is in.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1; the largest entry is that of the nearest centre.
        """
        shares = shares_of_rows(indicator @ self.votes)
        rows = np.arange(len(shares))
        for_ = shares.argmax(axis=1)
        other = np.flatnonzero(shares[rows, for_] > shares[rows, labels])
        half = (shares[other, for_[other]] + shares[other, labels[other]]) / 2
        shares[other, for_[other]] = half
        shares[other, labels[other]] = half
        # The label is the largest entry, the first one if tied.
        first = np.flatnonzero(shares.argmax(axis=1) != labels)
        shares[first, labels[first]] = np.nextafter(shares[first, labels[first]], 2.0)
        return shares

    def renumbered(self, order: Ints) -> Refinement:
        """Return the same with the clusters in another order."""
        whitening, offsets = self.whitening, self.offsets
        if whitening is not None and whitening.ndim == 3:
            whitening = whitening[order]
        if offsets is not None:
            offsets = offsets[order]
        return Refinement(self.centers[order], self.votes[:, order], whitening, offsets)


def objects_to_refine(labels: Ints, seed: int) -> Ints:
    """Return the objects from which centres are computed: at most 5,000 with a label, in order."""
    objects = np.flatnonzero(labels >= 0)
    if len(objects) <= _MAX_OBJECTS:
        return objects
    drawn = np.random.default_rng(seed).choice(len(objects), _MAX_OBJECTS, replace=False)
    return objects[np.sort(drawn)]


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


def refine_by_centers(
    points: Floats,
    labels: Ints,
    n_clusters: int,
    votes_of: Callable[[Ints], Floats],
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Refinement | None:
    """Fit a mixture of normal distributions, or run Lloyd's iterations, and judge the result by the points.

    If there are four points for each parameter, mixtures with that number of components are fitted by
    expectation-maximisation, from the consensus and from k-means, with a common sphere, a common ellipsoid or an
    ellipsoid each. That of the lowest BIC gives the clusters if two of three hold: along no projection does the
    distribution of the points deviate from it (`misfit` below .85); the consensus does not cut clearly fewer ties of
    the neighbour graphs (less than half as many with 20 neighbours, less than .4 times as many with 5); the consensus
    has clearly less evidence for valleys at its borders.

    Otherwise Lloyd's iterations run from the means of the clusters. Clusters that overlap are better separated by their
    centres than by neighbours; clusters of other shapes are destroyed by centres. The iterations' partition is kept
    where it does not cut more ties of the neighbour graphs. In the graph of 20 neighbours, the mean over clusters of the
    share of its ties that leave a cluster falls or stays within 1 %, and the share of all ties that are cut rises by at most a
    fifth and .006. In the graph of 5 neighbours, the mean over clusters rises by at most a fifth and .006. If this holds neither
    for the points nor after whitening, the geometric mean of the two shares of the first graph may fall or stay within 1 % instead.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The points, in the scale of the members.
    labels : ndarray of int64 of shape (n_samples,)
        The consensus, 0 to n_clusters - 1.
    n_clusters : int
        Number of clusters of the consensus.
    votes_of : callable
        Function of the refined labels that returns the votes of the ensemble's clusters for them.
    seed : int, default=0
        Draws the starts of k-means.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    Refinement or None
        The centres; None where the consensus is kept.
    """
    if n_clusters < 2 or len(np.unique(labels)) < n_clusters:
        return None
    mixture = _mixture(points, labels, n_clusters, seed)
    if mixture is not None:
        refined = mixture.labels(points)
        fits = misfit(points, mixture, _JUDGED_AS) < _FITS
        if np.array_equal(refined, labels):
            if fits:
                return None
        elif _two_of_three(
            fits,
            lambda: _not_clearly_worse(points, labels, refined, n_jobs),
            lambda: _has_more_valley(points, labels, refined, seed, n_jobs),
        ):
            discriminants = mixture.discriminants()
            return Refinement(discriminants[0], votes_of(refined), *discriminants[1:])
    of_all_ties: tuple[Floats, Ints, Floats | None] | None = None
    for whitening in _coordinates(points, labels, n_clusters):
        white = _white(points, whitening)
        centers, nearest = _lloyd(white, labels, n_clusters)
        if nearest is None or np.array_equal(nearest, labels):
            continue
        cuts_fewer = _cuts_fewer(white, labels, nearest, n_jobs)
        if cuts_fewer == "of each cluster":
            return Refinement(centers, votes_of(nearest), whitening)
        if cuts_fewer == "of all" and of_all_ties is None:
            of_all_ties = centers, nearest, whitening
    if of_all_ties is None:
        return None
    centers, nearest, whitening = of_all_ties
    return Refinement(centers, votes_of(nearest), whitening)


def _mixture(points: Floats, labels: Ints, K: int, seed: int) -> Mixture | None:
    """Return the best mixture of K components, if there are enough points."""
    n, d = points.shape
    if n_parameters("full", K, d) * _POINTS_A_PARAMETER > n:
        return None
    return best_mixture(points, (labels, kmeans_labels(points, K, seed)), K)


def _two_of_three(first: bool, second: Callable[[], bool], third: Callable[[], bool]) -> bool:
    """Return whether two of three conditions hold; the third is not computed if the others decide."""
    holds = second()
    return (first and holds) or ((first or holds) and third())


def _not_clearly_worse(points: Floats, before: Ints, after: Ints, n_jobs: int | None) -> bool:
    """Return whether the neighbour graphs do not clearly prefer the consensus."""
    for n_neighbors, share in ((_WIDE, _CLEARLY_FEWER), (_NARROW, _CLEARLY_FEWER_NARROW)):
        graph = neighbour_graph(points, n_neighbors, n_jobs=n_jobs)
        if cut_shares(graph, before)[0] < share * cut_shares(graph, after)[0]:
            return False
    return True


def _has_more_valley(
    points: Floats, before: Ints, after: Ints, seed: int, n_jobs: int | None
) -> bool:
    """Return whether there is clearly more evidence for valleys at the borders after."""
    components = leading_components(points)
    graph = neighbour_graph(components, _AT_BORDERS, n_jobs=n_jobs)
    evidence = [
        _evidence_of_valleys(components, labels, graph, seed, n_jobs) for labels in (before, after)
    ]
    return evidence[1] > evidence[0] + _MORE_EVIDENCE


def _evidence_of_valleys(
    points: Floats, labels: Ints, graph: NeighbourGraph, seed: int, n_jobs: int | None
) -> float:
    """Return the evidence for valleys of one depth at all borders, with four equally probable depths."""
    cluster_of = labels[graph.rows.first]
    first, second = cluster_of[graph.sources], cluster_of[graph.ends]
    rising = first < second  # each tie is stored in both directions
    pairs = np.unique(np.column_stack([first, second])[rising], axis=0)
    if not len(pairs):
        return 0.0
    means = valley_counts(
        points, labels, pairs, n_splits=_SPLITS, random_state=seed, n_jobs=n_jobs
    ).means
    valley, peak = means[:, 1].sum(), np.minimum(means[:, 0], means[:, 2]).sum()
    share = _DEPTHS / (1.0 + _DEPTHS)
    logs = valley * np.log(2.0 * share) + peak * np.log(2.0 * (1.0 - share))
    return float(np.logaddexp.reduce(logs)) - log(len(_DEPTHS))


def _coordinates(points: Floats, labels: Ints, K: int) -> Iterator[Floats | None]:
    """Yield the coordinates for centres: the points unchanged, then whitened if they have few features."""
    yield None
    if 1 < points.shape[1] <= min(_MAX_WHITENED, len(points) // 2):
        whitening = _whitening(points, labels, K)
        if whitening is not None:
            yield whitening


def _whitening(points: Floats, labels: Ints, K: int) -> Floats | None:
    """Return the matrix after which the covariance within clusters, shrunk by a tenth, is the identity."""
    residuals = points - _means(points, labels, K)[labels]
    covariance = residuals.T @ residuals / len(points)
    d = len(covariance)
    spread = float(np.trace(covariance)) / d
    if spread <= 0:
        return None
    shrunk = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * spread * np.eye(d)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(shrunk)).T)


def _white(points: Floats, whitening: Floats | None) -> Floats:
    return points if whitening is None else np.ascontiguousarray(points @ whitening)


def _lloyd(points: Floats, labels: Ints, K: int) -> tuple[Floats, Ints | None]:
    """Return the centres found from the labels, and the new labels; None if a cluster becomes empty."""
    centers = _means(points, labels, K)
    for _ in range(_MAX_ITER):
        nearest = nearest_center(points, centers).astype(np.int64)
        if np.bincount(nearest, minlength=K).min() == 0:
            return centers, None
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centers = _means(points, labels, K)
    return centers, nearest_center(points, centers).astype(np.int64)


def _means(points: Floats, labels: Ints, K: int) -> Floats:
    sums = np.zeros((K, points.shape[1]))
    np.add.at(sums, labels, points)
    return np.asarray(sums / np.bincount(labels, minlength=K)[:, None])


def _cuts_fewer(
    points: Floats, before: Ints, after: Ints, n_jobs: int | None
) -> Literal["of each cluster", "of all"] | None:
    """Return whether clusters cut fewer ties than those before: as the mean over clusters, with all ties, or not."""
    if len(np.unique(after)) < len(np.unique(before)):
        return None
    wide = neighbour_graph(points, _WIDE, n_jobs=n_jobs)
    mean_before, all_before = cut_shares(wide, before)
    mean_after, all_after = cut_shares(wide, after)
    of_each = mean_after <= _SAME_CUT * mean_before and _allowed(all_before, all_after)
    # Small clusters raise the mean over clusters; fewer ties of all may make up for it.
    of_all = mean_after * all_after <= _SAME_CUT**2 * mean_before * all_before
    if not (of_each or of_all):
        return None
    narrow = neighbour_graph(points, _NARROW, n_jobs=n_jobs)
    if not _allowed(cut_shares(narrow, before)[0], cut_shares(narrow, after)[0]):
        return None
    return "of each cluster" if of_each else "of all"


def _allowed(before: float, after: float) -> bool:
    return after <= _ALLOWED_FACTOR * before + _ALLOWED_SHARE


def cut_shares(graph: NeighbourGraph, labels: Ints) -> tuple[float, float]:
    """Return the share of ties that leave a cluster, both as the mean over clusters and of all ties."""
    of_points = labels[graph.rows.first]
    K = int(labels.max()) + 1
    source = of_points[graph.sources]
    leaves = source != of_points[graph.ends]
    ties = np.bincount(source, minlength=K)
    cut = np.bincount(source, weights=leaves, minlength=K)
    held = ties > 0
    return float((cut[held] / ties[held]).mean()), float(leaves.mean())
