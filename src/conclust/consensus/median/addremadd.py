"""AddRemAdd: least-squares consensus that extracts one cluster after the other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._kernels import add_rem_add
from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike, generator
from conclust._types import Bools, Floats, Ints
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.constraints import Constraints
from conclust.consensus.median.search import (
    Evidence,
    best_partition,
    degrees,
    evidence_of,
    extended,
    interchangeable,
    sample,
    semi_average,
)
from conclust.consensus.method import Method, NumberOfClusters
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.labels import canonical_labels

Criterion: TypeAlias = Literal["ensemble", "combined"]
ScaleShift: TypeAlias = Literal["mean", "modularity", "none"]

# Total membership of a soft cluster: below this the cluster is empty.
_HARDLY = 1e-100
# Share of the units below which those without a cluster are put into a smaller matrix.
_FEWER = 2 / 3


@dataclass(eq=False, repr=False)
class AddRemAdd(ConsensusClusterer):
    r"""Least-squares consensus: clusters extracted by AddRemAdd, or the best K of them.

    The semi-average similarity of a cluster S is

    .. math::

        g(S) = \frac{1}{|S|} \sum_{i \neq j \in S} \left(a_{ij} - \text{shift}_{ij}\right)

    With `n_clusters`, the partition into this number of clusters with the largest sum of g is sought.
    Without it, the one with the largest sum of g abs(g): the part of the sum of squares of
    a_ij - shift_ij that one level of similarity per cluster explains. Extraction removes the cluster with the
    largest g, then the next one among the remaining objects, until none is above 0 (the others stay single); a
    local search continues from there.

    "ensemble": a_ij is the number of partitions that put i and j together, and the partition sought is
    the one that explains the others best by least squares. "combined": each partition counts
    1 / (size of the cluster that holds both), and the partition sought is the one that the others
    explain best [1]_ [2]_.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, at most that of distinct rows of labels. None: determined by the criterion.
    criterion : {"ensemble", "combined"}, default="ensemble"
        Definition of similarity.
    scale_shift : {"mean", "modularity", "none"}, default="mean"
        The shift that is subtracted from similarities: their mean over all pairs; or their
        expectation by the sums of the two objects' similarities, d_i d_j / sum of d; or nothing, in which case a
        few clusters absorb nearly all objects unless `n_clusters` is given.
    starts : int or "all", default=50
        Objects from which each extraction starts: this number of random ones with different labels,
        or all.
    refine : bool, default=True
        Whether transfers of objects, new clusters and fusions raise the objective further if `n_clusters` is None.
        False: the extraction alone, as in the papers.
    n_init : int, default=10
        Starts of the local search of each of two kinds, besides the extraction and the fusion of
        single objects: the best partitions of the ensemble, and random ones; at least 0.
    max_iter : int, default=100
        Maximum number of passes of transfers over the objects from one start.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the random starts and of the order in which objects are tried.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        The sum of g (with `n_clusters`) or of g abs(g) (without) over the clusters, which is maximised.
    semi_average_ : float
        The sum over clusters of ``1/|S| sum over i, j in S of a_ij``, without a shift and including every object with
        itself. The papers compare partitions with the same number of clusters by it.
    n_iter_ : int
        Passes of the local search over the objects from the start that was kept; 1 without it.
    converged_ : bool
        Whether no transfer and no fusion was left that would raise the objective; True without
        local search.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the search.

    Notes
    -----
    From each start, AddRemAdd adds or removes the object that raises the semi-average of one cluster
    most, until no object does. Extraction and starts of the local search work on at most 1,000
    distinct rows of labels (similarities among them are formed). The search then ends on all rows, at
    O(N K) per visit, without forming a pair. Without the search, each of the other objects goes to the
    extracted cluster with the highest mean similarity, or stays single if none is above 0.

    The level of a cluster that fits a_ij - shift_ij best in least squares, the diagonal cleared, is
    ``g / |S|``, which explains g squared of the sum of squares: extraction takes out the cluster that
    explains most of the rest [1]_. A sum of g itself cannot choose the number of clusters: it favours
    many clusters of nearly identical objects. At a given number of clusters and without missing
    labels it is, up to a constant, the sum with the diagonal and nothing subtracted (in the
    "ensemble" criterion).

    Objects with the same labels stay together. Objects that ``fit(must_link=)`` puts together are one unit of all
    moves, with the sum of their similarities; no extraction, transfer or fusion puts objects of ``cannot_link``
    together. A missing label adds neither similarity nor shift. Noise adds the shift only. Soft partitions count with
    sums of products of probabilities.

    References
    ----------
    .. [1] B. Mirkin, I. Muchnik: Geometrical interpretation of clustering criteria. 1981.
    .. [2] B. Mirkin, A. Shestakov: A note on the effectiveness of the least squares consensus
       clustering. Clusters, Orders, and Trees, Springer, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import AddRemAdd
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = AddRemAdd(random_state=0).fit(ensemble)
    >>> model.labels_, model.semi_average_
    (array([0, 0, 1, 1]), 11.0)
    """

    semi_average_: float = field(init=False)

    method = Method(
        title="Least-squares consensus (AddRemAdd)",
        n_clusters="optional",
        cost="n N K per pass",
        citation="Mirkin and Shestakov 2014, Clusters, Orders, and Trees",
    )
    parameters: ClassVar[Parameters] = {"n_init": Range(at_least=0)}

    n_clusters: NumberOfClusters = None
    _: KW_ONLY
    criterion: Criterion = "ensemble"
    scale_shift: ScaleShift = "mean"
    starts: int | Literal["all"] = 50
    refine: bool = True
    n_init: int = 10
    max_iter: int = 100
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _takes_constraints(self) -> bool:
        return True

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        draw = generator(self.random_state, "AddRemAdd")
        units = interchangeable(ensemble)
        constraints = self._constraints
        if constraints is not None:
            units = constraints.alone(units)
        together = np.ones(int(ensemble.offsets[-1]))
        if self.criterion == "combined":
            mass = ensemble.cluster_sizes
            # A soft cluster that is empty, or nearly so, puts no objects together.
            np.divide(together, mass, out=together, where=mass > _HARDLY)
            together[mass <= _HARDLY] = 0.0
        shift = None if self.scale_shift == "mean" else 0.0
        evidence = evidence_of(ensemble, units, together, shift)
        if self.scale_shift == "modularity":
            evidence = _modularity(evidence)
        among = None
        if constraints is not None:
            units, evidence = contracted(units, evidence, constraints)
            among = np.unique(units.inverse[constraints.touched])
        chosen = sample(units, draw, self.n_clusters or 0, among)
        few = self.n_clusters is None or self.n_clusters < len(chosen)
        extraction = _extract(evidence.some(chosen), self.starts, draw) if few else None
        if extraction is not None and self.n_clusters is None and not self.refine:
            partition = extended(evidence, chosen, extraction)
        else:
            partition = best_partition(
                ensemble,
                units,
                evidence,
                draw,
                chosen,
                extraction,
                criterion="averaged" if self.n_clusters else "explained",
                n_clusters=self.n_clusters,
                n_init=self.n_init,
                max_iter=self.max_iter,
            )
        self._keep_end(partition.objective, partition.n_iter, partition.converged)
        labels = partition.labels[units.inverse]
        self.semi_average_ = semi_average(ensemble, labels, together)
        return labels


def _modularity(evidence: Evidence) -> Evidence:
    """Subtract the similarity expected from the sums of the two objects' similarities."""
    degree = degrees(evidence)
    total = float(evidence.mass @ degree)
    if total <= 0:
        return evidence
    rows = sp.csr_array(sp.hstack([evidence.rows, sp.csr_array(degree[:, np.newaxis])]))
    return Evidence(rows, np.append(evidence.weights, -1.0 / total), evidence.mass)


