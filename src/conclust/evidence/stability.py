"""Stability of objects: the distance of their pairs from being undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from conclust._arrays.ratios import ratio
from conclust._types import Bools, Floats
from conclust.ensemble import DistinctRows, Ensemble
from conclust.evidence.dense import coassociation_blocks, frequencies

Determinacy: TypeAlias = Literal["linear", "quadratic"]

# Number of steps in which fractional shares are counted.
_STEPS = 1000
# Number of pairs counted at once, in several arrays of eight bytes each.
_BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class RowStability:
    """How clearly the partitions determine the company of each distinct row of labels.

    Attributes
    ----------
    stability : ndarray of shape (n_rows,)
        Determinacy scaled from 0 (the least determined row) to 1 (the most); 1 if all are equal.
    determinacy : ndarray of shape (n_rows,)
        Mean over the other objects of the distance of the share of partitions that put both together from `threshold`.
    threshold : float
        Between the shares of pairs that are together and of pairs that are apart.
    core : ndarray of bool of shape (n_rows,)
        Rows in the group of higher stability.
    """

    stability: Floats
    determinacy: Floats
    threshold: float
    core: Bools


def stability_of_rows(start: DistinctRows, determinacy: Determinacy) -> RowStability:
    """Return the stability of each row of labels; rows count by their masses."""
    counts = _shares_of_rows(start)
    levels = np.linspace(0.0, 1.0, counts.shape[1])
    threshold = otsu_threshold(levels, start.masses @ counts)
    # If all shares are equal, both sides have length zero.
    side = np.where(levels < threshold, threshold, 1.0 - threshold)
    clear = ratio(np.abs(levels - threshold), side, 1.0)
    sums = counts @ (clear**2 if determinacy == "quadratic" else clear)
    raw = ratio(sums, counts.sum(axis=1))
    low, high = float(raw.min()), float(raw.max())
    scaled = (raw - low) / (high - low) if high - low > 1e-12 else np.ones_like(raw)
    return RowStability(scaled, raw, threshold, scaled >= otsu_threshold(scaled, start.masses))


def steps_of(rows: Ensemble, otherwise: int) -> int:
    """Return the number of steps of the shares: the number of partitions if all have equal weight."""
    whole = not rows.is_soft and not rows.has_missing and rows.weights is None
    return rows.n_partitions if whole else otherwise


def otsu_threshold(values: Floats, masses: Floats) -> float:
    """Return Otsu's threshold, halfway between the values that it separates, or the value if there is only one."""
    order = np.argsort(values, kind="stable")
    order = order[masses[order] > 0]
    at, weight = values[order], masses[order]
    if not len(at) or at[-1] - at[0] <= 1e-12:
        return float(at[0]) if len(at) else 0.0
    below = np.cumsum(weight)[:-1]
    above = weight.sum() - below
    sums = np.cumsum(weight * at)
    gap = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    between = below * above * gap**2
    between[np.diff(at) <= 1e-12] = 0.0  # equal values are not separated
    best = int(np.argmax(between >= between.max() * (1.0 - 1e-12)))
    return float(0.5 * (at[best] + at[best + 1]))


def _shares_of_rows(start: DistinctRows) -> Floats:
    """Return the number of other objects of each row at each share from 0 to 1 (n_rows, steps + 1)."""
    rows = start.ensemble
    steps = steps_of(rows, _STEPS)
    masses = start.masses
    counts = np.zeros((len(start), steps + 1))
    at_once = max(1, _BLOCK_ENTRIES // len(start))
    for block in coassociation_blocks(rows, block_rows=at_once):
        shares = frequencies(block.counts, block.copresence)
        levels = np.rint(np.nan_to_num(shares) * steps).astype(np.int64)
        weights = np.where(np.isnan(shares), 0.0, masses)
        # A row counts one object of its own fewer, because an object does not form a pair with itself.
        local = np.arange(len(block.rows))
        weights[local, local + block.rows.start] -= weights[local, local + block.rows.start] > 0
        levels += (local * (steps + 1))[:, None]
        level_counts = np.bincount(
            levels.ravel(), weights.ravel(), minlength=len(local) * (steps + 1)
        )
        counts[block.rows.start : block.rows.stop] = level_counts.reshape(len(local), -1)
    return counts
