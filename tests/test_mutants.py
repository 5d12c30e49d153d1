"""The driver of mutation testing: its changes, and that tests run on the changed copy."""

import ast

from tools import mutants
from tools.mutants import SOURCES, TESTS, Copy, Mutant, all_mutants, mutants_of

TEXT = '''"""A module: 1 < 2."""

from typing import TypeAlias

Number: TypeAlias = "int | float"


def f(x: int | None, deep: bool = True) -> int | None:
    """Return x + 1."""
    if x is None or not deep:
        raise ValueError(f"{x - 1} < 2")
    warn("a" + "b")
    é = x * 2.5  # bytes and characters differ from here on
    return é if 0 <= x < 10 else -x
'''


def test_each_mutant_has_one_fault():
    actual = {(one.line, one.after) for one in mutants_of("a.py", TEXT)}
    assert actual == {
        (8, "def f(x: int | None, deep: bool = False) -> int | None:"),
        (10, "if x is not None or not deep:"),
        (10, "if x is None and not deep:"),
        (10, "if x is None or deep:"),
        (13, "é = x / 2.5  # bytes and characters differ from here on"),
        (13, "é = x * 5.0  # bytes and characters differ from here on"),
        (14, "return é if 1 <= x < 10 else -x"),
        (14, "return é if 0 < x < 10 else -x"),
        (14, "return é if 0 <= x <= 10 else -x"),
        (14, "return é if 0 <= x < 11 else -x"),
        (14, "return é if 0 <= x < 10 else x"),
    }
    for one in mutants_of("a.py", TEXT):
        ast.parse(one.source)
        assert one.source.splitlines()[one.line - 1].strip() == one.after != one.before


def test_sources_of_three_layers_have_mutants_and_tests():
    for tests in TESTS.values():
        assert all((SOURCES.parents[1] / test).exists() for test in tests)
    paths = {one.path for one in all_mutants(["similarity", "weighting"])}
    assert {"similarity/jaccard.py", "weighting/weights.py"} <= paths
    assert mutants.tests_of("cli/console.py") == ()


def test_a_fault_is_detected_and_the_copy_restored(tmp_path):
    copy = Copy(tmp_path)
    path = "similarity/jaccard.py"
    whole = (SOURCES / path).read_text("utf-8")
    test = tmp_path / "tests" / "similarity"
    for old in test.glob("test_*.py"):
        old.unlink()
    (test / "test_one.py").write_text(
        "from conclust.similarity import cluster_jaccard\n\n\n"
        "def test_one():\n    assert cluster_jaccard([[0, 0], [0, 1]]).toarray()[0, 1] == 0.5\n"
    )
    tests = ("tests/similarity",)
    assert copy.run(tests, 100)[0] == 0
    faulty = Mutant(path, 1, "", "", whole.replace("def cluster_jaccard", "def another"))
    (tmp_path / "src/conclust" / path).write_text(faulty.source)
    assert copy.run(tests, 100)[0] != 0
    (tmp_path / "src/conclust" / path).write_text(whole)
    assert copy.run(tests, 100)[0] == 0
    assert copy.kills(faulty, 100)
    assert (tmp_path / "src/conclust" / path).read_text("utf-8") == whole
