"""The file of a Selection: one NPZ with its JSON description inside, never a pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import (
    Expected,
    PathLike,
    json_numbers,
    read_npz,
    refuse_file,
    write_npz,
)
from conclust._types import Floats, Ints
from conclust.confidence import BorderTests
from conclust.confidence.borders import Merge
from conclust.ensemble import Ensemble, packed, unpacked
from conclust.ensemble.file import EXPECTED as OF_ENSEMBLES
from conclust.selection.judged.pairs import PairCounts
from conclust.selection.record import facts_of

_FORMAT = "conclust selection"
_VERSION = 1
_EXPECTED = OF_ENSEMBLES | {
    "k": Expected("i", 1),
    "labels": Expected("i", 2),
    "table": Expected("f", 2),
    "null": Expected("f", 2),
    "members": Expected("i", 1),
    "trees": Expected("f", 2),
    "leaves": Expected("i", 1),
    "leaf_counts": Expected("i", 1),
    "pairs": Expected("i", 1),
}
# Entries of the description that must be present, with their types.
_TYPES = {"n_clusters": int, "n_references": int, "reason": str, "settings": dict}
_SQUARES = ("p_value", "adjusted", "valley_p_value")


def save(path: PathLike, selection: Any) -> None:
    """Write a selection (see ``Selection.save``)."""
    ks = selection.k.tolist()
    ensembles = [selection.ensembles[k] for k in ks]
    shared = all(one is ensembles[0] for one in ensembles)
    whole = ensembles[0] if shared else Ensemble.concat(ensembles)
    arrays, names = packed(whole)
    leaves = [selection.leaves[k] for k in ks]
    arrays |= {
        "k": np.array(ks, dtype=np.int64),
        "labels": np.column_stack([selection.labels[k] for k in ks]),
        "table": np.array(list(selection.table.values())),
        "null": selection.null,
        "members": np.array([one.n_partitions for one in ensembles], dtype=np.int64),
        "trees": np.concatenate([selection.trees[k] for k in ks]),
        "leaves": np.concatenate(leaves).astype(np.int64),
        "leaf_counts": np.array(list(map(len, leaves)), dtype=np.int64),
        "pairs": np.concatenate([selection.pairs[k].table.ravel() for k in ks]),
    }
    meta = {
        "format": _FORMAT,
        "version": _VERSION,
        "names": names,
        "shared": shared,
        "columns": list(selection.table),
        "sampled": [bool(selection.pairs[k].sampled) for k in ks],
        "borders": _packed_borders(selection.borders),
        **selection.facts(),
    }
    write_npz(path, arrays, meta)


def load(path: PathLike) -> dict[str, Any]:
    """Read the fields of a selection (see ``Selection.load``), validating each."""
    arrays, meta = read_npz(path, expected=_EXPECTED)
    if meta.get("format") != _FORMAT:
        refuse_file(path, "does not hold a selection of conclust")
    if meta.get("version") != _VERSION:
        what = f"has format version {meta.get('version')!r}; this conclust reads version {_VERSION}"
        refuse_file(path, what)
    fields = {name: array for name, array in arrays.items() if name not in OF_ENSEMBLES}
    rest = {name: array for name, array in arrays.items() if name in OF_ENSEMBLES}
    whole = unpacked(path, rest, meta.get("names"))
    if not _sound(fields, meta, whole):
        refuse_file(path, "is damaged: its entries for the numbers of clusters are inconsistent")
    ks = fields["k"].tolist()
    members = fields["members"].tolist()
    starts = np.concatenate([[0], np.cumsum(members)]).tolist()
    leaves = np.split(fields["leaves"].astype(np.int64), np.cumsum(fields["leaf_counts"])[:-1])
    trees = np.split(fields["trees"], np.cumsum(fields["leaf_counts"] - 1)[:-1])
    sides = [m + 1 for m in members]
    tables = np.split(fields["pairs"], np.cumsum([side**2 for side in sides])[:-1])
    for at, rows in enumerate(leaves):
        if not _is_tree(trees[at], rows, whole.n_samples) or not _are_pairs(tables[at], sides[at]):
            refuse_file(
                path, f"is damaged: its dendrogram or its pairs for K = {ks[at]} are invalid"
            )
    facts = facts_of(meta)
    settings = facts["settings"]
    if isinstance(settings.get("window"), list):
        settings["window"] = tuple(settings["window"])
    labels = {k: np.ascontiguousarray(fields["labels"][:, at]) for at, k in enumerate(ks)}
    try:
        borders = _unpacked_borders(meta.get("borders"), labels)
    except (ValueError, TypeError, KeyError, OverflowError):
        refuse_file(path, "is damaged: its tests of borders do not fit")
    return {
        **facts,
        "borders": borders,
        "k": fields["k"],
        "table": dict(zip(meta["columns"], fields["table"], strict=True)),
        "null": fields["null"],
        "labels": labels,
        "ensembles": {
            k: whole
            if meta["shared"]
            else whole.subset(partitions=np.arange(starts[at], starts[at + 1]))
            for at, k in enumerate(ks)
        },
        "trees": dict(zip(ks, trees, strict=True)),
        "leaves": dict(zip(ks, leaves, strict=True)),
        "pairs": {
            k: PairCounts(tables[at].reshape(sides[at], sides[at]), meta["sampled"][at])
            for at, k in enumerate(ks)
        },
    }


def _sound(own: dict[str, NDArray[Any]], meta: dict[str, Any], whole: Ensemble) -> bool:
    """Return whether the parts fit together, so that they can be split by number of clusters."""
    k, members, counts = own["k"], own["members"], own["leaf_counts"]
    n, n_k, m = whole.n_samples, len(k), whole.n_partitions
    words = all(type(meta.get(name)) is kind for name, kind in _TYPES.items())
    lists = {name: meta.get(name) for name in ("columns", "sampled", "alternatives", "doubts")}
    if not words or not all(isinstance(words_of_list, list) for words_of_list in lists.values()):
        return False
    for p_value in (meta.get("p_value", "missing"), meta.get("p_value_clouds")):
        if not (p_value is None or (type(p_value) in (int, float) and 0 <= p_value <= 1)):
            return False
    shapes = (
        n_k > 0
        and k.dtype == own["labels"].dtype == own["pairs"].dtype == np.int64
        and own["labels"].shape == (n, n_k)
        and own["table"].shape == (len(lists["columns"] or ()), n_k)
        and own["null"].shape[1] == n_k
        and members.shape == counts.shape == (n_k,)
        and len(lists["sampled"] or ()) == n_k
        and isinstance(meta.get("shared"), bool)
    )
    if not shapes or k.min() < 2 or (np.diff(k) <= 0).any():
        return False
    shares = (members == m).all() if meta["shared"] else sum(members.tolist()) == m
    return bool(
        members.min() > 0
        and shares
        and counts.min() > 0
        and counts.max() <= n
        and own["trees"].shape == (int((counts - 1).sum()), 4)
        and len(own["leaves"]) == int(counts.sum())
        and len(own["pairs"]) == sum((size + 1) ** 2 for size in members.tolist())
        and own["labels"].min() >= -1
        and (own["labels"].max(axis=0) < k).all()
        and all(isinstance(name, str) for name in lists["columns"] or ())
        and len(set(lists["columns"] or ())) == len(lists["columns"] or ())
        and all(type(flag) is bool for flag in lists["sampled"] or ())
        and all(type(number) is int for number in lists["alternatives"] or ())
        and all(isinstance(text, str) for text in lists["doubts"] or ())
    )


def _is_tree(tree: NDArray[Any], leaves: Ints, n: int) -> bool:
    """Return whether the leaves are distinct objects, and the tree has that number of leaves."""
    from scipy.cluster.hierarchy import is_valid_linkage

    once = (np.diff(leaves) > 0).all() and leaves[0] >= 0 and leaves[-1] < n
    valid = not len(tree) or is_valid_linkage(tree.astype(np.float64))
    return bool(once and valid and np.isfinite(tree).all())


def _are_pairs(table: Ints, side: int) -> bool:
    """Return whether the entries [N, c] are valid numbers of pairs, with c at most N, at least one of them known."""
    square = table.reshape(side, side)
    return bool(table.min() >= 0 and not np.triu(square, 1).any() and square[1:].any())


def _packed_borders(tests: BorderTests | None) -> dict[str, Any] | None:
    """Return tests of borders as JSON data without the labels; None if there are none."""
    if tests is None:
        return None
    return {
        "clusters": tests.n_clusters,
        "names": [int(name) for name in tests.names],
        "alpha": tests.alpha,
        **{name: json_numbers(getattr(tests, name)) for name in _SQUARES},
        "neighbours": tests.neighbours.tolist(),
        "counts": json_numbers(tests.counts),
        "agreement": json_numbers(tests.agreement),
        "merges": [[m.first, m.second, m.p_value, m.largest] for m in tests.merges],
    }


def _unpacked_borders(content: Any, labels: dict[int, Ints]) -> BorderTests | None:
    """Restore tests of borders between the clusters of one of the numbers tried.

    Parameters
    ----------
    content : object
        Result of `_packed_borders`, as it was read.
    labels : dict of int to ndarray of shape (n_samples,)
        The clusters of each number.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the content is invalid.
    """
    if content is None:
        return None
    K = content["clusters"]
    squares = {name: _array(content[name], (K, K)) for name in _SQUARES}
    neighbours = np.array(content["neighbours"])
    if neighbours.shape != (K, K) or neighbours.dtype != np.bool_:
        raise ValueError("neighbours")
    merges = tuple(Merge(int(a), int(b), float(p), float(q)) for a, b, p, q in content["merges"])
    if any(not (0 <= m.first < K and 0 <= m.second < K) for m in merges):
        raise ValueError("merges")
    # The tests number clusters by first appearance; their names are the numbers of the selection.
    names = tuple(content["names"])
    if sorted(names) != list(range(K)):
        raise ValueError("names")
    of = labels[K]
    codes = np.where(of >= 0, np.argsort(names)[of], of)
    alpha = float(content["alpha"])
    if not 0 < alpha <= 1:
        raise ValueError("alpha")
    return BorderTests(
        neighbours=neighbours,
        counts=_array(content["counts"], (K, K, 3)),
        agreement=_array(content["agreement"], (len(content["agreement"]),)),
        labels=codes,
        names=names,
        merges=merges,
        alpha=alpha,
        **squares,
    )


def _array(values: Any, shape: tuple[int, ...]) -> Floats:
    numbers = np.array(values, dtype=np.float64)
    if numbers.shape != shape:
        raise ValueError(f"an array of shape {numbers.shape}")
    return numbers