def _extract(evidence: Evidence, starts: int | str, draw: np.random.Generator) -> Ints:
    """Extract one cluster after the other; return the labels of the units."""
    similarity = evidence.dense()
    m = len(similarity)
    if len(evidence.apart):
        # A unit is never added to one that it must be kept apart from.
        one, other = evidence.apart.T
        far = -4.0 * (1.0 + float(evidence.mass.sum()) * float(np.abs(similarity).max(initial=0.0)))
        similarity[one, other] = similarity[other, one] = far
    labels = np.full(m, -1)
    # The units among which clusters are sought, and whether they are in none yet.
    units, mass, alive = np.arange(m), evidence.mass, np.ones(m, dtype=np.uint8)
    cluster = 0
    while alive.any():
        tried = np.flatnonzero(alive)
        if len(tried) <= _FEWER * len(units):
            units, mass = units[tried], mass[tried]
            similarity = similarity[np.ix_(tried, tried)]
            alive, tried = np.ones(len(units), dtype=np.uint8), np.arange(len(units))
        if starts != "all" and len(tried) > int(starts):
            tried = np.sort(draw.permutation(tried)[: int(starts)])
        members = np.empty(len(units), dtype=np.uint8)
        gain = add_rem_add(similarity, mass, alive, tried, members)
        if gain <= 0:
            break
        extracted = members.astype(np.bool_)
        labels[units[extracted]], alive[extracted] = cluster, 0
        cluster += 1
    rest = units[alive.astype(np.bool_)]
    labels[rest] = cluster + np.arange(len(rest))
    return labels


def contracted(
    units: DistinctRows, evidence: Evidence, constraints: Constraints
) -> tuple[DistinctRows, Evidence]:
    """Merge the objects of each group into one unit.

    Its row is the mean of theirs. The similarities within it are summed from that row, an object with itself left
    out, as if all rows were equal; a column of its own makes up for the difference. All objectives are those of the
    objects, to rounding.

    Parameters
    ----------
    units : DistinctRows
        Those of :func:`alone`.
    evidence : Evidence
        Evidence of these units.
    constraints : Constraints
        Constraints on the objects.

    Returns
    -------
    DistinctRows, Evidence
        Rows and evidence of the units that remain.
    """
    named = constraints.groups[units.first]
    group = canonical_labels(named)
    m, count = len(units), int(group.max()) + 1
    _, first = np.unique(group, return_index=True)
    joined = sp.csr_array((evidence.mass, (group, np.arange(m))), shape=(count, m))
    mass: Floats = np.asarray(joined.sum(axis=1)).ravel()
    rows = sp.csr_array(sp.diags_array(1.0 / mass) @ (joined @ evidence.rows))
    weights = evidence.weights
    several = np.flatnonzero(np.bincount(group) > 1)
    if len(several):
        self_pairs = joined @ (evidence.rows.multiply(evidence.rows) @ weights)
        mean = mass * (rows.multiply(rows) @ weights)
        least = (mean - self_pairs)[several] / (mass * (mass - 1.0))[several]
        columns = sp.csr_array(
            (np.ones(len(several)), (several, np.arange(len(several)))), shape=(count, len(several))
        )
        rows = sp.csr_array(sp.hstack([rows, columns]))
        weights = np.concatenate([weights, least])
    place = np.full(constraints.n_groups, -1, dtype=np.int64)
    place[named] = group
    inverse = group[units.inverse]
    merged = replace(
        units,
        first=units.first[first],
        inverse=inverse,
        counts=np.bincount(inverse, minlength=count),
    )
    return merged, Evidence(rows, weights, mass, place[constraints.apart])
