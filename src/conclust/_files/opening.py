"""Opens an input file of any format, or standard input: finds its bytes, unpacks and decodes them, and names it in refusals."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from conclust._files.formats import ARRAYS, NOT_READ, PACKINGS, WHOLE, Format
from conclust._files.parquetfile import index_columns
from conclust._files.storage import open_regular, read_npz, reading_limit, refuse_file
from conclust._validation import shown
from conclust.exceptions import InputError

# As Excel ("Unicode text") and `>` of PowerShell 5 write them.
_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Source:
    """One input: the file with its bytes, its format, its name in messages."""

    path: Path
    form: Format
    name: str

    @property
    def is_ensemble(self) -> bool:
        """Whether it is a file of `Ensemble.save`."""
        npz = self.form.kind == "npz"
        return npz and "ensemble" in str(read_npz(self.path)[1].get("format", ""))

    def content(self) -> bytes:
        """Return the content, unpacked; refuse one that is damaged, larger than what is read, or no text."""
        if self.form.read is not None:
            refuse_file(self.name, f"is {self.form.title}, and here only text is read")
        with open_regular(self.path) as file:
            content = _content(file, self.name)
        for ending, (sign, codec) in PACKINGS.items():
            if self.path.suffix.lower() == ending or re.match(sign, content):
                from pyarrow import BufferReader, CompressedInputStream

                try:
                    packed = CompressedInputStream(BufferReader(content), codec)
                    content = _content(packed, self.name)
                except OSError as error:
                    refuse_file(self.name, f"is damaged or cut off: it does not unpack ({error})")
        for first in filter(content.startswith, NOT_READ):
            refuse_file(self.name, NOT_READ[first])
        return content

    def text(self, encoding: str | None) -> str:
        """Return the content as text, without a byte order mark, which says more than the encoding given."""
        content, text, fault = self.content(), "", ""
        marked = (name for mark, name in _MARKS.items() if content.startswith(mark))
        encoding = next(marked, encoding or "utf-8")
        try:
            text = content.decode(encoding).removeprefix("\ufeff")
            if "\0" in text:
                fault, line = "holds a NUL character", text[: text.index("\0")].count("\n") + 1
        except UnicodeError as error:
            fault = f"is not valid {encoding}"
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        if fault:
            way = "utf-16-le or utf-16-be" if b"\0" in content else "cp1252 for Windows-1252"
            what = f"{fault} at line {line}: it is damaged, or in another encoding"
            refuse_file(self.name, f"{what}. Give its encoding, for instance --encoding {way}")
        if not text.strip():
            refuse_file(self.name, "is empty. Each object must have a line")
        return text

    def columns(self, what: str) -> tuple[list[str], list[Any], set[str]]:
        """Return the names and the columns in a file that is not text, and the names that pandas wrote as the index."""
        table = self.array(what)
        if self.form.has_columns:
            return table.column_names, table.columns, index_columns(table.schema)
        table = table[:, np.newaxis] if what != "points" and table.ndim == 1 else table
        if table.ndim != 2 or table.dtype.kind not in "biuf" + "US" * what.startswith("label"):
            got = f"Got shape {table.shape} and dtype {table.dtype} instead"
            raise InputError(f"{what} are arrays of numbers with a row per object. {got}.")
        return [str(j + 1) for j in range(table.shape[1])], [*table.T], set()

    def array(self, what: str) -> Any:
        """Return the only array of a file, or the one with a usual name for `what`; of Parquet its table."""
        read: Any = self.form.read
        if self.form.holds == "frame":
            return read(self.path, self.name)
        if self.form.holds == "array":
            return read(self.path, mmap=what != "points")
        content, _ = read(self.path)
        if {"codes", "cluster_counts"} <= content.keys():
            raise InputError("it is a saved ensemble, which is read by 'conclust combine'.")
        usual = ARRAYS[what].split()
        found = [name for name in usual if name in content][:1] or [*content]
        if len(found) != 1:
            way = f"Save one alone, by numpy.save, or by one of the names {', '.join(usual)}"
            raise InputError(f"it holds {len(content)} arrays: {shown([*content])}. {way}.")
        return content[found[0]]


def _content(stream: Any, name: str) -> bytes:
    """Return what is in a stream; refuse more than is read. A call of read(limit) would ask for that much memory."""
    content, limit = bytearray(), reading_limit()
    for part in iter(lambda: stream.read(1 << 16), b""):
        content += part
        if len(content) > limit:
            refuse_file(name, f"holds more than {limit:,} bytes, which is the limit")
    return bytes(content)


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Locate the bytes of `path` while they are read, and name it in refusals of what it holds.

    A file with another ending than those known is read as text. Standard input (``-``, or a pipe under /dev/fd) is
    copied to a temporary file, because most formats are not read in one pass; its first bytes show its format.

    Raises
    ------
    InputError
        It is a folder.
    OSError
        It does not exist or cannot be read.
    """
    name, ending = "standard input" if str(path) == "-" else str(path), path.suffix.lower()
    form = next((one for one in WHOLE.values() if ending in one.endings), WHOLE["csv"])
    with naming(name), ExitStack() as stack:
        # Pipes that the shell made; others, like a FIFO, are never waited for.
        if str(path) == "-" or re.match(r"/dev/fd/|/proc/self/fd/|/dev/stdin$", name):
            stdin = getattr(sys.stdin, "buffer", None)
            stream = stdin if str(path) == "-" else stack.enter_context(path.open("rb"))
            if stream is None:
                raise InputError(f"{name} is closed: there is nothing to read.")
            content = _content(stream, name)
            path = Path(stack.enter_context(TemporaryDirectory(prefix="conclust-"))) / "input"
            path.write_bytes(content)
            signed = (one for one in WHOLE.values() if one.beginning)
            form = next((one for one in signed if content.startswith(one.beginning)), WHOLE["csv"])
        elif path.is_dir():
            raise InputError(f"{name} is a folder. Give a file in it.")
        yield Source(path, form, name)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Begin refusals with the name of the input."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(name):
            raise
        raise InputError(f"{name}: {error}") from error
