"""CPU seconds of the pass over blocks beside the pass in memory, on labels in memory.

python -m benchmarks.passes [n ...]

Ten partitions of eight planted clusters, 30 % of the labels at random, in blocks of 65,536 objects; one thread. The parts
of all blocks are made before the time is taken, so that neither pass includes reading. The faster of five fits each;
"same" are the objects with the same label, "bits" whether the memberships are equal to the bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

import conclust
from benchmarks.timing import timed
from conclust.blocks import LabelStore
from conclust.blocks.facts import Facts

FORMS: dict[str, Callable[[], Any]] = {
    "acv": lambda: conclust.CumulativeVoting(8, scheme="acv"),
    "lwcv": lambda: conclust.CumulativeVoting(8, scheme="lwcv"),
    "HBGF": lambda: conclust.HBGF(8, random_state=0),
    "LWGP": lambda: conclust.LWGP(8, random_state=0),
}
REPEATS = 5


def labels_of(n: int) -> Any:
    """Return the labels of n objects."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 8, n)
    labels = np.empty((n, 10), np.uint8)
    for column in labels.T:
        random = rng.random(n) < 0.3
        column[:] = np.where(random, rng.integers(0, 8, n), rng.permutation(8)[truth])
    return labels


def compare(name: str, labels: Any) -> str:
    """Return a line with the seconds of both passes."""
    store = LabelStore(labels, block_rows=65_536, n_jobs=1)
    parts: dict[Any, Any] = {}
    part = Facts.part

    def made(facts: Facts, block: int, raw: Any) -> Any:
        key = (block, None if facts.weights is None else facts.weights.tobytes())
        if key not in parts:
            parts[key] = part(facts, block, raw)
        return parts[key]

    whole, blocks = [], []
    for _ in range(REPEATS + 1):
        model, ensemble = FORMS[name](), conclust.Ensemble(labels)
        whole.append(timed(lambda model=model, ensemble=ensemble: model.fit(ensemble)).cpu)
        parts.clear()
        with patch.object(Facts, "part", made):
            for block in range(store.n_blocks):
                store.facts.part(block, labels[slice(*store.facts.span(block))])
            other = FORMS[name]()
            blocks.append(timed(lambda other=other: other.fit(store)).cpu)
            found = np.asarray(other.labels_)
            memberships = np.asarray(other.membership_) if hasattr(model, "membership_") else None
    same = np.mean(found == model.labels_)
    bits = "" if memberships is None else f" bits {np.array_equal(memberships, model.membership_)}"
    fast, slow = min(whole[1:]), min(blocks[1:])
    return f"{name:5} {len(labels):>9,} {fast:7.3f} s in memory {slow:7.3f} s in blocks {slow / fast:5.2f} same {same}{bits}"


def main() -> None:
    """Print a line for each method and number of objects."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for n in sizes or [100_000, 1_000_000]:
        labels = labels_of(n)
        for name in FORMS:
            print(compare(name, labels), flush=True)


if __name__ == "__main__":
    main()
