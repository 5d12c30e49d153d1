"""Write docs/methods.md and the table of ``conclust methods`` from what the methods say of themselves.

python -m tools.methods_table
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import conclust
from conclust import methods
from conclust.cli import options
from conclust.cli.commands.methods import TABLE, told
from conclust.consensus.method import Method
from conclust.generation.kinds.registry import KINDS
from tools.markdown import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "methods.md"

HEAD = """\
# The consensus methods

Start with `AutoConsensus`, the default, and use one of the ten methods after it if it fits better; [which method?](how-to/choose_a_method.md)
covers more cases. The others are for special needs. The tables list what each method accepts and returns.
`conclust methods NAME` describes one method with its parameters, and `conclust.methods()` has the same facts in Python.

"""

FOOT = """
- **Clusters**: *K*: exactly `n_clusters`, if there are that many distinct complete rows of labels. *K, or fewer*: fewer if the
  method does not distinguish that many, with a warning. *K or found*: `n_clusters`, or chosen by the method if it is
  None. *at most K*: `n_clusters` is an upper bound. *found*: the method has no such parameter.
- **Gives**: *memberships*: a probability for every object and cluster, and labels derived from them. *labels*: only a
  partition.
- **Missing**: accepts objects that some partitions did not observe. **Weights**: uses the weights of the
  partitions. **Soft members**: accepts partitions that are memberships, or uses their most probable clusters
  (*as labels*).
  **In blocks**: reads labels of more objects than fit into memory (`conclust.blocks.LabelStore`): PCC with `divergence="l2"`, EAC
  with `linkage="single"`.
  **Predicts**: has `predict` for labels of new objects, as does `ConsensusClustering` with it for new points; for other methods use
  `conclust.placing`. Methods reject input that they do not support. The table describes the default parameters.
- **Time**: n objects, N partitions, T clusters of all partitions together, K clusters of the consensus.
  Methods with n² that need all pairs at once reject more objects than their `max_dense`.
"""

ROLE = re.compile(r":\w+:`~?([^`]*)`|`+([^`]*)`+")
# The source of the method is told; others are in the docstring.
REFERENCE = re.compile(r" \[\d+\]_")

TITLES = {
    "first": "What these methods accept and return",
    "core": "Other core methods",
    "papers": "Methods of the papers that conclust implements, and methods that they are compared with",
    "literature": "Methods named only by benchmark papers, as published",
}
CLUSTERS = {"exact": "K", "optional": "K or found", "upper bound": "at most K", "emerges": "found"}


def text() -> str:
    """Return the page: the methods to begin with and when to use them, then a table of each rank."""
    found = methods()
    first = [(f"`{m.estimator}`", m.title, m.use) for m in found if m.rank == "first"]
    parts = [HEAD, table(("Class", "What it is", "Use it if"), first)]
    for rank in TITLES:
        parts += [f"\n## {TITLES[rank]}\n\n", ranked(found, rank)]
    return "".join([*parts, FOOT])


def ranked(found: list[Method], rank: str) -> str:
    """Return the table of the methods of a rank."""
    head = (
        "Class",
        "What it is",
        "Clusters",
        "Gives",
        "Missing",
        "Weights",
        "Soft members",
        "In blocks",
        "Predicts",
        "Time",
        "Source",
    )
    rows = [
        (
            f"`{method.estimator}`",
            method.title,
            CLUSTERS[method.n_clusters] + ", or fewer" * method.fewer,
            "memberships" if method.membership else "labels",
            with_missing(method),
            yes(method.weights),
            soft(method),
            yes(bool(method.blocks)),
            yes(hasattr(getattr(conclust, method.estimator), "predict")),
            set_powers(method.cost),
            method.citation,
        )
        for method in found
        if method.rank == rank
    ]
    return table(head, rows)


def set_powers(cost: str) -> str:
    """Return a cost with its exponents, which are single digits, as superscripts."""
    return re.sub(r"\^(\d)", lambda m: "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(m[1])], cost)


def with_missing(method: Method) -> str:
    """Return whether missing labels are taken, and by which parameters if not by default."""
    if method.missing or not method.missing_with:
        return yes(method.missing)
    return f"with `{method.missing_with}`"


def soft(method: Method) -> str:
    """Return whether soft members are taken, and how."""
    return "as labels" if method.soft_members == "labels" else yes(method.soft_members)


def yes(value: bool) -> str:
    """Return yes or no."""
    return "yes" if value else "no"


def listed() -> str:
    """Return the table of ``conclust methods``: each method with the parameters that ``--set`` takes."""
    found = [
        told(method, documented(inspect.getdoc(getattr(conclust, method.estimator)) or ""))
        for method in methods()
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def kinds() -> str:
    """Return the kinds of members for the command line: what they are, and how many by default."""
    told = {name: {"help": kind.help, "members": kind.most} for name, kind in KINDS.items()}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def documented(text: str) -> dict[str, tuple[str, str]]:
    """Read the parameters of a numpydoc docstring: their types and descriptions."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", text, re.DOTALL | re.MULTILINE
    )
    found: dict[str, tuple[str, str]] = {}
    if section is None:
        return found
    for entry in re.split(r"\n(?=\S)", section[1].strip()):
        head, _, body = entry.partition("\n")
        names, _, takes = head.partition(" : ")
        takes = re.sub(r", default=.*", "", takes)
        meaning = ROLE.sub(lambda m: m[1] or m[2], REFERENCE.sub("", " ".join(body.split())))
        found |= {name.strip(): (takes, meaning) for name in names.split(",")}
    return found


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    TABLE.write_text(listed(), encoding="utf-8")
    options.KINDS.write_text(kinds(), encoding="utf-8")
