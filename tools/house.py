"""The size of the house: lines of code, modules that a first use loads, public names, parameters.

python -m tools.house prints the table; tests/test_architecture.py fails if a size is above tests/budget.json.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "tests" / "budget.json"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_USES = {
    "points": "cc.ConsensusClustering(random_state=0).fit(np.random.default_rng(0).normal(size=(300, 4)))",
    "labels": "cc.AutoConsensus().fit([[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 3], [1, 1, 4], [1, 2, 4]])",
    "HBGF": "cc.HBGF(2, random_state=0).fit([[0, 0], [0, 0], [1, 1], [1, 1]])",
}
_COUNTED = "print(sum(m.split('.')[0] == 'conclust' for m in sys.modules))"
_NAMES = """
names = {f"{m.__name__}.{n}" for m in [cc, *(getattr(cc, m) for m in cc._MODULES)]
         for n in getattr(m, "__all__", dir(m)) if not inspect.ismodule(getattr(m, n))}
parameters = {n: len(inspect.signature(getattr(cc, n)).parameters) for n in cc.__all__ if inspect.isclass(getattr(cc, n))}
print(len(names), sum(parameters.values()), parameters["EnsembleGenerator"])
"""


def code_lines(path: Path) -> int:
    """Return the number of lines of a Python file that hold code: no blanks, comments, docstrings."""
    text = path.read_text("utf-8")
    rows = (row.strip() for row in text.splitlines())
    lines = {number for number, row in enumerate(rows, 1) if row and not row.startswith("#")}
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant | ast.JoinedStr):  # blank lines within a string count
            lines.update(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines - docstrings)


def cpp_lines(path: Path) -> int:
    """Return the number of lines of a C++ file that are neither blank nor whole comments."""
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


def _printed(code: str) -> list[int]:
    code = "import inspect, sys, numpy as np, conclust as cc; " + code
    printed = subprocess.check_output([sys.executable, "-W", "ignore", "-c", code], text=True)
    return [int(number) for number in printed.split()]


def sizes() -> dict[str, int]:
    """Return every size by its name."""
    source = ROOT / "src" / "conclust"
    folders: Counter[str] = Counter()
    for path in source.rglob("*.py"):
        folders[path.relative_to(source).parts[0].removesuffix(".py")] += code_lines(path)
    names, parameters, of_generator = _printed(_NAMES)
    return {
        **{f"src/{folder}": lines for folder, lines in folders.most_common()},
        "Python": folders.total(),
        "C++": sum(cpp_lines(p) for p in source.rglob("*") if p.suffix in (".cpp", ".h")),
        "tests": sum(code_lines(path) for path in (ROOT / "tests").rglob("*.py")),
        "tests of the workshop": sum(code_lines(p) for p in ROOT.glob("*/tests/**/*.py")),
        **{f"modules of {use}": _printed(f"{code}; {_COUNTED}")[0] for use, code in _USES.items()},
        "lines of ARCHITECTURE.md": len((ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines()),
        "public names": names,
        "parameters of classes": parameters,
        "parameters of EnsembleGenerator": of_generator,
    }


if __name__ == "__main__":
    print("\n".join(f"{name:32s}{size:7,d}" for name, size in sizes().items()))
