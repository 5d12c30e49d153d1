"""write: writes a result as one HTML file."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from conclust._files.storage import atomic_write
from conclust._sklearn import EstimatorCard
from conclust._threads import one_library_thread
from conclust._validation import check_bool, check_int, refuse
from conclust.confidence import BorderTests, ConsensusTree
from conclust.ensemble import Ensemble
from conclust.report.contents import contents
from conclust.report.page import page
from conclust.report.pictures import Gallery
from conclust.report.reading import read_result
from conclust.selection import Selection
from conclust.words.page.checklist import as_csv, as_markdown

_OWNER = "report"


def account(
    result: Any, *, max_objects: int = 2000, pictures: bool = True, **parts: Any
) -> dict[str, Any]:
    """Return the content of a report as plain data: the decision, tables, texts and pictures.

    Parameters
    ----------
    result : object
        See :func:`write`.
    max_objects : int, default=2000
        Maximum number of objects listed, the most uncertain ones.
    pictures : bool, default=True
        Whether pictures are drawn.
    **parts : object
        ``ensemble``, ``X``, ``selection``, ``borders``, ``tree``, ``names``, ``feature_names`` and ``cluster_names`` of :func:`write`.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts. ``decision`` has the first line and its numbers, and ``sections``
        the other content in the order of the page.

    Raises
    ------
    InputError
        If the result cannot be reported, a folder is incomplete or from another version, or parts belong to other objects.
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from conclust import report
    >>> from conclust.selection import choose
    >>> X, _ = make_blobs(150, centers=3, cluster_std=0.5, random_state=1)
    >>> found = report.account(choose(X, range(2, 6), random_state=0), pictures=False)
    >>> found["decision"]["sentence"]
    '3 clusters in 150 objects: one Gaussian cloud is rejected (p = 0.01, 99 rotations); 2 of 2 borders hold (p < .05, Holm).'
    """
    check_int(max_objects, "max_objects", _OWNER)
    check_bool(pictures, "pictures", _OWNER)
    reported = read_result(result, **parts)
    # The page has the same bytes for any number of threads; products are too small to gain by two.
    with one_library_thread():
        return contents(reported, max_objects=max_objects, gallery=Gallery(wanted=pictures))


def write(
    result: Any,
    path: str | os.PathLike[str],
    *,
    ensemble: Ensemble | ArrayLike | None = None,
    X: ArrayLike | None = None,
    selection: Selection | None = None,
    borders: BorderTests | None = None,
    tree: ConsensusTree | None = None,
    names: Sequence[Any] | None = None,
    feature_names: Sequence[Any] | None = None,
    cluster_names: Sequence[str] | None = None,
    max_objects: int = 2000,
    pictures: bool = True,
) -> Path:
    """Write a report of a result: one self-contained HTML file.

    The first lines state the decision, with the p-value and the number of references if the number of clusters was
    tested. The clusters with their features and confidence follow, then the uncertain objects, the reason for the
    number of clusters, the clusterings, the run, how to cite it and how to repeat it.

    Parameters
    ----------
    result : path-like, fitted model, Selection or array-like of shape (n_samples,)
        A folder written by ``conclust cluster``, ``combine`` or ``select``; a fitted `conclust.ConsensusClustering`,
        or a pipeline that ends with one; any fitted consensus method, with its ensemble; the result of
        :func:`conclust.selection.choose` or ``choose_from``; or labels, with their ensemble. For an AnnData object, pass a
        method fitted to :func:`conclust.sc.get.ensemble`.
    path : path-like
        Path of the file; an existing one is replaced. ".csv" and ".md": only the reporting checklist, as a table of CSV or Markdown.
    ensemble : Ensemble or array-like of shape (n_samples, n_partitions), default=None
        The partitions, if the model or the labels do not include them.
    X : array-like of shape (n_samples, n_features), default=None
        The points, with NaN for empty cells. They are used for the features that distinguish clusters, the gaps
        between clusters and the picture in two dimensions. The names of features and objects are read from a pandas
        frame. Its text columns are described as categories, by their shares in each cluster; a column with a
        different text in nearly every row is left out. For a pipeline, pass the data of its fit.
    selection : Selection, default=None
        Selection of the number of clusters.
    borders : BorderTests, default=None
        Border tests from :func:`conclust.confidence.border_tests` for the same objects.
    tree : ConsensusTree, default=None
        Tree with support from :func:`conclust.confidence.consensus_tree`; needs `borders`.
    names : sequence of length n_samples, default=None
        Names of the objects. None: the index of a pandas `X`, the names in the folder, or numbers.
    feature_names : sequence of length n_features, default=None
        None: the columns of a frame `X`, or their numbers.
    cluster_names : sequence of str, default=None
        Names of the clusters, in the order of their labels. None: the names in the folder, or their labels, from 0.
    max_objects : int, default=2000
        Maximum number of objects listed, the most uncertain ones.
    pictures : bool, default=True
        Whether pictures are drawn. Without matplotlib, the page states that they are missing.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the result cannot be reported, a folder is incomplete or from another version, or parts belong to other objects.
    ParameterError
        If a parameter is out of its range.
    OSError
        If the file cannot be written.

    Notes
    -----
    The page contains its style, script and pictures and loads nothing else; a content security policy enforces this.
    Names of objects and features are always shown as text. The same result gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from conclust import ConsensusClustering, report
    >>> iris = load_iris()
    >>> model = ConsensusClustering(random_state=0).fit(iris.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.write(
    ...         model,
    ...         Path(folder) / "iris.html",
    ...         X=iris.data,
    ...         feature_names=iris.feature_names,
    ...         pictures=False,
    ...     )
    ...     page.read_text()[:15]
    '<!doctype html>'
    """
    if not isinstance(path, str | os.PathLike):
        refuse("path", "report.write", "the path of a file", path)
    target = Path(path)
    # Checked before the page is made, which takes longest. A missing folder of results has errors of its own.
    beside = isinstance(result, str | os.PathLike) and Path(result) == target.parent
    if target.is_dir():
        refuse("path", "report.write", "the path of a file, not of a folder", path)
    if not (beside or target.parent.is_dir()):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
    written = {".csv": as_csv, ".md": as_markdown}.get(target.suffix)
    found = account(
        result,
        ensemble=ensemble,
        X=X,
        selection=selection,
        borders=borders,
        tree=tree,
        names=names,
        feature_names=feature_names,
        cluster_names=cluster_names,
        max_objects=max_objects,
        pictures=pictures and written is None,
    )
    text = page(found) if written is None else written(found["checklist"])
    atomic_write(target, lambda file: file.write(text.encode("utf-8")))
    if isinstance(result, EstimatorCard) and written is None:
        result._report_ = str(target)  # its card links to the page
    return target
