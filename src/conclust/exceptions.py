"""All errors and warnings of conclust.

Errors are also the built-in error a user would expect (``ValueError`` and so on), so that code
written against scikit-learn catches them.
"""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "CacheWarning",
    "ConclustError",
    "DatasetNotFoundError",
    "DenseLimitError",
    "DistancesWarning",
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
    "SparseInputError",
    "UnseenLabelWarning",
    "UnsupportedEnsembleError",
    "WorkersLostError",
]

# Modules that are not the user's: those of conclust, and those of scikit-learn that call it (fit_predict, pipelines).
_INSIDE = ("conclust", "sklearn")


class ConclustError(Exception):
    """Base of every error that conclust raises on purpose.

    Attributes
    ----------
    owner, parameter : str
        The class or function and its parameter whose value was refused; empty for other errors.
    lists_methods : bool
        Whether the list of all methods helps.
    """

    owner = parameter = ""
    lists_methods = False

    def __str__(self) -> str:
        """Return the error in sentences."""
        return self.sentences()

    def sentences(self, option: str = "", methods: str = "conclust.methods()") -> str:
        """Return the error with another name of the parameter beside its own, and of the list of methods, as the shell has them."""
        text = super().__str__()
        if self.parameter:
            text = f"The {self.parameter!r} parameter of {self.owner}{option} must be {text}"
        return f"{text} {methods} lists all methods." if self.lists_methods else text


class InputError(ConclustError, ValueError):
    """The labels, points or weights given are malformed."""


class SparseInputError(InputError, TypeError):
    """A sparse matrix is given where stored zeros and absent entries would mean different things."""


class ParameterError(ConclustError, ValueError):
    """A parameter is outside of its range or is not a known option."""


class UnsupportedEnsembleError(ConclustError, ValueError):
    """A method cannot handle this ensemble (missing labels, soft members); names one that can."""


class DenseLimitError(ConclustError, ValueError):
    """A matrix of size n x n would exceed ``max_dense`` objects; the message names methods that need none."""


class FileFormatError(ConclustError, ValueError):
    """A file is damaged, of another format or version, or holds pickles, which are never read."""


class OutputExistsError(ConclustError, FileExistsError):
    """The output folder is not empty and ``--force`` was not given."""


class DatasetNotFoundError(ConclustError, FileNotFoundError):
    """A known data set is not on this machine; the message states where it is published and where to put it."""


class MissingExtraError(ConclustError, ImportError):
    """An optional dependency is not installed; gives the pip command."""


class WorkersLostError(ConclustError, RuntimeError):
    """Workers of a cluster ended on a block of labels; the message states the memory that a block needs."""


class EvidenceWarning(UserWarning):
    """The ensemble has no information about some objects or pairs."""


class ScaleWarning(UserWarning):
    """Columns of points differ so much in spread that the widest dominate; the message names ``scale``."""


class DistancesWarning(UserWarning):
    """Points look like distances or similarities of all pairs; the message gives the way to points."""


class SelectionWarning(UserWarning):
    """Doubts about the number of clusters chosen, and how long choosing will take."""


class OrientationWarning(UserWarning):
    """Labels look as if rows were clusterings; conclust reads a row as an object."""


class EnsembleWarning(UserWarning):
    """The method is known to perform badly on such an ensemble; the message names suitable ones."""


class UnseenLabelWarning(UserWarning):
    """``predict`` got labels that did not occur in ``fit``: those objects are noise."""


class CacheWarning(UserWarning):
    """A damaged cache entry was recomputed."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the innermost line outside of the library."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def order_of_call() -> str:
    """Return the function of the library that the user called, with its first arguments: "border_tests(X, labels)"."""
    frame = called = sys._getframe(1)
    while frame.f_back is not None and _inside(frame.f_back.f_globals.get("__name__", "")):
        frame = frame.f_back
        called = frame if frame.f_code.co_argcount else called  # and no decorator
    code = called.f_code
    first = [name for name in code.co_varnames[: code.co_argcount] if name != "self"][:2]
    return f"{code.co_name}({', '.join(first)})"


def fitted_by(estimator: object, packages: tuple[str, ...]) -> bool:
    """Return whether the code that fits an estimator, from whose methods this is called, is in one of these packages."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_locals.get("self") is estimator:
        frame = frame.f_back
    return bool(frame.f_globals.get("__name__", "").startswith(packages))


def _inside(module: str) -> bool:
    return module.split(".", 1)[0] in _INSIDE
