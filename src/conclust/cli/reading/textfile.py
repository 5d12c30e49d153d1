"""The cells of a text file: its separator, its header, its columns of text. What is damaged, ragged or ambiguous is refused.

PyArrow splits the lines; Python's strict reader goes over the first and over those with quotation marks before, and
names lines at fault.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import islice
from typing import Any

from conclust._files.opening import Source
from conclust._files.storage import refuse_file
from conclust._validation import count, optional
from conclust.cli.reading.notation import EMPTY, NAMING, SEPARATORS, is_number, last_word
from conclust.cli.requested import Reading

_UNCLEAR = "of names, or of an object. Give --header yes or --header no"
_RAGGED = "Give --delimiter, or leave out lines that are not rows of the table, such as comments"
_MAX_FIELDS = 100_000
_SNIFFED_LINES = 49
_HEAD = 1000  # rows by which the first line is recognised as a header


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
    headed : bool
        Whether the first line was taken as a header.
    notes : list of str
        Remarks on the reading of the file.
    """

    def __init__(self, source: Source, how: Reading, *, labels: bool) -> None:
        self._refuse, text = partial(refuse_file, source.name), source.text(how.encoding)
        head = "".join(islice(_lines(text), _SNIFFED_LINES))
        sign = how.delimiter or _sniffed(head)
        blanks = ["columns separated by blanks"] * (sign == SEPARATORS["blank"])
        self._sign, self._text = ("\t", _tabbed(text)) if blanks else (sign, text)
        if how.header is not False and _lacks_a_name(_tried(head, sign)):
            self._text = self._sign + self._text
        rows = [row for _, row in islice(self._rows(), _HEAD)]
        header = _is_header(rows, labels=labels) if how.header is None else how.header
        if header is None:
            self._refuse(f"has a first line ({', '.join(rows[0])[:60]}) {_UNCLEAR}")
        self.headed, cells = header, self._columns(len(rows[0]))
        self.columns = [column[header:] for column in cells]
        self.names = [name.strip() if header else str(j) for j, name in enumerate(rows[0], 1)]
        self.notes = ["its first line read as the header" if header else "no header", *blanks]
        if fault := self._fault(rows[0], divided=how.delimiter is not None or sign in head):
            self._refuse(fault)

    def line(self, row: int) -> int:
        """Return the line at which a row ends, from 1."""
        return next(islice(self._rows(), row + self.headed, None))[0]

    def _columns(self, width: int) -> list[Any]:
        """Return the cells of each column, as text."""
        arrow = optional("pyarrow.csv", "cli", "Reading text files")
        from pyarrow import ArrowInvalid, BufferReader, string

        if width > _MAX_FIELDS:
            self._refuse(f"has {width} columns; at most {_MAX_FIELDS} are read")
        # PyArrow reads misplaced quotation marks, and leaves out empty lines.
        if (quoted := '"' in self._text) or width == 1:
            deque(self._rows(), maxlen=0)
        content, names = BufferReader(self._text.encode()), [str(j) for j in range(width)]
        converting = arrow.ConvertOptions(column_types=dict.fromkeys(names, string()))
        parsing = arrow.ParseOptions(delimiter=self._sign, newlines_in_values=quoted)
        size = min(content.size() + 1, 1 << 30)  # a row must not be larger than a block
        blocks = arrow.ReadOptions(use_threads=False, block_size=size, column_names=names)
        try:
            return list(arrow.read_csv(content, blocks, parsing, converting).columns)
        except ArrowInvalid as error:
            deque(self._rows(), maxlen=0)  # names the line at fault
            return self._refuse(f"is not a table ({error})")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows with the lines at which they end; refuse the first at fault."""
        reader = csv.reader(_lines(self._text), delimiter=self._sign, strict=True)
        width = end = 0
        try:
            for row in filter(None, reader):
                width = width or len(row)
                if len(row) != width:
                    sign = next(name for name, s in SEPARATORS.items() if s == self._sign)
                    what = f"line {reader.line_num} has {count(len(row), 'field')}, the first line has {width}"
                    self._refuse(f"is ragged: {what} (separated by {sign}). {_RAGGED}")
                if width == 1 and 0 < end < reader.line_num - 1 - row[0].count("\n"):
                    self._refuse(f"is empty in line {end + 1}. Write NA for a missing label")
                yield (end := reader.line_num), row
        except csv.Error as error:
            what = "has a quotation mark that is misplaced or left open in the row that begins in"
            self._refuse(f"{what} line {end + 1} ({error})")

    def _fault(self, first: list[str], *, divided: bool) -> str:
        """Return what is wrong with the header or with the columns; "" for nothing."""
        from pyarrow import compute

        if self.headed:
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
        cells = [] if divided or len(first) > 1 else map(str.strip, self.columns[0].to_pylist())
        texts = [cell for cell in cells if cell not in EMPTY]
        parts = [re.split(r"[\s|:/,;]+", cell) for cell in texts]
        several = bool(texts) and all(len(row) > 1 for row in parts)
        numbers = all(is_number(part) for row in parts for part in row)
        if several and (numbers or 2 * len({*texts}) > len(texts)):
            return f"is one column of text (such as {texts[0][:60]!r}) that seems to hold several. If each line is one label, give --delimiter comma"
        return ""


def _lines(text: str) -> Iterator[str]:
    return (line[0] for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))


def _tabbed(text: str) -> str:
    """Return lines with one tab for each run of blanks outside of quotation marks, and none at their ends."""
    parts = re.split(r'("(?:[^"]|"")*")', re.sub(r"\r\n?", "\n", text))
    parts[::2] = [re.sub("[ \t]+", "\t", outside) for outside in parts[::2]]
    return "".join(parts).replace("\n\t", "\n").replace("\t\n", "\n").strip("\t")


def _tried(text: str, sign: str) -> list[list[str]]:
    """Return the rows of lines; none if these are damaged."""
    text, sign = (_tabbed(text), "\t") if sign == SEPARATORS["blank"] else (text, sign)
    try:
        rows = csv.reader(_lines(text), delimiter=sign, strict=True)
        return [row for row in rows if any(map(str.strip, row))]
    except csv.Error:
        return []


def _sniffed(head: str) -> str:
    """Return the separator that splits all lines into the same number of fields, most of which are numbers.

    If none does: the one that is most frequent in the first line; the rows are checked later.
    """
    fitting: dict[str, tuple[bool, float]] = {}
    for sign in SEPARATORS.values():
        rows = _tried(head, sign)
        below = rows[1:] or rows
        whole = len({len(row) for row in rows}) == 1
        if {len(row) for row in below} - {1} and (whole or _lacks_a_name(rows)):
            cells = [cell for row in below for cell in row]
            fitting[sign] = whole, sum(map(is_number, cells)) / len(cells)
    common = max(",;\t", key=head.lstrip("\r\n").splitlines()[0].count)
    return max(fitting, key=lambda sign: fitting[sign], default=common)


def _lacks_a_name(rows: Sequence[list[str]]) -> bool:
    """Return whether the first row is a header without the name of the first column, as R's write.table writes it."""
    widths, names = {len(row) for row in rows[1:]}, {row[0] for row in rows[1:]}
    whole = len(rows) > 2 and widths == {len(rows[0]) + 1} and len(names) == len(rows) - 1
    filled = whole and all(row[-1].strip() not in EMPTY for row in rows[1:])
    return filled and not any(map(is_number, rows[0])) and not rows[0][0].startswith("#")


