"""The reason for a number of clusters, in three parts: the number, why, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conclust._validation import count, listed


class Door(NamedTuple):
    """How a user gives a number of clusters, has one tested, gives none, and has the numbers compared."""

    number: str
    test: str
    none: str
    compare: str


PYTHON = Door(
    "pass n_clusters={}",
    "pass n_clusters='auto'",
    ": leave n_clusters out to see why",
    ": AutoConsensus() compares them",
)
SHELL = Door(
    "pass -k {}", "pass -k auto", ": leave -k out to see why", ": --method auto compares them"
)


class Other(NamedTuple):
    """A clause about other numbers of clusters, those of them that are worth a look, and else a step by its name in `Door`."""

    clause: str
    numbers: tuple[int, ...] = ()
    step: str = ""


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
        for clause, numbers, step in self.others:
            way = door.number.format(listed(numbers, "or"))
            seen = f": {way} to see {'it' if len(numbers) == 1 else 'them'}"
            sentences.append(
                f"{clause[:1].upper()}{clause[1:]}{seen if numbers else getattr(door, step, '')}."
            )
        if self.testable:
            test = f"{door.test[:1].upper()}{door.test[1:]}"
            what = "for more than one" if self.n_clusters == 1 else "what k-means finds"
            sentences.append(f"{test} to test {what}, with a p-value.")
        return " ".join(sentences)

    def text(self, door: Door = PYTHON) -> str:
        """Return the three parts: "3 clusters: why. What to do next."."""
        head = "One cluster" if self.n_clusters == 1 else count(self.n_clusters, "cluster")
        return f"{head}: {self.why}. {self.next(door)}".rstrip()


def as_well_supported(numbers: tuple[int, ...]) -> Other:
    """Return that other numbers are equally well supported; three at most are named."""
    few = tuple(sorted(numbers[:3]))
    return Other(f"{listed(few)} {'is' if len(few) == 1 else 'are'} equally well supported", few)
