"""How much 50 answers raise the adjusted Rand index: pairs that are asked about, beside pairs drawn at random.

python -m experiments.answers.questions [--quick] [--points mfeat ...] [--pools mfeat ...] [--draws 5] [--objects 1500] [--out FOLDER]

1,500 objects of each set are drawn. Points go into ConsensusClustering, which makes its members; of each pool of 100 k-means
partitions 20 are drawn for AutoConsensus. The known classes answer whether two objects belong together; the answers
go into ``fit`` as must_link and cannot_link. Pairs are those of ``confidence.questions``, all 50 at once or in five
rounds of ten (later questions know the earlier answers), and as many pairs of objects drawn at random, three times. The
number of classes is told, or found.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conclust import AutoConsensus, ConsensusClustering, Ensemble, EnsembleGenerator
from conclust.confidence import questions
from conclust.datasets import available, load
from conclust.exceptions import DatasetNotFoundError, InputError
from conclust.metrics import adjusted_rand_index
from experiments.leaderboard.pools import PREFIX, read
from experiments.output import Row, options, show, write

POINTS = ("mfeat", "pendigits", "optdigits_5620", "usps_11000", "texture", "mnist_test_10000")
POOLS = ("mfeat", "pendigits")
MEMBERS = 20
ANSWERS, ROUNDS, RANDOM = 50, 5, 3

Answers = tuple[NDArray[np.int64], NDArray[np.int64]]
Fit = Callable[[int | None, Answers], tuple[Any, Any]]


class Draw(NamedTuple):
    """Objects of a set: random numbers that go on, their classes, the number of these, and a fit with answers.

    The fit takes a number of clusters or None, and answers, and returns the model and the partitions, if these were given.
    """

    rng: np.random.Generator
    classes: NDArray[Any]
    number: int
    fit: Fit


NONE: Answers = (np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64))


def answered(pairs: NDArray[np.int64], classes: NDArray[Any]) -> Answers:
    """Return the pairs of one class, and the others."""
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    return pairs[same], pairs[~same]


def links(answers: Answers) -> dict[str, Any]:
    must, cannot = answers
    return {"must_link": must, "cannot_link": cannot} if len(must) + len(cannot) else {}


def asked(fit: Fit, k: int | None, classes: NDArray[Any], rounds: int) -> Answers:
    """Ask in rounds, each with the answers of those before."""
    known = NONE
    for _ in range(rounds):
        model, partitions = fit(k, known)
        more = {} if partitions is None else {"n_clusters": k}
        pairs = questions(
            model if partitions is None else partitions, ANSWERS // rounds, **more, **links(known)
        )
        new = answered(pairs, classes)
        known = (np.vstack([known[0], new[0]]), np.vstack([known[1], new[1]]))
    return known


def score(fit: Fit, k: int | None, classes: NDArray[Any], answers: Answers) -> float:
    """Return the adjusted Rand index with answers."""
    return float(adjusted_rand_index(classes, fit(k, answers)[0].labels_))


def fitted(model: Any, given: Any, answers: Answers) -> Any:
    """Fit with answers; into the least number allowed, where these keep more clusters than were told."""
    try:
        return model.fit(given, **links(answers))
    except InputError:
        return model.set_params(n_clusters=None).fit(given, **links(answers))


def fit_points(
    points: Any, draw: int, cache: str, k: int | None, answers: Answers
) -> tuple[Any, Any]:
    members = EnsembleGenerator(cache_dir=cache)  # the same for all answers
    model = ConsensusClustering(n_clusters=k, generator=members, random_state=draw)
    return fitted(model, points, answers), None


def fit_partitions(ensemble: Ensemble, k: int | None, answers: Answers) -> tuple[Any, Any]:
    return fitted(AutoConsensus(k, n_jobs=1), ensemble, answers), ensemble


def of_points(name: str, draws: int, objects: int, seed: int) -> Iterator[Draw]:
    """Yield draws of objects of a set of points."""
    data = load(name)
    X, classes = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        kept = np.sort(rng.permutation(len(X))[:objects])
        with TemporaryDirectory() as cache:
            fit = partial(fit_points, X[kept], draw, cache)
            yield Draw(rng, classes[kept], len(np.unique(classes)), fit)


def of_pool(name: str, draws: int, objects: int, seed: int) -> Iterator[Draw]:
    """Yield draws of partitions and objects of a pool."""
    pool = read(name)
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        columns = np.sort(rng.permutation(pool.labels.shape[1])[:MEMBERS])
        kept = np.sort(rng.permutation(len(pool.labels))[:objects])
        ensemble = Ensemble(pool.labels[np.ix_(kept, columns)])
        yield Draw(rng, pool.classes[kept], pool.k, partial(fit_partitions, ensemble))


def rows_of(given: str, name: str, draws: int, objects: int, seed: int) -> list[Row]:
    rows: list[Row] = []
    each = (of_points if given == "points" else of_pool)(name, draws, objects, seed)
    for draw, (rng, classes, number, fit) in enumerate(each):
        pairs = [rng.integers(0, len(classes), (ANSWERS, 2)) for _ in range(RANDOM)]
        chance = [answered(each[each[:, 0] != each[:, 1]], classes) for each in pairs]
        for told, k in (("number of classes", number), ("nothing", None)):
            before = score(fit, k, classes, NONE)
            rounds = asked(fit, k, classes, ROUNDS)
            random = [score(fit, k, classes, answers) for answers in chance]
            rows.append(
                {
                    "given": given,
                    "set": name,
                    "told": told,
                    "draw": draw,
                    "no answers": before,
                    "rounds": score(fit, k, classes, rounds) - before,
                    "at once": score(fit, k, classes, asked(fit, k, classes, 1)) - before,
                    "random": float(np.mean(random)) - before,
                    "yes": len(rounds[0]),
                }
            )
    print(f"{given} of {name}", flush=True)
    return rows


def means(rows: list[Row]) -> list[Row]:
    """Return a row for each set and number told."""
    found: list[Row] = []
    for case in dict.fromkeys((row["given"], row["set"], row["told"]) for row in rows):
        own = [row for row in rows if (row["given"], row["set"], row["told"]) == case]
        keys = ("no answers", "rounds", "at once", "random", "yes")
        mean = {key: float(np.mean([row[key] for row in own])) for key in keys}
        better = sum(row["rounds"] > row["random"] for row in own)
        named = dict(zip(("given", "set", "told"), case, strict=True))
        found.append({**named, **mean, "better": f"{better} of {len(own)}"})
    return found


def run(arguments: argparse.Namespace) -> None:
    draws, objects = (1, 200) if arguments.quick else (arguments.draws, arguments.objects)
    here = available()
    there = [("points", name) for name in arguments.points if name in here]
    there += [("a pool", name) for name in arguments.pools if PREFIX + name in here]
    if arguments.quick:
        there = [each for each in there if each[1] in POOLS]
    if not there:
        raise DatasetNotFoundError(
            f"None of the sets is here: {', '.join([*arguments.points, *arguments.pools])}."
        )
    rows = [row for each in there for row in rows_of(*each, draws, objects, arguments.seed)]
    table = means(rows)
    signed = dict.fromkeys(("rounds", "at once", "random"), lambda x: f"{x:+.3f}")
    formats: dict[str, Any] = {**signed, "yes": lambda x: f"{x:.1f}"}
    show(table, f"Adjusted Rand index, and what {ANSWERS} answers add to it", formats)
    note = (
        f"Means over {draws} draws of {objects:,} objects; of a pool, {MEMBERS} members are drawn. 'no answers': the adjusted "
        f"Rand index without; the next three columns: what {ANSWERS} answers add, asked in {ROUNDS} rounds, at once, and of random "
        "pairs. 'yes': answers of the rounds that two objects belong together. 'better': draws in which the rounds add more "
        "than random pairs."
    )
    write(table, "questions", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--points", nargs="*", default=list(POINTS), help="sets of points")
    parser.add_argument("--pools", nargs="*", default=list(POOLS), help="pools")
    parser.add_argument("--draws", type=int, default=5, help="ensembles of each set")
    parser.add_argument("--objects", type=int, default=1500, help="objects drawn of a set")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
