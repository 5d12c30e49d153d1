"""Starts of the solvers of the pair objective."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from conclust._arrays.containers import plain_array
from conclust._random import spawn_generators
from conclust._types import Floats
from conclust._validation import refuse
from conclust.consensus.papers.probabilistic.problem import PairEvidence, Problem, Run
from conclust.ensemble.labels import canonical_labels
from conclust.evidence import sample_pairs
from conclust.evidence.dense import narrow_evidence
from conclust.exceptions import EvidenceWarning, warn

StartName: TypeAlias = Literal["auto", "random", "spectral"]

_ROW_SUM_TOLERANCE = 1e-6
# Share of the uniform membership in a start strictly inside the simplex.
_UNIFORM = 0.02
# Minimum membership in a start given by the user that is not a partition.
_TRACE = 1e-9
# A spectral start uses all pairs of at most _ALL_PAIRS objects; with more objects, each draws _PAIRS_OF_EACH.
_ALL_PAIRS = 8000
_PAIRS_OF_EACH = 30
# Up to this size all eigenvectors are computed.
_FEW = 200
# Maximum number of objects for which a dense solver is used if Lanczos fails.
_WHOLE_AT_LAST = 3_000


def random_membership(n: int, n_clusters: int, generator: np.random.Generator) -> Floats:
    """Return rows drawn uniformly from the simplex."""
    Y = generator.standard_exponential((n, n_clusters))
    Y /= Y.sum(axis=1, keepdims=True)
    return Y


def random_starts(problem: Problem, run: Run) -> list[Floats]:
    """Return `n_init` random memberships."""
    n = problem.ensemble.n_samples
    drawers = spawn_generators(run.seed, run.n_init)
    return [random_membership(n, problem.n_clusters, drawer) for drawer in drawers]


def inside(Y: Floats) -> Floats:
    """Return Y moved inside the simplex: a hard membership makes other divergences infinite."""
    moved: Floats = (1 - _UNIFORM) * Y + _UNIFORM / Y.shape[1]
    return moved


def off_border(Y: Floats) -> Floats:
    """Return Y where no divergence is infinite: a partition as by `inside`, else with a trace instead of each 0."""
    if (Y.max(axis=1) == 1.0).all():
        return inside(Y)
    moved = np.maximum(Y, _TRACE)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def starts_of(
    init: Any, problem: Problem, run: Run, owner: str, *, own: bool
) -> list[Floats | None]:
    """Return the starting memberships requested by an estimator's `init`; None: the solver's own.

    `own`: random starts are the solver's own, too; it compares them on some of the objects.
    """
    if not isinstance(init, str):
        start = given_start(init, problem, run, owner)
        return [start if problem.is_squared else off_border(start)]
    elif init == "auto" or (init == "random" and own):
        return [None]
    elif init == "random":
        return list(random_starts(problem, run))
    else:
        start = spectral_start(spectral_evidence(problem, run), problem.n_clusters, run.seed)
    return [start if problem.is_squared else inside(start)]


def given_start(
    init: Any, problem: Problem, run: Run, owner: str, names: Any = StartName
) -> Floats:
    """Read a partition or a membership given by the user, who may give one of `names` instead."""
    n, k = problem.ensemble.n_samples, problem.n_clusters
    start = plain_array(init, "'init'", of="numbers")
    if start.ndim == 1 and start.shape == (n,) and start.dtype.kind in "iu":
        labels = canonical_labels(start)
        if labels.min() < 0 or labels.max() >= k:
            refuse("init", owner, f"labels of at most {k} clusters, none missing", init)
        return np.eye(k)[labels]
    start = start.astype(np.float64) if start.dtype.kind in "fiu" else start
    if start.ndim != 2 or len(start) != n or not 1 <= start.shape[1] <= k:
        names = ", ".join(repr(name) for name in get_args(names))
        refuse(
            "init",
            owner,
            f"one of {names}, {n} labels or a membership of shape ({n}, at most {k})",
            f"an array of shape {start.shape}",
        )
    if not (
        np.isfinite(start).all()
        and (start >= 0).all()
        and (np.abs(start.sum(axis=1) - 1) <= _ROW_SUM_TOLERANCE).all()
    ):
        refuse("init", owner, "a membership: rows at least 0 that sum to 1", init)
    start = np.pad(start / start.sum(axis=1, keepdims=True), ((0, 0), (0, k - start.shape[1])))
    if k > 1 and (start == start[0]).all():
        warn(
            "All objects start with the same membership, which is a stationary point of the "
            "objective: it was perturbed by 1 % at random.",
            EvidenceWarning,
        )
        noise = random_membership(n, k, spawn_generators(run.seed, 1)[0])
        start = 0.99 * start + 0.01 * noise
    return start


def spectral_evidence(problem: Problem, run: Run) -> PairEvidence:
    """Return the evidence for a spectral start: the given one, that of all pairs, or with many objects that of some pairs."""
    if problem.evidence is not None:
        return problem.evidence
    if problem.ensemble.n_samples <= _ALL_PAIRS:
        return narrow_evidence(problem.ensemble, run.threads)
    return sample_pairs(problem.ensemble, _PAIRS_OF_EACH, random_state=run.seed, n_jobs=run.threads)


def spectral_start(evidence: PairEvidence, k: int, seed: np.random.SeedSequence) -> Floats:
    """Return the direction from the uniform membership in which the objective decreases most.

    At the uniform membership f = f0 + e^2 sum over pairs W_ij (D'D)_ij for Y = 1/K + e D, with
    W = N/K - c up to a factor for every divergence: D takes the K - 1 eigenvectors of W of smallest
    eigenvalue, in directions orthogonal to (1, ..., 1), and e is 0.9 of the largest feasible one.
    """
    n = evidence.n_samples
    matrix = evidence.excess(k)
    wanted = min(k - 1, n)
    if wanted == 0:
        return np.ones((n, 1))
    V = _leading(matrix, wanted, n <= max(_FEW, 3 * k), seed)
    wanted = V.shape[1]
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(wanted)] < 0, -1.0, 1.0)
    # Columns orthogonal to 1 and to each other: Helmert's.
    Q = np.triu(np.ones((k, k - 1)))
    Q[np.arange(1, k), np.arange(k - 1)] = -np.arange(1, k)
    Q /= np.linalg.norm(Q, axis=0)
    D = V @ Q[:, :wanted].T
    Y: Floats = 1 / k + 0.9 / (k * max(float(-D.min()), 1e-300)) * D
    Y /= Y.sum(axis=1, keepdims=True)
    return Y


def _leading(matrix: Any, wanted: int, whole: bool, seed: np.random.SeedSequence) -> Floats:
    """Return eigenvectors of the largest eigenvalues, in decreasing order if solved densely.

    If Lanczos does not converge because eigenvalues are too close, use a dense solver with few
    objects; with more, use the converged eigenvectors, or a random direction if there are none.
    """
    n = matrix.shape[0]
    if not whole:
        draw = spawn_generators(seed, 1)[0].standard_normal(n)
        operator: Any = LinearOperator((n, n), matvec=lambda x: matrix @ x, dtype=np.float64)
        try:
            return np.asarray(eigsh(operator, wanted, which="LA", v0=draw)[1], dtype=np.float64)
        except ArpackNoConvergence as error:
            if n > _WHOLE_AT_LAST:
                vectors = np.asarray(error.eigenvectors, dtype=np.float64)
                return vectors if vectors.size else (draw / np.linalg.norm(draw))[:, np.newaxis]
    full = matrix.toarray() if isinstance(matrix, csr_array) else matrix
    return np.asarray(np.linalg.eigh(full)[1][:, ::-1][:, :wanted])
