"""ConsensusClustering: generator and consensus as one clusterer of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import check_row_names, holds
from conclust._arrays.rows import shares_of_rows
from conclust._parameters import Parameters, Range, check_parameters
from conclust._progress import fitting, step
from conclust._random import RandomStateLike, seed_sequence, spawn_seeds
from conclust._sklearn import (
    EstimatorCard,
    Saved,
    forget_results,
    names_checked,
    num_samples,
    record_features,
)
from conclust._types import Floats, Ints
from conclust._validation import check_column_names, refuse, refuse_arguments, shown
from conclust.consensus.auto.estimator import AutoConsensus
from conclust.consensus.auto.votes import certain_clusters, clusters_with_most_votes, votes_for
from conclust.consensus.base import ConsensusClusterer, given_links
from conclust.consensus.constraints import read_constraints
from conclust.consensus.method import advice_on, make, method_named
from conclust.ensemble import MISSING, NOISE, Ensemble, as_ensemble
from conclust.ensemble.labels import canonical_labels, indicator_of
from conclust.exceptions import InputError, ParameterError
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.labelling.labelling import (
    as_many_as_differ,
    is_in_blocks,
    scaled_blocks,
    scaled_points,
)
from conclust.generation.labelling.models import nearest_center
from conclust.generation.points import doubts, read_points, refuse_views
from conclust.measures.agreement import anmi
from conclust.number import Discriminants, decide_by_points

F = TypeVar("F", bound=Callable[..., Any])


class _WhereConsensus:
    """A method that exists only if the consensus has another one; otherwise the error explains why."""

    def __init__(self, function: Callable[..., Any], needed: str) -> None:
        self.function, self.needed = function, needed
        self.__doc__ = function.__doc__

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.function
        consensus = model._consensus_now()
        try:
            getattr(consensus, self.needed)
        except AttributeError as error:
            name = self.function.__name__
            raise AttributeError(
                f"{type(model).__name__!r} object has no attribute {name!r}: its consensus has no "
                f"{self.needed!r}. {error}",
                name=name,
                obj=model,
            ) from error
        return MethodType(self.function, model)


def where_consensus_has(needed: str) -> Callable[[F], F]:
    """Make a method available only if the consensus has the attribute `needed`."""

    def decorate(function: F) -> F:
        return cast(F, _WhereConsensus(function, needed))

    return decorate


def check_nested(model: Any, params: Mapping[str, Any], **parts: str) -> None:
    """Refuse parameters of a part, such as "generator__n_partitions", if the part is None or a name.

    Parameters
    ----------
    model : estimator
        The whole.
    params : dict of str to object
        Parameters to be set.
    **parts : str
        The parts, and the class that stands for each if it is None.

    Raises
    ------
    ParameterError
        If the part is not an estimator.
    """
    for name in params:
        part, _, nested = name.partition("__")
        value = params.get(part, getattr(model, part, None))
        if not nested or part not in parts or hasattr(value, "set_params"):
            continue
        named = method_named(value) if isinstance(value, str) else None
        way = f"{part}={parts[part] if named is None else named.estimator}()"
        raise ParameterError(
            f"{type(model).__name__} has no parameter {name!r} if {part!r} is {shown(value)}: make it with {way}."
        )


if TYPE_CHECKING:
    from conclust.words.reason import Reason

__all__ = ["ConsensusClustering"]

_OWNER = "ConsensusClustering"
_NO_WEIGHTS = (
    "points have no weights here; partitions have some, which go with an ensemble: "
    "AutoConsensus().fit(cc.Ensemble(labels, weights=w))"
)
_AUTO = "auto"


@dataclass(frozen=True, eq=False)
class ClusterCenters:
    """Clusters as the points nearest to centres, with the evidence of the members for them.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_axes)
        Means of the clusters, in the coordinates after `whitening`.
    whitening : ndarray of shape (n_features, n_axes)
        Points times this matrix have about the same spread within clusters in all directions.
    votes : ndarray of shape (n_ensemble_clusters, n_clusters)
        Votes of each cluster of the ensemble for each of the clusters.
    """

    centers: Floats
    whitening: Floats
    votes: Floats

    @classmethod
    def of(
        cls, found: Discriminants, points: Floats, objects: Ints, ensemble: Ensemble
    ) -> ClusterCenters:
        """Return the centres of clusters that the points of some objects show."""
        centers, whitening = found
        labels = nearest_center(points @ whitening, centers).astype(np.int64)
        weighted, certainty = certain_clusters(ensemble, objects)
        counting = weighted.column_weights * certainty
        return cls(centers, whitening, votes_for(weighted, labels, counting))

    def fits(self, d: int, n_columns: int, K: int) -> bool:
        """Return whether these are K centres of points with d features, with the votes of `n_columns` clusters."""
        axes = self.centers.shape[-1]
        return (
            holds(self.centers, K, axes)
            and holds(self.whitening, d, axes)
            and holds(self.votes, n_columns, K)
            and bool((self.votes >= 0).all())
        )

    def nearest(self, generator: Any, X: Any) -> Ints:
        """Return the nearest centre of each point of X, (n_samples,), in the scale of a fitted generator."""
        return _nearest(Discriminants(self.centers, self.whitening), generator, X)

    def membership(self, labels: Ints, indicator: sp.csr_array) -> Floats:
        """Return the share of the members' evidence for each cluster.

        If the members favour other clusters than that of the nearest centre, these and it get the same share: they are
        equally likely.

        Parameters
        ----------
        labels : ndarray of int64 of shape (n_samples,)
            The nearest centre of each point.
        indicator : sparse array of shape (n_samples, n_ensemble_clusters)
            The clusters of the ensemble that each point is in.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to 1; the largest entry is that of the nearest centre.
        """
        shares = shares_of_rows(indicator @ self.votes)
        rows = np.arange(len(shares))
        favoured = shares > shares[rows, labels, np.newaxis]
        favoured[rows, labels] = True
        means = (shares * favoured).sum(axis=1) / favoured.sum(axis=1)
        shares = np.where(favoured, means[:, np.newaxis], shares)
        # The label is the largest entry, the first one if tied.
        first = np.flatnonzero(shares.argmax(axis=1) != labels)
        shares[first, labels[first]] = np.nextafter(shares[first, labels[first]], 2.0)
        return shares

    def renumbered(self, order: Ints) -> ClusterCenters:
        """Return the same with the clusters in another order."""
        return ClusterCenters(self.centers[order], self.whitening, self.votes[:, order])


def _nearest(found: Discriminants, generator: Any, X: Any) -> Ints:
    blocks = scaled_blocks(generator, X)
    nearest = [nearest_center(block @ found.whitening, found.centers) for block in blocks]
    return np.concatenate(nearest).astype(np.int64)


@dataclass(eq=False, repr=False)
class ConsensusClustering(EstimatorCard, Saved, ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster points by the consensus of many clusterings of them.

    Parameters
    ----------
    consensus : estimator or str, default=None
        Consensus method for the label matrix: an estimator, or the name of one of the methods that
        :func:`conclust.methods` lists ("hbgf", "EAC"). None: :class:`conclust.AutoConsensus`, which also finds the
        number of clusters.
    generator : transformer, default=None
        Generator of the label matrix. None: :class:`conclust.EnsembleGenerator`, 40 partitions of three kinds.
    n_clusters : int or "auto", default=None
        Number of clusters, or their maximum number for a consensus that treats it as a bound. It overrides the number
        of an estimator given as `consensus`. None: the consensus chooses the number; with the default consensus, the points
        determine it (see the notes). "auto": the same number, with a p-value; if the points show no border, or with another
        consensus, the number from 2 to 10 that resampling of the points supports, or one cluster if the p-value is large. This
        calls :func:`conclust.selection.choose` with 39 references of at most 1,000 objects, and with the scale and `n_jobs` of
        the generator; further partitions are its categories.
    min_clusters : int, default=1
        Smallest number of clusters considered if the points determine it; pass 2 to exclude a single cluster.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        If given, it seeds the generator and the consensus. None: their own ``random_state`` is used.
    verbose : int, default=0
        1: print progress and the estimated time left of all parts to standard error.

    Attributes
    ----------
    generator_ : transformer
        The fitted generator.
    consensus_ : estimator
        Fitted consensus, with its further attributes (``objective_``, ...).
    ensemble_ : Ensemble
        Partitions that were combined: the generated ones, then those given to ``fit``.
    labels_ : ndarray of shape (n_samples,)
        The consensus partition.
    membership_ : ndarray of shape (n_samples, n_held)
        Probabilities, if the consensus is soft, with a column for each cluster; those of ``labels_`` come first.
    n_clusters_ : int
        Clusters found.
    reason_ : str
        Reason for the number of clusters: the number, why, and what to do next.
    border_depths_ : ndarray of shape (n_borders,)
        If the points chose the number, or support the given one: for each division, the relative deficit of points near the
        border compared with an equally wide band within the clusters, from 0 to 1.
    evidence_ : dict of int to float
        If the points chose the number, without constraints: the other numbers that ``reason_`` names, best first, with the
        evidence for their borders relative to one cluster (the logarithm of a likelihood ratio, minus 3 for each further
        cluster; if the answer is one cluster, the evidence from halves of the points if it is larger; -inf without such
        borders). ``labels_at`` returns their clusters.
    centers_ : ClusterCenters or None
        Where clusters overlap: the centres that ``labels_``, ``membership_`` and ``predict`` follow.
        ``consensus_.labels_`` has the clusters by the votes of the members. None also if constraints changed the clusters.
    specks_ : tuple of int
        With the default consensus and a given number: the objects of groups smaller than a tenth of the average cluster. Such
        groups are not counted as clusters, and their objects are assigned to other clusters.
    selection_ : Selection
        The criteria of each number of clusters (:class:`conclust.selection.Selection`), if ``n_clusters="auto"``.
    doubts_ : list of str
        Warnings about totals among the rows, cells a hundred times beyond the rest of their column, and repeated rows.
    n_features_in_ : int
        Features seen in ``fit``.

    Raises
    ------
    ParameterError
        If a parameter of one of the parts is out of its range.

    Warns
    -----
    SelectionWarning
        With "auto": doubts about the number chosen.

    Notes
    -----
    With :class:`conclust.AutoConsensus` and no given number, the points determine the number of clusters.
    A border between two branches of the consensus tree counts if few points are near it, compared with the number within the
    branches: half of the points are the reference, the other half are counted, and there must also be few points near the
    border along the paths of the neighbour graph. The answer is the division of the tree with the largest sum of evidence,
    minus a cost per cluster, or a smaller number with about as much. Overlapping clusters, found in one half of the points
    starting from k-means, replace it if the other half shows more evidence for their borders: fewer points than a log-concave
    density has there, both in the original columns and after a symmetrising power transform. With further partitions or fewer
    than 16 objects, the ensemble decides.

    Clusters of the tree keep their shapes; overlapping clusters are formed around centres, in the metric of the covariance
    within clusters, with straight borders. If the given number is the one that the points show, the answer is the same as
    without it. For any other number, the clusters are those around centres, unless the cut of a tree separates clearly fewer
    nearest neighbours: the share of links that its worst cluster cuts must be more than a quarter smaller, because a cut has
    already used the links. The memberships are the evidence of the members for the clusters; if the members favour another
    cluster than the nearest centre, both have the same share.

    None or "auto"? None finds clusters of any shape that have borders between them, and takes little more time than making the
    members. "auto" finds the same clusters; if there are none, it looks for clusters without a border that k-means finds
    repeatedly in resamples, more stably than in a single cloud. It takes five to nine times as long (with 1,500 objects), and
    adds a p-value, tests of borders and a table of criteria, all of which refer to the clusters of k-means.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, make_blobs
    >>> from conclust import PCC, ConsensusClustering, EnsembleGenerator
    >>> X, _ = make_blobs(600, centers=6, n_features=10, random_state=0)
    >>> ConsensusClustering(random_state=0).fit(X).n_clusters_
    6
    >>> model = ConsensusClustering(PCC(3), EnsembleGenerator(n_partitions=30), random_state=0)
    >>> labels = model.fit_predict(load_iris().data)
    >>> model.n_clusters_
    3
    >>> ConsensusClustering("hbgf", n_clusters=3, random_state=0).fit(load_iris().data).n_clusters_
    3

    Choose the number of clusters by the agreement with held-out members:

    >>> from sklearn.model_selection import GridSearchCV
    >>> X, _ = make_blobs(150, centers=4, n_features=5, random_state=1)
    >>> model = ConsensusClustering("EAC", EnsembleGenerator(n_partitions=20), random_state=0)
    >>> GridSearchCV(model, {"n_clusters": [2, 3, 4, 5, 6]}, cv=2).fit(X).best_params_
    {'n_clusters': 4}

    Choose it by resampling, with a p-value:

    >>> model = ConsensusClustering(n_clusters="auto", random_state=0).fit(X)
    >>> model.n_clusters_, model.selection_.p_value
    (4, 0.025)
    """

    parameters: ClassVar[Parameters] = {"n_clusters": Range()}

    consensus: Any = None
    generator: Any = None
    _: KW_ONLY
    n_clusters: int | Literal["auto"] | None = None
    min_clusters: int = 1
    random_state: RandomStateLike = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        partitions: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
        **unknown: Any,
    ) -> Self:
        """Generate the ensemble of the points and compute its consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : None
            Ignored; there for scikit-learn's pipelines.
        partitions : Ensemble or array-like of shape (n_samples, n_more), default=None
            Further partitions of the objects, which are combined with the generated ones: columns of categories, or
            clusterings from elsewhere. -1, NaN and None are missing. An Ensemble with weights keeps its weights.
            Otherwise each column counts as much as a column of X: its weight is the number of generated partitions
            divided by the number of features.
        must_link, cannot_link : array-like of int of shape (n_pairs, 2), default=None
            Pairs of objects (row numbers) that are in the same cluster, and pairs that are not; for a consensus that accepts
            them (see ``fit`` of :class:`conclust.EAC`). The default changes its clusters as little as they require.
        **unknown : None
            There are no others: points have no weights.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If there is another argument.
        """
        refuse_arguments(unknown, f"{_OWNER}.fit", _NO_WEIGHTS)
        links = given_links(must_link, cannot_link)
        with fitting(self):
            check_parameters(self)
            generator, consensus = self._generator(), self._consensus()
            forget_results(self)
            seeds = spawn_seeds(seed_sequence(self.random_state, _OWNER), 5, bits=32)
            if self.random_state is not None:
                for part, seed in zip((generator, consensus), seeds, strict=False):
                    if "random_state" in part.get_params(deep=False):
                        part.set_params(random_state=seed)
            self._held_out_seed = seeds[2]
            refuse_views(X)
            check_column_names(X)
            record_features(self, X)
            if isinstance(consensus, ConsensusClusterer):
                # Checked before the members are made, which takes longest.
                consensus._check_number(num_samples(X))
                if links:
                    read_constraints(must_link, cannot_link, num_samples(X))
            with step("generate", generator):
                own = type(generator) is EnsembleGenerator
                ensemble = Ensemble(generator._labels(X) if own else generator.fit_transform(X))
            self.doubts_ = _doubts_of_fit(generator, X)
            self._n_made, self._further_names = ensemble.n_partitions, names_of(partitions)
            check_row_names({"X": X, "partitions": partitions})
            self.ensemble_ = with_further(ensemble, partitions, self.n_features_in_)
            self.generator_ = generator
            if self.n_clusters == _AUTO:
                from conclust.selection.choosing import choose_beside

                with step("choose"):
                    self.selection_ = choose_beside(
                        X,
                        generator,
                        self.ensemble_,
                        self._n_made,
                        seed=seeds[3],
                        verbose=self.verbose,
                    )
            of_points = isinstance(consensus, AutoConsensus) and self._in_points
            if self.n_clusters == _AUTO:
                consensus.set_params(n_clusters=None if of_points else self.selection_.n_clusters)
            self.centers_: ClusterCenters | None = None
            with step("combine", self.ensemble_):
                if of_points:
                    self._combine_by_points(X, consensus, links)
                else:
                    self.consensus_ = self._fitted(consensus, links)
        return self

    def _combine_by_points(self, X: Any, consensus: AutoConsensus, links: dict[str, Any]) -> None:
        """Fit the default consensus, whose clusters the points decide."""
        pairs = (links.get("must_link"), links.get("cannot_link")) if links else None
        with fitting(consensus):
            growth = consensus.grow(self.ensemble_, pairs, as_many_as_differ(self.generator_, X))
            trees, objects = growth.trees, growth.objects
            points = scaled_points(self.generator_, X, objects)
            least, jobs = self.min_clusters, consensus.n_jobs
            decision, found, offered = decide_by_points(
                points, trees, consensus.n_clusters, min_clusters=least, n_jobs=jobs
            )
            returning = self.selection_.n_clusters if self.n_clusters == _AUTO else 1
            if decision.n_clusters == 1 < returning:
                consensus.set_params(n_clusters=returning)
                decision, found, _ = decide_by_points(points, trees, returning, n_jobs=jobs)
            before = None
            if found is not None:
                self.centers_ = ClusterCenters.of(found, points, objects, self.ensemble_)
                labels = self.centers_.nearest(self.generator_, X)
                if trees.constraints is not None and trees.constraints.broken(labels):
                    before, self.centers_ = labels[objects], None  # no longer around centres
            consensus.place(growth, decision, before)
        self.consensus_ = consensus
        if decision.depths is not None:
            self.border_depths_ = np.array(decision.depths)
        self.evidence_ = {K: evidence for K, (evidence, _) in offered.items()}
        # The labels around centres, or the votes of the members.
        self._at = {
            K: _nearest(around, self.generator_, X) if around else other.cut(trees).votes
            for K, (_, (other, around, _)) in offered.items()
        }
        self.specks_ = tuple(objects[list(decision.specks)].tolist())
        if self.centers_ is not None:
            self._place_by_centers(labels)

    @property
    def _in_points(self) -> bool:
        """Whether all partitions come from points that are available."""
        alone = self.ensemble_.n_partitions == self._n_made
        return alone and isinstance(self.generator_, EnsembleGenerator)

    def _place_by_centers(self, labels: Ints) -> None:
        """Set the clusters around the centres."""
        assert self.centers_ is not None
        _, first = np.unique(labels, return_index=True)
        self.centers_ = self.centers_.renumbered(np.argsort(first))
        self._labels = canonical_labels(labels)
        self._membership = self.centers_.membership(self._labels, self.ensemble_.indicator)

    def _fitted(self, consensus: Any, links: dict[str, Any]) -> Any:
        """Return the consensus, fitted to the ensemble with the constraints."""
        if isinstance(consensus, EnsembleGenerator):
            self._refuse_consensus("It has no labels_ after fit. Members are made by generator=.")
        # Refused here: a clusterer of points would read an array of labels as coordinates.
        of_points = type(consensus).__module__.startswith(("sklearn.cluster.", "sklearn.mixture."))
        try:
            if of_points:
                raise TypeError("labels are not coordinates")
            fitted = consensus.fit(self.ensemble_, **links)
        except TypeError:
            if isinstance(consensus, ConsensusClusterer):
                raise
            name = type(consensus).__name__
            self._refuse_consensus(
                f"To cluster the points by {name} many times, pass generator=EnsembleGenerator({name}(...))."
            )
        if not hasattr(fitted, "labels_"):
            self._refuse_consensus("It has no labels_ after fit. Members are made by generator=.")
        return fitted

    def _generator(self) -> Any:
        """Return a clone of the generator, or the default one."""
        if self.generator is None:
            return EnsembleGenerator()
        if not (hasattr(self.generator, "fit_transform") and hasattr(self.generator, "get_params")):
            word = isinstance(self.generator, str)
            self._refuse_generator(
                f"A kind of members is given as generator=EnsembleGenerator({self.generator!r})."
                if word
                else ""
            )
        if hasattr(self.generator, "fit_predict"):  # its transform gives distances, not labels
            self._refuse_generator(
                "To cluster the points by it many times, pass generator=EnsembleGenerator(...)."
            )
        return clone(self.generator)

    def _refuse_generator(self, advice: str) -> NoReturn:
        expected = "None or a transformer with fit_transform, such as EnsembleGenerator(...)"
        refuse("generator", _OWNER, expected, self.generator, advice)

    def _consensus(self) -> Any:
        """Return the consensus to be fitted, with the requested number of clusters."""
        # If the number is to be chosen, any number shows whether the consensus takes one.
        k = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        part = self.consensus
        if part is None:
            return AutoConsensus(k)
        if isinstance(part, str):
            method = method_named(part)
            if method is None:
                self._refuse_consensus(advice_on(part))
            consensus = make(method.estimator)
        elif hasattr(part, "fit") and hasattr(part, "get_params") and not isinstance(part, type):
            consensus = clone(part)
        else:
            whole = isinstance(part, int | np.integer) and not isinstance(part, bool)
            self._refuse_consensus(
                f"A number of clusters is given as n_clusters={part}." if whole else ""
            )
        if k is None:
            return consensus
        if "n_clusters" not in consensus.get_params(deep=False):
            expected = (
                f"None with {type(consensus).__name__}, which determines the number of clusters"
            )
            refuse("n_clusters", _OWNER, expected, self.n_clusters)
        return consensus.set_params(n_clusters=k)

    def _refuse_consensus(self, advice: str) -> NoReturn:
        expected = "None, an estimator that fits an Ensemble or the name of a method"
        refuse("consensus", _OWNER, expected, self.consensus, advice)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and those of the parts, such as ``generator__n_partitions``.

        Parameters
        ----------
        **params : object
            Names and values. Parameters of a part can be set if the part is an estimator.

        Returns
        -------
        self : object
            The estimator.
        """
        check_nested(self, params, consensus="AutoConsensus", generator="EnsembleGenerator")
        return cast(Self, super().set_params(**params))

    def _consensus_now(self) -> Any:
        """Return the fitted consensus, or the one to be fitted."""
        fitted = vars(self).get("consensus_")
        if fitted is not None:
            return fitted
        try:
            return self._consensus()
        except ParameterError:
            return self.consensus  # fit will raise the error

    @property
    def labels_(self) -> Ints:
        """The consensus partition of the points of ``fit``."""
        check_is_fitted(self, "consensus_")
        labels: Ints = self.consensus_.labels_
        return labels if self.centers_ is None else self._labels

    def labels_at(self, n_clusters: int) -> Ints:
        """Return the clusters for another number that ``reason_`` names: those of a fit with this number, without refitting.

        Parameters
        ----------
        n_clusters : int
            The number found, one of those in ``evidence_``, or 1.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            The cluster of each point.

        Raises
        ------
        ParameterError
            If no clusters of this number were kept.
        """
        check_is_fitted(self, "consensus_")
        if n_clusters == self.n_clusters_:
            return self.labels_
        if n_clusters == 1:
            return np.zeros(self.ensemble_.n_samples, dtype=np.int64)
        at = vars(self).get("_at", {})
        if n_clusters not in at:
            owner, kept = f"{_OWNER}.labels_at", sorted({1, self.n_clusters_, *at})
            advice = f"For other numbers, fit with n_clusters={n_clusters}."
            refuse("n_clusters", owner, f"one of {kept}", n_clusters, advice)
        at, around = at[n_clusters], at[n_clusters].ndim == 1
        return canonical_labels(at if around else clusters_with_most_votes(self.ensemble_, at))

    @property
    def n_clusters_(self) -> int:
        """Clusters found."""
        check_is_fitted(self, "consensus_")
        return int(self.consensus_.n_clusters_)

    @property
    def membership_(self) -> Floats:
        """Probabilities over clusters, where the consensus is soft."""
        check_is_fitted(self, "consensus_")
        membership: Floats = self.consensus_.membership_
        return membership if self.centers_ is None else self._membership

    @property
    def reason_parts(self) -> Reason:
        """The reason for the number of clusters, in its parts."""
        from conclust.words.number import of_method

        check_is_fitted(self, "consensus_")
        parts: Reason = getattr(self.consensus_, "reason_parts", None) or of_method(self.consensus_)
        further = self.ensemble_.n_partitions > self._n_made
        if further and getattr(self.consensus_, "number_by_", "") == "partitions":
            untested = "with categories, borders between the points do not count"
            parts = replace(parts, why=f"{parts.why}; {untested}", testable=True)
        if "selection_" in vars(self):
            if not (isinstance(self.consensus_, AutoConsensus) and self._in_points):
                return self.selection_.reason_parts
            from conclust.words.selection import reason_beside

            seen = self.n_clusters_ > 1 and self.consensus_.number_by_ == "points"
            return reason_beside(self.selection_, parts if seen else None)
        return parts

    def _restored(self) -> bool:
        """Return whether generator, ensemble and consensus, read from a file, fit each other."""
        ensemble, made, centers = self.ensemble_, self._n_made, self.centers_
        columns = int(ensemble.offsets[-1])
        return (
            getattr(self.consensus_, "n_features_in_", 0) == ensemble.n_partitions
            and 0 < made <= ensemble.n_partitions
            and made == len(getattr(self.generator_, "members_", range(made)))
            and (centers is None or centers.fits(self.n_features_in_, columns, self.n_clusters_))
        )

    def _label(self, X: Any, partitions: Any) -> Any:
        """Return the labels of points by every member, and those in further partitions."""
        # Checked here so that errors name this estimator; passed on as it came, with its names.
        check_column_names(X)
        read_points(self, X, reset=False)
        check_row_names({"X": X, "partitions": partitions})
        with names_checked():
            labels = self.generator_.transform(X)
        # The consensus was fitted to an Ensemble: names of a frame (set_output) would be unknown to it.
        labels = np.asarray(labels) if hasattr(labels, "columns") else labels
        n_further = self.ensemble_.n_partitions - self._n_made
        further = np.empty((len(labels), 0)) if partitions is None else cells_of(partitions)
        if further.shape != (len(labels), n_further):
            raise InputError(
                f"'partitions' must be the labels of these points in the partitions that fit was given, of shape "
                f"{(len(labels), n_further)}. Got {'none' if partitions is None else f'shape {further.shape}'} instead."
            )
        names = names_of(partitions)
        if names is not None and self._further_names not in (None, names):
            raise InputError(
                f"The columns of 'partitions' must be those of fit, in the same order: {self._further_names}. Got {names}."
            )
        return np.column_stack([labels.astype(object), further]) if n_further else labels

    def _nearest_center(self, X: Any) -> Ints:
        """Return the nearest centre of points whose names have been checked."""
        assert self.centers_ is not None
        with names_checked():
            return self.centers_.nearest(self.generator_, X)

    def _shares_around_centers(self, X: Any, labels: Any) -> Floats:
        """Return the memberships of points, with their labels by the members, around the centres."""
        assert self.centers_ is not None
        codes, _ = self.ensemble_.encode(labels)
        indicator = indicator_of(codes, self.ensemble_.offsets)
        return self.centers_.membership(self._nearest_center(X), indicator)

    @where_consensus_has("predict")
    def predict(self, X: Any, *, partitions: Any = None) -> Ints:
        """Predict the clusters of new points: label them by every member, then place them in the consensus.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points. Members by "mixed" cannot label them.
        partitions : array-like of shape (n_new, n_more), default=None
            Their labels in the further partitions, if ``fit`` got any.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each point.
        """
        check_is_fitted(self, "consensus_")
        labels = self._label(X, partitions)
        if self.centers_ is not None:
            return self._nearest_center(X)
        return cast(Ints, self.consensus_.predict(labels))

    @where_consensus_has("predict_proba")
    def predict_proba(self, X: Any, *, partitions: Any = None) -> Floats:
        """Memberships of new points (see ``predict``).

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points.
        partitions : array-like of shape (n_new, n_more), default=None
            Their labels in the further partitions, if ``fit`` got any.

        Returns
        -------
        ndarray of shape (n_new, n_held)
            The columns are those of ``membership_``; rows sum to 1.
        """
        check_is_fitted(self, "consensus_")
        labels = self._label(X, partitions)
        if self.centers_ is not None:
            return self._shares_around_centers(X, labels)
        return cast(Floats, self.consensus_.predict_proba(labels))

    def transform(self, X: Any, *, partitions: Any = None) -> Floats:
        """Memberships of points as features: ``predict_proba`` in the container of ``set_output``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points.
        partitions : array-like of shape (n_new, n_more), default=None
            Their labels in the further partitions, if ``fit`` got any.

        Returns
        -------
        ndarray of shape (n_new, n_held), or a frame
            A column for each cluster that is not empty, "cluster_0", "cluster_1", ...
        """
        proba: Floats = self.predict_proba(X, partitions=partitions)
        return proba

    def fit_transform(
        self, X: Any, y: None = None, *, partitions: Any = None, **fit_params: Any
    ) -> Floats:
        """Fit, and return the memberships of the points as ``transform`` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : None
            Ignored; there for scikit-learn's pipelines.
        partitions : array-like of shape (n_samples, n_more), default=None
            Labels in further partitions; see ``fit``.
        **fit_params : object
            Further arguments of ``fit``: must_link, cannot_link.

        Returns
        -------
        ndarray of shape (n_samples, n_held), or a frame
            Memberships of the points, placed in the consensus as if they were new. They may differ a little from
            ``membership_``, to which the points themselves contributed.
        """
        self.fit(X, partitions=partitions, **fit_params)
        return self.predict_proba(X, partitions=partitions)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of ``transform``: "cluster_0", "cluster_1", ...

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        ndarray of str objects
            One name per cluster.
        """
        return np.array([f"cluster_{k}" for k in range(self.membership_.shape[1])], dtype=object)

    def score(self, X: Any, y: None = None, *, partitions: Any = None) -> float:
        """Return the agreement of the clusters of X with held-out members.

        The generator makes new members of X with another seed. The score is the mean normalized mutual information
        (:func:`conclust.metrics.anmi`) of these members with the clusters of X. It can be compared between models
        that share a generator, so GridSearchCV can choose `n_clusters`.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Points: the ones of ``fit``, or new ones.
        y : None
            Ignored; there for scikit-learn's searches.
        partitions : array-like of shape (n_new, n_more), default=None
            Labels in the further partitions, if ``fit`` got any.

        Returns
        -------
        float
            Score in [0, 1]; higher is better. Repeated calls return the same value.

        Raises
        ------
        ParameterError
            If the generator has no ``random_state``: it would draw the same members again.
        InputError
            If members cannot label new points.

        Notes
        -----
        The members of the fitted generator label X. If the consensus can place new objects (``predict``),
        it places these labels. Otherwise a consensus of X alone is computed from them, with the same parameters.

        Members favour numbers of clusters near their own, so let the generator draw from a range around all numbers
        that you try. Members of "mixed" and of deterministic clusterers do not change with the seed: on the points of ``fit``
        they are the same, and nothing is held out.
        """
        check_is_fitted(self, "consensus_")
        labels = self._label(X, partitions)
        if hasattr(self.consensus_, "predict"):
            labels_found = self.consensus_.predict(labels)
        else:
            labels_found = clone(self.consensus_).fit(labels).labels_
        if "random_state" not in self.generator_.get_params(deep=False):
            raise ParameterError(
                f"The 'generator' parameter of {_OWNER} must have a 'random_state' for score, which "
                f"draws members held out with another seed. Got {shown(self.generator_)} instead."
            )
        other = clone(self.generator_).set_params(random_state=self._held_out_seed)
        return anmi(labels_found, other.fit_transform(X))


