"""Let this environment find the packages of another one after its own.

python tools/on_top_of.py .venv/bin/python
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path


def main(other: str) -> None:
    """Write a path file; unlike a folder named in one, ``addsitedir`` reads the other's path files too."""
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    there = subprocess.run([other, "-c", ask], capture_output=True, text=True, check=True).stdout
    here = Path(sysconfig.get_paths()["purelib"])
    line = f"import site; site.addsitedir({there.strip()!r})"
    (here / "zz_on_top_of.pth").write_text(line + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
