"""The colours of the gallery: matplotlib draws with those of conclust's own pictures.

sphinx-gallery calls `house_colours` before each example (docs/conf.py). The examples ask for "C0", "C1" and
so on, and for matplotlib's default map, and run as they are elsewhere, with the colours that are set there.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.colors import LinearSegmentedColormap, to_hex

from conclust.plotting.canvas.style import COLOURS, GREY, INK, PALE, cluster_colours

__all__ = ["SEQUENTIAL", "house_colours"]

SEQUENTIAL = LinearSegmentedColormap.from_list("conclust", COLOURS[1:])
"""From pale to dark, as the heatmaps of `conclust.plotting`, without the first step: points show on white."""


def house_colours(gallery_conf: dict[str, Any] | None = None, fname: str | None = None) -> None:
    """Set the colours of clusters and of values.

    Parameters
    ----------
    gallery_conf : dict, optional
        The settings of sphinx-gallery, which are not read.
    fname : str, optional
        The example that comes next, which is not read.
    """
    if SEQUENTIAL.name not in mpl.colormaps:
        mpl.colormaps.register(SEQUENTIAL)
    mpl.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=[to_hex(colour) for colour in cluster_colours(20)]),
            "image.cmap": SEQUENTIAL.name,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": GREY,
            "xtick.color": GREY,
            "ytick.color": GREY,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "grid.color": PALE,
        }
    )
