"""Members from several kinds of features of the same objects (views)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from conclust._arrays.containers import check_row_names, moderate, refuse_gaps
from conclust._arrays.rows import ratio
from conclust._parameters import Parameters, Range, check_parameters
from conclust._random import RandomStateLike, generator, seed_sequence, spawn_seeds
from conclust._types import Floats
from conclust._validation import listed, refuse
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import over_partitions
from conclust.exceptions import InputError
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.points import checked_points
from conclust.similarity import cluster_certainty

_OWNER = "MultiViewGenerator"
_UNIONS = 4  # maximum number of unions of views
_LEAST = 2


@dataclass(eq=False, repr=False)
class MultiViewGenerator(BaseEstimator):  # type: ignore[misc]
    """Make members from each of several views of the same objects, and from random unions of views.

    A view is a matrix of features of one kind: Fourier coefficients and pixels, or genes and proteins. Members
    from each see its own structure; in one matrix the view with the most columns would dominate.

    Parameters
    ----------
    generator : EnsembleGenerator, default=None
        Generator of the members of a view; each view gets a copy with its own seed. Its number of
        partitions is ignored. None: ``EnsembleGenerator()``.
    n_partitions : int, default=60
        Number of members of all views and unions, evenly.
    union_share : float, default=0.4
        Share of the members that are made from unions of views, up to four of them, in the range [0, 1]. A union has two
        views or more, drawn at random; their columns are centred, and each view has the same total variance in it.
    weigh : bool, default=True
        Whether a member is weighted by the mean certainty of its clusters among the members of its view, so that a
        view whose members contradict each other counts less.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the unions and of the seeds of the members.
    n_jobs : int, default=None
        Threads. The result does not depend on it.

    Attributes
    ----------
    ensemble_ : Ensemble
        The members, with their weights if `weigh`.
    views_ : list of tuple of str
        For each member, the views that it was made from.
    weights_ : ndarray of shape (n_partitions,)
        Weight of each member, of mean 1.
    generators_ : dict of tuple of str to EnsembleGenerator
        Fitted generators of each view and union.

    Raises
    ------
    InputError
        If the views are not of the same objects, there are fewer than two of either, or a row is NaN in part.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    conclust.EnsembleGenerator : Members from one matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import EAC, EnsembleGenerator, MultiViewGenerator
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat([0, 1, 2, 3], 25)
    >>> views = {
    ...     "left": 6.0 * np.eye(2)[kind // 2] + rng.normal(size=(100, 2)),
    ...     "parity": 6.0 * np.eye(2)[kind % 2] + rng.normal(size=(100, 2)),
    ... }
    >>> makes = MultiViewGenerator(EnsembleGenerator("kmeans", n_clusters=4), random_state=0)
    >>> ensemble = makes.fit(views).ensemble_
    >>> np.bincount(EAC(4).fit_predict(ensemble)).tolist()
    [25, 25, 25, 25]
    """

    ensemble_: Ensemble = field(init=False)
    views_: list[tuple[str, ...]] = field(init=False)
    weights_: Floats = field(init=False)
    generators_: dict[tuple[str, ...], EnsembleGenerator] = field(init=False)

    parameters: ClassVar[Parameters] = {"union_share": Range(at_most=1)}

    generator: EnsembleGenerator | None = None
    n_partitions: int = 60
    _: KW_ONLY
    union_share: float = 0.4
    weigh: bool = True
    random_state: RandomStateLike = None
    n_jobs: int | None = None

    def fit(self, X: Mapping[str, ArrayLike] | Sequence[ArrayLike], y: None = None) -> Self:
        """Make the members.

        Parameters
        ----------
        X : dict of str to array-like, or list of array-like
            The views, each of shape (n_samples, n_features of the view) and finite. Views of a list are called "0",
            "1", ... A row of NaN is an object that the view lacks: it is missing in all members of this view and of unions with it.
        y : None
            Ignored.

        Returns
        -------
        self : MultiViewGenerator
            The fitted generator.
        """
        self._check_parameters()
        views = _read(X)
        root = seed_sequence(self.random_state, _OWNER)
        shares = self._shares(list(views), generator(root))
        seeds = spawn_seeds(root, len(shares), bits=32)
        labels, weights, of, self.generators_ = [], [], [], {}
        for (names, count), seed in zip(shares.items(), seeds, strict=True):
            single = len(names) == 1
            seen = np.all([~np.isnan(views[name][:, 0]) for name in names], axis=0)
            if np.count_nonzero(seen) < _LEAST:
                raise InputError(
                    f"{_OWNER} needs two objects or more that are in the views {listed(map(repr, names))}. Choose other "
                    f"views{'' if single else ', or pass union_share=0'}."
                )
            parts = [views[name][seen] for name in names]
            points = parts[0] if single else _union(parts)
            base = EnsembleGenerator() if self.generator is None else clone(self.generator)
            base.set_params(n_partitions=count, random_state=seed, n_jobs=self.n_jobs)
            made = np.asarray(base.fit_transform(points))
            weights.append(_certainty(made) if self.weigh else np.ones(count))
            labels.append(np.full((len(seen), count), -1, made.dtype))
            labels[-1][seen] = made
            self.generators_[names] = base
            of += [names] * count
        self.views_ = of
        self.weights_ = np.concatenate(weights)
        if not self.weights_.any():  # all members are noise
            self.weights_ = np.ones(len(self.weights_))
        self.weights_ /= self.weights_.mean()
        every = np.column_stack(labels)
        self.ensemble_ = Ensemble(every, weights=self.weights_ if self.weigh else None)
        return self

    def fit_transform(self, X: Any, y: None = None) -> NDArray[Any]:
        """Make the members, and return their labels (n_samples, n_partitions); see :meth:`fit`."""
        labels: NDArray[Any] = self.fit(X).ensemble_.labels
        return labels

    def _shares(self, names: list[str], rng: np.random.Generator) -> dict[tuple[str, ...], int]:
        """Return the number of members of each view and each union."""
        unions: dict[tuple[str, ...], None] = {}
        wanted = min(_UNIONS, 2 ** len(names) - len(names) - 1)
        while self.union_share > 0 and len(unions) < wanted:
            size = int(rng.integers(_LEAST, len(names) + 1))
            drawn = sorted(rng.permutation(len(names))[:size].tolist())
            unions[tuple(names[i] for i in drawn)] = None
        joint = round(self.union_share * self.n_partitions) if unions else 0
        shares = _evenly(self.n_partitions - joint, [(name,) for name in names])
        shares.update(_evenly(joint, list(unions)))
        return {key: count for key, count in shares.items() if count}

    def _check_parameters(self) -> None:
        if self.generator is not None and not isinstance(self.generator, EnsembleGenerator):
            refuse("generator", _OWNER, "an EnsembleGenerator or None", self.generator)
        check_parameters(self)


def _evenly(count: int, keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Divide a number among keys; the first ones get one more."""
    each, more = divmod(count, max(1, len(keys)))
    return {key: each + (i < more) for i, key in enumerate(keys)}


def _read(X: Any) -> dict[str, Floats]:
    """Return the views by name."""
    if isinstance(X, Mapping):
        parts = dict(X)
    elif isinstance(X, Sequence) and not isinstance(X, str):
        parts = {str(i): view for i, view in enumerate(X)}
    else:
        raise InputError(
            f"The X of {_OWNER} must be a dict or a list of matrices, such as {{name: X[:, indices]}}. "
            f"Got {type(X).__name__} instead; EnsembleGenerator makes members from one matrix."
        )
    repeated = [name for name, times in Counter(map(str, parts)).items() if times > 1]
    if repeated:
        raise InputError(
            f"The views must have different names. Got {repeated[0]!r} as text and as another type."
        )
    views = {
        str(name): checked_points(view, _OWNER, name=str(name), least=2, gaps=True)
        for name, view in parts.items()
    }
    if len(views) < _LEAST:
        raise InputError(f"{_OWNER} needs two views or more. Got {len(views)}.")
    check_row_names(parts)
    for (name, view), given in zip(views.items(), parts.values(), strict=True):
        refuse_gaps(view[~np.isnan(view).all(axis=1)], given, f"The view {name!r}")
    lengths = {name: len(view) for name, view in views.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"The views must be of the same objects. Got numbers of rows {lengths}.")
    return views


def _union(views: list[Floats]) -> Floats:
    """Return the columns of several views, centred, each view with the total variance 1."""
    parts = []
    for view in views:
        points, _ = moderate(view)
        centred = points - points.mean(axis=0)
        spread = float(np.sqrt((centred**2).sum() / len(view)))
        parts.append(centred / spread if spread > 0 else centred)
    return np.hstack(parts)


def _certainty(labels: NDArray[Any]) -> Floats:
    """Return the mean certainty of the clusters of each member among all, by their sizes; 1 for one member."""
    members = Ensemble(labels)
    if members.n_partitions == 1:
        return np.ones(1)
    sizes = members.cluster_sizes
    certain = over_partitions(cluster_certainty(members) * sizes, members.offsets)
    # A member may be all noise.
    return ratio(certain, over_partitions(sizes.astype(float), members.offsets))
