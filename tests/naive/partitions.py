"""All partitions of a few objects."""

from __future__ import annotations

from collections.abc import Iterator


def all_partitions(n: int) -> Iterator[list[int]]:
    """Yield every partition of n objects as labels by first appearance (877 for n = 7)."""

    def extend(labels: list[int], used: int) -> Iterator[list[int]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(used + 1):
            yield from extend([*labels, label], max(used, label + 1))

    yield from extend([], 0)
