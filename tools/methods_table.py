"""Write docs/methods.md, the table of the methods, from what the methods say of themselves.

python -m tools.methods_table
"""

from __future__ import annotations

from pathlib import Path

import conclust
from conclust import methods
from conclust.consensus.base import Method
from tools.markdown import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "methods.md"

HEAD = """\
# The consensus methods

Written by `python -m tools.methods_table` from `conclust.methods()`, which the methods fill in
themselves; the common battery of tests and `--method` of the command line come from the same list
(`conclust methods NAME` tells the parameters of one).

"""

FOOT = """
- **Clusters**: *K*: exactly `n_clusters`. *K or found*: `n_clusters`, or chosen by the method where it is
  None. *at most K*: `n_clusters` is an upper bound. *found*: the method has no such parameter.
- **Gives**: *memberships*: a probability for every object and cluster, and labels by them. *labels*: a
  partition only.
- **Missing**: takes objects that some partitions did not observe. **Weights**: the weights of the
  partitions count. **Soft members**: takes partitions that are memberships themselves.
  **In blocks**: reads labels of more objects than fit into the memory (`conclust.blocks.LabelStore`).
  **Predicts**: has `predict` for labels of new objects, and `ConsensusClustering` with it for new points; for the others:
  `conclust.placing`. What a method does not take it refuses. What is told here is true of its default parameters.
- **Time**: n objects, N partitions, T clusters of all partitions together, K clusters of the consensus.
  Methods of n^2 refuse more objects than their `max_dense`, where they need all pairs at once.
"""

CLUSTERS = {"exact": "K", "optional": "K or found", "upper bound": "at most K", "emerges": "found"}


def text() -> str:
    """Return the page."""
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
            CLUSTERS[method.n_clusters],
            "memberships" if method.membership else "labels",
            with_missing(method),
            yes(method.weights),
            yes(method.soft_members),
            yes(method.blocks),
            yes(hasattr(getattr(conclust, method.estimator), "predict")),
            method.cost,
            method.citation,
        )
        for method in methods()
    ]
    return HEAD + table(head, rows) + FOOT


def with_missing(method: Method) -> str:
    """Return whether missing labels are taken, and by which parameters if not by default."""
    if method.missing or not method.missing_with:
        return yes(method.missing)
    return f"with `{method.missing_with}`"


def yes(value: bool) -> str:
    """Return yes or no."""
    return "yes" if value else "no"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
