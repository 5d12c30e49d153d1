"""Why a selection has its number of clusters, and the doubts about it, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from conclust._validation import count, listed
from conclust.words.borders import at_level, held_of
from conclust.words.card import Card, named_sizes, sentence
from conclust.words.reason import Other, Reason, as_well_supported

if TYPE_CHECKING:
    from conclust.selection.decision import Decision
    from conclust.selection.second import Second
    from conclust.selection.selection import Selection

_FEW = 5  # objects
_LOOSE = 0.8  # cluster consensus
NO_CONTRAST = "at no number of clusters are objects of one cluster together more often than others"
LABELS_ONLY = "labels alone give no reference without clusters to compare with"
_NAMES = {
    "rcsi": "RCSI",
    "sharp": "the sharp score",
    "mean_ari": "the mean ARI of resamples",
    "silhouette_points": "the silhouette",
}
_REFERENCES = {
    "rotation": "rotation",
    "gaussian": "Gaussian reference",
    "unimodal": "unimodal reference",
}
_NOTHING = {
    "rotation": "one Gaussian cloud of the same covariance",
    "gaussian": "Gaussian clouds with the deviations of the components",
    "unimodal": "clouds that mix components of one mode each",
}
_SINGLE = "single clouds of the same shape"


def drawn(number: int, null: str | None) -> str:
    """Return a number of references of a null: "99 rotations"."""
    return count(number, _REFERENCES.get(null or "", "reference"))


def _without_clusters(null: str | None, n_categories: int = 0) -> str:
    """Return a description of the references of a null."""
    clouds = _NOTHING.get(null or "", "references without clusters")
    return f"{clouds}, with independent categories" if n_categories else clouds


def numbers_tried(ks: Sequence[int]) -> str:
    """Return the numbers of clusters tried, in words: "K = 2 to 10", "K = 2, 5 and 9"."""
    if len(ks) == 1:
        return f"K = {ks[0]}"
    if len(ks) > 2 and ks[-1] - ks[0] == len(ks) - 1:
        return f"K = {ks[0]} to {ks[-1]}"
    return f"K = {listed(ks)}"


def why_of(decision: Decision, second: Second) -> str:
    """Return why a number of clusters was chosen, in a clause.

    Parameters
    ----------
    decision : Decision
        The decision by the criteria.
    second : Second
        The test that followed.
    """
    why = _of_criteria(decision)
    none_holds = f"no border holds {at_level(second.level)}"
    if decision.n_clusters > 1 and second.one_cluster:
        borders = f"{none_holds} and " if second.n_borders else ""
        return (
            f"more structure than one Gaussian ({_test(decision)}), but {borders}{_SINGLE} are as stable "
            f"({_clouds(second)}): treat it as one cluster"
        )
    if second.n_references:
        why += f" and than in {_SINGLE} ({_clouds(second)})"
    if not second.n_borders:
        return why
    if second.n_held:
        held = held_of(second.n_held, second.n_borders, second.level)
        return f"{why}; {held}" if decision.n_clusters > 1 else f"{held}, although {why}"
    return f"{why}; {none_holds}"


def _of_criteria(decision: Decision) -> str:
    tried, tested = numbers_tried(decision.tried), not math.isnan(decision.test.p_value)
    untested = "no null was requested (null=None)" if decision.test.of_points else LABELS_ONLY
    test = f"; no p-value: {untested}"
    if decision.by == "no contrast":
        return f"{NO_CONTRAST} ({tried}){test}"
    few = decision.criterion == "silhouette_points"
    if tested:
        more = "farther apart than the parts of" if few else "more stable than in"
        alike = _without_clusters(decision.test.null, decision.test.n_categories)
        test = f"{more} {alike} ({_test(decision)})"
        if decision.by == "one cloud":
            return f"{tried} clusters are not {test}"
        test = f", {test}"
    if decision.by == "clean":
        return f"the largest of {tried} at which almost no pair is ambiguous{test}"
    value, error = decision.value, decision.error
    if error < 1e-12 * abs(value):  # resamples that all agree differ by rounding
        error = 0
    spread = f" +/- {error:.2g}" if math.isfinite(error) else ""
    most = "farthest apart" if few else "most stable"
    name = _NAMES[decision.criterion].removeprefix("the ")
    return f"the {most} of {tried} ({name} {value:.3g}{spread}){test}"


def _test(decision: Decision) -> str:
    """Return "p = 0.01, 99 rotations"."""
    return (
        f"p = {decision.test.p_value:.3g}, {drawn(decision.test.n_references, decision.test.null)}"
    )


def _clouds(second: Second) -> str:
    return f"p = {second.p_value:.3g}, {second.n_references} clouds"


def doubts_of(decision: Decision, second: Second, loosest: float) -> tuple[str, ...]:
    """Return the doubts about several clusters, one sentence each.

    Parameters
    ----------
    decision : Decision
        The decision by the criteria.
    second : Second
        The test that followed.
    loosest : float
        The smallest cluster consensus.
    """
    if decision.n_clusters == 1 or second.one_cluster:
        return ()
    doubts, best = [], decision.best
    if second.n_borders and not second.n_held:
        why = "this happens with overlapping clusters and with few objects"
        doubts.append(f"No border between the clusters holds {at_level(second.level)}: {why}.")
    for criterion, k in decision.rivals:
        name = _NAMES[criterion]
        doubts.append(f"{name[0].upper()}{name[1:]} is largest for {k} clusters.")
    if decision.alternatives:
        near, name = listed(decision.alternatives), _NAMES[decision.criterion]
        doubts.append(f"{near} clusters are as good within one standard error of {name}.")
    if best == max(decision.tried) and len(decision.tried) > 1:
        doubts.append(f"{best} is the largest number tried: try more (k).")
    if decision.smallest < _FEW:
        doubts.append(f"The smallest resampled cluster has {count(decision.smallest, 'object')}.")
    if loosest < _LOOSE:
        what = f"In one cluster two objects are together in only {loosest:.2f} of the resamples"
        doubts.append(f"{what} that drew both.")
    return tuple(doubts)


def reason_of(selection: Selection) -> Reason:
    """Return the reason for the number of clusters of a selection, in its parts."""
    others = [as_well_supported(selection.alternatives)] if selection.alternatives else []
    borders = selection.borders
    best = borders.n_clusters if selection.n_clusters == 1 and borders is not None else 1
    if best > 1:
        others.append(Other(f"the criteria are best for {best}", (best,)))
    others = others or [Other("no other number is as good")]
    return Reason(selection.n_clusters, selection.why, tuple(others))


def reason_beside(selection: Selection, seen: Reason | None) -> Reason:
    """Return the reason for the number that the borders of the points show; None: they show none, and the selection's counts."""
    number, parts = selection.n_clusters, reason_of(selection)
    if seen is None:
        borders = ", with borders between them" if selection.n_held else ""
        returns = f"k-means finds {number} clusters again in resamples{borders}"
        why = f"the tree shows no border, but {returns}: {parts.why}"
        return parts if number == 1 else replace(parts, why=why)
    same, others = number == seen.n_clusters, seen.others
    shown = "the same number" if same else "one cluster" if number == 1 else f"{number} clusters"
    if not same and number > 1 and all(number not in other.numbers for other in others):
        others = (*others, Other(f"resampling shows {number}", (number,)))
    finer = ", which may be parts of these" if number > seen.n_clusters else ""
    p, than = selection.p_value, "more stable than in one Gaussian"
    rejected = p <= selection.settings.get("alpha", 0.05)
    if math.isnan(p):
        test = "not tested"
    elif number > 1:
        test = f"{'' if rejected else 'each border holds, but they are not '}{than}, p = {p:.2g}"
    else:
        test = f"its best division is {'' if rejected else 'not '}{than}, p = {p:.2g}"
        if rejected:
            test += f", but not than in {_SINGLE}, p = {selection.p_value_clouds:.2g}"
    why = f"{seen.why}; resampling of k-means shows {shown}{finer} ({test})"
    return Reason(seen.n_clusters, why, others)


def card(selection: Selection) -> Card:
    """Return the card of a notebook."""
    labels, tested = selection.labels_, not math.isnan(selection.p_value)
    sizes = np.bincount(labels[labels >= 0], minlength=selection.n_clusters)
    n, m = selection.n_held, selection.n_borders
    held = f"{n} of {count(m, 'border')} hold{'s' * (n == 1)}." if m else ""
    by = count(selection.n_references, "reference")
    p = f"p = {selection.p_value:.2g} against one cluster, from {by}."
    lines = [
        ("Certainty", f"{p if tested else 'Not tested against one cluster.'} {held}".rstrip()),
        ("Doubts", " ".join(selection.doubts)),
        ("Next steps", reason_of(selection).next()),
    ]
    return Card(
        count(selection.n_clusters, "cluster"),
        f"{count(len(labels), 'object')}, Selection from {numbers_tried(selection.k.tolist())}",
        sentence(selection.why),
        named_sizes(sizes),
        lines,
    )
