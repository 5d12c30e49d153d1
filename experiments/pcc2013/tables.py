"""Tables 4 to 7: nine sets, two kinds of ensembles, nine methods, H and the Rand index.

python -m experiments.pcc2013.tables [--quick] [--sets iris ...] [--out FOLDER]

Section 7.2 of the paper. It prints average, standard deviation, largest and least value "after several runs,
accounting for possible different solutions due to initialization": over starts on one ensemble, it seems. Both are
here: many starts on one ensemble, and one fit on each of many ensembles. What was chosen is in ``settings.py`` and
``experiments/paper_sets.py``, what the paper prints in ``printed.py``.

Results are kept in FOLDER/tables.json as they come; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from conclust import Ensemble
from conclust.exceptions import EnsembleWarning
from conclust.metrics import adjusted_rand_index, consistency_index, rand_index
from experiments.kept import Kept, fill, opened
from experiments.output import Row, options, show, stopwatch, write
from experiments.paper_sets import KINDS, PARTITIONS, SETS, here, members, originals, points
from experiments.pcc2013.printed import AVERAGES, COLUMNS, SPREADS
from experiments.pcc2013.settings import ENSEMBLES, METHODS, ONE_START, PAPERS, STARTS, TOLERANCE

__all__ = ["claims", "reached", "scores", "spread"]

MEASURES = {"H": consistency_index, "Rand": rand_index, "ARI": adjusted_rand_index}
REAL = COLUMNS[2:]
_STARTS = "starts"
# Those that start anywhere at random: the others give the same from every seed.
_RANDOM = tuple(name for name in METHODS if name not in ("EAC-SL", "EAC-AL", "EAC-WL", "LWEA"))


def measure(unit: str, names: list[str], n_partitions: int, n_starts: int) -> dict[str, Any]:
    """Return the scores of methods on an ensemble, or from many starts on the first one."""
    kind, name, which = unit.split("/")
    X, y = points(name)
    seed = 0 if which == _STARTS else int(which)
    ensemble = Ensemble(members(kind, name, X, seed, n_partitions=n_partitions))
    found: dict[str, Any] = {}
    for method in names:
        starts = range(n_starts) if which == _STARTS else (seed,)
        if method not in _RANDOM:
            starts = (seed,)
        values: dict[str, list[float]] = {key: [] for key in (*MEASURES, "clusters", "CPU s")}
        for start in starts:
            model = METHODS[method](SETS[name].k, start)
            with warnings.catch_warnings(), stopwatch() as taken:
                # A poor start need not end within the rounds allowed; members finer than the classes are the papers'.
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", EnsembleWarning)
                labels = model.fit_predict(ensemble)
            for key, score in MEASURES.items():
                values[key].append(float(score(y, labels)))
            values["clusters"].append(len(np.unique(labels)))
            values["CPU s"].append(taken.cpu)
        found[method] = values
    return found


def scores(kept: Kept, kind: str, name: str, method: str, value: str, starts: bool) -> list[float]:
    """Return a method's values on a set: from each start, or on each ensemble."""
    prefix = f"{kind}/{name}/"
    found: list[float] = []
    for key, values in kept.found.items():
        if key.startswith(prefix) and key.endswith(f"/{_STARTS}") == starts:
            found += values.get(method, {}).get(value, [])
    return found


def averages(kept: Kept, kind: str, value: str, sets: list[str], starts: bool) -> list[Row]:
    """Return a line for each method: the mean on each set, and what the paper prints below its own."""
    printed = AVERAGES.get((kind, value), {})
    rows: list[Row] = []
    for method in (*PAPERS, *ONE_START) if starts else METHODS:
        row: Row = {"method": method}
        for name in sets:
            values = scores(kept, kind, name, method, value, starts)
            row[name] = float(np.mean(values)) if values else None
        rows.append(row)
        if method in printed:
            by_set = dict(zip(COLUMNS, printed[method], strict=True))
            rows.append({"method": "(printed)", **{name: by_set[name] for name in sets}})
    return rows


def spread(kept: Kept, kind: str, value: str, sets: list[str]) -> list[Row]:
    """Return standard deviation, largest and least value over the starts, beside those printed."""
    rows: list[Row] = []
    for method in (name for name in (*PAPERS, *ONE_START) if name in _RANDOM):
        printed = SPREADS.get((kind, value), {}).get(method)
        for at, (what, of) in enumerate((("std", np.std), ("max", np.max), ("min", np.min))):
            row: Row = {"method": method, "over starts": what}
            for k, name in enumerate(COLUMNS):
                if name not in sets:
                    continue
                values = scores(kept, kind, name, method, value, starts=True)
                row[name] = float(of(values)) if values else None
                row[f"{name}, printed"] = None if printed is None else printed[at][k]
            rows.append(row)
    return rows


