"""Imports scikit-learn's base and scalers without modules that no fit of this library uses.

scikit-learn imports ``scipy.stats``, and pandas where it is installed; SciPy imports all of NumPy, with
``numpy.f2py`` and ``numpy.testing``: together two thirds of the seconds of a first import. They are imported at the
first use of a name of theirs instead. Modules take the names below from here, so that this holds whichever module is
imported first; for SciPy's part ``conclust.__getattr__`` imports this module before any other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClusterMixin",
    "ConvergenceWarning",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "clone",
    "num_samples",
    "scalers",
    "validate_data",
]

_UNUSED = ("scipy.stats", "pandas", "numpy.f2py", "numpy.testing")


class _Deferred(ModuleType):
    """Placeholder for a module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def _deferring(*names: str) -> Iterator[None]:
    """Defer imports of these modules within the block until a name is first used."""
    stand_ins: dict[str, _Deferred] = {}
    try:
        for name in names:
            parent, _, attribute = name.rpartition(".")
            if name in sys.modules or find_spec(name) is None:
                continue
            stand_ins[name] = sys.modules[name] = _Deferred(name)
            if parent:  # whose names SciPy reads
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


def scalers() -> tuple[type[Any], type[Any]]:
    """Import scikit-learn's MinMaxScaler and StandardScaler, and return the classes."""
    with _deferring(*_UNUSED):
        from sklearn.preprocessing import MinMaxScaler, StandardScaler
    return MinMaxScaler, StandardScaler
