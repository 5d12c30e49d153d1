"""The common base of the consensus estimators: read labels, fit, number the clusters, warn."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from conclust._arrays import numbering
from conclust._arrays.containers import collected
from conclust._parameters import Parameters, check_parameters
from conclust._progress import fitting, say
from conclust._sklearn import EstimatorCard, Saved, check_order, forget_results, record_features
from conclust._types import Bools, Floats, Ints
from conclust._validation import (
    check_column_names,
    check_int,
    check_option,
    count,
    refuse,
    refuse_arguments,
    shown,
)
from conclust.consensus.constraints import Constraints, read_constraints
from conclust.consensus.method import Method, NumberNeeded, Task, names_in_blocks, names_of_those
from conclust.ensemble import Ensemble, Missing, Naming, as_ensemble
from conclust.ensemble.ensemble import FEW_DRAWS
from conclust.ensemble.labels import (
    canonical_labels,
    encode_labels,
    missing_code,
    noise_code,
    one_hot_rows,
    read_new_labels,
    refuse_twins_among,
    unseen_values,
)
from conclust.exceptions import (
    EnsembleWarning,
    EvidenceWarning,
    InputError,
    UnseenLabelWarning,
    UnsupportedEnsembleError,
    fitted_by,
    warn,
)

# Packages that fit estimators with numbers of clusters that the user did not request.
_SEARCHES = tuple(f"conclust.{name}" for name in ("consensus", "selection", "confidence"))
_ROWS_AT_ONCE = 1 << 14

_WEIGHTS = "objects have no weights here; those of partitions go with the ensemble: cc.Ensemble(labels, weights=w)"


class ConsensusClusterer(EstimatorCard, Saved, ClusterMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the consensus estimators.

    A subclass declares in ``parameters`` the ranges that its signature does not have, and finds the
    consensus of the objects that at least one partition observed in ``_fit``. The rest is here, so that it is the
    same for all: `X` is a label matrix or an Ensemble, labels are int64, consecutive from 0 by
    first appearance, and an object missing everywhere gets -1 with a warning.
    """

    method: ClassVar[Method]
    parameters: ClassVar[Parameters] = {}
    _for_draws: ClassVar[bool] = False  # whether draws are often given: those in rows are warned of
    n_clusters: Any  # the user's value, if the method has this parameter; checked before the fit
    missing: Missing = "unobserved"  # as here if the method has no such parameter
    verbose: int = 0  # no output if the method has no such parameter
    labels_: Ints
    n_clusters_: int
    # These mean the same in every method that has them.
    max_iter: int
    objective_: float
    trace_: Floats
    n_iter_: int
    converged_: bool
    weights_: Floats
    certainty_: Floats
    singular_values_: Floats
    _constraints: Constraints | None = None
    _names: tuple[tuple[Any, ...], ...]
    _code_type: np.dtype[Any]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain that a method has no ``predict``, and name those that have."""
            reason = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in ("predict", "predict_proba") and not isinstance(self, PlacingClusterer):
                reason += (
                    f": {type(self).__name__} does not place new objects. "
                    f"{names_of_those(PlacingClusterer)} do."
                )
            elif name == "membership_" and not isinstance(self, SoftConsensusClusterer):
                reason += (
                    f": {type(self).__name__} gives labels only. "
                    f"{names_of_those(SoftConsensusClusterer)} give memberships."
                )
            elif name == "method":
                reason += ": a ConsensusClusterer declares what it needs and accepts in the class attribute 'method'."
            elif name == "n_clusters" and self.method.n_clusters != "emerges":
                reason += (
                    f": n_clusters={self.method.n_clusters!r} in its 'method' requires a parameter 'n_clusters'; "
                    "'emerges' does not."
                )
            raise AttributeError(reason, name=name, obj=self)

    def _check_parameters(self, ensemble: Ensemble) -> None:
        """Raise ParameterError for parameters that fit neither each other nor the observed ensemble."""

    @abstractmethod
    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        """Compute the consensus; return one label per object (any integers >= 0).

        The ensemble contains the observed objects; `observed` is their mask among the given ones.
        """

    def _fit_like(self, X: Any, model: Any) -> Self:
        """Fit, with the decisions, other than the number of clusters, that a fitted model of the class took."""
        return self.fit(X)

    def _review(self, ensemble: Ensemble, labels: Ints) -> None:
        """Warn if the ensemble does not suit the method; `labels` are those of the observed objects."""

    def _finish(self, observed: Bools) -> None:
        """Extend attributes of observed objects that ``_fit`` has set to all objects; ``labels_`` is already set."""

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        **unknown: Any,
    ) -> Self:
        """Compute the consensus of an ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_partitions), Ensemble or LabelStore
            Labels of the objects, one partition per column; -1, NaN, None: missing; -2: noise. A
            :class:`conclust.blocks.LabelStore`, an array of Zarr or Dask is read in blocks, by methods that
            can (``blocks`` in ``conclust.methods()``): attributes with a row for every object are then
            made when they are read.
        y : None
            Ignored; accepted for scikit-learn's pipelines.
        must_link, cannot_link : array-like of int of shape (n_pairs, 2), default=None
            Pairs of objects that are in one cluster, and pairs that are not, by their places. All are kept. Taken by
            AutoConsensus, AddRemAdd, EAC and LWEA (not with ``linkage="ward"``) and PCC with
            ``divergence="l2"``, if `pairs` is None.
        **unknown : None
            Not accepted: ``weights`` of partitions belong to the ensemble.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If another argument is given.
        InputError
            If the labels are malformed.
        ParameterError
            If a parameter is out of its range.
        UnsupportedEnsembleError
            If the ensemble has missing labels or soft members that the method does not accept.

        Warns
        -----
        EvidenceWarning
            Objects that no partition observed; sets of objects that no partition connects.
        """
        refuse_arguments(unknown, f"{type(self).__name__}.fit", _WEIGHTS)
        links = None if must_link is None and cannot_link is None else (must_link, cannot_link)
        check_parameters(self)
        with fitting(self):
            began = time.monotonic()
            forget_results(self)
            if not numbering.is_blocked(X):
                self._fit_in_memory(X, links)
            elif links is None:
                self._fit_stored(X)
            else:
                raise UnsupportedEnsembleError(
                    "must_link and cannot_link are not supported for labels in blocks: fit to an Ensemble."
                )
            seconds = time.monotonic() - began
            say(f"{count(self.n_clusters_, 'cluster')} after {seconds:.1f} s")
        return self

    def _fit_in_memory(self, X: Any, links: tuple[Any, Any] | None = None) -> None:
        """Compute the consensus of labels in memory."""
        task = self._begin(X, links)
        self._end(task, self._fit(task.part, task.observed))
        held = self._for_draws and type(task.ensemble) is Ensemble
        if held and min(task.ensemble.shape) >= FEW_DRAWS:
            from conclust.measures.agreement import warn_of_draws_in_rows

            warn_of_draws_in_rows(task.ensemble)

    def _begin(self, X: Any, links: tuple[Any, Any] | None = None) -> Task:
        """Read the labels and check them."""
        say("reading the labels")
        ensemble = self._read(X)
        say(f"{ensemble.n_samples} objects in {ensemble.n_partitions} partitions")
        observed = ensemble.observed
        part = ensemble if observed.all() else ensemble.observed_only()
        self._check(part)
        if self.method.soft_members == "labels":
            part = part.most_probable()
        self._names, self._code_type = tuple(part.names), part.codes.dtype
        self._constraints = None if links is None else self._constraints_of(links, observed)
        return Task(ensemble, part, observed)

    def _end(self, task: Task, labels: NDArray[Any]) -> None:
        """Check the labels of the observed objects, and set the attributes of all objects."""
        observed = task.observed
        labels = canonical_labels(_checked_labels(labels, task.part, type(self).__name__))
        if self._constraints is not None and self._constraints.broken(labels):
            raise RuntimeError(
                f"{type(self).__name__} broke a constraint: this is a bug in conclust."
            )
        self._review(task.part, labels)
        self.n_clusters_ = int(labels.max()) + 1
        self.labels_ = spread(labels, observed, -1)
        self._finish(observed)
        if not observed.all():
            first = f" (the first is object {np.argmin(observed)})"
            self._warn_of_unobserved(int(np.count_nonzero(~observed)), first)
        self._warn_of_sets(task.ensemble)
        self._warn_of_fewer()

    def _check(self, ensemble: Ensemble) -> None:
        """Refuse an ensemble that the method cannot take, and parameters that do not fit it."""
        self._check_support(ensemble)
        self._check_number(ensemble.n_samples)
        self._check_parameters(ensemble)

    def _warn_of_unobserved(self, n_objects: int, first: str = "") -> None:
        """Warn about objects that no partition observed."""
        objects = "1 object is" if n_objects == 1 else f"{n_objects} objects are"
        warn(
            f"{objects} missing in every partition{first}. Without information about such an object, its label is -1 and "
            "its membership, if any, uniform.",
            EvidenceWarning,
        )

    def _warn_of_fewer(self) -> None:
        """Warn if there are fewer clusters than the user requested, unless a search of conclust requested them."""
        requested = getattr(self, "n_clusters", None)
        asked = self._number_needed() in ("exact", "optional")
        if not (asked and isinstance(requested, int | np.integer)):
            return
        if self.n_clusters_ < requested and not fitted_by(self, _SEARCHES):
            warn(
                f"{type(self).__name__} found {count(self.n_clusters_, 'cluster')} where n_clusters={requested} was "
                "requested: the partitions do not distinguish more by its criterion. EAC and LWEA cut a tree into exactly "
                "that number.",
                EnsembleWarning,
            )

    def _warn_of_sets(self, ensemble: Ensemble) -> None:
        """Warn about objects that no partition connects."""
        warn_of_separate_sets(ensemble)

    def _constraints_of(self, links: tuple[Any, Any], observed: Bools) -> Constraints | None:
        """Read the constraints on the observed objects."""
        name = type(self).__name__
        if not self._takes_constraints():
            never = type(self)._takes_constraints is ConsensusClusterer._takes_constraints
            raise UnsupportedEnsembleError(
                f"{name} does not accept must_link or cannot_link{'' if never else ' with these parameters'}. "
                "AutoConsensus, AddRemAdd, EAC and LWEA (not with linkage='ward') and "
                "PCC(divergence='l2') do, if 'pairs' is not given."
            )
        constraints = read_constraints(*links, len(observed))
        if constraints is None:
            return None
        unseen = np.flatnonzero(constraints.touched & ~observed)
        if len(unseen):
            raise InputError(
                f"Object {unseen[0]} is in must_link or cannot_link, and missing in every partition. Leave it out."
            )
        return constraints.of(np.flatnonzero(observed))

    def _takes_constraints(self) -> bool:
        """Return whether constraints are accepted with the given parameters."""
        return False

    def _fit_stored(self, X: Any) -> None:
        """Compute the consensus of labels that are read in blocks."""
        if not self.method.blocks:
            raise UnsupportedEnsembleError(
                f"{type(self).__name__} needs all labels at once, and does not accept labels in blocks. "
                f"{', '.join(names_in_blocks())} do; or fit it to an Ensemble: LabelStore(...).ensemble()."
            )
        check_option(self.missing, "missing", type(self).__name__, Missing)
        from conclust.blocks.fitting import fit_blocks  # methods in memory do not need it

        fit_blocks(self, X, import_module(self.method.blocks).fit)
        self._warn_of_fewer()

    def _check_number(self, n: int) -> None:
        """Refuse a number of clusters that is not possible with n objects."""
        kind, name = self._number_needed(), type(self).__name__
        if kind == "emerges":
            return
        if kind == "exact" and self.n_clusters is None:
            refuse(
                "n_clusters",
                name,
                f"an int in the range [1, {n}]",
                None,
                f"{name} needs the number of clusters; AutoConsensus() chooses it.",
            )
        hint = f"There are {n} objects."
        if kind == "exact":
            check_int(self.n_clusters, "n_clusters", name, high=n, advice=hint)
        elif kind == "upper bound":
            check_int(self.n_clusters, "n_clusters", name, none=True)
        else:
            check_int(self.n_clusters, "n_clusters", name, high=n, none=True, advice=hint)

    def _number_needed(self) -> NumberNeeded:
        """Return whether the number of clusters is required with the given parameters."""
        return self.method.n_clusters

    def _takes_missing(self) -> bool:
        """Return whether missing labels are accepted with the given parameters."""
        return self.method.missing

    def _keep_end(
        self,
        objective: float,
        n_iter: int,
        converged: bool,
        what: str = "passes with objects still moving",
    ) -> None:
        """Keep how a search ended; warn if ``max_iter`` ended it."""
        self.objective_, self.n_iter_, self.converged_ = float(objective), n_iter, converged
        if not converged:
            close = ", or tol if this is close enough" if hasattr(self, "tol") else ""
            warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} {what}. Raise max_iter{close}.",
                ConvergenceWarning,
            )

    def _keep_course(
        self,
        trace: Sequence[float] | Floats,
        converged: bool,
        what: str = "iterations",
        n_iter: int | None = None,
    ) -> None:
        """Keep the objective from the start to the end as well; by default one entry for each iteration."""
        self.trace_ = np.array(trace)
        self._keep_end(trace[-1], len(trace) - 1 if n_iter is None else n_iter, converged, what)

    def _check_support(self, ensemble: Ensemble) -> None:
        """Refuse an ensemble of a kind that the method does not accept."""
        method, name = self.method, type(self).__name__
        for kind, present, accepted, parameters in (
            ("missing labels", ensemble.has_missing, self._takes_missing(), method.missing_with),
            ("soft members", ensemble.is_soft, method.soft_members, ""),
            ("weights of partitions", ensemble.weights is not None, method.weights, ""),
        ):
            if present and not accepted:
                way = f"With {parameters} it does. " if parameters else ""
                error = UnsupportedEnsembleError(
                    f"{name} does not accept {kind}, and the ensemble has them. {way}PCC and EAC do;"
                )
                error.lists_methods = True
                raise error

    def _read(self, X: Any) -> Ensemble:
        owner = type(self).__name__
        check_option(self.missing, "missing", owner, Missing)
        if isinstance(X, Ensemble):
            self.n_features_in_ = X.n_partitions
            return X
        X = collected(X)
        check_column_names(X)
        ensemble = as_ensemble(X, missing=self.missing)
        record_features(self, X)
        return ensemble

    def _encode(self, X: Any) -> NDArray[Any]:
        """Read new objects' labels with the names from fit, warning about unseen ones."""
        check_is_fitted(self)
        X = collected(X)
        read = read_new_labels(X, missing=self.missing)
        check_column_names(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        check_order(self, X)
        codes, unseen = encode_labels(read, self._names, self._code_type, missing=self.missing)
        if unseen:
            columns = getattr(self, "feature_names_in_", np.arange(len(self._names))).tolist()
            which = unseen_values(columns, self._names, read)
            warn(
                f"{count(unseen, 'label')} did not occur in fit; in their columns, the objects resemble no others (noise): {which}.",
                UnseenLabelWarning,
            )
        return codes

    def _stored_state(self) -> dict[str, Any]:
        """Return the attributes that a file has: of rows that are read in blocks none."""
        rows = {
            name: np.empty((0, *rows.shape[1:]), rows.dtype)
            for name, rows in numbering.in_blocks(self).items()
        }
        return vars(self) | rows

    def _restored(self) -> bool:
        """Return whether attributes that were read from a file fit each other, as kernels assume."""
        counts = np.array([len(names) for names in self._names], dtype=np.int64)
        return (
            len(counts) == self.n_features_in_
            and self._code_type.kind == "u"
            and counts.max() <= noise_code(self._code_type)
            and self._fits(counts)
        )

    def _fits(self, counts: Ints) -> bool:
        """Return whether what places new objects fits partitions with these numbers of clusters."""
        return True

    def _of_new(self, X: Any, method: str, width: int | None, dtype: Any) -> Any:
        """Return what a method finds from the codes of new objects, block by block if X is in blocks."""
        check_is_fitted(self)
        if numbering.is_blocked(X):
            from conclust.blocks.fitting import placed_blocks

            return placed_blocks(self, X, method, width, dtype)
        return getattr(self, method)(self._encode(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self._takes_missing()
        tags.input_tags.positive_only = True  # except for the two codes -1 and -2
        tags.input_tags.string = True
        return tags


class SoftConsensusClusterer(ConsensusClusterer):
    """Base of the consensus estimators with a membership.

    A subclass implements ``_fit_membership``. ``membership_`` has a column for each cluster that is not empty: some
    object belongs to it with a probability above 1e-9. The ``n_clusters_`` clusters that are the most probable one of
    some object come first, by first appearance, so that ``labels_`` is the row-wise argmax; the others follow by
    decreasing mass. Empty clusters have no column; rows that had a share in one are scaled to sum to 1 again. An object
    that only partitions of weight 0 observed has a uniform row.
    """

    membership_: Floats
    _counted: Bools | None

    @abstractmethod
    def _fit_membership(self, ensemble: Ensemble, observed: Bools) -> Floats:
        """Find the membership (n_samples, n_clusters), rows on the simplex; see ``_fit``."""

    def _keep_clusters(self, clusters: Ints) -> None:
        """Keep the state of only these clusters, in this order; others are dropped."""

    def _counting(self, ensemble: Ensemble) -> Bools | None:
        """Return which partitions count after the membership has been computed; None: all."""
        return None if ensemble.weights is None else ensemble.weights > 0

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        return self._settle(ensemble, self._fit_membership(ensemble, observed))

    def _settle(self, ensemble: Ensemble, membership: Floats) -> NDArray[Any]:
        """Keep the memberships of the observed objects in clusters that are not empty; return the labels."""
        membership = _checked_membership(membership, ensemble, type(self).__name__)
        self._counted = self._counting(ensemble)
        if ensemble.has_missing and self._counted is not None:
            unobserved = _unobserved(ensemble.codes, self._counted)
            if unobserved.any() and not unobserved.all():
                return self._fit_observed(membership, unobserved)
        columns, labels = _column_order(membership)
        self._keep_clusters(columns)
        self.membership_ = _columns(membership, columns)
        return labels

    def _fit_observed(self, membership: Floats, unobserved: Bools) -> Ints:
        """Keep the clusters of the other objects, the largest first if the first object is unobserved.

        Ties go to the first column.
        """
        others = membership[~unobserved]
        heaviest = np.argsort(-others.sum(axis=0), kind="stable")
        heaviest = heaviest[others.max(axis=0)[heaviest] > numbering.NOTHING]
        membership[unobserved] = 1.0 / membership.shape[1]
        membership = _columns(membership, heaviest)
        columns, labels = _column_order(membership)
        self._keep_clusters(heaviest[columns])
        self.membership_ = _columns(membership, columns)
        return labels

    def _finish(self, observed: Bools) -> None:
        uniform = 1.0 / self.membership_.shape[1]
        self.membership_ = spread(self.membership_, observed, uniform)


class PlacingClusterer(SoftConsensusClusterer):
    """Base of the soft consensus estimators that place new objects by their labels.

    A subclass implements ``_place``.
    """

    @abstractmethod
    def _place(self, codes: NDArray[Any]) -> Floats:
        """Return memberships of new objects from their codes, rows on the simplex."""

    def predict_proba(self, X: Any) -> Floats:
        """Memberships of new objects from their labels in the same partitions.

        Every object is placed independently: new objects do not influence each other.

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``. A label that no object of
            ``fit`` had is read as noise, with a warning.

        Returns
        -------
        ndarray of shape (n_new, n_held)
            The columns are those of ``membership_``; rows sum to 1. An object missing everywhere
            gets a uniform row.
        """
        check_is_fitted(self)
        rows: Floats = self._of_new(X, "_placed", int(self.membership_.shape[1]), np.float64)
        return rows

    def _restored(self) -> bool:
        held, counted = self.membership_.shape[1], self._counted
        return (
            0 < self.n_clusters_ <= held
            and (counted is None or counted.shape == (len(self._names),))
            and super()._restored()
        )

    def _placed(self, codes: NDArray[Any]) -> Floats:
        Y = self._place(codes)
        Y[_unobserved(codes, self._counted)] = 1.0 / Y.shape[1]
        return Y

    def predict(self, X: Any) -> Ints:
        """Most probable clusters of new objects (see ``predict_proba``).

        Parameters
        ----------
        X : array-like of shape (n_new, n_partitions)
            Labels of the new objects, by the names used in ``fit``.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each object, of those in ``labels_``; -1 for an object missing everywhere, or without membership in
            any of these clusters.
        """
        labels: Ints = self._of_new(X, "_labelled", None, np.int64)
        return labels

    def _labelled(self, codes: NDArray[Any]) -> Ints:
        # Further columns are of clusters in which no object of the fit has its largest membership.
        Y = self._placed(codes)[:, : self.n_clusters_]
        labels: Ints = Y.argmax(axis=1)
        elsewhere = np.flatnonzero(Y.max(axis=1) <= numbering.NOTHING)
        if len(elsewhere):
            labels[elsewhere] = self._place_in_clusters(codes[elsewhere], Y[elsewhere])
        labels[_unobserved(codes, None)] = -1
        return labels

    def _place_in_clusters(self, codes: NDArray[Any], Y: Floats) -> Ints:
        """Return the clusters of objects with next to no membership `Y` in the clusters of ``labels_``; -1 if it is 0."""
        return np.where(Y.max(axis=1) > 0, Y.argmax(axis=1), -1)


class NamedClusterer(PlacingClusterer):
    """Base of the estimators that take equal names in different partitions as the same class if they are shared.

    They are if the ensemble, or the estimator's `names`, says so.

    ``classes_`` has the names: first those of the columns of ``membership_``, then those without a column.
    """

    names: Naming
    classes_: NDArray[Any]
    _by_name: bool = False

    def _read(self, X: Any) -> Ensemble:
        ensemble = super()._read(X)
        return Ensemble(ensemble, names="shared") if self.names == "shared" else ensemble

    def _check(self, ensemble: Ensemble) -> None:
        self._by_name = ensemble.naming == "shared"
        super()._check(ensemble)

    def _number_needed(self) -> NumberNeeded:
        if self._by_name or self.names == "shared":
            return "emerges"
        return super()._number_needed()

    def _check_parameters(self, ensemble: Ensemble) -> None:
        super()._check_parameters(ensemble)
        if self._by_name and self.n_clusters is not None:
            advice = "Each name is a class, so that the labels have the number."
            name = type(self).__name__
            refuse("n_clusters", name, "None with names='shared'", self.n_clusters, advice)

    def _votes_by_name(self, ensemble: Ensemble) -> Floats:
        """Set ``classes_`` to the sorted names; return the votes (T, n_classes), each cluster for its own name."""
        found = list(dict.fromkeys(name for own in ensemble.names for name in own))
        refuse_twins_among(found, "one of the partitions")
        try:
            found.sort()
        except TypeError:  # names of different types have no order
            found.sort(key=str)
        kinds = {type(name) for name in found}
        self.classes_ = np.array(found, dtype=None if kinds in ({int}, {str}) else object)
        place = {name: k for k, name in enumerate(found)}
        own = [place[name] for names in ensemble.names for name in names]
        return one_hot_rows(np.array(own, dtype=np.int64), len(found))

    def _keep_clusters(self, clusters: Ints) -> None:
        super()._keep_clusters(clusters)
        if self._by_name:
            rest = np.delete(self.classes_, clusters)
            self.classes_ = np.concatenate([self.classes_[clusters], rest])

    def _warn_of_sets(self, ensemble: Ensemble) -> None:
        if not self._by_name:  # shared names connect what no partition does
            super()._warn_of_sets(ensemble)


def _checked_labels(labels: Any, ensemble: Ensemble, name: str) -> NDArray[Any]:
    """Return what ``_fit`` returned as an array; raise ValueError if it is not one integer per object."""
    result = np.asarray(labels)
    if result.shape != (ensemble.n_samples,) or result.dtype.kind not in "biu":
        raise ValueError(
            f"{name}._fit must return an int for each of the {ensemble.n_samples} observed objects. Got "
            f"{_form(labels, result)} instead."
        )
    if result.dtype.kind == "i" and result.min() < 0:
        i = int(result.argmin())
        raise ValueError(
            f"{name}._fit must return an int for each of the {ensemble.n_samples} observed objects, from 0 on. Got {result[i]} for "
            f"object {i} instead: an object that belongs to no other one is a cluster of its own."
        )
    return result


def _checked_membership(membership: Any, ensemble: Ensemble, name: str) -> Floats:
    """Return what ``_fit_membership`` returned as an array; raise ValueError if its rows are not on the simplex."""
    result = np.asarray(membership)
    n = ensemble.n_samples
    if result.ndim != 2 or len(result) != n or not result.shape[1] or result.dtype.kind != "f":
        problem = _form(membership, result)
    else:
        problem, sums = "", result @ np.ones(result.shape[1], dtype=result.dtype)
        if not (result.min() >= -numbering.NOTHING and np.abs(sums - 1.0).max() <= 1e-6):
            least = result.min(axis=1)
            i = np.argmin((least >= -numbering.NOTHING) & (np.abs(sums - 1.0) <= 1e-6))
            problem = f"a row with sum {sums[i]:g} and minimum {least[i]:g} for object {i}"
    if problem:
        raise ValueError(
            f"{name}._fit_membership must return probabilities that sum to 1 for each of the {n} observed "
            f"objects, a row each. Got {problem} instead."
        )
    return result


def _form(returned: Any, result: NDArray[Any]) -> str:
    """Describe a wrong result: its type, or what its array is."""
    if result.dtype == object:
        return f"{shown(returned)} of type {type(returned).__name__}"
    return f"an array of {result.dtype} of shape {result.shape}"


def _unobserved(codes: NDArray[Any], counted: Bools | None) -> Bools:
    """Return which objects were observed by none of the partitions that count."""
    if counted is not None and not counted.all():
        codes = codes[:, counted]
    return np.asarray((codes == missing_code(codes.dtype)).all(axis=1))


def _column_order(membership: Floats) -> tuple[Ints, Ints]:
    """Return the columns kept, in order, and each object's most probable one in that order."""
    numbers, sets, first = numbering.most_probable(membership)
    nonempty = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(membership))]
    order, leading = numbering.by_first_object(
        sets[nonempty],
        membership.shape[1],
        lambda: (membership.max(axis=0), membership.sum(axis=0)),
    )
    labels: Ints = sets[:, order[:leading]].argmax(axis=1)[numbers]
    return order, labels


def _columns(membership: Floats, clusters: Ints) -> Floats:
    """Return the columns kept, in the memory of the whole array if it is contiguous, as it may be very large.

    Rows that lose anything are scaled to sum to 1.
    """
    (n, k), width = membership.shape, len(clusters)
    result = np.ascontiguousarray(membership)
    if width == k and (clusters == np.arange(k)).all():
        return result
    memory = result.reshape(-1)
    for start in range(0, n, _ROWS_AT_ONCE):
        rows = numbering.of_columns(result[start : start + _ROWS_AT_ONCE], clusters)
        # The rows of the result are narrower, so they are written over rows that have already been read.
        memory[start * width : start * width + rows.size] = rows.reshape(-1)
    return memory[: n * width].reshape(n, width)


def spread(values: NDArray[Any], observed: Bools, fill: float) -> NDArray[Any]:
    """Put the rows of the observed objects back in their places."""
    if len(values) == len(observed):
        return values
    full = np.full((len(observed), *values.shape[1:]), fill, dtype=values.dtype)
    full[observed] = values
    return full


def warn_of_separate_sets(ensemble: Ensemble) -> None:
    """Warn about sets of objects that no partition connects, not even by way of other objects."""
    weighted = ensemble.partition_weights > 0
    if not ensemble.has_missing or (ensemble.missing_counts[weighted] == 0).any():
        return
    set_of = np.full(ensemble.n_samples, -1)
    joined: list[int] = []  # the set with which each set is joined, itself if with none
    for u in np.flatnonzero(weighted):
        present = ensemble.codes[:, u] != missing_code(ensemble.codes.dtype)
        met = np.flatnonzero(np.bincount(set_of[present] + 1)) - 1
        sets = {joined[k] for k in met if k >= 0}
        if not sets:
            sets = {len(joined)}
            joined.append(len(joined))
        first = min(sets)
        joined = [first if k in sets else k for k in joined]
        set_of[present] = first
        if len(set(joined)) == 1 and set_of.min() >= 0:
            return
    known = np.flatnonzero(set_of >= 0)
    sets_of_known = np.asarray(joined)[set_of[known]]
    others = known[sets_of_known != sets_of_known[:1]]
    if len(others):
        warn(
            f"The objects are {len(np.unique(sets_of_known))} sets that no partition connects (object {others[0]} is the "
            "first of another set): the labels do not show which clusters of different sets belong together. Combine "
            "each set by itself, or add partitions that observe objects of several sets.",
            EvidenceWarning,
        )


def given_links(must_link: Any, cannot_link: Any) -> dict[str, Any]:
    """Return the constraints that were given, as arguments of ``fit``."""
    links = {"must_link": must_link, "cannot_link": cannot_link}
    return {name: pairs for name, pairs in links.items() if pairs is not None}
