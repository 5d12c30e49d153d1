"""Stores a fitted generator in a file: the models of its members, the scaling and the parameters, as plain arrays and JSON.

It is not a pickle: reading it runs nothing, and every number is checked before a kernel uses it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conclust._files.storage import Expected, PathLike, read_npz, write_npz
from conclust._types import Ints
from conclust.exceptions import FileFormatError, InputError
from conclust.generation.labelling.models import MODELS, Model, Searches
from conclust.generation.labelling.rotation import DIGEST, Rotation
from conclust.generation.members import Member
from conclust.generation.scaling import Scaler, scaler_of
from conclust.generation.sizes import type_for

_FORMAT = "conclust generator"
_VERSION = 6
# Version 6 added the rotation.
_READ = (5, 6)
# The concatenated arrays of all members of one kind, their shapes, and the arrays of each member.
_MODELS = {
    f"{kind}_{name}{part}": expected
    for kind, model in MODELS.items()
    for name, of in model.layout.items()
    for part, expected in {
        "": Expected(of[0], 1, optional=True),
        "_shapes": Expected("i", 2, optional=True),
        "_numbers": Expected("i", 1, optional=True),
    }.items()
}
_EXPECTED = {
    # Rows are members: their clusters, objects drawn, objects fitted, columns drawn (0: all).
    "members": Expected("i", 2),
    "seeds": Expected("u", 1),
    "features": Expected("i", 1),
    "scaling": Expected("f", 2, optional=True),
    "origin": Expected("f", 1, optional=True),
    "axes": Expected("f", 2, optional=True),
    "coordinates": Expected("f", 2, optional=True),
    "digests": Expected("u", 2, optional=True),
    **_MODELS,
}
# Attributes of a fitted scaler, each a row of "scaling"; transform reads the first two.
_SCALERS = {
    "minmax": ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    "standard": ("mean_", "scale_", "var_"),
}
# The arrays of a rotation.
_ROTATION = ("origin", "axes", "coordinates", "digests")
# Parameters that affect how a generator runs, but not its result.
_RUNNING = ("n_jobs", "cache_dir", "verbose")
# Unsigned types are of files from before labels were signed.
_LABEL_TYPES = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_LARGEST = 1 << 53


class StoredGenerator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Files of fitted generators; the base of :class:`conclust.EnsembleGenerator`."""

    def save(self, path: PathLike) -> None:
        """Write the fitted generator to a file; ``load`` reads it back as one that labels new points identically.

        The file is an NPZ file of plain arrays, not a pickle. It holds the members and their models (centres,
        landmarks, the points of members by neighbours), the scaling and the parameters, but not `n_jobs`,
        `cache_dir` and `verbose`.

        Parameters
        ----------
        path : path-like
            The file; nothing is added to its name. An existing one is replaced.

        Raises
        ------
        InputError
            If a member cannot label new points, or a parameter is a Python object: a clusterer, a Generator.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from conclust import EnsembleGenerator
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> generator = EnsembleGenerator("kmeans", 5, random_state=0).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     generator.save(Path(folder) / "generator.npz")
        ...     again = EnsembleGenerator.load(Path(folder) / "generator.npz")
        >>> bool((again.transform(X) == generator.transform(X)).all())
        True
        """
        check_is_fitted(self)
        store(self, path)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a fitted generator that ``save`` wrote; see there for an example.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        EnsembleGenerator
            The fitted generator, with the default `n_jobs`, `cache_dir` and `verbose`.

        Raises
        ------
        OSError
            If the file is missing or cannot be read.
        FileFormatError
            If it is damaged, of another version, or not the file of a generator.
        """
        generator = cls()
        restore(generator, path)
        return generator


def refusal_to_save(generator: Any) -> str | None:
    """Return the reason why a fitted generator cannot be stored; None if it can."""
    without = sorted({m.method for m in generator.members_ if m.model is None})
    if without:
        return (
            f"A generator is saved with the models that label new points, and members by {', '.join(without)} have none. "
            "Save the labels that fit_transform returns."
        )
    try:
        json.dumps(_parameters(generator), allow_nan=False)
    except (TypeError, ValueError):
        return (
            "A generator is saved without pickle, and a parameter of this generator is a Python object. Use names of "
            "methods and an int as random_state, or save the labels that fit_transform returns."
        )
    return None


def store(generator: Any, path: PathLike) -> None:
    """Write a fitted generator; see `EnsembleGenerator.save`."""
    refusal = refusal_to_save(generator)
    if refusal is not None:
        raise InputError(refusal)
    members: list[Member] = generator.members_
    models = [member.model for member in members if member.model is not None]
    drawn = [() if member.features is None else member.features for member in members]
    arrays: dict[str, NDArray[Any]] = {
        "members": np.array(
            [
                (m.n_clusters, m.n_objects, m.n_fitted, len(columns))
                for m, columns in zip(members, drawn, strict=True)
            ],
            dtype=np.int64,
        ),
        "seeds": np.array([member.seed for member in members], dtype=np.uint64),
        "features": np.array([j for columns in drawn for j in columns], dtype=np.int64),
        **_packed(models),
    }
    scaler = generator.scaler_
    if scaler is not None:
        names = _SCALERS[generator.scale_]
        arrays["scaling"] = np.array([getattr(scaler, name) for name in names], dtype=np.float64)
    if generator._rotation is not None:
        arrays.update({name: getattr(generator._rotation, name) for name in _ROTATION})
    names_in = getattr(generator, "feature_names_in_", None)
    meta = {
        "format": _FORMAT,
        "version": _VERSION,
        "parameters": _parameters(generator),
        "n_features": int(generator.n_features_in_),
        "feature_names": None if names_in is None else list(map(str, names_in)),
        "n_scaled": 0 if scaler is None else int(scaler.n_samples_seen_),
        "scale": generator.scale_,
        "scale_reason": generator.scale_reason_,
        "methods": [member.method for member in members],
        "models": [model.kind for model in models],
        "label_type": generator._dtype.name,
    }
    write_npz(path, arrays, meta)


def restore(generator: Any, path: PathLike) -> None:
    """Restore a new generator from a file; see `EnsembleGenerator.load`.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError
        It is damaged, of another version, or not a file of a generator.
    """
    arrays, meta = read_npz(path, expected=_EXPECTED)
    if meta.get("format") != _FORMAT:
        raise FileFormatError(f"{path} is not the file of a generator.")
    if meta.get("version") not in _READ:
        raise FileFormatError(
            f"{path} has version {meta.get('version')!r} of the format of generators; this version of conclust reads "
            f"{_VERSION}. Fit the generator again, and save it."
        )
    d: Any = meta.get("n_features")
    parameters, names = meta.get("parameters"), meta.get("feature_names")
    parameter_names = set(generator.get_params(deep=False)) - set(_RUNNING)
    if not isinstance(parameters, dict) or set(parameters) != parameter_names or not _size(d):
        _refuse(path)
    if names is not None and not (_texts(names) and len(names) == d):
        _refuse(path)
    n_scaled: Any = meta.get("n_scaled")
    scale, reason = meta.get("scale"), meta.get("scale_reason")
    if not isinstance(reason, str) or not _fits_scaling(scale, arrays, d, n_scaled):
        _refuse(path)
    if not _fits_rotation(arrays, d):
        _refuse(path)
    rotation = _rotation(arrays)
    members = _members(meta, arrays, d, rotation)
    label_type = meta.get("label_type")
    if members is None or not isinstance(label_type, str) or label_type not in _LABEL_TYPES:
        _refuse(path)
    if np.iinfo(label_type).max < max(member.n_clusters for member in members) - 1:
        _refuse(path)
    generator.set_params(**parameters)
    generator.n_features_in_ = d
    if names is not None:
        generator.feature_names_in_ = np.array(names, dtype=object)
    generator.scale_, generator.scale_reason_ = scale, reason
    generator.scaler_ = _scaler(scale, arrays, d, n_scaled)
    generator._rotation = rotation
    generator.members_ = members
    generator.n_cached_ = 0
    stored = np.dtype(label_type)
    generator._dtype = stored if stored.kind == "i" else type_for(members)
    generator._seen, generator._seen_digest = {}, None


def _parameters(generator: Any) -> dict[str, Any]:
    """Return the parameters that affect the result, with ranges of numbers as lists."""
    parameters = generator.get_params(deep=False)
    return {name: _plain(value) for name, value in parameters.items() if name not in _RUNNING}


def _plain(value: Any) -> Any:
    if isinstance(value, range | tuple | list):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _fits_scaling(scale: Any, arrays: dict[str, NDArray[Any]], d: int, n_scaled: Any) -> bool:
    if scale is None:
        return "scaling" not in arrays and n_scaled == 0
    if (
        not isinstance(scale, str)
        or scale not in _SCALERS
        or "scaling" not in arrays
        or not _size(n_scaled)
    ):
        return False
    scaling = arrays["scaling"]
    sound = scaling.shape == (len(_SCALERS[scale]), d) and bool(np.isfinite(scaling).all())
    return sound and bool((scaling[1] != 0).all())


def _scaler(scale: Any, arrays: dict[str, NDArray[Any]], d: int, n_scaled: int) -> Scaler | None:
    scaler = scaler_of(scale)
    if scaler is not None:
        for name, row in zip(_SCALERS[scale], arrays["scaling"], strict=True):
            setattr(scaler, name, row.astype(np.float64))
        scaler.n_features_in_ = d
        scaler.n_samples_seen_ = n_scaled
    return scaler


def _fits_rotation(arrays: dict[str, NDArray[Any]], d: int) -> bool:
    present = [name in arrays for name in _ROTATION]
    if not all(present):
        return not any(present)
    origin, axes, coordinates, digests = (arrays[name] for name in _ROTATION)
    r = axes.shape[1]
    return bool(
        origin.shape == (d,)
        and axes.shape == (d, r)
        and 0 < r < d
        and coordinates.shape == (r, r)
        and digests.shape == (r, DIGEST)
        and digests.dtype == np.uint8
        and np.isfinite(origin).all()
        and np.isfinite(axes).all()
        and np.isfinite(coordinates).all()
    )


def _rotation(arrays: dict[str, NDArray[Any]]) -> Rotation | None:
    return Rotation(*(arrays[name] for name in _ROTATION)) if "axes" in arrays else None


def _members(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], d: int, rotation: Rotation | None
) -> list[Member] | None:
    """Return the members; None if their parts do not fit each other."""
    all_coordinates = d if rotation is None else rotation.n_coordinates
    methods: Any = meta.get("methods")
    rows = arrays["members"]
    seeds, features = arrays["seeds"], arrays["features"]
    sound = (
        rows.shape[1:] == (4,)
        and len(rows) > 0
        and bool((rows[:, :3] > 0).all() and (rows < _LARGEST).all())
        and bool((rows[:, 0] <= rows[:, 2]).all() and (rows[:, 2] <= rows[:, 1]).all())
        and bool((rows[:, 3] >= 0).all() and (rows[:, 3] <= d).all())
        and len(features) == int(rows[:, 3].sum())
        and bool((features >= 0).all() and (features < d).all())
        and len(seeds) == len(rows)
        and _texts(methods)
        and len(methods) == len(rows)
    )
    if not sound:
        return None
    models = _unpacked(meta.get("models"), arrays)
    if models is None or len(models) != len(rows):
        return None
    drawn = np.split(features, np.cumsum(rows[:, 3])[:-1])
    members = []
    for method, row, seed, drawn_columns, model in zip(
        methods, rows.tolist(), seeds.tolist(), drawn, models, strict=True
    ):
        n_clusters, n_objects, n_fitted, width = row
        if model.n_features != (width or all_coordinates) or model.n_clusters != n_clusters:
            return None
        columns = tuple(drawn_columns.tolist()) if width else None
        members.append(
            Member(method, n_clusters, seed, n_objects, n_fitted, columns, model, rotation)
        )
    return members


def _packed(models: Sequence[Model]) -> dict[str, NDArray[Any]]:
    """Return arrays that hold the models, one member after the other within each kind."""
    packed = {}
    for kind in sorted({model.kind for model in models}):  # the same file in every process
        parts = [model.arrays() for model in models if model.kind == kind]
        for name in MODELS[kind].layout:
            arrays = [part[name] for part in parts]
            # Models may share an array, such as the points that all members by neighbours were fitted to. Those read
            # from a cache share it by content only.
            digests = {id(array): _digest(array) for array in {id(a): a for a in arrays}.values()}
            distinct = {digests[id(array)]: array for array in arrays}
            number = {key: i for i, key in enumerate(distinct)}
            different = list(distinct.values())
            packed[f"{kind}_{name}"] = np.concatenate([array.ravel() for array in different])
            packed[f"{kind}_{name}_shapes"] = np.array([array.shape for array in different])
            packed[f"{kind}_{name}_numbers"] = np.array(
                [number[digests[id(array)]] for array in arrays]
            )
    return packed


def _digest(array: NDArray[Any]) -> tuple[Any, ...]:
    return array.shape, array.dtype.str, sha256(np.ascontiguousarray(array).data).digest()


def _unpacked(kinds: Any, arrays: dict[str, NDArray[Any]]) -> list[Model] | None:
    """Undo `_packed`; None if the arrays do not hold valid models."""
    if not isinstance(kinds, list) or any(
        not isinstance(kind, str) or kind not in MODELS for kind in kinds
    ):
        return None
    if {name for name in arrays if name in _MODELS} != {
        name for name in _MODELS if name.partition("_")[0] in kinds
    }:
        return None
    models: list[Model | None] = [None] * len(kinds)
    for kind in set(kinds):
        places = [u for u, other in enumerate(kinds) if other == kind]
        split = {}
        for name, (_, ndim) in MODELS[kind].layout.items():
            parts = _split(arrays[f"{kind}_{name}"], arrays[f"{kind}_{name}_shapes"], ndim)
            numbers = arrays[f"{kind}_{name}_numbers"]
            if parts is None or len(numbers) != len(places):
                return None
            if not np.array_equal(np.unique(numbers), np.arange(len(parts))):
                return None
            split[name] = [parts[number] for number in numbers.tolist()]
        shared = Searches().shared
        for i, u in enumerate(places):
            models[u] = shared(
                MODELS[kind].of_arrays({name: parts[i] for name, parts in split.items()})
            )
    valid = [model for model in models if model is not None]
    return valid if len(valid) == len(kinds) else None


def _split(flat: NDArray[Any], shapes: Ints, ndim: int) -> list[NDArray[Any]] | None:
    """Split concatenated arrays of these shapes; None if the sizes do not fit."""
    if shapes.shape[1] != ndim or not ((shapes > 0) & (shapes <= len(flat))).all():
        return None
    # Python ints, because forged values may be huge.
    sizes = [math.prod(shape) for shape in shapes.tolist()]
    if sum(sizes) != len(flat):
        return None
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]


def _size(value: Any) -> bool:
    return type(value) is int and 0 < value < _LARGEST


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _refuse(path: PathLike) -> NoReturn:
    raise FileFormatError(
        f"{Path(path)} is damaged, or not a file that EnsembleGenerator.save has written."
    )
