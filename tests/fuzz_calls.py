"""Every public function and estimator with arguments drawn by the names and types of its parameters.

`test_fuzz_calls.py` runs them. At fault are an error that conclust does not raise itself, a warning of NumPy or Python, and
more than two seconds of processor time.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import math
import tempfile
import time
import traceback
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import sklearn
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

import conclust as cc
from conclust.blocks import LabelStore
from conclust.exceptions import ConclustError

mpl.use("Agg")
SECONDS = 2.0
# Functions that are called elsewhere, write files, take minutes by design, or only hold results.
_LEFT_OUT = {"write", "demo", "load", "available", "BlockedArray", "look"}
_FOLDERS = ("sc", "exceptions", "consensus")


@dataclass(frozen=True)
class Fault:
    """One failed case."""

    case: int
    what: str
    why: str


def callables() -> dict[str, Any]:
    """Return the public functions, and the classes that users make themselves, by their names."""
    actual: dict[str, Any] = {}
    for module in (cc, *(getattr(cc, name) for name in cc._MODULES if name not in _FOLDERS)):
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.ismodule(thing) or not callable(thing) or name in _LEFT_OUT:
                continue
            made = hasattr(thing, "fit") or name in ("Ensemble", "LabelStore", "FormalContext")
            if not inspect.isclass(thing) or made:
                actual.setdefault(f"{module.__name__.removeprefix('conclust.')}.{name}", thing)
    for name in ("from_memberships", "from_communities", "concat"):
        actual[f"Ensemble.{name}"] = getattr(cc.Ensemble, name)
    return actual


# ------------------------------------------------------------------------------------- arguments


class Drawer:
    """Draws arguments, all with `n` objects so that they often fit each other."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n = int(rng.choice([2, 3, 5, 12, 30, 60]))
        self.m = int(rng.integers(1, 9))
        self.k = int(rng.integers(1, min(9, self.n) + 1))
        self.truth = rng.integers(0, self.k, self.n)

    def pick(self, values: Any) -> Any:
        """Return one of the values; functions are called."""
        value = values[int(self.rng.integers(len(values)))]
        return value() if callable(value) and not hasattr(value, "fit") else value

    def odd(self) -> Any:
        """Return a value that almost no parameter accepts."""
        rng = self.rng
        return self.pick(
            [
                None, True, False, "", "x", "auto", -1, 0, 1, 2**62, 10**30, -(10**30), 10**5000,
                0.5, -0.5, 1e308, 5e-324, math.nan, math.inf, -math.inf, 1 + 2j, b"x",
                Decimal("1.5"), Fraction(1, 3), np.int8(3), np.float32(0.25), np.bool_(True),
                list, dict, tuple, set, object,
                lambda: np.array([]), lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)),
                lambda: np.array(3), lambda: np.zeros((2, 2, 2)), lambda: np.full(self.n, np.nan),
                lambda: np.full((self.n, 2), np.inf), lambda: [[1, 2], [3]], lambda: {"a": [1, 2]},
                lambda: np.array(["2020-01-01"] * self.n, dtype="datetime64[D]"),
                lambda: pd.Series(range(self.n)), lambda: sparse.eye_array(self.n).tocsr(),
                lambda: (i for i in range(3)), lambda: range(self.n), lambda: "a" * 9000,
                lambda: rng.normal(size=(self.n, 3)) * 1e160, lambda: np.full((self.n, 2), 5e-324),
                lambda: cc.PCC, lambda: cc.PCC(3), lambda: KMeans(2), lambda: print, lambda: 3.0,
                lambda: np.array([[{}, []]] * self.n, dtype=object), lambda: [None] * self.n,
            ]
        )  # fmt: skip

    def labels(self) -> np.ndarray:
        """Return a label matrix (n, m), often with missing labels and noise."""
        rng, n, m = self.rng, self.n, self.m
        columns = []
        for _ in range(m):
            kind = rng.integers(6)
            column = np.where(rng.random(n) < 0.2, rng.integers(0, self.k, n), self.truth)
            if kind == 0:
                column = rng.integers(0, n, n)
            elif kind == 1:
                column = np.zeros(n, int)
            elif kind == 2:
                column[rng.random(n) < 0.3] = -2
            elif kind == 3:
                column[rng.random(n) < 0.3] = -1
            elif kind == 4 and rng.random() < 0.2:
                column[:] = rng.choice([-1, -2])
            columns.append(column)
        return np.column_stack(columns)

    def ensemble(self) -> Any:
        """Return labels in some container, or memberships."""
        labels, n, m = self.labels(), self.n, self.m
        names = np.array([f"c{k}" for k in range(n)] + [None, None], dtype=object)
        return self.pick(
            [
                labels, labels, labels, lambda: cc.Ensemble(labels), lambda: cc.Ensemble(labels),
                lambda: cc.Ensemble(labels, weights=self.rng.random(m) + 0.01),
                lambda: cc.Ensemble(labels, missing="noise"),
                lambda: cc.Ensemble.from_memberships([self.membership() for _ in range(m)]),
                lambda: labels.tolist(), lambda: pd.DataFrame(labels), lambda: labels.astype(float),
                lambda: np.asfortranarray(labels), lambda: labels.astype(np.int8),
                lambda: pl.DataFrame(labels, schema=[f"p{u}" for u in range(m)]),
                lambda: pl.LazyFrame(labels, schema=[f"p{u}" for u in range(m)]),
                lambda: self.arrow(labels), lambda: names[labels], lambda: LabelStore(labels),
                lambda: pd.DataFrame(names[labels]).astype("category"), lambda: labels[:, 0],
                lambda: np.where(labels == -1, np.nan, labels), lambda: labels[::-1, ::-1],
                lambda: np.ma.masked_array(labels, labels < 0), lambda: tuple(map(tuple, labels)),
            ]
        )  # fmt: skip

    def arrow(self, labels: np.ndarray) -> Any:
        """Return labels as a table of Arrow."""
        pa = __import__("pyarrow")
        columns = {f"p{u}": column for u, column in enumerate(labels.T)}
        return pa.table(columns) if self.rng.random() < 0.5 else pa.RecordBatch.from_pydict(columns)

    def partition(self) -> Any:
        """Return one label vector in some container."""
        labels = self.labels()[:, 0]
        return self.pick(
            [
                self.truth, self.truth, self.truth, labels, lambda: labels.tolist(), lambda: pd.Series(labels),
                lambda: pl.Series(labels), lambda: labels.astype(float), lambda: labels.astype(str),
                lambda: np.where(labels < 0, None, labels.astype(object)), lambda: pd.Categorical(labels),
                lambda: [f"n{v}" for v in labels], lambda: self.model(),
            ]
        )  # fmt: skip

    def membership(self) -> np.ndarray:
        """Return rows on the simplex, some sharp."""
        rng = self.rng
        P = rng.dirichlet(np.full(self.k, float(rng.choice([0.05, 1.0, 5.0]))), self.n)
        kind = rng.integers(5)
        if kind == 0:
            P = np.eye(self.k)[self.truth]
        elif kind == 1 and self.k > 1:
            P[:, 0], P[:, 1:] = 1.0, float(rng.choice([5e-324, 1e-310, 1e-300, 1e-16])) / self.k
        return P

    def points(self) -> Any:
        """Return points in some container and size."""
        rng = self.rng
        X = rng.normal(size=(self.n, int(rng.integers(1, 5)))) + 5 * self.truth[:, None]
        scale = float(rng.choice([1, 1, 1, 1, 1e-200, 1e160, 1e300, 0]))
        return self.pick(
            [X, X, X, lambda: X * scale, lambda: X.astype(np.float32), lambda: pd.DataFrame(X), lambda: X.tolist(),
             lambda: np.round(X).astype(int), lambda: np.asfortranarray(X), lambda: np.where(X > 6, np.nan, X),
             lambda: pl.DataFrame(X)]
        )  # fmt: skip

    def model(self) -> Any:
        """Return a fitted consensus."""
        method = self.pick(
            [
                cc.PCC(3, n_init=1),
                cc.EAC(2),
                cc.Voting(2, n_init=1),
                cc.AutoConsensus(),
                cc.QMI(2, n_init=1),
            ]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = np.where(self.labels() < 0, 0, self.labels())
            if self.n < 3:
                return self.truth
            if "random_state" in method.get_params():
                method.set_params(random_state=0)
            return method.fit(labels)

    def estimator(self) -> Any:
        """Return an estimator that is not fitted."""
        return self.pick(
            [
                cc.QMI(2, n_init=1, random_state=0),
                cc.EAC(2),
                cc.Voting(2, n_init=1, random_state=0),
                cc.HBGF(2, n_init=1),
            ]
        )

    def partitions(self) -> Any:
        """Return a partition for each of some numbers of clusters."""
        ks = range(2, 2 + int(self.rng.integers(1, 4)))
        return self.pick(
            [
                lambda: {k: self.rng.integers(-2, k, self.n) for k in ks},
                lambda: {k: np.full(self.n, -int(self.rng.integers(0, 3))) for k in ks},
                lambda: {k: self.labels() for k in ks}, lambda: [self.truth for _ in ks], self.selection,
                lambda: {k: cc.Ensemble(self.labels()) for k in ks},
            ]
        )  # fmt: skip

    def selection(self) -> Any:
        """Return a number of clusters chosen from one ensemble."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rng = np.random.default_rng(0)
            ensembles = {
                k: np.column_stack([rng.integers(0, k, 12) for _ in range(4)]) for k in (2, 3)
            }
            return cc.selection.choose_from(ensembles, random_state=0)

    def tree(self) -> Any:
        """Return a linkage matrix."""
        from scipy.cluster.hierarchy import linkage

        return linkage(self.rng.random((max(2, self.n), 2)), "average")

    def by_name(self, name: str, hint: Any) -> Any:
        """Return a plausible argument for a parameter of this name and type."""
        rng = self.rng
        draw = self._named(name)
        if draw is not None:
            return draw()
        literals = list(_literals(hint))
        if literals:
            return self.pick(literals)
        kinds = set(_kinds(hint))
        if bool in kinds:
            return bool(rng.integers(2))
        if float in kinds and (int not in kinds or rng.random() < 0.5):
            return float(self.pick([0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 2.0, 1e-9, 100.0]))
        if int in kinds:
            return int(self.pick([1, 2, 3, 5]))
        if type(None) in kinds:
            return None
        return self.pick([self.labels, self.partition, self.membership])

    def _named(self, name: str) -> Callable[[], Any] | None:
        rng, n = self.rng, self.n

        def seed() -> Any:
            return self.pick(
                [0, 1, None, lambda: np.random.RandomState(0), lambda: np.random.default_rng(0)]
            )

        pools: dict[tuple[str, ...], Callable[[], Any]] = {
            ("ensemble", "labels_of", "ensembles"): self.ensemble,
            ("labels_true", "labels_pred", "consensus", "classes", "reference", "a", "b", "labels", "cluster_labels"): self.partition,
            ("membership", "Y", "Z", "memberships"): self.membership,
            ("X", "points", "data", "values"): self.points,
            ("new",): self.ensemble,
            ("model",): self.model,
            ("estimator",): self.estimator,
            ("estimators",): lambda: [self.estimator() for _ in range(2)],
            ("partitions", "given"): self.partitions,
            ("tree",): self.tree,
            ("lattice",): lambda: cc.lattice.FormalContext(rng.random((4, 4)) < 0.5),
            ("D",): lambda: (lambda A: A + A.T)(rng.random((n, n)) * (1 - np.eye(n))),
            ("random_state", "seed"): seed,
            ("n_jobs",): lambda: self.pick([1, 1, 2, None, -1]),
            ("verbose",): lambda: 0,
            ("n_clusters", "max_clusters", "chosen"): lambda: self.pick([1, 2, 3, None, self.k, n, n + 1, 10**30]),
            ("k",): lambda: self.pick([2, [2, 3], range(2, 4), None, lambda: [self.k]]),
            ("n_init", "max_iter", "n_iter", "n_draws", "n_burn_in", "n_resamples", "n_splits", "starts"): lambda: self.pick([1, 2, 5]),
            ("n_references",): lambda: self.pick([1, 19]),
            ("n_partitions", "size", "n_steps", "n_neighbors", "n_candidates", "n_samples"): lambda: self.pick([1, 2, 5, None]),
            ("max_dense", "max_samples", "max_test", "max_pixels", "max_objects", "max_bars", "max_merges"): lambda: self.pick([1, 10, 1000, None]),
            ("weights", "indices", "confidence", "null"): lambda: self.pick([None, lambda: rng.random(self.m), lambda: rng.random(n)]),
            ("ax", "cache_dir", "path", "columns", "index", "filename"): lambda: None,
            ("generator",): lambda: cc.EnsembleGenerator("kmeans", 3, random_state=0),
            ("incidence",): lambda: rng.random((int(rng.integers(1, 7)), int(rng.integers(1, 6)))) < 0.5,
            ("names", "feature_names", "objects", "attributes"): lambda: self.pick([None, lambda: [f"o{i}" for i in range(n)]]),
            ("pairs",): lambda: self.pick([None, 3, 0.5]),
            ("runs", "communities"): lambda: [[list(range(n))], [{0, 1}, set(range(2, n))]],
            ("nodes",): lambda: self.pick([None, lambda: list(range(n))]),
            ("result",): lambda: self.pick([self.model, self.partition, self.selection]),
            ("categories",): lambda: pd.DataFrame({"a": rng.choice(list("xyz"), n)}),
            ("rows",): lambda: self.pick([None, slice(0, 2), range(1)]),
            ("counts",): lambda: rng.random((4, 4)),
        }  # fmt: skip
        return next((draw for key, draw in pools.items() if name in key), None)


def _kinds(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) in (typing.Union, UnionType):
        for one in typing.get_args(hint):
            yield from _kinds(one)
    else:
        yield hint


def _literals(hint: Any) -> Iterator[Any]:
    for one in _kinds(hint):
        if typing.get_origin(one) is typing.Literal:
            yield from typing.get_args(one)


def _hints(thing: Any) -> dict[str, Any]:
    function = thing.__init__ if inspect.isclass(thing) else thing
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # names that only the type checker imports
        return {}


def drawn(thing: Any, drawer: Drawer, odds: float) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments for a call: most defaults as they are, now and then an odd value."""
    args, options = [], {}
    hints = _hints(thing)
    for name, parameter in inspect.signature(thing).parameters.items():
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        needed = parameter.default is parameter.empty
        if not needed and drawer.rng.random() < 0.6:
            continue
        value = (
            drawer.odd() if drawer.rng.random() < odds else drawer.by_name(name, hints.get(name))
        )
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [value, drawer.partition()]
        elif parameter.kind is parameter.KEYWORD_ONLY or not needed:
            options[name] = value
        else:
            args.append(value)
    return args, options


# ----------------------------------------------------------------------------------------- cases


def run_case(number: int, seed: int, known: dict[str, Any]) -> tuple[str, Fault | None]:
    """Run one case; return its outcome, and the fault if there is one."""
    rng = np.random.default_rng([seed, number])
    name = list(known)[int(rng.integers(len(known)))]
    thing, drawer = known[name], Drawer(rng)
    odds = float(rng.choice([0.0, 0.0, 0.1, 0.4]))
    what = name
    begun, outcome = time.process_time(), "answered"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings(
            "ignore", module="joblib|polars|pandas|sklearn|matplotlib|pyarrow|threadpoolctl"
        )
        try:
            args, options = _quietly(lambda: drawn(thing, drawer, odds))
            what = f"{name}({_spelled(args, options)})"
            begun = time.process_time()
            made = thing(*args, **options)
            if hasattr(made, "fit") and not hasattr(made, "labels_"):
                what += _fitted(made, drawer, odds)
        except AssertionError:
            return "fault", Fault(number, what, traceback.format_exc()[-900:])
        except Exception as error:
            outcome = "refused"
            if not _said(error):
                where = traceback.extract_tb(error.__traceback__)[-4:]
                places = "; ".join(f"{Path(f.filename).name}:{f.lineno} {f.line}" for f in where)
                return "fault", Fault(
                    number, what, f"{type(error).__name__}: {str(error)[:200]} [{places}]"
                )
        finally:
            plt = __import__("matplotlib.pyplot").pyplot
            plt.close("all")
    taken = time.process_time() - begun
    if taken > SECONDS:
        return "fault", Fault(number, what, f"took {taken:.1f} s")
    return outcome, None


def _quietly(draw: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for _ in range(50):
            try:
                return draw()
            except ConclustError:  # an invalid input, such as an ensemble of an empty partition
                continue
    raise AssertionError("no arguments could be drawn")


def _fitted(made: Any, drawer: Drawer, odds: float) -> str:
    """Fit an estimator, and read its attributes; return its input."""
    of_points = isinstance(made, cc.EnsembleGenerator | cc.ConsensusClustering)
    if "n_jobs" in made.get_params() and drawer.rng.random() < 0.8:
        made.set_params(n_jobs=1)
    draw = drawer.points if of_points else drawer.ensemble
    X = drawer.odd() if drawer.rng.random() < odds else _quietly(draw)
    what = f".fit({_short(X)})"
    try:
        made.fit(X)
        for name in ("labels_", "membership_", "linkage_matrix_", "trace_"):
            getattr(made, name, None)
        if hasattr(made, "predict") and drawer.rng.random() < 0.5:
            new = drawer.odd() if drawer.rng.random() < odds else X
            what += f".predict({_short(new)})"
            made.predict(new)
    except Exception as error:
        error.args = (f"{error.args[0] if error.args else ''} <- {what}", *error.args[1:])
        raise
    labels = getattr(made, "labels_", None)
    if labels is not None and not of_points:
        values = np.asarray(labels)
        assert values.dtype == np.int64, "labels of another type"
        assert values.min() >= -1, "a label below -1"
        held = values[values >= 0]
        assert set(held.tolist()) == set(range(held.max() + 1 if len(held) else 0)), (
            "a cluster is empty"
        )
    return what


def _said(error: Exception) -> bool:
    """Return whether an error was raised on purpose, by conclust or by scikit-learn's checks of input."""
    if isinstance(error, ConclustError | NotFittedError):
        return True
    if not isinstance(
        error, TypeError | ValueError | AttributeError | ImportError | FileNotFoundError
    ):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    checks = Path(sklearn.__file__).parent / "utils" / "validation.py"
    if any(Path(frame.filename) == checks for frame in frames):
        return True
    in_conclust = Path(cc.__file__).parent in Path(last.filename).parents
    lines = [
        linecache.getline(last.filename, n).strip()
        for n in range(max(1, last.lineno - 1), last.lineno + 1)
    ]
    return in_conclust and any(line.startswith("raise") for line in lines)


def _spelled(args: list[Any], options: dict[str, Any]) -> str:
    return ", ".join([*map(_short, args), *(f"{k}={_short(v)}" for k, v in options.items())])


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape} {value.dtype}"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return type(value).__name__
    return text if len(text) < 90 else f"{type(value).__name__} {text[:60]}..."


def run(count: int, seed: int) -> tuple[Counter[str], list[Fault]]:
    """Run cases; return their outcomes, and the faults."""
    things = callables()
    seen, faults = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number in range(count):
            outcome, fault = run_case(number, seed, things)
            seen[outcome] += 1
            if fault is not None:
                faults.append(fault)
    return seen, faults
