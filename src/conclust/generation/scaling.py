"""The scale of the columns of points: unchanged, or standardised if they have different units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from conclust._arrays.containers import holds
from conclust._random import spawn_generators
from conclust._types import Bools, Floats, Ints
from conclust.exceptions import ScaleWarning, warn
from conclust.generation.kinds.registry import KINDS, Asked
from conclust.generation.runs import run_kmeans
from conclust.measures.comparison import adjusted_rand_index

Scale: TypeAlias = Literal["auto", "minmax", "standard", None]
Scaler: TypeAlias = MinMaxScaler | StandardScaler

# Chosen in experiments/default/scale.py.
_FACTOR = 20.0  # a column narrower by this factor has 1/400 of the widest one's share in squared distances
# With spreads that differ by a factor between the two, columns may have one unit or several: the tightness of clusters is compared.
_LEAST_FACTOR = 5.0
_SHARE = 0.1  # share of narrow columns from which spreads differ in kind
# If at least this many columns carry the distances, narrow columns are quiet ones of the same kind, such as pixels or genes.
_DECIDING = 10.0
# If all column means are this close to 0, in standard deviations, the columns are principal components, whose spreads are intended.
_CENTRED = 1e-3
# Numbers of this magnitude have squares, or sums of squares, that are infinite or 0.
_TINY, _HUGE = 1e-150, 1e152
# Comparison of tightness: maximum number of rows that are used.
_ROWS = 2_000
# Numbers of clusters, as long as a cluster has at least this number of rows on average.
_NUMBERS, _ROWS_PER_CLUSTER = (2, 3, 4, 5, 6, 7, 8, 16, 32, 64), 8
# The numbers whose tightness is summed.
_SUMMED = (2, 4, 8, 16, 32, 64)
_RUNS, _CLOUDS = 5, 3
# Adjusted Rand index above which two partitions are the same.
_SAME = 0.95
# Minimum variance within clusters, as a share of the column's, so that columns with few values do not decide alone.
_LEAST = 1e-4
# The same, for roundness.
_NONE = 1e-12


class Scaling(NamedTuple):
    """The scaling of columns.

    Attributes
    ----------
    scale : {"minmax", "standard"} or None
        The scale; None: columns stay as they are.
    scaler : MinMaxScaler, StandardScaler or None
        The fitted scaler.
    facts : tuple
        Why they are scaled or not: "standard", "minmax" or "none" as requested, or how "auto" decided: "only" one column, spreads
        "alike" or of several "units", clusters "tighter" or "tighter unscaled", "huge" numbers. Then the largest number, or the widest
        and the narrowest column, with their deviations.
    names : sequence of str or None
        Names of the columns.
    """

    scale: Scale
    scaler: Scaler | None
    facts: tuple[Any, ...]
    names: Sequence[str] | None = None

    @property
    def reason(self) -> str:
        """The sentence."""
        from conclust.words.points import of_scaling

        return of_scaling(self.facts, self.names)


class _Spread(NamedTuple):
    """The spreads of columns."""

    deviations: Floats
    ranges: Floats
    varying: Bools
    deciding: float
    centred: bool

    def narrow(self, factor: float = _FACTOR) -> Bools:
        """Return the columns that are narrower than the widest by a factor, in deviation and range."""
        deviations, ranges = self.deviations * factor, self.ranges * factor
        less = (deviations < self.deviations.max()) & (ranges < self.ranges.max())
        return np.asarray(self.varying & less)

    def differs(self, factor: float = _FACTOR) -> bool:
        """Return whether the spreads differ by a factor as those of columns with different units do."""
        n_narrow = int(np.count_nonzero(self.narrow(factor)))
        many = n_narrow > 0 and n_narrow >= _SHARE * int(np.count_nonzero(self.varying))
        return bool(many) and self.deciding < _DECIDING and not self.centred

    def extremes(self) -> tuple[int, float, int, float]:
        """Return the widest and the narrowest column, with their deviations."""
        widest = int(np.argmax(self.deviations))
        least = int(np.argmin(np.where(self.varying, self.deviations, np.inf)))
        return widest, float(self.deviations[widest]), least, float(self.deviations[least])


def fits_scale(scaler: Any, scale: Scale, n_features: int) -> bool:
    """Return whether a scaler, read from a file, is one of this scale, for points with `n_features` features."""
    if scale is None or scaler is None:
        return scale is scaler
    origin = scaler.min_ if scale == "minmax" else scaler.mean_
    sound = holds(origin, n_features) and holds(scaler.scale_, n_features)
    return sound and bool(scaler.scale_.all()) and type(scaler) is type(scaler_of(scale))


def scaler_of(scale: Scale) -> Scaler | None:
    """Return the scaler to [0, 1], or to mean 0 and variance 1; None: columns stay as they are."""
    if scale is None:
        return None
    return MinMaxScaler() if scale == "minmax" else StandardScaler()


def fitted_scaling(
    scale: Scale,
    blocks: Iterable[Floats],
    names: Sequence[str] | None = None,
    *,
    fixed: bool = False,
) -> Scaling:
    """Fit the scaling of points, block by block; with `scale` "auto", decide whether to scale.

    "auto" standardises where the spreads of the columns differ in kind: at least a tenth of the columns that vary
    are narrow, with a standard deviation and a range below a twentieth of the largest ones (by the deviation
    alone, indicators of rare properties would be narrow), and the squared distances are decided by fewer than ten
    columns, by the effective number (sum of variances)^2 / sum of their squares. Pixels and genes of one unit have
    narrow columns too, but many that decide. Columns with means of 0 (principal components) stay as they are. If columns are
    narrow only with a fifth in place of a twentieth, they are standardised if clusters are then tighter (`tighter_standardised`).
    Numbers whose squares are infinite or 0 are brought to [0, 1].

    Parameters
    ----------
    scale : {"auto", "minmax", "standard"} or None
        Requested scale.
    blocks : iterable of ndarray of shape (n_rows, n_features)
        The points; with one block the result equals that of ``scaler.fit`` to the bit.
    names : sequence of str, default=None
        Names of the columns, for the sentence.
    fixed : bool, default=False
        Whether "auto" leaves columns as they are, with a warning where their spreads differ in kind: a clusterer
        may have parameters in their unit.
    """
    if scale == "auto":
        rows = Thinned()
        extent, standard = MinMaxScaler(), StandardScaler()
        with np.errstate(over="ignore", invalid="ignore"):  # squares of very large values
            for block in blocks:
                standard.partial_fit(block)
                extent.partial_fit(block)
                rows.add(block)
        largest = float(max(np.abs(extent.data_max_).max(), np.abs(extent.data_min_).max()))
        if not fixed and largest and not _TINY < largest < _HUGE:
            return Scaling("minmax", _with_narrow_columns(extent), ("huge", largest))
        spread = _spread(standard, extent)
        differs = spread.differs()
        unclear = not differs and not fixed and spread.differs(_LEAST_FACTOR)
        extremes = spread.extremes()
        if not differs and not (unclear and tighter_standardised(rows.rows)):
            if unclear:
                return Scaling(None, None, ("tighter unscaled", *extremes), names)
            return Scaling(None, None, ("only" if len(spread.deviations) == 1 else "alike",))
        if not fixed:
            facts = ("tighter" if unclear else "units", *extremes)
            return Scaling("standard", standard, facts, names)
        n_narrow, n_varying = (int(np.count_nonzero(a)) for a in (spread.narrow(), spread.varying))
        from conclust.words.points import of_extremes

        warn(
            f"The columns of X differ much in spread: {of_extremes(extremes, names)}. Without scaling, {n_narrow} of {n_varying} columns "
            'have almost no influence. Pass scale="standard" (or "minmax") to scale them, or '
            "scale=None to keep them.",
            ScaleWarning,
        )
        return Scaling(None, None, ("none",))
    return Scaling(scale, fitted_scaler(scale, blocks), (scale or "none",))


def fitted_scaler(scale: Scale, blocks: Iterable[Floats]) -> Scaler | None:
    """Return the scaler fitted block by block; None: columns stay as they are."""
    scaler = scaler_of(scale)
    if scaler is not None:
        for block in blocks:
            scaler.partial_fit(block)
    return _with_narrow_columns(scaler) if scale == "minmax" else scaler


def _with_narrow_columns(scaler: Any) -> Any:
    """Make a MinMaxScaler bring columns of any unit to [0, 1].

    scikit-learn takes a range below 2e-15 for 0. Here a column is constant if its range is rounding of its numbers.
    """
    least, ranges, eps = scaler.data_min_, scaler.data_range_, 10 * np.finfo(float).eps
    with np.errstate(divide="ignore", over="ignore"):
        factors = 1.0 / ranges
    rounding = eps * np.maximum(np.abs(least), np.abs(scaler.data_max_))
    narrow = (ranges < eps) & (ranges > rounding) & np.isfinite(factors)
    scaler.scale_ = np.where(narrow, factors, scaler.scale_)
    scaler.min_ = np.where(narrow, -least * scaler.scale_, scaler.min_)
    return scaler


def scaling_of(generator: Any, blocks: Iterable[Floats]) -> Scaling:
    """Fit the scaling of a generator's points."""
    asked = Asked.of(generator.method)
    # Pipelines may include their own scaling.
    stays = any(hasattr(kind, "steps") for kind in asked.kinds)
    stays = stays or any(name in KINDS and KINDS[name].unscaled for name in asked.names)
    scale = None if generator.scale == "auto" and stays else generator.scale
    names = getattr(generator, "feature_names_in_", None)
    return fitted_scaling(scale, blocks, names, fixed=not asked.are_named)


