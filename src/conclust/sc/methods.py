"""Converts names of methods to estimators, and estimators to plain text."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import clone

from conclust._validation import check_int, refuse
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.registry import advice_on, make, method_named
from conclust.exceptions import InputError

__all__ = ["estimator_of", "recorded"]

_OWNER = "sc.tl.consensus"
# Parameters that do not change results.
_RUNNING = ("n_jobs", "verbose")


def estimator_of(method: Any, n_clusters: int | None, random_state: int, n_jobs: int | None) -> Any:
    """Return the estimator of a method, with those of the given parameters that it has."""
    seed = check_int(random_state, "random_state", _OWNER, low=0)
    parameters: dict[str, Any] = {}
    if isinstance(method, ConsensusClusterer):
        estimator = clone(method)
    else:
        estimator = make(_class_name(method))
    has = estimator.get_params(deep=False)
    if n_clusters is not None:
        if "n_clusters" not in has:
            name = type(estimator).__name__
            refuse("n_clusters", _OWNER, "None", n_clusters, f"{name} finds the number by itself.")
        parameters["n_clusters"] = n_clusters
    if "random_state" in has and has["random_state"] is None:
        parameters["random_state"] = seed
    if "n_jobs" in has and n_jobs is not None:
        parameters["n_jobs"] = n_jobs
    return estimator.set_params(**parameters)


def _class_name(method: Any) -> str:
    if method is None:
        return "AutoConsensus"
    known_method = method_named(method) if isinstance(method, str) else None
    if known_method is None:
        advice = advice_on(method) if isinstance(method, str) else ""
        refuse("method", _OWNER, "the name of a method, an estimator or None", method, advice)
    return known_method.estimator


def recorded(estimator: Any) -> dict[str, str]:
    """Return an estimator as text that every file format can store: its class, and its parameters as JSON."""
    name = type(estimator).__name__
    has = estimator.get_params(deep=False)
    values = {key: value for key, value in has.items() if key not in _RUNNING}
    try:
        text = json.dumps(values, sort_keys=True, default=_plain)
    except TypeError as error:
        raise InputError(
            f"{_OWNER} keeps the parameters of {name} in adata.uns, as numbers and words, and {error}. Fit "
            f"{name} to conclust.sc.get.ensemble(adata, ...) instead."
        ) from error
    return {"method": name, "method_params": text}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is neither")
