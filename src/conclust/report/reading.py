"""Reads results for a report: a fitted model, a selection, labels with their ensemble, or a folder."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._arrays.containers import column_names, is_missing, refuse_container
from conclust._files.versions import versions
from conclust._types import Floats
from conclust.confidence import (
    BorderTests,
    ConsensusTree,
    cluster_categories,
    cluster_features,
    cluster_gaps,
)
from conclust.confidence.calibration import usual_chance
from conclust.confidence.reading import read_consensus, read_features
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.constraints import Constraints
from conclust.consensus.method import Method
from conclust.ensemble import Ensemble
from conclust.exceptions import InputError
from conclust.generation.scaling import fitted_scaler
from conclust.networks import GraphConsensus
from conclust.results.features import MOST_GAPS, Features
from conclust.results.folder import load
from conclust.results.record import Record, figures_of
from conclust.results.result import Reported
from conclust.selection import Selection, choose, choose_from
from conclust.topics import TopicConsensus
from conclust.words.names import read_cluster_names, read_names
from conclust.words.names import shown as displayed


def read_result(
    result: Any,
    *,
    ensemble: Ensemble | ArrayLike | None = None,
    X: ArrayLike | None = None,
    selection: Selection | None = None,
    borders: BorderTests | None = None,
    tree: ConsensusTree | None = None,
    names: Sequence[Any] | None = None,
    feature_names: Sequence[Any] | None = None,
    cluster_names: Sequence[str] | None = None,
) -> Reported:
    """Read the result that a report is to be about; see `conclust.report.write` for the parameters.

    Parameters
    ----------
    result, ensemble, X, selection, borders, tree, names, feature_names, cluster_names : object
        See there. The result may also be a Reported.

    Returns
    -------
    Reported
        The result in one form, whatever its source.

    Raises
    ------
    InputError
        If it cannot be reported, or parts of it belong to other objects.
    """
    before = None
    # A pipeline exists only where its module is loaded, which takes a fifth of a report's time.
    pipelines = sys.modules.get("sklearn.pipeline")
    if pipelines is not None and isinstance(result, pipelines.Pipeline):
        check_is_fitted(result)
        before = result[:-1] if len(result) > 1 else None
        result = result[-1]
    if isinstance(result, str | os.PathLike):
        if any(part is not None for part in (ensemble, selection, borders, tree)):
            raise InputError(
                "A result folder brings its own ensemble, selection and borders. Leave 'ensemble', 'selection', "
                "'borders' and 'tree' out."
            )
        reported = load(result)
    elif isinstance(result, Selection):
        reported = _of_selection(result)
    elif isinstance(result, Reported):
        reported = result if selection is None else replace(result, selection=selection)
    else:
        reported = _of_consensus(result, ensemble)
        chosen = getattr(result, "selection_", None) if selection is None else selection
        reported = replace(reported, selection=chosen)
    _check_selection(reported)
    if borders is not None or tree is not None:
        reported = replace(reported, borders=_borders_of(reported, borders, tree), border_tree=tree)
    if X is not None:
        reported = _with_points(reported, X, feature_names, result, before)
    words = reported.cluster_names
    if cluster_names is not None:
        words = read_cluster_names(cluster_names, reported.n_clusters)
    if words is not None:
        reported = replace(reported, cluster_names=tuple(map(displayed, words)))
    return _named(reported, names if names is not None else _index_of(X))


def _of_selection(selection: Selection) -> Reported:
    labels, K = selection.labels_, selection.n_clusters
    record = Record(
        settings={"selection": selection.settings},
        versions=versions(),
        call=_call_of(selection),
        features=selection.settings.get("n_features"),
    )
    if K == 1:
        return Reported(labels, record, selection=selection)
    judged = read_consensus(labels, selection.ensembles[K], "report")
    tree = selection.trees[K]
    return Reported(judged.labels, record, judged, selection, tree=tree if len(tree) else None)


# Settings that are also shown if they are None.
_SHOWN_IF_NONE = ("null", "scale")
# Settings that are stored as text where they are not plain values.
_SHOWN_AS_STORED = ("clusterer", "random_state")


def _call_of(selection: Selection) -> str:
    """Return the call of `choose`, with arguments that differ from the defaults and the seed."""
    settings = selection.settings
    points = "n_resamples" in settings
    call: Any = choose if points else choose_from
    default = inspect.signature(call).parameters
    given_arguments = {name: settings[name] for name in default if name in settings}
    if not settings.get("reduced"):
        given_arguments.pop("n_components", None)
    arguments = [
        f"{name}={value if name in _SHOWN_AS_STORED else repr(value)}"
        for name, value in given_arguments.items()
        if value != default[name].default and (value is not None or name in _SHOWN_IF_NONE)
    ]
    what = f"X, {selection.k.tolist()}" if points else "ensembles"
    if settings.get("one_ensemble"):
        what = f"ensemble, {selection.k.tolist()}"
    return f"conclust.selection.{call.__name__}({', '.join([what, *arguments])})"


def _of_consensus(result: Any, ensemble: Any) -> Reported:
    model = result if hasattr(result, "fit") else None
    if model is None:
        refuse_container(result, "The result of a report")
    if model is not None:
        check_is_fitted(model)
        if not hasattr(model, "labels_"):
            raise InputError(
                "A report is of a fitted ConsensusClustering, a consensus method with its ensemble, a "
                f"Selection, labels with their ensemble or a result folder. Got {type(model).__name__}."
            )
    inner = getattr(model, "consensus_", model)
    if isinstance(inner, ConsensusClusterer):
        judged = read_consensus(model, ensemble, "report")
    else:  # labels may be any numbers: clusters are renumbered by first appearance
        members = ensemble if ensemble is not None else getattr(model, "ensemble_", None)
        judged = read_consensus(getattr(model, "labels_", result), members, "report")
    if model is None:
        return Reported(judged.labels, Record(versions=versions()), judged)
    sure = usual_chance(inner, judged.members)
    requested = [getattr(part, "n_clusters", None) for part in (model, inner)]
    requested_number = next((k for k in requested if isinstance(k, int | np.integer)), None)
    if requested[0] == "auto":  # passed to the consensus by the selection
        requested_number = None
    fitted = fitted_to(model)
    arguments = [fitted, *(f"{name}={name}" for name in further_arguments(model))]
    record = Record(
        method=method_of(inner),
        features=None if fitted == "labels" else getattr(model, "n_features_in_", None),
        asked_for=None if requested_number is None else int(requested_number),
        call=f"{model!r}.fit({', '.join(arguments)})",
        settings=_settings_of(model),
        **figures_of(inner, getattr(model, "reason_parts", None)),
        by_chance=None if sure is None else float(sure.by_chance.mean()),
        versions=versions(),
        warnings=tuple(getattr(model, "doubts_", ())),
    )
    tree, calibration = (
        getattr(inner, "linkage_matrix_", None),
        getattr(model, "calibration_", None),
    )
    kept = None if calibration is None else calibration.kept
    return Reported(judged.labels, record, judged, model=inner, tree=tree, kept=kept)


def _settings_of(model: Any) -> dict[str, Any]:
    """Return the class and the parameters of an estimator, with its parts' parameters nested."""
    settings: dict[str, Any] = {"class": type(model).__name__}
    for name, value in model.get_params(deep=False).items():
        estimator = hasattr(value, "get_params") and not isinstance(value, type)
        settings[name] = _settings_of(value) if estimator else value
    for part in ("generator_", "consensus_"):
        if hasattr(getattr(model, part, None), "get_params"):
            settings[part] = _settings_of(getattr(model, part))
    return settings


