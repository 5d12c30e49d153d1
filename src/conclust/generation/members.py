"""Members of an ensemble: recipes, draws of objects and features, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from conclust._random import generator
from conclust._types import Floats, Ints
from conclust.ensemble import MISSING, NOISE
from conclust.exceptions import InputError, ParameterError
from conclust.generation.crew import Prefer
from conclust.generation.labelling.models import (
    Centers,
    Directions,
    Model,
    Rotation,
    nearest_center,
    refuse_without_direction,
)
from conclust.generation.runs import run_kmeans, some_objects

_STEPS = (sqrt(2), (1 + sqrt(5)) / 2, sqrt(3))
Init: TypeAlias = Literal["k-means++", "random"]


def center_based(clusterer: Any) -> bool:
    """Return whether the members of a clusterer can label points on which they were not fitted."""
    # A user's clusterer, whose module is loaded already.
    from sklearn.cluster import KMeans, MiniBatchKMeans

    # Their centres are the complete model, so they can predict.
    return type(clusterer) in (KMeans, MiniBatchKMeans)


@dataclass(frozen=True, slots=True)
class Member:
    """The origin of one partition of a generated ensemble.

    Attributes
    ----------
    method : str
        The algorithm: "kmeans", "single", ..., or the name of the clusterer's class.
    n_clusters : int
        Number of clusters found.
    seed : int
        The seed of the run that made the member: its own, or that of a tree or graph it shares with others. It
        descends from the generator's ``random_state``.
    n_objects : int
        Number of objects drawn.
    n_fitted : int
        Number of objects on which the algorithm was fitted; the others were labelled afterwards.
    features : tuple of int or None
        Columns of X that were drawn. None: all.
    model : object or None
        Model that labels points (scaled, the columns drawn, rotated). None: the member cannot label new points.
    rotation : object or None
        Rotation of the points that the member was made of, if they have more features than objects.
    """

    method: str
    n_clusters: int
    seed: int
    n_objects: int
    n_fitted: int
    features: tuple[int, ...] | None
    model: Model | None = field(repr=False, compare=False)
    rotation: Rotation | None = field(default=None, repr=False, compare=False)

    def fits(self, n_features: int, width: int) -> bool:
        """Return whether the numbers of a member, read from a file, are possible for points with `n_features` features.

        `width` is the number of coordinates of the points that members with all features are made of.
        """
        columns, model = self.features, self.model
        drawn = columns is None or (
            len(columns) > 0 and min(columns) >= 0 and max(columns) < n_features
        )
        return (
            0 < self.n_clusters <= self.n_fitted <= self.n_objects
            and drawn
            and (model is None or model.n_clusters == self.n_clusters)
            and (model is None or model.n_features == (width if columns is None else len(columns)))
        )

    @classmethod
    def of(cls, task: Task, result: Labelled, d: int, rotation: Rotation | None = None) -> Member:
        """Return the record of how a member of points with d features was made."""
        features = drawn_features(d, task.n_features, task.seed)
        return cls(
            task.recipe.name,
            result.n_clusters,
            task.seed,
            task.n_objects,
            task.n_objects if task.n_fitted is None else task.n_fitted,
            None if features is None else tuple(features.tolist()),
            result.model,
            rotation,
        )

    @property
    def centers(self) -> Floats | None:
        """Centres (n_clusters, n_drawn_features) in the scaled X, if the member labels points by them."""
        if not isinstance(self.model, Centers):
            return None
        centers = self.model.centers
        return centers if self.rotation is None else self.rotation.back(centers)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a recipe: a label for each given point, and a model for new ones."""

    labels: NDArray[Any]
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A finished member: labels of all objects, numbered by first appearance; -1 missing, -2 noise.

    For a member fitted on some objects: their labels.
    """

    labels: NDArray[Any]
    n_clusters: int
    model: Model | None

    def _restored(self) -> bool:
        """Return whether parts that were read from a file fit each other."""
        labels, k = self.labels, self.n_clusters
        numbers = labels.ndim == 1 and labels.size > 0 and labels.dtype.kind == "i"
        within = numbers and labels.min() >= NOISE and labels.max() < k <= len(labels)
        return bool(within) and (self.model is None or self.model.n_clusters == k)


class Recipe(Protocol):
    """One algorithm, which gets a number of clusters and a source of randomness."""

    @property
    def name(self) -> str:
        """Name of the method, for display."""

    def run(
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        """Cluster the points once for each number of clusters."""


@dataclass(frozen=True)
class Task:
    """One run of one algorithm. A tree or a shared graph is cut into several members; other runs make one.

    ``columns`` are the members' places in the ensemble, ``n_clusters`` the number requested of each. The member
    draws ``n_objects`` objects; ``n_fitted`` of them are what its algorithm sees. None: all of them. Tasks with the
    same ``sample_seed`` see the same ones. None: those drawn by ``seed``.
    """

    recipe: Recipe
    columns: tuple[int, ...]
    n_clusters: tuple[int | None, ...]
    seed: int
    n_objects: int
    n_features: int
    n_fitted: int | None = None
    sample_seed: int | None = None


def place(turn: int) -> tuple[float, float, float]:
    """Return the place of a member among those of its kind: a point of the unit cube, the same for every seed.

    The first members, of any number, are spread evenly along each side: the additive recurrence with three numbers that
    fractions approximate badly.
    """
    number, choice, share = ((0.5 + turn * step) % 1.0 for step in _STEPS)
    return number, choice, share


def stream(seed: int, purpose: int) -> np.random.Generator:
    """Return a member's generator for a purpose: 0 n_clusters, 1 objects, 2 features, 3 algorithm, 4 objects fitted on.

    So the objects drawn do not depend on how n_clusters was chosen, nor the algorithm's start on
    whether objects were drawn.
    """
    return generator(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def draw(n: int, size: int, rng: np.random.Generator) -> Ints | None:
    """Draw `size` of `n` items without replacement, in increasing order; None stands for all."""
    return None if size == n else some_objects(n, size, rng).astype(np.int64)


def drawn_features(d: int, size: int, seed: int) -> Ints | None:
    """Return the features that the member of this seed draws; None: all."""
    return draw(d, size, stream(seed, 2))


def drawn_objects(n: int, size: int, seed: int) -> Ints | None:
    """Return the objects that the member of this seed draws; None: all."""
    return draw(n, size, stream(seed, 1))


def drawn_points(
    points: Floats, n_objects: int, n_features: int, seed: int
) -> tuple[Floats, Ints | None]:
    """Return the points that the member of this seed draws, and which objects these are."""
    rows = drawn_objects(len(points), n_objects, seed)
    if rows is not None:
        points = points[rows]
    return of_features(points, n_features, seed), rows


def of_features(points: Floats, n_features: int, seed: int) -> Floats:
    """Return the columns of the points that the member of this seed draws."""
    features = drawn_features(points.shape[1], n_features, seed)
    return points if features is None else np.ascontiguousarray(points[:, features])


def fitted_objects(observed: Ints | None, task: Task, n: int) -> Ints:
    """Return the objects that the algorithm of a task is fitted to, among those that the task draws (None: all n)."""
    size = task.n_objects if task.n_fitted is None else task.n_fitted
    seed = task.seed if task.sample_seed is None else task.sample_seed
    some = draw(n if observed is None else len(observed), size, stream(seed, 4))
    if some is None:
        return np.arange(n) if observed is None else observed
    return some if observed is None else observed[some]


def finish(result: Found, rows: Ints | None, n: int) -> Labelled:
    """Number the clusters by first appearance and spread the labels over all n objects."""
    labels = result.labels
    first = np.full(int(labels.max(initial=-1)) + 1, len(labels), dtype=np.int64)
    clustered = np.flatnonzero(labels >= 0)[::-1]
    first[labels[clustered]] = clustered  # the last value written remains: the first appearance
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(labels))]
    number = np.empty(len(first) + 2, dtype=np.int32)
    number[order] = np.arange(len(order))
    number[[MISSING, NOISE]] = MISSING, NOISE  # negative labels index from the end
    full = np.full(n, MISSING, dtype=np.int32)
    full[slice(None) if rows is None else rows] = number[labels]
    # A cluster without objects is dropped.
    model = None if result.model is None else result.model.reordered(order)
    return Labelled(full, len(order), model)


def count_distinct(points: Floats, enough: int) -> int:
    """Return the number of distinct points, at most `enough`."""
    return len(first_distinct(points, np.arange(len(points)), enough))


def first_distinct(points: Floats, order: Ints, enough: int) -> Ints:
    """Return the first `enough` objects in `order` that are distinct points (fewer: all of them)."""
    size = 2 * enough
    while True:
        head = order[:size]
        # Rows with distinct sums are distinct, which is faster to check than comparing rows.
        if len(np.unique(points[head].sum(axis=1))) == len(head):
            return head[:enough]
        _, first = np.unique(points[head], axis=0, return_index=True)
        if len(first) >= enough or size >= len(order):
            return head[np.sort(first)[:enough]]
        size *= 4


@dataclass(frozen=True)
class Kind:
    """Members that have a name: each is one run, from a start and with a number of clusters drawn.

    Members of every kind label points that they were not fitted on, and depend on the points by distances and inner products
    only: they are made of rotated points where these have fewer coordinates.

    A kind is one file, with its recipe, and a place in the list of ``kinds/registry.py``; messages, the command line and the
    report read the rest here.

    Attributes
    ----------
    recipe : Recipe
        Recipe of the member; its name is that of the kind.
    most : int
        Default number of members.
    help, cited : str
        Description of the members for the help of the command line and the report; "{starts}" stands for the starts of k-means.
    unscaled : bool
        Whether the members use unscaled points if the scale is "auto".
    """

    recipe: Recipe
    most: int
    help: str
    cited: str
    unscaled: bool = False


@dataclass(frozen=True)
class KMeansRecipe:
    """Lloyd's k-means from one start: points chosen by greedy k-means++, or at random and distinct.

    It finds at most one cluster per distinct point, even if more are requested.
    """

    name: str = "kmeans"
    max_iter: int = 300
    tol: float = 1e-4
    init: Init = "k-means++"

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        return [self._run(points, k, rng) for k in n_clusters if k is not None]

    def _run(self, points: Floats, k: int, rng: np.random.Generator) -> Found:
        if self.init == "random":
            centers = self.centers(points, first_distinct(points, rng.permutation(len(points)), k))
        else:
            centers = self._found(points, min(k, len(points)), int(rng.integers(2**63)))
        # The labels of the run are not used: k-means first centres the points, so that ties may be
        # broken differently than when the same points are labelled later.
        return Found(nearest_center(points, centers), Centers(centers))

    def centers(self, points: Floats, starts: Ints) -> Floats:
        """Return the centres found from some of the points."""
        return self._found(points, len(starts), starts=starts)

    def _found(self, points: Floats, k: int, seed: int = 0, starts: Ints | None = None) -> Floats:
        """Return the centres that the kernel finds, by default from its own starts."""
        runs = run_kmeans(
            np.ascontiguousarray(points),
            k,
            np.arange(len(points), dtype=np.int32)[np.newaxis],
            np.array([seed], dtype=np.uint64),
            starts=None if starts is None else starts.astype(np.int32)[np.newaxis],
            candidates=2 + int(np.log(k)),
            max_iter=self.max_iter,
            tol=self.tol,
            refills=True,
            labels=False,
            centers=True,
        )
        assert runs.centers is not None
        return runs.centers[0, : runs.found[0]]


KMEANS = Kind(
    KMeansRecipe(),
    100,
    help="k-means++ starts, many numbers of clusters",
    cited="k-means with {starts} and many numbers of clusters",
)


@dataclass(frozen=True)
class ClustererRecipe:
    """A user's clusterer, with scikit-learn's interface."""

    clusterer: Any

    @property
    def name(self) -> str:  # noqa: D102
        return type(self.clusterer).__name__

    def run(  # noqa: D102
        self, points: Floats, n_clusters: Sequence[int | None], rng: np.random.Generator
    ) -> list[Found]:
        return [self._run(points, k, rng) for k in n_clusters]

    def _run(self, points: Floats, k: int | None, rng: np.random.Generator) -> Found:
        model = seeded_clone(self.clusterer, rng)
        if k is not None:
            model.set_params(**{sole_parameter(model, "n_clusters"): k})
        private = points.copy()  # a copy, because the clusterer may modify it
        if center_based(model):
            centers = np.asarray(model.fit(private).cluster_centers_, dtype=np.float64)
            return Found(nearest_center(points, centers), Centers(centers))
        return Found(self._check(model.fit_predict(private), len(points)))

    def _check(self, labels: Any, n: int) -> Ints:
        labels = labels_of_estimator(labels, n, self.clusterer)
        values, codes = np.unique(labels, return_inverse=True)
        if values[0] < -1:
            raise InputError(
                f"{self.name} must label objects from 0 on, or -1 for noise. "
                f"Got {values[0]} instead."
            )
        return np.where(codes == 0, NOISE, codes - 1) if values[0] == -1 else codes


def seeded_clone(estimator: Any, rng: np.random.Generator) -> Any:
    """Return a copy of an estimator with its random states drawn."""
    model = clone(estimator)
    names = sorted(model.get_params(deep=True))
    seeded = [name for name in names if name.split("__")[-1] == "random_state"]
    return model.set_params(**{name: int(rng.integers(2**31 - 1)) for name in seeded})


def labels_of_estimator(labels: Any, n: int, estimator: Any) -> NDArray[Any]:
    """Return the labels that a user's clusterer gave n objects, which must be ints."""
    array: NDArray[Any] = np.asarray(labels)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise InputError(
            f"{type(estimator).__name__} must label {n} objects with ints, one each. "
            f"Got shape {array.shape} and dtype {array.dtype} instead."
        )
    return array


