"""LabelStore: a label matrix that is read in blocks of objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

from numpy.typing import ArrayLike

from conclust._progress import reporter, say
from conclust._threads import thread_count
from conclust._validation import check_int, check_option, count, refuse
from conclust.blocks.dask_runner import DaskRunner, active_client, needed_client
from conclust.blocks.facts import Facts, block_rows_of, joined
from conclust.blocks.labels import LabelBlocks
from conclust.blocks.runners import LocalRunner
from conclust.blocks.sources import ArrayRows, DaskLabels, Source, open_source
from conclust.ensemble import Ensemble
from conclust.ensemble.columns import column_names
from conclust.ensemble.derived import read_weights, weights_by_name
from conclust.ensemble.labels import Missing
from conclust.exceptions import InputError

# Bytes of labels of a Dask array up to which threads of this process are faster than the workers.
_FEW = 1 << 28
RunnerName: TypeAlias = Literal["auto", "threads", "dask"]


class LabelStore:
    """Labels of many objects, read in blocks: a file, a folder, an array larger than memory.

    Methods with ``blocks`` in ``conclust.methods()`` accept it instead of a label matrix, in ``fit``
    and in ``predict``; results with one row per object are then a :class:`BlockedArray`, computed when it is read.

    Parameters
    ----------
    labels : path-like or array-like of shape (n_samples, n_partitions)
        An NPY file, a Zarr array, a Parquet file or a folder of Parquet files (read in the order of
        the numbers in their names); or an array whose rows can be sliced: of NumPy, Zarr, HDF5, Dask, or a data frame
        of Dask. Numbers or names, -1, NaN, None: missing; -2: noise.
    columns : sequence of str, default=None
        Columns of Parquet files and data frames to use as partitions. None: all.
    weights : array-like of shape (n_partitions,), default=None
        Weight of each partition. None: all equal.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 (see :class:`conclust.Ensemble`).
    block_rows : int, default=None
        Number of objects in a block. None: an eighth of all, at most 1,048,576. The result depends on it as on a
        seed, because methods that visit objects one by one do so within a block.
    runner : {"auto", "threads", "dask"}, default="auto"
        Executor of the blocks: threads of this process, or the workers of the active Dask client
        (extra ``dask``), which read the files themselves. "auto": the client, if there is one, for
        arrays and data frames of Dask of more than 256 MB; else threads. The result does not depend on it. A fit in a task of a worker
        leaves its thread pool (``distributed.secede``).
    n_jobs : int, default=None
        Number of blocks processed at a time. None: ``OMP_NUM_THREADS`` or all processors. The result does
        not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Raises
    ------
    InputError
        If labels of this type cannot be read in blocks.
    FileNotFoundError
        If there is no such file.
    MissingExtraError
        If a package that reads the file is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import PCC
    >>> from conclust.blocks import LabelStore
    >>> labels = LabelStore(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]))
    >>> labels
    LabelStore(4 objects, 2 partitions, 4 blocks)
    >>> model = PCC(2, divergence="l2", random_state=0).fit(labels)
    >>> model.labels_
    BlockedArray(shape=(4,), dtype=int64, 4 blocks)
    >>> np.asarray(model.labels_)
    array([0, 0, 1, 1])
    """

    in_blocks: ClassVar[bool] = True  # by which others know labels in blocks without importing this

    def __init__(
        self,
        labels: Any,
        *,
        columns: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        missing: Missing = "unobserved",
        block_rows: int | None = None,
        runner: RunnerName = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        check_option(missing, "missing", "LabelStore", Missing)
        check_option(runner, "runner", "LabelStore", RunnerName)
        check_int(block_rows, "block_rows", "LabelStore", none=True)
        if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence)):
            refuse("columns", "LabelStore", "a list of names or None", columns)
        self.source = open_source(labels, None if columns is None else list(columns))
        n, m = self.source.shape
        if n < 2 or m < 1:
            raise InputError(
                f"Found labels of {n} objects in {m} partitions, while at least 2 objects and 1 partition "
                "are required."
            )
        names = columns or getattr(self.source, "columns", None)
        ordered = weights_by_name(weights, lambda: names or column_names(labels))
        self.weights = read_weights(ordered, m)
        self.missing: Missing = missing
        self.block_rows = block_rows_of(n) if block_rows is None else min(n, block_rows)
        self.runner_name: RunnerName = runner
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.threads = thread_count(n_jobs, "LabelStore")
        report = reporter(verbose, "LabelStore")
        self.report = report if verbose else say  # to the estimator being fitted, if it is verbose
        self._facts: Facts | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_partitions)."""
        return self.source.shape

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.shape[0] // self.block_rows)

    def __repr__(self) -> str:
        n, m = self.shape
        return f"LabelStore({count(n, 'object')}, {count(m, 'partition')}, {count(self.n_blocks, 'block')})"

    @property
    def facts(self) -> Facts:
        """Facts about all objects; the first access reads all labels.

        Raises
        ------
        InputError
            If labels are malformed, or a partition is missing everywhere.
        """
        if self._facts is None:
            n = self.shape[0]
            spans = [(b, min(n, b + self.block_rows)) for b in range(0, n, self.block_rows)]
            censuses = self.runner().survey(self._read, spans, self.missing)
            self._facts = joined(censuses, self.shape, self.block_rows, self.missing, self.weights)
        return self._facts

    def runner(self) -> LocalRunner:
        """Return the runner of the tasks.

        Raises
        ------
        InputError
            If a Dask client is requested and none is active.
        """
        if self.runner_name == "dask":
            return DaskRunner(needed_client())
        workers = self.runner_name == "auto" and isinstance(self._read, DaskLabels)
        if workers and (client := active_client()):
            return DaskRunner(client)
        return LocalRunner(self.threads)

    @property
    def of_dask(self) -> bool:
        """Whether the labels are an array or a data frame of Dask; results are then arrays of Dask."""
        return isinstance(self.source, DaskLabels)

    @cached_property
    def _read(self) -> Source:
        """The labels that fits read: if they are few, those of an array of Dask in the memory of this process."""
        source = self.source
        if self.runner_name != "auto" or not isinstance(source, DaskLabels):
            return source
        few = source.array.nbytes <= _FEW and active_client() is not None
        return ArrayRows(source.array.compute()) if few else source

    def opened(self) -> LabelBlocks:
        """Return the labels in the form that methods read."""
        return LabelBlocks(self._read, self.facts, self.runner(), self.report)

    def ensemble(self) -> Ensemble:
        """Read all labels into an Ensemble, for methods that need them at once."""
        return Ensemble(
            self.source.rows(0, self.shape[0]), weights=self.weights, missing=self.missing
        )


def stored(labels: Any, missing: Missing) -> LabelStore:
    """Return labels as a LabelStore; `missing` applies to those that are not stores."""
    return labels if isinstance(labels, LabelStore) else LabelStore(labels, missing=missing)
