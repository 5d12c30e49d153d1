"""The report in a browser: no errors, no scripts except its own, and every control usable by keyboard.

Run by ``make test-browser``, which needs Debian's chromium. Screenshots are left in
``build/screenshots`` for inspection.
"""

import base64
import json
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.report.test_page import HOSTILE

from conclust import EAC, ConsensusClustering, report
from conclust.selection import choose
from conclust.words.names import shown

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
LOOKS = {
    "desktop": {"width": 1280},
    "phone": {"width": 390, "height": 844, "phone": True},
    "dark": {"width": 1280, "dark": True},
    "phone-dark": {"width": 390, "height": 844, "phone": True, "dark": True},
}


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Write one page of each kind."""
    home = tmp_path_factory.mktemp("pages")
    X, _ = make_blobs(150, centers=4, n_features=5, cluster_std=1.6, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        several = choose(X, range(2, 7), n_resamples=20, n_references=19, random_state=0)
        model = ConsensusClustering(n_clusters=several.n_clusters, random_state=0).fit(X)
        report.write(model, home / "several.html", X=X, selection=several)
        cloud = np.random.default_rng(2).normal(size=(80, 3))
        one = choose(cloud, range(2, 6), n_resamples=12, n_references=19, random_state=0)
        assert one.n_clusters == 1
        report.write(one, home / "one.html", X=cloud)
    rng = np.random.default_rng(0)
    z = np.arange(28) % 2
    labels = np.where(rng.random((28, 9)) < 0.2, 1 - z[:, None], z[:, None])
    names = [HOSTILE[i % len(HOSTILE)] for i in range(28)]
    points = rng.normal(size=(28, len(HOSTILE))) + 3 * z[:, None]
    report.write(
        EAC(2).fit(labels),
        home / "hostile.html",
        ensemble=labels,
        X=points,
        names=names,
        feature_names=HOSTILE,
    )
    report.write(
        EAC(2).fit(labels),
        home / "long.html",
        ensemble=labels,
        X=points,
        cluster_names=[
            f"Regulatory T cells with high FOXP3 and low IL7R expression, part {i}" for i in (1, 2)
        ],
        pictures=False,
    )
    z = rng.integers(0, 30, 3000)
    labels = np.where(rng.random((3000, 12)) < 0.2, rng.integers(0, 30, (3000, 12)), z[:, None])
    report.write(EAC(30).fit(labels), home / "many.html", ensemble=labels, pictures=False)
    return {path.stem: path for path in home.glob("*.html")}


@pytest.fixture
def opened(browser, pages):
    """Open a page, and check at the end that it had no errors."""
    open_ones = []

    def open_page(name, **look):
        page = browser.open(pages[name], **look)
        open_ones.append(page)
        return page

    yield open_page
    for page in open_ones:
        troubles = page.troubles()
        browser.ask("Target.closeTarget", targetId=page.target)
        assert troubles == []


def decision(path):
    data = re.search(r'id="account">(.*?)</script>', path.read_text("utf-8")).group(1)
    return json.loads(data)["decision"]


@pytest.mark.parametrize(
    ("name", "look"),
    [
        *((name, look) for name in ("several", "one") for look in LOOKS),
        *((name, look) for name in ("hostile", "many") for look in ("desktop", "phone")),
    ],
)
def test_every_page_opens_on_every_screen_and_scheme(name, look, opened, pages):
    page = opened(name, **LOOKS[look])
    wide, window = page.run("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window == LOOKS[look]["width"]
    first = page.run("document.querySelector('body').innerText.trim().split('\\n')[0]")
    assert first == decision(pages[name])["head"]
    assert page.run("document.querySelector('h1').textContent") == first
    assert page.run("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.picture(SCREENSHOTS / f"{name}-{look}.png")


CONTRAST = """
(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = parse(getComputedStyle(node).backgroundColor);
      if (found.length && (found.length < 4 || found[3] > 0)) return found;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.getElementById("page"), NodeFilter.SHOW_TEXT);
  const poor = [];
  let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
    seen += 1;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([ratio.toFixed(2), walker.currentNode.textContent.slice(0, 30)]);
  }
  return [seen, poor.slice(0, 5)];
})()
"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["several", "one"])
def test_text_has_enough_contrast(name, dark, opened):
    page = opened(name, dark=dark)
    seen, poor = page.run(CONTRAST)
    assert seen > 100
    assert poor == []
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) < 60) == dark


def test_printed_text_has_enough_contrast_whatever_the_scheme_of_the_screen(opened):
    page = opened("several", dark=True)
    page.look(dark=True, media="print")
    seen, poor = page.run(CONTRAST)
    assert seen > 100
    assert poor == []


