"""How much 50 answers raise the adjusted Rand index: pairs that are asked about, beside pairs drawn at random.

python -m experiments.answers.questions [--quick] [--pools mfeat ...] [--draws 5] [--objects 1500] [--out FOLDER]

Of each pool of 100 k-means partitions 20 are drawn, and 1,500 of its objects. The known classes answer whether two
objects belong together; the answers go into AutoConsensus as must_link and cannot_link. Pairs are those of
``confidence.questions``, all 50 at once or in five rounds of ten (later questions know the earlier answers), and as
many pairs of objects drawn at random, three times. AutoConsensus is told the number of classes, or finds its own.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import AutoConsensus, Ensemble
from conclust.confidence import questions
from conclust.datasets import available
from conclust.exceptions import DatasetNotFoundError, InputError
from conclust.metrics import adjusted_rand_index
from experiments.leaderboard.pools import PREFIX, read
from experiments.output import Row, options, show, write

POOLS = ("mfeat", "pendigits")
MEMBERS = 20
ANSWERS, ROUNDS, RANDOM = 50, 5, 3

Answers = tuple[NDArray[np.int64], NDArray[np.int64]]
NONE: Answers = (np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64))


def answered(pairs: NDArray[np.int64], classes: NDArray[Any]) -> Answers:
    """Return the pairs of one class, and the others."""
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    return pairs[same], pairs[~same]


def in_rounds(ensemble: Ensemble, classes: NDArray[Any]) -> Answers:
    """Ask in rounds, each with the answers of those before."""
    must, cannot = NONE
    for _ in range(ROUNDS):
        pairs = questions(ensemble, ANSWERS // ROUNDS, must_link=must, cannot_link=cannot)
        same, other = answered(pairs, classes)
        must, cannot = np.vstack([must, same]), np.vstack([cannot, other])
    return must, cannot


def score(ensemble: Ensemble, classes: NDArray[Any], k: int | None, answers: Answers) -> float:
    """Return the adjusted Rand index with answers; that into the least number allowed, where k is not."""
    must, cannot = answers
    try:
        model = AutoConsensus(k, n_jobs=1).fit(ensemble, must_link=must, cannot_link=cannot)
    except InputError:  # the answers keep more than k clusters
        model = AutoConsensus(n_jobs=1).fit(ensemble, must_link=must, cannot_link=cannot)
    return float(adjusted_rand_index(classes, model.labels_))


def rows_of(name: str, draws: int, objects: int, seed: int) -> list[Row]:
    pool = read(name)
    rows: list[Row] = []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        columns = np.sort(rng.permutation(pool.labels.shape[1])[:MEMBERS])
        kept = np.sort(rng.permutation(len(pool.labels))[:objects])
        ensemble, classes = Ensemble(pool.labels[np.ix_(kept, columns)]), pool.classes[kept]
        once = answered(questions(ensemble, ANSWERS), classes)
        rounds = in_rounds(ensemble, classes)
        pairs = [rng.integers(0, len(kept), (ANSWERS, 2)) for _ in range(RANDOM)]
        chance = [answered(each[each[:, 0] != each[:, 1]], classes) for each in pairs]
        for told, k in (("number of classes", pool.k), ("nothing", None)):
            before = score(ensemble, classes, k, NONE)
            rows.append(
                {
                    "pool": name,
                    "told": told,
                    "draw": draw,
                    "no answers": before,
                    "rounds": score(ensemble, classes, k, rounds) - before,
                    "at once": score(ensemble, classes, k, once) - before,
                    "random": float(np.mean([score(ensemble, classes, k, c) for c in chance]))
                    - before,
                    "yes": len(rounds[0]),
                }
            )
    return rows


def means(rows: list[Row]) -> list[Row]:
    """Return a row a pool and number told."""
    found: list[Row] = []
    for name, told in dict.fromkeys((row["pool"], row["told"]) for row in rows):
        own = [row for row in rows if (row["pool"], row["told"]) == (name, told)]
        keys = ("no answers", "rounds", "at once", "random", "yes")
        mean = {key: float(np.mean([row[key] for row in own])) for key in keys}
        better = sum(row["rounds"] > row["random"] for row in own)
        found.append({"pool": name, "told": told, **mean, "better": f"{better} of {len(own)}"})
    return found


def run(arguments: argparse.Namespace) -> None:
    draws, objects = (1, 200) if arguments.quick else (arguments.draws, arguments.objects)
    there = [name for name in arguments.pools if PREFIX + name in available()]
    if not there:
        raise DatasetNotFoundError(f"None of the pools is here: {', '.join(arguments.pools)}.")
    rows = [row for name in there for row in rows_of(name, draws, objects, arguments.seed)]
    table = means(rows)
    signed = dict.fromkeys(("rounds", "at once", "random"), lambda x: f"{x:+.3f}")
    formats: dict[str, Any] = {**signed, "yes": lambda x: f"{x:.1f}"}
    show(table, f"Adjusted Rand index, and what {ANSWERS} answers add to it", formats)
    note = (
        f"Means over {draws} draws of {MEMBERS} members and {objects:,} objects. 'no answers': the adjusted Rand index "
        f"without; the next three columns: what {ANSWERS} answers add, asked in {ROUNDS} rounds, at once, and of random "
        "pairs. 'yes': answers of the rounds that two objects belong together. 'better': draws in which the rounds add more "
        "than random pairs."
    )
    write(table, "questions", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--pools", nargs="+", default=list(POOLS), help="pools")
    parser.add_argument("--draws", type=int, default=5, help="ensembles of each pool")
    parser.add_argument("--objects", type=int, default=1500, help="objects drawn of a pool")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
