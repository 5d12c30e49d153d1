"""Run the benchmarks, one after the other: python -m benchmarks [name ...].

Those of LONG take many minutes and run only when they are named.
"""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "middle",
    "coassociation",
    "spanning_tree",
    "factored",
    "linkage",
    "clusterwise",
    "consensus",
    "weighted",
    "posterior",
    "fca",
    "exhaustive",
    "generation",
    "labelvectors",
    "neighbours",
    "selection",
)
LONG = ("blocks", "every", "landmark", "greedy", "pairwise", "cliffs", "members", "passes", "wide")


def main(names: list[str]) -> None:
    for name in names or NAMES:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
