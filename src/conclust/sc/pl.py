"""Pictures of the columns of an AnnData, and of their consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._labels import Missing
from conclust.exceptions import InputError
from conclust.plotting import coassociation_heatmap, flow_diagram, membership_bars
from conclust.sc.columns import check_annotated, chosen_keys, names_of, read_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coassociation", "membership", "resolutions"]


def resolutions(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    prefix: str | None = None,
    missing: Missing = "unobserved",
    ax: Axes | None = None,
) -> Axes:
    """Draw where cells go from column to column: clusters that split, and clusters that mix.

    A row of circles for each column, as large as its clusters, and a line to each cluster of the next column
    that takes cells over. No single column is right because the picture looks tidy there: a cluster
    to rely on is one that many rows have.

    Parameters
    ----------
    adata : AnnData or MuData
        What has the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs``, from top to bottom.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so, in the order of what follows.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 and the category "-1" mean; either is in no cluster.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``).

    Returns
    -------
    Axes
        The axes with the picture (see :func:`conclust.plotting.flow_diagram`).

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If a column is not there, or holds numbers that are no labels.

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
    read = read_columns(
        adata, chosen_keys(adata, keys, prefix, owner), missing=missing, owner=owner
    )
    ax = flow_diagram({u: read.labels[:, u] for u in range(len(read.keys))}, ax=ax)
    ax.set_yticks(range(len(read.keys)), read.keys)
    ax.set(ylabel="", title="Where cells go (circles: cells of a cluster)")
    return ax


def membership(
    adata: Any, key: str = "consensus", *, max_bars: int = 600, ax: Axes | None = None
) -> Axes:
    """Draw the memberships of all cells as bars, in the colours that the clusters have.

    Parameters
    ----------
    adata : AnnData or MuData
        After :func:`conclust.sc.tl.consensus` by a method with memberships.
    key : str, default="consensus"
        What its `key_added` was.
    max_bars : int, default=600
        Of more cells than this, neighbours of a cluster are averaged to one bar.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 17.5 cm wide.

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
        If `max_bars` is out of its range.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import conclust.sc as ccs
    >>> adata = anndata.AnnData(obs=pd.DataFrame({"a": [0, 0, 1], "b": [1, 1, 0]}, index=list("xyz")))
    >>> ccs.tl.consensus(adata, ["a", "b"])
    >>> ax = ccs.pl.membership(adata)
    >>> ax.get_xlabel()
    'cells, by cluster, the surest first'
    """
    check_annotated(adata, "sc.pl.membership")
    held = f"{key}_membership"
    if held not in adata.obsm:
        raise InputError(
            f"adata.obsm has no {held!r}: sc.tl.consensus writes it, by methods with memberships "
            "(conclust.methods() says which)."
        )
    rows = np.asarray(adata.obsm[held], dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)  # of float32, which sum to 1 only nearly
    colours = adata.uns.get(f"{key}_colors")
    ax = membership_bars(rows, max_bars=max_bars, colours=colours, ax=ax)
    ax.set_xlabel("cells, by cluster, the surest first")
    ax.title.set_text(f"Membership of {len(rows):,} cells")
    return ax


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
) -> Axes:
    """Show how often each pair of cells has the same label.

    Parameters
    ----------
    adata : AnnData or MuData
        What has the columns.
    keys : str or sequence of str, default=None
        The columns of ``adata.obs`` that hold labels.
    prefix : str, default=None
        Instead of `keys`: all columns that begin so.
    groupby : str or sequence of str, default=None
        Columns that are shown as strips beside the picture.
    missing : {"unobserved", "noise"}, default="unobserved"
        What -1 and the category "-1" mean.
    order : {"dendrogram", "vat", "cluster", None} or array-like of int, default="dendrogram"
        Of the cells; see :func:`conclust.plotting.coassociation_heatmap`. "cluster" sorts by the first of
        `groupby`, and shows all cells of a large data set.
    random_state : int, Generator or None, default=0
        Draws 4,000 of more cells.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``).

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    InputError
        If a column is not there, or holds numbers that are no labels.
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
    read = read_columns(
        adata, chosen_keys(adata, keys, prefix, owner), missing=missing, owner=owner
    )
    strips = None
    if groupby is not None:
        strips = {key: names_of(adata.obs[key]) for key in chosen_keys(adata, groupby, None, owner)}
    ax = coassociation_heatmap(
        read.ensemble(None), labels=strips, order=order, random_state=random_state, ax=ax
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_label_text(axis.get_label_text().replace("object", "cell"))
    ax.title.set_text(ax.get_title().replace("object", "cell"))
    return ax


def __dir__() -> list[str]:
    return __all__
