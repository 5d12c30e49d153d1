"""The site's tables in a browser: a press on a heading sorts them."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "_static" / "sortable.js"
ROWS = [
    ("EAC", "0.61", "1,200"),
    ("LWEA", "0.7", "90"),
    ("CSPA", "", "7"),
    ("PCC", "\N{MINUS SIGN}0.02", "10,000"),
    ("HBGF", "0.655", "11"),
    ("Voting", "0.5", "8.5"),
]


@pytest.fixture
def page(browser, tmp_path):
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    (tmp_path / "page.html").write_text(
        "<!doctype html><meta charset=utf-8><title>Table</title>"
        f"<script>{SCRIPT.read_text('utf-8')}</script>"
        "<article class='bd-article'><table><thead><tr><th>Method<th>ARI<th>Objects</thead>"
        f"<tbody>{rows}</tbody></table></article>",
        "utf-8",
    )
    opened = browser.open(tmp_path / "page.html")
    yield opened
    assert not opened.troubles()
    browser.ask("Target.closeTarget", targetId=opened.target)


def methods(page):
    return page.run("[...document.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)")


def press(page, heading):
    page.run(f"document.querySelectorAll('th button')[{heading}].click()")
    return page.run(f"document.querySelectorAll('th')[{heading}].getAttribute('aria-sort')")


def test_numbers_are_sorted_as_numbers_and_empty_cells_are_last(page):
    assert methods(page) == [row[0] for row in ROWS]
    assert press(page, 1) == "ascending"
    assert methods(page) == ["PCC", "Voting", "EAC", "HBGF", "LWEA", "CSPA"]
    assert press(page, 1) == "descending"
    assert methods(page) == ["LWEA", "HBGF", "EAC", "Voting", "PCC", "CSPA"]
    assert press(page, 2) == "ascending"
    assert methods(page) == ["CSPA", "Voting", "HBGF", "LWEA", "EAC", "PCC"]
    assert page.run("document.querySelectorAll('[aria-sort]').length") == 1


def test_a_heading_is_sorted_by_keyboard(page):
    page.run("document.querySelector('th button').focus()")
    page.press("Enter")
    assert methods(page) == ["CSPA", "EAC", "HBGF", "LWEA", "PCC", "Voting"]
