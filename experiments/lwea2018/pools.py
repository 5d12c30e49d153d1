"""Every method on the ten published pools of 100 partitions: NMI with the known classes.

python -m experiments.lwea2018.pools [--quick] [--pools mfeat ...] [--methods HBGF ...] [--out FOLDER]

Huang, Wang and Lai (IEEE Transactions on Cybernetics 48, 2018) published the partitions that they
combine: 100 k-means partitions of each of ten data sets, with random numbers of clusters. As in
their protocol 10 of the 100 are drawn, combined into the true number of clusters, and compared with
the known classes by the NMI (geometric mean) and the adjusted Rand index; 20 draws, the same ones for
all methods.

All methods of `conclust.methods()` that are told the number of clusters take part, with their
default parameters; for some the number is an upper bound. "mean member" is the mean over the drawn
partitions; these have about three times as many clusters, and NMI favours many clusters, so that
"worse than the mean member" is said by the adjusted Rand index. A method is left out of a pool, with
the reason printed, where it refuses the pool or where one fit takes more than --limit CPU seconds,
the median of those measured, or foretold from fewer objects. PUBLISHED holds means that others print for
the mfeat pool by this protocol.
"""

from __future__ import annotations

import argparse
import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import conclust
from conclust import Ensemble, methods
from conclust.consensus.base import Method
from conclust.datasets import available, load
from conclust.exceptions import ConclustError
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, stopwatch, write

PREFIX = "pool_lwea_"
POOLS = (  # by number of objects
    "steel_plates",
    "mfeat",
    "caltech20",
    "covertype",
    "mnist",
    "texture",
    "optdigits",
    "isolet",
    "pendigits",
    "usps",
)
DRAWN = 10
TRIAL = 500  # objects to try a method on first
ROUGHLY = 4  # how far beyond the limit a forecast must be
MEMBER = "mean member"

# Method -> mean NMI on the mfeat pool, and how far below it ours may be.
PUBLISHED = {"EAC": 0.597, "HBGF": 0.636, "MCLA": 0.627, "CSPA": 0.617, "HGPA": 0.479}
SLACK = 0.03


class Pool(NamedTuple):
    """A pool's name, its partitions as columns, its known classes and their number."""

    name: str
    labels: NDArray[Any]
    classes: NDArray[Any]
    k: int


class TooLong(Exception):  # noqa: N818  (no error: a line of the table)
    """Why a method is left out of a pool."""


def read(name: str) -> Pool:
    data = load(PREFIX + name)
    return Pool(name, data.X, data.y, len(data.target_names))


def draws(pool: Pool, count: int, seed: int) -> list[Ensemble]:
    """Draw ensembles of ten partitions; the first ones are the same however many are drawn."""
    drawn = []
    for draw in range(count):
        columns = np.random.default_rng([seed, draw]).permutation(pool.labels.shape[1])[:DRAWN]
        drawn.append(Ensemble(pool.labels[:, np.sort(columns)]))
    return drawn


def told_the_number() -> list[Method]:
    """List the methods that take part."""
    return [method for method in methods() if method.n_clusters != "emerges"]


def make(name: str, k: int, seed: int, jobs: int | None) -> Any:
    """Return an estimator with its default parameters."""
    estimator = getattr(conclust, name)
    given = {"random_state": seed, "n_jobs": jobs}
    has = inspect.signature(estimator).parameters
    return estimator(k, **{key: value for key, value in given.items() if key in has})


class Pace:
    """How fast a method is: whether it may take part in a pool."""

    def __init__(self, method: Method, limit: float) -> None:
        self._power = 2 if "n^2" in method.cost else 1
        self._limit = limit
        self._last: tuple[int, float] | None = None

    @property
    def known(self) -> bool:
        """Whether fits have been measured."""
        return self._last is not None

    def check(self, n: int) -> None:
        """Raise TooLong if fits of `n` objects will be, by what the last ones took."""
        assert self._last is not None
        before, seconds = self._last
        expected = seconds * (n / before) ** self._power
        if expected > ROUGHLY * self._limit:
            raise TooLong(f"about {expected:.0f} CPU s a fit, by what {before:,} objects take")

    def took(self, n: int, seconds: Sequence[float]) -> None:
        """Note the CPU seconds of fits of `n` objects; raise TooLong if most took too many."""
        middle = float(np.median(seconds))
        self._last = (n, middle)
        if middle > self._limit:
            raise TooLong(f"{middle:.1f} CPU s a fit")


@dataclass
class Tally:
    """What came out of the draws of a pool."""

    nmi: list[float] = field(default_factory=list)
    ari: list[float] = field(default_factory=list)
    clusters: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    not_converged: int = 0

    def score(self, pool: Pool, partitions: Sequence[NDArray[Any]]) -> None:
        """Add a draw: the mean over what it gave."""
        of_each = [
            (
                normalized_mutual_information(pool.classes, labels),
                adjusted_rand_index(pool.classes, labels),
                len(np.unique(labels)),
            )
            for labels in partitions
        ]
        for scores, mean in zip(
            (self.nmi, self.ari, self.clusters), np.mean(of_each, axis=0).tolist(), strict=True
        ):
            scores.append(mean)

    def row(self, pool: Pool, method: str, left_out: str = "") -> Row:
        """Return a line of the long table."""
        several = len(self.nmi) > 1
        return {
            "pool": pool.name,
            "objects": len(pool.labels),
            "K": pool.k,
            "method": method,
            "draws": len(self.nmi),
            "NMI": float(np.mean(self.nmi)) if self.nmi else None,
            "spread": float(np.std(self.nmi, ddof=1)) if several else None,
            "ARI": float(np.mean(self.ari)) if self.nmi else None,
            "clusters": float(np.mean(self.clusters)) if self.nmi else None,
            "CPU s": float(np.median(self.seconds)) if self.seconds else None,
            "not converged": self.not_converged if self.seconds else None,
            "left out": left_out,
        }


