"""Files of the package that a call enters, with the lines it executes in each, and the depth of its frames.

    python -m tools.entered                      # the numbers of the calls below
    python -m tools.entered "PCC().fit(labels)"  # the files of one call, and its deepest frames

X are 600 points with three clusters, labels an ensemble of 20 partitions of them. The call is made twice, because the
first one imports modules, and the second is counted. Frames of other packages are not counted.
"""

from __future__ import annotations

import argparse
import sys
import threading
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import conclust

CALLS = (
    "ConsensusClustering().fit(X)",
    "AutoConsensus().fit(labels)",
    'PCC(divergence="l2").fit(labels)',
    "PCC().fit(labels)",
    "EAC().fit(labels)",
    "MCLA(3).fit(labels)",
    "EnsembleGenerator().fit_transform(X)",
)
PACKAGE = str(Path(conclust.__file__).parent)


class Entered:
    """Counts lines and frames of the package while it is active, in all threads."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = defaultdict(set)
        self.functions: dict[str, Counter[str]] = defaultdict(Counter)
        self.deepest: list[str] = []

    def __enter__(self) -> Entered:
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        file = code.co_filename[len(PACKAGE) + 1 :]
        self.functions[file][code.co_qualname] += 1
        self.lines[file].add(frame.f_lineno)
        stack = []
        outer: FrameType | None = frame
        while outer is not None:
            if outer.f_code.co_filename.startswith(PACKAGE):
                name = outer.f_code.co_filename[len(PACKAGE) + 1 :]
                stack.append(f"{name}:{outer.f_code.co_qualname}")
            outer = outer.f_back
        if len(stack) > len(self.deepest):
            self.deepest = stack[::-1]
        return self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.lines[frame.f_code.co_filename[len(PACKAGE) + 1 :]].add(frame.f_lineno)
        return self._line


def count(call: str) -> Entered:
    """Return what the second of two equal calls enters."""
    X = np.random.default_rng(0).normal(size=(600, 4)) + 6 * np.eye(3, 4)[np.arange(600) % 3]
    labels = conclust.EnsembleGenerator(n_partitions=20, random_state=0).fit_transform(X)
    names = {name: getattr(conclust, name) for name in conclust.__all__}
    code = compile(call, call, "eval")
    entered = Entered()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eval(code, names | {"X": X, "labels": labels})
        with entered:
            eval(code, names | {"X": X, "labels": labels})
    return entered


def main() -> None:
    """Print the numbers of files and frames, or the files of one call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("call", nargs="?")
    parser.add_argument("--functions", action="store_true", help="also the functions of each file")
    asked = parser.parse_args()
    for call in CALLS if asked.call is None else [asked.call]:
        entered = count(call)
        print(f"{call}: {len(entered.lines)} files, {len(entered.deepest)} frames deep")
        if asked.call is None:
            continue
        for file, lines in sorted(entered.lines.items(), key=lambda item: -len(item[1])):
            of = len((Path(PACKAGE) / file).read_text("utf-8").splitlines())
            print(f"{len(lines):5d} of {of:4d}  {file}")
            if asked.functions:
                called = entered.functions[file].most_common()
                print(12 * " " + ", ".join(f"{name} {times}" for name, times in called))
        print("\n".join(" " * at + frame for at, frame in enumerate(entered.deepest)))


if __name__ == "__main__":
    main()
