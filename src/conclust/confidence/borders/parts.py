"""Random parts of the points: each is clustered by itself, and the borders between its clusters are tested."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._arrays.containers import moderate
from conclust._arrays.rows import cross_counts
from conclust._random import spawn_seeds
from conclust._types import Bools, Floats, Ints
from conclust.borders import border_geometry, leading_components
from conclust.confidence.borders.dips import dip_p_value, dips_of_rows
from conclust.confidence.reading import read_features
from conclust.consensus.method import method_named
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import scaled
from conclust.generation.members import labels_of_estimator
from conclust.generation.points import read_points
from conclust.generation.runs import run_kmeans
from conclust.measures.matching import assign

# Labels of the points of a part, negative for points in no cluster.
Clustering = Callable[[Floats, np.random.SeedSequence], Ints]

PART = 1 / 3
"""Share of the points that is clustered."""
# Maximum number of points counted per clustered point.
_COUNTED = 10
_STARTS = 5
# Bins of places along a border, which are 0 and 1 at the centres of its clusters.
BINS = np.linspace(-1.5, 2.5, 129)
# Number of positions of points computed at a time, over all borders.
_AT_ONCE = 1 << 22


def split_of(rng: np.random.Generator, n: int, size: int) -> tuple[Ints, Bools]:
    """Draw a split of n points: those that are used, in increasing order, and which of all are the `size` first ones."""
    drawn = rng.permutation(n)[: (1 + _COUNTED) * size]
    first = np.zeros(n, dtype=np.bool_)
    first[drawn[:size]] = True
    return np.sort(drawn), first


@dataclass(frozen=True, eq=False)
class PartTests:
    """The tests of some borders in one split.

    P-values (n_pairs,), points at the peaks and in the valley between (n_pairs, 3), and points in each bin of the
    places along the border (n_pairs, n_bins), 0 unless these were asked for.
    """

    dip: Floats
    valley: Floats
    counts: Ints
    places: Ints


@dataclass(frozen=True, eq=False)
class Part:
    """One split of the points: a part A that was clustered, and the others, B.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_components)
        All points; axes of components are those of A.
    first : ndarray of bool of shape (n_samples,)
        Mask of the points in A.
    clusters : ndarray of int64 of shape (n_first,)
        Clusters of A, with the numbers of the matched clusters of the whole; clusters without a match come after
        these. Negative for points in no cluster.
    """

    points: Floats
    first: Bools
    clusters: Ints

    def tested(self, pairs: Ints, merged: Ints, *, placed: bool = False) -> PartTests:
        """Test borders between clusters.

        Parameters
        ----------
        pairs : ndarray of int64 of shape (n_pairs, 2)
            Pairs of clusters.
        merged : ndarray of int64 of shape (n_clusters,)
            Merged cluster of each cluster of all points.
        placed : bool, default=False
            Whether to count the points in bins of the places.
        """
        from scipy.special import bdtr

        labels = self.clusters.copy()
        matched_ones = (labels >= 0) & (labels < len(merged))
        labels[matched_ones] = merged[labels[matched_ones]]
        clusters = np.unique(labels[labels >= 0])
        number = np.full(max(int(clusters.max(initial=-1)) + 1, len(merged)), -1)
        number[clusters] = np.arange(len(clusters))
        borders = number[pairs]
        here = np.flatnonzero((borders >= 0).all(axis=1))
        m = len(pairs)
        counts, places = (np.zeros((m, k), dtype=np.int64) for k in (3, len(BINS) - 1))
        tests = PartTests(np.ones(m), np.ones(m), counts, places)
        if not len(here):
            return tests
        renumbered = np.where(labels >= 0, number[labels], -1)
        geometry = border_geometry(
            self.points, self.first, renumbered, len(clusters), estimated=True
        )
        tests.counts[here] = geometry.count(self.first, borders[here])
        n1, n2, n3 = tests.counts.T
        tests.valley[:] = np.maximum(*[bdtr(n2, n2 + peak, 0.5) for peak in (n1, n3)])
        step = max(1, _AT_ONCE // len(self.first))
        for begin in range(0, len(here), step):
            some = here[begin : begin + step]
            for b, positions in zip(some, geometry.places(self.first, borders[some]), strict=True):
                if len(positions):
                    dip = float(dips_of_rows(positions[None], 1)[0])
                    tests.dip[b] = dip_p_value(dip, len(positions))
                    if placed:
                        tests.places[b] = np.histogram(positions, BINS)[0]
        return tests


def matched(
    X: Floats, labels: Ints, n_clusters: int, first: Bools, clusters: Ints
) -> tuple[Part, float]:
    """Match the clusters of a part with those of all points, and measure their agreement.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters of the whole, negative for points in none.
    n_clusters : int
        Number of clusters.
    first : ndarray of bool of shape (n_samples,)
        Mask of the points in the part.
    clusters : ndarray of int64 of shape (n_first,)
        Clusters of the part, clustered by itself.

    Returns
    -------
    part : Part
        The split.
    agreement : float
        Share of the part's points in clusters whose cluster in the part is the matched one; 1 if it has no point
        in a cluster.
    """
    whole = labels[first]
    names, codes = np.unique(clusters, return_inverse=True)
    codes = np.where(names[codes] >= 0, codes - np.count_nonzero(names < 0), -1)
    n_found = int(codes.max(initial=-1)) + 1
    table = cross_counts(whole, codes, (n_clusters, n_found))
    number = n_clusters + np.arange(n_found)
    for k, c in enumerate(assign(table)):
        if c >= 0 and table[k, c] > 0:
            number[c] = k
    numbered = np.where(codes >= 0, number[codes], -1) if n_found else codes
    same = numbered[whole >= 0] == whole[whole >= 0]
    agreement = float(same.mean()) if len(same) else 1.0
    return Part(leading_components(X, first=first), first, numbered), agreement


def by_kmeans(n_clusters: int, threads: int) -> Clustering:
    """Return k-means given the number: the best of five greedy k-means++ starts."""

    def cluster(points: Floats, seed: np.random.SeedSequence) -> Ints:
        points = np.ascontiguousarray(leading_components(points))
        drawn = np.tile(np.arange(len(points), dtype=np.int32), (_STARTS, 1))
        seeds = np.array(spawn_seeds(seed, _STARTS), dtype=np.uint64)
        return run_kmeans(points, n_clusters, drawn, seeds, threads=threads).best_labels

    return cluster


def by_estimator(estimator: Any, n_clusters: int) -> Clustering:
    """Return a function that clusters points by the estimator, with the number of clusters if it takes one."""

    def cluster(points: Floats, seed: np.random.SeedSequence) -> Ints:
        model = clone(estimator)
        parameters = model.get_params(deep=False)
        name = next((name for name in ("n_clusters", "n_components") if name in parameters), None)
        if name is not None and _takes_number(model):
            model.set_params(**{name: n_clusters})
        if isinstance(parameters.get("verbose"), int):
            model.set_params(verbose=0)
        if "random_state" in parameters:
            model.set_params(random_state=spawn_seeds(seed, 1, bits=32)[0])
        with warnings.catch_warnings():
            # The warnings are about a part, which the user does not see.
            warnings.simplefilter("ignore", UserWarning)
            labels = (
                model.fit_predict(points)
                if hasattr(model, "fit_predict")
                else model.fit(points).predict(points)
            )
        return labels_of_estimator(labels, len(points), model).astype(np.int64)

    return cluster


def _takes_number(model: Any) -> bool:
    """Return whether a pipeline's consensus takes a number of clusters; True for any other estimator."""
    consensus = getattr(model, "consensus", None)
    if isinstance(consensus, str):
        method = method_named(consensus)
        return method is None or method.n_clusters != "emerges"
    parameters = getattr(consensus, "get_params", None)
    return parameters is None or "n_clusters" in parameters(deep=False)


