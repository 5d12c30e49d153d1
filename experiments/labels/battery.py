"""The default on labels: pools that people, systems and algorithms made.

python -m experiments.labels.battery [--seeds 692 693 694 695 696] [--rent] [--quick] [--out FOLDER]

Each method that chooses a number of clusters is fitted without a number to the pools of `experiments/labels/pools.py`; of pools without clusters, the score is whether
one cluster is found, and else the adjusted Rand index. A disaster is a score below a tenth of that of the best method on the pool. With ``--rent``, the default is
fitted without each of its parts instead, told nothing and told the number of classes; a part that is worth less than .003 in both means leaves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from conclust import EAC, LWEA, PCC, AutoConsensus, BayesEstimate, Ensemble
from conclust.consensus.auto import decision, trees
from conclust.metrics import adjusted_rand_index
from experiments.labels.pools import Pool, pools_of
from experiments.output import Row, options, show, stopwatch, write

__all__ = ["main"]

# Seeds that nothing was settled on.
CONFIRMING = (702, 703, 704, 705, 706)
METHODS: dict[str, Callable[[], Any]] = {
    "AutoConsensus": AutoConsensus,
    "BayesEstimate": BayesEstimate,
    "PCC": PCC,
    "EAC": EAC,
    "LWEA": LWEA,
}
SUPPORTS, INITIAL = trees.Trees.supports.func, decision.Witnesses.__init__


def without_bound(witnesses: decision.Witnesses, ensemble: Ensemble) -> None:
    """Initialize witnesses with the whole of Jeffreys' prior."""
    INITIAL(witnesses, ensemble)
    witnesses._prior = np.full_like(witnesses._prior, decision.PRIOR)
    witnesses._in_all = witnesses._by_member(witnesses._prior)


# What replaces each part of the default.
PARTS = {
    "nothing": (),
    "the trees": (
        (decision.Testimony, "counts", property(lambda testimony: True)),
        (decision, "REPEATS", np.inf),
    ),
    "the witnesses": (
        (decision.Testimony, "counts", property(lambda testimony: False)),
        (decision, "REPEATS", 0.0),
    ),
    "the median member": ((decision.Witnesses, "typical", property(lambda members: np.inf)),),
    "clear support": ((decision, "CLEAR", np.inf),),
    "independent members": ((decision, "REPEATS", 0.0),),
    "members that repeat each other": (
        (decision.Candidate, "worth", lambda candidate, repeats: candidate.likelihood),
    ),
    "the bound of the prior": ((decision.Witnesses, "__init__", without_bound),),
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
    "cuts that explain little": ((decision, "ENOUGH", -np.inf),),
    "clusters that the tree shows": ((decision, "SEEN", -np.inf),),
}


def without(part: str) -> ExitStack:
    """Leave a part of the default out."""
    with ExitStack() as stack:
        for one in PARTS[part]:
            stack.enter_context(patch.object(*one))
        return stack.pop_all()


def without_each(pool: Pool, names: Sequence[str], seconds: dict[str, float]) -> Iterator[float]:
    """Yield the score of the default without each of its parts, told nothing and told the number; no part changes the trees."""
    growth, told = AutoConsensus().grow(pool.ensemble), len(np.unique(pool.classes))
    for n_clusters in (None, told):
        for part in names:
            with without(part), stopwatch() as taken:
                grown = growth._replace(trees=replace(growth.trees))  # nothing kept of another part
                model = AutoConsensus().place(grown, decision.decide(grown.trees, n_clusters))
            seconds[part] += taken.cpu
            yield score_of(pool, model.labels_) if told > 1 or n_clusters is None else np.nan


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
    scored = without_each if arguments.rent else with_each
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
                scores = list(scored(pool, names, seconds))
            of_seed.setdefault(pool.kind, []).append(scores)
        for kind, scores_of_kind in of_seed.items():
            kinds.setdefault(kind, []).append(scores_of_kind)
    if arguments.rent:
        rows, title = list(rent_of(kinds, seconds)), "Without each part"
    else:
        rows, title = list(rows_of(kinds, names)), "Adjusted Rand index without a number"
        rows.append({"pools": "CPU seconds", "number": None, "range": ""} | seconds)
    show(rows, f"{title}, seeds {', '.join(map(str, seeds))}")
    write(rows, "rent" if arguments.rent else "battery", arguments)


def rent_of(kinds: dict[str, list[list[list[float]]]], seconds: dict[str, float]) -> Iterator[Row]:
    """Yield the mean of the kinds without each part, told nothing and told the number, and the kinds that change most."""
    means = np.array(
        [np.mean([one for seed in kind for one in seed], axis=0) for kind in kinds.values()]
    )
    free, told = np.split(means, 2, axis=1)
    for at, part in enumerate(seconds):
        change = free[:, at] - free[:, 0]
        most = [k for k in np.argsort(-abs(change))[:4] if abs(change[k]) > 0.01]
        names = [f"{list(kinds)[k]} {free[k, 0]:.3f}, {free[k, at]:.3f}" for k in most]
        yield {
            "without": part,
            "told nothing": float(free[:, at].mean()),
            "told the number": float(np.nanmean(told[:, at])),
            "CPU seconds": seconds[part],
            "told nothing, what falls or rises most": "; ".join(names),
        }


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
