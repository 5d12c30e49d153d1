"""The report of `make coverage`: its counts and its minimum."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from tools import coverage


def unit(folder, **lines):
    """Return a report of gcov: a count for each line of each file."""
    files = [
        {"file": name, "lines": [{"line_number": at, "count": n} for at, n in counts.items()]}
        for name, counts in lines.items()
    ]
    return {"current_working_directory": str(folder), "files": files}


def test_a_line_is_covered_if_any_unit_ran_it(tmp_path):
    first = unit(tmp_path, a={1: 0, 2: 3}, b={1: 0})
    second = unit(tmp_path, a={1: 1, 3: 0})
    ran = coverage.counted_lines([first, second], tmp_path)
    assert ran == {"a": {1: True, 2: True, 3: False}, "b": {1: False}}
    assert coverage.share(ran) == 50.0


def test_files_of_dependencies_are_ignored(tmp_path):
    ours = tmp_path / "kernels"
    assert coverage.counted_lines([unit(tmp_path, vector={1: 1})], ours) == {}


def test_branches_are_counted_in_total_and_per_file(tmp_path):
    path = tmp_path / "coverage.json"
    counts = [(4, 3), (0, 0)]
    files = {
        name: {"summary": {"num_branches": all_, "covered_branches": ran}}
        for name, (all_, ran) in zip("ab", counts, strict=True)
    }
    totals = {"num_branches": 4, "covered_branches": 3}
    path.write_text(json.dumps({"files": files, "totals": totals}))
    assert coverage.branches(path) == (75.0, {"a": 75.0, "b": 100.0})


@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("gcov")), reason="needs g++ and gcov")
def test_the_output_of_gcov_is_parsed(tmp_path, monkeypatch):
    source = tmp_path / "one.cpp"
    source.write_text(
        "int half(int x) {\n    if (x < 0)\n        return -1;\n    return x / 2;\n}\n"
        "int main() { return half(1); }\n"
    )
    monkeypatch.setattr(coverage, "KERNELS", tmp_path)
    command = ["g++", "--coverage", "-O0", str(source), "-o", str(tmp_path / "one")]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "one"], cwd=tmp_path, check=True)
    monkeypatch.setattr(
        coverage, "counted_lines", lambda reports, f=coverage.counted_lines: f(reports, tmp_path)
    )
    ran = coverage.lines_of(tmp_path)
    assert ran == {"one.cpp": {1: True, 2: True, 3: False, 4: True, 6: True}}
