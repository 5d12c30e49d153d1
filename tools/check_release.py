"""Look whether the version of a tag is the one that every file tells: ``python -m tools.check_release v0.2.0``.

``pyproject.toml`` has the version; the code asks the installed package. CITATION.cff and CHANGELOG.md name it
for readers, with the day of the release, and ``docs/how-to/cite.md`` in BibTeX.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["heading", "version", "wrong"]

ROOT = Path(__file__).resolve().parent.parent
_HEADING = re.compile(r"^## (\S+)(?: \(([^)]*)\))?$", re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """Return the version in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def heading(root: Path = ROOT) -> tuple[str, str]:
    """Return version and date, as the first section of CHANGELOG.md has them."""
    found = _HEADING.search((root / "CHANGELOG.md").read_text("utf-8"))
    return ("", "") if found is None else (found[1], found[2] or "")


def wrong(tag: str, root: Path = ROOT) -> Iterator[str]:
    """Yield what stands in the way of releasing the tree as `tag`."""
    wanted = version(root)
    if tag != f"v{wanted}":
        yield f"pyproject.toml has the version {wanted}, the tag is {tag}"
    cited = dict(re.findall(r"^([\w-]+): *(.+)$", (root / "CITATION.cff").read_text("utf-8"), re.M))
    if cited.get("version") != wanted:
        yield f"CITATION.cff has the version {cited.get('version')}, not {wanted}"
    page = root / "docs" / "how-to" / "cite.md"
    if page.is_file() and f"version = {{{wanted}}}" not in page.read_text("utf-8"):
        yield f"docs/how-to/cite.md does not have the version {wanted} in its BibTeX"
    recipe = root / "conda" / "recipe.yaml"
    if recipe.is_file() and f'version: "{wanted}"' not in recipe.read_text("utf-8"):
        yield f"conda/recipe.yaml does not have the version {wanted}"
    number, date = heading(root)
    if number != wanted:
        yield f"CHANGELOG.md begins with {number or 'no version'}, not {wanted}"
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        yield f"CHANGELOG.md has no date of {wanted}: it says {date or 'nothing'}"
    elif date != cited.get("date-released"):
        yield f"CITATION.cff says that {cited.get('date-released')} is the day, CHANGELOG.md {date}"


def main(tag: str) -> int:
    """Print what is wrong; return 1 if anything is."""
    found = list(wrong(tag))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
