"""Selection: the number of clusters, the reason, and all evidence for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from conclust._arrays.containers import holds
from conclust._sklearn import Saved
from conclust._types import Floats, Ints
from conclust._validation import check_bool, check_option, count, pandas_for, refuse
from conclust.confidence import BorderTests, cluster_confidence, item_consensus
from conclust.ensemble import Ensemble
from conclust.evidence import coassociation
from conclust.exceptions import DenseLimitError, InputError, SelectionWarning, warn
from conclust.measures.matching import relabel
from conclust.selection.decision import Test, decide, relative_stability
from conclust.selection.judged.measuring import Measured, jackknife
from conclust.selection.judged.pairs import PairCounts, check_window
from conclust.selection.resampled.null import Verdict
from conclust.selection.resampled.testing import by_silhouette
from conclust.selection.second import Second
from conclust.words import selection as words
from conclust.words.reason import Reason

Rule: TypeAlias = Literal["1se", "max"]
_DECIDING = ("generalizability", "mean_ari", "sharp", "rcsi", "silhouette_points", "pac")


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Saved):
    """The estimated number of clusters, with the criteria for each number.

    Attributes
    ----------
    n_clusters : int
        Chosen number; 1 if no number is more stable than without clusters.
    p_value : float
        P-value of a single cluster; NaN if there was no null.
    n_references : int
        Number of references of the p-value.
    reason : str
        One sentence with the numbers, or with the reason why there is no p-value.
    alternatives : tuple of int
        Other numbers within one standard error of the best.
    doubts : tuple of str
        Doubts about the choice, one sentence each.
    k : ndarray of shape (n_k,)
        The numbers tried, in increasing order.
    table : dict of ndarray of shape (n_k,)
        The criteria and their standard errors (``..._se``), with a value for each of `k`; NaN if there is none. See `choose`.
    null : ndarray of shape (n_references, n_k)
        PAC of the references; of shape (0, n_k) where there are none.
    labels : dict of int to ndarray of shape (n_samples,)
        The consensus of the resamples for each number; -1 for an object that no resample drew.
    settings : dict
        Settings of the run; `random_state` repeats it, even if none was given.
    p_value_clouds : float
        The p-value of a single cloud of the shape of the points; NaN if none was compared. See `choose`.
    why : str
        The reason without the number of clusters at its beginning and without the full stop.
    ensembles : dict of int to Ensemble
        The resamples of each number; empty for a selection read from a result folder.
    trees : dict of int to ndarray of shape (n_leaves - 1, 4)
        The dendrogram from which the labels are cut: average linkage on 1 minus the consensus matrix.
    leaves : dict of int to ndarray of shape (n_leaves,)
        Objects of its leaves: all that were drawn, or a sample if there are very many.
    pairs : dict of int to PairCounts
        Number of pairs of objects that were together c times of N.
    borders : BorderTests or None
        Tests of the borders between the clusters at the number shown by the criteria, even if the answer is one
        cluster because none holds. None if one Gaussian is not rejected, or borders were not tested.
    """

    n_clusters: int
    p_value: float
    n_references: int
    reason: str
    alternatives: tuple[int, ...]
    doubts: tuple[str, ...]
    k: Ints
    table: dict[str, Floats] = field(repr=False)
    null: Floats = field(repr=False)
    labels: dict[int, Ints] = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    p_value_clouds: float = float("nan")
    why: str = ""
    ensembles: dict[int, Ensemble] = field(repr=False)
    trees: dict[int, Floats] = field(repr=False)
    leaves: dict[int, Ints] = field(repr=False)
    pairs: dict[int, PairCounts] = field(repr=False)
    borders: BorderTests | None = field(repr=False, default=None)

    @property
    def reason_parts(self) -> Reason:
        """The reason for the number of clusters, in its parts."""
        return words.reason_of(self)

    def _repr_html_(self) -> str:
        return words.card(self).html()

    @property
    def labels_(self) -> Ints:
        """The consensus for the chosen number; all 0 for one cluster."""
        if self.n_clusters in self.labels:
            return self.labels[self.n_clusters]
        return np.zeros(len(next(iter(self.labels.values()))), dtype=np.int64)

    @property
    def n_borders(self) -> int:
        """Number of borders that were tested."""
        return 0 if self.borders is None else self.borders.n_borders

    @property
    def n_held(self) -> int:
        """Number of these borders that hold at the level of the selection."""
        if self.borders is None:
            return 0
        return int((self.borders.adjusted <= self.settings["alpha"]).sum()) // 2

    def number_by(self, criterion: str = "generalizability", *, rule: Rule = "1se") -> int:
        """Return the number of clusters by one criterion of the table, if the selection has more than one cluster.

        With generalizability and the one-standard-error rule, the answer was 1 for 19 of 20 single Gaussian clouds (for none
        without the p-value), and 3 for four of five sets of three blobs.

        Parameters
        ----------
        criterion : {"generalizability", "mean_ari", "sharp", "rcsi", "silhouette_points", "pac"}
            Name of the criterion; by default "generalizability", which needs the parameter `classifier` of `choose`.
        rule : {"1se", "max"}, default="1se"
            "1se": the one-standard-error rule of CARVE, the largest number within one standard error of the best.
            "max": the best, for "pac" the smallest value.

        Returns
        -------
        int
            One of the numbers tried; 1 if ``n_clusters`` is 1, because no criterion is defined for one cluster.

        Raises
        ------
        ParameterError
            If the criterion was not measured, or a parameter is not one of these.
        """
        check_option(rule, "rule", "Selection.number_by", Rule)
        measured = [k for k in _DECIDING if np.isfinite(self.table.get(k, np.nan)).any()]
        check_option(criterion, "criterion", "Selection.number_by", measured)
        values = -self.table[criterion] if criterion == "pac" else self.table[criterion]
        best = int(np.nanargmax(values))
        error = np.nan_to_num(self.table[f"{criterion}_se"][best]) if rule == "1se" else 0.0
        return int(self.k[values >= values[best] - error].max()) if self.n_clusters > 1 else 1

    def consensus_matrix(self, n_clusters: int, *, max_dense: int | None = 20_000) -> Floats:
        """Return the share of resamples that put two objects together, among those that drew both.

        Parameters
        ----------
        n_clusters : int
            One of the numbers tried.
        max_dense : int, default=20000
            Maximum number of objects for which the matrix is computed. None: no limit.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            Shares; NaN where no resample drew both.

        Raises
        ------
        ParameterError
            If the number was not tried.
        DenseLimitError
            If there are more objects than `max_dense`.
        InputError
            If the selection was read from a result folder, which does not keep the resamples.
        """
        ensemble = self._resamples(n_clusters)
        if max_dense is not None and ensemble.n_samples > max_dense:
            raise DenseLimitError(
                f"The consensus matrix of {ensemble.n_samples} objects would take "
                f"{8 * ensemble.n_samples**2 / 2**30:.1f} GiB, above max_dense={max_dense}. Count chosen "
                "pairs with conclust.evidence.pair_counts(selection.ensembles[K], i, j), or take the "
                "distribution over pairs, selection.cdf(K)."
            )
        return coassociation(ensemble, normalize=True, max_dense=None)

    def cdf(self, n_clusters: int) -> tuple[Floats, Floats]:
        """Return the distribution function of the consensus matrix over pairs of objects.

        Parameters
        ----------
        n_clusters : int
            One of the numbers tried.

        Returns
        -------
        values : ndarray of shape (n_values,)
            The shares that occur, in increasing order.
        heights : ndarray of shape (n_values,)
            The share of pairs up to each value; the last one is 1.

        Raises
        ------
        ParameterError
            If the number was not tried.
        """
        return self.pairs[self._tried(n_clusters)].cdf()

    def pac(self, window: tuple[float, float] = (0.1, 0.9), *, strict: bool = False) -> Floats:
        """Return the share of ambiguous pairs for each number tried, for any window.

        Parameters
        ----------
        window : tuple of two floats, default=(0.1, 0.9)
            A pair is ambiguous if it is together in a share above the first and up to the second.
        strict : bool, default=False
            Whether the second end is excluded: diceR's PAC is ``pac((0, 1), strict=True)``.

        Returns
        -------
        ndarray of shape (n_k,)
            PAC, counted in whole numbers.

        Raises
        ------
        ParameterError
            If the window is invalid, or `strict` is not a bool.
        """
        ends = check_window(window, "Selection.pac")
        check_bool(strict, "strict", "Selection.pac")
        return np.array([self.pairs[int(k)].pac(ends, strict=strict) for k in self.k])

    def cluster_consensus(self, n_clusters: int) -> Floats:
        """Return the mean of the consensus matrix over the pairs of each cluster.

        Parameters
        ----------
        n_clusters : int
            One of the numbers tried.

        Returns
        -------
        ndarray of shape (n_clusters,)
            In the order of ``labels[n_clusters]``; NaN for a cluster of one.

        Raises
        ------
        ParameterError
            If the number was not tried.
        InputError
            If the selection was read from a result folder, which does not keep the resamples.
        """
        ensemble = self._resamples(n_clusters)
        return cluster_confidence(self.labels[n_clusters], ensemble).consensus

    def item_consensus(self, n_clusters: int) -> Floats:
        """Return the mean of the consensus matrix over the pairs of an object and the others of each cluster.

        Parameters
        ----------
        n_clusters : int
            One of the numbers tried.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            NaN where no resample drew the object together with any of them.

        Raises
        ------
        ParameterError
            If the number was not tried.
        InputError
            If the selection was read from a result folder, which does not keep the resamples.
        """
        ensemble = self._resamples(n_clusters)
        return item_consensus(self.labels[n_clusters], ensemble)

    def tracking(self) -> Ints:
        """Return the clusters for every number; each keeps the name of the previous cluster from which most of it comes.

        These are the colours of a tracking plot: an object that changes its name has moved.

        Returns
        -------
        ndarray of int64 of shape (n_samples, n_k)
            A column for each of `k`; a cluster without a counterpart has a new name.
        """
        columns = [self.labels[int(self.k[0])]]
        for k in self.k[1:]:
            columns.append(relabel(columns[-1], self.labels[int(k)]))
        return np.column_stack(columns)

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, with the numbers tried as its index.

        Returns
        -------
        pandas.DataFrame
            One row per number, one column per criterion.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("Selection.to_frame")
        return pd.DataFrame(self.table, index=pd.Index(self.k, name="k"))

    def _restored(self) -> bool:
        """Return whether the numbers tried, read from a file, have all their entries."""
        ks, n = self.k.tolist(), len(self.labels_)
        ensembles = self.ensembles  # of a result folder: none
        entries = (self.labels, ensembles or self.labels, self.trees, self.leaves, self.pairs)
        return (
            len(ks) > 0
            and all(not p < 0 and not p > 1 for p in (self.p_value, self.p_value_clouds))
            and min(ks) > 1
            and bool((np.diff(self.k) > 0).all())
            and all(list(entry) == ks for entry in entries)
            and all(column.shape == (len(ks),) for column in self.table.values())
            and self.null.shape[1:] == (len(ks),)
            and all(labels.shape == (n,) for labels in self.labels.values())
            and all(labels.min() >= -1 and labels.max() < k for k, labels in self.labels.items())
            and all(ensemble.n_samples == n for ensemble in ensembles.values())
            and all(_is_tree(self.trees[k], self.leaves[k], n) for k in ks)
            and all(self.pairs[k].fits(ensembles[k].n_partitions) for k in ensembles)
        )

    def _resamples(self, n_clusters: int) -> Ensemble:
        self._tried(n_clusters)
        if not self.ensembles:
            raise InputError(
                "A selection read from a result folder has no resamples. Repeat it with conclust.selection.choose, or take "
                "the distribution over pairs, selection.cdf(K)."
            )
        return self.ensembles[n_clusters]

    def _tried(self, n_clusters: Any) -> int:
        if n_clusters not in self.pairs:
            refuse(
                "n_clusters",
                "Selection",
                f"one of the numbers tried, {self.k.tolist()}",
                n_clusters,
            )
        return int(n_clusters)


def _is_tree(tree: Floats, leaves: Ints, n: int) -> bool:
    """Return whether the leaves are distinct objects, and the tree has that number of leaves."""
    from scipy.cluster.hierarchy import is_valid_linkage

    once = (np.diff(leaves) > 0).all() and leaves[0] >= 0 and leaves[-1] < n
    valid = not len(tree) or is_valid_linkage(tree)
    return bool(once and valid and holds(tree, len(leaves) - 1, 4))


def assemble(
    measured: dict[int, Measured],
    ensembles: dict[int, Ensemble],
    settings: dict[str, Any],
    *,
    verdict: Verdict | None,
    nested: bool = True,
    second_test: Callable[[Ints, bool], Second] | None = None,
) -> Selection:
    """Make the table, decide, and warn about doubts.

    Parameters
    ----------
    measured : dict of Measured
        The criteria of each K.
    ensembles : dict of Ensemble
        The resamples of each K.
    settings : dict
        Settings requested.
    verdict : Verdict or None
        Result of the test, or None if it was not run.
    nested : bool, default=True
        Whether each K has resamples of its own.
    second_test : callable, default=None
        Tests the labels of the best number, given whether one Gaussian was rejected.
    """
    ks = sorted(measured)
    table: dict[str, Floats] = {}
    for name in measured[ks[0]].values:
        table[name] = np.array([measured[k].values[name] for k in ks])
        if name in measured[ks[0]].errors:
            table[f"{name}_se"] = np.array([measured[k].errors[name] for k in ks])
    left_out = [measured[k].areas for k in ks]
    if len({len(areas) for areas in left_out}) > 1:  # fewer resamples than groups at one K
        left_out = []
    table["delta"], table["delta_se"] = _delta(table["area"], np.array(left_out))
    p_value, n_references = float("nan"), 0
    null = np.empty((0, len(ks)))
    if verdict is not None:
        real, logs = verdict.real[: len(ks)], verdict.logs[:, : len(ks)]
        p_value, n_references = verdict.p_value, verdict.n_references
        null = np.exp(logs)
        table["log_pac_null_mean"] = logs.mean(axis=0)
        table["log_pac_null_sd"] = logs.std(axis=0, ddof=1)
        table["rcsi"], table["rcsi_se"] = relative_stability(real, logs)
        below = (logs <= real + 1e-12).sum(axis=0)
        table["p_value_k"] = (below + 1.0) / (len(logs) + 1.0)
    test = Test(
        p_value,
        n_references,
        settings.get("null"),
        settings.get("n_categories", 0),
        "n_features" in settings,
        settings.get("alpha", 0.05),
        verdict is not None and by_silhouette(settings["n_tested"]),
    )
    decision = decide(ks, table, test, nested=nested)
    n_clusters, alternatives = decision.n_clusters, decision.alternatives
    second, loosest = Second(), 1.0
    if nested and n_clusters > 1:  # finer members split every cluster
        within = cluster_confidence(measured[n_clusters].labels, ensembles[n_clusters]).consensus
        loosest = float(within[np.isfinite(within)].min(initial=1.0))
    if second_test is not None and n_clusters == 1 and decision.best > 1:
        despite = second_test(measured[decision.best].labels, False)
        if despite.all_hold:
            n_clusters, second = decision.best, despite
    elif second_test is not None and n_clusters > 1:
        second = second_test(measured[n_clusters].labels, True)
        if second.one_cluster:
            n_clusters, alternatives = 1, ()
    why, doubts = words.why_of(decision, second), words.doubts_of(decision, second, loosest)
    if doubts:
        warn(f"{count(n_clusters, 'cluster')} by resampling: {' '.join(doubts)}", SelectionWarning)
    return Selection(
        n_clusters=n_clusters,
        p_value=p_value,
        n_references=n_references,
        reason=f"{count(n_clusters, 'cluster')}: {why}.",
        why=why,
        alternatives=alternatives,
        doubts=doubts,
        k=np.array(ks),
        table=table,
        null=null,
        labels={k: measured[k].labels for k in ks},
        ensembles=ensembles,
        trees={k: measured[k].tree for k in ks},
        leaves={k: measured[k].rows for k in ks},
        pairs={k: measured[k].counts for k in ks},
        settings=settings,
        borders=second.borders,
        p_value_clouds=second.p_value,
    )


def _delta(areas: Floats, left_out: Floats) -> tuple[Floats, Floats]:
    """Return the relative growth of the area with K, never negative, and its standard error.

    For the smallest K tried it is the area itself, as in Monti et al. for K = 2.
    """

    def growth(values: Floats) -> Floats:
        highest = np.maximum.accumulate(values, axis=0)
        grown = highest.astype(np.float64).copy()
        before = highest[:-1]
        grown[1:] = np.where(
            before > 0, (highest[1:] - before) / np.where(before > 0, before, 1.0), 0.0
        )
        return grown

    if not left_out.size:
        return growth(areas), np.full(len(areas), np.nan)
    return growth(areas), np.array([jackknife(row) for row in growth(left_out)])
