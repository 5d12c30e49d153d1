"""GraphConsensus: runs of community detection, their evidence on the edges, and one more run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import moderate
from conclust._arrays.rows import ratio
from conclust._parameters import Parameters, Range, check_parameters
from conclust._progress import fitting, say, stage, tracked
from conclust._random import (
    RandomStateLike,
    seed_sequence,
    spawn_generators,
    spawn_seeds,
    spawn_sequences,
)
from conclust._sklearn import EstimatorCard
from conclust._threads import side_by_side, thread_count
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.labels import canonical_labels
from conclust.evidence.pairs import SparseEvidence, evidence_of_pattern
from conclust.exceptions import InputError
from conclust.measures.agreement import partition_similarities
from conclust.neighbours.graph import CommunityGraph, Quality
from conclust.networks.reading import Network, read_network, to_communities

if TYPE_CHECKING:
    from conclust.words.reason import Reason

Kind: TypeAlias = Literal["fast", "strict", "threshold", "ecg"]
Run: TypeAlias = Callable[[int], NDArray[np.int32]]
"""The communities that one seed finds."""

_OWNER = "GraphConsensus"
# As published: ECG and FastEnsemble.
_RUNS = {"ecg": 16}
_FEW_RUNS = 10
_RESOLUTION = {"modularity": 1.0, "cpm": 0.01}
# More rounds than a run needs until no node moves.
_ENDLESS = 2**30
# A share of weighted runs that is 1 up to rounding is set to 1.
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False)
class GraphConsensus(EstimatorCard, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Consensus of the communities of a network, on its edges.

    Runs of the Leiden algorithm with different seeds, or given runs, disagree. Each edge is weighted by the share of runs that
    put its ends into one community, edges with little support are removed, and the remaining graph is clustered once more.
    Pairs of nodes without an edge are not compared. Communities that modularity has merged because the network is large are
    split again.

    Parameters
    ----------
    kind : {"fast", "strict", "threshold", "ecg"}, default="fast"
        Use of the shares. "fast": edges with a share below `threshold` are removed, and the shares of the others
        are their weights (FastEnsemble [1]_). "threshold": the same, and the others keep their weights. "strict":
        only edges on which all runs agree remain, with their weights. "ecg": edges in the 2-core have the weight ``min_weight +
        (1 - min_weight) * share``, and all other edges `min_weight`; the runs consist of the first level only, in which single
        nodes move (ECG [2]_).
    n_runs : int, default=None
        Number of runs. None: 10, and 16 for "ecg", as published. Ignored if an ensemble is given.
    threshold : float, default=0.8
        Smallest share of an edge that remains, in the range (0, 1], for "fast" and "threshold".
    quality : {"modularity", "cpm"}, default="modularity"
        Quality that communities maximise. "cpm": the constant Potts model, the weight inside a community minus `resolution`
        times its number of pairs of nodes; it has no resolution limit.
    resolution : float, default=None
        Above 0: the higher, the more communities. None: 1 for modularity, 0.01 for "cpm".
    n_iterations : int, default=2
        Maximum number of iterations of a run of the Leiden algorithm; it ends earlier after one that moves no node. None: no
        maximum, as in the program of FastEnsemble for modularity. Not for the runs of "ecg".
    min_weight : float, default=0.05
        Weight of an edge without support, for "ecg", in the range [0, 1].
    recluster : bool, default=True
        Whether the remaining graph is clustered once more. False: the clusters are its connected components
        (not for "ecg", which removes no edge).
    split : bool, default=None
        Whether each community is clustered once more on its own and split, its parts too, if the parts describe its
        edges better and at most 15 % of the edges are between them (see Notes), and whether a graph without communities is
        one cluster per connected component. False: communities as published.
        None: True for its own runs by modularity at the default resolution, if `recluster` is True.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the seeds of the runs.
    n_jobs : int, default=None
        Threads, each of which makes runs. The result does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_nodes,)
        Cluster of each node, consecutive from 0 by first appearance. Nodes without edges are clusters of their
        own.
    n_clusters_ : int
        Number of clusters.
    nodes_ : list, or ndarray of shape (n_nodes,)
        The nodes, in the order of the labels: rows of the matrix, nodes of networkx, or the nodes of the edges
        by first appearance.
    ensemble_ : Ensemble
        The runs.
    reason_ : str
        A sentence on the number of clusters.
    evidence_ : SparseEvidence
        Evidence on the edges; ``evidence_.to_scipy()`` has the shares of runs that put their ends together.
    weights_ : csr_array of shape (n_nodes, n_nodes)
        The weights of the edges that were clustered at the end.

    Raises
    ------
    InputError
        If the graph is directed, or malformed; if the ensemble does not have a row for each node.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    conclust.Ensemble.from_communities : Runs of other programs as an ensemble.

    Notes
    -----
    The runs use the weights of edges, and at the end a share is multiplied by the weight of its edge. If no run observed
    both ends of an edge, its share is 0. An iteration of a run takes O(m) time for m edges. Each thread needs as much
    memory as the graph, and the labels of all runs are kept.

    Modularity cannot resolve communities with fewer than about ``sqrt(m)`` edges: it merges those that a single edge connects
    (the resolution limit). With `split`, runs on the edges inside each community, with degrees counted inside it,
    propose parts. They are accepted if the description length of the degree-corrected block model is shorter [3]_, and
    if few edges are between them: this model also divides an even cloud of points into several groups, but connected by many
    edges.

    A random graph also has partitions of high modularity, but runs do not agree on one. If the mean adjusted Rand index of the
    runs is below 0.5, they are compared with runs on up to ten random graphs with the same degrees. If these agree as
    well and have as much modularity, the graph has no communities.

    References
    ----------
    .. [1] Y. Tabatabaee, E. Wedell, M. Park and T. Warnow, "FastEnsemble: scalable ensemble clustering on large
       networks", PLOS Complex Systems 2, 2025.
    .. [2] V. Poulin and F. Théberge, "Ensemble clustering for graphs", Complex Networks 2018.
    .. [3] T. P. Peixoto, "Nonparametric Bayesian inference of the microcanonical stochastic block model", Physical
       Review E 95, 2017.

    Examples
    --------
    >>> from conclust import GraphConsensus
    >>> edges = [(a, b) for s in ("abcd", "efgh") for a in s for b in s if a < b] + [("d", "e")]
    >>> model = GraphConsensus(random_state=0).fit(edges)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> [sorted(community) for community in model.to_communities()]
    [['a', 'b', 'c', 'd'], ['e', 'f', 'g', 'h']]
    """

    parameters: ClassVar[Parameters] = {
        "threshold": Range(above=0, at_most=1),
        "min_weight": Range(at_most=1),
        "resolution": Range(above=0),
    }
    labels_: Ints = field(init=False)
    n_clusters_: int = field(init=False)
    nodes_: Any = field(init=False)
    ensemble_: Ensemble = field(init=False)
    evidence_: SparseEvidence = field(init=False)
    _lacking: tuple[float, ...] | None = field(init=False)
    weights_: Any = field(init=False)

    kind: Kind = "fast"
    _: KW_ONLY
    n_runs: int | None = None
    threshold: float = 0.8
    quality: Quality = "modularity"
    resolution: float | None = None
    n_iterations: int | None = 2
    min_weight: float = 0.05
    recluster: bool = True
    split: bool | None = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: Any, y: None = None, *, ensemble: Any = None) -> Self:
        """Find the consensus of the communities of a graph.

        Parameters
        ----------
        X : sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
            An undirected graph. A sparse matrix is symmetric, or has each edge once, above or below the diagonal. Edges
            of networkx have the weight "weight", or 1. A list has pairs of nodes, or triples with a weight; an array of
            shape (n_edges, 2) or (n_edges, 3) is one, and so is a frame of pandas or polars. The weights of repeated edges
            add up. A self-loop, on the diagonal of a matrix, adds twice its weight to the degree of its node, as in
            networkx; `split` and "cpm" do not use it.
        y : None
            Ignored.
        ensemble : Ensemble or array-like of shape (n_nodes, n_runs), default=None
            Runs of any program, used instead of new ones, with a row for each node in the order of `nodes_`; -1, NaN:
            missing; -2: noise. Lists of communities: ``Ensemble.from_communities(runs, nodes=G)``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with fitting(self):
            began = time.monotonic()
            self._check_parameters()
            threads = thread_count(self.n_jobs, _OWNER)
            stage("the graph")
            network = read_network(X)
            say(f"{network.n_nodes} nodes, {len(network.ends) // 2} edges")
            root = seed_sequence(self.random_state, _OWNER)
            *seeds, last = spawn_seeds(root, self._runs + 1)
            if ensemble is None:
                runs = _side_by_side(self._run_of(network), seeds, network.n_nodes, threads)
            else:
                runs = _given(ensemble, network)
            stage("the edges")
            evidence = evidence_of_pattern(runs, network.starts, network.ends, n_jobs=self.n_jobs)
            remaining = self._reweighted(network, evidence)
            stage("the remaining graph")
            if self.recluster:
                labels, _ = self._quality(remaining).communities(self._rate, last, self._rounds)
                self.labels_ = canonical_labels(labels)
            else:
                self.labels_ = _components(remaining)
            self._lacking = None
            if self._splits(ensemble is None):
                *_, of_parts, of_graphs = spawn_sequences(root, self._runs + 3)
                stage("random graphs")
                self._lacking = no_communities(network, runs, self._run_of, of_graphs)
                if self._lacking is not None:
                    self.labels_ = _components(network)
                else:
                    stage("splitting communities")
                    self.labels_ = split_communities(
                        network, self.labels_, self.threshold, self._runs, of_parts, threads
                    )
            self.n_clusters_ = int(self.labels_.max()) + 1
            self.nodes_ = network.nodes
            self.ensemble_, self._given_runs = runs, ensemble is not None
            self.evidence_ = evidence
            self.weights_ = _matrix(remaining)
            say(f"{self.n_clusters_} clusters after {time.monotonic() - began:.1f} s")
        return self

    @property
    def reason_parts(self) -> Reason:
        """The reason for the number of clusters, in its parts."""
        from conclust.words.number import of_network

        check_is_fitted(self)
        return of_network(self.n_clusters_, self._lacking)

    def to_communities(self) -> list[set[Any]]:
        """Return the clusters as sets of nodes, by label, like communities in networkx."""
        check_is_fitted(self)
        return to_communities(self.labels_, self.nodes_)

    @property
    def _runs(self) -> int:
        return _RUNS.get(self.kind, _FEW_RUNS) if self.n_runs is None else self.n_runs

    @property
    def _rate(self) -> float:
        return _RESOLUTION[self.quality] if self.resolution is None else self.resolution

    @property
    def _rounds(self) -> int:
        return _ENDLESS if self.n_iterations is None else min(self.n_iterations, _ENDLESS)

    def _splits(self, own_runs: bool) -> bool:
        """Return whether communities are split."""
        if self.split is not None:
            return self.split
        by_default = self.quality == "modularity" and self._rate == _RESOLUTION["modularity"]
        return own_runs and by_default and self.recluster

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.kind == "ecg" and not self.recluster:
            others = "ECG removes no edge; 'fast', 'threshold' and 'strict' do."
            refuse("recluster", _OWNER, "True with kind='ecg'", False, others)

    def _run_of(self, network: Network) -> Run:
        """Return the community detection on a graph."""
        graph = self._quality(network)
        rounds = 0 if self.kind == "ecg" else self._rounds
        return lambda seed: graph.communities(self._rate, seed, rounds)[0]

    def _quality(self, network: Network) -> CommunityGraph:
        """Return the graph with the loads of its nodes; the resolution of "cpm" is a density."""
        starts, ends, weights = network.starts, network.ends, network.weights
        alone = np.ones(network.n_nodes)
        if self.quality == "cpm":
            return CommunityGraph(starts, ends, weights, alone, 1.0)
        return CommunityGraph.of(starts, ends, weights, alone, "modularity", network.loops)

    def _reweighted(self, network: Network, evidence: SparseEvidence) -> Network:
        """Return the graph that is clustered at the end."""
        shares = _shares(network, evidence)
        if self.kind == "ecg":
            core = network.in_core()
            inside = core[network.sources] & core[network.ends]
            factor = np.full(len(shares), float(self.min_weight))
            factor[inside] += (1.0 - self.min_weight) * shares[inside]
        else:
            least = 1.0 if self.kind == "strict" else self.threshold
            factor = (shares >= least - _ROUNDING).astype(np.float64)
            if self.kind == "fast":
                factor *= shares
        is_kept = factor > 0
        return with_edges(network, is_kept, network.weights[is_kept] * factor[is_kept])


def _side_by_side(run: Run, seeds: list[int], n_nodes: int, n_threads: int) -> Ensemble:
    """Return a run for each seed."""
    labels = np.empty((n_nodes, len(seeds)), dtype=np.int32)
    with side_by_side(min(n_threads, len(seeds))) as work:
        for u, column in enumerate(tracked(work(run, seeds), "runs", len(seeds))):
            labels[:, u] = column
    return as_ensemble(labels)


def _given(ensemble: Any, network: Network) -> Ensemble:
    """Read the user's runs; refuse those of other nodes, and a frame whose rows have the names of the nodes in another order."""
    index: Any = getattr(ensemble, "index", None)
    members = as_ensemble(ensemble)
    if members.n_samples != network.n_nodes:
        raise InputError(
            f"The ensemble has {members.n_samples} rows and the graph {network.n_nodes} nodes. For runs that are lists "
            "of sets of nodes, Ensemble.from_communities(runs, nodes=G) makes a row for each node."
        )
    if not hasattr(index, "equals") or type(index).__name__ == "RangeIndex" or not network.named:
        return members
    rows, nodes = list(index), list(network.nodes)
    if rows != nodes and set(rows) == set(nodes):
        raise InputError(
            "The rows of 'ensemble' have the names of the nodes, in another order. Put them in the same order: "
            "ensemble.loc[nodes], with the nodes of the graph as list(G) has them, or those of a list of edges by first "
            "appearance; or ensemble.reset_index(drop=True) if the rows are in this order."
        )
    return members