def _spread(standard: StandardScaler, extent: MinMaxScaler) -> _Spread:
    """Measure the columns; constant ones do not count."""
    ranges = extent.data_range_
    unit = float(ranges.max(initial=0.0))
    varying = np.asarray(ranges > 0)
    if not unit > 0:
        return _Spread(ranges, ranges, varying, np.inf, centred=False)
    deviations = np.sqrt(standard.var_)
    # Squares of very large or very small values overflow or underflow: there the range counts as four deviations.
    unknown = varying & ~((deviations > 0) & np.isfinite(deviations))
    deviations = np.where(unknown, ranges / 4, deviations)
    shares = (deviations / deviations.max()) ** 2
    deciding = float(shares.sum() ** 2 / (shares**2).sum())
    centred = bool((np.abs(standard.mean_) <= _CENTRED * deviations)[varying].all())
    return _Spread(deviations, ranges, varying, deciding, centred)


class Thinned:
    """Every 2^t-th of the rows that pass, with the smallest t that leaves at most 2,000.

    The rows do not depend on the blocks in which they come.
    """

    def __init__(self) -> None:
        self._stride, self._seen = 1, 0
        self._kept: list[Floats] = []

    def add(self, block: Floats) -> None:
        """Look at the next rows."""
        while self._seen + len(block) > _ROWS * self._stride:
            self._kept = [np.concatenate(self._kept)[::2]] if self._kept else []
            self._stride *= 2
        first = -self._seen % self._stride
        self._kept.append(np.array(block[first :: self._stride], dtype=np.float64))
        self._seen += len(block)

    @property
    def rows(self) -> Floats:
        """The rows that were kept."""
        return np.concatenate(self._kept)


