"""Single linkage on labels in blocks: each block gives its distinct rows, whose tree is grown and cut in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Ints
from conclust._validation import refuse
from conclust.blocks.facts import Part
from conclust.blocks.finishing import Answer
from conclust.blocks.labels import LabelBlocks
from conclust.consensus.linkage.eac import EAC
from conclust.trees.agglomeration import starting_clusters

_ROW = 4  # bytes


def fit(model: EAC, labels: LabelBlocks, seed: np.random.SeedSequence) -> Answer:
    """Cut the single-linkage tree of the distinct rows of labels; equal rows would only add merges at height 0.

    Parameters
    ----------
    model : EAC
        Estimator, whose attributes are set.
    labels : LabelBlocks
        The objects.
    seed : SeedSequence
        Unused: nothing is random.
    """
    for parameter, only in (("linkage", "single"), ("pairs", None)):
        value = getattr(model, parameter)
        if not isinstance(value, str | None) or value != only:
            advice = "Read the labels into memory for others: LabelStore(...).ensemble()."
            refuse(parameter, "EAC", f"{only!r} with labels in blocks", value, advice)
    kept = labels.keeping(_ROW, "rows")
    found = labels.visit("distinct rows", _rows, kept, 1)
    all_rows = labels.facts.ensemble(np.concatenate([codes for _, codes in found]))
    rows = starting_clusters(all_rows)
    if isinstance(model.n_clusters, int | np.integer) and model.n_clusters > len(rows):
        expected = f"at most {len(rows)}, the number of distinct rows of labels in blocks"
        refuse("n_clusters", "EAC", expected, model.n_clusters)
    ends = np.cumsum([len(codes) for _, codes in found])[:-1]
    clusters = model._fit(rows.ensemble, np.ones(len(rows), dtype=np.bool_))[rows.inverse]
    blocks = [block for block, _ in found]
    of_blocks = dict(zip(blocks, np.split(clusters, ends), strict=True))
    return Answer(_clusters, (of_blocks,), kept, 1)


def _rows(part: Part, stored: None) -> tuple[NDArray[np.int32], tuple[int, NDArray[Any]]]:
    """Return the distinct row of each object of a block, and the codes of these rows."""
    rows = starting_clusters(part.ensemble)
    return rows.inverse.astype(np.int32), (part.index, rows.ensemble.codes)


def _clusters(part: Part, stored: NDArray[np.int32], of_blocks: dict[int, Ints]) -> Ints:
    return of_blocks[part.index][stored]