@pytest.mark.parametrize("look", ["desktop", "phone"])
def test_long_names_of_clusters_break_instead_of_hiding_the_other_columns(look, opened):
    page = opened("long", **LOOKS[look])
    widths = page.run(
        "[...document.querySelectorAll('.chip')].map((name) => "
        "[name.scrollWidth - name.clientWidth, name.getBoundingClientRect().width])"
    )
    assert widths
    assert all(hidden <= 0 and width <= 24 * 16 for hidden, width in widths)
    hidden = page.run(
        "[...document.querySelectorAll('.scroll:has(td.wide)')].map((box) => "
        "[...box.querySelectorAll('tbody td.number')].filter((cell) => "
        "cell.getBoundingClientRect().right > box.getBoundingClientRect().right).length)"
    )
    assert hidden
    assert set(hidden) == {0}


def test_each_row_is_headed_by_its_cluster_or_object(opened):
    page = opened("several")
    headed = page.run(
        "Object.fromEntries([...document.querySelectorAll('table')].map((table) => [table.caption.textContent, "
        "[...table.tBodies[0].rows].every((row) => row.cells[0].matches('th[scope=row]'))]))"
    )
    tables = {name: heads for name, heads in headed.items() if name.startswith("The ")}
    assert {name.split()[-1] for name in tables} >= {"groups", "clusters", "objects"}
    assert all(tables.values())


def test_hostile_names_are_shown_as_text(opened):
    page = opened("hostile")
    assert page.run("document.scripts.length") == 2
    assert (
        page.run("document.querySelectorAll('[onerror], [onload], #page svg, #page script').length")
        == 0
    )
    bare = page.run(
        "[...document.querySelectorAll('td.name, th.name[scope=row]')].map(n => n.textContent)"
    )
    assert {shown(name) for name in HOSTILE} <= set(bare)
    assert page.run(
        "[...document.querySelectorAll('tbody .name')].every(n => n.firstChild.tagName === 'BDI')"
    )


def test_the_content_security_policy_is_enforced(browser, pages):
    page = browser.open(pages["hostile"])
    page.run(
        """(() => {
          window.broken = [];
          document.addEventListener("securitypolicyviolation", (e) => broken.push(e.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.ran = 1";
          document.body.append(script);
          const node = document.createElement("p");
          node.setAttribute("onclick", "window.ran = 2");
          node.setAttribute("style", "color: red");
          document.body.append(node);
          node.click();
          const image = document.createElement("img");
          image.src = "https://nowhere.invalid/x.png";
          document.body.append(image);
        })()"""
    )
    assert page.run("fetch('data:,x').then(() => 'loaded', () => 'refused')") == "refused"
    end = time.monotonic() + 10
    wanted = {"script-src-elem", "script-src-attr", "style-src-attr", "img-src", "connect-src"}
    while set(page.run("window.broken")) != wanted and time.monotonic() < end:
        time.sleep(0.05)
    assert set(page.run("window.broken")) == wanted
    assert page.run("window.ran === undefined")


COLUMN = "[...document.querySelectorAll('#objects tbody tr')].map(r => r.cells[{at}].textContent)"


def numbers(page, at):
    return [
        None if text == "–" else float(text.replace("\u2212", "-").replace(",", ""))  # noqa: RUF001
        for text in page.run(COLUMN.replace("{at}", str(at)))
    ]


def test_tables_are_sorted_by_keyboard(opened):
    page = opened("several")
    before = numbers(page, 3)
    assert len(before) == 25
    assert before == sorted(before)
    head = "document.querySelectorAll('#objects thead th')[{}]"
    page.run(head.format(6) + ".querySelector('button').focus()")  # silhouettes
    page.press("Enter")
    assert page.run(head.format(6) + ".getAttribute('aria-sort')") == "ascending"
    rising = numbers(page, 6)
    assert rising == sorted(rising)
    page.press("Enter")
    assert page.run(head.format(6) + ".getAttribute('aria-sort')") == "descending"
    falling = numbers(page, 6)
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[0]
    assert page.run(head.format(3) + ".getAttribute('aria-sort')") == "none"
    page.run(head.format(0) + ".querySelector('button').click()")  # names, numbers in them by size
    assert numbers(page, 0) == list(range(25))


def test_objects_can_be_searched(opened):
    page = opened("many")
    page.run("document.querySelector('#objects input').focus()")
    page.type("123")
    actual = page.run(COLUMN.replace("{at}", "0"))
    assert actual
    assert all("123" in name for name in actual)
    status = page.run("document.querySelector('#objects .status').textContent")
    assert status == f"{len(actual)} of {len(actual)} found in 2,000 shown."
    page.type("zzz")
    assert page.run("document.querySelector('#objects .status').textContent") == "Nothing found."
    assert page.run(COLUMN.replace("{at}", "0")) == []


