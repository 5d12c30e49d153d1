"""``conclust join``: labels from several places into one table, by identifiers; these may be hashed with a salt."""

from __future__ import annotations

import argparse
import hmac
from collections import Counter
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from conclust._files.spreadsheets import unguarded
from conclust._validation import count
from conclust.cli.console import Talk, plain
from conclust.cli.reading.inputs import Labels, read_ensemble
from conclust.cli.refusals import check_output_file
from conclust.cli.requested import reading
from conclust.ensemble import MISSING, NOISE, Ensemble
from conclust.exceptions import InputError
from conclust.results.writing import LabelTable, write_numbers

# Minimum number of bytes of a salt, and of hexadecimal digits kept of a hash (128 bits).
_SALT = 16
_DIGITS = 32


def run(arguments: argparse.Namespace) -> None:
    """Join the tables by their identifiers, and write one."""
    talk = Talk(arguments)
    if arguments.hash_ids != (arguments.salt is not None):
        arguments.usage_error(
            "--hash-ids and --salt go together: the salt is a secret of all places."
        )
    out = arguments.out
    if out.suffix.lower() != ".csv":
        arguments.usage_error(f"--out must name a CSV file, such as joined.csv, got {str(out)!r}.")
    check_output_file(out, force=arguments.force)
    salt = None if arguments.salt is None else _read_salt(arguments.salt)
    tables: dict[str, dict[str, Any]] = {}
    title = "object"
    names = _names_of(arguments.files)
    for path, name in zip(arguments.files, names, strict=True):
        labels = read_ensemble(path, reading(arguments))
        if labels.ids is None:
            raise InputError(f"{path} has no column of identifiers. Name it with --id-column.")
        title = labels.id_name
        # One form of accented letters: file systems and programs write either.
        ids = [normalize("NFC", unguarded(one)) for one in labels.ids]
        blank = next((row for row, one in enumerate(ids) if not one.strip()), None)
        if blank is not None:  # a hash would hide it
            raise InputError(
                f"{path}: object {blank + 1} has no identifier in the column {title!r}."
            )
        if salt is not None:
            ids = [hashed(one, salt) for one in ids]
        tables[name] = {"": ids, **_columns(labels)}
        read = f"{count(len(ids), 'object')}, {count(len(labels.names), 'clustering')}"
        talk.step(f"Read {plain(path)}: {read}.")
    objects = sorted({one for table in tables.values() for one in table[""]})
    joined = Ensemble.join(tables, on="", objects=objects)
    one = len(tables) == 1
    heads = [
        column if one else f"{name}.{column}"
        for name, table in tables.items()
        for column in table
        if column
    ]
    if len(set(heads)) < len(heads):
        twice = Counter(heads).most_common(1)[0][0]
        raise InputError(f"Two columns of the joined table would be called {twice!r}. Rename one.")
    table = LabelTable(objects, title, None, arguments.raw)
    cells = {head: _text(joined, u) for u, head in enumerate(heads)}
    write_numbers(out, {table.id_column(): table.object_names(len(objects)), **cells})
    absent = int(joined.missing_counts.sum())
    talk.result(
        f"{count(len(objects), 'object')}, {count(len(heads), 'clustering')}, {absent:,} cells missing: {out}."
    )
    if salt is not None:
        talk.result(
            "Identifiers are hashed with the salt. This does not guarantee privacy: anyone with the salt and a list "
            "of identifiers can recover them, and clusters may reveal who an object is."
        )


def hashed(identifier: str, salt: bytes) -> str:
    """Return the keyed hash (HMAC-SHA256, 128 bits) of an identifier; the same with the same salt only."""
    return hmac.new(salt, identifier.encode(), "sha256").hexdigest()[:_DIGITS]


def _read_salt(path: Path) -> bytes:
    salt = path.read_bytes().strip()
    if len(salt) < _SALT:
        raise InputError(
            f"{path}: a salt has at least {_SALT} bytes that cannot be guessed. Got {len(salt)}. "
            "'openssl rand -hex 32' makes one."
        )
    return salt


def _names_of(paths: list[Path]) -> list[str]:
    """Return a name for each file: its stem, or its path where stems are alike."""
    stems = [path.name.split(".")[0] for path in paths]
    return stems if len(set(stems)) == len(stems) else [plain(path) for path in paths]


def _columns(labels: Labels) -> dict[str, NDArray[Any]]:
    """Return the labels of each clustering as stored in the file."""
    ensemble, columns = labels.ensemble, {}
    for u, name in enumerate(labels.names):
        words = np.array([*ensemble.names[u], NOISE, None], dtype=object)
        codes = ensemble.labels[:, u]
        columns[name] = words[np.where(codes == NOISE, len(words) - 2, codes)]
    return columns


def _text(joined: Ensemble, u: int) -> list[Any]:
    words = joined.names[u]
    special = {MISSING: "", NOISE: NOISE}
    return [special[code] if code < 0 else words[code] for code in joined.labels[:, u].tolist()]
