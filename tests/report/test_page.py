"""The page: one file that loads nothing, allows only its own script, and shows names as text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from conclust import EAC, ConsensusClustering, Ensemble, plotting, report
from conclust.exceptions import MissingExtraError, ParameterError
from conclust.report.page import data_block, page
from conclust.report.reading import read_result
from conclust.words.names import LONGEST, shown

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--<script>",
    "]]>&lt;b&gt;",
    "javascript:alert(1)",
    "\u202egpj.exe",
    "\u2066rtl \u05d0\u05d1\u05d2",
    "a\u2028b\u2029c",
    "$x$ $\\frac{1$",
    "x" * 10_000,
    "\x00\x1b[31mred",
    "\ud800 alone",
    "'; drop",
    "{decision} %s",
]
N = 28


class Parsed(HTMLParser):
    """Every element with its attributes, and the text in scripts, styles and elsewhere."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.inside, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "input"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, data):
        self.texts.append(
            (
                self.inside[-1] if self.inside else "",
                dict(self.elements[-1][1]) if self.elements else {},
                data,
            )
        )

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text_in(self, tag):
        return ["".join(data for name, _, data in self.texts if name == tag)]


def scripts(parsed):
    values = [(attributes, data) for name, attributes, data in parsed.texts if name == "script"]
    assert len(values) == 2
    return values


@pytest.fixture(scope="module")
def hostile():
    """A page of hostile names of objects and features."""
    rng = np.random.default_rng(0)
    z = np.arange(N) % 2
    labels = np.where(rng.random((N, 9)) < 0.2, 1 - z[:, None], z[:, None])
    names = [HOSTILE[i % len(HOSTILE)] for i in range(N)]
    X = rng.normal(size=(N, len(HOSTILE))) + 3 * z[:, None]
    model = EAC(2).fit(labels)
    return report.account(model, ensemble=labels, X=X, names=names, feature_names=HOSTILE)


def test_the_page_is_self_contained(hostile):
    text = page(hostile)
    parsed = Parsed(text)
    assert parsed.inside == []
    assert text.startswith("<!doctype html>")
    assert parsed.of("html") == [{"lang": "en"}]
    tags = {tag for tag, _ in parsed.elements}
    assert not tags & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "svg",
        "a",
        "video",
    }
    for tag, attributes in parsed.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href", "style", "srcset", "action"), (tag, name, value)
    assert not re.search(r"url\(|@import|https?://", text.split('id="account"')[0])
    assert not re.search(
        r"\b(fetch|XMLHttpRequest|eval|Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b",
        scripts(parsed)[1][1],
    )


