"""The file of an Ensemble: one NPZ with its JSON description inside, never a pickle."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._files.storage import Expected, PathLike, read_npz, refuse_file, write_npz
from conclust._kernels import Relabeller, count_reserved
from conclust._types import Floats, Ints
from conclust.ensemble.labels import (
    MISSING,
    NOISE,
    CodedLabels,
    SharedNames,
    code_type,
    label_view,
    missing_code,
    noise_code,
)
from conclust.exceptions import InputError

_Parts: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

FORMAT = "conclust ensemble"
VERSION = 1
_BLOCK_CELLS = 1 << 20
_LARGEST = np.iinfo(np.int64).max
_SMALLEST = np.finfo(np.float64).tiny
# Rows of memberships are scaled to sum to 1 before they are written.
_ROW_SUM_TOLERANCE = 1e-6

EXPECTED = {
    "codes": Expected("u", 2),
    "cluster_counts": Expected("i", 1),
    "weights": Expected("f", 1, optional=True),
    "soft_starts": Expected("i", 1, optional=True),
    "soft_columns": Expected("i", 1, optional=True),
    "soft_values": Expected("f", 1, optional=True),
}


def write(
    path: PathLike, coded: CodedLabels, weights: Floats | None, soft: sp.csr_array | None
) -> None:
    """Write the parts of an ensemble to `path` (see ``Ensemble.save``)."""
    arrays, names = pack(coded, weights, soft)
    write_npz(path, arrays, {"format": FORMAT, "version": VERSION, "names": names})


def pack(
    coded: CodedLabels, weights: Floats | None, soft: sp.csr_array | None
) -> tuple[dict[str, NDArray[Any]], Any]:
    """Return the parts of an ensemble as arrays, and the names of its clusters, in the form of files."""
    arrays: dict[str, NDArray[Any]] = {"codes": coded.codes, "cluster_counts": coded.cluster_counts}
    if weights is not None:
        arrays["weights"] = weights
    if soft is not None:
        arrays["soft_starts"] = soft.indptr.astype(np.int64)
        arrays["soft_columns"] = soft.indices.astype(np.int64)
        arrays["soft_values"] = soft.data
    names = [_plain_names(u, names) for u, names in enumerate(coded.names)]
    return arrays, {"shared": names} if isinstance(coded.names, SharedNames) else names


def _plain_names(partition: int, names: tuple[Any, ...]) -> list[int | str] | None:
    """Return names in the form of JSON; None stands for 0, 1, 2, ..."""
    if names == tuple(range(len(names))):
        return None
    for name in names:
        if not isinstance(name, int | np.integer | str):
            raise InputError(
                f"Only clusters named by whole numbers or strings can be saved. Partition {partition} "
                f"has a cluster named {name!r}: rename it first."
            )
        if isinstance(name, str) and any("\ud800" <= one <= "\udfff" for one in name):
            raise InputError(
                f"Only names that Unicode can write can be saved. Partition {partition} has a cluster "
                f"named {name!r}, which holds half of a surrogate pair: rename it first."
            )
    return [str(name) if isinstance(name, str) else int(name) for name in names]


def read(path: PathLike) -> tuple[CodedLabels, Floats | None, sp.csr_array | None]:
    """Read the parts of the ensemble in `path` (see ``Ensemble.load``), validating each."""
    arrays, meta = read_npz(path, expected=EXPECTED)
    if meta.get("format") != FORMAT:
        refuse_file(path, "does not hold a conclust ensemble")
    if meta.get("version") != VERSION:
        refuse_file(
            path,
            f"has format version {meta.get('version')!r}; this conclust reads version {VERSION}",
        )
    return unpack(path, arrays, meta.get("names"))


def unpack_checked(
    path: PathLike, arrays: dict[str, NDArray[Any]], names: Any
) -> tuple[CodedLabels, Floats | None, sp.csr_array | None]:
    """Return the parts of an ensemble from arrays of any type and form."""
    for name, what in EXPECTED.items():
        array = arrays.get(name)
        if array is None and what.optional:
            continue
        if array is None or array.dtype.kind not in what.kinds or array.ndim != what.ndim:
            refuse_file(path, f"is damaged: {name!r} is not as expected")
    return unpack(path, arrays, names)


def unpack(
    path: PathLike, arrays: dict[str, NDArray[Any]], names: Any
) -> tuple[CodedLabels, Floats | None, sp.csr_array | None]:
    """Return the parts of an ensemble from the result of `pack`, validating each; `path` is for messages."""
    codes, counts = np.ascontiguousarray(arrays["codes"]), arrays["cluster_counts"]
    n, m = codes.shape
    if m == 0 or n < 2 or counts.shape != (m,) or counts.dtype != np.int64 or (counts < 0).any():
        refuse_file(path, "is damaged: its label matrix and its cluster counts do not fit")
    # Sizes that the file states are compared with its contents before any array of such a size is made.
    parts = _soft_parts(path, arrays)
    held = n if parts is None else len(parts[1])
    if int(counts.max()) > held:
        refuse_file(
            path,
            f"is damaged: by its counts a partition has {int(counts.max())} clusters, and holds "
            f"{held} {'objects' if parts is None else 'memberships'}",
        )
    if codes.dtype != code_type(int(counts.max())):
        refuse_file(path, f"is damaged: codes of type {codes.dtype} do not fit its cluster counts")
    clusters = _clusters_found(path, codes, counts)
    if parts is None and (clusters != counts).any():
        refuse_file(path, "is damaged: it lists clusters without objects")
    n_missing, n_noise = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    count_reserved(label_view(codes), n_missing, n_noise)
    soft = None if parts is None else _read_soft(path, codes, counts, *parts)
    coded = CodedLabels(codes, counts, n_missing, n_noise, _read_names(path, names, counts))
    return coded, arrays.get("weights"), soft


def _clusters_found(path: PathLike, codes: NDArray[Any], counts: Ints) -> Ints:
    """Return the number of clusters in each column; refuse codes that are not numbered by first appearance."""
    m = codes.shape[1]
    missing, noise = missing_code(codes.dtype), noise_code(codes.dtype)
    table = Relabeller(m, MISSING, NOISE)
    rows = max(1, _BLOCK_CELLS // m)
    for start in range(0, len(codes), rows):
        block = codes[start : start + rows]
        if ((block >= counts) & (block < noise)).any():
            refuse_file(path, "is damaged: a label lies beyond the clusters of its partition")
        labels = block.astype(np.int64)
        labels[block == missing], labels[block == noise] = MISSING, NOISE
        table.observe(labels)
    for u in range(m):
        if not np.array_equal(table.values(u), np.arange(table.n_clusters(u))):
            refuse_file(
                path,
                f"is damaged: it does not number the clusters of partition {u} by first appearance",
            )
    return np.array([table.n_clusters(u) for u in range(m)], dtype=np.int64)


def _read_names(path: PathLike, stored: Any, counts: Ints) -> tuple[tuple[Any, ...], ...]:
    shared = isinstance(stored, dict) and list(stored) == ["shared"]
    stored = stored["shared"] if shared else stored
    if not isinstance(stored, list) or len(stored) != len(counts):
        refuse_file(path, "is damaged: the names of its clusters do not fit")
    names = []
    for stored_names, count in zip(stored, counts.tolist(), strict=True):
        cluster_names = list(range(count)) if stored_names is None else stored_names
        plain = isinstance(cluster_names, list) and all(map(_is_name, cluster_names))
        if not plain or len(cluster_names) != count or len(set(cluster_names)) != count:
            refuse_file(path, "is damaged: the names of its clusters do not fit")
        names.append(tuple(cluster_names))
    return SharedNames(names) if shared else tuple(names)


def _is_name(name: Any) -> bool:
    """Return whether a name of a cluster is valid: text, or a non-negative int64."""
    if isinstance(name, str):
        return name.strip() not in (str(MISSING), str(NOISE))
    return type(name) is int and 0 <= name <= _LARGEST


def _soft_parts(path: PathLike, arrays: dict[str, NDArray[Any]]) -> _Parts | None:
    parts = [arrays.get(name) for name in ("soft_starts", "soft_columns", "soft_values")]
    if all(part is None for part in parts):
        return None
    starts, columns, values = parts
    if starts is None or columns is None or values is None:
        refuse_file(path, "is damaged: a part of its memberships is absent")
    return starts, columns, values


def _read_soft(
    path: PathLike,
    codes: NDArray[Any],
    counts: Ints,
    starts: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
) -> sp.csr_array:
    """Check posteriors (B in rows) against each other and against the codes.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    codes : ndarray of shape (n, m)
        Codes of the labels.
    counts : ndarray of shape (m,)
        Clusters of each partition.
    starts, columns, values : ndarray
        The rows of B, compressed.
    """
    (n, m), n_columns = codes.shape, sum(counts.tolist())
    sound = (
        len(starts) == n + 1
        and counts.min() > 0
        and starts[0] == 0
        and starts[-1] == len(columns) == len(values) >= n_columns
        and (np.diff(starts) >= 0).all()
        and (len(columns) == 0 or (columns.min() >= 0 and columns.max() < n_columns))
        and bool(((values > 0) & (values <= 1)).all())
    )
    if not sound:
        refuse_file(path, "is damaged: its memberships are not probabilities of its clusters")
    values = values.astype(np.float64)
    if (values < _SMALLEST).any():
        refuse_file(path, "is damaged: its memberships are not probabilities of its clusters")
    if len(np.unique(columns)) < n_columns:
        refuse_file(path, "is damaged: a membership is duplicated, or a cluster is empty")
    soft = sp.csr_array((values, columns, starts), shape=(n, n_columns))
    row = np.repeat(np.arange(n), np.diff(starts))
    if (np.diff(row * n_columns + columns) <= 0).any():  # n times the columns, which int64 holds
        refuse_file(path, "is damaged: a membership is duplicated, or a cluster is empty")
    # Some rows at a time, because as a dense matrix they take far more memory.
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = max(1, _BLOCK_CELLS // (4 * max(m, n_columns)))
    for first in range(0, n, rows):
        dense, labels = soft[first : first + rows].toarray(), codes[first : first + rows]
        present = labels < noise_code(labels.dtype)
        total = np.add.reduceat(dense, offsets[:-1], axis=1)
        off = np.where(present, np.abs(total - 1) > _ROW_SUM_TOLERANCE, total > 0)
        if off.any() or (labels == noise_code(labels.dtype)).any():
            refuse_file(
                path, "is damaged: the memberships of an object do not sum to 1 where it is present"
            )
        chosen = np.take_along_axis(dense, np.where(present, labels + offsets[:-1], 0), axis=1)
        highest = np.maximum.reduceat(dense, offsets[:-1], axis=1)
        if (present & (chosen != highest)).any():
            refuse_file(path, "is damaged: its labels are not the most probable clusters")
    return soft
