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

Null = Literal["rotation", "gaussian", "unimodal"]
Draw = Callable[[Floats, np.random.Generator], Floats]

# Of "unimodal": scores whose components are sought, starts and steps of the search, modes tried, and the mean of
# log cosh of the normal distribution.
_LEADING, _STARTS, _STEPS, _MODES, _OF_NORMAL = 10, 4, 60, 33, 0.37457

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


def unimodal(Z: Floats) -> Draw:
    """Return what draws single clouds with the shape of scores: mixtures of independent components, each with one mode.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, r)
        Principal scores: orthogonal columns of mean 0, the longest first.

    Returns
    -------
    callable
        Draws a cloud with the same Z'Z. Components are as little Gaussian as possible in the first ten scores; each other score is
        one. Each is distributed like the scores, but with one mode (after Helgeson, Vock and Bair, Biometrics 77:1215, 2021).
    """
    (n, r), q = Z.shape, min(_LEADING, Z.shape[1])
    whitened = Z / np.sqrt(np.maximum(np.square(Z).mean(axis=0), np.finfo(float).tiny))
    axes = np.eye(r)
    axes[:q, :q] = independent_axes(whitened[:, :q])
    fitted = [with_one_mode(column) for column in (whitened @ axes).T]

    def drawn(_: Floats, rng: np.random.Generator) -> Floats:
        heights = rng.uniform(size=(r, n))
        made = np.column_stack(
            [np.interp(u, F, values) for u, (values, F) in zip(heights, fitted, strict=True)]
        )
        return with_products(made @ axes.T, Z)

    return drawn


def independent_axes(whitened: Floats) -> Floats:
    """Return orthogonal axes along which whitened columns are least Gaussian, by FastICA (Hyvarinen 1999) from several starts."""
    n, q = whitened.shape
    rng, most, best = np.random.default_rng(0), -1.0, np.eye(q)
    for _ in range(_STARTS if q > 1 else 0):
        axes = np.linalg.qr(rng.standard_normal((q, q)))[0]
        for _ in range(_STEPS):
            bent = np.tanh(whitened @ axes)
            U, _, V = np.linalg.svd(whitened.T @ bent / n - axes * (1.0 - bent * bent).mean(axis=0))
            axes = U @ V
        contrast = np.log(np.cosh(whitened @ axes)).mean(axis=0) - _OF_NORMAL
        if (contrast @ contrast) > most:
            most, best = float(contrast @ contrast), axes
    return best


def with_one_mode(values: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values, and at each the distribution function with one mode that fits them.

    It is Grenander's estimate, convex up to the mode and concave from there on; of some modes (numbers of gaps between distinct values),
    the one with the smallest distance to the values' own function is taken, which Hartigan's dip bounds from below.
    """
    from sklearn.isotonic import isotonic_regression  # slow to load

    distinct, counts = np.unique(values, return_counts=True)
    F = (np.cumsum(counts) - counts / 2) / len(values)
    widths = np.diff(distinct)
    slopes, least, nearest = np.diff(F) / widths, np.inf, F
    for mode in np.unique(np.linspace(0, len(widths), _MODES).round().astype(int)):
        rising = [
            isotonic_regression(slopes[side], sample_weight=widths[side], increasing=up)
            for side, up in ((slice(mode), True), (slice(mode, None), False))
            if len(slopes[side])
        ]
        U = F[0] + np.append(0.0, np.cumsum(np.concatenate([*rising, np.empty(0)]) * widths))
        if (apart := np.abs(U - F).max()) < least:
            least, nearest = apart, U
    return distinct, nearest


def with_products(W: Floats, Z: Floats) -> Floats:
    """Return draws with columns of mean 0 and the inner products of Z, rotated as little as possible."""
    W = W - W.mean(axis=0)
    values, V = np.linalg.eigh(W.T @ W)
    # With as many components as objects, the draws do not vary in some directions.
    scale = 1.0 / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return np.ascontiguousarray((W @ V) * scale @ V.T * np.sqrt((Z * Z).sum(axis=0)))


def draw_of(null: Null, Z: Floats) -> Draw:
    """Return the function that draws a reference of some scores."""
    if null == "unimodal":
        return unimodal(Z)
    return rotation if null == "rotation" else gaussian


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
    fixing: Floats | None = None,
) -> Verdict:
    """Rank the real data set among references drawn until the result is clear.

    Parameters
    ----------
    real : ndarray of shape (n_k,)
        Its log PAC.
    reference_logs : callable
        Log PAC of the references from one number up to another, which are drawn when needed.
    most : int
        References at most, besides those drawn to fix mean and deviation.
    batch : int
        Number requested at a time; the result does not depend on it.
    ranked : slice, default=slice(None)
        The columns that the rank comes from.
    fixing : ndarray of shape (n_fixing, n_k), default=None
        Statistics whose mean and deviation are used. None: 19 references are drawn first.
    """
    begin = FIXING if fixing is None else 0
    fixing = reference_logs(0, FIXING) if fixing is None else fixing
    mean, sd = fixing[:, ranked].mean(axis=0), fixing[:, ranked].std(axis=0)
    real_gap = float(studentised(real[None, ranked], mean, sd)[0]) - _SAME
    rows: list[Floats] = []

    def exceeds(r: int) -> bool:
        if r == len(rows):
            rows.extend(reference_logs(begin + r, begin + min(most, r + batch)))
        return bool(studentised(rows[r][None, ranked], mean, sd)[0] >= real_gap)

    p, used = sequential_p_value(exceeds, most)
    return Verdict(p, used, real, np.vstack([fixing, *(row[None] for row in rows[:used])]))
