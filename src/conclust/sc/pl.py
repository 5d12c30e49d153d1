"""Pictures of the columns of an AnnData, and of their consensus."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._arrays.containers import number_array
from conclust._arrays.ratios import ratio
from conclust._types import Floats
from conclust._validation import check_bool, missing_extra, refuse
from conclust.ensemble.labels import Missing
from conclust.exceptions import InputError
from conclust.plotting import coassociation_heatmap, membership_bars
from conclust.plotting.canvas.style import cluster_colours
from conclust.plotting.flows import flow_of_rows
from conclust.sc.columns import (
    Columns,
    categorical,
    category_colours,
    check_annotated,
    chosen_keys,
    names_of,
    read_columns,
)
from conclust.sc.held import held_membership, membership_by_category

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["clustree", "coassociation", "membership", "resolutions"]


def resolutions(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    missing: Missing = "unobserved",
    ax: Axes | None = None,
    show: bool = False,
    save: str | PathLike[str] | None = None,
) -> Axes:
    """Draw where cells go from column to column: clusters that split, and clusters that mix.

    A row of circles for each column, as large as its clusters, and a line to each cluster of the next column
    that shares cells with it. A tidy part of the picture does not make a single column correct: reliable clusters
    are those that many rows have.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs``, from top to bottom.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows, except those written by conclust.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1"; either is in no cluster.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``).
    show : bool, default=False
        Whether to show the figure by ``pyplot.show``, as a script needs; notebooks show it anyway.
    save : str or path-like, default=None
        File to which the figure is written, by ``ax.figure.savefig``; its ending gives the format. None: not written.

    Returns
    -------
    Axes
        The axes with the picture (see :func:`conclust.plotting.flow_diagram`).

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If a column does not exist, or holds numbers that are not labels.
    ParameterError
        If `show` is not a bool, or `save` is not the path of a file with an ending.

    References
    ----------
    L. Zappia, A. Oshlack: Clustering trees. GigaScience 7, 2018.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame({"leiden_1": [0, 0, 1, 1], "leiden_2": [0, 0, 1, 2]}, index=list("wxyz"))
    >>> ax = ccs.pl.resolutions(anndata.AnnData(obs=runs), prefix="leiden_")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['leiden_1', 'leiden_2']
    """
    owner = "sc.pl.resolutions"
    _check_output(show, save, owner)
    read = _read(adata, chosen_keys(adata, keys, prefix, owner), missing, owner)
    ax = flow_of_rows(dict(enumerate(read.labels.T, 1)), read.keys, ax=ax)
    ax.set(xlabel="circles: cells of a cluster", ylabel="")
    ax.title.set_text("Where cells go")
    return _sent(ax, show, save)


def clustree(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    color: str = "stability",
    missing: Missing = "unobserved",
    ax: Axes | None = None,
    show: bool = False,
    save: str | PathLike[str] | None = None,
) -> Axes:
    """Draw the clustering tree of the columns, its circles coloured by a number.

    The picture of :func:`resolutions` with the names of the clusters in place of their numbers of cells, coloured by
    the recovery of each cluster in the other columns, or by the mean of a number over its cells. Names that would meet
    others are left out, those of smaller clusters first. A gene is first written into ``adata.obs``, for instance
    ``adata.obs["CD3E"] = adata.obs_vector("CD3E")``.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs``, from top to bottom.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows, except those written by conclust.
    color : str, default="stability"
        "stability": the mean over the other columns of the largest Jaccard coefficient of the cluster with one of
        theirs. Else a column of ``adata.obs`` that holds numbers: their mean over the cells of the cluster.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1"; neither is in a cluster.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``).
    show : bool, default=False
        Whether to show the figure by ``pyplot.show``, as a script needs; notebooks show it anyway.
    save : str or path-like, default=None
        File to which the figure is written, by ``ax.figure.savefig``; its ending gives the format. None: not written.

    Returns
    -------
    Axes
        The axes with the picture; the scale has axes of its own.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If a column does not exist or has invalid values.
    ParameterError
        If `show` is not a bool, or `save` is not the path of a file with an ending.

    References
    ----------
    L. Zappia, A. Oshlack: Clustering trees. GigaScience 7, 2018.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame({"leiden_1": [0, 0, 1, 1], "leiden_2": [0, 0, 1, 2]}, index=list("wxyz"))
    >>> ax = ccs.pl.clustree(anndata.AnnData(obs=runs), prefix="leiden_")
    >>> ax.get_title()
    'Clustering tree, by stability'
    """
    owner = "sc.pl.clustree"
    _check_output(show, save, owner)
    read = _read(adata, chosen_keys(adata, keys, prefix, owner), missing, owner)
    if color == "stability":
        values = _stability(read.labels)
    else:
        (column,) = chosen_keys(adata, color, None, owner, parameter="color")
        values = number_array(adata.obs[column], f"The column {column!r} of {owner}")
    ax = flow_of_rows(
        dict(enumerate(read.labels.T, 1)),
        read.keys,
        values=values,
        cluster_names=read.names,
        ax=ax,
    )
    ax.set(xlabel="circles: clusters, with their names", ylabel="")
    ax.title.set_text(f"Clustering tree, by {color}")
    return _sent(ax, show, save)


def _read(adata: Any, keys: Sequence[str], missing: Missing, owner: str) -> Columns:
    """Return the columns, which must be of two cells or more."""
    if len(adata.obs) < 2:
        raise InputError(f"{owner} needs at least two cells. Got {len(adata.obs)}.")
    return read_columns(adata, keys, missing=missing, owner=owner)


def _stability(labels: NDArray[np.int32]) -> Floats:
    """Return, for each column and cell, how well the other columns recover its cluster; NaN for unclustered cells."""
    n, m = labels.shape
    stability = np.full((m, n), np.nan)
    for u in range(m):
        total = np.zeros(int(labels[:, u].max(initial=-1)) + 1)
        for v in range(m):
            if v != u and len(total):
                both = (labels[:, u] >= 0) & (labels[:, v] >= 0)
                table = np.zeros((len(total), int(labels[:, v].max(initial=-1)) + 1))
                np.add.at(table, (labels[both, u], labels[both, v]), 1.0)
                joint = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
                total += ratio(table, joint).max(axis=1, initial=0.0)
        held = labels[:, u] >= 0
        stability[u, held] = total[labels[held, u]] / max(1, m - 1)
    return stability


def membership(
    adata: Any,
    key: str = "consensus",
    *,
    max_bars: int = 600,
    ax: Axes | None = None,
    show: bool = False,
    save: str | PathLike[str] | None = None,
) -> Axes:
    """Draw the memberships of the cells in clusters as bars, with the names and colours of the categories.

    Parameters
    ----------
    adata : AnnData or MuData
        After :func:`conclust.sc.tl.consensus` by a method with memberships.
    key : str, default="consensus"
        The `key_added` of the consensus.
    max_bars : int, default=600
        Maximum number of bars; with more cells, neighbours of a cluster are averaged.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 17.5 cm wide.
    show : bool, default=False
        Whether to show the figure by ``pyplot.show``, as a script needs; notebooks show it anyway.
    save : str or path-like, default=None
        File to which the figure is written, by ``ax.figure.savefig``; its ending gives the format. None: not written.

    Returns
    -------
    Axes
        The axes with the picture (see :func:`conclust.plotting.membership_bars`).

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If there are no memberships of this name.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> adata = anndata.AnnData(obs=pd.DataFrame({"a": [0, 0, 1], "b": [1, 1, 0]}, index=list("xyz")))
    >>> ccs.tl.consensus(adata, ["a", "b"])
    >>> ax = ccs.pl.membership(adata)
    >>> ax.get_xlabel()
    'cells, by cluster, the most certain first'
    """
    owner = "sc.pl.membership"
    _check_output(show, save, owner)
    check_annotated(adata, owner)
    rows = held_membership(adata, key)
    if rows is None:
        raise InputError(
            f"adata.obsm has no '{key}_membership': sc.tl.consensus writes it, by methods with memberships "
            "(see conclust.methods())."
        )
    names = None
    if key in adata.obs.columns:
        column = categorical(adata.obs[key]).remove_unused_categories()
        by_category = membership_by_category(adata, key, column)
        if by_category is not None:
            rows = by_category
            none = rows.shape[1] - len(column.categories)
            # Columns that are largest for no cell have no category.
            names = [*map(str, column.categories), *(f"({k})" for k in range(none))]
        rows = rows[column.codes >= 0]
    colours = None if names is None else _colours_of(adata, key, names)
    ax = membership_bars(rows, max_bars=max_bars, colours=colours, names=names, ax=ax)
    ax.set_xlabel("cells, by cluster, the most certain first")
    ax.title.set_text(f"Membership of {len(rows):,} cells")
    return _sent(ax, show, save)


def _colours_of(adata: Any, key: str, names: Sequence[str]) -> list[Any]:
    """Return the colour of each name: that of the category in ``adata.uns``, or else the default of all pictures."""
    own = category_colours(adata, key)
    return [
        own.get(name, default)
        for name, default in zip(names, cluster_colours(len(names)), strict=True)
    ]


def coassociation(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    groupby: str | Sequence[str] | None = None,
    missing: Missing = "unobserved",
    order: str | ArrayLike | None = "dendrogram",
    random_state: Any = 0,
    ax: Axes | None = None,
    show: bool = False,
    save: str | PathLike[str] | None = None,
) -> Axes:
    """Show how often each pair of cells has the same label.

    Parameters
    ----------
    adata : AnnData or MuData
        Data with the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, except those written by conclust.
    groupby : str or sequence of str, default=None
        Columns that are shown as strips next to the plot, in the colours of ``adata.uns[f"{column}_colors"]`` where
        there are any.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 and of the category "-1".
    order : {"dendrogram", "vat", "cluster", None} or array-like of int, default="dendrogram"
        Order of the cells; see :func:`conclust.plotting.coassociation_heatmap`. "cluster" sorts by the first of
        `groupby`, and shows all cells of a large data set.
    random_state : int, Generator or None, default=0
        Draws 4,000 of more cells.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``).
    show : bool, default=False
        Whether to show the figure by ``pyplot.show``, as a script needs; notebooks show it anyway.
    save : str or path-like, default=None
        File to which the figure is written, by ``ax.figure.savefig``; its ending gives the format. None: not written.

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If a column does not exist, or holds numbers that are not labels.
    ParameterError
        A parameter is out of its range.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> runs = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 0, 1, 2], "type": list("TTBB")}, index=list("wxyz"))
    >>> ax = ccs.pl.coassociation(anndata.AnnData(obs=runs), ["a", "b"], groupby="type")
    >>> ax.get_title()
    'Co-association of 4 cells'
    """
    owner = "sc.pl.coassociation"
    _check_output(show, save, owner)
    read = _read(adata, chosen_keys(adata, keys, prefix, owner), missing, owner)
    strips = colours = None
    if groupby is not None:
        shown = chosen_keys(adata, groupby, None, owner, parameter="groupby")
        strips = {key: names_of(adata.obs[key]) for key in shown}
        colours = {key: category_colours(adata, key) for key in shown}
    ax = coassociation_heatmap(
        read.ensemble(None),
        labels=strips,
        order=order,
        random_state=random_state,
        colours=colours,
        ax=ax,
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_label_text(axis.get_label_text().replace("object", "cell"))
    ax.title.set_text(ax.get_title().replace("object", "cell"))
    return _sent(ax, show, save)


def _check_output(show: Any, save: Any, owner: str) -> None:
    """Check `show` and `save`, and import pyplot if it shows the figure, which then belongs to pyplot."""
    if check_bool(show, "show", owner):
        try:
            import matplotlib.pyplot  # noqa: F401
        except ImportError:
            missing_extra("matplotlib", "plot", "Plotting")
    if save is not None and not (isinstance(save, str | PathLike) and Path(save).suffix):
        refuse("save", owner, "the path of a file with an ending, such as 'picture.pdf'", save)


def _sent(ax: Axes, show: bool, save: str | PathLike[str] | None) -> Axes:
    """Write and show the figure of some axes, and return these."""
    if save is not None:
        ax.figure.savefig(save)  # type: ignore[union-attr]
    if show:
        from matplotlib import pyplot

        pyplot.show()
    return ax


def __dir__() -> list[str]:
    return __all__