def sole_parameter(clusterer: Any, name: str) -> str:
    """Return the parameter `name` of a clusterer, or of the last step of a pipeline; "" if none."""
    names = [key for key in clusterer.get_params(deep=True) if f"__{key}".endswith(f"__{name}")]
    return min(reversed(names), key=lambda key: key.count("__"), default="")


OWNER = "EnsembleGenerator"


@dataclass(frozen=True)
class Plan:
    """All members to make, grouped into tasks."""

    tasks: tuple[Task, ...]
    n_partitions: int
    label_type: np.dtype[Any]  # the narrowest integer type for all labels that the plan can produce
    prefer: Prefer | None  # passed to joblib
    # Whether the numbers of clusters are known only when all members are made, and the type of labels with them.
    measured: bool = False


@dataclass(frozen=True)
class Sizes:
    """Numbers of objects and features that each member draws."""

    n: int
    n_objects: int
    d: int
    n_features: int
    sample_fraction: float
    n_fitted: int | None  # number of the drawn objects to fit; None: all

    @property
    def most_clusters(self) -> int:
        """Maximum number of clusters of a member."""
        return self.n_objects if self.n_fitted is None else self.n_fitted

    def task(
        self,
        recipe: Recipe,
        columns: Sequence[int],
        n_clusters: Sequence[int | None],
        seed: int,
    ) -> Task:
        """Return the task of a run that makes some members."""
        return Task(
            recipe,
            tuple(columns),
            tuple(n_clusters),
            seed,
            self.n_objects,
            self.n_features,
            self.n_fitted,
        )


