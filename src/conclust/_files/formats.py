"""Formats of files that are read: their names, how a file is recognised, their readers; endings of those written.

A new format is a file with its reader, and an entry of ``FORMATS``: help, refusals and the reading of points,
labels, weights, draws and blocks follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Format:
    """A format of input files.

    Attributes
    ----------
    kind, title : str
        Its name in code, and in help and messages.
    endings : tuple of str
        Endings of the names of its files.
    holds : {"text", "frame", "array", "arrays"}
        Content: lines of text, a table of Arrow, one array, or arrays with names.
    beginning : bytes, default=b""
        First bytes of a file, by which standard input is recognised. Empty: text.
    read : callable, default=None
        Reader of a whole file, by `Source.array`: a table of Arrow from its path and its name in messages, an array from its
        path and `mmap`, or a dict of arrays and a description from its path. None: text, or read in blocks only.
    rows : callable, default=None
        Opens a file whose rows are labels to be read in blocks: as an array whose rows can be sliced, or with
        "frame" as a file with row groups, like ParquetFile of pyarrow. None: not read in blocks.
    hint, rows_hint : str, default=""
        Text that follows the title in help, and in the help of blocks.
    """

    kind: str
    title: str
    endings: tuple[str, ...]
    holds: Literal["text", "frame", "array", "arrays"]
    beginning: bytes = b""
    read: Callable[..., Any] | None = None
    rows: Callable[[Path], Any] | None = None
    hint: str = ""
    rows_hint: str = ""

    @property
    def has_columns(self) -> bool:
        """Whether it is a table, whose columns may have names."""
        return self.holds in ("text", "frame")


def _later(module: str, name: str, *given: Any, **options: Any) -> Any:
    """Call a function of a module of this folder, which is imported when a file is read."""
    return getattr(import_module(f"conclust._files.{module}"), name)(*given, **options)


_NPY = partial(_later, "storage", "read_npy")
FORMATS = {
    one.kind: one
    for one in (
        Format(
            "csv",
            "CSV",
            (".csv", ".tsv", ".txt", ".dat", ".data", ".clu"),
            "text",
            hint=" (comma, semicolon, tab, | or blanks; UTF-8 or UTF-16; .gz and .bz2 too)",
        ),
        Format("npy", "NPY", (".npy",), "array", b"\x93NUMPY", _NPY, partial(_NPY, mmap=True)),
        Format("npz", "NPZ", (".npz",), "arrays", b"PK", partial(_later, "storage", "read_npz")),
        Format("zarr", "Zarr", (".zarr",), "array", rows=partial(_later, "zarrfile", "zarr_rows")),
        Format(
            "parquet",
            "Parquet",
            (".parquet", ".pq"),
            "frame",
            b"PAR1",
            partial(_later, "parquetfile", "read_parquet"),
            partial(_later, "parquetfile", "parquet_rows"),
            rows_hint=" (a file, or a folder of parts)",
        ),
    )
}
WHOLE = {kind: one for kind, one in FORMATS.items() if one.read or one.holds == "text"}
"""Formats of files that are read at once."""


ARRAYS = {
    "points": "X points data fea",
    "labels": "labels L members X",
    "labelling": "labels label y gt",
    "weights": "weights",
    "draws": "draws labels cls z",
}
"""Usual names of arrays in an NPZ file by what is read."""
PACKINGS = {".gz": (rb"\x1f\x8b", "gzip"), ".bz2": (rb"BZh[1-9]1AY&SY", "bz2")}
"""Compressions of text by their endings: first bytes, and Arrow's name."""
_PICKLE = "is a pickle, which is never read. Save an array by numpy.save, a table as CSV or Parquet"
_JSON = "is JSON. Write its table as CSV"
NOT_READ = {
    b"PK\x03\x04": "is a spreadsheet or a ZIP file. Save its table as CSV in UTF-8",
    b"PAR1\x15": "is a Parquet file. Give it a name that ends in .parquet",
    b"\x93NUMPY": "is an NPY file. Give it a name that ends in .npy",
    b"\x89HDF": "is HDF5. Write its table as CSV, of AnnData by adata.obs[[...]].to_csv(...)",
    b"MATLAB": "is a MATLAB file. In Python: numpy.savez('file.npz', **scipy.io.loadmat('file.mat'))",
    b"X\n\0\0\0": "is an RDS file of R. In R: write.csv(readRDS('file.rds'), 'file.csv', row.names = FALSE)",
    b"<stata_dta>": "is a Stata file. Export its table as CSV",
    b"ARROW1": "is a Feather file. Write its table as Parquet or CSV",
    **dict.fromkeys((b"\x80\x04", b"\x80\x05"), _PICKLE),
    **dict.fromkeys((b"{\n", b'{"', b"[{"), _JSON),
    b"%%MatrixMarket": "is a sparse matrix. Write it as CSV with all cells, in Python or R",
    b"\xff\xfe\0\0": "is in UTF-32. Save it as CSV in UTF-8",
    b"\xfd7zXZ": "is compressed with xz. Unpack it in a pipe, 'xz -dc FILE | conclust COMMAND -'",
    # Its streams need no checksum, so that damage may pass.
    b"(\xb5/\xfd": "is compressed with zstd. Unpack it in a pipe, 'zstd -dc FILE | conclust COMMAND -'",
}
"""First bytes of files that are not text, whatever their names, and the way out."""


def either(titles: Iterable[str]) -> str:
    """Return "A, B or C"."""
    *first, last = titles
    return f"{', '.join(first)} or {last}"


INPUTS = either(one.title + one.hint for one in WHOLE.values()) + "; - for standard input"
IN_BLOCKS = either(one.title + one.rows_hint for one in FORMATS.values() if one.rows)
"""Formats of labels that are read in blocks."""
RESULT_FILES = (
    *("labels.csv", "memberships.csv", "partitions.csv", "alternatives.csv", "criteria.csv"),
    *("ensemble.npz", "model.npz", "report.npz", "features.csv", "borders.csv", "power.csv"),
    *("profiles.csv", "labels.npy", "report.html", "result.json"),
)
"""Every file that a result can have; result.json is written last and seals it."""
TABLE = ".csv"
"""Ending of a file of labels that is written."""
