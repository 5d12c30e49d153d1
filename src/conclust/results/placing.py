"""Reads and writes placing.npz: the data, besides the generator, that places new points in the clusters of a result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conclust._files.storage import Expected, read_npz, write_npz
from conclust._types import Floats
from conclust.exceptions import FileFormatError
from conclust.points import Refinement

_FORMAT = "conclust placing"
_VERSION = 1
_EXPECTED = {
    "filling": Expected("f", 1, optional=True),
    "centers": Expected("f", 2, optional=True),
    "whitening": Expected("f", 2, optional=True),
    "whitenings": Expected("f", 3, optional=True),
    "offsets": Expected("f", 1, optional=True),
    "votes": Expected("f", 2, optional=True),
}
# Names of the arrays that need centres.
_OF_CENTERS = {"whitening", "whitenings", "offsets"}


@dataclass(frozen=True, eq=False)
class Placing:
    """Places new points in the clusters of a consensus of points.

    Attributes
    ----------
    filling : ndarray of shape (n_columns,) or None
        Values that fill empty cells; None: points with empty cells get no label.
    refinement : Refinement or None
        The centres that the consensus was refined to.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters) or None
        The votes that place objects in an :class:`conclust.AutoConsensus`, or in the refined clusters, by their labels.
    """

    filling: Floats | None
    refinement: Refinement | None
    votes: Floats | None

    def filled(self, X: Floats) -> Floats:
        """Return points (n_new, n_columns) with their empty cells filled, if there are values for them."""
        return X if self.filling is None else np.where(np.isnan(X), self.filling, X)

    def save(self, path: Path) -> None:
        """Write the file."""
        arrays = {"filling": self.filling, "votes": self.votes}
        if self.refinement is not None:
            arrays["centers"] = self.refinement.centers
            whitening = self.refinement.whitening
            each = whitening is not None and whitening.ndim == 3
            arrays["whitenings" if each else "whitening"] = whitening
            arrays["offsets"] = self.refinement.offsets
        stored = {name: array for name, array in arrays.items() if array is not None}
        write_npz(path, stored, {"format": _FORMAT, "version": _VERSION})

    @classmethod
    def load(cls, path: Path, n_columns: int, n_ensemble_clusters: int, n_clusters: int) -> Placing:
        """Read the file of a result.

        Parameters
        ----------
        path : Path
            The file.
        n_columns, n_ensemble_clusters, n_clusters : int
            Columns of the points, clusters of all partitions and of the consensus.

        Raises
        ------
        OSError
            It cannot be read.
        FileFormatError
            It is damaged, or does not fit the result.
        """
        arrays, meta = read_npz(path, expected=_EXPECTED)
        centers, votes = arrays.get("centers"), arrays.get("votes")
        shape_of_all = (n_clusters, n_columns, n_columns)
        sound = (
            (meta.get("format"), meta.get("version")) == (_FORMAT, _VERSION)
            and all(bool(np.isfinite(array).all()) for array in arrays.values())
            and ("filling" not in arrays or len(arrays["filling"]) == n_columns)
            and (centers is None or centers.shape == (n_clusters, n_columns))
            and (centers is None or votes is not None)
            and (centers is not None or not arrays.keys() & _OF_CENTERS)
            and ("whitening" not in arrays or arrays["whitening"].shape == (n_columns, n_columns))
            and ("whitenings" not in arrays or arrays["whitenings"].shape == shape_of_all)
            and ("offsets" not in arrays or len(arrays["offsets"]) == n_clusters)
            and not {"whitening", "whitenings"} <= arrays.keys()
            and ("whitenings" not in arrays or "offsets" in arrays)
            and (votes is None or votes.shape == (n_ensemble_clusters, n_clusters))
            and (votes is None or bool((votes >= 0).all()))
        )
        if not sound:
            raise FileFormatError(
                f"{path} is damaged, or does not fit the other files of the result. Make the result again."
            )
        refinement = None
        if centers is not None and votes is not None:
            whitening = arrays.get("whitening", arrays.get("whitenings"))
            refinement = Refinement(centers, votes, whitening, arrays.get("offsets"))
        return cls(arrays.get("filling"), refinement, votes)
