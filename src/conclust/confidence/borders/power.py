"""How many objects a border needs: its effect, by tests of parts of the objects and by the shape of the points along it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_ndtr, logsumexp, ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_sequences
from conclust._threads import thread_count
from conclust._types import Bools, Floats
from conclust._validation import check_int, count, pandas_for
from conclust.confidence.borders.dips import dips_of_rows
from conclust.confidence.borders.parts import BINS, PART, by_estimator, by_kmeans, in_own_scale
from conclust.confidence.borders.testing import border_tests, parts_of
from conclust.consensus.base import ConsensusClusterer
from conclust.measures.contingency import read_labels
from conclust.words import confidence as words

_OWNER = "power"
WANTED = 0.8
_PARTS = 8  # of one size, at most
_FEWEST = 10  # objects of a part for each cluster
_HIGHEST = 4.26  # normal deviate of the smallest p-value of a dip, 1e-5
_SPREAD = 0.7  # standard deviation of that deviate
_SLOPE = 8.0  # its growth with the dip times the root of the number of points (`dip_table.txt`)
_UNSURE = 0.25  # standard deviation of the logarithm of an effect, around two normal clusters
_SPLITS, _ROUNDS = 5, 100  # of the points that these are fitted to, and of the fit
_LEVELS = 2000  # of the law of these, whose dip is taken
_EXPONENTS = np.array([1, 1.2, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 20])  # of one cluster
_FAINT = 0.4  # growth up to all objects, below which 100 times as many are too few
_SHOWN = 0.2  # adjusted p-value of all objects with which the tests alone foresee a border
_COLUMNS = ("first", "second", "needed", "probability")


@dataclass(frozen=True, eq=False, repr=False)
class BorderPower:
    """How many objects each border needs.

    Attributes
    ----------
    first, second : tuple
        Names of the two clusters of each border.
    effect : ndarray of shape (n_borders,)
        Growth of the statistic of each border with the root of the number of objects.
    required : ndarray of shape (n_borders,)
        The mean of the statistic, without its constant, with which the border holds in every second sample.
    spread : float
        Standard deviation of the statistic.
    n, n_samples : int
        The objects asked about, and those that there are.
    """

    first: tuple[Any, ...]
    second: tuple[Any, ...]
    effect: Floats
    required: Floats
    spread: float
    n: int
    n_samples: int

    @property
    def needed(self) -> Floats:
        """Objects with which each border holds in 80 % of samples; infinite where no number is foreseen."""
        with np.errstate(divide="ignore"):  # no effect: never
            return np.asarray(((self.required + self.spread * ndtri(WANTED)) / self.effect) ** 2)

    @property
    def probability(self) -> Floats:
        """The probability that each border holds in a sample of `n` objects."""
        return self.at(self.n)

    def at(self, n: float) -> Floats:
        """Return the probability that each border holds in a sample of n objects."""
        return np.asarray(ndtr((self.effect * np.sqrt(n) - self.required) / self.spread))

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """The borders as a dict of columns, those that need most objects first; see `to_frame`."""
        order = np.argsort(-self.needed, kind="stable")
        names = np.empty((2, len(order)), dtype=object)
        names[:] = self.first, self.second
        columns = (*names, self.needed, self.probability)
        return {name: c[order] for name, c in zip(_COLUMNS, columns, strict=True)}

    def to_frame(self) -> Any:
        """Return the borders as a pandas DataFrame, one per row, those that need most objects first.

        Returns
        -------
        DataFrame
            Columns: first, second (names), needed, probability (at `n`).

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("BorderPower.to_frame")
        return pd.DataFrame({name: column.tolist() for name, column in self.table.items()})

    def told(self) -> str:
        """Return what the border that needs most objects needs, in a sentence."""
        return words.of_power(self)

    def __repr__(self) -> str:
        return f"BorderPower({count(len(self.needed), 'border')}: {self.told()})"