def in_own_scale(
    model: Any, X: ArrayLike, n_samples: int, *, rows: str = "labels"
) -> tuple[Floats, Any]:
    """Return the points in the scale of a fitted model's members, and a model that does not scale them again.

    Parameters
    ----------
    model : estimator or None
        A fitted :class:`conclust.ConsensusClustering` of an :class:`conclust.EnsembleGenerator` has a scale; other
        estimators take the points as they are.
    X : array-like of shape (n_samples, n_features)
        The points.
    n_samples : int
        Required number of points.
    rows : str, default="labels"
        The word for them in errors.

    Returns
    -------
    points : ndarray of shape (n_samples, n_features)
        The points, scaled as a whole: the same linear map for all of them. Without a scale as they are; numbers
        whose squares are infinite or 0 are divided by a power of two.
    model : estimator or None
        Estimator that clusters parts of these points: an unfitted copy without scale, cache and progress;
        other estimators are returned as they are.

    Raises
    ------
    InputError
        If X does not have one row of finite numbers per object, or its features differ from those of the model.
    """
    generator = getattr(model, "generator_", None)
    if not isinstance(generator, EnsembleGenerator):
        points = np.asarray(read_features(X, n_samples, rows=rows), dtype=np.float64)
        return moderate(points)[0], model
    points = read_points(generator, X, reset=False)
    points = np.asarray(read_features(points, n_samples, rows=rows), dtype=np.float64)
    plain = clone(generator).set_params(scale=None, cache_dir=None, verbose=0)
    return scaled(points, generator.scaler_), clone(model).set_params(generator=plain)
