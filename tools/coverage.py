"""Report the coverage of the tests: branches of the Python code, lines of the C++ code.

python -m tools.coverage build/coverage

It reads ``.coverage`` of pytest-cov and the counts of gcov below the folder of the build, and fails below `FLOOR`.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

__all__ = ["FLOOR", "branches", "counted_lines", "lines_of", "main", "share"]

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "src" / "conclust" / "_kernels"
# Per cent, of each of the two.
FLOOR = 90.0


def counted_lines(
    counts: Iterable[dict[str, object]], kernels: Path = KERNELS
) -> dict[str, dict[int, bool]]:
    """Return, for each source of the kernels, its lines and whether each ran in any translation unit.

    Parameters
    ----------
    counts : iterable of dict
        Reports of ``gcov --json-format``, one per translation unit.
    kernels : Path, default=KERNELS
        Folder of the sources; lines of other files (the standard library, nanobind) are left out.

    Returns
    -------
    dict
        File name below `kernels`: line number: whether it ran.
    """
    ran: dict[str, dict[int, bool]] = defaultdict(dict)
    for unit in counts:
        folder = Path(str(unit["current_working_directory"]))
        for file in unit["files"]:  # type: ignore[attr-defined]
            path = (folder / file["file"]).resolve()
            if not path.is_relative_to(kernels):
                continue
            lines = ran[path.relative_to(kernels).as_posix()]
            for line in file["lines"]:
                number = int(line["line_number"])
                lines[number] = lines.get(number, False) or line["count"] > 0
    return dict(ran)


def lines_of(build: Path) -> dict[str, dict[int, bool]]:
    """Return `counted_lines` of all translation units that were built in a folder."""
    units = sorted(build.rglob("*.gcno"))
    with tempfile.TemporaryDirectory() as folder:
        for at, unit in enumerate(units):
            inner = Path(folder) / str(at)
            inner.mkdir()
            subprocess.run(
                ["gcov", "--json-format", str(unit.resolve())],
                cwd=inner,
                check=True,
                capture_output=True,
            )
        reports = [
            json.loads(gzip.decompress(path.read_bytes()))
            for path in sorted(Path(folder).rglob("*.gcov.json.gz"))
        ]
    return counted_lines(reports)


def share(ran: dict[str, dict[int, bool]]) -> float:
    """Return the percentage of lines that ran."""
    every = [line for lines in ran.values() for line in lines.values()]
    return 100.0 * sum(every) / len(every)


def branches(path: Path) -> tuple[float, dict[str, float]]:
    """Return the percentage of branches that ran, of all Python code and of each file.

    Parameters
    ----------
    path : Path
        Report of ``coverage json``.
    """
    report = json.loads(path.read_text("utf-8"))

    def percentage(summary: dict[str, int]) -> float:
        if summary["num_branches"] == 0:
            return 100.0
        return 100.0 * summary["covered_branches"] / summary["num_branches"]

    files = {name: percentage(file["summary"]) for name, file in report["files"].items()}
    return percentage(report["totals"]), files


def main(build: str) -> int:
    """Print both percentages and the files with the lowest; return 1 if one is below the floor."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        subprocess.run(
            [sys.executable, "-m", "coverage", "json", "-q", "-o", str(path)], check=True, cwd=ROOT
        )
        python, files = branches(path)
    lines = lines_of(Path(build))
    kernels = share(lines)
    for name, value in sorted(files.items(), key=lambda pair: pair[1])[:10]:
        print(f"{value:6.1f} % of the branches of {name}")
    for name, value in sorted(
        ((name, share({name: lines[name]})) for name in lines if lines[name]),
        key=lambda pair: pair[1],
    )[:10]:
        print(f"{value:6.1f} % of the lines of {name}")
    print(f"Python: {python:.1f} % of the branches; C++: {kernels:.1f} % of the lines")
    return 0 if min(python, kernels) >= FLOOR else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
