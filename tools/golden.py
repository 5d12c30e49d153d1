"""Digests of what conclust returns, before and after a change that must not move a bit.

python -m tools.golden          write tests/golden.json
python -m tools.golden --check  compare with it; what moved is named, and the exit status is 1

Digests are of one machine: another processor or BLAS may differ in the last bits of memberships. Make them again from the
state before the change. `--only methods,default,choose,shell` leaves out the rest.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from tests.cases import planted, random_labels
from tests.registry import FORMS

import conclust
from conclust import ConsensusClustering, Ensemble
from conclust.cli import main as shell
from conclust.selection import choose

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden.json"

# What differs between two runs of the same command.
_VARYING = re.compile(
    rb"\b[\d.]+ (?:ms|s|seconds)\b|\[\"(?:read|generate|combine|select|write|total)\",[\d.]+\]"
)
_VARYING_KEYS = {"seconds", "times", "command", "versions"}


def digest(*values: object) -> str:
    """Return 16 hexadecimal digits of arrays, numbers and texts."""
    total = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype != object:
            total.update(
                f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
            )
        else:
            total.update(repr(value).encode())
    return total.hexdigest()[:16]


def ensembles() -> dict[str, Ensemble]:
    """Return six ensembles: planted, missing, noise, weights, without structure, soft."""
    rng = np.random.default_rng(9)
    soft = [rng.dirichlet(np.full(k, 0.2), 40) for k in (2, 3, 3, 4)]
    return {
        "planted": Ensemble(planted(0, n=60, m=9)[0]),
        "missing": Ensemble(planted(1, n=48, m=8, missing=0.2)[0]),
        "noise": Ensemble(planted(2, n=48, m=8, noise=0.15)[0]),
        "weights": Ensemble(planted(3, n=45, m=7, k=4)[0], weights=[1, 2, 1, 0.5, 3, 1, 1]),
        "no structure": Ensemble(random_labels(4, 40, 8, 4)),
        "soft": Ensemble.from_memberships(soft),
    }


def fitted(model: Any, data: object) -> str:
    """Return the digest of labels and memberships of a fit, or the name of its error."""
    try:
        model.fit(data)
    except (ValueError, TypeError) as error:
        return type(error).__name__
    return digest(model.labels_, getattr(model, "membership_", None))


def methods() -> Iterator[tuple[str, str]]:
    """Fit every form of the battery to every ensemble."""
    for form, (name, parameters) in FORMS.items():
        kind = getattr(conclust, name)
        takes = "n_clusters" in kind().get_params()
        for title, ensemble in ensembles().items():
            model = kind(**({"n_clusters": 3} if takes else {}), **parameters)
            yield f"{form} on {title}", fitted(model, ensemble)


def sets() -> dict[str, np.ndarray]:
    """Return the sets of points of the default."""
    rng = np.random.default_rng(5)
    blobs = {f"blobs {k}": make_blobs(40 * k, centers=k, random_state=k)[0] for k in (2, 3, 5, 8)}
    return {
        **blobs,
        "cloud": rng.normal(size=(150, 3)),
        "moons": make_moons(200, noise=0.05, random_state=0)[0],
        "line": np.concatenate([rng.normal(0, 1, 80), rng.normal(9, 1, 80)])[:, None],
        "few": make_blobs(30, centers=3, random_state=1)[0],
        "iris": load_iris().data,
        "wine": load_wine().data,
    }


def default() -> Iterator[tuple[str, str]]:
    """Fit the default to points."""
    for title, X in sets().items():
        yield title, fitted(ConsensusClustering(random_state=0), X)
    yield "blobs 3, k", fitted(ConsensusClustering(n_clusters=3, random_state=0), sets()["blobs 3"])


def chosen() -> Iterator[tuple[str, str]]:
    """Choose numbers of clusters by resampling."""
    for title in ("blobs 3", "cloud", "iris"):
        selection = choose(
            sets()[title], [2, 3, 4], n_resamples=10, n_references=19, random_state=1
        )
        yield title, digest(selection.n_clusters, selection.p_value, selection.labels_)


def _table(path: Path, X: np.ndarray) -> str:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"x{j}" for j in range(X.shape[1])])
        writer.writerows([*map(repr, row)] for row in X.tolist())
    return str(path)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in _VARYING_KEYS}
    return [_without_times(v) for v in value] if isinstance(value, list) else value


def _content(path: Path, folder: str) -> str:
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return digest(*((n, arrays[n].tobytes()) for n in sorted(arrays) if "meta" not in n))
    content = _VARYING.sub(b"", path.read_bytes().replace(folder.encode(), b""))
    if path.suffix == ".json":
        content = repr(_without_times(json.loads(content))).encode()
    return digest(content)


def commands() -> Iterator[tuple[str, str]]:
    """Run commands of the shell; digests are of their output and of each file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        points = _table(folder / "points.csv", load_iris().data)
        labels = _table(folder / "labels.csv", planted(6, n=50, m=6)[0])
        other = _table(folder / "other.csv", planted(7, n=50, m=1)[0])
        true = _table(folder / "true.csv", planted(6, n=50, m=6)[1][:, None])
        pcc = ["-k", "3", "--method", "pcc"]
        few = ["--partitions", "8", "--seed", "1", "--jobs", "1"]
        quick = ["--resamples", "5", "--references", "19", "--seed", "1", "--jobs", "1"]
        for title, arguments in {
            "cluster": ["cluster", points, *few, "--out", f"{folder}/cluster"],
            "cluster k": ["cluster", points, *few, "-k", "3", "--out", f"{folder}/k"],
            "combine": ["combine", labels, "--seed", "1", "--out", f"{folder}/combine"],
            "combine pcc": ["combine", labels, *pcc, "--out", f"{folder}/pcc"],
            "combine eac": ["combine", labels, "--method", "eac", "--out", f"{folder}/eac"],
            "select": ["select", points, "-k", "2:3", *quick, "--out", f"{folder}/select"],
            "report": ["report", f"{folder}/cluster", "--out", f"{folder}/page/page.html"],
            "predict": ["predict", f"{folder}/cluster", points, "--out", f"{folder}/new/new.csv"],
            "compare": ["compare", other, true],
        }.items():
            out = Path(arguments[-1])
            parent = out.parent if out.suffix else out
            if "--out" in arguments and out.suffix:
                parent.mkdir()
            printed = StringIO()
            with redirect_stdout(printed), redirect_stderr(StringIO()):
                status = shell(arguments)
            text = printed.getvalue().replace(name, "").encode()
            yield title, digest(status, _VARYING.sub(b"", text))
            if "--out" in arguments:
                for path in sorted(parent.rglob("*")):
                    yield f"{title}: {path.name}", _content(path, name)


PARTS = {"methods": methods, "default": default, "choose": chosen, "shell": commands}


def main() -> int:
    """Write the digests, or compare with them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    parts = arguments.only.split(",")
    now = {f"{part}: {title}": value for part in parts for title, value in PARTS[part]()}
    if not arguments.check:
        others = {k: v for k, v in kept.items() if k.partition(":")[0] not in parts}
        GOLDEN.write_text(json.dumps({**others, **now}, indent=0) + "\n", "utf-8")
        return 0
    before = {k: v for k, v in kept.items() if k.partition(":")[0] in parts}
    moved = [title for title in {**before, **now} if before.get(title) != now.get(title)]
    print("\n".join([*moved, f"{len(now) - len(moved)} of {len(now)} are as before"]))
    return bool(moved)


if __name__ == "__main__":
    sys.exit(main())
