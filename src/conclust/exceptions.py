"""Every error and warning of conclust, with when it is raised.

Errors are also the built-in error a user would expect (``ValueError`` and so on), so that code
written against scikit-learn catches them.
"""

from __future__ import annotations

__all__ = [
    "CacheWarning",
    "ConclustError",
    "DatasetNotFoundError",
    "DenseLimitError",
    "EnsembleWarning",
    "EvidenceWarning",
    "FileFormatError",
    "InputError",
    "MissingExtraError",
    "OrientationWarning",
    "OutputExistsError",
    "ParameterError",
    "ScaleWarning",
    "SelectionWarning",
    "UnseenLabelWarning",
    "UnsupportedEnsembleError",
    "WorkersLostError",
]


class ConclustError(Exception):
    """Base of every error that conclust raises on purpose."""


class InputError(ConclustError, ValueError):
    """The labels, points or weights given are malformed."""


class ParameterError(ConclustError, ValueError):
    """A parameter is outside of its range or is not a known option."""


class UnsupportedEnsembleError(ConclustError, ValueError):
    """A method cannot handle this ensemble (missing labels, soft members); names one that can."""


class DenseLimitError(ConclustError, ValueError):
    """A matrix of size n x n would exceed ``max_dense`` objects; names methods that need none."""


class FileFormatError(ConclustError, ValueError):
    """A file is damaged, of another format or version, or holds pickles, which are never read."""


class OutputExistsError(ConclustError, FileExistsError):
    """The output folder is not empty and ``--force`` was not given."""


class DatasetNotFoundError(ConclustError, FileNotFoundError):
    """A known data set is not on this machine; says where it is published and where to put it."""


class MissingExtraError(ConclustError, ImportError):
    """An optional dependency is not installed; gives the pip command."""


class WorkersLostError(ConclustError, RuntimeError):
    """Workers of a cluster ended on a block of labels; says how much memory a block needs."""


class EvidenceWarning(UserWarning):
    """Objects or pairs about which the ensemble says nothing."""


class ScaleWarning(UserWarning):
    """Columns of points differ so much in spread that the widest decide; names ``scale``."""


class SelectionWarning(UserWarning):
    """Doubts about the number of clusters chosen, and how long choosing will take."""


class OrientationWarning(UserWarning):
    """Labels look as if rows were clusterings; conclust reads a row as an object."""


class EnsembleWarning(UserWarning):
    """An ensemble of a kind on which the method is known to do badly; names methods that suit it."""


class UnseenLabelWarning(UserWarning):
    """``predict`` met labels that were not there in ``fit``: those objects are noise."""


class CacheWarning(UserWarning):
    """A damaged cache entry was recomputed."""