def extent(choices: Sequence[int]) -> tuple[int, int]:
    """Return the smallest and the largest number; for a range, without iterating over it."""
    ends = (choices[0], choices[-1]) if isinstance(choices, range) else choices
    return min(ends), max(ends)


def check_choices(choices: Sequence[int] | None, sizes: Sizes) -> None:
    """Refuse more clusters than a member has objects."""
    if choices is None or extent(choices)[1] <= sizes.most_clusters:
        return
    drawn = f"n_samples={sizes.n}"
    if sizes.most_clusters < sizes.n_objects:
        drawn = f"{sizes.most_clusters} objects that a member is fitted on (fit_on)"
    elif sizes.n_objects < sizes.n:
        drawn = (
            f"{sizes.n_objects} objects that a member draws ({drawn}, "
            f"sample_fraction={sizes.sample_fraction:g})"
        )
    raise ParameterError(
        f"The 'n_clusters' parameter of {OWNER} must be at most {drawn}. "
        f"Got {extent(choices)[1]} instead."
    )


def clip(choices: range, distinct: int) -> range:
    """Drop numbers above that of the distinct points; one cluster is always possible."""
    return range(min(choices.start, distinct), min(choices.stop, distinct + 1))


def label_type(choices: Iterable[int]) -> np.dtype[Any]:
    """Return the narrowest signed type for labels of these numbers of clusters: a user may write -1 into them."""
    return np.min_scalar_type(-max(choices) - 1)


