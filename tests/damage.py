"""Damaged and forged files of every format through every command: refused with a clear error, or read.

`test_damage.py` runs them.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import setitem
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conclust import Ensemble
from conclust.blocks import LabelStore
from conclust.cli import main
from conclust.exceptions import ConclustError

SECONDS = 20  # of processor time, so that other work on the machine does not matter
FORGED = (
    None,
    "x",
    5,
    -1,
    1.5,
    True,
    [],
    {},
    [5],
    ["x"],
    {"x": 1},
    10**400,
    "\x1b[2J\n" * 99,
    [[1], [2, 3]],
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case."""

    what: str
    code: int
    text: str

    @property
    def fault(self) -> str:
        """Return the fault of a case; empty if there is none."""
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}"
        if self.code and not self.text.strip().endswith(("--help", ".", "?")):
            return "no sentence"
        if "Traceback" in self.text or "internal error" in self.text:
            return "an error of the inside"
        if any(ord(c) < 32 and c != "\n" for c in self.text):
            return "control characters"
        return ""


class Workshop:
    """Valid files of every format, results of every command, and damaged cases made from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 8)
        labels = np.column_stack([np.where(rng.random(24) < 0.1, 0, truth) for _ in range(6)])
        points = rng.normal(size=(24, 3)) + 4 * truth[:, None]
        self.labels = self._tables("labels", labels)
        self.points = self._tables("points", points)
        Ensemble(labels).save(folder / "ensemble.npz")
        soft = [rng.dirichlet([0.3, 0.3, 0.3], 24) for _ in range(4)]
        Ensemble.from_memberships(soft).save(folder / "soft.npz")
        self.labels += [folder / "ensemble.npz", folder / "soft.npz"]
        self.zarrs = self._zarrs(labels)
        self._results()

    def _tables(self, name: str, data: np.ndarray) -> list[Path]:
        """Write a table in every format."""
        stem = self.folder / name
        frame = pd.DataFrame(data, columns=[f"c{u}" for u in range(data.shape[1])])
        text = frame.to_csv(index=False).encode()
        made = []
        for suffix, content in (
            (".csv", text),
            (".csv.gz", gzip.compress(text)),
            (".csv.bz2", bz2.compress(text)),
        ):
            made.append(stem.with_name(name + suffix))
            made[-1].write_bytes(content)
        np.save(stem.with_suffix(".npy"), data)
        np.savez(stem.with_name(f"{name}-plain.npz"), X=data)
        np.savez_compressed(stem.with_name(f"{name}-packed.npz"), X=data)
        frame.to_parquet(stem.with_suffix(".parquet"))
        frame.astype(str if name == "labels" else float).to_parquet(
            stem.with_name(f"{name}-text.parquet"), compression="gzip"
        )
        return made + sorted(
            p for kind in ("npy", "npz", "parquet") for p in self.folder.glob(f"{name}*.{kind}")
        )

    def _zarrs(self, labels: np.ndarray) -> list[Path]:
        """Write Zarr arrays of both versions, where the package is installed."""
        made: list[Path] = []
        try:
            import zarr
        except ImportError:
            return made
        for version in (2, 3):
            path = self.folder / f"labels{version}.zarr"
            array = zarr.create_array(
                str(path), shape=labels.shape, chunks=(8, 6), dtype="i8", zarr_format=version
            )
            array[:] = labels
            made.append(path)
        return made

    def _results(self) -> None:
        cluster = [self.points[0], "-k", 3, "--partitions", 6]
        commands = {
            "combine": [self.labels[0], "-k", 3, "--method", "pcc"],
            "cluster": cluster,
            "spectral": [
                *cluster[:3],
                "--generator",
                "spectral",
                "--partitions",
                5,
                "--method",
                "qmi",
            ],
            "select": [self.points[0], "-k", "2:3", "--resamples", 6, "--references", 19],
        }
        self.results = {}
        for name, words in commands.items():
            out = self.folder / f"result-{name}"
            command = "cluster" if name == "spectral" else name
            code, text = called([command, *words, "--out", out])
            assert code == 0, text
            self.results[name] = out
        self.entries = {
            name: list(_places(json.loads((path / "result.json").read_text())))
            for name, path in self.results.items()
        }

    # ----------------------------------------------------------------------------------- cases

    def case(self, rng: np.random.Generator) -> Outcome:
        """Damage one file and run one command on it."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            here = Path(scratch)
            kinds = ["table", "table", "table", "result", "result", "forged"]
            kind = rng.choice([*kinds, "store"] if self.zarrs else kinds)
            return getattr(self, f"_{kind}_case")(rng, here)

    def _table_case(self, rng: np.random.Generator, here: Path) -> Outcome:
        command = str(
            rng.choice(["combine", "combine", "cluster", "compare", "predict", "weights"])
        )
        if command == "predict":
            name = str(rng.choice(["combine", "cluster", "spectral"]))
            pool = self.labels[:-2] if name == "combine" else self.points
        else:
            pool = self.points if command == "cluster" else self.labels
        path = pool[rng.integers(len(pool))]
        bad = here / path.name
        bad.write_bytes(damaged(path.read_bytes(), rng))
        words: list[Any]
        if command == "cluster":
            words = ["cluster", bad, "-k", 2, "--partitions", 3]
        elif command == "compare":
            words = ["compare", bad, self.labels[0]]
        elif command == "predict":
            words = ["predict", self.results[name], bad]
        elif command == "weights":
            words = ["combine", self.labels[0], "--weights", bad, "--method", "qmi", "-k", 2]
        else:
            words = ["combine", bad, "-k", 2, "--method", "voting"]
        if command != "compare":
            words += ["--out", here / "out"]
        return self._run(f"{command} {path.name}", words, here)

    def _result_case(self, rng: np.random.Generator, here: Path) -> Outcome:
        """Damage a file of a result folder."""
        name = str(rng.choice(list(self.results)))
        folder = here / "result"
        shutil.copytree(self.results[name], folder)
        files = sorted(folder.iterdir())
        path = files[rng.integers(len(files))]
        path.write_bytes(damaged(path.read_bytes(), rng))
        return self._use(f"{name}/{path.name}", name, folder, rng, here)

    def _forged_case(self, rng: np.random.Generator, here: Path) -> Outcome:
        """Change one value of result.json or of a description in an NPZ file."""
        name = str(rng.choice(list(self.results)))
        place = self.entries[name][rng.integers(len(self.entries[name]))]
        return self.forged(name, place, FORGED[rng.integers(len(FORGED))], rng, here)

    def forged(
        self, name: str, place: tuple[Any, ...], value: Any, rng: np.random.Generator, here: Path
    ) -> Outcome:
        """Run a command on the result `name` whose entry at `place` is `value`."""
        folder = self._changed(name, place, here, lambda holder, key: setitem(holder, key, value))
        return self._use(f"{name} {place} = {str(value)[:40]!r}", name, folder, rng, here)

    def renamed(
        self, name: str, place: tuple[Any, ...], rng: np.random.Generator, here: Path
    ) -> Outcome:
        """Run a command on the result `name` whose entry at `place` has another name."""
        folder = self._changed(
            name, place, here, lambda holder, key: setitem(holder, f"{key}_", holder.pop(key))
        )
        return self._use(f"{name} without {place}", name, folder, rng, here)

    def _changed(
        self, name: str, place: tuple[Any, ...], here: Path, change: Callable[[Any, Any], None]
    ) -> Path:
        """Copy the result `name`, and change the entry at `place` of its result.json."""
        folder = here / "result"
        shutil.copytree(self.results[name], folder)
        content = json.loads((folder / "result.json").read_text())
        holder = content
        for key in place[:-1]:
            holder = holder[key]
        change(holder, place[-1])
        (folder / "result.json").write_text(json.dumps(content))
        return folder

    def _use(
        self, what: str, name: str, folder: Path, rng: np.random.Generator, here: Path
    ) -> Outcome:
        new = self.labels[0] if name == "combine" else self.points[0]
        if name == "select" or rng.random() < 0.4:
            words: list[Any] = ["report", folder, "--no-pictures", "--out", here / "page.html"]
        else:
            words = ["predict", folder, new, "--out", here / "out"]
        return self._run(f"{words[0]} {what}", words, here)

    def _store_case(self, rng: np.random.Generator, here: Path) -> Outcome:
        """Damage a Zarr array, and read it in blocks."""
        path = self.zarrs[rng.integers(len(self.zarrs))]
        bad = here / path.name
        shutil.copytree(path, bad)
        files = sorted(p for p in bad.rglob("*") if p.is_file())
        one = files[rng.integers(len(files))]
        one.write_bytes(damaged(one.read_bytes(), rng))
        try:
            LabelStore(bad, block_rows=10).facts  # noqa: B018
        except ConclustError as error:
            return Outcome(f"store {path.name}/{one.name}", 1, str(error))
        except Exception as error:
            return Outcome(f"store {path.name}/{one.name}", 70, f"{type(error).__name__}: {error}")
        return Outcome(f"store {path.name}/{one.name}", 0, "")

    def _run(self, what: str, words: list[Any], here: Path) -> Outcome:
        before = {p.name for p in here.iterdir()}
        code, text = called(words)
        left = {p.name for p in here.iterdir()} - before
        if code and left:
            return Outcome(what, 99, f"left behind: {left}; {text}")
        if [name for name in left if name.startswith(".conclust")]:
            return Outcome(what, 98, f"temporary files: {left}")
        return Outcome(what, code, text if code else "")


