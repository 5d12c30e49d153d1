"""Write what the site says from the code: the API by task, the command line, the works cited, llms.txt.

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
from conclust._lazy import homes
from conclust.cli.parser import build_parser
from tools.methods_table import PAGE as METHODS

DOCS = METHODS.parent
ROOT = DOCS.parent
MADE = DOCS / "reference" / "made"

# One page per task, one heading per line: its title, its content, and the home of its names: a module of conclust, or
# "conclust" with the modules of names that are at the top.
TASKS: dict[str, tuple[str, list[tuple[str, str, str, tuple[str, ...]]]]] = {
    "points": (
        "From points to a consensus",
        [
            (
                "Points to consensus",
                "Everything in one estimator.",
                "conclust",
                ("conclust.pipeline",),
            ),
            (
                "Members from points",
                "Clusterings of points, with parameters drawn for each.",
                "conclust",
                (
                    "conclust.generation.corruption",
                    "conclust.generation.generator",
                    "conclust.generation.views",
                ),
            ),
            ("Your own members", "The base of a kind of members.", "generation", ()),
            (
                "Models in files",
                "A fitted model is saved by its method ``save``.",
                "conclust",
                ("conclust._files.saving",),
            ),
            (
                "Topics",
                "Embeddings of texts to topics, with noise.",
                "conclust",
                ("conclust.topics",),
            ),
            (
                "Networks",
                "Communities of a network, and one more run on the edges that they agree on.",
                "conclust",
                ("conclust.networks",),
            ),
            ("Networks and labels", "Clusters of nodes as sets of nodes.", "networks", ()),
        ],
    ),
    "consensus": (
        "Consensus methods",
        [
            (
                "The default",
                "Weights the partitions by their certainty and chooses the number of clusters.",
                "conclust",
                ("conclust.consensus.auto",),
            ),
            (
                "Evidence accumulation",
                "Linkage on the co-association.",
                "conclust",
                ("conclust.consensus.linkage",),
            ),
            (
                "Trees",
                "Cutting dendrograms, and the stability of clusters.",
                "consensus.linkage",
                (),
            ),
            (
                "Graphs",
                "Objects, clusters or both are vertices, and the graph is cut.",
                "conclust",
                ("conclust.consensus.graph",),
            ),
            (
                "Label vectors",
                "Each object is the vector of its labels, and these vectors are clustered.",
                "conclust",
                ("conclust.consensus.label_vectors",),
            ),
            (
                "Voting",
                "Clusters are matched, then votes are counted.",
                "conclust",
                ("conclust.consensus.voting",),
            ),
            (
                "Median partitions",
                "The partition with the smallest distance from all.",
                "conclust",
                ("conclust.consensus.median",),
            ),
            (
                "Models of labels",
                "Labels as draws from a distribution for each cluster.",
                "conclust",
                ("conclust.consensus.mixture",),
            ),
            (
                "Papers: probabilities from pairs",
                "Memberships that explain the co-association of pairs.",
                "conclust",
                ("conclust.consensus.papers.probabilistic",),
            ),
            (
                "Papers: concept lattices",
                "A partition from the concepts that most partitions share.",
                "conclust",
                ("conclust.consensus.papers.fca",),
            ),
            (
                "Papers: factors of a matrix",
                "The matrix of pairs as a product of memberships.",
                "conclust",
                ("conclust.consensus.papers.matrix",),
            ),
            (
                "Literature",
                "Methods named by benchmark papers, as published.",
                "conclust",
                ("conclust.consensus.literature",),
            ),
            (
                "List of methods",
                "Requirements and results of each method.",
                "conclust",
                ("conclust.consensus.method",),
            ),
        ],
    ),
    "labels": (
        "Ensembles",
        [
            (
                "Ensembles",
                "Many clusterings of the same objects, read once and frozen.",
                "conclust",
                ("conclust.ensemble",),
            ),
            ("Weights of members", "Weights, and partitions without information.", "weighting", ()),
            ("Ensembles larger than memory", "Labels in files, Zarr and Dask.", "blocks", ()),
        ],
    ),
    "number": (
        "How many clusters, how certain",
        [
            ("Number of clusters", "Resampling with one p-value.", "selection", ()),
            ("Confidence", "Confidence of objects, clusters and partitions.", "confidence", ()),
        ],
    ),
    "results": (
        "Tables, pictures, reports",
        [
            (
                "Data frames",
                "Labels, confidence and memberships as columns.",
                "conclust",
                ("conclust.results.frames",),
            ),
            ("Reports", "One HTML page to pass on.", "report", ()),
            ("Pictures", "Pictures for a paper, also of a million objects.", "plotting", ()),
            ("Result folders", "Folders written by the command line.", "results", ()),
        ],
    ),
    "anndata": (
        "AnnData",
        [
            ("Columns of an AnnData", "Functions that write into it.", "sc.tl", ()),
            ("Content of an AnnData", "Its columns as objects of conclust.", "sc.get", ()),
            ("Accessor of an AnnData", "The same functions as a namespace.", "sc", ()),
        ],
    ),
    "quantities": (
        "Quantities, data, errors",
        [
            ("Measures", "Similarity of partitions.", "metrics", ()),
            (
                "Co-association",
                "How often two objects share a cluster, and how often both were observed.",
                "conclust",
                ("conclust.evidence",),
            ),
            (
                "Evidence",
                "Counts of pairs of objects: all, in blocks, or of a sample.",
                "evidence",
                (),
            ),
            ("Divergences", "Measures of misfit for PCC.", "divergences", ()),
            ("Memberships", "Functions of membership matrices.", "membership", ()),
            ("Placing", "Assigning new objects to existing clusters.", "placing", ()),
            (
                "Similarity of clusters",
                "Similarity of clusters of different partitions.",
                "similarity",
                (),
            ),
            (
                "Neighbours of points",
                "The nearest points of each point, and their graph.",
                "neighbours",
                (),
            ),
            ("Lattice", "Partitions as a lattice: meet, join, concepts.", "lattice", ()),
            ("Data sets", "Data sets for examples.", "datasets", ()),
            (
                "Errors and warnings",
                "All errors and warnings, with their common base.",
                "exceptions",
                (),
            ),
        ],
    ),
}


def names_of(home: str, within: tuple[str, ...]) -> list[str]:
    """List the public names of a heading, as users write them after ``conclust.``."""
    if home == "conclust":
        return sorted(name for name, module in conclust._HOMES.items() if module in within)
    module = import_module(f"conclust.{home}")
    # Records that functions of a package return are documented, and are not among its names.
    lazy = homes(module.__name__) if Path(f"{module.__file__}i").exists() else ()
    returned = [
        name
        for name, value in {name: getattr(module, name) for name in (*vars(module), *lazy)}.items()
        if isinstance(value, type) and value.__module__.startswith(f"{module.__name__}.")
    ]
    names = sorted({*module.__all__, *returned}, key=lambda name: (name[0].islower(), name.lower()))
    return [
        f"{home}.{name}"
        for name in names
        if callable(getattr(module, name)) and name not in conclust._HOMES
    ]


def api() -> Iterator[tuple[str, str]]:
    """Yield the pages of the API, one per task: its name and its text."""
    for page, (title, headings) in TASKS.items():
        lines = [title, "=" * len(title), "", ".. currentmodule:: conclust", ""]
        for heading, about, home, within in headings:
            lines += [heading, "-" * len(heading), ""]
            if home != "conclust":
                lines += [f".. py:module:: conclust.{home}", "", f"In ``conclust.{home}``.", ""]
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
    for _, headings in TASKS.values():
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
            title = (
                "" if text.startswith("#") else f"# {path.stem.replace('_', ' ').capitalize()}\n\n"
            )
            text = "---\norphan: true\n---\n\n" + title + text
        yield f"experiments/{name}", text
        for link in re.findall(r"\]\(([^)#:]+\.(?:csv|png|svg|json))\)", text):
            target = MADE / "experiments" / Path(name).parent / link
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path.parent / link, target)


# Characters below which the first sentence of a page ("Yes.") is followed by the next one in llms.txt.
_SAYS_LITTLE = 50

# The parts of llms.txt: a title, and the pages, as patterns under docs/.
PARTS = (
    ("Tutorials", ("tutorials/*.md",)),
    ("How to", ("how-to/*.md", "report.md", "mixed_data.md", "many_objects.md")),
    ("Explanations", ("explanation/*.md",)),
    ("Examples", ("examples/plot_*.py",)),
    (
        "Coming from other packages, and questions",
        ("coming_from_*.md", "packages_of_*.md", "faq.md"),
    ),
    ("Reference", ("methods.md", "reference/*.md", "reference/made/*.md")),
    ("What was measured", ("reference/made/experiments/*.md",)),
)


def told(path: Path) -> tuple[str, str]:
    """Return the title of a page, and its first sentences up to one that says something."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        title, _, first = text.split('"""')[1].strip().split("\n", 2)
    else:
        title, first = text.lstrip().removeprefix("#").split("\n", 1)
    paragraphs = (part for part in re.split(r"\n\s*\n", first.strip()) if part.strip())
    prose = next((part for part in paragraphs if re.match(r"[^\W_]|\*\*|`[^`]", part)), "")
    plain = re.sub(r"\]\([^)]*\)|[\[`*]|\{[\w:]+\}", "", " ".join(prose.split()))
    sentences = re.split(r"(?<=[.?:]) (?=[A-Z])", plain)
    first = sentences.pop(0)
    while sentences and len(first) < _SAYS_LITTLE:
        first += " " + sentences.pop(0)
    return title.strip(), first


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
    for path in MADE.glob("*.*"):
        if path.name not in pages:  # Sphinx reads what an earlier version has left
            path.unlink()
    extra = MADE / "extra"
    extra.mkdir(exist_ok=True)
    (extra / "llms.txt").write_text(llms(), "utf-8")


if __name__ == "__main__":
    main()
