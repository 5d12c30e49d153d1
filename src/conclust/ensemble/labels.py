"""Converts label matrices from any source to codes: the only reader of users' labels.

Arrays of numbers are read block by block (so that a memory-mapped file is never copied whole as
int64); columns of strings, categories or mixed objects are numbered through a dictionary first.
The codes are described in ``_kernels/labels/codes.h``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._arrays import containers
from conclust._kernels import LabelView, Relabeller, continues_canonical, count_reserved
from conclust._types import Floats, Ints
from conclust._validation import shown
from conclust.ensemble.columns import (
    CodedColumn,
    CodedTable,
    arrow_labels,
    frame_column,
    stay_exact,
    unmasked,
)
from conclust.exceptions import InputError, SparseInputError

Missing: TypeAlias = Literal["unobserved", "noise"]
"""What the label -1 means: not observed, or observed and apart from all others (noise)."""

MISSING = -1
"""The user's label of an object that a partition did not observe."""
NOISE = -2
"""The user's label of an object that a partition observed and put apart from all others."""

_BLOCK_CELLS = 1 << 20
# Text that results from -1, -2, NaN and the NA of pandas when labels are converted to text or categories.
NAN_TEXTS = ("nan", "<NA>")
_RESERVED = {str(MISSING): MISSING, str(NOISE): NOISE, **dict.fromkeys(NAN_TEXTS, math.nan)}
_LARGEST = np.iinfo(np.int64).max
_NUMBERS: tuple[Any, ...] = (Real, Decimal)

Names = tuple[tuple[Any, ...], ...]
Naming: TypeAlias = Literal["own", "shared"]


class SharedNames(tuple[tuple[Any, ...], ...]):
    """Names of clusters of which equal ones are the same class in all partitions."""

    __slots__ = ()


@dataclass(frozen=True)
class CodedLabels:
    """A label matrix as codes, with the user's names of the clusters kept apart."""

    codes: NDArray[Any]
    cluster_counts: Ints
    n_missing: Ints
    n_noise: Ints
    names: Names


def missing_code(dtype: Any) -> int:
    """Return the code of a missing label in `dtype`."""
    return int(np.iinfo(dtype).max)


def noise_code(dtype: Any) -> int:
    """Return the code of noise in `dtype`."""
    return int(np.iinfo(dtype).max) - 1


def indicator_of(codes: NDArray[Any], offsets: Ints) -> sp.csr_array:
    """Return the indicator (n, T) of the clusters that objects are in, from their codes (n, N)."""
    labelled = codes < noise_code(codes.dtype)
    columns = (codes + offsets[:-1])[labelled]
    starts = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    return sp.csr_array(
        (np.ones(len(columns)), columns, starts), shape=(len(codes), int(offsets[-1]))
    )


def one_hot(labels: Ints, k: int) -> sp.csr_array:
    """Return the indicator (n, k) of one partition with labels 0 .. k - 1, without missing ones."""
    n = len(labels)
    return sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))


def one_hot_rows(labels: Ints, k: int) -> Floats:
    """Return the indicator (n, k) of labels 0 .. k - 1 as a dense matrix; a negative label has a row of zeros."""
    rows = np.zeros((len(labels), k))
    held = np.flatnonzero(labels >= 0)
    rows[held, labels[held]] = 1.0
    return rows


def cluster_range(offsets: Ints, u: int) -> slice:
    """Return the clusters of partition u among those of all."""
    return slice(int(offsets[u]), int(offsets[u + 1]))


def over_clusters(values: NDArray[Any], offsets: Ints, *, axis: int = 0) -> NDArray[Any]:
    """Repeat each partition's value for its clusters: an axis of N partitions becomes one of T clusters."""
    return np.repeat(values, np.diff(offsets), axis=axis)


