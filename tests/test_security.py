"""Guarantees of SECURITY.md that no other test checks."""

from __future__ import annotations

import ast
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import conclust
from conclust import Ensemble
from conclust.blocks import LabelStore
from conclust.cli.reading.inputs import read_ensemble
from conclust.cli.requested import Reading
from conclust.exceptions import ConclustError

PACKAGE = Path(conclust.__file__).parent
ROOT = PACKAGE.parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# Modules that execute data, start programs, or open connections.
DANGEROUS = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "subprocess", "pty", "code", "runpy"),
    *("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "requests", "ctypes", "xmlrpc"),
}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            name = node.args[0]
            yield name.value if isinstance(name, ast.Constant) else "conclust"


def called(node):
    function = node.func
    return getattr(function, "id", getattr(function, "attr", ""))


def test_no_module_executes_data():
    assert len(MODULES) > 300
    for path in MODULES:
        tree, where = ast.parse(path.read_text("utf-8")), path.relative_to(PACKAGE)
        assert (
            not {name.split(".")[0] for name in imported(tree) if name != "urllib.parse"}
            & DANGEROUS
        ), where
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            line = f"{where}, line {node.lineno}"
            assert getattr(node.func, "id", "") not in ("eval", "exec", "compile"), line
            attribute = getattr(node.func, "attr", "")
            assert attribute not in ("system", "popen", "spawnv", "execv"), line
            owner = getattr(getattr(node.func, "value", None), "id", "")
            assert (attribute, owner) != ("load", "np"), line
            for keyword in node.keywords:
                if keyword.arg == "allow_pickle":
                    assert ast.unparse(keyword.value) == "False", line


def test_files_named_in_the_policy_exist():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name


class Trap:
    """A pickle that creates a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_unpickling_the_trap_runs_its_code(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "run")))
    assert (tmp_path / "run").exists()


def test_pickles_in_types_of_parquet_are_not_read(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    trap = pickle.dumps(Trap(tmp_path / "run"))
    names = (b"arrow.py_extension_type", b"pickle")
    fields = [
        arrow.field(
            f"c{u}",
            arrow.int64(),
            metadata={b"ARROW:extension:name": name, b"ARROW:extension:metadata": trap},
        )
        for u, name in enumerate(names)
    ]
    schema = arrow.schema(fields, metadata={b"pandas": trap, b"extra": b"\xff"})
    columns = [arrow.array([0, 0, 1, 1]) for _ in names]
    path = tmp_path / "labels.parquet"
    parquet.write_table(arrow.Table.from_arrays(columns, schema=schema), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = read_ensemble(path, Reading()).ensemble
        store = LabelStore(path).facts
    assert found.shape == (4, 2)
    assert list(store.cluster_counts) == [2, 2]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["labels.npy", "labels.npz", "labels.csv", "labels.parquet"])
def test_a_pickle_under_any_name_is_refused(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(pickle.dumps([Trap(tmp_path / "run"), np.zeros((4, 2))]))
    with pytest.raises((ConclustError, OSError)):
        read_ensemble(path, Reading())
    assert not (tmp_path / "run").exists()


def test_objects_in_npy_are_refused_where_labels_are_read_in_blocks(tmp_path):
    path = tmp_path / "labels.npy"
    traps = np.empty((4, 2), dtype=object)
    traps[:] = Trap(tmp_path / "run")
    np.save(path, traps, allow_pickle=True)
    with pytest.raises(ConclustError, match="never read"):
        LabelStore(path).facts  # noqa: B018
    assert not (tmp_path / "run").exists()


def test_the_file_of_an_ensemble_holds_no_pickle(tmp_path):
    Ensemble([[0, 1], [0, 1], [1, 0]]).save(tmp_path / "ensemble.npz")
    with np.load(tmp_path / "ensemble.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "biuf" for name in file.files)
        json.loads(bytes(file["meta"]))
