"""Expected loss of the Bayes estimate on ten published pools, beside draws, cuts of a tree and all methods.

python -m experiments.posterior.pools [--quick] [--pools mfeat ...] [--draws 5] [--everything 1] [--limit 2]
    [--objects 1500] [--out FOLDER]

Of each pool of 100 k-means partitions 20 are drawn, and 1,500 of its objects. By expected variation of information
and by Binder's loss the estimate is compared with every member, with every cut of the average-linkage tree and with
the methods of conclust: on the first ensembles of a pool (`--everything`) with all of those whose first fit takes no
more than `--limit` CPU seconds, on the others with MedianPartition, AddRemAdd and EAC. Methods that need a number of
clusters get the number that the estimate has. Known classes are not read.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from conclust import BayesEstimate, Ensemble
from conclust.consensus.median.bayes import tree_cuts
from conclust.datasets import available
from conclust.exceptions import DatasetNotFoundError
from conclust.measures.losses import Loss, PartitionRows, expected_losses
from experiments.leaderboard.entries import Entry, entries
from experiments.leaderboard.pools import POOLS, PREFIX, Pool, read
from experiments.output import Row, options, show, stopwatch, write

MEMBERS = 20
LOSSES: tuple[Loss, ...] = ("vi", "binder")
ALWAYS = ("MedianPartition", "AddRemAdd", "EAC")
# Maximum number of clusters of the cuts of the tree.
CUTS = 150
_ROUNDING = 1e-12


def ensemble_of(pool: Pool, draw: int, objects: int, seed: int) -> Ensemble:
    """Draw members, then objects; the first draws are the same however many are drawn."""
    rng = np.random.default_rng([seed, draw])
    columns = np.sort(rng.permutation(pool.labels.shape[1])[:MEMBERS])
    rows = np.sort(rng.permutation(len(pool.labels))[:objects])
    return Ensemble(pool.labels[np.ix_(rows, columns)])


class Rivals:
    """The methods that take part, and those that took too long."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.entries = [entry for entry in entries() if entry.estimator != "BayesEstimate"]
        self.left_out: list[str] = []

    def losses(self, ensemble: Ensemble, k: int, every: bool) -> dict[Loss, dict[str, float]]:
        """Return the expected losses of each method's partition, a fit for both."""
        found: dict[Loss, dict[str, float]] = {loss: {} for loss in LOSSES}
        for entry in list(self.entries):
            if not every and entry.name not in ALWAYS:
                continue
            with stopwatch() as taken:
                labels = _labels(entry, ensemble, k)
            for loss in LOSSES:
                value = expected_losses(PartitionRows(labels[None]), ensemble, loss)
                found[loss][entry.name] = float(value[0])
            if taken.cpu > self.limit and entry.name not in ALWAYS:
                self.entries.remove(entry)
                self.left_out.append(entry.name)
        return found


def _labels(entry: Entry, ensemble: Ensemble, k: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # members finer than the number told, few iterations
        return entry.make(k, 0, 1).fit(ensemble).labels_


def rows_of(ensemble: Ensemble, name: str, draw: int, rivals: Rivals, every: bool) -> list[Row]:
    """Return a row a loss."""
    rows: list[Row] = []
    estimates = {}
    seconds = {}
    for loss in LOSSES:
        with stopwatch() as taken:
            estimates[loss] = BayesEstimate(loss=loss, random_state=0, n_jobs=1).fit(ensemble)
        seconds[loss] = taken.cpu
    others = rivals.losses(ensemble, estimates["vi"].n_clusters_, every)
    cuts = PartitionRows(tree_cuts(ensemble, CUTS, 1))
    for loss, model in estimates.items():
        best = min(others[loss], key=lambda one: others[loss][one])
        cut = float(expected_losses(cuts, ensemble, loss).min())
        least = min(model.best_draw_loss_, cut, others[loss][best])
        rows.append(
            {
                "pool": name,
                "draw": draw,
                "loss": loss,
                "estimate": model.expected_loss_,
                "best member": model.best_draw_loss_,
                "best cut": cut,
                "best method": others[loss][best],
                "which": best,
                "methods": len(others[loss]),
                "above": model.expected_loss_ > least + _ROUNDING,
                "clusters": model.n_clusters_,
                "CPU s": seconds[loss],
            }
        )
    return rows


def means(rows: list[Row]) -> list[Row]:
    """Return a row a pool and loss."""
    found: list[Row] = []
    for name, loss in dict.fromkeys((row["pool"], row["loss"]) for row in rows):
        own = [row for row in rows if (row["pool"], row["loss"]) == (name, loss)]
        row: Row = {"pool": name, "loss": loss}
        for key in ("estimate", "best member", "best cut", "best method", "clusters", "CPU s"):
            row[key] = float(np.mean([each[key] for each in own]))
        row["above"] = f"{sum(each['above'] for each in own)} of {len(own)}"
        found.append(row)
    return found


def run(arguments: argparse.Namespace) -> None:
    names = tuple(arguments.pools or POOLS)
    draws, every, objects = arguments.draws, arguments.everything, arguments.objects
    if arguments.quick:
        names, draws, every, objects = names[:1], 1, 0, 300
    there = [name for name in names if PREFIX + name in available()]
    if not there:
        raise DatasetNotFoundError(f"None of the pools is here: {', '.join(names)}.")
    rivals = Rivals(arguments.limit)
    rows: list[Row] = []
    for name in there:
        pool = read(name)
        for draw in range(draws):
            ensemble = ensemble_of(pool, draw, objects, arguments.seed)
            rows += rows_of(ensemble, name, draw, rivals, draw < every)
        print(
            f"{name}: {sum(row['above'] for row in rows)} of {len(rows)} above so far", flush=True
        )
    four = dict.fromkeys(
        ("estimate", "best member", "best cut", "best method"), lambda x: f"{x:.4f}"
    )
    formats: dict[str, Any] = {
        **four,
        "clusters": lambda x: f"{x:.1f}",
        "CPU s": lambda x: f"{x:.2f}",
    }
    table = means(rows)
    show(table, "Expected loss, mean over draws", formats)
    note = (
        f"Means over {draws} draws of {MEMBERS} members and {objects:,} objects. VI in bits; Binder's loss as a share of "
        "n^2 / 2. 'above': ensembles in which any member, cut or method has a lower expected loss than the estimate."
    )
    if rivals.left_out:
        note += (
            f" After a fit above {arguments.limit:g} CPU s left out: {', '.join(rivals.left_out)}."
        )
    write(table, "pools", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--pools", nargs="+", help="pools")
    parser.add_argument("--draws", type=int, default=5, help="ensembles of each pool")
    parser.add_argument(
        "--everything", type=int, default=1, help="of these compared with all methods"
    )
    parser.add_argument("--limit", type=float, default=2.0, help="CPU seconds of a fit")
    parser.add_argument("--objects", type=int, default=1500, help="objects drawn of a pool")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
