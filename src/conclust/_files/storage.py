"""Writes files atomically, and validates files when reading.

Reading: NPY and NPZ are parsed by our own header reader, never by pickle. Shape, dtype and size
are known to be sound, and to agree with the size of the file, before anything is allocated.
Writing: to a temporary file in the same folder, flushed to the disk, then moved into place.
"""

from __future__ import annotations

import ast
import errno
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from conclust.exceptions import FileFormatError, InputError

PathLike: TypeAlias = str | os.PathLike[str]
AnyArray: TypeAlias = npt.NDArray[Any]

_META = "meta"
_NPY_MAGIC = b"\x93NUMPY"
_ZIP_ENTRY = b"PK\x03\x04"
_MAX_HEADER = 10_000  # characters of an NPY header; NumPy's own limit
_MAX_DIRECTORY = 1 << 20  # bytes of a zip's directory: thousands of arrays
_MAX_JSON = 1 << 24
_CHUNK = 1 << 20
_MOST_PACKED = 1032  # maximum expansion by deflate, in bytes per byte
# Errors that zipfile raises for damaged files: RuntimeError for encryption, ValueError for bad names and
# offsets, NotImplementedError for versions.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, RuntimeError, ValueError)
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_PLAIN = re.compile(r"[<>=|]?[biufcSU][0-9]{1,10}", re.ASCII)


@dataclass(frozen=True)
class Expected:
    """The conditions on an array of an NPZ file.

    Parameters
    ----------
    kinds : str
        The kinds of dtype that are accepted, as in ``numpy.dtype.kind``: "u", "iu", "f".
    ndim : int
        The number of dimensions.
    optional : bool, default=False
        Whether the array may be absent.
    """

    kinds: str
    ndim: int
    optional: bool = False


# --------------------------------------------------------------------------------------- writing


def atomic_write(path: PathLike, write: Callable[[BinaryIO], object]) -> None:
    """Write a file atomically: either the old or the new content exists, complete.

    Devices and pipes cannot be replaced, and are written to directly.

    Parameters
    ----------
    path : path-like
        The file to write or replace. Its folder must exist.
    write : callable
        Called once with the temporary file, open for writing in binary.

    Raises
    ------
    OSError
        The folder cannot be written. No temporary file is left after any failure; after a kill
        one named ``.conclust-*.tmp`` may be.
    """
    target = Path(path)
    mode = _mode(target)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISFIFO(mode):
        with _named_by(target), target.open("wb") as file:
            write(file)
        return
    temporary = target.with_name(f".conclust-{secrets.token_hex(8)}.tmp")
    # 0o666 less the umask: the rights of an ordinary new file; mkstemp would give fewer.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    done = False
    try:
        with _named_by(target):
            descriptor = os.open(temporary, flags, 0o666)
        with named_if_full(target), os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        with _named_by(target):
            temporary.replace(target)
        done = True
    finally:
        if not done:
            with suppress(OSError):  # of a file that was not made
                temporary.unlink()
    sync_folder(target.parent)


def _mode(target: Path) -> int:
    """Return the mode of a file, or 0 if it does not exist. Links are not followed."""
    try:
        return target.lstat().st_mode
    except OSError:
        return 0  # raised again when it is written


@contextmanager
def _named_by(target: Path) -> Iterator[None]:
    """Raise errors of the temporary file with the name of the file that it becomes."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


@contextmanager
def named_if_full(target: Path) -> Iterator[None]:
    """Raise errors of a full disk or quota with the name of the file; others may concern files that are read."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _FULL:
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def sync_folder(folder: PathLike) -> None:
    """Flush a folder to the disk, so that the names moved into it survive a power cut."""
    if os.name == "nt":
        return  # Windows cannot open folders; its file system journals names
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_npz(path: PathLike, arrays: Mapping[str, npt.ArrayLike], meta: Mapping[str, Any]) -> None:
    """Write arrays and a JSON description into one NPZ file, atomically.

    The same content gives the same bytes: no clock, no compression library enters. NumPy reads
    the file too; the description lies in it as the UTF-8 bytes of an array named "meta".

    Parameters
    ----------
    path : path-like
        The file; nothing is added to its name.
    arrays : mapping of str to array
        Names must be Python identifiers other than "meta".
    meta : mapping
        Anything JSON can hold (NumPy scalars and arrays included).
    """
    ready = _ready(arrays, meta)
    atomic_write(path, lambda file: _send_npz(file, ready))