def _check_selection(reported: Reported) -> None:
    if reported.selection is None:
        return
    if not isinstance(reported.selection, Selection):
        raise InputError(
            "'selection' must be a Selection, as of conclust.selection.choose. Got "
            f"{type(reported.selection).__name__}."
        )
    theirs = {len(labels) for labels in reported.selection.labels.values()}
    if theirs and theirs != {reported.n_samples}:
        raise InputError(
            f"The selection must be of the same objects. Got one of {max(theirs)} objects and a result of "
            f"{reported.n_samples}."
        )


def _borders_of(reported: Reported, tests: Any, tree: Any) -> BorderTests:
    """Return the tested borders, by the numbers of the clusters; refuse those of other clusters."""
    if not isinstance(tests, BorderTests):
        raise InputError(
            "'borders' must be the BorderTests of these clusters, as of conclust.confidence.border_tests; 'tree' goes with "
            f"them. Got {type(tests).__name__}."
        )
    if not (tree is None or isinstance(tree, ConsensusTree)):
        raise InputError(
            "'tree' must be a ConsensusTree, as of conclust.confidence.consensus_tree. "
            f"Got {type(tree).__name__}."
        )
    if not np.array_equal(np.maximum(tests.labels, -1), np.maximum(reported.labels, -1)):
        raise InputError(
            "'borders' must be of the clusters that are reported. Got tests of other labels."
        )
    if tree is not None and len(tree.leaves) != reported.n_samples:
        raise InputError(
            f"'tree' must be of the {reported.n_samples} objects that are reported. Got one of {len(tree.leaves)}."
        )
    return replace(tests, names=tuple(range(tests.n_clusters)))


