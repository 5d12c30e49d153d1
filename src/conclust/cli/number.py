"""``conclust cluster -k auto``: the number of clusters by resampling the points."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust.cli.asked import jobs, scale
from conclust.cli.talk import Talk
from conclust.exceptions import ScaleWarning, SelectionWarning
from conclust.selection import Selection, choose

__all__ = ["selected"]


def selected(
    arguments: argparse.Namespace,
    talk: Talk,
    points: NDArray[np.float64],
    categories: NDArray[Any] | None,
    category_weight: float,
) -> Selection:
    """Choose the number; what speaks against it is in ``doubts``, not in warnings.

    Parameters
    ----------
    arguments : Namespace
        The command line.
    talk : Talk
        For progress.
    points : ndarray of shape (n_complete, n_columns)
        The numbers.
    categories : ndarray of object of shape (n_complete, n_categories) or None
        The categories beside them.
    category_weight : float
        How many columns of numbers each column of categories counts for.
    """
    talk.step(
        "Choosing the number of clusters: draws of the points, and of references without clusters "
        "(-k auto)."
    )
    with talk.during("choosing the number of clusters"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        warnings.simplefilter("ignore", ScaleWarning)  # said before
        return choose(
            points,
            categories=categories,
            category_weight=category_weight,
            scale=scale(arguments),
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            cache_dir=arguments.cache,
            verbose=int(talk.verbosity > 1),
        )
