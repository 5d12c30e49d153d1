"""B'B (T, T), the contingency tables of all pairs of partitions, counted whole, with its size limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import LabelView, contingency_gram, contingency_rows
from conclust._threads import thread_count
from conclust._types import Ints
from conclust.exceptions import DenseLimitError

# Maximum total number of clusters for which B'B is first counted into a dense matrix.
DENSE = 4096
# Maximum number of entries of B'B if it is made whole: 1.5 GiB.
_MOST = 1 << 27
# Number of counts below which threads cost more than they gain.
_WORTH_THREADS = 1_000_000
_ROWS = 256


def gram_entries(codes: NDArray[Any], offsets: Ints, soft: sp.csr_array | None) -> int:
    """Return the maximum number of non-zero entries of B'B."""
    n, m = codes.shape
    total = int(offsets[-1])
    each = n * m * m if soft is None else int((np.diff(soft.indptr).astype(np.int64) ** 2).sum())
    return min(total * total, each)


def check_gram(entries: int, what: str, instead: str) -> None:
    """Refuse a matrix of the size of B'B where that has too many entries."""
    if entries > _MOST:
        raise DenseLimitError(
            f"{what} would have up to {entries:,} entries ({12 * entries / 2**30:.1f} GiB): one for "
            f"each two clusters of all partitions that can share an object. At most {_MOST:,} are "
            f"made. {instead}"
        )


def counted_gram(labels: LabelView) -> sp.csr_array:
    """Count B'B of hard partitions of at most `DENSE` clusters altogether."""
    T, m = labels.n_clusters, labels.n_partitions
    counts = np.empty((T, T), dtype=np.int64)
    few = labels.n_objects * m * m < _WORTH_THREADS
    contingency_gram(labels, counts, 1 if few else thread_count(None))
    return _sparse(counts)


def counted_rows(labels: LabelView, partitions: slice, height: int) -> sp.csr_array:
    """Count the rows of B'B of the clusters of some partitions, `height` altogether; the partitions are hard."""
    counts = np.empty((height, labels.n_clusters), dtype=np.int64)
    work = labels.n_objects * labels.n_partitions * (partitions.stop - partitions.start)
    threads = 1 if work < _WORTH_THREADS else thread_count(None)
    contingency_rows(labels, partitions.start, partitions.stop, counts, threads)
    return _sparse(counts)


def _sparse(counts: NDArray[np.int64]) -> sp.csr_array:
    """Return the entries of a matrix of counts that are not 0, in the order of their columns."""
    height, width = counts.shape
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(counts, axis=1))])
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    # In pieces, because the positions of all entries would take twice the memory of the counts.
    for first in range(0, height, _ROWS):
        rows = counts[first : first + _ROWS]
        places = rows.ravel().nonzero()[0]
        part = slice(starts[first], starts[min(height, first + _ROWS)])
        columns[part] = places % width
        values[part] = rows.ravel()[places]
    return sp.csr_array((values, columns, starts.astype(np.int32)), shape=counts.shape)
