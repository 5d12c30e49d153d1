"""choose_run: which of several runs, resolutions or settings to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import pandas_for
from conclust.confidence.partitions import different_columns
from conclust.ensemble import Ensemble
from conclust.ensemble.columns import column_names
from conclust.exceptions import InputError
from conclust.measures.losses import (
    Loss,
    PartitionRows,
    check_loss,
    hard_draws,
    loss_values,
    mean_losses,
)
from conclust.selection.judged.measuring import mean_of
from conclust.words import confidence as words

_OWNER = "choose_run"
# Losses that differ by less are equal: rounding.
_EQUAL = 1e-12


@dataclass(frozen=True)
class RunChoice:
    """The run to keep, and how the runs differ.

    Attributes
    ----------
    names : tuple of str
        Names of the runs: of the columns of a frame, or their numbers.
    run : int
        The run nearest to the consensus: that with the smallest of `losses`, the first of equal ones.
    losses : ndarray of shape (n_runs,)
        Mean loss between each run and the others, by weight; NaN for a run that shares no object with any of them.
    groups : ndarray of int64 of shape (n_runs,)
        Group of equal runs, numbered by first appearance.
    n_clusters : ndarray of int64 of shape (n_runs,)
        Number of clusters of each run.
    plateau : ndarray of int64 of shape (n_in_plateau,)
        Runs of the plateau, in the order given.
    plateau_run : int
        The run of the plateau with the smallest mean loss to the others of the plateau.
    """

    names: tuple[str, ...]
    run: int
    losses: Floats
    groups: Ints
    n_clusters: Ints
    plateau: Ints
    plateau_run: int

    def __repr__(self) -> str:
        return f"RunChoice({self.sentence})"

    @property
    def sentence(self) -> str:
        """What to keep: "of 5 runs (3 different), 1 is nearest to the consensus; on the plateau from 1 to 3, keep 1"."""
        return words.of_runs(self)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per run, with its name as the index.

        Returns
        -------
        pandas.DataFrame
            Columns ``n_clusters``, ``loss``, ``group`` and ``in_plateau``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("RunChoice.to_frame")
        flat = np.isin(np.arange(len(self.names)), self.plateau)
        columns = {"n_clusters": self.n_clusters, "loss": self.losses, "group": self.groups}
        return pd.DataFrame({**columns, "in_plateau": flat}, index=pd.Index(self.names, name="run"))


def choose_run(ensemble: Ensemble | ArrayLike, *, loss: Loss = "vi") -> RunChoice:
    """Choose which of several runs, resolutions or parameters to keep.

    For runs that differ by their seeds, keep ``run``: the one with the smallest mean loss to the others, which is the best
    consensus among the runs themselves [1]_. For runs in the order of a resolution or another parameter, keep
    ``plateau_run``: over a plateau the clusters hardly change with the parameter [2]_ [3]_.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_runs)
        The runs, one per column, in the order of their parameter if they have one. Two runs are compared on the objects that
        both observed; noise is a cluster of one.
    loss : {"vi", "binder", "omari", "nvi", "id", "nid"}, default="vi"
        The loss between two runs, as in :class:`conclust.BayesEstimate`: "vi" is the variation of information in bits,
        "binder" 1 minus the Rand index (up to a factor (n - 1) / n), "omari" 1 minus the adjusted Rand index.

    Returns
    -------
    RunChoice
        The run, groups of equal runs, and the plateau.

    Raises
    ------
    InputError
        If the labels are malformed, there is a single run, or no two runs share an object.
    ParameterError
        If `loss` is not one of these.
    UnsupportedEnsembleError
        If the partitions are soft.

    Notes
    -----
    The plateau is the longest stretch of runs, in the order given, no two of which differ by more than two neighbours do on
    average; the first of equally long ones. Runs of a single cluster belong to no plateau. Runs without an order have
    plateaus by chance.

    References
    ----------
    .. [1] S. Wade, Z. Ghahramani: Bayesian cluster analysis: point estimation and credible balls. Bayesian Analysis 13, 2018.
    .. [2] J.-C. Delvenne, S. N. Yaliraki, M. Barahona: Stability of graph communities across time scales. PNAS 107, 2010.
    .. [3] L. Zappia, A. Oshlack: Clustering trees: a visualization for evaluating clusterings at multiple resolutions.
       GigaScience 7, 2018.

    Examples
    --------
    >>> from conclust.selection import choose_run
    >>> runs = [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 1, 1, 2], [0, 1, 1, 1, 3], [0, 1, 1, 1, 4]]
    >>> choose_run(runs)
    RunChoice(of 5 runs (3 different), 1 is nearest to the consensus; on the plateau from 1 to 3, keep 1)
    """
    check_loss(loss, 1.0, _OWNER)
    runs = hard_draws(ensemble, _OWNER)
    m = runs.n_partitions
    if m < 2:
        raise InputError("choose_run compares runs. Got 1: pass at least two columns of labels.")
    terms = PartitionRows.of(runs).terms(None, loss)
    apart = loss_values(terms, loss)
    terms[np.arange(m), np.arange(m)] = 0.0  # a run is not compared with itself
    losses = mean_losses(terms, runs.partition_weights, loss, 1.0)
    if np.isnan(losses).all():
        raise InputError("choose_run compares runs on the objects that they share. No two do.")
    losses = np.where(losses < _EQUAL, 0.0, losses)
    plateau = _plateau(np.where(np.add.outer(*[runs.cluster_counts < 2] * 2), np.nan, apart))
    within = apart[np.ix_(plateau, plateau)].mean(axis=1)
    names = column_names(ensemble)
    return RunChoice(
        tuple(map(str, range(m) if names is None else names)),
        _smallest(losses),
        losses,
        different_columns(runs.labels)[1],
        runs.cluster_counts.copy(),
        plateau,
        int(plateau[_smallest(within)]),
    )


def _smallest(losses: Floats) -> int:
    return int(np.argmax(losses <= np.nanmin(losses) + _EQUAL))


def _plateau(apart: Floats) -> Ints:
    """Return the longest stretch of runs no two of which are farther apart than two neighbours are on average."""
    most = mean_of(np.diagonal(apart, 1)) + _EQUAL
    first, longest = 0, range(1)
    for end in range(len(apart)):
        far = np.flatnonzero(~(apart[first:end, end] <= most))
        first += int(far[-1]) + 1 if len(far) else 0
        longest = max(longest, range(first, end + 1), key=len)
    return np.array(longest)
