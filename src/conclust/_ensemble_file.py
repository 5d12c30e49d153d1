"""The file of an Ensemble: one NPZ with its JSON description inside, never a pickle."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import count_reserved
from conclust._labels import CodedLabels, code_type, noise_code
from conclust._storage import Expected, PathLike, read_npz, write_npz
from conclust.exceptions import FileFormatError, InputError

__all__ = ["FORMAT", "VERSION", "read", "write"]

FORMAT = "conclust ensemble"
VERSION = 1

_EXPECTED = {
    "codes": Expected("u", 2),
    "cluster_counts": Expected("i", 1),
    "weights": Expected("f", 1, optional=True),
    "soft_starts": Expected("i", 1, optional=True),
    "soft_columns": Expected("i", 1, optional=True),
    "soft_values": Expected("f", 1, optional=True),
}


def write(
    path: PathLike,
    coded: CodedLabels,
    weights: NDArray[np.float64] | None,
    soft: sp.csr_array | None,
) -> None:
    """Write the parts of an ensemble to `path` (see ``Ensemble.save``)."""
    arrays: dict[str, NDArray[Any]] = {
        "codes": coded.codes,
        "cluster_counts": coded.cluster_counts,
    }
    if weights is not None:
        arrays["weights"] = weights
    if soft is not None:
        arrays["soft_starts"] = soft.indptr.astype(np.int64)
        arrays["soft_columns"] = soft.indices.astype(np.int64)
        arrays["soft_values"] = soft.data
    names = [_plain_names(u, names) for u, names in enumerate(coded.names)]
    write_npz(path, arrays, {"format": FORMAT, "version": VERSION, "names": names})


def _plain_names(partition: int, names: tuple[Any, ...]) -> list[int | str] | None:
    """Return names as JSON holds them; None stands for 0, 1, 2, ..."""
    if names == tuple(range(len(names))):
        return None
    for name in names:
        if not isinstance(name, int | np.integer | str):
            raise InputError(
                f"Only clusters named by whole numbers or strings can be saved. Partition {partition} "
                f"has a cluster named {name!r}: rename it first."
            )
    return [str(name) if isinstance(name, str) else int(name) for name in names]


def read(
    path: PathLike,
) -> tuple[CodedLabels, NDArray[np.float64] | None, sp.csr_array | None]:
    """Read the parts of the ensemble in `path` (see ``Ensemble.load``), doubting each."""
    arrays, meta = read_npz(path, expected=_EXPECTED)
    if meta.get("format") != FORMAT:
        _refuse(path, "holds no conclust ensemble")
    if meta.get("version") != VERSION:
        _refuse(
            path,
            f"has format version {meta.get('version')!r}; this conclust reads version {VERSION}",
        )
    codes, counts = arrays["codes"], arrays["cluster_counts"]
    n, m = codes.shape
    if m == 0 or n == 0 or counts.shape != (m,) or counts.dtype != np.int64 or (counts < 0).any():
        _refuse(path, "is damaged: its label matrix and its cluster counts do not fit")
    if codes.dtype != code_type(int(counts.max())):
        _refuse(path, f"is damaged: codes of type {codes.dtype} do not fit its cluster counts")
    reserved = codes >= noise_code(codes.dtype)
    if ((codes >= counts) & ~reserved).any():
        _refuse(path, "is damaged: a label lies beyond the clusters of its partition")
    n_missing, n_noise = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    codes = np.ascontiguousarray(codes)
    count_reserved(codes, n_missing, n_noise)
    names = _read_names(path, meta.get("names"), counts)
    soft = _read_soft(path, arrays, (n, int(counts.sum())))
    coded = CodedLabels(codes, counts, n_missing, n_noise, names)
    return coded, arrays.get("weights"), soft


def _read_names(
    path: PathLike, stored: Any, counts: NDArray[np.int64]
) -> tuple[tuple[Any, ...], ...]:
    if not isinstance(stored, list) or len(stored) != len(counts):
        _refuse(path, "is damaged: the names of its clusters do not fit")
    names = []
    for given, count in zip(stored, counts.tolist(), strict=True):
        known = list(range(count)) if given is None else given
        plain = isinstance(known, list) and all(type(name) in (int, str) for name in known)
        if not plain or len(known) != count or len(set(known)) != count:
            _refuse(path, "is damaged: the names of its clusters do not fit")
        names.append(tuple(known))
    return tuple(names)


def _read_soft(
    path: PathLike, arrays: dict[str, NDArray[Any]], shape: tuple[int, int]
) -> sp.csr_array | None:
    parts = [arrays.get(name) for name in ("soft_starts", "soft_columns", "soft_values")]
    if all(part is None for part in parts):
        return None
    starts, columns, values = parts
    if starts is None or columns is None or values is None:
        _refuse(path, "is damaged: a part of its memberships is absent")
    sound = (
        len(starts) == shape[0] + 1
        and starts[0] == 0
        and starts[-1] == len(columns) == len(values)
        and (np.diff(starts) >= 0).all()
        and (len(columns) == 0 or (columns.min() >= 0 and columns.max() < shape[1]))
        and bool(np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all())
    )
    if not sound:
        _refuse(path, "is damaged: its memberships are no probabilities of its clusters")
    return sp.csr_array((values.astype(np.float64), columns, starts), shape=shape)


def _refuse(path: PathLike, what: str) -> NoReturn:
    raise FileFormatError(f"{os.fspath(path)} {what}.")
