"""Reads the consensus that ``conclust.sc.tl.consensus`` has written into an AnnData."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conclust._files.versions import versions
from conclust._types import Ints
from conclust.confidence.chance import usual_chance
from conclust.confidence.reading import Judged
from conclust.consensus.auto.estimator import AutoConsensus
from conclust.consensus.auto.number import Support
from conclust.consensus.registry import method_named
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError
from conclust.report.names import shown
from conclust.results.record import Record
from conclust.results.result import Reported
from conclust.sc.columns import categorical, read_columns
from conclust.sc.held import membership_by_category
from conclust.sc.methods import remade

__all__ = ["is_annotated", "read_annotated"]

_OWNER = "report"


def is_annotated(result: Any) -> bool:
    """Return whether this is an AnnData or a MuData."""
    return all(hasattr(result, part) for part in ("obs", "obsm", "uns"))


def read_annotated(adata: Any, key: str | None, ensemble: Any = None) -> Reported:
    """Return the consensus of a column of ``adata.obs``: its clusters, names, memberships and record.

    Parameters
    ----------
    adata : AnnData or MuData
        Data into which ``sc.tl.consensus`` or ``sc.tl.predict`` wrote the consensus.
    key : str or None
        Its name.
    ensemble : Ensemble or array-like, default=None
        The partitions. None: the columns that the record lists.

    Raises
    ------
    InputError
        If no consensus has this name, or no name was given.
    """
    keys = [
        str(name)
        for name, held in adata.uns.items()
        if name in adata.obs and hasattr(held, "get") and "keys" in held.get("params", {})
    ]
    if key is None or key not in keys:
        got = "No key was given" if key is None else f"There is no {key!r}"
        raise InputError(
            f"A report of an AnnData is of a consensus in it: key='consensus'. {got}; adata.uns "
            f"has {keys or 'none'}."
        )
    stored = adata.uns[key]
    params = stored["params"]
    columns = [str(name) for name in np.atleast_1d(params["keys"])]
    read = read_columns(adata, columns, missing=str(params["missing"]), owner=_OWNER)  # type: ignore[arg-type]
    members = read.named_ensemble(params.get("weights")) if ensemble is None else ensemble
    members = as_ensemble(members)
    column = categorical(adata.obs[key]).remove_unused_categories()
    if not len(column.categories):
        raise InputError(
            f"{_OWNER} needs a consensus with at least one cluster. obs[{key!r}] has none."
        )
    weights = None
    if ensemble is None and "columns" in stored:
        shares = np.asarray(stored["columns"]["weight"], dtype=np.float64)
        given = members.partition_weights
        if not np.allclose(shares, given / given.sum()):
            weights = shares  # learned by the method
    judged = Judged(
        column.codes.astype(np.int64), members, membership_by_category(adata, key, column), weights
    )
    return Reported(
        judged.labels,
        _record_of(stored, key, columns, judged),
        judged,
        names=[str(name) for name in adata.obs.index],
        cluster_names=tuple(map(shown, column.categories)),
    )


def _record_of(stored: Mapping[str, Any], key: str, columns: list[str], judged: Judged) -> Record:
    """Return the record of the run in ``adata.uns[key]``; for cells placed by `predict` only their source."""
    params = stored["params"]
    where = {"key": key, "keys": columns, "missing": str(params["missing"])}
    made = {**versions(), "conclust": str(params["conclust_version"])}
    if "placed_by" in params:
        placed = {"placed_by": str(params["placed_by"]), "reference": str(params["method"])}
        return Record(settings={**where, **placed}, versions=made)
    try:
        estimator = remade(params, None, _OWNER)
    except InputError:  # of a version in which the method had other parameters
        return Record(settings=where, versions=made)
    parameters = estimator.get_params(deep=False)
    requested = parameters.get("n_clusters")
    supports = stored.get("supports")
    return Record(
        method=method_named(type(estimator).__name__),
        asked_for=None if requested is None else int(requested),
        call=_call_of(estimator, params, where),
        settings={"class": type(estimator).__name__, **parameters, **where},
        supports=() if supports is None else _supports_of(supports),
        reason=_text(stored, "reason"),
        why=_text(stored, "why"),
        number_by=_text(stored, "number_by"),
        by_chance=_by_chance(estimator, stored, judged),
        versions=made,
    )


def _call_of(estimator: Any, params: Mapping[str, Any], where: Mapping[str, Any]) -> str:
    arguments = [f"{where['keys']}", f"method=conclust.{estimator!r}"]
    if params.get("weights") is not None:
        arguments.append(f"weights={np.asarray(params['weights']).tolist()}")
    if where["missing"] != "unobserved":
        arguments.append(f"missing={where['missing']!r}")
    if "names_from" in params:
        arguments.append(f"names_from={str(params['names_from'])!r}")
    arguments.append(f"key_added={where['key']!r}")
    return f"conclust.sc.tl.consensus(adata, {', '.join(arguments)})"


def _text(stored: Mapping[str, Any], name: str) -> str | None:
    return str(stored[name]) if name in stored else None


def _supports_of(table: Any) -> tuple[Support, ...]:
    names = ("lifetime", "straddling", "support")
    return tuple(
        Support(int(number), *map(float, values))
        for number, *values in zip(
            table["n_clusters"], *(table[name] for name in names), strict=True
        )
    )


def _by_chance(estimator: Any, stored: Mapping[str, Any], judged: Judged) -> float | None:
    """Return the mean confidence of the method in random columns: the estimator stands for the fitted model."""
    if "evidence" in stored:
        estimator.evidence_ = str(stored["evidence"])
    elif isinstance(estimator, AutoConsensus):
        return None  # of a version that did not record the evidence
    labels: Ints = judged.labels
    estimator.labels_, estimator.n_clusters_ = labels, judged.n_clusters
    if judged.membership is not None:
        estimator.membership_ = judged.membership
    members: Ensemble = judged.members
    sure = usual_chance(estimator, members)
    return None if sure is None else float(sure.by_chance.mean())
