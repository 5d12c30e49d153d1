"""How a partition agrees with the members of an ensemble, and these with each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import check_option
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.derived import labels_of
from conclust.ensemble.ensemble import FEW_DRAWS, draws_in_rows
from conclust.ensemble.labels import over_clusters
from conclust.exceptions import InputError, OrientationWarning, warn
from conclust.measures.comparison import Average, mean_entropy, nmi_of
from conclust.measures.contingency import read_labels_beside, tabulate
from conclust.spectra.gram import gram_blocks, runs_of_partitions

Measure: TypeAlias = Literal["nmi", "ari"]
# "vi" is a distance: functions that want similarities do not take it.
Comparison: TypeAlias = Literal["nmi", "ari", "vi"]

# Maximum number of clusters times members in one pass.
_CELLS = 1 << 22
# Rows and columns that are looked at for draws, their minimum number, the mean adjusted Rand index from which they agree, and rows of columns.
_LOOKED_AT, _AGREEMENT, _ROWS = 40, 0.2, 1000
# Columns whose index is below this share of that of the rows do not agree as the rows do.
_CLEARLY_LESS = 0.7


def anmi(
    labels: ArrayLike, ensemble: Ensemble | ArrayLike, *, average: Average = "geometric"
) -> float:
    """Mean normalized mutual information of a partition with the members of an ensemble.

    Parameters
    ----------
    labels : (n_samples,) array-like of int or str
        The partition; objects missing from it are left out.
    ensemble : Ensemble or (n_samples, n_partitions) array-like
        The members; soft ones by their most probable clusters. Each counts by its weight times the number of objects that
        it and `labels` both observed.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        As for `normalized_mutual_information`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        If the lengths differ, a label is invalid, or no member shares an object with `labels`.
    ParameterError
        If `average` is not one of these.

    References
    ----------
    A. Strehl, J. Ghosh: Cluster ensembles. JMLR 3, 2002.

    Examples
    --------
    >>> from conclust.metrics import anmi
    >>> anmi([0, 0, 1, 1], [[0, 0], [0, 1], [1, 0], [1, 1]])
    0.5
    """
    check_option(average, "average", "anmi", Average)
    members = as_ensemble(ensemble).most_probable()
    codes, names = read_labels_beside(labels, ensemble, members.n_samples)
    weights = members.partition_weights
    terms: list[float] = []
    shares: list[float] = []
    for u in range(members.n_partitions):
        if weights[u] == 0:
            continue
        table = tabulate(codes, names, labels_of(members.codes[:, u]), members.names[u])
        if table is not None:
            shares.append(float(weights[u]) * table.n_samples)
            terms.append(shares[-1] * nmi_of(table, average))
    if not shares:
        raise InputError(
            "No member of the ensemble (of positive weight) observed an object of 'labels'."
        )
    return min(1.0, math.fsum(terms) / math.fsum(shares))


def partition_similarities(
    ensemble: Ensemble | ArrayLike, *, measure: Comparison = "nmi", average: Average = "geometric"
) -> Floats:
    """Compare all members of an ensemble with each other.

    Parameters
    ----------
    ensemble : Ensemble or (n_samples, n_partitions) array-like
        The members; soft ones by their most probable clusters. Any two are compared on the objects that both observed; noise is
        a cluster of one object. Weights are not used.
    measure : {"nmi", "ari", "vi"}, default="nmi"
        Normalized mutual information, adjusted Rand index, or variation of information: a distance, in bits, 0 for
        equal partitions.
    average : {"geometric", "arithmetic", "max", "min"}, default="geometric"
        For "nmi": as for `normalized_mutual_information`.

    Returns
    -------
    (n_partitions, n_partitions) float64
        Symmetric, with ones on the diagonal, for "vi" zeros; NaN for two members that share no object.

    Raises
    ------
    InputError
        If the labels are malformed.
    ParameterError
        If `measure` or `average` is not one of these.

    Notes
    -----
    Computed from the Gram matrix B'B, which contains the contingency tables of all pairs; for "vi", from these tables in turn.

    Examples
    --------
    >>> from conclust.metrics import partition_similarities
    >>> partition_similarities([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([[1., 0.],
           [0., 1.]])
    """
    check_option(measure, "measure", "partition_similarities", Comparison)
    check_option(average, "average", "partition_similarities", Average)
    members = as_ensemble(ensemble).most_probable()
    if measure == "vi":
        from conclust.measures.losses import all_losses

        return all_losses(members, "vi")
    shared = members.shared_counts
    similarities = (
        _all_nmi(members, shared, average) if measure == "nmi" else _all_ari(members, shared)
    )
    similarities = np.where(shared > 0, similarities, np.nan)
    np.fill_diagonal(similarities, 1.0)
    return similarities


def _per_pair(members: Ensemble, value: Callable[[Floats], Floats]) -> Floats:
    """Sum a value of each cell of the Gram matrix over each block (u, v)."""
    m = members.n_partitions
    partition_of = members.column_partitions
    sums = np.zeros((m, m))
    for block in gram_blocks(members):
        first, gram = block.partitions.start, block.gram
        rows = np.repeat(partition_of[block.rows] - first, np.diff(gram.indptr))
        some = block.partitions.stop - first
        cells = rows * m + partition_of[gram.indices]
        flat = np.bincount(cells, weights=value(gram.data), minlength=some * m)
        sums[block.partitions] = flat.reshape(some, m)
    return sums


def _per_member(
    members: Ensemble, shared: Floats, value: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Sum a value over the clusters of each member, for every other member (m, m).

    `value` receives the sizes of the clusters among the objects that the other member observed, and the
    number of objects that both observed. The result is (m, 1) where nothing is missing.
    """
    offsets, m = members.offsets, members.n_partitions
    width = m if members.has_missing else 1
    sizes = _sizes_of(members)
    sums = np.empty((m, width))
    for some, rows in runs_of_partitions(offsets, max(1, _CELLS // width)):
        bounds = offsets[some.start : some.stop + 1]
        cells = value(sizes(rows), over_clusters(shared[some, :width], bounds))
        total = rows.stop - rows.start
        blocks = sp.csr_array(
            (np.ones(total), np.arange(total), bounds - bounds[0]), shape=(len(bounds) - 1, total)
        )
        sums[some] = blocks @ cells
    return sums


def _sizes_of(members: Ensemble) -> Callable[[slice], Floats]:
    """Return a function of clusters that gives their sizes among the objects that each member observed."""
    if not members.has_missing:
        return lambda rows: members.cluster_sizes[rows, None]
    if not members.is_held:
        return lambda rows: members.observed_sizes[rows]
    # With many clusters, the sizes are not stored all at once.
    clusters = sp.csr_array(members.indicator.T)
    present = members.present.astype(np.float64)
    return lambda rows: np.asarray(clusters[rows] @ present)


def _all_nmi(members: Ensemble, shared: Floats, average: Average) -> Floats:
    from scipy.special import xlogy

    # Noise objects, being clusters of one, enter by log n alone: 1 log 1 = 0.
    n: Floats = np.maximum(shared, 1.0)
    entropies = (
        np.log(n) - _per_member(members, shared, lambda size, _: np.asarray(xlogy(size, size))) / n
    )
    other = entropies.T
    joint = _per_pair(members, lambda gram: np.asarray(xlogy(gram, gram))) / n
    mutual = entropies + other - (np.log(n) - joint)
    single = _per_member(members, shared, lambda size, all_: (size == all_).astype(np.float64)) > 0
    single = single | (shared <= 1)
    trivial = single | single.T
    mean = np.where(
        trivial, 1.0, mean_entropy(np.maximum(entropies, 0.0), np.maximum(other, 0.0), average)
    )
    nmi = np.clip(mutual / mean, 0.0, 1.0)
    nmi[trivial] = 0.0
    nmi[single & single.T] = 1.0
    return (nmi + nmi.T) / 2


def _all_ari(members: Ensemble, shared: Floats) -> Floats:
    both = _per_pair(members, lambda gram: gram * (gram - 1) / 2)
    pair_counts = _per_member(members, shared, lambda size, _: size * (size - 1) / 2)
    n_pairs = shared * (shared - 1) / 2
    # 0 / 0: both members are one cluster, or both all single objects.
    none, all_pairs = pair_counts == 0, pair_counts == n_pairs
    same = (none & none.T) | (all_pairs & all_pairs.T)
    expected = pair_counts * pair_counts.T / np.maximum(n_pairs, 1.0)
    most = (pair_counts + pair_counts.T) / 2
    return np.where(same, 1.0, (both - expected) / np.where(same, 1.0, most - expected))


def warn_of_draws_in_rows(ensemble: Ensemble) -> None:
    """Warn if the rows of labels agree as partitions of the columns, as draws do, and the columns do not.

    Rows and columns with one label say nothing, and draws have no missing labels. Labels that number their clusters by first
    appearance in each row are not looked at: `Ensemble` warns of them.
    """
    n, m = ensemble.shape
    if _draws_are_rows(ensemble, n, m):
        warn(
            f"The labels are read as {n} objects in {m} partitions, but their rows agree as partitions of the columns, and their "
            "columns do not as partitions of the rows. If each row is a draw, use Ensemble.from_draws(labels).",
            OrientationWarning,
        )


def _draws_are_rows(ensemble: Ensemble, n: int, m: int) -> bool:
    if ensemble.is_soft or min(n, m) < FEW_DRAWS or ensemble.missing_counts.any():
        return False
    if ensemble.weights is not None:  # of the columns, so that these are known to be the partitions
        return False
    if not all(isinstance(name, int) for names in ensemble.names for name in names):
        return False
    rows, columns = (np.linspace(0, k - 1, min(k, _LOOKED_AT), dtype=np.int64) for k in (n, m))
    labels = labels_of(ensemble.codes[rows])
    for u, names in enumerate(ensemble.names):
        clusters = labels[:, u] >= 0
        labels[clusters, u] = np.array(names, dtype=np.int64)[labels[clusters, u]]
    if draws_in_rows(labels, *labels.shape):
        return False
    as_draws = _mean_similarity(labels.T)
    if not as_draws > _AGREEMENT:
        return False
    some = np.linspace(0, n - 1, min(n, _ROWS), dtype=np.int64)
    as_objects = _mean_similarity(labels_of(ensemble.codes[some][:, columns]))
    return bool(np.isnan(as_objects) or as_objects < _CLEARLY_LESS * as_draws)


def _mean_similarity(labels: Ints) -> float:
    """Return the mean adjusted Rand index of columns of labels that have several; NaN if they are few."""
    several = labels[:, (labels != labels[0]).any(axis=0)]
    if several.shape[1] < FEW_DRAWS // 2:
        return np.nan
    # Above 1, because Ensemble looks for draws among labels that begin with 0 or 1.
    partitions = Ensemble(np.where(several < 0, several, several + 2))
    similarities = partition_similarities(partitions, measure="ari")
    return float(np.nanmean(similarities[np.triu_indices(len(similarities), 1)]))
