"""The one form in which objects are saved: an NPZ file of plain arrays with a JSON description of what they belong to.

A file names types of `_TYPES` and public estimators, nothing else, so that reading it runs no code of others. A dataclass is
stored by its fields, an estimator by its parameters and fitted attributes, other types by their methods ``packed`` and
``unpacked``. ``_restored``, where a type has it, completes an object that was read, and says whether its parts fit.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import conclust
from conclust._files.storage import PathLike, npz_bytes, read_npz, refuse_file, write_npz
from conclust._parameters import check_parameters
from conclust._validation import shown
from conclust.exceptions import FileFormatError, InputError

__all__ = ["from_parts", "load", "of_bytes", "parts_of", "save", "to_bytes"]

_FORMAT, _VERSION = "conclust model", 1
# The types, other than public estimators, that a file can hold: their names there, and where they are.
_TYPES = {
    "MinMaxScaler": "sklearn.preprocessing._data",
    "StandardScaler": "sklearn.preprocessing._data",
    "Ensemble": "conclust.ensemble.ensemble",
    "SparseEvidence": "conclust.evidence.pairs",
    "Member": "conclust.generation.members",
    "Labelled": "conclust.generation.members",
    "Rotation": "conclust.generation.labelling.models",
    "Centers": "conclust.generation.labelling.models",
    "Directions": "conclust.generation.labelling.models",
    "LandmarkCut": "conclust.generation.labelling.models",
    "PointIndex": "conclust.neighbours.search",
    "NeighbourVote": "conclust.generation.labelling.models",
    "ClusterCenters": "conclust.pipeline",
    "Divergence": "conclust.divergences",
    "Recoding": "conclust.weighting.granularity",
    "FactoredModel": "conclust.consensus.papers.probabilistic.placements.factored_model",
    "LandmarkModel": "conclust.consensus.papers.probabilistic.placements.landmarks",
    "VotingModel": "conclust.consensus.auto.estimator",
    "Support": "conclust.consensus.auto.trees",
    "Decision": "conclust.consensus.auto.decision",
    "AtBorders": "conclust.consensus.auto.decision",
    "Testimony": "conclust.consensus.auto.decision",
    "Components": "conclust.consensus.mixture.multinomial",
    "MixedMemberships": "conclust.consensus.mixture.bayesian",
    "Constraints": "conclust.consensus.constraints",
    "Selection": "conclust.selection.selection",
    "PairCounts": "conclust.selection.judged.pairs",
    "BorderTests": "conclust.confidence.borders.result",
    "BorderPower": "conclust.confidence.borders.power",
    "Merge": "conclust.confidence.borders.result",
    "ConsensusTree": "conclust.confidence.borders.tree",
    "Split": "conclust.confidence.borders.tree",
    "ClusterGaps": "conclust.confidence.gaps",
    "ClusterFeatures": "conclust.confidence.features",
    "ClusterCategories": "conclust.confidence.features",
    "Calibration": "conclust.confidence.calibration",
    "Method": "conclust.consensus.method",
    "Reported": "conclust.results.result",
    "Record": "conclust.results.record",
    "Source": "conclust.results.record",
    "Features": "conclust.results.features",
}
# A list of more texts than this is stored as an array, because the size of a description is bounded.
_MANY = 1000
# What affects how an estimator runs, but not its result, and where its last report lies.
_RUNNING = ("n_jobs", "cache_dir", "verbose", "_report_")


def load(path: PathLike) -> Any:
    """Read a model, a generator or a selection that ``save`` wrote; see :meth:`conclust.ConsensusClustering.save`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object
        Equal to the one that was saved: it gives the same labels and memberships to new objects, to the bit.

    Raises
    ------
    OSError
        If the file is missing or cannot be read.
    FileFormatError
        If it is damaged, of a later version, or not a file that ``save`` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import conclust as cc
    >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]]
    >>> model = cc.ConsensusClustering(n_clusters=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.npz")
    ...     again = cc.load(Path(folder) / "model.npz")
    >>> again.predict([[0.2], [5.1]])
    array([0, 1])
    """
    return from_parts(path, *read_npz(path))


def save(path: PathLike, root: Any) -> None:
    """Write an object to a file; see ``Saved.save``."""
    write_npz(path, *parts_of(root))


def to_bytes(root: Any) -> NDArray[np.uint8]:
    """Return the content of the file that ``save`` writes."""
    return np.frombuffer(npz_bytes(*parts_of(root)), dtype=np.uint8)


def of_bytes(content: NDArray[np.uint8], name: str) -> Any:
    """Return the object that `to_bytes` packed; `name` identifies the content in error messages."""
    return from_parts(name, *read_npz(name, content=np.asarray(content, dtype=np.uint8).tobytes()))


def parts_of(root: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return an object as arrays, and the JSON description of what they belong to."""
    writer = _Writer(root)
    return writer.arrays, writer.meta


def from_parts(path: PathLike, arrays: dict[str, NDArray[Any]], meta: Any) -> Any:
    """Undo `parts_of`, checking the types of all parts; `path` identifies them in error messages."""
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        refuse_file(path, "was not written by 'save' of a model, a generator or a selection")
    if meta.get("version") != _VERSION:
        what = f"has format version {meta.get('version')!r}; this conclust reads version {_VERSION}"
        refuse_file(path, f"{what}: fit the model again, or read it with the version that saved it")
    try:
        return _Reader(arrays).root(meta["value"], meta["records"])
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        what = f"is damaged, or of another version of conclust ({error}): save the model again"
        raise FileFormatError(f"{path} {what}.") from error


def _named(name: str) -> Any:
    """Return the type that has this name in files, or None."""
    if name in _TYPES:
        return getattr(import_module(_TYPES[name]), name)
    kind = getattr(conclust, name) if name in conclust._HOMES else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseEstimator) else None


