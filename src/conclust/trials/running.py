"""Runs several methods on one ensemble, one after the other, and scores their results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from conclust._progress import listening, stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_seeds
from conclust._threads import thread_count
from conclust._types import Ints
from conclust._validation import check_int
from conclust.confidence import confidences
from conclust.consensus.auto import AutoConsensus
from conclust.consensus.base import ConsensusClusterer
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import ConclustError, UnsupportedEnsembleError, warn
from conclust.measures.agreement import anmi
from conclust.measures.comparison import (
    adjusted_rand_index,
    consistency_index,
    normalized_mutual_information,
)
from conclust.measures.contingency import read_labels, read_labels_beside
from conclust.trials.entries import OWNER, Entry, read_entries
from conclust.trials.result import SCORES, TRUTH_SCORES, Comparison, Trial

_AGAINST_TRUTH = {
    "ari": adjusted_rand_index,
    "nmi": normalized_mutual_information,
    "h": consistency_index,
}
# Messages and their categories.
Warned: TypeAlias = dict[str, type[Warning]]


def compare(
    ensemble: Any,
    methods: Any = None,
    *,
    n_clusters: int | None = None,
    truth: ArrayLike | None = None,
    random_state: RandomStateLike = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Run several consensus methods on one ensemble, and compare their results.

    Parameters
    ----------
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The partitions.
    methods : None, str, estimator, sequence of these, or dict, default=None
        Names of methods (see :func:`conclust.methods`), estimators, and any other objects with ``fit_predict``. An
        object that is not a conclust estimator gets the labels as an integer array of shape
        (n_samples, n_partitions), -1 for missing and -2 for noise. Estimators are copied, not fitted. A dict
        gives the rows other names. "all": every method of conclust. None: thirteen, at least one of each
        family.
    n_clusters : int, default=None
        Number of clusters, or the maximum number, depending on the method. It replaces the number of an estimator;
        objects without ``get_params`` keep their own. None: methods find the number if they can; those that require one
        get the number that :class:`conclust.AutoConsensus` finds in this ensemble.
    truth : array-like of shape (n_samples,), default=None
        Known classes, numbers or names; -1, NaN, None: unknown. Used for the scores only.
    random_state : int, Generator, SeedSequence or RandomState, default=0
        Seed of every method that draws random numbers. An int is handed on as it is, so that
        ``PCC(3, random_state=0)`` gives the result of its row.
    n_jobs : int, default=None
        Threads of methods that are given by name. Results do not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Returns
    -------
    Comparison
        A row for each method; ``to_frame()`` makes a pandas frame of it.

    Raises
    ------
    ParameterError
        If a method is unknown or is not one, or a parameter is out of its range.
    InputError
        If the labels are malformed, or `truth` is not of the same objects.

    Warns
    -----
    UserWarning
        Each warning that all methods of conclust give, once: it is about the ensemble, and the rows do not repeat it.

    See Also
    --------
    conclust.plotting.comparison : A picture of the result.
    conclust.metrics : The scores.

    Notes
    -----
    A method that does not take such an ensemble has status "refused: " with the reason; one of your own
    that raises an error has "failed: ". Neither ends the comparison. An error of a conclust method that is not
    a refusal is raised. The CPU time is that of the process, all threads together, and of the fit only.

    Do not choose a method by scores against the truth, and then report these scores: see
    :doc:`/how-to/choose_a_method`.

    Examples
    --------
    >>> import conclust as cc
    >>> labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1], [2, 2, 1], [2, 2, 1]]
    >>> found = cc.compare(labels, ["EAC", cc.HBGF(3), "MCLA"], truth=list("aabbcc"))
    >>> [(trial.method, trial.n_clusters, trial.scores["ari"]) for trial in found]
    [('EAC', 3, 1.0), ('HBGF', 3, 1.0), ('MCLA', 3, 1.0)]
    """
    check_int(n_clusters, "n_clusters", OWNER, none=True)
    thread_count(n_jobs, OWNER)
    members = as_ensemble(ensemble)
    classes = None
    if truth is not None:
        classes, _ = read_labels_beside(
            truth, ensemble, members.n_samples, what="truth", name="truth"
        )
    entries = read_entries(methods, n_clusters, _seed(random_state), n_jobs)
    number = n_clusters
    by_auto = number is None and any(entry.needs_number for entry in entries)
    of_auto: Warned = {}
    with listening(verbose, OWNER):
        if by_auto:
            stage("number of clusters")
            auto = AutoConsensus(random_state=_seed(random_state), n_jobs=n_jobs)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                number = int(auto.fit(members).n_clusters_)
            of_auto = _warned(caught)
        tried = []
        for entry in tracked(entries, "methods"):
            stage(entry.name)
            if entry.needs_number and number is not None:
                entry.estimator.set_params(n_clusters=number)
            tried.append(_tried(entry, members, classes))
    trials, shared = _given_once(tried)
    in_rows = {message for _, warned in tried for message in warned}
    shared |= {message: of_auto[message] for message in of_auto if message not in in_rows}
    for message, category in shared.items():
        warn(message, category)
    score_names = SCORES if classes is None else (*TRUTH_SCORES, *SCORES)
    return Comparison(trials, score_names, number, by_auto)


