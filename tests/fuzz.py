"""Random and hostile ensembles, on which `test_fuzz.py` runs every method.

Hypothesis draws the shape of a case (so that it can be made smaller when something fails); NumPy
fills it in from the seed that is part of the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

from conclust import Ensemble

COLUMNS = (
    "planted",
    "planted",
    "planted",
    "random",
    "fine",
    "singletons",
    "one cluster",
    "one pair",
    "all but one",
    "noise only",
    "one observed",
    "one noise observed",
    "one cluster, holes",
    "again",
)
CONTAINERS = (
    "Ensemble",
    "array",
    "array",
    "uint8",
    "float",
    "list",
    "pandas",
    "pandas names",
    "polars",
    "masked",
    "noise as -1",
)
WEIGHTS = ("none", "none", "none", "ones", "random", "zeros", "one counts", "wide", "tiny", "huge")
MEMBERS = (
    "sharp",
    "sharp",
    "flat",
    "one hot",
    "one cluster",
    "empty cluster",
    "holes",
    "rare",
    "again",
)
LARGEST, SMALLEST = 1e30, 1e-30


@dataclass(frozen=True)
class Case:
    """One input, drawn; `labels` is its meaning (-1 missing, -2 noise), None if it is soft."""

    n: int
    columns: tuple[str, ...]
    missing: float
    noise: float
    container: str
    weights: str
    soft: bool
    k: int
    seed: int

    def data(self) -> tuple[Any, np.ndarray | None, np.ndarray, np.ndarray | None]:
        """Return the input of fit and predict, the mask of observed objects, and the weights."""
        rng = np.random.default_rng(self.seed)
        weights = _weights(self.weights, len(self.columns), rng)
        if self.soft:
            members = _members(self, rng)
            present = np.column_stack([(np.nan_to_num(P) > 0).any(axis=1) for P in members])
            if not present.any(axis=0).all():
                return members, None, present, weights
            return Ensemble.from_memberships(members, weights=weights), None, present, weights
        labels = _labels(self, rng)
        present = labels != -1
        if weights is not None or self.container == "Ensemble":
            if not present.any(axis=0).all() and self.container != "noise as -1":
                return labels, None, present, None
            how = "noise" if self.container == "noise as -1" else "unobserved"
            return Ensemble(labels, weights=weights, missing=how), labels, present, weights
        X = contained(labels, self.container)
        return X, X, present, None


def cases(soft: bool, most: int = 12) -> st.SearchStrategy[Case]:
    """Draw cases: hard ones in all containers, or soft ones."""
    return st.builds(
        Case,
        n=st.one_of(st.integers(2, 12), st.integers(2, 60)),
        columns=st.lists(
            st.sampled_from(MEMBERS if soft else COLUMNS), min_size=1, max_size=most
        ).map(tuple),
        missing=st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.5, 0.9]),
        noise=st.just(0.0) if soft else st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.5, 0.9]),
        container=st.just("Ensemble") if soft else st.sampled_from(CONTAINERS),
        weights=st.sampled_from(WEIGHTS),
        soft=st.just(soft),
        k=st.integers(1, 8),
        seed=st.integers(0, 2**31),
    )


def contained(labels: np.ndarray, container: str) -> Any:
    """Return labels in a container of users."""
    if container == "uint8" and (labels >= 0).all() and labels.max() < 250:
        return labels.astype(np.uint8)
    if container == "float":
        return np.where(labels == -1, np.nan, labels)
    if container == "list":
        return [[None if v == -1 else v for v in row] for row in labels.tolist()]
    if container == "pandas":
        frame = pd.DataFrame(labels, columns=[f"p{u}" for u in range(labels.shape[1])])
        return frame.astype("Int64").mask(frame == -1)
    if container == "pandas names":
        names = np.array([f"c{k}" for k in range(labels.max() + 1)] + [-2, None], dtype=object)
        return pd.DataFrame(names[labels], columns=[f"p{u}" for u in range(labels.shape[1])])
    if container == "polars":
        return pl.DataFrame(
            {
                f"p{u}": [None if v == -1 else v for v in column]
                for u, column in enumerate(labels.T.tolist())
            },
            schema={f"p{u}": pl.Int64 for u in range(labels.shape[1])},
        )
    if container == "masked":
        return np.ma.masked_array(np.where(labels == -1, 7, labels), mask=labels == -1)
    return labels


def _labels(case: Case, rng: np.random.Generator) -> np.ndarray:
    n = case.n
    truth = rng.integers(0, max(2, min(case.k, n)), n)
    made: list[np.ndarray] = []
    for kind in case.columns:
        column = _column(kind, truth, made, rng)
        if kind not in ("noise only", "one observed", "one noise observed", "again"):
            column[rng.random(n) < case.noise] = -2
            column[rng.random(n) < case.missing] = -1
        made.append(column)
    labels = np.column_stack(made)
    if case.container == "noise as -1":
        labels[labels == -2] = -1
    return labels


def _column(
    kind: str, truth: np.ndarray, made: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    n = len(truth)
    column = np.zeros(n, dtype=np.int64)
    if kind == "planted":
        column = np.where(rng.random(n) < 0.15, rng.integers(0, truth.max() + 1, n), truth)
    elif kind == "random":
        column = rng.integers(0, int(rng.integers(1, 6)), n)
    elif kind == "fine":
        column = rng.integers(0, n, n)
    elif kind == "singletons":
        column = rng.permutation(n)
    elif kind == "one pair":
        column = np.full(n, -2)
        column[rng.choice(n, 2, replace=False)] = 0
    elif kind == "all but one":
        column[rng.integers(n)] = 1
    elif kind == "noise only":
        column[:] = -2
    elif kind in ("one observed", "one noise observed"):
        column[:] = -1
        column[rng.integers(n)] = 0 if kind == "one observed" else -2
    elif kind == "one cluster, holes":
        column[rng.random(n) < 0.5] = -1
    elif kind == "again" and made:
        column = made[int(rng.integers(len(made)))].copy()
    return column


def _members(case: Case, rng: np.random.Generator) -> list[np.ndarray]:
    n = case.n
    truth = rng.integers(0, max(2, min(case.k, n)), n)
    made: list[np.ndarray] = []
    for kind in case.columns:
        k = int(rng.integers(1, 7))
        if kind == "sharp":
            P = (
                rng.dirichlet(np.full(truth.max() + 1, 0.2), n)
                + 2.0 * np.eye(truth.max() + 1)[truth]
            )
        elif kind == "one hot":
            P = np.eye(k)[rng.integers(0, k, n)]
        elif kind == "one cluster":
            P = np.ones((n, 1))
        elif kind == "rare":
            P = np.column_stack([np.ones(n), np.full((n, k), 1e-300)])
        elif kind == "again" and made:
            P = made[int(rng.integers(len(made)))].copy()
        else:
            P = rng.dirichlet(np.ones(k), n)
        if kind == "empty cluster":
            P = np.insert(P, int(rng.integers(P.shape[1] + 1)), 0.0, axis=1)
        if kind != "again" or not made:
            P = P / P.sum(axis=1, keepdims=True)
            P[rng.random(n) < (0.5 if kind == "holes" else case.missing)] = (
                np.nan if kind == "holes" else 0.0
            )
        made.append(P)
    return made


def _weights(kind: str, m: int, rng: np.random.Generator) -> np.ndarray | None:
    if kind == "none":
        return None
    weights = np.ones(m)
    if kind == "random":
        weights = rng.random(m) + 1e-3
    elif kind == "zeros":
        weights = (rng.random(m) < 0.5).astype(float)
    elif kind == "one counts":
        weights = np.zeros(m)
    elif kind == "wide":
        weights = 10.0 ** rng.uniform(np.log10(SMALLEST), np.log10(LARGEST), m)
    elif kind == "tiny":
        weights = np.full(m, SMALLEST) * rng.integers(1, 3, m)
    elif kind == "huge":
        weights = np.full(m, LARGEST) / rng.integers(1, 3, m)
    if not weights.any():
        weights[int(rng.integers(m))] = 1.0
    return weights
