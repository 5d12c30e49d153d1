r"""A Sphinx extension: formulas as MathML, which browsers draw without scripts, fonts or the network.

docutils translates LaTeX; what it cannot translate is a warning, that is, an error of the build.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

__all__ = ["mathml", "setup"]


# docutils sets no space around it.
_LOG = "<mi>log</mi><mo>&ApplyFunction;</mo>"
_THIN = '<mspace width="0.17em"></mspace>'


def mathml(tex: str, block: bool = False) -> str:
    r"""Return a formula as a MathML element.

    Parameters
    ----------
    tex : str
        LaTeX, without delimiters.
    block : bool, default=False
        Whether it stands on lines of its own, of which ``\\`` begins a further one.
    """
    if block and "\\\\" in tex:
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    made = re.sub(r"\n\s*", "", tex2mathml(tex, as_block=block))
    return made.replace(_LOG, f"{_THIN}<mi>log</mi>{_THIN}")


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_translated(translator, node, block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    formula = _translated(translator, node, block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def _translated(translator: Any, node: nodes.Element, block: bool) -> str:
    try:
        return mathml(node.astext(), block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s: %s", node.astext(), error, location=node)
        return str(translator.encode(node.astext()))


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer, which conf.py chooses by ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
