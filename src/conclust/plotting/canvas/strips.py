"""Strips of clusters or known classes next to a heatmap: colours and names of the objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names, plain_array
from conclust._arrays.rows import cross_counts
from conclust._types import Ints
from conclust.exceptions import InputError
from conclust.measures.matching import assign
from conclust.plotting.canvas.reading import cluster_words


@dataclass(frozen=True)
class Strip:
    """One strip: a number of a colour for each object (-1: none), and the name of each number."""

    name: str
    colours: Ints
    names: dict[int, str]

    def of(self, objects: Ints) -> Strip:
        """Return the strip of some objects, in their order."""
        return replace(self, colours=self.colours[objects])


def read_strips(
    labels: Any,
    n: int,
    owner: str,
    *,
    beside: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
) -> list[Strip]:
    """Read `labels`: None, one label per object, a fitted model, or a dict of names to such.

    Parameters
    ----------
    labels
        The labels.
    n : int
        Number of objects.
    owner : str
        Name of the picture, for messages.
    beside : dict of str to object, default=None
        Other parameter with a row for each object; rows of a frame must have the names of those of `labels`.
    names : sequence of str, default=None
        Names of the clusters of the first strip, whose labels are their numbers from 0. None: the labels.
    """
    if labels is None:
        return []
    by_name = labels if isinstance(labels, dict) else {"": labels}
    for value in by_name.values():
        check_row_names({**(beside or {}), "labels": value}, named_only=True)
    strips = [_strip(str(name), value, n, owner) for name, value in by_name.items()]
    if names is not None:
        strips[0] = _renamed(strips[0], names, owner)
    return [strips[0], *(_like(strip, strips[0]) for strip in strips[1:])] if strips else []


def _renamed(strip: Strip, names: Sequence[str], owner: str) -> Strip:
    """Return a strip with the names of its clusters instead of their numbers."""
    if not all(label.isdecimal() for label in strip.names.values()):
        raise InputError(f"The 'names' of {owner} need 'labels' that are numbers from 0.")
    words = cluster_words(names, max(map(int, strip.names.values()), default=-1) + 1, owner)
    return replace(strip, names={at: words[int(label)] for at, label in strip.names.items()})


def _strip(name: str, given: Any, n: int, owner: str) -> Strip:
    if hasattr(given, "fit"):
        check_is_fitted(given)
        given = given.labels_
    values = plain_array(given, "'labels'")
    if values.shape != (n,):
        raise InputError(
            f"The 'labels' of {owner} must be one label for each of the {n} objects, a fitted model or "
            f"a dict of names to such. Got an array of shape {values.shape} instead."
        )
    if values.dtype.kind in "biuf":
        labelled = values >= 0  # NaN and negative values are not clusters
        clusters, numbers = np.unique(values[labelled], return_inverse=True)
        names = [f"{value:g}" for value in clusters]
    else:
        labelled = np.array([value is not None and value == value for value in values])
        clusters, numbers = np.unique(values[labelled].astype(str), return_inverse=True)
        names = [str(value) for value in clusters]
    colours = np.full(n, -1, dtype=np.int64)
    colours[labelled] = numbers
    return Strip(name, colours, dict(enumerate(names)))


def _like(strip: Strip, first: Strip) -> Strip:
    """Give each cluster the colour of the cluster of the first strip that shares most objects with it."""
    mine, theirs = len(strip.names), len(first.names)
    colour = assign(cross_counts(strip.colours, first.colours, (mine, theirs)))
    free = theirs
    for k in np.flatnonzero(colour < 0):
        colour[k] = free
        free += 1
    colours = np.where(strip.colours < 0, -1, colour[strip.colours])
    return Strip(strip.name, colours, {int(colour[k]): name for k, name in strip.names.items()})
