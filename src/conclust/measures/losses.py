"""Losses between partitions, and the expected loss over the draws of an ensemble.

With f(x) = x log2 x (x^2 for Binder's loss and the adjusted Rand index), all losses of two partitions are
functions of four sums over the objects that both observed: f of the sizes of the clusters of either, f of
the cells of their table, and the number of objects.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._kernels import partition_terms
from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust._validation import check_option, check_real, refuse
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import MISSING, NOISE
from conclust.exceptions import InputError, UnsupportedEnsembleError
from conclust.measures.contingency import read_labels_beside

Loss: TypeAlias = Literal["binder", "vi", "omari", "nvi", "id", "nid"]
# Their numbers in ``_kernels/search/losses/expected_loss.h`` are their positions here.
LOSSES: tuple[Loss, ...] = get_args(Loss)

LossTerms: TypeAlias = Floats
"""(n_first, n_second, 4): the four sums, of pairs of partitions."""

# Below this share a denominator is 0 up to rounding.
_LEAST = 1e-12


class PartitionRows:
    """Partitions as rows of labels, in the form of the kernel.

    Parameters
    ----------
    labels : ndarray of int of shape (n_partitions, n_samples)
        Labels from 0 on, -1: missing, -2: noise.
    """

    def __init__(self, labels: NDArray[Any]) -> None:
        sizes = np.maximum(labels.max(axis=1), -1).astype(np.int64) + 1
        small = sizes.max(initial=0) < 250
        rows = np.empty(labels.shape, dtype=np.uint8 if small else np.int32)
        for row, partition, size in zip(rows, labels, sizes, strict=True):
            row[:] = partition
            row[partition == MISSING] = size
            row[partition == NOISE] = size + 1
        self.labels, self.sizes = rows, sizes

    @classmethod
    def of(cls, ensemble: Ensemble) -> PartitionRows:
        """Return the partitions of a hard ensemble."""
        return cls(ensemble.labels.T)

    def __len__(self) -> int:
        return len(self.sizes)

    def some(self, which: Ints) -> PartitionRows:
        """Return some of the partitions."""
        part = object.__new__(PartitionRows)
        part.labels, part.sizes = self.labels[which], self.sizes[which]
        return part

    def terms(
        self, others: PartitionRows | None, loss: Loss, n_jobs: int | None = None
    ) -> LossTerms:
        """Return the sums of each of these with each of the others; with None, of all pairs of these."""
        second = self if others is None else others
        sums = np.zeros((len(self), len(second), 4))
        one, two = self.labels, second.labels
        if one.dtype != two.dtype:
            one, two = one.astype(np.int32), two.astype(np.int32)
        partition_terms(
            np.ascontiguousarray(one),
            self.sizes,
            np.ascontiguousarray(two),
            second.sizes,
            loss in ("binder", "omari"),
            others is None,
            thread_count(n_jobs),
            sums,
        )
        return sums


def loss_values(terms: LossTerms, loss: Loss, split_cost: float = 1.0) -> Floats:
    """Return the losses of pairs of partitions from their sums: the first estimates the second.

    NaN where two partitions share no object.
    """
    a, b, both, n = np.moveaxis(terms, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if loss in ("vi", "binder"):
            cost = split_cost * (b - both) + (2.0 - split_cost) * (a - both)
            losses = cost / (n if loss == "vi" else n * n)
        elif loss == "id":
            losses = (np.maximum(a, b) - both) / n
        elif loss == "omari":
            pairs = (n * n - n) / 2
            first, second = (a - n) / 2, (b - n) / 2
            mean = (first + second) / 2
            expected = np.where(pairs > 0, first * second / np.maximum(pairs, 1.0), 0.0)
            losses = _share(mean - (both - n) / 2, mean - expected, pairs)
        else:
            whole = np.where(n > 0, n * np.log2(np.maximum(n, 1.0)), 0.0)
            if loss == "nvi":
                losses = _share(a + b - 2 * both, whole - both, whole)
            else:
                losses = _share(np.maximum(a, b) - both, whole - np.minimum(a, b), whole)
    # Equal partitions have loss 0, without the rounding errors of sums.
    losses = np.where((a == both) & (b == both), 0.0, np.maximum(losses, 0.0))
    return np.where(n > 0, losses, np.nan)


def _share(part: Floats, whole: Floats, scale: Floats) -> Floats:
    some = whole > 1e-9 + _LEAST * scale
    return np.where(some, part / np.where(some, whole, 1.0), 0.0)


def draw_shares(weights: Floats, n_observed: NDArray[Any], loss: Loss) -> Floats:
    """Return the share of each draw in the mean, by its weight and the objects (Binder: pairs) that it observed."""
    n = np.asarray(n_observed, dtype=np.float64)
    shares = weights * (n * n if loss == "binder" else n)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def expected_losses(
    candidates: PartitionRows,
    ensemble: Ensemble,
    loss: Loss,
    split_cost: float = 1.0,
    n_jobs: int | None = None,
) -> Floats:
    """Return the expected loss of each of some partitions."""
    counted = np.flatnonzero(ensemble.partition_weights > 0)
    draws = PartitionRows.of(ensemble).some(counted)
    terms = candidates.terms(draws, loss, n_jobs)
    return mean_losses(terms, ensemble.partition_weights[counted], loss, split_cost)


def mean_losses(terms: LossTerms, weights: Floats, loss: Loss, split_cost: float) -> Floats:
    """Average the losses of each of the first partitions over the second ones."""
    values = loss_values(terms, loss, split_cost)
    with np.errstate(invalid="ignore"):
        shares = draw_shares(weights, terms[..., 3], loss)
    return np.asarray((np.where(shares > 0, values, 0.0) * shares).sum(axis=1))


def all_losses(ensemble: Ensemble, loss: Loss = "vi", n_jobs: int | None = None) -> Floats:
    """Return the losses of all pairs of partitions, (N, N); NaN where two share no object."""
    return loss_values(PartitionRows.of(ensemble).terms(None, loss, n_jobs), loss)


def expected_loss(
    ensemble: Ensemble | ArrayLike, labels: ArrayLike, *, loss: Loss = "vi", split_cost: float = 1.0
) -> float:
    """Mean loss of a partition over the draws of an ensemble, which a Bayesian estimate minimises.

    Parameters
    ----------
    ensemble : Ensemble or (n_samples, n_draws) array-like
        Draws, one object per row (for draws in rows see ``Ensemble.from_draws``). Each is weighted by its weight times the
        number of objects that it and `labels` both observed (for "binder": the number of pairs, n^2). A draw is ignored for an
        object that it did not observe; a noise object is a cluster of its own.
    labels : (n_samples,) array-like of int or str
        The partition; objects missing from it are left out.
    loss : {"vi", "binder", "omari", "nvi", "id", "nid"}, default="vi"
        See :class:`conclust.BayesEstimate`, which has the formulas.
    split_cost : float, default=1.0
        For "vi" and "binder": the cost a, in (0, 2), of separating objects that a draw puts together; 2 - a is the cost of
        putting together objects that it separates.

    Returns
    -------
    float
        At least 0. In bits for "vi" and "id".

    Raises
    ------
    InputError
        If the lengths differ, a label is invalid, or no draw shares an object with `labels`.
    ParameterError
        If `loss` is not one of these, or `split_cost` is out of its range or given for another loss.
    UnsupportedEnsembleError
        If the partitions are soft.

    References
    ----------
    S. Wade, Z. Ghahramani: Bayesian cluster analysis: point estimation and credible balls. Bayesian
    Analysis 13, 2018. D. B. Dahl, D. J. Johnson, P. Müller: Search algorithms and loss functions for Bayesian
    clustering. Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from conclust import Ensemble
    >>> from conclust.metrics import expected_loss
    >>> draws = Ensemble.from_draws([[0, 0, 1, 1], [0, 0, 0, 0]])
    >>> expected_loss(draws, [0, 0, 1, 1]), expected_loss(draws, [0, 0, 1, 1], loss="binder")
    (0.5, 0.25)
    """
    check_loss(loss, split_cost, "expected_loss")
    draws = hard_draws(ensemble, "expected_loss")
    codes, _ = read_labels_beside(labels, ensemble, draws.n_samples)
    mean_loss = float(expected_losses(PartitionRows(codes[None]), draws, loss, split_cost)[0])
    if np.isnan(mean_loss):
        raise InputError(
            "No draw of the ensemble (of positive weight) observed an object of 'labels'."
        )
    return mean_loss


def check_loss(loss: Any, split_cost: Any, owner: str) -> None:
    """Refuse an unknown loss, and a split cost with a loss that has none."""
    check_option(loss, "loss", owner, Loss)
    check_real(split_cost, "split_cost", owner, low=0.0, high=2.0, closed="neither")
    if split_cost != 1.0 and loss not in ("vi", "binder"):
        refuse(
            "split_cost", owner, f"1.0 with loss={loss!r}: 'vi' and 'binder' have it", split_cost
        )


def hard_draws(ensemble: Ensemble | ArrayLike, owner: str) -> Ensemble:
    """Return the ensemble of draws, refusing soft ones."""
    draws = as_ensemble(ensemble)
    if draws.is_soft:
        raise UnsupportedEnsembleError(
            f"{owner} takes hard partitions. Got an ensemble of soft memberships: pass "
            "Ensemble(ensemble.labels), their most probable clusters."
        )
    return draws
