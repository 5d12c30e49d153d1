"""The partition under which the labels of the members are most probable, each member an independent witness of it.

The members' labels are independent within a cluster of the consensus, with a distribution of their own in each. Summed over all
distributions (Dirichlet, Jeffreys' prior), this is the exact integrated classification likelihood: it has no parameter, and
pays for each cluster. It is maximised over cuts of the trees, and the partitions that EM finds from the best of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from conclust._types import Floats, Ints
from conclust.consensus.auto.constants import FINER, PRIOR, STAGES
from conclust.consensus.auto.trees import Trees
from conclust.consensus.auto.votes import shared_with
from conclust.consensus.mixture.multinomial import Components
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import canonical_labels, over_partitions
from conclust.spectra.gram import IndicatorProducts
from conclust.trees.dendrogram import clusters_at


class Candidate(NamedTuple):
    """A partition of the objects, with labels 0 to K - 1, and its integrated classification likelihood (the logarithm)."""

    labels: Ints
    likelihood: float

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
        self._log = gammaln(counts + PRIOR) - gammaln(PRIOR)
        # Sum of the prior of each member (N, 1).
        clusters = np.maximum(self.members.cluster_counts, 1).astype(np.float64)
        self._parameters = PRIOR * clusters[:, np.newaxis]

    def _by_member(self, of_clusters: Floats) -> Floats:
        """Sum over the clusters of each member."""
        return np.asarray(over_partitions(of_clusters, self.members.offsets))

    def _of_clusters(self, shared: Floats) -> Floats:
        """Return the log-probability of the members' labels in each cluster (K,)."""
        observed = self._by_member(shared) + self._parameters
        known = self._by_member(self._log[shared.astype(np.int64)])
        of_members = known - gammaln(observed) + gammaln(self._parameters)
        return np.asarray(self.members.partition_weights @ of_members)

    def likelihood(self, labels: Ints) -> float:
        """Return the integrated classification likelihood (its logarithm) of a partition."""
        return float(
            self._of_clusters(shared_with(self.members, labels)).sum()
            + _of_sizes(np.bincount(labels))
        )

    def improved(self, labels: Ints, n_rounds: int) -> Candidate:
        """Return the most probable clusters after rounds of EM from a partition."""
        products = IndicatorProducts.of(self.members)
        components = self.distributions(labels)
        ones = np.ones(len(labels))
        for at in range(n_rounds):
            rows, _ = components.posterior(products.times, ones)
            following = rows.argmax(axis=1)
            if at and np.array_equal(following, labels):
                break
            labels = following
            components = self._posterior_mean(products.sums(rows), rows.sum(axis=0))
        labels = canonical_labels(components.nearest(products.times))
        return Candidate(labels, self.likelihood(labels))

    def distributions(self, labels: Ints) -> Components:
        """Return the distributions of the members' labels in the clusters of a partition."""
        return self._posterior_mean(shared_with(self.members, labels), np.bincount(labels))

    def _posterior_mean(self, shared: Floats, sizes: Any) -> Components:
        """Return the posterior mean of the distributions of the labels in each cluster, and of the sizes."""
        members, sizes = self.members, sizes + 1.0
        observed = self._by_member(shared) + self._parameters
        theta = (shared + PRIOR) / observed[members.column_partitions]
        return Components(members.offsets, members.column_weights, sizes / sizes.sum(), theta)

    def _cuts(self, tree: Floats, smallest: int, most: int) -> Iterator[Candidate]:
        """Yield the cuts of a tree into `most` to `smallest` clusters: each joins two clusters of the one before."""
        labels = clusters_at(tree, most)
        shared, sizes = shared_with(self.members, labels), np.bincount(labels)
        values, columns = self._of_clusters(shared), np.arange(most)
        while True:
            likelihood = float(values[columns].sum() + _of_sizes(sizes[columns]))
            yield Candidate(canonical_labels(labels), likelihood)
            if len(columns) == smallest:
                return
            coarser = clusters_at(tree, len(columns) - 1)
            into = np.empty(len(columns), dtype=np.int64)
            into[labels] = coarser
            one, other = columns[into == np.bincount(into).argmax()]
            shared[:, one] += shared[:, other]
            sizes[one] += sizes[other]
            values[one] = self._of_clusters(shared[:, [one]])[0]
            columns = columns[np.unique(into, return_index=True)[1]]
            labels = coarser

    @property
    def typical(self) -> float:
        """Median number of clusters of the members that count."""
        counting = self.members.partition_weights > 0
        return float(np.median(self.members.cluster_counts[counting]))

    def searched(self, trees: Trees, smallest: int, largest: int) -> Iterator[dict[int, Candidate]]:
        """Yield the most probable partition into each number of clusters after each stage of EM.

        EM begins from the most probable partitions of all, and from those no finer than the median member. Numbers go from
        `smallest` to `largest`, the most probable one first.
        """
        most = min(largest + (FINER if smallest == largest else 0), trees.n_objects)
        cuts = (self._cuts(tree, min(smallest, most), most) for tree in trees.matrices.values())
        found = {one.labels.tobytes(): one for one in chain.from_iterable(cuts)}
        for n_starts, n_rounds in STAGES:
            ordered = sorted(found.values(), key=lambda one: (-one.likelihood, one.n_clusters))
            coarse = [one for one in ordered if one.n_clusters <= self.typical]
            starts = {
                one.labels.tobytes(): one for one in (*ordered[:n_starts], *coarse[:n_starts])
            }
            for start in starts.values():
                one = self.improved(start.labels, n_rounds)
                found[one.labels.tobytes()] = one
            yield _best_of_each(found.values())


def _best_of_each(found: Iterable[Candidate]) -> dict[int, Candidate]:
    """Return the most probable partition into each number of clusters, the most probable number first."""
    best: dict[int, Candidate] = {}
    for one in sorted(found, key=lambda one: (-one.likelihood, one.n_clusters)):
        best.setdefault(one.n_clusters, one)
    return best


def _of_sizes(sizes: Ints) -> float:
    """Return the log-probability of the sizes of clusters.

    All sizes of K clusters are equally probable, and the K! numberings of the clusters are one partition.
    """
    K = len(sizes)
    return float(gammaln(sizes + 1).sum() + gammaln(K) - gammaln(sizes.sum() + K) + gammaln(K + 1))


def nearest(components: Components, ensemble: Ensemble) -> Ints:
    """Return the most probable component of each object of an ensemble (n,)."""
    return components.nearest(IndicatorProducts.of(most_probable(ensemble)).times)


def most_probable(ensemble: Ensemble) -> Ensemble:
    """Return an ensemble of hard members: of soft ones, the most probable cluster of each object, by its number."""
    if not ensemble.is_soft:
        return ensemble
    return Ensemble.numbered(ensemble.codes, ensemble.names, ensemble.weights)
