"""Computes the consensus of the resamples of one K and its row of the table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from conclust._random import generator
from conclust._types import Floats, Ints
from conclust.consensus.linkage import EAC, cut
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import EvidenceWarning, InputError
from conclust.placing import shared_clusterings
from conclust.selection.judged.criteria import (
    Matrices,
    error_of_mean,
    groups_of,
    jackknife,
    matrix_criteria,
    mean_ari,
    mean_of,
    pair_criteria,
    sharp_counts,
    sharp_score,
    upper,
)
from conclust.selection.judged.pairs import (
    PairCounts,
    count_all,
    count_some,
    sample_of_pairs,
    table_of,
)

_ROWS_AT_ONCE = 1 << 16
# Maximum numbers of objects for standard errors over pairs, and for silhouettes of points.
_SQUARE = 250
_WIDTHS = 1000


@dataclass(frozen=True)
class Design:
    """The pairs and objects that are examined, the same for every K.

    Attributes
    ----------
    n_samples : int
        Objects.
    part : ndarray of shape (n_part,) or None
        Objects whose pairs are examined one by one, if not all.
    pairs : (i, j) or None
        Pairs of the distribution function, if not all.
    window : (u1, u2)
        Limits of PAC.
    n_jobs : int
        Threads.
    """

    n_samples: int
    part: Ints | None
    pairs: tuple[Ints, Ints] | None
    window: tuple[Fraction, Fraction]
    n_jobs: int

    @classmethod
    def draw(
        cls,
        n: int,
        *,
        max_dense: int,
        n_pairs: int,
        window: tuple[Fraction, Fraction],
        n_jobs: int,
        seed: np.random.SeedSequence,
    ) -> Design:
        """Draw objects and pairs if there are more than `max_dense` objects.

        Parameters
        ----------
        n : int
            Number of objects.
        max_dense : int
            Maximum number of objects for which all pairs are counted.
        n_pairs : int
            Number of pairs to sample above that limit.
        window : tuple of Fraction
            Shares that are ambiguous.
        n_jobs : int
            Threads.
        seed : SeedSequence
            Source of the sample.
        """
        if n <= max_dense:
            return cls(n, None, None, window, n_jobs)
        rng = generator(seed)
        part = np.sort(rng.choice(n, size=max_dense, replace=False, shuffle=False))
        return cls(n, part, sample_of_pairs(n, n_pairs, rng), window, n_jobs)

    def count(self, ensemble: Ensemble) -> PairCounts:
        """Count the pairs."""
        if self.pairs is None:
            return count_all(ensemble, self.n_jobs)
        return count_some(ensemble, self.pairs, self.n_jobs)


@dataclass(frozen=True, eq=False)
class Consensus:
    """A tree of the objects, or of a part of them.

    Attributes
    ----------
    ensemble : Ensemble
        The resamples.
    rows : ndarray of shape (n_leaves,)
        Objects that are the leaves.
    tree : ndarray of shape (n_leaves - 1, 4)
        Average linkage on 1 - c / N.
    """

    ensemble: Ensemble
    rows: Ints
    tree: Floats

    def cut(self, k: int) -> Ints:
        """Return labels of all objects: those that are not leaves join the cluster with which they co-occur most.

        -1: no resample drew the object.
        """
        labels = np.full(self.ensemble.n_samples, -1, dtype=np.int64)
        labels[self.rows] = cut(self.tree, min(k, len(self.rows)))
        others = np.flatnonzero(self.ensemble.observed & (labels < 0))
        if len(others):
            some, row_labels = _part_of(self.ensemble, self.rows), labels[self.rows]
            for begin in range(0, len(others), _ROWS_AT_ONCE):
                rows = others[begin : begin + _ROWS_AT_ONCE]
                shares = shared_clusterings(some, row_labels, self.ensemble.labels[rows])
                placed = np.isfinite(shares).any(axis=1)
                labels[rows[placed]] = np.nanargmax(shares[placed], axis=1)
        return labels


def consensus_of(ensemble: Ensemble, design: Design) -> Consensus:
    """Grow the tree of the objects, or of a part of them if there are too many for a matrix."""
    rows = np.flatnonzero(ensemble.observed)
    if design.part is not None:
        rows = np.intersect1d(rows, design.part, assume_unique=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # pairs that no resample drew together
        model = EAC(1, linkage="average", max_dense=len(rows), n_jobs=design.n_jobs)
        tree = model.fit(_part_of(ensemble, rows)).linkage_matrix_
    return Consensus(ensemble, rows, tree)


def _part_of(ensemble: Ensemble, rows: Ints) -> Ensemble:
    """Return the resamples of some objects; all columns are kept."""
    if len(rows) == ensemble.n_samples:
        return ensemble
    labels = ensemble.labels[rows]
    # A resample that drew none of them: one noise object carries no information about any pair.
    unseen = (labels == MISSING).all(axis=0)
    labels[0, unseen] = NOISE
    return Ensemble(labels)


@dataclass(frozen=True, eq=False)
class Measured:
    """The results for one K: its consensus, its pairs, its criteria with standard errors.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The consensus; -1 for objects that no resample drew.
    tree : ndarray of shape (n_leaves - 1, 4)
        Its dendrogram.
    rows : ndarray of shape (n_leaves,)
        The objects that are its leaves.
    counts : PairCounts
        The distribution of c / N.
    values, errors : dict of float
        By the name of the criterion; NaN where there is none.
    areas : ndarray
        The area with each group of resamples left out.
    """

    labels: Ints
    tree: Floats
    rows: Ints
    counts: PairCounts
    values: dict[str, float]
    errors: dict[str, float]
    areas: Floats


def measure(
    ensemble: Ensemble,
    k: int,
    design: Design,
    *,
    consensus: Consensus | None = None,
    points: Floats | None = None,
    shared: bool = False,
) -> Measured:
    """Compute the criteria of the resamples of one K.

    Parameters
    ----------
    ensemble : Ensemble
        Its resamples.
    k : int
        Clusters of the consensus.
    design : Design
        Pairs and objects that are examined.
    consensus : Consensus, default=None
        The tree, where one serves several K. None: grown here.
    points : ndarray of shape (n_samples, r), default=None
        The points, for the silhouette among them.
    shared : bool, default=False
        Whether the ensemble serves all K: members are then compared with the consensus of each K, not
        with each other, which would be the same for all.
    """
    tree = consensus_of(ensemble, design) if consensus is None else consensus
    labels = tree.cut(k)
    m = ensemble.n_partitions
    sharp = sharp_counts(ensemble, labels)
    agreement = mean_ari(ensemble, labels if shared else None)
    examined = tree.rows
    whole = Matrices.of(_part_of(ensemble, examined), labels[examined], design.n_jobs)
    if len(examined) == design.n_samples:
        counts = table_of(whole.counts, whole.copresence, m)
    else:
        counts = design.count(ensemble)

    def criteria(kept: Ints, pairs: PairCounts, square: Matrices) -> dict[str, float]:
        compared = agreement[kept] if shared else upper(agreement[np.ix_(kept, kept)])
        return {
            **pair_criteria(pairs, design.window),
            "sharp": sharp_score(sharp, kept),
            "mean_ari": mean_of(compared),
            **matrix_criteria(square),
        }

    everything = np.arange(m)
    values = criteria(everything, counts, whole)
    # Standard errors of criteria over pairs, from the pairs of at most _SQUARE objects.
    some = _spaced(len(examined), _SQUARE)
    square = whole.of_some(some)
    some_labels = ensemble.labels[examined[some]]
    without = []
    for group in groups_of(m):
        left = square.without(some_labels[:, group])
        pairs = table_of(left.counts, left.copresence, m)
        if not pairs.n_pairs:
            raise InputError(
                f"Standard errors come from leaving out each partition in turn. With K = {k} and without partition "
                f"{', '.join(map(str, group))} there are no two objects that a partition observed: pass partitions "
                "that observe more of the objects."
            )
        without.append(criteria(np.setdiff1d(everything, group), pairs, left))
    errors = {name: jackknife(np.array([one[name] for one in without])) for name in values}
    widths = _widths(points, labels, examined)
    values["silhouette_points"], errors["silhouette_points"] = (
        mean_of(widths),
        error_of_mean(widths),
    )
    sizes = np.bincount(labels[labels >= 0])
    values["smallest_cluster"] = float(sizes.min())
    values["resamples_with_k"] = float(np.mean(np.diff(ensemble.offsets) >= k))
    areas = np.array([one["area"] for one in without])
    return Measured(labels, tree.tree, tree.rows, counts, values, errors, areas)


def _spaced(n: int, most: int) -> Ints:
    """Return at most `most` of n indices, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(most, n)).astype(np.int64))


def _widths(points: Floats | None, labels: Ints, rows: Ints) -> Floats:
    """Return the silhouette widths of at most _WIDTHS points; none if there are no two clusters."""
    rows = rows[_spaced(len(rows), _WIDTHS)]
    if points is None or not 1 < len(np.unique(labels[rows])) < len(rows):
        return np.empty(0)
    from sklearn.metrics import silhouette_samples

    return np.asarray(silhouette_samples(points[rows], labels[rows]))
