"""Converts soft partitions to codes and a sparse matrix of posteriors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust._arrays.containers import check_row_names
from conclust._types import Floats
from conclust._validation import shown
from conclust.ensemble.labels import MISSING, CodedLabels, code_type, missing_code
from conclust.exceptions import InputError

# Rounded memberships are written with at least two decimals; their sums differ from 1 by at most this if the number
# of decimals does not explain more.
_DECIMALS, _ROUNDING = range(2, 9), 0.01
# In the output of STRUCTURE, the rows of memberships are below this line.
_SECTION = "Inferred ancestry of individuals"
_INTERVAL = re.compile(r"\([^)]*\)")  # of each membership, behind them
# Memberships sum to 1, and to 2 or more with a number of individuals.
_WITH_COUNT = 1.5
# Posteriors below this are 0, because their reciprocal is infinite.
_SMALLEST = np.finfo(np.float64).tiny


def read_memberships(memberships: Any) -> list[Floats]:
    """Read users' membership matrices as arrays of numbers; masked entries become NaN."""
    single = isinstance(memberships, np.ndarray) and memberships.ndim == 0
    refused = isinstance(memberships, str | bytes | Mapping)
    if single or refused or not isinstance(memberships, Iterable):
        raise InputError(
            "Ensemble.from_memberships needs a sequence of membership matrices, one per partition. Got "
            f"{shown(memberships)} instead."
        )
    given = list(memberships)
    check_row_names({f"membership {u}": P for u, P in enumerate(given)}, named_only=True)
    return [_as_numbers(P, u) for u, P in enumerate(given)]


def read_q_files(paths: Any) -> list[Floats]:
    """Read the membership matrices in files of STRUCTURE, ADMIXTURE, fastSTRUCTURE or CLUMPP; see `Ensemble.from_q_files`."""
    files = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    return [run for path in files for run in runs_of(path)]


def runs_of(path: Path) -> list[Floats]:
    """Return the matrices in a file: a run begins where the first word of its first row occurs again."""
    from conclust._files.opening import opened

    with opened(path) as source:
        return _runs_in(source.content(), path)


def _runs_in(content: bytes, path: Path) -> list[Floats]:
    lines = content.decode("utf-8", errors="replace").splitlines()  # names may be in any encoding
    section = next((k for k, line in enumerate(lines) if line.startswith(_SECTION)), None)
    first = 0 if section is None else section + 2  # below the heads of the columns
    runs: list[list[list[float]]] = []
    name = ""
    for number, line in enumerate(lines[first:], first + 1):
        head, colon, cells = line.rpartition(":")
        words = _INTERVAL.sub(" ", cells).replace(",", " ").split()
        if not words and section is not None and runs:
            break
        if not words:
            continue
        if not runs or (colon and head.split()[:1] == [name]):
            runs.append([])
            name = head.split()[0] if head.split() else ""
        try:
            row = [float(word) for word in words]
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: a row of memberships has numbers, behind a colon if there are names. Got "
                f"{shown(line)} instead."
            ) from error
        # CLUMPP's rows end with the number of individuals.
        runs[-1].append(row[:-1] if colon and sum(row) > _WITH_COUNT else row)
    for run in runs or [[]]:
        if len({len(row) for row in run}) != 1:
            found = "none" if not run else "rows of different lengths"
            raise InputError(f"{path} must have rows of memberships of one length. Got {found}.")
    return [np.array(run) for run in runs]


def _as_numbers(P: Any, u: int) -> Floats:
    what = f"Membership {u} must be a matrix of numbers, of shape (n_samples, n_clusters)."
    if hasattr(P, "toarray"):
        raise InputError(f"{what} Got a sparse matrix instead: pass its toarray().")
    try:
        raw = np.asanyarray(P)  # preserves a mask
        array = np.asarray(raw) if raw.dtype.kind == "c" else np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} {error}") from error
    if array.ndim != 2 or raw.dtype.kind not in "biufO":
        alone = " A single membership is given as a list, [Y]." if array.ndim == 1 else ""
        raise InputError(
            f"{what} Got an array of dtype {raw.dtype}, shape {raw.shape} instead.{alone}"
        )
    if isinstance(raw, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(raw), np.nan, array)
    return array