def _is_header(rows: Sequence[list[str]], *, labels: bool) -> bool | None:
    """Return whether the first line has names: of another kind than the cells below, or that nothing repeats; None: not clear."""
    number = partial(is_number, plain=labels)
    names, *below = ([cell.strip() for cell in row] for row in rows)
    text = [j for j, name in enumerate(names) if name and not number(name)]
    if not below:
        return not any(map(number, names))
    beside = text == [0] or not names[0]  # a column that names the objects
    run = names[beside:]
    at = int(run[0]) if run and re.fullmatch("[0-9]{1,9}", run[0]) else -1
    counts = len(run) > 2 + (at != 0) and run == [*map(str, range(at, at + len(run)))]
    if counts and not (labels and text == [0]):  # that may be an object with its labels
        return beside or len(names) > 10 or None
    if not text:  # a row of numbers is data, unless a nameless index column precedes it
        return not labels and len(names) > 1 and not names[0] and all(names[1:])
    # A header that comes again, as in files joined by cat, is refused later.
    different = len(names) > 1 and len(names) == len({*names})
    others = [row for row in below if not different or row != names] or below
    columns = [*zip(*others, strict=True)]
    above = any(all(number(cell) or cell in EMPTY for cell in columns[j]) for j in text)
    named = NAMING.fullmatch(last_word(names[0])) and not re.search(r"[0-9]", names[0])
    hardly = 2 * len({*columns[0]}) >= len(others) and (labels or not number(columns[0][0]))
    if above or (named and hardly):
        return True  # names above numbers, or above names of objects, which hardly repeat
    again = [labels and name in cells for name, *cells in zip(names, *below, strict=True)]
    plain = [again[j] for j, name in enumerate(names) if j not in text and (labels or j or name)]
    if plain and (not labels or all(plain)):
        return False  # the first object, by its name and its labels
    return not again[text[0]] if len({again[j] for j in text}) == 1 else None
