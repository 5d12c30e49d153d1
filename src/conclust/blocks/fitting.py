"""`fit` and `predict` of estimators on labels in blocks."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._arrays.numbering import in_blocks
from conclust._random import seed_sequence
from conclust.blocks.arrays import BlockedArray
from conclust.blocks.finishing import Answer, numbered_labels, numbered_membership
from conclust.blocks.sources import DaskLabels
from conclust.blocks.store import stored
from conclust.ensemble import as_ensemble
from conclust.ensemble.labels import Missing, encode_labels, read_new_labels
from conclust.exceptions import InputError


def fit_blocks(estimator: Any, X: Any, fit: Callable[..., Answer]) -> None:
    """Find the consensus of labels in blocks.

    Parameters
    ----------
    estimator : ConsensusClusterer
        Whose parameters are checked.
    X : LabelStore, or array of Zarr or Dask
        The labels.
    fit : callable
        The method: ``fit(estimator, labels, seed)`` sets its attributes and returns the rule that labels a block.
    """
    owner = type(estimator).__name__
    store = stored(X, estimator.missing)
    labels = store.opened()
    estimator.n_features_in_ = labels.n_partitions
    seed = seed_sequence(getattr(estimator, "random_state", None), owner)
    # Labels in blocks have all attributes of an ensemble that the checks read.
    estimator._check(as_ensemble(labels))
    estimator._names, estimator._code_type = labels.names, labels.facts.code_type
    answer = fit(estimator, labels, seed)
    if estimator.method.membership:
        counted = None if labels.weights is None else labels.weights > 0
        numbered = numbered_membership(labels, answer, counted)
        estimator._counted = counted
        estimator._keep_clusters(numbered.columns)
        estimator.membership_ = numbered.membership
    else:
        numbered = numbered_labels(labels, answer)
    estimator.labels_ = numbered.labels
    estimator.n_clusters_ = numbered.n_clusters
    if store.of_dask:
        for name, value in in_blocks(estimator).items():
            setattr(estimator, name, value.to_dask())
    if labels.facts.n_unobserved:
        estimator._warn_of_unobserved(labels.facts.n_unobserved)


def placed_blocks(estimator: Any, X: Any, how: str, width: int | None, dtype: Any) -> Any:
    """Apply a method of an estimator to the codes of new objects, block by block.

    Parameters
    ----------
    estimator : ConsensusClusterer
        Fitted.
    X : LabelStore, or array of Zarr or Dask
        Labels in the same partitions, with the same names.
    how : str
        Method of the estimator that returns one row per object from codes.
    width : int or None
        Number of columns of the result; None: it is one-dimensional.
    dtype : dtype-like
        Type of the result.

    Returns
    -------
    BlockedArray, or array of Dask if `X` is one
        The rows.
    """
    store = stored(X, estimator.missing)
    n, m = store.shape
    if m != len(estimator._names):
        raise InputError(
            f"The labels of new objects must come from the same {len(estimator._names)} partitions. Got "
            f"{m} columns instead."
        )
    light = copy(estimator)  # without attributes that have one row per object of fit
    for name in ("labels_", "membership_", *in_blocks(estimator)):
        vars(light).pop(name, None)
    place = partial(_placed, estimator=light, how=how, missing=store.missing)
    if isinstance(store.source, DaskLabels):
        array = store.source.array.rechunk({1: -1})
        kind = {"dtype": dtype, "meta": np.empty((0,) * (1 if width is None else 2), dtype=dtype)}
        if width is None:
            return array.map_blocks(place, drop_axis=1, **kind)
        return array.map_blocks(place, chunks=(array.chunks[0], (width,)), **kind)

    def make(block: int) -> NDArray[Any]:
        begin = block * store.block_rows
        return place(store.source.rows(begin, min(n, begin + store.block_rows)))

    shape = (n,) if width is None else (n, width)
    return BlockedArray(shape, dtype, store.block_rows, make)


def _placed(raw: Any, estimator: Any, how: str, missing: Missing) -> NDArray[Any]:
    """Return the rows of some new objects."""
    read = read_new_labels(raw, missing=missing)
    codes, _ = encode_labels(read, estimator._names, estimator._code_type, missing=missing)
    return np.asarray(getattr(estimator, how)(codes))
