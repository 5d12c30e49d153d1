"""Every method on the ten published pools of 100 partitions: agreement with the known classes, and cost.

python -m experiments.leaderboard.board [--quick] [--pools mfeat ...] [--entries HBGF ...] [--out FOLDER]

Huang, Wang and Lai (IEEE Transactions on Cybernetics 48, 2018) published the partitions that they
combine: 100 k-means partitions of each of ten data sets, with random numbers of clusters. As in
their protocol 10 of the 100 are drawn, combined into the true number of clusters, and compared with
the known classes; 20 draws, the same ones for all methods.

All methods of `conclust.methods()` take part, with their default parameters, and are told the true
number of clusters; for some it is an upper bound, and the last ones, marked, find their own number: to
be read beside the number they find. Some take part with other settings too (``entries.py``). "mean member"
is the mean over the drawn partitions; these have about three times as many clusters, and NMI favours many
clusters, so that "worse than the mean member" is said by the adjusted Rand index. A method whose fits take more
than --limit CPU seconds (the median) combines the first --few draws of a pool only, which the table
marks; one that refuses a pool is left out of it, with the reason printed. ``published.py`` holds what others
print by this protocol.

Each result is kept in FOLDER/scores.json as soon as it is there: a run that was stopped goes on, also with more
draws or a higher limit, and --again NAME measures an entry anew.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from conclust import Ensemble
from conclust.datasets import available, load
from conclust.exceptions import ConclustError
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.leaderboard.entries import Entry, entries
from experiments.leaderboard.picture import draw
from experiments.leaderboard.pools import POOLS, PREFIX, SETTLED, Pool, draws, read
from experiments.leaderboard.tables import (
    MEMBER,
    below_members,
    beside_published,
    board,
    legend,
    split,
    wide,
)
from experiments.origin import origin
from experiments.output import Row, options, show, stopwatch, write

SETTINGS = ("draws", "few", "limit", "seed")
# What a run may have more of than the one that it goes on from.
MORE = ("draws", "limit")
# Of what is kept: far less than draws differ by.
_DECIMALS = 5
# CPU seconds of a fit that is kept before the next one begins.
_DEAR = 1.0


@dataclass
class Tally:
    """What came out of the draws of a pool; `left_out`: why nothing did."""

    nmi: list[float] = field(default_factory=list)
    nmi_max: list[float] = field(default_factory=list)
    ari: list[float] = field(default_factory=list)
    clusters: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    not_converged: int = 0
    left_out: str = ""

    def score(self, pool: Pool, partitions: Sequence[NDArray[Any]]) -> None:
        """Add a draw: the mean over what it gave."""
        of_each = [
            (
                normalized_mutual_information(pool.classes, labels),
                normalized_mutual_information(pool.classes, labels, average="max"),
                adjusted_rand_index(pool.classes, labels),
                len(np.unique(labels)),
            )
            for labels in partitions
        ]
        kept = (self.nmi, self.nmi_max, self.ari, self.clusters)
        for scores, mean in zip(kept, np.mean(of_each, axis=0).tolist(), strict=True):
            scores.append(round(mean, _DECIMALS))

    def row(self, pool: Pool, entry: str, *, told: bool) -> Row:
        """Return a line of the long table."""

        def mean(values: list[float]) -> float | None:
            return float(np.mean(values)) if values else None

        return {
            "pool": pool.name,
            "objects": len(pool.labels),
            "K": pool.k,
            "method": entry,
            "told": told,
            "draws": len(self.nmi),
            "NMI": mean(self.nmi),
            "spread": float(np.std(self.nmi, ddof=1)) if len(self.nmi) > 1 else None,
            "NMI max": mean(self.nmi_max),
            "ARI": mean(self.ari),
            "clusters": mean(self.clusters),
            "CPU s": float(np.median(self.seconds)) if self.seconds else None,
            "not converged": self.not_converged if self.seconds else None,
            "left out": self.left_out,
        }


class Scores:
    """What was measured, kept in a file from one run to the next."""

    def __init__(self, path: Path | None, given: argparse.Namespace) -> None:
        self.path = path
        self.settings = {name: getattr(given, name) for name in SETTINGS}
        self.found: dict[str, dict[str, Any]] = {}
        self.now = origin(given.experiment)
        self.made: list[dict[str, Any]] = []
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            then, now = kept["settings"], self.settings
            if any(then[name] > now[name] for name in MORE) or any(
                then[name] != now[name] for name in SETTINGS if name not in MORE
            ):
                raise SystemExit(
                    f"{path} was made with {kept['settings']}, not {self.settings}: give these, or another --out."
                )
            again = given.again or []
            self.found = {
                key: value for key, value in kept["found"].items() if key.split("/")[1] not in again
            }
            self.made = kept.get("made", [])
        given.made = self.made

    def get(self, pool: str, entry: str) -> Tally | None:
        """Return what was measured before."""
        kept = self.found.get(f"{pool}/{entry}")
        return None if kept is None else Tally(**kept)

    def add(self, pool: str, entry: str, tally: Tally) -> None:
        """Keep a result."""
        self.found[f"{pool}/{entry}"] = asdict(tally)
        if self.now not in self.made:
            self.made.append(self.now)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self._text(), encoding="utf-8")

    def _text(self) -> str:
        """Return what is kept as JSON, a line for each result."""
        lines = (f"{json.dumps(key)}: {json.dumps(tally)}" for key, tally in self.found.items())
        found = ",\n".join(lines)
        made = "" if not self.made else f'"made": {json.dumps(self.made)}, '
        return f'{{"settings": {json.dumps(self.settings)}, {made}"found": {{\n{found}\n}}}}\n'


def members(pool: Pool, ensembles: list[Ensemble]) -> Tally:
    """Return what the drawn partitions reach by themselves."""
    tally = Tally()
    for ensemble in ensembles:
        tally.score(pool, list(ensemble.labels.T))
    return tally


def complete(tally: Tally, given: argparse.Namespace) -> bool:
    """Tell whether there is no draw left to combine."""
    done = len(tally.nmi)
    slow = done >= given.few and np.median(tally.seconds) > given.limit
    return done >= given.draws or bool(slow) or bool(tally.left_out)


def measure(
    entry: Entry, pool: Pool, ensembles: list[Ensemble], given: argparse.Namespace, scores: Scores
) -> Tally:
    """Combine the draws, all or a few, that are still to be; keep and return what came out, or why nothing did."""
    tally = scores.get(pool.name, entry.name) or Tally()
    while not complete(tally, given):
        at = len(tally.nmi)
        ensemble = ensembles[at]
        model = entry.make(pool.k, given.seed + at, given.jobs)
        with warnings.catch_warnings(record=True) as caught, stopwatch() as taken:
            warnings.simplefilter("always")
            try:
                model.fit(ensemble)
            except ConclustError as why:
                print(f"  {entry.name} left out of {pool.name}: {why}", flush=True)
                tally = Tally(left_out=str(why))
                break
        tally.not_converged += any(issubclass(one.category, ConvergenceWarning) for one in caught)
        tally.seconds.append(round(taken.cpu, _DECIMALS))
        tally.score(pool, [model.labels_])
        if taken.cpu > _DEAR:
            scores.add(pool.name, entry.name, tally)
    scores.add(pool.name, entry.name, tally)
    return tally


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
    chosen = [e for e in entries() if e.name in (arguments.entries or [e.name])]
    scores = Scores(None if arguments.out is None else arguments.out / "scores.json", arguments)
    rows: list[Row] = []
    for name in pools:
        pool = read(name)
        ensembles = draws(pool, arguments.draws, arguments.seed)
        rows.append(members(pool, ensembles).row(pool, MEMBER, told=False))
        for entry in chosen:
            tally = scores.get(name, entry.name) or Tally()
            if not complete(tally, arguments):
                tally = measure(entry, pool, ensembles, arguments, scores)
            rows.append(tally.row(pool, entry.name, told=entry.told))
        formats = {"clusters": ".1f", "CPU s": ".2f"}
        here_only = [row for row in rows if row["pool"] == name and row["NMI"] is not None]
        columns = ("method", "draws", "NMI", "spread", "ARI", "clusters", "CPU s", "not converged")
        title = f"{name}: {len(pool.labels):,} objects, K = {pool.k}"
        show([{key: row[key] for key in columns} for row in here_only], title, formats)
        write(rows, "pools_long", arguments)
    write(wide(rows), "pools", arguments, note=legend(rows, arguments))
    ranked = board(rows)
    show(ranked, "Over all pools, by the mean NMI")
    write(ranked, "board", arguments)
    note = (
        f"settled: the pools that the power of AutoConsensus was settled on ({', '.join(SETTLED)})."
    )
    write(split(rows), "split", arguments, note=note)
    printed = beside_published(rows)
    if printed:
        show(printed, "Means over the pools beside published means (NMI by the larger entropy)")
        write(printed, "published", arguments)
    below = below_members(rows)
    if below:
        show(below, "Adjusted Rand index below that of the mean member")
    if arguments.out is not None:
        draw(ranked, arguments.out / "board.png")


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    names = [entry.name for entry in entries()]
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=POOLS, metavar="POOL")
    parser.add_argument("--entries", nargs="+", choices=names, metavar="NAME", help="all")
    parser.add_argument("--again", nargs="+", choices=names, metavar="NAME", help="none")
    parser.add_argument("--draws", type=int, default=20, help="ensembles drawn from each pool")
    parser.add_argument("--limit", type=float, default=5.0, help="CPU s of a fit for all draws")
    parser.add_argument("--few", type=int, default=5, help="draws for methods that take longer")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
