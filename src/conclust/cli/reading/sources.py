"""Where the bytes of an input are, what format they have, and what they hold when unpacked."""

from __future__ import annotations

import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from conclust._files.formats import WHOLE
from conclust._files.storage import open_regular, reading_limit, refuse_file
from conclust.cli.console import STREAM
from conclust.exceptions import InputError

_PACKINGS: dict[str, tuple[bytes, str, str, tuple[int, ...]]] = {
    ".gz": (rb"\x1f\x8b", "zlib", "decompressobj", (zlib.MAX_WBITS | 16,)),
    ".bz2": (rb"BZh[1-9]1AY&SY", "bz2", "BZ2Decompressor", ()),
    ".xz": (rb"\xfd7zXZ", "lzma", "LZMADecompressor", ()),
}
"""Compressions of text by their endings: first bytes, and what unpacks one stream."""
# Its streams need no checksum, so that damage may pass.
_OF_ZSTD = "Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'"
NO_TEXT = {
    rb"\xff\xfe\0\0": "is in UTF-32. Save it as CSV in UTF-8",
    rb"PK\x03\x04": "is a ZIP file or a spreadsheet. Save its table as CSV in UTF-8",
    rb"PAR1\x15": "is a Parquet file. Give it a name that ends in .parquet",
    rb"\x28\xb5\x2f\xfd": f"is compressed by zstd. {_OF_ZSTD}",
    rb"\x93NUMPY": "is an NPY file. Give it a name that ends in .npy",
    **{s: f"is compressed. Give it a name that ends in {e}" for e, (s, *_) in _PACKINGS.items()},
}
"""First bytes of files that are not text, whatever their names."""
_BLOCK = 1 << 12  # packed bytes at once: these unpack to at most some 100 MB
_KINDS = {ending: one.kind for one in WHOLE.values() for ending in one.endings}
_PICKLE = "Pickles are never read. Save the array by numpy.save, a data frame as CSV or Parquet"
_ELSEWHERE = {
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "Save the sheet as CSV (UTF-8)"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    ".zst": _OF_ZSTD,
    **dict.fromkeys((".q", ".meanq", ".indfile"), "Give it by conclust combine --memberships"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "In R: write.csv(labels, 'file.csv')"),
    ".json": "In Python: conclust.Ensemble.from_communities(json.load(file))",
    ".mcl": "In Python: conclust.Ensemble.from_communities([[line.split() for line in open(file)] for file in files])",
    ".mat": "In Python: numpy.savez('file.npz', **scipy.io.loadmat('file.mat'))",
    ".h5ad": "In Python conclust.sc.tl.consensus(adata, keys) combines columns of labels. For the shell write these as CSV by adata.obs[[...]].to_csv(...), or the data to be clustered by adata.to_df().to_csv(...)",
}


@dataclass(frozen=True)
class Source:
    """One input: the file with its bytes, its format (a key of ``WHOLE``), its name in messages, its compression."""

    path: Path
    kind: str
    name: str
    packing: str = ""

    def read(self) -> bytes:
        """Return the content, unpacked; refuse one that is damaged or larger than what is read."""
        with open_regular(self.path) as file:
            return _content(file, self.name, self._unpacked if self.packing else iter)

    def _unpacked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Unpack streams that follow one another, as parallel compressors write them; zeros may be between."""
        _, module, name, settings = _PACKINGS[self.packing]
        try:
            unpacker = import_module(module)
        except ImportError as error:
            what = f"is compressed, and this Python cannot unpack it ({error}). Unpack it first"
            refuse_file(self.name, what)
        stream: Any = getattr(unpacker, name)(*settings)
        try:
            for block in blocks:
                while block := block.lstrip(b"\0") if stream.eof else block:
                    if stream.eof:
                        stream = getattr(unpacker, name)(*settings)
                    yield stream.decompress(block)
                    block = stream.unused_data if stream.eof else b""
            if not stream.eof:
                raise EOFError("it ends within a compressed stream")
        except (OSError, EOFError, zlib.error, getattr(unpacker, "LZMAError", EOFError)) as error:
            refuse_file(self.name, f"is damaged or cut off: it does not unpack ({error})")


def _content(stream: BinaryIO, name: str, unpacked: Callable[..., Iterator[bytes]] = iter) -> bytes:
    """Return what is in a stream; refuse more than is read. A call of read(limit) would ask for that much memory."""
    content, limit = bytearray(), reading_limit()
    for part in unpacked(iter(lambda: stream.read(_BLOCK), b"")):
        content += part
        if len(content) > limit:
            refuse_file(name, f"holds more than {limit:,} bytes, which is the limit")
    return bytes(content)


@contextmanager
def opened(path: Path, unknown: str = "") -> Iterator[Source]:
    """Locate the bytes of `path` while they are read, and name it in refusals of what it holds.

    `unknown` is the format of files with other endings than those known.

    Standard input (``-``, or a pipe under /dev/fd) is copied to a temporary file, because most
    formats are not read in one pass; its first bytes show its format.

    Raises
    ------
    InputError
        It is a folder, or of no known format.
    OSError
        It does not exist or cannot be read.
    """
    # Pipes that the shell made; others, like a FIFO, are never waited for.
    piped = re.match(r"/dev/fd/|/proc/self/fd/|/dev/stdin$", str(path)) is not None
    if path != STREAM and not piped:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give a file in it.")
        path.stat()  # a missing file has no format
        source = _by_suffix(path, unknown)
        with naming(source.name):
            yield source
        return
    name = "standard input" if path == STREAM else str(path)
    with path.open("rb") if piped else nullcontext(getattr(sys.stdin, "buffer", None)) as stream:
        if stream is None:
            raise InputError("Standard input is closed: there is nothing to read.")
        content = _content(stream, name)
    with tempfile.TemporaryDirectory(prefix="conclust-") as folder:
        copy = Path(folder) / "input"
        copy.write_bytes(content)
        packing = (end for end, (first, *_) in _PACKINGS.items() if re.match(first, content))
        begun = (f.kind for f in WHOLE.values() if f.beginning and content.startswith(f.beginning))
        with naming(name):
            yield Source(copy, next(begun, "csv"), name, next(packing, ""))


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Begin refusals with the name of the input."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(name):
            raise
        raise InputError(f"{name}: {error}") from error


def _by_suffix(path: Path, unknown: str) -> Source:
    suffix, packing = path.suffix.lower(), ""
    if suffix in _PACKINGS:
        suffix, packing = Path(path.stem).suffix.lower() or ".csv", suffix
    kind = _KINDS.get(suffix, unknown)
    if packing and kind not in ("", "csv"):
        raise InputError(f"{path}: only CSV files may be compressed. Decompress it first.")
    if not kind:
        which = f"with the suffix {suffix!r}" if suffix else "without a suffix"
        known = f"Known are {', '.join([*sorted(_KINDS), *(f'.csv{end}' for end in _PACKINGS)])}; give other text as standard input"
        raise InputError(f"{path}: files {which} are not read. {_ELSEWHERE.get(suffix, known)}.")
    return Source(path, kind, str(path), packing)
