"""Results on disk: the folders that ``conclust cluster``, ``combine`` and ``select`` write, read back."""

from conclust.results.folder import load

__all__ = ["load"]