def _scaled(points: Floats, names: Sequence[str], reported: Reported, result: Any) -> Floats:
    """Return the points as they were clustered: in the scale of the generator or of the selection."""
    generated: Any = getattr(result, "generator_", None)
    scaler = getattr(generated, "scaler_", None)
    fitted_names = [str(name) for name in getattr(generated, "feature_names_in_", ())]
    if fitted_names != list(names) and sorted(fitted_names) == sorted(names):
        points = points[:, [list(names).index(name) for name in fitted_names]]
    if scaler is not None:
        if points.shape[1] != scaler.n_features_in_:
            raise InputError(
                f"'X' must have the {scaler.n_features_in_} features that the model was fitted to. Got "
                f"{points.shape[1]}."
            )
        return np.asarray(scaler.transform(points))
    if reported.record.method is not None or reported.selection is None:
        return points
    scaler = fitted_scaler(reported.selection.settings.get("scale"), [points])
    return points if scaler is None else np.asarray(scaler.transform(points))


def _with_points(
    reported: Reported, X: ArrayLike, feature_names: Sequence[Any] | None, result: Any, before: Any
) -> Reported:
    """Add the points, their features by cluster, and the gaps between clusters.

    Parameters
    ----------
    reported : Reported
        Result without points.
    X : array-like of shape (n_samples, n_columns)
        The points, as given by the user.
    feature_names : sequence or None
        Names of the features.
    result : object
        Result to report.
    before : Pipeline or None
        Steps of a pipeline before the model, which transform X into the data of its fit.
    """
    read = read_points(X, reported.n_samples, feature_names)
    points, d = read.X, read.X.shape[1]
    clustered: Any = points if before is None else before.transform(X)
    scaled = None
    if isinstance(clustered, np.ndarray) and np.isfinite(clustered).all():
        named = read.names if before is None else ()
        scaled = _scaled(np.asarray(clustered, dtype=np.float64), named, reported, result)
    source = replace(reported.record.source, columns=tuple(read.names))
    record = replace(reported.record, features=d, source=source)
    reported = replace(reported, points=scaled, record=record)
    if reported.n_clusters == 1:
        return reported
    categories = None
    if read.categories is not None:
        categories = cluster_categories(read.categories, reported.labels)
    features = Features(
        read.names, cluster_features(points, reported.labels), read.category_names, categories
    )
    gaps = None
    if scaled is not None and reported.n_clusters <= MOST_GAPS:
        gaps = cluster_gaps(scaled, reported.labels, random_state=0)
    return replace(reported, features=features, gaps=gaps)


def _index_of(X: Any) -> Sequence[Any] | None:
    """Return the names of the rows of a pandas frame, unless they are their numbers."""
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    index: NDArray[Any] = np.asarray(X.index)
    if index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index))):
        return None
    return [str(name) for name in index]


def _named(reported: Reported, names: Sequence[Any] | None) -> Reported:
    if names is None:
        return reported
    expected = f"'names' must be a name for each of the {reported.n_samples} objects."
    return replace(reported, names=list(read_names(names, reported.n_samples, expected)))


_LEIDEN = "Traag, Waltman and van Eck 2019, Scientific Reports 9"
_SHARES = {"ecg": "Poulin and Théberge 2018, Complex Networks"}
_FAST = "Tabatabaee, Wedell, Park and Warnow 2025, PLOS Complex Systems 2"
_SPLIT = "Peixoto 2017, Physical Review E 95"
_LINKAGE = "Fred and Jain 2005, IEEE TPAMI 27"
_HDBSCAN = "Campello, Moulavi and Sander 2013, PAKDD"


def fitted_to(model: Any) -> str:
    """Return the argument of ``fit`` in a line that repeats the fit."""
    if isinstance(model, ConsensusClusterer):
        return "labels"
    if isinstance(model, GraphConsensus):
        return "network"
    return "embeddings" if isinstance(model, TopicConsensus) else "X"


def further_arguments(model: Any) -> tuple[str, ...]:
    """Return the names of what ``fit`` was given besides its first argument."""
    inner = getattr(model, "consensus_", model)
    constraints: Constraints | None = getattr(inner, "_constraints", None)
    given = {
        "ensemble": bool(getattr(model, "_given_runs", False)),
        "partitions": hasattr(model, "_n_made") and model.ensemble_.n_partitions > model._n_made,
        "must_link": constraints is not None and constraints.n_groups < len(constraints.groups),
        "cannot_link": constraints is not None and len(constraints.apart) > 0,
    }
    return tuple(name for name, is_given in given.items() if is_given)


