"""What the tests of the borders between clusters show, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conclust._validation import count
from conclust.words.card import Card

if TYPE_CHECKING:
    from conclust.confidence.borders.result import BorderTests


def at_level(alpha: float) -> str:
    """Return "(p < .05, Holm)"."""
    return f"(p < {f'{alpha:g}'.removeprefix('0')}, Holm)"


def held_of(n_held: int, n_borders: int, alpha: float) -> str:
    """Return "3 of 4 borders hold (p < .05, Holm)"."""
    verb = "border holds" if n_borders == 1 else "borders hold"
    return f"{n_held} of {n_borders} {verb} {at_level(alpha)}"


def finding(n_held: int, n_borders: int, alpha: float) -> str:
    """Return "3 of 4 borders hold (p < .05, Holm)", or what it means that none does."""
    if not n_borders:
        return "1 cluster: there is no border to test"
    if n_held:
        return held_of(n_held, n_borders, alpha)
    return f"but no border holds {at_level(alpha)}: treat it as one cluster"


def summary(tests: BorderTests, level: float) -> str:
    """Return "3 of 4 borders hold (p < .05, Holm)", also if none holds."""
    if not tests.n_borders:
        return "One cluster: there is no border to test."
    return held_of(tests.n_held(level), tests.n_borders, level)


def headline(tests: BorderTests, level: float, *, more_than_gaussian: bool = False) -> str:
    """Return "4 clusters; 3 of 4 borders hold (p < .05, Holm)", or why they are one.

    Parameters
    ----------
    tests : BorderTests
        The tests.
    level : float
        Level of the adjusted p-values.
    more_than_gaussian : bool, default=False
        Whether a test rejected that the points are one Gaussian.
    """
    held, K = tests.n_held(level), tests.n_clusters
    text = finding(held, tests.n_borders, level)
    if not tests.n_borders:
        return text
    if held:
        return f"{K} clusters; {text}"
    return (
        f"{'more structure than one Gaussian' if more_than_gaussian else f'{K} clusters'}, {text}"
    )


def described(tests: BorderTests, *, more_than_gaussian: bool = False) -> str:
    """Return the headline of tests in a sentence, and the number of clusters left where not all borders hold."""
    line = headline(tests, tests.alpha, more_than_gaussian=more_than_gaussian)
    text = f"{line[0].upper()}{line[1:]}."
    if tests.n_held() in (0, tests.n_borders):
        return text
    left = count(int(tests.merged().max()) + 1, "cluster")
    return f"{text} Merging across borders that do not hold, and testing again, leaves {left}."


def agreement(tests: BorderTests) -> str:
    """Return how well the clusterings of parts agree with the labels."""
    return (
        f"Clusterings of parts agree with the labels on {tests.agreement.mean():.0%} of the points."
    )


def card(tests: BorderTests) -> Card:
    """Return the card of a notebook."""
    first = {name: column[0] for name, column in tests.table.items()} if tests.n_borders else {}
    sizes = np.bincount(tests.labels[tests.labels >= 0], minlength=tests.n_clusters)
    weakest = "{first} and {second}, p = {adjusted:.2g} (Holm)." if first else ""
    merged = int(tests.merged().max()) + 1
    lines = [
        ("Weakest", weakest.format(**first)),
        (
            "Next steps",
            f"merged() joins clusters until every border holds: {count(merged, 'cluster')}."
            if merged < tests.n_clusters
            else "",
        ),
    ]
    return Card(
        headline(tests, tests.alpha),
        f"{count(len(tests.labels), 'object')}, BorderTests",
        "",
        [(f"cluster {name}", int(size)) for name, size in zip(tests.names, sizes, strict=True)],
        lines,
    )