def _seed(random_state: RandomStateLike) -> int | None:
    """Return the seed of all methods: the int that was given, or one drawn from what was given."""
    if random_state is None:
        return None
    root = seed_sequence(random_state, OWNER)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return spawn_seeds(root, 1, bits=32)[0]


def _given_once(tried: Sequence[tuple[Trial, Warned]]) -> tuple[tuple[Trial, ...], Warned]:
    """Return the trials with their own warnings, and the warnings that all methods of conclust gave."""
    ours = [warned for trial, warned in tried if isinstance(trial.model, ConsensusClusterer)]
    shared: Warned = {}
    if len(ours) > 1:
        everywhere = set(ours[0]).intersection(*ours[1:])
        shared = {message: ours[0][message] for message in ours[0] if message in everywhere}
    trials = []
    for trial, warned in tried:
        own = [message for message in warned if message not in shared]
        trials.append(replace(trial, status=f"warned: {own[0]}") if own else trial)
    return tuple(trials), shared


def _warned(caught: Sequence[warnings.WarningMessage]) -> Warned:
    """Return the warnings for users."""
    return {
        str(one.message): one.category for one in caught if issubclass(one.category, UserWarning)
    }


def _tried(entry: Entry, members: Ensemble, classes: Ints | None) -> tuple[Trial, Warned]:
    """Run one method, and score it; return its warnings too."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            labels = _found(entry.estimator, members)
        except ConclustError as error:
            return _without(entry, began, f"refused: {error}"), {}
        except Exception as error:
            ours = type(entry.estimator).__module__.startswith("conclust.")
            if ours and isinstance(entry.estimator, ConsensusClusterer):
                raise
            return _without(entry, began, f"failed: {type(error).__name__}: {error}"), {}
    seconds = time.process_time() - began
    number = int(labels.max(initial=-1)) + 1
    scores = _scores(labels, members, classes)
    trial = Trial(entry.name, number, scores, seconds, "ok", labels, entry.estimator)
    return trial, _warned(caught)


def _found(estimator: Any, members: Ensemble) -> Ints:
    """Return the labels that a method finds."""
    if isinstance(estimator, ConsensusClusterer):
        labels: Ints = estimator.fit_predict(members)
        return labels
    name = type(estimator).__name__
    if members.weights is not None:
        raise UnsupportedEnsembleError(
            f"{name} gets labels only, and the partitions of this ensemble have weights. A ConsensusClusterer "
            "gets the ensemble itself; ensemble.reweighted(None) leaves the weights out."
        )
    predicted = estimator.fit_predict(np.array(np.asarray(members)))
    codes, _ = read_labels(predicted, f"The labels of {name}")
    if len(codes) != members.n_samples:
        raise ValueError(
            f"fit_predict must return a label for each of the {members.n_samples} objects. Got {len(codes)}."
        )
    return canonical_labels(np.where(codes < 0, -1, codes))


def _without(entry: Entry, began: float, status: str) -> Trial:
    seconds = time.process_time() - began
    return Trial(entry.name, None, {}, seconds, status, None, None)


def _scores(labels: Ints, members: Ensemble, classes: Ints | None) -> dict[str, float]:
    """Return the scores of labels; NaN if there is no object to score."""
    if labels.max(initial=-1) < 0:
        scored = SCORES if classes is None else (*TRUTH_SCORES, *SCORES)
        return dict.fromkeys(scored, float("nan"))
    hard = Ensemble(members.labels, weights=members.weights) if members.is_soft else members
    scores = {}
    if classes is not None:
        labelled = (labels >= 0) & (classes >= 0)
        for name, measure in _AGAINST_TRUTH.items():
            scores[name] = float(measure(classes, labels)) if labelled.any() else float("nan")
    scores["anmi"] = anmi(labels, hard)
    scores["certainty"] = float(np.nanmean(confidences(labels, members)))
    return scores
