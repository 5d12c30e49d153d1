"""A card for notebooks: a result in ten lines of HTML, without script, in the colours of the page around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count

_CERTAIN = 0.9
_BARS = 6  # maximum number of clusters with a bar of their own

# Text and lines have the colour of the surrounding text, light or dark; the two others are legible on both grounds. Every
# rule begins with the card's own class, so that none applies elsewhere; Jupyter floats dt, with a fifth of the width.
# A notebook that JupyterLab does not trust is shown without any of them.
_STYLE = """
.conclust-card{max-width:44rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:8px;
padding:.8rem 1.1rem;font:.93rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
.conclust-card .head{display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:baseline;justify-content:space-between}
.conclust-card .head b{font-size:1.35rem}
.conclust-card .soft,.conclust-card dt,.conclust-card summary{color:color-mix(in srgb,currentColor 68%,transparent)}
.conclust-card p{margin:.25rem 0 .5rem}
.conclust-card .sizes{display:grid;grid-template-columns:auto 1fr auto;gap:0 .7rem;align-items:center;line-height:1.45}
.conclust-card .sizes div{display:contents}
.conclust-card small{display:none}
.conclust-card .sizes span:last-child{text-align:right;font-variant-numeric:tabular-nums}
.conclust-card .sizes i{display:block;height:.65rem;min-width:2px;border-radius:2px;background:#3d8ac0}
.conclust-card dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .8rem;margin:.6rem 0 0}
.conclust-card dl dt,.conclust-card dl dd{display:block;float:none;width:auto;margin:0;padding:0;font-weight:400;text-align:left}
.conclust-card a{color:#3d8ac0}
.conclust-card details{margin-top:.6rem}
"""


_STOP = "<small>: </small>"  # between texts, where there is no style


@dataclass(frozen=True)
class Card:
    """What a card shows.

    Attributes
    ----------
    head : str
        The answer: "3 clusters".
    about : str
        Input and class of the result: "178 objects, HBGF".
    why : str
        The reason, in sentences; "" if there is none.
    sizes : sequence of (str, int)
        Names and sizes of the clusters, drawn as bars: the largest ones, in their order.
    lines : sequence of (str, str)
        Further lines, each with its title: ("Certainty", "..."). Empty ones are left out.
    link : str
        Path of the report; "" if there is none.
    """

    head: str
    about: str
    why: str = ""
    sizes: Sequence[tuple[str, int]] = ()
    lines: Sequence[tuple[str, str]] = ()
    link: str = ""

    def html(self, folded: str = "") -> str:
        """Return the card as HTML; `folded` is HTML to be folded below it."""
        parts = [f'<div class="head"><b>{escape(self.head)}</b>{_STOP}{_soft(self.about)}</div>']
        if self.why:
            parts.append(f"<p>{escape(self.why)}</p>")
        parts.append(self._bars())
        lines = [f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in self.lines if v]
        if self.link:
            page = f'<a href="{quote(self.link)}">{escape(self.link)}</a>'
            lines.append(f"<dt>Report</dt><dd>{page}</dd>")
        parts.append(f"<dl>{''.join(lines)}</dl>" if lines else "")
        if folded:
            parts.append(f"<details><summary>Parameters</summary>{folded}</details>")
        return f'<style>{_STYLE}</style><div class="conclust-card">{"".join(parts)}</div>'

    def _bars(self) -> str:
        if not self.sizes:
            return ""
        total = sum(size for _, size in self.sizes)
        order = sorted(range(len(self.sizes)), key=lambda k: -self.sizes[k][1])
        drawn = order if len(order) <= _BARS + 1 else order[:_BARS]
        largest, bars = max(self.sizes[order[0]][1], 1), ""
        for name, size in (self.sizes[k] for k in sorted(drawn)):
            width = f"{100 * size / largest:.1f}%"
            share = f"{size:,} {_soft(f'({100 * size / max(total, 1):.0f} %)')}"
            bar = f'<span>{escape(name)}</span>{_STOP}<i style="width:{width}"></i>'
            bars += f"<div>{bar}<span>{share}</span></div>"
        rest = [self.sizes[k][1] for k in order[len(drawn) :]]
        ends = " to ".join(f"{size:,}" for size in sorted({*rest[:1], *rest[-1:]}))
        more = _soft(f"and {len(rest)} more, with {ends} each") if rest else ""
        return f'<div class="sizes">{bars}</div>{more}'


def _soft(text: str) -> str:
    return f'<span class="soft">{escape(text)}</span>'


def card_of(model: Any) -> Card:
    """Return the card of a fitted estimator.

    Parameters
    ----------
    model : estimator
        With ``labels_``, ``n_clusters_`` and `EstimatorCard.reason_parts`.
    """
    K, labels, reason = int(model.n_clusters_), model.labels_, model.reason_parts
    in_memory = isinstance(labels, np.ndarray)  # labels in blocks are not counted for a card
    sizes = np.bincount(labels[labels >= 0], minlength=K) if in_memory else np.empty(0, int)
    ensemble = getattr(model, "ensemble_", None)
    tested = not reason.testable
    alone = "" if tested else "Whether there is more than one cluster was not tested."
    measured = in_memory and (K > 1 or hasattr(model, "calibration_"))
    lines = [
        ("Certainty", _how_sure(model) if measured else alone if K == 1 else ""),
        ("Next steps", reason.next()),
        ("Doubts", " ".join(getattr(model, "doubts_", ()))),
        ("Made from", "" if ensemble is None else f"{ensemble.described}."),
    ]
    return Card(
        count(K, "cluster"),
        f"{count(len(labels), 'object')}, {type(model).__name__}",
        sentence(reason.why),
        named_sizes(sizes),
        lines,
        getattr(model, "_report_", ""),
    )


def named_sizes(sizes: Ints) -> list[tuple[str, int]]:
    """Return the names and sizes of clusters, for their bars."""
    return [(f"cluster {k}", int(size)) for k, size in enumerate(sizes)]


def sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}."


def _how_sure(model: Any) -> str:
    """Return how many objects are nearly certain of their clusters, and the least certain one."""
    if hasattr(model, "calibration_"):
        return str(model.calibration_.told())
    membership = getattr(model, "membership_", None)
    if membership is None:
        of = "model.ensemble_" if hasattr(model, "ensemble_") else "ensemble"
        return f"Not measured: conclust.confidence.object_confidence(model, {of}) measures how far the clusterings agree on each object."
    held = np.flatnonzero(model.labels_ >= 0)
    share = membership[held, model.labels_[held]]
    way = "conclust.confidence.calibrated(model, X)" if getattr(model, "_in_points", False) else ""
    return agreed(share, str(held[share.argmin()]), way)


def agreed(confidence: Floats, least: str, way: str) -> str:
    """Return on how many objects the clusterings agree, the least certain one, and what measures a probability."""
    certain, objects = np.count_nonzero(confidence >= _CERTAIN), count(len(confidence), "object")
    # Rounded down: a confidence below the threshold does not read as that.
    least = f"; the least certain is object {least}, with {np.floor(100 * np.nanmin(confidence) + 1e-9) / 100:.2f}"
    who = f"All {objects}" if certain == len(confidence) else f"{certain:,} of {objects}"
    text = f"{who} have a confidence of at least {_CERTAIN:g}{least if certain < len(confidence) else ''}."
    way = (
        f"; {way} estimates what share of their pairs a fresh sample would keep together or apart"
        if way
        else ""
    )
    return f"{text} Confidence is agreement between the clusterings, not the probability of being right{way}."