def over_partitions(
    values: NDArray[Any], offsets: Ints, reduce: np.ufunc = np.add, *, axis: int = 0
) -> NDArray[Any]:
    """Reduce values of clusters, along an axis of T clusters, to one value per partition.

    A partition without clusters (it found nothing but noise) gets the identity of `reduce`, which
    ``ufunc.reduceat`` does not give: there an empty segment is the first value of the next one.
    """
    filled = np.flatnonzero(np.diff(offsets))
    shape = list(values.shape)
    shape[axis] = len(offsets) - 1
    reduced = np.full(shape, reduce.identity, dtype=values.dtype)
    if filled.size:
        places = (slice(None),) * (axis % values.ndim) + (filled,)
        reduced[places] = reduce.reduceat(values, offsets[filled], axis=axis)
    return reduced


def code_type(largest: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest code type for partitions of up to `largest` clusters."""
    for dtype in (np.uint8, np.uint16):
        if largest <= noise_code(dtype):
            return dtype
    return np.uint32


def recoded(codes: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return codes in another type, missing and noise in its largest values."""
    if codes.dtype == dtype:
        return codes
    wide = codes.astype(dtype)
    wide[codes == missing_code(codes.dtype)] = missing_code(dtype)
    wide[codes == noise_code(codes.dtype)] = noise_code(dtype)
    return wide


def canonical_labels(labels: NDArray[Any]) -> Ints:
    """Renumber one label vector 0, 1, ... by first appearance; negative labels stay.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust.ensemble.labels import canonical_labels
    >>> canonical_labels(np.array([7, 7, 2, -1, 7, 0]))
    array([ 0,  0,  1, -1,  0,  2])
    """
    labels = np.asarray(labels)
    if len(labels) == 0 or _is_canonical(labels):
        return labels.astype(np.int64)
    if labels.dtype.kind != "i" or labels.max() >= len(labels):
        values, inverse = np.unique(labels, return_inverse=True)
        clusters = values >= 0
        dense = np.where(clusters, np.cumsum(clusters) - 1, values)
        labels = dense.astype(np.int64)[inverse]
    first = first_appearance(labels, max(int(labels.max()) + 1, 0))
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    # Negative labels index the end of the table, which maps them to themselves.
    table = np.concatenate([number, np.arange(min(int(labels.min()), 0), 0)])
    return table[labels]


def _is_canonical(labels: NDArray[Any]) -> bool:
    """Return whether labels are numbered by first appearance: none exceeds the previous maximum by two."""
    if labels.dtype.kind != "i":
        return False
    highest = np.maximum.accumulate(np.maximum(labels, -1).astype(np.int64))
    return bool(highest[0] <= 0 and (highest[1:] - highest[:-1]).max(initial=0) <= 1)


def first_appearance(labels: NDArray[Any], n_clusters: int) -> Ints:
    """Return the first object of each cluster 0 .. n_clusters - 1; the number of objects if none."""
    n = len(labels)
    first = np.full(n_clusters - min(int(labels.min()), 0), n, dtype=np.int64)
    # Written in reverse order, so that the first object remains.
    first[labels[::-1]] = np.arange(n - 1, -1, -1)
    return first[:n_clusters]


def code_labels(
    labels: Any, *, missing: Missing = "unobserved", least: int = 2, first: int = 0
) -> CodedLabels:
    """Read a label matrix (n_samples, n_partitions), of `least` objects or more, into codes.

    `first` is the number of its first object, in errors.

    A C-contiguous uint8 or int8 array is used without a copy if its columns number their clusters by
    first appearance; every other input becomes one new matrix of the smallest code type.
    """
    matrix, object_names = _as_matrix(labels, missing)
    _check_shape(matrix, least)
    if object_names is not None:
        missing = "unobserved"  # already distinguished from None, object by object
    as_is, counts = _use_as_is(matrix, missing)
    if as_is is not None:
        n_missing, n_noise = reserved_counts(as_is)
        return CodedLabels(
            as_is, counts, n_missing, n_noise, tuple(map(tuple, object_names or map(range, counts)))
        )
    table = Relabeller(matrix.shape[1], MISSING, NOISE)
    for start, block in _integer_blocks(matrix, missing, first):
        bad = table.observe(block)
        if bad >= 0:
            _refuse_negative(block, first + start, bad)
    counts = np.array([table.n_clusters(u) for u in range(matrix.shape[1])], dtype=np.int64)
    codes = np.empty(matrix.shape, dtype=code_type(int(counts.max())))
    for start, block in _integer_blocks(matrix, missing):
        table.encode(block, codes[start : start + len(block)])
    n_missing, n_noise = reserved_counts(codes)
    # Equal names are held once: the thousands of a crowd choose from the same few labels.
    held: dict[Any, tuple[Any, ...]] = {}
    names = []
    for u in range(matrix.shape[1]):
        found = table.values(u)
        own = tuple(found if object_names is None else (object_names[u][k] for k in found))
        names.append(held.setdefault((own, tuple(map(type, own))), own))
    return CodedLabels(codes, counts, n_missing, n_noise, tuple(names))


def reserved_counts(codes: NDArray[Any]) -> tuple[Ints, Ints]:
    """Count the missing labels and the noise of each partition."""
    n_missing = np.zeros(codes.shape[1], dtype=np.int64)
    n_noise = np.zeros(codes.shape[1], dtype=np.int64)
    count_reserved(label_view(codes), n_missing, n_noise)
    return n_missing, n_noise


def refuse_absent(n_missing: Ints, n: int) -> None:
    """Refuse a partition that observed none of the n objects."""
    absent = np.flatnonzero(n_missing == n)
    if absent.size:
        raise InputError(
            f"Partition {absent[0]} is missing everywhere: it observed none of the {n} objects. "
            "Leave it out of the ensemble."
        )


def read_new_labels(
    labels: Any, *, missing: Missing = "unobserved"
) -> tuple[NDArray[Any], list[list[Any]] | None]:
    """Read new objects' labels as a matrix, for `encode_labels`; only the shape is checked."""
    if hasattr(labels, "cluster_counts") and hasattr(labels, "names"):  # an Ensemble
        if labels.is_soft:
            raise InputError(
                "The labels of new objects must be hard. Got an Ensemble of memberships."
            )
        return labels.labels, [list(names) for names in labels.names]
    matrix, object_names = _as_matrix(labels, missing)
    _check_shape(matrix, n_samples=0)
    return matrix, object_names


def encode_labels(
    read: tuple[NDArray[Any], list[list[Any]] | None],
    names: Names,
    dtype: Any,
    *,
    missing: Missing = "unobserved",
) -> tuple[NDArray[Any], int]:
    """Code new objects' labels (from `read_new_labels`) with the `names` of an ensemble.

    Returns the codes and the number of labels that were not among the names (those become noise: present,
    and apart from all others).
    """
    matrix, object_names = read
    if matrix.shape[1] != len(names):
        raise InputError(
            f"The labels of new objects must come from the same {len(names)} partitions. Got "
            f"{matrix.shape[1]} columns instead."
        )
    table = Relabeller(len(names), MISSING, NOISE)
    if object_names is not None:
        missing = "unobserved"  # already distinguished from None, object by object
        # New names are numbered after the known ones, so that one table serves both.
        matrix = _translate(matrix, object_names, names)
        for u, cluster_names in enumerate(names):
            table.restore(u, np.arange(len(cluster_names), dtype=np.int64))
    else:
        for u, cluster_names in enumerate(names):
            # A name that is not an integer cannot occur in a matrix of numbers; its placeholder is
            # a value that cannot be an int64 label.
            numbers = [
                int(v) if isinstance(v, int | np.integer) else -3 - k
                for k, v in enumerate(cluster_names)
            ]
            table.restore(u, np.array(numbers, dtype=np.int64))
    codes = np.empty(matrix.shape, dtype=dtype)
    strangers = 0
    for start, block in _integer_blocks(matrix, missing):
        negative = np.flatnonzero((block < 0) & (block != MISSING) & (block != NOISE))
        if negative.size:
            _refuse_negative(block, start, int(negative[0]))
        strangers += table.encode(block, codes[start : start + len(block)])
    return codes, strangers


def unseen_values(
    columns: Iterable[Any], names: Names, read: tuple[NDArray[Any], list[list[Any]] | None]
) -> str:
    """Return the values of new labels (from `read_new_labels`) that are not among the names: "column 'plan': 'gold' (3)"."""
    (matrix, values), told = read, []
    for u, (column, known) in enumerate(zip(columns, names, strict=True)):
        new = matrix[matrix[:, u] >= 0, u].tolist()
        absent = Counter(new if values is None else [values[u][code] for code in new])
        for name in known:
            absent.pop(name, None)
        if absent:
            each = ", ".join(f"{value!r} ({times:,})" for value, times in absent.most_common(8))
            told.append(f"column {column!r}: {each}")
    return "; ".join(told[:8]) + f"; and {len(told) - 8:,} more columns" * (len(told) > 8)


def _translate(matrix: Ints, values: list[list[Any]], names: Names) -> Ints:
    translated = np.empty(matrix.shape, dtype=np.int64)
    for u, cluster_names in enumerate(names):
        code_of = {name: k for k, name in enumerate(cluster_names)}
        new = len(cluster_names)
        table = np.array([code_of.get(name, new) for name in values[u]] + [NOISE, MISSING])
        translated[:, u] = table[matrix[:, u]]  # -2 and -1 count from the end
    return translated


def _as_matrix(labels: Any, missing: Missing) -> tuple[NDArray[Any], list[list[Any]] | None]:
    """Return a 2-D array of numbers; columns of names are replaced by numbers, with their names."""
    if hasattr(labels, "toarray") and hasattr(labels, "nnz"):
        raise SparseInputError(
            "Sparse data was passed for labels, but a dense label matrix is required: a stored 0 and "
            "an absent entry cannot be distinguished as labels. Use labels.toarray() if 0 is a cluster."
        )
    if hasattr(labels, "obs") and hasattr(labels, "obsm"):
        raise InputError(
            f"Labels must form a matrix of shape (n_samples, n_partitions). Got an "
            f"{type(labels).__name__}: pass the columns of its labels, adata.obs[columns], or "
            "use conclust.sc.tl.consensus(adata, columns)."
        )
    if isinstance(labels, Mapping):
        raise InputError(
            f"Labels must form a matrix of shape (n_samples, n_partitions). Got a {type(labels).__name__}: pass columns as "
            "numpy.column_stack(list(labels.values())), and labels of nodes as Ensemble.from_communities([labels])."
        )
    labels = containers.collected(labels)
    if isinstance(labels, CodedTable):
        return _from_columns(labels.columns(), len(labels.codes), missing)
    if hasattr(labels, "column_names") and hasattr(labels, "column"):  # Table, RecordBatch of Arrow
        columns = [arrow_labels(labels.column(u)) for u in range(labels.num_columns)]
        return _from_columns(columns, labels.num_rows, missing)
    containers.refuse_container(labels, "The matrix of labels")
    containers.refuse_communities(labels)
    if hasattr(labels, "columns") and hasattr(labels, "shape"):
        return _from_frame(labels, missing)
    array = labels if isinstance(labels, np.ndarray) else _from_sequence(labels)
    if isinstance(array, np.ma.MaskedArray):
        array = unmasked(array)
    if array.dtype.kind in "biuf":
        return array, None
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: labels are whole numbers or names.")
    if array.dtype.kind in "OUST":
        if array.ndim != 2:
            return np.empty(array.shape), None
        columns = [array[:, u] for u in range(array.shape[1])]
        return _number_objects(columns, len(array), missing)
    raise InputError(
        f"Labels must be whole numbers or names. Got an array of dtype {array.dtype} instead."
    )


def _from_sequence(labels: Any) -> NDArray[Any]:
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise InputError(
            "Labels must form a matrix of shape (n_samples, n_partitions): the rows given have "
            "different lengths. Mark labels that are missing with -1 or None."
        ) from error
    # NumPy turns [["a", nan]] into the strings "a" and "nan": keep the objects instead.
    return np.asarray(labels, dtype=object) if array.dtype.kind in "US" else array


def _from_frame(frame: Any, missing: Missing) -> tuple[NDArray[Any], list[list[Any]] | None]:
    n, m = frame.shape
    return _from_columns([frame_column(frame, u) for u in range(m)], n, missing)


def _from_columns(
    columns: Sequence[NDArray[Any] | CodedColumn], n: int, missing: Missing
) -> tuple[NDArray[Any], list[list[Any]] | None]:
    m = len(columns)
    arrays = [column for column in columns if not isinstance(column, CodedColumn)]
    if len(arrays) == m and all(column.dtype.kind in "biuf" for column in arrays):
        if not m:
            return np.empty((n, 0)), None
        if stay_exact(arrays):
            for column in arrays:
                refuse_wrapped(column)
            return np.column_stack(arrays), None
    if any(column.dtype.kind == "c" for column in arrays):
        raise InputError("Complex data not supported: labels are whole numbers or names.")
    return _number_objects(columns, n, missing)


def _number_objects(
    columns: Sequence[NDArray[Any] | CodedColumn], n: int, missing: Missing
) -> tuple[Ints, list[list[Any]]]:
    most = max(
        (len(one.values) if isinstance(one, CodedColumn) else n for one in columns), default=0
    )
    matrix = np.empty((n, len(columns)), dtype=np.min_scalar_type(-most - 1))
    names: list[list[Any]] = []
    for u, column in enumerate(columns):
        if isinstance(column, CodedColumn):
            codes, first = np.unique(column.codes, return_index=True)
            codes = codes[np.argsort(first)]
            values = [column.values[code] for code in codes]
            numbers, cluster_names = number_names(values, u, missing)
            table = np.zeros(len(column.values), dtype=np.int64)
            table[codes] = [numbers[value] for value in values]
            matrix[:, u] = table[column.codes]
        else:
            values = column.tolist() if column.dtype.kind != "f" else column.astype(object).tolist()
            numbers, cluster_names = number_names(values, u, missing)
            matrix[:, u] = np.fromiter((numbers[v] for v in values), dtype=np.int64, count=n)
        names.append(cluster_names)
    return matrix, names


def number_names(
    values: list[Any], partition: int, missing: Missing
) -> tuple[dict[Any, int], list[Any]]:
    """Return the number of each value, and the names of the numbers, by first appearance."""
    numbers: dict[Any, int] = {}
    values_by_number: list[Any] = []
    by_name: dict[Any, int] = {}
    for value in _distinct(values, partition):
        name = _name_of(value, partition, missing)
        if name is MISSING or name is NOISE:
            numbers[value] = name
            continue
        if name not in by_name:
            by_name[name] = len(values_by_number)
            values_by_number.append(name)
        numbers[value] = by_name[name]
    return numbers, values_by_number


def refuse_twins(names: Names) -> None:
    """Refuse partitions in which a label occurs as a number and as text, which would be two clusters."""
    for u, cluster_names in enumerate(names):
        refuse_twins_among(cluster_names, f"partition {u}")


def refuse_twins_among(names: Sequence[Any], where: str) -> None:
    """Refuse names of the clusters of one partition if one is a number and as text another one: 1 and "1" or "1.0"."""
    texts = {name.strip() for name in names if isinstance(name, str)}
    numbers = {int(name) for name in names if isinstance(name, int | np.integer)}
    if not texts or not numbers:
        return
    written = (
        int(float(text)) for text in texts if re.fullmatch(r"(0|[1-9][0-9]{0,14})(\.0+)?", text)
    )
    twin = min((number for number in written if number in numbers), default=None)
    if twin is not None:
        raise InputError(
            f"The label {twin} of {where} occurs as a number and as text. Convert the labels to one type. "
            "If pandas reads them, give read_csv dtype=str."
        )


def _distinct(values: list[Any], partition: int) -> dict[Any, None]:
    """Return the different values, in the order of their first appearance."""
    try:
        return dict.fromkeys(values)
    except TypeError:  # a list, a tuple that holds a list, or a signalling NaN
        for value in values:
            try:
                hash(value)
            except TypeError as error:
                raise InputError(
                    f"Labels must be whole numbers or names. Got {shown(value)} in partition {partition} "
                    "instead; argument must be a string or a number."
                ) from error
        raise


def _name_of(value: Any, partition: int, missing: Missing) -> Any:
    """Return the name that a cell stands for, or MISSING or NOISE."""
    if containers.is_missing(value) or containers.is_blank(value):
        return MISSING
    if isinstance(value, str) and value.strip() in _RESERVED:
        value = _RESERVED[value.strip()]
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, complex | np.complexfloating):
        raise InputError("Complex data not supported: labels are whole numbers or names.")
    if isinstance(value, _NUMBERS):
        if value != value:
            return MISSING
        if value in (MISSING, NOISE):
            return NOISE if value == NOISE or missing == "noise" else MISSING
        if value in (np.inf, -np.inf) or value != int(value) or value < 0:
            raise InputError(
                f"Labels must be whole numbers from 0 on, or names; -1 is missing and -2 is noise. "
                f"Got {shown(value)} in partition {partition} instead."
            )
        if value > _LARGEST:
            raise InputError(
                f"Labels must fit in int64. Got {shown(value)} in partition {partition} instead: use "
                "strings as names."
            )
        return int(value)
    return value