def test_long_tables_are_shown_in_parts(opened):
    page = opened("many")
    assert len(page.run(COLUMN.replace("{at}", "0"))) == 25
    more = "document.querySelector('#objects button.more')"
    assert page.run(more + ".textContent") == "Show 200 more (1,975 left)"
    page.run(more + ".focus()")
    page.press("Enter")
    assert len(page.run(COLUMN.replace("{at}", "0"))) == 225
    for _ in range(9):
        page.run(more + ".click()")
    assert len(page.run(COLUMN.replace("{at}", "0"))) == 2000
    assert page.run(more + ".checkVisibility()") is False


def test_pictures_are_enlarged_and_closed_by_keyboard(opened):
    page = opened("several")
    page.run("document.querySelectorAll('button.paper')[1].focus()")
    page.press("Enter")
    assert page.run("document.querySelector('dialog').open")
    title = page.run("document.querySelectorAll('figure h3')[1].textContent")
    assert page.run("document.querySelector('dialog h2').textContent") == title
    assert page.run("document.querySelector('dialog img').naturalWidth > 300")
    wide, window = page.run("[document.querySelector('dialog').scrollWidth, innerWidth]")
    assert wide <= window
    page.picture(SCREENSHOTS / "enlarged.png", whole=False)
    page.press("Escape")
    assert page.run("document.querySelector('dialog').open") is False
    assert page.run("document.activeElement === document.querySelectorAll('button.paper')[1]")


def test_every_control_is_reachable_by_keyboard(opened):
    page = opened("one")
    wanted = page.run(
        "[...document.querySelectorAll('a, button, input, summary, [tabindex]')]"
        ".filter(n => n.checkVisibility()).length"
    )
    reached = set()
    for _ in range(wanted + 3):
        page.press("Tab")
        at, outline, name = page.run(
            """(() => {
              const node = document.activeElement;
              const all = [...document.querySelectorAll("*")];
              const text = node.getAttribute("aria-label") || node.textContent || node.labels?.[0]?.textContent;
              return [all.indexOf(node), getComputedStyle(node).outlineStyle, text.trim()];
            })()"""
        )
        if page.run("document.activeElement === document.body"):
            break
        reached.add(at)
        assert outline != "none"
        assert name
    assert len(reached) == wanted > 20


def test_pictures_can_be_saved(browser, opened, pages, tmp_path):
    page = opened("several")
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    link = "document.querySelector('figure a.save')"
    name, address = page.run(f"[{link}.download, {link}.href]")
    page.run(f"{link}.click()")
    target = tmp_path / name
    end = time.monotonic() + 20
    while not target.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert target.read_bytes() == base64.b64decode(address.split(",", 1)[1])
    page.run("document.querySelector('#repeat a.save').click()")
    settings = tmp_path / "conclust-settings.json"
    while not settings.exists() and time.monotonic() < end:
        time.sleep(0.05)
    saved = json.loads(settings.read_text("utf-8"))
    assert saved["decision"] == decision(pages["several"])["sentence"]
    assert "conclust" in saved["versions"]


def test_the_page_prints_expanded_and_in_light_colours(opened):
    page = opened("several", dark=True)
    page.print(SCREENSHOTS / "several.pdf")
    content = (SCREENSHOTS / "several.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 4 <= pages <= 20
    page.ask("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_reduced_motion_is_respected(opened):
    page = opened("one", still=True)
    assert page.run("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_the_decision_is_shown_without_scripts(browser, pages):
    page = browser.open(pages["several"])
    page.ask("Emulation.setScriptExecutionDisabled", value=True)
    page.happened.clear()
    page.go(pages["several"])
    page.picture(SCREENSHOTS / "no-script.png", whole=False)
    tree = page.ask("Accessibility.getFullAXTree")["nodes"]
    visible = {node["name"]["value"] for node in tree if "name" in node}
    assert decision(pages["several"])["sentence"] in visible


def test_on_a_phone_the_groups_are_read_without_scrolling_sideways(opened):
    page = opened("several", **LOOKS["phone"])
    widths = page.run(
        "[...document.querySelectorAll('.scroll')].filter((box) => box.querySelector('td.wide'))"
        ".map((box) => [box.scrollWidth, box.clientWidth])"
    )
    assert widths
    assert all(needed <= there for needed, there in widths)
    titles = page.run(
        "[...document.querySelectorAll('tr:has(td.wide)')].map((row) => "
        "[...row.children].map((cell) => cell.dataset.title).join())"
    )
    assert "Cluster,What distinguishes it,Objects,Share,Confidence,Separation" in titles
