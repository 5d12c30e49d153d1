"""Mutation testing of the Python sources of three floors: ``python -m tools.mutants [--sample 100] [--seed 0]``.

A mutant is a copy of the sources with one small fault: a comparison turned or shifted, an arithmetic operator exchanged,
a constant changed, a condition turned round. The tests of its folder run on it until one fails, which kills it. A mutant
that survives is a fault that no test sees, or one that changes nothing: each is
worth a look, none is a failure of this program. Mutants are drawn at random by the seed; the checkout is not touched.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

__all__ = ["TESTS", "Mutant", "mutants_of", "tests_of"]

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "conclust"
# Sources, and the tests that are to notice their faults; the quickest ones of a folder, since they run once a mutant.
TESTS = {
    "similarity/*": (
        "tests/similarity",
        "tests/consensus/graph/test_crowd.py",
        "tests/consensus/literature/test_links.py",
        "tests/consensus/literature/test_cehm.py",
        "tests/weighting/test_coarsen.py",
    ),
    "weighting/*": tuple(f"tests/weighting/test_{name}.py" for name in ("weighting", "coarsen")),
    "confidence/*": ("tests/confidence",),
    "consensus/voting/*": ("tests/consensus/voting", "tests/blocks/test_cumulative_voting.py"),
    "consensus/literature/*": ("tests/consensus/literature",),
}
_COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
_COMPUTED = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}  # fmt: skip
# What these calls say is not what the code does.
_WORDS = {"warn", "refuse", "stage", "print", "check_gram", "InputError", "ParameterError"}
# Runs pytest on the copy: the finder of an editable installation would find the checkout.
_RUN = """
import sys
sys.meta_path = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
sys.path[:0] = ["src", "."]
import conclust, pytest
assert conclust.__file__.startswith(sys.argv[1]), conclust.__file__
sys.exit(pytest.main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Mutant:
    """A source with one fault.

    Attributes
    ----------
    path : str
        The source, relative to the package.
    line : int
        Where the fault is, from 1 on.
    before, after : str
        The line, without and with the fault.
    source : str
        The whole text with the fault.
    """

    path: str
    line: int
    before: str
    after: str
    source: str


def mutants_of(path: str, text: str) -> Iterator[Mutant]:
    """Yield all mutants of a source."""
    starts = np.cumsum([0, *(len(line.encode()) for line in text.splitlines(keepends=True))])
    raw = text.encode()

    def at(line: int, column: int) -> int:
        return int(starts[line - 1]) + column

    for begin, end, new in _changes(ast.parse(text), raw, at):
        changed = (raw[:begin] + new.encode() + raw[end:]).decode()
        line = int(np.searchsorted(starts, begin, "right"))
        before, after = text.splitlines()[line - 1], changed.splitlines()[line - 1]
        if _compiles(changed):
            yield Mutant(path, line, before.strip(), after.strip(), changed)


def _compiles(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _changes(tree: ast.AST, raw: bytes, at: object) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and new text of each change."""
    place = at  # (line, column in bytes) -> byte
    assert callable(place)

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)

    def between(
        left: ast.expr, right: ast.expr, old: str, new: str
    ) -> Iterator[tuple[int, int, str]]:
        begin, end = span(left)[1], span(right)[0]
        found = re.search(
            rf"{re.escape(old)}(?![=*/])" if not old.isalpha() else rf"\b{old}\b",
            raw[begin:end].decode(),
        )
        if found:
            yield begin + found.start(), begin + found.end(), new

    for node in _of_code(tree):
        if isinstance(node, ast.Compare):
            for left, operator, right in zip(
                [node.left, *node.comparators], node.ops, node.comparators, strict=False
            ):
                if type(operator) in _COMPARED:
                    yield from between(left, right, *_COMPARED[type(operator)])
        elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
            yield from between(node.left, node.right, *_COMPUTED[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from between(node.values[0], node.values[1], *words)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            # A number with its sign is one constant.
            if not isinstance(node.operand, ast.Constant):
                yield span(node)[0], span(node.operand)[0], ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            if isinstance(node.value, bool):
                yield *span(node), str(not node.value)
            elif isinstance(node.value, int):
                yield *span(node), str(node.value + 1)
            else:
                yield *span(node), repr(node.value * 2 if node.value else 1.0)


def _of_code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that decide what the code does: no annotations, messages or descriptions of methods."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            children = value if isinstance(value, list) else [value]
            todo += [
                child for child in children if isinstance(child, ast.AST) and not _silent(child)
            ]


def _silent(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in {*_WORDS, "Method"}
    return isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"


def tests_of(path: str) -> tuple[str, ...]:
    """Return the tests of a source; none where it is not mutated."""
    for pattern, tests in TESTS.items():
        if fnmatch(path, pattern):
            return tests
    return ()


class Copy:
    """A copy of the sources and tests, in which one source at a time has a fault."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        leave = shutil.ignore_patterns("__pycache__", "*.cpp", "*.h")
        shutil.copytree(SOURCES, folder / "src" / "conclust", ignore=leave)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=leave)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name in ("tools", "experiments", "docs"):
            (folder / name).symlink_to(ROOT / name)
        import conclust._kernels._core as extension

        assert extension.__file__ is not None
        shutil.copy(extension.__file__, folder / "src" / "conclust" / "_kernels")

    def run(self, tests: Sequence[str], seconds: float | None) -> tuple[int, float]:
        """Run tests until one fails; return the exit status, 1 too where they take too long, and the seconds."""
        given = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
        command = [sys.executable, "-B", "-c", _RUN, str(self.folder), *given]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        began = time.monotonic()
        try:
            status = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, timeout=seconds
            ).returncode
        except subprocess.TimeoutExpired:
            status = 1
        return status, time.monotonic() - began

    def kills(self, mutant: Mutant, seconds: float) -> bool:
        """Tell whether a test fails on a mutant."""
        path = self.folder / "src" / "conclust" / mutant.path
        whole = path.read_text(encoding="utf-8")
        path.write_text(mutant.source, encoding="utf-8")
        try:
            return self.run(tests_of(mutant.path), seconds)[0] != 0
        finally:
            path.write_text(whole, encoding="utf-8")


