"""KernelWeightedPartition: the partition that resembles weighted partitions most."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from conclust._kernels import ResemblanceSearch
from conclust._progress import rounds, stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators, spawn_seeds
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.label_rows import costs_fit, nearest
from conclust.consensus.median.search import (
    interchangeable,
    least_squares_labels,
    member_starts,
    sample,
    sweep,
)
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.labels import canonical_labels, one_hot, over_clusters, over_partitions
from conclust.exceptions import DenseLimitError, InputError
from conclust.weighting.weights import index_table, relevance_weights, similarities

# The temperature falls by this factor from level to level, and by the second one where more than the share _HOT of the
# proposals is accepted: such partitions are nearly random.
_COOLING, _QUICKLY, _HOT = 0.95, 0.5, 0.5
# Annealing ends with a level in which at most this share of the proposals is accepted, or after _LEVELS levels.
_FROZEN, _LEVELS = 0.005, 200
# Number of annealings that must reach the highest objective, and the relative difference up to which they do.
_AGREE, _EQUAL = 3, 1e-9
# Minimum number of moves proposed in a level; otherwise one per unit.
_PROPOSALS = 500


# Maximum number of partitions for which a matrix of all pairs is made.
_MOST_PARTITIONS = 10_000


@dataclass(eq=False, repr=False)
class KernelWeightedPartition(ConsensusClusterer):
    r"""Weighted partition consensus via kernels.

    Finds the partition P that maximises the weighted sum of its resemblances to the partitions

    .. math::

        \sum_u w_u\, \frac{k(P, P_u)}{\sqrt{k(P, P)\, k(P_u, P_u)}}

    where the kernel of two partitions compares the subsets S of objects that both hold together [1]_
    [2]_: it sums ``(|S| / |C|) (|S| / |C'|)`` over all S inside a cluster C of the one and a cluster
    C' of the other. The value 1 means equality with all partitions. The number of clusters is a result, unless it
    is given.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most that of distinct rows of labels. None: determined by the criterion.
    kernel : {"pairs", "subsets"}, default="pairs"
        Subsets of objects that count. "pairs": subsets of two objects. "subsets": all of them, as in the papers;
        the largest intersections then dominate, so this suits at most a few hundred objects.
    learn_weights : bool, default=True
        Whether the weights of the ensemble are multiplied with the weights by relevance
        (:func:`conclust.weighting.relevance_weights`).
    indices : array-like of shape (n_indices, n_partitions), default=None
        Values of the validity indices that relevance is read from. None: two that need no data, the
        mean normalised mutual information with the partitions, and the entropy of cluster sizes.
    n_init : int, default=5
        Maximum number of annealings, each from one of the best partitions of the ensemble. They end when three have
        reached the highest objective.
    max_iter : int, default=100
        Maximum number of passes of transfers over the objects after annealing.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the moves that annealing proposes and of the order in which objects are tried.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    weights_ : ndarray of shape (n_partitions,)
        w, of sum 1.
    resemblances_ : ndarray of shape (n_partitions,)
        Resemblance of the consensus to each partition, from 0 to 1.
    objective_ : float
        Weighted sum of the resemblances, which is maximised.
    log_objective_ : float
        Its natural logarithm, where the sum itself may be too small for a float ("subsets").
    n_iter_ : int
        Passes over the objects after the annealing that was kept.
    converged_ : bool
        Whether no remaining transfer would raise the objective.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed, or `indices` does not have one column per partition.
    UnsupportedEnsembleError
        If the ensemble has soft members, because subsets are defined only for hard clusters.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the search.

    Notes
    -----
    With s objects in both of two clusters, the sum over their subsets is ``2 s (s - 1) / (|C| |C'|)``
    for pairs and ``s (s + 1) 2^(s - 2) / (|C| |C'|)`` for all subsets; the latter is computed in
    logarithms. With pairs and complete labels the objective is, up to a constant, the sum of the
    "combined" criterion of :class:`conclust.AddRemAdd` without a shift, with the weights
    w_u / sqrt(k(P_u, P_u)), divided by the square root of the number of clusters minus the sum of their inverse sizes: the
    number of clusters emerges from this divisor.

    Annealing proposes to move single objects to other clusters or to new ones. It begins at the temperature that
    accepts a mean fall every other time, and cools by 5 % per level of one proposal for each object, at least 500 (by half
    while more than half of the proposals are accepted), until at most one in 200 is accepted. Transfers finish it.
    It runs on at most 1,000 distinct rows of labels, and the best of `n_init` is finished on all by transfers at O(N K)
    per visit ("subsets": K_u times that). Objects with the same labels stay together.

    A partition is compared with the consensus over the objects that it observed. Noise is a
    cluster of its own.

    References
    ----------
    .. [1] S. Vega-Pons, J. Correa-Morris, J. Ruiz-Shulcloper: Weighted cluster ensemble using a
       kernel consensus function. CIARP 2008.
    .. [2] S. Vega-Pons, J. Correa-Morris, J. Ruiz-Shulcloper: Weighted partition consensus via
       kernels. Pattern Recognition 43(8), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import KernelWeightedPartition
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = KernelWeightedPartition(random_state=0).fit(ensemble)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict([[1, 1, 1], [0, -1, 0]])
    array([1, 0])
    """

    resemblances_: Floats = field(init=False)
    log_objective_: float = field(init=False)

    method = Method(
        title="Weighted partition consensus via kernels",
        n_clusters="optional",
        soft_members=False,
        cost="n N K per pass, n N^2 once",
        citation="Vega-Pons, Correa-Morris and Ruiz-Shulcloper 2010, Pattern Recognition 43",
    )

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    kernel: Kernel = "pairs"
    learn_weights: bool = True
    indices: ArrayLike | None = None
    n_init: int = 5
    max_iter: int = 100
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        self.weights_ = self._weights(ensemble)
        units = interchangeable(ensemble)
        rows, n_iter, converged = self._search(ensemble, units)
        labels = rows[units.inverse]
        tables = Tables.of(ensemble, canonical_labels(labels))
        logs = log_resemblances(tables, self.kernel)
        self.resemblances_ = np.exp2(logs)
        used = self.weights_ > 0
        self.log_objective_ = float(
            np.logaddexp2.reduce(np.log2(self.weights_[used]) + logs[used]) * np.log(2.0)
        )
        self._offsets = ensemble.offsets
        self._label_cost, self._block_cost = _placing_costs(tables, self.kernel, self.weights_)
        self._keep_end(float(self.weights_ @ self.resemblances_), n_iter, converged)
        return labels

    def _weights(self, ensemble: Ensemble) -> Floats:
        m = ensemble.n_partitions
        partition_weights = ensemble.partition_weights
        partition_weights = partition_weights / partition_weights.sum()
        if not self.learn_weights:
            return np.asarray(partition_weights)
        if self.indices is None:
            if m > _MOST_PARTITIONS:
                raise DenseLimitError(
                    f"KernelWeightedPartition computes weights from a matrix of all pairs of the {m} partitions "
                    f"({8 * m * m / 1e9:.1f} GB), above {_MOST_PARTITIONS} partitions. Give learn_weights=False, or "
                    "values of the partitions as 'indices'."
                )
            values = _free_indices(ensemble, partition_weights)
        else:
            values = index_table(self.indices, "indices")
            if values.shape[1] != m:
                raise InputError(
                    f"'indices' must have a column for each of the {m} partitions. Got an array of "
                    f"shape {np.shape(self.indices)}."
                )
        weights = partition_weights * relevance_weights(values, weights=partition_weights)
        return np.asarray(weights / weights.sum())

    def _search(self, ensemble: Ensemble, units: DistinctRows) -> tuple[Ints, int, bool]:
        """Anneal on a part of the units, refine the best result on all; return the labels of the units."""
        root = seed_sequence(self.random_state, "KernelWeightedPartition")
        draw = spawn_generators(root, 1)[0]
        seeds = spawn_seeds(root, self.n_init + 1)[1:]
        k = None if self.n_clusters is None else min(self.n_clusters, len(units))
        chosen = sample(units, draw, k or 0)
        evidence = _Evidence.of(ensemble, units, self.kernel, self.weights_)
        search = evidence.search(chosen, k)
        starts = member_starts(ensemble, units.first[chosen], search, self.n_init, k)
        if k is not None:
            starts = [start for start in starts if start.max() + 1 == k]
        if not starts:
            few = ensemble.part(units.first[chosen])
            starts = [canonical_labels(least_squares_labels(few, k or 1, 1, draw))]
        ended: list[tuple[float, Ints, int, bool]] = []
        stage("annealing")
        for r, seed in enumerate(tracked(seeds, "starts", at_most=True)):
            start = _annealed(search, starts[r % len(starts)], seed)
            ended.append(_settled(search, start, draw, self.max_iter))
            highest = max(one[0] for one in ended)
            alike = [one for one in ended if one[0] >= highest - _EQUAL * abs(highest)]
            if len(alike) == _AGREE:
                break
        best = alike[0]
        if len(chosen) < len(units):
            labels = np.full(len(units), -1)
            labels[chosen] = best[1]
            stage(f"the best start, on all {len(units)} rows")
            whole = evidence.search(np.arange(len(units)), k)
            best = _settled(whole, labels, draw, self.max_iter)
        return best[1:]

    def _fits(self, counts: Ints) -> bool:
        return costs_fit(counts, self._offsets, self._label_cost, self._block_cost)

    def predict(self, X: Any) -> Ints:
        """Assign new objects to the clusters in which they raise the objective most.

        Every object is placed independently, and the clusters of the partitions keep their sizes.

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``. A label that no object of
            ``fit`` had is read as noise, with a warning.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each object; -1 for an object missing everywhere.
        """
        return nearest(self._encode(X), self._offsets, self._label_cost, self._block_cost)


@dataclass(frozen=True)
class _Evidence:
    """The data of the search: labels and masses of units, sizes of clusters, weights over norms."""

    codes: NDArray[np.int32]
    mass: Floats
    offsets: Ints
    sizes: Floats
    factors: Floats
    kernel: Kernel

    @classmethod
    def of(
        cls, ensemble: Ensemble, units: DistinctRows, kernel: Kernel, weights: Floats
    ) -> _Evidence:
        whole = Tables.of(ensemble, np.zeros(ensemble.n_samples, dtype=np.int64))
        norms = log_norms(whole, kernel)
        used = (weights > 0) & np.isfinite(norms)
        factors = np.full(len(weights), -np.inf)
        factors[used] = np.log2(weights[used]) - 0.5 * norms[used]
        return cls(
            np.ascontiguousarray(ensemble.labels[units.first], dtype=np.int32),
            units.masses,
            ensemble.offsets,
            whole.sizes,
            factors if kernel == "subsets" else np.exp2(factors),
            kernel,
        )

    def search(self, chosen: Ints, n_clusters: int | None) -> ResemblanceSearch:
        """Return a search on some of the units."""
        return ResemblanceSearch(
            self.codes[chosen],
            self.mass[chosen],
            self.offsets,
            self.sizes,
            self.factors,
            self.kernel == "subsets",
            n_clusters is not None,
        )


def _free_indices(ensemble: Ensemble, weights: Floats) -> Floats:
    """Return two validity indices of the partitions that do not need the points, (2, N)."""
    agreement = similarities(ensemble, "nmi", "KernelWeightedPartition") @ weights
    observed = ensemble.observed_counts
    shares = ensemble.cluster_sizes / over_clusters(observed, ensemble.offsets)
    # Noise objects are clusters of one.
    apart = ensemble.noise_counts / observed * np.log(observed)
    entropy = apart - over_partitions(shares * np.log(shares), ensemble.offsets)
    return np.stack([agreement, entropy])


def _annealed(search: ResemblanceSearch, start: Ints, seed: int) -> Ints:
    """Return the best partition at the end of a level of annealing, the start among them."""
    n = len(start)
    search.set(start, int(start.max()) + 1)
    search.transfer(np.flatnonzero(start < 0))  # also assigns units without a cluster
    best, value = np.empty(n, dtype=np.int64), search.objective()
    search.read(best)
    proposals = max(n, _PROPOSALS)
    temperature = search.mean_fall(seed, proposals) / np.log(2.0)
    for level in range(1, _LEVELS + 1):
        rounds("levels", level, _LEVELS)
        if temperature <= 0.0:
            break
        moves = search.anneal(seed, level * proposals, temperature, proposals)
        temperature *= _QUICKLY if moves > _HOT * proposals else _COOLING
        if search.objective() > value:
            search.read(best)
            value = search.objective()
        if moves <= _FROZEN * proposals:
            break
    return best


def _settled(
    search: ResemblanceSearch, start: Ints, draw: np.random.Generator, max_iter: int
) -> tuple[float, Ints, int, bool]:
    """Transfer from a start until no move raises the objective; return objective, labels, passes, convergence."""
    labels, n_iter, moves = start, 0, 1
    order = draw.permutation(len(start))
    while moves and n_iter < max_iter:
        rounds("passes", n_iter, max_iter)
        search.set(np.ascontiguousarray(labels), int(labels.max()) + 1)
        moves = sweep(search, order)
        n_iter += 1
        labels = np.empty(len(start), dtype=np.int64)
        search.read(labels)
        labels = canonical_labels(labels)
    search.set(labels, int(labels.max()) + 1)
    return search.objective(), labels, n_iter, moves == 0


def _placing_costs(tables: Tables, kernel: Kernel, weights: Floats) -> tuple[Floats, Floats]:
    """Return the costs of a label (T, K) and of being observed (N, K) for a new object in each cluster."""
    by_label, as_noise = log_joined(tables, kernel)
    now = log_resemblances(tables, kernel)[:, np.newaxis]
    top = max(each.max(initial=-np.inf) for each in (by_label, as_noise, now))
    scale = top if np.isfinite(top) else 0.0
    noise = np.exp2(as_noise - scale)
    block = weights[:, np.newaxis] * (np.exp2(now - scale) - noise)
    gain = np.exp2(by_label - scale) - over_clusters(noise, tables.offsets)
    return -over_clusters(weights, tables.offsets)[:, np.newaxis] * gain, block


Kernel: TypeAlias = Literal["pairs", "subsets"]


@dataclass(frozen=True)
class Tables:
    """Numbers of objects shared by clusters of the consensus and clusters of the partitions.

    ``common`` (T, K): shared with each cluster. ``noise`` and ``observed`` (N, K): objects of the
    consensus cluster that are noise in the partition, or observed by it. ``sizes`` (T,) and ``alone``
    (N,): sizes of the clusters of the partitions, and of their noise.
    """

    common: Floats
    noise: Floats
    observed: Floats
    sizes: Floats
    alone: Floats
    offsets: Ints

    @classmethod
    def of(cls, ensemble: Ensemble, labels: Ints) -> Tables:
        """Count the objects of a partition (labels 0 .. K - 1)."""
        clusters = one_hot(labels, int(labels.max()) + 1)
        common = (ensemble.indicator.T @ clusters).toarray()
        alone = sp.csr_array(ensemble.noise.astype(np.float64).T)
        noise = sp.csr_array(alone @ clusters).toarray()
        observed = over_partitions(common, ensemble.offsets) + noise
        return cls(common, noise, observed, common.sum(axis=1), noise.sum(axis=1), ensemble.offsets)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log2(values)


def _subsets(size: Floats, kernel: Kernel) -> Floats:
    """Return log2 of the sum of squared sizes over the counted subsets of `size` objects."""
    if kernel == "pairs":
        return 1.0 + _log(size * (size - 1.0))
    return _log(size * (size + 1.0)) + size - 2.0


def _singles(count: Floats, kernel: Kernel) -> Floats:
    """Return the same for `count` singletons: one subset each, and no pair."""
    return _log(count * (kernel != "pairs"))


def log_norms(tables: Tables, kernel: Kernel) -> Floats:
    """Return the kernel of each partition with itself."""
    clusters = _subsets(tables.sizes, kernel) - 2.0 * np.log2(tables.sizes)
    sums = over_partitions(clusters, tables.offsets, np.logaddexp2)
    return np.asarray(np.logaddexp2(sums, _singles(tables.alone, kernel)))


def _log_shared(tables: Tables, kernel: Kernel) -> Floats:
    """Return log2 of the kernel of each cluster with each label, not yet divided by the cluster's size."""
    return _subsets(tables.common, kernel) - np.log2(tables.sizes)[:, np.newaxis]


def _own(observed: Floats, kernel: Kernel) -> Floats:
    """Return log2 of the term of the norm by a cluster, given its observed objects."""
    return _subsets(observed, kernel) - 2.0 * _log(np.maximum(observed, 1.0))


def _normalised(shared: Floats, norm: Floats, self_kernel: Floats) -> Floats:
    """Divide a kernel by its norms, in logarithms; 0 where it is 0."""
    some = np.isfinite(shared) & np.isfinite(self_kernel)
    safe = np.where(some, norm, 0.0) + np.where(some, self_kernel, 0.0)
    return np.where(some, np.where(some, shared, 0.0) - 0.5 * safe, -np.inf)


def log_resemblances(tables: Tables, kernel: Kernel) -> Floats:
    """Return the logarithm of the resemblance of the consensus to each partition, (N,)."""
    clusters = over_partitions(_log_shared(tables, kernel), tables.offsets, np.logaddexp2)
    clusters = np.logaddexp2(clusters, _singles(tables.noise, kernel))
    clusters -= _log(np.maximum(tables.observed, 1.0))
    shared = np.logaddexp2.reduce(clusters, axis=1)
    norm = np.logaddexp2.reduce(_own(tables.observed, kernel), axis=1)
    return _normalised(shared, norm, log_norms(tables, kernel))


def log_joined(tables: Tables, kernel: Kernel) -> tuple[Floats, Floats]:
    """Return the logarithms of the resemblances once a new object has joined each cluster.

    By its label (T, K), or as noise (N, K); clusters of the partitions keep their sizes.
    """
    by_label = _log_shared(tables, kernel)
    alone = _singles(tables.noise, kernel)
    sums = np.logaddexp2(over_partitions(by_label, tables.offsets, np.logaddexp2), alone)
    size = _log(np.maximum(tables.observed, 1.0))
    others = _all_but_each(sums - size, axis=1)
    larger = np.log2(tables.observed + 1.0)
    norm = np.logaddexp2(
        _all_but_each(_own(tables.observed, kernel), axis=1), _own(tables.observed + 1.0, kernel)
    )
    norms = log_norms(tables, kernel)[:, np.newaxis]
    more = _subsets(tables.common + 1.0, kernel) - np.log2(tables.sizes)[:, np.newaxis]
    labelled = np.empty_like(by_label)
    for u in range(len(alone)):
        block = slice(tables.offsets[u], tables.offsets[u + 1])
        rest = np.logaddexp2(_all_but_each(by_label[block], axis=0), alone[u])
        shared = np.logaddexp2(others[u], np.logaddexp2(rest, more[block]) - larger[u])
        labelled[block] = _normalised(
            shared, np.broadcast_to(norm[u], shared.shape), np.broadcast_to(norms[u], shared.shape)
        )
    as_noise = np.logaddexp2(sums, _singles(np.ones_like(sums), kernel)) - larger
    shared = np.logaddexp2(others, as_noise)
    return labelled, _normalised(shared, norm, np.broadcast_to(norms, shared.shape))


def _all_but_each(logs: Floats, axis: int) -> Floats:
    """Return the sums along an axis without each entry in turn."""
    logs = np.moveaxis(logs, axis, 0)
    nothing = np.full((1, *logs.shape[1:]), -np.inf)
    before = np.concatenate([nothing, np.logaddexp2.accumulate(logs, axis=0)[:-1]])
    after = np.concatenate([np.logaddexp2.accumulate(logs[::-1], axis=0)[-2::-1], nothing])
    return np.moveaxis(np.logaddexp2(before, after), 0, axis)
