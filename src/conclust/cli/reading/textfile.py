"""Text files as columns: their encoding, separator and header are found, and what is damaged, ragged or ambiguous is refused.

PyArrow splits the lines. What it would read and a strict reader of CSV refuses (a misplaced quotation mark, an open
one) is looked for before; Python's reader names the line at fault.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NoReturn

from conclust._validation import missing_extra
from conclust.cli.reading.notation import (
    NAMING,
    SEPARATORS,
    is_missing,
    is_number,
    last_word,
)
from conclust.cli.reading.sources import NO_TEXT, Source
from conclust.exceptions import FileFormatError

# As Excel ("Unicode text") and `>` of PowerShell 5 write them.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MAX_FIELD = 1 << 17  # bytes; a longer one is a quotation mark left open
_MAX_FIELDS = 100_000
_SNIFFED_LINES = 50
_HEAD = 1000  # rows by which the first line is recognised as a header
_BLANKS = re.compile(rb'("(?:[^"]|"")*")|(^[ \t]+|[ \t]+$)|[ \t]+', re.MULTILINE)


class TextFile:
    """The cells of a text file.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    columns : list of ChunkedArray of string
        The cells of each column, without the header.
    names : tuple of str
        Names of the columns; "1", "2", ... where there is no header.
    has_header : bool
        Whether the first line was taken as a header.
    notes : tuple of str
        Remarks on the reading of the file.
    undivided : bool
        Whether no separator was found or given: every line is one cell.
    """

    def __init__(
        self,
        source: Source,
        *,
        labels: bool,
        delimiter: str | None = None,
        header: bool | None = None,
        encoding: str | None = None,
    ) -> None:
        self.name = source.name
        self._labels = labels
        content = self._decoded(source.read(), encoding)
        if (nul := content.find(b"\0")) >= 0:
            line = content.count(b"\n", 0, nul) + 1
            self._refuse(f"holds a NUL character in line {line}: it is not a text file")
        if re.search(rb"\S", content) is None:
            self._refuse("is empty")
        sample = list(islice(_lines(content), _SNIFFED_LINES))
        self._separator = delimiter or _sniffed(sample)
        self.undivided = delimiter is None and self._separator not in "".join(sample)
        blank = self._separator == SEPARATORS["blank"]
        if blank:
            content, self._separator = _tabbed(content), "\t"
            sample = list(islice(_lines(content), _SNIFFED_LINES))
        self._content = self._named_rows(content, sample) if header is not False else content
        cells = self._split()
        first = [column[0].as_py() for column in cells]
        below = list(zip(*(column[1:_HEAD].to_pylist() for column in cells), strict=True))
        self.has_header = self._is_header(first, below) if header is None else header
        self.names: tuple[str, ...] = tuple(str(column + 1) for column in range(len(first)))
        if self.has_header:
            self.names = self._checked_names(first)
            cells = [column[1:] for column in cells]
            if not len(cells[0]):
                self._refuse("has a header and no rows below it")
            self._refuse_header_below(first, cells)
        self.columns = cells
        header_read = "its first line read as the header" if self.has_header else "no header"
        self.notes = (header_read, *["columns separated by blanks"] * blank)

    def line(self, row: int) -> int:
        """Return the line at which a row ends, from 1."""
        ends = (line for line, _ in self._rows())
        return next(islice(ends, row + self.has_header, None))

    def _decoded(self, content: bytes, given: str | None) -> bytes:
        """Return the content in UTF-8, without a byte order mark."""
        beginning = content[:10]
        for signature, what in NO_TEXT.items():
            if beginning.startswith(signature):
                self._refuse(what)
        mark = next((mark for mark in _MARKS if beginning.startswith(mark)), None)
        encoding = given or "utf-8-sig" if mark is None else _MARKS[mark]
        if mark is None and given in ("utf-16", "utf-32"):
            self._refuse(
                f"does not begin with a byte order mark. Give --encoding {given}-le, or {given}-be"
            )
        # Most letters of a table are below U+0100, of which UTF-16 writes one byte as 0.
        for half, other, name in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
            zeros = beginning[half::2].count(0)
            if (
                mark is None
                and given is None
                and 0 not in beginning[other::2]
                and zeros * 2 >= 5 > 1
            ):
                self._refuse(
                    f"appears to be in UTF-16 without a byte order mark. Give --encoding {name}, or save it as UTF-8"
                )
        if encoding == "utf-8-sig" and content.isascii():
            return content
        try:
            text = content.decode(encoding)
        except UnicodeError as error:
            usual = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16"}.get(encoding, encoding)
            if "\n".encode(encoding)[-1:] != b"\n" or encoding.startswith(("utf-16", "utf-32")):
                reason = getattr(error, "reason", error)
                self._refuse(f"is damaged: it is not valid {usual} ({reason})")
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
            way = "Use --encoding to name its encoding"
            if encoding != given:
                way = "Give its encoding, for instance --encoding cp1252 for Windows-1252, or save it as UTF-8"
            self._refuse(f"is not in {usual}: line {line}. {way}")
        return content[3:] if encoding == "utf-8-sig" and mark else text.encode()

    def _named_rows(self, content: bytes, sample: list[str]) -> bytes:
        """Add the name of the first column, which R's write.table leaves out above names of rows."""
        rows = [row for row in _tried(sample, self._separator) if row][:-1] or [[]]
        width, first = len(rows[0]), rows[0]
        longer = rows[1:] and {len(row) for row in rows[1:]} == {width + 1}
        if not longer or any(map(is_number, first)) or any(is_missing(row[-1]) for row in rows[1:]):
            return content
        return self._separator.encode() + content

    def _split(self) -> list[Any]:
        """Return the cells, every column as text."""
        try:
            import pyarrow
            from pyarrow import csv as arrow_csv
        except ImportError:
            missing_extra("pyarrow", "cli", "Reading text files")
        width = len(next(iter(self._rows()))[1])
        if width > _MAX_FIELDS:
            self._refuse(f"has {width} columns; at most {_MAX_FIELDS} are read")
        if width == 1 and re.search(rb"[^\n\r](\r\n|\r|\n)(\r\n|\r|\n)+[^\n\r]", self._content):
            self._refuse_rows()
        quoted = b'"' in self._content
        if quoted and self._misplaced_quotes():
            self._refuse_rows()
        size = min(len(self._content) + 1, 1 << 30)
        names = [str(j) for j in range(width)]
        try:
            table = arrow_csv.read_csv(
                pyarrow.BufferReader(self._content),
                arrow_csv.ReadOptions(use_threads=False, block_size=size, column_names=names),
                arrow_csv.ParseOptions(delimiter=self._separator, newlines_in_values=quoted),
                arrow_csv.ConvertOptions(
                    check_utf8=False, column_types=dict.fromkeys(names, pyarrow.string())
                ),
            )
        except pyarrow.ArrowInvalid as error:
            self._refuse_rows()
            self._refuse(f"is not a table ({error})")
        if quoted and any(_longest(column) > _MAX_FIELD for column in table.columns):
            self._refuse_rows()
        return list(table.columns)

    def _misplaced_quotes(self) -> bool:
        """Return whether a field begins with a quotation mark and does not end with one."""
        sign = re.escape(self._separator.encode())
        whole = rb'(?<![^\n\r%b])"(?:[^"]|"")*"(?![^\n\r%b])' % (sign, sign)
        left = re.sub(whole, b"", self._content)
        return re.search(rb'(?:^|[\n\r%b])"' % sign, left) is not None

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows with the lines at which they end, by a strict reader; refuse the first that is not one."""
        reader = csv.reader(_lines(self._content), delimiter=self._separator, strict=True)
        begin = 1
        try:
            for row in reader:
                if row:
                    yield reader.line_num, row
                begin = reader.line_num + 1
        except csv.Error as error:
            what = f"has a misplaced quotation mark in line {begin} ({error})"
            if "field larger" in str(error):
                what = (
                    f"has a field of more than {csv.field_size_limit()} characters that begins in line {begin}: is a "
                    "quotation mark left open there?"
                )
            elif "unexpected end" in str(error):
                what = f"ends within a quoted field that begins in line {begin}: it is cut off, or a quotation mark is left open"
            self._refuse(what)

    def _refuse_rows(self) -> None:
        """Refuse the first row at fault, if there is one."""
        width, before = 0, 0
        for line, row in self._rows():
            width = width or len(row)
            if len(row) != width:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                self._refuse(
                    f"is ragged: line {line} has {fields}, the first line has {width} (separated by {_spelled(self._separator)})"
                )
            if width == 1 and before and line > before + 1 + row[0].count("\n"):
                self._refuse(f"is empty in line {before + 1}. Write NA for a missing label")
            before = line

    def _is_header(self, first: list[str], below: Sequence[tuple[str, ...]]) -> bool:
        """Decide by the first rows; raise an error if they are ambiguous."""
        number = partial(is_number, plain=self._labels)
        names = [name.strip() for name in first]
        numbers = [number(name) for name in names]
        if not below:
            return not any(numbers)
        columns = list(zip(*below, strict=True))
        counting = names == [str(k) for k in range(len(names))]
        if counting and len(names) > 10:
            return True
        if counting and len(names) > 2:
            self._refuse_ambiguous("counts 0, 1, 2, ... as column names do")
        if all(one or not name for one, name in zip(numbers, names, strict=True)):
            # A row of numbers is data, unless a nameless index column precedes it.
            return not self._labels and len(names) > 1 and not names[0] and all(numbers[1:])
        text = [column for column, one in enumerate(numbers) if not one and names[column]]
        if any(all(number(c) or is_missing(c) for c in columns[j]) for j in text):
            return True  # a name above numbers
        word = last_word(names[0]) in NAMING and not re.search(r"[0-9]", names[0])
        if len(text) == len(set(names)) > 1 and tuple(first) in below:
            # The header of each of several files: refused where it comes again.
            others = [row for row in below if row != tuple(first)]
            if any(others and all(number(row[j]) for row in others) for j in text):
                return True
            if word and 2 < len(others) <= 2 * len({row[0] for row in others}):
                return True  # above names of objects, which hardly repeat, unlike labels
        if not self._labels:
            # Years and numbers of genes are names, too, beside a column that names the objects.
            if text == [0] and word and len(names) > 1 and not number(columns[0][0]):
                return True
            return len(text) == len(names) or (not names[0] and len(text) == len(names) - 1)
        seen = [{cell.strip() for cell in column} for column in columns]
        labels = [name in seen[j] for j, name in enumerate(names) if j not in text]
        if labels and all(labels) and not word:
            return False  # the first object, by its name and its labels
        again = [names[j] in seen[j] for j in text]
        if any(again) and not all(again):
            self._refuse_ambiguous("may name the columns or be the labels of the first object")
        return not any(again)

    def _checked_names(self, first: list[str]) -> tuple[str, ...]:
        names = [name.strip() for name in first]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice and twice != [""]:
            self._refuse(f"has the column name {twice[0]!r} more than once in its header")
        if "" in names[1:]:
            place = names.index("", 1)
            hint = f" (is there a {_spelled(self._separator)} at the end of the line?)"
            last = hint if place == len(names) - 1 else ""
            self._refuse(f"has no name for column {place + 1} in its header{last}")
        return tuple(names)

    def _refuse_header_below(self, first: list[str], cells: list[Any]) -> None:
        """Refuse a header among the rows, as in files joined by cat: it would be one more object."""
        if len(first) == 1 or all(map(is_number, first)):
            return
        from pyarrow import compute

        same: Any = True
        for column, name in zip(cells, first, strict=True):
            same = compute.and_(compute.equal(column, name), same)
            if not compute.any(same).as_py():
                return
        line = self.line(compute.index(same, True).as_py())
        self._refuse(
            f"has its header again in line {line}, as if files were joined one after the other. Leave out the headers of all but "
            f"the first. If line {line} is an object, give the columns other names, or --header no if the first line is an object, too"
        )

    def _refuse_ambiguous(self, what: str) -> NoReturn:
        self._refuse(f"has a first line that {what}. Say which with --header yes or --header no")

    def _refuse(self, what: str) -> NoReturn:
        raise FileFormatError(f"{self.name} {what}.")


def _lines(content: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")


def _tabbed(content: bytes) -> bytes:
    """Return lines with one tab for each run of blanks, and none at their ends."""
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _BLANKS.sub(lambda m: m[1] or (b"" if m[2] is not None else b"\t"), content)


def _tried(lines: list[str], separator: str) -> list[list[str]]:
    """Return the rows of lines; none if these are damaged."""
    try:
        return list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return []


def _sniffed(sample: list[str]) -> str:
    """Return the separator that splits all lines into the same number of fields, most of which are numbers.

    If none does: the one that is most frequent in the first line; the rows are checked later.
    """
    lines = [line for line in sample if line.strip()]
    if len(sample) == _SNIFFED_LINES:
        lines = lines[:-1] or lines  # may be within a quoted field
    fitting: dict[str, tuple[bool, float]] = {}
    for separator in SEPARATORS.values():
        split, sign = lines, separator
        if separator == SEPARATORS["blank"]:
            split = [*_lines(_tabbed("".join(lines).encode()))]
            sign = "\t"
        rows = [row for row in _tried(split, sign) if row]
        header, widths = rows[:1], {len(row) for row in rows[1:] or rows}
        if len(widths) != 1 or widths == {1}:
            continue
        # R's write.table leaves out the name of the first column, which is of names.
        enough = len(rows) > 3 or '"' in lines[0]
        named = enough and len({row[0] for row in rows[1:]}) == len(rows) - 1
        if widths != {len(header[0])} and (widths != {len(header[0]) + 1} or not named):
            continue
        cells = [cell for row in rows[1:] or rows for cell in row]
        share = sum(map(is_number, cells)) / len(cells)
        fitting[separator] = widths == {len(header[0])}, share
    if fitting:
        return max(fitting, key=lambda sign: fitting[sign])
    signs = [sign for name, sign in SEPARATORS.items() if name not in ("pipe", "blank")]
    return max(reversed(signs), key=lines[0].count)


def _longest(column: Any) -> int:
    from pyarrow import compute

    return compute.max(compute.binary_length(column)).as_py() or 0


def _spelled(separator: str) -> str:
    return next((name for name, sign in SEPARATORS.items() if sign == separator), repr(separator))
