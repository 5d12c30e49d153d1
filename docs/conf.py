"""How Sphinx makes the site: `make docs` writes build/docs, without the network, warnings being errors."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import version as installed
from typing import Any

import matplotlib

matplotlib.use("agg")

project = "conclust"
author = "The conclust developers"
copyright = "The conclust developers, BSD-3-Clause"
version = release = installed("conclust")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "tools.site_math",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_templates",
    "examples",
    "reference/made/words.md",
    "sg_execution_times.rst",
    "gallery/sg_execution_times.rst",
]
templates_path = ["_templates"]
nitpicky = True

# What others' inventories would resolve is written as plain literals: no inventory comes with a package, and
# the build asks no server.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# The base of all solvers of PCC's objective is told of in the sources only.
nitpick_ignore = [("py:class", "conclust.consensus.papers.probabilistic.problem.Solver")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/made/uses",
    "doc_module": ("conclust",),
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "tools.site_look.house_colours"),
    "min_reported_time": 2,
    "download_all_examples": False,
    "show_signature": False,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "conclust"
html_static_path = ["_static"]
html_extra_path = ["reference/made/extra"]
html_css_files = ["conclust.css"]
html_js_files = ["sortable.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": "conclust"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    # The table of methods needs the whole width.
    "secondary_sidebar_items": {"**": ["page-toc"], "methods": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}
html_sidebars = {"index": []}


def from_elsewhere(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what classes have from scikit-learn: it is described there, with roles of its own site."""
    home = getattr(inspect.unwrap(obj), "__module__", None) if callable(obj) else None
    return True if home is not None and not home.startswith("conclust") else None


def as_a_page(app: Any, docname: str, source: list[str]) -> None:
    """Make of a Markdown file, which reads as it is, a page of the site.

    Links to other folders of the repository lead to where the site has them (tools/site_pages.py); the empty
    line that ends the output of a doctest is left out.
    """
    depth = "../" * docname.count("/")
    text = re.sub(r"\]\((\.\./)+experiments/", f"]({depth}reference/made/experiments/", source[0])
    if docname == "methods":
        text = re.sub(r"^\| `(\w+)` \|", r"| {py:class}`~conclust.\1` |", text, flags=re.MULTILINE)
    source[0] = re.sub(r"\n\n```$", "\n```", text, flags=re.MULTILINE)


def setup(app: Any) -> None:
    """Tell Sphinx of the above."""
    app.connect("autodoc-skip-member", from_elsewhere)
    app.connect("source-read", as_a_page)
