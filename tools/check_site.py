"""Checks a built site: links and anchors within it lead somewhere, no page loads from outside, llms.txt is there.

python -m tools.check_site build/docs
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The attributes by which a browser fetches what it shows, and the elements where others do.
LOADING = ("src", "srcset", "poster", "background")
LOADED = {"link": "href", "image": "href", "use": "href", "object": "data"}
# Links in the head that name another page without fetching it.
TOLD = {"author", "canonical", "help", "license", "next", "prev", "index", "search", "alternate"}
LISTED = re.compile(r"\]\(([^)]+)\)")
FROM_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", re.IGNORECASE)


class Page(HTMLParser):
    """The anchors of a page, where it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self._styled = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element has."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self._styled = tag == "style"
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        if not (tag == "link" and set(given.get("rel", "").split()) <= TOLD):
            for name in (*LOADING, LOADED.get(tag, "")):
                part = given.get(name, "")
                loaded = part.split(",") if name == "srcset" else [part]
                self.loads += [one.split()[0] for one in loaded if one.strip()]
        self.loads += of_style(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Note what a style sheet within the page loads."""
        if self._styled:
            self.loads += of_style(data)


def of_style(text: str) -> list[str]:
    """List what a style sheet loads."""
    return [first or second for first, second in FROM_STYLE.findall(text)]


def wrong(root: Path) -> Iterator[str]:
    """Yield what is wrong with a site, a sentence each."""
    files = [path.resolve() for path in sorted(root.rglob("*.html"))]
    # The theme keeps a template, which is not a page, among its styles.
    pages = {path: Page(path.read_text("utf-8")) for path in files if path.parent.name != "_static"}
    if not pages:
        yield f"{root} has no page"
    for path, page in pages.items():
        for link in page.links + page.loads:
            yield from wrong_link(link, path, root, pages, loaded=link in page.loads)
    listed = root.resolve() / "llms.txt"
    links = LISTED.findall(listed.read_text("utf-8")) if listed.is_file() else []
    if not links:
        yield f"{root} has no llms.txt that links to pages"
    for link in links:
        yield from wrong_link(link, listed, root, pages, loaded=False)
    for path in sorted(root.rglob("*.css")):
        for link in of_style(path.read_text("utf-8")):
            yield from wrong_link(link, path.resolve(), root, {}, loaded=True)


def wrong_link(
    link: str, at: Path, root: Path, pages: dict[Path, Page], *, loaded: bool
) -> Iterator[str]:
    """Yield what is wrong with one link of a file."""
    where, parts = at.relative_to(root.resolve()), urlsplit(link)
    if parts.scheme in ("data", "mailto", "javascript"):
        return
    if parts.scheme or parts.netloc:
        if loaded:
            yield f"{where} loads {link[:100]} from outside"
        return
    target = (at.parent / unquote(parts.path)).resolve() if parts.path else at
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(root.resolve()):
        yield f"{where} links to {link}, which is not there"
    elif (
        parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors
    ):
        yield f"{where} links to {link}: the page has no such anchor"


if __name__ == "__main__":
    found = list(wrong(Path(sys.argv[1])))
    sys.exit("\n".join(found) if found else 0)
