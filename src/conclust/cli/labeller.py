"""The file that labels new points: the models of a generated ensemble's members, as plain arrays.

``generator.npz`` holds the model of every member (centres of k-means, landmarks and their cut of spectral
clustering), the columns that it drew, the scaling and what fills empty cells. It is not a pickle: reading it
runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from conclust._storage import Expected, read_npz, write_npz
from conclust.exceptions import FileFormatError, InputError
from conclust.generation.labelling import Labelling
from conclust.generation.models import MODELS, Model
from conclust.points import Refinement

__all__ = ["Labeller"]

_FORMAT = "conclust generator"
_VERSION = 4
# The arrays of all members of one kind, one after the other; the shape of each; which of them each member has.
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
    "features": Expected("i", 1),
    "feature_counts": Expected("i", 1),
    "scaling": Expected("f", 2, optional=True),
    "filling": Expected("f", 1, optional=True),
    "centers": Expected("f", 2, optional=True),
    "whitening": Expected("f", 2, optional=True),
    "votes": Expected("f", 2, optional=True),
    **_MODELS,
}


@dataclass(frozen=True)
class Labeller:
    """Labels new points as the members of a fitted generator do.

    Attributes
    ----------
    models : list of Model
        Model of each member, which labels the scaled points.
    features : list of ndarray of int
        Columns used by each member.
    scale : {"minmax", "standard"} or None
        Scaling of the points.
    scaling : ndarray of shape (2, n_columns) or None
        Offset and factor of each column: of "minmax" to add and multiply by, of "standard" to
        subtract and divide by.
    filling : ndarray of shape (n_columns,) or None
        Values that fill empty cells; None: objects with empty cells get no label.
    gaps : bool
        Whether cells may be empty.
    columns, categories : tuple of str
        Names of the columns of numbers, and of the columns of categories.
    refinement : Refinement or None
        The centres that the consensus was refined to.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters) or None
        The votes that place objects in an :class:`conclust.AutoConsensus`, or in the refined clusters, by their labels.
    """

    models: list[Model]
    features: list[NDArray[np.int64]]
    scale: str | None
    scaling: NDArray[np.float64] | None
    filling: NDArray[np.float64] | None
    gaps: bool
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    refinement: Refinement | None = None
    votes: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        generator: Any,
        columns: Sequence[str],
        categories: Sequence[str],
        filling: NDArray[np.float64] | None,
        *,
        gaps: bool,
        refinement: Refinement | None = None,
        votes: NDArray[np.float64] | None = None,
    ) -> Labeller | None:
        """Return the models of a fitted EnsembleGenerator; None if members cannot label new points.

        Parameters
        ----------
        generator : EnsembleGenerator
            The fitted generator.
        columns, categories : sequence of str
            Names of the columns of numbers, and of the columns of categories.
        filling : ndarray of shape (n_columns,) or None
            Values for empty cells.
        gaps : bool
            Whether cells may be empty.
        refinement : Refinement or None
            The centres that the consensus was refined to.
        votes : ndarray of shape (n_ensemble_clusters, n_clusters) or None
            The votes that place objects in an :class:`conclust.AutoConsensus` by their labels; that of a refinement
            takes its place.
        """
        models = [member.model for member in generator.members_ if member.model is not None]
        if len(models) < len(generator.members_):
            return None
        every = np.arange(len(columns))
        scaler, scaling = generator.scaler_, None
        if generator.scale_ == "minmax":
            scaling = np.array([scaler.min_, scaler.scale_])
        elif generator.scale_ == "standard":
            scaling = np.array([scaler.mean_, scaler.scale_])
        return cls(
            models,
            [every if m.features is None else np.array(m.features) for m in generator.members_],
            generator.scale_,
            scaling,
            filling,
            gaps,
            tuple(columns),
            tuple(categories),
            refinement,
            votes if refinement is None else refinement.votes,
        )

    def nearest_centers(self, X: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """Return the labels of points by the centres that the consensus was refined to, if it was.

        Points (n_new, n_columns) with an empty cell that is not filled have the label -1.
        """
        if self.refinement is None:
            return None
        if self.filling is not None:
            X = np.where(np.isnan(X), self.filling, X)
        complete = ~np.isnan(X).any(axis=1)
        labels = np.full(len(X), -1, dtype=np.int64)
        points = np.ascontiguousarray(self._scaled(X[complete]))
        labels[complete] = self.refinement.labels(points)
        return labels

    def label(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Label points (n_new, n_columns), NaN where a cell is empty; -1 where that is not filled."""
        if self.filling is not None:
            X = np.where(np.isnan(X), self.filling, X)
        complete = ~np.isnan(X).any(axis=1)
        points = np.ascontiguousarray(self._scaled(X[complete]))
        labels = np.full((len(X), len(self.models)), -1, dtype=np.int64)
        labelling = Labelling(self.models, self.features, X.shape[1], np.int32)
        labels[complete] = labelling.label(points, 1)
        return labels

    def _scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scaling is None:
            return X
        offset, factor = self.scaling
        # The order of scikit-learn's scalers, so that the same points are the same to the bit.
        scaled: NDArray[np.float64]
        scaled = X * factor + offset if self.scale == "minmax" else (X - offset) / factor
        return scaled

    def save(self, path: Path) -> None:
        """Write the file."""
        arrays = {
            "features": np.concatenate(self.features).astype(np.int64),
            "feature_counts": np.array([len(f) for f in self.features], dtype=np.int64),
            **_packed(self.models),
        }
        if self.scaling is not None:
            arrays["scaling"] = self.scaling
        if self.filling is not None:
            arrays["filling"] = self.filling
        if self.refinement is not None:
            arrays["centers"] = self.refinement.centers
            if self.refinement.whitening is not None:
                arrays["whitening"] = self.refinement.whitening
        if self.votes is not None:
            arrays["votes"] = self.votes
        meta = {
            "format": _FORMAT,
            "version": _VERSION,
            "columns": list(self.columns),
            "categories": list(self.categories),
            "models": [model.kind for model in self.models],
            "scale": self.scale,
            "gaps": self.gaps,
        }
        write_npz(path, arrays, meta)

    @classmethod
    def load(cls, path: Path) -> Labeller:
        """Read the file and validate each part.

        Raises
        ------
        InputError
            It does not exist: the members of that ensemble cannot label new points.
        FileFormatError
            It is damaged, or not such a file.
        """
        if not path.exists():
            raise InputError(
                f"{path.parent} cannot label new points: it has no {path.name}, which 'conclust cluster' "
                "writes where every member can: by default, and with --generator kmeans, spectral, graph, density or several of them."
            )
        arrays, meta = read_npz(path, expected=_EXPECTED)
        if meta.get("format") != _FORMAT or meta.get("version") != _VERSION:
            _refuse(path)
        columns, categories = (_names(path, meta.get(key)) for key in ("columns", "categories"))
        scale, gaps = meta.get("scale"), meta.get("gaps")
        widths, features = arrays["feature_counts"], arrays["features"]
        d = len(columns)
        sound = (
            d > 0
            and len(widths) > 0
            and bool((widths > 0).all() and (widths <= d).all())
            and int(widths.sum()) == len(features)
            and bool((features >= 0).all() and (features < d).all())
            and all(bool(np.isfinite(array).all()) for array in arrays.values())
            and scale in (None, "minmax", "standard")
            and isinstance(gaps, bool)
            and (scale is None) == ("scaling" not in arrays)
            and ("scaling" not in arrays or arrays["scaling"].shape == (2, d))
            and ("filling" not in arrays or len(arrays["filling"]) == d)
            and (scale != "standard" or bool((arrays["scaling"][1] != 0).all()))
            and ("centers" not in arrays or arrays["centers"].shape[1] == d)
            and ("centers" not in arrays or len(arrays["centers"]) > 1)
            and ("whitening" not in arrays or "centers" in arrays)
            and ("whitening" not in arrays or arrays["whitening"].shape == (d, d))
            and ("centers" not in arrays or "votes" in arrays)
            and ("centers" not in arrays or len(arrays["centers"]) == arrays["votes"].shape[1])
            and ("votes" not in arrays or bool((arrays["votes"] >= 0).all()))
        )
        if not sound:
            _refuse(path)
        drawn = np.split(features, np.cumsum(widths)[:-1])
        models = _unpacked(meta.get("models"), arrays)
        if models is None or [model.n_features for model in models] != widths.tolist():
            _refuse(path)
        return cls(
            models,
            drawn,
            scale,
            arrays.get("scaling"),
            arrays.get("filling"),
            bool(gaps),
            columns,
            categories,
            Refinement(arrays["centers"], arrays["votes"], arrays.get("whitening"))
            if "centers" in arrays
            else None,
            arrays.get("votes"),
        )


