"""Files of ``save`` in which one part of one record was changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conclust._files.saving import load, save
from conclust._files.storage import read_npz, write_npz


def forge(path: Path, kind: str, name: str, change: Callable[[Any], Any]) -> None:
    """Change a part of the last record of a type: an array, or its JSON."""
    arrays, meta = read_npz(path)
    parts = [parts for record, parts in meta["records"] if record == kind][-1]
    value = parts[name]
    if isinstance(value, dict) and "array" in value:
        arrays["forged"] = change(arrays[value["array"]])
        parts[name] = {"array": "forged"}
    else:
        parts[name] = change(value)
    write_npz(path, arrays, meta)


def rewrite(folder: Path, **fields: Any) -> None:
    """Replace fields of the result, or of its record, in a result folder."""
    path = folder / "report.npz"
    reported, membership = load(path)
    own = {name: value for name, value in fields.items() if hasattr(reported, name)}
    of_record = {name: value for name, value in fields.items() if name not in own}
    record = replace(reported.record, **of_record)
    save(path, (replace(reported, **{"record": record, **own}), membership))