def reached(kept: Kept, sets: list[str], starts: bool = False) -> list[Row]:
    """Return a line for each cell of PCC on the real sets: the mean beside the printed average."""
    rows: list[Row] = []
    for kind in KINDS:
        for method in ("PCC-KL", "PCC-l2"):
            printed = dict(zip(COLUMNS, AVERAGES[kind, "H"][method], strict=True))
            for name in (name for name in REAL if name in sets):
                values = scores(kept, kind, name, method, "H", starts)
                if not values:
                    continue
                mean = float(np.mean(values))
                rows.append(
                    {
                        "ensemble": kind,
                        "method": method,
                        "set": name,
                        "printed": printed[name],
                        "mean H": mean,
                        "sd": float(np.std(values)),
                        "reached": "yes" if mean >= printed[name] - TOLERANCE else "no",
                    }
                )
    return rows


def claims(kept: Kept, sets: list[str]) -> list[Row]:
    """Count on how many sets each method of the paper is the best of its nine, ours and as printed.

    The best: no other has a mean H that is larger by more than half of the last printed digit. Counted over
    the sets that are the papers' own, and over all.
    """
    rows: list[Row] = []
    own = originals(sets)
    for kind in KINDS:
        printed = AVERAGES[kind, "H"]
        best: dict[str, list[str]] = {method: [] for method in PAPERS}
        best_printed: dict[str, list[str]] = {method: [] for method in PAPERS}
        for name in sets:
            means = {
                method: float(np.mean(values))
                for method in PAPERS
                if (values := scores(kept, kind, name, method, "H", starts=False))
            }
            theirs = {method: printed[method][COLUMNS.index(name)] for method in PAPERS}
            for found, where in ((means, best), (theirs, best_printed)):
                for method, value in found.items():
                    where[method] += [name] if value >= max(found.values()) - 0.005 else []
        rows += [
            {
                "ensemble": kind,
                "method": method,
                "originals: best, of ours": len(originals(best[method])),
                "originals: best, as printed": len(originals(best_printed[method])),
                "originals": len(own),
                "best, of ours": len(best[method]),
                "best, as printed": len(best_printed[method]),
                "sets": len(sets),
            }
            for method in PAPERS
        ]
    return rows


def run(arguments: argparse.Namespace) -> None:
    quick = arguments.quick
    sets = here(arguments.sets)
    n_partitions, n_ensembles, n_starts = (20, 2, 2) if quick else (PARTITIONS, ENSEMBLES, STARTS)
    settings = {"partitions": n_partitions, "starts": n_starts}
    kept = opened(arguments, "tables.json", settings)
    wanted = {
        f"{kind}/{name}/{which}": [*PAPERS, *ONE_START] if which == _STARTS else [*METHODS]
        for which in (*range(n_ensembles), _STARTS)
        for kind in KINDS
        for name in sets
    }
    of_unit = partial(measure, n_partitions=n_partitions, n_starts=n_starts)
    fill(kept, wanted, of_unit, arguments.jobs)
    tables = {
        ("ensemble 1", "H"): "Table 4",
        ("ensemble 2", "H"): "Table 5",
        ("ensemble 1", "Rand"): "Table 6",
        ("ensemble 2", "Rand"): "Table 7",
        ("ensemble 1", "ARI"): "ARI, ensemble 1",
        ("ensemble 2", "ARI"): "ARI, ensemble 2",
    }
    two = dict.fromkeys(sets, ".2f")
    for (kind, value), title in tables.items():
        name = title.lower().replace(", ", "_").replace(" ", "_")
        for starts, words in (
            (False, f"{n_ensembles} ensembles"),
            (True, "starts on one ensemble"),
        ):
            rows = averages(kept, kind, value, sets, starts)
            if not starts and value == "H":
                show(rows, f"{title}: mean {value} over {words}, {kind}", two)
            note = f"Mean {value} over {words}, {kind}; (printed): the paper's averages."
            write(rows, f"{name}_starts" if starts else name, arguments, two, note)
        write(spread(kept, kind, value, sets), f"{name}_spread", arguments)
    cells = reached(kept, sets)
    if cells:
        met = sum(row["reached"] == "yes" for row in cells)
        title = f"{met} of {len(cells)} cells of PCC reach the printed average - {TOLERANCE}"
        show(cells, title, {"printed": ".2f"})
        write(cells, "reached", arguments, {"printed": ".2f"})
    counted = claims(kept, sets)
    show(counted, "How often each is the best")
    write(counted, "best", arguments)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", choices=COLUMNS, default=list(COLUMNS), metavar="SET")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
