"""Try conclust as it was installed: imported, clustering, from the shell.

``make wheel`` runs it in an environment without a compiler (``--bare``: that this is so is looked at), and
cibuildwheel on each platform.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import conclust

BUILDERS = ("cc", "gcc", "c++", "g++", "clang", "cl", "cmake", "ninja", "make")


def shell(*words: str) -> str:
    """Run the command that was installed; return what it prints."""
    command = Path(sysconfig.get_path("scripts")) / "conclust"
    done = subprocess.run([command, *words], capture_output=True, text=True, check=True)
    return done.stdout


def try_library() -> None:
    """Make clusterings of the irises and combine them; threads change no bit."""
    X, y = load_iris(return_X_y=True)
    ensemble = conclust.EnsembleGenerator(n_partitions=20, random_state=0).fit_transform(X)
    for method in (conclust.PCC(3, random_state=0), conclust.EAC(3), conclust.CSPA(3)):
        labels = [method.set_params(n_jobs=jobs).fit_predict(ensemble) for jobs in (1, 2)]
        score = adjusted_rand_score(y, labels[0])
        print(f"{type(method).__name__}: ARI {score:.3f}")
        assert score > 0.4, method
        assert np.array_equal(*labels), method


def try_shell() -> None:
    """Ask the commands for what they know, and let them cluster data that ship with scikit-learn."""
    version = importlib.metadata.version("conclust")
    assert shell("--version").split()[:2] == ["conclust", version]
    listed = shell("methods")
    assert all(method.estimator in listed for method in conclust.methods())
    with tempfile.TemporaryDirectory() as folder:
        told = shell("demo", "--data", "iris", "--out", str(Path(folder) / "demo"), "--quiet")
        assert told == ""
        assert (Path(folder) / "demo" / "results.json").exists(), list(Path(folder).rglob("*"))


def main(words: list[str]) -> None:
    """Try all of it."""
    if "--bare" in words:
        there = [name for name in BUILDERS if shutil.which(name)]
        assert not there, f"this environment has {there}"
    home = Path(conclust.__file__).resolve()
    assert home.is_relative_to(Path(sysconfig.get_path("platlib")).resolve()), home
    assert files("conclust").joinpath("py.typed").is_file()
    built = home.parent.joinpath("_kernels").glob("_core.*")
    (kernels,) = (path.name for path in built if path.suffix != ".pyi")
    print(f"Python {sys.version.split()[0]}, conclust {conclust.__version__}, {kernels}")
    try_library()
    try_shell()


if __name__ == "__main__":
    main(sys.argv[1:])
