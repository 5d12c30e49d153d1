"""The same command makes the same files, byte by byte, in every process and after a resumption."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conclust import EnsembleGenerator
from conclust.cli import main

KINDS = "kmeans+spherical+spectral+graph"


@pytest.fixture
def points(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 4 * rng.integers(0, 3, (60, 1))
    path = tmp_path / "points.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_do_not_depend_on_the_hashes_of_a_process(points, tmp_path, monkeypatch):
    made = []
    for name in ("here", "there"):
        home = tmp_path / name
        home.mkdir()
        words = ["cluster", str(points), "--out", "result", "--generator", KINDS]
        words += ["--partitions", "8", "--seed", "3", "-q"]
        if name == "here":
            monkeypatch.chdir(home)
            assert main(words) == 0
        else:
            seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
            subprocess.run(
                [sys.executable, "-m", "conclust", *words],
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
                cwd=home,
            )
        result = json.loads((home / "result" / "result.json").read_text())
        result.pop("seconds")
        made.append({**contents(home / "result"), "result.json": result})
    assert "model.npz" in made[0]
    assert [name for name in made[0] if made[0][name] != made[1].get(name)] == []


@pytest.mark.parametrize("method", ["graph", "spectral", "kmeans"])
def test_a_cache_holds_shared_points_once_and_a_resumed_run_saves_the_same_file(method, tmp_path):
    X = np.random.default_rng(1).normal(size=(2_000, 10))

    def run(name, n_partitions):
        generator = EnsembleGenerator(
            method, n_partitions=n_partitions, random_state=0, cache_dir=tmp_path / "cache"
        ).fit(X)
        generator.save(tmp_path / name)
        return generator

    first, second = run("first.npz", 10), run("second.npz", 10)
    assert (first.n_cached_, second.n_cached_) == (0, 10)
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "second.npz").read_bytes()
    arrays = [path.read_bytes() for path in (tmp_path / "cache").rglob("*.npy")]
    assert len(arrays) == len(set(arrays))
    if method == "graph":
        stored = sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.npy"))
        assert stored < 3 * X.nbytes
        assert len({id(member.model.search) for member in second.members_}) == 1
