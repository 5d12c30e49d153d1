"""Consensus of the columns of an AnnData, its clusters for other cells, and how stable an annotation is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conclust import __version__
from conclust._labels import Missing
from conclust._validation import check_bool, check_int, refuse
from conclust.confidence import cluster_confidence, confidences, partition_confidence
from conclust.exceptions import InputError
from conclust.sc.columns import categorical, check_annotated, chosen_keys, read_columns
from conclust.sc.methods import estimator_of, recorded, remade
from conclust.sc.placed import place
from conclust.sc.writing import check_parent, cluster_names, inherit_colours, write_clusters

__all__ = ["consensus", "predict", "stability"]


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
        What has the columns. Nothing else of it is read: the data may be backed or lie in Dask.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels: clusterings at several resolutions, with several seeds,
        by several programs. NaN is missing: a cell that the clustering did not see.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows ("leiden_0.5" before
        "leiden_10").
    method : str or estimator, default=None
        The name of a method (``conclust.methods()`` lists them), or an estimator with the parameters that it is
        to have; it is not changed. None: :class:`conclust.AutoConsensus`.
    n_clusters : int, default=None
        Number of clusters, or a bound, as the method takes it. None: the estimator's own.
    weights : array-like of shape (n_keys,), default=None
        Weight of each column. None: all count alike.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 and the category "-1" mean, which HDBSCAN writes for noise. -2 is always noise.
    key_added : str, default="consensus"
        What the result is called.
    names_from : str, default=None
        A column of ``adata.obs``: each cluster has the name of the category with the largest share in it
        (:func:`conclust.metrics.names_from`). None: "0", "1", ...
    colors_from : str, default=None
        A column of ``adata.obs`` that has colours: each cluster has the colour of the category with which it
        shares most cells. Clusters that have colours already keep them. None: scanpy gives colours when it
        draws.
    random_state : int, default=0
        Seed of the method; of an estimator only where it has none.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy is written into, and returned.

    Returns
    -------
    AnnData or None
        None; the copy where one was asked for. These are written:

        ``obs[key_added]`` : category
            The clusters, "0", "1", ... or as `names_from` has it; NaN for cells that no column has a label for.
        ``obs[f"{key_added}_confidence"]`` : float64
            How sure the cluster of each cell is (:func:`conclust.confidence.confidences`).
        ``obsm[f"{key_added}_membership"]`` : float32 of shape (n_cells, n_held)
            Of methods with memberships: a column for each cluster, then those that are nobody's first.
        ``uns[key_added]`` : dict
            "params" (keys, method, its parameters as JSON, conclust_version), "n_clusters", "sizes",
            "agreement" and "weights" (of each column: normalized mutual information with the consensus, share
            of the weights), "objective" where the method has one.

    Raises
    ------
    InputError
        If a column is not there, or holds numbers that are no labels.
    ParameterError
        If there is no such method, or a parameter is out of its range.
    UnsupportedEnsembleError
        If the method takes no missing labels, and some are.

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
    >>> adata.uns["consensus"]["agreement"].round(2)
    array([1.  , 0.83, 1.  ])
    """
    owner = "sc.tl.consensus"
    columns = chosen_keys(adata, keys, prefix, owner)
    _check_key(key_added, columns, owner)
    check_bool(copy, "copy", owner)
    if names_from is not None:
        chosen_keys(adata, names_from, None, owner)
    if colors_from is not None:
        check_parent(adata, colors_from, owner)
    read = read_columns(adata, columns, missing=missing, owner=owner)
    estimator = estimator_of(method, n_clusters, random_state, n_jobs)
    ensemble = read.ensemble(weights)
    params = {
        "keys": np.array(columns),
        "missing": missing,
        **recorded(estimator),
        "conclust_version": __version__,
    }
    if ensemble.weights is not None:
        params["weights"] = np.array(ensemble.weights)
    model = estimator.fit(ensemble)
    compared = partition_confidence(model, ensemble)
    adata = adata.copy() if copy else adata
    write_clusters(
        adata,
        key_added,
        model.labels_,
        confidences(model, ensemble),
        getattr(model, "membership_", None),
        cluster_names(adata, model.labels_, names_from),
    )
    adata.uns[key_added] = {
        "params": params,
        "n_clusters": int(model.n_clusters_),
        "sizes": np.bincount(model.labels_[model.labels_ >= 0], minlength=model.n_clusters_),
        "agreement": compared.nmi,
        "weights": compared.weight,
    }
    if hasattr(model, "objective_"):
        adata.uns[key_added]["objective"] = float(model.objective_)
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
    """Put cells into the clusters that a consensus found for other cells.

    Parameters
    ----------
    adata : AnnData or MuData
        The new cells, with the columns of labels that the consensus was found of: the same clusterings, made
        for these cells by classifiers or label transfer. Labels that are not there in `reference` are noise.
    reference : AnnData or MuData
        The cells of :func:`consensus`, as it left them; clusters may have been given other names since.
    key : str, default="consensus"
        What its `key_added` was; the result has the same name.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy of `adata` is written into, and returned.

    Returns
    -------
    AnnData or None
        None; the copy where one was asked for. ``obs[key]``, ``obs[f"{key}_confidence"]`` and, of methods with
        memberships that place new objects, ``obsm[f"{key}_membership"]`` are written as by
        :func:`consensus`; colours are those of the reference. ``uns[key]["params"]`` says how cells were
        placed.

    Raises
    ------
    InputError
        If a column is missing, or `reference` is not as :func:`consensus` left it.

    Notes
    -----
    No fitted model is kept in an AnnData: a method with ``predict`` is fitted again, with the same seed and thus to
    the same bits, which is checked. By any other method each cell goes to the cluster with which it shares the
    most labels (:func:`conclust.placing.shared_clusterings`).

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
    check_bool(copy, "copy", owner)
    stored = reference.uns.get(key)
    if key not in reference.obs.columns or not hasattr(stored, "get") or "params" not in stored:
        raise InputError(
            f"The 'reference' of {owner} has no consensus {key!r}: sc.tl.consensus writes it."
        )
    params = stored["params"]
    columns = [str(name) for name in np.atleast_1d(params["keys"])]
    missing: Any = str(params["missing"])
    read = read_columns(reference, columns, missing=missing, owner=owner)
    new = read_columns(adata, columns, missing=missing, owner=owner, known=read.names)
    ensemble = read.ensemble(params.get("weights"))
    found = categorical(reference.obs[key])
    placed = place(
        remade(params, n_jobs, owner), ensemble, found.codes.astype(np.int64), new.labels, key
    )
    adata = adata.copy() if copy else adata
    names = [str(name) for name in found.categories]
    write_clusters(adata, key, placed.labels, placed.confidence, placed.membership, names)
    adata.uns[key] = {
        "params": {**params, "placed_by": placed.way, "reference_cells": int(ensemble.n_samples)},
        "n_clusters": len(names),
        "sizes": np.bincount(placed.labels[placed.labels >= 0], minlength=len(names)),
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
    """Say how stable given clusters are over columns of labels: an annotation, one resolution.

    Parameters
    ----------
    adata : AnnData or MuData
        What has the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels.
    groupby : str
        The column of ``adata.obs`` that is judged.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so. `groupby` is left out of them.
    weights : array-like of shape (n_keys,), default=None
        Weight of each column. None: all count alike.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 and the category "-1" mean.
    key_added : str, default=None
        What the result is called. None: ``f"{groupby}_stability"``.
    max_dense : int, default=20000
        Where labels are missing, up to this many cells are compared pair by pair; see
        :func:`conclust.confidence.item_consensus`.
    n_jobs : int, default=None
        Threads. The result does not depend on it.
    copy : bool, default=False
        Whether a copy is written into, and returned.

    Returns
    -------
    AnnData or None
        None; the copy where one was asked for. These are written:

        ``uns[key_added]["table"]`` : DataFrame
            A row for each category: its "cells"; "consensus", how often two of them have the same label;
            "jaccard", how well the columns find it again (below 0.6 it is not a cluster to rely on);
            "confidence", the mean of its cells. Beside it "params".
        ``obs[key_added]`` : float64
            For each cell the share of its category among the cells that the columns put together with it.

    Raises
    ------
    InputError
        If a column is not there, or holds numbers that are no labels.

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
    chosen_keys(adata, groupby, None, owner)
    if prefix is not None:
        columns = tuple(name for name in columns if name != groupby)
    added = f"{groupby}_stability" if key_added is None else key_added
    _check_key(added, (*columns, groupby), owner)
    check_bool(copy, "copy", owner)
    check_int(max_dense, "max_dense", owner)
    read = read_columns(adata, columns, missing=missing, owner=owner)
    ensemble = read.ensemble(weights)
    judged = read_columns(adata, [groupby], missing="unobserved", owner=owner)
    labels = judged.labels[:, 0]
    sure = cluster_confidence(labels, ensemble, max_dense=max_dense, n_jobs=n_jobs)
    adata = adata.copy() if copy else adata
    # Clusters are numbered by first appearance there; categories without cells are left out.
    known = labels[labels >= 0]
    first = np.unique(known, return_index=True)[1]
    names = [judged.names[0][label] for label in known[np.sort(first)]]
    table = pd.DataFrame(
        {
            "cells": sure.sizes,
            "consensus": sure.consensus,
            "jaccard": sure.jaccard,
            "confidence": sure.confidence,
        },
        index=names,
    )
    there = set(names)
    adata.obs[added] = confidences(labels, ensemble)
    adata.uns[added] = {
        "params": {
            "keys": np.array(columns),
            "groupby": groupby,
            "missing": missing,
            "conclust_version": __version__,
        },
        "table": table.loc[[name for name in judged.names[0] if name in there]],
    }
    return adata if copy else None


def _check_key(key: Any, taken: Sequence[str], owner: str) -> None:
    """Refuse a name that is none, or that a column which is read has."""
    if not isinstance(key, str) or not key or key in taken:
        refuse("key_added", owner, f"a name other than {list(taken)}", key)


def __dir__() -> list[str]:
    return __all__
