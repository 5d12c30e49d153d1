"""Results that are kept as soon as they are there: a run that was stopped goes on where it was."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from experiments.origin import origin

__all__ = ["Kept", "fill", "opened"]

# Of what is kept: far less than repetitions differ by.
_DECIMALS = 6


class Kept:
    """Results by key in a JSON file, a line each, with the settings that they were made with.

    Parameters
    ----------
    path : Path or None
        The file. None: nothing outlives the run.
    settings : mapping
        What decides all results; a file made with others is refused.
    made : mapping, optional
        What results that are added are made from (``origin.py``). The file lists all that its results were made from.
    """

    def __init__(
        self, path: Path | None, settings: Mapping[str, Any], made: Mapping[str, Any] | None = None
    ) -> None:
        self.path = path
        self.now = made
        self.made: list[Any] = []
        self.settings = json.loads(json.dumps(settings))
        self.found: dict[str, Any] = {}
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["settings"] != self.settings:
                raise SystemExit(
                    f"{path} was made with {kept['settings']}, not {self.settings}: give these, or another --out."
                )
            self.found = kept["found"]
            self.made = kept.get("made", [])

    def add(self, key: str, value: Any) -> None:
        """Keep a result; a dict is added to the one that is there."""
        value = rounded(value)
        if isinstance(value, dict) and key in self.found:
            value = {**self.found[key], **value}
        self.found[key] = value
        if self.now is not None and self.now not in self.made:
            self.made.append(dict(self.now))
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self.path.with_suffix(".part")
            unfinished.write_text(self._text(), encoding="utf-8")
            unfinished.replace(self.path)

    def _text(self) -> str:
        found = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(self.found[key])}" for key in sorted(self.found)
        )
        made = "" if not self.made else f'"made": {json.dumps(self.made)}, '
        return f'{{"settings": {json.dumps(self.settings)}, {made}"found": {{\n{found}\n}}}}\n'


def opened(arguments: argparse.Namespace, name: str, settings: Mapping[str, Any]) -> Kept:
    """Return what is kept as a file in the folder of --out.

    Tables that are written from it say what it was made from.
    """
    path = None if arguments.out is None else arguments.out / name
    kept = Kept(path, settings, origin(arguments.experiment))
    arguments.made = kept.made
    return kept


def rounded(value: Any) -> Any:
    """Return plain numbers, lists and dicts; fractions with six decimals."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if hasattr(value, "tolist"):
        return rounded(value.tolist())
    return round(value, _DECIMALS) if isinstance(value, float) else value


def fill(
    kept: Kept,
    wanted: Mapping[str, Sequence[str]],
    measure: Callable[[str, list[str]], dict[str, Any]],
    jobs: int | None = None,
) -> None:
    """Measure what is not there yet, units in processes of their own.

    Parameters
    ----------
    kept : Kept
        What is there.
    wanted : mapping of str to sequence of str
        From keys of what is repeated (a set, a seed) to the names that each is to have a result of.
    measure : callable
        From a unit and the names that it lacks to a dict from these to results. Must be possible to send to a
        process.
    jobs : int, optional
        Processes; None: all processors.
    """
    lacking = {
        unit: [name for name in names if name not in kept.found.get(unit, {})]
        for unit, names in wanted.items()
    }
    todo = {unit: missing for unit, missing in lacking.items() if missing}
    if not todo:
        return
    began = time.monotonic()
    # One task at a time for each process: what is done is kept at once.
    workers = Parallel(n_jobs=jobs or -1, return_as="generator_unordered", pre_dispatch="n_jobs")
    done = workers(delayed(_one)(measure, unit, missing) for unit, missing in todo.items())
    told = began
    for number, (unit, found) in enumerate(done, 1):
        kept.add(unit, found)
        now = time.monotonic()
        if now - told > 10.0 or number == len(todo):
            left = (now - began) / number * (len(todo) - number)
            print(f"  {number} of {len(todo)}, {left / 60:.0f} min left ({unit})", flush=True)
            told = now


def _one(measure: Callable[..., Any], unit: str, missing: list[str]) -> tuple[str, Any]:
    return unit, measure(unit, missing)
