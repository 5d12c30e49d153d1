"""Consensus of the columns of an AnnData, clusters of its cells by coordinates, of other cells, and stability of an annotation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from conclust import __version__, confidence
from conclust._arrays.rows import cross_counts
from conclust._files.saving import of_bytes, to_bytes
from conclust._types import Floats, Ints
from conclust._validation import check_bool, check_int, check_option, refuse
from conclust.confidence import cluster_confidence, confidences, partition_confidence
from conclust.confidence.objects import company_of_new
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.method import advice_on, class_of, make, method_named
from conclust.ensemble.labels import Missing
from conclust.exceptions import EvidenceWarning, InputError, warn
from conclust.pipeline import ConsensusClustering
from conclust.placing import labels_by_shares
from conclust.sc.columns import (
    account_of,
    categorical,
    check_annotated,
    check_copy,
    check_parent,
    chosen_keys,
    cluster_names,
    cluster_table,
    inherit_colours,
    read_columns,
    write_clusters,
)
from conclust.words.confidence import kept_sentence

__all__ = ["cluster", "consensus", "inconsistency", "predict", "stability"]

By: TypeAlias = Literal["name", "number", "all"]
_VERSION = {"conclust_version": __version__}


def cluster(
    adata: Any,
    use_rep: str = "X_pca",
    *,
    n_clusters: int | Literal["auto"] | None = None,
    calibrate: bool = False,
    key_added: str = "clusters",
    names_from: str | None = None,
    colors_from: str | None = None,
    random_state: int = 0,
    copy: bool = False,
) -> Any:
    """Cluster cells by their coordinates in ``adata.obsm`` with :class:`conclust.ConsensusClustering`.

    Parameters
    ----------
    adata : AnnData or MuData
        The cells. Nothing but their coordinates is read.
    use_rep : str, default="X_pca"
        Name of the coordinates in ``adata.obsm``.
    n_clusters : int or "auto", default=None
        Number of clusters; "auto" uses resampling if no border is found. None: the points determine it.
    calibrate : bool, default=False
        Whether to cluster halves of the cells, to estimate how often the pairs of each cell would hold in a fresh sample
        (:func:`conclust.confidence.calibrated`). It takes about ten times as long.
    key_added : str, default="clusters"
        Name of the result.
    names_from, colors_from : str, default=None
        As in :func:`consensus`.
    random_state : int, default=0
        Seed of the clustering and of the halves.
    copy : bool, default=False
        Whether a copy is written into, and returned; not of data backed by a file.

    Returns
    -------
    AnnData or None
        None; the copy if one was requested. ``obs[key_added]``, ``obs[f"{key_added}_confidence"]``,
        ``obsm[f"{key_added}_membership"]`` and ``uns[key_added]`` are written as by :func:`consensus`, without "columns",
        "objective" and "model"; and if `calibrate` is set:

        ``obs[f"{key_added}_kept"]`` : float64
            The probability that a pair of each cell, together or apart, holds in a fresh sample.
        ``uns[key_added]["kept"]`` : str
            The sentence that sums it up for all cells.

    Raises
    ------
    InputError
        If ``adata.obsm`` has no such coordinates, or they contain numbers that are not finite; with `calibrate`, if there are
        fewer than 32 cells.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import conclust.sc as ccs
    >>> points = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0, 0], [9, 9]], 60, axis=0)
    >>> adata = anndata.AnnData(obsm={"X_pca": points})
    >>> ccs.tl.cluster(adata, calibrate=True)
    >>> adata.obs["clusters"].value_counts().to_dict()
    {'0': 60, '1': 60}
    >>> adata.uns["clusters"]["kept"]
    'All 120 objects would keep nearly all of their pairs, together or apart, in a fresh sample.'
    """
    owner = "sc.tl.cluster"
    check_annotated(adata, owner)
    check_bool(calibrate, "calibrate", owner)
    _check_writing(adata, (), key_added, names_from, colors_from, copy, owner)
    if use_rep not in adata.obsm:
        there = list(adata.obsm) or "none"
        refuse(
            "use_rep",
            owner,
            "the name of coordinates in adata.obsm",
            use_rep,
            f"There are {there}.",
        )
    points = np.asarray(adata.obsm[use_rep])
    seed = check_int(random_state, "random_state", owner, low=0)
    model = ConsensusClustering(n_clusters=n_clusters, random_state=seed).fit(points)
    pairs = confidence.calibrated(model, points, random_state=seed) if calibrate else None
    adata = adata.copy() if copy else adata
    names, sure = cluster_names(adata, model.labels_, names_from), confidences(model)
    held = None if pairs is None else pairs.kept
    write_clusters(adata, key_added, model.labels_, sure, model.membership_, names, held)
    params = {"use_rep": use_rep, **recorded(model)}
    adata.uns[key_added] = {
        "params": params | _VERSION,
        "n_clusters": int(model.n_clusters_),
        "clusters": cluster_table(names, model.labels_, sure, None),
        **account_of(model),
    }
    if pairs is not None:
        adata.uns[key_added]["kept"] = kept_sentence(pairs.kept, adata.obs_names)
    if colors_from is not None:
        inherit_colours(adata, key_added, colors_from)
    return adata if copy else None


def consensus(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    method: Any = None,
    n_clusters: int | None = None,
    weights: ArrayLike | None = None,
    missing: Missing = "unobserved",
    key_added: str = "consensus",
    names_from: str | None = None,
    colors_from: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    """Find the consensus of columns of labels in ``adata.obs``.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns. Nothing else is read, so the data may be backed or in Dask.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels: clusterings at several resolutions, with several seeds,
        by several programs. NaN is missing: a cell that the clustering did not see.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows ("leiden_0.5" before
        "leiden_10"), except those written by conclust.
    method : str or estimator, default=None
        Name of a method (``conclust.methods()`` lists them), or an estimator with its parameters, which is not
        changed. None: :class:`conclust.AutoConsensus`.
    n_clusters : int, default=None
        Number of clusters, or a bound, as the method takes it. None: the estimator's own.
    weights : array-like of shape (n_keys,), default=None
        Weight of each column; a pandas Series with their names is matched by name. None: all equal.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1", which HDBSCAN writes for noise. -2 is always noise.
    key_added : str, default="consensus"
        Name of the result.
    names_from : str, default=None
        A column of ``adata.obs``: each cluster is named after the category with the largest share in it
        (:func:`conclust.metrics.names_from`). None: "0", "1", ...
    colors_from : str, default=None
        A column of ``adata.obs`` that has colours: each cluster has the colour of the category with which it
        shares most cells. If there are colours for all clusters already, they are kept. None: scanpy gives
        colours when it draws.
    random_state : int, default=0
        Seed of the method; used for an estimator only if it has none.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy is written into, and returned; not of data backed by a file.

    Returns
    -------
    AnnData or None
        None; the copy if one was requested. These are written:

        ``obs[key_added]`` : category
            The clusters, "0", "1", ... or named by `names_from`; NaN for cells without a label in any column.
        ``obs[f"{key_added}_confidence"]`` : float64
            Confidence of the cluster of each cell (:func:`conclust.confidence.confidences`).
        ``obsm[f"{key_added}_membership"]`` : float32 of shape (n_cells, n_held)
            For methods with memberships: a column for each cluster, then those that are largest for no cell.
        ``uns[key_added]`` : dict
            "params" (keys, method, its parameters as JSON, conclust_version), "n_clusters", if the method has them "objective",
            "reason" (for the number of clusters), "number_by", "evidence" and "supports", then "model", the bytes of a file for
            ``conclust.load`` with which :func:`predict` places new cells, and two DataFrames. "columns", one row per column:
            "agreement" (normalized mutual
            information with the consensus) and "weight" (share of the weights). "clusters", one row per cluster:
            "cells", "confidence" (mean of its cells), "parts" and "split_by" (into how many parts it is split, and by how many
            columns: :func:`conclust.confidence.cluster_splits`).

    Raises
    ------
    InputError
        If a column does not exist, or holds numbers that are not labels.
    ParameterError
        If there is no such method, or a parameter is out of its range.
    UnsupportedEnsembleError
        If the method does not accept missing labels, and some labels are missing.

    Warns
    -----
    EvidenceWarning
        Most columns split a cluster in the same way; or groups of columns share no cells, for instance if batches were
        clustered separately.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame(
    ...     {
    ...         "leiden_0.5": ["0", "0", "0", "1", "1", "1"],
    ...         "leiden_1.0": ["0", "0", "1", "2", "2", "2"],
    ...         "leiden_2.0": ["1", "1", "1", "0", "0", None],
    ...     },
    ...     index=[f"cell{i}" for i in range(6)],
    ... )
    >>> adata = anndata.AnnData(obs=runs)
    >>> ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=4)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '0', '1', '1', '1']
    >>> adata.uns["consensus"]["columns"].round(2)
                agreement  weight
    leiden_0.5       1.00    0.33
    leiden_1.0       0.83    0.33
    leiden_2.0       1.00    0.33
    """
    import pandas as pd

    owner = "sc.tl.consensus"
    columns = chosen_keys(adata, keys, prefix, owner)
    _check_writing(adata, columns, key_added, names_from, colors_from, copy, owner)
    read = read_columns(adata, columns, missing=missing, owner=owner)
    estimator = estimator_of(method, n_clusters, random_state, n_jobs)
    ensemble = read.named_ensemble(weights)
    params = {"keys": np.array(columns), "missing": missing, **recorded(estimator)}
    if ensemble.weights is not None:
        params["weights"] = np.array(ensemble.weights)
    if names_from is not None:
        params["names_from"] = names_from
    model = estimator.fit(ensemble)
    compared = partition_confidence(model, ensemble)
    sure = confidences(model, ensemble)
    splits = confidence.cluster_splits(model.labels_, ensemble)
    names = cluster_names(adata, model.labels_, names_from)
    agreement = {"agreement": compared.nmi, "weight": compared.weight}
    adata = adata.copy() if copy else adata
    membership = getattr(model, "membership_", None)
    write_clusters(adata, key_added, model.labels_, sure, membership, names)
    adata.uns[key_added] = {
        "params": params | _VERSION,
        "n_clusters": int(model.n_clusters_),
        "columns": pd.DataFrame(agreement, index=list(columns)),
        "clusters": cluster_table(names, model.labels_, sure, splits),
        **account_of(model),
    }
    sentences = splits.told(names, "columns")
    if sentences:
        warn(
            f"{'; '.join(sentences)}. The confidence of cells does not show it: uns[{key_added!r}]['clusters'] has the "
            "counts; pass n_clusters for more clusters.",
            EvidenceWarning,
        )
    by_model = kept(model)
    if by_model is not None:
        adata.uns[key_added]["model"] = by_model
    if colors_from is not None:
        inherit_colours(adata, key_added, colors_from)
    return adata if copy else None


def predict(
    adata: Any,
    reference: Any,
    key: str = "consensus",
    *,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    """Assign cells to the clusters that a consensus found for other cells.

    Parameters
    ----------
    adata : AnnData or MuData
        The new cells, with the same columns of labels as the consensus: the same clusterings, made for these cells by
        classifiers or label transfer. Labels that do not occur in `reference` are noise.
    reference : AnnData or MuData
        The cells of :func:`consensus`, as it left them; clusters may have been given other names since.
    key : str, default="consensus"
        `key_added` of the consensus; the result has the same name.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy of `adata` is written into, and returned; not of data backed by a file.

    Returns
    -------
    AnnData or None
        None; the copy if one was requested. ``obs[key]``, ``obs[f"{key}_confidence"]`` and, of methods with
        memberships that place new objects, ``obsm[f"{key}_membership"]`` are written as by
        :func:`consensus`; colours are those of the reference. ``uns[key]["params"]`` records how cells were
        placed.

    Raises
    ------
    InputError
        If a column is missing, or `reference` is not as :func:`consensus` left it.

    Notes
    -----
    The model is read from ``uns[key]["model"]`` of the reference. If the method has no memberships for new objects, each cell
    goes to the cluster with which it shares the most labels (:func:`conclust.placing.shared_clusterings`), read from
    ``reference.obs``.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> old = pd.DataFrame({"a": list("0011"), "b": list("2211")}, index=list("wxyz"))
    >>> adata = anndata.AnnData(obs=old)
    >>> ccs.tl.consensus(adata, ["a", "b"])
    >>> new = anndata.AnnData(obs=pd.DataFrame({"a": list("01"), "b": list("21")}, index=["u", "v"]))
    >>> ccs.tl.predict(new, adata)
    >>> new.obs["consensus"].tolist()
    ['0', '1']
    """
    owner = "sc.tl.predict"
    check_annotated(adata, owner)
    check_annotated(reference, owner, "reference")
    check_copy(adata, copy, owner)
    stored = reference.uns.get(key)
    if key not in reference.obs.columns or not hasattr(stored, "get") or "params" not in stored:
        raise InputError(
            f"The 'reference' of {owner} has no consensus {key!r}: sc.tl.consensus writes it."
        )
    params = stored["params"]
    if "use_rep" in params:
        raise InputError(
            f"{owner} places cells by columns of labels, and {key!r} of the 'reference' was found from coordinates "
            f"({params['use_rep']!r}): fit conclust.ConsensusClustering to them, whose predict takes coordinates."
        )
    columns = [str(name) for name in np.atleast_1d(params["keys"])]
    missing: Any = str(params["missing"])
    reference_labels = categorical(reference.obs[key])
    if "model" in stored:
        model = of_bytes(stored["model"], f"uns[{key!r}]['model']")
        if n_jobs is not None and "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=n_jobs)
        category_of = category_of_clusters(reference, key, model.n_clusters_)
        new = read_columns(adata, columns, missing=missing, owner=owner)
        labels, sure, membership = place(model, new.named(), category_of)
        way = type(model).__name__
    elif hasattr(class_of(str(params["method"])), "predict_proba"):
        raise InputError(
            f"The 'reference' of {owner} has no model in uns[{key!r}]: it was made by conclust "
            f"{params.get('conclust_version')}. Find the consensus again."
        )
    else:
        read = read_columns(reference, columns, missing=missing, owner=owner)
        new = read_columns(adata, columns, missing=missing, owner=owner, known=read.names)
        codes = reference_labels.codes.astype(np.int64)
        ensemble = read.ensemble(params.get("weights"))
        labels = labels_by_shares(ensemble, codes, new.labels)
        sure, membership = company_of_new(codes, ensemble, new.labels, labels), None
        way = "shared clusterings"
    adata = adata.copy() if copy else adata
    names = [str(name) for name in reference_labels.categories]
    write_clusters(adata, key, labels, sure, membership, names)
    adata.uns[key] = {
        "params": {**params, "placed_by": way, "reference_cells": len(reference.obs)},
        "n_clusters": len(names),
        "clusters": cluster_table(names, labels, sure, None),
    }
    if f"{key}_colors" in reference.uns:
        adata.uns[f"{key}_colors"] = [str(colour) for colour in reference.uns[f"{key}_colors"]]
    return adata if copy else None


def stability(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    groupby: str,
    prefix: str | None = None,
    weights: ArrayLike | None = None,
    missing: Missing = "unobserved",
    key_added: str | None = None,
    max_dense: int = 20_000,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    """Measure the stability of given clusters (an annotation, or one resolution) over columns of labels.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels.
    groupby : str
        Column of ``adata.obs`` to be examined.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, except `groupby` and those written by conclust.
    weights : array-like of shape (n_keys,), default=None
        Weight of each column; a pandas Series with their names is matched by name. None: all equal.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1".
    key_added : str, default=None
        Name of the result. None: ``f"{groupby}_stability"``.
    max_dense : int, default=20000
        If labels are missing, up to this many cells are compared pair by pair; see
        :func:`conclust.confidence.item_consensus`.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy is written into, and returned; not of data backed by a file.

    Returns
    -------
    AnnData or None
        None; the copy if one was requested. These are written:

        ``uns[key_added]["table"]`` : DataFrame
            A row for each category: its "cells"; "consensus", how often two of them have the same label;
            "jaccard", its recovery by the columns (below 0.6 the cluster is unreliable);
            "confidence", the mean of its cells. Beside it "params".
        ``obs[key_added]`` : float64
            For each cell the share of its category among the cells that the columns put together with it.

    Raises
    ------
    InputError
        If a column does not exist, or holds numbers that are not labels.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame(
    ...     {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 0, 1, 0], "type": list("TTBB")}, index=list("wxyz")
    ... )
    >>> adata = anndata.AnnData(obs=runs)
    >>> ccs.tl.stability(adata, ["a", "b", "c"], groupby="type")
    >>> adata.uns["type_stability"]["table"].round(2)
       cells  consensus  jaccard  confidence
    B      2       0.67     0.83        0.89
    T      2       1.00     0.89        0.89
    """
    import pandas as pd

    owner = "sc.tl.stability"
    columns = chosen_keys(adata, keys, prefix, owner)
    chosen_keys(adata, groupby, None, owner, parameter="groupby")
    if prefix is not None:
        columns = tuple(name for name in columns if name != groupby)
    added = f"{groupby}_stability" if key_added is None else key_added
    _check_key(added, (*columns, groupby), owner)
    check_copy(adata, copy, owner)
    check_int(max_dense, "max_dense", owner)
    read = read_columns(adata, columns, missing=missing, owner=owner)
    ensemble = read.ensemble(weights)
    judged = read_columns(adata, [groupby], missing="unobserved", owner=owner)
    labels = judged.labels[:, 0]
    sure = cluster_confidence(labels, ensemble, max_dense=max_dense, n_jobs=n_jobs)
    adata = adata.copy() if copy else adata
    # Clusters are numbered by first appearance there; categories without cells are dropped.
    assigned = labels[labels >= 0]
    first = np.unique(assigned, return_index=True)[1]
    names = [judged.names[0][label] for label in assigned[np.sort(first)]]
    table = pd.DataFrame(
        {
            "cells": sure.sizes,
            "consensus": sure.consensus,
            "jaccard": sure.jaccard,
            "confidence": sure.confidence,
        },
        index=names,
    )
    existing = set(names)
    adata.obs[added] = confidences(labels, ensemble)
    params = {"keys": np.array(columns), "groupby": groupby, "missing": missing}
    rows = [name for name in judged.names[0] if name in existing]
    adata.uns[added] = {"params": params | _VERSION, "table": table.loc[rows]}
    return adata if copy else None


def inconsistency(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    by: By = "name",
    missing: Missing = "unobserved",
    key_added: str = "inconsistency",
    copy: bool = False,
) -> Any:
    """Measure how much clusterings of one resolution differ between seeds: the inconsistency coefficient of scICE.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels: several seeds of each resolution.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows, except those written by conclust.
    by : {"name", "number", "all"}, default="name"
        Groups of columns. "name": those whose names are the same before the last underscore
        ("leiden_0.50_3" belongs to "leiden_0.50"). "number": those with the same number of clusters, as in scICE.
        "all": all.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1".
    key_added : str, default="inconsistency"
        Name of the result.
    copy : bool, default=False
        Whether a copy is written into, and returned; not of data backed by a file.

    Returns
    -------
    AnnData or None
        None; the copy if one was requested. ``uns[key_added]`` has "params" and "table", a DataFrame with a row
        for each group: "columns", their number; "different", the number of different ones; "clusters", the median
        number of clusters; "ic", 1 if all are equal, and larger if they differ more; "typical", the column most
        similar to the others.

    Raises
    ------
    InputError
        If a column does not exist, or holds numbers that are not labels.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    conclust.confidence.inconsistency : The coefficient of any ensemble.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame(
    ...     {"leiden_1_0": [0, 0, 1, 1], "leiden_1_1": [1, 1, 0, 0], "leiden_2_0": [0, 0, 1, 2], "leiden_2_1": [0, 1, 2, 2]},
    ...     index=list("wxyz"),
    ... )
    >>> adata = anndata.AnnData(obs=runs)
    >>> ccs.tl.inconsistency(adata, prefix="leiden_")
    >>> adata.uns["inconsistency"]["table"][["columns", "different", "ic"]].round(3)
              columns  different     ic
    leiden_1        2          1  1.000
    leiden_2        2          2  1.333
    """
    import pandas as pd

    owner = "sc.tl.inconsistency"
    columns = chosen_keys(adata, keys, prefix, owner)
    check_option(by, "by", owner, By)
    check_copy(adata, copy, owner)
    ensemble = read_columns(adata, columns, missing=missing, owner=owner).ensemble(None)
    numbers = ensemble.cluster_counts
    if by == "name":
        groups = [name.rpartition("_")[0] or name for name in columns]
    else:
        groups = [str(number) if by == "number" else "all" for number in numbers]
    rows = {}
    for group in dict.fromkeys(groups):
        of = np.array([u for u, name in enumerate(groups) if name == group])
        of_group = confidence.inconsistency(ensemble.subset(partitions=of))
        rows[group] = {
            "columns": len(of),
            "different": of_group.n_different,
            "clusters": float(np.median(numbers[of])),
            "ic": of_group.coefficient,
            "typical": columns[of[of_group.typical]],
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    adata = adata.copy() if copy else adata
    params = {"keys": np.array(columns), "by": by, "missing": missing}
    adata.uns[key_added] = {"params": params | _VERSION, "table": table}
    return adata if copy else None


def _check_writing(
    adata: Any,
    columns: Sequence[str],
    key_added: Any,
    names_from: str | None,
    colors_from: str | None,
    copy: Any,
    owner: str,
) -> None:
    """Refuse results that could not be written, before the fit."""
    _check_key(key_added, columns, owner)
    check_copy(adata, copy, owner)
    if names_from is not None:
        chosen_keys(adata, names_from, None, owner, parameter="names_from")
    if colors_from is not None:
        check_parent(adata, colors_from, owner)
        chosen_keys(adata, colors_from, None, owner, parameter="colors_from")


def _check_key(key: Any, taken: Sequence[str], owner: str) -> None:
    """Refuse an invalid key, or one that is an input column."""
    if not isinstance(key, str) or not key or key in taken:
        refuse("key_added", owner, f"a name{f' other than {list(taken)}' if taken else ''}", key)


_OWNER = "sc.tl.consensus"
# Parameters that do not change results.
_RUNNING = ("n_jobs", "verbose")


def estimator_of(method: Any, n_clusters: int | None, random_state: int, n_jobs: int | None) -> Any:
    """Return the estimator of a method, with those of the given parameters that it has."""
    seed = check_int(random_state, "random_state", _OWNER, low=0)
    own = isinstance(method, ConsensusClusterer)
    estimator = clone(method) if own else make(_class_name(method))
    has = estimator.get_params(deep=False)
    if n_clusters is not None and "n_clusters" not in has:
        name = type(estimator).__name__
        refuse("n_clusters", _OWNER, "None", n_clusters, f"{name} finds the number by itself.")
    given = {"n_clusters": n_clusters, "n_jobs": n_jobs}
    given["random_state"] = seed if has.get("random_state") is None else None
    used = {name: value for name, value in given.items() if name in has and value is not None}
    return estimator.set_params(**used)


def _class_name(method: Any) -> str:
    if method is None:
        return "AutoConsensus"
    known_method = method_named(method) if isinstance(method, str) else None
    if known_method is None:
        advice = advice_on(method) if isinstance(method, str) else ""
        refuse("method", _OWNER, "the name of a method, an estimator or None", method, advice)
    return known_method.estimator


def recorded(estimator: Any) -> dict[str, str]:
    """Return an estimator as text that every file format can store: its class, and its parameters as JSON."""
    name = type(estimator).__name__
    has = estimator.get_params(deep=False)
    values = {key: value for key, value in has.items() if key not in _RUNNING}
    try:
        text = json.dumps(values, sort_keys=True, default=_plain)
    except TypeError as error:
        raise InputError(
            f"{_OWNER} keeps the parameters of {name} in adata.uns, as numbers and words, and {error}. Fit "
            f"{name} to conclust.sc.get.ensemble(adata, ...) instead."
        ) from error
    return {"method": name, "method_params": text}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is neither")


# Attributes with rows of cells, which adata has in obs and obsm, or which place no new cell.
_OF_CELLS = ("labels_", "membership_", "linkage_matrix_", "tree_objects_")
# Memberships are kept as float32.
_ALIKE = 1e-6


def kept(model: Any) -> NDArray[np.uint8] | None:
    """Return a fitted method without its cells, in the form of a file; None if it does not place new cells."""
    if not hasattr(model, "predict_proba"):
        return None
    light = copy(model)
    for name in _OF_CELLS:
        if hasattr(model, name):
            setattr(light, name, getattr(model, name)[:0])
    return to_bytes(light)


def place(model: Any, new: NDArray[Any], category_of: Ints) -> tuple[Ints, Floats, Floats]:
    """Return the categories of new cells (-1: no information), their confidence and memberships by a fitted method.

    `category_of` has the category of each of its clusters.
    """
    labels = model.predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predict has just warned of the same
        membership = model.predict_proba(new)
    sure = np.where(labels < 0, np.nan, membership.max(axis=1))
    return np.where(labels < 0, -1, category_of[labels]), sure, membership


def category_of_clusters(reference: Any, key: str, n_clusters: int) -> Ints:
    """Return the category of each cluster of a consensus, of those that its column has now.

    Raises
    ------
    InputError
        If the column does not follow the memberships: it was changed by hand.
    """
    column, rows = categorical(reference.obs[key]), held_membership(reference, key)
    if rows is not None and rows.shape[1] >= n_clusters:
        category_of = category_of_columns(rows, column)
        placed = np.flatnonzero(column.codes >= 0)
        own = np.where(category_of == column.codes[placed, None], rows[placed], 0.0).max(axis=1)
        follows = own >= rows[placed].max(axis=1) - _ALIKE
        if (category_of[:n_clusters] >= 0).all() and follows.all():
            return category_of
    raise InputError(
        f"obs[{key!r}] of the reference are not the clusters whose memberships are in obsm['{key}_membership']: cells or "
        "columns were changed since. Find the consensus again."
    )


def held_membership(adata: Any, key: str) -> Floats | None:
    """Return the memberships of a consensus with rows that sum to 1, or None if it has none."""
    held = f"{key}_membership"
    if held not in adata.obsm:
        return None
    rows: Floats = np.array(adata.obsm[held], dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)  # float32 values, whose sums are 1 only nearly
    return rows


def category_of_columns(rows: Floats, column: Any) -> Ints:
    """Return the category of each column of the memberships, -1 for a column that is largest for no cell.

    Categories may have been renamed, reordered or merged since the consensus was found, so their order may differ from
    the columns. A column belongs to the category of most of the cells for which it is largest.

    Parameters
    ----------
    rows : ndarray of shape (n_cells, n_held)
        The memberships.
    column : pandas.Categorical
        The clusters of the cells.
    """
    shape = rows.shape[1], max(1, len(column.categories))
    table = cross_counts(rows.argmax(axis=1), column.codes, shape)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def __dir__() -> list[str]:
    return __all__
