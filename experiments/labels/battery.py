"""The default on labels: pools that people, systems and algorithms made.

python -m experiments.labels.battery [--seeds 665 666 667 668 669] [--rent] [--quick] [--out FOLDER]

Each method that chooses a number of clusters is fitted without a number to the pools of `experiments/labels/pools.py`; of pools without clusters, the score is whether
one cluster is found, and else the adjusted Rand index. A disaster is a score below a tenth of that of the best method on the pool. With ``--rent``, the default is
fitted without each of its parts instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from conclust import EAC, LWEA, PCC, AutoConsensus, BayesEstimate
from conclust.consensus.auto import decision, trees
from conclust.metrics import adjusted_rand_index
from conclust.trees.agglomeration import clusters_at
from experiments.labels.pools import Pool, pools_of
from experiments.output import Row, options, show, stopwatch, write

__all__ = ["main"]

# Seeds that nothing was settled on; constants were settled on seeds 0 to 3.
CONFIRMING = (665, 666, 667, 668, 669)
METHODS: dict[str, Callable[[], Any]] = {
    "AutoConsensus": AutoConsensus,
    "BayesEstimate": BayesEstimate,
    "PCC": PCC,
    "EAC": EAC,
    "LWEA": LWEA,
}
SUPPORTS = trees.Trees.supports.func
# What replaces each part of the default.
PARTS = {
    "nothing": (),
    "the trees": (
        (decision.Testimony, "counts", property(lambda testimony: True)),
        (decision, "CLEAR", np.inf),
    ),
    "the witnesses": ((decision.Testimony, "counts", property(lambda testimony: False)),),
    "the median member": ((decision.Witnesses, "typical", property(lambda members: np.inf)),),
    "clear support": ((decision, "CLEAR", np.inf),),
    "independent members": ((decision, "REPEATS", 0.0),),
    "members that repeat each other": (
        (decision.Candidate, "worth", lambda candidate, repeats: candidate.likelihood),
    ),
    "EM": ((decision, "ROUNDS", 0),),
    "straddling": ((trees.Straddling, "of", lambda straddling, labels: 0.0),),
    "lifetime": ((trees, "lifetimes", lambda tree: np.ones(len(tree))),),
    "straddling in the second tree": (
        (
            trees.Trees,
            "supports",
            property(
                lambda self: SUPPORTS(replace(self, matrices=dict(list(self.matrices.items())[:1])))
            ),
        ),
    ),
    "the choice of the tree": (
        (
            trees.Trees,
            "cut_at",
            lambda self, K: self.cut_along(
                clusters_at(self.matrices[trees.CERTAIN], min(K, self.n_objects))
            ),
        ),
    ),
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """Leave a part of the default out."""
    replaced = [patch.object(*one) for one in PARTS[part]]
    for one in replaced:
        one.start()
    try:
        yield
    finally:
        for one in replaced:
            one.stop()


def without_each(pool: Pool, seconds: dict[str, float]) -> Iterator[float]:
    """Yield the score of the default without each of its parts; no part changes the trees."""
    growth = AutoConsensus().grow(pool.ensemble)
    for part in PARTS:
        with without(part), stopwatch() as taken:
            grown = growth._replace(trees=replace(growth.trees))  # nothing kept of another part
            model = AutoConsensus().place(grown, decision.decide(grown.trees))
        seconds[part] += taken.cpu
        yield score_of(pool, model.labels_)


def with_each(pool: Pool, names: Sequence[str], seconds: dict[str, float]) -> Iterator[float]:
    """Yield the score of each method."""
    for name in names:
        model = METHODS[name]()
        ensemble = pool.ensemble if model.method.soft_members else pool.ensemble.most_probable()
        with stopwatch() as taken:
            labels = model.fit(ensemble).labels_
        seconds[name] += taken.cpu
        yield score_of(pool, labels)


def score_of(pool: Pool, labels: NDArray[np.int64]) -> float:
    seen = labels >= 0
    if pool.classes.max() == 0:
        return float(labels[seen].max() == 0)
    return float(adjusted_rand_index(pool.classes[seen], labels[seen]))


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", help=f"of the pools; {CONFIRMING}")
    parser.add_argument("--rent", action="store_true", help="the default without each of its parts")
    parser.add_argument("--kinds", nargs="+", help="kinds of pools; all")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="all")
    arguments = parser.parse_args(argv)
    seeds = arguments.seeds or CONFIRMING[: 1 if arguments.quick else None]
    names = list(PARTS) if arguments.rent else arguments.methods or list(METHODS)
    kinds: dict[str, list[list[list[float]]]] = {}
    seconds = dict.fromkeys(names, 0.0)
    for seed in seeds:
        of_seed: dict[str, list[list[float]]] = {}
        for pool in pools_of(seed):
            if arguments.kinds and pool.kind not in arguments.kinds:
                continue
            if arguments.quick and len(of_seed.get(pool.kind, ())) == 2:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if arguments.rent:
                    scores = list(without_each(pool, seconds))
                else:
                    scores = list(with_each(pool, names, seconds))
            of_seed.setdefault(pool.kind, []).append(scores)
        for kind, scores_of_kind in of_seed.items():
            kinds.setdefault(kind, []).append(scores_of_kind)
    rows = list(rows_of(kinds, names))
    rows.append({"pools": "CPU seconds", "number": None, "range": ""} | seconds)
    title = "Without each part" if arguments.rent else "Adjusted Rand index without a number"
    show(rows, f"{title}, seeds {', '.join(map(str, seeds))}")
    write(rows, "rent" if arguments.rent else "battery", arguments)


def rows_of(kinds: dict[str, list[list[list[float]]]], names: list[str]) -> Iterator[Row]:
    """Yield the mean score of each kind, with the range of the first method over the seeds; their mean; and the disasters."""
    means, every = [], []
    for kind, seeds in kinds.items():
        by_seed = np.array([np.mean(scores, axis=0) for scores in seeds])
        scores = np.concatenate([np.array(one) for one in seeds])
        means.append(scores.mean(axis=0))
        every.append(scores)
        first = by_seed[:, 0]
        spread = {"range": f"{first.min():.3f} to {first.max():.3f}"}
        yield {"pools": kind, "number": len(scores)} | spread | _named(names, means[-1])
    scores = np.concatenate(every)
    disasters = (scores < 0.1 * scores.max(axis=1, keepdims=True)).mean(axis=0)
    yield {"pools": "mean of kinds", "number": len(means), "range": ""} | _named(
        names, np.mean(means, axis=0)
    )
    yield {"pools": "share of disasters", "number": len(scores), "range": ""} | _named(
        names, disasters
    )


def _named(names: list[str], values: np.ndarray) -> Row:
    return dict(zip(names, map(float, values), strict=True))


if __name__ == "__main__":
    main()
