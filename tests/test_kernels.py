"""The structure of the C++ sources: a folder per stage, includes that go down, paths that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "src" / "conclust" / "_kernels"

# A file may include files of its own folder or of one with a lower number.
FOLDERS = {
    "base": 0,
    "labels": 1,
    "simplex": 1,
    "kmeans": 2,
    "kmeans/tiles": 1,
    "evidence": 2,
    "evidence/bitsliced": 2,
    "evidence/nearest": 3,
    "pair_objective": 2,
    "pair_objective/factored": 3,
    "pair_objective/greedy": 3,
    "pair_objective/pairwise": 3,
    "pair_objective/landmark": 4,
    "linkage": 3,
    "linkage/rows": 4,
    "search": 3,
    "search/losses": 2,
    "search/resemblance": 2,
    "search/rows": 2,
    "models": 3,
    "models/chains": 2,
    "graph": 3,
    "neighbours": 4,
    "borders": 3,
}

SOURCES = sorted(
    path.relative_to(KERNELS).as_posix()
    for path in KERNELS.rglob("*")
    if path.suffix in (".cpp", ".h") and path.name != "module.cpp"
)


def folder_of(source):
    return source.rpartition("/")[0]


def included(source):
    """List the files of this project that a file includes."""
    return re.findall(r'^#include "([^"]+)"', (KERNELS / source).read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("source", SOURCES)
def test_includes_are_complete_and_go_down(source):
    folder = folder_of(source)
    assert folder in FOLDERS, (
        f"{folder} has no place: give it one in this file and in ARCHITECTURE.md"
    )
    for header in included(source):
        assert (KERNELS / header).is_file(), (
            f"{source} includes {header}: write it from _kernels on"
        )
        other = folder_of(header)
        assert other == folder or FOLDERS[other] < FOLDERS[folder], f"{source} includes {header}"


def test_named_headers_exist():
    """Checks the documentation, and the docstrings and comments of Python."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    named = {
        (path.name, name)
        for path in texts
        for name in re.findall(r"_kernels/([\w/]+\.(?:h|cpp))", path.read_text("utf-8"))
    }
    assert named
    assert not {place for place in named if not (KERNELS / place[1]).is_file()}


@pytest.mark.parametrize("source", SOURCES)
def test_parallel_loops_have_signed_indices(source):
    text = (KERNELS / source).read_text("utf-8")
    # As in OpenMP 2.0, the version of MSVC, which does not have __restrict__ either.
    loops = re.findall(
        r"^#pragma omp (?:parallel )?for\b(?:.*\\\n)*.*\n\s*for \((.*?);", text, re.M
    )
    assert text.count("#pragma omp for") + text.count("#pragma omp parallel for") == len(loops)
    for loop in loops:
        assert loop.startswith("std::ptrdiff_t "), loop
    assert "__restrict__" not in text
