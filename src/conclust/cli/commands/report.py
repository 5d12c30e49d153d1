"""``conclust report``: writes a result folder as one page."""

from __future__ import annotations

import argparse

from conclust.cli.console import STREAM, Talk, send_table
from conclust.cli.refusals import check_output_file
from conclust.words.shell import page_line

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
    if path != STREAM and (path.parent.is_dir() or path.parent != arguments.result):
        check_output_file(path, force=arguments.force)
    # Loading these takes seconds, so that refusals come before it.
    from conclust.report import account, write
    from conclust.report.page import page

    talk.step(f"Reading {arguments.result}.")
    with talk.during("drawing"):
        if path == STREAM:
            send_table(page(account(arguments.result, **drawn)).encode())
            return
        write(arguments.result, path, **drawn)
    talk.result(page_line(path))
