"""How many objects a border needs: its effect, by tests of parts of the objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Floats
from conclust._validation import check_int, count, pandas_for
from conclust.confidence.borders.parts import in_own_scale
from conclust.confidence.borders.testing import border_tests
from conclust.consensus.base import ConsensusClusterer
from conclust.measures.contingency import read_labels
from conclust.words import confidence as words

_OWNER = "power"
WANTED = 0.8
_PARTS = 8  # of one size, at most
_FEWEST = 10  # objects of a part for each cluster
_HIGHEST = 4.26  # normal deviate of the smallest p-value of a dip, 1e-5
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
        """Objects with which each border holds in 80 % of samples; infinite where the objects show nothing of it."""
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

    `border_tests` is run on all objects and on parts of them: halves, quarters, eighths, and on while a border shows in one
    of at most eight parts of a size. The statistic of a border grows with the root of the number of objects; its growth, estimated
    from all of these tests together, tells the number with which the border holds in 80 % of samples.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n_samples,)
        The clusters, as the `labels` of `border_tests`.
    X : array-like of shape (n_samples, n_features)
        The points.
    n : int, default=None
        Objects for which the probability that each border holds is wanted. None: as many as there are.
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
    The statistic is the normal deviate z of 1 - p, where p is the median p-value of the splits. For border b and m objects it is taken
    as normal with mean e_b sqrt(m) - c and standard deviation s: the effect e_b >= 0 is the border's own, c (what
    samples without a border lack) and s are common to all borders. All are estimated by maximum likelihood; values of z at
    the ends of its range, 0 and that of p = 1e-5, are censored (Tobin 1958 [1]_). Parts of one size do not overlap. A
    border holds if z reaches what Holm's method asks of it after all borders with larger effects.

    Of 135 borders in 40 planted mixtures, 84 % were within a factor of 1.5 of the number found by fresh samples, and 90 % within 2, where numbers
    above 15,000 count as 15,000. It was 93 % and 95 % of the borders that need no more objects than there are, but 62 % and 85 % of
    those that need up to four times as many, and 39 % and 56 % of those that need still more, for which the number is a rough one
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
    'The border between clusters 0 and 1 would hold with about 740 objects (you have 300).'
    >>> found.probability.round(2)
    array([0.47])
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
            square, here = np.ones((K, K)), np.array(tests.names)
            square[np.ix_(here, here)] = np.where(tests.neighbours, tests.p_value, 1.0)
            p_values.append(square[neighbours])
            sizes.append(size)
        if halving >= 3 and not (np.array(p_values[-_PARTS:]) <= alpha).any():
            break
    effects, c, s = growth(-ndtri(np.array(p_values) / 2.0), np.sqrt(sizes))
    rank = (effects <= effects[:, None]).sum(axis=1)
    required = c - ndtri(alpha / 2.0 / rank)
    first, second = (tuple(names[k] for k in side) for side in np.nonzero(neighbours))
    return BorderPower(first, second, effects, required, s, number, n_samples)


def growth(z: Floats, roots: Floats) -> tuple[Floats, float, float]:
    """Estimate the effect of each border, and what is common to all.

    Parameters
    ----------
    z : ndarray of shape (n_tests, n_borders)
        Normal deviates of the p-values; 0 for all p-values of at least 1/2.
    roots : ndarray of shape (n_tests,)
        Roots of the numbers of objects.

    Returns
    -------
    effects : ndarray of shape (n_borders,)
        Growth of z with the root; 0 where no test shows the border.
    c, s : float
        Minus z at no object, and its standard deviation.
    """
    at = (roots / roots.max())[:, None]

    def misfit(v: Floats) -> float:
        u = (z - v[:-2] * at + v[-2]) / v[-1]
        inside = -0.5 * u**2 - np.log(v[-1])
        logs = np.where(z <= 0, log_ndtr(u), np.where(z > _HIGHEST, log_ndtr(-u), inside))
        return -float(logs.sum())

    start = np.append(np.full(z.shape[1], 3.0), [1.0, 1.0])
    bounds = [(0.0, None)] * (len(start) - 1) + [(0.1, None)]
    *effects, c, s = minimize(misfit, start, bounds=bounds).x
    return np.where((z > 0).any(axis=0), effects, 0.0) / roots.max(), float(c), float(s)
