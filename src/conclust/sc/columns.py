"""Columns of labels in ``adata.obs``: their selection, and their labels as numbers and names.

Results are written into an AnnData by scanpy's conventions.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import is_blank
from conclust._arrays.rows import cross_counts
from conclust._types import Floats, Ints
from conclust._validation import check_bool, check_option, optional, shown
from conclust.confidence import ClusterSplits
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import weights_by_name
from conclust.ensemble.labels import MISSING, NAN_TEXTS, NOISE, Missing, refuse_twins_among
from conclust.exceptions import InputError
from conclust.measures.matching import names_from

# Text that results from -1 and -2 when labels are converted to categories of strings.
_MISSING, _NOISE = str(MISSING), str(NOISE)


@dataclass(frozen=True)
class Columns:
    """Columns of labels.

    Attributes
    ----------
    keys : tuple of str
        Names of the columns in ``adata.obs``.
    labels : ndarray of int32 of shape (n_cells, n_keys)
        Places in `names`, -1 for missing and -2 for noise.
    names : tuple of tuples of str
        The categories of each column.
    """

    keys: tuple[str, ...]
    labels: NDArray[np.int32]
    names: tuple[tuple[str, ...], ...]

    def ensemble(self, weights: ArrayLike | None) -> Ensemble:
        """Return the columns as an ensemble, with clusters named by their numbers in `names`."""
        return Ensemble(self.labels, weights=weights_by_name(weights, lambda: self.keys))

    def named(self) -> NDArray[Any]:
        """Return the labels by the names of clusters; None is missing, -2 noise."""
        result = np.empty(self.labels.shape, dtype=object)
        for u, names in enumerate(self.names):
            result[:, u] = np.array([*names, NOISE, None], dtype=object)[self.labels[:, u]]
        return result

    def named_ensemble(self, weights: ArrayLike | None) -> Ensemble:
        """Return the columns as an ensemble, with clusters named as in ``adata.obs``."""
        numbered = self.ensemble(weights)
        names = tuple(
            tuple(categories[number] for number in numbers)
            for categories, numbers in zip(self.names, numbered.names, strict=True)
        )
        return Ensemble.numbered(numbered.codes, names, numbered.weights)


def check_annotated(adata: Any, owner: str, name: str = "adata") -> None:
    """Refuse objects without ``obs``, ``obsm`` and ``uns``."""
    if not all(hasattr(adata, part) for part in ("obs", "obsm", "uns")):
        raise InputError(
            f"The {name!r} of {owner} must be an AnnData, or a MuData. Got {type(adata).__name__} instead."
        )


def chosen_keys(
    adata: Any,
    keys: str | Sequence[str] | None,
    prefix: str | None,
    owner: str,
    *,
    parameter: str = "keys",
) -> tuple[str, ...]:
    """Return the named columns, or those that begin with `prefix`, in natural order of the remainder.

    Columns written by conclust are left out of those with the prefix, so that a call can be repeated.
    """
    check_annotated(adata, owner)
    columns = list(adata.obs.columns)
    if (keys is None) == (prefix is None):
        raise InputError(
            f"{owner} takes either 'keys', the columns of adata.obs that hold labels, or their 'prefix'. "
            f"Got {'neither' if keys is None else 'both'}."
        )
    if prefix is not None:
        begun = [n for n in columns if isinstance(n, str) and n.startswith(prefix) and n != prefix]
        written = _written(adata)
        names = [name for name in begun if name not in written]
        if begun and not names:
            raise InputError(
                f"All columns of adata.obs that begin with {prefix!r} were written by conclust: {begun}. Name them in "
                "'keys' to combine them."
            )
        if not names:
            raise InputError(
                f"No column of adata.obs begins with {prefix!r} and is longer. Its columns are {shown(columns)}."
            )
        _refuse_twins(columns, names, owner, "prefix")
        return tuple(sorted(names, key=lambda name: _natural(name[len(prefix) :])))
    wanted = [keys] if isinstance(keys, str) else [] if keys is None else list(keys)
    lacking = [name for name in wanted if not isinstance(name, str) or name not in columns]
    if lacking or not wanted:
        raise InputError(
            f"The {parameter!r} of {owner} must be {'columns' if parameter == 'keys' else 'a column'} of adata.obs. "
            f"Got {lacking or 'none'}; its columns are {shown(columns)}."
        )
    _refuse_twins(columns, wanted, owner, parameter)
    return tuple(wanted)


def _refuse_twins(columns: Sequence[Any], names: Sequence[str], owner: str, parameter: str) -> None:
    """Refuse a name that several columns have, for which pandas returns a frame instead of a column."""
    times = Counter(columns)
    twins = sorted({name for name in names if times[name] > 1})
    if twins:
        raise InputError(
            f"The {parameter!r} of {owner} must be of columns with different names. Got {twins}, and adata.obs "
            "has several of each: adata.obs.loc[:, ~adata.obs.columns.duplicated()] has the first of each."
        )


def _written(adata: Any) -> set[str]:
    """Return the columns of ``adata.obs`` that conclust has written, by its records in ``adata.uns``."""
    records = {
        str(key)
        for key, value in adata.uns.items()
        if hasattr(value, "get") and "conclust_version" in (value.get("params") or {})
    }
    return {f"{key}{part}" for key in records for part in ("", "_confidence", "_kept")}


def _natural(text: str) -> list[tuple[bool, float, str]]:
    """Return a key for natural order: 0.5 before 2 before 10."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(i % 2 == 0, 0.0 if i % 2 == 0 else float(p), p) for i, p in enumerate(parts)]


