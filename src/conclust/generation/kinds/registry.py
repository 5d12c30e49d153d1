"""The kinds of members that the `method` of a generator can name; each kind is in its own file."""

from __future__ import annotations

from copy import copy
from typing import Any

from conclust.generation.kinds.communities import DENSITY, GRAPH
from conclust.generation.kinds.landmarks import SPECTRAL
from conclust.generation.kinds.spherical import SPHERICAL
from conclust.generation.members import KMEANS, Kind

KINDS: dict[str, Kind] = {
    kind.recipe.name: kind for kind in (KMEANS, SPHERICAL, SPECTRAL, GRAPH, DENSITY)
}
# "auto" and "mixed" make members of several kinds.
METHODS = ("auto", "kmeans", "mixed", *(name for name in KINDS if name != "kmeans"))

# The kinds of an automatic ensemble and the number of members of each. Chosen in experiments/default.
_SHARES = {"graph": 17, "spectral": 17, "density": 6}
N_AUTOMATIC = sum(_SHARES.values())
# Features per object from which members are made of rotated points: with spectral members, and without (`benchmarks.wide`).
_WIDE, _VERY_WIDE = 1.5, 4.0
_FEW_MEMBERS = 10
# With fewer objects, a graph of neighbours shows no more than the distances.
_FEW = 50


def chosen_kinds(n: int, d: int) -> str | list[str]:
    """Return the kinds of the members of an automatic ensemble, in alternating order.

    Members by communities of neighbour graphs, by spectral clustering and by density follow what the points
    are near to. Few points are clustered by k-means, and so are points of one feature, whose graphs break at random gaps.
    The kinds are spread evenly, so that the first members of a shorter ensemble have about the same shares.

    Parameters
    ----------
    n, d : int
        Number of objects and of features.
    """
    if n < _FEW or d == 1:
        return "kmeans"
    kinds: list[str] = []
    for turn in range(1, N_AUTOMATIC + 1):
        due = {
            kind: share * turn / N_AUTOMATIC - kinds.count(kind) for kind, share in _SHARES.items()
        }
        kinds.append(max(due, key=lambda kind: due[kind]))
    return kinds


def settings_for(generator: Any, n: int, d: int, *, chosen: bool = True) -> Any:
    """Return the generator's parameters with `method` "auto" replaced by the kinds of members.

    chosen: whether `chosen_kinds` settles them; else all members are by "graph".
    """
    if not (isinstance(generator.method, str) and generator.method == "auto"):
        return generator
    settings = copy(generator)
    settings.method = chosen_kinds(n, d) if chosen else "graph"
    if generator.n_partitions is None:
        settings.n_partitions = N_AUTOMATIC
    return settings


def kinds_of(method: Any) -> list[Any]:
    """Return the kinds listed in a method, with or without their numbers of clusters."""
    listed = method if isinstance(method, list | tuple) else [method]
    return [entry[0] if isinstance(entry, list | tuple) and entry else entry for entry in listed]


def is_named(method: Any) -> bool:
    """Return whether all members are of built-in kinds."""
    listed = method if isinstance(method, list | tuple) else [method]
    return all(isinstance(entry, str) for entry in listed)


def sees_directions(generator: Any) -> bool:
    """Return whether some members depend on the directions of the points from 0."""
    return SPHERICAL.recipe.name in kinds_of(generator.method)


def rotation_pays(generator: Any, n: int, d: int) -> bool:
    """Return whether members are made faster of n points with n coordinates in place of d.

    The axes cost some n^2 d operations; most members of many clusters cost more.
    """
    if generator.n_partitions is not None and generator.n_partitions < _FEW_MEMBERS:
        return False
    return d >= (_WIDE if "spectral" in kinds_of(generator.method) else _VERY_WIDE) * n


def see_distances_only(generator: Any) -> bool:
    """Return whether all members see all features, and depend on them by distances and inner products only."""
    return generator.feature_fraction == 1.0 and all(
        isinstance(kind, str) and kind in KINDS and KINDS[kind].by_distances
        for kind in kinds_of(generator.method)
    )
