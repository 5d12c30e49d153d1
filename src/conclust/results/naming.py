"""Names of clusters: those given by the user, or else numbers from 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conclust._validation import shown
from conclust.exceptions import InputError

__all__ = ["read_cluster_names"]


def read_cluster_names(
    given: Any, n_clusters: int, what: str = "The 'cluster_names' (--names)"
) -> tuple[str, ...]:
    """Return a name for each cluster; without surrounding spaces.

    Parameters
    ----------
    given : sequence of str
        Names, in the order of the clusters.
    n_clusters : int
        Number of clusters.
    what : str, default="The 'cluster_names' (--names)"
        Beginning of the message.

    Raises
    ------
    InputError
        If it is not one name for each cluster, or a name is empty or given twice.
    """
    expected = f"{what} must be {n_clusters} different names, one for each cluster."
    if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"{expected} Got {shown(given)} instead.")
    names = tuple(str(name).strip() for name in given)
    if len(names) != n_clusters:
        raise InputError(f"{expected} Got {len(names)} instead.")
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{expected} Got {shown(list(names))} instead.")
    return names
