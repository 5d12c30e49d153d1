"""``conclust report``: writes a result folder as one page."""

from __future__ import annotations

import argparse
from pathlib import Path

from conclust.cli.console import STREAM, Talk, send_table
from conclust.exceptions import InputError, OutputExistsError
from conclust.report import account, write
from conclust.report.page import page

PAGE = "report.html"


def run(arguments: argparse.Namespace) -> None:
    """Read the folder and write the page."""
    if arguments.out is None:
        arguments.out = arguments.result / PAGE
    path, talk = arguments.out, Talk(arguments)
    drawn = {
        "max_objects": arguments.objects,
        "pictures": not arguments.no_pictures,
        "cluster_names": arguments.names,
    }
    if path != STREAM:
        _check(path, arguments)
    talk.step(f"Reading {arguments.result}.")
    with talk.during("drawing"):
        if path == STREAM:
            send_table(page(account(arguments.result, **drawn)).encode())
            return
        write(arguments.result, path, **drawn)
    size = path.stat().st_size / 1e6
    talk.result(f"The report is {path} ({size:.1f} MB): open it in a browser.")


def _check(path: Path, arguments: argparse.Namespace) -> None:
    """Refuse an output path that cannot be written, before the pictures are drawn."""
    if path.is_dir():
        raise OutputExistsError(f"{path} is a folder. Give --out the name of a file.")
    if path.exists() and not arguments.force:
        raise OutputExistsError(
            f"{path} already exists. Give --force to replace it, or another name with --out."
        )
    if not path.parent.is_dir() and path.parent != arguments.result:
        raise InputError(
            f"The folder {path.parent} for the report does not exist. Create it first."
        )
