"""Write what the site says from the code: the API by floor, the command line, the works cited, llms.txt.

python -m tools.site_pages
"""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import conclust
from conclust.cli.parser import build_parser
from tools.methods_table import PAGE as METHODS

DOCS = METHODS.parent
ROOT = DOCS.parent
MADE = DOCS / "reference" / "made"

# A page a floor (ARCHITECTURE.md), a heading a line: its title, what it is about, and where the names are:
# a module of conclust, or "conclust" with the modules whose names stand at the top.
FLOORS: dict[str, tuple[str, list[tuple[str, str, str, tuple[str, ...]]]]] = {
    "labels": (
        "Labels and ensembles",
        [
            (
                "Ensembles",
                "Many clusterings of the same objects, read once and frozen.",
                "conclust",
                ("conclust.ensemble",),
            ),
            ("Errors and warnings", "All of one family: catch one, or all.", "exceptions", ()),
        ],
    ),
    "quantities": (
        "Quantities",
        [
            (
                "Two at the top",
                "How often two objects share a cluster; how often both were seen.",
                "conclust",
                ("conclust.evidence",),
            ),
            (
                "Evidence",
                "Counts of pairs of objects, whole, in blocks, or of a sample.",
                "evidence",
                (),
            ),
            ("Divergences", "How PCC may measure the misfit of a pair.", "divergences", ()),
            ("Measures", "How alike partitions are.", "metrics", ()),
            ("Memberships", "Reading probabilities.", "membership", ()),
            ("Placing", "New objects into clusters found before.", "placing", ()),
            (
                "Similarity of clusters",
                "How much clusters of different partitions resemble.",
                "similarity",
                (),
            ),
            (
                "Neighbours of points",
                "The nearest points of each, and the graph of them.",
                "neighbours",
                (),
            ),
            ("Lattice", "Partitions as a lattice: meet, join, concepts.", "lattice", ()),
        ],
    ),
    "stages": (
        "Members and consensus",
        [
            (
                "From points to members",
                "Clusterings of points, with parameters drawn anew for each.",
                "conclust",
                ("conclust.generation",),
            ),
            ("Members of one's own", "What a member is.", "generation", ()),
            (
                "Which members to trust",
                "Weights, and partitions that say nothing.",
                "weighting",
                (),
            ),
            ("More than fits into memory", "Labels in files, Zarr and Dask.", "blocks", ()),
            (
                "The default",
                "Number and evidence are chosen by what the members show.",
                "conclust",
                ("conclust.consensus.auto",),
            ),
            (
                "Probabilities from pairs",
                "Memberships that explain how often pairs are together.",
                "conclust",
                ("conclust.consensus.probabilistic",),
            ),
            (
                "Trees of evidence",
                "Linkage on how often pairs are together.",
                "conclust",
                ("conclust.consensus.linkage",),
            ),
            (
                "Trees by themselves",
                "Cutting them, and what clusters are stable.",
                "consensus.linkage",
                (),
            ),
            (
                "Graphs",
                "Objects, clusters or both are vertices, and the graph is cut.",
                "conclust",
                ("conclust.consensus.graph", "conclust.consensus.trajectories"),
            ),
            (
                "Networks",
                "Communities of a network, and one more run on the edges that they agree on.",
                "conclust",
                ("conclust.networks",),
            ),
            ("Networks and labels", "Clusters of nodes as sets of them.", "networks", ()),
            (
                "Similar clusters",
                "Evidence is passed on between clusters that resemble.",
                "conclust",
                ("conclust.consensus.links", "conclust.consensus.refinement"),
            ),
            (
                "Label vectors",
                "Each object is the list of its labels, and these are clustered.",
                "conclust",
                ("conclust.consensus.label_vectors",),
            ),
            (
                "Voting",
                "Clusters are matched, then counted.",
                "conclust",
                ("conclust.consensus.voting",),
            ),
            (
                "Median partitions",
                "The partition that is nearest to all.",
                "conclust",
                ("conclust.consensus.median", "conclust.consensus.fca"),
            ),
            (
                "Factors of a matrix",
                "The matrix of pairs as a product of memberships.",
                "conclust",
                ("conclust.consensus.matrix",),
            ),
            (
                "Models of labels",
                "Labels as draws from a distribution for each cluster.",
                "conclust",
                ("conclust.consensus.mixture",),
            ),
            (
                "The list of methods",
                "What each needs and gives.",
                "conclust",
                ("conclust.consensus.registry",),
            ),
        ],
    ),
    "judging": (
        "How many, how sure",
        [
            ("Points to consensus", "All in one estimator.", "conclust", ("conclust.pipeline",)),
            (
                "Topics",
                "Embeddings to topics that stay, with noise.",
                "conclust",
                ("conclust.topics",),
            ),
            ("How many clusters", "By resampling, with one p-value.", "selection", ()),
            ("How sure", "Of objects, clusters and partitions.", "confidence", ()),
            (
                "As a table",
                "Columns of the frame that you have.",
                "conclust",
                ("conclust.results.frames",),
            ),
            (
                "Methods side by side",
                "Several methods on one ensemble, with their scores.",
                "conclust",
                ("conclust.trials",),
            ),
            ("What a comparison holds", "A row for each method.", "trials", ()),
        ],
    ),
    "edges": (
        "Pictures, pages, data",
        [
            ("Pictures", "For a paper; of a million objects too.", "plotting", ()),
            ("Reports", "One page to pass on.", "report", ()),
            ("Results of the shell", "Folders, read back.", "results", ()),
            ("Columns of an AnnData", "Functions that write into it.", "sc.tl", ()),
            ("Pictures of an AnnData", "Of its columns and their consensus.", "sc.pl", ()),
            ("What an AnnData has", "As objects of conclust.", "sc.get", ()),
            ("Methods of an AnnData", "The same as a namespace.", "sc", ()),
            ("Data", "Sets to try things on.", "datasets", ()),
        ],
    ),
}