def _shares(network: Network, evidence: SparseEvidence) -> Floats:
    """Return the share of each tie of the network; 0 where no run observed both of its ends."""
    share_of_tie: Floats = evidence.counts / evidence.copresence.astype(np.float64)
    if len(share_of_tie) == len(network.ends):
        return share_of_tie
    shares = np.zeros(len(network.ends))
    n = np.int64(network.n_nodes)
    rows = np.repeat(np.arange(n), np.diff(evidence.indptr))
    # Both are sorted by row, then column.
    all_ties = network.sources * n + network.ends
    shares[np.searchsorted(all_ties, rows * n + evidence.indices)] = share_of_tie
    return shares


def _matrix(network: Network) -> Any:
    shape = (network.n_nodes, network.n_nodes)
    return sp.csr_array((network.weights, network.ends, network.starts), shape=shape)


def _components(network: Network) -> Ints:
    return canonical_labels(connected_components(_matrix(network), directed=False)[1])


# Mean adjusted Rand index of the runs from which their communities are taken as found.
_AGREED = 0.5
# Random graphs, and runs on each.
_GRAPHS, _RANDOM_RUNS = 10, 5


def modularity(network: Network, labels: NDArray[Any]) -> float:
    """Return the modularity of communities, with the weights of edges."""
    loops = 2.0 * network.loops  # both ends
    degrees = np.bincount(network.sources, network.weights, network.n_nodes) + loops
    inside = labels[network.sources] == labels[network.ends]
    share = (network.weights[inside].sum() + loops.sum()) / degrees.sum()
    return float(share - ((np.bincount(labels, degrees) / degrees.sum()) ** 2).sum())


