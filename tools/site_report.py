"""Make the report of the demo on the wines, a page of the site: docs/reference/made/extra/demo-report.html.

python -m tools.site_report
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from conclust.cli import main as conclust
from tools.site_pages import MADE

__all__ = ["REPORT", "main"]

REPORT = MADE / "extra" / "demo-report.html"


def main() -> None:
    """Run the demo on one data set, and copy its report."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo"
        code = conclust(["demo", "--data", "wine", "--out", str(out), "--quiet"])
        if code:
            sys.exit(code)
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / "report.html", REPORT)


if __name__ == "__main__":
    main()
