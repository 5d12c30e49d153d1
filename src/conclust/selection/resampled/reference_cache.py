"""Finished references on disk, so that an interrupted test can be resumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from conclust._files.storage import read_json, write_json
from conclust._types import Floats
from conclust.exceptions import FileFormatError
from conclust.generation.cache import open_cache, points_digest, render_clusterer
from conclust.selection.settings import Settings

_FORMAT = "conclust reference 2"


@dataclass(frozen=True)
class ReferenceCache:
    """Statistics of references, one small file each, for one set of points and settings.

    Attributes
    ----------
    folder : Path
        Folder that only the user can read.
    key : str
        Key of everything that determines a reference except its number.
    n_statistics : int
        Number of statistics of each.
    """

    folder: Path
    key: str
    n_statistics: int

    def _path(self, r: int) -> Path:
        return self.folder / f"reference-{self.key}-{r}.json"

    def read(self, r: int) -> Floats | None:
        """Return a reference; None if it is missing, or damaged and must be computed again."""
        try:
            entry = read_json(self._path(r))
            if entry["format"] != _FORMAT or entry["key"] != self.key or entry["number"] != r:
                return None
            row = np.array([float.fromhex(value) for value in entry["statistics"]])
        except (FileNotFoundError, FileFormatError, KeyError, TypeError, ValueError):
            return None
        return row if row.shape == (self.n_statistics,) and np.isfinite(row).all() else None

    def write(self, r: int, row: Floats) -> None:
        """Store a reference."""
        values = [float(value).hex() for value in row]
        entry = {"format": _FORMAT, "key": self.key, "number": r, "statistics": values}
        write_json(self._path(r), entry)


def open_reference_cache(
    settings: Settings,
    points: Floats,
    n_statistics: int,
    resampling: np.random.SeedSequence,
    seed: np.random.SeedSequence,
    widths: list[int] | None = None,
) -> ReferenceCache | None:
    """Open the requested folder; None if there is none.

    Parameters
    ----------
    settings : Settings
        Settings for resampling each data set.
    points : ndarray of shape (n_samples, r)
        Principal scores.
    n_statistics : int
        Number of statistics of each reference.
    resampling, seed : SeedSequence
        Seeds of the draws and of the references.
    widths : list of int, default=None
        Columns of each block of the points, if there are categories.
    """
    if settings.cache_dir is None:
        return None
    digest = points_digest(points)
    clusterer = settings.clusterer if settings.fast else render_clusterer(settings.clusterer)
    described: dict[str, Any] = {
        "points": digest,
        "k": settings.ks,
        "clusterer": clusterer,
        "n_resamples": settings.n_resamples,
        "sample_fraction": settings.sample_fraction.hex(),
        "null": settings.null,
        "window": [str(end) for end in settings.window],
        "seeds": [[str(s.entropy), list(s.spawn_key)] for s in (resampling, seed)],
        "versions": [version(name) for name in ("conclust", "numpy", "scipy", "scikit-learn")],
    }
    if widths is not None:  # for each block of the points
        described["widths"] = widths
    if settings.n_leading is not None:
        described["n_leading"] = settings.n_leading
    text = json.dumps(described, sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    folder = open_cache(settings.cache_dir, digest, None, len(points)).folder
    return ReferenceCache(folder, key, n_statistics)
