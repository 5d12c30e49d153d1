"""Confidence as a probability: how often the pairs of an object hold in a fresh sample, by halves of the objects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from conclust._arrays.rows import cross_counts
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Floats, Ints
from conclust._validation import check_int, count, refuse
from conclust.confidence.objects import confidences
from conclust.confidence.reading import check_model, read_features
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.median import AddRemAdd
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING
from conclust.exceptions import InputError
from conclust.measures.losses import hard_draws
from conclust.number.constants import CLEAR
from conclust.words import confidence as words

_OWNER = "calibrated"
_FEWEST = 32  # objects: a half of fewer has no borders
_GROUPS = 20  # of objects of similar confidence


@dataclass(frozen=True)
class Calibration:
    """The probability that the pairs of an object hold in a fresh sample; ``model.calibration_`` after :func:`conclust.confidence.calibrated`.

    Attributes
    ----------
    kept : ndarray of shape (n_samples,)
        The probability for each object of the fit; NaN for an object in no cluster. It is 1/2 where a fresh sample says nothing
        about the object's cluster, and 1 where it always finds it again.
    confidence : ndarray of shape (n_knots,)
        Confidences (:func:`confidences`), rising.
    share : ndarray of shape (n_knots,)
        The probability at each of these, rising; linear between two of them.
    n_halvings : int
        Halvings of the objects.
    """

    kept: Floats
    confidence: Floats
    share: Floats
    n_halvings: int

    def of(self, confidence: ArrayLike) -> Floats:
        """Return the probability for other objects.

        Parameters
        ----------
        confidence : array-like of shape (n_new,)
            Their confidence: the largest entries of ``model.predict_proba``.

        Returns
        -------
        ndarray of shape (n_new,)
            The probabilities; NaN for NaN.
        """
        given = np.asarray(confidence, dtype=np.float64)
        found: Floats = np.interp(given, self.confidence, self.share)
        return np.where(np.isnan(given), np.nan, found)

    def told(self) -> str:
        """Return what it says of the objects, in a sentence."""
        return words.kept_sentence(self.kept)

    def __repr__(self) -> str:
        held = self.kept[~np.isnan(self.kept)]
        return (
            f"Calibration({count(len(self.kept), 'object')}, {count(self.n_halvings, 'halving')}; "
            f"kept {held.min():.2f} to {held.max():.2f})"
        )

    def _restored(self) -> bool:
        """Return whether the parts, read from a file, fit each other."""
        rising = all((np.diff(each) >= 0).all() for each in (self.confidence, self.share))
        return rising and len(self.confidence) == len(self.share) > 0 and self.kept.ndim == 1


def calibrated(
    model: Any, X: ArrayLike, *, n_halvings: int = 5, random_state: RandomStateLike = None
) -> Calibration:
    """Estimate how many pairs of each object a fresh sample would keep together or apart.

    The probability refers to a pair: take an object and, with equal chance, either one of its companions (the other objects of
    its cluster) or an object of the other cluster that it is most often put together with. The pair holds if the consensus of a
    fresh sample of the same size, to which ``predict`` assigns both, puts the two together exactly if the model does; that
    consensus chooses its own number of clusters. An object that a fresh sample places at random, or puts together with all
    others, has 1/2; with one cluster there are only companions.

    Parameters
    ----------
    model : ConsensusClustering
        A fitted model whose consensus can place new points. The result becomes its ``calibration_``, which ``save`` stores and
        its card and report show.
    X : array-like of shape (n_samples, n_features)
        The points of the fit.
    n_halvings : int, default=5
        Random halvings of the objects. Each costs two fits of half of the objects, and up to two more if a number was given to
        a consensus other than the default.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws the halves and seeds the fits.

    Returns
    -------
    Calibration
        A probability for each object, and the map from confidences to probabilities.

    Raises
    ------
    ParameterError
        If the model is unsuitable, or `n_halvings` is out of its range.
    InputError
        If X has another number of objects, there are fewer than 32, or the model was fitted with further partitions or
        constraints, which halves do not have.

    Notes
    -----
    In each halving, the consensus of one half is extended to the other half and compared with the model's clusters there,
    because the question is about these, not about the clusters of the other half, which may be fewer. The map is an isotonic
    regression of the shares of pairs that hold on the confidences (:func:`confidences`) of their objects. It is not
    the probability that an object is in the right class: where two classes overlap and their border is found again, an
    object on the wrong side of it keeps its companions.

    Halves that find the number of clusters of the model and those that do not are averaged separately, and weighted by the probability
    that a fresh sample finds it. If p is the share of the halves that do (where the model counts as one more halving if it
    found the number itself), this probability is Phi(Phi^-1(p) / sqrt(2)): parts of one sample share its deviation from the
    population, and a fresh sample has a different one. Half of the points may show one cluster even where all of them nearly
    show more. In that case the evidence for the next best number (``evidence_``), a log-likelihood ratio E that must exceed 1,
    gives the probability 1 / (1 + exp((E - 1) / sqrt(2))), for the same reason, and the lower of the two is used.

    In ``experiments/calibration``, with 200 to 5,000 objects, the mean error was .010 for 180 planted mixtures that were not
    used for tuning and where the points chose the number (.010 is expected by chance), .014 where it was given, and .018 for 15
    real sets split in two, 24 times each (.015 by chance; up to .28 for a single set). One Gaussian cut in two had an estimate
    of .50, which was correct.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import ConsensusClustering
    >>> from conclust.confidence import calibrated
    >>> X = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0, 0], [9, 9]], 60, axis=0)
    >>> calibrated(ConsensusClustering(random_state=0).fit(X), X, n_halvings=2, random_state=0)
    Calibration(120 objects, 2 halvings; kept 1.00 to 1.00)
    """
    check_model(model, _OWNER)
    check_int(n_halvings, "n_halvings", _OWNER)
    if not hasattr(model, "generator_") or not hasattr(model, "predict"):
        expected = "a fitted ConsensusClustering that can predict"
        refuse("model", _OWNER, expected, model, "conclust.methods() lists who can.")
    points = read_features(X, len(model.labels_), empty_cells=True)
    _check_fit(model)
    labels, sure = model.labels_, confidences(model)
    chosen = not _number_given(model)
    # Without and with the number of the model, which found it in as many objects as both halves have, if it was not given.
    shares = np.zeros((2, len(points)))
    shares[1] = chosen
    counts = shares.copy()
    for rng in spawn_generators(seed_sequence(random_state, _OWNER), n_halvings):
        order, seed = rng.permutation(len(points)), int(rng.integers(2**31))
        halves = np.sort(order[::2]), np.sort(order[1::2])
        for here, there in (halves, halves[::-1]):
            fresh = _fresh(model, points[there], seed)
            placed = np.asarray(fresh.predict(points[here]))
            found = int(fresh.n_clusters_ == model.n_clusters_)
            shares[found, here] += kept_shares(labels[here], placed)
            counts[found, here] += 1.0
    totals = counts.sum(axis=1)
    # What no half shows, a fresh sample still may: clusters that say nothing of those of the model, or the same ones.
    usual = np.divide(shares.sum(axis=1), totals, out=np.array([0.5, 1.0]), where=totals > 0)
    means = np.where(counts > 0, shares / np.maximum(counts, 1.0), usual[:, None])
    single = chosen and model.n_clusters_ == 1 and getattr(model, "evidence_", None)
    again = _found_again(totals)
    if single:
        lacking = CLEAR - max(model.evidence_.values())
        again = min(again, float(expit(lacking / np.sqrt(2.0))))
    kept = (1.0 - again) * means[0] + again * means[1]
    knots = _rising(sure[labels >= 0], kept[labels >= 0])
    of_any = Calibration(np.empty(0), *knots, n_halvings)
    calibration = model.calibration_ = replace(of_any, kept=of_any.of(sure))
    return calibration


def _found_again(halves: Floats) -> float:
    """Return the probability that a fresh sample finds the number, by the numbers of halves that did not and that did.

    Halves are drawn from one sample, whose own deviation is as large as theirs from it: the deviate has twice the variance.
    """
    return float(ndtr(ndtri(halves[1] / halves.sum()) / np.sqrt(2.0)))


def _rising(sure: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return confidences, and the mean shares there that rise with them.

    Objects are grouped by confidence first: the few most confident objects of one lucky halving are no evidence.
    """
    edges = np.unique(np.quantile(sure, np.linspace(0.0, 1.0, _GROUPS + 1)[1:-1]))
    group = np.searchsorted(edges, sure)
    sizes = np.bincount(group).astype(np.float64)
    there = sizes > 0
    at, means = (np.bincount(group, each)[there] / sizes[there] for each in (sure, share))
    rising = IsotonicRegression().fit(at, means, sizes[there]).predict(at)
    return at, np.clip(rising, 0.0, 1.0)  # sums are not exact: a share is at most 1