def npz_bytes(arrays: Mapping[str, npt.ArrayLike], meta: Mapping[str, Any]) -> bytes:
    """Return the content of the file that `write_npz` writes."""
    buffer = io.BytesIO()
    _send_npz(buffer, _ready(arrays, meta))
    return buffer.getvalue()


def _ready(arrays: Mapping[str, npt.ArrayLike], meta: Mapping[str, Any]) -> dict[str, AnyArray]:
    ready = {name: _plain(array, name) for name, array in arrays.items()}
    for name in ready:
        if name == _META or not name.isidentifier():
            raise InputError(f"An array of an NPZ file cannot be named {name!r}.")
    description = np.frombuffer(_to_json(meta).encode(), dtype=np.uint8)
    directory = sum(50 + len(name) for name in ready)
    if len(description) > _MAX_JSON or directory > _MAX_DIRECTORY:
        raise InputError(
            f"A file holds at most {_size(_MAX_JSON)} of words and some 15,000 arrays. Got {_size(len(description))} and "
            f"{len(ready):,} arrays: number clusters instead of naming them, and save fewer members."
        )
    return ready | {_META: description}


def _send_npz(file: BinaryIO, ready: Mapping[str, AnyArray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in ready.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            large = array.nbytes + _MAX_HEADER > zipfile.ZIP64_LIMIT
            with archive.open(entry, "w", force_zip64=large) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def write_json(path: PathLike, content: Any) -> None:
    """Write JSON (UTF-8, indented, one final newline), atomically.

    NumPy scalars and arrays and paths become numbers, lists and strings. NaN and infinity are no
    JSON: they raise ValueError; the caller replaces absent numbers (by None).
    """
    text = _to_json(content) + "\n"
    atomic_write(path, lambda file: file.write(text.encode()))


def json_numbers(values: npt.ArrayLike) -> Any:
    """Return numbers for JSON, as nested lists, with None for NaN and infinity."""
    numbers = np.asarray(values, dtype=np.float64)
    plain = numbers.astype(object)
    plain[~np.isfinite(numbers)] = None
    return plain.tolist()


def _to_json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_json_default)


def _json_default(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


def _plain(array: npt.ArrayLike, name: str) -> AnyArray:
    ready = np.asanyarray(array)
    if ready.dtype.hasobject or not _PLAIN.fullmatch(ready.dtype.str) or ready.dtype.itemsize == 0:
        raise InputError(
            f"{name}: an array of dtype {ready.dtype} cannot be stored. Only booleans, numbers and "
            "strings of fixed length can."
        )
    return ready


# --------------------------------------------------------------------------------------- reading


def open_regular(path: PathLike) -> BinaryIO:
    """Open a file for reading; a folder, pipe or device raises instead of blocking.

    Raises
    ------
    OSError
        The file is missing or cannot be opened.
    FileFormatError
        It is not a regular file.
    """
    # Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileFormatError(f"{os.fspath(path)} is not a regular file.")
    return os.fdopen(descriptor, "rb")


def read_json(path: PathLike) -> Any:
    """Read a JSON file of at most 16 MiB.

    Raises
    ------
    FileFormatError
        If it is too large, not UTF-8, not JSON, or repeats a key.
    """
    with open_regular(path) as file:
        content = file.read(_MAX_JSON + 1)
    if len(content) > _MAX_JSON:
        refuse_file(path, f"is larger than {_size(_MAX_JSON)}, the limit for a JSON file")
    return _from_json(content, path)


def read_npy(path: PathLike, *, mmap: bool = False) -> AnyArray:
    """Read an NPY file of plain numbers, booleans or strings; never a pickle.

    Parameters
    ----------
    path : path-like
        The file. At most half of the machine's memory is read.
    mmap : bool, default=False
        Map the file read-only instead of reading it, whatever its size.

    Returns
    -------
    ndarray
        Writable, unless it is mapped.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError
        It is not an NPY file, is cut off, holds objects, or is too large.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        header = _read_header(file, path, "")
        available = size - header.length
        if header.n_bytes > available:
            _cut_off(path, "", header.n_bytes, available)
        if header.n_bytes < available:
            refuse_file(
                path, f"is damaged: {available - header.n_bytes} bytes follow the end of its array"
            )
        # Booleans and strings are checked byte by byte, which mapping would defer.
        if mmap and header.n_bytes and header.dtype.kind not in "bU":
            return np.memmap(
                file,
                dtype=header.dtype,
                mode="r",
                offset=header.length,
                shape=header.shape,
                order="F" if header.fortran else "C",
            )
        _check_size(header.n_bytes, None, path)
        return _read_array(file, header, path, "")


def read_npz(
    path: PathLike,
    *,
    expected: Mapping[str, Expected] | None = None,
    max_bytes: int | None = None,
    content: bytes | None = None,
) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Read an NPZ file of plain arrays, and the description that `write_npz` put in it.

    Parameters
    ----------
    path : path-like
        The file.
    expected : mapping of str to Expected, default=None
        Required entries, with no others allowed; "meta" is then required too. None accepts any plain
        arrays.
    max_bytes : int, default=None
        The largest sum of the arrays' sizes, unpacked; None means half of the machine's memory.
    content : bytes, default=None
        The content, which is then not read from `path`: that is its name in messages.

    Returns
    -------
    arrays : dict of str to ndarray
        Without "meta".
    meta : dict
        The description; empty where there is none.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError
        It is not an NPZ file, is cut off or damaged, holds objects, unpacks to more than allowed, or
        lacks expected arrays.
    """
    with open_regular(path) if content is None else io.BytesIO(content) as file:
        _check_directory(file, path)
        size = file.seek(0, io.SEEK_END)
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, path, size, expected, max_bytes)
        except FileFormatError:
            raise
        except _ZIP_ERRORS as error:
            raise FileFormatError(
                f"{os.fspath(path)} is damaged ({error}). Write it again."
            ) from error


def _read_archive(
    archive: zipfile.ZipFile,
    path: PathLike,
    size: int,
    expected: Mapping[str, Expected] | None,
    max_bytes: int | None,
) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename or name in entries:
            refuse_file(
                path,
                f"is not an NPZ file: {entry.filename[:80]!r} in it is not an array, or is repeated",
            )
        if entry.header_offset < 0:
            refuse_file(path, f"is damaged: {name[:80]!r} would begin before the file")
        if entry.flag_bits & 1 or entry.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            refuse_file(
                path, f"holds {name[:80]!r} encrypted or packed in a way that NumPy does not use"
            )
        # Sizes in the directory are limited by the size of the file before memory is allocated.
        packed = entry.compress_type == zipfile.ZIP_DEFLATED
        if entry.file_size > min(entry.compress_size, size) * (_MOST_PACKED if packed else 1):
            refuse_file(
                path, f"is damaged: {name[:80]!r} cannot unpack to {_size(entry.file_size)}"
            )
        entries[name] = entry
    if expected is not None:
        absent = [
            name for name, what in expected.items() if not what.optional and name not in entries
        ]
        absent += [_META] if _META not in entries else []
        surplus = sorted(entries.keys() - expected.keys() - {_META})
        if absent:
            refuse_file(path, f"lacks the array {absent[0]!r}")
        if surplus:
            refuse_file(path, f"holds an array {surplus[0][:80]!r} that does not belong there")
    # Sizes are checked first: nothing is unpacked from a file that is too large.
    _check_size(sum(entry.file_size for entry in entries.values()), max_bytes, path)

    arrays: dict[str, AnyArray] = {}
    meta: dict[str, Any] = {}
    for name, entry in entries.items():
        with archive.open(entry) as stream:
            header = _read_header(stream, path, name)
            if header.length + header.n_bytes != entry.file_size:
                _cut_off(path, name, header.n_bytes, entry.file_size - header.length)
            if expected is not None:
                what = expected.get(name, Expected("u", 1))
                if header.dtype.kind not in what.kinds or len(header.shape) != what.ndim:
                    form = f"dtype {header.dtype} and {len(header.shape)} dimensions"
                    wanted = f"a dtype of kind {' or '.join(what.kinds)} and {what.ndim}"
                    refuse_file(path, f"holds {name!r} with {form}; expected {wanted}")
            array = _read_array(stream, header, path, name)
            stream.read(1)  # the end of the entry: here its checksum is compared
        if name != _META:
            arrays[name] = array
        elif array.dtype == np.uint8 and array.ndim == 1 and array.size <= _MAX_JSON:
            content = _from_json(array.tobytes(), path)
            if not isinstance(content, dict):
                refuse_file(path, "has a description that is not a JSON object")
            meta = content
        else:
            refuse_file(path, "has a description that is not text")
    return arrays, meta


@dataclass(frozen=True)
class _Header:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    length: int  # bytes before the data

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def _read_header(stream: Any, path: PathLike, name: str) -> _Header:
    """Parse an NPY header of version 1 or 2, validating everything in it."""
    what = f"the array {name!r} in it" if name else "it"
    start = stream.read(8)
    if len(start) < 8 or start[:6] != _NPY_MAGIC:
        if len(start) < 8 and _NPY_MAGIC.startswith(start[:6]):
            refuse_file(path, f"is cut off: {what} ends within its header")
        if start[:1] == b"\x80":
            refuse_file(
                path,
                "is a Python pickle, which can run code and is never read. Save with numpy.save",
            )
        refuse_file(path, f"is not an NPY file: {what} does not begin as one")
    version = (start[6], start[7])
    if version not in ((1, 0), (2, 0)):
        refuse_file(path, f"has NPY version {version[0]}.{version[1]}; only 1.0 and 2.0 are read")
    width = 2 if version == (1, 0) else 4
    field = stream.read(width)
    length = int.from_bytes(field, "little")
    if length > _MAX_HEADER:
        refuse_file(path, f"has an NPY header of {length} bytes; at most {_MAX_HEADER} are read")
    text = stream.read(length)
    if len(field) < width or len(text) < length:
        refuse_file(path, f"is cut off: {what} ends within its header")
    dtype, shape, fortran = _parse_header(text, path)
    return _Header(dtype, shape, fortran, 8 + width + length)


def _parse_header(text: bytes, path: PathLike) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    try:
        fields = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or fields.keys() != {"descr", "fortran_order", "shape"}:
        refuse_file(path, "is damaged: its NPY header cannot be understood")
    descr, shape, fortran = fields["descr"], fields["shape"], fields["fortran_order"]
    if isinstance(descr, str) and "O" in descr:
        refuse_file(
            path,
            "holds Python objects (a pickle), which can run code and are never read. Save an array "
            "of numbers or of strings of fixed length",
        )
    try:
        dtype = np.dtype(descr) if isinstance(descr, str) and _PLAIN.fullmatch(descr) else None
    except (TypeError, ValueError, OverflowError):
        dtype = None
    if dtype is None or dtype.itemsize == 0:
        refuse_file(
            path,
            f"holds the dtype {str(descr)[:80]!r}; only booleans, numbers and strings are read",
        )
    # Dimensions are limited even if another one is zero.
    whole = isinstance(shape, tuple) and all(
        type(length) is int and length >= 0 for length in shape
    )
    if not whole or len(shape) > 32 or math.prod(max(1, length) for length in shape) >= 1 << 59:
        refuse_file(path, f"is damaged: its NPY header has the shape {str(shape)[:80]}")
    if not isinstance(fortran, bool):
        refuse_file(path, "is damaged: its NPY header cannot be understood")
    return dtype, shape, fortran


def _read_array(stream: Any, header: _Header, path: PathLike, name: str) -> AnyArray:
    buffer = np.empty(header.n_bytes, dtype=np.uint8)
    view = buffer.data
    filled = 0
    while filled < header.n_bytes:
        got = stream.readinto(view[filled : filled + _CHUNK])
        if not got:
            _cut_off(path, name, header.n_bytes, filled)
        filled += got
    order = header.shape[::-1] if header.fortran else header.shape
    if header.dtype.kind == "b":
        # NumPy misreads a bool stored as another byte.
        array = np.not_equal(buffer, 0).reshape(order)
    else:
        array = buffer.view(header.dtype).reshape(order)
    if header.dtype.kind == "U":
        points = buffer.view(header.dtype.byteorder.replace("|", "=") + "u4")
        if points.size and points.max() > 0x10FFFF:
            refuse_file(path, "is damaged: it holds characters that do not exist")
    return array.T if header.fortran else array


def _check_directory(file: BinaryIO, path: PathLike) -> None:
    """Limit the directory that `zipfile` parses, and distinguish truncated files from other kinds."""
    start = file.read(4)
    if start[:1] == b"\x80":
        refuse_file(
            path, "is a Python pickle, which can run code and is never read. Save with numpy.savez"
        )
    if start not in (_ZIP_ENTRY, b"PK\x05\x06"):
        refuse_file(path, "is not an NPZ file: it does not begin as one")
    file.seek(max(0, file.seek(0, io.SEEK_END) - 98))
    # End record (22 bytes), and before it, in large files, locator and zip64 record.
    tail = file.read(98)
    end = tail[-22:]
    if len(end) < 22 or end[:4] != b"PK\x05\x06" or end[-2:] != b"\0\0":
        refuse_file(path, "is cut off: the directory at the end of an NPZ file is missing")
    length = int.from_bytes(end[12:16], "little")
    if tail[-42:-38] == b"PK\x06\x07":
        if tail[-98:-94] != b"PK\x06\x06":
            refuse_file(path, "is damaged: its directory cannot be found")
        length = int.from_bytes(tail[-58:-50], "little")
    if length > _MAX_DIRECTORY:
        refuse_file(
            path, f"has a directory of {_size(length)}; files with that many arrays are not read"
        )
    file.seek(0)


def _from_json(content: bytes, path: PathLike) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = dict(pairs)
        if len(keys) < len(pairs):
            raise ValueError("a key is repeated")
        return keys

    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is not JSON")

    try:
        return json.loads(content.decode(), object_pairs_hook=unique, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{os.fspath(path)} is damaged: not valid JSON ({error}).") from error


def reading_limit() -> int:
    """Return the default maximum size of a file: half of the machine's memory."""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return 1 << 33


def _check_size(n_bytes: int, max_bytes: int | None, path: PathLike) -> None:
    limit = reading_limit() if max_bytes is None else max_bytes
    if n_bytes > limit:
        refuse_file(path, f"unpacks to {_size(n_bytes)}; at most {_size(limit)} are read")


def _size(n_bytes: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n_bytes >= 1 << power:
            return f"{n_bytes / (1 << power):.1f} {unit}"
    return f"{n_bytes} bytes"


def _cut_off(path: PathLike, name: str, needed: int, available: int) -> NoReturn:
    if available > needed:
        refuse_file(
            path, f"is damaged: {available - needed} bytes follow the end of the array {name!r}"
        )
    what = f"the array {name!r} in it" if name else "its array"
    refuse_file(path, f"is cut off: {what} needs {needed} bytes, {max(0, available)} are available")


def refuse_file(path: PathLike, what: str) -> NoReturn:
    """Raise the error about a file: `what` is wrong with it."""
    raise FileFormatError(f"{os.fspath(path)} {what}.")
