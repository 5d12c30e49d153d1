"""Writes results into an AnnData, by scanpy's conventions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import check_bool, missing_extra
from conclust.confidence import ClusterSplits, PartitionConfidence
from conclust.exceptions import InputError
from conclust.measures.matching import names_from
from conclust.sc.columns import categorical, names_of


def write_clusters(
    adata: Any,
    key: str,
    labels: Ints,
    confidence: Floats,
    membership: Floats | None,
    names: list[str],
) -> None:
    """Write clusters, the confidence of each cell, and memberships if there are any.

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
    """
    import pandas as pd

    kind: Any = pd.Categorical
    adata.obs[key] = kind.from_codes(np.maximum(labels, -1), categories=names)
    adata.obs[f"{key}_confidence"] = np.asarray(confidence, dtype=np.float64)
    held = f"{key}_membership"
    if membership is not None:
        adata.obsm[held] = membership.astype(np.float32)
    elif held in adata.obsm:
        del adata.obsm[held]


def cluster_names(adata: Any, labels: Ints, column: str | None) -> list[str]:
    """Return the names of clusters 0, 1, ...: their numbers, or after the categories of a column."""
    if column is None:
        return [str(k) for k in range(int(labels.max()) + 1)]
    return list(names_from(labels, names_of(adata.obs[column])).names)


def column_table(columns: tuple[str, ...], compared: PartitionConfidence) -> Any:
    """Return the frame of the columns: their agreement with the consensus, and their share of the weights."""
    import pandas as pd

    return pd.DataFrame({"agreement": compared.nmi, "weight": compared.weight}, index=list(columns))


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
        if getattr(model, f"{name}_", None) is not None:
            account[name] = str(getattr(model, f"{name}_"))
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
    if parent not in adata.obs.columns or f"{parent}_colors" not in adata.uns:
        lacking = (
            f"obs[{parent!r}]" if parent not in adata.obs.columns else f"uns['{parent}_colors']"
        )
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
    both = (mine.codes >= 0) & (theirs.codes >= 0) & (theirs.codes < m)
    cells = mine.codes[both].astype(np.int64) * m + theirs.codes[both]
    table = np.bincount(cells, minlength=n * m).reshape(n, m)
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

    try:
        rows = np.rint(255 * cluster_colours(n)).astype(int).tolist()
    except ImportError:
        missing_extra("matplotlib", "plot", "Choosing colours")
    colours = ["#{:02x}{:02x}{:02x}".format(*row) for row in rows]
    return [colour for colour in colours if colour not in used]