def members(pool: Pool, ensembles: list[Ensemble]) -> Row:
    """Return what the drawn partitions reach by themselves."""
    tally = Tally()
    for ensemble in ensembles:
        tally.score(pool, list(ensemble.labels.T))
    return tally.row(pool, MEMBER)


def measure(
    method: Method, pool: Pool, ensembles: list[Ensemble], pace: Pace, given: argparse.Namespace
) -> Row:
    """Combine every draw; return what came out, or why nothing did."""
    tally = Tally()
    n = len(pool.labels)

    def fitted(ensemble: Ensemble, seed: int) -> tuple[Any, float]:
        model = make(method.estimator, pool.k, seed, given.jobs)
        with warnings.catch_warnings(record=True) as heard, stopwatch() as taken:
            warnings.simplefilter("always")
            model.fit(ensemble)
        tally.not_converged += any(issubclass(one.category, ConvergenceWarning) for one in heard)
        return model, taken.cpu

    try:
        if not pace.known:
            few = ensembles[0].subset(np.arange(0, n, max(1, n // TRIAL)))
            for _ in range(2):  # the first fit of a process loads what it needs
                _, seconds = fitted(few, given.seed)
            pace.took(few.n_samples, [seconds])
            tally.not_converged = 0
        pace.check(n)
        for draw, ensemble in enumerate(ensembles):
            model, seconds = fitted(ensemble, given.seed + draw)
            tally.seconds.append(seconds)
            pace.took(n, tally.seconds)
            tally.score(pool, [model.labels_])
    except (TooLong, ConclustError) as why:
        print(f"  {method.estimator} left out of {pool.name}: {why}", flush=True)
        return Tally().row(pool, method.estimator, str(why))
    return tally.row(pool, method.estimator)


def wide(rows: list[Row]) -> list[Row]:
    """Return a line a method, a column a pool: the mean NMI and its standard deviation."""
    pools = list(dict.fromkeys(row["pool"] for row in rows))
    names = list(dict.fromkeys(row["method"] for row in rows))
    cells = {(row["method"], row["pool"]): row for row in rows}
    table = []
    for name in names:
        of_pools = [cells[name, pool] for pool in pools]
        table.append({"method": name} | {row["pool"]: cell(row) for row in of_pools})
    return table


def cell(row: Row) -> str | None:
    if row["NMI"] is None:
        return None
    return f"{row['NMI']:.3f}" + ("" if row["spread"] is None else f" ±{row['spread']:.3f}")


def beside_published(rows: list[Row]) -> list[Row]:
    """Return our means of the mfeat pool beside those that others print."""
    return [
        {
            "method": row["method"],
            "published": PUBLISHED[row["method"]],
            "ours": row["NMI"],
            "at least": PUBLISHED[row["method"]] - SLACK,
            "held": "yes" if row["NMI"] >= PUBLISHED[row["method"]] - SLACK else "no",
        }
        for row in rows
        if row["pool"] == "mfeat" and row["method"] in PUBLISHED and row["NMI"] is not None
    ]


def below_members(rows: list[Row]) -> list[Row]:
    """List where a consensus is worse than the mean of what it combines."""
    alone = {row["pool"]: row["ARI"] for row in rows if row["method"] == MEMBER}
    return [
        {key: row[key] for key in ("method", "pool", "ARI", "clusters")}
        | {MEMBER: alone[row["pool"]]}
        for row in rows
        if row["ARI"] is not None and row["ARI"] < alone[row["pool"]]
    ]


def run(arguments: argparse.Namespace) -> None:
    here = set(available())
    pools = [name for name in arguments.pools if PREFIX + name in here]
    absent = [name for name in arguments.pools if name not in pools]
    if not pools:
        load(PREFIX + absent[0])  # says where it is published
    if absent:
        print(f"Not here, left out: {', '.join(absent)}")
    if arguments.quick:
        pools, arguments.draws, arguments.limit = pools[:1], 2, min(arguments.limit, 0.5)
    chosen = [m for m in told_the_number() if m.estimator in (arguments.methods or [m.estimator])]
    paces = {method.estimator: Pace(method, arguments.limit) for method in chosen}
    rows: list[Row] = []
    for name in pools:
        pool = read(name)
        ensembles = draws(pool, arguments.draws, arguments.seed)
        rows.append(members(pool, ensembles))
        rows += [
            measure(method, pool, ensembles, paces[method.estimator], arguments)
            for method in chosen
        ]
        formats = {"clusters": ".1f", "CPU s": ".2f"}
        here_only = [row for row in rows if row["pool"] == name and row["NMI"] is not None]
        columns = ("method", "NMI", "spread", "ARI", "clusters", "CPU s", "not converged")
        title = f"{name}: {len(pool.labels):,} objects, K = {pool.k}, {len(ensembles)} draws"
        show([{key: row[key] for key in columns} for row in here_only], title, formats)
        write(rows, "pools_long", arguments)
    write(wide(rows), "pools", arguments)
    for found, title in (
        (beside_published(rows), "mfeat: mean NMI beside published means"),
        (below_members(rows), "Adjusted Rand index below that of the mean member"),
    ):
        if found:
            show(found, title)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    names = [method.estimator for method in told_the_number()]
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=POOLS, metavar="POOL")
    parser.add_argument("--methods", nargs="+", choices=names, metavar="METHOD", help="all")
    parser.add_argument("--draws", type=int, default=20, help="ensembles drawn from each pool")
    parser.add_argument("--limit", type=float, default=5.0, help="CPU seconds a fit may take")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