def test_the_policy_allows_this_script_and_style_only(hostile):
    parsed = Parsed(page(hostile))
    (policy,) = [
        m["content"] for m in parsed.of("meta") if m.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    (style,) = [data for name, _, data in parsed.texts if name == "style"]
    assert rules == {
        "default-src": "'none'",
        "script-src": digest(scripts(parsed)[1][1]),
        "style-src": digest(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # The policy does not apply to content before it.
    head = [tag for tag, _ in parsed.elements]
    assert head.index("script") > head.index("meta")
    assert head[:4] == ["html", "head", "meta", "meta"]


def test_the_data_is_strict_json_and_every_name_is_text(hostile):
    (attributes, data), _ = scripts(Parsed(page(hostile)))
    assert attributes == {"type": "application/json", "id": "account"}
    assert data.isascii()
    assert not set(data) & set("<>&")

    def refused(constant):
        raise AssertionError(constant)

    entries = json.loads(data, parse_constant=refused)
    objects = next(part for part in entries["sections"] if part["id"] == "objects")["blocks"][1][
        "rows"
    ]
    names = {row[0] for row in objects}
    assert names == {shown(name) for name in HOSTILE}
    assert "</script><img src=x onerror=alert(1)>" in names
    assert "$x$ $\\frac{1$" in names
    rows = next(part for part in entries["sections"] if part["id"] == "features")["blocks"][1][
        "clusters"
    ][0]["rows"]
    assert {row["feature"] for row in rows} <= names
    assert len(data) < 1_500_000  # names of ten thousand characters are truncated


def test_names_are_truncated_and_show_invisible_characters():
    assert shown("x" * 10_000) == "x" * LONGEST + "… (10,000 characters)"
    assert shown("\u202egpj.exe") == "\\u202egpj.exe"
    assert shown("\ud800a\x00") == "\\ud800a\\x00"
    assert shown("Ωμέγα ש 漢字 é") == "Ωμέγα ש 漢字 é"
    assert shown("") == ""


def test_without_scripts_the_decision_is_plain_text(hostile):
    account = {**hostile, "source": shown("</noscript><script>alert(1)</script>")}
    parsed = Parsed(page(account))
    printed = "".join(
        data for name, _, data in parsed.texts if name in ("h1", "p", "bdi", "noscript")
    )
    assert hostile["decision"]["sentence"] in printed
    assert "</noscript><script>alert(1)</script>" in printed
    assert len(parsed.of("script")) == 2


def test_nan_is_null_in_the_account():
    text = data_block({"a": [float("nan"), float("inf"), -float("inf"), 1.5], "b": "<\u2028&>"})
    assert text == '{"a":[null,null,null,1.5],"b":"\\u003c\\u2028\\u0026\\u003e"}'


def test_pictures_are_embedded_and_explained(hostile):
    pictures = [
        picture
        for part in hostile["sections"]
        for block in part["blocks"]
        for picture in block.get("pictures", ())
    ]
    assert {p["id"] for p in pictures} >= {
        "heatmap",
        "embedding",
        "bars",
        "silhouette",
        "map",
        "tree",
    }
    for picture in pictures:
        assert len(picture["how"]) > 60
        assert len(picture["alt"]) > 10
        kind, _, data = picture["source"].partition(";base64,")
        content = base64.b64decode(data, validate=True)
        if kind == "data:image/svg+xml":
            assert b"<script" not in content
            assert b"onload" not in content
            assert not re.search(rb'(?:href|src)="(?!#|data:)', content)
        else:
            assert kind == "data:image/png"
            assert content.startswith(b"\x89PNG")
        assert picture["file"].endswith(kind[11:14])


def test_a_failed_picture_shows_its_reason(monkeypatch):
    def broken(*_, **__):
        raise ValueError("no <b>luck</b>")

    monkeypatch.setattr(plotting, "partition_map", broken)
    labels = np.repeat([[0, 0, 1], [1, 1, 1]], 6, axis=0)
    content = report.account(EAC(2).fit(labels), ensemble=labels)
    pictures = {
        picture["id"]: picture
        for part in content["sections"]
        for block in part["blocks"]
        for picture in block.get("pictures", ())
    }
    assert pictures["map"]["error"] == "This picture could not be drawn: ValueError: no <b>luck</b>"
    assert "source" not in pictures["map"]
    assert "error" not in pictures["heatmap"]
    Parsed(page(content))


def test_without_matplotlib_one_box_gives_the_reason(monkeypatch):
    def missing(*_, **__):
        raise MissingExtraError("Plotting needs matplotlib.")

    for name in plotting.__all__:
        monkeypatch.setattr(plotting, name, missing)
    labels = np.repeat([[0, 0, 1], [1, 1, 1]], 6, axis=0)
    content = report.account(EAC(2).fit(labels), ensemble=labels)
    pictures = [
        picture
        for part in content["sections"]
        for block in part["blocks"]
        for picture in block.get("pictures", ())
    ]
    assert [p["error"] for p in pictures] == ["There are no pictures. Plotting needs matplotlib."]
    assert not [
        p
        for part in report.account(EAC(2).fit(labels), ensemble=labels, pictures=False)["sections"]
        for block in part["blocks"]
        for p in block.get("pictures", ())
    ]


def test_frames_may_have_names_other_than_text(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 2)), columns=[3, ("a", "b")])
    labels = np.repeat([[0, 0, 1], [1, 1, 1]], 6, axis=0)
    written = report.write(
        EAC(2).fit(labels), tmp_path / "x.html", ensemble=Ensemble(labels), X=X, pictures=False
    )
    assert "('a', 'b')" in written.read_text("utf-8")


def test_a_file_that_cannot_be_written_is_refused_before_the_page_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("conclust.report.writing.account", None)
    target, model = tmp_path / "none" / "r.html", EAC(1).fit([[0], [0]])
    with pytest.raises(FileNotFoundError) as caught:
        report.write(model, target)
    assert caught.value.filename == str(target)
    with pytest.raises(ParameterError, match="the path of a file, not of a folder"):
        report.write(model, tmp_path)


def test_columns_in_another_order_are_scaled_by_name():
    X = np.random.default_rng(0).normal(size=(90, 3)) + 6 * np.eye(3)[np.arange(90) % 3]
    frame = pd.DataFrame(X * [1.0, 1e4, 1.0], columns=["a", "b", "c"])
    model = ConsensusClustering(random_state=0).fit(frame)
    assert model.generator_.scale_ == "standard"
    expected = model.generator_.scaler_.transform(frame.to_numpy())
    for order in (list("abc"), list("cba")):
        np.testing.assert_allclose(read_result(model, X=frame[order]).points, expected)
