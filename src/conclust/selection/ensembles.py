"""choose_from: estimates the number of clusters from given ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conclust._progress import reporter
from conclust._random import RandomStateLike, repeating, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread, thread_count
from conclust._validation import check_int, refuse
from conclust.consensus.base import warn_of_separate_sets
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.selection.judged.measuring import Design, consensus_of, measure
from conclust.selection.judged.pairs import check_window
from conclust.selection.resampled.resampling import read_numbers
from conclust.selection.selection import Selection, assemble
from conclust.trees.agglomeration import unobserved_pairs
from conclust.trees.clusterwise import warn_of_pairs

_OWNER = "choose_from"
_WHY_NO_P = "labels alone give no reference without clusters to compare with"


def choose_from(
    ensembles: Any,
    k: int | Sequence[int] | None = None,
    *,
    window: tuple[float, float] = (0.1, 0.9),
    max_dense: int = 3000,
    n_pairs: int = 200_000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Estimate the number of clusters from ensembles, without the points.

    The number has the largest sharp score [1]_: the rates at which two objects are together within and
    between the clusters of the consensus, and their difference in units of chance. There is no p-value:
    labels alone do not show how they would look without clusters. One cluster is an answer only where
    objects of a cluster are together no more often than others, at any number.

    Parameters
    ----------
    ensembles : dict of int to Ensemble or array-like, or one of these
        Resamples for each number of clusters, all of the same objects, as `choose` makes them of points.
        Or one ensemble (n_samples, n_partitions), of clusterings of any numbers of clusters: its tree is
        cut at each number. Weights and soft members are refused.
    k : int, range or list of int, default=None
        For one ensemble: the numbers to try, at least 2. None: 2 to 10, limited by the number of objects.
    window : tuple of two floats, default=(0.1, 0.9)
        A pair is ambiguous if it is together in a share above the first and up to the second.
    max_dense : int, default=3000
        Maximum number of objects for which all pairs are counted and a tree is grown; see `choose`.
    n_pairs : int, default=200000
        Pairs drawn where there are more than `max_dense` objects. At least 1000.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws objects and pairs where there are too many.
    n_jobs : int, default=None
        Threads. None: ``OMP_NUM_THREADS`` or all processors. No bit of the result depends on it.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Selection
        ``p_value`` is NaN, and ``reason`` says why. For one ensemble PAC, areas and silhouettes of pairs
        are the same for all numbers or nearly so, and `mean_ari` compares the members with the
        consensus.

    Raises
    ------
    InputError
        If labels are malformed, put no two objects together, or ensembles are of different objects.
    UnsupportedEnsembleError
        If members are soft or weighted.
    ParameterError
        If a parameter is out of its range, or a number is above the number of objects.

    Warns
    -----
    SelectionWarning
        Doubts about the number chosen.
    EvidenceWarning
        Pairs of objects that no partition observed together count as dissimilarity 1 in the tree. Sets of objects that no
        partition connects.

    References
    ----------
    .. [1] B. Bodinier et al., "Automated calibration of consensus weighted distance-based clustering
       approaches using sharp", Bioinformatics 39:btad635, 2023.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust import EnsembleGenerator
    >>> from conclust.selection import choose_from
    >>> X, _ = make_blobs(90, centers=4, cluster_std=0.5, random_state=0)
    >>> found = choose_from(EnsembleGenerator("kmeans", random_state=0).fit_transform(X), range(2, 8))
    >>> found.n_clusters, found.p_value
    (4, nan)
    """
    check_int(max_dense, "max_dense", _OWNER, low=10)
    check_int(n_pairs, "n_pairs", _OWNER, low=1000)
    ends = check_window(window, _OWNER)
    threads = thread_count(n_jobs, _OWNER)
    report = reporter(verbose, _OWNER)
    root = seed_sequence(random_state, _OWNER)
    shared = not isinstance(ensembles, Mapping)
    if shared:
        ensemble = _plain(ensembles)
        members = dict.fromkeys(read_numbers(k, _OWNER, ensemble.n_samples), ensemble)
    else:
        members = _of_several(ensembles, k)
    ks = tuple(members)
    n = members[ks[0]].n_samples
    if ks[-1] > n:
        raise ParameterError(
            f"The 'k' parameter of {_OWNER} must hold numbers up to n_samples={n}. Got {ks[-1]} instead."
        )
    _warn_of_missing(tuple(members.values())[: 1 if shared else None], max_dense)
    (design_seed,) = spawn_sequences(root, 1)
    with one_library_thread():
        design = Design.draw(
            n, max_dense=max_dense, n_pairs=n_pairs, window=ends, n_jobs=threads, seed=design_seed
        )
        tree = consensus_of(members[ks[0]], design) if shared else None
        measured = {}
        for number in ks:
            measured[number] = measure(
                members[number], number, design, consensus=tree, shared=shared
            )
            report(f"measured K = {number}")
    settings = {
        "n_samples": n,
        "one_ensemble": shared,
        "window": (float(ends[0]), float(ends[1])),
        "max_dense": max_dense,
        "n_pairs": None if design.pairs is None else len(design.pairs[0]),
        "null": None,
        "random_state": repeating(root),
    }
    return assemble(
        measured, members, settings, verdict=None, why_no_p=_WHY_NO_P, nested=not shared
    )


def _of_several(ensembles: Mapping[Any, Any], k: Any) -> dict[int, Ensemble]:
    if k is not None:
        refuse("k", _OWNER, "None with an ensemble for each number: its keys are the numbers", k)
    if not ensembles:
        refuse("ensembles", _OWNER, "an ensemble, or a dict with one for each number", {})
    numbers = {read_numbers(number, _OWNER)[0]: labels for number, labels in ensembles.items()}
    members = {number: _plain(numbers[number]) for number in sorted(numbers)}
    sizes = {number: ensemble.n_samples for number, ensemble in members.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{size} for K = {number}" for number, size in sizes.items())
        raise InputError(
            f"The ensembles must be of the same objects. Got {listed} objects instead."
        )
    return members


def _warn_of_missing(ensembles: Sequence[Ensemble], max_rows: int) -> None:
    """Warn about pairs and sets of objects that no partition observed together, in the ensemble with most of them."""
    incomplete = [ensemble for ensemble in ensembles if ensemble.has_missing]
    if incomplete:
        numbers = [unobserved_pairs(one.observed_only(), max_rows=max_rows) for one in incomplete]
        number = None if None in numbers else max(one for one in numbers if one is not None)
        warn_of_pairs(number)
        warn_of_separate_sets(incomplete[numbers.index(number)])


def _plain(labels: Any) -> Ensemble:
    ensemble = as_ensemble(labels)
    if ensemble.is_soft or ensemble.weights is not None:
        what = "soft members" if ensemble.is_soft else "weights"
        raise UnsupportedEnsembleError(
            f"{_OWNER} counts in whole partitions and takes no {what}. Pass "
            "Ensemble(ensemble.labels), the plain labels."
        )
    if ensemble.n_partitions < 2:
        raise InputError(
            f"{_OWNER} needs two partitions at least: one is stable by itself. Got "
            f"{ensemble.n_partitions}."
        )
    if not (ensemble.cluster_sizes > 1).any():
        raise InputError(
            f"{_OWNER} counts pairs that are together, and no partition puts two objects "
            "together: each is in a cluster of its own, or noise."
        )
    return ensemble
