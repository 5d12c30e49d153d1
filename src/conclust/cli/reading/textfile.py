"""Bytes and text of an input: where they are, how they are packed and encoded, and how lines are divided.

What is damaged, ragged or ambiguous is refused. PyArrow splits the lines; Python's strict reader goes over those with
quotation marks before, and names lines at fault.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conclust._files.formats import WHOLE
from conclust._files.storage import open_regular, reading_limit, refuse_file
from conclust._validation import count, missing_extra
from conclust.cli.console import STREAM
from conclust.cli.reading.notation import EMPTY, NAMING, SEPARATORS, Reading, is_number, last_word
from conclust.exceptions import InputError

_PACKINGS = {".gz": (rb"\x1f\x8b", "gzip"), ".bz2": (rb"BZh[1-9]1AY&SY", "bz2")}
"""Compressions of text by their endings: first bytes, and Arrow's name."""
_NO_TEXT = {
    b"PK\x03\x04": "is a spreadsheet or a ZIP file. Save its table as CSV in UTF-8",
    b"PAR1\x15": "is a Parquet file. Give it a name that ends in .parquet",
    b"\x93NUMPY": "is an NPY file. Give it a name that ends in .npy",
    b"\x89HDF": "is HDF5. Write its table as CSV, of AnnData by adata.obs[[...]].to_csv(...)",
    b"MATLAB": "is of MATLAB. In Python: numpy.savez('file.npz', **scipy.io.loadmat('file.mat'))",
    b"X\n\0\0\0": "is an RDS file of R. In R: write.csv(readRDS('file.rds'), 'file.csv', row.names = FALSE)",
    b"<stata_dta>": "is of Stata. Export its table as CSV",
    b"ARROW1": "is a Feather file. Write its table as Parquet or CSV",
    b"\x80\x04": "is a pickle, which is never read. Save an array by numpy.save, a table as CSV or Parquet",
    b"\x80\x05": "is a pickle, which is never read. Save an array by numpy.save, a table as CSV or Parquet",
    b"{\n": "is JSON. Write its table as CSV",
    b'{"': "is JSON. Write its table as CSV",
    b"[{": "is JSON. Write its table as CSV",
    b"%%MatrixMarket": "is a sparse matrix. Write it as CSV with all cells, in Python or R",
    b"\xff\xfe\0\0": "is in UTF-32. Save it as CSV in UTF-8",
    b"\xfd7zXZ": "is compressed by xz. Unpack it in a pipe, 'xz -dc FILE | conclust COMMAND -'",
    # Its streams need no checksum, so that damage may pass.
    b"(\xb5/\xfd": "is compressed by zstd. Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'",
}
"""First bytes of files that are not text, whatever their names."""
# As Excel ("Unicode text") and `>` of PowerShell 5 write them.
_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_WAY = "Give --header yes or --header no"
_RAGGED = "Give --delimiter, or leave out lines that are not rows of the table, such as comments"
_MAX_FIELDS = 100_000
_SNIFFED_LINES = 49
_HEAD = 1000  # rows by which the first line is recognised as a header


