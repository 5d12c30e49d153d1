"""Errors in terms of the command line. Imported by every command, so it loads quickly."""

from __future__ import annotations

import argparse
from pathlib import Path

from conclust._files.formats import FORMATS, RESULT_FILES, TABLE
from conclust.cli.console import STREAM
from conclust.exceptions import ConclustError, InputError, OutputExistsError

# Options for the parameters of a generator; parameters of methods are given by --set, except for these.
_GENERATOR = {"method": "--generator", "n_partitions": "--partitions"}
# Commands that write folders, and whether they write a file of labels instead.
_INTO_FOLDERS = {**dict.fromkeys(("cluster", "combine", "select", "predict"), True), "demo": False}
# Endings of files, which no one gives to a folder.
_FILES = (
    *(ending for one in FORMATS.values() if one.kind != "zarr" for ending in one.endings),
    *(".feather", ".json", ".html", ".xlsx", ".gz", ".bz2", ".xz", ".zst", ".zip"),
)
_METHOD = {
    "n_clusters": "-k",
    "max_clusters": "--max-clusters",
    "n_references": "--references",
}


def in_shell(error: ConclustError) -> str:
    """Return an error of the library with the names that its parameter and the list of methods have in the shell."""
    options = _GENERATOR if error.owner == "EnsembleGenerator" else _METHOD
    option = f" ({options[error.parameter]})" if error.parameter in options else ""
    return error.sentences(option, "'conclust methods'")


def refuse_ending(arguments: argparse.Namespace) -> None:
    """End with the usage where --out names a new folder like a file, of which this command writes none."""
    out = getattr(arguments, "out", None)
    if out is None or out == STREAM or out.exists() or arguments.command not in _INTO_FOLDERS:
        return
    name, tables = out.name.lower(), _INTO_FOLDERS[arguments.command]
    if name.endswith(_FILES) and not (tables and name.endswith(TABLE)):
        alone = f", or a file that ends in {TABLE} for the labels alone" if tables else ""
        arguments.usage_error(f"--out: {out} would be a folder. Give the name of a folder{alone}.")


def refuse_own_input(arguments: argparse.Namespace) -> None:
    """Refuse --force where --out would replace a file that the command reads.

    Raises
    ------
    OutputExistsError
        An input is the file of --out, or one of the files that results have in its folder.
    """
    out = getattr(arguments, "out", None)
    if out is None or out == STREAM or not getattr(arguments, "force", False):
        return
    written = [out / name for name in RESULT_FILES] if out.is_dir() else [out]
    result = getattr(arguments, "result", None)
    inputs = [getattr(arguments, name, None) for name in ("points", "labels", "weights")]
    inputs += getattr(arguments, "memberships", None) or []
    if result is not None and not _same(result, out):  # the command itself refuses this case
        inputs += [result / name for name in RESULT_FILES if name != "report.html"]
    for read in inputs:
        for path in written:
            if read is not None and read != STREAM and _same(read, path):
                raise OutputExistsError(
                    f"--out: {path} is an input of this command, which --force does not replace. Give another "
                    "name with --out."
                )


def check_output_file(path: Path, *, force: bool) -> None:
    """Refuse a file to write that exists or is a folder, or whose folder does not exist, before the work begins."""
    if path.is_dir():
        raise OutputExistsError(f"{path} is a folder. Give --out the name of a file.")
    if path.exists() and not force:
        raise OutputExistsError(
            f"{path} already exists. Give --force to replace it, or another name with --out."
        )
    if not path.parent.is_dir():
        raise InputError(
            f"The folder {path.parent} for {path.name} does not exist. Create it first."
        )


def _same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same existing file or folder."""
    return one.exists() and other.exists() and one.samefile(other)