def _packed(models: Sequence[Model]) -> dict[str, NDArray[Any]]:
    """Return arrays that hold the models: of each kind, one member after the other."""
    packed = {}
    for kind in {model.kind for model in models}:
        parts = [model.arrays() for model in models if model.kind == kind]
        for name in MODELS[kind].layout:
            arrays = [part[name] for part in parts]
            # Models may share an array: the points that all members by neighbours were fitted to.
            distinct = {id(array): array for array in arrays}
            number = {key: i for i, key in enumerate(distinct)}
            different = list(distinct.values())
            packed[f"{kind}_{name}"] = np.concatenate([array.ravel() for array in different])
            packed[f"{kind}_{name}_shapes"] = np.array([array.shape for array in different])
            packed[f"{kind}_{name}_numbers"] = np.array([number[id(array)] for array in arrays])
    return packed


def _unpacked(kinds: Any, arrays: dict[str, NDArray[Any]]) -> list[Model] | None:
    """Return the models that `_packed` packed; None if the arrays hold none of these kinds."""
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
        for i, u in enumerate(places):
            models[u] = MODELS[kind].of_arrays({name: parts[i] for name, parts in split.items()})
    found = [model for model in models if model is not None]
    return found if len(found) == len(kinds) else None


def _split(flat: NDArray[Any], shapes: NDArray[np.int64], ndim: int) -> list[NDArray[Any]] | None:
    """Return the arrays of these shapes that lie one after the other; None if they do not."""
    if shapes.shape[1] != ndim or not ((shapes > 0) & (shapes <= len(flat))).all():
        return None
    sizes = [
        math.prod(shape) for shape in shapes.tolist()
    ]  # Python's ints: forged ones may be long
    if sum(sizes) != len(flat):
        return None
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]


def _names(path: Path, stored: Any) -> tuple[str, ...]:
    if not isinstance(stored, list) or not all(isinstance(name, str) for name in stored):
        _refuse(path)
    return tuple(stored)


def _refuse(path: Path) -> NoReturn:
    raise FileFormatError(f"{path} is damaged, or was written by another version of conclust.")
