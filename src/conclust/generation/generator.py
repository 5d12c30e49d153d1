"""EnsembleGenerator: makes many partitions of points."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from conclust._arrays.containers import along_line
from conclust._parameters import Parameters, Range, check_parameters
from conclust._progress import fitting, say, watched
from conclust._random import RandomStateLike
from conclust._sklearn import Saved, record_features
from conclust._threads import one_library_thread
from conclust._types import Floats
from conclust._validation import check_column_names, refuse
from conclust.ensemble.labels import code_type
from conclust.exceptions import CacheWarning, FileFormatError, InputError, warn
from conclust.generation.crew import Crew
from conclust.generation.kinds.communities import NeighbourRecipe, read_graph
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe
from conclust.generation.kinds.registry import Asked, rotation_pays, settings_for
from conclust.generation.labelling.labelling import (
    Labelling,
    Rows,
    Shares,
    as_whole,
    comes_in_chunks,
    is_in_blocks,
    labels_in_order,
    over_chunks,
    scaled,
)
from conclust.generation.labelling.models import Rotation, Searches
from conclust.generation.members import (
    Init,
    Labelled,
    MapRecipe,
    Member,
    Plan,
    Task,
    drawn_points,
    finish,
    of_features,
    stream,
    type_for,
)
from conclust.generation.plan import check_method, check_numbers, fitted_on, make_plan
from conclust.generation.points import read_points, warn_of_distances
from conclust.generation.scaling import Scale, Scaling, fits_scale, scaling_of

_OWNER = "EnsembleGenerator"


def _check_folder(folder: Any, owner: str) -> None:
    """Refuse a `cache_dir` that is neither a path nor None."""
    if folder is not None and not isinstance(folder, str | PathLike):
        refuse("cache_dir", owner, "a path or None", folder)


@dataclass(eq=False, repr=False)
class EnsembleGenerator(
    Saved,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Make an ensemble: many partitions of the same points.

    Parameters
    ----------
    method : str, clusterer or list, default="auto"
        Kind of the members.

        - "auto": 17 of every 40 members are made by "graph", 17 by "spectral" and 6 by "density", which find clusters of any
          shape. All members are made by "kmeans" if there are fewer than 50 objects or only one feature, and by "graph" if
          ``fit`` gets a graph.
        - "kmeans": k-means from one start (`init`), with n_clusters drawn uniformly.
        - "spherical": k-means with cosine similarity [3]_ from one random start, with n_clusters drawn uniformly. It
          is meant for text data. ``fit`` raises an error for rows of zeros, which have no direction.
        - "spectral": spectral clustering on landmarks (U-SPEC [2]_), for millions of points. Each member determines its own
          1,000 landmarks (all points if there are no more), links each object to its 5 nearest landmarks, and cuts the graph of
          objects and landmarks. Members that see all objects and features take turns with four shared graphs, which differ in
          the number of landmarks that an object is linked to; if they are fitted on a sample (`fit_on`), the graphs also share
          the landmarks. Each graph is embedded once, and a member with K clusters is
          k-means on the K leading columns (FSEC [4]_). n_clusters is drawn uniformly. Groups need not be round; these members
          take more time.
        - "graph": communities of the graph of nearest neighbours by the Leiden algorithm [6]_, with a number of
          neighbours and a resolution for each. Groups need not be round. With `n_clusters`, each member searches
          for a resolution that gives its number to within 5 %, if there is one.
        - "density": single linkage on the mutual reachability distances [7]_ of nearest neighbours, without noise.
          Members differ in the core distance (of the 2nd, 4th, 8th or 16th neighbour), the number of clusters (2 to
          the square root of n_samples) and their minimum size.
        - "som": batch self-organising maps [8]_ with n_clusters codes on a square grid, from random starts: 100 codes are on a
          10 x 10 grid, as in FlowSOM. ``members_[0].centers`` are the codes.
        - "mixed": single, average, ward and centroid linkage (Euclidean), spectral clustering and k-means, each with
          every number of clusters. It needs n x n matrices, of at most 20,000 objects.
        - A scikit-learn clusterer: cloned for each member, every ``random_state`` in it set from the
          member's seed, ``n_clusters`` taken from the parameter of that name where both have it. Its
          label -1 is noise.
        - A list of these, used in turn (without "mixed"): ``["kmeans", "spectral"]``
          makes an ensemble of both kinds.
        - A list of pairs of an algorithm and its numbers of clusters, with one member for each number:
          ``[("single", [5, 10]), ("kmeans", range(2, 11))]``. In addition to the above, the algorithms of "mixed" are
          available: "single", "average", "ward", "centroid", "dense_spectral" (of all pairs of objects).
    n_partitions : int, default=None
        Number of partitions. None: 40 with "auto", 20 with "spectral", 100 with another name or
        one clusterer. A list of names: the smallest of these numbers for each name, at most 100 together. A list that
        holds clusterers: one of each. With "mixed" the number of algorithms times the numbers of clusters, with a list
        of pairs all the numbers that it has (no other number is allowed).
    n_clusters : int, range or list of int, default=None
        Numbers of clusters, over which the members are spread evenly. None: from 2 to min(50, max(10, square root of n_samples)), the cube root with
        "mixed", never more than the distinct points that a member draws; clusterers keep their own number; a list of
        pairs has its own numbers.
    sample_fraction : float, default=1.0
        Share of the objects that each member draws (observes), without replacement, in (0, 1]. The other objects are
        missing in the member. (All cuts of one tree share its draw.) `fit_on` is different: it limits the number of
        drawn objects on which the algorithm is fitted, and all drawn objects get a label.
    feature_fraction : float, default=1.0
        Share of the features that each member draws, without replacement, in (0, 1].
    fit_on : int, default=None
        Maximum number of objects on which each member is fitted, at least 2. Each member uses its own sample of the
        objects that it draws; then all objects are labelled for all members in one pass. The members must be able to
        label other objects ("kmeans", "spherical", "spectral", "graph", "density", "som", KMeans, MiniBatchKMeans). None:
        the larger of 10,000 and ten per requested cluster if all members are able to do this, otherwise all objects.
    init : {"k-means++", "random"}, default="k-means++"
        Starts of the "kmeans" members. "k-means++": points chosen by greedy k-means++ [5]_, which are far apart, so
        that small clusters near a large one get their own centres. "random": distinct points chosen at random.
    scale : {"auto", "minmax", "standard"} or None, default="auto"
        Scaling of the columns over all of X. "minmax": to [0, 1]. "standard": to mean 0 and variance 1. None:
        unchanged. "auto": to mean 0 and variance 1 if the spreads differ as they do between different units,
        otherwise unchanged (pixels, coordinates, expression, principal components); see the notes. ``scale_`` records
        the result. A clusterer of your own may have parameters in the unit of X, so with "auto" it gets unscaled
        columns, with a ``ScaleWarning`` if their units seem to differ.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all randomness. The result does not depend on `n_jobs`, the backend or the cache, and the first
        members stay the same if more are requested.
    n_jobs : int, default=None
        Number of members that joblib makes in parallel. None means 1 unless a ``joblib.parallel_config`` sets another
        number; -1 means all processors. Each member runs on one thread.
    cache_dir : path-like or None, default=None
        Folder that keeps finished members for a later run with the same points, parameters and versions of the
        libraries, so that an interrupted run can be resumed. Simultaneous runs share the work. Needs a
        `random_state`. Delete the folder when you no longer need it.
    verbose : int, default=0
        1: print about ten lines of progress to standard error. 2: print one line for each run of an algorithm.

    Attributes
    ----------
    members_ : list of Member
        The recipe of each partition: method, clusters found, seed, features, centres.
    scale_ : {"minmax", "standard"} or None
        Scaling of the columns.
    scale_reason_ : str
        The scaling in a sentence, with the reason if ``scale="auto"``.
    scaler_ : MinMaxScaler, StandardScaler or None
        The fitted scaling.
    n_cached_ : int
        Members that were read from `cache_dir`.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string names.

    Notes
    -----
    ``fit_transform`` returns the partitions of the given points. ``transform`` labels any points,
    including new ones: by the nearest centre of each member ("kmeans", "spherical", "som", and a KMeans or MiniBatchKMeans
    of your own), by links to the landmarks of the member, whose positions in its embedding are kept ("spectral"), or
    by the vote of the 15 nearest fitted points ("graph", "density"). With ``sample_fraction=1`` the two agree on the
    same points. With a smaller fraction, objects that a member did not draw are missing in ``fit_transform``, which
    is what a consensus needs, while ``transform`` labels all objects. Other members cannot label new points. For
    these, ``transform`` returns the labels of exactly the points given to ``fit``, and raises an error for other
    points.

    Labels are signed, so that -1 (missing) can be written into them. Those of members that have a name ("kmeans", "mixed",
    ...) are int8 up to 127 clusters, which ensembles use without a copy, and int16 or int32 beyond, with -1 for objects
    that were not drawn. All other labels are int32, with -2 for noise. The clusters of each partition are numbered by
    first appearance.

    Named kinds of members follow a fixed design: their numbers of clusters, neighbours, resolutions, core distances and minimum
    sizes do not depend on `random_state`, and are spread evenly over any number of members. The seed determines the rest: the
    order in which nodes are visited, the starts of k-means, the landmarks of more than 1,000 points, and the objects and
    features of `sample_fraction`, `feature_fraction` and `fit_on`. Two seeds therefore give nearly the same ensembles.

    ``scale="auto"`` standardises if two conditions hold. At least a tenth of the columns that vary have a standard
    deviation and a range below a twentieth of the largest ones, and fewer than ten columns dominate the squared
    distances. If more columns dominate, those with small spreads are quiet columns with the same unit, such as the margins of
    images. Columns with means of 0 (principal components) are not scaled. If columns are narrower by a
    factor of 5 to 20, the spreads alone are not conclusive: k-means partitions up to 2,000 of the rows in either scale, and the
    scale with the tighter clusters is chosen (tightness does not depend on scale, and is compared with clouds). If both scales
    give the same clusters, and these are rounder in the original columns, columns are not scaled.

    With ``fit_on``, the time to fit the members does not grow with the number of objects. Only the product of the
    points with the centres of all members grows; it is computed in registers and never stored. ``fit_transform``
    keeps the labels in memory, one byte each. If they do not fit, use ``fit`` and :meth:`transform_blocks`, which
    hold neither all points nor all labels.

    A landmark-spectral member costs O(n sqrt(p) d + n K^2 + p^3) time for p = 1000 landmarks, and memory of about 300
    bytes per object. Among many points, 98 % of the nearest landmarks are found, because an object is compared only with those
    nearby. If
    the graph has several connected components, weak links connect each to the nearest one. With
    :class:`conclust.HBGF` (``joint=False``) as the consensus this is U-SENC [2]_, which draws n_clusters from
    range(20, 61).

    All "graph" and "density" members of a fit share one search for neighbours, which is exact up to 50,000 points.
    Equal points form one node. With n > 2,500 objects, these members cluster the same random sqrt(2,500 n), at most 5,000. Each of
    the other objects, and each new point, takes the most frequent label of its 15 nearest neighbours among these, or
    in a tie the label of the nearest one. If ``fit`` gets a graph, all objects are clustered, and new points can be
    labelled if no two points are equal. For points in 16 dimensions, 40 graph and 6 density members take .07 CPU
    seconds with 1,500 objects, .25 with 10,000 and 1.0 with 100,000.

    If X has at least 1.5 times as many features as objects (4 times without "spectral" members), ten or more members
    by "kmeans", "spherical", "graph", "spectral", "density" and "som" that see all features are made from rotated points: n
    objects span at most n dimensions, so n coordinates preserve all distances. Equal distances may then differ by rounding
    errors. The axes are kept, and new points are rotated before they are labelled; centres are given in the original features.
    The default takes 1.6 CPU seconds for 500 objects with 20,000 features (17 without rotation), and 22 for 3,000 with 5,000
    (41).

    Each further member of a shared graph takes O(n K^2) time. Members of one graph use the same objects if `fit_on`
    leaves some out; they are made one after the other. Twenty members with 20 to 60 clusters on 100,000 x 16 points take
    1.4 CPU seconds (7.4 with a graph each).

    References
    ----------
    .. [1] A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo and M. Pelillo,
       "Probabilistic consensus clustering using evidence accumulation", Machine Learning 98, 2015,
       section 7.2: the ensembles "kmeans" and "mixed".
    .. [2] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai and C.-K. Kwoh, "Ultra-scalable spectral clustering
       and ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020.
    .. [3] I. S. Dhillon and D. S. Modha, "Concept decompositions for large sparse text data using clustering",
       Machine Learning 42, 2001.
    .. [4] R. Zhang, S. Hang, Z. Sun, F. Nie, R. Wang and X. Li, "Anchor-based fast spectral ensemble
       clustering", Information Fusion 113, 2025.
    .. [5] D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", Proceedings of the 18th
       Annual ACM-SIAM Symposium on Discrete Algorithms, 2007.
    .. [6] V. A. Traag, L. Waltman and N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
       communities", Scientific Reports 9, 5233, 2019.
    .. [7] R. J. G. B. Campello, D. Moulavi and J. Sander, "Density-based clustering based on hierarchical density
       estimates", PAKDD 2013.
    .. [8] T. Kohonen, "Essentials of the self-organizing map", Neural Networks 37, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import EnsembleGenerator
    >>> X = load_iris().data
    >>> generator = EnsembleGenerator(n_partitions=20, random_state=0)
    >>> labels = generator.fit_transform(X)
    >>> labels.shape
    (150, 20)
    >>> (generator.transform(X) == labels).all()
    np.True_
    >>> EnsembleGenerator("spectral", n_partitions=5, random_state=0).fit_transform(X).shape
    (150, 5)
    >>> EnsembleGenerator(["graph", "density"], 12, random_state=0).fit_transform(X).shape
    (150, 12)
    >>> from sklearn.cluster import DBSCAN
    >>> EnsembleGenerator([DBSCAN()]).fit_transform(X).min()  # noise
    np.int32(-2)
    """

    members_: list[Member] = field(init=False)
    _rotation: Rotation | None = field(init=False, default=None)
    parameters: ClassVar[Parameters] = {
        "method": check_method,
        "n_clusters": check_numbers,
        "sample_fraction": Range(above=0, at_most=1),
        "feature_fraction": Range(above=0, at_most=1),
        "fit_on": Range(at_least=2),
        "cache_dir": _check_folder,
    }

    method: Any = "auto"
    n_partitions: int | None = None
    _: KW_ONLY
    n_clusters: int | Sequence[int] | None = None
    sample_fraction: float = 1.0
    feature_fraction: float = 1.0
    fit_on: int | None = None
    init: Init = "k-means++"
    scale: Scale = "auto"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    cache_dir: str | PathLike[str] | None = None
    verbose: int = 0

    def fit(self, X: ArrayLike, y: None = None, *, graph: Any = None) -> Self:
        """Make the members; keep a model of each to label new points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points: at least two, finite. If members are fitted on some of them (`fit_on`), memory-mapped arrays,
            Zarr, HDF5, Dask arrays, and other inputs with a shape and slices of rows are read in blocks of rows.
        y : None
            Ignored; there for scikit-learn's pipelines.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            A symmetric graph of the objects, which "graph" members cluster instead of a graph of nearest
            neighbours: scanpy's ``adata.obsp["connectivities"]``. Self-loops are ignored, whereas `GraphConsensus`
            counts them.

        Returns
        -------
        self : EnsembleGenerator
            The fitted generator.

        Raises
        ------
        InputError, ValueError
            If X is malformed or not finite.
        ParameterError
            If a parameter is out of its range, more clusters are requested than objects drawn, or more objects are
            drawn than the method can handle.
        DenseLimitError
            If method="mixed" would need matrices of more than 20,000 objects.
        """
        with fitting(self):
            self._make(X, graph)
        return self

    def fit_transform(self, X: ArrayLike, y: None = None, *, graph: Any = None) -> NDArray[Any]:
        """Make the members and return their partitions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points: at least two, finite.
        y : None
            Ignored; there for scikit-learn's pipelines.
        graph : sparse matrix of shape (n_samples, n_samples), default=None
            A symmetric graph of the objects, which "graph" members cluster instead of a graph of nearest
            neighbours: scanpy's ``adata.obsp["connectivities"]``. Self-loops are ignored, whereas `GraphConsensus`
            counts them.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions)
            Labels, one partition per column; -1 for objects not drawn, -2 for noise. For a Dask array, a Dask array
            with labels for all objects.

        Raises
        ------
        InputError, ValueError
            If X is malformed or not finite.
        ParameterError
            If a parameter is out of its range, more clusters are requested than objects drawn, or more objects are
            drawn than the method can handle.
        DenseLimitError
            If method="mixed" would need matrices of more than 20,000 objects.
        """
        return self._labels(X, graph, narrow=False)

    def _labels(self, X: ArrayLike, graph: Any = None, *, narrow: bool = True) -> NDArray[Any]:
        """Fit and return the labels; narrow: unsigned, if an ensemble then needs no copy of them."""
        if comes_in_chunks(X):
            return self.fit(X, graph=graph).transform(X)
        with fitting(self):
            labels = self._make(X, graph, narrow=narrow)
        assert labels is not None
        return labels

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Label points by the members made in ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points. Memory-mapped arrays, Zarr arrays and HDF5 data sets are read block by block.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions)
            Labels, with the cluster numbers of ``fit``: every object is labelled by every member
            that can label new points. For a Dask array, a lazy Dask array.

        Raises
        ------
        InputError
            If some members cannot label new points, and X is not the X given to ``fit``.
        """
        check_is_fitted(self)
        check_column_names(X)
        if self._seen or not is_in_blocks(X):
            raw = read_points(self, as_whole(X), reset=False)
            self._refuse_others(raw)
            rows = Rows(raw, _OWNER)
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
            if comes_in_chunks(X):
                return over_chunks(X, self._labelling())
            rows = Rows(X, _OWNER)
        labels = np.empty((rows.n, len(self.members_)), dtype=self._dtype)
        predicting = [u for u in range(len(self.members_)) if u not in self._seen]
        if predicting:
            labelling = self._labelling(predicting)
            for start, block in rows.blocks():
                columns = labelling.label(self._rotated(block), self.n_jobs)
                labels[start : start + len(block), predicting] = columns
        for u, column in self._seen.items():
            labels[:, u] = column
        return labels

    def transform_blocks(self, X: Any) -> Iterator[NDArray[Any]]:
        """Label points block by block: neither the points nor their labels are ever held as a whole.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterable of them
            The points: an input with a shape and slices of rows (memory-mapped, Zarr, HDF5), which is read about 32
            MB at a time, or an iterable of blocks, which are labelled one after the other.

        Yields
        ------
        ndarray of shape (n_rows, n_partitions)
            The labels of the next points, as ``transform`` gives them.

        Raises
        ------
        InputError
            If some members cannot label new points.

        Examples
        --------
        >>> import numpy as np
        >>> from conclust import EnsembleGenerator
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> generator = EnsembleGenerator(n_partitions=5, fit_on=100, random_state=0).fit(X)
        >>> blocks = generator.transform_blocks(np.array_split(X, 3))
        >>> bool((np.concatenate(list(blocks)) == generator.transform(X)).all())
        True
        """
        check_is_fitted(self)
        self._refuse_others(None)
        in_blocks = is_in_blocks(X)
        blocks = (block for _, block in Rows(X, _OWNER).blocks()) if in_blocks else X
        labelling = self._labelling()
        for block in blocks:
            raw = read_points(self, block, reset=False)
            yield labelling.label(self._rotated(raw), self.n_jobs)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the partitions: "partition_0", "partition_1", ...

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only checked against the features seen in ``fit``.

        Returns
        -------
        ndarray of str objects
            One name per partition.
        """
        names = super().get_feature_names_out(input_features)
        return np.array([f"partition_{u}" for u in range(len(names))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # labels are integers for any X
        return tags

    @property
    def scale_reason_(self) -> str:
        """The scaling in a sentence."""
        names = getattr(self, "feature_names_in_", None)
        return Scaling(self.scale_, self.scaler_, self._scale_facts, names).reason

    @property
    def _n_features_out(self) -> int:
        return len(self.members_)

    def _make(self, X: ArrayLike, graph: Any, *, narrow: bool | None = None) -> NDArray[Any] | None:
        """Fit; return the label matrix unless narrow is None."""
        check_parameters(self)
        if self.cache_dir is not None and self.random_state is None:
            takes = "an int with cache_dir, or no later run could reuse the same members"
            refuse("random_state", _OWNER, takes, None)
        check_column_names(X)
        in_blocks = is_in_blocks(X)
        rows = Rows(X if in_blocks else read_points(self, X, ensure_min_samples=2), _OWNER)
        user_graph = None if graph is None else read_graph(graph, rows.n)
        settings = settings_for(self, rows.n, rows.d, chosen=user_graph is None)
        fit_on = fitted_on(settings, rows.n) if user_graph is None else None
        if fit_on is not None:
            if in_blocks:
                record_features(self, X)
            return self._make_from_samples(rows, fit_on, settings, narrow)
        if in_blocks:
            rows = Rows(read_points(self, as_whole(X), ensure_min_samples=2), _OWNER)
        raw = rows.block(0, rows.n)
        if settings.asked.are_built_in:
            warn_of_distances(raw)
        self._keep_scaling([raw])
        points = scaled(raw, self.scaler_)
        if along_line(points) is not None:
            settings = settings_for(self, rows.n, 1, chosen=user_graph is None)
        if rotation_pays(settings, *points.shape):
            self._rotation, points = Rotation.of(points, moved=not settings.asked.sees_directions)
        plan = make_plan(settings, points, given=user_graph)
        samples: dict[int, NDArray[Any]] = {}
        shape = rows.n, plan.n_partitions
        matrix = None if narrow is None else np.empty(shape, dtype=plan.label_type)

        def keep(u: int, result: Labelled) -> None:
            if result.model is None:
                samples[u] = result.labels
            if matrix is not None:
                matrix[:, u] = result.labels

        self.members_ = self._run(plan, points, points.shape[1], rows, keep)
        self._seen = dict(sorted(samples.items()))
        self._seen_digest = rows.digest() if samples else None
        return None if matrix is None else matrix.astype(self._dtype, copy=False)

    def _make_from_samples(
        self, rows: Rows, fit_on: int, settings: Any, narrow: bool | None
    ) -> NDArray[Any] | None:
        """Fit each member on a separate sample; return the labels of all objects if they are requested."""
        self._keep_scaling(block for _, block in rows.blocks())
        spots = scaled(rows.some(), self.scaler_)
        if along_line(spots) is not None and all(
            along_line(np.vstack([spots, scaled(block, self.scaler_)])) is not None
            for _, block in rows.blocks()
        ):
            settings = settings_for(self, rows.n, 1)
        plan = make_plan(settings, spots, rows.n, fit_on)
        shares = Shares(rows, self.scaler_, self.n_jobs)
        made = self._run(plan, shares, rows.d, rows)
        self._seen, self._seen_digest = {}, None

        def label(some_members: Sequence[Member], start: int, stop: int) -> NDArray[Any]:
            labelling = Labelling(some_members, rows.d, np.int32, self.scaler_)
            return rows.labels(labelling, start, stop, self.n_jobs)

        kept_type = None
        if narrow is not None:
            types = [self._dtype]
            if narrow and all(shares.observed(u, 0, 0) is None for u in range(len(made))):
                types.append(np.dtype(code_type(max(member.n_clusters for member in made))))
            kept_type = min(types, key=lambda kind: kind.itemsize)
        self.members_, labels = labels_in_order(made, rows, shares, label, kept_type, say)
        return labels

    def _keep_scaling(self, blocks: Iterable[Floats]) -> None:
        self.scale_, self.scaler_, self._scale_facts, _ = scaling_of(self, blocks)
        self._rotation = None
        if not watched():  # named by the shell
            say(lambda: self.scale_reason_)

    def _run(
        self,
        plan: Plan,
        points: Floats | Shares,
        d: int,
        rows: Rows,
        keep: Callable[[int, Labelled], None] = lambda u, result: None,
    ) -> list[Member]:
        """Make the members of a plan, or read them from the cache; `keep` sees each with its number."""
        built_in = Asked.of(self.method).are_built_in
        cache = None
        if self.cache_dir is not None:
            from conclust.generation.cache import open_cache

            cache = open_cache(self.cache_dir, rows.digest(), self.scale_, rows.n)
        searches = Searches()  # members from a cache, or from other processes, share them again
        members: dict[int, Member] = {}

        def finished(task: Task, results: Sequence[Labelled]) -> None:
            for u, result in zip(task.columns, results, strict=True):
                shared = replace(result, model=searches.shared(result.model))
                members[u] = Member.of(task, shared, d, self._rotation)
                keep(u, result)

        with warnings.catch_warnings():
            if built_in:  # warned once, at the end, instead of once per member
                warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
            self.n_cached_, damaged = _run_tasks(self, plan, points, finished, cache)
        for sentence in damaged:
            warn(sentence, CacheWarning)
        made = [members[u] for u in range(plan.n_partitions)]
        self._dtype = type_for(made) if plan.measured else plan.label_type
        if self.n_clusters is not None and built_in:
            warn_of_fewer(plan.tasks, made)
        return made

    def _stored_state(self) -> dict[str, Any]:
        """Return the attributes that a file has; members are the same, read from a cache or not."""
        return {name: 0 if name == "n_cached_" else part for name, part in vars(self).items()}

    def _restored(self) -> bool:
        """Return whether members and scaling, read from a file, fit each other."""
        d, rotation = self.n_features_in_, self._rotation
        width = d if rotation is None else rotation.n_coordinates
        largest = np.iinfo(self._dtype).max
        return (
            d > 0
            and (rotation is None or len(rotation.origin) == d)
            and fits_scale(self.scaler_, self.scale_, d)
            and all(
                member.fits(d, width)
                and member.rotation is rotation
                and member.n_clusters - 1 <= largest
                and (member.model is not None or u in self._seen)
                for u, member in enumerate(self.members_)
            )
            and all(
                0 <= u < len(self.members_) and seen.ndim == 1 for u, seen in self._seen.items()
            )
        )

    def _labelling(self, members: Sequence[int] | None = None) -> Labelling:
        """Return a function that labels points by the members with these indices; None: all."""
        some = self.members_ if members is None else [self.members_[u] for u in members]
        return Labelling(some, self.n_features_in_, self._dtype, self.scaler_, self._rotation)

    def _rotated(self, points: Floats) -> Floats:
        """Return points as members are made of them."""
        return scaled(points, self.scaler_, self._rotation)

    def _refuse_others(self, raw: Floats | None) -> None:
        """Refuse points that some members cannot label: any except those of ``fit``."""
        if not self._seen or (raw is not None and Rows(raw, _OWNER).digest() == self._seen_digest):
            return
        names = ", ".join(sorted({self.members_[u].method for u in self._seen}))
        raise InputError(
            f"transform cannot label new points: {len(self._seen)} of the {len(self.members_)} "
            f"members ({names}) can label only the X given to fit. Use method='kmeans', 'spectral' or 'graph', or a "
            "KMeans or MiniBatchKMeans as method, to label new points."
        )


if TYPE_CHECKING:
    from conclust.generation.cache import MemberCache

Keep = Callable[[Task, Sequence[Labelled]], None]
_PACE = 1.0  # seconds between two lines of progress


def _run_tasks(
    generator: EnsembleGenerator,
    plan: Plan,
    points: Floats | Shares,
    keep: Keep,
    cache: MemberCache | None,
) -> tuple[int, list[str]]:
    """Run all tasks and pass their members to `keep`, in no particular order.

    A task on which another process is working is postponed, and waited for at the end.

    Parameters
    ----------
    generator : EnsembleGenerator
        Its number of workers, and whether it shows the progress.
    plan : Plan
        The tasks to compute, and whether the workers are threads or processes.
    points : ndarray of shape (n_samples, n_features) or Shares
        The data, from which each task draws its share, or the shares.
    keep : callable
        Function that receives a task and its members.
    cache : MemberCache or None
        Cache of finished members.

    Returns
    -------
    n_read : int
        Number of members that were read from the cache.
    damaged : list of str
        A sentence for each run whose files there are damaged.
    """
    n_read, damaged, wait = 0, list[str](), False
    progress = Progress(plan.n_partitions, generator.verbose)
    # Each member also limits itself, for workers in other processes. This limit is for threads,
    # whose own limits are undone in any order: only a limit around all of them restores the
    # original setting.
    with one_library_thread(), Crew(generator.n_jobs, plan.prefer, _OWNER) as crew:
        threads = crew.threads_of_each(len(plan.tasks))
        remaining = [_with_threads(task, threads) for task in plan.tasks]
        while remaining:
            deferred = []
            for i, members, was_read, damage in _made(crew, remaining, points, cache, wait):
                if members is None:
                    deferred.append(i)
                else:
                    n_read += was_read * len(members)
                    damaged += damage
                    keep(remaining[i], members)
                    progress.advance(remaining[i])
            remaining, wait = [remaining[i] for i in sorted(deferred)], True
    return n_read, damaged


def _with_threads(task: Task, threads: int) -> Task:
    """Let the members of one run be made in parallel if the recipe supports it and threads are free."""
    recipe = task.recipe
    if threads == 1 or len(task.n_clusters) == 1 or not isinstance(recipe, LandmarkSpectralRecipe):
        return task
    return replace(task, recipe=replace(recipe, threads=threads))


def _made(
    crew: Crew,
    tasks: Sequence[Task],
    points: Floats | Shares,
    cache: MemberCache | None,
    wait: bool,
) -> Iterator[tuple[int, list[Labelled] | None, bool, list[str]]]:
    """Yield what `_run_task` returns of each task: all at once on the complete data, in portions, or from Dask's workers."""
    if not isinstance(points, Shares):
        yield from crew.run(partial(_run_task, points, cache, wait), enumerate(tasks))
    elif points.in_chunks and cache is None:
        for i, members in points.over_chunks(tasks, _compute):
            yield i, members, False, []
    else:
        for portion in points(tasks):
            calls = [(i, tasks[i], sample) for i, sample in portion]
            yield from crew.run(partial(_run_task, None, cache, wait), calls)


def _run_task(
    points: Floats | None,
    cache: MemberCache | None,
    wait: bool,
    stopped: Callable[[], bool],
    i: int,
    task: Task,
    sample: Floats | None = None,
) -> tuple[int, list[Labelled] | None, bool, list[str]]:
    """Return the task's members, or None if another process is computing them; whether they were read, and found damaged.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features) or None
        The data, where the task draws its share.
    cache : MemberCache or None
        Cache of finished members.
    wait : bool
        Whether to wait for another process that is at work on a member.
    stopped : callable
        Whether the run was interrupted.
    i, task : int and Task
        The task and its place.
    sample : ndarray of shape (n_fitted, n_features), default=None
        Points on which the task is fitted, if it does not draw them itself.
    """
    if cache is None:
        return i, _compute(task, points, sample), False, []
    members, _ = _read(cache, task)
    if members is not None:
        return i, members, True, []
    with cache.locked(task, wait=wait, stopped=stopped) as locked:
        if not locked:
            return i, None, False, []
        # Another process may have written meanwhile.
        members, damage = _read(cache, task)
        if members is not None:
            return i, members, True, []
        members = _compute(task, points, sample)
        cache.write(task, members)
    return i, members, False, damage


def _read(cache: MemberCache, task: Task) -> tuple[list[Labelled] | None, list[str]]:
    """Return the members of a task in the cache, or None and, if they are damaged, a sentence about it."""
    try:
        return cache.read(task), []
    except FileFormatError as error:
        return None, [
            f"A cached member is damaged and was computed again ({error}). Nothing is lost; if it happens again, check the disk."
        ]


def _compute(task: Task, points: Floats | None, sample: Floats | None) -> list[Labelled]:
    rows = None
    if sample is not None:
        drawn, n = of_features(sample, task.n_features, task.seed), len(sample)
    else:
        assert points is not None
        drawn, rows = drawn_points(points, task.n_objects, task.n_features, task.seed)
        n = len(points)
    rng = stream(task.seed, 3)
    with one_library_thread():
        return [
            finish(labelled, rows, n) for labelled in task.recipe.run(drawn, task.n_clusters, rng)
        ]


class Progress:
    """Progress: with ``verbose=1`` at most ten lines, a second apart, and the last; from 2 on one per run of an algorithm."""

    def __init__(self, total: int, verbose: Any) -> None:
        self._total = total
        self._each = int(verbose) > 1
        self._done = 0
        self._said = 0
        self._start = self._last = time.perf_counter()

    def advance(self, task: Task) -> None:
        """Count the members of a finished task."""
        self._done += len(task.columns)
        now = time.perf_counter()
        due = self._done - self._said >= self._total / 10 and now - self._last >= _PACE
        if self._each or due or self._done == self._total:
            self._said, self._last = self._done, now
            seconds = now - self._start
            last = f" (last: {task.recipe.name})" if self._each else ""
            say(f"{self._done} of {self._total} members, {seconds:.1f} s{last}")


def warn_of_fewer(tasks: Sequence[Task], members: Sequence[Member]) -> None:
    """Warn about members with fewer clusters than requested."""
    short = sum(
        requested is not None and members[u].n_clusters < requested
        for task in tasks
        if not isinstance(task.recipe, NeighbourRecipe | MapRecipe)  # the number is approximate
        for u, requested in zip(task.columns, task.n_clusters, strict=True)
    )
    if short:
        warn(
            f"{short} of {len(members)} members found fewer clusters than requested, probably because "
            "the points drawn have fewer distinct ones. members_ has the number of each; a smaller 'n_clusters' "
            "avoids this.",
            ConvergenceWarning,
        )
