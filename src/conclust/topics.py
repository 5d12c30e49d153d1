"""Topics that do not depend on the seed: a consensus that replaces a single HDBSCAN."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import fcluster
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from conclust._parameters import Parameters, Range, check_parameters
from conclust._progress import fitting, say, stage, tracked
from conclust._random import RandomStateLike, seed_sequence, spawn_generators
from conclust._sklearn import EstimatorCard
from conclust._threads import side_by_side, thread_count
from conclust._types import Floats, Ints
from conclust._validation import refuse
from conclust.confidence import item_consensus
from conclust.consensus.linkage import EAC
from conclust.ensemble import Ensemble
from conclust.ensemble.labels import NOISE, canonical_labels
from conclust.exceptions import InputError
from conclust.generation.members import labels_of_estimator
from conclust.generation.points import read_points

__all__ = ["TopicConsensus"]

_OWNER = "TopicConsensus"
_COMPONENTS = 10
# Nearest embeddings that vote on the topic of a new one.
_VOTERS = 5
# scikit-learn temporarily sets the warning filters of the process, which are lost if two threads do so at the same time.
_one_at_a_time = Lock()


@dataclass(eq=False, repr=False)
class TopicConsensus(EstimatorCard, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Consensus of clusterings of embeddings, each in its own reduced space; noise is -1.

    A topic model that reduces embeddings of documents and clusters them by density finds different topics with a different
    seed. This estimator repeats both steps, keeps the groups that are together in at least a share `threshold` of
    the members, and labels the remaining objects as noise. It has ``fit``, ``predict`` and ``labels_``, and so can
    replace HDBSCAN in BERTopic, whose own reduction is switched off (see Notes).

    Parameters
    ----------
    reducer : transformer, default=None
        Transformer that reduces the embeddings of a member, for instance UMAP; each member gets a copy with its own
        seed if it has a ``random_state``. None: the first 10 principal components of a random half of the columns.
    clusterer : estimator, default=None
        Clusterer of the reduced embeddings; the label -1 is noise. Each member gets a copy with its own seed. None:
        ``HDBSCAN(min_cluster_size=min_topic_size)`` of scikit-learn.
    n_members : int, default=50
        Number of members.
    threshold : float, default=0.5
        Two groups are merged if their objects are together in at least this mean share of the members, in the range (0, 1].
    min_topic_size : int, default=10
        Smallest number of objects of a topic; smaller groups are noise.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the seeds of the members.
    n_jobs : int, default=None
        Threads, each of which makes members; estimators of scikit-learn work one at a time. The result does not
        depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Topics from 0, the largest first; -1: noise.
    probabilities_ : ndarray of shape (n_samples,)
        Mean share of the members in which the object is together with the others of its topic; 0 for noise.
    n_clusters_ : int
        Number of topics.
    ensemble_ : Ensemble
        The members, their noise as noise.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        Tree that is cut at `threshold`.
    n_features_in_ : int
        Number of columns of the embeddings.

    Raises
    ------
    InputError, ValueError
        If the embeddings are not finite, or too few; if the reducer or the clusterer does not return a row or an int
        for each.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    conclust.ConsensusClustering : The consensus of clusterings without noise.

    Notes
    -----
    ``BERTopic(umap_model=BaseDimensionalityReduction(), hdbscan_model=TopicConsensus(UMAP(n_components=5)))`` repeats the
    reduction for each member, because most of the variation between runs comes from it. Average linkage of the members takes
    O(n^2) time.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust import TopicConsensus
    >>> X, _ = make_blobs(300, 40, centers=6, random_state=0)
    >>> model = TopicConsensus(n_members=5, random_state=0).fit(X)
    >>> model.n_clusters_
    6
    >>> (model.predict(X[:50]) == model.labels_[:50]).all().item()
    True
    """

    labels_: Ints = field(init=False)
    probabilities_: Floats = field(init=False)
    n_clusters_: int = field(init=False)
    ensemble_: Ensemble = field(init=False)
    linkage_matrix_: Floats = field(init=False)
    n_features_in_: int = field(init=False)
    parameters: ClassVar[Parameters] = {"threshold": Range(above=0, at_most=1)}
    _neighbours: Any = field(init=False)

    reducer: Any = None
    clusterer: Any = None
    _: KW_ONLY
    n_members: int = 50
    threshold: float = 0.5
    min_topic_size: int = 10
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find the topics of embeddings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Embeddings, finite.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        from sklearn.neighbors import NearestNeighbors

        with fitting(self):
            self._check_parameters()
            points = read_points(self, X, ensure_min_samples=2)
            threads = thread_count(self.n_jobs, _OWNER)
            rngs = spawn_generators(seed_sequence(self.random_state, _OWNER), self.n_members)
            labels = np.empty((len(points), self.n_members), dtype=np.int64)
            # The warning filters of the process are restored after estimators in threads have changed them.
            with warnings.catch_warnings(), side_by_side(min(threads, self.n_members)) as work:
                members = work(lambda rng: self._member(points, rng), rngs)
                for u, column in enumerate(tracked(members, "members", self.n_members)):
                    labels[:, u] = column
            self.ensemble_ = Ensemble(labels)
            stage("the tree")
            self.linkage_matrix_ = EAC(1, n_jobs=self.n_jobs).fit(self.ensemble_).linkage_matrix_
            self.labels_ = self._topics()
            self.n_clusters_ = int(self.labels_.max()) + 1
            self.probabilities_ = np.zeros(len(points))
            if self.n_clusters_:
                shares = item_consensus(self.labels_, self.ensemble_)
                held = np.flatnonzero(self.labels_ >= 0)
                # Columns are the topics by first appearance.
                self.probabilities_[held] = shares[held, canonical_labels(self.labels_)[held]]
            self._neighbours = NearestNeighbors().fit(points)
            noise = np.count_nonzero(self.labels_ < 0)
            say(f"{self.n_clusters_} topics, {noise} objects are noise")
        return self

    def predict(self, X: ArrayLike) -> Ints:
        """Assign new embeddings to topics by the majority of their five nearest neighbours; ties go to the nearest.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Embeddings, finite.

        Returns
        -------
        ndarray of int64 of shape (n_new,)
            Topics; -1: noise.
        """
        check_is_fitted(self)
        points = read_points(self, X, reset=False)
        k = min(_VOTERS, len(self.labels_))
        nearest = self._neighbours.kneighbors(points, k, return_distance=False)
        # The nearest neighbour of a fitted embedding is itself.
        votes = self.labels_[nearest]
        counts = (votes[:, :, np.newaxis] == votes[:, np.newaxis, :]).sum(axis=2)
        best: Ints = votes[np.arange(len(votes)), counts.argmax(axis=1)]
        return best

    def _member(self, points: Floats, rng: np.random.Generator) -> Ints:
        """Return the labels of a member, with its noise marked as noise."""
        d = points.shape[1]
        if self.reducer is None:
            from sklearn.decomposition import PCA

            columns = rng.permutation(d)[: max(1, -(-d // 2))]
            part = points[:, columns]
            k = min(_COMPONENTS, len(columns), len(points))
            if (part == part[0]).all():
                # Equal rows have no components: PCA divides by their variance, or finds those of rounding errors.
                reduced = np.zeros((len(points), 1))
            else:
                with _one_at_a_time:
                    reduced = PCA(k, svd_solver="full").fit_transform(part)
        else:
            reducer = _seeded(self.reducer, rng)
            with _turn(reducer):
                reduced = reducer.fit_transform(points.copy())  # it may modify its input
            if np.shape(reduced)[:1] != (len(points),):
                raise InputError(
                    f"The reducer {type(reducer).__name__} must return a row for each of the {len(points)} embeddings. Got "
                    f"shape {np.shape(reduced)} instead."
                )
        clusterer = self.clusterer
        if clusterer is None:
            from sklearn.cluster import HDBSCAN

            least = min(max(2, self.min_topic_size), len(points))
            clusterer = HDBSCAN(min_cluster_size=least, copy=False)
        clusterer = _seeded(clusterer, rng)
        with _turn(clusterer):
            labels = clusterer.fit_predict(reduced)
        labels = labels_of_estimator(labels, len(points), clusterer)
        return np.where(labels < 0, NOISE, labels.astype(np.int64))

    def _topics(self) -> Ints:
        """Return the groups of the tree that are large enough, the largest first."""
        height = 1.0 - self.threshold + 1e-9
        groups = canonical_labels(fcluster(self.linkage_matrix_, height, "distance"))
        sizes = np.bincount(groups)
        order = np.argsort(-sizes, kind="stable")
        large = order[sizes[order] >= max(2, self.min_topic_size)]
        number = np.full(len(sizes), -1, dtype=np.int64)
        number[large] = np.arange(len(large))
        topics: Ints = number[groups]
        return topics

    def _check_parameters(self) -> None:
        check_parameters(self)
        if not _is_instance(self.reducer, "fit_transform"):
            expected = "None or a transformer, an instance with fit_transform and get_params"
            refuse("reducer", _OWNER, expected, self.reducer)
        if not _is_instance(self.clusterer, "fit_predict"):
            expected = "None or an estimator, an instance with fit_predict and get_params"
            refuse("clusterer", _OWNER, expected, self.clusterer)


def _is_instance(part: Any, method: str) -> bool:
    """Return whether a part is None, or can be copied and called."""
    is_estimator = hasattr(part, method) and hasattr(part, "get_params")
    return part is None or (is_estimator and not isinstance(part, type))


def _turn(estimator: Any) -> AbstractContextManager[Any]:
    """Return the lock for estimators of scikit-learn, and a null context for others."""
    return _one_at_a_time if type(estimator).__module__.startswith("sklearn.") else nullcontext()


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """Return a copy with its own seed, if it takes one."""
    copy = clone(estimator)
    seed = int(rng.integers(2**31 - 1))
    seeds = {name: seed for name in copy.get_params() if name.split("__")[-1] == "random_state"}
    return copy.set_params(**seeds)


def __dir__() -> list[str]:
    return __all__
