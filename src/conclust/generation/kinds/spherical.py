"""K-means with the cosine as similarity, for texts, where the length of a row is irrelevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._types import Floats
from conclust.generation.labelling.models import Directions, refuse_without_direction
from conclust.generation.labelling.nearest import nearest_center
from conclust.generation.members import Found, Kind, KMeansRecipe, first_distinct


@dataclass(frozen=True)
class SphericalKMeansRecipe(KMeansRecipe):
    """Spherical k-means of Dhillon and Modha (2001), from randomly chosen points of distinct directions.

    The sum of the cosines of the points with their centres rises; centres have length 1, so that the nearest
    one is that with the largest cosine, for points of any length.
    """

    name: str = "spherical"
    tol: float = 1e-6

    def _run(self, points: Floats, k: int, rng: np.random.Generator) -> Found:
        refuse_without_direction(points)
        # The largest feature first: the squares of tiny ones would be 0.
        units = points / np.abs(points).max(axis=1, keepdims=True)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        centers = units[first_distinct(units, rng.permutation(len(units)), k)]
        before = -np.inf
        for _ in range(self.max_iter):
            centers, cosines = self._moved(units, centers)
            if cosines - before <= self.tol * len(units):
                break
            before = cosines
        model = Directions(centers)
        return Found(model.label(points), model)

    @staticmethod
    def _moved(units: Floats, centers: Floats) -> tuple[Floats, float]:
        """Return the mean directions of the points nearest to each centre, and the sum of cosines before."""
        labels = nearest_center(units, centers)
        cosines = np.einsum("ij,ij->i", units, centers[labels])
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, units)
        sizes = np.bincount(labels, minlength=len(centers))
        # An empty cluster gets the point that fits its own cluster worst.
        for empty, worst in zip(
            np.flatnonzero(sizes == 0), np.argsort(cosines, kind="stable"), strict=False
        ):
            sums[empty] = units[worst]
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # Points that cancel out have no mean direction: the centre stays.
        moved = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), centers)
        return moved, float(cosines.sum())


SPHERICAL = Kind(
    SphericalKMeansRecipe(),
    100,
    labels_others=True,
    unscaled=True,  # cosines use the unscaled points
    help="k-means with the cosine and random starts, for texts",
    cited="k-means by the cosine with random starts and many numbers of clusters",
    by_distances=True,
)
