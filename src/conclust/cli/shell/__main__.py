"""``python -m conclust.cli.shell VERSION FILE``: writes the manual page, for the build."""

import sys
from pathlib import Path

from conclust.cli.parser import build_parser
from conclust.cli.shell.manual import page

if __name__ == "__main__":
    Path(sys.argv[2]).write_text(page(build_parser(), sys.argv[1]), "utf-8")
