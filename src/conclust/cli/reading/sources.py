"""Sources of input bytes, and their formats."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from conclust._files.formats import WHOLE
from conclust._files.storage import open_regular, reading_limit
from conclust.cli.console import STREAM
from conclust.exceptions import FileFormatError, InputError


class DamagedError(Exception):
    """A compressed file does not unpack."""


@dataclass(frozen=True)
class _Packing:
    """A compression of CSV files: its name, its ending, the first bytes of a file, and what unpacks one."""

    name: str
    ending: str
    beginnings: tuple[bytes, ...]
    unpacked: Callable[[BinaryIO], Any]


# Python may have been built without bz2 and lzma.
_PACKINGS = {
    one.name: one
    for one in (
        _Packing("gzip", ".gz", (b"\x1f\x8b",), lambda file: gzip.GzipFile(fileobj=file)),
        _Packing(
            "bzip2",
            ".bz2",
            tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
            lambda file: _joined(file, import_module("bz2").BZ2Decompressor),
        ),
        _Packing(
            "xz",
            ".xz",
            (b"\xfd7zXZ",),
            lambda file: _joined(file, import_module("lzma").LZMADecompressor),
        ),
    )
}
_OF_ZSTD = "Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'"

NO_TEXT = {
    b"\xff\xfe\x00\x00": "is in UTF-32. Save it as CSV in UTF-8",
    **{
        beginning: f"is compressed by {one.name}. Give it a name that ends in {one.ending}"
        for one in _PACKINGS.values()
        for beginning in one.beginnings
    },
    b"PK\x03\x04": "is a ZIP file or a spreadsheet. Save its table as CSV in UTF-8",
    b"\x28\xb5\x2f\xfd": f"is compressed by zstd. {_OF_ZSTD}",
    b"PAR1\x15": "is a Parquet file. Give it a name that ends in .parquet",
    b"\x93NUMPY": "is an NPY file. Give it a name that ends in .npy",
}
"""First bytes of files that are not CSV, whatever their names."""
_BLOCK = 1 << 16  # bytes read or unpacked at once

_KINDS = {ending: one.kind for one in WHOLE.values() for ending in one.endings}
_BEGINNINGS = [(one.beginning, one.kind) for one in WHOLE.values() if one.beginning]
# Other common formats, and how to convert them.
_ELSEWHERE = {
    ".zst": _OF_ZSTD,
    ".xls": "Save the sheet as CSV (UTF-8)",
    ".xlsx": "Save the sheet as CSV (UTF-8)",
    ".ods": "Save the sheet as CSV (UTF-8)",
    ".h5ad": "In Python conclust.sc.tl.consensus(adata, keys) combines columns of labels. For the shell write "
    "these as CSV by adata.obs[[...]].to_csv(...), or the data to be clustered by adata.to_df().to_csv(...)",
    ".pkl": "Pickles are never read. Save the array by numpy.save, a data frame as CSV or Parquet",
    ".pickle": "Pickles are never read. Save the array by numpy.save, a data frame as CSV or Parquet",
    ".joblib": "Pickles are never read. Save the array by numpy.save, a data frame as CSV or Parquet",
}


@dataclass(frozen=True)
class Source:
    """One input.

    Parameters
    ----------
    path : Path
        The file that holds the bytes.
    kind : str
        The format: a key of ``WHOLE``.
    name : str
        Name in messages.
    packing : str, default=""
        Name of the compression of the bytes, a key of ``_PACKINGS``; empty: none.
    """

    path: Path
    kind: str
    name: str
    packing: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def has_columns(self) -> bool:
        """Whether it is a table, whose columns may have names."""
        return WHOLE[self.kind].has_columns

    def open(self) -> BinaryIO:
        """Open the bytes for reading, unpacked."""
        file = open_regular(self.path)
        if not self.packing:
            return file
        unpacked: Any = _Unpacked(file, self.packing, self.name)
        return unpacked  # type: ignore[no-any-return]


class _Unpacked(io.BufferedIOBase):
    """The content of a compressed file, limited to the maximum size that is read."""

    def __init__(self, below: BinaryIO, packing: str, name: str) -> None:
        self._below = below
        try:
            self._file = _PACKINGS[packing].unpacked(below)
        except ImportError as error:
            below.close()
            raise FileFormatError(
                f"{name} is compressed by {packing}, which this Python cannot unpack ({error}). Unpack it first."
            ) from error
        self._name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._taken(lambda: self._file.read(-1 if size is None else size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._taken(lambda: self._file.read1(size))

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        super().close()
        self._file.close()
        self._below.close()

    def _taken(self, take: Callable[[], bytes]) -> bytes:
        try:
            content = take()
        except Exception as error:
            if _is_damage(error):
                raise DamagedError(error) from error
            raise
        if self._file.tell() > reading_limit():
            raise FileFormatError(
                f"{self._name} unpacks to more than {reading_limit():,} bytes, the limit."
            )
        return content


class _Streams(io.RawIOBase):
    """The content of compressed streams that follow one another.

    BZ2File and LZMAFile end without an error where the beginning of a further stream is damaged, or zeros precede it.
    """

    def __init__(self, below: BinaryIO, decompressor: Callable[[], Any]) -> None:
        self._below = below
        self._decompressor = decompressor
        self._stream = decompressor()
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("only the beginning can be reached")
        self._below.seek(0)
        self._stream = self._decompressor()
        self._position = 0
        return 0

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        content = b""
        while not content:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed:
                    block = self._below.read(_BLOCK)
                    if not block:
                        return 0
                    packed = block.lstrip(b"\0")
                self._stream = self._decompressor()
            elif self._stream.needs_input:
                packed = self._below.read(_BLOCK)
                if not packed:
                    raise EOFError("it ends within a compressed stream")
            content = self._stream.decompress(packed, len(buffer))
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


def _joined(file: BinaryIO, decompressor: Callable[[], Any]) -> io.BufferedReader:
    return io.BufferedReader(_Streams(file, decompressor), _BLOCK)


def _is_damage(error: Exception) -> bool:
    """Return whether packed bytes caused an error; bz2 raises a bare OSError, unlike the disk."""
    if isinstance(error, OSError):
        return error.errno is None
    lzma = sys.modules.get("lzma")
    return isinstance(error, EOFError | zlib.error) or (
        lzma is not None and isinstance(error, lzma.LZMAError)
    )


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Locate the bytes of `path` while they are read.

    Standard input (``-``, or a pipe under /dev/fd) is copied to a temporary file, because most
    formats are not read in one pass; its first bytes show its format.

    Raises
    ------
    InputError
        It is a folder, or of no known format.
    OSError
        It does not exist or cannot be read.
    """
    if path == STREAM:
        with _copied(getattr(sys.stdin, "buffer", None), "standard input") as source:
            yield source
    elif _piped(path):
        with path.open("rb") as pipe, _copied(pipe, str(path)) as source:
            yield source
    else:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give a file in it.")
        path.stat()  # a missing file has no format
        yield Source(path, *_by_suffix(path))