def no_communities(
    network: Network,
    runs: Ensemble,
    run_of: Callable[[Network], Run],
    source: np.random.SeedSequence,
) -> tuple[float, float, float, float] | None:
    """Return why a graph has no communities: agreement and modularity, its own and those of random graphs. None if it has some.

    It has none if its runs disagree, and neither agree better nor find a larger modularity than runs on random graphs
    with the same degrees.

    Parameters
    ----------
    network : Network
        The graph.
    runs : Ensemble
        Communities of the nodes by several runs.
    run_of : callable
        Returns the community detection on a graph.
    source : SeedSequence
        Seeds the random graphs.
    """
    if runs.n_partitions < 2 or not len(network.ends):
        return None
    agreement, found = _measured(network, list(runs.labels.T))
    if agreement >= _AGREED:
        return None
    agreements, moduli = [], []
    for one, seeds in _random_graphs(network, source):
        measured = _measured(one, [*map(run_of(one), seeds)])
        agreements.append(measured[0])
        moduli.append(measured[1])
        if agreement <= max(agreements) and found <= max(moduli):
            return agreement, found, max(agreements), max(moduli)
    return None


def _measured(network: Network, runs: list[NDArray[Any]]) -> tuple[float, float]:
    """Return the mean adjusted Rand index of runs, and their mean modularity."""
    labels = np.column_stack(runs)
    similarities = partition_similarities(Ensemble(labels), measure="ari")
    pairs = similarities[np.triu_indices(len(runs), 1)]
    return float(np.mean(pairs)), float(np.mean([modularity(network, run) for run in runs]))


