"""Formal contexts, which relate objects to attributes, and their concept lattices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from conclust._arrays.containers import plain_array
from conclust._types import Bools, Ints
from conclust._validation import check_int, count, shown
from conclust.ensemble import Ensemble, as_ensemble
from conclust.exceptions import InputError, UnsupportedEnsembleError


@dataclass(frozen=True)
class Concept:
    """A formal concept: objects and attributes that determine each other.

    Attributes
    ----------
    extent : tuple
        All objects that have every attribute of the intent.
    intent : tuple
        All attributes that every object of the extent has.
    """

    extent: tuple[Hashable, ...]
    intent: tuple[Hashable, ...]


class FormalContext:
    """A relation of objects and attributes, and its concepts.

    Parameters
    ----------
    incidence : array-like of bool of shape (n_objects, n_attributes)
        Whether object g has attribute m.
    objects : sequence of hashable of length n_objects, default=None
        Names of the objects, all different. None: 0, 1, 2 ...
    attributes : sequence of hashable of length n_attributes, default=None
        Names of the attributes, all different. None: 0, 1, 2 ...

    Attributes
    ----------
    incidence : ndarray of bool of shape (n_objects, n_attributes), read-only
        The relation.
    objects, attributes : tuple
        The names, in the order of rows and columns.

    Raises
    ------
    InputError
        If the incidence is not two-dimensional and of bools (or of 0 and 1), or names are too few, too
        many or not all different.

    References
    ----------
    B. Ganter, R. Wille: Formal concept analysis: mathematical foundations. Springer, 1999.

    Examples
    --------
    >>> from conclust.lattice import FormalContext
    >>> context = FormalContext(
    ...     [[1, 1, 0], [1, 0, 1], [1, 0, 1]],
    ...     objects=["trout", "robin", "wren"],
    ...     attributes=["animal", "swims", "flies"],
    ... )
    >>> context.intent(["robin", "wren"])
    ('animal', 'flies')
    >>> context.closure(["robin"])
    ('robin', 'wren')
    >>> len(context.concepts())
    4
    """

    incidence: Bools
    objects: tuple[Hashable, ...]
    attributes: tuple[Hashable, ...]

    def __init__(
        self,
        incidence: ArrayLike,
        objects: Iterable[Hashable] | None = None,
        attributes: Iterable[Hashable] | None = None,
    ) -> None:
        self.incidence = _read_incidence(incidence)
        n, m = self.incidence.shape
        self.objects, self._row = _read_names(objects, n, "objects")
        self.attributes, self._column = _read_names(attributes, m, "attributes")
        # Sets of objects and of attributes are integers: bit i is element i.
        self._intents = [_as_bits(row) for row in self.incidence]
        self._extents = [_as_bits(column) for column in self.incidence.T]

    @classmethod
    def from_ensemble(cls, ensemble: Ensemble | ArrayLike) -> Self:
        """Make the partition context: the objects, and the clusters of all partitions.

        Parameters
        ----------
        ensemble : Ensemble or array-like of shape (n_samples, n_partitions)
            Hard partitions. Attribute (u, label) is had by the objects that partition u gave that
            label; an object that is missing or noise has none of a partition's attributes.

        Returns
        -------
        FormalContext
            Objects 0, 1, 2 ...; attributes are pairs (partition, label).

        Raises
        ------
        UnsupportedEnsembleError
            If the partitions are soft.

        References
        ----------
        A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, section 3.

        Examples
        --------
        >>> from conclust.lattice import FormalContext
        >>> context = FormalContext.from_ensemble([[0, 0], [0, 1], [1, 1]])
        >>> context.extent([(1, 1)])
        (1, 2)
        """
        members = as_ensemble(ensemble)
        if members.is_soft:
            raise UnsupportedEnsembleError(
                "A formal context needs hard partitions, and this ensemble is soft. Use "
                "Ensemble(ensemble.labels), its most probable clusters."
            )
        names = [(u, label) for u, labels in enumerate(members.names) for label in labels]
        return cls(members.indicator.toarray() > 0, attributes=names)

    @classmethod
    def of_partitions(cls, n_objects: int) -> Self:
        """Make the context that has the partitions of n objects as its concepts.

        Parameters
        ----------
        n_objects : int
            From 2 to 12 (12 objects have 2,047 attributes).

        Returns
        -------
        FormalContext
            Objects are the pairs "ab", "ac", ... of the objects a, b, c, ...; attributes the
            partitions into two blocks, as "a|bcd"; a pair has the partitions that put it together.

        Raises
        ------
        ParameterError
            If `n_objects` is out of its range.

        Notes
        -----
        A concept represents the meet of its intent, which is the join of its extent. The paper's
        proof has the names swapped: pairs are the join-irreducible partitions, two blocks the
        meet-irreducible ones.

        References
        ----------
        A. Bocharov et al.: A lattice-based consensus clustering algorithm. CLA 2016, Theorem 2.

        Examples
        --------
        >>> from conclust.lattice import FormalContext
        >>> context = FormalContext.of_partitions(4)
        >>> context.extent(["ab|cd"])
        ('ab', 'cd')
        >>> len(context.concepts())  # Bell number of 4
        15
        """
        n = check_int(n_objects, "n_objects", "FormalContext.of_partitions", low=2, high=12)
        letters = "abcdefghijkl"[:n]
        # Object a is in block 0; the bits of a number determine the others.
        sides = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n - 1)[::-1]) & 1
        sides = np.column_stack([np.zeros(len(sides), dtype=np.int64), sides])
        blocks = [
            "|".join("".join(np.array(list(letters))[side == k]) for k in (0, 1)) for side in sides
        ]
        i, j = np.array(list(combinations(range(n), 2))).T
        pairs = [letters[a] + letters[b] for a, b in zip(i, j, strict=True)]
        return cls((sides[:, i] == sides[:, j]).T, objects=pairs, attributes=blocks)

    def __repr__(self) -> str:
        return f"FormalContext({count(len(self.objects), 'object')}, {count(len(self.attributes), 'attribute')})"

    def intent(self, objects: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """Attributes that all of the objects have.

        Parameters
        ----------
        objects : iterable of hashable
            Names of objects; none: every attribute follows.

        Returns
        -------
        tuple
            Names of attributes, in the context's order.

        Raises
        ------
        InputError
            If a name is not in the context.
        """
        return self._names_of(self._derive(_find(objects, self._row, "object"), False), False)

    def extent(self, attributes: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """Objects that have all of the attributes.

        Parameters
        ----------
        attributes : iterable of hashable
            Names of attributes; none: every object has them.

        Returns
        -------
        tuple
            Names of objects, in the context's order.

        Raises
        ------
        InputError
            If a name is not in the context.
        """
        return self._names_of(
            self._derive(_find(attributes, self._column, "attribute"), True), True
        )

    def closure(self, objects: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """Objects that have all attributes that the given ones share: the extent they generate.

        Parameters
        ----------
        objects : iterable of hashable
            Names of objects.

        Returns
        -------
        tuple
            Names of objects, in the context's order.

        Raises
        ------
        InputError
            If a name is not in the context.
        """
        shared = self._derive(_find(objects, self._row, "object"), False)
        return self._names_of(self._derive(shared, True), True)

    def concepts(self, *, max_concepts: int = 100_000) -> tuple[Concept, ...]:
        """All concepts, by Close-by-One.

        Parameters
        ----------
        max_concepts : int, default=100000
            A context may have up to 2^min(objects, attributes); with more concepts than this it
            is given up.

        Returns
        -------
        tuple of Concept
            In the lectic order of their extents: the later of two is the one that has the first
            object in which they differ.

        Raises
        ------
        InputError
            If there are more than `max_concepts`.

        References
        ----------
        S. O. Kuznetsov: A fast algorithm for computing all intersections of objects from an arbitrary
        semilattice. Nauchno-Tekhnicheskaya Informatsiya 2(1), 1993.
        """
        return tuple(self._concept(*one) for one in self._close_by_one(max_concepts))

    def lattice(self, *, max_concepts: int = 100_000) -> ConceptLattice:
        """Return the concepts with their order.

        Parameters
        ----------
        max_concepts : int, default=100000
            As for `concepts`.

        Returns
        -------
        ConceptLattice
            The concepts in the order of `concepts`, and which covers which.

        Raises
        ------
        InputError
            If there are more than `max_concepts`.
        """
        closed = list(self._close_by_one(max_concepts))
        number = {extent: i for i, (extent, _) in enumerate(closed)}
        covers = [
            (i, number[upper])
            for i, (extent, _) in enumerate(closed)
            for upper in self._above(extent)
        ]
        concepts = tuple(self._concept(*one) for one in closed)
        return ConceptLattice(
            self, concepts, np.array(sorted(covers), dtype=np.int64).reshape(-1, 2)
        )

    # -- sets as bits

    def _derive(self, chosen: int, of_attributes: bool) -> int:
        """Return the objects (attributes) common to all chosen attributes (objects), as bits."""
        table, width = (
            (self._extents, len(self.objects))
            if of_attributes
            else (self._intents, len(self.attributes))
        )
        common = (1 << width) - 1
        for i in _elements(chosen):
            common &= table[i]
        return common

    def _names_of(self, chosen: int, are_objects: bool) -> tuple[Hashable, ...]:
        names = self.objects if are_objects else self.attributes
        return tuple(names[i] for i in _elements(chosen))

    def _concept(self, extent: int, intent: int) -> Concept:
        return Concept(self._names_of(extent, True), self._names_of(intent, False))

    def _close_by_one(self, most: Any) -> Iterator[tuple[int, int]]:
        """Yield every (extent, intent); each closure is generated from one parent only (canonicity)."""
        limit = check_int(most, "max_concepts", "FormalContext")
        n = len(self.objects)
        intent = self._derive(0, False)
        # Descending objects on a stack that is popped from its end would come out ascending; the
        # In lectic order the last object comes first, so they are pushed ascending.
        stack = [(self._derive(intent, True), intent, 0)]
        count = 0
        while stack:
            extent, intent, begin = stack.pop()
            count += 1
            if count > limit:
                raise InputError(
                    f"The context of {n} objects and {len(self.attributes)} attributes has more than "
                    f"{limit} concepts. Raise 'max_concepts', or take fewer objects or attributes."
                )
            yield extent, intent
            for g in range(begin, n):
                if extent >> g & 1:
                    continue
                shared = intent & self._intents[g]
                closed = self._derive(shared, True)
                if not (closed & ~extent) & ((1 << g) - 1):
                    stack.append((closed, shared, g + 1))

    def _above(self, extent: int) -> Iterator[int]:
        """Yield the extents that cover this one: the smallest of those that add an object."""
        common = self._derive(extent, False)
        candidates = {
            self._derive(common & self._intents[g], True)
            for g in range(len(self.objects))
            if not extent >> g & 1
        }
        for upper in candidates:
            if not any(other != upper and other & ~upper == 0 for other in candidates):
                yield upper


@dataclass(frozen=True, eq=False)
class ConceptLattice:
    """The ordered concepts of a context: one is below another if its extent is contained in the other's.

    Attributes
    ----------
    context : FormalContext
        Context of the concepts.
    concepts : tuple of Concept
        In the order of ``context.concepts()``: the first is the lowest.
    covers : ndarray of int64 of shape (n_covers, 2)
        The diagram's lines: concept [e, 0] is below concept [e, 1], with none between.
    """

    context: FormalContext
    concepts: tuple[Concept, ...]
    covers: Ints

    def __len__(self) -> int:
        return len(self.concepts)

    def __repr__(self) -> str:
        return f"ConceptLattice({count(len(self), 'concept')}, {count(len(self.covers), 'cover')})"

    @property
    def levels(self) -> Ints:
        """Length of the longest path from the lowest concept, (n_concepts,)."""
        levels = np.zeros(len(self), dtype=np.int64)
        sizes = np.array([len(concept.extent) for concept in self.concepts])
        for lower, upper in self.covers[np.argsort(sizes[self.covers[:, 0]], kind="stable")]:
            levels[upper] = max(levels[upper], levels[lower] + 1)
        return levels

    @property
    def object_concepts(self) -> Ints:
        """The lowest concept that holds each object, (n_objects,): where a diagram names it."""
        return self._named(("extent", self.context.objects), lowest=True)

    @property
    def attribute_concepts(self) -> Ints:
        """The highest concept that has each attribute, (n_attributes,): where a diagram names it."""
        return self._named(("intent", self.context.attributes), lowest=False)

    def _named(self, part: tuple[str, tuple[Hashable, ...]], *, lowest: bool) -> Ints:
        side, names = part
        by_size = sorted(range(len(self)), key=lambda i: len(self.concepts[i].extent))
        place: dict[Hashable, int] = {}
        for i in by_size if lowest else reversed(by_size):
            for name in getattr(self.concepts[i], side):
                place.setdefault(name, i)
        return np.array([place[name] for name in names], dtype=np.int64)


def _read_incidence(incidence: ArrayLike) -> Bools:
    table = np.array(plain_array(incidence, "The incidence of a context", of="numbers"))
    if table.ndim != 2 or table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise InputError(
            "The incidence of a context must be a two-dimensional array of bools, or of 0 and 1. Got "
            f"an array of shape {table.shape} and dtype {table.dtype} instead."
        )
    table = table.astype(np.bool_)
    table.flags.writeable = False
    return table


def _read_names(
    names: Iterable[Hashable] | None, count: int, what: str
) -> tuple[tuple[Hashable, ...], dict[Hashable, int]]:
    if names is not None and not isinstance(names, Iterable):
        raise InputError(f"The {what!r} of a context must be names. Got {shown(names)} instead.")
    read: tuple[Hashable, ...] = tuple(range(count)) if names is None else tuple(names)
    if not all(isinstance(name, Hashable) for name in read):
        raise InputError(f"The {what!r} of a context must be names. Got {shown(read)} instead.")
    place = {name: i for i, name in enumerate(read)}
    if len(read) != count or len(place) != count:
        raise InputError(
            f"The {what!r} of a context must be {count} different names, one for each. Got {len(read)}, "
            f"of which {len(place)} are different."
        )
    return read, place


def _find(names: Iterable[Hashable], place: dict[Hashable, int], what: str) -> int:
    chosen = 0
    for name in names:
        if name not in place:
            raise InputError(f"The context has no {what} {name!r}.")
        chosen |= 1 << place[name]
    return chosen


def _as_bits(row: Bools) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _elements(chosen: int) -> Iterator[int]:
    """Yield the elements of a set of bits, ascending."""
    while chosen:
        low = chosen & -chosen
        yield low.bit_length() - 1
        chosen ^= low