def read_columns(
    adata: Any,
    keys: Sequence[str],
    *,
    missing: Missing,
    owner: str,
    known: tuple[tuple[str, ...], ...] | None = None,
) -> Columns:
    """Read columns of ``adata.obs`` only.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : sequence of str
        Their names.
    missing : {"unobserved", "noise"}
        Meaning of -1 and "-1"; NaN is always missing.
    owner : str
        Name of the function, used in messages.
    known : tuple of tuples of str, default=None
        Names with existing numbers; new names are numbered after them.

    Raises
    ------
    InputError
        If a column does not exist, or holds invalid labels.
    """
    check_option(missing, "missing", owner, Missing)
    lacking = [key for key in keys if key not in adata.obs.columns]
    if lacking:
        raise InputError(f"{owner}: adata.obs lacks the columns {lacking}.")
    _refuse_twins(list(adata.obs.columns), keys, owner, "keys")
    labels = np.empty((len(adata.obs), len(keys)), dtype=np.int32)
    names = []
    for u, key in enumerate(keys):
        numbers: dict[str, int] = {} if known is None else {n: k for k, n in enumerate(known[u])}
        column = categorical(adata.obs[key])
        categories = column.categories.tolist()
        table = [_number(name, key, numbers, missing, owner) for name in categories]
        whole = [int(name) if isinstance(name, float) else name for name in categories]
        refuse_twins_among(whole, f"adata.obs[{key!r}]")
        # The code -1, a missing label, stands for the last entry.
        labels[:, u] = np.array([*table, MISSING], dtype=np.int32)[column.codes]
        names.append(tuple(numbers))
    return Columns(tuple(keys), labels, tuple(names))


def categorical(column: Any) -> Any:
    """Return a column as a pandas.Categorical, which it is by convention."""
    pd = optional("pandas", "anndata", "conclust.sc")
    series = column if isinstance(column, pd.Series) else pd.Series(np.asarray(column))
    return series.astype("category").array


def names_of(column: Any) -> NDArray[Any]:
    """Return the categories of a column as an array of strings; None for missing ones."""
    column_categories = categorical(column)
    names = np.array([*map(str, column_categories.categories), None], dtype=object)
    each: NDArray[Any] = names[column_categories.codes]
    return each


def _number(value: Any, key: str, numbers: dict[str, int], missing: Missing, owner: str) -> int:
    """Return the number of a category, a new one for a new name."""
    name = str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value) or value != int(value) or value < NOISE:
            raise InputError(
                f"{owner}: adata.obs[{key!r}] holds {value!r}, which is not a label. Labels are categories, names "
                "or whole numbers from 0 on; -1 is missing and -2 is noise."
            )
        name = str(int(value))
    if name == _MISSING:
        return NOISE if missing == "noise" else MISSING
    if name == _NOISE:
        return NOISE
    if name in NAN_TEXTS or is_blank(name):
        return MISSING
    return numbers.setdefault(name, len(numbers))


def write_clusters(
    adata: Any,
    key: str,
    labels: Ints,
    confidence: Floats,
    membership: Floats | None,
    names: list[str],
    kept: Floats | None = None,
) -> None:
    """Write clusters, the confidence of each cell, and memberships and shares of pairs kept if there are any.

    Parameters
    ----------
    adata : AnnData or MuData
        Data to write into.
    key : str
        Name of the columns.
    labels : ndarray of shape (n_cells,)
        Places in `names`; negative: no cluster, which is NaN.
    confidence : ndarray of shape (n_cells,)
        Confidence of each cell.
    membership : ndarray of shape (n_cells, n_held) or None
        Membership; that of an earlier consensus with this name is removed.
    names : list of str
        The categories.
    kept : ndarray of shape (n_cells,), default=None
        The share of the pairs of each cell that a fresh sample keeps. None: a column that earlier clusters left under this name is removed.
    """
    import pandas as pd

    kind: Any = pd.Categorical
    adata.obs[key] = kind.from_codes(np.maximum(labels, -1), categories=names)
    adata.obs[f"{key}_confidence"] = np.asarray(confidence, dtype=np.float64)
    for rows, name, values in (
        (adata.obs, f"{key}_kept", kept),
        (
            adata.obsm,
            f"{key}_membership",
            None if membership is None else membership.astype(np.float32),
        ),
    ):
        if values is not None:
            rows[name] = values
        elif name in rows:
            del rows[name]


