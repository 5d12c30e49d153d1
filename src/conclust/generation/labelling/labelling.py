"""Labels blocks of points by all members in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray

from conclust._arrays.containers import few_values
from conclust._threads import thread_count
from conclust._types import Bools, Floats, Ints
from conclust.exceptions import InputError
from conclust.generation.crew import Crew
from conclust.generation.labelling.models import (
    Centers,
    CenterSets,
    Directions,
    LandmarkCut,
    NeighbourVote,
    Rotation,
    out_of_scale,
    refuse_huge,
)
from conclust.generation.members import Labelled, Member, Task, drawn_objects, fitted_objects
from conclust.generation.points import are_repeated, checked_points, keys_of_rows, read_points
from conclust.generation.scaling import Scaler

_OWNER = "EnsembleGenerator"
# The numbers of some members, their models, and the features that they use.
_Group = tuple[list[int], list[Any], Ints | None]


class Labelling:
    """Labels blocks of points by many members: those with centres at once, cuts of one graph together.

    It is a function of a block, ``labelling(block)``, that can be pickled and keeps nothing.

    Parameters
    ----------
    members : sequence of Member
        Members that all have a model.
    d : int
        Columns of the points.
    dtype : dtype
        Type of the labels, wide enough for all clusters.
    scaler : MinMaxScaler, StandardScaler or None, default=None
        The scaling of a call's points.
    rotation : Rotation or None, default=None
        Their rotation.
    """

    def __init__(
        self,
        members: Sequence[Member],
        d: int,
        dtype: Any,
        scaler: Scaler | None = None,
        rotation: Rotation | None = None,
    ) -> None:
        models: list[Any] = [member.model for member in members]
        self._n_members = len(models)
        self._d = d
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._scaler, self._rotation = scaler, rotation
        columns = [
            None if member.features is None else np.asarray(member.features, dtype=np.int64)
            for member in members
        ]
        near = [u for u, model in enumerate(models) if isinstance(model, Centers)]
        every = np.arange(d if rotation is None else rotation.n_coordinates)
        self._sets: CenterSets | None = None
        if near:
            self._sets = CenterSets(
                [models[u].centers for u in near],
                [every if (some := columns[u]) is None else some for u in near],
                near,
            )
        # Those that share what labels points together: it is done once.
        self._directed: list[_Group] = []
        self._graphs: list[_Group] = []
        self._votes: list[_Group] = []
        groups: dict[type, list[_Group]] = {
            Directions: self._directed,
            LandmarkCut: self._graphs,
            NeighbourVote: self._votes,
        }
        for u, model in enumerate(models):
            if type(model) in groups:
                _add(groups[type(model)], u, model, columns[u])
            elif not isinstance(model, Centers):
                raise TypeError(
                    f"Points cannot be labelled by a model of the type {type(model).__name__}."
                )

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
        return self.label(self.prepared(checked_points(block, _OWNER)), 1)

    def prepared(self, points: Floats) -> Floats:
        """Return raw points as `label` takes them."""
        return scaled(points, self._scaler, self._rotation)

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
            for _, _, features in self._directed
        ]
        threads = thread_count(effective_n_jobs(n_jobs), _OWNER)
        if self._sets is not None:
            self._sets.label(points, labels, threads)
        for (members, models, features), odd in zip(self._directed, odd_points, strict=True):
            if odd.size:
                rows = points[odd] if features is None else points[np.ix_(odd, features)]
                for member, model in zip(members, models, strict=True):
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


def _add(groups: list[_Group], u: int, model: Any, columns: Ints | None) -> None:
    """Add a member to the group whose search it shares, or to a new group."""
    for members, models, other in groups:
        if np.array_equal(columns, other) and models[0].shares_search(model):  # type: ignore[arg-type]
            members.append(u)
            models.append(model)
            return
    groups.append(([u], [model], columns))


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
        _called,
        labelling=import_module("dask").delayed(labelling),  # sent once, not with each chunk
        dtype=labelling.dtype,
        chunks=(X.chunks[0], (n_members,)),
        meta=np.empty((0, n_members), dtype=labelling.dtype),
    )
    return lazy


def _called(block: Any, labelling: Labelling) -> NDArray[Any]:
    return labelling(block)


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


def as_many_as_differ(generator: Any, X: Any) -> Ints | None:
    """Return as many objects as points that differ, if some are repeated, drawn evenly from the groups of equal points.

    A repeated point does not make a cluster: with every point twice, the clusters are those of the points once.
    It counts if the columns have few values, at most the square root of the number of points, as for `spread_rounded_columns`.

    Parameters
    ----------
    generator : EnsembleGenerator
        The fitted generator.
    X : array-like of shape (n_samples, n_features)
        The points of ``fit``.

    Returns
    -------
    ndarray of int64 of shape (n_different,) or None
        The objects, in rising order. None: all, as no point is repeated, or the columns have few values.
    """
    keys = np.concatenate([keys_of_rows(block) for _, block in _rows_of(generator, X).blocks()])
    if not are_repeated(keys):
        return None
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    n, n_different = len(keys), len(first)
    few = few_values(n)
    seen = np.sort(first)[:: max(1, n_different // (4 * few))]
    if max(len(np.unique(column)) for column in scaled_points(generator, X, seen).T) <= few:
        return None
    places = (2 * np.arange(n_different) + 1) * n // (2 * n_different)
    return np.sort(np.argsort(group, kind="stable")[places])


def _rows_of(generator: Any, X: Any) -> Rows:
    owner = type(generator).__name__
    return Rows(X if is_in_blocks(X) else read_points(generator, X, reset=False), owner)


_BLOCK_BYTES = 32 << 20  # size in bytes of a block in double precision
_MOST_ROWS = 1 << 16
_SPOTS = 16  # number of positions at which some rows are read
_SPOT = 4096
_HELD = 512 << 20  # total size in bytes of the samples in memory


def is_in_blocks(X: Any) -> bool:
    """Return whether X is a matrix of numbers whose rows can be read without the rest.

    So are NumPy's arrays, in memory or memory-mapped, and what has their ``shape``, ``dtype`` and slices of rows:
    Zarr arrays, HDF5 data sets, Dask arrays. Data frames, lists and sparse matrices are not.
    """
    if isinstance(X, np.ndarray):
        plain = type(X) in (np.ndarray, np.memmap) and X.dtype.kind in "fiu"
        return plain and X.ndim == 2 and len(X) > 0
    if sp.issparse(X) or isinstance(X, type) or not hasattr(X, "__getitem__"):
        return False
    try:
        return len(X.shape) == 2 and X.shape[0] != 0 and np.dtype(X.dtype).kind in "fiu"
    except (AttributeError, TypeError):
        return False


def comes_in_chunks(X: Any) -> bool:
    """Return whether X is a Dask array: its chunks are read and labelled where Dask computes."""
    return is_in_blocks(X) and hasattr(X, "map_blocks") and hasattr(X, "__dask_graph__")


def as_whole(X: Any) -> Any:
    """Load X into memory if it is read in blocks."""
    lies_elsewhere = is_in_blocks(X) and not isinstance(X, np.ndarray)
    return np.asarray(X[0 : X.shape[0]]) if lies_elsewhere else X


class Rows:
    """Blocks of rows of a matrix, as C-ordered and finite float64.

    Where blocks begin depends on the shape only.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        See `is_in_blocks`.
    owner : str
        Name of the estimator, for messages.
    """

    def __init__(self, X: Any, owner: str) -> None:
        self._owner = owner
        self._X = X
        shape = tuple(X.shape)
        if not all(isinstance(size, int | np.integer) for size in shape):  # NaN: unknown to Dask
            raise InputError(
                f"{owner} must know how many objects there are. Got a Dask array of shape {shape}: "
                "X.compute_chunk_sizes() finds out."
            )
        self.n, self.d = int(shape[0]), int(shape[1])
        self.in_chunks = comes_in_chunks(X)
        self.step = max(1024, min(_MOST_ROWS, _BLOCK_BYTES // (8 * max(1, self.d)) // 1024 * 1024))

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and features."""
        return self.n, self.d

    def digest(self) -> str:
        """Return the SHA-256 of the shape, the type and the bytes of all rows."""
        digest = sha256(f"{self.shape} {np.dtype(np.float64).str} ".encode())
        for _, block in self.blocks():
            digest.update(block.data)
        return digest.hexdigest()

    def block(self, start: int, stop: int) -> Floats:
        """Read some rows."""
        return self._checked(self._X[start:stop])

    def labels(
        self, labelling: Labelling, start: int, stop: int, n_jobs: int | None
    ) -> NDArray[Any]:
        """Label some rows: those of a Dask array where its chunks are."""
        if self.in_chunks:
            return np.asarray(over_chunks(self._X[start:stop], labelling))
        return labelling.label(labelling.prepared(self.block(start, stop)), n_jobs)

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield all rows block by block, with the first row of each block."""
        for start in range(0, self.n, self.step):
            yield start, self.block(start, min(self.n, start + self.step))

    def some(self) -> Floats:
        """Read a few spread rows, or all of a small matrix."""
        if self.n <= _SPOTS * _SPOT:
            return self.block(0, self.n)
        starts = np.linspace(0, self.n - _SPOT, _SPOTS).astype(np.int64)
        if self.in_chunks:  # one request, not one for each position
            return self._checked(self.lazy(np.add.outer(starts, np.arange(_SPOT)).ravel()))
        return np.concatenate([self.block(start, start + _SPOT) for start in starts.tolist()])

    def lazy(self, rows: Ints) -> Any:
        """Return some rows of a Dask array, in rising order, as a Dask array."""
        return self._X[rows]

    def samples(
        self, draw: Callable[[int], Ints], count: int, largest: int, together: int
    ) -> Iterator[list[tuple[int, Floats]]]:
        """Read the rows of samples, some samples at a time, with their numbers.

        Parameters
        ----------
        draw : callable
            Returns the rows of the sample of a number, in rising order.
        count : int
            Number of samples.
        largest : int
            Rows of the largest.
        together : int
            Number wanted at a time.
        """
        if isinstance(self._X, np.ndarray):
            for first in range(0, count, together):
                chosen = range(first, min(count, first + together))
                yield [(s, self._checked(self._X[draw(s)])) for s in chosen]
            return
        # Scattered rows would read every chunk for each sample, so one pass serves as many samples as fit into memory.
        together = max(together, _HELD // (8 * self.d * largest))
        for first in range(0, count, together):
            yield self._in_one_pass(
                {s: draw(s) for s in range(first, min(count, first + together))}
            )

    def _in_one_pass(self, drawn: dict[int, Ints]) -> list[tuple[int, Floats]]:
        samples = {s: np.empty((len(rows), self.d)) for s, rows in drawn.items()}
        for start, block in self.blocks():
            for s, rows in drawn.items():
                begin, end = np.searchsorted(rows, [start, start + len(block)])
                samples[s][begin:end] = block[rows[begin:end] - start]
        return list(samples.items())

    def _checked(self, block: Any) -> Floats:
        return checked_points(np.asarray(block), self._owner)


_AHEAD = 4  # number of samples read at a time per worker
_HEAD = 1024  # number of rows in which nearly all clusters appear


class Shares:
    """The points of each task: its sample of the objects that it observes.

    Parameters
    ----------
    rows : Rows
        The points.
    scaler : MinMaxScaler, StandardScaler or None
        Their scaling.
    n_jobs : int or None
        Number of tasks that run side by side, as for joblib.
    """

    def __init__(self, rows: Rows, scaler: Scaler | None, n_jobs: int | None) -> None:
        self._rows = rows
        self.in_chunks = rows.in_chunks
        self._scaler = scaler
        self._together = _AHEAD * effective_n_jobs(n_jobs)
        self._observed: dict[int, NDArray[np.uint8]] = {}  # by column, one bit per object

    def __call__(self, tasks: Sequence[Task]) -> Iterator[list[tuple[int, Floats]]]:
        """Yield the points of some tasks at a time, with the tasks' indices."""
        for some in self._rows.samples(
            lambda i: self._draw(tasks[i]),
            len(tasks),
            max(task.n_fitted or 0 for task in tasks),
            self._together,
        ):
            yield [(i, scaled(sample, self._scaler)) for i, sample in some]

    def over_chunks(
        self, tasks: Sequence[Task], run: Callable[[Task, None, Floats], list[Labelled]]
    ) -> Iterator[tuple[int, list[Labelled]]]:
        """Yield what each task makes of its sample, with its index: samples are drawn, and tasks run, where Dask computes.

        Tasks of the same sample run together, because they share searches.
        """
        together: dict[bytes, tuple[Ints, list[int]]] = {}
        for i, task in enumerate(tasks):
            objects = self._draw(task)
            together.setdefault(objects.tobytes(), (objects, []))[1].append(i)
        dask = import_module("dask")
        runs = [
            dask.delayed(
                partial(_of_sample, self._scaler, [partial(run, tasks[i], None) for i in some])
            )(self._rows.lazy(objects))
            for objects, some in together.values()
        ]
        for (_, some), made in zip(together.values(), dask.compute(*runs), strict=True):
            yield from zip(some, made, strict=True)

    def observed(self, column: int, start: int, stop: int) -> Bools | None:
        """Return the objects of a block that a member observes; None: all. Blocks begin at multiples of 8."""
        bits = self._observed.get(column)
        if bits is None:
            return None
        part = np.unpackbits(bits[start // 8 : -(-stop // 8)], count=stop - start)
        return part.astype(np.bool_)

    def _draw(self, task: Task) -> Ints:
        n = self._rows.n
        objects = drawn_objects(n, task.n_objects, task.seed)
        if objects is not None:
            observed = np.zeros(n, dtype=np.bool_)
            observed[objects] = True
            self._observed |= dict.fromkeys(task.columns, np.packbits(observed))
        return fitted_objects(objects, task, n)


def _of_sample(
    scaler: Scaler | None, runs: Sequence[Callable[[Floats], list[Labelled]]], sample: Floats
) -> list[list[Labelled]]:
    points = scaled(checked_points(sample, _OWNER), scaler)
    return [run(points) for run in runs]


def labels_in_order(
    members: Sequence[Member],
    rows: Rows,
    shares: Shares,
    label: Callable[[Sequence[Member], int, int], NDArray[Any]],
    dtype: Any,
    report: Callable[[str], None],
) -> tuple[list[Member], NDArray[Any] | None]:
    """Number the clusters of each member by their first appearance among the objects that it observes.

    Returns the members, and the labels of all objects: -1 where a member does not observe one. Without a type for them
    there are none, and only as many rows are read as it takes until all clusters have appeared: few, as a rule.

    Parameters
    ----------
    members : sequence of Member
        Their clusters hold an object each, at least.
    rows : Rows
        The points.
    shares : Shares
        Objects observed by each member.
    label : callable
        Returns the labels of the rows from one to before another by some members.
    dtype : dtype or None
        Type of the labels.
    report : callable
        Function that receives about ten lines of progress.
    """
    orders: list[list[int]] = [[] for _ in members]
    matrix = None if dtype is None else np.empty((rows.n, len(members)), dtype=dtype)
    start, size, reported = 0, _HEAD, 0
    while start < rows.n:
        pending = [
            u
            for u, member in enumerate(members)
            if matrix is not None or len(orders[u]) < member.n_clusters
        ]
        if not pending:
            break
        stop = min(rows.n, start + size)
        labels = label([members[u] for u in pending], start, stop)
        for column, u in zip(labels.T, pending, strict=True):
            observed = shares.observed(u, start, stop)
            if len(orders[u]) < members[u].n_clusters:
                numbers, first = np.unique(
                    column if observed is None else column[observed], return_index=True
                )
                met_before = set(orders[u])
                orders[u] += [k for k in numbers[np.argsort(first)].tolist() if k not in met_before]
            if matrix is not None:
                number = np.zeros(members[u].n_clusters, dtype=dtype)
                number[orders[u]] = np.arange(len(orders[u]))
                matrix[start:stop, u] = number[column]
                if observed is not None:
                    matrix[start:stop, u][~observed] = -1
        start, size = stop, min(4 * size, rows.step)
        if matrix is not None and (stop - reported >= rows.n / 10 or stop == rows.n):
            reported = stop
            report(f"{stop:,} of {rows.n:,} objects labelled")
    ordered = [
        replace(member, model=None if member.model is None else member.model.reordered(order))
        for member, order in zip(members, map(np.array, orders), strict=True)
    ]
    return ordered, matrix
