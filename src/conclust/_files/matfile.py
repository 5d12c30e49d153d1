"""Arrays of numbers in MAT files: those of version 5 are parsed here, those of version 4 by SciPy.

SciPy's reader of version 5 follows types and lengths in the file wherever they lead, also out of the memory,
and unpacks cells and structs with everything in them. Here nothing but arrays of numbers is unpacked, after
their sizes were counted and compared with the file.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import PathLike, open_regular, reading_limit
from conclust.exceptions import FileFormatError

_HEADER = 128  # bytes before the first element
_ARRAY, _PACKED = 14, 15  # types of elements
_NUMBERS = range(6, 16)  # classes of arrays: double, single, int8 ... uint64
_COMPLEX = 0x0800
_INT8, _INT32, _UINT32 = 1, 5, 6
_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MOST_DIMENSIONS, _LONGEST_NAME = 32, 4096
_CHUNK = 1 << 20

_Order = Literal["little", "big"]


def read_mat(path: PathLike) -> dict[str, NDArray[Any]]:
    """Return the real arrays of numbers of a MAT file, by their names.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError
        It is not a MAT file, is damaged, of format 7.3, or unpacks to more than is read.
    """
    with open_regular(path) as file:
        start = file.read(_HEADER)
        if len(start) >= 4 and 0 in start[:4]:
            file.seek(0)
            return _read_version_4(file, path)
        order: _Order = "big" if start[126:128] == b"MI" else "little"
        if len(start) < _HEADER or start[126:128] not in (b"MI", b"IM"):
            _refuse(path, "it does not begin as one")
        if (start[125] if order == "little" else start[124]) == 2:
            raise FileFormatError(
                f"{os.fspath(path)} is of MATLAB's format 7.3, which is not read. In MATLAB: "
                "save('file.mat', 'X', '-v7')."
            )
        try:
            size = sum(
                _unpacked_size(content) if packed else len(content)
                for packed, content in _numeric(file, path, order)
            )
            if size > reading_limit():
                raise FileFormatError(
                    f"{os.fspath(path)} unpacks to {size} bytes, too many for this machine."
                )
            arrays: dict[str, NDArray[Any]] = {}
            for packed, content in _numeric(file, path, order):
                whole = zlib.decompress(content) if packed else content
                array = _array_of(whole, path, order)
                if array is not None:
                    arrays[array[0]] = array[1]
        except zlib.error as error:
            raise FileFormatError(
                f"{os.fspath(path)} is not a valid MAT file ({error})."
            ) from error
    return arrays


def _read_version_4(file: BinaryIO, path: PathLike) -> dict[str, NDArray[Any]]:
    """Read arrays that are never compressed; SciPy's reader of this version is pure Python."""
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    try:
        shapes: list[Any] = [shape for _, shape, _ in whosmat(file)]  # type: ignore[arg-type]
        file_size = os.fstat(file.fileno()).st_size
        if any(min(shape) < 0 or math.prod(shape) > 8 * file_size for shape in shapes):
            _refuse(path, "an array in it has an impossible shape")
        file.seek(0)
        content = loadmat(file)  # type: ignore[arg-type]
    except FileFormatError:
        raise
    except (
        *(ValueError, TypeError, LookupError, EOFError, AttributeError, OverflowError),
        *(NotImplementedError, MatReadError),
    ) as error:
        raise FileFormatError(f"{os.fspath(path)} is not a valid MAT file ({error}).") from error
    return {
        name: value
        for name, value in content.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and name[:2] != "__"
    }


def _numeric(file: BinaryIO, path: PathLike, order: _Order) -> Iterator[tuple[bool, bytes]]:
    """Yield the elements that are arrays of numbers, and whether they are compressed."""
    file.seek(_HEADER)
    left = os.fstat(file.fileno()).st_size - _HEADER
    while tag := file.read(8):
        kind, length = int.from_bytes(tag[:4], order), int.from_bytes(tag[4:], order)
        left -= 8
        if len(tag) < 8 or length > left:
            _refuse(path, "it is cut off")
        if kind not in (_ARRAY, _PACKED):
            _refuse(path, f"it holds an element of type {kind}")
        left -= length
        content = file.read(length)
        start = content[:24]
        if kind == _PACKED:
            start = zlib.decompressobj().decompress(content, 24)
            if int.from_bytes(start[:4], order) != _ARRAY:
                _refuse(path, "a compressed element in it is not an array")
            start = start[8:]
        if int.from_bytes(start[8:9] if order == "little" else start[11:12], order) in _NUMBERS:
            yield kind == _PACKED, content


def _unpacked_size(packed: bytes) -> int:
    """Return the number of bytes after decompression without storing them; approximate above the limit."""
    unpacking, size = zlib.decompressobj(), 0
    while packed and not unpacking.eof and size <= reading_limit():
        content = unpacking.decompress(packed, _CHUNK)
        packed = unpacking.unconsumed_tail
        size += len(content)
        if not content:
            break
    return size


def _array_of(content: bytes, path: PathLike, order: _Order) -> tuple[str, NDArray[Any]] | None:
    """Return the name and the values of an array; None if they are complex."""
    rest = memoryview(content)
    if int.from_bytes(rest[:4], order) == _ARRAY:  # the tag inside the compressed element
        length = int.from_bytes(rest[4:8], order)
        if length > len(rest) - 8:
            _refuse(path, "it is cut off")
        rest = rest[8 : 8 + length]
    kind, flags, rest = _element(rest, path, order)
    if kind != _UINT32 or len(flags) != 8:
        _refuse(path, "an array in it has no flags")
    kind, sizes, rest = _element(rest, path, order)
    if kind != _INT32 or not 8 <= len(sizes) <= 4 * _MOST_DIMENSIONS or len(sizes) % 4:
        _refuse(path, "an array in it has no shape")
    mark = "<" if order == "little" else ">"
    shape = np.frombuffer(sizes, mark + "i4").tolist()
    kind, letters, rest = _element(rest, path, order)
    if kind != _INT8 or len(letters) > _LONGEST_NAME:
        _refuse(path, "an array in it has no name")
    name = bytes(letters).decode("latin-1")
    if int.from_bytes(flags[:4], order) & _COMPLEX:
        return None
    kind, values, _ = _element(rest, path, order)
    dtype = np.dtype(mark + _TYPES[kind]) if kind in _TYPES else None
    if dtype is None or min(shape) < 0 or math.prod(shape) * dtype.itemsize != len(values):
        _refuse(path, f"its array {name[:80]!r} does not have as many values as its shape requires")
    array = np.frombuffer(values, dtype).astype(dtype.newbyteorder("="))
    return name, array.reshape(shape, order="F")


def _element(rest: memoryview, path: PathLike, order: _Order) -> tuple[int, memoryview, memoryview]:
    """Return the type and the bytes of the first element, and the remaining bytes."""
    if len(rest) < 8:
        _refuse(path, "it is cut off")
    first = int.from_bytes(rest[:4], order)
    if first >> 16:  # a small element, stored instead of the length
        length = first >> 16
        if length > 4:
            _refuse(path, "an element in it has an impossible length")
        return first & 0xFFFF, rest[4 : 4 + length], rest[8:]
    length = int.from_bytes(rest[4:8], order)
    if length > len(rest) - 8:
        _refuse(path, "it is cut off")
    return first, rest[8 : 8 + length], rest[8 + -(-length // 8) * 8 :]


def _refuse(path: PathLike, why: str) -> NoReturn:
    raise FileFormatError(f"{os.fspath(path)} is not a valid MAT file: {why}.")
