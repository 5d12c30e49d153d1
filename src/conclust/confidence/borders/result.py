"""The p-values of the borders between clusters, and results derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._types import Bools, Floats, Ints
from conclust._validation import check_real, pandas_for, refuse
from conclust.ensemble.labels import canonical_labels
from conclust.words import borders as words

_OWNER = "BorderTests"
_MOST_LINES = 40


@dataclass(frozen=True, eq=False, repr=False)
class BorderTests:
    """Whether there is a border between clusters that are neighbours, as p-values.

    Attributes
    ----------
    p_value : ndarray of shape (n_clusters, n_clusters)
        P-values of the dip test: small if the points between two clusters do not have one mode. NaN for clusters
        that are not neighbours, and on the diagonal.
    adjusted : ndarray of shape (n_clusters, n_clusters)
        The same, adjusted for the number of borders (Holm 1979).
    valley_p_value : ndarray of shape (n_clusters, n_clusters)
        P-values of the valley test, which is exact but weaker; not adjusted.
    neighbours : ndarray of bool of shape (n_clusters, n_clusters)
        Whether no other cluster's centre lies in the ball between two centres (Gabriel neighbours).
    counts : ndarray of shape (n_clusters, n_clusters, 3)
        Mean number of points at the peak of the first cluster, in the valley, at the other peak.
    agreement : ndarray of shape (n_splits,)
        For each clustered part, share of its points whose cluster is matched with their cluster in the whole.
    labels : ndarray of int64 of shape (n_samples,)
        The clusters, 0 to n_clusters - 1 by first appearance; negative for points in none.
    names : tuple
        Names of the clusters in the given labels.
    merges : tuple of Merge
        Clusters that merge, in order, if borders that do not hold are removed.
    alpha : float
        Default level of the methods.
    """

    p_value: Floats
    adjusted: Floats
    valley_p_value: Floats
    neighbours: Bools
    counts: Floats
    agreement: Floats
    labels: Ints = field(repr=False)
    names: tuple[Any, ...]
    merges: tuple[Merge, ...]
    alpha: float

    def _restored(self) -> bool:
        """Return whether arrays that were read from a file fit each other."""
        K = self.n_clusters
        squares = (self.p_value, self.adjusted, self.valley_p_value, self.neighbours)
        return (
            all(square.shape == (K, K) for square in squares)
            and self.counts.shape == (K, K, 3)
            and self.agreement.ndim == 1
            and self.labels.max() < K == len(self.names)
            and all(0 <= m.first < K and 0 <= m.second < K for m in self.merges)
            and 0 < self.alpha <= 1
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.p_value)

    @property
    def n_borders(self) -> int:
        """Number of pairs of neighbours."""
        return int(self.neighbours.sum()) // 2

    def separated(self, alpha: float | None = None) -> Bools:
        """Return which borders hold.

        Parameters
        ----------
        alpha : float, default=None
            The adjusted p-value up to which a border holds. None: ``self.alpha``.

        Returns
        -------
        ndarray of bool of shape (n_clusters, n_clusters)
            False on the diagonal and where clusters are not neighbours.
        """
        return np.asarray(self.adjusted <= self._level(alpha))

    def merged(self, alpha: float | None = None) -> Ints:
        """Merge clusters until all remaining borders hold.

        The two clusters with the largest p-value become one, whose borders are tested again, until no
        adjusted p-value is above the level.

        Parameters
        ----------
        alpha : float, default=None
            The level. Clusters were merged up to the level of the tests, so it cannot be smaller. None: ``self.alpha``.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            Clusters, consecutive from 0 by first appearance; points in no cluster stay in none.

        Raises
        ------
        ParameterError
            If `alpha` is smaller than the level of the tests. Call `border_tests` with it instead.
        """
        level = self._level(alpha)
        if level < self.alpha:
            takes = f"at least {self.alpha:g}, the level of these tests"
            advice = f"Test with border_tests(..., alpha={level:g})."
            refuse("alpha", f"{_OWNER}.merged", takes, level, advice)
        clusters = np.arange(self.n_clusters)
        for merge in self.merges:
            if merge.largest <= level:
                break
            clusters[clusters == merge.second] = merge.first
        labels = self.labels.copy()
        in_cluster = labels >= 0
        labels[in_cluster] = canonical_labels(clusters[labels[in_cluster]])
        return labels

    def summary(self, alpha: float | None = None) -> str:
        """Return the result in one line: "3 of 4 borders hold (p < .05)".

        Parameters
        ----------
        alpha : float, default=None
            The level. None: ``self.alpha``.
        """
        return words.summary(self, self._level(alpha))

    def n_held(self, alpha: float | None = None) -> int:
        """Return the number of borders that hold.

        Parameters
        ----------
        alpha : float, default=None
            The level. None: ``self.alpha``.
        """
        return int(self.separated(alpha).sum()) // 2

    def headline(self, alpha: float | None = None) -> str:
        """Describe the evidence for the number of clusters: "4 clusters; 3 of 4 borders hold (p < .05, Holm)".

        If no border holds: "4 clusters, but no border holds (p < .05, Holm): treat it as one cluster". In a few
        hundred points borders are seen only between clusters that are far apart.

        Parameters
        ----------
        alpha : float, default=None
            The level. None: ``self.alpha``.
        """
        return words.headline(self, self._level(alpha))

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """The borders as a dict of columns, the largest p-value first; see `to_frame`."""
        p, q = self._borders()
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        return {
            "first": names[p],
            "second": names[q],
            "p_value": self.p_value[p, q],
            "adjusted": self.adjusted[p, q],
            "valley_p_value": self.valley_p_value[p, q],
            "first_peak": self.counts[p, q, 0],
            "valley": self.counts[p, q, 1],
            "second_peak": self.counts[p, q, 2],
            "holds": self.separated()[p, q],
        }

    def to_frame(self) -> Any:
        """Return the borders as a pandas DataFrame, one per row, the largest p-value first.

        Returns
        -------
        DataFrame
            Columns: first, second (names), p_value, adjusted, valley_p_value, first_peak, valley,
            second_peak (mean counts), holds (at ``self.alpha``).

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("BorderTests.to_frame")
        return pd.DataFrame({name: column.tolist() for name, column in self.table.items()})

    def __repr__(self) -> str:
        """Return a table of the borders."""
        lines = [self.summary()]
        p, q = self._borders()
        if len(p):
            lines.append(
                f"{'border':>15}  {'p':>8}  {'adjusted':>8}  {'peak':>6} {'valley':>6} {'peak':>6}"
            )
        for a, b in list(zip(p, q, strict=True))[:_MOST_LINES]:
            name = f"{self.names[a]} - {self.names[b]}"
            n1, n2, n3 = self.counts[a, b]
            lines.append(
                f"{name:>15}  {self.p_value[a, b]:8.2g}  {self.adjusted[a, b]:8.2g}  "
                f"{n1:6.1f} {n2:6.1f} {n3:6.1f}"
            )
        if len(p) > _MOST_LINES:
            lines.append(f"... and {len(p) - _MOST_LINES} with smaller p-values")
        if len(self.agreement):
            lines.append(words.agreement(self))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return words.card(self).html()

    def _borders(self) -> tuple[Ints, Ints]:
        """Return the pairs of neighbours, the largest p-value first."""
        p, q = np.nonzero(np.triu(self.neighbours))
        order = np.argsort(-self.p_value[p, q], kind="stable")
        return p[order], q[order]

    def _level(self, alpha: float | None) -> float:
        return level_of(alpha, self.alpha, _OWNER)


