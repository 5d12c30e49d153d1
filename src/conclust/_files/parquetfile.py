"""Tables in Parquet files, read by pyarrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conclust._files.storage import open_regular, reading_limit, refuse_file
from conclust._validation import optional
from conclust.exceptions import InputError


def read_parquet(path: Path, source: str) -> Any:
    """Return the table of a Parquet file; messages call it `source`.

    Raises
    ------
    OSError
        The file is missing or cannot be read.
    FileFormatError, InputError
        It is not a Parquet file, unpacks to more than is read, is empty or repeats a name.
    """
    parquet = optional("pyarrow.parquet", "parquet", "Reading Parquet files")
    from pyarrow import ArrowException

    try:
        with open_regular(path) as below, parquet.ParquetFile(below) as file:
            # Equal values are stored once, so that a small file can be a giant table.
            cells = file.metadata.num_rows * file.metadata.num_columns
            if cells * 8 > reading_limit():
                refuse_file(source, f"unpacks to {cells} cells, too many for this machine")
            table = file.read()
    except (ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        # An error of the disk, not in the content.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        refuse_file(source, f"is not a valid Parquet file ({error})")
    names = table.column_names
    if not names or not len(table):
        raise InputError(f"{source} is empty.")
    if len(set(names)) < len(names):
        raise InputError(f"{source} has a column name more than once.")
    return table


def parquet_rows(path: Path) -> Any:
    """Open a Parquet file whose row groups are read one by one."""
    return optional("pyarrow.parquet", "parquet", f"Reading {path.name}").ParquetFile(path)


def index_columns(schema: Any) -> set[str]:
    """Return the columns that pandas wrote as the index of the rows."""
    index = {name for name in schema.names if name.startswith("__index_")}
    try:
        levels = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
        index.update(level for level in levels if isinstance(level, str))
    except (KeyError, TypeError, ValueError):
        pass  # not written by pandas
    return index
