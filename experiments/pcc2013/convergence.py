"""Section 7.1: how the solvers converge on a soft truth, and Figures 1 and 2.

python -m experiments.pcc2013.convergence [--quick] [--out FOLDER]

Four overlapping Gaussians, 1,000 partitions drawn from their soft truth, K = 8 (``planted.py``). Objective and violation of
the optimality conditions (the KKT gap) of the paper's greedy algorithm, of the block solver on all pairs, and, for l2, of the
factored solver, by sweep: n steps of the greedy algorithm count as one. All begin at the same random membership, and
each is run to the end.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from conclust import PCC, coassociation
from conclust.datasets import planted_ensemble
from conclust.metrics import js_divergence
from experiments.drawing import save
from experiments.output import Row, options, show, stopwatch, write
from experiments.pcc2013.planted import overlapping

SOLVERS = (
    ("kl", "greedy"),
    ("kl", "pairwise"),
    ("l2", "greedy"),
    ("l2", "pairwise"),
    ("l2", "factored"),
)
# Sweeps that a solver is given: the greedy one needs many more.
_SWEEPS = {"greedy": 400, "pairwise": 400, "factored": 400}
# Sweeps between two looks.
_LOOKS = {"pairwise": 4, "factored": 1}


def fitted(labels: NDArray[Any], divergence: str, solver: str, Y: NDArray[np.float64]) -> Any:
    """Return PCC, run to the end from a membership."""
    model = PCC(
        Y.shape[1],
        divergence=divergence,
        solver=solver,  # type: ignore[arg-type]
        init=Y,
        max_iter=_SWEEPS[solver],
        tol=0.0,
        tol_kkt=1e-7,
        random_state=0,
    )
    with warnings.catch_warnings():
        # The table marks runs that were cut off.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(labels)


def sweeps_of(model: Any, solver: str, n: int) -> NDArray[np.float64]:
    """Return at which sweep each entry of the trace was."""
    if solver == "greedy":
        return np.linspace(0.0, model.n_iter_ / n, len(model.trace_))
    return np.minimum(_LOOKS[solver] * np.arange(len(model.trace_)), model.n_iter_).astype(float)


def aligned(Y: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of Y in the order of those of the truth that they meet most; others after them."""
    own, theirs = linear_sum_assignment(-(Y.T @ truth))
    first = own[np.argsort(theirs)]
    return Y[:, [*first, *(k for k in range(Y.shape[1]) if k not in first)]]


def draw_data(
    X: NDArray[Any], truth: NDArray[np.float64], labels: NDArray[Any], arguments: argparse.Namespace
) -> None:
    """Draw Figure 1: the points, the lighter the less sure, and the co-association."""
    order = np.argsort(truth.argmax(axis=1), kind="stable")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.3), layout="constrained")
    for c, marker in enumerate("osD^"):
        some = truth.argmax(axis=1) == c
        left.scatter(
            X[some, 0], X[some, 1], s=14, marker=marker, c=truth.max(axis=1)[some], cmap="Greys",
            vmin=0.0, vmax=1.0, edgecolor="black", linewidth=0.3, label=f"component {c + 1}",
        )  # fmt: skip
    left.set_title("points; the darker the surer of their component", fontsize=10)
    left.set_aspect("equal")
    left.legend(fontsize=7)
    shares = coassociation(labels, normalize=True)[np.ix_(order, order)]
    image = right.imshow(shares, cmap="gray", vmin=0, vmax=1)
    right.set_title("co-association of 1,000 partitions", fontsize=10)
    right.set_xlabel("objects, in order of their components")
    figure.colorbar(image, ax=right, label="share that joins a pair", shrink=0.85)
    save(figure, arguments.out, "figure_1")