# The smallest level that can be requested.
SUREST = 0.001


def level_of(alpha: float | None, default: float, owner: str) -> float:
    """Return the level given, or else the default one."""
    return default if alpha is None else check_real(alpha, "alpha", owner, low=SUREST, high=1.0)


@dataclass(frozen=True)
class Merge:
    """A merge of two clusters.

    Attributes
    ----------
    first, second : int
        Their numbers; the first one is the number of both from here on.
    p_value : float
        The p-value of the border between them.
    largest : float
        Largest adjusted p-value of the remaining borders.
    """

    first: int
    second: int
    p_value: float
    largest: float


def gabriel_neighbours(gram: Floats) -> Bools:
    """Return which centres are neighbours: no other centre lies in the ball between them.

    Parameters
    ----------
    gram : ndarray of shape (K, K)
        Inner products of the centres.

    Returns
    -------
    ndarray of bool of shape (K, K)
        False on the diagonal.
    """
    squares = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2.0 * gram
    neighbours = ~np.eye(len(gram), dtype=np.bool_)
    for c in range(len(gram)):
        around = squares[:, c, None] + squares[None, c, :] < squares
        around[c, :] = around[:, c] = False
        neighbours &= ~around
    return neighbours


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for their number (Holm 1979)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate((m - np.arange(m)) * p_values[order])
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def combined(p_values: Floats) -> Floats:
    """Return one p-value for those of several splits (rows): twice their median, at most 1."""
    return np.asarray(np.minimum(1.0, 2.0 * np.median(p_values, axis=0)))
