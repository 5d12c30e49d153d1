"""choose: estimates the number of clusters of points."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier

from conclust._arrays.containers import refuse_gaps, spread_rounded_columns
from conclust._progress import reporter
from conclust._random import RandomStateLike, generator, repeating, seed_sequence, spawn_sequences
from conclust._threads import one_library_thread, thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_column_names, check_int, check_option, check_real, refuse
from conclust.consensus.base import warn_of_separate_sets
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError, ParameterError
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import scaled
from conclust.generation.points import read_points, warn_of_distances
from conclust.generation.runs import some_objects
from conclust.generation.scaling import Scale, Scaling, fitted_scaling
from conclust.selection.judged import measuring
from conclust.selection.judged.pairs import plain_members
from conclust.selection.resampled.generalizability import generalizability
from conclust.selection.resampled.null import Null, Verdict
from conclust.selection.resampled.resampling import (
    Settings,
    check_clusterer,
    drawn_size,
    read_numbers,
)
from conclust.selection.resampled.testing import (
    OneClusterTest,
    beside,
    by_silhouette,
    read_categories,
)
from conclust.selection.second import GAUSSIAN, Second, clear_borders, second_test
from conclust.selection.selection import Selection, assemble
from conclust.spectra.bipartite import some_eigenpairs
from conclust.trees.agglomeration import unobserved_pairs
from conclust.trees.clusterwise import warn_of_pairs

_OWNER, _FROM = "choose", "choose_from"
# Size of a data set from which references are drawn one after the other.
_COSTLY = 20_000


def choose(
    X: ArrayLike,
    k: int | Sequence[int] | None = None,
    *,
    categories: ArrayLike | None = None,
    category_weight: float = 1.0,
    clusterer: Any = "kmeans",
    classifier: Any = None,
    n_resamples: int = 50,
    sample_fraction: float = 0.8,
    null: Null | None = "rotation",
    n_references: int = 99,
    sequential: bool | None = None,
    alpha: float = 0.05,
    n_components: int | None = None,
    scale: Scale = "auto",
    max_test: int = 2000,
    max_dense: int = 3000,
    n_pairs: int = 200_000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Estimate the number of clusters of points: one, by two tests, or the number with stable clusters.

    For each K, `choose` clusters resamples of the points (Monti et al. 2003 [1]_). For each pair of objects, the
    consensus matrix has the share of resamples that put both together, among those that drew both. PAC [2]_ is the
    share of pairs that are neither together nor apart; it is small if the clusters do not depend on the draw. The
    same is done with references: clouds that have the same covariance but no clusters. One Monte-Carlo p-value tests
    whether the points are more stable than the references at any K. If they are, `choose` takes the K with the
    largest RCSI [3]_, the mean log PAC of the references minus the log PAC of the points.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points: at least two, finite.
    k : int, range or list of int, default=None
        The numbers of clusters to try, from 2 on, in any order. Leave out 1: the p-value tests for one cluster. None:
        2 to 10, limited by the number of objects in a resample.
    categories : array-like of shape (n_samples, n_columns), default=None
        Columns of categories in addition to the points, as names or numbers. None, NaN and -1 are empty cells, which
        lie in the middle of all categories. Any two different categories of a column are equally far apart, and the
        indicators of a column together vary as much as a column of X. References permute each column separately, so
        the p-value then tests one Gaussian cloud with independent categories.
    category_weight : float, default=1.0
        Number of columns of X whose weight each column of categories gets. Above 0.
    clusterer : "kmeans" or clusterer, default="kmeans"
        Clusterer of the resamples. "kmeans": k-means from a greedy k-means++ start, all resamples at once in
        native code. Or a scikit-learn clusterer with a parameter ``n_clusters``, at its own cost.
    classifier : classifier, default=None
        A scikit-learn classifier, with which `generalizability` is measured on at most `max_test` objects: it learns the
        clusters of one half and predicts those of the other, `n_resamples` times. None: not measured.
    n_resamples : int, default=50
        Number of resamples for each K, at least 2. All K and all references use the same draws.
    sample_fraction : float in (0, 1], default=0.8
        Share of the objects that each resample draws, without replacement.
    null : {"rotation", "gaussian", "unimodal"} or None, default="rotation"
        The kind of references.

        - "rotation": the points after a random rotation that keeps their mean and covariance. If the points come from
          one Gaussian, the p-value is exact for any mean, covariance and number of features.
        - "gaussian": independent normal scores with the deviations of the principal components, as in M3C. The test
          rejects too rarely, and more so with more features.
        - "unimodal": every independent component is drawn from the nearest distribution with one mode. The test mistakes fewer skewed
          clouds for several clusters, but also finds fewer clusters.
        - None: no references and no p-value; the number of clusters, at least 2, has the largest sharp score [4]_.
    n_references : int, default=99
        Maximum number of references of a kind. No p-value is below 1 / (n_references + 1).
    sequential : bool, default=None
        Whether to draw references one after the other and stop when ten are as stable as the points [5]_. The p-value
        is still exact, and a result of one cluster is found earlier; 19 more references are drawn first. None: only
        if references are expensive (if the tested points have at least 20,000 numbers, or with a clusterer of your
        own).
    alpha : float in (0, 1), default=0.05
        Level of the p-value, of the borders, and of the comparison with single clouds of other shapes.
    n_components : int, default=None
        Number of principal components to which the points are reduced first; the p-value stays exact. None: 10 if the
        number of features is above a fifth of the number of objects, because k-means on all features is then not
        stable; otherwise all.
    scale : {"auto", "minmax", "standard"} or None, default="auto"
        Scaling of the columns. "minmax": to [0, 1]. "standard": to mean 0 and variance 1. None: unchanged. "auto": to mean 0
        and variance 1 if the spreads suggest different units, as in :class:`conclust.EnsembleGenerator`;
        ``settings["scale"]`` records the result. With "standard" the p-value stays exact; with "minmax" it is a test
        of the scaled points.
    max_test : int, default=2000
        Maximum number of objects on which points and references are compared; if there are more, this number is drawn
        at random. A test on a sample is a valid test.
    max_dense : int, default=3000
        Maximum number of objects for which all pairs are counted and a tree is grown. If there are more, this number
        is drawn for the tree, and each of the other objects goes to the cluster with which it is most often together.
        PAC, areas and distribution functions are then computed from `n_pairs` pairs.
    n_pairs : int, default=200000
        Number of pairs drawn if there are more than `max_dense` objects. At least 1000.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Number of threads. None: ``OMP_NUM_THREADS`` or all processors. The result does not depend on it.
    verbose : int, default=0
        1: print progress to standard error.

    Returns
    -------
    Selection
        ``n_clusters``, ``p_value``, ``reason``; labels, resamples and consensus of every K; the table.

    Raises
    ------
    InputError, ValueError
        If X is malformed or has missing or infinite values, or if all objects are equal. (A ValueError of scikit-learn if X
        is not two-dimensional.)
    ParameterError
        If a parameter is out of its range, a K is above the number of objects in a resample, or there are too few
        references for a p-value of `alpha`.

    Warns
    -----
    SelectionWarning
        If there are doubts about the chosen number: other criteria disagree, a cluster is small or loose, it is the
        largest K tried, or no border holds. Also if references will take more than a minute.

    Notes
    -----
    A p-value of at most `alpha` means "more stable than one Gaussian", not "clusters": k-means cuts a flat square
    into four stable quarters, and a skewed cloud into stable parts. With null "rotation" or "gaussian", a second test
    follows. ``borders`` has the tests of the borders, on all points and for the number with the largest RCSI. If no
    border holds, the largest studentised gap (below) must also be larger than in single clouds that have the
    covariance and the shape of the points: mixtures of independent components [6]_, each with the unimodal distribution nearest to
    its values. ``p_value_clouds``, from at most `n_references` clouds [5]_, is compared with `alpha`; NaN if a
    border holds. With categories, borders are not tested. Columns of rounded values are spread over the intervals of
    their values before borders are tested.

    k-means also cuts a long Gaussian stably, so two clusters along a line may be no more stable. If the p-value is
    above `alpha`, the borders are tested at a fifth of `alpha`, and the number with the largest RCSI is chosen if all
    of them hold.

    The table has for each K:

    - pac: share of ambiguous pairs
    - area, delta: area under the distribution function, which is 1 minus the mean of the consensus matrix; its
      relative growth with K
    - rcsi: mean log PAC of the references minus log PAC of the tested points
    - sharp: difference between the rates of being together within and between clusters, in standard errors
    - mean_ari: mean adjusted Rand index of two resamples
    - silhouette_points: mean silhouette in the points of at most 1,000 objects
    - generalizability: mean adjusted Rand index between the clusters of one half of the points and the predictions of
      the classifier that learned those of the other half [7]_; only with `classifier`. ``number_by("generalizability")``
      has the number by the one-standard-error rule
    - smallest_cluster: number of objects in the smallest cluster
    - resamples_with_k: share of the resamples with K clusters, not fewer; a number that most resamples do not reach
      is not chosen
    - p_value_k: p-value of this K alone, for pictures; the smallest over K is not a p-value
    - log_pac_null_mean, log_pac_null_sd: mean and standard deviation of log PAC over the references

    Standard errors come from a jackknife over ten groups of resamples, with a fixed consensus and the pairs of at
    most 250 objects. Exceptions: `rcsi` (over the references), `silhouette_points` (over objects) and `generalizability`
    (over splits).

    The p-value belongs to the largest studentised gap, max over K of (mean log PAC - log PAC) / sd, where mean
    and sd are taken over the references and the points. Any later choice of K leaves it exact.

    With few objects, resamples are as stable in the middle of one cloud as between two clusters. With fewer than 50
    objects, the statistic is therefore the largest silhouette of Ward's clusters (at least five objects each). The
    number of clusters is the one with the largest silhouette. With 50 to 99 objects, the silhouette is a further gap.

    References
    ----------
    .. [1] S. Monti, P. Tamayo, J. Mesirov and T. Golub, "Consensus clustering", Machine Learning 52, 2003.
    .. [2] Y. Senbabaoglu, G. Michailidis and J. Z. Li, Scientific Reports 4:6207, 2014.
    .. [3] C. R. John et al., "M3C", Scientific Reports 10:1816, 2020.
    .. [4] B. Bodinier et al., Bioinformatics 39:btad635, 2023.
    .. [5] J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991.
    .. [6] A. Hyvarinen, "Fast and robust fixed-point algorithms for independent component analysis", IEEE Transactions on
       Neural Networks 10, 1999.
    .. [7] K. Wycik, T. M. Tang, T. M. Zikry and G. I. Allen, "CARVE: Cluster Analysis with Resampling for Validation and
       Exploration", version 1.0, doi:10.5281/zenodo.20448965, 2026.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust.selection import choose
    >>> X, _ = make_blobs(150, centers=3, cluster_std=0.5, random_state=1)
    >>> found = choose(X, range(2, 6), random_state=0)
    >>> found.n_clusters, found.p_value
    (3, 0.01)
    >>> found.table["pac"].round(3)
    array([0.   , 0.   , 0.138, 0.241])
    """
    for value, name, low in (
        (n_resamples, "n_resamples", 2),
        (n_references, "n_references", 1),
        (max_test, "max_test", 10),
        (max_dense, "max_dense", 10),
        (n_pairs, "n_pairs", 1000),
    ):
        check_int(value, name, _OWNER, low=low)
    check_option(null, "null", _OWNER, (None, *get_args(Null)))
    check_option(scale, "scale", _OWNER, Scale)
    if not (sequential is None or isinstance(sequential, bool)):
        refuse("sequential", _OWNER, "a bool or None", sequential)
    fraction = check_real(sample_fraction, "sample_fraction", _OWNER, high=1.0, closed="right")
    weight = check_real(category_weight, "category_weight", _OWNER, low=0.0, closed="neither")
    level = check_real(alpha, "alpha", _OWNER, high=1.0, closed="neither")
    threads = thread_count(n_jobs, _OWNER)
    if null is not None and 1.0 / (n_references + 1) > level + 1e-12:
        refuse(
            "n_references",
            _OWNER,
            f"an int in the range [{int(np.ceil(1.0 / level - 1e-9)) - 1}, inf) with alpha={level:g}",
            n_references,
            "Fewer references cannot give a p-value that small.",
        )
    began, report = time.perf_counter(), reporter(verbose, _OWNER)
    points, scaling = read(X, scale, _OWNER)
    n, p = points.shape
    if not (classifier is None or (is_classifier(classifier) and not isinstance(classifier, type))):
        refuse("classifier", _OWNER, "None or a scikit-learn classifier (an instance)", classifier)
    codes = read_categories(categories, n, _OWNER)
    ks = tried(k, clusterer, n, fraction, _OWNER)
    settings = Settings(ks, clusterer, n_resamples, fraction, null, n_references, threads)
    components = components_for(n, p, n_components, _OWNER)
    root = seed_sequence(random_state, _OWNER)
    drawing, testing, comparing, designing, choosing, halving, bordering, shaping, spreading = (
        spawn_sequences(root, 9)
    )

    def placed(points: Floats, rows: Any = slice(None)) -> tuple[Floats, list[int] | None]:
        """Return the scores of some objects, and the widths of their blocks if there are categories."""
        numbers = scores_of(points[rows], components)
        return (numbers, None) if codes is None else beside(numbers, codes[rows], p, weight)

    verdict: Verdict | None = None

    def compare(null: Null, seed: np.random.SeedSequence) -> Verdict:
        """Compare the points with references: single clouds in the units of the first ones, until the result is clear."""
        test = OneClusterTest(
            replace(settings, null=null),
            tested,
            settings.resamples(len(tested), of_tested),
            seed=seed,
            report=report,
            widths=widths,
        )
        fixing = None if verdict is None else verdict.logs
        return test.verdict(sequential=sequential or verdict is not None, fixing=fixing)

    def finished(step: str) -> None:
        report(f"{step}, {time.perf_counter() - began:.1f} s")

    with one_library_thread():
        scores, widths = placed(points)
        # Gaps between rounded values are not borders.
        ungapped = spread_rounded_columns(points, generator(spreading))
        spread = scores if ungapped is points else placed(ungapped)[0]
        tested, of_tested = scores, drawing
        if n > max_test and null is not None:
            tested, widths = placed(points, some_objects(n, max_test, generator(choosing)))
            of_tested = testing
        if sequential is None and null is not None:
            sequential = tested.size >= _COSTLY or not settings.fast
        design = measuring.Design.draw(
            n, max_dense=max_dense, n_pairs=n_pairs, n_jobs=threads, seed=designing
        )
        resamples = settings.resamples(n, drawing)
        ensembles, measured = {}, {}
        for number in ks:
            ensembles[number] = Ensemble(resamples.labels(scores, number, threads=threads))
            finished(f"resampled K = {number}")
        verdict = None if null is None else compare(null, comparing)
        for number, ensemble in ensembles.items():
            measured[number] = measuring.measure(ensemble, number, design, points=scores)
            finished(f"measured K = {number}")
        if classifier is not None:
            some = some_objects(n, min(n, max_test), generator(halving))
            by_number = generalizability(scores[some], settings, classifier, halving)
            for number, agreements in by_number.items():
                measured[number].values["generalizability"] = measuring.mean_of(agreements)
                measured[number].errors["generalizability"] = measuring.error_of_mean(agreements)
            finished("generalizability")

    def tested_again(labels: Ints, rejected: bool) -> Second:
        """Run the second test on the clusters of the best number, after the first one."""
        if not rejected:
            if codes is not None or null not in GAUSSIAN or by_silhouette(len(tested)):
                return Second()
            return clear_borders(spread, labels, settings, level, bordering)
        with one_library_thread():
            return second_test(
                spread,
                labels,
                settings,
                level,
                bordering,
                lambda: compare("unimodal", shaping),
                borders=codes is None,
            )

    counted = {} if codes is None else {"n_categories": codes.shape[1], "category_weight": weight}
    if classifier is not None:
        counted["classifier"] = repr(classifier)
    told = {
        "clusterer": clusterer if settings.fast else repr(clusterer),
        "n_samples": n,
        "n_features": p,
        **counted,
        "n_components": scores.shape[1],
        "reduced": components is not None,
        "scale": scaling.scale,
        "scale_reason": scaling.reason,
        "n_resamples": n_resamples,
        "sample_fraction": fraction,
        "null": null,
        "n_tested": 0 if null is None else len(tested),
        "n_references": None if null is None else n_references,
        "sequential": sequential,
        "alpha": level,
        "max_test": max_test,
        "max_dense": max_dense,
        "n_pairs": None if design.pairs is None else len(design.pairs[0]),
        "random_state": repeating(root),
    }
    return assemble(measured, ensembles, told, verdict=verdict, second_test=tested_again)