def _places(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the positions of values in JSON; for long lists the first two."""
    if here:
        yield here
    items: Any = ()
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = list(enumerate(content))[:2]
    for key, value in items:
        yield from _places(value, (*here, key))


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with one kind of damage."""
    kind, n = int(rng.integers(9)), len(content)
    changed = bytearray(content)
    at = int(rng.integers(max(1, n)))
    if kind == 0:  # a bit
        changed[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:  # some bytes
        for place in rng.integers(n, size=int(rng.integers(1, 9))):
            changed[place] = int(rng.integers(256))
    elif kind == 2:  # the end is lost
        del changed[at:]
    elif kind == 3:  # a part is lost
        del changed[at : at + int(rng.integers(1, 40))]
    elif kind == 4:  # a part twice
        changed[at:at] = changed[at : at + int(rng.integers(1, 40))]
    elif kind == 5:  # zeros, or the highest bytes
        length = int(rng.choice([1, 2, 4, 8, 512]))
        changed[at : at + length] = bytes([int(rng.choice([0, 255]))]) * min(length, n - at)
    elif kind == 6:  # near the beginning, where headers are
        place = int(rng.integers(min(n, 200)))
        changed[place] = int(rng.choice([0, 1, 127, 128, 255, int(rng.integers(256))]))
    elif kind == 7:  # near the end, where directories are
        place = n - 1 - int(rng.integers(min(n, 200)))
        changed[place] = int(rng.choice([0, 1, 127, 128, 255, int(rng.integers(256))]))
    else:  # other text, digits made longer
        word = [
            b"9" * 40,
            b"-1",
            b"nan",
            b"1e999",
            b"\x00",
            b"\xff\xfe",
            b'"',
            b",",
            b"\n",
            b"=1+1",
        ]
        changed[at:at] = word[int(rng.integers(len(word)))]
    return bytes(changed)


def called(words: list[Any]) -> tuple[int, str]:
    """Run the command line in this process; return the exit code and the output."""
    printed = io.StringIO()

    def late(*_: object) -> None:
        raise TimeoutError(f"took over {SECONDS} s of CPU, or {20 * SECONDS} s")

    before = {one: signal.signal(one, late) for one in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(20 * SECONDS)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
        ):
            try:
                code = main([str(word) for word in words] + ["--quiet"])
            except SystemExit as end:
                code = int(str(end.code))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for one, handler in before.items():
            signal.signal(one, handler)
    return code, printed.getvalue()