def cluster_names(adata: Any, labels: Ints, column: str | None) -> list[str]:
    """Return the names of clusters 0, 1, ...: their numbers, or after the categories of a column."""
    if column is None:
        return [str(k) for k in range(int(labels.max()) + 1)]
    return list(names_from(labels, names_of(adata.obs[column])).names)


def cluster_table(
    names: list[str], labels: Ints, confidence: Floats, splits: ClusterSplits | None
) -> Any:
    """Return the frame of the clusters: cells, mean confidence, and by how many columns each is split."""
    import pandas as pd

    in_cluster = labels >= 0
    cells = np.bincount(labels[in_cluster], minlength=len(names))
    total = np.bincount(labels[in_cluster], np.nan_to_num(confidence[in_cluster]), len(names))
    table = pd.DataFrame(
        {"cells": cells, "confidence": total / np.maximum(cells, 1)}, index=list(names)
    )
    if splits is not None:
        table["parts"] = splits.n_parts
        table["split_by"] = splits.n_partitions
    return table


def account_of(model: Any) -> dict[str, Any]:
    """Return the objective, the reason and the supports of a fitted method, as far as it has them."""
    import pandas as pd

    account: dict[str, Any] = {}
    if hasattr(model, "objective_"):
        account["objective"] = float(model.objective_)
    for name in ("reason", "number_by", "evidence"):
        value = getattr(model, f"{name}_", None)
        if isinstance(value, dict):  # of other numbers of clusters, which files take as text only
            account[name] = {str(number): float(found) for number, found in value.items()}
        elif value is not None:
            account[name] = str(value)
    parts = getattr(model, "reason_parts", None)
    if parts is not None:
        account["why"] = parts.why
    if getattr(model, "supports_", ()):
        account["supports"] = pd.DataFrame([asdict(support) for support in model.supports_])
    return account


def check_copy(adata: Any, copy: Any, owner: str) -> None:
    """Refuse to copy data backed by a file, or to write into a view of them: anndata copies them into a file only."""
    check_bool(copy, "copy", owner)
    if not getattr(adata, "isbacked", False):
        return
    if getattr(adata, "is_view", False):
        raise InputError(
            f"The 'adata' of {owner} must not be a view of data that are backed by a file. Pass adata.to_memory()."
        )
    if copy:
        raise InputError(
            f"The 'adata' of {owner} must be in memory for copy=True. Got one that is backed by a file: pass "
            "adata.to_memory(), or copy=False, which writes into its obs, obsm and uns in memory."
        )


def check_parent(adata: Any, parent: str, owner: str) -> None:
    """Refuse a column from which clusters cannot get colours."""
    lacking = "" if f"{parent}_colors" in adata.uns else f"uns['{parent}_colors']"
    lacking = lacking if parent in adata.obs.columns else f"obs[{parent!r}]"
    if lacking:
        raise InputError(
            f"The 'colors_from' of {owner} must be a column whose categories have colours. Got "
            f"{parent!r}, and adata has no {lacking}: scanpy writes colours when it first draws a column."
        )


def inherit_colours(adata: Any, key: str, parent: str) -> None:
    """Give clusters without colours those of the categories with which they share most cells.

    Among clusters that share most cells with the same category, the one with the most has its colour; the others
    have new ones, so that no two are alike.
    """
    mine, theirs = categorical(adata.obs[key]), categorical(adata.obs[parent])
    # Fewer colours than clusters are of an earlier result.
    if len(adata.uns.get(f"{key}_colors", ())) >= len(mine.categories):
        return
    colours = [str(colour) for colour in adata.uns[f"{parent}_colors"]]
    n, m = len(mine.categories), min(len(theirs.categories), len(colours))
    table = cross_counts(mine.codes, np.where(theirs.codes < m, theirs.codes, -1), (n, m))
    inherited: dict[int, str] = {}
    used: set[int] = set()
    best = table.argmax(axis=1)
    for k in np.argsort(-table.max(axis=1), kind="stable").tolist():
        if table[k, best[k]] and int(best[k]) not in used:
            used.add(int(best[k]))
            inherited[k] = colours[best[k]]
    fresh = iter(_others(n + len(colours), {colour.lower() for colour in colours}))
    adata.uns[f"{key}_colors"] = [inherited[k] if k in inherited else next(fresh) for k in range(n)]


def _others(n: int, used: set[str]) -> list[str]:
    """Return colours of clusters as "#rrggbb" that are not used yet."""
    from conclust.plotting.canvas.style import cluster_colours

    optional("matplotlib", "plot", "Choosing colours")
    rows = np.rint(255 * cluster_colours(n)).astype(int).tolist()
    colours = ["#{:02x}{:02x}{:02x}".format(*row) for row in rows]
    return [colour for colour in colours if colour not in used]