def tried(k: Any, clusterer: Any, n: int, fraction: float, owner: str) -> tuple[int, ...]:
    """Return the numbers of clusters to try; refuse those that are impossible for a resample or the clusterer."""
    drawn = drawn_size(n, fraction)
    ks = read_numbers(k, owner, drawn)
    if ks[-1] > drawn:
        raise ParameterError(
            f"The 'k' parameter of {owner} must hold numbers up to the {drawn} objects that a resample "
            f"draws ({fraction:g} of {n}). Got {ks[-1]} instead."
        )
    check_clusterer(clusterer, ks, owner)
    return ks


# Directions with less than this share of the largest variation are rounding errors.
_RANK = 1e-10
# Objects for each feature below which distances are reduced to a few components first.
_OBJECTS_PER_FEATURE = 5
_COMPONENTS = 10


def read(X: ArrayLike, scale: Scale, owner: str) -> tuple[Floats, Scaling]:
    """Return points as finite numbers in the given scale, and the scale; refuse data that cannot be clustered."""
    check_column_names(X)
    reader = type(owner, (BaseEstimator,), {})()  # the name used by scikit-learn's validation of X
    points = read_points(reader, X, ensure_min_samples=0, ensure_all_finite=False)
    if len(points) < 2:
        raise InputError(
            f"{owner} needs at least two objects. Got {len(points)}: a row of X is an object."
        )
    refuse_gaps(points, X, "Input X")
    warn_of_distances(points)
    scaling = fitted_scaling(scale, [points], getattr(reader, "feature_names_in_", None))
    return scaled(points, scaling.scaler), scaling


