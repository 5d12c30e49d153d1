"""The reported result: a consensus and its context, from any source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.confidence import ClusterCategories, ClusterFeatures, ClusterGaps
from conclust.confidence.reading import Judged
from conclust.consensus.auto.number import Support
from conclust.consensus.base import Method
from conclust.results.borders import Borders

__all__ = ["IMPUTED", "MOST_GAPS", "Features", "Filling", "Record", "Reported", "StoredSelection"]

MOST_GAPS = 20
"""Maximum number of clusters whose pairs are all tested for gaps."""

IMPUTED = {"mean": "mean", "median": "median", "most_frequent": "most frequent value"}
"""Statistics of ``--impute``, in words."""


@dataclass(frozen=True)
class StoredSelection:
    """A `Selection` as a result folder keeps it: the data of pictures and tables, under the same names.

    Attributes
    ----------
    n_clusters, p_value, n_references, reason, alternatives, doubts, k, table, null, labels, settings
    n_borders, n_held, p_value_clouds
        As of `conclust.selection.Selection`.
    distribution : dict of int to (values, heights)
        The distribution functions.
    """

    n_clusters: int
    p_value: float
    n_references: int
    reason: str
    alternatives: tuple[int, ...]
    doubts: tuple[str, ...]
    k: NDArray[np.int64]
    table: dict[str, NDArray[np.float64]]
    null: NDArray[np.float64]
    labels: dict[int, NDArray[np.int64]]
    settings: dict[str, Any]
    distribution: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
    n_borders: int = 0
    n_held: int = 0
    p_value_clouds: float = float("nan")

    def cdf(self, n_clusters: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the distribution function of one number of clusters."""
        return self.distribution[n_clusters]


@dataclass(frozen=True)
class Features:
    """Differences between the clusters, and the names of the features.

    Attributes
    ----------
    names : tuple of str
        Names of the numeric features.
    found : ClusterFeatures
        Means and differences of these.
    category_names : tuple of str
        Names of the columns of categories.
    categories : ClusterCategories or None
        Shares of their categories. None: there is no such column.
    """

    names: tuple[str, ...]
    found: ClusterFeatures
    category_names: tuple[str, ...] = ()
    categories: ClusterCategories | None = None


@dataclass(frozen=True)
class Filling:
    """Empty cells that were filled before the points were clustered.

    Attributes
    ----------
    how : str
        A key of `IMPUTED`.
    columns : tuple of (str, int)
        The columns that had empty cells, and how many.
    """

    how: str
    columns: tuple[tuple[str, int], ...]

    @property
    def cells(self) -> int:
        """All cells that were filled."""
        return sum(number for _, number in self.columns)


@dataclass(frozen=True)
class Record:
    """The record of a run, as far as it is known.

    Attributes
    ----------
    command : str
        The command of the shell; empty for a result made in Python.
    method : Method or None
        The consensus method. None: labels that came from elsewhere, or a selection.
    source : str
        The file that was read, or empty.
    features : int or None
        Number of numeric columns of the points.
    categories : tuple of str
        Columns of categories: the last partitions of the ensemble.
    category_weight : float or None
        Number of clusterings that each column of categories counts for.
    filling : Filling or None
        Empty cells that were filled.
    asked_for : int or None
        The number of clusters that was given.
    call : str
        Command or call that repeats it.
    settings : dict
        Every parameter.
    supports : tuple of Support
        Support for numbers of clusters, from AutoConsensus.
    reason : str or None
        Why there are so many clusters, in a sentence.
    number_by : str or None
        Source of AutoConsensus' number of clusters: "given", "partitions" or "points".
    by_chance : float or None
        The mean confidence for partitions drawn at random.
    scores : dict or None
        Agreement with known classes.
    seconds : dict of str to float
        Seconds of each step.
    versions : dict of str to str
        Versions of Python and packages.
    warnings : tuple of str
        Warnings of the run.
    """

    command: str = ""
    method: Method | None = None
    source: str = ""
    features: int | None = None
    categories: tuple[str, ...] = ()
    category_weight: float | None = None
    filling: Filling | None = None
    asked_for: int | None = None
    call: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    supports: tuple[Support, ...] = ()
    reason: str | None = None
    number_by: str | None = None
    by_chance: float | None = None
    scores: dict[str, float] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reported:
    """A consensus, ready to be reported.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        Clusters; negative for objects in none.
    record : Record
        Record of the run.
    judged : Judged or None
        Consensus and its ensemble. None: one cluster without an ensemble.
    selection : Selection, StoredSelection or None
        Selection of the number of clusters.
    model : fitted estimator or None
        Fitted model, for its trace.
    tree : ndarray of shape (n_leaves - 1, 4) or None
        The dendrogram that the clusters are cut from.
    points : ndarray of shape (n_samples, n_features) or None
        The points.
    names : list of str or None
        Names of the objects; None: their numbers.
    features : Features or None
        Features by cluster.
    gaps : ClusterGaps or None
        Gaps between clusters.
    borders : Borders or None
        Borders between clusters, with tests.
    """

    labels: NDArray[np.int64]
    record: Record
    judged: Judged | None = None
    selection: Any = None
    model: Any = None
    tree: NDArray[np.float64] | None = None
    points: NDArray[np.float64] | None = None
    names: list[str] | None = None
    features: Features | None = None
    gaps: ClusterGaps | None = None
    borders: Borders | None = None

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return int(self.labels.max()) + 1

    @property
    def n_samples(self) -> int:
        """Number of objects, including those in no cluster."""
        return len(self.labels)