class _Writer:
    """Turns an object into JSON (`meta`) and arrays; parts that occur twice are stored once."""

    def __init__(self, root: Any) -> None:
        if isinstance(root, BaseEstimator):
            check_is_fitted(root)
        self.arrays: dict[str, NDArray[Any]] = {}
        self._records: list[Any] = []
        self._known: dict[
            int, tuple[int, Any]
        ] = {}  # with the object, so that its id stays its own
        self._stored: dict[tuple[Any, ...], str] = {}
        self._owner = type(root).__name__
        value = self._plain(root, "")
        self.meta = {
            "format": _FORMAT,
            "version": _VERSION,
            "value": value,
            "records": self._records,
        }

    def _plain(self, value: Any, name: str) -> Any:
        """Return a value as JSON; `name` is that of the attribute it is in."""
        kind = type(value)
        if kind in (bool, int, str, NoneType) or (kind is float and np.isfinite(value)):
            return value
        if kind is float:
            return {"float": str(value)}
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind is list and len(value) > _MANY and all(type(one) is str for one in value):
            return {"texts": self._array(np.frombuffer(json.dumps(value).encode(), np.uint8))}
        if kind in (list, tuple):
            numbers = len(value) > 8 and all(
                type(one) is int and abs(one) >> 62 == 0 for one in value
            )
            items = self._array(value) if numbers else [self._plain(one, name) for one in value]
            return {kind.__name__: items}
        if kind is dict:
            return {
                "dict": [
                    [self._plain(key, name), self._plain(one, name)] for key, one in value.items()
                ]
            }
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.generic):
            return {"number": self._array(value)}
        if kind is np.ndarray and value.dtype == object and value.ndim == 1:
            return {"objects": [self._plain(one, name) for one in value.tolist()]}
        if kind is np.ndarray and not value.dtype.hasobject:
            return {"array": self._array(value)}
        return {"record": self._record(value, name)}

    def _array(self, value: Any) -> str:
        array = np.asarray(value)
        fortran = bool(array.flags.fnc)
        content = sha256(array.tobytes("F" if fortran else "C")).digest()
        key = (array.shape, array.dtype.str, fortran, content)
        name = self._stored.setdefault(key, f"array_{len(self._stored)}")
        self.arrays[name] = array
        return name

    def _record(self, value: Any, name: str) -> int:
        if id(value) in self._known:
            return self._known[id(value)][0]
        kind = type(value)
        parts = _parts(value) if _named(kind.__name__) is kind else None
        if parts is None:
            what = (
                f"its {name!r} is {shown(value)}"
                if name
                else "it is none of the types that are stored"
            )
            raise InputError(
                f"{self._owner} cannot be saved, because {what}: a file holds numbers, words, arrays and estimators of conclust, "
                "but no code and no random generator. Give the parameter as a name or a number, or use joblib, whose files "
                "must only be read by those who trust them."
            )
        described = {key: self._plain(part, key) for key, part in parts.items()}
        self._known[id(value)] = len(self._records), value
        self._records.append([kind.__name__, described])
        return len(self._records) - 1


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _parts(value: Any) -> dict[str, Any] | None:
    """Return the parts that an object is stored by; None if it cannot be stored."""
    if isinstance(value, BaseEstimator):
        state = value._stored_state() if hasattr(value, "_stored_state") else vars(value)
        names = sorted(
            state, key=lambda name: ("_" in (name[0], name[-1]), name)
        )  # parameters first
        return {name: state[name] for name in names if name not in _RUNNING}
    if hasattr(value, "packed"):
        return cast("dict[str, Any] | None", value.packed())
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}


