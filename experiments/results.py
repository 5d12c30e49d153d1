"""Write RESULTS.md: RESULTS.md.in with the tables that it names, as they lie in the folders of the experiments.

python -m experiments.results
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["HERE", "page"]

HERE = Path(__file__).parent
_TABLE = re.compile(r"^<!-- table (\S+) -->$", re.MULTILINE)


def page() -> str:
    """Return the page."""
    template = (HERE / "RESULTS.md.in").read_text(encoding="utf-8")
    return _TABLE.sub(lambda found: (HERE / found[1]).read_text(encoding="utf-8").strip(), template)


if __name__ == "__main__":
    (HERE / "RESULTS.md").write_text(page(), encoding="utf-8")
    print(f"Written: {HERE / 'RESULTS.md'}")