def _random_graphs(
    network: Network, source: np.random.SeedSequence
) -> Iterator[tuple[Network, list[int]]]:
    """Yield graphs whose edges join the ends of those of the graph at random, and seeds of runs on each."""
    once = network.sources < network.ends
    ends = np.concatenate([network.sources[once], network.ends[once]])
    weights: Floats = network.weights[once]
    for rng in spawn_generators(source, _GRAPHS):
        places = tuple(np.sort(rng.permutation(ends).reshape(2, -1), axis=0))
        edges = sp.coo_array((rng.permutation(weights), places), shape=(network.n_nodes,) * 2)
        yield read_network(edges.tocsr()), rng.integers(2**63, size=_RANDOM_RUNS).tolist()


# Maximum share of the edges of a community between its parts. Random groups merged by modularity
# share few edges; the pieces of a uniform cloud of points share a quarter of them or more.
_LARGEST_CUT = 0.15
_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Split:
    """The gain by splitting each community.

    Attributes
    ----------
    saved : ndarray of float64 of shape (n_communities,)
        Nats by which the description of the edges inside becomes shorter; 0 for a community that stays whole.
    cut : ndarray of float64 of shape (n_communities,)
        Share of the edges of the community between its parts.
    """

    saved: Floats
    cut: Floats