def method_of(model: Any) -> Method | None:
    """Return the method of an estimator, including a user's subclass; None for other objects."""
    if isinstance(model, ConsensusClusterer):
        return replace(model.method, estimator=type(model).__name__)
    if isinstance(model, GraphConsensus):
        papers = [_SHARES.get(model.kind, _FAST), _LEIDEN]
        by_default = (
            model.quality == "modularity" and model.resolution in (None, 1.0) and model.recluster
        )
        if by_default if model.split is None else model.split:
            papers.append(_SPLIT)
        return _described(model, "consensus of communities on the edges of a network", papers)
    if isinstance(model, TopicConsensus):
        clusterer = model.clusterer
        by_density = clusterer is None or type(clusterer).__name__ == "HDBSCAN"
        papers = [_LINKAGE, _HDBSCAN] if by_density else [_LINKAGE]
        return _described(model, "average linkage of clusterings with noise", papers)
    return None


def _described(model: Any, title: str, papers: list[str]) -> Method:
    return Method(
        title=title,
        n_clusters="emerges",
        membership=False,
        soft_members=False,
        cost="",
        citation="; ".join(papers),
        estimator=type(model).__name__,
    )


_NAMING = 0.9  # share of different values from which a column of text names the objects


@dataclass(frozen=True)
class ReportedPoints:
    """Points, with text columns separate.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The numbers, NaN for empty cells.
    names : tuple of str
        Names of the features.
    categories : ndarray of object of shape (n_samples, n_categories) or None
        None: there is no such column.
    category_names : tuple of str
        Names of these columns.
    """

    X: Floats
    names: tuple[str, ...]
    categories: NDArray[np.object_] | None = None
    category_names: tuple[str, ...] = ()


def read_points(X: ArrayLike, n: int, feature_names: Sequence[Any] | None) -> ReportedPoints:
    """Read points; in a frame, text columns are categories unless they name the objects.

    Raises
    ------
    InputError
        If they are not numbers, not for n objects, or the names do not fit.
    """
    if hasattr(X, "columns") and getattr(X, "ndim", 2) == 2:
        return _of_frame(X, n, feature_names)
    points = np.asarray(read_features(X, n, rows="objects", empty_cells=True), dtype=np.float64)
    names = _column_named(points.shape[1], range(points.shape[1]), feature_names)
    return ReportedPoints(points, names)


def _of_frame(X: Any, n: int, feature_names: Sequence[Any] | None) -> ReportedPoints:
    columns = [_column(X, j) for j in range(len(X.columns))]
    numeric = [j for j, values in enumerate(columns) if values.dtype.kind in "biuf"]
    if not numeric:
        raise InputError(
            f"'X' must have a column of numbers. Got a frame of {len(columns)} columns without one."
        )
    words = [j for j, v in enumerate(columns) if v.dtype.kind == "O" and not _names_objects(v)]
    points = np.column_stack([columns[j].astype(np.float64) for j in numeric])
    points = np.asarray(read_features(points, n, rows="objects", empty_cells=True))
    titles = list(map(str, column_names(X)))
    return ReportedPoints(
        points,
        _column_named(len(numeric), [titles[j] for j in numeric], feature_names),
        np.column_stack([columns[j] for j in words]) if words else None,
        tuple(titles[j] for j in words),
    )


def _column(X: Any, j: int) -> NDArray[Any]:
    """Return a column as numbers (NaN if empty), as objects, or unchanged (times)."""
    of_arrow = hasattr(type(X), "column_names")
    column = X.iloc[:, j] if hasattr(X, "iloc") else X.column(j) if of_arrow else X[:, j]
    values: NDArray[Any] = np.asarray(column)
    if values.dtype.kind in "SUT":
        values = values.astype(object)
    if values.dtype.kind != "O":
        return values
    empty = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    if not empty.all() and all(isinstance(v, Real) for v in values[~empty].tolist()):
        # Nullable numbers: their empty cells are objects.
        return np.where(empty, np.nan, values).astype(np.float64)
    return values


def _names_objects(values: NDArray[np.object_]) -> bool:
    """Return whether nearly every object has a different value, or all are empty."""
    texts = [str(value) for value in values.tolist() if not is_missing(value)]
    return not texts or len(set(texts)) >= _NAMING * len(texts)


def _column_named(d: int, default: Any, feature_names: Sequence[Any] | None) -> tuple[str, ...]:
    titles = default if feature_names is None else feature_names
    if isinstance(titles, Iterable) and all(isinstance(title, int) for title in titles):
        titles = [f"column {title}" for title in titles]
    return read_names(titles, d, f"'feature_names' must be a name for each of the {d} features.")
