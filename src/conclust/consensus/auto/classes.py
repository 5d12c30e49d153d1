"""Latent classes: the consensus of partitions that agree little, such as attributes of the objects."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from conclust._progress import stage, without_reports
from conclust._types import Floats
from conclust._validation import count
from conclust.consensus.auto.decision import Decision
from conclust.consensus.auto.number import Support, are_supported, most_considered
from conclust.consensus.auto.trees import Trees
from conclust.consensus.label_vectors.kcc import KCC
from conclust.consensus.mixture.multinomial import MixtureModel
from conclust.ensemble import Ensemble
from conclust.trees.dendrogram import cut

# The search ends after this many numbers without a better one.
_PATIENCE = 3
# The tree confirms a number of classes, from three on, with the longest lifetime, if this is at least .08: two halves of a
# continuous trait have the lowest ICL and a long lifetime, too. Chosen as described in experiments/attributes/README.md.
_LONG_LIFETIME, _FEWEST_CONFIRMED = 0.08, 3


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """Mixtures of independent partitions, with each number of classes.

    Attributes
    ----------
    icl : dict of int to float
        The integrated completed likelihood criterion of each number whose classes all have objects; lower is better.
    shown : int
        The number with the lowest.
    models : dict of int to MixtureModel
        The fitted mixtures.
    """

    icl: dict[int, float]
    shown: int
    models: dict[int, MixtureModel]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that are better than one class, best first."""
        better = [K for K in self.icl if self.icl[K] < self.icl[1]]
        return tuple(sorted(better, key=lambda K: (self.icl[K], K)))

    @property
    def alternatives(self) -> tuple[int, ...]:
        """The other numbers that are better than one class, best first."""
        return self.numbers[1:]

    @property
    def reason(self) -> str:
        """Reason for the number of classes, in a sentence."""
        K, following = self.shown, sorted(self.icl, key=lambda K: (self.icl[K], K))[1:2]
        clusters = f"{K} clusters" if K > 1 else "One cluster"
        next_best = "".join(
            f" ({count(other, 'latent class')}: {self.icl[other] - self.icl[K]:,.0f} higher)"
            for other in following
        )
        return (
            f"{clusters}: the partitions agree little, so they count as independent within clusters, and "
            f"{count(K, 'latent class')} {'have' if K > 1 else 'has'} the lowest ICL{next_best}."
        )

    def reason_of(self, requested: int) -> str:
        """Return the reason for a number that was given."""
        same = "the same number" if requested == self.shown else count(self.shown, "cluster")
        return f"The number, {requested}, was given; the partitions by themselves show {same}, as latent classes."

    @property
    def hint(self) -> str:
        """The number of classes, in a sentence, where the trees show another number without support."""
        return (
            f"The partitions agree little; if they are attributes and not clusterings, {count(self.shown, 'latent class')} have the lowest ICL "
            f"(pass n_clusters={self.shown})."
        )


def decided_by_classes(
    trees: Trees, decision: Decision, tree: Floats, n_jobs: int | None
) -> Decision:
    """Return the decision with latent classes as the clusters.

    A number without support, which all partitions have in common, says little: if the classes show a smaller one, and the
    objects suffice to see classes, that is the number shown. If no number has support, the number of classes is shown if the
    tree confirms it (`_confirmed`). Other numbers stay, and the reason then names the number of classes.

    Parameters
    ----------
    trees : Trees
        The trees, whose members agree little.
    decision : Decision
        The number given, or the one that the trees show.
    tree : ndarray of shape (n_objects - 1, 4)
        The tree whose cuts EM begins from.
    n_jobs : int or None
        Threads. The result does not depend on it.
    """
    members, supports = trees.ensemble, decision.supports
    most = trees.max_clusters or most_considered(members)
    found = latent_classes(members, tree, decision.n_clusters, most, n_jobs)
    shown = trees.bounds.nearest(found.shown)
    unsupported = decision.shown > 1 and not are_supported(supports)
    confirmed = decision.shown == 1 and _confirmed(found.shown, supports)
    smaller = unsupported and shown < decision.shown and _suffice(members)
    if confirmed or smaller:
        decision = replace(decision, shown=shown, supports=[])
        if decision.by == "given":
            decision = replace(decision, reason=found.reason_of(decision.n_clusters))
        else:
            reason = found.reason
            if confirmed:
                reason += f" {count(found.shown, 'cluster')} also have the longest lifetime."
            decision = replace(
                decision, n_clusters=shown, reason=reason, alternatives=found.alternatives
            )
    elif (
        decision.by == "partitions"
        and 1 < shown != decision.n_clusters
        and (unsupported or decision.n_clusters == 1)
    ):
        reason = f"{decision.reason} {found.hint}"
        others = tuple(K for K in found.numbers if decision.n_clusters != K)
        decision = replace(decision, reason=reason, alternatives=others)
    model = found.models.get(decision.n_clusters)
    if model is None or decision.n_clusters == 1:
        return decision
    return replace(decision, labels=model.labels_, classes=model.components)


def _confirmed(n_classes: int, supports: list[Support]) -> bool:
    """Return whether a number of classes has the longest lifetime, although the partitions straddle the borders.

    Labels with independent errors, such as those by a crowd, straddle all borders.
    """
    if not supports or n_classes < _FEWEST_CONFIRMED:
        return False
    longest = supports[0]
    return longest.n_clusters == n_classes and longest.lifetime >= _LONG_LIFETIME


def _suffice(ensemble: Ensemble) -> bool:
    """Return whether each of as many classes as a partition has labels has at least as many objects as parameters."""
    counts = ensemble.cluster_counts
    return ensemble.n_samples >= int(counts.max()) * int((counts - 1).sum())


def latent_classes(
    ensemble: Ensemble,
    tree: Floats,
    n_clusters: int,
    most: int,
    n_jobs: int | None,
) -> LatentClasses:
    """Fit mixtures of 1, 2, ... classes, until three numbers in turn are no better, and one given number.

    EM begins from the clusters of the tree, and from those of `KCC`, whose starts are drawn with a fixed seed, so that the result
    is determined by the partitions.

    Parameters
    ----------
    ensemble : Ensemble
        Hard partitions.
    tree : ndarray of shape (n_samples - 1, 4)
        Dendrogram of the objects. EM begins once from its cut.
    n_clusters : int
        A number that is fitted in any case.
    most : int
        Maximum number considered.
    n_jobs : int
        Threads.
    """
    stage("latent classes")
    models: dict[int, MixtureModel] = {}
    icl: dict[int, float] = {}

    def fit(K: int) -> None:
        starts = [cut(tree, K)]
        model = MixtureModel(K, n_jobs=n_jobs)
        with without_reports(), warnings.catch_warnings():
            # AutoConsensus checks the partitions itself.
            warnings.simplefilter("ignore", UserWarning)
            if K > 1:
                starts.append(KCC(K, random_state=0, n_jobs=n_jobs).fit(ensemble).labels_)
            with model.starting_from(starts):
                model.fit(ensemble)
        if model.n_clusters_ == K:
            models[K], icl[K] = model, model.icl_

    best = 1
    for K in range(1, min(most, ensemble.n_samples) + 1):
        fit(K)
        if K in icl and icl[K] < icl[best]:
            best = K
        if K - best >= _PATIENCE:
            break
    if n_clusters not in models:
        fit(n_clusters)
    return LatentClasses(icl, best, models)
