"""Which committed results are older than the code they come from: python -m experiments.stale [--verbose].

A result is up to date where the code that its experiment uses is what it was made from. Compared are the functions,
classes, variables and folders of kernels that the experiment uses, directly or through others: by name, wherever
they stand, without comments, docstrings, annotations, messages and the names of local variables (``origin.py``,
``definitions.py``). What has changed is listed. It need not change a number: ``tests/test_results.py`` makes single
cells of the results again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.__main__ import NAMES
from experiments.origin import ROOT, Tree, at_commit, here

__all__ = ["OLDER", "account", "made"]

# Results from before results kept what they were made from: the commit that they came with. An entry goes when the
# experiment is run again.
OLDER = {
    "pcc2013.explained": "a8f76ac",
    "pcc2013.matrices": "a8f76ac",
    "usenc2020.members": "3e526fc",
    "usenc2020.graphs": "9639e08",
    "usenc2020.scale": "eea4c64",
    "default.number": "f4ae3b1",
    "default.members": "db5553e",
    "default.weights": "be7d8ce",
    "scale.fitted_on": "ce37252",
    "ccp2010.examples": "59da48e",
}


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
    parser = argparse.ArgumentParser(
        description="Results that are older than the code they come from."
    )
    parser.add_argument("--verbose", action="store_true", help="all sources that have changed")
    arguments = parser.parse_args(given)
    origins = list(made(ROOT / "experiments"))
    for name, state, changed in account(NAMES, origins, here()):
        print(f"{name}: {state}")
        shown = changed if arguments.verbose else changed[:3]
        for path in shown:
            print(f"    {path}")
        if len(changed) > len(shown):
            print(f"    and {len(changed) - len(shown)} more")


if __name__ == "__main__":
    main()
