"""The factored solver with constraints: objects that share a membership, and objects that share no cluster.

Objects of one group (`must_link`) have one row y. Its problem is that of the factored solver with the sums of their
labels X_t and their numbers m_u, plus the pairs within the group::

    h(y) = y'H y - 2 b'y + W |y|^4 - 2 C |y|^2,

    H = sum_u w_u m_u (G_u - m_u y y'),   b = sum_t w_t X_t (S_t - X_t y),
    W = sum_u w_u m_u (m_u - 1) / 2,      C = sum_t w_t (X_t^2 - sum_i x_ti^2) / 2

with S and G as in ``_kernels/pair_objective/factored/solver.h``. Groups that are kept apart (`cannot_link`) have
y_a'y_b = 0: each cluster is open to one of the two. Which it is follows from the solution without constraints, and
changes where f falls. Objects without constraints are swept by the kernel, against the sums of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conclust._types import Bools, Floats, Ints
from conclust.consensus.constraints import Constraints, coloured
from conclust.consensus.papers.probabilistic.objective import together
from conclust.consensus.papers.probabilistic.placements.factored_model import (
    FactoredModel,
    padded,
    whole_grams,
    whole_sums,
)
from conclust.consensus.papers.probabilistic.problem import Problem, Run, Solution, Stopping
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError

# Steps between two clusters in one visit of a group, and passes over the groups for other open clusters.
_STEPS = 200
_PASSES = 10
# Minimum decrease of F by a change of the open clusters, as a share of the evidence of the group.
_WORTH = 1e-9


def linked(
    problem: Problem, solution: Solution, constraints: Constraints, stopping: Stopping, run: Run
) -> Solution:
    """Return a solution that satisfies the constraints, starting from one that may not.

    Parameters
    ----------
    problem : Problem
        Problem with squared differences.
    solution : Solution
        Solution of the factored solver.
    constraints : Constraints
        Constraints on the objects.
    stopping : Stopping
        Stopping rule.
    run : Run
        Threads and progress.

    Raises
    ------
    InputError
        If no way is found to keep all pairs of 'cannot_link' apart with this number of clusters.
    """
    work = _Linked(problem, solution, constraints, run)
    enough = stopping.tol * abs(solution.objective) / work.scale
    trace: list[tuple[float, float]] = []
    converged, n_iter = False, 0
    before = np.inf
    while n_iter < stopping.max_iter and not converged:
        residual = work.sweep(0.1 * stopping.tol_kkt)
        n_iter += 1
        loss = work.loss()
        trace.append((loss, residual))
        run.report(
            f"sweep {n_iter} with constraints: loss {loss:.10g}, residual {residual:.3g}",
            n_iter,
            stopping.max_iter,
        )
        converged = before - loss <= enough or residual <= stopping.tol_kkt
        before = loss
        if converged and work.passes < _PASSES and work.reopened():
            converged, before = False, np.inf
    residual = work.residual()
    less = solution.constant / work.scale if solution.constant is not None else 0.0
    loss = work.loss()
    trace.append((loss, residual))
    k = problem.n_clusters
    return Solution(
        membership=work.Y[:, :k],
        objective=work.scale * (loss - less),
        residual=work.scale * residual,
        n_iter=solution.n_iter + n_iter,
        converged=converged,
        trace=work.scale * (np.array(trace) - [less, 0.0]),
        constant=solution.constant,
        placement=work.model.kept(work.solver, k),
    )


@dataclass
class _Group:
    """Objects with one membership.

    Attributes
    ----------
    objects : ndarray of int64
        The objects.
    columns, sums : ndarray
        The clusters of the ensemble that hold some, and X_t.
    counts : ndarray of shape (n_groups,)
        Sum over the partitions of a presence group of w_u m_u.
    squares : ndarray of shape (n_groups,)
        Sum over the partitions of a presence group of w_u m_u^2.
    fourth, second : float
        W and C.
    evidence : float
        Sum of the evidence of its objects with all others.
    y : ndarray of shape (n_clusters,)
        The membership.
    """

    objects: Ints
    columns: Ints
    sums: Floats
    counts: Floats
    squares: Floats
    fourth: float
    second: float
    evidence: float
    y: Floats


class _Linked:
    """Memberships under constraints, and the sums that belong to them."""

    def __init__(
        self, problem: Problem, solution: Solution, constraints: Constraints, run: Run
    ) -> None:
        ensemble = problem.ensemble
        kernel = problem.divergence._kernel
        self.scale = 1.0 if kernel is None else kernel.scale
        self.k, self.threads, self.passes = problem.n_clusters, run.threads, 0
        self.model = FactoredModel.of(ensemble)
        self.weights = ensemble.column_weights
        self.together = together(ensemble)
        self.Y = padded(solution.membership)
        touched = constraints.touched
        numbers, group = np.unique(constraints.groups[touched], return_inverse=True)
        objects = np.flatnonzero(touched)
        self.groups = [self._group(ensemble, objects[group == g]) for g in range(len(numbers))]
        self.apart = np.searchsorted(numbers, constraints.apart)
        self.others: list[list[int]] = [[] for _ in numbers]
        for a, b in self.apart.tolist():
            self.others[a].append(b)
            self.others[b].append(a)
        self.open = self._opened(self._assigned())
        for group_of, mine in zip(self.groups, self.open, strict=True):
            group_of.y = _closed(group_of.y, mine)
            self.Y[group_of.objects, : self.k] = group_of.y
        self.free = np.flatnonzero(~touched)
        self.solver = self.model.solver(ensemble.label_view, self.k)
        self.part = (
            self.model.solver(ensemble.part(self.free).label_view, self.k)
            if len(self.free)
            else None
        )
        self.S = self.G = np.empty(0)
        self._rebuild()

    def _group(self, ensemble: Ensemble, objects: Ints) -> _Group:
        rows = ensemble.indicator[objects]
        X = np.asarray(rows.sum(axis=0)).ravel()
        squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
        columns = np.flatnonzero(X)
        weights = ensemble.partition_weights
        observed = ensemble.present[objects].sum(axis=0).astype(np.float64)
        n_observed = ensemble.present.sum(axis=0).astype(np.float64)
        of, n_groups = self.model.group_of, self.model.n_groups
        return _Group(
            objects,
            columns,
            X[columns],
            np.bincount(of, weights * observed, n_groups).astype(np.float64),
            np.bincount(of, weights * observed**2, n_groups).astype(np.float64),
            float(weights @ (observed * (observed - 1.0))) / 2.0,
            float(self.weights @ (X**2 - squares)) / 2.0,
            float(weights @ (observed * (n_observed - 1.0))),
            self.Y[objects, : self.k].mean(axis=0),
        )

    def _assigned(self) -> Ints:
        """Return a cluster for each group, different ones for groups that are kept apart."""
        count = len(self.groups)
        cluster_of = np.full(count, -1, dtype=np.int64)
        sure = np.array([group.y.max(initial=0.0) for group in self.groups])
        for g in np.argsort(-sure, kind="stable").tolist():
            free = np.ones(self.k, dtype=np.bool_)
            free[[cluster_of[other] for other in self.others[g] if cluster_of[other] >= 0]] = False
            if not free.any():
                break
            cluster_of[g] = int(np.where(free, self.groups[g].y, -1.0).argmax())
        else:
            return cluster_of
        colours = coloured(count, self.apart, self.k)
        if colours is None:
            raise InputError(
                f"PCC found no assignment to n_clusters={self.k} clusters that keeps all pairs of 'cannot_link' apart. "
                "Increase n_clusters or remove constraints."
            )
        clusters = np.array([int(group.y.argmax()) for group in self.groups])
        return np.where(colours >= 0, colours, clusters)

    def _opened(self, clusters: Ints) -> Bools:
        """Return which clusters are open to each group: of two groups kept apart, a cluster is open to the one with more mass in it."""
        opened = np.ones((len(self.groups), self.k), dtype=np.bool_)
        places = np.arange(self.k)
        for a, b in self.apart.tolist():
            mine = self.groups[a].y >= self.groups[b].y
            mine[clusters[a]], mine[clusters[b]] = True, False
            opened[a, places[~mine]] = False
            opened[b, places[mine]] = False
        return opened

    # -- the sums

    def _rebuild(self) -> None:
        self.solver.rebuild(self.Y, self.threads)
        self.S, self.G = whole_sums(self.solver, self.k), whole_grams(self.solver, self.k)

    def loss(self) -> float:
        """Return F."""
        return self.solver.objective() + self.together

    # -- descent

    def sweep(self, tol: float) -> float:
        """Visit all objects once; return the largest residual that was met."""
        residual = 0.0
        if self.part is not None:
            rows = np.ascontiguousarray(self.Y[self.free])
            self.part.take_sums(self.solver)
            _, residual, _ = self.part.sweep(rows, tol, 0.0, self.threads)
            self.Y[self.free] = rows
            self.S, self.G = whole_sums(self.part, self.k), whole_grams(self.part, self.k)
        for group, mine in zip(self.groups, self.open, strict=True):
            residual = max(residual, self._gap(group, mine))
            self._visit(group, mine, tol)
        self._rebuild()
        return residual

    def residual(self) -> float:
        """Return the largest gap of an object per unit of its evidence, without moving any."""
        largest = max(
            self._gap(group, mine) for group, mine in zip(self.groups, self.open, strict=True)
        )
        if self.part is not None:
            self.part.take_sums(self.solver)
            rows = np.ascontiguousarray(self.Y[self.free])
            largest = max(largest, self.part.residual(rows, self.threads))
        return float(largest)

    def _problem(self, group: _Group) -> tuple[Floats, Floats]:
        """Return H and b of a group."""
        y = group.y
        H = np.tensordot(group.counts, self.G, axes=1) - group.squares.sum() * np.outer(y, y)
        weighted = self.weights[group.columns] * group.sums
        b = weighted @ self.S[group.columns] - (weighted @ group.sums) * y
        return H, b

    def _gap(self, group: _Group, mine: Bools) -> float:
        gradient = _gradient(group, *self._problem(group), group.y)
        held = gradient[group.y > 0].max()
        return float(held - gradient[mine].min()) / max(group.evidence, 1.0)

    def _visit(self, group: _Group, mine: Bools, tol: float) -> float:
        """Take a group to its minimum over its open clusters; return the change of F."""
        H, b = self._problem(group)
        before, y = group.y, _closed(group.y, mine)
        for _ in range(_STEPS):
            gradient = _gradient(group, H, b, y)
            to = int(np.where(mine, gradient, np.inf).argmin())
            away = int(np.where(y > 0, gradient, -np.inf).argmax())
            if gradient[away] - gradient[to] <= tol * max(group.evidence, 1.0):
                break
            step = _step(group, H, y, gradient, (to, away))
            if step <= 0.0:
                break
            y[to] += step
            y[away] = max(0.0, y[away] - step) if step < y[away] else 0.0
        change = _value(group, H, b, y) - _value(group, H, b, before)
        self._move(group, y)
        return change

    def _move(self, group: _Group, y: Floats) -> None:
        """Set the membership of a group, and update the sums."""
        self.S[group.columns] += group.sums[:, np.newaxis] * (y - group.y)
        outer = np.outer(y, y) - np.outer(group.y, group.y)
        self.G += self._held(group)[:, np.newaxis, np.newaxis] * outer
        self.Y[group.objects, : self.k] = y
        group.y = y

    def _held(self, group: _Group) -> Floats:
        """Return the number of objects of a group observed by each presence group of partitions."""
        held = group.counts > 0
        n_observed = np.zeros(len(held))
        n_observed[held] = group.squares[held] / group.counts[held]
        return n_observed

    # -- other open clusters

    def reopened(self) -> bool:
        """Open closed clusters to groups if that lowers F; return whether any was opened."""
        self.passes += 1
        any_opened = False
        for g, group in enumerate(self.groups):
            if not self.others[g]:
                continue
            gradient = _gradient(group, *self._problem(group), group.y)
            best = gradient[self.open[g]].min()
            wanted = np.flatnonzero(~self.open[g] & (gradient < best))
            for cluster in wanted[np.argsort(gradient[wanted], kind="stable")].tolist():
                if self._given(g, cluster):
                    any_opened = True
                    break
        if any_opened:
            self._rebuild()
        return any_opened

    def _given(self, g: int, cluster: int) -> bool:
        """Open a cluster to a group, and close it to groups kept apart from it, if that lowers F; return whether it did."""
        owners = [other for other in self.others[g] if self.open[other, cluster]]
        if any(self.open[other].sum() == 1 for other in owners):
            return False
        state = self.open.copy(), {h: self.groups[h].y for h in (g, *owners)}
        self.open[g, cluster] = True
        self.open[owners, cluster] = False
        change = sum(self._visit(self.groups[h], self.open[h], 1e-9) for h in (*owners, g))
        if change < -_WORTH * self.groups[g].evidence:
            return True
        self.open = state[0]
        for h, y in state[1].items():
            self._move(self.groups[h], y)
        return False


def _closed(y: Floats, mine: Bools) -> Floats:
    """Restrict a membership to open clusters; uniform over these if nothing remains."""
    in_open = np.where(mine, y, 0.0)
    total = in_open.sum()
    result: Floats = in_open / total if total > 0 else mine / mine.sum()
    return result


def _gradient(group: _Group, H: Floats, b: Floats, y: Floats) -> Floats:
    inner = 4.0 * (group.fourth * (y @ y) - group.second)
    gradient: Floats = 2.0 * (H @ y - b) + inner * y
    return gradient


def _value(group: _Group, H: Floats, b: Floats, y: Floats) -> float:
    s = y @ y
    return float(y @ H @ y - 2.0 * (b @ y) + group.fourth * s * s - 2.0 * group.second * s)


def _step(group: _Group, H: Floats, y: Floats, gradient: Floats, ends: tuple[int, int]) -> float:
    """Return the mass to move from the second of two clusters to the first that minimises F, a quartic."""
    to, away = ends
    s, t = float(y @ y), float(y[to] - y[away])
    # |y|^2 along the step is s + 2 t d + 2 d^2.
    first = float(gradient[to] - gradient[away])
    second = float(H[to, to] - 2.0 * H[to, away] + H[away, away])
    second += group.fourth * (4.0 * s + 4.0 * t * t) - 4.0 * group.second
    third, fourth = 8.0 * group.fourth * t, 4.0 * group.fourth
    most = float(y[away])
    tried = [most]
    if fourth == 0.0:
        tried += [min(most, -first / (2.0 * second))] if second > 0 else []
    else:
        roots = np.roots([4.0 * fourth, 3.0 * third, 2.0 * second, first])
        tried += [float(r.real) for r in roots if abs(r.imag) < 1e-9 and 0 < r.real < most]

    def value(d: float) -> float:
        return d * (first + d * (second + d * (third + d * fourth)))

    best = min(tried, key=value)
    return best if value(best) < 0.0 else 0.0
