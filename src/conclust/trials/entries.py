"""Methods to be compared: names, estimators and users' objects, prepared to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import clone

from conclust._validation import refuse, shown
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.registry import advice_on, make, method_named, methods
from conclust.exceptions import ParameterError

OWNER = "compare"
ALL = "all"
# One or two methods of each family, among those that are fast with 10,000 objects.
USUAL = (
    "AutoConsensus",
    "EAC",
    "LWEA",
    "PCC",
    "HBGF",
    "LWGP",
    "MCLA",
    "ECPCS",
    "PTA",
    "CumulativeVoting",
    "QMI",
    "SEC",
    "MixtureModel",
)


class Entry(NamedTuple):
    """A method to be run.

    Attributes
    ----------
    name : str
        Name of its row.
    estimator : object
        A fresh copy, not fitted, with the settings of the comparison where it takes them.
    needs_number : bool
        Whether the number of clusters must be set before it can run.
    """

    name: str
    estimator: Any
    needs_number: bool


def read_entries(
    chosen: Any, n_clusters: int | None, random_state: int | None, n_jobs: int | None
) -> list[Entry]:
    """Read the methods to be compared.

    Parameters
    ----------
    chosen : None, str, estimator, sequence of str and estimators, or mapping
        Methods, as in :func:`conclust.compare`.
    n_clusters, random_state, n_jobs : int or None
        Settings for methods given by name; the first two also for estimators, where they are not None.

    Returns
    -------
    list of Entry
        In the order given, each name once.

    Raises
    ------
    ParameterError
        If there is no method, a name is unknown, or an object has no ``fit_predict``.
    """
    named = [(name, _ready(given)) for name, given in _pairs(chosen)]
    entries: list[Entry] = []
    for name, (estimator, by_name) in named:
        wanted: dict[str, Any] = {"n_clusters": n_clusters, "random_state": random_state}
        if not by_name:
            wanted = {key: value for key, value in wanted.items() if value is not None}
        else:
            wanted["n_jobs"] = n_jobs
        _set(estimator, wanted)
        ours = isinstance(estimator, ConsensusClusterer)
        needs_number = (
            ours and estimator._number_needed() == "exact" and estimator.n_clusters is None
        )
        names = {entry.name for entry in entries}
        unique, count = name, 1
        while unique in names:
            count += 1
            unique = f"{name} ({count})"
        entries.append(Entry(unique, estimator, needs_number))
    return entries


def _pairs(chosen: Any) -> list[tuple[str, Any]]:
    """Return names of rows, and the given method for each."""
    if chosen is None:
        chosen = USUAL
    elif isinstance(chosen, str) and chosen.lower() == ALL:
        chosen = [method.estimator for method in methods()]
    elif isinstance(chosen, str) or hasattr(chosen, "fit_predict"):
        chosen = [chosen]
    if isinstance(chosen, Mapping):
        pairs = [(str(name), given) for name, given in chosen.items()]
    elif isinstance(chosen, Sequence):
        pairs = [(given if isinstance(given, str) else "", given) for given in chosen]
    else:
        pairs = []
    if not pairs:
        refuse(
            "methods",
            OWNER,
            "None, 'all', a sequence of names and estimators, or a dict of them",
            chosen,
            "conclust.methods() lists the names.",
        )
    return [(_called(given) if name in ("", given) else name, given) for name, given in pairs]


def _called(given: Any) -> str:
    """Return the name of a row: that of the class."""
    if isinstance(given, str):
        method = method_named(given)
        return given if method is None else method.estimator
    return type(given).__name__


def _ready(given: Any) -> tuple[Any, bool]:
    """Return a copy of a method that can be fitted, and whether it was given by its name."""
    if isinstance(given, str):
        method = method_named(given)
        if method is None:
            refuse("methods", OWNER, "names of methods, or estimators", given, advice_on(given))
        return make(method.estimator), True
    if isinstance(given, type) or not callable(getattr(given, "fit_predict", None)):
        advice = f"Give an instance: {given.__name__}()." if isinstance(given, type) else ""
        refuse("methods", OWNER, "names of methods, or objects with fit_predict", given, advice)
    if type(given).__module__.startswith(("sklearn.cluster.", "sklearn.mixture.")):
        raise ParameterError(
            f"The 'methods' parameter of {OWNER} must be consensus methods, which take labels. Got "
            f"{shown(given)}, which takes the coordinates of points: labels are names, not coordinates. To "
            f"combine clusterings by it, EnsembleGenerator({type(given).__name__}(...)) makes the ensemble."
        )
    return clone(given, safe=False), False


def _set(estimator: Any, wanted: dict[str, Any]) -> None:
    """Pass an estimator the settings for which it has parameters."""
    if not hasattr(estimator, "get_params"):
        return
    has = estimator.get_params(deep=False)
    estimator.set_params(**{name: value for name, value in wanted.items() if name in has})
