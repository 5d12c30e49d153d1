"""Zarr arrays, opened by zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conclust._files.storage import read_json
from conclust._validation import optional
from conclust.exceptions import FileFormatError


def zarr_rows(path: Path) -> Any:
    """Open a Zarr array whose rows can be sliced.

    Raises
    ------
    FileFormatError
        Its chunks are pickles.
    """
    zarr = optional("zarr", "zarr", f"Reading {path.name}")
    # Checked before opening: some versions of zarr refuse such an array themselves, with a less clear message.
    description = path / ".zarray"
    if description.is_file():
        _refuse_codecs_that_run_code(read_json(description), path)
    array = zarr.open_array(str(path), mode="r")
    _refuse_codecs_that_run_code(array.metadata.to_dict(), path)
    return array


def _refuse_codecs_that_run_code(metadata: Any, path: Path) -> None:
    """Refuse chunks that would be unpickled: format 2 allows it, whatever the type of the array."""
    metadata = metadata if isinstance(metadata, dict) else {}
    codecs = [metadata.get(name) for name in ("filters", "compressor", "codecs")]
    if "pickle" in str(codecs).lower():
        raise FileFormatError(
            f"{path} holds pickles, which can run code and are never read. Write it without that codec."
        )
