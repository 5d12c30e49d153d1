"""Converts inputs of plots to one form: ensembles, labels, models, evidence and matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names, plain_array
from conclust._arrays.rows import ratio
from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust._validation import shown
from conclust.ensemble import Ensemble, as_ensemble
from conclust.evidence import DenseEvidence, coassociation, frequencies
from conclust.exceptions import InputError
from conclust.membership import check_membership

# Number of columns of a matrix of blocks by clusters made dense at a time.
_CLUSTERS_AT_ONCE = 1 << 13
_LONGEST = 18  # maximum number of characters of the name of a cluster

Chosen = Ints | None


@dataclass(frozen=True)
class Pairs:
    """Shares of pairs, formed for the objects that are drawn only, or as means of blocks of objects."""

    n_samples: int
    of: Callable[[Chosen], Floats]
    blocks: Callable[[Ints, int], Floats] | None = None
    what: str = "share of partitions that join a pair"
    labels: Any = None


def read_pairs(given: Any, owner: str) -> Pairs:
    """Read an ensemble, labels, a fitted model, evidence, or a matrix of shares."""
    if hasattr(given, "fit"):
        return _pairs_of_model(given, owner)
    if isinstance(given, Ensemble):
        return _pairs_of_ensemble(given)
    if isinstance(given, DenseEvidence):
        return _pairs_of_matrix(frequencies(*given))
    array = plain_array(given, f"What {owner} shows")
    if _is_matrix(array):
        return _pairs_of_matrix(_check_shares(array))
    if array.dtype.kind == "f" and array.ndim == 2 and array.shape[0] != array.shape[1]:
        finite = array[np.isfinite(array)]
        if (finite != np.floor(finite)).any():
            raise InputError(
                f"{owner} takes an Ensemble, labels (n_samples, n_partitions), a fitted model or a "
                "square matrix of shares (n_samples, n_samples). Got numbers that are not labels, in "
                f"an array of shape {array.shape}."
            )
    return _pairs_of_ensemble(as_ensemble(given))


def read_membership(given: Any, owner: str) -> Floats:
    """Read rows of probabilities, given as an array or as a fitted model."""
    if not hasattr(given, "fit"):
        return check_membership(given)
    check_is_fitted(given)
    membership = getattr(given, "membership_", None)
    if membership is None:
        raise InputError(
            f"{owner} shows probabilities, and {_name(given)} gives labels only. Take a method with "
            "memberships (see conclust.methods()), or coassociation_heatmap(ensemble, "
            "labels=model)."
        )
    return check_membership(membership)


def objects_by_cluster(given: Any, labels: Any, owner: str) -> tuple[Floats, Ints, Ints]:
    """Return the memberships of the objects that are in a cluster, their clusters, and which objects they are.

    Without `labels`, an object is in its most probable cluster.
    """
    rows = read_membership(given, owner)
    check_row_names({"membership": given, "labels": labels}, named_only=True)
    if labels is None:
        own = getattr(given, "labels_", None)  # of a fitted model: the objects with a label
        held = np.arange(len(rows)) if own is None else np.flatnonzero(np.asarray(own) >= 0)
        return rows[held], rows[held].argmax(axis=1).astype(np.int64), held
    codes = plain_array(labels, "'labels'")
    sound = codes.shape == (len(rows),) and codes.dtype.kind in "iu"
    if not sound or (len(codes) and not 0 <= codes.min() <= codes.max() < rows.shape[1]):
        raise InputError(
            f"The 'labels' of {owner} must be a cluster from 0 to {rows.shape[1] - 1} for each of the {len(rows)} "
            f"rows. Got {shown(labels)} instead."
        )
    return rows, codes.astype(np.int64), np.arange(len(rows))


def cluster_words(
    names: Sequence[Any] | None, n_clusters: int, owner: str, longest: int = _LONGEST
) -> list[str]:
    """Return the label of each cluster: its name, shortened if it is long, or its number from 0."""
    if names is None:
        return [str(k) for k in range(n_clusters)]
    if isinstance(names, str) or not isinstance(names, Iterable) or len(list(names)) < n_clusters:
        raise InputError(
            f"The 'names' of {owner} must be a name for each of the {n_clusters} clusters. Got {shown(names)} instead."
        )
    return shortened([" ".join(str(name).split()) for name in names], longest)


def shortened(words: list[str], longest: int) -> list[str]:
    """Cut off the ends of long words, or their middles or beginnings where different words would become alike."""
    cut = [word if len(word) <= longest else f"{word[: longest - 1]}…" for word in words]
    if len(set(cut)) == len(set(words)):
        return cut
    end = longest // 2
    halves = [
        word if len(word) <= longest else f"{word[: longest - 1 - end]}…{word[-end:]}"
        for word in words
    ]
    alike = {half: {w for w, h in zip(words, halves, strict=True) if h == half} for half in halves}
    return [
        half if len(alike[half]) == 1 else _from_difference(word, alike[half], longest)
        for word, half in zip(words, halves, strict=True)
    ]


def _from_difference(word: str, others: set[str], longest: int) -> str:
    """Return the part of a word that begins shortly before it differs from others."""
    columns = enumerate(zip(*others, strict=False))
    first = next((at for at, letters in columns if len(set(letters)) > 1), min(map(len, others)))
    rest = word[max(0, first - longest // 3) :]
    return f"…{rest}" if len(rest) < longest else f"…{rest[: longest - 2]}…"


def _pairs_of_model(model: Any, owner: str) -> Pairs:
    check_is_fitted(model)
    ensemble = getattr(model, "ensemble_", None)
    if isinstance(ensemble, Ensemble):
        pairs = _pairs_of_ensemble(ensemble)
        return Pairs(pairs.n_samples, pairs.of, pairs.blocks, pairs.what, model.labels_)
    membership = getattr(model, "membership_", None)
    if membership is None:
        raise InputError(
            f"{owner} needs the ensemble in addition to {_name(model)}, which keeps none and gives no "
            "memberships: coassociation_heatmap(ensemble, labels=model)."
        )
    rows = np.asarray(membership, dtype=np.float64)

    def of(chosen: Chosen) -> Floats:
        some = rows if chosen is None else rows[chosen]
        return np.clip(some @ some.T, 0.0, 1.0)

    what = f"probability of one cluster, by {_name(model)}"
    return Pairs(len(rows), of, None, what, model.labels_)


def _pairs_of_ensemble(ensemble: Ensemble) -> Pairs:
    def of(chosen: Chosen) -> Floats:
        some = ensemble if chosen is None else _some(ensemble, chosen)
        return coassociation(some, normalize=True, max_dense=None)

    def blocks(order: Ints, pixels: int) -> Floats:
        return mean_shares(ensemble, order, pixels)

    return Pairs(ensemble.n_samples, of, blocks)


def mean_shares(ensemble: Ensemble, order: Ints, pixels: int) -> Floats:
    """Average the shares over blocks of objects without forming a pair: c over N, summed over each block.

    With missing labels, pairs are weighted by the number of partitions that observed them.
    """
    n = ensemble.n_samples
    edges = np.arange(min(n, pixels) + 1) * n // min(n, pixels)
    block = np.empty(n, dtype=np.int64)
    block[order] = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    weights, per_cluster = ensemble.partition_weights, ensemble.column_weights
    counts_of = _counts_in_blocks(ensemble, block, len(edges) - 1)
    together = np.zeros((len(edges) - 1,) * 2)
    for first in range(0, len(per_cluster), _CLUSTERS_AT_ONCE):
        columns = slice(first, first + _CLUSTERS_AT_ONCE)
        part = counts_of(columns)
        together += (part * per_cluster[columns]) @ part.T
    if ensemble.has_missing:
        S = _blocks_of(block, len(edges) - 1)
        observed = np.asarray(S @ ensemble.present.astype(np.float32), dtype=np.float64)
        both = (observed * weights) @ observed.T
    else:
        sizes = np.diff(edges).astype(np.float64)
        both = np.outer(sizes, sizes) * weights.sum()
    return np.asarray(np.minimum(ratio(together, both, np.nan), 1.0))


def _counts_in_blocks(ensemble: Ensemble, block: Ints, n_blocks: int) -> Callable[[slice], Floats]:
    """Return a function from some clusters to their sums over the objects of each block, (n_blocks, n_clusters)."""
    T = len(ensemble.column_weights)
    if ensemble.is_soft or T * n_blocks > ensemble.codes.size:
        shared = sp.csr_array(_blocks_of(block, n_blocks) @ ensemble.indicator)
        return lambda columns: np.asarray(shared[:, columns].toarray())
    sums = np.empty((T, n_blocks))  # less memory than the labels
    cluster_sums(ensemble.label_view, None, block, sums)
    return lambda columns: np.ascontiguousarray(sums[columns].T)


def _blocks_of(block: Ints, n_blocks: int) -> sp.csr_array:
    n = len(block)
    return sp.csr_array((np.ones(n), (block, np.arange(n))), shape=(n_blocks, n))


def _some(ensemble: Ensemble, chosen: Ints) -> Ensemble:
    """Select the objects, without partitions that observed none of them."""
    observed = ensemble.present[chosen].any(axis=0)
    return ensemble.subset(samples=chosen, partitions=None if observed.all() else observed)


def _pairs_of_matrix(shares: Floats) -> Pairs:
    return Pairs(
        len(shares), lambda chosen: shares if chosen is None else shares[np.ix_(chosen, chosen)]
    )


def _is_matrix(array: NDArray[Any]) -> bool:
    """Return whether an array holds shares of pairs rather than labels: symmetric, or not integers."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        return False
    if not array.size:
        return False
    if np.allclose(array, array.T, equal_nan=True):
        return True
    return array.dtype.kind == "f" and bool((array != np.floor(array)).any())


def _check_shares(matrix: NDArray[Any]) -> Floats:
    shares = matrix.astype(np.float64)
    if not np.allclose(shares, shares.T, equal_nan=True):
        raise InputError("Expected a symmetric matrix. Got one with M[i, j] != M[j, i].")
    if (shares < 0).any() or (shares > 1 + 1e-9).any():
        raise InputError(
            f"Expected shares between 0 and 1. Got values from {np.nanmin(shares):g} to {np.nanmax(shares):g} instead: give the "
            "labels, their evidence (conclust.evidence.evidence) or coassociation(labels, normalize=True)."
        )
    return np.minimum(shares, 1.0)


def _name(model: Any) -> str:
    return type(model).__name__
