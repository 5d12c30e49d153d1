"""Estimators on labels in blocks: what `fit` and `predict` do there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conclust._labels import Names, encode_labels, read_new_labels
from conclust._random import seed_sequence
from conclust._warnings import warn
from conclust.blocks.arrays import BlockedArray
from conclust.blocks.finishing import numbered_labels, numbered_membership
from conclust.blocks.store import stored
from conclust.ensemble import as_ensemble
from conclust.exceptions import EvidenceWarning, InputError

if TYPE_CHECKING:
    from conclust.consensus.base import ConsensusClusterer

__all__ = ["fit_blocks", "placed_blocks"]


def fit_blocks(estimator: ConsensusClusterer, X: Any) -> None:
    """Find the consensus of labels in blocks.

    Parameters
    ----------
    estimator : ConsensusClusterer
        It has ``_fit_blocks``.
    X : LabelStore, or array of Zarr or Dask
        The labels.
    """
    owner = type(estimator).__name__
    labels = stored(X, estimator.missing).opened()
    estimator.n_features_in_ = labels.n_partitions
    seed = seed_sequence(getattr(estimator, "random_state", None), owner)
    seed = labels.stages.begin(_told(estimator), labels.fingerprint, seed)
    seen = as_ensemble(labels)  # what checks read of an ensemble, labels in blocks have
    estimator._check_support(seen)
    estimator._check_number(labels.n_samples)
    estimator._check_parameters(seen)
    estimator._names, estimator._code_type = labels.names, labels.facts.code_type
    answer = estimator._fit_blocks(labels, seed)
    if estimator.method.membership:
        counted = None if labels.weights is None else labels.weights > 0
        found = numbered_membership(labels, answer, counted)
        estimator._counted = counted
        estimator._keep_clusters(found.columns)
        estimator.membership_ = found.membership
    else:
        found = numbered_labels(labels, answer)
    estimator.labels_ = found.labels  # type: ignore[assignment]
    estimator.n_clusters_ = found.n_clusters
    nowhere = labels.facts.n_unobserved
    if nowhere:
        warn(
            f"{nowhere} objects are missing in every partition: the ensemble says nothing about them, so "
            "their label is -1 and their membership, if any, uniform.",
            EvidenceWarning,
        )


def _told(estimator: ConsensusClusterer) -> str:
    """Return the method and its parameters: what a checkpoint is of."""
    plain = (bool, int, float, str, type(None))
    parameters = ", ".join(
        f"{name}={value!r}" if isinstance(value, plain) else f"{name}={type(value).__name__}"
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in ("n_jobs", "verbose")
    )
    return f"{type(estimator).__name__}({parameters})"


def placed_blocks(
    estimator: Any, X: Any, place: Any, width: int | None, dtype: Any
) -> BlockedArray:
    """Return what `place` makes of new objects' codes, a block at a time.

    Parameters
    ----------
    estimator : ConsensusClusterer
        Fitted.
    X : LabelStore, or array of Zarr or Dask
        Labels in the same partitions, by the same names.
    place : callable
        ``place(codes)``: a row for each object.
    width : int or None
        Columns of the result; None: it has one dimension.
    dtype : dtype-like
        Of the result.
    """
    store = stored(X, estimator.missing)
    n, m = store.shape
    names: Names = estimator._names
    if m != len(names):
        raise InputError(
            f"The labels of new objects must come from the same {len(names)} partitions. Got {m} columns "
            "instead."
        )

    def make(block: int) -> NDArray[Any]:
        begin = block * store.block_rows
        raw = store.source.rows(begin, min(n, begin + store.block_rows))
        read = read_new_labels(raw, missing=store.missing)
        codes, _ = encode_labels(read, names, estimator._code_type, missing=store.missing)
        return np.asarray(place(codes))

    shape = (n,) if width is None else (n, width)
    return BlockedArray(shape, dtype, store.block_rows, make)
