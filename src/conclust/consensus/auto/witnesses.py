"""The partition under which the labels of the members are most probable, each member an independent witness of it.

The members' labels are independent within a cluster of the consensus, with a distribution of their own in each. Summed over all
distributions (Dirichlet, Jeffreys' prior), this is the exact integrated classification likelihood: it has no parameter, and
pays for each cluster. It is maximised over cuts of the trees, members, and the partitions that EM finds from the best of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln

from conclust._kernels import cluster_sums
from conclust._types import Floats, Ints
from conclust.consensus.auto.trees import Trees
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import MISSING, canonical_labels, one_hot, over_partitions
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.dendrogram import clusters_at

# Jeffreys' prior of a distribution of labels.
_PRIOR = 0.5
# Starts of EM, and the rounds from each; from the best of the partitions found, further rounds.
_STARTS, _ROUNDS, _BEST, _FURTHER = 10, 2, 3, 8
# Maximum number of clusters of which pairs are merged.
_MERGED = 10
# Maximum number of members among the candidates.
_MEMBERS = 20
# Cuts into more clusters than given from which EM begins.
_FINER = 2
# Maximum number of counts that are stored with those of 0.
_DENSE = 1 << 22
# Relative error of sums of logarithms.
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition of the objects.

    Attributes
    ----------
    labels : ndarray of int64 of shape (n_objects,)
        Clusters, 0 to K - 1.
    likelihood : float
        Integrated classification likelihood (its logarithm).
    components : Components or None
        Distributions of the members' labels with which EM found the clusters.
    """

    labels: Ints
    likelihood: float
    components: Components | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


