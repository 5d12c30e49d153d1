"""An ensemble in blocks, as methods see it: its facts, and sums over its blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import cluster_sizes, contingency_gram
from conclust._random import spawn_generators
from conclust._types import Floats, Ints
from conclust.blocks.facts import Facts, Part
from conclust.blocks.runners import Job, Kept, LocalRunner, Task, Visit
from conclust.blocks.sources import Source
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import Derived, PresenceGroups, check_gram, once
from conclust.ensemble.labels import missing_code
from conclust.exceptions import UnsupportedEnsembleError

# Seconds between lines of progress.
_LINES = 2.0


class LabelBlocks(Derived):
    """The quantities of an ensemble that is read in blocks, and methods that iterate over the blocks.

    ``n_samples`` counts the objects that at least one partition observed: no task receives the others. The attributes
    of an Ensemble with an entry per object (codes, labels, indicator) are missing.

    Parameters
    ----------
    source : Source
        Source of the labels.
    facts : Facts
        Facts about all objects.
    runner : LocalRunner
        Runner of the tasks.
    report : callable
        Function that receives lines of progress.
    """

    def __init__(
        self,
        source: Source,
        facts: Facts,
        runner: LocalRunner,
        report: Callable[[str], None],
    ) -> None:
        self.source, self.facts, self.runner = source, facts, runner
        self.report = report
        self.cluster_counts, self.offsets = facts.cluster_counts, facts.offsets
        self.weights, self.names = facts.weights, facts.names
        self.missing_counts, self.noise_counts = facts.missing_counts, facts.noise_counts
        self._soft = None
        self._derived: dict[str, Any] = {}

    def most_probable(self) -> LabelBlocks:
        """Return the labels: those in blocks are hard."""
        return self

    def reweighted(self, weights: Floats | None) -> LabelBlocks:
        """Return the same with other weights of the partitions."""
        facts = replace(self.facts, weights=weights)
        return LabelBlocks(self.source, facts, self.runner, self.report)

    @property
    def n_samples(self) -> int:
        """Number of objects that at least one partition observed."""
        return self.facts.n_samples - self.facts.n_unobserved

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.cluster_counts)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.facts.n_blocks

    @property
    def is_held(self) -> bool:
        """Not in memory."""
        return False

    @property
    def presence_groups(self) -> PresenceGroups:
        """Which partitions observed the same objects."""
        return self.facts.groups

    @property
    def codes(self) -> NDArray[Any]:  # type: ignore[override]
        """Not available: blocks avoid labels of all objects at once."""
        raise UnsupportedEnsembleError(
            "Labels in blocks are never held all at once: LabelStore(...).ensemble() reads them into memory."
        )

    @once
    def cluster_sizes(self) -> Floats:
        """Number of objects in each cluster, (T,)."""
        return np.asarray(self.total("cluster sizes", _sizes)[0], dtype=np.float64)

    @once
    def gram(self) -> sp.csr_array:
        """B'B (T, T), counted block by block."""
        # Every block counts into a separate matrix.
        what = "The Gram matrix B'B of these labels"
        check_gram(int(self.offsets[-1]) ** 2, what, "Use fewer or coarser partitions.")
        counts = self.total("contingency tables", _gram)[0]
        return sp.csr_array(counts.astype(np.float64))

    @once
    def observed_sizes(self) -> Floats:
        """Number of objects of each cluster that each partition observed, (T, N)."""
        return np.asarray(self.total("observed cluster sizes", _observed_sizes)[0])

    @once
    def shared_counts(self) -> Floats:
        """Number of objects observed by both of two partitions, (N, N)."""
        return np.asarray(self.total("objects observed by two partitions", _shared_counts)[0])

    @once
    def gram_entries(self) -> int:
        """Maximum number of entries of B'B."""
        T, m = int(self.offsets[-1]), self.n_partitions
        return min(T * T, self.n_samples * m * m)

    def keeping(self, width: int, name: str) -> Kept:
        """Return a store for the arrays of blocks.

        Parameters
        ----------
        width : int
            Bytes for each object.
        name : str
            Name of the files, if the source is files.
        """
        return Kept(name, width * self.facts.n_samples, held=self.runner.holds)

    # -- over the blocks

    def each(self, what: str, task: Task, *shared: Any) -> Iterator[Any]:
        """Yield the result of ``task(part, *shared)`` for each block, in order.

        Parameters
        ----------
        what : str
            Description for the lines of progress.
        task : callable
            Function at the top level of a module, so that it can be sent to other processes.
        shared
            The same for all blocks.
        """
        return self.look(what, partial(_without_own, task), None, (), *shared)

    def total(self, what: str, task: Task, *shared: Any) -> tuple[Any, ...]:
        """Return the sums of the tuples of arrays or numbers that a task returns, added in order."""
        return added(self.each(what, task, *shared))

    def look(
        self,
        what: str,
        task: Task,
        store: Kept | None,
        steps: tuple[int, ...],
        *shared: Any,
        blocks: Iterable[int] | None = None,
    ) -> Iterator[Any]:
        """Yield the result of ``task(part, own, *shared)`` for each block and its array, in order.

        Parameters
        ----------
        what : str
            Description for the lines of progress.
        task : callable
            At the top of a module.
        store : Kept or None
            Storage of the arrays of the blocks. None: they have none.
        steps : tuple of int
            Number of the visit whose array is read; a tuple for several.
        shared
            The same for all blocks.
        blocks : iterable of int, default=None
            Blocks to read. None: all.
        """
        some = list(range(self.n_blocks) if blocks is None else blocks)
        jobs = self._jobs(some, partial(_reading, task), shared, store, steps)
        for _, result in self.run(what, jobs, len(some)):
            if result is not None:
                yield result

    def visit(
        self,
        what: str,
        visit: Visit,
        store: Kept,
        step: int,
        blocks: Iterable[int] | None = None,
        *,
        steps: tuple[int, ...] | None = None,
        shared: tuple[Any, ...] = (),
    ) -> list[Any]:
        """Visit blocks that keep an array each; return the results of the visits, in order.

        Parameters
        ----------
        what : str
            Description for the lines of progress.
        visit : callable
            ``visit(part, own, *shared)`` returns the new array of the block, and a result.
        store : Kept
            Store of the arrays of blocks.
        step : int
            Number of the visit.
        blocks : iterable of int, default=None
            Blocks to read. None: all.
        steps : tuple of int, default=None
            Visits whose arrays are read, as in `look`. None: the previous visit.
        shared : tuple
            The same for all blocks.
        """
        some = list(range(self.n_blocks) if blocks is None else blocks)
        jobs = self._jobs(some, visit, shared, store, steps or (step - 1,), step)
        results = []
        for block, (array, result) in zip(some, self.run(what, jobs, len(some)), strict=True):
            if result is not None:
                store.put(block, step, array)
                results.append(result)
        return results

    def rows(self, objects: Ints) -> Ensemble:
        """Return some objects, given by increasing indices, as an ensemble with the same cluster numbers.

        Objects that no partition observed are left out.
        """
        parts = [codes for _, codes in self._read_rows(objects)]
        return self.facts.ensemble(np.concatenate(parts))

    def all_rows(self, objects: Ints) -> Ensemble:
        """Return some objects as `rows` does, including those that no partition observed."""
        dtype = self.facts.code_type
        codes = np.full((len(objects), self.n_partitions), missing_code(dtype), dtype=dtype)
        for at, rows in self._read_rows(objects):
            codes[np.searchsorted(objects, at)] = rows
        return self.facts.ensemble(codes)

    def _read_rows(self, objects: Ints) -> Iterator[tuple[Ints, NDArray[Any]]]:
        """Yield, for each block, which of some objects it contains and observed, and their codes."""
        blocks = np.searchsorted(objects, np.arange(self.n_blocks + 1) * self.facts.block_rows)
        chosen = [
            objects[blocks[b] : blocks[b + 1]] - b * self.facts.block_rows
            for b in range(self.n_blocks)
        ]
        yield from self.each("a sample", _chosen, chosen)

    def sample(self, count: int, seed: np.random.SeedSequence) -> Ensemble:
        """Return objects drawn without replacement, in their order; all objects if there are no more."""
        n = self.facts.n_samples
        objects = np.arange(n)
        if n > count:
            objects = np.sort(spawn_generators(seed, 1)[0].choice(n, count, replace=False))
        return self.rows(objects)

    def _jobs(
        self,
        blocks: Iterable[int],
        task: Visit,
        shared: tuple[Any, ...],
        store: Kept | None,
        steps: tuple[int, ...],
        step: int | None = None,
    ) -> Iterator[Job]:
        for block in blocks:
            own = None
            if store is not None:
                arrays = tuple(store.get(block, one) for one in steps)
                own = arrays[0] if len(arrays) == 1 else arrays
            place = None if store is None or step is None else store.place(block, step)
            yield Job(self.source, self.facts, block, task, shared, own, place)

    def run(
        self, what: str, jobs: Iterable[Job], count: int | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the results of jobs in order; print a line with the time left from time to time."""
        count = self.n_blocks if count is None else count
        began = last = time.monotonic()
        for done, result in enumerate(self.runner.run(jobs), 1):
            yield result
            now = time.monotonic()
            if now - last > _LINES and done < count:
                left = (now - began) / done * (count - done)
                self.report(f"{what}: {done} of {count} blocks, about {left:.0f} s left")
                last = now


def added(results: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add up tuples of arrays or numbers, in their order."""
    sums: list[Any] | None = None
    for values in results:
        if sums is None:
            sums = [value if sp.issparse(value) else np.array(value) for value in values]
            continue
        for i, value in enumerate(values):
            sums[i] = sums[i] + value
    return tuple(sums or ())


def _without_own(task: Task, part: Part, stored: Any, *shared: Any) -> Any:
    return task(part, *shared)


def _reading(task: Task, part: Part, stored: Any, *shared: Any) -> tuple[None, Any]:
    return None, task(part, stored, *shared)


def _sizes(part: Part) -> tuple[Ints]:
    ensemble = part.ensemble
    sizes = np.zeros(int(ensemble.offsets[-1]), dtype=np.int64)
    cluster_sizes(ensemble.label_view, sizes)
    return (sizes,)


def _observed_sizes(part: Part) -> tuple[Floats]:
    return (part.ensemble.observed_sizes,)


def _shared_counts(part: Part) -> tuple[Floats]:
    return (part.ensemble.shared_counts,)


def _gram(part: Part) -> tuple[Ints]:
    ensemble = part.ensemble
    T = int(ensemble.offsets[-1])
    counts = np.empty((T, T), dtype=np.int64)
    contingency_gram(ensemble.label_view, counts, 1)
    return (counts,)


def _chosen(part: Part, chosen: list[Ints]) -> tuple[Ints, NDArray[Any]]:
    """Return the indices of the chosen objects that were observed, and their codes."""
    rows = chosen[part.index]
    at = rows
    if part.observed is not None:
        at = rows[part.observed[rows]]
        rows = (np.cumsum(part.observed) - 1)[at]
    return part.begin + at, np.asarray(part.ensemble.codes[rows])