class _Reader:
    """Undoes `_Writer`, checking the types of all parts."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._records: list[Any] = []

    def root(self, value: Any, records: Iterable[Any]) -> Any:
        """Return the object; each record refers to earlier ones only."""
        for name, parts in records:
            self._records.append(
                self._made(name, {key: self._value(part) for key, part in parts.items()})
            )
        return self._value(value)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            if isinstance(value, list):
                raise TypeError("a list without a type")
            return value
        ((kind, content),) = value.items()
        if kind in ("list", "tuple"):
            items = (
                self._arrays[content].tolist()
                if isinstance(content, str)
                else map(self._value, content)
            )
            return list(items) if kind == "list" else tuple(items)
        if kind == "dict":
            return {self._value(key): self._value(one) for key, one in content}
        if kind == "objects":
            return np.array([*map(self._value, content), None], dtype=object)[:-1]
        undo: dict[str, Callable[[Any], Any]] = {
            "float": float,
            "range": lambda ends: range(*ends),
            "dtype": np.dtype,
            "number": lambda name: self._arrays[name][()],
            "array": self._arrays.__getitem__,
            "texts": lambda name: json.loads(self._arrays[name].tobytes()),
            "record": lambda place: self._records[range(len(self._records))[place]],
        }
        return undo[kind](content)

    def _made(self, name: str, parts: dict[str, Any]) -> Any:
        kind = _named(name)
        hints = _hints(kind)
        if issubclass(kind, BaseEstimator):
            made = _estimator(kind, parts)
        elif hasattr(kind, "unpacked"):
            made, hints = kind.unpacked(parts), {}
        else:
            made = kind(**parts)
        odd = [key for key, part in parts.items() if key in hints and not fits(part, hints[key])]
        if made is None or odd:
            raise ValueError(f"{name} {' '.join(odd)}")
        whole = not isinstance(made, BaseEstimator) or any(key.endswith("_") for key in parts)
        if whole and hasattr(made, "_restored") and not made._restored():
            raise ValueError(f"the parts of {name} do not fit each other")
        return made


def _estimator(kind: Any, parts: dict[str, Any]) -> Any:
    """Return a fitted estimator from its parameters and attributes; arrays are its own."""
    names = set(kind().get_params(deep=False)) - set(_RUNNING)
    made = kind(**{name: parts[name] for name in names})
    check_parameters(made)
    for name, part in parts.items():
        if name not in names:
            inner = not name.startswith("__") and (name.startswith("_") or name.endswith("_"))
            if not inner or (hasattr(kind, name) and callable(getattr(kind, name))):
                raise ValueError(f"{name} is not an attribute of a fit")
            setattr(made, name, part.copy() if isinstance(part, np.ndarray) else part)
    return made


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value has a type, as annotations write it; types of other kinds fit all values."""
    kind, of = get_origin(hint), get_args(hint)
    if hasattr(kind, "__value__"):  # NDArray from NumPy 2.5 on, which needs Python 3.12
        return fits(value, kind.__value__[of])
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in of)
    if kind is Literal:
        return any(type(value) is type(one) and value == one for one in of)
    if kind is np.ndarray:
        scalar = get_args(of[1])[0]
        return isinstance(value, np.ndarray) and (
            scalar is Any or np.issubdtype(value.dtype, scalar)
        )
    if kind is tuple and of[1:] != (...,):
        return isinstance(value, tuple) and len(value) == len(of) and all(map(fits, value, of))
    if kind in (list, tuple):
        return isinstance(value, kind) and all(fits(one, of[0]) for one in value)
    if kind is dict:
        return isinstance(value, dict) and all(
            fits(k, of[0]) and fits(v, of[1]) for k, v in value.items()
        )
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is not None:
        return isinstance(value, kind)
    plain = isinstance(hint, type) and not getattr(hint, "_is_protocol", False)
    return not plain or hint is Any or isinstance(value, hint)