def split_communities(
    network: Network,
    labels: Ints,
    threshold: float,
    n_runs: int,
    root: np.random.SeedSequence,
    n_threads: int,
) -> Ints:
    """Split merged communities, and their parts, until none can be split.

    Parameters
    ----------
    network : Network
        The graph.
    labels : ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0.
    threshold : float
        Smallest share of the runs of an edge that remains in the clustering of a community.
    n_runs : int
        Number of runs in each community.
    root : SeedSequence
        Source of the seeds.
    n_threads : int
        Number of runs at a time. The result does not depend on it.

    Returns
    -------
    ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0 by first appearance.

    Notes
    -----
    Modularity expects edges between two communities by their degrees in the whole network: the larger it is, the less,
    until a single edge is more than expected and its ends are merged (the resolution limit). Inside a community the same
    rule compares with the degrees inside, so that what was merged comes apart. A level is a consensus of `n_runs` runs
    on the edges inside of all communities at once, O(m) time a run; levels look only at the parts that the level before has made.
    """
    split_labels = labels.copy()
    nodes = np.arange(network.n_nodes)
    graph = network
    for level in spawn_sequences(root, _LEVELS):
        seeds = spawn_seeds(level, n_runs + 1)
        part_labels = canonical_labels(split_labels[nodes])
        inner = part_labels[graph.sources] == part_labels[graph.ends]
        graph = with_edges(graph, inner, graph.weights[inner])
        parts = _parts(graph, part_labels, threshold, seeds, n_threads)
        split = weigh_splits(graph, part_labels, parts)
        accepted = (split.saved > 0) & (split.cut <= _LARGEST_CUT)
        if not accepted.any():
            break
        active = accepted[part_labels]
        nodes = nodes[active]
        split_labels[nodes] = split_labels.max() + 1 + parts[active]
        graph = _among(graph, active)
    return canonical_labels(split_labels)


