"""Text files as columns: their encoding, separator and header are found, and what is damaged, ragged or ambiguous is refused.

PyArrow splits the lines; Python's strict reader goes over those with quotation marks before, and names lines at fault.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterator
from functools import partial, reduce
from itertools import islice
from typing import Any

from conclust._files.storage import refuse_file
from conclust._validation import count, missing_extra
from conclust.cli.reading.notation import EMPTY, NAMING, SEPARATORS, Reading, is_number, last_word
from conclust.cli.reading.sources import NO_TEXT, Source

# As Excel ("Unicode text") and `>` of PowerShell 5 write them.
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_WAY = "Give --header yes or --header no"
_MAX_FIELDS = 100_000
_SNIFFED_LINES = 49
_HEAD = 1000  # rows by which the first line is recognised as a header
_BLANKS = re.compile(r'("(?:[^"]|"")*")|(^[ \t]+|[ \t]+$)|[ \t]+', re.MULTILINE)


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
    names : tuple of str
        Names of the columns; "1", "2", ... where there is no header.
    has_header : bool
        Whether the first line was taken as a header.
    notes : list of str
        Remarks on the reading of the file.
    """

    def __init__(self, source: Source, how: Reading, *, labels: bool) -> None:
        self._refuse, self._labels = partial(refuse_file, source.name), labels
        self._text = self._decoded(source.read(), how.encoding)
        head = "".join(islice(_lines(self._text), _SNIFFED_LINES))
        self._separator = how.delimiter or _sniffed(head)
        undivided = how.delimiter is None and self._separator not in head
        if blank := self._separator == SEPARATORS["blank"]:
            self._text, head, self._separator = _tabbed(self._text), _tabbed(head), "\t"
        if how.header is not False and _lacks_a_name(_tried(head, self._separator)):
            self._text = self._separator + self._text
        cells = self._columns()
        first = [column[0].as_py() for column in cells]
        self.has_header = self._is_header(first, cells) if how.header is None else how.header
        said = "its first line read as the header" if self.has_header else "no header"
        self.notes = [said, *["columns separated by blanks"] * blank]
        self.columns = [column[self.has_header :] for column in cells]
        self.names = tuple(str(j + 1) for j in range(len(first)))
        if self.has_header:
            self.names = tuple(name.strip() for name in first)
            self._check_header(first)
        if undivided and len(cells) == 1:
            self._check_undivided(self.columns[0].to_pylist())

    def line(self, row: int) -> int:
        """Return the line at which a row ends, from 1."""
        return next(islice(self._rows(), row + self.has_header, None))[0]

    def _decoded(self, content: bytes, given: str | None) -> str:
        """Return the text, without a byte order mark."""
        if what := next((what for sign, what in NO_TEXT.items() if re.match(sign, content)), ""):
            self._refuse(what)
        mark = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
        encoding = mark or given or "utf-8"
        way = "utf-16-le or utf-16-be" if b"\0" in content else "cp1252 for Windows-1252"
        way = f"Give its encoding, for instance --encoding {way}, or save it as UTF-8"
        if encoding in ("utf-16", "utf-32") and not mark:
            self._refuse(f"has no byte order mark, by which {encoding} is read. {way}")
        try:
            text = content.decode(encoding)
        except UnicodeError as error:
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
            what = f"is not valid {encoding.removesuffix('-sig')} at line {line}"
            self._refuse(f"{what}: it is damaged, or in another encoding. {way}")
        if (nul := text.find("\0")) >= 0:
            line = text.count("\n", 0, nul) + 1
            self._refuse(f"holds a NUL character in line {line}, which no text has. {way}")
        if not text.strip():
            self._refuse("is empty")
        return text

    def _columns(self) -> list[Any]:
        """Return the cells of each column, as text."""
        try:
            import pyarrow
            from pyarrow import csv as arrow_csv
        except ImportError:
            missing_extra("pyarrow", "cli", "Reading text files")
        width, quoted = len(next(self._rows())[1]), '"' in self._text
        if width > _MAX_FIELDS:
            self._refuse(f"has {width} columns; at most {_MAX_FIELDS} are read")
        # PyArrow reads misplaced quotation marks, and leaves out empty lines.
        if width == 1 or quoted:
            deque(self._rows(), maxlen=0)
        content, names = self._text.encode(), [str(j) for j in range(width)]
        reading = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string()))
        parsing = arrow_csv.ParseOptions(delimiter=self._separator, newlines_in_values=quoted)
        size = min(len(content) + 1, 1 << 30)  # a row must not be larger than a block
        blocks = arrow_csv.ReadOptions(use_threads=False, block_size=size, column_names=names)
        try:
            file = pyarrow.BufferReader(content)
            return list(arrow_csv.read_csv(file, blocks, parsing, reading).columns)
        except pyarrow.ArrowInvalid as error:
            deque(self._rows(), maxlen=0)  # names the line at fault
            return self._refuse(f"is not a table ({error})")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows with the lines at which they end; refuse the first at fault."""
        reader, width, end = _split(self._text, self._separator), 0, 0
        try:
            for row in filter(None, reader):
                width = width or len(row)
                if len(row) != width:
                    sign = {s: name for name, s in SEPARATORS.items()}.get(self._separator, "")
                    what = f"line {reader.line_num} has {count(len(row), 'field')}, the first line has {width}"
                    self._refuse(
                        f"is ragged: {what} (separated by {sign or repr(self._separator)})"
                    )
                if width == 1 and 0 < end < reader.line_num - 1 - row[0].count("\n"):
                    self._refuse(f"is empty in line {end + 1}. Write NA for a missing label")
                end = reader.line_num
                yield end, row
        except csv.Error as error:
            what = "has a quotation mark that is misplaced or left open in the row that begins in"
            self._refuse(f"{what} line {end + 1} ({error})")

    def _is_header(self, first: list[str], cells: list[Any]) -> bool:
        """Decide by the first rows; refuse a line of which it is not clear."""
        rows = [*zip(*(column[1:_HEAD].to_pylist() for column in cells), strict=True)]
        number = partial(is_number, plain=self._labels)
        names = [name.strip() for name in first]
        numbers = [number(name) for name in names]
        if not rows:
            return not any(numbers)
        if len(names) > 2 and names == [str(k) for k in range(len(names))]:
            if len(names) > 10:
                return True
            self._refuse(f"has a first line that counts 0, 1, 2, ... as column names do. {_WAY}")
        text = [j for j, name in enumerate(names) if name and not numbers[j]]
        if not text:
            # A row of numbers is data, unless a nameless index column precedes it.
            return not self._labels and len(names) > 1 and not names[0] and all(numbers[1:])
        # A header of several names that comes again, as in files joined by cat, is refused later.
        different = 1 < len(names) == len(set(names))
        below = ([row for row in rows if row != tuple(first)] if different else []) or rows
        if any(all(number(row[j]) or row[j].strip() in EMPTY for row in below) for j in text):
            return True  # a name above numbers
        named = NAMING.fullmatch(last_word(names[0])) and not re.search(r"[0-9]", names[0])
        if not self._labels:
            # Years and numbers of genes are names, too, beside a column that names the objects.
            if text == [0] and named and len(names) > 1 and not number(below[0][0]):
                return True
            return len(text) == len(names) or (not names[0] and len(text) == len(names) - 1)
        if named and len(below) > 2 and 2 * len({row[0] for row in below}) >= len(below):
            return True  # above names of objects, which hardly repeat, unlike labels
        again = [any(row[j].strip() == name for row in rows) for j, name in enumerate(names)]
        labels = [again[j] for j in range(len(names)) if j not in text]
        if labels and all(labels):
            return False  # the first object, by its name and its labels
        words = {again[j] for j in text}
        if len(words) > 1:
            self._refuse(f"has a first line of names of columns, or of labels. {_WAY}")
        return words == {False}

    def _check_header(self, first: list[str]) -> None:
        """Refuse a header with a name twice or without one, without rows, or among the rows, as in files joined by cat."""
        from pyarrow import compute

        name, times = Counter(self.names).most_common(1)[0]
        if times > 1 and name:
            self._refuse(
                f"has the column name {name!r} more than once in its header. If its first line is an object, add --header no"
            )
        if "" in self.names[1:]:
            where = f"column {self.names.index('', 1) + 1} in its header"
            self._refuse(f"has no name for {where}; a separator may be one too many")
        if not len(self.columns[0]):
            self._refuse("has a header and no rows below it")
        if len(first) == 1 or all(map(is_number, first)):
            return
        equal = map(compute.equal, self.columns, first)
        if (row := compute.index(reduce(compute.and_, equal), True).as_py()) >= 0:
            what = f"has its header again in line {self.line(row)}, as if files were joined one after the other. Leave out the headers of all but the first. If this line is an object, give the columns other names, or --header no if the first line is one, too"
            self._refuse(f"{what}")

    def _check_undivided(self, cells: list[str]) -> None:
        """Refuse a single column of text whose cells seem to be whole rows."""
        texts = [text for cell in cells if (text := cell.strip()) not in EMPTY]
        parts = [re.split(r"[\s|:/,;]+", one) for one in texts]
        numbers = bool(texts) and all(is_number(part) for row in parts for part in row)
        if (numbers or 2 * len(set(texts)) > len(texts)) and all(len(row) > 1 for row in parts):
            what = f"is one column of text (such as {texts[0][:60]!r}) that seems to hold several. Lines have different numbers of fields, or a separator that is not one of those of --delimiter"
            self._refuse(f"{what}. If each line is one label, give --delimiter comma")


def _split(text: str, separator: str) -> Any:
    return csv.reader(_lines(text), delimiter=separator, strict=True)


def _lines(text: str) -> Iterator[str]:
    return (line[0] for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))


def _tabbed(text: str) -> str:
    """Return lines with one tab for each run of blanks, and none at their ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if '"' in text:  # names in quotation marks keep their blanks
        return _BLANKS.sub(lambda m: m[1] or ("" if m[2] is not None else "\t"), text)
    text = text.replace(" ", "\t")
    while "\t\t" in text:
        text = text.replace("\t\t", "\t")
    return text.replace("\n\t", "\n").replace("\t\n", "\n").strip("\t")


def _tried(text: str, separator: str) -> list[list[str]]:
    """Return the rows of lines; none if these are damaged."""
    try:
        return [row for row in _split(text, separator) if any(map(str.strip, row))]
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
        widths = {len(row) for row in below}
        whole = widths == set(map(len, rows))
        if len(widths) == 1 and widths != {1} and (whole or _lacks_a_name(rows)):
            cells = [cell for row in below for cell in row]
            fitting[separator] = whole, sum(map(is_number, cells)) / len(cells)
    if fitting:
        return max(fitting, key=lambda sign: fitting[sign])
    return max(",;\t", key=head.lstrip("\r\n").splitlines()[0].count)


def _lacks_a_name(rows: list[list[str]]) -> bool:
    """Return whether the first row is a header without the name of the first column, as R's write.table writes it."""
    below = rows[1:]
    return (
        len(below) > 1
        and all(len(row) == len(rows[0]) + 1 and row[-1].strip() not in EMPTY for row in below)
        and len({row[0] for row in below}) == len(below)
        and not any(map(is_number, rows[0]))
    )
