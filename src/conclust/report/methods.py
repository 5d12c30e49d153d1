"""How an estimator was fitted, and its method: those that are not fitted to labels are described here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conclust.consensus.base import ConsensusClusterer, Method
from conclust.consensus.constraints import Constraints
from conclust.networks import GraphConsensus
from conclust.topics import TopicConsensus

__all__ = ["fitted_to", "further_arguments", "method_of"]

_LEIDEN = "Traag, Waltman and van Eck 2019, Scientific Reports 9"
_SHARES = {"ecg": "Poulin and Théberge 2018, Complex Networks"}
_FAST = "Tabatabaee, Wedell, Park and Warnow 2025, PLOS Complex Systems 2"
_SPLIT = "Peixoto 2017, Physical Review E 95"
_LINKAGE = "Fred and Jain 2005, IEEE TPAMI 27"
_HDBSCAN = "Campello, Moulavi and Sander 2013, PAKDD"


def fitted_to(model: Any) -> str:
    """Return the argument of ``fit`` in a line that repeats the fit."""
    if isinstance(model, ConsensusClusterer):
        return "labels"
    if isinstance(model, GraphConsensus):
        return "network"
    return "embeddings" if isinstance(model, TopicConsensus) else "X"


def further_arguments(model: Any) -> tuple[str, ...]:
    """Return the names of what ``fit`` was given besides its first argument."""
    inner = getattr(model, "consensus_", model)
    constraints: Constraints | None = getattr(inner, "_constraints", None)
    given = {
        "ensemble": bool(getattr(model, "_given_runs", False)),
        "partitions": hasattr(model, "_n_made") and model.ensemble_.n_partitions > model._n_made,
        "must_link": constraints is not None and constraints.n_groups < len(constraints.groups),
        "cannot_link": constraints is not None and len(constraints.apart) > 0,
    }
    return tuple(name for name, is_given in given.items() if is_given)


def method_of(model: Any) -> Method | None:
    """Return the method of an estimator, including a user's subclass; None for other objects."""
    if isinstance(model, ConsensusClusterer):
        return replace(model.method, estimator=type(model).__name__)
    if isinstance(model, GraphConsensus):
        papers = [_SHARES.get(model.kind, _FAST), _LEIDEN]
        by_default = (
            model.quality == "modularity" and model.resolution in (None, 1.0) and model.recluster
        )
        if by_default if model.split is None else model.split:
            papers.append(_SPLIT)
        return _described(model, "consensus of communities on the edges of a network", papers)
    if isinstance(model, TopicConsensus):
        clusterer = model.clusterer
        by_density = clusterer is None or type(clusterer).__name__ == "HDBSCAN"
        papers = [_LINKAGE, _HDBSCAN] if by_density else [_LINKAGE]
        return _described(model, "average linkage of clusterings with noise", papers)
    return None


def _described(model: Any, title: str, papers: list[str]) -> Method:
    return Method(
        title=title,
        n_clusters="emerges",
        membership=False,
        soft_members=False,
        cost="",
        citation="; ".join(papers),
        estimator=type(model).__name__,
    )