def names_of(home: str, within: tuple[str, ...]) -> list[str]:
    """List the public names of a heading, as users write them after ``conclust.``."""
    if home == "conclust":
        return sorted(name for name, module in conclust._HOMES.items() if module in within)
    module = import_module(f"conclust.{home}")
    return [
        f"{home}.{name}"
        for name in sorted(module.__all__, key=lambda name: (name[0].islower(), name.lower()))
        if callable(getattr(module, name)) and name not in conclust._HOMES
    ]


def api() -> Iterator[tuple[str, str]]:
    """Yield the pages of the API, each a floor: its name and its text."""
    for page, (title, headings) in FLOORS.items():
        lines = [title, "=" * len(title), "", ".. currentmodule:: conclust", ""]
        for heading, about, home, within in headings:
            lines += [heading, "-" * len(heading), ""]
            if home != "conclust":
                lines += [f".. py:module:: conclust.{home}", "", f"From ``conclust.{home}``:"]
            lines += [about, "", ".. currentmodule:: conclust"]
            lines += ["", ".. autosummary::", "   :toctree: api", ""]
            lines += [f"   {name}" for name in names_of(home, within)] + [""]
        yield f"{page}.rst", "\n".join(lines)


def commands() -> str:
    """Return the page of the command line: what ``--help`` prints, of each command."""
    parser = build_parser()
    (choices,) = (
        action.choices
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    text = ["# The command line\n", "What `conclust --help` prints, and each command's.\n"]
    text.append(f"```text\n{parser.format_help()}```\n")
    for name, command in choices.items():
        text.append(f"## conclust {name}\n\n```text\n{command.format_help()}```\n")
    return "\n".join(text)


def public() -> dict[str, Any]:
    """Return the public objects by the names of the API's pages."""
    found: dict[str, Any] = {}
    for _, headings in FLOORS.values():
        for _, _, home, within in headings:
            for name in names_of(home, within):
                value: Any = conclust
                for part in name.split("."):
                    value = getattr(value, part)
                found[name] = value
    return found


def references_of(doc: str) -> list[str]:
    """List the works of a docstring's section References, each as one line."""
    lines = inspect.cleandoc(doc).splitlines()
    starts = [
        i for i in range(len(lines) - 1) if lines[i] == "References" and set(lines[i + 1]) == {"-"}
    ]
    if not starts:
        return []
    rest = lines[starts[0] + 2 :]
    ends = [i for i in range(len(rest) - 1) if rest[i] and set(rest[i + 1]) == {"-"}]
    body = "\n".join(rest[: ends[0]] if ends else rest)
    works = re.split(r"\n\s*\n|\n(?=\d+\. |- |\.\. \[)", body)
    return [
        re.sub(r"^(\d+\. |- |\.\. \[\w+\] )", "", " ".join(work.split()))
        for work in works
        if work.strip()
    ]


def bibliography() -> str:
    """Return the page of the works that docstrings refer to, with who refers to them."""
    users: dict[str, list[str]] = {}
    for name, value in public().items():
        for work in references_of(value.__doc__ or ""):
            users.setdefault(work, []).append(name)
    lines = ["# Bibliography\n", "The works that the reference refers to, and where it does.\n"]
    for work in sorted(users, key=str.casefold):
        links = ", ".join(f"{{py:obj}}`~conclust.{name}`" for name in users[work])
        lines.append(f"- {work.replace('``', '`')} ({links})")
    return "\n".join(lines) + "\n"


def changelog() -> str:
    """Return the list of changes, its links as they are from the site."""
    return (ROOT / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](../../")


def words() -> str:
    """Return the table of words that ARCHITECTURE.md has."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    return text.split("\n## Words\n")[1].split("\n## ")[0].strip() + "\n"


def experiments() -> Iterator[tuple[str, str]]:
    """Yield what the experiments found: their pages, and the tables that these link to."""
    pages = sorted((ROOT / "experiments").rglob("*.md"))
    names = [path.relative_to(ROOT / "experiments").as_posix() for path in pages]
    for path, name in zip(pages, names, strict=True):
        text = path.read_text("utf-8").replace("](../../docs/", "](../../../../")
        if name == "README.md":
            inner = ["RESULTS.md", *(other for other in names if other.endswith("/README.md"))]
            text += "\n```{toctree}\n:hidden:\n\n" + "\n".join(inner) + "\n```\n"
        elif not name.endswith(("README.md", "RESULTS.md")):
            text = "---\norphan: true\n---\n\n" + text
        yield f"experiments/{name}", text
        for link in re.findall(r"\]\(([^)#:]+\.(?:csv|png|svg|json))\)", text):
            target = MADE / "experiments" / Path(name).parent / link
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path.parent / link, target)


# The parts of llms.txt: a title, and the pages, as patterns under docs/.
PARTS = (
    ("Tutorials", ("tutorials/*.md",)),
    ("How to", ("how-to/*.md", "report.md", "mixed_data.md", "many_objects.md")),
    ("Explanations", ("explanation/*.md",)),
    ("Examples", ("examples/plot_*.py",)),
    ("Coming from other packages, and questions", ("coming_from_*.md", "faq.md")),
    ("Reference", ("methods.md", "reference/*.md", "reference/made/*.md")),
    ("What was measured", ("reference/made/experiments/*.md",)),
)


def told(path: Path) -> tuple[str, str]:
    """Return the title of a page, and its first sentence or the most that fits a line."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        title, _, first = text.removeprefix('"""').strip().split("\n", 2)
    else:
        title, first = text.lstrip().removeprefix("#").split("\n", 1)
    paragraphs = (part for part in re.split(r"\n\s*\n", first.strip()) if part.strip())
    prose = next((part for part in paragraphs if part[0].isalpha() or part[0] == "*"), "")
    plain = re.sub(r"\]\([^)]*\)|[\[`*]|\{\w+\}", "", " ".join(prose.split()))
    return title.strip(), re.split(r"(?<=[.?:]) (?=[A-Z])", plain)[0]


def llms() -> str:
    """Return llms.txt, a list of the site's pages for readers that are programs (llmstxt.org)."""
    name, about = told(DOCS / "index.md")
    lines = [f"# {name}", "", f"> {about}", ""]
    for part, patterns in PARTS:
        lines += [f"## {part}", ""]
        for path in (path for pattern in patterns for path in sorted(DOCS.glob(pattern))):
            where = path.relative_to(DOCS).as_posix().replace("examples/", "gallery/")
            if path.name not in ("index.md", "words.md"):
                title, first = told(path)
                link = f"- [{title}]({Path(where).with_suffix('.html').as_posix()})"
                lines.append(f"{link}: {first}" if first else link)
        lines.append("")
    return "\n".join([*lines, recipes()])


def recipes() -> str:
    """Return the recipes of each field, a heading lower: a reader of llms.txt may read nothing else."""
    _, text = (DOCS / "how-to/recipes.md").read_text("utf-8").split("\n\n", 1)
    return "## Recipes\n\n" + text.replace("\n## ", "\n### ")


def main() -> None:
    """Write the pages."""
    MADE.mkdir(parents=True, exist_ok=True)
    pages = {
        **dict(api()),
        "commands.md": commands(),
        "bibliography.md": bibliography(),
        "changelog.md": changelog(),
        "words.md": words(),
        **dict(experiments()),
    }
    for name, text in pages.items():
        path = MADE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:  # Sphinx goes by times
            path.write_text(text, "utf-8")
    extra = MADE / "extra"
    extra.mkdir(exist_ok=True)
    (extra / "llms.txt").write_text(llms(), "utf-8")


if __name__ == "__main__":
    main()
