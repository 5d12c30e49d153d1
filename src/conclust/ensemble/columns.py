"""Reads columns of frames of pandas and polars, of Arrow tables and of masked arrays as plain arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conclust.exceptions import InputError

# All integers up to this one are floats.
_LARGEST_EXACT = 1 << 53

_TEXT = ("string", "large_string", "string_view")  # types of Arrow


@dataclass(frozen=True)
class CodedColumn:
    """A column of pandas' categories or of text in Arrow: indices into a list of values, -1 for none."""

    codes: NDArray[np.integer[Any]]
    values: list[Any]

    def objects(self) -> NDArray[Any]:
        """Return the values of the cells."""
        table: NDArray[Any] = np.empty(len(self.values), dtype=object)
        table[:] = self.values
        objects: NDArray[Any] = table[self.codes]
        return objects


class CodedTable(NamedTuple):
    """A matrix of indices into one list of values, of which the last is None: cells of one byte, if values are few."""

    codes: NDArray[np.integer[Any]]
    values: list[Any]

    def columns(self) -> list[CodedColumn]:
        """Return the columns, without a copy."""
        return [CodedColumn(codes, self.values) for codes in self.codes.T]


def column_names(labels: Any) -> Any:
    """Return the names of the columns of a frame or a table of Arrow; None for other labels."""
    if hasattr(labels, "collect_schema"):  # a lazy frame of polars, whose `columns` warns
        return labels.collect_schema().names()
    return getattr(labels, "column_names", getattr(labels, "columns", None))


def frame_column(frame: Any, u: int) -> NDArray[Any] | CodedColumn:
    """Return a column of a frame of pandas or polars; one of categories of pandas that are names with its codes."""
    column = frame.iloc[:, u] if hasattr(frame, "iloc") else frame[:, u]
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):
        categories = column.cat.categories
        if categories.dtype.kind == "O":
            return CodedColumn(np.asarray(column.cat.codes), [*categories, None])
    array = exact_column(column)
    return array if array.dtype.kind in "biufcO" else np.asarray(column, dtype=object)


def exact_column(column: Any) -> NDArray[Any]:
    """Return a column as an array; as one of objects if it has empty cells and integers that are no floats."""
    array = np.asarray(column)
    if array.dtype.kind != "f":
        return array
    own = getattr(column, "dtype", getattr(column, "type", ""))
    categories: Any = getattr(own, "categories", None)
    kind = str(own if categories is None else categories.dtype).lower()
    if not kind.startswith(("int", "uint")) or not (np.abs(array) >= _LARGEST_EXACT).any():
        return array
    objects = np.empty(len(array), dtype=object)
    if categories is not None:
        codes = np.asarray(column.cat.codes if hasattr(column, "cat") else column.codes)
        objects[:] = [None if code < 0 else int(categories[code]) for code in codes.tolist()]
    else:
        objects[:] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return objects


def arrow_column(column: Any) -> NDArray[Any]:
    """Return a column of an Arrow table as a NumPy array; absent labels are NaN or None."""
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if hasattr(whole, "dictionary_decode"):
        whole = whole.dictionary_decode()
    if whole.null_count and str(whole.type).startswith(("int", "uint")):
        objects = np.empty(len(whole), dtype=object)
        objects[:] = whole.to_pylist()
        return objects
    return np.asarray(whole.to_numpy(zero_copy_only=False))


def arrow_labels(column: Any) -> NDArray[Any] | CodedColumn:
    """Return labels in a column of an Arrow table; text with its codes, absent numbers as NaN."""
    is_text = is_arrow_text(column.type)
    if str(column.type) == "string_view":
        column = column.cast("large_string")  # Arrow makes no empty dictionary of this type
    if is_text and not hasattr(column.type, "index_type"):
        # Before its chunks are combined, because an array of text has at most 2 GB.
        column = column.dictionary_encode()
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if is_text:
        codes = whole.indices.cast("int64").fill_null(-1).to_numpy()
        return CodedColumn(codes, [*whole.dictionary.to_pylist(), None])
    if hasattr(whole, "dictionary_decode"):
        whole = whole.dictionary_decode()
    kind = str(whole.type)
    if whole.null_count and kind in ("bool", "int8", "uint8", "int16", "uint16"):
        # By way of bytes, as truth values are not cast to floats.
        whole = (whole.cast("uint8") if kind == "bool" else whole).cast("float32")
    if whole.null_count and kind.startswith(("int", "uint")):
        return exact_column(whole)
    return arrow_column(whole)


def label_array(column: Any, name: str) -> NDArray[Any]:
    """Return labels in an array, or in a column of an Arrow table, where text becomes objects."""
    if isinstance(column, np.ndarray):
        return np.asarray(column)
    if re.search("date|time|duration|list|struct|map|binary", kind := str(column.type)):
        raise InputError(f"The column {name!r} is of type {kind}, which is not read.")
    found = arrow_labels(column)
    return found.objects() if isinstance(found, CodedColumn) else found


def stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as a matrix, of objects if no array of numbers holds them exactly."""
    exact = stay_exact(columns)
    return np.column_stack(columns if exact else [column.astype(object) for column in columns])


def is_arrow_text(kind: Any) -> bool:
    """Return whether a type of Arrow is text, also as a dictionary."""
    return str(kind.value_type if hasattr(kind, "index_type") else kind) in _TEXT


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a masked array as a plain one, with NaN or None (a missing label) for masked cells."""
    plain = np.asarray(np.ma.getdata(array))
    mask = np.ma.getmaskarray(array)
    if plain.dtype.kind not in "biufOUST" or not mask.any():
        return plain
    if plain.dtype.kind == "f" or (plain.dtype.kind in "biu" and is_exact_as_float(plain)):
        numbers = plain.astype(np.result_type(plain, np.float32))
        numbers[mask] = np.nan
        return numbers
    objects = plain.astype(object)
    objects[mask] = None
    return objects


def is_exact_as_float(column: NDArray[Any]) -> bool:
    """Return whether floats hold the same numbers as an array: larger integers would become one label."""
    if column.dtype.kind not in "iu" or column.dtype.itemsize < 8 or not len(column):
        return True
    return int(column.min()) >= -_LARGEST_EXACT and int(column.max()) <= _LARGEST_EXACT


def stay_exact(arrays: Sequence[NDArray[Any]]) -> bool:
    """Return whether one array can hold all of these: not integers beyond 2^53 together with floats."""
    if not all(array.dtype.kind in "biuf" for array in arrays):
        return all(array.dtype.kind == "O" for array in arrays)
    return np.result_type(*arrays).kind != "f" or all(map(is_exact_as_float, arrays))
