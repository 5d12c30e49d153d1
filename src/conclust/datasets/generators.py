"""Synthetic sets of the evidence-accumulation literature, from a formula and a seed.

The papers give the number of points and of clusters of their synthetic sets and a small picture;
geometry and class sizes are our choice wherever a docstring says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._random import RandomStateLike, generator
from conclust._validation import check_int, check_real, refuse
from conclust.datasets.dataset import Dataset
from conclust.datasets.planar import LARGEST_NOISE, Points, generated, planar, polar


def rings(
    sizes: Sequence[int] = (75, 150, 225),
    *,
    noise: float = 0.1,
    random_state: RandomStateLike = None,
) -> Dataset:
    """Make concentric rings around the origin.

    The set named "rings" in the papers has 450 points in 3 clusters. The papers do not print the
    class sizes and radii: here ring k has radius k, and by default a size in proportion to it, so
    that all rings are equally dense.

    Parameters
    ----------
    sizes : sequence of int, default=(75, 150, 225)
        Number of points in each ring, from the inside.
    noise : float, default=0.1
        Standard deviation of the distance from the ring; the rings are 1 apart.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (sum(sizes), 2), rows in order of the rings.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.datasets import rings
    >>> rings(random_state=0)
    Dataset('rings', X of 450 x 2, 3 classes)
    """
    counts = _check_sizes(sizes, "rings")
    noise = _check_noise(noise, "rings")
    rng = generator(random_state, "rings")
    parts = []
    for k, size in enumerate(counts, start=1):
        angle = rng.uniform(0.0, 2 * math.pi, size)
        parts.append(polar(k + noise * rng.standard_normal(size), angle))
    return planar("rings", parts, "concentric rings", "ring")


def half_rings(
    sizes: Sequence[int] = (100, 300), *, noise: float = 0.25, random_state: RandomStateLike = None
) -> Dataset:
    """Make two interlocking half rings.

    400 points, in two clusters of unequal size as in the evidence-accumulation papers that use
    a set of this kind. Outer radius, offset and width are our choice.

    Parameters
    ----------
    sizes : sequence of 2 int, default=(100, 300)
        Points in the upper and in the lower half ring.
    noise : float, default=0.25
        Width of the half rings, of outer radius 1; below 0.5 they stay apart.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (sum(sizes), 2), the upper half ring first.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.datasets import half_rings
    >>> half_rings(random_state=0)
    Dataset('half_rings', X of 400 x 2, 2 classes)
    """
    counts = _check_sizes(sizes, "half_rings", 2)
    width = _check_noise(noise, "half_rings", high=1.0)
    rng = generator(random_state, "half_rings")
    inner = 1.0 - width
    upper = _arc(rng, counts[0], (0.0, 0.0), (inner, 1.0), (0.0, math.pi))
    lower = _arc(rng, counts[1], (1.0 - width / 2, 0.25), (inner, 1.0), (math.pi, 2 * math.pi))
    return planar("half_rings", [upper, lower], "two interlocking half rings", "half ring")


def spirals(
    sizes: Sequence[int] = (100, 100),
    *,
    turns: float = 1.5,
    noise: float = 0.05,
    random_state: RandomStateLike = None,
) -> Dataset:
    """Make interleaved Archimedean spirals.

    The set named "spiral" in the papers has 200 points in 2 clusters; how far it winds is our
    choice. The arms are the same curve, turned; points are evenly spaced in angle.

    Parameters
    ----------
    sizes : sequence of int, default=(100, 100)
        Points on each arm.
    turns : float, default=1.5
        Number of turns of an arm around the origin.
    noise : float, default=0.05
        Standard deviation around the curve, in both coordinates. An arm moves outwards by 4 a
        turn, so that two arms are 2 apart.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (sum(sizes), 2), rows from the inside out, arm after arm.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from conclust.datasets import spirals
    >>> spirals(random_state=0)
    Dataset('spirals', X of 200 x 2, 2 classes)
    """
    counts = _check_sizes(sizes, "spirals")
    noise = _check_noise(noise, "spirals")
    turns = check_real(turns, "turns", "spirals", closed="neither")
    rng = generator(random_state, "spirals")
    parts = []
    for k, size in enumerate(counts):
        way = turns * np.arange(size) / max(1, size - 1)
        angle = 2 * math.pi * (way + k / len(counts))
        curve = polar(0.5 + 4.0 * way, angle)
        parts.append(curve + noise * rng.standard_normal(curve.shape))
    return planar("spirals", parts, "interleaved Archimedean spirals", "spiral")


def cigars(
    sizes: Sequence[int] = (100, 100, 25, 25), *, random_state: RandomStateLike = None
) -> Dataset:
    """Make two long, parallel groups and two small round ones below them.

    The set named "cigar" in the papers has 250 points in 4 clusters. Here the groups are Gaussian:
    the long ones around (0, 0) and (1.5, 0) with standard deviations 0.1 and 1, the small ones
    around (0, -4) and (1.5, -4) with 0.1 in both directions.

    Parameters
    ----------
    sizes : sequence of 4 int, default=(100, 100, 25, 25)
        Points in the two long and the two small groups.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (sum(sizes), 2), with the true ``membership``.

    Raises
    ------
    ParameterError
        If `sizes` are not four positive ints.

    Examples
    --------
    >>> from conclust.datasets import cigars
    >>> cigars(random_state=0)
    Dataset('cigars', X of 250 x 2, 4 classes, with the true membership)
    """
    counts = _check_sizes(sizes, "cigars", 4)
    means = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, -4.0], [1.5, -4.0]])
    long, small = np.diag([0.01, 1.0]), np.diag([0.01, 0.01])
    covariances = np.array([long, long, small, small])
    X, membership = _draw_mixture(counts, means, covariances, generator(random_state, "cigars"))
    what = "two long and two small Gaussian groups"
    return generated("cigars", X, counts, what, "cigar", membership)


def gaussian_mixture(
    sizes: Sequence[int] = (200, 200, 200, 200),
    *,
    means: ArrayLike | None = None,
    covariances: ArrayLike = 1.0,
    random_state: RandomStateLike = None,
) -> Dataset:
    """Draw points from Gaussian components, with the true probability of each component.

    By default the simulated data of the probabilistic-consensus paper (section 7.1): four isotropic
    Gaussians in the plane, 200 points each, with means drawn at random, one in each quadrant. The
    paper prints no scale: here the coordinates of the means are uniform between 1 and 3 in size and
    the variance is 1, so that the components overlap.

    Parameters
    ----------
    sizes : sequence of int, default=(200, 200, 200, 200)
        Points of each component.
    means : (n_components, n_features) array-like of float, default=None
        Means of the components. None: random, for 4 components in the plane.
    covariances : float or (n_components, n_features, n_features) array-like, default=1.0
        One variance for all components and directions, or a covariance matrix for each.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (sum(sizes), n_features), rows in order of the components. ``membership`` is the
        posterior by Bayes' formula, with the shares of `sizes` as the prior.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the shapes do not fit.

    References
    ----------
    A. Lourenco et al.: Probabilistic consensus clustering using evidence accumulation. Machine
    Learning 98, 2015.

    Examples
    --------
    >>> from conclust.datasets import gaussian_mixture
    >>> mixture = gaussian_mixture(random_state=0)
    >>> mixture
    Dataset('gaussian_mixture', X of 800 x 2, 4 classes, with the true membership)
    >>> mixture.membership.shape
    (800, 4)
    """
    owner = "gaussian_mixture"
    counts = _check_sizes(sizes, owner)
    rng = generator(random_state, owner)
    k = len(counts)
    if means is None:
        if k != 4:
            refuse("means", owner, f"given for {k} components (None: 4 in the plane)", means)
        quadrants = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        centres = quadrants * rng.uniform(1.0, 3.0, size=(4, 2))
    else:
        centres = _floats(means, "means", owner)
        if centres.ndim != 2 or len(centres) != k or centres.shape[1] == 0:
            refuse("means", owner, f"an array of shape ({k}, n_features)", means)
    d = centres.shape[1]
    spread = _floats(covariances, "covariances", owner)
    if spread.ndim == 0:
        spread = np.tile(float(spread) * np.eye(d), (k, 1, 1))
    wanted = f"a positive float or ({k}, {d}, {d}) positive definite matrices"
    if spread.shape != (k, d, d) or not np.array_equal(spread, spread.transpose(0, 2, 1)):
        refuse("covariances", owner, wanted, covariances)
    try:
        with np.errstate(all="raise", under="ignore"):
            X, membership = _draw_mixture(counts, centres, spread, rng)
    except (
        np.linalg.LinAlgError,
        FloatingPointError,
    ):  # not positive definite, or a range beyond that of floats
        refuse("covariances", owner, wanted, covariances)
    return generated(owner, X, counts, "Gaussian components", "component", membership)


def image_c(*, random_state: RandomStateLike = None) -> Dataset:
    """Make 739 points in 7 separated groups of mixed shapes.

    The papers have a set named "image-c": 739 points, 7 clusters, and a picture of the size of a
    stamp. The numbers of points and clusters are theirs; shapes and class sizes are ours: a ring, two
    interlocking crescents, a long bar, a tilted bar, and two discs of different density.

    Parameters
    ----------
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (739, 2), in the square from 0 to 10.

    Examples
    --------
    >>> from conclust.datasets import image_c
    >>> image_c(random_state=0)
    Dataset('image_c', X of 739 x 2, 7 classes)
    """
    rng = generator(random_state, "image_c")
    parts = [
        _arc(rng, 150, (2.3, 7.5), (1.5, 1.8), (0.0, 2 * math.pi)),
        _arc(rng, 130, (6.8, 7.0), (1.4, 1.8), (0.0, math.pi)),
        _arc(rng, 110, (8.2, 7.4), (1.2, 1.6), (math.pi, 2 * math.pi)),
        _bar(rng, 120, (5.0, 0.7), (8.0, 0.3), 0.0),
        _bar(rng, 80, (2.0, 3.4), (3.0, 0.3), math.pi / 4),
        _arc(rng, 89, (5.0, 3.4), (0.0, 0.4), (0.0, 2 * math.pi)),
        _arc(rng, 60, (8.0, 3.4), (0.0, 0.8), (0.0, 2 * math.pi)),
    ]
    return planar("image_c", parts, "separated groups of mixed shapes", "group")


def image_1(*, random_state: RandomStateLike = None) -> Dataset:
    """Make 1000 points in 8 separated groups of mixed shapes, one inside another.

    The papers have a set named "image-1": 1000 points, 8 clusters, and a picture of the size of a
    stamp. The numbers of points and clusters are theirs; shapes and class sizes are ours: a ring with
    a disc inside, two interlocking crescents, a flat and an upright bar, and two discs.

    Parameters
    ----------
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.

    Returns
    -------
    Dataset
        X of shape (1000, 2), in the square from 0 to 10.

    Examples
    --------
    >>> from conclust.datasets import image_1
    >>> image_1(random_state=0)
    Dataset('image_1', X of 1000 x 2, 8 classes)
    """
    rng = generator(random_state, "image_1")
    parts = [
        _arc(rng, 200, (2.2, 7.5), (1.7, 2.0), (0.0, 2 * math.pi)),
        _arc(rng, 100, (2.2, 7.5), (0.0, 0.7), (0.0, 2 * math.pi)),
        _arc(rng, 150, (6.9, 7.0), (1.4, 1.8), (0.0, math.pi)),
        _arc(rng, 150, (8.3, 7.4), (1.2, 1.6), (math.pi, 2 * math.pi)),
        _bar(rng, 120, (4.0, 0.7), (6.5, 0.3), 0.0),
        _bar(rng, 120, (9.2, 2.6), (0.3, 4.4), 0.0),
        _arc(rng, 80, (2.2, 3.4), (0.0, 0.8), (0.0, 2 * math.pi)),
        _arc(rng, 80, (5.6, 3.2), (0.0, 0.8), (0.0, 2 * math.pi)),
    ]
    return planar("image_1", parts, "separated groups of mixed shapes", "group")


GENERATORS: dict[str, Callable[..., Dataset]] = {
    "cigars": cigars,
    "gaussian_mixture": gaussian_mixture,
    "half_rings": half_rings,
    "image_1": image_1,
    "image_c": image_c,
    "rings": rings,
    "spirals": spirals,
}


def _arc(
    rng: np.random.Generator,
    size: int,
    centre: tuple[float, float],
    radii: tuple[float, float],
    angles: tuple[float, float],
) -> Points:
    """Draw points uniformly over the area between two radii and two angles."""
    radius = np.sqrt(rng.uniform(radii[0] ** 2, radii[1] ** 2, size))
    arc: Points = polar(radius, rng.uniform(*angles, size)) + np.array(centre)
    return arc


def _bar(
    rng: np.random.Generator,
    size: int,
    centre: tuple[float, float],
    sides: tuple[float, float],
    tilt: float,
) -> Points:
    """Draw points uniformly over a rectangle, turned by `tilt` radians."""
    flat = (rng.random((size, 2)) - 0.5) * np.array(sides)
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    bar: Points = flat @ turn + np.array(centre)
    return bar


def _draw_mixture(
    sizes: Sequence[int], means: Points, covariances: Points, rng: np.random.Generator
) -> tuple[Points, Points]:
    """Return points and the posterior of the components. Raises LinAlgError."""
    roots = np.linalg.cholesky(covariances)
    d = means.shape[1]
    X = np.concatenate(
        [
            mean + rng.standard_normal((size, d)) @ root.T
            for size, mean, root in zip(sizes, means, roots, strict=True)
        ]
    )
    logs = np.empty((len(X), len(sizes)))
    for k, (size, mean, root) in enumerate(zip(sizes, means, roots, strict=True)):
        standard = np.linalg.solve(root, (X - mean).T)
        logs[:, k] = math.log(size) - np.log(np.diag(root)).sum() - (standard**2).sum(axis=0) / 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return X, weights / weights.sum(axis=1, keepdims=True)


def _check_sizes(sizes: Any, owner: str, k: int | None = None) -> tuple[int, ...]:
    wanted = f"a sequence of {'' if k is None else f'{k} '}ints, one size per cluster"
    if (
        isinstance(sizes, str)
        or np.ndim(sizes) != 1
        or not hasattr(sizes, "__len__")
        or len(sizes) == 0
    ):
        refuse("sizes", owner, wanted, sizes)
    if k is not None and len(sizes) != k:
        refuse("sizes", owner, wanted, sizes)
    return tuple(check_int(size, "sizes", owner) for size in sizes)


def _check_noise(noise: Any, owner: str, high: float = LARGEST_NOISE) -> float:
    return check_real(noise, "noise", owner, high=high)


def _floats(value: Any, name: str, owner: str) -> Points:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse(name, owner, "numbers", value)
    if not np.isfinite(array).all():
        refuse(name, owner, "finite numbers", value)
    return array
