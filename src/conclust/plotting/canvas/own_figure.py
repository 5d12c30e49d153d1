"""The figure of pictures that make their own. It needs matplotlib, and is imported where a figure is made."""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.figure import Figure


class OwnFigure(Figure):
    """A figure that is saved with its own background, whatever the settings of matplotlib say."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **kwargs: Any) -> None:
        """Save the figure."""
        if not (matplotlib.rcParams["savefig.transparent"] if transparent is None else transparent):
            # "auto" keeps the figure's own colours; some dark themes override them.
            for name in ("facecolor", "edgecolor"):
                kwargs.setdefault(name, "auto")
        super().savefig(fname, transparent=transparent, **kwargs)
