"""The test of one cluster: references without clusters, and one Monte-Carlo p-value.

The rotation null: rows of X that are independent draws from one Gaussian stay so when X is multiplied
by an orthogonal Q that keeps the mean, so that given the mean and X'X all QX are equally likely. The
rank of any statistic of X among the statistics of rotated copies is then a p-value, exact for every
mean, covariance and number of features (Langsrud, Statistics and Computing 15, 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conclust._types import Floats

Null = Literal["rotation", "gaussian", "unimodal", "flat", "skewed"]

# Number of references that fix the mean and the deviation of a sequential test, and are then discarded.
FIXING = 19
# Exceedances at which a sequential test stops.
ENOUGH = 10
# Statistics that differ by less are equal.
_SAME = 1e-9


def rotation(Z: Floats, rng: np.random.Generator) -> Floats:
    """Return scores with the singular values of Z and left singular vectors drawn again.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, r)
        Principal scores: orthogonal columns of mean 0.
    rng : numpy.random.Generator
        Source of the rotation.

    Returns
    -------
    ndarray of shape (n_samples, r)
        With the same Z'Z, and columns of mean 0.
    """
    W = rng.standard_normal(Z.shape)
    W -= W.mean(axis=0)
    Q, R = np.linalg.qr(W)
    Q *= np.where(np.diag(R) < 0, -1.0, 1.0)
    turned: Floats = np.ascontiguousarray(Q * np.sqrt((Z * Z).sum(axis=0)))
    return turned


def gaussian(Z: Floats, rng: np.random.Generator) -> Floats:
    """Return M3C's reference: independent normal scores with the deviations of the components.

    The spread of the sample is estimated, and the reference is sampled from that once more: references
    look more structured than the data, and the test rejects too seldom (John et al., Scientific Reports
    10:1816, 2020).
    """
    drawn: Floats = rng.standard_normal(Z.shape)
    return np.asarray(drawn * Z.std(axis=0, ddof=1))


def unimodal(Z: Floats, rng: np.random.Generator) -> Floats:
    """Return scores with independent components, each drawn from a density with one mode.

    Each density is the kernel estimate with the smallest bandwidth that has a single mode, shrunk to
    the variance of the component (after Helgeson, Vock and Bair, Biometrics 77:1215, 2021).
    """
    n, r = Z.shape
    made = np.empty((n, r))
    for j in range(r):
        values = Z[:, j]
        width = critical_bandwidth(values)
        shrink = 1.0 / np.sqrt(1.0 + width**2 / values.var())
        made[:, j] = (rng.choice(values, n) + width * rng.standard_normal(n)) * shrink
    return made


def flat(Z: Floats, rng: np.random.Generator) -> Floats:
    """Return scores of independent uniform components with the same Z'Z: a box with the extents of the points.

    For a square, a cube or a strip, the points and the references have the same distribution.
    """
    return with_products(rng.uniform(size=Z.shape), Z)


def skewed(Z: Floats, rng: np.random.Generator) -> Floats:
    """Return scores of independent exponential components, each in a random direction, with the same Z'Z."""
    signs = rng.choice(np.array([-1.0, 1.0]), Z.shape[1])
    return with_products(rng.exponential(size=Z.shape) * signs, Z)


def with_products(W: Floats, Z: Floats) -> Floats:
    """Return draws with columns of mean 0 and the inner products of Z, rotated as little as possible."""
    W = W - W.mean(axis=0)
    values, V = np.linalg.eigh(W.T @ W)
    # With as many components as objects, the draws do not vary in some directions.
    scale = 1.0 / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return np.ascontiguousarray((W @ V) * scale @ V.T * np.sqrt((Z * Z).sum(axis=0)))


OFFERED: tuple[Null, ...] = ("rotation", "gaussian", "unimodal")
"""The references that `choose` offers; boxes and exponential clouds are those of the second test."""

NULLS: dict[Null, Callable[[Floats, np.random.Generator], Floats]] = {
    "rotation": rotation,
    "gaussian": gaussian,
    "unimodal": unimodal,
    "flat": flat,
    "skewed": skewed,
}


