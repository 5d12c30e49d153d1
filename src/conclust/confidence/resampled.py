"""Stability of a consensus under resampling of the partitions with replacement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Floats, Ints
from conclust._validation import check_int, check_real, count, refuse
from conclust.confidence.reading import check_model, read_consensus
from conclust.consensus.probabilistic import PCC
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.measures.comparison import adjusted_rand_index
from conclust.measures.matching import assign
from conclust.membership import cluster_similarity


@dataclass(frozen=True)
class OtherMembers:
    """Consensuses of resampled partitions, compared with the original one.

    Attributes
    ----------
    agreement : ndarray of shape (n_draws,)
        Adjusted Rand index of the consensus of each draw with the original one.
    kept : ndarray of shape (n_samples,)
        Share of the draws in which the object stays in the cluster that corresponds to its own; NaN for objects in no
        cluster.
    sizes : ndarray of int64 of shape (n_draws, n_clusters)
        Number of objects of the corresponding cluster; 0 if no cluster corresponds.
    overlap : ndarray of shape (n_draws, n_clusters, n_clusters) or None
        m_ab of the corresponding clusters (:func:`conclust.membership.cluster_similarity`), for models with
        memberships; NaN if no cluster corresponds.
    """

    agreement: Floats
    kept: Floats
    sizes: Ints
    overlap: Floats | None

    def __repr__(self) -> str:
        n_draws, n_clusters = self.sizes.shape
        low, high = self.agreement.min(), self.agreement.max()
        return f"OtherMembers({count(n_draws, 'draw')}, {count(n_clusters, 'cluster')}; ARI {low:.2f} to {high:.2f})"

    def size_interval(self, level: float = 0.9) -> Floats:
        """Return the range of sizes of each cluster over most draws.

        Parameters
        ----------
        level : float, default=0.9
            Share of the draws in the range.

        Returns
        -------
        ndarray of shape (2, n_clusters)
            Lower and upper quantile.
        """
        return np.quantile(self.sizes, _tails(level), axis=0)

    def overlap_interval(self, level: float = 0.9) -> Floats:
        """Return the range of each m_ab over most draws.

        Parameters
        ----------
        level : float, default=0.9
            Share of the draws in the range, among those that have both clusters.

        Returns
        -------
        ndarray of shape (2, n_clusters, n_clusters)
            Lower and upper quantile; NaN if no draw has both clusters.

        Raises
        ------
        InputError
            If the model has no memberships.
        """
        if self.overlap is None:
            raise InputError("The model gave labels only: there are no memberships to overlap.")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
            return np.asarray(np.nanquantile(self.overlap, _tails(level), axis=0))


def _tails(level: float) -> tuple[float, float]:
    share = check_real(level, "level", "OtherMembers", high=1.0)
    return (1.0 - share) / 2, (1.0 + share) / 2


def other_members(
    model: Any,
    ensemble: Ensemble | ArrayLike | None = None,
    *,
    n_draws: int = 100,
    random_state: RandomStateLike = None,
) -> OtherMembers:
    """Measure the stability of a consensus under other partitions.

    Each draw takes as many partitions as the ensemble has, with replacement. The model is fitted to them with the
    number of clusters that it found. PCC starts from the original membership; other methods accept no start and are
    fitted from scratch.

    Parameters
    ----------
    model : estimator
        A fitted consensus; for a `conclust.ConsensusClustering`, the consensus of its members, without centres.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The ensemble it was fitted to. None: the partitions that a `conclust.ConsensusClustering` keeps.
    n_draws : int, default=100
        Draws.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws partitions, and seeds the fits.

    Returns
    -------
    OtherMembers
        Agreement of each draw with the original consensus.

    Raises
    ------
    ParameterError
        If the model is not a fitted consensus, or `n_draws` is out of its range.
    InputError
        If the ensemble is not the one of the fit.

    Notes
    -----
    This measures stability under other members. It is not a confidence interval, because the partitions of one
    generator are not independent observations of anything.

    A partition that is drawn several times gets a weight equal to this number if the method supports weights;
    otherwise its column is repeated. An object that none of the drawn partitions observed is in no cluster.

    Examples
    --------
    >>> from conclust import EAC
    >>> from conclust.confidence import other_members
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> found = other_members(EAC(2).fit(labels), labels, n_draws=20, random_state=0)
    >>> found.kept
    array([1. , 1. , 0.8, 1. ])
    """
    owner = "other_members"
    check_model(model, owner)
    check_int(n_draws, "n_draws", owner)
    if getattr(model, "centers_", None) is not None:
        # Different members give different consensuses; centres are those of the points.
        ensemble, model = model.ensemble_ if ensemble is None else ensemble, model.consensus_
    inner = getattr(model, "consensus_", model)
    if not hasattr(inner, "method"):  # it is fitted to something else than partitions
        refuse("model", owner, "a fitted consensus of partitions", model)
    judged = read_consensus(model, ensemble, owner)
    members, labels = judged.members, judged.labels
    K = judged.n_clusters
    in_cluster, m = labels >= 0, members.n_partitions
    agreement = np.empty(n_draws)
    n_kept = np.zeros(len(labels))
    sizes = np.zeros((n_draws, K), dtype=np.int64)
    overlap = None if judged.membership is None else np.full((n_draws, K, K), np.nan)
    for d, rng in enumerate(spawn_generators(seed_sequence(random_state, owner), n_draws)):
        times = np.bincount(rng.integers(m, size=m), minlength=m)
        again = _refitted(inner, members, times, K, judged.membership, rng)
        observed = members.present[:, times > 0].any(axis=1)
        theirs = np.where(observed, again.labels_, -1)
        both = in_cluster & observed
        n_theirs = int(again.n_clusters_)
        table = np.bincount(labels[both] * n_theirs + theirs[both], minlength=K * n_theirs)
        partner = assign(table.reshape(K, n_theirs))
        agreement[d] = adjusted_rand_index(
            np.where(in_cluster, labels, -1), np.where(both, theirs, -1)
        )
        n_kept += both & (partner[np.maximum(labels, 0)] == theirs)
        matched = np.flatnonzero(partner >= 0)
        sizes[d, matched] = np.bincount(theirs[theirs >= 0], minlength=n_theirs)[partner[matched]]
        if overlap is not None:
            shared = cluster_similarity(again.membership_[theirs >= 0])
            overlap[d][np.ix_(matched, matched)] = shared[
                np.ix_(partner[matched], partner[matched])
            ]
    return OtherMembers(agreement, np.where(in_cluster, n_kept / n_draws, np.nan), sizes, overlap)


def _refitted(
    model: Any,
    members: Ensemble,
    times: Ints,
    n_clusters: int,
    membership: Floats | None,
    rng: np.random.Generator,
) -> Any:
    """Fit the model's method to the partitions, each repeated as often as it was drawn.

    Parameters
    ----------
    model : fitted estimator
        Model to fit again.
    members : Ensemble
        The partitions.
    times : ndarray of shape (n_partitions,)
        Number of times each was drawn.
    n_clusters : int
        Number of clusters, for methods that take one.
    membership : ndarray of shape (n_samples, n_clusters) or None
        Start of PCC.
    rng : Generator
        Source of seeds.
    """
    again = clone(model)
    parameters = again.get_params(deep=False)
    if "n_clusters" in parameters:
        again.set_params(n_clusters=n_clusters)
    if "random_state" in parameters:
        again.set_params(random_state=int(rng.integers(2**31)))
    if isinstance(model, PCC) and membership is not None:
        start = membership[members.observed, :n_clusters]
        again.set_params(init=start / start.sum(axis=1, keepdims=True), n_init=1)
    if model.method.weights:
        ensemble = members.reweighted(members.partition_weights * times)
    else:
        ensemble = members.subset(partitions=np.repeat(np.arange(len(times)), times))
    with warnings.catch_warnings():
        # The first fit has shown these warnings already.
        warnings.simplefilter("ignore", UserWarning)
        return again.fit(ensemble)
