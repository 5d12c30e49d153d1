"""Imports scikit-learn's base and scalers without modules that few fits of this library use.

scikit-learn imports ``scipy.stats``, ``scipy.special``, narwhals, joblib (which imports asyncio), and pandas where it is
installed; SciPy imports all of NumPy, with ``numpy.f2py`` and ``numpy.testing``: together three quarters of the seconds
of a first import. They are imported at the first use of a name of theirs instead. Modules take the names below from
here, so that this holds whichever module is imported first; for SciPy's part ``conclust.__getattr__`` imports this
module before any other.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from conclust.exceptions import InputError

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClusterMixin",
    "ConvergenceWarning",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "check_order",
    "clone",
    "forget_results",
    "names_checked",
    "num_samples",
    "record_features",
    "record_order",
    "scalers",
    "validate_data",
]

_NAMED = 4

# Packages before their modules.
_UNUSED = (
    "scipy.stats",
    "scipy.special",
    "pandas",
    "numpy.f2py",
    "numpy.testing",
    "narwhals",
    "narwhals.stable",
    "narwhals.stable.v2",
    "sklearn.externals.array_api_extra",
    "asyncio",
)


class _Deferred(ModuleType):
    """Placeholder for a module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        path = self.__name__.split(".")
        for depth in range(len(path)):  # a package that is a placeholder has no modules
            package = ".".join(path[: depth + 1])
            if isinstance(sys.modules.get(package), _Deferred):
                del sys.modules[package]
        return getattr(import_module(self.__name__), name)


@contextmanager
def _deferring(*names: str) -> Iterator[None]:
    """Defer imports of these modules within the block until a name is first used."""
    stand_ins: dict[str, _Deferred] = {}
    try:
        for name in names:
            parent, _, attribute = name.rpartition(".")
            top = name.partition(".")[0]
            if name in sys.modules or (top not in stand_ins and find_spec(top) is None):
                continue
            if top != name and top not in stand_ins and top != "sklearn":
                import_module(top)  # scikit-learn would import what is to be deferred
            stand_ins[name] = sys.modules[name] = _Deferred(name)
            if parent in sys.modules:  # whose names SciPy and scikit-learn read
                vars(sys.modules[parent]).setdefault(attribute, stand_ins[name])
        yield
    finally:  # later imports get the real modules
        for name, stand_in in stand_ins.items():
            parent, _, attribute = name.rpartition(".")
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
            above = sys.modules.get(parent)
            if above is not None and vars(above).get(attribute) is stand_in:
                delattr(above, attribute)


with _deferring(*_UNUSED):
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_array
    from sklearn.utils.validation import _num_samples as num_samples
    from sklearn.utils.validation import check_is_fitted, validate_data


def forget_results(estimator: Any) -> None:
    """Remove the results of an earlier fit, because not every fit sets every attribute."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def record_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_``, and ``feature_names_in_`` if X has names of columns, without a check of the values."""
    if type(X) is np.ndarray and X.ndim == 2:  # which has no names, and needs no narwhals to say so
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    else:
        with suppress(IndexError):  # an empty list, which is refused as points
            validate_data(estimator, X, skip_check_array=True)
    record_order(estimator, X)


@contextmanager
def names_checked() -> Iterator[None]:
    """Silence scikit-learn's warnings about names of columns, which an outer estimator has compared."""
    with warnings.catch_warnings():
        pattern = "X (has|does not have valid) feature names, but"
        warnings.filterwarnings("ignore", pattern, UserWarning)
        yield


def record_order(estimator: Any, X: Any) -> None:
    """Keep the names of columns that are not strings; scikit-learn compares strings only."""
    names = _other_names(X)
    if names is None:
        vars(estimator).pop("_column_order", None)
    else:
        estimator._column_order = names


def check_order(estimator: Any, X: Any) -> None:
    """Refuse columns with the names of those of ``fit`` in another order.

    Parameters
    ----------
    estimator : estimator
        Whose columns were recorded in ``fit``.
    X : object
        New objects; anything else than a frame with names that are not strings is not looked at.

    Raises
    ------
    InputError
        If the order is another one.
    """
    known, names = vars(estimator).get("_column_order"), _other_names(X)
    if known and names and names != known and set(names) == set(known):
        more = ", ..." if len(known) > _NAMED else ""
        raise InputError(
            "The columns of X have the names of those in fit, in another order. Bring them to the order of fit: "
            f"{', '.join(map(repr, known[:_NAMED]))}{more}."
        )


def _other_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame of pandas if they are not strings."""
    names = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    return names if names and not all(isinstance(name, str) for name in names) else None


def scalers() -> tuple[type[Any], type[Any]]:
    """Import scikit-learn's MinMaxScaler and StandardScaler, and return the classes."""
    with _deferring(*_UNUSED):
        from sklearn.preprocessing import MinMaxScaler, StandardScaler
    return MinMaxScaler, StandardScaler
