"""The reporting checklist: what was done, what was not, and what only the authors of an analysis can say.

The items go through purpose, data, method, number, results, validation and openness, after C. Hennig's questions (Pattern
Recognition Letters 64, 2015). The guideline for cluster analyses, TRoCA, has a protocol (BMJ Open 15(8), 2025), but no list yet. Items
without an answer here are for the authors; of the others, the last column is said where the answer is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conclust._files.spreadsheets import guard_text
from conclust._validation import count
from conclust.results.result import Reported
from conclust.words.confidence import kept_sentence
from conclust.words.page.citing import filled, filled_cells, listed, methods_text
from conclust.words.page.columns import rows_of
from conclust.words.page.decision import p_text

HEADS = ["Part", "Item", "State", "What"]


def checklist_of(reported: Reported, decision: dict[str, Any]) -> list[list[str]]:
    """Return for each item its part, its name, its state, and what there is to say; `decision`: result of `decision_of`."""
    items: list[list[str]] = []
    for part, item, otherwise in rows_of(_ITEMS):
        text = _ANSWERS[item](reported, decision) if item in _ANSWERS else None
        if not text and reported.n_clusters == 1:
            text = _OF_ONE.get(item)
        missing = "not done" if item in _ANSWERS else "only you can say"
        items.append([part, item, "done" if text else missing, text or otherwise])
    return items


def as_csv(items: list[list[str]]) -> str:
    """Return the items as CSV."""
    cells = [[guard_text(text).replace('"', '""') for text in row] for row in [HEADS, *items]]
    return "".join('"' + '","'.join(row) + '"\n' for row in cells)


def as_markdown(items: list[list[str]]) -> str:
    """Return the items as a table of Markdown, of which pandoc makes one of a text processor."""
    cells = [" | ".join(text.replace("|", "\\|") for text in row) for row in items]
    return "".join(f"| {row} |\n" for row in [" | ".join(HEADS), "--- | " * 3 + "---", *cells])


def _missing(reported: Reported, _: Any) -> str | None:
    filling, judged = reported.record.filling, reported.judged
    if filling is not None:
        return f"{count(filling.cells, 'empty cell')}, {filled(filling)} ({filled_cells(filling)})."
    if reported.points is not None or reported.record.command == "cluster":
        return "No cell of the points is empty."
    if judged is None:
        return None
    unseen = int(np.count_nonzero(~judged.members.present))
    labels = f"{count(unseen, 'label')} of the clusterings {'is' if unseen == 1 else 'are'} missing"
    return f"{labels}; none was filled." if unseen else "No label of the clusterings is missing."


def _seed(reported: Reported, _: Any) -> str | None:
    settings = {**reported.record.settings.get("selection", {}), **reported.record.settings}
    seed = settings.get("seed", settings.get("random_state"))
    return None if seed is None else f"Seed {seed}."


def _separation(reported: Reported, decision: dict[str, Any]) -> str | None:
    gaps = reported.gaps
    if decision["borders"] or gaps is None:
        return decision["borders"] and f"{decision['borders']}."
    pairs = np.triu(gaps.neighbours)
    found, near = int(gaps.separated()[pairs].sum()), count(int(pairs.sum()), "pair")
    return f"Gaps by the dip test between {found} of {near} of neighbouring clusters."


def _sizes(reported: Reported, _: Any) -> str:
    none, *sizes = (f"{size:,}" for size in np.bincount(np.maximum(reported.labels, -1) + 1))
    return f"{listed(sizes, 60)}; {none} in no cluster."


_ITEMS = """
Purpose    | Aim                        | What the clusters are for; whether groups should be discovered or constructed.
Purpose    | Meaning of a cluster       | What the objects of a cluster should have in common.
Data       | Source                     | Where, when and how the objects were collected; which were left out.
Data       | Number of objects          |
Data       | Reason for this number     | How many objects are needed for clusters of interest.
Data       | Variables                  | Pass the points as X, or name the variables of the clusterings.
Data       | Choice of variables        | Why these, and how they were preprocessed.
Data       | Missing values             | Not known.
Method     | Procedure                  |
Method     | Seed                       | No seed was given: another run may differ.
Method     | Software                   |
Number     | How it was found           |
Number     | Test against one cluster   | Fit with n_clusters="auto", or -k auto in the shell.
Results    | Sizes                      |
Results    | Description                | Pass the points as X.
Results    | Meaning of the clusters    | What they are in your field, and what else could explain them.
Validation | Stability in fresh samples | conclust.confidence.calibrated(model, X) of a ConsensusClustering, or --calibrate, measures it.
Validation | Separation                 | conclust.confidence.border_tests(X, model) or --borders has p-values.
Validation | Information from outside   | Compare the clusters with variables that were not used.
Validation | Other methods              | What else was tried, and whether it gave the same clusters.
Openness   | Repetition                 | The labels came from elsewhere.
Openness   | Data and code              | Where they are available.
Openness   | Limits                     | To whom the result applies, and what limits it.
"""
_OF_ONE = dict.fromkeys(("Description", "Separation"), "There is no other cluster.")
_KNOWN = "Known classes: adjusted Rand index {adjusted_rand_index:.2f}."
_ANSWERS: dict[str, Callable[[Reported, dict[str, Any]], Any]] = {
    "Number of objects": lambda r, d: f"{r.n_samples:,}.",
    "Variables": lambda r, d: (
        r.record.features and listed([*r.record.source.columns, *r.record.source.categories])
    ),
    "Missing values": _missing,
    "Procedure": lambda r, d: methods_text(r),
    "Seed": _seed,
    "Software": lambda r, d: ", ".join(map(" ".join, r.record.versions.items())) + ".",
    "How it was found": lambda r, d: r.record.reason or d["sentence"],
    "Test against one cluster": lambda r, d: d["p_value"] is not None and p_text(r.selection),
    "Sizes": _sizes,
    "Description": lambda r, d: (
        r.features and "Means by cluster: section 'How the clusters differ' of the report."
    ),
    "Stability in fresh samples": lambda r, d: (
        None if r.kept is None else kept_sentence(r.kept, r.names)
    ),
    "Separation": _separation,
    "Information from outside": lambda r, d: r.record.scores and _KNOWN.format(**r.record.scores),
    "Repetition": lambda r, d: (
        r.record.call and "Call and settings: section 'How to repeat it' of the report."
    ),
}
