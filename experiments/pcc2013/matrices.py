"""Figures 3 and 4: the synthetic sets, and co-association matrices of both kinds of ensembles in VAT order.

python -m experiments.pcc2013.matrices [--quick] [--sets iris ...] [--out FOLDER]

The paper says that ensemble 1 gives micro-blocks and ensemble 2 a "much more blockwise" matrix. It does not say of which set
its example is; here of three. rings and image-1 stand in for the papers' sets of the same size.
"""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np

from conclust import coassociation
from conclust.membership import vat_order
from experiments.drawing import save, scatter
from experiments.output import options
from experiments.paper_sets import KINDS, PARTITIONS, SETS, here, members, points


def run(arguments: argparse.Namespace) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(6, 3.2), layout="constrained")
    for ax, name in zip(axes, ("rings", "image-1"), strict=True):
        scatter(ax, *points(name), name)
    save(figure, arguments.out, "figure_3")
    sets = here(arguments.sets[:1] if arguments.quick else arguments.sets)
    figure, grid = plt.subplots(
        2, len(sets), figsize=(3.8 * len(sets), 7.4), layout="constrained", squeeze=False
    )
    for down, kind in enumerate(KINDS):
        for ax, name in zip(grid[down], sets, strict=True):
            X, _ = points(name)
            count = 20 if arguments.quick else PARTITIONS
            labels = members(kind, name, X, arguments.seed, n_partitions=count)
            shares = coassociation(labels, normalize=True)
            order = vat_order(1.0 - shares)
            image = ax.imshow(shares[np.ix_(order, order)], cmap="gray", vmin=0, vmax=1)
            ax.set_title(f"{name}, {kind}", fontsize=10)
    for ax in grid[-1]:
        ax.set_xlabel("objects, in VAT order")
    figure.colorbar(image, ax=grid, label="share of the partitions that join a pair", shrink=0.6)
    save(figure, arguments.out, "figure_4")
    print(f"Drawn: {', '.join(sets)}" if arguments.out else "Give --out a folder for the pictures.")


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    chosen = ["iris", "std-yeast-cell", "optdigits"]
    parser.add_argument("--sets", nargs="+", choices=SETS, default=chosen, metavar="SET")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
