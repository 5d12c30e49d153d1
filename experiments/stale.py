"""Which committed results are not what the code gives today: python -m experiments.stale [--seed N] [--sources].

Of the tables whose results are kept by ensemble and method (`CELLS`), one ensemble is drawn and made again with each of the
methods, within a minute altogether: methods whose numbers have moved are listed. ``experiments/tests/test_results.py``
makes single cells of these and of other results again.

``--sources``: compares instead, for all experiments, the functions, classes, variables and folders of kernels that an experiment
uses, directly or through others, with those that its results were made from: by name, without comments, docstrings,
annotations, messages and the names of local variables (``origin.py``, ``definitions.py``). A changed one need not change a number.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from experiments.__main__ import NAMES
from experiments.counted import kept_in
from experiments.origin import ROOT, Tree, at_commit, here

__all__ = ["CELLS", "OLDER", "Cells", "account", "made", "moved"]

# Results from before results kept what they were made from: the commit that they came with. An entry goes when the
# experiment is run again.
OLDER = {
    "pcc2013.explained": "a8f76ac",
    "pcc2013.matrices": "a8f76ac",
    "usenc2020.members": "3e526fc",
    "usenc2020.graphs": "9639e08",
    "usenc2020.scale": "eea4c64",
    "default.members": "db5553e",
    "default.weights": "be7d8ce",
    "scale.fitted_on": "ce37252",
    "ccp2010.examples": "59da48e",
}


# Results are kept to 6 decimals.
_ROUNDING = 2e-6


@dataclass(frozen=True)
class Cells:
    """Results by ensemble and method: the module whose ``measure`` made them, the file, the ensembles that take seconds."""

    experiment: str
    path: str
    quick: str
    settings: Mapping[str, Any]


CELLS = (
    Cells("pcc2013.tables", "pcc2013/result/tables.json", r"ensemble \d/(iris|wine)/\d+", {"n_partitions": 150, "n_starts": 20}),
    Cells("robust2013.figures", "robust2013/result/figures.json", r"(k-means|mixed)/(iris|wine)/\d+", {"few": False}),
    Cells("peace2013.figures", "peace2013/result/figures.json", r"ensemble \d/(iris|wine)/\d+", {"few": False}),
    Cells("fca2016.figures", "fca2016/result/figures.json", r"\d/\w+/100 objects, .*", {"runs": 10}),
)  # fmt: skip


def moved(cells: Cells, unit: str, names: Sequence[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each of these methods whose numbers on an ensemble have moved, with the kept ones and those of today."""
    module = import_module(f"experiments.{cells.experiment}")
    kept = kept_in(cells.path).found[unit]
    for name in names:
        then, now = kept[name], module.measure(unit, [name], **cells.settings)[name]
        old, new = (
            {k: v for k, v in each.items() if k != "CPU s"}
            if isinstance(each, dict)
            else {"": each}
            for each in (then, now)
        )
        if not all(np.allclose(new[key], old[key], rtol=0, atol=_ROUNDING) for key in old):
            yield name, old, new


def made(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the results below a folder say that they were made from, once each."""
    found = []
    for path in sorted(folder.glob("*/result/*.json")):
        text = json.loads(path.read_text(encoding="utf-8"))
        entries = text.get("made", []) if isinstance(text, dict) else []
        for entry in entries if isinstance(entries, list) else [entries]:
            if entry not in found:
                found.append(entry)
                yield entry


def account(
    names: tuple[str, ...], origins: list[dict[str, Any]], now: Tree, root: Path = ROOT
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each experiment, how it stands, and the sources that have changed, as far as that is known."""
    for name in names:
        of_name = [entry for entry in origins if entry["experiment"] == name]
        if not of_name and name in OLDER:
            of_name = [{"experiment": name, "commit": OLDER[name], "sources": None}]
        if not of_name:
            yield name, "not known what it was made from", []
        for entry in of_name:
            commit = entry["commit"]
            if entry["sources"] == now.fingerprint(name):
                yield name, f"up to date (made from {commit})", []
                continue
            then = at_commit(commit.removesuffix("-dirty"), root)
            if then is None:
                yield (
                    name,
                    f"older than its code (made from {commit}, which is not in this clone)",
                    [],
                )
                continue
            old, new = then.sources(name), now.sources(name)
            changed = sorted(
                path for path in old.keys() | new.keys() if old.get(path) != new.get(path)
            )
            if not changed and not commit.endswith("-dirty"):
                yield name, f"up to date (made from {commit})", []
            else:
                count = f"{len(changed)} of {len(old.keys() | new.keys())} definitions have changed"
                yield name, f"older than its code (made from {commit}; {count})", changed


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Results that are not what the code gives today.")
    parser.add_argument("--seed", type=int, default=0, help="draws the ensembles [0]")
    parser.add_argument("--sources", action="store_true", help="compare sources instead of numbers")
    parser.add_argument("--verbose", action="store_true", help="all sources that have changed")
    arguments = parser.parse_args(given)
    if arguments.sources:
        _print_sources(arguments.verbose)
        return
    rng = np.random.default_rng(arguments.seed)
    for cells in CELLS:
        found, begun = kept_in(cells.path).found, time.process_time()
        unit = str(rng.choice([unit for unit in found if re.fullmatch(cells.quick, unit)]))
        methods = list(found[unit])
        changed = list(moved(cells, unit, methods))
        print(
            f"{cells.experiment}, {unit}: {len(changed)} of {len(methods)} methods have moved "
            f"({time.process_time() - begun:.0f} CPU s)"
        )
        for name, then, now in changed:
            print(f"    {name}: {then} is now {now}")


def _print_sources(verbose: bool) -> None:
    origins = list(made(ROOT / "experiments"))
    for name, state, changed in account(NAMES, origins, here()):
        print(f"{name}: {state}")
        shown = changed if verbose else changed[:3]
        for path in shown:
            print(f"    {path}")
        if len(changed) > len(shown):
            print(f"    and {len(changed) - len(shown)} more")


if __name__ == "__main__":
    main()