class Witnesses:
    """The members as witnesses of a partition of their objects.

    Parameters
    ----------
    ensemble : Ensemble
        The members. Of soft ones, the most probable cluster of each object counts.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        self.members = most_probable(ensemble)
        # Of each count, the logarithm of its probability under the prior.
        counts = np.arange(self.members.n_samples + 1)
        self._log = gammaln(counts + _PRIOR) - gammaln(_PRIOR)

    @cached_property
    def _parameters(self) -> Floats:
        """Sum of the prior of each member (N, 1)."""
        counts = np.maximum(self.members.cluster_counts, 1)
        return np.asarray(_PRIOR * counts[:, np.newaxis].astype(np.float64))

    def _by_member(self, of_clusters: Floats) -> Floats:
        """Sum over the clusters of each member."""
        return np.asarray(over_partitions(of_clusters, self.members.offsets))

    def log_probabilities(self, labels: Ints) -> Floats:
        """Return the log-probability of each member (N,), given a partition with labels 0 to K - 1."""
        members, K = self.members, int(labels.max()) + 1
        if int(members.offsets[-1]) * K <= _DENSE:
            shared, observed = self._shared(labels)
            known = self._by_member(self._log[shared.astype(np.int64)].sum(axis=1))
        else:  # of members with many clusters; counts of 0 have logarithm 0
            counts = (one_hot(labels, K).T.tocsr() @ members.indicator).tocoo()
            of_member = members.column_partitions[counts.col]
            logs = self._log[counts.data.astype(np.int64)]
            sums = np.bincount(of_member, weights=logs, minlength=members.n_partitions)
            known = sums.astype(np.float64)
            place = of_member * K + counts.row
            size = members.n_partitions * K
            sums = np.bincount(place, weights=counts.data, minlength=size)
            observed = sums.reshape(-1, K).astype(np.float64)
        of_clusters = gammaln(observed + self._parameters) - gammaln(self._parameters)
        return np.asarray(known - of_clusters.sum(axis=1))

    def likelihood(self, labels: Ints) -> float:
        """Return the integrated classification likelihood (its logarithm) of a partition.

        All sizes of K clusters are equally probable, and the K! numberings of the clusters are one partition.
        """
        sizes, n = np.bincount(labels), len(labels)
        of_sizes = gammaln(sizes + 1).sum() + gammaln(len(sizes)) - gammaln(n + len(sizes))
        of_names = gammaln(len(sizes) + 1)
        of_members = self.log_probabilities(labels) @ self.members.partition_weights
        return float(of_members + of_sizes + of_names)

    def _posterior_mean(self, shared: Floats, observed: Floats, sizes: Any) -> Components:
        """Return the posterior mean of the distributions of the labels in each cluster, and of the sizes."""
        members, sizes = self.members, sizes + 1.0
        theta = (shared + _PRIOR) / (observed + self._parameters)[members.column_partitions]
        return Components(members.offsets, members.column_weights, sizes / sizes.sum(), theta)

    def _shared(self, labels: Ints) -> tuple[Floats, Floats]:
        """Return the objects that clusters share with those of the members (T, K), and that the members have in them (N, K)."""
        shared = np.empty((int(self.members.offsets[-1]), int(labels.max()) + 1))
        cluster_sums(self.members.label_view, None, labels, shared)
        return shared, self._by_member(shared)

    def improved(self, start: Candidate, n_rounds: int) -> Candidate:
        """Return the most probable clusters after rounds of EM from a partition."""
        products = IndicatorProducts.of(self.members)
        components = start.components or self.distributions(start.labels)
        ones = np.ones(len(start.labels))
        labels = start.labels
        for at in range(n_rounds):
            rows, _ = components.posterior(products.times, ones)
            following = rows.argmax(axis=1)
            if at and np.array_equal(following, labels):
                break
            labels = following
            shared = products.sums(rows)
            observed = self._by_member(shared)
            components = self._posterior_mean(shared, observed, rows.sum(axis=0))
        labels = components.nearest(self.members)
        ordered = canonical_labels(labels)
        first = np.unique(ordered, return_index=True)[1]
        return Candidate(ordered, self.likelihood(ordered), components.keep(labels[first]))

    def distributions(self, labels: Ints) -> Components:
        """Return the distributions of the members' labels in the clusters of a partition."""
        return self._posterior_mean(*self._shared(labels), np.bincount(labels))

    def explained(self, labels: Ints) -> float:
        """Return how much better a partition explains the members than other members do (a logarithm).

        It is the sum over the members of the log-probability given the partition, less that given another member, of which
        each is as probable as any other. Negative: they are not independent witnesses of it.
        """
        fellows = self._fellows
        given = np.stack([self.log_probabilities(of_one) for of_one in fellows.values()])
        given[np.arange(len(fellows)), list(fellows)] = -np.inf
        others = np.full(given.shape[1], len(fellows), dtype=np.float64)
        others[list(fellows)] -= 1
        if not others.all():
            return 0.0
        by_others = np.logaddexp.reduce(given, axis=0) - np.log(others)
        by_partition = self.log_probabilities(labels)
        total = float((by_partition - by_others) @ self.members.partition_weights)
        return 0.0 if abs(total) <= _EQUAL * float(np.abs(by_partition).sum()) else total

    @cached_property
    def _fellows(self) -> dict[int, Ints]:
        """Members that count, evenly chosen if there are many; objects without a label in one are a cluster of it."""
        counting = np.flatnonzero(self.members.partition_weights > 0)
        chosen = np.linspace(0, len(counting) - 1, min(_MEMBERS, len(counting))).astype(np.int64)
        labels = self.members.labels[:, counting[chosen]].astype(np.int64)
        labels = np.where(labels < 0, labels.max() + 1, labels)
        return {
            int(u): canonical_labels(column)
            for u, column in zip(counting[chosen], labels.T, strict=True)
        }

    def candidates(self, trees: Trees, smallest: int, largest: int) -> dict[int, Candidate]:
        """Return the most probable partition found of each number of clusters, from `smallest` to `largest`."""
        most = min(largest + (_FINER if smallest == largest else 0), trees.n_objects)
        cuts = [
            clusters_at(tree, K)
            for tree in trees.matrices.values()
            for K in range(smallest, most + 1)
        ]
        fellows = [labels for labels in self._fellows.values() if labels.max() < most]
        seen = {
            labels.tobytes(): Candidate(labels, self.likelihood(labels))
            for labels in map(canonical_labels, (*cuts, *fellows))
        }
        for n_starts, n_rounds in ((_STARTS, _ROUNDS), (_BEST, _FURTHER)):
            for start in sorted(seen.values(), key=lambda one: -one.likelihood)[:n_starts]:
                one = self.improved(start, n_rounds)
                seen[one.labels.tobytes()] = one
        # EM from cuts of a poor tree may divide a cluster: the best partition is merged as long as that helps.
        one = max(seen.values(), key=lambda one: one.likelihood)
        while smallest < one.n_clusters <= _MERGED:
            pairs = combinations(range(one.n_clusters), 2)
            joined = (canonical_labels(np.where(one.labels == b, a, one.labels)) for a, b in pairs)
            coarser = max(
                (Candidate(each, self.likelihood(each)) for each in joined),
                key=lambda one: one.likelihood,
            )
            coarser = self.improved(coarser, _FURTHER)
            if coarser.likelihood <= one.likelihood:
                break
            seen[coarser.labels.tobytes()] = one = coarser
        best: dict[int, Candidate] = {}
        for one in seen.values():
            K = one.n_clusters
            if smallest <= K <= largest and (K not in best or one.likelihood > best[K].likelihood):
                best[K] = one
        return best


def most_probable(ensemble: Ensemble) -> Ensemble:
    """Return an ensemble of hard members: of soft ones, the most probable cluster of each object."""
    if not ensemble.is_soft:
        return ensemble
    memberships, offsets = ensemble.indicator, ensemble.offsets
    columns = []
    for first, last in pairwise(offsets):
        of_member = memberships[:, first:last].toarray()
        columns.append(np.where(of_member.any(axis=1), of_member.argmax(axis=1), MISSING))
    return Ensemble(np.column_stack(columns), weights=ensemble.weights)
