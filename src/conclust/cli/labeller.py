"""The file that labels new points: the models of a generated ensemble's members, as plain arrays.

``generator.npz`` holds the centres of every k-means member, the columns that it drew, the scaling and
what fills empty cells. It is no pickle: reading it runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from conclust._storage import Expected, read_npz, write_npz
from conclust.exceptions import FileFormatError, InputError
from conclust.generation.members import nearest_center

__all__ = ["Labeller"]

_FORMAT = "conclust generator"
_VERSION = 1
_EXPECTED = {
    "centers": Expected("f", 1),
    "center_counts": Expected("i", 1),
    "features": Expected("i", 1),
    "feature_counts": Expected("i", 1),
    "scaling": Expected("f", 2, optional=True),
    "filling": Expected("f", 1, optional=True),
}


@dataclass(frozen=True)
class Labeller:
    """Labels new points as the members of a fitted generator do.

    Attributes
    ----------
    centers : list of ndarray of shape (n_clusters_u, n_features_u)
        Of each member, in the units of the scaled points.
    features : list of ndarray of int
        The columns that each member sees.
    scale : {"minmax", "standard"} or None
        How points are scaled.
    scaling : ndarray of shape (2, n_columns) or None
        Offset and factor of each column: of "minmax" to add and multiply by, of "standard" to
        subtract and divide by.
    filling : ndarray of shape (n_columns,) or None
        What stands in empty cells; None: objects that have some get no label.
    gaps : bool
        Whether cells may be empty.
    columns, categories : tuple of str
        Names of the columns of numbers, and of the columns of categories.
    """

    centers: list[NDArray[np.float64]]
    features: list[NDArray[np.int64]]
    scale: str | None
    scaling: NDArray[np.float64] | None
    filling: NDArray[np.float64] | None
    gaps: bool
    columns: tuple[str, ...]
    categories: tuple[str, ...]

    @classmethod
    def of(
        cls,
        generator: Any,
        columns: Sequence[str],
        categories: Sequence[str],
        filling: NDArray[np.float64] | None,
        *,
        gaps: bool,
    ) -> Labeller | None:
        """Return the models of a fitted EnsembleGenerator; None if members cannot label new points."""
        if any(member.centers is None for member in generator.members_):
            return None
        every = np.arange(len(columns))
        scaler, scaling = generator.scaler_, None
        if generator.scale == "minmax":
            scaling = np.array([scaler.min_, scaler.scale_])
        elif generator.scale == "standard":
            scaling = np.array([scaler.mean_, scaler.scale_])
        return cls(
            [member.centers for member in generator.members_],
            [every if m.features is None else np.array(m.features) for m in generator.members_],
            generator.scale,
            scaling,
            filling,
            gaps,
            tuple(columns),
            tuple(categories),
        )

    def label(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Label points (n_new, n_columns), NaN where a cell is empty; -1 where that is not filled."""
        if self.filling is not None:
            X = np.where(np.isnan(X), self.filling, X)
        complete = ~np.isnan(X).any(axis=1)
        points = self._scaled(X[complete])
        labels = np.full((len(X), len(self.centers)), -1, dtype=np.int64)
        for u, (centers, features) in enumerate(zip(self.centers, self.features, strict=True)):
            labels[complete, u] = nearest_center(np.ascontiguousarray(points[:, features]), centers)
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
            "centers": np.concatenate([c.ravel() for c in self.centers]),
            "center_counts": np.array([len(c) for c in self.centers], dtype=np.int64),
            "features": np.concatenate(self.features).astype(np.int64),
            "feature_counts": np.array([len(f) for f in self.features], dtype=np.int64),
        }
        if self.scaling is not None:
            arrays["scaling"] = self.scaling
        if self.filling is not None:
            arrays["filling"] = self.filling
        meta = {
            "format": _FORMAT,
            "version": _VERSION,
            "columns": list(self.columns),
            "categories": list(self.categories),
            "scale": self.scale,
            "gaps": self.gaps,
        }
        write_npz(path, arrays, meta)

    @classmethod
    def load(cls, path: Path) -> Labeller:
        """Read the file, doubting each part.

        Raises
        ------
        InputError
            It is not there: the members of that ensemble cannot label new points.
        FileFormatError
            It is damaged, or no such file.
        """
        if not path.exists():
            raise InputError(
                f"{path.parent} cannot label new points: it has no {path.name}, which 'conclust cluster' "
                "writes with --generator kmeans. Members of other kinds have no centres."
            )
        arrays, meta = read_npz(path, expected=_EXPECTED)
        if meta.get("format") != _FORMAT or meta.get("version") != _VERSION:
            _refuse(path)
        columns, categories = (_names(path, meta.get(key)) for key in ("columns", "categories"))
        scale, gaps = meta.get("scale"), meta.get("gaps")
        counts, widths = arrays["center_counts"], arrays["feature_counts"]
        features = arrays["features"]
        d = len(columns)
        sound = (
            d > 0
            and len(counts) == len(widths) > 0
            and bool((counts > 0).all() and (widths > 0).all() and (widths <= d).all())
            and bool((counts <= len(arrays["centers"])).all())
            and int(widths.sum()) == len(features)
            and int((counts * widths).sum()) == len(arrays["centers"])
            and bool((features >= 0).all() and (features < d).all())
            and all(bool(np.isfinite(array).all()) for array in arrays.values())
            and scale in (None, "minmax", "standard")
            and isinstance(gaps, bool)
            and (scale is None) == ("scaling" not in arrays)
            and ("scaling" not in arrays or arrays["scaling"].shape == (2, d))
            and ("filling" not in arrays or len(arrays["filling"]) == d)
            and (scale != "standard" or bool((arrays["scaling"][1] != 0).all()))
        )
        if not sound:
            _refuse(path)
        drawn = np.split(features, np.cumsum(widths)[:-1])
        parts = np.split(arrays["centers"], np.cumsum(counts * widths)[:-1])
        return cls(
            [part.reshape(k, -1) for part, k in zip(parts, counts.tolist(), strict=True)],
            drawn,
            scale,
            arrays.get("scaling"),
            arrays.get("filling"),
            bool(gaps),
            columns,
            categories,
        )


def _names(path: Path, stored: Any) -> tuple[str, ...]:
    if not isinstance(stored, list) or not all(isinstance(name, str) for name in stored):
        _refuse(path)
    return tuple(stored)


def _refuse(path: Path) -> NoReturn:
    raise FileFormatError(f"{path} is damaged, or no file of this version of conclust.")