def tighter_standardised(rows: Floats) -> bool:
    """Return whether clusters are tighter in standardised columns than in columns as they are.

    k-means makes partitions into 2 to 8, 16, 32 and 64 clusters in either scale. They are compared by a measure that no
    scale of the columns changes: the sum over columns of the logarithm of the variance within clusters. The scale in
    which clusters are round has the smaller one. It counts how much smaller it is than for a single Gaussian cloud
    without correlations and with the same deviations, mean of three.

    The measure cannot compare scales that give the same clusters. In that case columns stay as they are if these
    clusters (of the largest such number) are rounder in them: the deviations within clusters differ less between
    columns.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Finite points.
    """
    deviations = rows.std(axis=0)
    rows, deviations = rows[:, deviations > 0], deviations[deviations > 0]
    if not rows.size:
        return False
    pairs = _partitions(rows)
    for unscaled, standardised in reversed(pairs.values()):
        if adjusted_rand_index(unscaled, standardised) > _SAME:
            logs = np.log(np.maximum(_variances_within(rows / deviations, unscaled), _NONE))
            if (logs + 2.0 * np.log(deviations)).std() <= logs.std():
                return False
            break
    clouds = spawn_generators(np.random.SeedSequence(0), _CLOUDS)
    by_chance = []
    for cloud in clouds:
        points = cloud.normal(size=rows.shape) * deviations
        by_chance.append(_gain(points, _partitions(points, _SUMMED)))
    return bool(_gain(rows, pairs) > np.mean(by_chance))