@dataclass(frozen=True)
class Source:
    """One input: the file with its bytes, its format (a key of ``WHOLE``), its name in messages."""

    path: Path
    kind: str
    name: str

    def read(self) -> bytes:
        """Return the content, unpacked; refuse one that is damaged, larger than what is read, or no text."""
        with open_regular(self.path) as file:
            content = _content(file, self.name)
        for ending, (sign, codec) in _PACKINGS.items():
            if self.path.suffix.lower() == ending or re.match(sign, content):
                from pyarrow import BufferReader, CompressedInputStream

                try:
                    content = _content(
                        CompressedInputStream(BufferReader(content), codec), self.name
                    )
                except OSError as error:
                    refuse_file(self.name, f"is damaged or cut off: it does not unpack ({error})")
        for first in filter(content.startswith, _NO_TEXT):
            refuse_file(self.name, _NO_TEXT[first])
        return content


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
    name, ending = "standard input" if path == STREAM else str(path), path.suffix.lower()
    kind = next((form.kind for form in WHOLE.values() if ending in form.endings), "csv")
    with naming(name), ExitStack() as stack:
        # Pipes that the shell made; others, like a FIFO, are never waited for.
        if path == STREAM or re.match(r"/dev/fd/|/proc/self/fd/|/dev/stdin$", name):
            stdin = getattr(sys.stdin, "buffer", None)
            stream = stdin if path == STREAM else stack.enter_context(path.open("rb"))
            if stream is None:
                raise InputError(f"{name} is closed: there is nothing to read.")
            content = _content(stream, name)
            path = Path(stack.enter_context(TemporaryDirectory(prefix="conclust-"))) / "input"
            path.write_bytes(content)
            signs = {form.beginning: form.kind for form in WHOLE.values() if form.beginning}
            kind = next((signs[sign] for sign in signs if content.startswith(sign)), "csv")
        elif path.is_dir():
            raise InputError(f"{name} is a folder. Give a file in it.")
        yield Source(path, kind, name)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Begin refusals with the name of the input."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(name):
            raise
        raise InputError(f"{name}: {error}") from error


