"""Declares what each consensus method needs, accepts and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from conclust._validation import check_option

# A fit checks the number first, so that it is an int wherever the method needs one.
if TYPE_CHECKING:
    NumberOfClusters: TypeAlias = Any
else:
    NumberOfClusters: TypeAlias = int | None

NumberNeeded: TypeAlias = Literal["exact", "upper bound", "optional", "emerges"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """The needs, inputs and results of a consensus method. Every estimator carries one as ``method``.

    Parameters
    ----------
    title : str
        Name of the method in the literature.
    n_clusters : {"exact", "upper bound", "optional", "emerges"}
        Whether the number of clusters must be known: exactly, as a bound, or not.
    membership : bool
        Whether the result is probabilities over clusters, or labels only.
    missing : bool, default=True
        Whether objects that some partitions did not observe are accepted with the default parameters.
    weights : bool, default=True
        Whether the weights of the partitions count.
    soft_members : bool
        Whether partitions that are memberships are accepted.
    cost : str
        Time in n objects, N partitions, T clusters of all partitions, K clusters of the consensus.
    citation : str
        Authors, year and venue.
    missing_with : str, default=""
        Parameters with which missing labels are accepted, if that depends on parameters.
    blocks : bool, default=False
        Whether it reads labels in blocks (:class:`conclust.blocks.LabelStore`), for more objects than fit into
        memory.
    estimator : str, default=""
        Name of the class; filled in by :func:`conclust.methods`.
    """

    title: str
    n_clusters: NumberNeeded
    membership: bool
    missing: bool = True
    weights: bool = True
    soft_members: bool
    cost: str
    citation: str
    missing_with: str = ""
    blocks: bool = False
    estimator: str = ""

    def __post_init__(self) -> None:
        check_option(self.n_clusters, "n_clusters", "Method", NumberNeeded)