def components_for(n: int, p: int, wanted: Any, owner: str) -> int | None:
    """Return the number of components to keep: as requested, ten with many features, or None for all."""
    most = min(p, n - 1)
    n_components = check_int(wanted, "n_components", owner, high=most, none=True)
    if n_components is None and p * _OBJECTS_PER_FEATURE > n:
        n_components = min(most, _COMPONENTS)
    return None if n_components == most else n_components


def scores_of(points: Floats, n_components: int | None) -> Floats:
    """Return the principal scores U s of the points, in units of the largest value.

    The scores have the distances of the points (of their leading components). Constant features and
    rotations of the features change nothing.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        Finite numbers.
    n_components : int, default=None
        Number of components to keep. None: all in which the points vary.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        Columns of mean 0, by falling variance.

    Raises
    ------
    InputError
        If all points are equal.
    """
    unit = float(np.abs(points).max())
    centred = points / unit if unit > 0 else points
    centred = centred - centred.mean(axis=0)
    largest = float(np.abs(centred).max())
    if not largest > 1e-14:  # the largest value is 1
        raise InputError(
            f"All {len(points)} objects of X are equal (every feature is constant): there is nothing to "
            "choose."
        )
    centred /= largest
    if n_components is None:
        U, s, _ = scipy.linalg.svd(centred, full_matrices=False, lapack_driver="gesdd")
    else:
        U, s = _leading(centred, n_components)
    above_rank = s > _RANK * s[0]
    return np.ascontiguousarray(U[:, above_rank] * s[above_rank])


