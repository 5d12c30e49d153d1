"""What this library adds to scikit-learn: checks of names of columns, forgetting an earlier fit, the card of a notebook."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import check_is_fitted, validate_data

from conclust._files.storage import PathLike
from conclust.exceptions import InputError

if TYPE_CHECKING:
    from conclust.words.reason import Reason

__all__ = [
    "EstimatorCard",
    "Saved",
    "check_order",
    "forget_results",
    "names_checked",
    "num_samples",
    "record_features",
    "record_order",
]

_NAMED = 4
# A card has no script (some notebooks show HTML with scripts in a frame of its own); without it the buttons do nothing.
_SCRIPTED = re.compile("<script.*?</script>|<button.*?</button>", re.DOTALL)


def forget_results(estimator: Any) -> None:
    """Remove the results of an earlier fit, because not every fit sets every attribute."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def record_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_``, and ``feature_names_in_`` if X has names of columns, without a check of the values."""
    if type(X) is np.ndarray and X.ndim == 2:  # which has no names, and needs no narwhals to say so
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    else:
        with suppress(IndexError):  # an empty list, which is refused as points
            validate_data(estimator, X, skip_check_array=True)
    record_order(estimator, X)


@contextmanager
def names_checked() -> Iterator[None]:
    """Silence scikit-learn's warnings about names of columns, which an outer estimator has compared."""
    with warnings.catch_warnings():
        pattern = "X (has|does not have valid) feature names, but"
        warnings.filterwarnings("ignore", pattern, UserWarning)
        yield


def record_order(estimator: Any, X: Any) -> None:
    """Keep the names of columns that are not strings; scikit-learn compares strings only."""
    names = _other_names(X)
    if names is None:
        vars(estimator).pop("_column_order", None)
    else:
        estimator._column_order = names


def check_order(estimator: Any, X: Any) -> None:
    """Refuse columns with the names of those of ``fit`` in another order.

    Parameters
    ----------
    estimator : estimator
        Whose columns were recorded in ``fit``.
    X : object
        New objects; anything else than a frame with names that are not strings is not looked at.

    Raises
    ------
    InputError
        If the order is another one.
    """
    known, names = vars(estimator).get("_column_order"), _other_names(X)
    if known and names and names != known and set(names) == set(known):
        more = ", ..." if len(known) > _NAMED else ""
        raise InputError(
            "The columns of X have the same names as in fit, in another order. Put them in the order of fit: "
            f"{', '.join(map(repr, known[:_NAMED]))}{more}."
        )


def _other_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame of pandas if they are not strings."""
    names = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    return names if names and not all(isinstance(name, str) for name in names) else None


class EstimatorCard:
    """An estimator that a notebook shows as a card once it is fitted, and as scikit-learn's diagram before."""

    _report_: str  # path of the last report of it

    @property
    def reason_(self) -> str:
        """Reason for the number of clusters: the number, why, and what to do next."""
        return self.reason_parts.text()

    @property
    def reason_parts(self) -> Reason:
        """The reason for the number of clusters, in its parts."""
        from conclust.words.number import of_method

        check_is_fitted(self)
        return of_method(self)

    def _html_repr(self) -> str:
        diagram = str(estimator_html_repr(self))
        try:
            check_is_fitted(self)
        except NotFittedError:
            return diagram
        from conclust.words.card import card_of

        return card_of(self).html(_SCRIPTED.sub("", diagram))

    # scikit-learn calls these two for a notebook and for other pages; before 1.7 they did not call `_html_repr`.
    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._html_repr()
        return bundle


class Saved:
    """Gives a class the method ``save``."""

    def save(self, path: PathLike) -> None:
        """Write the object to a file, from which :func:`conclust.load` makes an equal one.

        It is an NPZ file of plain arrays and JSON, never a pickle. The parameters `n_jobs`, `cache_dir` and `verbose` are left
        out. For a model fitted to labels in blocks, attributes with a row for every object are left out, too.

        Parameters
        ----------
        path : path-like
            The file; nothing is added to its name. An existing one is replaced.

        Raises
        ------
        InputError
            If a part of the object cannot be stored: a function, an estimator of another package, a random generator.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import conclust as cc
        >>> model = cc.PCC(2, random_state=0).fit([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "model.npz")
        ...     again = cc.load(Path(folder) / "model.npz")
        >>> again.predict([[1, 1, 0]])
        array([1])
        """
        from conclust._files.saving import save  # which few sessions need

        save(path, self)
