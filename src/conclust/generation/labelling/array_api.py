"""The two steps of generation for arrays of any library with the array API, without leaving their device.

`label_block` labels a block of points by the centres of many members, `lloyd_step` is one round of k-means. Both
are written in the `array API standard <https://data-apis.org/array-api/>`_ alone, so that arrays of PyTorch or
CuPy are worked on by their own library, on their own device, and nothing is copied to this one. NumPy arrays are
better served by `EnsembleGenerator`, whose kernel does the same without a matrix of scores.

Distances are found by products, ``x'c - |c|^2 / 2``, in the type of the points: where two centres are equally near
up to rounding, the result may differ from that of the kernel. Points far from the origin should be moved there
first (subtract a mean from points and centres).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from conclust.exceptions import InputError, ParameterError

Array = Any  # of any library
# Maximum number of clusters for labels of one byte, whose largest two values mean missing and noise.
_NARROW = 254


def label_block(X: Array, centers: Array, offsets: Sequence[int]) -> Array:
    """Label a block of points by the nearest centre of each member.

    Parameters
    ----------
    X : array of shape (n, d)
        Points, of a floating type.
    centers : array of shape (T, d)
        The centres of all members, one member after the other; of the type and on the device of X.
    offsets : sequence of int of length N + 1
        Start of each member: the centres of member u are ``centers[offsets[u]:offsets[u + 1]]``. From 0 to T,
        rising.

    Returns
    -------
    array of shape (n, N)
        Labels from 0 on, the first centre of a tie, where X is; uint8 if no member has more than 254 clusters,
        else int32.

    Raises
    ------
    InputError
        If the arrays are not matrices with the same number of columns, or not of one floating type.
    ParameterError
        If the offsets do not fit the centres.

    Examples
    --------
    From a fitted generator of k-means members to a graphics card, block by block::

        import torch
        from conclust.generation.labelling.array_api import label_block

        members = generator.members_
        centers = torch.tensor(np.concatenate([m.centers for m in members]), device="cuda")
        offsets = np.cumsum([0] + [m.n_clusters for m in members]).tolist()
        labels = torch.concat([label_block(X, centers, offsets) for X in blocks]).cpu().numpy()

    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [4.0, 4.0], [9.0, 9.0]])
    >>> centers = np.array([[0.0, 0.0], [9.0, 9.0], [1.0, 1.0], [5.0, 5.0], [8.0, 8.0]])
    >>> label_block(X, centers, [0, 2, 5])
    array([[0, 0],
           [0, 1],
           [1, 2]], dtype=uint8)
    """
    xp = _namespace(X)
    _check_matrices(xp, X, centers)
    bounds = [int(offset) for offset in offsets]
    sizes = [end - begin for begin, end in pairwise(bounds)]
    if not sizes or bounds[0] != 0 or bounds[-1] != centers.shape[0] or min(sizes) < 1:
        raise ParameterError(
            "The 'offsets' parameter of label_block must be ints that rise from 0 to the number of centres, "
            f"{centers.shape[0]}. Got {bounds} instead."
        )
    scores = _scores(xp, X, centers)
    kind = xp.uint8 if max(sizes) <= _NARROW else xp.int32
    columns = [
        _as_type(xp, xp.argmax(scores[:, begin:end], axis=1), kind)
        for begin, end in pairwise(bounds)
    ]
    return xp.stack(columns, axis=1)


def lloyd_step(X: Array, centers: Array) -> tuple[Array, Array, Array]:
    """Do one round of Lloyd's k-means on a block of points.

    Sums and counts of several blocks are added up; the next centres are the sums divided by the counts.

    Parameters
    ----------
    X : array of shape (n, d)
        Points, of a floating type.
    centers : array of shape (k, d)
        The centres, of the type and on the device of X.

    Returns
    -------
    labels : array of shape (n,)
        The nearest centre of each point, the first one of a tie.
    sums : array of shape (k, d)
        The sum of the points of each centre.
    counts : array of shape (k,)
        Number of points of each centre, in the type of X.

    Raises
    ------
    InputError
        If the arrays are not matrices with the same number of columns, or not of one floating type.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0]])
    >>> labels, sums, counts = lloyd_step(X, np.array([[0.0], [8.0]]))
    >>> labels.tolist(), (sums / counts[:, None]).tolist()
    ([0, 0, 1], [[0.5], [10.0]])
    """
    xp = _namespace(X)
    _check_matrices(xp, X, centers)
    labels = xp.argmax(_scores(xp, X, centers), axis=1)
    each = xp.arange(centers.shape[0], dtype=labels.dtype, device=X.device)
    belongs = _as_type(xp, labels[:, None] == each[None, :], X.dtype)
    return labels, xp.matmul(belongs.T, X), xp.sum(belongs, axis=0)


def _scores(xp: Any, X: Array, centers: Array) -> Array:
    """Return a score that is largest for the nearest centre: half of ``|x|^2`` less half of the squared distance."""
    half = 0.5 * xp.sum(centers * centers, axis=1)
    return xp.matmul(X, centers.T) - half[None, :]


def _namespace(X: Array) -> Any:
    """Return the functions of the array's library."""
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    # Torch provides them at its top level.
    library = sys.modules.get(type(X).__module__.partition(".")[0])
    if not hasattr(library, "matmul") or not hasattr(library, "argmax"):
        raise InputError(
            "X must be an array of a library with the array API, such as NumPy, PyTorch or CuPy. Got "
            f"{type(X).__name__} instead: np.asarray(X) makes an array of it."
        )
    return library


def _as_type(xp: Any, x: Array, kind: Any) -> Array:
    return xp.astype(x, kind) if hasattr(xp, "astype") else x.to(kind)  # torch's name for it


def _check_matrices(xp: Any, X: Array, centers: Array) -> None:
    shapes = tuple(getattr(X, "shape", ())), tuple(getattr(centers, "shape", ()))
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][1] != shapes[1][1]:
        raise InputError(
            "X and centers must be matrices with the same number of columns. Got shapes "
            f"{shapes[0]} and {shapes[1]} instead."
        )
    if X.dtype not in (xp.float32, xp.float64) or centers.dtype != X.dtype:
        raise InputError(
            "X and centers must both be float32, or both float64. Got "
            f"{X.dtype} and {centers.dtype} instead."
        )