def _check_fit(model: Any) -> None:
    """Refuse a fit that halves of its points cannot repeat."""
    n, more = model.ensemble_.n_samples, model.ensemble_.n_partitions - model._n_made
    if n < _FEWEST:
        raise InputError(f"{_OWNER} needs at least {_FEWEST} objects. Got {n}.")
    if more or getattr(model.consensus_, "_constraints", None) is not None:
        what = f"{count(more, 'further partition')}" if more else "must_link or cannot_link"
        raise InputError(
            f"{_OWNER} fits halves of the points again, without {what}: fit a model of the points alone."
        )


def _fresh(model: Any, points: Any, seed: int) -> Any:
    """Fit a fresh sample, which is not told the number of clusters: the points choose it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # those of the model were shown by its fit
        if not _number_given(model):
            return _fit(model, points, seed)
        fresh = _fit(model, points, seed, consensus=None, n_clusters=None, min_clusters=1)
        if model.consensus is None or fresh.n_clusters_ == 1:
            return fresh
        return _fit(model, points, seed, n_clusters=fresh.n_clusters_, min_clusters=1)


def _number_given(model: Any) -> bool:
    """Return whether the number, or a least one, was given."""
    given = getattr(model.consensus_, "n_clusters", None)
    if model.min_clusters > 1:
        return True
    return model.n_clusters != "auto" and isinstance(given, int | np.integer)


def _fit(model: Any, points: Any, seed: int, **parameters: Any) -> Any:
    quiet = {name: 0 for name in model.get_params() if name in ("verbose", "generator__verbose")}
    return clone(model).set_params(random_state=seed, **quiet, **parameters).fit(points)


def kept_shares(own: Ints, fresh: Ints) -> Floats:
    """Return for each object the share of its pairs that hold: half companions, half the cluster it is most mixed with.

    Negative labels: in no cluster (`own`, whose entries mean nothing), apart from all others (`fresh`). The only object of its
    cluster has no companions, which are then not counted.
    """
    K = max(int(own.max()), 0) + 1
    table = cross_counts(own, fresh, (K, int(fresh.max()) + 2))  # the last column: of -1
    sizes = np.bincount(own[own >= 0], minlength=K).astype(np.float64)
    of = np.maximum(own, 0)
    with_them = table[:, fresh].T / np.maximum(sizes, 1.0)
    companions = (table[of, fresh] - (fresh >= 0)) / np.maximum(sizes[of] - 1.0, 1.0)
    if K == 1:
        return np.where(sizes[of] > 1, companions, 1.0)
    with_them[np.arange(len(own)), of] = -1.0
    apart: Floats = 1.0 - with_them.max(axis=1)
    return np.where(sizes[of] > 1, (companions + apart) / 2.0, apart)


@dataclass(frozen=True)
class ChanceConfidence:
    """A mean confidence and its null distribution.

    Attributes
    ----------
    mean : float
        Mean confidence of the objects (:func:`confidences`).
    by_chance : ndarray of shape (n_draws,)
        Mean confidence for random partitions with the same cluster sizes, combined by the same method (or by
        :class:`conclust.AddRemAdd`, if it takes no number) into the same number of clusters.
    """

    mean: float
    by_chance: Floats

    def __repr__(self) -> str:
        low, high = self.by_chance.min(), self.by_chance.max()
        return f"ChanceConfidence(mean {self.mean:.3f}; by chance {low:.3f} to {high:.3f})"

    @property
    def means_something(self) -> bool:
        """Whether the mean confidence is above that of every draw."""
        return bool(self.mean > self.by_chance.max())


def chance_confidence(
    model: Any,
    ensemble: Ensemble | ArrayLike,
    *,
    n_draws: int = 3,
    max_samples: int = 2000,
    random_state: RandomStateLike = None,
) -> ChanceConfidence:
    """Measure the confidence of the same method in independent random partitions.

    Each partition keeps its cluster sizes, its missing objects and its noise, while its labels are assigned to
    objects at random, independently of the other partitions. The model is fitted again to these partitions, with the
    number of clusters that it found; if its method takes no number, such as :class:`conclust.BayesEstimate`,
    :class:`conclust.AddRemAdd` is fitted. The result is the confidence if there is no structure.

    Parameters
    ----------
    model : estimator
        A fitted consensus, or a fitted `ConsensusClustering`.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
        The ensemble it was fitted to.
    n_draws : int, default=3
        Number of fits to random partitions.
    max_samples : int, default=2000
        Maximum number of objects for which random partitions are drawn; if there are more, this number is drawn. At
        least 2.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Draws objects and labels.

    Returns
    -------
    ChanceConfidence
        The mean confidence of the model, and of each draw.

    Raises
    ------
    ParameterError
        If the model is not a fitted consensus, or a parameter is out of its range.
    InputError
        If the ensemble is not the one of the fit, or its partitions are soft, which cannot be drawn again with the
        same sizes.

    Notes
    -----
    A confidence above chance does not mean that there are clusters: k-means partitions of a cloud without clusters agree far
    more than random ones. The comparison only shows which confidence is meaningless.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import AutoConsensus
    >>> from conclust.confidence import chance_confidence
    >>> labels = np.repeat([[0] * 8, [1] * 8], 20, axis=0)
    >>> sure = chance_confidence(AutoConsensus(2).fit(labels), labels, random_state=0)
    >>> sure.mean, sure.means_something
    (1.0, True)
    """
    owner = "chance_confidence"
    check_model(model, owner)
    model = getattr(model, "consensus_", model)
    check_int(n_draws, "n_draws", owner)
    check_int(max_samples, "max_samples", owner, low=2)
    members = hard_draws(ensemble, owner)
    n = len(model.labels_)
    if n != members.n_samples:
        raise InputError(
            f"The ensemble must be the one that the model was fitted to, of {n} objects. "
            f"Got one of {members.n_samples} objects instead."
        )
    seed, *generators = spawn_generators(seed_sequence(random_state, owner), n_draws + 1)
    rows = np.flatnonzero(members.observed)
    mean = _mean(model, members)
    if len(rows) > max_samples:
        rows = np.sort(seed.permutation(rows)[:max_samples])
    labels = members.labels[rows]
    observed = (labels != MISSING).any(axis=0)
    weights = None if members.weights is None else members.weights[observed]
    if hasattr(model, "classes_"):  # names are shared
        labels = _of_names(labels, members.names)
    by_chance = [_of_random(model, labels[:, observed], weights, rng) for rng in generators]
    return ChanceConfidence(mean, np.array(by_chance))


def usual_chance(model: Any, ensemble: Ensemble) -> ChanceConfidence | None:
    """Return the chance confidence reported with every result: one draw of at most 1,000 objects, with a fixed seed.

    None for one cluster, for soft partitions, and for models that are not methods of conclust.
    """
    consensus = getattr(model, "consensus_", model)
    ours = isinstance(consensus, ConsensusClusterer)
    if not ours or consensus.n_clusters_ < 2 or ensemble.is_soft:
        return None
    return chance_confidence(consensus, ensemble, n_draws=1, max_samples=1000, random_state=0)


def _of_random(model: Any, labels: Ints, weights: Floats | None, rng: np.random.Generator) -> float:
    """Return the mean confidence of the model's method in labels that are shuffled by columns."""
    permuted = shuffled(labels, rng)
    again = clone(model)
    if "n_clusters" not in again.get_params(deep=False):
        # It would find one cluster, or one per object, whose confidences are not comparable.
        again = AddRemAdd()
    shared = hasattr(model, "classes_")
    if not shared:
        again.set_params(n_clusters=min(int(model.n_clusters_), len(labels)))
    if "random_state" in again.get_params(deep=False):
        again.set_params(random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no method is suited to random partitions
        ensemble = Ensemble(permuted, weights=weights, names="shared" if shared else "own")
        if isinstance(again, type(model)) and isinstance(again, ConsensusClusterer):
            again._fit_like(ensemble, model)
        else:
            again.fit(ensemble)
    return _mean(again, ensemble)


def _of_names(labels: Ints, names: Sequence[Sequence[Any]]) -> Ints:
    """Return labels (n_samples, n_partitions) with the same number for the same name in all partitions; negative ones stay."""
    number: dict[Any, int] = {}
    columns = []
    for column, own in zip(labels.T, names, strict=True):
        of_name = np.array([number.setdefault(name, len(number)) for name in own] or [0])
        columns.append(np.where(column < 0, column, of_name[np.maximum(column, 0)]))
    return np.column_stack(columns)


def shuffled(labels: Ints, rng: np.random.Generator) -> Ints:
    """Return labels (n_samples, n_partitions) whose columns are permuted independently; missing ones stay in their places."""
    permuted = labels.copy()
    for column in permuted.T:
        observed = np.flatnonzero(column != MISSING)
        column[observed] = column[rng.permutation(observed)]
    return permuted


def _mean(model: Any, ensemble: Ensemble) -> float:
    """Return the mean confidence of the objects that any partition observed."""
    return float(np.nanmean(confidences(model, ensemble)))
