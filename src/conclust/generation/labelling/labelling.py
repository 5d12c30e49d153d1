"""Labels blocks of points by all members in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from conclust._threads import thread_count
from conclust._types import Floats, Ints
from conclust.generation.crew import Crew
from conclust.generation.labelling.models import (
    Centers,
    Directions,
    LandmarkCut,
    Model,
    out_of_scale,
    refuse_huge,
)
from conclust.generation.labelling.nearest import CenterSets
from conclust.generation.labelling.rotation import Rotation
from conclust.generation.labelling.rows import Rows, is_in_blocks
from conclust.generation.labelling.voting import NeighbourVote
from conclust.generation.members import Member
from conclust.generation.points import checked_points, read_points
from conclust.generation.scaling import Scaler

_OWNER = "EnsembleGenerator"


class Labelling:
    """Labels blocks of points by many members: those with centres at once, cuts of one graph together.

    It is a function of a block, ``labelling(block)``, that can be pickled and keeps nothing.

    Parameters
    ----------
    models : sequence of Model
        The model that labels the points for each member.
    features : sequence of (sequence of int or None)
        Columns used by each member; None: all.
    d : int
        Columns of the points.
    dtype : dtype
        Type of the labels, wide enough for all clusters.
    scaler : MinMaxScaler, StandardScaler or None, default=None
        The scaling of a call's points.
    rotation : Rotation or None, default=None
        Their rotation.
    """

    @classmethod
    def of(
        cls,
        members: Sequence[Member],
        d: int,
        dtype: Any,
        scaler: Scaler | None = None,
        rotation: Rotation | None = None,
    ) -> Labelling:
        """Return a function that labels points by some members, which all have a model; see the class."""
        models = [member.model for member in members if member.model is not None]
        assert len(models) == len(members)
        return cls(models, [member.features for member in members], d, dtype, scaler, rotation)

    def __init__(
        self,
        models: Sequence[Model],
        features: Sequence[Sequence[int] | Ints | None],
        d: int,
        dtype: Any,
        scaler: Scaler | None = None,
        rotation: Rotation | None = None,
    ) -> None:
        self._n_members = len(models)
        self._d = d
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._scaler, self._rotation = scaler, rotation
        columns = [
            None if features_of_member is None else np.asarray(features_of_member, dtype=np.int64)
            for features_of_member in features
        ]
        near = [u for u, model in enumerate(models) if isinstance(model, Centers)]
        every = np.arange(d if rotation is None else rotation.n_coordinates)
        self._sets: CenterSets | None = None
        if near:
            self._sets = CenterSets(
                [models[u].centers for u in near],  # type: ignore[attr-defined]
                [
                    every if (features_of_member := columns[u]) is None else features_of_member
                    for u in near
                ],
                near,
            )
        # Members with the same features together: their points are checked once.
        self._directed: dict[bytes, tuple[Ints | None, list[tuple[int, Directions]]]] = {}
        for u, model in enumerate(models):
            if isinstance(model, Directions):
                some = columns[u]
                key = b"" if some is None else some.tobytes()
                self._directed.setdefault(key, (some, []))[1].append((u, model))
        # Cuts of one graph together: their ties are found once.
        self._graphs: list[tuple[list[int], list[Any], Ints | None]] = []
        self._votes: list[tuple[list[int], list[Any], Ints | None]] = []
        for u, model in enumerate(models):
            if isinstance(model, LandmarkCut):
                _add(self._graphs, u, model, columns[u])
            elif isinstance(model, NeighbourVote):
                _add(self._votes, u, model, columns[u])
            elif not isinstance(model, Centers):
                raise TypeError(f"Points cannot be labelled by a model of the kind {model.kind!r}.")

    @property
    def shape(self) -> tuple[int, int]:
        """Columns of the points, columns of the labels."""
        return self._d, self._n_members

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the labels."""
        return self._dtype

    def __call__(self, block: Any) -> NDArray[Any]:
        """Return the labels of a block of raw points: unscaled, of any numeric type."""
        if len(block) == 0:
            return np.empty((0, self._n_members), dtype=self._dtype)
        points = checked_points(block, _OWNER)
        return self.label(scaled(points, self._scaler, self._rotation), 1)

    def label(self, points: Floats, n_jobs: int | None) -> NDArray[Any]:
        """Return the labels of points that are scaled and, where members are made of rotated points, rotated.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            C-ordered and finite.
        n_jobs : int or None
            Number of threads, as for joblib.

        Returns
        -------
        ndarray of shape (n, n_members)
            Labels, one member per column.
        """
        labels = np.empty((len(points), self._n_members), dtype=self._dtype)
        odd_points = [
            out_of_scale(points if features is None else points[:, features])
            for features, _ in self._directed.values()
        ]
        threads = thread_count(effective_n_jobs(n_jobs), _OWNER)
        if self._sets is not None:
            self._sets.label(points, labels, threads)
        for (features, directed), odd in zip(self._directed.values(), odd_points, strict=True):
            if odd.size:
                rows = points[odd] if features is None else points[np.ix_(odd, features)]
                for member, model in directed:
                    labels[odd, member] = model.label(rows)
        for members, models, features in self._votes:
            some = points if features is None else np.ascontiguousarray(points[:, features])
            labels[:, members] = NeighbourVote.label_all(models, some, threads)
        if self._graphs:
            refuse_huge(points)
            # Enough parts of the points to keep all workers busy.
            parts = -(-effective_n_jobs(n_jobs) // len(self._graphs))
            step = max(1, -(-len(points) // parts))
            work = [
                (slice(start, start + step), *graph)
                for start in range(0, len(points), step)
                for graph in self._graphs
            ]
            with Crew(n_jobs, "threads", _OWNER) as crew:
                for part, members, columns in crew.run(partial(_label, points), work):
                    labels[part, members] = columns
        return labels


def _add(
    groups: list[tuple[list[int], list[Any], Ints | None]],
    u: int,
    model: LandmarkCut | NeighbourVote,
    columns: Ints | None,
) -> None:
    """Add a member to the group whose search it shares, or to a new group."""
    for members, models, other in groups:
        if _same(columns, other) and models[0].shares_search(model):
            members.append(u)
            models.append(model)
            return
    groups.append(([u], [model], columns))


def _same(columns: Ints | None, other: Ints | None) -> bool:
    if columns is None or other is None:
        return columns is other
    return np.array_equal(columns, other)


def scaled(points: Floats, scaler: Scaler | None, rotation: Rotation | None = None) -> Floats:
    """Return the points after a fitted scaler and a rotation; unchanged without them."""
    if scaler is not None:
        points = np.ascontiguousarray(scaler.transform(points))
    return points if rotation is None else rotation(points)


def over_chunks(X: Any, labelling: Labelling) -> NDArray[Any]:
    """Return a Dask array of the labels of a Dask array of points: nothing is read before they are needed."""
    d, n_members = labelling.shape
    if len(X.chunks[1]) > 1:  # all features of an object must be in one chunk
        X = X.rechunk({1: d})
    lazy: NDArray[Any] = X.map_blocks(
        labelling,
        dtype=labelling.dtype,
        chunks=(X.chunks[0], (n_members,)),
        meta=np.empty((0, n_members), dtype=labelling.dtype),
    )
    return lazy


def _label(
    points: Floats,
    stopped: Callable[[], bool],
    part: slice,
    members: list[int],
    cuts: list[LandmarkCut],
    columns: Ints | None,
) -> tuple[slice, list[int], Ints]:
    """Return the labels of some of the points by the cuts of a graph.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    stopped : callable
        Whether the work was interrupted.
    part : slice
        The points to be labelled.
    members : list of int
        The members' columns of the labels.
    cuts : list of LandmarkCut
        The members.
    columns : ndarray of int64 or None
        The features that they see; None: all.
    """
    some = points[part] if columns is None else np.ascontiguousarray(points[part, columns])
    return part, members, LandmarkCut.label_all(cuts, some)


def scaled_blocks(generator: Any, X: Any) -> Iterator[Floats]:
    """Read points in the scale of the members, block by block.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator.
    X : array-like of shape (n_samples, n_features)
        The points of ``fit``, or new ones.

    Yields
    ------
    ndarray of shape (n_rows, n_features)
        The points of a block of rows.
    """
    for _, block in _rows_of(generator, X).blocks():
        yield scaled(block, generator.scaler_)


def scaled_points(generator: Any, X: Any, objects: Ints) -> Floats:
    """Read some points in the scale of the members.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator.
    X : array-like of shape (n_samples, n_features)
        The points of ``fit``, or new ones.
    objects : ndarray of int64 of shape (n_objects,)
        The rows to read, in rising order.

    Returns
    -------
    ndarray of shape (n_objects, n_features)
        The points.
    """
    samples = _rows_of(generator, X).samples(lambda _: objects, 1, max(1, len(objects)), 1)
    return scaled(next(iter(samples))[0][1], generator.scaler_)


def _rows_of(generator: Any, X: Any) -> Rows:
    owner = type(generator).__name__
    return Rows(X if is_in_blocks(X) else read_points(generator, X, reset=False), owner)
