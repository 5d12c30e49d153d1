"""Decides on the number of clusters from the criteria, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conclust._types import Floats
from conclust._validation import count, listed
from conclust.selection.resampled.testing import SMALLEST

_FEW = 5  # objects
# Up to this share of the pairs within one cluster of average size, almost no pair is ambiguous: a
# few objects lie between two clusters. A cluster split in two has several times this share.
_CLEAN = 0.1


@dataclass(frozen=True)
class Decision:
    """The number of clusters, and the reason.

    Attributes
    ----------
    n_clusters : int
        Number of clusters; 1 if no number is more stable than without clusters.
    best : int
        The best number from 2 on.
    alternatives : tuple of int
        Other numbers that are equally good within one standard error.
    why : str
        Why, in a clause.
    doubts : tuple of str
        Doubts about it, one sentence each.
    """

    n_clusters: int
    best: int
    alternatives: tuple[int, ...]
    why: str
    doubts: tuple[str, ...]


def relative_stability(real: Floats, references: Floats) -> tuple[Floats, Floats]:
    """Return RCSI, mean log PAC of the references less log PAC of the data, and its standard error."""
    rcsi = references.mean(axis=0) - real
    error = references.std(axis=0, ddof=1) / np.sqrt(len(references))
    return rcsi, error


def decide(
    ks: Sequence[int],
    table: dict[str, Floats],
    *,
    p_value: float,
    n_references: int,
    alpha: float,
    null: str | None,
    why_no_p: str,
    nested: bool = True,
    n_categories: int = 0,
    few: bool = False,
) -> Decision:
    """Decide on the number of clusters.

    One, where the p-value is above `alpha`. Else the K with the largest RCSI, or without references
    with the largest sharp score. If next to no pair is ambiguous at the best K, every K where this holds
    is equally stable: differences of log PAC then come from single objects. Of these the largest K is
    taken, because the coarser consensuses only merge its clusters. (Not where one ensemble serves all K:
    `nested` is false.) A K is passed over where most resamples hold fewer than K clusters: there are too
    few different points. Without a p-value the answer is one cluster where pairs within clusters are
    together no more often than others, at any K.

    Resamples of few objects are stable at many K: of these the K with the largest silhouette of the points is taken, whose
    clusters have at least five objects each.

    Parameters
    ----------
    ks : sequence of int
        Numbers of clusters examined.
    table : dict of ndarray
        Criteria, one value per K.
    p_value : float
        P-value of a single cluster; NaN if it was not tested.
    n_references : int
        References that the p-value comes from.
    alpha : float
        Level of the test.
    null : str or None
        The null model.
    why_no_p : str
        Reason where there is no p-value.
    nested : bool, default=True
        Whether each K has resamples of its own.
    n_categories : int, default=0
        Columns of categories in addition to the points.
    few : bool, default=False
        Whether the p-value is that of the largest silhouette.
    """
    tested = np.isfinite(p_value)
    main = "silhouette_points" if few else "rcsi" if tested else "sharp"
    has_resamples = table["resamples_with_k"] >= 0.5 if nested else np.ones(len(ks), dtype=bool)
    if not has_resamples.any():
        has_resamples[:] = True
    if few and (large := table["smallest_cluster"] >= SMALLEST).any():
        has_resamples &= large
    scores = np.where(has_resamples, table[main], np.nan)
    at = largest = _largest(scores)
    if not tested and not scores[at] > 0:
        why = f"{NO_CONTRAST} ({numbers_tried(ks)}); no p-value: {why_no_p}"
        return Decision(1, ks[at], (), why, ())
    clean = has_resamples & (table["pac"] * np.square(ks) <= _CLEAN)
    clean &= not few
    if nested and clean[at]:
        at = int(np.flatnonzero(clean)[-1])
    best = ks[at]
    within = scores >= scores[at] - table[f"{main}_se"][at]
    if nested and clean[at]:  # log PAC separates single objects: the other criteria decide
        within[:] = False
    alternatives = tuple(k for k, near in zip(ks, within, strict=True) if near and k != best)
    test = _test(p_value, n_references, null)
    if tested and p_value > alpha:
        more = "farther apart than the parts of" if few else "more stable than in"
        why = f"{numbers_tried(ks)} clusters are not {more} {without_clusters(null, n_categories)} ({test})"
        return Decision(1, best, (), why, ())
    value, error = table[main][at], table[f"{main}_se"][at]
    rounding = 1e-12 * abs(value)  # resamples that all agree differ by rounding
    spread = f" +/- {0 if error < rounding else error:.2g}" if np.isfinite(error) else ""
    most, name = "farthest apart" if few else "most stable", _NAMES[main].removeprefix("the ")
    why = f"the {most} of {numbers_tried(ks)} ({name} {value:.3g}{spread})"
    if at != largest:
        why = f"the largest of {numbers_tried(ks)} at which almost no pair is ambiguous"
    why += f"; {test}" if tested else f"; no p-value: {why_no_p}"
    votes = () if few else ("sharp", "mean_ari") if tested else ("mean_ari",)
    doubts = []
    for vote in votes:
        other = _largest(np.where(has_resamples, table[vote], np.nan))
        noise = 2.0 * np.nan_to_num(max(table[f"{vote}_se"][at], table[f"{vote}_se"][other]))
        if table[vote][other] > table[vote][at] + noise:
            name = _NAMES[vote]
            doubts.append(f"{name[0].upper()}{name[1:]} is largest for {ks[other]} clusters.")
    if alternatives:
        doubts.append(
            f"{listed(alternatives)} clusters are as good within one standard error of "
            f"{_NAMES[main]}."
        )
    if best == max(ks) and len(ks) > 1:
        doubts.append(f"{best} is the largest number tried: try more (k).")
    smallest = int(table["smallest_cluster"][at])
    if smallest < _FEW:
        doubts.append(f"The smallest cluster has {count(smallest, 'object')}.")
    return Decision(best, best, alternatives, why, tuple(doubts))


def more_than_gaussian(p_value: float, n_references: int, null: str | None) -> str:
    """Return "more structure than one Gaussian (p = 0.01, 99 rotations)"."""
    return f"more structure than one Gaussian ({_test(p_value, n_references, null)})"


def _test(p_value: float, n_references: int, null: str | None) -> str:
    """Return "p = 0.01, 99 rotations"."""
    return f"p = {p_value:.3g}, {count(n_references, REFERENCES.get(null or '', 'reference'))}"


NO_CONTRAST = "at no number are objects of a cluster together more often than others"
_NAMES = {
    "rcsi": "RCSI",
    "sharp": "the sharp score",
    "mean_ari": "the mean ARI of resamples",
    "silhouette_points": "the silhouette",
}
REFERENCES = {
    "rotation": "rotation",
    "gaussian": "Gaussian reference",
    "unimodal": "unimodal reference",
    "flat": "flat cloud",
    "skewed": "skewed cloud",
}
NOTHING = {
    "rotation": "one Gaussian cloud of the same covariance",
    "gaussian": "Gaussian clouds with the deviations of the components",
    "unimodal": "clouds with components of one mode each",
    "flat": "flat clouds of the same covariance",
    "skewed": "skewed clouds of the same covariance",
}


def without_clusters(null: str | None, n_categories: int = 0) -> str:
    """Return a description of the references of a null."""
    clouds = NOTHING.get(null or "", "references without clusters")
    return f"{clouds}, with independent categories" if n_categories else clouds


def _largest(values: Floats) -> int:
    """Return the index of the largest value; 0 if there is none."""
    return 0 if np.isnan(values).all() else int(np.nanargmax(values))


def numbers_tried(ks: Sequence[int]) -> str:
    """Return the numbers of clusters tried, in words: "K = 2 to 10", "K = 2, 5 and 9"."""
    if len(ks) == 1:
        return f"K = {ks[0]}"
    if len(ks) > 2 and ks[-1] - ks[0] == len(ks) - 1:
        return f"K = {ks[0]} to {ks[-1]}"
    return f"K = {listed(ks)}"