def draw_memberships(
    found: dict[str, NDArray[np.float64]], truth: NDArray[np.float64], arguments: argparse.Namespace
) -> None:
    """Draw Figure 2: the memberships found beside the true ones."""
    order = np.argsort(truth.argmax(axis=1), kind="stable")
    figure, axes = plt.subplots(1, len(found) + 1, figsize=(11, 3.4), layout="constrained")
    for ax, (name, Y) in zip(axes, {"truth": truth, **found}.items(), strict=True):
        image = ax.imshow(
            Y[order].T, cmap="gray_r", vmin=0, vmax=1, aspect="auto", interpolation="nearest"
        )
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("objects, in order of their components")
        ax.set_yticks(range(Y.shape[1]), [str(k + 1) for k in range(Y.shape[1])])
    axes[0].set_ylabel("cluster")
    figure.colorbar(image, ax=axes, label="probability")
    save(figure, arguments.out, "figure_2")


def draw_descents(
    models: dict[tuple[str, str], Any], n: int, arguments: argparse.Namespace
) -> None:
    """Draw objective and KKT gap by sweep."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    styles = {"greedy": "-", "pairwise": "--", "factored": ":"}
    for across, divergence in enumerate(("kl", "l2")):
        some = {solver: model for (d, solver), model in models.items() if d == divergence}
        least = min(model.trace_[-1] for model in some.values())
        for solver, model in some.items():
            at = sweeps_of(model, solver, n)
            above = np.maximum(model.trace_ / least - 1.0, 1e-16)
            axes[0, across].plot(at, above, styles[solver], color="black", label=solver)
            axes[1, across].plot(at, model.residuals_, styles[solver], color="black", label=solver)
        axes[0, across].set_title(f"PCC-{'KL' if divergence == 'kl' else 'l2'}", fontsize=11)
        for ax, words in zip(
            axes[:, across], ("objective above the least, share", "KKT gap, per pair"), strict=True
        ):
            ax.set_yscale("log")
            ax.set_xscale("symlog")
            ax.set_xlim(left=0.0)
            ax.set_ylabel(words)
            ax.set_xlabel("sweeps (of the greedy algorithm: n steps)")
            ax.legend(fontsize=8)
    save(figure, arguments.out, "convergence")


def run(arguments: argparse.Namespace) -> None:
    size, n_partitions = (30, 200) if arguments.quick else (200, 1000)
    data = overlapping(arguments.seed, size)
    truth = data.membership
    assert truth is not None
    n = len(truth)
    labels = planted_ensemble(truth, n_partitions, random_state=arguments.seed)
    start = np.random.default_rng(arguments.seed).dirichlet(np.ones(8), n)
    models: dict[tuple[str, str], Any] = {}
    rows: list[Row] = []
    for divergence, solver in SOLVERS:
        with stopwatch() as taken:
            model = models[divergence, solver] = fitted(labels, divergence, solver, start)
        mass = model.membership_.mean(axis=0)
        rows.append(
            {
                "divergence": divergence,
                "solver": solver,
                "objective": float(model.objective_),
                "KKT gap": float(model.kkt_residual_),
                "sweeps": model.n_iter_ / (n if solver == "greedy" else 1),
                "ended": "yes" if model.converged_ else "cut off",
                "clusters over 1 %": int(np.count_nonzero(mass > 0.01)),
                "J": float(js_divergence(truth, model.membership_)),
                "CPU s": taken.cpu,
            }
        )
    formats = {"objective": ".4f", "KKT gap": ".1e", "sweeps": ".1f", "J": ".5f", "CPU s": ".2f"}
    show(rows, f"One start, {n} objects, {n_partitions} partitions, K = 8", formats)
    write(rows, "convergence", arguments, formats)
    draw_data(data.X, truth, labels, arguments)
    found = {
        f"PCC-{name}": aligned(PCC(8, divergence=d, random_state=0).fit(labels).membership_, truth)
        for d, name in (("kl", "KL"), ("l2", "l2"))
    }
    draw_memberships(found, truth, arguments)
    draw_descents(models, n, arguments)


def main(given: list[str] | None = None) -> None:
    run(options(__doc__).parse_args(given))


if __name__ == "__main__":
    main()
