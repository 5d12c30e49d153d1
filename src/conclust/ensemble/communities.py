"""Communities of a graph as labels of its nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._validation import shown
from conclust.ensemble.labels import MISSING, number_names
from conclust.exceptions import InputError

_EXPECTED = (
    "Communities are a list of runs, and a run is a list of sets of nodes, an object with such 'communities' "
    "or a dict of nodes to labels."
)


def read_communities(runs: Iterable[Any], nodes: Iterable[Hashable] | None) -> NDArray[np.int32]:
    """Return labels (n_nodes, n_runs) of the nodes, in their order or sorted; -1 where a run lacks a node.

    Raises
    ------
    InputError
        If these are not communities, communities of a run overlap, or there is a node that `nodes` lacks.
    """
    if isinstance(runs, str | bytes | Mapping) or not isinstance(runs, Iterable):
        raise InputError(f"{_EXPECTED} Got {type(runs).__name__}.")
    if nodes is not None and (isinstance(nodes, str | bytes) or not isinstance(nodes, Iterable)):
        raise InputError(f"The 'nodes' must be a list of nodes. Got {shown(nodes)} instead.")
    read = [_labels_of(run, u) for u, run in enumerate(runs)]
    if not read:
        raise InputError(f"{_EXPECTED} Got no run.")
    order = _sorted_nodes(read) if nodes is None else list(nodes)
    if not all(isinstance(node, Hashable) for node in order):
        raise InputError("The 'nodes' must be a list of nodes. Got a list that holds a collection.")
    place = {node: i for i, node in enumerate(order)}
    if len(place) < len(order):
        raise InputError(
            f"The 'nodes' must be different. Got {len(order) - len(place)} duplicates."
        )
    labels = np.full((len(order), len(read)), MISSING, dtype=np.int32)
    for u, run in enumerate(read):
        try:
            at = np.fromiter((place[node] for node in run), dtype=np.int64, count=len(run))
        except KeyError as error:
            raise InputError(
                f"Run {u} has the node {error.args[0]!r}, which is not among the 'nodes'."
            ) from error
        labels[at, u] = np.fromiter(run.values(), dtype=np.int32, count=len(run))
    return labels


def _labels_of(run: Any, u: int) -> dict[Hashable, int]:
    """Return the number of the community of each node of a run."""
    if isinstance(run, Mapping):
        if not all(isinstance(label, Hashable) for label in run.values()):
            raise InputError(
                f"{_EXPECTED} Run {u} is a dict of nodes to labels, and a label in it is a collection: "
                "give a dict of communities as a list, list(run.values())."
            )
        numbers, _ = number_names(list(run.values()), u, "unobserved")
        return {node: numbers[label] for node, label in run.items()}
    communities = getattr(run, "communities", run)
    if isinstance(communities, str | bytes) or not isinstance(communities, Iterable):
        raise InputError(f"{_EXPECTED} Got {type(run).__name__} as run {u}.")
    community_of: dict[Hashable, int] = {}
    for k, community in enumerate(communities):
        if isinstance(community, str | bytes) or not isinstance(community, Iterable):
            raise InputError(
                f"{_EXPECTED} Got {shown(community)} as community {k} of run {u}. If this is one run, give it as a "
                "list of one."
            )
        for node in _hashable(community, k, u):
            if community_of.setdefault(node, k) != k:
                raise InputError(
                    f"Communities {community_of[node]} and {k} of run {u} overlap: both have the node {node!r}. "
                    "Give overlapping communities as memberships: Ensemble.from_memberships, with a row of "
                    "shares for each node."
                )
    return community_of


def _hashable(community: Iterable[Any], k: int, u: int) -> list[Hashable]:
    nodes = list(community)
    if not all(isinstance(node, Hashable) for node in nodes):
        raise InputError(f"{_EXPECTED} Community {k} of run {u} holds a collection as a node.")
    return nodes


def _sorted_nodes(read: list[dict[Hashable, int]]) -> list[Any]:
    """Return all nodes, sorted: the order of sets changes from process to process."""
    every: set[Any] = set().union(*read)
    try:
        return sorted(every)
    except TypeError as error:
        raise InputError(
            "The nodes are of types that cannot be sorted together: give them as 'nodes', in the order of the rows of the "
            "ensemble, or give the networkx graph."
        ) from error