# set_output wraps the methods that the class defines; afterwards those that the consensus lacks are hidden.
for _name in ("transform", "fit_transform"):
    _needed = where_consensus_has("predict_proba")
    setattr(ConsensusClustering, _name, _needed(getattr(ConsensusClustering, _name)))


def members_and_centers(
    model: ConsensusClustering, X: Floats, partitions: Any
) -> tuple[NDArray[Any], tuple[Ints, Floats] | None]:
    """Return the labels of points by the members and in further partitions; of clusters around centres also the points' place.

    Parameters
    ----------
    model : ConsensusClustering
        Fitted without constraints.
    X : ndarray of shape (n_new, n_features)
        The points.
    partitions : array-like of shape (n_new, n_more) or None
        Their labels in the further partitions.
    """
    labels = model._label(X, partitions)
    if model.centers_ is None:
        return labels, None
    return labels, (model._nearest_center(X), model._shares_around_centers(X, labels))


def names_of(partitions: Any) -> list[str] | None:
    """Return the names of the columns of a frame; None of anything else."""
    names = list(getattr(partitions, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def cells_of(partitions: Any) -> NDArray[Any]:
    """Return further partitions as objects; an Ensemble with its names."""
    if not isinstance(partitions, Ensemble):
        return np.asarray(partitions, dtype=object)
    cells = np.empty(partitions.shape, dtype=object)
    for u, names in enumerate(partitions.names):
        # -2 and -1 count from the end.
        cells[:, u] = np.array([*names, NOISE, MISSING], dtype=object)[partitions.labels[:, u]]
    return cells


def with_further(ensemble: Ensemble, partitions: Any, n_features: int) -> Ensemble:
    """Append further partitions to the generated ones."""
    if partitions is None:
        return ensemble
    if len(getattr(partitions, "shape", (0, 0))) == 1:
        raise InputError(
            "'partitions' must have a column for each partition. Got one-dimensional data: pass a table of one column, such as "
            "d[['plan']] of a data frame d."
        )
    further = as_ensemble(partitions)
    if further.n_samples != ensemble.n_samples:
        raise InputError(
            f"'partitions' must be of the objects of X. Got partitions of {further.n_samples} objects, and "
            f"{ensemble.n_samples} objects in X."
        )
    if further.weights is None:
        share = ensemble.n_partitions / n_features
        further = further.reweighted(np.full(further.n_partitions, share))
    return Ensemble.concat([ensemble, further])


def _doubts_of_fit(generator: Any, X: Any) -> list[str]:
    """Return the doubts about the points of a fitted generator; none where these are not in memory as numbers."""
    on_disk = isinstance(X, np.memmap) or (is_in_blocks(X) and not isinstance(X, np.ndarray))
    if not isinstance(generator, EnsembleGenerator) or on_disk:
        return []
    found = doubts(read_points(generator, X, reset=False))
    if not found:
        return []
    from conclust.words.points import of_doubts

    return of_doubts(found, getattr(generator, "feature_names_in_", None))