class TextFile:
    """The cells of a text file.

    Parameters
    ----------
    source : Source
        The file.
    how : Reading
        Its separator, header and encoding, where the user said them.
    labels : bool
        Whether it holds labels, which may be text, or points.

    Attributes
    ----------
    columns : list of ChunkedArray of string
        The cells of each column, without the header.
    names : list of str
        Names of the columns; "1", "2", ... where there is no header.
    has_header : bool
        Whether the first line was taken as a header.
    notes : list of str
        Remarks on the reading of the file.
    """

    def __init__(self, source: Source, how: Reading, *, labels: bool) -> None:
        self._refuse, self._labels = partial(refuse_file, source.name), labels
        text = self._decoded(source.read(), how.encoding)
        head = "".join(islice(_lines(text), _SNIFFED_LINES))
        sign = how.delimiter or _sniffed(head)
        blanks = ["columns separated by blanks"] * (sign == SEPARATORS["blank"])
        if blanks:
            text, head, sign = _tabbed(text), _tabbed(head), "\t"
        lacks = how.header is not False and _lacks_a_name(_tried(head, sign))
        self._text, self._separator = sign * lacks + text, sign
        cells = self._columns()
        first = [column[0].as_py() for column in cells]
        self.names = [name.strip() for name in first]
        self.has_header = self._is_header(first, cells) if how.header is None else how.header
        self.columns = [column[self.has_header :] for column in cells]
        if fault := self._fault(first, divided=how.delimiter is not None or sign in head):
            self._refuse(fault)
        if not self.has_header:
            self.names = [str(j + 1) for j in range(len(first))]
        said = "its first line read as the header" if self.has_header else "no header"
        self.notes = [said, *blanks]

    def line(self, row: int) -> int:
        """Return the line at which a row ends, from 1."""
        return next(islice(self._rows(), row + self.has_header, None))[0]

    def _decoded(self, content: bytes, given: str | None) -> str:
        """Return the text, without a byte order mark."""
        marked = (name for mark, name in _MARKS.items() if content.startswith(mark))
        encoding = next(marked, given or "utf-8")
        try:
            text, fault = content.decode(encoding).removeprefix("\ufeff"), "holds a NUL character"
            line = text.count("\n", 0, text.find("\0")) + 1 if "\0" in text else 0
        except UnicodeError as error:
            text, fault = "", f"is not valid {encoding}"
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        if line:
            way = "utf-16-le or utf-16-be" if b"\0" in content else "cp1252 for Windows-1252"
            what = f"{fault} at line {line}: it is damaged, or in another encoding"
            self._refuse(f"{what}. Give its encoding, for instance --encoding {way}")
        if not text.strip():
            self._refuse("is empty. Each object must have a line")
        return text

    def _columns(self) -> list[Any]:
        """Return the cells of each column, as text."""
        try:
            from pyarrow import ArrowInvalid, BufferReader, string
            from pyarrow import csv as arrow
        except ImportError:
            missing_extra("pyarrow", "cli", "Reading text files")
        width, quoted = len(next(self._rows())[1]), '"' in self._text
        if width > _MAX_FIELDS:
            self._refuse(f"has {width} columns; at most {_MAX_FIELDS} are read")
        # PyArrow reads misplaced quotation marks, and leaves out empty lines.
        if width == 1 or quoted:
            deque(self._rows(), maxlen=0)
        content, names = BufferReader(self._text.encode()), [str(j) for j in range(width)]
        converting = arrow.ConvertOptions(column_types=dict.fromkeys(names, string()))
        parsing = arrow.ParseOptions(delimiter=self._separator, newlines_in_values=quoted)
        size = min(content.size() + 1, 1 << 30)  # a row must not be larger than a block
        blocks = arrow.ReadOptions(use_threads=False, block_size=size, column_names=names)
        try:
            return list(arrow.read_csv(content, blocks, parsing, converting).columns)
        except ArrowInvalid as error:
            deque(self._rows(), maxlen=0)  # names the line at fault
            return self._refuse(f"is not a table ({error})")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows with the lines at which they end; refuse the first at fault."""
        reader = csv.reader(_lines(self._text), delimiter=self._separator, strict=True)
        width = end = 0
        try:
            for row in filter(None, reader):
                width, line = width or len(row), reader.line_num
                if len(row) != width:
                    sign = next(name for name, s in SEPARATORS.items() if s == self._separator)
                    what = f"line {line} has {count(len(row), 'field')}, the first line has {width}"
                    self._refuse(f"is ragged: {what} (separated by {sign}). {_RAGGED}")
                if width == 1 and 0 < end < line - 1 - row[0].count("\n"):
                    self._refuse(f"is empty in line {end + 1}. Write NA for a missing label")
                end = line
                yield end, row
        except csv.Error as error:
            what = "has a quotation mark that is misplaced or left open in the row that begins in"
            self._refuse(f"{what} line {end + 1} ({error})")

    def _is_header(self, first: list[str], cells: list[Any]) -> bool:
        """Decide by the first rows; refuse a line of which it is not clear."""
        rows = [*zip(*(column[1:_HEAD].to_pylist() for column in cells), strict=True)]
        number, names = partial(is_number, plain=self._labels), self.names
        text = [j for j, name in enumerate(names) if name and not number(name)]
        if not rows:
            return not any(map(number, names))
        beside = text == [0] or not names[0]  # a column that names the objects
        run = names[beside:]
        at = int(run[0]) if run and re.fullmatch("[0-9]{1,9}", run[0]) else -1
        if len(run) > (2 if at == 0 else 3) and run == [str(at + k) for k in range(len(run))]:
            if not beside and len(names) <= 10:
                self._refuse(
                    f"has a first line that counts {', '.join(run[:3])}, as names do. {_WAY}"
                )
            if not (
                beside and names[0] and self._labels
            ):  # else it may be an object with its labels
                return True
        if not text:  # a row of numbers is data, unless a nameless index column precedes it
            return not self._labels and len(names) > 1 and not names[0] and all(names[1:])
        # A header that comes again, as in files joined by cat, is refused later.
        different = len(names) > 1 and len(names) == len(set(names))
        below = [row for row in rows if not different or row != tuple(first)] or rows
        columns = [[cell.strip() for cell in column] for column in zip(*below, strict=True)]
        if any(all(number(cell) or cell in EMPTY for cell in columns[j]) for j in text):
            return True  # a name above numbers
        named = NAMING.fullmatch(last_word(names[0])) and not re.search(r"[0-9]", names[0])
        if not self._labels:
            # Years and numbers of genes are names, too, beside a column that names the objects.
            alone = text == [0] and named and len(names) > 1 and not number(columns[0][0])
            return bool(alone) or len(text) == len(names) - (not names[0])
        if named and len(below) > 2 and 2 * len({*columns[0]}) >= len(below):
            return True  # above names of objects, which hardly repeat, unlike labels
        again = [any(row[j].strip() == name for row in rows) for j, name in enumerate(names)]
        labels = [again[j] for j in range(len(names)) if j not in text]
        if labels and all(labels):
            return False  # the first object, by its name and its labels
        if len({again[j] for j in text}) > 1:
            self._refuse(f"has a first line of names of columns, or of labels. {_WAY}")
        return not again[text[0]]

    def _fault(self, first: list[str], *, divided: bool) -> str:
        """Return what is wrong with the header or with the columns; "" for nothing."""
        from pyarrow import compute

        if self.has_header:
            name, times = Counter(self.names).most_common(1)[0]
            if times > 1 and name:
                return f"has the column name {name!r} more than once in its header. If its first line is an object, add --header no"
            if "" in self.names[1:]:
                return f"has no name for column {self.names.index('', 1) + 1} in its header; a separator may be one too many"
            if not len(self.columns[0]):
                return "has a header and no rows below it"
            equal = reduce(compute.and_, map(compute.equal, self.columns, first))
            row = compute.index(equal, True).as_py()
            if row >= 0 and len(first) > 1 and not all(map(is_number, first)):
                return f"has its header again in line {self.line(row)}, as files joined one after the other have. Leave it out; if it is an object, give --header no"
        if len(first) == 1 and not divided:
            cells = map(str.strip, self.columns[0].to_pylist())
            texts = [text for text in cells if text not in EMPTY]
            parts = [re.split(r"[\s|:/,;]+", one) for one in texts]
            numbers = bool(texts) and all(is_number(part) for row in parts for part in row)
            if (numbers or 2 * len({*texts}) > len(texts)) and all(len(row) > 1 for row in parts):
                return f"is one column of text (such as {texts[0][:60]!r}) that seems to hold several. If each line is one label, give --delimiter comma"
        return ""


def _lines(text: str) -> Iterator[str]:
    return (line[0] for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))


def _tabbed(text: str) -> str:
    """Return lines with one tab for each run of blanks outside of quotation marks, and none at their ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    quoted, outside = r'("(?:[^"]|"")*")|[ \t]+', text.replace(" ", "\t")
    text = re.sub(quoted, lambda m: m[1] or "\t", text) if '"' in text else outside
    while "\t\t" in text:
        text = text.replace("\t\t", "\t")
    return text.replace("\n\t", "\n").replace("\t\n", "\n").strip("\t")


