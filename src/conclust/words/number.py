"""The reason for the number of clusters of the default, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._validation import count
from conclust.words.reason import Other, Reason, as_well_supported

if TYPE_CHECKING:
    from conclust.consensus.auto.decision import AtBorders, Decision

_FEW = (
    25  # % of the number within the clusters, above which points at a border are fewer, but not few
)
_AT_BORDERS = {
    "too few": "there are too few points to show a border, which takes at least {needed}",
    "none": "no division has few enough points near its borders to rule out chance",
    "asked": "more clusters were requested than the points show",
    "touching": "few points lie between clusters where they touch",
    "clear": "{few} points are near {border} ({share} of the number within the clusters)",
    "overlapping": "fewer points are near {border} ({share} of the number within the clusters), counted in the half of the points "
    "that did not determine the clusters",
}


def reason_of(decision: Decision, found: int) -> Reason:
    """Return the reason for the number of clusters: why, and which other numbers are worth a look.

    Parameters
    ----------
    decision : Decision
        The decision.
    found : int
        Number of clusters that have objects.
    """
    K, shown = decision.n_clusters, decision.shown
    others: list[Other] = []
    if decision.by == "given":
        specks = count(len(decision.specks), "object")
        more = f"; {specks} in groups too small to be clusters were assigned to others (specks_)"
        why = f"{_given(found, decision.given or 0)}{more if decision.specks else ''}"
        by_points = decision.seen is not None
        suggested = _suggested(
            decision.seen or shown, K, "points" if by_points else "clusterings", "none"
        )
        return Reason(found, why, (suggested,))
    if decision.near and K == 1:
        best = decision.near[0]
        others.append(Other(f"the best division has {best} clusters", (best,)))
    elif decision.near:
        others.append(as_well_supported(decision.near))
    elif decision.alternatives:
        second = decision.alternatives[0]
        others.append(Other(f"the next best number is {second}", (second,)))
    elif K == 1 and (of := decision.testimony) and of.n_clusters > 1 and of.typical >= 1.5:
        typical = round(of.typical)  # of clusterings that are finer than their consensus
        others.append(Other(f"the median clustering has {typical} clusters", (typical,)))
    of_points = decision.by == "points"
    if decision.seen is not None:
        others.append(_suggested(decision.seen, K, "points"))
    elif of_points and shown not in (K, *decision.near, *decision.alternatives[:1]):
        others.append(_suggested(shown, K))
    borders = decision.borders
    few = borders is not None and borders.kind == "too few"
    if K > 1 and not others and decision.constrained is None and not few:
        others.append(Other("no other number is supported", ()))
    why = _why_by_partitions(decision) if borders is None else _of_borders(borders)
    if of_points and borders is not None and borders.kind == "none" and not decision.supports:
        why = "all points are equal"
    if decision.constrained is not None:
        why = f"the constraints require this number; without them, {why}"
        others = [other for other in others if K not in other.numbers]
    # Equal points have no division to be tested.
    return Reason(found, why, tuple(others), testable=of_points and bool(decision.supports))


def _suggested(shown: int, K: int, who: str = "clusterings", step: str = "") -> Other:
    """Return the number of the clusterings, or of the points, alone."""
    text = f"the {who} alone suggest "
    if shown in (K, 1):
        same = "the same number" if shown == K else "one cluster"
        return Other(f"{text}{same}", (), step)
    return Other(f"{text}{shown}", (shown,))


def _why_by_partitions(decision: Decision) -> str:
    testimony, K = decision.testimony, decision.shown
    if testimony is None:
        return "no object is in a cluster of any partition"
    if testimony.counts:
        if K == 1:
            one = "most clusterings have a single cluster"
            return (
                one
                if testimony.typical == 1
                else "the clusterings hardly agree more than by chance"
            )
        if testimony.gain <= 0:
            return "all clusterings show these clusters"
        return f"this number best explains where the clusterings agree (log-likelihood {testimony.gain:,.0f} above one cluster)"
    if K == 1:
        return "the finer clusterings cut through every border"
    support = max(decision.supports, key=lambda support: support.support).support
    return f"the clusterings agree most on this division (support {support:.2f})"


def _of_borders(borders: AtBorders) -> str:
    one, depths, divided = len(borders.depths) == 1, borders.depths, borders.divided
    share = round(100 * (1.0 - min(depths, default=1.0)))
    why = _AT_BORDERS[borders.kind].format(
        border="the border" if one else "each border",
        share=f"{'' if one else 'at most '}{share} %",
        few="few" if share <= _FEW else "fewer",
        needed=borders.needed,
    )
    return f"{why}, first between {divided} clusters, then within some of these" if divided else why


def of_network(found: int, lacking: tuple[float, ...] | None) -> Reason:
    """Return the reason for the number of communities of a network.

    Parameters
    ----------
    found : int
        The number.
    lacking : tuple of float or None
        Mean agreement of the runs, their modularity, and the largest of both in random graphs, if these are as large.
    """
    if lacking is None:
        more = Other("a larger 'resolution' gives more clusters", ())
        return Reason(found, "the runs agree on the edges within them", (more,))
    why = "" if found == 1 else "these are the connected components, and "
    why += (
        "the runs have a mean adjusted Rand index of {:.2f} and a modularity of {:.2f}, no more than in random graphs with the "
        "same degrees ({:.2f} and {:.2f})"
    ).format(*lacking)
    return Reason(found, why, (Other("to see the communities of the runs, pass split=False", ()),))


def of_method(model: Any) -> Reason:
    """Return the reason for the number of a method that has no reason of its own, from what its fit found out."""
    found, asked = int(model.n_clusters_), getattr(model, "n_clusters", None)
    most, lives = getattr(model, "n_clusters_max_", 0), np.array(getattr(model, "lifetimes_", ()))
    other = Other("no other number was compared", (), "compare")
    if most:
        why = f"at most {most} were allowed; {'all' if found == most else 'no more'} have objects"
        if found < most and asked is not None:
            other = Other(f"for exactly {most}, choose a method that takes an exact number")
    elif asked is not None:
        why = _given(found, asked)
    elif len(lives) > 1 and found > 1:
        first, second = np.argsort(-lives, kind="stable")[:2].tolist()
        next_best = second if first == found - 2 else first
        why = f"this number has the longest lifetime in the tree of the clusterings ({lives[found - 2]:.2g})"
        next_longest = f"the next longest is that of {next_best + 2} ({lives[next_best]:.2g})"
        other = Other(next_longest, (next_best + 2,))
    elif hasattr(model, "objective_"):
        why = f"the partition with the best objective that was found ({model.objective_:.4g}) has this number"
    else:
        why = f"this is the number of {type(model).__name__}"
    return Reason(found, why, (other,))


def _given(found: int, asked: int) -> str:
    """Return that a number was given, or how many of it have objects."""
    have = "have" if found > 1 else "has"
    few = f"{asked} were requested, but only {found} {have} objects"
    return few if found < asked else "this number was given"


def of_bic(found: int, largest: int) -> Reason:
    """Return the reason for a number of latent classes."""
    most = count(largest, "latent class")
    return Reason(found, f"this number has the lowest BIC, of up to {most}")