def _partitions(rows: Floats, among: tuple[int, ...] = _NUMBERS) -> dict[int, tuple[Ints, Ints]]:
    """Return partitions of the columns as they are, and of standardised ones, into rising numbers of clusters."""
    centred, deviations = rows - rows.mean(axis=0), rows.std(axis=0)
    unscaled = np.ascontiguousarray(centred / deviations.max())
    standardised = np.ascontiguousarray(centred / deviations)
    numbers = [K for K in among if len(rows) >= K * _ROWS_PER_CLUSTER]
    return {K: (_partition(unscaled, K), _partition(standardised, K)) for K in numbers}


def _gain(rows: Floats, partitions: dict[int, tuple[Ints, Ints]]) -> float:
    """Return how much tighter clusters are in standardised columns, over all numbers of clusters."""
    points = rows / rows.std(axis=0)
    gain = 0.0
    for K in sorted(set(partitions).intersection(_SUMMED)):
        unscaled, standardised = partitions[K]
        for labels, sign in ((unscaled, 1.0), (standardised, -1.0)):
            variances = np.maximum(_variances_within(points, labels), _LEAST)
            gain += sign * float(np.log(variances).sum())
    return gain


def _partition(points: Floats, n_clusters: int) -> Ints:
    """Return the best of some runs of k-means, with fixed seeds."""
    drawn = np.tile(np.arange(len(points), dtype=np.int32), (_RUNS, 1))
    return run_kmeans(points, n_clusters, drawn, np.arange(_RUNS, dtype=np.uint64)).best_labels


def _variances_within(points: Floats, labels: Ints) -> Floats:
    """Return the variance of each column within clusters."""
    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, labels, points)
    means = sums / np.maximum(sizes, 1)[:, None]
    return np.asarray(((points - means[labels]) ** 2).mean(axis=0))


def made_symmetric(points: Floats) -> Floats:
    """Return the points with each column made as symmetric as a power does (Yeo and Johnson 2000), with the spread it had."""
    spreads = points.std(axis=0)
    varied = spreads > 0
    scaled = (points - points.mean(axis=0))[:, varied] / spreads[varied]
    powered = [_powered(np.array(column)) for column in scaled.T]
    return np.asarray(np.column_stack(powered) * spreads[varied])


def _powered(values: Floats) -> Floats:
    """Return what scikit-learn's PowerTransformer does, which takes ten times as long to check as to compute."""
    from scipy.optimize import fminbound
    from scipy.special import exprel

    positive = values >= 0
    logs = np.where(positive, 1.0, -1.0) * np.log1p(np.abs(values))

    def raised(power: float) -> Floats:
        return np.asarray(logs * exprel(np.where(positive, power, power - 2.0) * logs))

    def loss(power: float) -> float:
        return float(len(logs) / 2 * np.log(raised(power).var()) - (power - 1.0) * logs.sum())

    most = 336.0 / np.log1p(20.0 * np.abs(values).max())  # beyond, the variance may overflow
    found = raised(fminbound(loss, 2.0 - most, most, xtol=1e-8))
    return np.asarray((found - found.mean()) / found.std())