def critical_bandwidth(values: Floats) -> float:
    """Return the smallest bandwidth at which the Gaussian kernel estimate has one mode.

    The number of modes falls as the bandwidth grows (Silverman 1981): found by bisection, to 1 %.
    """
    low, high = 0.0, float(np.ptp(values))
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        if _modes(values, middle) > 1:
            low = middle
        else:
            high = middle
    return high


def _modes(values: Floats, width: float) -> int:
    grid = np.linspace(values.min() - width, values.max() + width, 512)
    density = np.zeros(len(grid))
    for begin in range(0, len(values), 4096):
        apart = (grid[:, None] - values[None, begin : begin + 4096]) / width
        density += np.exp(-0.5 * apart * apart).sum(axis=1)
    slope = np.sign(np.diff(density))
    slope = slope[slope != 0]
    return int(np.count_nonzero((slope[:-1] > 0) & (slope[1:] < 0)))


@dataclass(frozen=True)
class Verdict:
    """Result of the comparison with references.

    Attributes
    ----------
    p_value : float
        Share of the data sets, including the real one, that are at least as stable.
    n_references : int
        References that the p-value rests on.
    real : ndarray of shape (n_k,)
        Log PAC of the data.
    logs : ndarray of shape (n_drawn, n_k)
        Log PAC of every reference that was drawn.
    """

    p_value: float
    n_references: int
    real: Floats
    logs: Floats


def studentised(logs: Floats, mean: Floats, sd: Floats) -> NDArray[Any]:
    """Return the largest (mean - log PAC) / sd over K, for each row; K without spread are ignored."""
    spread = sd > _SAME
    gaps = np.where(spread, (mean - logs) / np.where(spread, sd, 1.0), 0.0)
    return np.asarray(gaps.max(axis=-1))


def fixed_test(real: Floats, references: Floats, ranked: slice = slice(None)) -> Verdict:
    """Rank the real data set among the references, by some of the columns.

    Mean and deviation are over all of them and the real one: only so are the ranks exchangeable.
    """
    logs = np.vstack([real, references])[:, ranked]
    T = studentised(logs, logs.mean(axis=0), logs.std(axis=0))
    p = float((T - T[0] >= -_SAME).sum()) / len(T)
    return Verdict(p, len(references), real, references)


def sequential_p_value(exceeds: Callable[[int], bool], most: int) -> tuple[float, int]:
    """Draw until enough references are at least as extreme, or `most` are drawn (Besag, Clifford 1991).

    Returns the p-value, valid at every level, and the number of draws.
    """
    reached = 0
    for drawn in range(1, most + 1):
        reached += exceeds(drawn - 1)
        if reached == ENOUGH:
            return ENOUGH / drawn, drawn
    return (reached + 1) / (most + 1), most


def sequential_test(
    real: Floats,
    reference_logs: Callable[[int, int], Floats],
    most: int,
    batch: int,
    ranked: slice = slice(None),
) -> Verdict:
    """Rank the real data set among references drawn until the result is clear.

    Parameters
    ----------
    real : ndarray of shape (n_k,)
        Its log PAC.
    reference_logs : callable
        Log PAC of the references from one number up to another, which are drawn when needed.
    most : int
        References at most, besides those that fix mean and deviation.
    batch : int
        Number requested at a time; the result does not depend on it.
    ranked : slice, default=slice(None)
        The columns that the rank comes from.
    """
    fixing = reference_logs(0, FIXING)
    mean, sd = fixing[:, ranked].mean(axis=0), fixing[:, ranked].std(axis=0)
    real_gap = float(studentised(real[None, ranked], mean, sd)[0]) - _SAME
    rows: list[Floats] = []

    def exceeds(r: int) -> bool:
        if r == len(rows):
            rows.extend(reference_logs(FIXING + r, FIXING + min(most, r + batch)))
        return bool(studentised(rows[r][None, ranked], mean, sd)[0] >= real_gap)

    p, used = sequential_p_value(exceeds, most)
    return Verdict(p, used, real, np.vstack([fixing, *(row[None] for row in rows[:used])]))
