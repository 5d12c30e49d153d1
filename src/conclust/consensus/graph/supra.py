"""Supra-consensus: the consensus partition, among several, that agrees most with the ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.consensus.base import ConsensusClusterer
from conclust.ensemble import as_ensemble
from conclust.measures.agreement import anmi


@dataclass(frozen=True, eq=False)
class Supraconsensus:
    """The best of several consensus partitions.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        The best partition; -1: missing in every partition.
    estimator : ConsensusClusterer
        The fitted estimator that found it.
    scores : ndarray of shape (n_estimators,)
        Mean normalised mutual information between the partition of each estimator and the ensemble.
    """

    labels: Ints
    estimator: ConsensusClusterer
    scores: Floats


def best_by_anmi(X: Any, estimators: Sequence[ConsensusClusterer]) -> Supraconsensus:
    """Fit several consensus estimators and keep the one that agrees most with the ensemble.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_partitions) or Ensemble
        Labels, one partition per column.
    estimators : sequence of ConsensusClusterer
        The methods to try, for instance CSPA, HGPA and MCLA as published [1]_. They are cloned.

    Returns
    -------
    Supraconsensus
        The labels of the highest mean normalised mutual information (geometric; of equal ones the
        first), the fitted estimator and all scores. No ground truth is read.

    Raises
    ------
    ParameterError
        If there is no estimator.
    UnsupportedEnsembleError
        If the ensemble is soft, or is of a kind that an estimator does not take.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", JMLR 3, 2002.

    Examples
    --------
    >>> from conclust import CSPA, MCLA
    >>> from conclust.consensus.graph import best_by_anmi
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> best = best_by_anmi(labels, [CSPA(2, random_state=0), MCLA(2, random_state=0)])
    >>> best.labels, best.scores.round(3)
    (array([0, 0, 1, 1]), array([0.782, 0.782]))
    """
    sequence = isinstance(estimators, Sequence) and not isinstance(estimators, str | bytes)
    if not sequence or not estimators or not all(hasattr(one, "fit") for one in estimators):
        refuse("estimators", "best_by_anmi", "a sequence of at least one estimator", estimators)
    ensemble = as_ensemble(X)
    fitted = [clone(estimator).fit(ensemble) for estimator in estimators]
    scores = np.array([anmi(model.labels_, ensemble) for model in fitted])
    best = fitted[int(scores.argmax())]
    return Supraconsensus(best.labels_, best, scores)
