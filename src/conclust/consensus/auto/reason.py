"""The reason for the number of clusters of a decision, in words."""

from __future__ import annotations

from conclust._validation import count
from conclust.consensus.auto.decision import Decision
from conclust.words.reason import Other, Reason, as_well_supported


def reason_of(decision: Decision) -> Reason:
    """Return the reason for the number of clusters: why, and which other numbers are worth a look."""
    K, shown = decision.n_clusters, decision.shown
    others: list[Other] = []
    if decision.by == "given":
        specks = count(len(decision.specks), "object")
        more = f"; {specks} in groups too small to be clusters went to others (specks_)"
        why = f"this number was given{more if decision.specks else ''}"
        alike = Other("the clusterings alone suggest the same number", ())
        return Reason(K, why, (_suggested(shown) if shown != K else alike,))
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
    if of_points and shown not in (K, *decision.near, *decision.alternatives[:1]):
        others.append(_suggested(shown))
    why = decision.of_points or _why_by_partitions(decision)
    if decision.constrained is not None:
        why = f"the constraints require this number; without them, {why}"
    return Reason(K, why, tuple(others), testable=of_points)


def _suggested(shown: int) -> Other:
    """Return the number of the clusterings alone."""
    if shown == 1:
        return Other("the clusterings alone suggest one cluster", ())
    return Other(f"the clusterings alone suggest {shown}", (shown,))


def _why_by_partitions(decision: Decision) -> str:
    testimony, K = decision.testimony, decision.shown
    if testimony is None:
        return "no object is in a cluster of any partition"
    if not decision.supports and decision.components is not None:
        if K == 1:
            return "no clusters explain the labels of the clusterings better, if these are independent of each other"
        return (
            f"this number explains the labels of the clusterings best, if these are independent of each other (log-likelihood "
            f"{testimony.gain:,.0f} above one cluster)"
        )
    if K == 1:
        return "the finer clusterings cut through every border"
    support = max(decision.supports, key=lambda support: support.support).support
    return (
        f"this is the most stable division in the tree of the clusterings (support {support:.2f}), which divide it further "
        "themselves"
    )