def _tried(text: str, separator: str) -> list[list[str]]:
    """Return the rows of lines; none if these are damaged."""
    try:
        rows = csv.reader(_lines(text), delimiter=separator, strict=True)
        return [row for row in rows if any(map(str.strip, row))]
    except csv.Error:
        return []


def _sniffed(head: str) -> str:
    """Return the separator that splits all lines into the same number of fields, most of which are numbers.

    If none does: the one that is most frequent in the first line; the rows are checked later.
    """
    fitting: dict[str, tuple[bool, float]] = {}
    for name, separator in SEPARATORS.items():
        rows = _tried(head, separator) if name != "blank" else _tried(_tabbed(head), "\t")
        below = rows[1:] or rows
        whole = len({len(row) for row in rows}) == 1
        if {len(row) for row in below} - {1} and (whole or _lacks_a_name(rows)):
            cells = [cell for row in below for cell in row]
            fitting[separator] = whole, sum(map(is_number, cells)) / len(cells)
    common = max(",;\t", key=head.lstrip("\r\n").splitlines()[0].count)
    return max(fitting, key=lambda sign: fitting[sign], default=common)


def _lacks_a_name(rows: list[list[str]]) -> bool:
    """Return whether the first row is a header without the name of the first column, as R's write.table writes it."""
    widths, names = {len(row) for row in rows[1:]}, {row[0] for row in rows[1:]}
    whole = len(rows) > 2 and widths == {len(rows[0]) + 1} and len(names) == len(rows) - 1
    filled = whole and all(row[-1].strip() not in EMPTY for row in rows[1:])
    return filled and not any(map(is_number, rows[0])) and not rows[0][0].startswith("#")
