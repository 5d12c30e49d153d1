"""Every method on the ten published pools of 100 partitions: NMI with the known classes.

python -m experiments.lwea2018.pools [--quick] [--pools mfeat ...] [--methods HBGF ...] [--out FOLDER]

Huang, Wang and Lai (IEEE Transactions on Cybernetics 48, 2018) published the partitions that they
combine: 100 k-means partitions of each of ten data sets, with random numbers of clusters. As in
their protocol 10 of the 100 are drawn, combined into the true number of clusters, and compared with
the known classes by the NMI (geometric mean) and the adjusted Rand index; 20 draws, the same ones for
all methods.

All methods of `conclust.methods()` take part, with their default parameters (VARIANTS holds a few more, with
parameters that the literature gives a name of their own), and are told the true number of clusters; for
some it is an upper bound, and the last ones, marked, find their own number: to be read beside the number
they find. "mean member" is the mean over the drawn partitions. These have about three times the true number of clusters, and NMI favours many clusters: so the
adjusted Rand index decides on "worse than the mean member". A method with fits of more than --limit CPU
seconds (the median) combines the first --few draws of a pool only, which the table marks. A method that
refuses a pool is left out of it, with the reason printed. PUBLISHED holds means that others print for the
mfeat pool by this protocol.
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
MEMBER = "mean member"
FEWER = "†"  # fewer draws than there are
FINDS = "‡"  # not told the number of clusters

# Method -> mean NMI on the mfeat pool, and how far below it ours may be.
PUBLISHED = {"EAC": 0.597, "HBGF": 0.636, "MCLA": 0.627, "CSPA": 0.617, "HGPA": 0.479}
SLACK = 0.03


# Name -> (method, parameters): what the literature compares under names of their own.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "LWEA, normalized": ("LWEA", {"normalized": True}),
    "ECPCS, hierarchical": ("ECPCS", {"consensus": "hierarchical"}),
    **{
        f"LCE, {similarity} average": ("LCE", {"similarity": similarity, "consensus": "average"})
        for similarity in ("cts", "wtq", "srs", "asrs")
    },
}


class Entry(NamedTuple):
    """A method with parameters, as the tables name it."""

    name: str
    method: Method
    parameters: dict[str, Any]


class Pool(NamedTuple):
    """A pool's name, its partitions as columns, its known classes and their number."""

    name: str
    labels: NDArray[Any]
    classes: NDArray[Any]
    k: int


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


def taking_part() -> list[Entry]:
    """List the methods and variants: first those that are told the number of clusters."""
    finding = finding_the_number()
    of_name = {method.estimator: method for method in methods()}
    entries = [Entry(name, method, {}) for name, method in of_name.items()]
    entries += [Entry(name, of_name[of], given) for name, (of, given) in VARIANTS.items()]
    return sorted(entries, key=lambda entry: (entry.name in finding, entry.method.estimator))


def finding_the_number() -> set[str]:
    """Name the methods that cannot be told the number of clusters."""
    return {method.estimator for method in methods() if method.n_clusters == "emerges"}


def make(entry: Entry, k: int, seed: int, jobs: int | None) -> Any:
    """Return an estimator with its default parameters, but for those of a variant."""
    name = entry.method.estimator
    estimator = getattr(conclust, name)
    given = {"random_state": seed, "n_jobs": jobs}
    if name not in finding_the_number():
        given["n_clusters"] = k
    has = inspect.signature(estimator).parameters
    return estimator(
        **{key: value for key, value in given.items() if key in has}, **entry.parameters
    )


@dataclass
class Tally:
    """What came out of the draws of a pool."""

    nmi: list[float] = field(default_factory=list)
    ari: list[float] = field(default_factory=list)
    clusters: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    not_converged: int = 0

    def score(self, pool: Pool, partitions: Sequence[NDArray[Any]]) -> None:
        """Add a draw: the mean scores over its partitions."""
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


