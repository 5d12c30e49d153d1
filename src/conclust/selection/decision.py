"""Decides on the number of clusters from the criteria; `words/selection.py` says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from conclust._types import Floats
from conclust.selection.resampled.testing import SMALLEST

Criterion: TypeAlias = Literal["rcsi", "sharp", "silhouette_points"]
# Up to this share of the pairs within one cluster of average size, almost no pair is ambiguous: a
# few objects lie between two clusters. A cluster split in two has several times this share.
_CLEAN = 0.1


class Test(NamedTuple):
    """The test of a single cluster.

    Attributes
    ----------
    p_value : float
        P-value of a single cluster; NaN if it was not tested.
    n_references : int
        References that the p-value comes from.
    null : str or None
        The null model.
    n_categories : int
        Columns of categories in addition to the points.
    of_points : bool
        Whether there are points, from which references can be made.
    alpha : float
        Level of the test.
    few : bool
        Whether the p-value is that of the largest silhouette.
    """

    p_value: float
    n_references: int
    null: str | None
    n_categories: int
    of_points: bool
    alpha: float = 0.05
    few: bool = False


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The number of clusters, and the facts that it rests on.

    Attributes
    ----------
    n_clusters : int
        Number of clusters; 1 if no number is more stable than without clusters.
    best : int
        The best number from 2 on.
    alternatives : tuple of int
        Other numbers that are equally good within one standard error.
    by : {"no contrast", "one cloud", "clean", "largest"}
        Basis of the number: objects of a cluster are together no more often than others; the p-value of one cloud; `best` is the largest
        number at which almost no pair is ambiguous, or has the largest value of the criterion.
    criterion : {"rcsi", "sharp", "silhouette_points"}
        The criterion.
    value, error : float
        Its value at the best number, and its standard error.
    rivals : tuple of (str, int)
        Other criteria that are clearly larger at another number, and this number.
    smallest : int
        Number of objects of the smallest cluster at the best number.
    tried : tuple of int
        Numbers of clusters examined.
    test : Test
        The test of a single cluster.
    """

    n_clusters: int
    best: int
    alternatives: tuple[int, ...] = ()
    by: Literal["no contrast", "one cloud", "clean", "largest"]
    criterion: Criterion
    value: float
    error: float
    rivals: tuple[tuple[str, int], ...] = ()
    smallest: int
    tried: tuple[int, ...]
    test: Test


def relative_stability(real: Floats, references: Floats) -> tuple[Floats, Floats]:
    """Return RCSI, mean log PAC of the references less log PAC of the data, and its standard error."""
    rcsi = references.mean(axis=0) - real
    error = references.std(axis=0, ddof=1) / np.sqrt(len(references))
    return rcsi, error


def decide(
    ks: Sequence[int], table: dict[str, Floats], test: Test, *, nested: bool = True
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
    test : Test
        The test of a single cluster.
    nested : bool, default=True
        Whether each K has resamples of its own.
    """
    tested, few = np.isfinite(test.p_value), test.few
    main: Criterion = "silhouette_points" if few else "rcsi" if tested else "sharp"
    has_resamples = table["resamples_with_k"] >= 0.5 if nested else np.ones(len(ks), dtype=bool)
    if not has_resamples.any():
        has_resamples[:] = True
    if few and (large := table["smallest_cluster"] >= SMALLEST).any():
        has_resamples &= large
    scores = np.where(has_resamples, table[main], np.nan)
    at = largest = _largest(scores)
    clean = has_resamples & (table["pac"] * np.square(ks) <= _CLEAN)
    clean &= not few
    contrast = tested or scores[at] > 0
    if nested and clean[at] and contrast:
        at = int(np.flatnonzero(clean)[-1])
    decision = Decision(
        n_clusters=1,
        best=ks[at],
        by="one cloud" if contrast else "no contrast",
        criterion=main,
        value=float(table[main][at]),
        error=float(table[f"{main}_se"][at]),
        smallest=int(table["smallest_cluster"][at]),
        tried=tuple(ks),
        test=test,
    )
    if not contrast or (tested and test.p_value > test.alpha):
        return decision
    within = scores >= scores[at] - decision.error
    if nested and clean[at]:  # log PAC separates single objects: the other criteria decide
        within[:] = False
    votes = () if few else ("sharp", "mean_ari") if tested else ("mean_ari",)
    rivals = []
    for vote in votes:
        other = _largest(np.where(has_resamples, table[vote], np.nan))
        noise = 2.0 * np.nan_to_num(max(table[f"{vote}_se"][at], table[f"{vote}_se"][other]))
        if table[vote][other] > table[vote][at] + noise:
            rivals.append((vote, ks[other]))
    return replace(
        decision,
        n_clusters=decision.best,
        alternatives=tuple(
            k for k, near in zip(ks, within, strict=True) if near and k != decision.best
        ),
        by="largest" if at == largest else "clean",
        rivals=tuple(rivals),
    )


def _largest(values: Floats) -> int:
    """Return the index of the largest value; 0 if there is none."""
    return 0 if np.isnan(values).all() else int(np.nanargmax(values))