def type_for(members: Iterable[Member]) -> np.dtype[Any]:
    """Return the narrowest signed type for the labels of these members."""
    return label_type(member.n_clusters for member in members)


@dataclass(frozen=True)
class SphericalKMeansRecipe(KMeansRecipe):
    """Spherical k-means of Dhillon and Modha (2001), from randomly chosen points of distinct directions.

    The sum of the cosines of the points with their centres rises; centres have length 1, so that the nearest
    one is that with the largest cosine, for points of any length.
    """

    name: str = "spherical"
    tol: float = 1e-6

    def _run(self, points: Floats, k: int, rng: np.random.Generator) -> Found:
        refuse_without_direction(points)
        # The largest feature first: the squares of tiny ones would be 0.
        units = points / np.abs(points).max(axis=1, keepdims=True)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        centers = units[first_distinct(units, rng.permutation(len(units)), k)]
        before = -np.inf
        for _ in range(self.max_iter):
            centers, cosines = self._moved(units, centers)
            if cosines - before <= self.tol * len(units):
                break
            before = cosines
        model = Directions(centers)
        return Found(model.label(points), model)

    @staticmethod
    def _moved(units: Floats, centers: Floats) -> tuple[Floats, float]:
        """Return the mean directions of the points nearest to each centre, and the sum of cosines before."""
        labels = nearest_center(units, centers)
        cosines = np.einsum("ij,ij->i", units, centers[labels])
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, units)
        sizes = np.bincount(labels, minlength=len(centers))
        # An empty cluster gets the point that fits its own cluster worst.
        for empty, worst in zip(
            np.flatnonzero(sizes == 0), np.argsort(cosines, kind="stable"), strict=False
        ):
            sums[empty] = units[worst]
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # Points that cancel out have no mean direction: the centre stays.
        moved = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), centers)
        return moved, float(cosines.sum())


