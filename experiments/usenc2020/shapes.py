"""Shapes of any number of points, modelled on those used to test methods for millions of points.

Huang, Wang, Wu, Lai and Kwoh (IEEE TKDE 32(6), 2020) show five planar sets of 1 to 20 million points, without
a formula: two bananas (TB-1M), a smiling face (SF-2M), concentric circles (CC-5M: `rings` here), circles and
Gaussians (CG-10M) and flowers. Kind and number of the clusters are theirs, the rest is ours where a docstring
does not say otherwise.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int, check_real
from conclust.datasets.dataset import Dataset
from conclust.datasets.generators import LARGEST_NOISE, Points, planar, polar

_MOST_POINTS = 10**9


def two_bananas(
    n_samples: int = 1000, *, noise: float = 0.13, random_state: RandomStateLike = None
) -> Dataset:
    """Make two interlocking banana shapes.

    Banana-shaped classes as in the toolbox PRTools (``gendatb``; R. P. W. Duin and others): points on arcs of
    225 degrees of two circles, moved by Gaussian noise. Here the radius is 1, there it is 5 and the noise 1.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, half of them in each banana; at least 2.
    noise : float, default=0.13
        Standard deviation of the noise in both directions.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2), rows in order of the bananas.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from experiments.usenc2020.shapes import two_bananas
    >>> two_bananas(random_state=0)
    Dataset('two_bananas', X of 1000 x 2, 2 classes)
    """
    first, second = _shares(n_samples, (1, 1), "two_bananas")
    noise = check_real(noise, "noise", "two_bananas", high=LARGEST_NOISE)
    rng = generator(random_state, "two_bananas")
    turn = 1.25 * math.pi
    parts = []
    for size, start, way, shift in (
        (first, 0.125 * math.pi, 1.0, 0.0),
        (second, 0.375 * math.pi, -1.0, -0.75),
    ):
        angle = start + way * turn * rng.random(size)
        arc = np.column_stack([np.sin(angle), np.cos(angle)]) + shift
        parts.append(arc + noise * rng.standard_normal((size, 2)))
    return planar("two_bananas", parts, "two banana-shaped groups", "banana")


def smiling_face(
    n_samples: int = 1000, *, noise: float = 0.08, random_state: RandomStateLike = None
) -> Dataset:
    """Make a smiling face: its outline, two eyes and a mouth.

    The outline is a circle of radius 1 with half of the points; the mouth is an arc of radius 0.6 with a quarter;
    the eyes are Gaussian.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; at least 8.
    noise : float, default=0.08
        Standard deviation of the distance from outline and mouth, and of the eyes in both directions.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2): outline, mouth, left and right eye.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from experiments.usenc2020.shapes import smiling_face
    >>> smiling_face(random_state=0)
    Dataset('smiling_face', X of 1000 x 2, 4 classes)
    """
    sizes = _shares(n_samples, (4, 2, 1, 1), "smiling_face")
    noise = check_real(noise, "noise", "smiling_face", high=LARGEST_NOISE)
    rng = generator(random_state, "smiling_face")
    parts = [
        _circle(rng, sizes[0], (0.0, 0.0), 1.0, noise),
        _circle(rng, sizes[1], (0.0, 0.0), 0.6, noise, (1.15 * math.pi, 1.85 * math.pi)),
        _gaussian(rng, sizes[2], (-0.35, 0.35), noise),
        _gaussian(rng, sizes[3], (0.35, 0.35), noise),
    ]
    return planar("smiling_face", parts, "a smiling face", "part")


def circles_and_gaussians(
    n_samples: int = 2200, *, noise: float = 0.08, random_state: RandomStateLike = None
) -> Dataset:
    """Make four circles, each around a Gaussian, and three Gaussians that overlap: 11 clusters.

    Circles have a radius of 1 and twice as many points as a Gaussian. Their centres are the corners of a square
    with sides of 4; the three Gaussians stand in a row between them, 1.2 apart, with a standard deviation of 0.4.

    Parameters
    ----------
    n_samples : int, default=2200
        Number of points; at least 15.
    noise : float, default=0.08
        Standard deviation of the distance from the circles; of the Gaussians in them it is three times as large.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (n_samples, 2): circles, Gaussians in them, Gaussians in a row.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from experiments.usenc2020.shapes import circles_and_gaussians
    >>> circles_and_gaussians(random_state=0)
    Dataset('circles_and_gaussians', X of 2200 x 2, 11 classes)
    """
    sizes = _shares(n_samples, (2,) * 4 + (1,) * 7, "circles_and_gaussians")
    noise = check_real(noise, "noise", "circles_and_gaussians", high=LARGEST_NOISE)
    rng = generator(random_state, "circles_and_gaussians")
    corners = [(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, 2.0)]
    row = [(-1.2, 0.0), (0.0, 0.0), (1.2, 0.0)]
    parts = [_circle(rng, sizes[k], corners[k], 1.0, noise) for k in range(4)]
    parts += [_gaussian(rng, sizes[4 + k], corners[k], 3.0 * noise) for k in range(4)]
    parts += [_gaussian(rng, sizes[8 + k], row[k], 0.4) for k in range(3)]
    return planar("circles_and_gaussians", parts, "circles and Gaussians", "group")


def _shares(n_samples: int, parts: tuple[int, ...], owner: str) -> list[int]:
    """Return sizes in these proportions that sum to the number of points, none of them 0."""
    total = sum(parts)
    n = check_int(n_samples, "n_samples", owner, low=total, high=_MOST_POINTS)
    bounds = [round(n * sum(parts[:k]) / total) for k in range(len(parts) + 1)]
    return [after - before for before, after in pairwise(bounds)]


def _circle(
    rng: np.random.Generator,
    size: int,
    centre: tuple[float, float],
    radius: float,
    noise: float,
    angles: tuple[float, float] = (0.0, 2 * math.pi),
) -> Points:
    """Draw points around a circle, or the part of it between two angles.

    Parameters
    ----------
    rng : Generator
        Source of random numbers.
    size : int
        Points.
    centre : tuple of float
        Centre of the circle.
    radius : float
        Mean distance of the points from the centre.
    noise : float
        Standard deviation of the distances.
    angles : tuple of float, default=(0, 2 pi)
        Range of angles.
    """
    distance = radius + noise * rng.standard_normal(size)
    circle: Points = polar(distance, rng.uniform(*angles, size)) + np.array(centre)
    return circle


def _gaussian(
    rng: np.random.Generator, size: int, centre: tuple[float, float], deviation: float
) -> Points:
    points: Points = deviation * rng.standard_normal((size, 2)) + np.array(centre)
    return points
