"""Write RESULTS.md: RESULTS.md.in with the tables that it names, and the numbers of its prose.

Tables lie in the folders of the experiments; the numbers are counted from the results that are kept (``counted.py``).

python -m experiments.results
"""

from __future__ import annotations

import re
from pathlib import Path

from experiments.counted import counts

__all__ = ["HERE", "page"]

HERE = Path(__file__).parent
_TABLE = re.compile(r"^<!-- table (\S+) -->$", re.MULTILINE)
_COUNT = re.compile(r"<!-- count ([^>]+?) -->")


def page() -> str:
    """Return the page."""
    template = (HERE / "RESULTS.md.in").read_text(encoding="utf-8")
    numbers = counts()
    text = _COUNT.sub(lambda found: numbers[found[1]], template)
    return _TABLE.sub(lambda found: (HERE / found[1]).read_text(encoding="utf-8").strip(), text)


if __name__ == "__main__":
    (HERE / "RESULTS.md").write_text(page(), encoding="utf-8")
    print(f"Written: {HERE / 'RESULTS.md'}")
