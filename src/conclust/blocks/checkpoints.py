"""Checkpoints: the small state of a fit, after every round, in a folder.

A fit in blocks is a chain of stages. A finished stage is stored as its result, an unfinished one as its last state;
both hold only sums over the objects. A second run of the same fit resumes from them; the arrays of the blocks are
stored in the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from conclust._files.locking import locked_folder
from conclust._files.storage import read_json, read_npz, write_json, write_npz
from conclust.exceptions import FileFormatError, InputError

T = TypeVar("T")

_ABOUT = "fit.json"

_FOLDER: ContextVar[Path | None] = ContextVar("checkpoint", default=None)


@contextmanager
def checkpoint(folder: str | Path) -> Iterator[Path]:
    """Keep the state of fits in blocks in a folder, so that an interrupted fit can be resumed.

    Parameters
    ----------
    folder : path-like
        Created if it does not exist. It belongs to one fit: another method, other parameters or other labels raise.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    InputError
        The folder is in use, by another process or in this one; or, from ``fit``, it holds the state of another fit.

    Notes
    -----
    The state is written after every round, whole or not at all, and is small: sums over clusters. If a method
    visits the memberships of the objects repeatedly, they are stored there as files:
    ``membership_`` reads them while the folder exists. The result has the same bits whether a fit was interrupted
    or not.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from conclust import HBGF
    >>> from conclust.blocks import LabelStore, checkpoint
    >>> labels = LabelStore(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]))
    >>> with tempfile.TemporaryDirectory() as folder, checkpoint(folder):
    ...     model = HBGF(2, random_state=0).fit(labels)
    >>> np.asarray(model.labels_)
    array([0, 0, 1, 1])
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with locked_folder(path, wait=False) as held:
        if not held:
            raise InputError(
                f"The checkpoint in {path} is in use, by another process or in this one. Wait until that ends, or use a separate "
                "folder for each fit."
            )
        token = _FOLDER.set(path)
        try:
            yield path
        finally:
            _FOLDER.reset(token)


def has_state(folder: Path) -> bool:
    """Return whether a folder has the state of a fit that a second run can resume."""
    return (folder / _ABOUT).exists()


def current_folder() -> Path | None:
    """Return the folder of the open `checkpoint`, or None."""
    return _FOLDER.get()


class Stages:
    """The stages of one fit, kept in a folder if there is one.

    Parameters
    ----------
    folder : path-like or None
        Where.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._about: dict[str, Any] | None = None  # not written yet

    def begin(self, fit: str, fingerprint: str, seed: np.random.SeedSequence) -> Any:
        """Register the fit; return the seed to use, which is that of the first run if this is a second one.

        Raises
        ------
        InputError
            If the folder belongs to another fit.
        """
        if self.folder is None:
            return seed
        path = self.folder / _ABOUT
        entries = {"fit": fit, "labels": fingerprint}
        if not path.exists():
            # Written with the first state, so that a fit that is refused earlier leaves nothing.
            self._about = {**entries, "entropy": str(seed.entropy), "key": list(seed.spawn_key)}
            return seed
        stored = read_json(path)
        wrong = ""
        if stored.get("fit") != fit:
            wrong = "{}. Got {} instead".format(*_differing(str(stored.get("fit")), fit))
        elif stored.get("labels") != fingerprint:
            wrong = "other labels, by their fingerprint"
        if wrong:
            raise InputError(
                f"The checkpoint in {self.folder} belongs to {wrong}. Use a separate folder for each fit."
            )
        entropy = stored["entropy"].strip("[]").replace(",", " ").split()
        words = [int(word) for word in entropy]
        return np.random.SeedSequence(
            words if len(words) > 1 else words[0], spawn_key=tuple(stored["key"])
        )

    def state(self, name: str, kind: type[T], first: Callable[[], T]) -> T:
        """Return the last state saved under a name; if there is none, make the first state and save it.

        Parameters
        ----------
        name : str
            An identifier.
        kind : type
            A dataclass of arrays and numbers.
        first : callable
            Function that returns the initial state of the stage.

        Raises
        ------
        FileFormatError
            If the file is damaged.
        """
        if self.folder is None:
            return first()
        path = self.folder / f"{name}.npz"
        if not path.exists():
            initial = first()
            self.save(name, initial)
            return initial
        arrays, _ = read_npz(path)
        wanted = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        if arrays.keys() != wanted:
            raise FileFormatError(
                f"{path} holds {sorted(arrays)}, and {sorted(wanted)} are expected: it is not a state of "
                "this version. Remove the folder to begin again."
            )
        values = {
            name: array.item() if array.ndim == 0 else array for name, array in arrays.items()
        }
        return kind(**values)

    def save(self, name: str, state: Any) -> None:
        """Save a state, replacing the previous one."""
        if self.folder is not None:
            if self._about is not None:
                write_json(self.folder / _ABOUT, self._about)
                self._about = None
            arrays = {field.name: np.asarray(getattr(state, field.name)) for field in fields(state)}
            write_npz(self.folder / f"{name}.npz", arrays, {})


def _differing(stored: str, requested: str) -> tuple[str, str]:
    """Return the names of two fits, with the parameters in which they differ."""
    (one, *ones), (other, *others) = (
        re.split(r"\(|, (?=\w+=)", fit.rstrip(")")) for fit in (stored, requested)
    )
    if one != other:
        return one, other
    pairs = [(a, b) for a, b in zip(ones, others, strict=False) if a != b]
    return f"{one} with {', '.join(a for a, _ in pairs)}", ", ".join(b for _, b in pairs)
