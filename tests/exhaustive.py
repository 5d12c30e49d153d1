"""Every consensus estimator with an explicit criterion over partitions, and this criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.naive import optima

import conclust

K = 3


@dataclass(frozen=True)
class Case:
    """An estimator with default settings and the objective of each partition of seven objects.

    ``values`` takes the label matrix and the fitted model; ``allowed`` selects the candidate
    partitions; ``least`` is whether the objective is minimised; ``share`` is the required share of
    ensembles that end at an optimum.
    """

    estimator: str
    values: Callable[[Any, Any], Any]
    least: bool = False
    parameters: tuple[tuple[str, object], ...] = ()
    allowed: Any = None
    share: float = 0.95

    def fit(self, labels: Any, seed: int) -> Any:
        parameters = dict(self.parameters)
        return getattr(conclust, self.estimator)(random_state=seed, **parameters).fit(labels)

    def reached(self, labels: Any, model: Any) -> tuple[float, bool]:
        """Return the recomputed objective of the resulting partition, and whether it is an optimum."""
        sign = -1.0 if self.least else 1.0
        values = self.values(labels, model)
        best = (sign * (values if self.allowed is None else values[self.allowed])).max()
        mine = values[optima.place_of(model.labels_)]
        return float(mine), bool(sign * mine >= best - 1e-9)


AT_MOST = optima.CLUSTERS <= K
EXACTLY = optima.CLUSTERS == K

CASES = {
    "MedianPartition": Case(
        "MedianPartition", lambda labels, _: optima.disagreements(labels), least=True
    ),
    **{
        f"AddRemAdd {criterion}": Case(
            "AddRemAdd",
            lambda labels, _, c=criterion: optima.semi_averages(labels, c, explained=True),
            parameters=(("criterion", criterion),),
        )
        for criterion in ("ensemble", "combined")
    },
    **{
        f"AddRemAdd {criterion}, {K} clusters": Case(
            "AddRemAdd",
            lambda labels, _, c=criterion: optima.semi_averages(labels, c),
            parameters=(("criterion", criterion), ("n_clusters", K)),
            allowed=EXACTLY,
        )
        for criterion in ("ensemble", "combined")
    },
    **{
        f"BayesEstimate {loss}{f', split cost {a}' * (a != 1.0)}": Case(
            "BayesEstimate",
            lambda labels, _, loss=loss, a=a: optima.expected_losses(labels, loss, a),
            least=True,
            parameters=(("loss", loss), ("split_cost", a), ("n_jobs", 1)),
            share=1.0,
        )
        for loss, a in (
            *((loss, 1.0) for loss in ("binder", "vi", "omari", "nvi", "id", "nid")),
            *((loss, a) for loss in ("binder", "vi") for a in (0.4, 1.7)),
        )
    },
    "BayesEstimate, 2 clusters at most": Case(
        "BayesEstimate",
        lambda labels, _: optima.expected_losses(labels, "binder"),
        least=True,
        parameters=(("loss", "binder"), ("max_clusters", 2), ("n_jobs", 1)),
        allowed=optima.CLUSTERS <= 2,
        share=1.0,
    ),
    "KernelWeightedPartition": Case(
        "KernelWeightedPartition",
        lambda labels, model: optima.resemblances(labels, model.weights_, "pairs"),
    ),
    f"KernelWeightedPartition, {K} clusters": Case(
        "KernelWeightedPartition",
        lambda labels, model: optima.resemblances(labels, model.weights_, "pairs"),
        parameters=(("n_clusters", K),),
        allowed=EXACTLY,
    ),
    "KernelWeightedPartition subsets": Case(
        "KernelWeightedPartition",
        lambda labels, model: optima.resemblances(labels, model.weights_, "subsets"),
        parameters=(("kernel", "subsets"),),
    ),
    "QMI": Case(
        "QMI",
        lambda labels, _: optima.quadratic_information(labels),
        parameters=(("n_clusters", K),),
        allowed=AT_MOST,
    ),
    "InformationTheoreticKMeans": Case(
        "InformationTheoreticKMeans",
        lambda labels, _: optima.divergence(labels),
        least=True,
        parameters=(("n_clusters", K),),
        allowed=AT_MOST,
    ),
    **{
        f"KCC {name}{', normalized' * normalized}": Case(
            "KCC",
            lambda labels, _, phi=phi, normalized=normalized: optima.utilities(
                labels, phi, normalized
            ),
            parameters=(("n_clusters", K), ("utility", name), ("normalized", normalized)),
            allowed=AT_MOST,
        )
        for name, phi in {
            "U_c": lambda m: (m**2).sum(axis=-1),
            "U_H": lambda m: (m * np.log2(np.where(m > 0, m, 1))).sum(axis=-1),
            "U_cos": lambda m: np.sqrt((m**2).sum(axis=-1)),
            "U_Lp": lambda m: (m**5).sum(axis=-1) ** 0.2,
        }.items()
        for normalized in (False, True)
    },
    "SEC": Case(
        "SEC",
        lambda labels, _: optima.normalized_cut(labels),
        least=True,
        parameters=(("n_clusters", K),),
        allowed=AT_MOST,
    ),
    "Voting hard": Case(
        "Voting",
        lambda labels, _: optima.votes(labels, K),
        least=True,
        parameters=(("n_clusters", K), ("hard", True)),
    ),
}


def random_ensembles(count: int, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """Return ensembles to try the cases on."""
    return list(optima.random_ensembles(count, seed))
