"""The lattice of the partitions of n objects, ordered by refinement: on label vectors of any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from conclust._arrays.containers import check_row_names
from conclust._types import Ints
from conclust.ensemble.labels import MISSING, NOISE, canonical_labels
from conclust.exceptions import InputError
from conclust.measures.contingency import read_labels


def meet(*partitions: ArrayLike) -> Ints:
    """Coarsest partition that is finer than all of the given ones.

    Two objects are together in it where all partitions put them together.

    Parameters
    ----------
    *partitions : array-like of shape (n_samples,)
        At least one array of labels; numbers or names. Noise (-2) is a cluster of one object. The columns
        of a label matrix are ``meet(*labels.T)``.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Labels, consecutive from 0 by first appearance.

    Raises
    ------
    InputError
        If there is no partition, the lengths differ or an object is missing from one: the meet of
        incomplete partitions is not defined.

    References
    ----------
    A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Definition 2.

    Examples
    --------
    >>> from conclust.lattice import meet
    >>> meet([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    array([0, 0, 1, 2, 2])
    """
    labels, *others = _read_partitions(partitions, "meet")
    for other in others:
        labels = canonical_labels(labels * (int(other.max()) + 1) + other)
    return labels


def join(*partitions: ArrayLike) -> Ints:
    """Finest partition that is coarser than all of the given ones.

    Two objects are together in it if a chain of objects leads from one to the other, and each two
    neighbours in the chain are together in some partition.

    Parameters
    ----------
    *partitions : array-like of shape (n_samples,)
        At least one array of labels; numbers or names. Noise (-2) is a cluster of one object.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        Labels, consecutive from 0 by first appearance.

    Raises
    ------
    InputError
        If there is no partition, the lengths differ or an object is missing from one.

    References
    ----------
    A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Definition 2.

    Examples
    --------
    >>> from conclust.lattice import join
    >>> join([0, 0, 1, 2, 3], [0, 1, 1, 2, 2])
    array([0, 0, 0, 1, 1])
    """
    labels, *others = _read_partitions(partitions, "join")
    for other in others:
        # Clusters of the two are joined where they share an object.
        k, total = int(labels.max()) + 1, int(labels.max() + other.max()) + 2
        shared = coo_array((np.ones(len(labels)), (labels, k + other)), shape=(total, total))
        labels = canonical_labels(connected_components(shared, directed=False)[1][labels])
    return labels


def is_finer(a: ArrayLike, b: ArrayLike) -> bool:
    """Return whether every cluster of `a` lies within a cluster of `b` (equal partitions included).

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels, numbers or names. Noise (-2) is a cluster of one object.

    Returns
    -------
    bool
        True where ``meet(a, b)`` is `a`, and ``join(a, b)`` is `b`.

    Raises
    ------
    InputError
        If the lengths differ or an object is missing from one.

    References
    ----------
    A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Definition 3.

    Examples
    --------
    >>> from conclust.lattice import is_finer
    >>> is_finer([0, 0, 1, 2], [0, 0, 1, 1]), is_finer([0, 0, 1, 1], [0, 0, 1, 2])
    (True, False)
    """
    fine, coarse = _read_partitions((a, b), "is_finer")
    _, first = np.unique(fine, return_index=True)
    return bool((coarse == coarse[first][fine]).all())


def _read_partitions(partitions: Sequence[ArrayLike], owner: str) -> list[Ints]:
    """Return complete labels of equal length, numbered by first appearance."""
    if not partitions:
        raise InputError(f"{owner} needs at least one partition. Got none.")
    check_row_names({f"partitions[{u}]": one for u, one in enumerate(partitions)}, named_only=True)
    label_lists: list[Ints] = []
    for u, labels in enumerate(partitions):
        codes, names = read_labels(labels, f"partition {u}")
        if (codes == MISSING).any():
            raise InputError(
                f"{owner} is defined for partitions of all objects, and partition {u} misses object "
                f"{np.argmax(codes == MISSING)}. Keep the objects that all partitions have."
            )
        if label_lists and codes.size != label_lists[0].size:
            raise InputError(
                f"{owner} needs partitions of the same objects. Got {label_lists[0].size} labels in "
                f"partition 0 and {codes.size} in partition {u}."
            )
        noise = codes == NOISE
        codes[noise] = len(names) + np.arange(np.count_nonzero(noise))
        label_lists.append(canonical_labels(codes))
    return label_lists
