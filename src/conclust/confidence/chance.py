"""Compares the mean confidence of a consensus with that of the same method on random partitions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._types import Floats, Ints
from conclust._validation import check_int
from conclust.confidence.objects import confidences
from conclust.confidence.reading import check_model
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.median import AddRemAdd
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING
from conclust.exceptions import InputError
from conclust.measures.losses import hard_draws


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
    A confidence above chance does not mean "there are clusters": k-means partitions of a cloud without clusters agree
    far more than random ones. The comparison only shows which confidence is meaningless.

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
    again.set_params(n_clusters=min(int(model.n_clusters_), len(labels)))
    if "random_state" in again.get_params(deep=False):
        again.set_params(random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no method is suited to random partitions
        ensemble = Ensemble(permuted, weights=weights)
        if isinstance(again, type(model)) and isinstance(again, ConsensusClusterer):
            again._fit_like(ensemble, model)
        else:
            again.fit(ensemble)
    return _mean(again, ensemble)


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
