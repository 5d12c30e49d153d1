"""Correspondence of the clusters of two partitions: the assignment problem."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from conclust._arrays.containers import check_row_names, identifiers
from conclust._arrays.rows import cross_counts, ratio
from conclust._types import Bools, Floats, Ints
from conclust._validation import shown
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import InputError
from conclust.measures.contingency import Contingency, contingency, read_labels

# Maximum number of names in the repr of ClusterNames.
_SHOWN_NAMES = 10
_LARGEST_NUMBER = 1 << 62

DENSE_CELLS = 2**22


def best_matching(table: Contingency) -> tuple[Ints, Ints]:
    """Match clusters one to one so that matched clusters share the most objects.

    Parameters
    ----------
    table : Contingency
        The contingency table of two partitions.

    Returns
    -------
    rows, columns : (n_matched,) int64
        Matched clusters, rows in increasing order. Small tables are matched in full,
        n_matched = min(n_rows, n_columns), even where a pair has no object in common; very large
        ones only where it has.

    Notes
    -----
    Exact: the rectangular assignment of scipy on the dense table up to 4 million cells, its
    sparse form on the cells that are not empty beyond.

    Examples
    --------
    >>> from conclust.measures.contingency import contingency
    >>> from conclust.measures.matching import best_matching
    >>> rows, columns = best_matching(contingency([0, 0, 1, 1, 1], [0, 1, 1, 1, 1]))
    >>> rows, columns
    (array([0, 1]), array([0, 1]))
    """
    if table.shape[0] * table.shape[1] <= DENSE_CELLS:
        return _largest_sum(table.table)
    return _sparse_matching(table)


def assign(benefit: ArrayLike) -> Ints:
    """Assign a different column to every row so that the sum of benefits is maximal.

    Parameters
    ----------
    benefit : (n_rows, n_columns) array-like of float
        Benefit of giving row r column c; may be negative.

    Returns
    -------
    (n_rows,) int64
        The column of each row; -1 for the rows left over where there are more rows than columns.

    Examples
    --------
    >>> from conclust.measures.matching import assign
    >>> assign([[3.0, 2.0], [2.0, 0.0], [1.0, 0.0]])
    array([ 1,  0, -1])
    """
    table = np.asarray(benefit, dtype=np.float64)
    rows, columns = _largest_sum(table)
    column_of = np.full(table.shape[0], -1, dtype=np.int64)
    column_of[rows] = columns
    return column_of


def _largest_sum(benefit: NDArray[Any]) -> tuple[Ints, Ints]:
    from scipy.optimize import linear_sum_assignment  # imported only when clusters are matched

    rows, columns = linear_sum_assignment(benefit, maximize=True)
    return rows.astype(np.int64), columns.astype(np.int64)


def _sparse_matching(table: Contingency) -> tuple[Ints, Ints]:
    n_rows, n_columns = table.shape
    # If several clusters lie within one cluster of the other side, only the largest can be matched with it.
    worth_matching = _worth_matching(table.rows, table.columns, table.counts, n_rows)
    worth_matching &= _worth_matching(table.columns, table.rows, table.counts, n_columns)
    rows, columns, counts = (
        table.rows[worth_matching],
        table.columns[worth_matching],
        table.counts[worth_matching],
    )
    used, position = np.unique(rows, return_inverse=True)
    # The sparse solver matches every row, so each row gets its own column that means "none".
    # Weights must not be zero, so they are shifted by one.
    unmatched = np.arange(used.size)
    weights = csr_array(
        (
            np.concatenate([counts + 1.0, np.ones(used.size)]),
            (
                np.concatenate([position, unmatched]),
                np.concatenate([columns, n_columns + unmatched]),
            ),
        ),
        shape=(used.size, n_columns + used.size),
    )
    # SciPy 1.13 accepts only 32-bit indices, and does not convert wider ones.
    weights.indptr, weights.indices = (
        weights.indptr.astype(np.int32),
        weights.indices.astype(np.int32),
    )
    matched, partner = min_weight_full_bipartite_matching(weights, maximize=True)
    real = partner < n_columns
    return used[matched[real]], partner[real].astype(np.int64)


def _worth_matching(clusters: Ints, partners: Ints, counts: Ints, n: int) -> Bools:
    inside: Bools = np.bincount(clusters, minlength=n)[clusters] == 1
    index = np.flatnonzero(inside)
    order = index[np.lexsort((clusters[index], -counts[index], partners[index]))]
    first = np.ones(order.size, dtype=bool)
    first[1:] = partners[order][1:] != partners[order][:-1]
    worth: Bools = ~inside
    worth[order[first]] = True
    return worth


def match(reference: ArrayLike, labels: ArrayLike) -> dict[Hashable, Hashable]:
    """Find the label of a reference partition that corresponds to each label of another.

    The correspondence is one to one, and maximises the number of objects that get the name that they have in the reference (the
    assignment problem on the contingency table). Every name of the reference is assigned, if necessary to a cluster that shares
    no object with it. If `labels` has more clusters than `reference`, the remaining clusters get new names: the integers after
    the largest of the reference, or ``"new 1"``, ``"new 2"``, ... if its names are not integers.

    Parameters
    ----------
    reference : (n_samples,) array-like
        The partition that gives the names.
    labels : (n_samples,) array-like
        Partition to be renamed. Objects missing (-1, NaN, None) from either are ignored; noise (-2) has no name and
        no correspondence.

    Returns
    -------
    dict
        The new name of every label of `labels`, in order of first appearance.

    Raises
    ------
    InputError
        If the two differ in length, are empty, not 1-D, hold values that are not labels, or share no
        object.

    Examples
    --------
    >>> from conclust.measures.matching import match
    >>> match(["a", "a", "b", "b", "b"], [7, 7, 5, 5, 6])
    {7: 'a', 5: 'b', 6: 'new 1'}
    """
    table = contingency(reference, labels)
    _, names = read_labels(labels, "labels")
    # All names: the table lacks clusters without an object that both partitions observed.
    _, reference_names = read_labels(reference, "reference")
    counterparts: dict[Hashable, Hashable] = {}
    for row, column in zip(*best_matching(_without_noise(table)), strict=True):
        counterparts[table.column_labels[column]] = table.row_labels[row]
    used = set(counterparts.values())
    free = [name for name in reference_names if name not in used]
    fresh = _new_names(reference_names)
    for name in names:
        if name not in counterparts:
            counterparts[name] = free.pop(0) if free else next(fresh)
    return {name: counterparts[name] for name in names}


def relabel(reference: ArrayLike, labels: ArrayLike) -> NDArray[Any]:
    """Rename the clusters of a partition after the corresponding clusters of a reference.

    Parameters
    ----------
    reference : (n_samples,) array-like
        The partition that gives the names.
    labels : (n_samples,) array-like
        The partition to be renamed; see :func:`match`.

    Returns
    -------
    (n_samples,) array
        int64 where the names of the reference are integers, else object. Missing objects are -1
        (None among names that are not integers), noise is -2.

    Raises
    ------
    InputError
        As for :func:`match`.

    Examples
    --------
    >>> from conclust.measures.matching import relabel
    >>> relabel([0, 0, 1, 1, 2], [5, 5, 9, 5, -1])
    array([ 0,  0,  1,  0, -1])
    """
    counterparts = match(reference, labels)
    codes, names = read_labels(labels, "labels")
    new = [counterparts[name] for name in names]
    whole = all(isinstance(name, int) for name in new)
    # positions -2 and -1 of the lookup are the codes of noise and of missing
    lookup = np.empty(len(new) + 2, dtype=np.int64 if whole else object)
    lookup[: len(new)] = new
    lookup[NOISE] = NOISE
    lookup[MISSING] = MISSING if whole else None
    return lookup[codes]


def labels_like(
    previous: ArrayLike,
    labels: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    previous_ids: ArrayLike | None = None,
    first_new: int | None = None,
) -> Ints:
    """Restore the previous numbers of clusters; new clusters get new numbers.

    This is for a clustering that is repeated while objects come and go. Clusters are matched one to one so that they share the
    most objects (the assignment problem), and each keeps the number of its previous cluster if the two share at least half of
    the objects of the smaller one. All other clusters are new; the number of a cluster that has disappeared is not used again.

    Parameters
    ----------
    previous : (n_samples,) or (n_previous,) array-like of int
        Previous numbers of the clusters, at least 0. -1, NaN, None: the object is new, or was in no cluster.
    labels : (n_samples,) array-like
        The current clusters, as numbers or names. Missing objects (-1, NaN, None) stay -1, noise stays -2.
    ids : (n_samples,) array-like of hashable, default=None
        Identifiers of the objects of `labels`. None: `previous` has the same objects in the same order.
    previous_ids : (n_previous,) array-like of hashable, default=None
        Identifiers of the objects of `previous`; together with `ids`.
    first_new : int, default=None
        Smallest number for new clusters; larger than all of `previous`. None: the largest of `previous` and 1.
        If clusters may have disappeared before the previous run, pass the largest number ever used plus 1.

    Returns
    -------
    (n_samples,) ndarray of int64
        The partition of `labels`, with other numbers. New clusters are numbered by first appearance.

    Raises
    ------
    InputError
        If numbers of `previous` are not whole or negative, lengths differ, identifiers occur twice, only one of the two
        is text, or `first_new` is in use.

    See Also
    --------
    relabel : The same with names, where every name of the reference is used.
    conclust.to_frame : A frame with these numbers, in the names of the memberships too.

    Examples
    --------
    >>> from conclust.metrics import labels_like
    >>> labels_like([4, 4, 4, 7, 7, 7, -1, -1], [1, 1, 1, 0, 0, 0, 2, 2])
    array([4, 4, 4, 7, 7, 7, 8, 8])
    >>> labels_like([4, 4, 7], ["x", "y", "x"], ids=["c", "d", "a"], previous_ids=["a", "b", "d"])
    array([4, 7, 4])
    """
    before, largest = _numbers_before(previous, labels, ids, previous_ids)
    codes, names = read_labels(labels, "labels")
    used = np.unique(before[before >= 0])
    fresh = largest + 1
    if first_new is not None:
        if not isinstance(first_new, int | np.integer) or not fresh <= first_new < _LARGEST_NUMBER:
            raise InputError(
                f"'first_new' must be a whole number from {fresh} on, above all numbers of 'previous', and below 2^62. "
                f"Got {shown(first_new)} instead."
            )
        fresh = int(first_new)
    n_clusters = len(names)
    numbers = np.full(n_clusters, -1, dtype=np.int64)
    if len(used) and n_clusters:
        place = np.where(before >= 0, np.searchsorted(used, before), -1)
        table = cross_counts(place, codes, (len(used), n_clusters))
        old_sizes = np.bincount(place[place >= 0], minlength=len(used))
        sizes = np.bincount(codes[codes >= 0], minlength=n_clusters)
        lasting = 2 * table >= np.minimum(old_sizes[:, None], sizes[None, :])
        rows, columns = _largest_sum(np.where(lasting, table, 0))
        lasts = lasting[rows, columns] & (table[rows, columns] > 0)
        numbers[columns[lasts]] = used[rows[lasts]]
    new = numbers < 0
    numbers[new] = fresh + np.arange(int(new.sum()))
    renumbered = codes.copy()
    renumbered[codes >= 0] = numbers[codes[codes >= 0]]
    return renumbered


def _numbers_before(
    previous: ArrayLike, labels: ArrayLike, ids: ArrayLike | None, previous_ids: ArrayLike | None
) -> tuple[Ints, int]:
    """Return the previous number of each current object, -1 if it had none, and the largest number of any object."""
    codes, names = read_labels(previous, "previous")
    if not all(isinstance(name, int) for name in names):
        raise InputError(
            "'previous' must hold whole numbers. For names use conclust.metrics.relabel, which gives away the names of "
            "a reference."
        )
    numbers = np.where(codes >= 0, np.array([*names, 0, 0], dtype=np.int64)[codes], -1)
    largest = max(-1, int(numbers.max(initial=-1)))
    if largest >= _LARGEST_NUMBER:
        raise InputError(f"The numbers of 'previous' must be below 2^62. Got {largest}.")
    n = len(read_labels(labels, "labels")[0])
    if (ids is None) != (previous_ids is None):
        raise InputError("'ids' and 'previous_ids' go together: give both, or none.")
    if ids is None or previous_ids is None:
        if len(numbers) != n:
            raise InputError(
                f"'previous' and 'labels' must be of the same objects. Got {len(numbers)} and {n}. Objects that come or "
                "go are matched by 'ids' and 'previous_ids'."
            )
        check_row_names({"previous": previous, "labels": labels}, named_only=True)
        return numbers, largest
    now, then = (
        _identifiers(ids, "ids", n),
        _identifiers(previous_ids, "previous_ids", len(numbers)),
    )
    are_text = [{isinstance(one, str) for one in each} for each in (now, then)]
    if sorted(map(list, are_text)) == [[False], [True]]:
        raise InputError(
            f"One of 'ids' and 'previous_ids' is text and the other is not, {shown(now[0])} and {shown(then[0])} for "
            "instance, so that no object is in both: give them in the same form."
        )
    number_of = dict(zip(then, numbers.tolist(), strict=True))
    return np.array([number_of.get(one, -1) for one in now], dtype=np.int64), largest


def _identifiers(ids: Any, name: str, n: int) -> list[Any]:
    names = identifiers(ids, name)
    if len(names) != n:
        raise InputError(
            f"{name!r} must be one identifier per object, {n} in total. Got {len(names)}."
        )
    if len(set(names)) < n:
        raise InputError(f"{name!r} must be different. {n - len(set(names))} of them are repeated.")
    return names


@dataclass(frozen=True)
class ClusterNames:
    """Names of clusters after classes, with the shares that justify them.

    Attributes
    ----------
    names : tuple of str
        A name for each cluster, no two alike.
    shares : ndarray of shape (n_clusters,)
        Share of the class that gives the name among the objects of the cluster that have a class; NaN where
        none has.
    ties : tuple of tuple of str
        For each cluster the classes with the largest share, if there are several; the first of them gives
        the name. Empty for most.
    labels : ndarray of object of shape (n_samples,)
        The name for each object; None for one in no cluster.
    """

    names: tuple[str, ...]
    shares: Floats
    ties: tuple[tuple[str, ...], ...]
    labels: NDArray[Any]

    def __repr__(self) -> str:
        parts = [
            f"{name} ({share:.2f})" for name, share in zip(self.names, self.shares, strict=True)
        ]
        more = ", ..." if len(parts) > _SHOWN_NAMES else ""
        return f"ClusterNames({', '.join(parts[:_SHOWN_NAMES])}{more})"


def names_from(labels: ArrayLike, classes: ArrayLike) -> ClusterNames:
    """Name clusters after the classes that have the largest share in them.

    A consensus has new labels. This function gives them meaningful names: those of an annotation, of known classes, or of one
    of the partitions. :func:`match` uses each name once, so some clusters get names of classes that they hardly contain; here
    clusters of the same class are numbered.

    Parameters
    ----------
    labels : (n_samples,) array-like
        The clusters. Missing objects (-1, NaN, None) and noise (-2) are in none.
    classes : (n_samples,) array-like
        The classes; objects without a class, and noise, are ignored.

    Returns
    -------
    ClusterNames
        A name for each cluster, in increasing order of the labels (in order of first appearance if these are not all whole
        numbers). If several clusters belong to one class, the cluster with the most objects of the class gets its name, and the
        others "name 2", "name 3", ... A cluster without an object of any class is "cluster k".

    Raises
    ------
    InputError
        If the two differ in length, are empty, not 1-D, or hold values that are not labels.

    Examples
    --------
    >>> from conclust.metrics import names_from
    >>> named = names_from([0, 0, 0, 1, 1, 2, 2], ["T", "T", "B", "B", "B", "T", "NK"])
    >>> named.names
    ('T', 'B', 'T 2')
    >>> named.shares.round(2), named.ties
    (array([0.67, 1.  , 0.5 ]), ((), (), ('T', 'NK')))
    """
    check_row_names({"labels": labels, "classes": classes}, named_only=True)
    codes, clusters = read_labels(labels, "labels")
    groups, class_names = read_labels(classes, "classes")
    if codes.size != groups.size:
        raise InputError(
            f"Labels and classes must be of the same objects. Got {codes.size} labels and {groups.size} classes."
        )
    if all(isinstance(cluster, int) for cluster in clusters):
        order = np.argsort(np.array(clusters, dtype=np.int64))
    else:
        order = np.arange(len(clusters))
    place = np.argsort(order)
    table = cross_counts(codes, groups, (len(clusters), max(1, len(class_names))))[order]
    most, total = table.max(axis=1), table.sum(axis=1)
    texts = [str(name) for name in class_names]
    ties = tuple(
        tuple(texts[c] for c in np.flatnonzero(row == top))
        if top and (row == top).sum() > 1
        else ()
        for row, top in zip(table, most, strict=True)
    )
    shares = ratio(most, total, np.nan)
    names = _numbered(table, texts, [str(clusters[c]) for c in order])
    named = np.array([*names, None, None], dtype=object)
    numbers = np.where(codes >= 0, place[np.maximum(codes, 0)] if len(place) else 0, len(clusters))
    return ClusterNames(names, shares, ties, named[numbers])


def _numbered(table: Ints, texts: list[str], clusters: list[str]) -> tuple[str, ...]:
    """Return the class with the largest count for each row, numbered if several rows have the same class."""
    best, most = table.argmax(axis=1), table.max(axis=1)
    names = [f"cluster {cluster}" for cluster in clusters]
    taken = {texts[c] for c in best[most > 0]}
    given: set[str] = set()
    last: dict[str, int] = {}
    for k in np.argsort(-most, kind="stable").tolist():
        name = texts[best[k]] if most[k] else names[k]
        if name in given or (not most[k] and name in taken):
            numbers = count(last.get(name, 1) + 1)
            last[name], name = next(
                (i, text) for i in numbers if (text := f"{name} {i}") not in taken
            )
        given.add(name)
        taken.add(name)
        names[k] = name
    return tuple(names)


def _without_noise(table: Contingency) -> Contingency:
    """Return the table with the cells of noise emptied: noise corresponds to nothing."""
    row_noise = np.array([name == NOISE for name in table.row_labels])
    column_noise = np.array([name == NOISE for name in table.column_labels])
    if not (row_noise.any() or column_noise.any()):
        return table
    # Noise comes after all clusters (contingency), so that dropping it shifts no index.
    n_rows, n_columns = int((~row_noise).sum()), int((~column_noise).sum())
    not_noise = (table.rows < n_rows) & (table.columns < n_columns)
    return Contingency(
        rows=table.rows[not_noise],
        columns=table.columns[not_noise],
        counts=table.counts[not_noise],
        row_sizes=table.row_sizes[:n_rows],
        column_sizes=table.column_sizes[:n_columns],
        row_labels=table.row_labels[:n_rows],
        column_labels=table.column_labels[:n_columns],
        n_samples=table.n_samples,
    )


def _new_names(names: tuple[Hashable, ...]) -> Any:
    whole = [name for name in names if isinstance(name, int)]
    if len(whole) == len(names):
        return count(max(whole, default=-1) + 1)
    return (name for i in count(1) if (name := f"new {i}") not in names)
