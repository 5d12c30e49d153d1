"""The reason for a number of clusters, in three parts: the number, why, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from conclust._validation import count, listed

if TYPE_CHECKING:
    from conclust.consensus.auto.decision import Decision


class Door(NamedTuple):
    """How a user gives a number of clusters, and how one is tested."""

    number: str
    test: str


PYTHON = Door("pass n_clusters={}", "pass n_clusters='auto'")
SHELL = Door("give -k {}", "give -k auto")


class Other(NamedTuple):
    """A clause about other numbers of clusters, and those of them that are worth a look."""

    clause: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Reason:
    """The reason for a number of clusters.

    Attributes
    ----------
    n_clusters : int
        The number.
    why : str
        A clause, without the number at its head and the full stop.
    others : tuple of Other
        Other numbers, and what supports them.
    testable : bool
        Whether the number can be tested against one cluster, which takes points.
    """

    n_clusters: int
    why: str
    others: tuple[Other, ...] = ()
    testable: bool = False

    def next(self, door: Door = PYTHON) -> str:
        """Return what to do next, in a sentence for each other number and one about a test; "" if there is nothing."""
        sentences = []
        for clause, numbers in self.others:
            way = door.number.format(listed(numbers, "or"))
            seen = f": {way} to see {'it' if len(numbers) == 1 else 'them'}"
            sentences.append(f"{clause[:1].upper()}{clause[1:]}{seen if numbers else ''}.")
        if self.testable:
            test = f"{door.test[:1].upper()}{door.test[1:]}"
            what = "for more than one" if self.n_clusters == 1 else "this number"
            sentences.append(f"{test} to test {what}, with a p-value.")
        return " ".join(sentences)

    def text(self, door: Door = PYTHON) -> str:
        """Return the three parts: "3 clusters: why. What to do next."."""
        head = "One cluster" if self.n_clusters == 1 else count(self.n_clusters, "cluster")
        return f"{head}: {self.why}. {self.next(door)}".rstrip()


def as_well_supported(numbers: tuple[int, ...]) -> Other:
    """Return that other numbers are as well supported; three at most are named."""
    first = tuple(sorted(numbers[:3]))
    return Other(f"{listed(first)} {'is' if len(first) == 1 else 'are'} as well supported", first)


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
