"""The solvers of the pair objective, by the names that users give them.

- factored: least squares over all pairs, none of them formed;
- pairwise: block coordinate descent over the objects, any divergence, all pairs or some;
- greedy: the papers' Algorithm 1, one object and two clusters a step;
- landmark: some objects on all their pairs, each other one against them.

Their kernels lie in folders of these names in ``_kernels/pair_objective``.

A further one is a :class:`conclust.consensus.papers.probabilistic.problem.Solver` in `SOLVERS`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from conclust.consensus.papers.probabilistic.problem import Solver
from conclust.consensus.papers.probabilistic.solvers.factored import Factored
from conclust.consensus.papers.probabilistic.solvers.greedy import Greedy
from conclust.consensus.papers.probabilistic.solvers.landmark import Landmark
from conclust.consensus.papers.probabilistic.solvers.pairwise import Pairwise
from conclust.divergences import Divergence, is_squared
from conclust.exceptions import ParameterError

__all__ = ["DENSE_LIMIT", "DENSE_WORK", "SOLVERS", "SolverName", "choose"]

SolverName: TypeAlias = Literal["auto", "factored", "pairwise", "greedy", "landmark"]

SOLVERS: dict[str, Solver] = {
    "factored": Factored(),
    "pairwise": Pairwise(),
    "greedy": Greedy(),
    "landmark": Landmark(),
}

# All pairs are formed up to DENSE_LIMIT objects if n^2 K is at most DENSE_WORK: some seconds. Beyond
# that, landmarks are cheaper; they come within half a per cent of the objective of all pairs (K =
# 8).
DENSE_LIMIT = 8000
DENSE_WORK = 125_000_000


def choose(
    solver: SolverName, divergence: Divergence, pairs: Any, n: int, n_clusters: int, owner: str
) -> str:
    """Return the name of the solver to use; refuse an unsuitable one.

    Parameters
    ----------
    solver : str
        The user's `solver`.
    divergence : Divergence
        d.
    pairs : int, float, SparseEvidence or None
        The user's `pairs`.
    n, n_clusters : int
        Objects and clusters.
    owner : str
        The estimator, for messages.
    """
    is_builtin = divergence._kernel is not None
    if solver == "factored" and (pairs is not None or not is_squared(divergence)):
        raise ParameterError(
            f"The solver 'factored' of {owner} takes all pairs of squared differences: it needs "
            f"divergence='l2' or 'mahalanobis' and pairs=None. Got {divergence.name!r} and "
            f"pairs={pairs!r}: use solver='pairwise'."
        )
    if solver == "landmark" and pairs is not None:
        raise ParameterError(
            f"The solver 'landmark' of {owner} takes all pairs of some objects: leave out pairs=, or use "
            "solver='pairwise'."
        )
    if solver == "landmark" and not is_builtin:
        raise ParameterError(
            f"The solver 'landmark' of {owner} supports built-in divergences only. For your own "
            f"divergence {divergence.name!r} use solver='pairwise' or 'greedy'."
        )
    if solver != "auto":
        return solver
    if pairs is None and is_squared(divergence):
        return "factored"
    dense = n <= DENSE_LIMIT and n * n * n_clusters <= DENSE_WORK
    return "pairwise" if pairs is not None or not is_builtin or dense else "landmark"
