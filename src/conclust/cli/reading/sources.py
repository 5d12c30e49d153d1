"""Where the bytes of an input are, what format they have, and what they hold when unpacked."""

from __future__ import annotations

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


def _gzip() -> Any:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def _bzip2() -> Any:
    return import_module("bz2").BZ2Decompressor()


def _xz() -> Any:
    return import_module("lzma").LZMADecompressor()


_PACKINGS: dict[str, tuple[str, tuple[bytes, ...], Callable[[], Any]]] = {
    "gzip": (".gz", (b"\x1f\x8b",), _gzip),
    "bzip2": (".bz2", tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)), _bzip2),
    "xz": (".xz", (b"\xfd7zXZ",), _xz),
}
"""Compressions of text: ending, first bytes, and what unpacks one stream."""
# Its streams need no checksum, so that damage may pass.
_OF_ZSTD = "Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'"
NO_TEXT = {
    b"\xff\xfe\x00\x00": "is in UTF-32. Save it as CSV in UTF-8",
    b"PK\x03\x04": "is a ZIP file or a spreadsheet. Save its table as CSV in UTF-8",
    b"PAR1\x15": "is a Parquet file. Give it a name that ends in .parquet",
    b"\x28\xb5\x2f\xfd": f"is compressed by zstd. {_OF_ZSTD}",
    b"\x93NUMPY": "is an NPY file. Give it a name that ends in .npy",
    **{
        beginning: f"is compressed by {name}. Give it a name that ends in {ending}"
        for name, (ending, beginnings, _) in _PACKINGS.items()
        for beginning in beginnings
    },
}
"""First bytes of files that are not text, whatever their names."""
_BLOCK = 1 << 12  # packed bytes at once: these unpack to at most some 100 MB
_KINDS = {ending: one.kind for one in WHOLE.values() for ending in one.endings}
_BEGINNINGS = [(one.beginning, one.kind) for one in WHOLE.values() if one.beginning]
_SHEET = "Save the sheet as CSV (UTF-8)"
_PICKLE = "Pickles are never read. Save the array by numpy.save, a data frame as CSV or Parquet"
_ELSEWHERE = {
    **dict.fromkeys((".xls", ".xlsx", ".ods"), _SHEET),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    ".zst": _OF_ZSTD,
    ".h5ad": "In Python conclust.sc.tl.consensus(adata, keys) combines columns of labels. For the shell write "
    "these as CSV by adata.obs[[...]].to_csv(...), or the data to be clustered by adata.to_df().to_csv(...)",
}


@dataclass(frozen=True)
class Source:
    """One input: the file with its bytes, its format (a key of ``WHOLE``), its name in messages, its compression."""

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

    def read(self) -> bytes:
        """Return the content, unpacked; refuse one that is damaged or larger than what is read."""
        content, size = [], 0
        try:
            with open_regular(self.path) as file:
                for part in self._parts(file):
                    content.append(part)
                    size += len(part)
                    if size > reading_limit():
                        limit = f"more than {reading_limit():,} bytes, the limit"
                        raise FileFormatError(f"{self} unpacks to {limit}.")
        except ImportError as error:
            what = f"which this Python cannot unpack ({error}). Unpack it first"
            raise FileFormatError(f"{self} is compressed by {self.packing}, {what}.") from error
        except Exception as error:
            if not _is_damage(error):
                raise
            what = f"is damaged or cut off: it does not unpack ({error})"
            raise FileFormatError(f"{self} {what}.") from error
        return content[0] if len(content) == 1 else b"".join(content)

    def _parts(self, file: BinaryIO) -> Iterator[bytes]:
        if not self.packing:
            yield from iter(lambda: file.read(1 << 30), b"")
        else:
            yield from _streams(file, _PACKINGS[self.packing][2])


def _streams(file: BinaryIO, decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """Unpack streams that follow one another, as parallel compressors write them; zeros may be between."""
    stream = None
    while packed := file.read(_BLOCK):
        while packed:
            if stream is None or stream.eof:
                packed = packed if stream is None else packed.lstrip(b"\0")
                if not packed:
                    break
                stream = decompressor()
            yield stream.decompress(packed)
            packed = stream.unused_data if stream.eof else b""
    if stream is None or not stream.eof:
        raise EOFError("it ends within a compressed stream")


def _is_damage(error: Exception) -> bool:
    """Return whether packed bytes caused an error; bz2 raises a bare OSError, unlike the disk."""
    if isinstance(error, OSError):
        return error.errno is None
    lzma = sys.modules.get("lzma")
    return isinstance(error, EOFError | zlib.error) or (
        lzma is not None and isinstance(error, lzma.LZMAError)
    )


@contextmanager
def opened(path: Path, unknown: str = "") -> Iterator[Source]:
    """Locate the bytes of `path` while they are read; `unknown`: the format of files with other endings.

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
    elif str(path).startswith(("/dev/fd/", "/proc/self/fd/")) or str(path) == "/dev/stdin":
        # Pipes that the shell made; others, like a FIFO, are never waited for.
        with path.open("rb") as pipe, _copied(pipe, str(path)) as source:
            yield source
    else:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give a file in it.")
        path.stat()  # a missing file has no format
        yield _by_suffix(path, unknown)


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
        packing = next((name for name, (_, b, _) in _PACKINGS.items() if first.startswith(b)), "")
        kind = next((kind for begin, kind in _BEGINNINGS if first.startswith(begin)), "csv")
        yield Source(path, kind, name, packing)


def _by_suffix(path: Path, unknown: str) -> Source:
    suffix = path.suffix.lower()
    packing = next((name for name, (ending, *_) in _PACKINGS.items() if ending == suffix), "")
    if packing:
        suffix = Path(path.stem).suffix.lower() or ".csv"
    kind = _KINDS.get(suffix, unknown)
    if packing and kind not in ("", "csv"):
        raise InputError(f"{path}: only CSV files may be compressed. Decompress it first.")
    if not kind:
        which = f"with the suffix {suffix!r}" if suffix else "without a suffix"
        *packed, last = (f".csv{ending}" for ending, *_ in _PACKINGS.values())
        known = f"Known are {', '.join([*sorted(_KINDS), *packed])} and {last}"
        raise InputError(f"{path}: files {which} are not read. {_ELSEWHERE.get(suffix, known)}.")
    return Source(path, kind, str(path), packing)
