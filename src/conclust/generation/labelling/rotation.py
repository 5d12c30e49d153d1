"""Points with more features than objects, in as many coordinates as there are distinct objects.

All distances and inner products remain what they are, so that members that depend on nothing else are the same. They
are made in a fraction of the time: n objects span at most n dimensions, and expression data have 20,000 features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from conclust._arrays.containers import holds
from conclust._threads import one_library_thread
from conclust._types import Floats, Ints
from conclust.ensemble.equal_rows import EqualRows

DIGEST = 16
"""Bytes of the digest of a point."""

# Number of rows of a product. Each has the same shape, so that the coordinates of a point do not depend on the points around it.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class Rotation:
    """Orthonormal axes of the points that members are fitted on.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        The point from which coordinates are measured.
    axes : ndarray of shape (n_features, r)
        The axes; r is the number of distinct points.
    coordinates : ndarray of shape (r, r)
        The distinct points along the axes.
    digests : ndarray of uint8 of shape (r, 16)
        Digests of the distinct points, by which they are recognised: their coordinates are then the same to the bit.
    """

    origin: Floats
    axes: Floats
    coordinates: Floats
    digests: NDArray[np.uint8]

    @classmethod
    def of(cls, points: Floats, *, moved: bool = True) -> tuple[Self, Floats]:
        """Return the rotation of points (n, n_features), and the rotated points.

        moved: whether the origin may be moved, to the first point. Numbers far from 0 then keep their digits, but inner
        products change.
        """
        rows = EqualRows.of(points)
        origin = points[0].copy() if moved else np.zeros(points.shape[1])
        distinct = points[rows.first] - origin
        with one_library_thread():
            axes, upper = qr(distinct.T, mode="economic", overwrite_a=True, check_finite=False)
        coordinates: Floats = np.ascontiguousarray(upper.T)
        digests = np.array([_digest(row) for row in points[rows.first]], dtype=np.uint8)
        rotation = cls(origin, np.ascontiguousarray(axes), coordinates, digests)
        return rotation, rotation._of_known(rows.inverse)

    def _restored(self) -> bool:
        """Return whether arrays that were read from a file fit each other."""
        d, r = self.axes.shape
        return (
            0 < r < d
            and holds(self.origin, d)
            and holds(self.axes, d, r)
            and holds(self.coordinates, r, r)
            and holds(self.digests, r, DIGEST)
        )

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a rotated point."""
        return len(self.coordinates) + 1

    def __call__(self, points: Floats) -> Floats:
        """Rotate points, also such as the axes do not span.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, r + 1)
            Coordinates along the axes, and the distance from their span.
        """
        numbers = np.array(
            [self._numbers.get(_digest(row).tobytes(), -1) for row in points], dtype=np.int64
        )
        rotated = np.empty((len(points), self.n_coordinates))
        known = numbers >= 0
        rotated[known] = self._of_known(numbers[known])
        new = np.flatnonzero(~known)
        block = np.zeros((_ROWS, points.shape[1]))
        with one_library_thread():
            for start in range(0, len(new), _ROWS):
                some = new[start : start + _ROWS]
                block[: len(some)] = points[some] - self.origin
                along = block @ self.axes
                outside = block - along @ self.axes.T
                rotated[some, :-1] = along[: len(some)]
                rotated[some, -1] = np.linalg.norm(outside, axis=1)[: len(some)]
        return rotated

    def back(self, rotated: Floats) -> Floats:
        """Return points of the span in the features, of shape (n_samples, n_features)."""
        with one_library_thread():
            return np.asarray(rotated[:, :-1] @ self.axes.T + self.origin)

    def _of_known(self, numbers: Ints) -> Floats:
        """Return the coordinates of points of the fit, of shape (n_samples, r + 1)."""
        return np.column_stack([self.coordinates[numbers], np.zeros(len(numbers))])

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {digest.tobytes(): number for number, digest in enumerate(self.digests)}


def _digest(row: Floats) -> NDArray[np.uint8]:
    return np.frombuffer(blake2b(row.tobytes(), digest_size=DIGEST).digest(), dtype=np.uint8)
