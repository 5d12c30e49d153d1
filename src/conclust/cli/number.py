"""``conclust cluster -k auto``: the number of clusters by resampling the points."""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray

from conclust.cli.asked import jobs, scale
from conclust.cli.talk import Talk
from conclust.exceptions import ScaleWarning, SelectionWarning
from conclust.selection import Selection, choose

__all__ = ["selected"]


def selected(arguments: argparse.Namespace, talk: Talk, points: NDArray[np.float64]) -> Selection:
    """Choose the number; what speaks against it is in ``doubts``, not in warnings."""
    talk.step(
        "Choosing the number of clusters: draws of the points, and of references without clusters "
        "(-k auto)."
    )
    with talk.during("choosing the number of clusters"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        warnings.simplefilter("ignore", ScaleWarning)  # said before
        return choose(
            points,
            scale=scale(arguments),
            random_state=arguments.seed,
            n_jobs=jobs(arguments),
            cache_dir=arguments.cache,
            verbose=int(talk.verbosity > 1),
        )