def code_memberships(memberships: list[Floats]) -> tuple[CodedLabels, sp.csr_array]:
    """Code membership matrices: the codes of the most probable clusters, and B with posteriors."""
    if not memberships:
        raise InputError(
            "Ensemble.from_memberships needs at least one membership matrix. Got none."
        )
    n = len(memberships[0])
    labels = np.empty((n, len(memberships)), dtype=np.int64)
    blocks = []
    for u, P in enumerate(memberships):
        if len(P) != n or P.shape[1] == 0:
            raise InputError(
                f"Membership {u} must be of shape ({n}, n_clusters). Got shape {P.shape} instead."
            )
        missing = np.isnan(P).all(axis=1) | (P == 0).all(axis=1)
        P = np.where(missing[:, None], 0.0, P)
        sums, lowest = P.sum(axis=1), P.min(axis=1)
        off = (np.abs(sums - 1) > _rounding_of_sums(P)) & ~missing
        wrong = off | (lowest < 0) | ~np.isfinite(sums)
        if wrong.any():
            row = int(np.argmax(wrong))
            unit = sums[row]
            alike = (
                unit > 2 and (lowest >= 0).all() and np.allclose(sums[~missing], unit, rtol=0.01)
            )
            raise InputError(
                "Rows of a membership must be probabilities that sum to 1, up to rounding (all NaN or all 0: missing). "
                f"Got {P[row].tolist()} in row {row} of membership {u} instead."
                + f" All rows sum to about {unit:.3g}: divide the membership by it."
                * bool(alike)
            )
        if n < 2:
            raise InputError(
                f"Found array with {n} sample(s) (shape={P.shape}) while a minimum of 2 is required: a "
                "clustering is about pairs of objects."
            )
        P = P / np.where(missing, 1.0, P.sum(axis=1))[:, None]
        P[P < _SMALLEST] = 0.0
        hard = np.where(missing, MISSING, P.argmax(axis=1))
        # Clusters in order of first appearance as the most probable one; those that never are
        # come after them, by their first object of positive probability. Empty clusters are dropped.
        top = np.array(
            [np.argmax(hard == k) if (hard == k).any() else n for k in range(P.shape[1])]
        )
        some = np.where((P > 0).any(axis=0), (P > 0).argmax(axis=0), n)
        order = np.lexsort((some, top))[: np.count_nonzero(some < n)]
        rank = np.empty(P.shape[1], dtype=np.int64)
        rank[order] = np.arange(len(order))
        labels[:, u] = np.where(missing, MISSING, rank[hard])
        blocks.append(sp.csr_array(P[:, order]))
    counts = np.array([block.shape[1] for block in blocks], dtype=np.int64)
    dtype = code_type(int(counts.max()))
    codes = np.where(labels == MISSING, missing_code(dtype), labels).astype(dtype)
    coded = CodedLabels(
        codes,
        counts,
        (labels == MISSING).sum(axis=0),
        np.zeros(len(blocks), dtype=np.int64),
        tuple(tuple(range(k)) for k in counts.tolist()),
    )
    return coded, sp.csr_array(sp.hstack(blocks))


def _rounding_of_sums(P: Floats) -> float:
    """Return how far the sums of rows may be from 1: half of the last decimal in each cluster, and at least .01.

    ADMIXTURE writes six decimals, STRUCTURE and CLUMPP three. 0 for memberships that are all 0 or 1.
    """
    numbers = P[np.isfinite(P)]
    if (np.rint(numbers) == numbers).all():
        return 0.0
    last = next((d for d in _DECIMALS if (abs(numbers - numbers.round(d)) <= 1e-12).all()), None)
    return _ROUNDING if last is None else max(_ROUNDING, 0.5 * P.shape[1] * 10.0**-last)