def all_mutants(only: Sequence[str]) -> list[Mutant]:
    """Return the mutants of all sources that have tests here, or of those below the folders named."""
    found: list[Mutant] = []
    for file in sorted(SOURCES.rglob("*.py")):
        path = file.relative_to(SOURCES).as_posix()
        if tests_of(path) and (not only or any(path.startswith(name) for name in only)):
            found += mutants_of(path, file.read_text(encoding="utf-8"))
    return found


def main(given: Sequence[str] | None = None) -> int:
    """Print which mutants survive, and the share that is killed."""
    parser = argparse.ArgumentParser(
        description="Mutation testing: faults in the sources, and whether tests see them."
    )
    parser.add_argument("--sample", type=int, default=100, help="mutants drawn (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: 0)")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="FOLDER", help="such as similarity"
    )
    arguments = parser.parse_args(given)
    mutants = all_mutants(arguments.only)
    chosen = np.random.default_rng(arguments.seed).permutation(len(mutants))[: arguments.sample]
    print(f"{len(chosen)} of {len(mutants)} mutants, seed {arguments.seed}", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        limits: dict[tuple[str, ...], float] = {}
        for number, at in enumerate(sorted(chosen.tolist()), 1):
            mutant = mutants[at]
            tests = tests_of(mutant.path)
            if tests not in limits:
                status, seconds = copy.run(tests, None)
                if status != 0:
                    print(f"The tests {' '.join(tests)} fail without a fault.", file=sys.stderr)
                    return 2
                limits[tests] = 30.0 + 4.0 * seconds
            killed = copy.kills(mutant, limits[tests])
            survivors += [] if killed else [mutant]
            print(
                f"{number:4d} {'killed  ' if killed else 'SURVIVES'} {mutant.path}:{mutant.line}: "
                f"{mutant.before}  ->  {mutant.after}",
                flush=True,
            )
    killed_count = len(chosen) - len(survivors)
    print(
        f"\nKilled: {killed_count} of {len(chosen)} ({100 * killed_count / max(1, len(chosen)):.0f} %)."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
