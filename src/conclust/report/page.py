"""The account as one self-contained HTML file, which runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from importlib.resources import files
from typing import Any

from conclust._validation import count
from conclust.words.page.columns import NO_SCRIPT, OBJECTS_OF

# Characters that would end the element, start another, or end a line of a script.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="conclust">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>
{plain}
</noscript>
<div id="page"></div>
<script type="application/json" id="account">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(account: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    account : dict
        Result of `conclust.report.contents.contents`.

    Returns
    -------
    str
        HTML: style, script and pictures within; the policy of the page allows these and nothing else.
    """
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    decision = account["decision"]
    clusters, objects = decision["clusters"], decision["objects"]
    return _PAGE.format(
        policy=policy,
        title=f"{count(clusters, 'cluster')} in {count(objects, 'object')}",
        style=style,
        plain=_in_plain(account),
        data=data_block(account),
        script=script,
    )


def data_block(account: Any) -> str:
    """Return JSON that is safe within a script element: NaN is null, and unsafe characters are escaped.

    Parameters
    ----------
    account : object
        Strings, numbers, lists and dicts.

    Returns
    -------
    str
        ASCII only.
    """
    return json.dumps(_finite(account), allow_nan=False, separators=(",", ":")).translate(_ESCAPED)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def _part(name: str) -> str:
    return files("conclust.report").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _in_plain(account: dict[str, Any]) -> str:
    """Return the decision and the clusters in plain text, for browsers without scripts."""
    decision = account["decision"]
    lines = [f"<h1>{_safe(decision['head'])}</h1>"]
    lines += [f"<p>{_safe(decision[name])}</p>" for name in ("plain", "sentence")]
    if account["source"]:
        lines.append(f"<p>Source: <bdi>{_safe(account['source'])}</bdi>.</p>")
    lines += [f"<p>{_safe(doubt)}</p>" for doubt in decision["doubts"]]
    for section in account["sections"]:
        if section["id"] == "clusters":
            sizes = [row[1] for row in section["blocks"][0]["rows"]]
            listed = zip(account["clusters"], sizes, strict=True)
            objects = ", ".join(f"<bdi>{_safe(name)}</bdi>: {size:,}" for name, size in listed)
            lines.append(f"<p>{OBJECTS_OF.format(objects)}</p>")
    return "\n".join([*lines, f"<p>{NO_SCRIPT}</p>"])


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
