"""The site: every public object has a page, and faults of a built site are detected."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from tools.check_site import wrong
from tools.methods_table import PAGE
from tools.site_pages import TASKS, api, llms, names_of
from tools.site_pictures import FRONT, PICTURES, front, memberships

import conclust

GOOD = """<html><head><link rel="stylesheet" href="_static/a.css"><link rel="canonical" href="https://a.example/"></head>
<body><h1 id="top">A</h1><a href="#top">up</a> <a href="b.html#part">b</a> <a href="https://a.example/x">far</a>
<a href="folder/">folder</a> <img src="data:image/png;base64,AAAA"></body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "_static" / "a.css").write_text("a { background: url('b.png'); }")
    (tmp_path / "_static" / "b.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="part">b</p>')
    (tmp_path / "folder" / "index.html").write_text('<a href="../index.html#top">back</a>')
    (tmp_path / "llms.txt").write_text("# A\n\n- [a](index.html): of a\n- [b](b.html#part)\n")
    return tmp_path


def test_a_valid_site_passes(site):
    assert list(wrong(site)) == []


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ('<a href="c.html">c</a>', "links to c.html, which is not there"),
        ('<a href="b.html#whole">b</a>', "no such anchor"),
        ('<img src="gone.png">', "not there"),
        ('<script src="https://a.example/x.js"></script>', "from outside"),
        ('<link rel="stylesheet" href="https://a.example/x.css">', "from outside"),
        ('<img srcset="b.png 1x, https://a.example/x.png 2x" src="_static/b.png">', "from outside"),
        ('<iframe src="http://a.example/"></iframe>', "from outside"),
        ('<p style="background: url(https://a.example/x.png)">x</p>', "from outside"),
        ("<style>@import 'https://a.example/x.css';</style>", "from outside"),
    ],
)
def test_faults_of_a_page_are_detected(site, page, said):
    (site / "wrong.html").write_text(page)
    values = list(wrong(site))
    assert values
    assert all(sentence.startswith("wrong.html ") for sentence in values)
    assert said in values[-1]


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("@font-face { src: url(gone.woff) }", "not there"),
        ("a{b:url(https://a.example/)}", "outside"),
    ],
)
def test_faults_of_a_style_are_detected(site, style, said):
    (site / "_static" / "b.css").write_text(style)
    assert said in "".join(wrong(site))


@pytest.mark.parametrize(
    ("text", "said"),
    [("# A\n- [c](c.html): c\n", "llms.txt links to c.html"), ("# A", "no llms.txt")],
)
def test_faults_of_llms_txt_are_detected(site, text, said):
    (site / "llms.txt").write_text(text)
    (sentence,) = wrong(site)
    assert said in sentence


def test_llms_txt_lists_every_page():
    text = llms()
    assert text.startswith("# conclust\n\n> Consensus clustering for Python")
    listed = set(re.findall(r"\]\(([^)]+)\.html\)", text))
    written = {
        path.relative_to(PAGE.parent).with_suffix("").as_posix()
        for path in PAGE.parent.rglob("*.md")
        if "made" not in path.parts and path.name not in ("index.md", "coming_from.md")
    }
    assert written <= listed
    assert {f"gallery/{path.stem}" for path in EXAMPLES} <= listed
    assert not [line for line in text.splitlines() if line.endswith(": ")]


def listed():
    return [
        name
        for _, headings in TASKS.values()
        for _, _, home, within in headings
        for name in names_of(home, within)
    ]


def test_every_public_object_has_one_page():
    names = listed()
    assert len(names) == len(set(names)) > 200
    homes = {home for _, headings in TASKS.values() for _, _, home, _ in headings} - {"conclust"}
    assert homes >= set(conclust._MODULES) - {"consensus"}
    assert set(conclust._HOMES) <= set(names)
    for home in homes:
        module = importlib.import_module(f"conclust.{home}")
        there = {name for name in module.__all__ if callable(getattr(module, name))}
        assert there <= {name.removeprefix(f"{home}.") for name in names}, home
    text = "".join(page for _, page in api())
    assert all(f"\n   {name}\n" in text for name in names)


def test_pictures_match_their_texts(tmp_path):
    shares = memberships()
    assert shares.shape == (12, 3)
    assert shares.argmax(axis=1).tolist() == [0] * 5 + [1] * 3 + [2] * 4
    assert np.delete(shares.max(axis=1), 4).min() > 0.89
    for name, draw in PICTURES.items():
        draw().savefig(tmp_path / f"{name}.svg")
    named = re.findall(
        r"_static/made/(\w+)\.svg", "".join(p.read_text() for p in PAGE.parent.rglob("*.md"))
    )
    assert set(named) == set(PICTURES)
    front().savefig(tmp_path / "front.svg")
    assert FRONT.is_file()


def test_python_blocks_of_pages_run():
    """Python blocks are doctests; blocks that cannot run here have no language."""
    for path in PAGE.parent.rglob("*.md"):
        # tests/cli/test_customers_page.py runs the scripts of its page.
        if "made" not in path.parts and path.name != "customers.md":
            for block in re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
                assert block.startswith(">>> "), (path, block)


EXAMPLES = sorted((PAGE.parent / "examples").glob("plot_*.py"))


# ---- formulas

DOCS = PAGE.parent


def formulas():
    """Yield each formula of a page or a docstring, and whether it stands on lines of its own."""
    for path in sorted(DOCS.rglob("*.md")):
        if "made" not in path.parts:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
            for dollars, tex in re.findall(r"(?<!\\)(\$\$?)([^$]+)\1", text):
                yield path.name, tex, len(dollars) == 2
    for path in sorted((DOCS.parent / "src").rglob("*.py")):
        for block in re.findall(r"\.\. math::\n\n((?: {8}.*\n)+)", path.read_text("utf-8")):
            yield path.name, block.strip(), True


def test_every_formula_is_translated():
    pytest.importorskip("docutils", reason="make docs installs docutils")
    from tools.site_math import mathml

    names = [name for name, tex, block in formulas() if mathml(tex, block).startswith("<math ")]
    assert len(names) > 60
    assert {*names} >= {"pcc.py", "errata.md", "how_pcc_works.md"}


def test_a_formula_as_mathml():
    pytest.importorskip("docutils", reason="make docs installs docutils")
    from docutils.utils.math import MathError
    from tools.site_math import mathml

    assert mathml("y_i^2") == (
        '<math xmlns="http://www.w3.org/1998/Math/MathML">'
        "<msubsup><mi>y</mi><mi>i</mi><mn>2</mn></msubsup></math>"
    )
    assert 'display="block"' in mathml("a", block=True)
    assert mathml(r"m \log m").count("<mspace") == 2
    assert mathml("a &= b \\\\ c &= d", block=True).count("<mtr>") == 2
    with pytest.raises(MathError):
        mathml("\\nonesuch")


# ---- figures
