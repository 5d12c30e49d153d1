"""CSV files of points or labels: read strictly, with line and column in every error.

Comma, semicolon or tab; UTF-8, UTF-16 with a byte order mark, or the encoding given; quoted fields. What is damaged,
ragged or ambiguous is refused, never guessed at: a row lost or shifted would not be noticed later.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, islice
from typing import Any, BinaryIO, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import PathLike, open_regular
from conclust._types import Floats
from conclust.cli.reading.cells import (
    EMPTY,
    NAMING,
    from_comma,
    is_missing,
    is_number,
    last_word,
    to_number,
    whole,
)
from conclust.cli.reading.encodings import encoding_of, undecodable
from conclust.cli.reading.sources import NO_TEXT, DamagedError, Source
from conclust.exceptions import FileFormatError, InputError

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}

_MAX_LINE = 1 << 24  # characters
_MAX_FIELDS = 100_000
_SNIFFED_LINES = 50
_CHUNK_FIELDS = 1 << 18
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
# Numbers with thousands separators, or with the other decimal sign; neither dates nor versions.
_OTHER_NUMBER = re.compile(
    r"[+-]?([0-9]+[.,][0-9]+|[0-9]{1,3}([.,'\u2019 \u00a0\u202f])[0-9]{3}(\2[0-9]{3})*([.,][0-9]+)?)([eE][+-]?[0-9]+)?"
)
_SPACES = " \t\n\r\x0b\x0c"

Rows = list[list[str]]

FILLING = "Give --impute median to fill such cells, or --impute drop to leave such objects out."
"""Advice on empty cells, for commands that have --impute."""


class CsvRows:
    r"""The rows of a CSV file, all of the same length, in chunks; a context that closes the file.

    Parameters
    ----------
    path : Source or path-like
        The file.
    labels : bool
        Whether the columns are labels (where text is data) rather than numbers.
    delimiter : {",", ";", "\t"}, default=None
        None: detected from the first lines.
    header : bool, default=None
        Whether the first line holds the names of the columns. None: detected.
    decimal : {"point", "comma"}, default="point"
        Decimal separator.
    na : tuple of str, default=()
        Further spellings of an empty cell, besides NA and the like.
    encoding : str, default=None
        Encoding of a file without a byte order mark. None: UTF-8.

    Attributes
    ----------
    names : tuple of str
        Names of the columns; "1", "2", ... where there is no header.
    has_header : bool
        Whether the first line was taken as a header.
    lines : array of int
        Line at which each row read so far ends, from 1.
    """

    def __init__(
        self,
        path: Source | PathLike,
        *,
        labels: bool,
        delimiter: str | None = None,
        header: bool | None = None,
        decimal: str = "point",
        na: tuple[str, ...] = (),
        encoding: str | None = None,
    ) -> None:
        self.path = path
        self._given_encoding = encoding
        self.empty = EMPTY.union(na)
        self.coded = bool(na)
        self.to_number = from_comma if decimal == "comma" else to_number
        self._plain = decimal == "point"
        self._labels = labels
        self._open(delimiter, header)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def rewind(self) -> None:
        """Restart at the first row."""
        self._file.close()
        self._open(self.delimiter, self.has_header)

    def _open(self, delimiter: str | None, header: bool | None) -> None:
        self.lines = array("q")
        self.odd = (
            False  # whether any line so far has a cell that float() accepts and this reader rejects
        )
        self._n_lines = 0
        binary: Any = _open(self.path)
        self._file = binary
        try:
            self._encoding = self._read_encoding(binary)
            self._file = io.TextIOWrapper(binary, encoding=self._encoding, newline="")
            self._read_first_rows(delimiter, header)
        except BaseException:
            self._file.close()
            raise

    def _read_encoding(self, binary: BinaryIO) -> str:
        try:
            beginning = binary.read(10)
        except DamagedError as error:
            self._refuse(f"is damaged or cut off: it does not unpack ({error})")
        binary.seek(0)
        for signature, what in NO_TEXT.items():
            if beginning.startswith(signature):
                self._refuse(what)
        try:
            return encoding_of(beginning, self._given_encoding)
        except ValueError as error:
            self._refuse(str(error))

    def _read_first_rows(self, delimiter: str | None, header: bool | None) -> None:
        lines = self._read_lines()
        sample = list(islice(lines, _SNIFFED_LINES))
        if not "".join(sample).strip():
            self._refuse("is empty")
        self.delimiter = delimiter or _sniff(sample, comma_in_numbers=not self._plain)
        self._undivided = self.delimiter not in sample[0]
        self._remaining = chain(sample, lines)
        self._rows = self._read_rows(self._remaining, names=header is not False)
        first = next(self._rows)
        self._width = len(first)
        if self._width > _MAX_FIELDS:
            self._refuse(f"has {self._width} columns; at most {_MAX_FIELDS} are read")
        self._header: list[str] | None = None
        self._first = self._take()
        self.has_header = self._is_header(first) if header is None else header
        if self.has_header:
            self.names = self._check_names(first)
            del self.lines[0]
        else:
            self.names = tuple(str(column + 1) for column in range(self._width))
            self._first.insert(0, first)
        if not self._first:
            self._refuse("has a header and no rows below it")
        # A header of numbers, such as 0,1,2 by pandas, may be repeated by the labels of an object.
        is_text = not all(map(self.is_number, first))
        self._header = first if self.has_header and self._width > 1 and is_text else None
        self._refuse_header_below(self._first)

    def chunks(self) -> Iterator[tuple[int, Rows]]:
        """Yield (number of the first row, rows) until the file ends; once only."""
        start, rows = 0, self._first
        while rows:
            yield start, rows
            start += len(rows)
            rows = self._take()

    def table(self, dtype: type[Any]) -> NDArray[Any] | None:
        """Read all rows as one table of int or float, in a quarter of the time.

        Returns None unless every place has a plain number. The file is then read again row by row, which
        names the cell at fault.
        """
        if not self._plain or self.coded:
            return None
        cells = chain.from_iterable(self._first)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                block = np.fromiter(map(dtype, cells), dtype=dtype).reshape(-1, self._width)
                line = next(self._remaining, None)
                if line is not None:
                    lines = chain([line], self._remaining)
                    remaining = np.loadtxt(
                        lines, dtype=dtype, delimiter=self.delimiter, comments=None, ndmin=2
                    )
                    block = np.concatenate([block, remaining])
        except FileFormatError:
            raise
        except (ValueError, OverflowError, Warning):
            return None
        # A single column may hold empty lines, which would be silently dropped here.
        return block if self._width > 1 and not self.odd else None

    def head(self, column: int) -> list[str]:
        """Return the cells of a column in the first rows."""
        return [row[column].strip() for row in self._first]

    def is_number(self, text: str) -> bool:
        """Return whether a cell is a number, with the decimal sign of this file."""
        try:
            self.to_number(text)
        except ValueError:
            return False
        return True

    def is_empty(self, text: str) -> bool:
        """Return whether a cell marks a missing value in this file."""
        return text.strip() in self.empty

    def place(self, row: int, column: int) -> str:
        """Return the position of a cell: line and column."""
        name = f" ({self.names[column]!r})" if self.has_header else ""
        return f"line {self.lines[row]}, column {column + 1}{name}"

    def _take(self) -> Rows:
        rows = list(islice(self._rows, max(1, _CHUNK_FIELDS // self._width)))
        self._refuse_header_below(rows)
        return rows

    def _refuse_header_below(self, rows: Rows) -> None:
        """Refuse a header among the rows, as in files joined by cat: it would be one more object."""
        if self._header is not None and self._header in rows:
            line = self.lines[rows.index(self._header) - len(rows)]
            self._refuse(
                f"has its header again in line {line}, as if files were joined one after the other. Leave out the "
                f"headers of all but the first. If line {line} is an object, give the columns other names, or --header no "
                "if the first line is an object, too"
            )

    def _read_lines(self) -> Iterator[str]:
        while True:
            try:
                try:
                    line = self._file.readline(_MAX_LINE + 1)
                except UnicodeError as error:
                    with _open(self.path) as file:
                        what = undecodable(file, self._encoding, self._given_encoding, error)
                    self._refuse(what)
            except DamagedError as error:
                self._refuse(f"is damaged or cut off: it does not unpack ({error})")
            if not line:
                return
            self._n_lines += 1
            if len(line) > _MAX_LINE:
                self._refuse(f"has more than {_MAX_LINE} characters in line {self._n_lines}")
            if "\0" in line:
                self._refuse(
                    f"holds a NUL character in line {self._n_lines}: it is not a text file"
                )
            if "_" in line or not line.isascii():
                self.odd = True
            yield line

    def _read_rows(self, lines: Iterator[str], *, names: bool) -> Iterator[list[str]]:
        """Yield rows of equal width; names: whether the first one may be a header."""
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        width = 0
        header: tuple[int, list[str]] | None = None
        empty_at = 0
        while True:
            begin = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                self._refuse_row(begin, str(error))
            if row is None:
                if header is not None:
                    self.lines.append(header[0])
                    yield header[1]
                return
            if not row:
                empty_at = empty_at or reader.line_num
                continue
            if names:
                # Kept until the width of the second row is known: R's write.table leaves out the name of the names of rows.
                names, header = False, (reader.line_num, row)
                width, empty_at = len(row), 0
                continue
            if header is not None:
                longer = len(row) == width + 1 and not is_missing(row[-1])
                unnamed = longer and not any(map(self.is_number, header[1]))
                line, first = header
                header, width = None, width + unnamed
                self.lines.append(line)
                yield ["", *first] if unnamed else first
            if not width:
                width, empty_at = len(row), 0
            elif len(row) != width:
                self._refuse(
                    f"is ragged: line {reader.line_num} has {_fields(len(row))}, the first line has "
                    f"{width} (separated by {_spell(self.delimiter)})"
                )
            if empty_at and width == 1:
                self._refuse(f"is empty in line {empty_at}. Write NA for a missing label")
            self.lines.append(reader.line_num)
            yield row

    def _refuse_row(self, line: int, error: str) -> NoReturn:
        if "field larger" in error:
            limit = csv.field_size_limit()
            self._refuse(
                f"has a field of more than {limit} characters that begins in line {line}: is a "
                "quotation mark left open there?"
            )
        if "unexpected end" in error:
            self._refuse(
                f"ends within a quoted field that begins in line {line}: it is cut off, or a "
                "quotation mark is left open"
            )
        if line == 1 and self._undivided:
            self._refuse(
                "has no comma, semicolon or tab between the columns. Write it with one of these (in R: write.csv)"
            )
        self._refuse(f"has a misplaced quotation mark in line {line} ({error})")

    def _is_header(self, first: list[str]) -> bool:
        """Decide by the first rows; raise an error if they are ambiguous."""
        columns = list(zip(*self._first, strict=True))
        if not columns:
            return not any(map(self.is_number, first))
        names = [name.strip() for name in first]
        numbers = [self.is_number(name) for name in names]
        if names == [str(k) for k in range(len(names))] and len(names) > 2:
            self._refuse_ambiguous("counts 0, 1, 2, ... as column names do")
        if all(number or not name for number, name in zip(numbers, names, strict=True)):
            # A row of numbers is data, unless a nameless index column precedes it.
            return not self._labels and len(names) > 1 and not names[0] and all(numbers[1:])
        text = [column for column, number in enumerate(numbers) if not number and names[column]]
        above = [
            names[j] for j in text if all(self.is_number(c) or self.is_empty(c) for c in columns[j])
        ]
        word = last_word(names[0]) in NAMING and not re.search(r"[0-9]", names[0])
        if len(text) == len(set(names)) > 1 and first in self._first:
            # The header of each of several files: refused where it comes again.
            below = [row for row in self._first if row != first]
            above += [names[j] for j in text if below and all(self.is_number(r[j]) for r in below)]
            if word and 2 < len(below) <= 2 * len({row[0] for row in below}):
                return True  # above names of objects, which hardly repeat, unlike labels
        if above and not (self._labels or word) and all(map(_OTHER_NUMBER.fullmatch, above)):
            self._refuse_ambiguous("may name the columns or hold numbers with another decimal sign")
        if above:
            return True  # a name above numbers
        if not self._labels:
            # Years and numbers of genes are names, too, beside a column that names the objects.
            years = all(re.fullmatch(r"[0-9]+", name, re.ASCII) for name in names[1:])
            if text == [0] and word and years and not self.is_number(columns[0][0]):
                return True
            return len(text) == len(names) or (not names[0] and len(text) == len(names) - 1)
        again = [names[j] in {cell.strip() for cell in columns[j]} for j in text]
        if any(again) and not all(again):
            self._refuse_ambiguous("may name the columns or be the labels of the first object")
        return not any(again)

    def _refuse_ambiguous(self, what: str) -> NoReturn:
        self._refuse(f"has a first line that {what}. Say which with --header yes or --header no")

    def _check_names(self, first: list[str]) -> tuple[str, ...]:
        names = [name.strip() for name in first]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            self._refuse(f"has the column name {twice[0]!r} more than once in its header")
        if "" in names[1:]:
            place = names.index("", 1)
            last = place == len(names) - 1
            hint = f" (is there a {_spell(self.delimiter)} at the end of the line?)" if last else ""
            self._refuse(f"has no name for column {place + 1} in its header{hint}")
        return tuple(names)

    def _refuse(self, what: str) -> NoReturn:
        self._file.close()
        raise FileFormatError(f"{self.path} {what}.")


def read_number_columns(
    rows: CsvRows, columns: Sequence[int], texts: Sequence[int], *, gaps: bool = False
) -> tuple[Floats, list[list[str]]]:
    """Read finite numbers of `columns`, and the text of the columns `texts`.

    Parameters
    ----------
    rows : CsvRows
        The file.
    columns, texts : sequence of int
        Columns with numbers, and columns returned as text.
    gaps : bool, default=False
        Whether cells may be empty, or NA: they are NaN.

    Returns
    -------
    numbers : ndarray of shape (n_rows, len(columns))
    texts : list of lists of str

    Raises
    ------
    InputError
        A cell is empty or not a finite number: the message has line, column and content.
    """
    if not texts:
        table = rows.table(float)
        if table is not None and np.isfinite(table).all():
            return _in_order(table, columns), []
        rows.rewind()
    blocks = []
    texts_read: list[list[str]] = [[] for _ in texts]
    for start, chunk in rows.chunks():
        cells = list(zip(*chunk, strict=True))
        block = np.empty((len(chunk), len(columns)))
        for u, j in enumerate(columns):
            block[:, u] = _numbers(rows, cells[j], gaps, start, j)
        blocks.append(block)
        for text, j in zip(texts_read, texts, strict=True):
            text.extend(cells[j])
    return np.concatenate(blocks), texts_read


def _in_order(table: NDArray[Any], columns: Sequence[int]) -> NDArray[Any]:
    """Return the chosen columns in the requested order; the table itself if these are all, as in the file."""
    return table if list(columns) == list(range(table.shape[1])) else table[:, list(columns)]


def _numbers(rows: CsvRows, cells: Sequence[str], gaps: bool, start: int, column: int) -> Floats:
    plain = rows.to_number is to_number and not rows.odd
    parse: Callable[[str], float] = float if plain else rows.to_number
    try:
        numbers = np.fromiter(map(parse, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        numbers = np.full(len(cells), np.nan)
    if np.isfinite(numbers).all() and not rows.coded:
        return numbers
    empty = np.fromiter(map(rows.is_empty, cells), dtype=np.bool_, count=len(cells))
    if empty.any() and not gaps:
        _refuse_number(rows, start, cells, column, gaps)
    full = [text for text, gap in zip(cells, empty.tolist(), strict=True) if not gap]
    numbers = np.full(len(cells), np.nan)
    try:
        numbers[~empty] = np.fromiter(map(parse, full), dtype=np.float64, count=len(full))
    except ValueError:
        _refuse_number(rows, start, cells, column, gaps)
    if not np.isfinite(numbers[~empty]).all():
        _refuse_number(rows, start, cells, column, gaps)
    return numbers


def read_text_columns(rows: CsvRows, columns: Sequence[int]) -> list[list[str]]:
    """Read the text of `columns`, without surrounding blanks."""
    texts_read: list[list[str]] = [[] for _ in columns]
    for _, chunk in rows.chunks():
        for text, j in zip(texts_read, columns, strict=True):
            text.extend(row[j].strip() for row in chunk)
    return texts_read


def read_label_columns(
    rows: CsvRows, columns: Sequence[int], texts: Sequence[int], *, noise: bool
) -> tuple[NDArray[Any], list[list[str]]]:
    """Read labels of `columns` (-1 missing, -2 noise), and the text of the columns `texts`.

    A column of whole numbers gives numbers, any other column names. Empty cells, NA and the like, and the
    spellings that the rows were opened with are missing.

    Parameters
    ----------
    rows : CsvRows
        The file.
    columns, texts : sequence of int
        Columns with labels, and columns returned as text.
    noise : bool
        Whether a -1 in the file is noise rather than missing.

    Returns
    -------
    labels : ndarray of shape (n_rows, len(columns))
        int64; of objects where a column holds names.
    texts : list of lists of str
    """
    if not texts:
        table = rows.table(int)
        if table is not None and table.min() >= -2:
            if noise:
                table[table == -1] = -2
            return _in_order(table, columns), []
        rows.rewind()
    # Each distinct spelling gets a number when first seen: one dictionary look-up per cell.
    spellings: list[defaultdict[str, int]] = [defaultdict(count().__next__) for _ in columns]
    blocks = []
    texts_read: list[list[str]] = [[] for _ in texts]
    for _, chunk in rows.chunks():
        cells = list(zip(*chunk, strict=True))
        block = np.empty((len(chunk), len(columns)), dtype=np.int32)
        for u, j in enumerate(columns):
            block[:, u] = np.fromiter(
                map(spellings[u].__getitem__, cells[j]), dtype=np.int32, count=len(chunk)
            )
        blocks.append(block)
        for text, j in zip(texts_read, texts, strict=True):
            text.extend(cells[j])
    codes = np.concatenate(blocks)
    values = [
        _label_values(list(spellings[u]), rows, j, codes[:, u], noise)
        for u, j in enumerate(columns)
    ]
    named = any(isinstance(value, str) for column in values for value in column)
    labels = np.empty(codes.shape, dtype=object if named else np.int64)
    for u, column in enumerate(values):
        table = np.empty(len(column), dtype=labels.dtype)
        table[:] = column
        labels[:, u] = table[codes[:, u]]
    return labels, texts_read


def _label_values(
    spellings: list[str], rows: CsvRows, column: int, codes: NDArray[np.int32], noise: bool
) -> list[int | str]:
    texts = [spelling.strip() for spelling in spellings]
    present = [text for text in texts if not rows.is_empty(text)]
    names = not all(map(is_number, present))
    values: list[int | str] = []
    for code, text in enumerate(texts):
        if rows.is_empty(text):
            values.append(-1)
        elif text == "-1":
            values.append(-2 if noise else -1)
        elif text == "-2":
            values.append(-2)
        elif names:
            values.append(text)
        else:
            number = int(text) if _INTEGER.fullmatch(text) else whole(float(text))
            if number is None or number < -2:
                place = rows.place(int(np.argmax(codes == code)), column)
                what = "is not a whole number" if number is None else "is negative"
                hint = f"If this is a code of missing labels, give --na={text[:60]}. "
                is_fraction = number is None and np.isfinite(float(text))
                raise InputError(
                    f"{rows.path}: {place}: the label {text[:60]!r} {what}. Labels are whole numbers "
                    f"from 0 on or names; -1 is missing, -2 is noise. {'' if is_fraction else hint}If these are "
                    "points, not labels, use: conclust cluster."
                )
            values.append(-2 if noise and number == -1 else number)
    return values


def _refuse_number(
    rows: CsvRows, start: int, cells: Sequence[str], column: int, gaps: bool
) -> NoReturn:
    """Raise with the first cell that is not a number, or is empty where that is not allowed."""
    for i, cell in enumerate(cells):
        text = cell.strip()
        # Separators like \x1d are spaces for str.strip, and none for float.
        empty = rows.is_empty(text)
        number = not empty and rows.is_number(text) and text == cell.strip(_SPACES)
        if (number and np.isfinite(rows.to_number(text))) or (gaps and empty):
            continue
        where = f"{rows.path}: {rows.place(start + i, column)}"
        if empty or number:
            content = f"holds {text[:60]!r}" if text else "is empty"
            way = FILLING if empty else "Change it."
            raise InputError(
                f"{where}: this cell {content}, but points need a finite number in every cell. {way}"
            )
        hint = (
            "If the column names the objects or their known classes, give it as --id-column or "
            "--label-column; to leave it out, give it as --drop. If this cell marks a missing value, give it as --na."
        )
        if len(rows.names) == 1 and rows.to_number is from_comma and "," in text:
            hint = "With --decimal comma, columns are separated by semicolon or tab, or numbers are in quotation marks."
        elif is_number(text.replace(",", ".")) and "," in text:
            hint = "If the comma is the decimal separator, give --decimal comma."
        elif rows.to_number is from_comma and is_number(text):
            hint = "With --decimal comma a point is not part of a number."
        elif len(rows.names) == 1 and len(text.split()) > 1:
            hint = "Separate the columns by comma, semicolon or tab."
        raise InputError(f"{where}: {cell.strip(_SPACES)[:60]!r} is not a number. {hint}")
    raise AssertionError("every number is finite")


def _sniff(sample: list[str], *, comma_in_numbers: bool) -> str:
    """Return the delimiter that splits all lines into the same number of fields.

    Tab before semicolon before comma: a comma may be a decimal sign, while a tab is always a delimiter. If numbers have a
    comma, it separates columns only where quotation marks protect the other commas.
    """
    signs = "\t;," if not comma_in_numbers or _has_quoted_comma(sample) else "\t;"
    lines = [line for line in sample if line.strip()]
    if len(sample) == _SNIFFED_LINES:
        lines = lines[:-1] or lines
    for delimiter in signs:
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=delimiter) if row}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return delimiter
    # Ragged, or one column: count the fields of the first line; the rows are checked later.
    return max(reversed(signs), key=lines[0].count)


def _has_quoted_comma(sample: list[str]) -> bool:
    """Return whether a field in quotation marks has a comma."""
    try:
        return any("," in field for row in csv.reader(sample) for field in row)
    except csv.Error:  # refused with its line when rows are read
        return False


def _open(path: Source | PathLike) -> BinaryIO:
    return path.open() if isinstance(path, Source) else open_regular(path)


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number} fields"


def _spell(delimiter: str) -> str:
    return next((name for name, sign in DELIMITERS.items() if sign == delimiter), repr(delimiter))
