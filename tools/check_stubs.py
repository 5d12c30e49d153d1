"""Look whether types and stubs are those of the library that runs: ``python -m tools.check_stubs``.

mypy's stubtest compares what is declared with what is imported. What it reports and is no fault stands in
`ALLOWED`, with the reason; a reason that nothing needs any more is reported too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ALLOWED", "unexplained"]

ROOT = Path(__file__).resolve().parent.parent

# Pattern of a report -> why it is not a fault.
ALLOWED = {
    r"conclust\.[\w.]+ is not a Union": "a Literal of several words, which stubtest takes for a Union",
    r"conclust\.([\w.]+\._\w+|_parameters\.parameters_of) is inconsistent, (stub does not have parameter|runtime does not have \*)": (
        "a function behind functools.cache, whose wrapper takes anything"
    ),
    r"conclust\._kernels\._core\.\w+ is inconsistent, metaclass differs": "nanobind makes its own classes",
    r"conclust\._kernels\._core\.\w+ is a disjoint base at runtime": "nanobind's classes cannot be combined",
    r"conclust\._kernels\._core\.[\w.]+ is not a function": "nanobind's functions are objects of its own",
    r"conclust\._kernels\._core\.(Codes|Floats|Ints|Sums) is not present at runtime": (
        "arrays by name, for the stub alone"
    ),
    r"conclust\.[\w.]+\.set_\w+_request is not present in stub": (
        "scikit-learn makes these methods from the keywords of fit and predict"
    ),
    r"conclust\.plotting\.canvas\.own_figure\.OwnFigure\.set is inconsistent": (
        "matplotlib makes the keywords of set from the setters of each class of artists"
    ),
    r"conclust\._kernels\._core_\w+ failed to import": "a part of the stub of _core, which is one module",
}


def unexplained(
    reports: Iterable[str], allowed: dict[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Return the reports that no pattern explains, and the patterns that explain none."""
    patterns = ALLOWED if allowed is None else allowed
    unused = dict.fromkeys(patterns)
    faults = []
    for report in reports:
        explained = [pattern for pattern in patterns if re.match(pattern, report)]
        if not explained:
            faults.append(report)
        for pattern in explained:
            unused.pop(pattern, None)
    return faults, list(unused)


def main() -> int:
    """Run stubtest; print what is wrong; return 1 if anything is."""
    command = [sys.executable, "-m", "mypy.stubtest", "conclust", "--concise"]
    run = subprocess.run(
        [*command, "--mypy-config-file", "pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    reports = run.stdout.splitlines()
    if run.stderr or not reports:
        print(run.stderr or "stubtest reported nothing: did it run?", file=sys.stderr)
        return 1
    faults, unused = unexplained(reports)
    for line in faults:
        print(line, file=sys.stderr)
    for pattern in unused:
        print(f"tools/check_stubs.py allows what is not reported: {pattern}", file=sys.stderr)
    print(f"{len(reports) - len(faults)} reports of stubtest explained, {len(faults)} not")
    return 1 if faults or unused else 0


if __name__ == "__main__":
    sys.exit(main())