def _piped(path: Path) -> bool:
    """Return whether the shell made this path for a pipe: others, like a FIFO, are never waited for."""
    return str(path).startswith(("/dev/fd/", "/proc/self/fd/")) or str(path) == "/dev/stdin"


@contextmanager
def _copied(stream: BinaryIO | None, name: str) -> Iterator[Source]:
    if stream is None:
        raise InputError("Standard input is closed: there is nothing to read.")
    with tempfile.TemporaryDirectory(prefix="conclust-") as folder:
        path = Path(folder) / "input"
        with path.open("wb") as file:
            left = reading_limit()
            while content := stream.read(min(left + 1, 1 << 20)):
                left -= len(content)
                if left < 0:
                    raise InputError(f"{name} holds more than the {reading_limit():,} bytes read.")
                file.write(content)
        with path.open("rb") as file:
            first = file.read(10)
        packings = (one.name for one in _PACKINGS.values() if first.startswith(one.beginnings))
        packing = next(packings, "")
        kind = next((kind for begin, kind in _BEGINNINGS if first.startswith(begin)), "csv")
        yield Source(path, kind, name, packing)


def _by_suffix(path: Path) -> tuple[str, str, str]:
    """Return the kind, the name and the compression."""
    suffix = path.suffix.lower()
    packing = next((one.name for one in _PACKINGS.values() if one.ending == suffix), "")
    if packing:
        suffix = Path(path.stem).suffix.lower() or ".csv"
    kind = _KINDS.get(suffix)
    if packing and kind not in (None, "csv"):
        raise InputError(f"{path}: only CSV files may be compressed. Decompress it first.")
    if kind is None:
        which = f"with the suffix {suffix!r}" if suffix else "without a suffix"
        *packed, last = (f".csv{one.ending}" for one in _PACKINGS.values())
        suffixes = f"Known are {', '.join([*sorted(_KINDS), *packed])} and {last}"
        raise InputError(f"{path}: files {which} are not read. {_ELSEWHERE.get(suffix, suffixes)}.")
    return kind, str(path), packing