SPHERICAL = Kind(
    SphericalKMeansRecipe(),
    100,
    unscaled=True,  # cosines use the unscaled points
    help="k-means with cosine similarity and random starts, for text data",
    cited="k-means with cosine similarity, random starts and many numbers of clusters",
)


# Weight below which a code of a map has no points near it.
_LEAST = 1e-200


@dataclass(frozen=True)
class MapRecipe(KMeansRecipe):
    """The batch map of Kohonen (2013), with the codes on a square grid, 100 codes on one of 10 x 10.

    Codes begin at random distinct points. In each round, a code becomes the mean of all points, weighted by how near their
    codes are on the grid: by a Gaussian whose deviation falls by equal factors from half the side of the grid to .3.
    """

    name: str = "som"
    max_iter: int = 10

    def _run(self, points: Floats, k: int, rng: np.random.Generator) -> Found:
        codes = points[first_distinct(points, rng.permutation(len(points)), k)]
        side = ceil(sqrt(len(codes)))
        place = np.column_stack(np.divmod(np.arange(len(codes)), side))
        apart = np.square(place[:, None] - place).sum(axis=2)
        for deviation in np.geomspace(side / 2, 0.3, self.max_iter):
            labels = nearest_center(points, codes)
            sizes = np.bincount(labels, minlength=len(codes))
            sums = np.empty_like(codes)
            for column, values in zip(sums.T, points.T, strict=True):
                column[:] = np.bincount(labels, values, len(codes))
            weights = np.exp(-apart / (2.0 * deviation**2))
            totals = (weights @ sizes)[:, None]
            # A code without any points near it on the grid stays.
            codes = np.where(totals > _LEAST, weights @ sums / np.maximum(totals, _LEAST), codes)
        return Found(nearest_center(points, codes), Centers(codes))


SOM = Kind(
    MapRecipe(),
    100,
    help="self-organising maps, as many codes as clusters, as in FlowSOM",
    cited="self-organising maps with random starts and many numbers of codes",
)