def measure(entry: Entry, pool: Pool, ensembles: list[Ensemble], given: argparse.Namespace) -> Row:
    """Combine the draws, all or a few; return what came out, or why nothing did."""
    tally = Tally()
    for draw, ensemble in enumerate(ensembles):
        if draw >= given.few and np.median(tally.seconds) > given.limit:
            break
        model = make(entry, pool.k, given.seed + draw, given.jobs)
        with warnings.catch_warnings(record=True) as caught, stopwatch() as taken:
            warnings.simplefilter("always")
            try:
                model.fit(ensemble)
            except ConclustError as why:
                print(f"  {entry.name} left out of {pool.name}: {why}", flush=True)
                return Tally().row(pool, entry.name, str(why))
        tally.not_converged += any(issubclass(one.category, ConvergenceWarning) for one in caught)
        tally.seconds.append(taken.cpu)
        tally.score(pool, [model.labels_])
    return tally.row(pool, entry.name)


def wide(rows: list[Row]) -> list[Row]:
    """Return a line a method, a column a pool: the mean NMI and its standard deviation.

    Of several pools also the mean over them, where a method takes all.
    """
    pools = list(dict.fromkeys(row["pool"] for row in rows))
    names = list(dict.fromkeys(row["method"] for row in rows))
    cells = {(row["method"], row["pool"]): row for row in rows}
    most = max(row["draws"] for row in rows)
    finding = finding_the_number()
    table = []
    for name in names:
        of_pools = {pool: cell(cells[name, pool], most) for pool in pools}
        line: Row = {"method": f"{name}{FINDS if name in finding else ''}"} | of_pools
        if len(pools) > 1:
            means = [cells[name, pool]["NMI"] for pool in pools]
            line["mean"] = None if None in means else f"{np.mean(means):.3f}"
        table.append(line)
    return table


def cell(row: Row, most: int) -> str | None:
    if row["NMI"] is None:
        return None
    spread = "" if row["spread"] is None else f" ±{row['spread']:.3f}"
    return f"{row['NMI']:.3f}{spread}{FEWER if row['draws'] < most else ''}"


def legend(rows: list[Row], given: argparse.Namespace) -> str:
    """Say what the wide table holds."""
    text = f"Mean NMI with the known classes and its standard deviation over {given.draws} draws."
    if any(0 < row["draws"] < given.draws for row in rows):
        text += (
            f" {FEWER}: over the first {given.few}, a fit takes more than {given.limit:g} CPU s."
        )
    if any(row["method"] in finding_the_number() for row in rows):
        text += f" {FINDS}: finds its own number of clusters."
    if any(row["NMI"] is None for row in rows):
        text += " -: the method refuses the pool."
    return text


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
    """List where a consensus is worse than the mean of the partitions that it combines."""
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
        pools, arguments.draws, arguments.few = pools[:1], 2, 1
    chosen = [one for one in taking_part() if one.name in (arguments.methods or [one.name])]
    rows: list[Row] = []
    for name in pools:
        pool = read(name)
        ensembles = draws(pool, arguments.draws, arguments.seed)
        rows.append(members(pool, ensembles))
        rows += [measure(entry, pool, ensembles, arguments) for entry in chosen]
        formats = {"clusters": ".1f", "CPU s": ".2f"}
        here_only = [row for row in rows if row["pool"] == name and row["NMI"] is not None]
        columns = ("method", "draws", "NMI", "spread", "ARI", "clusters", "CPU s", "not converged")
        title = f"{name}: {len(pool.labels):,} objects, K = {pool.k}"
        show([{key: row[key] for key in columns} for row in here_only], title, formats)
        write(rows, "pools_long", arguments)
    write(wide(rows), "pools", arguments, note=legend(rows, arguments))
    for found, title in (
        (beside_published(rows), "mfeat: mean NMI beside published means"),
        (below_members(rows), "Adjusted Rand index below the mean member's"),
    ):
        if found:
            show(found, title)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    names = [entry.name for entry in taking_part()]
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=POOLS, metavar="POOL")
    parser.add_argument("--methods", nargs="+", choices=names, metavar="METHOD", help="all")
    parser.add_argument("--draws", type=int, default=20, help="ensembles drawn from each pool")
    parser.add_argument("--limit", type=float, default=5.0, help="CPU s of a fit for all draws")
    parser.add_argument("--few", type=int, default=5, help="draws for methods that take longer")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