def _leading(centred: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the leading singular triplets by the smaller of the two products."""
    n, p = centred.shape
    small = centred @ centred.T if n <= p else centred.T @ centred
    values, vectors = some_eigenpairs(small, len(small) - k, len(small))
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    vectors = vectors[:, ::-1]
    if n > p:
        vectors = (centred @ vectors) / np.where(s > 0, s, 1.0)
    # The products square the condition number: values much smaller than the first are inaccurate.
    s = np.where(s > 1e-7 * s[0], s, 0.0)
    return vectors, s


# Fewer references, with fewer objects, than the defaults of `choose`: with 1,500 objects it then
# costs about five times as much as the members and their consensus (experiments/selection).
_REFERENCES = 39
_MAX_TEST = 1000


def choose_beside(
    X: Any, generator: Any, ensemble: Ensemble, n_made: int, *, seed: int, verbose: int
) -> Selection:
    """Choose the number of clusters by resamples of the points, in the scale of the members.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    generator : fitted transformer
        Generator of the members: the scale and threads of an `EnsembleGenerator` are used.
    ensemble : Ensemble
        The members, and behind them further partitions, which count as categories.
    n_made : int
        Number of members.
    seed : int
        Source of all randomness.
    verbose : int
        1: progress on standard error.

    Returns
    -------
    Selection
        The selection by at most 39 references, on 1,000 objects at most.
    """
    ours = isinstance(generator, EnsembleGenerator)
    categories, weight = None, 1.0
    if ensemble.n_partitions > n_made:
        part = ensemble.subset(partitions=np.arange(n_made, ensemble.n_partitions))
        categories = part.labels
        weight = float(part.partition_weights.mean()) * int(np.shape(X)[1]) / n_made
    return choose(
        X,
        categories=categories,
        category_weight=weight,
        n_references=_REFERENCES,
        max_test=_MAX_TEST,
        scale=generator.scale_ if ours else None,
        n_jobs=generator.n_jobs if ours else None,
        random_state=seed,
        verbose=verbose,
    )


def choose_from(
    ensembles: Any,
    k: int | Sequence[int] | None = None,
    *,
    max_dense: int = 3000,
    n_pairs: int = 200_000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Estimate the number of clusters from ensembles, without the points.

    The number has the largest sharp score [1]_: the rates at which two objects are together within and
    between the clusters of the consensus, and their difference in units of chance. There is no p-value:
    labels alone do not show how they would look without clusters. One cluster is the answer only if, at every number, objects
    of the same cluster are together no more often than others.

    Parameters
    ----------
    ensembles : dict of int to Ensemble or array-like, or one of these
        Resamples for each number of clusters, all of the same objects, as `choose` makes them of points.
        Or one ensemble (n_samples, n_partitions) of clusterings with any numbers of clusters, whose tree is cut at each number.
        Weights and soft members are rejected.
    k : int, range or list of int, default=None
        For one ensemble: the numbers to try, at least 2. None: 2 to 10, limited by the number of objects.
    max_dense : int, default=3000
        Maximum number of objects for which all pairs are counted and a tree is grown; see `choose`.
    n_pairs : int, default=200000
        Number of pairs drawn if there are more than `max_dense` objects. At least 1000.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws objects and pairs if there are too many.
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
    check_int(max_dense, "max_dense", _FROM, low=10)
    check_int(n_pairs, "n_pairs", _FROM, low=1000)
    threads = thread_count(n_jobs, _FROM)
    report = reporter(verbose, _FROM)
    root = seed_sequence(random_state, _FROM)
    shared = not isinstance(ensembles, Mapping)
    if shared:
        ensemble = _plain(ensembles)
        members = dict.fromkeys(read_numbers(k, _FROM, ensemble.n_samples), ensemble)
    else:
        members = _of_several(ensembles, k)
    ks = tuple(members)
    n = members[ks[0]].n_samples
    if ks[-1] > n:
        raise ParameterError(
            f"The 'k' parameter of {_FROM} must hold numbers up to n_samples={n}. Got {ks[-1]} instead."
        )
    _warn_of_missing(tuple(members.values())[: 1 if shared else None], max_dense)
    (design_seed,) = spawn_sequences(root, 1)
    with one_library_thread():
        design = measuring.Design.draw(
            n, max_dense=max_dense, n_pairs=n_pairs, n_jobs=threads, seed=design_seed
        )
        tree = measuring.consensus_of(members[ks[0]], design) if shared else None
        measured = {}
        for number in ks:
            measured[number] = measuring.measure(
                members[number], number, design, consensus=tree, shared=shared
            )
            report(f"measured K = {number}")
    settings = {
        "n_samples": n,
        "one_ensemble": shared,
        "max_dense": max_dense,
        "n_pairs": None if design.pairs is None else len(design.pairs[0]),
        "null": None,
        "random_state": repeating(root),
    }
    return assemble(measured, members, settings, verdict=None, nested=not shared)


def _of_several(ensembles: Mapping[Any, Any], k: Any) -> dict[int, Ensemble]:
    if k is not None:
        refuse("k", _FROM, "None with an ensemble for each number: its keys are the numbers", k)
    if not ensembles:
        refuse("ensembles", _FROM, "an ensemble, or a dict with one for each number", {})
    numbers = {read_numbers(number, _FROM)[0]: labels for number, labels in ensembles.items()}
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
    ensemble = plain_members(labels, _FROM)
    if ensemble.n_partitions < 2:
        raise InputError(
            f"{_FROM} needs two partitions at least: one is stable by itself. Got "
            f"{ensemble.n_partitions}."
        )
    if not (ensemble.cluster_sizes > 1).any():
        raise InputError(
            f"{_FROM} counts pairs that are together, and no partition puts two objects "
            "together: each is in a cluster of its own, or noise."
        )
    return ensemble
