"""FCA-Consensus: clusters as disjoint concepts of the objects and their labels."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from conclust._kernels import ConceptGrowth
from conclust._parameters import Parameters
from conclust._progress import rounds, say, stage, tracked
from conclust._types import Bools, Floats, Ints
from conclust._validation import count, refuse
from conclust.consensus.base import ConsensusClusterer, spread
from conclust.consensus.method import Method
from conclust.ensemble import DistinctRows, Ensemble, Missing, with_weight
from conclust.ensemble.labels import canonical_labels, missing_code, noise_code
from conclust.exceptions import EvidenceWarning, warn

__all__ = ["FCAConsensus"]

Order: TypeAlias = Literal["given", "size"]

# "auto" tries at most _MOST_TRIED numbers of votes, from this share of all upwards.
_LOWEST_SHARE = 0.05
_MOST_TRIED = 100
# Number of words of bits that the kernel visits between checks for interrupts: a fraction of a second.
_WORDS = 2_000_000


@dataclass(eq=False, repr=False)
class FCAConsensus(ConsensusClusterer):
    """FCA-Consensus: grow disjoint formal concepts while enough partitions agree.

    Objects and the clusters of all partitions make a formal context; a concept of it is a set of objects (the extent)
    with the clusters that hold all of them (the intent), so that the number of partitions in the intent counts the
    votes for the set being one cluster. Concepts start from objects with the same labels. They absorb one object after
    the other, with all objects that share the remaining intent, while at least `threshold` partitions still vote for
    the whole [1]_. The extents that remain never overlap; they are the consensus, and their number is a result.

    Parameters
    ----------
    threshold : int, float or "auto", default="auto"
        Partitions that must agree on all of a cluster: an int is their number, a float in (0, 1] a share of them,
        rounded up. "auto" tries numbers from 5 % of the partitions upwards, and chooses the one whose consensus fits
        the co-association best (`scores_`), the smallest one if tied. With weights the votes are sums of weights. No
        share is right for all ensembles: 0.5 suits partitions with the wanted number of clusters, 0.05 partitions with
        many more.
    order : {"given", "size"}, default="given"
        The order in which objects are tried; the result depends on it. "given": as they are given.
        "size": objects with the most frequent rows of labels first.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    verbose : int, default=0
        1: print one line per threshold to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    intents_ : ndarray of bool of shape (n_clusters, n_partitions)
        Partitions that support each cluster: those that put all objects of its concept together.
    covered_ : ndarray of bool of shape (n_samples,)
        Mask of the objects in the concept of their cluster. The others were left over; each went to the
        cluster with most of its labels in the intent.
    threshold_ : float
        Number of votes that a concept needed.
    thresholds_ : ndarray of shape (n_thresholds,)
        Numbers of votes tried with "auto": all numbers of partitions, or a hundred of them.
    scores_ : ndarray of shape (n_thresholds,)
        With "auto", the fit of each consensus to the pairs: the correlation, over all pairs of objects
        and weighted by N_ij, of c_ij / N_ij with whether the consensus has both in one cluster
        (Hubert's normalized statistic [2]_), up to a factor common to all thresholds.
    n_iter_ : int
        Number of passes over the concepts until nothing changes: 2 if one grew, else 1. The second is not run.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    UnsupportedEnsembleError
        In ``fit``, if the partitions are soft: PCC and EAC take them, or fit
        ``Ensemble(ensemble.labels)``, the most probable clusters.

    Warns
    -----
    EvidenceWarning
        If objects cannot be in any concept because fewer partitions observed them than the threshold requires.

    Notes
    -----
    The paper's pseudo-code leaves some points open. Here, *Process* goes through all objects that are not
    covered; a concept that takes in objects replaces the one it grew from; a closure that meets
    another extent is refused (the test of canonicity alone lets extents overlap). One pass over the concepts
    suffices: the next would refuse the same objects again. If another concept takes a part of a concept's objects, the rest are left
    over. Ties between clusters go to the larger extent, then to the earlier one. A left-over object
    that shares no label with any intent is a cluster of its own, together with objects of the same
    labels.

    A partition that did not observe an object, or took it for noise, cannot vote for a cluster with
    this object, so intents shrink with every incomplete row. Many missing labels, or partitions that
    err independently, therefore give many small clusters: lower the threshold, or use
    :class:`conclust.PCC`, which counts pairs. A noise object is in a cluster of its own in its
    partition.

    Objects with the same labels are processed once. For n distinct rows of labels, N partitions and c
    concepts at the start, each threshold takes O(c n N / 64) steps; memory is O(n N).

    References
    ----------
    .. [1] A. Bocharov, D. Gnatyshak, D. I. Ignatov, B. G. Mirkin and A. Shestakov, "A lattice-based
       consensus clustering algorithm", CLA 2016, Algorithms 1 and 2. The threshold is the user's there.
    .. [2] A. K. Jain and R. C. Dubes, "Algorithms for Clustering Data", Prentice Hall 1988, chapter 4.

    Examples
    --------
    >>> from conclust import FCAConsensus
    >>> labels = [[0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]]
    >>> model = FCAConsensus(threshold=2).fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.intents_
    array([[ True,  True, False],
           [ True, False,  True]])
    """

    intents_: Bools = field(init=False)
    covered_: Bools = field(init=False)
    threshold_: float = field(init=False)
    thresholds_: Floats = field(init=False)
    scores_: Floats = field(init=False)

    method = Method(
        title="FCA-Consensus (antichain of a concept lattice)",
        n_clusters="emerges",
        soft_members=False,
        cost="m^2 N for m <= n distinct rows of labels",
        citation="Bocharov, Gnatyshak, Ignatov, Mirkin and Shestakov 2016, CLA",
    )

    parameters: ClassVar[Parameters] = {"threshold": None}

    threshold: float | Literal["auto"] = "auto"
    _: KW_ONLY
    order: Order = "given"
    missing: Missing = "unobserved"
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        value: object = self.threshold
        most = _total(ensemble)
        if isinstance(value, str):
            fits = value == "auto"
        elif isinstance(value, bool) or not isinstance(value, Real):
            fits = False
        else:
            low, high = (1.0, most) if isinstance(value, Integral) else (0.0, 1.0)
            number: Any = value
            fits = low <= number <= high and number > 0  # an int may be too large for a float
        if not fits:
            what = "partitions" if ensemble.weights is None else "weights of the partitions"
            refuse(
                "threshold",
                "FCAConsensus",
                f"an int in the range [1, {most:g}] (votes: there are {most:g} {what}), a float in "
                "the range (0, 1] (a share of them) or 'auto'",
                value,
            )

    def _finish(self, observed: Bools) -> None:
        self.covered_ = spread(self.covered_, observed, False)

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        voters = with_weight(ensemble)
        rows = voters.distinct_rows(noise="apart")
        if self.order == "size":
            rows = rows.reordered(np.argsort(-rows.counts, kind="stable"))
        kernel = ConceptGrowth(rows.ensemble.label_view.reweighted(voters.weights))
        if self.threshold == "auto":
            self.threshold_, outcome = self._search(voters, rows, kernel)
        else:
            self.threshold_ = _votes(self.threshold, voters)
            stage("growth of concepts")
            outcome = _run(rows, kernel, self.threshold_, voters)
        least = _lenient(self.threshold_, voters)
        few = int(rows.counts[rows.ensemble.observed_weights < least].sum())
        if few:
            warn(
                f"{count(few, 'object')} {'was' if few == 1 else 'were'} observed by partitions of fewer votes than the "
                f"threshold of {self.threshold_:g}, too few for any concept. Each went to the cluster with most of its labels; "
                "lower the threshold to count such objects in.",
                EvidenceWarning,
            )
        self.n_iter_ = outcome.n_passes
        self.covered_ = outcome.covered
        self.intents_ = np.zeros((len(outcome.intents), ensemble.n_partitions), dtype=np.bool_)
        voting = slice(None) if ensemble.weights is None else ensemble.weights > 0
        self.intents_[:, voting] = outcome.intents
        return outcome.labels

    def _search(
        self, ensemble: Ensemble, rows: DistinctRows, kernel: ConceptGrowth
    ) -> tuple[float, _Outcome]:
        """Return the threshold with the consensus that fits the co-association best, and this consensus."""
        m = ensemble.n_partitions
        fewest = max(1, math.ceil(_LOWEST_SHARE * m - 1e-9))
        tried = np.linspace(fewest, m, min(_MOST_TRIED, m + 1 - fewest)).round()
        shares = tried / m
        thresholds = shares * _total(ensemble)
        if ensemble.weights is None:
            thresholds = thresholds.round()
        scores = np.empty(len(shares))
        best: _Outcome | None = None
        stage("growth of concepts")
        for t, threshold in enumerate(tracked(thresholds, "thresholds")):
            outcome = _run(rows, kernel, float(threshold), ensemble)
            scores[t] = _fit_of_pairs(outcome.labels, ensemble)
            say(f"threshold {threshold:g}: {len(outcome.intents)} clusters, fit {scores[t]:.6f}")
            if best is None or scores[t] > scores[:t].max():
                best, chosen = outcome, float(threshold)
        assert best is not None
        self.thresholds_, self.scores_ = thresholds, scores
        return chosen, best


@dataclass(frozen=True)
class _Outcome:
    """A consensus: labels by first appearance, and the intent of each of its clusters."""

    labels: Ints
    covered: Bools
    intents: Bools
    n_passes: int


def _fit_of_pairs(labels: Ints, ensemble: Ensemble) -> float:
    """Return the covariance of c_ij / N_ij with "the same cluster" by the latter's deviation.

    Pairs of objects are weighted by N_ij, and four sums over the clusters of single partitions suffice. The value is 0 if
    the labels are one cluster or all different, or if no partition observed two objects.
    """
    k = int(labels.max()) + 1
    together = observed = inside = observed_inside = 0.0
    for u, weight in enumerate(ensemble.partition_weights):
        codes, clusters = ensemble.codes[:, u], int(ensemble.cluster_counts[u])
        is_observed = codes != missing_code(codes.dtype)
        labelled = codes < noise_code(codes.dtype)
        cells = np.bincount(labels[labelled] * clusters + codes[labelled], minlength=k * clusters)
        cells = cells.reshape(k, clusters)
        sizes = np.bincount(labels[is_observed], minlength=k)
        together += weight * _pairs(cells.sum(axis=0))
        observed += weight * _pairs(sizes.sum())
        inside += weight * _pairs(cells)
        observed_inside += weight * _pairs(sizes)
    if not 0 < observed_inside < observed:
        return 0.0
    share = observed_inside / observed
    return (inside / observed_inside - together / observed) * math.sqrt(share / (1 - share))


def _pairs(sizes: Ints) -> float:
    """Return the number of pairs in sets of these sizes."""
    return float(np.sum(sizes * (sizes - 1.0))) / 2


def _total(ensemble: Ensemble) -> float:
    weights = ensemble.weights
    return float(ensemble.n_partitions if weights is None else math.fsum(weights))


def _votes(threshold: Any, ensemble: Ensemble) -> float:
    """Return the number of votes that a checked threshold requires."""
    if isinstance(threshold, Integral):
        return float(threshold)
    votes = float(threshold) * _total(ensemble)
    # 0.07 of 100 is 7.000000000000001 in floating point, and means 7.
    return votes if ensemble.weights is not None else float(max(1, math.ceil(votes - 1e-9)))


def _lenient(threshold: float, ensemble: Ensemble) -> float:
    """Lower the threshold by a rounding error, so that equal sums of weights reach it."""
    return threshold if ensemble.weights is None else threshold - 1e-9 * _total(ensemble)


def _run(
    rows: DistinctRows, kernel: ConceptGrowth, threshold: float, ensemble: Ensemble
) -> _Outcome:
    """Grow the concepts to the fixpoint, assign the remaining objects, and number the clusters."""
    kernel.start(_lenient(threshold, ensemble))
    while not kernel.grow(_WORDS):  # Python checks for interrupts here
        rounds("concepts", kernel.n_concepts)
    codes = rows.ensemble.codes
    n, m = codes.shape
    cluster = np.empty(n, dtype=np.int64)
    intents = np.empty((kernel.n_concepts, m), dtype=np.uint8)
    kernel.read(cluster, intents)
    covered = cluster >= 0
    if not covered.all():
        step = max(1000, -(-n // 32))
        for begin in range(0, n, step):
            kernel.assign(rows.counts, cluster, begin, min(n, begin + step))
    # Objects that share no label with any intent become singletons.
    apart = np.flatnonzero(cluster < 0)
    cluster[apart] = kernel.n_concepts + np.arange(len(apart))
    votes = np.vstack([intents, codes[apart] != missing_code(codes.dtype)])
    # Numbered by first appearance among the objects.
    by_object = np.argsort(rows.first)
    number = np.empty(n, dtype=np.int64)
    number[by_object] = canonical_labels(cluster[by_object])
    _, one = np.unique(number, return_index=True)
    return _Outcome(
        number[rows.inverse],
        covered[rows.inverse],
        votes[cluster[one]].astype(np.bool_),
        kernel.n_passes,
    )