def weigh_splits(network: Network, labels: Ints, parts: Ints) -> Split:
    """Measure the gain by describing each community as several parts.

    Parameters
    ----------
    network : Network
        A graph without edges between communities.
    labels : ndarray of int64 of shape (n_nodes,)
        Communities, numbered from 0.
    parts : ndarray of int64 of shape (n_nodes,)
        Parts of communities, numbered from 0 over all of them.

    Returns
    -------
    Split
        For each community.

    Notes
    -----
    The description length is that of the degree-corrected stochastic block model with uniform priors of the degrees
    (Peixoto, Phys. Rev. E 95, 012317, 2017), and of the numbers of edges within and between groups (Zhang and Peixoto,
    Phys. Rev. Research 2, 043271, 2020). Edges with weights count as the number of edges without weights that is equally
    certain, ``(sum w)^2 / sum w^2``.
    """
    upper = network.sources < network.ends
    weights, _ = moderate(network.weights[upper])
    # Equal weights become exactly 1.
    even = len(weights) == 0 or bool((weights == weights[0]).all())
    unit = 1.0 if even else float(np.square(weights).sum() / weights.sum())
    edges = np.ones(len(weights)) if even else weights / unit
    one, other = parts[network.sources[upper]], parts[network.ends[upper]]
    n_groups, n_parts = int(labels.max()) + 1, int(parts.max()) + 1
    owner = np.empty(n_parts, dtype=np.int64)
    owner[parts] = labels
    sizes = np.bincount(labels).astype(np.float64)
    part_sizes = np.bincount(parts).astype(np.float64)
    ends = np.concatenate([one, other])
    degrees = np.bincount(ends, np.tile(edges, 2), n_parts).astype(np.float64)
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
    pairs, place = np.unique(low * n_parts + high, return_inverse=True)
    counts = np.bincount(place, edges, len(pairs))
    first, second = pairs // n_parts, pairs % n_parts
    between = first != second
    within = np.zeros(n_parts)
    within[first[~between]] = counts[~between]

    def total(values: Floats, of: Ints = owner) -> Floats:
        return np.bincount(of, values, n_groups).astype(np.float64)

    inside = total(within)
    crossing = total(counts[between], owner[first[between]])
    every = inside + crossing
    n_of = total(np.ones(n_parts))
    whole = _placed(every, 2.0 * every, sizes)
    apart = total(_placed(within, degrees, part_sizes))
    apart -= total(gammaln(counts[between] + 1.0), owner[first[between]])
    apart += _log_multisets(n_of, inside) + np.log(every + 1.0)
    apart += _log_multisets(np.maximum(n_of * (n_of - 1.0) / 2.0, 1.0), crossing)
    apart += gammaln(sizes + 1.0) - total(gammaln(part_sizes + 1.0))
    apart += gammaln(sizes) - gammaln(n_of) - gammaln(sizes - n_of + 1.0)
    return Split(np.where(n_of > 1, whole - apart, 0.0), ratio(crossing, every))


def _placed(within: Floats, degrees: Floats, sizes: Floats) -> Floats:
    """Return the description length, in nats, of the ends of the edges of groups, from their inner edges, sums of degrees, and sizes."""
    paired = within * np.log(2.0) + gammaln(within + 1.0)
    placed: Floats = gammaln(degrees + 1.0) - paired + _log_multisets(sizes, degrees)
    return placed


def _log_multisets(kinds: Floats, count: Floats) -> Floats:
    """Return the logarithm of the number of multisets of `count` elements of some kinds."""
    logs: Floats = gammaln(kinds + count) - gammaln(kinds) - gammaln(count + 1.0)
    return logs


def _parts(
    network: Network, labels: Ints, threshold: float, seeds: list[int], n_threads: int
) -> Ints:
    """Return a consensus inside each community, from runs that use only the degrees within it."""
    *runs, last = seeds
    found = _side_by_side(_communities(network, labels), runs, network.n_nodes, n_threads)
    evidence = evidence_of_pattern(found, network.starts, network.ends, n_jobs=n_threads)
    shares = evidence.counts / float(len(runs))
    inner = shares >= threshold - _ROUNDING
    certain = with_edges(network, inner, network.weights[inner] * shares[inner])
    return canonical_labels(_communities(certain, labels)(last))


def _communities(network: Network, labels: Ints) -> Run:
    """Return the search for communities by modularity in the subgraph of each community."""
    degrees = np.bincount(network.sources, network.weights, network.n_nodes)
    loads = ratio(degrees, np.sqrt(np.bincount(labels, degrees)[labels]))
    graph = CommunityGraph(network.starts, network.ends, network.weights, loads, 1.0)
    return lambda seed: graph.communities(1.0, seed)[0]


def with_edges(network: Network, mask: Bools, weights: Floats) -> Network:
    """Return a network with some of the edges, and their weights."""
    before = np.concatenate([[0], np.cumsum(mask)])
    starts = before[network.starts].astype(np.int64)
    return replace(network, starts=starts, ends=network.ends[mask], weights=weights)


def _among(network: Network, active: Bools) -> Network:
    """Return the graph of some nodes, which have no edges to the others."""
    inner = active[network.sources]
    number = np.cumsum(active, dtype=np.int64) - 1
    lengths = np.diff(network.starts)[active]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ends = number[network.ends[inner]].astype(np.int32)
    return Network(starts, ends, network.weights[inner], network.loops[active], network.nodes)
