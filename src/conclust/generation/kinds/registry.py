"""The kinds of members that the `method` of a generator can name; each kind is in its own file."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

from conclust.generation.kinds.communities import DENSITY, GRAPH
from conclust.generation.kinds.landmarks import SPECTRAL
from conclust.generation.members import KMEANS, SOM, SPHERICAL, Kind

KINDS: dict[str, Kind] = {
    kind.recipe.name: kind for kind in (KMEANS, SPHERICAL, SPECTRAL, GRAPH, DENSITY, SOM)
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


class Asked(NamedTuple):
    """The members that the parameter `method` of a generator asks for.

    Attributes
    ----------
    kinds : tuple of str or clusterer
        The names of kinds, and clusterers, in their order.
    numbers : tuple of sequence of int, or None
        For a list of pairs the numbers of clusters of each.
    listed : bool
        Whether they were given as a list.
    """

    kinds: tuple[Any, ...]
    numbers: tuple[Any, ...] | None
    listed: bool

    @classmethod
    def of(cls, method: Any) -> Asked:
        """Parse a `method`, also one that is not valid."""
        if not isinstance(method, list | tuple):
            return cls((method,), None, False)
        if not any(isinstance(entry, list | tuple) for entry in method):
            return cls(tuple(method), None, True)
        pairs = [
            entry if isinstance(entry, list | tuple) and len(entry) == 2 else (None, None)
            for entry in method
        ]
        return cls(tuple(kind for kind, _ in pairs), tuple(ks for _, ks in pairs), True)

    @property
    def names(self) -> list[str]:
        """Those that have a name."""
        return [kind for kind in self.kinds if isinstance(kind, str)]

    @property
    def are_named(self) -> bool:
        """Whether all have a name."""
        return len(self.names) == len(self.kinds)

    @property
    def are_built_in(self) -> bool:
        """Whether all members are of built-in kinds, which choose their own numbers of clusters."""
        return self.are_named and self.numbers is None

    @property
    def sees_directions(self) -> bool:
        """Whether some members depend on the directions of the points from 0."""
        return SPHERICAL.recipe.name in self.names

    @property
    def sees_distances_only(self) -> bool:
        """Whether all members depend on the features they see by distances and inner products only."""
        return self.are_named and all(name in KINDS for name in self.names)


def settings_for(generator: Any, n: int, d: int, *, chosen: bool = True) -> Any:
    """Return the generator's parameters, with what its `method` asks for as `asked`.

    Parameters
    ----------
    generator : EnsembleGenerator
        Its parameters.
    n, d : int
        Number of objects and of features, by which "auto" chooses the kinds of members.
    chosen : bool, default=True
        Whether the kinds are chosen; if not, "auto" makes members by "graph", as for a graph given to fit.
    """
    settings = copy(generator)
    if isinstance(generator.method, str) and generator.method == "auto":
        settings.method = chosen_kinds(n, d) if chosen else "graph"
        if generator.n_partitions is None:
            settings.n_partitions = N_AUTOMATIC
    settings.asked = Asked.of(settings.method)
    return settings


def rotation_pays(settings: Any, n: int, d: int) -> bool:
    """Return whether members can be made, and faster, of n points with n coordinates in place of d.

    Benchmark `benchmarks.wide`. A rotation sees the distances of the points only.
    """
    asked = settings.asked
    if settings.feature_fraction != 1.0 or not asked.sees_distances_only:
        return False
    if settings.n_partitions is not None and settings.n_partitions < _FEW_MEMBERS:
        return False
    return bool(d >= (_WIDE if "spectral" in asked.names else _VERY_WIDE) * n)