def _check_shape(matrix: NDArray[Any], n_samples: int = 2) -> None:
    if matrix.size == 0 and matrix.ndim == 1:
        raise InputError("Expected 2D labels (n_samples, n_partitions), got an empty list.")
    if matrix.ndim != 2:
        hints = {
            0: " Read a file of labels first: pandas.read_csv(path).",
            1: " Reshape your data using labels.reshape(-1, 1) if it is a single partition.",
            3: " If it is a stack of maps (bands, rows, columns), pass labels.reshape(len(labels), -1).T; if the objects come first, labels.reshape(len(labels), -1).",
        }
        raise InputError(
            f"Expected 2D array of labels (n_samples, n_partitions), got {matrix.ndim}D array instead: shape {matrix.shape}.{hints.get(min(matrix.ndim, 3), '')}"
        )
    n, m = matrix.shape
    if m == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required: "
            "an ensemble needs at least one partition."
        )
    if n < n_samples:
        raise InputError(
            f"Found array with {n} sample(s) (shape={matrix.shape}) while a minimum of {n_samples} is "
            "required: a clustering is about pairs of objects."
        )


def _use_as_is(matrix: NDArray[Any], missing: Missing) -> tuple[NDArray[np.uint8] | None, Ints]:
    """Return the matrix as codes without a copy, and the clusters of each column; None if that is impossible."""
    clusters_met = np.zeros(matrix.shape[1], dtype=np.uint8)
    is_signed = matrix.dtype == np.int8 and missing == "unobserved"  # -1 and -2 are then the codes
    if not (is_signed or matrix.dtype == np.uint8) or not matrix.flags.c_contiguous:
        return None, clusters_met.astype(np.int64)
    view = matrix.view(np.ndarray).view(np.uint8)
    rows = max(1, _BLOCK_CELLS // matrix.shape[1])
    for start in range(0, len(matrix), rows):
        if not continues_canonical(view[start : start + rows], is_signed, clusters_met):
            return None, clusters_met.astype(np.int64)
    view.flags.writeable = False
    return view, clusters_met.astype(np.int64)


def _integer_blocks(
    matrix: NDArray[Any], missing: Missing, first: int = 0
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield (first row, C-contiguous block of int64, int32, int8 or uint8 labels)."""
    kind, m = matrix.dtype.kind, matrix.shape[1]
    rows = max(1, _BLOCK_CELLS // m)
    for start in range(0, len(matrix), rows):
        block = matrix[start : start + rows]
        if kind == "f":
            block = _whole_numbers(block, first + start)
        elif kind == "u":
            refuse_wrapped(block)
            if matrix.dtype.itemsize == 8 and (block > _LARGEST).any():
                raise InputError("Labels must fit in int64. Got a larger uint64 label instead.")
        if block.dtype not in (np.int8, np.uint8, np.int32):
            block = block.astype(np.int64, copy=False)
        if missing == "noise" and kind in "if":
            nan = np.isnan(matrix[start : start + rows]) if kind == "f" else False
            block = np.where((block == MISSING) & ~np.asarray(nan), NOISE, block).astype(
                block.dtype
            )
        yield start, np.ascontiguousarray(block)


def refuse_wrapped(labels: NDArray[Any]) -> None:
    """Refuse unsigned labels with the largest number of their type, which -1 becomes when it is written into them."""
    if labels.dtype.kind != "u" or not (labels == np.iinfo(labels.dtype).max).any():
        return
    kind = labels.dtype.name
    raise InputError(
        f"Labels of type {kind} must be below {np.iinfo(kind).max}, the number that -1 (missing) becomes when it is written "
        f"into an array of {kind}. Convert the labels by labels.astype(int) first, and write -1 then: missing labels are -1, "
        "and the number is a cluster like any other."
    )


def _whole_numbers(block: NDArray[Any], start: int) -> Ints:
    missing = np.isnan(block)
    filled = np.where(missing, float(MISSING), block)
    with np.errstate(invalid="ignore", over="ignore"):  # 2^63 is infinite in half precision
        whole = (np.floor(filled) == filled) & (np.abs(filled) < 2.0**63)
    if not whole.all():
        row, column = (int(k) for k in np.argwhere(~whole)[0])
        value = block[row, column]
        what = "infinite (inf)" if np.isinf(value) else f"{value!s}"
        raise InputError(
            f"Labels must be whole numbers (NaN or -1 for missing, -2 for noise). Got {what} at row "
            f"{start + row}, partition {column} instead. If these are points, not labels, use "
            "ConsensusClustering, or EnsembleGenerator to make partitions of them first; if memberships, Ensemble.from_memberships."
        )
    return filled.astype(np.int64)


def _refuse_negative(block: NDArray[Any], start: int, flat: int) -> NoReturn:
    row, column = divmod(flat, block.shape[1])
    raise InputError(
        f"Negative values in data passed to an ensemble: labels are whole numbers from 0 on, -1 is "
        f"missing (not observed) and -2 is noise. Got {int(block[row, column])} at row {start + row}, partition "
        f"{column} instead."
    )


def label_view(
    codes: NDArray[Any],
    offsets: Ints | None = None,
    weights: Floats | None = None,
    soft: sp.csr_array | None = None,
    *,
    complete: bool = False,
) -> LabelView:
    """Return some objects' labels as kernels read them; ``Ensemble.label_view`` has all objects.

    Parameters
    ----------
    codes : ndarray of shape (n_objects, n_partitions)
        Codes of one of the three types, see ``_kernels/labels/codes.h``.
    offsets : ndarray of shape (n_partitions + 1,), default=None
        Column of the indicator at which each partition begins. None: for a kernel that reads codes alone.
    weights : ndarray of shape (n_partitions,), default=None
        Weight of each partition. None: all 1.
    soft : csr_array of shape (n_objects, T), default=None
        Posteriors. None: the partitions are hard.
    complete : bool, default=False
        Whether no label is missing or noise, if known.

    Returns
    -------
    LabelView
        It holds the arrays, and copies of those that are not laid out as the kernels want them.
    """
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    if soft is None:
        return LabelView(np.ascontiguousarray(codes), offsets, weights, complete=complete)
    if not soft.has_sorted_indices:
        soft = soft.copy()
        soft.sort_indices()
    return LabelView(
        np.ascontiguousarray(codes),
        offsets,
        weights,
        soft.indptr.astype(np.int64, copy=False),
        soft.indices.astype(np.int32, copy=False),
        soft.data.astype(np.float64, copy=False),
        complete,
    )