def power(
    model: Any,
    X: ArrayLike,
    *,
    n: int | None = None,
    n_splits: int = 15,
    alpha: float = 0.05,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> BorderPower:
    """Estimate the number of objects with which each border would hold.

    `border_tests` is run on all objects and on parts of them: halves, quarters, eighths, and so on as long as a border shows in
    one of at most eight parts of a size. The statistic of a border grows with the square root of the number of objects. Its
    growth, estimated from all of these tests together and from the shape of the points along the border, determines the number
    with which the border holds in 80 % of samples. If the points look like one cluster, no number is predicted.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n_samples,)
        The clusters, like the `labels` of `border_tests`.
    X : array-like of shape (n_samples, n_features)
        The points.
    n : int, default=None
        Number of objects for which to compute the probability that each border holds. None: the number of objects in X.
    n_splits : int, default=15
        Random splits of each test.
    alpha : float, default=0.05
        Level of the tests after Holm's adjustment, at least 0.001.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the parts, and seeds the tests.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Returns
    -------
    BorderPower
        For each border the number of objects needed, and the probability that it holds with `n`.

    Raises
    ------
    InputError
        If `border_tests` cannot test all objects.
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    The statistic is the normal deviate z of 1 - p, where p is the median p-value of the splits. For border b and m objects it
    is assumed to be normal with mean e_b sqrt(m) - c and standard deviation .7: the effect e_b >= 0 is specific to the border,
    and c (the deficit of samples without a border) is common to all borders. They are estimated by maximum likelihood; values
    of z at either end of its range (0, and the z of p = 1e-5) are censored (Tobin 1958 [1]_). Parts of one size do not overlap. A
    border holds if z reaches the level that Holm's method requires after all borders with larger effects.

    If few objects hardly show a border, the tests say little about its effect. Two normal clusters of equal spread are fitted
    to the points along the border, and so is one cluster with a density exp(-abs(x - m)^b / s^b), b >= 1, with separate scales
    s left and right of the mode m (normal, uniform, Laplace, exponential and others); both models have four parameters. If two
    clusters are more likely, log(e_b) has a normal prior with mean log(8 D sqrt(2 r / 3)) and standard deviation .25:
    D is the dip of their distribution, r the share of the points in the border's region, and 8 the growth of z with the
    dip. Otherwise, and if 100 times the objects would be too few, the tests alone determine e_b if the adjusted p-value of all
    objects is at most .2; if it is larger, no number is predicted.

    In 87 % of 45 planted mixtures of normal and t distributions (10 degrees of freedom), which were not used for tuning, the
    number for all borders (the largest) was within a factor of 1.5 of that needed in fresh samples; in 19 others, some of them
    skewed, it was so in 11 (5 were wrong, 3 undecided).
    For 148 single borders it was so in 78 %, counting numbers above 15,000 as 15,000: in 88 % of those that need no more
    objects than there are, in 64 % of those that need up to four times as many, and in 41 % of the others, for which the number
    is rough. For single clouds that k-means cut into two to four clusters, no number was predicted in 98 % of 135 sets
    (``experiments/power``).

    Costs 15 tests or more, each of `n_splits` clusterings: seconds for labels, which k-means clusters again.

    References
    ----------
    .. [1] J. Tobin: Estimation of relationships for limited dependent variables. Econometrica 26, 1958.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.confidence import power
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 150)
    >>> X = rng.normal(size=(300, 2)) + 3.2 * labels[:, None] * [1, 0]
    >>> found = power(labels, X, n=500, random_state=0)
    >>> found.told()
    'The border between clusters 0 and 1 would hold in 80 % of samples of about 530 objects, give or take a factor of two (you have 300).'
    >>> found.probability.round(2)
    array([0.76])
    """
    estimator = hasattr(model, "fit")
    if estimator:
        check_is_fitted(model)
    codes, names = read_labels(model.labels_ if estimator else model, "model")
    clusterer = model if estimator and not isinstance(model, ConsensusClusterer) else None
    points, clusterer = in_own_scale(clusterer, X, len(codes))
    n_samples, K = len(codes), int(codes.max(initial=-1)) + 1
    number = check_int(n_samples if n is None else n, "n", _OWNER)
    [rng] = spawn_generators(seed_sequence(random_state, _OWNER), 1)
    test = partial(border_tests, n_splits=n_splits, alpha=alpha, random_state=rng, n_jobs=n_jobs)
    p_values, sizes = [], []
    for halving in range(n_samples.bit_length()):
        size = n_samples >> halving
        if halving and np.mean(codes >= 0) * size < _FEWEST * K:
            break
        order = rng.permutation(n_samples)
        for part in range(min(_PARTS, 2**halving)):
            some = np.sort(order[part * size : (part + 1) * size])
            tests = test(points[some], codes[some], clusterer=clusterer)
            if not halving:
                neighbours = np.triu(tests.neighbours)
                shown = tests.adjusted[neighbours] <= _SHOWN
            square, here = np.ones((K, K)), np.array(tests.names)
            square[np.ix_(here, here)] = np.where(tests.neighbours, tests.p_value, 1.0)
            p_values.append(square[neighbours])
            sizes.append(size)
        if halving >= 3 and not (np.array(p_values[-_PARTS:]) <= alpha).any():
            break
    pairs = np.argwhere(neighbours).astype(np.int64)
    threads = thread_count(n_jobs, _OWNER)
    clustering = by_kmeans(K, threads) if clusterer is None else by_estimator(clusterer, K)
    splitting, *seeds = spawn_sequences(seed_sequence(rng, _OWNER), 3)
    most = min(round(PART * n_samples), 5_000)  # as `border_tests` has
    parts = parts_of(points, codes, K, most, clustering, _SPLITS, splitting, seeds)[0]
    placed = [part.tested(pairs, np.arange(K), placed=True).places for part in parts]
    shape = np.sum(placed, axis=0) / np.sum([~part.first for part in parts])
    dips, two = two_normals(shape)
    usual = _SLOPE * dips * np.sqrt((1.0 - PART) * shape.sum(axis=1))
    least = _FAINT / np.sqrt(n_samples)
    two &= usual > least
    effects, c = growth(-ndtri(np.array(p_values) / 2.0), np.sqrt(sizes), usual, two)
    rank = (effects <= effects[:, None]).sum(axis=1)
    required = c - ndtri(alpha / 2.0 / rank)
    effects = np.where((effects > least) & (two | shown), effects, 0.0)
    first, second = (tuple(names[k] for k in side) for side in np.nonzero(neighbours))
    return BorderPower(first, second, effects, required, _SPREAD, number, n_samples)


def growth(z: Floats, roots: Floats, usual: Floats, two: Bools) -> tuple[Floats, float]:
    """Return the effect of each border, and the constant c common to all.

    By normal deviates z (n_tests, n_borders) of the p-values, 0 for all of at least 1/2, the roots of the numbers of objects, the
    effects that two normal clusters would usually have, and whether there are two: other effects are estimated from z alone.
    """
    about = np.log(np.where(two, usual, 3.0 / roots.max()))

    def misfit(v: Floats) -> float:
        u = (z - np.exp(v[:-1]) * roots[:, None] + v[-1]) / _SPREAD
        logs = np.where(z <= 0, log_ndtr(u), np.where(z > _HIGHEST, log_ndtr(-u), -0.5 * u**2))
        far = two * ((v[:-1] - about) / _UNSURE) ** 2
        return float(0.5 * far.sum() - logs.sum())

    bounds = [(None, None)] * len(about) + [(0.0, None)]
    *effects, c = minimize(misfit, np.append(about, 1.0), bounds=bounds).x
    return np.exp(effects), float(c)


def two_normals(shape: Floats) -> tuple[Floats, Bools]:
    """Return the dip of two normal clusters that fit the places along each border, and whether they fit better than one cluster.

    By the share of the points in each bin (n_borders, n_bins). The two have equal spreads. One cluster has the density
    exp(-|x - m|^b / s^b) with two scales s, left and right of its mode m, and b of at least 1: with four parameters, too, it is normal,
    uniform, Laplace, exponential or between these. For given m and b the best scales are known (Ayebo and Kozubowski 2003).
    """
    x = (BINS[1:] + BINS[:-1]) / 2.0
    # A border may have no point.
    shape = (shape + 1e-9) / (shape + 1e-9).sum(axis=1, keepdims=True)
    second = np.clip(np.broadcast_to(x > 0.5, shape.shape), 0.01, 0.99)
    for _ in range(_ROUNDS):
        both = np.stack([1.0 - second, second]) * shape
        sizes = both.sum(axis=2)
        means = both @ x / sizes
        apart = x - means[..., None]
        variance = (both * apart**2).sum(axis=(0, 2))[:, None]
        logs = np.log(sizes)[..., None] - (apart**2 / variance + np.log(2 * np.pi * variance)) / 2
        second = expit(logs[1] - logs[0])
    of_two = (shape * logsumexp(logs, axis=0)).sum(axis=1)
    b = _EXPONENTS[:, None, None]
    away = x[:, None] - BINS[1:-1]  # from each mode
    scales = sum((shape @ np.maximum(side, 0) ** b) ** (1 / (b + 1)) for side in (away, -away))
    of_one = -(1.0 + np.log(b)) / b - (1.0 + 1.0 / b) * np.log(scales) - gammaln(1.0 + 1.0 / b)
    normal = ndtr((BINS - means[..., None]) / np.sqrt(variance))
    below = (sizes[..., None] * normal).sum(axis=0)
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    quantiles = np.reshape([np.interp(levels, each, BINS) for each in below], (-1, _LEVELS))
    # Even equally spaced values have a dip.
    dips = np.maximum(dips_of_rows(quantiles, 1) - 0.5 / _LEVELS, 0.0)
    return dips, of_two > of_one.max(axis=(0, 2))
