"""A consensus as columns of a data frame, in the user's library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names
from conclust._validation import refuse, shown
from conclust.confidence import confidences
from conclust.exceptions import InputError, MissingExtraError
from conclust.measures.matching import labels_like as lasting_labels


def to_frame(
    model: Any,
    index: Any = None,
    *,
    ensemble: Any = None,
    prefix: str = "",
    labels_like: Any = None,
) -> Any:
    """Return labels, confidence and memberships of a fitted consensus as a data frame.

    Parameters
    ----------
    model : fitted estimator
        A consensus method, or a `conclust.ConsensusClustering`.
    index : data frame, polars Series, or array-like of shape (n_samples,), default=None
        The objects. A data frame of pandas, or one that behaves so (a GeoDataFrame keeps its geometry), or of polars:
        the columns are added to it, in a new frame of its kind. A Series of polars: it is the first column of a
        frame of polars. An Index or array: the index of a frame of pandas. None: pandas, numbered from 0.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions, for the confidence of a method without memberships; a `conclust.ConsensusClustering`
        keeps them.
    prefix : str, default=""
        Prefix of the column names.
    labels_like : array-like of int of shape (n_samples,), default=None
        Numbers of the clusters before, -1 for new objects: clusters keep them, in the column "label" and in the names
        of the memberships (:func:`conclust.metrics.labels_like`). None: the numbers of the model.

    Returns
    -------
    DataFrame
        The columns that the command line writes: "label", -1 for an object in no cluster; "confidence"
        (:func:`conclust.confidence.confidences`), if there are memberships or an ensemble; "cluster_0",
        "cluster_1", ..., if there are memberships.

    Raises
    ------
    InputError
        If there are not as many objects as labels, or a column has the name of one to be added.
    MissingExtraError
        If pandas is not installed, and is needed.

    Examples
    --------
    >>> import pandas as pd
    >>> import conclust as cc
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> model = cc.EAC(2).fit(labels)
    >>> cc.to_frame(model, ["ann", "ben", "cat", "dan"], ensemble=labels).round(2)
         label  confidence
    ann      0        0.89
    ben      0        0.89
    cat      1        0.78
    dan      1        1.00
    >>> cc.to_frame(model, pd.DataFrame({"town": ["Ulm", "Ulm", "Bonn", "Bonn"]}))
       town  label
    0   Ulm      0
    1   Ulm      0
    2  Bonn      1
    3  Bonn      1
    """
    if not hasattr(model, "fit"):
        raise InputError(f"to_frame takes a fitted estimator. Got {shown(model)} instead.")
    check_is_fitted(model)
    if not isinstance(prefix, str):
        refuse("prefix", "to_frame", "a str", prefix)
    check_row_names({"index": index, "labels_like": labels_like}, named_only=True)
    result_columns = _columns(model, ensemble, labels_like)
    columns = {f"{prefix}{name}": values for name, values in result_columns.items()}
    n = len(next(iter(columns.values())))
    if index is not None:
        _check(index, n, columns)
    if type(index).__module__.split(".")[0] == "polars":
        import polars as pl

        frame = index if hasattr(index, "hstack") else index.to_frame()
        return frame.hstack([pl.Series(name, values) for name, values in columns.items()])
    if hasattr(index, "to_pandas") and hasattr(index, "column_names"):  # a table of Arrow
        index = index.to_pandas()
    if hasattr(index, "assign"):
        levels = getattr(index.columns, "nlevels", 1)
        if levels == 1:
            return index.assign(**columns)
        whole = index.copy()
        for name, values in columns.items():
            whole[(name, *[""] * (levels - 1))] = values
        return whole
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "to_frame needs pandas, or a frame of polars as 'index'. Install it with: pip install pandas"
        ) from error
    if index is not None and not isinstance(index, pd.Index):
        index = pd.Index(index)
    return pd.DataFrame(columns, index=index)


def _columns(model: Any, ensemble: Any, previous: Any) -> dict[str, NDArray[Any]]:
    labels = np.asarray(model.labels_)
    shown_labels = labels if previous is None else lasting_labels(previous, labels)
    columns: dict[str, NDArray[Any]] = {"label": shown_labels}
    if hasattr(model, "calibration_"):
        columns["kept"] = model.calibration_.kept
    membership = getattr(model, "membership_", None)
    if membership is not None:
        rows = np.asarray(membership)
        own_membership = np.take_along_axis(rows, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
        columns["confidence"] = np.where(labels >= 0, own_membership, np.nan)
        numbers = _numbers(labels, shown_labels, rows.shape[1])
        return columns | {f"cluster_{k}": rows[:, column] for column, k in enumerate(numbers)}
    if ensemble is not None or hasattr(model, "ensemble_"):
        is_empty = labels.max() < 0  # no object is in a cluster
        columns["confidence"] = (
            np.full(len(labels), np.nan) if is_empty else confidences(model, ensemble)
        )
    return columns


def _numbers(labels: NDArray[Any], shown_labels: NDArray[Any], n_columns: int) -> list[int]:
    """Return the number of the cluster of each column of a membership; columns without objects are numbered last."""
    numbers = np.full(n_columns, -1, dtype=np.int64)
    numbers[labels[labels >= 0]] = shown_labels[labels >= 0]
    empty = numbers < 0
    numbers[empty] = numbers.max(initial=-1) + 1 + np.arange(int(empty.sum()))
    return [int(number) for number in numbers]


def _check(index: Any, n: int, columns: dict[str, Any]) -> None:
    """Refuse another number of objects, and frames that already have such columns."""
    if hasattr(index, "collect"):
        raise InputError(
            "to_frame does not accept a lazy frame, whose number of rows is not known. Collect it first."
        )
    several = not hasattr(index, "columns") and np.ndim(index) > 1
    if isinstance(index, str | bytes) or np.ndim(index) == 0 or several:
        raise InputError(
            "The 'index' of to_frame must be a frame, an index or a list of names. Got "
            f"{shown(index)} instead."
        )
    if len(index) != n:
        raise InputError(
            f"The 'index' of to_frame must be of the objects of the model. Got {len(index)} rows, and there are "
            f"{n} labels."
        )
    taken_names = list(getattr(index, "columns", [])) or [getattr(index, "name", None)]
    if getattr(getattr(index, "columns", None), "nlevels", 1) > 1:
        taken_names += [name[0] for name in taken_names]
    duplicates = [name for name in columns if name in taken_names]
    if duplicates:
        raise InputError(
            f"The frame has columns {duplicates} already. Give to_frame a 'prefix' for the new ones."
        )
