"""Pictures of a result: drawn by `conclust.plotting`, embedded as SVG, or as PNG if that is smaller."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from conclust import plotting
from conclust._types import Floats, Ints
from conclust.confidence import ConsensusTree, ObjectConfidence
from conclust.exceptions import MissingExtraError
from conclust.plotting.canvas.figures import apart_from_pyplot, save
from conclust.plotting.canvas.style import cluster_colours
from conclust.plotting.numbers import curve_of
from conclust.plotting.objects import silhouettes_of
from conclust.report.names import shown
from conclust.report.words.alternatives import READ, of_bars, of_curve
from conclust.results.result import Reported

_MOST_SVG = 250_000  # size in bytes above which the smaller of SVG and PNG is used
_ALL_PAIRS = 4000  # maximum number of objects of a heatmap ordered by a tree
_PIXELS = 500

Draw = Callable[[], Any]


class Gallery:
    """Makes the pictures; a failed picture is replaced by a box with the reason.

    Parameters
    ----------
    wanted : bool, default=True
        Whether pictures are drawn.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted
        self._missing = ""

    def colours(self, n_clusters: int) -> list[str]:
        """Return the colour of each cluster in all pictures; none without matplotlib."""
        try:
            rgb = np.rint(255 * cluster_colours(n_clusters)).astype(int)
        except ImportError:
            return []
        return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()]

    def of_number(self, reported: Reported) -> dict[str, Any]:
        """Return the pictures of the criteria over K."""
        selection, pictures = reported.selection, []
        if selection is not None:
            main = "rcsi" if len(selection.null) else "sharp"
            pictures += [
                *(
                    self._one(
                        name,
                        partial(plotting.criterion_curve, selection, name),
                        _curve(selection, name),
                    )
                    for name in (main, "pac", "delta")
                ),
                self._one("cdf", lambda: plotting.cdf_curves(selection)),
            ]
            if reported.n_clusters > 1 and selection.labels:
                pictures.append(
                    self._one("flow", lambda: plotting.flow_diagram(selection), wide=True)
                )
        elif len(reported.record.supports) > 1:
            values = {s.n_clusters: s.support for s in reported.record.supports}
            pictures.append(
                self._one(
                    "support",
                    lambda: plotting.criterion_curve(values, "support", chosen=reported.n_clusters),
                    lambda: of_curve(curve_of(values, "support")),
                )
            )
        tree = reported.tree
        if tree is not None and reported.n_clusters > 1:
            leaves = reported.labels[reported.labels >= 0]
            labels = leaves if len(leaves) == len(tree) + 1 else None
            pictures.append(
                self._one(
                    "tree",
                    lambda: plotting.dendrogram(tree, reported.n_clusters, labels=labels),
                    wide=True,
                )
            )
        return _block(pictures)

    def of_clusters(self, reported: Reported, sure: ObjectConfidence) -> dict[str, Any]:
        """Return the pictures of the clusters."""
        judged, labels = reported.judged, {"cluster": reported.labels}
        names = _names(reported, sure.membership.shape[1])
        assert judged is not None
        members = judged.members
        place: Any = members if reported.points is None else reported.points
        return _block(
            [
                self._one("heatmap", lambda: _heatmap(members, labels, names=names)),
                self._one(
                    "embedding",
                    lambda: plotting.embedding(
                        place, reported.labels, sure.confidence, names=names
                    ),
                    name="embedding_points" if reported.points is not None else "embedding_members",
                ),
            ]
        )

    def of_evidence(self, reported: Reported) -> dict[str, Any]:
        """Return the pictures of clusterings that show one cluster."""
        judged = reported.judged
        assert judged is not None
        members = judged.members
        return _block(
            [
                self._one(
                    "heatmap",
                    lambda: _heatmap(
                        members, {"cluster": reported.labels}, names=reported.shown_clusters
                    ),
                ),
                self._one(
                    "embedding",
                    lambda: plotting.embedding(
                        members, reported.labels, names=reported.shown_clusters
                    ),
                    name="embedding_members",
                ),
            ]
        )

    def of_objects(self, reported: Reported, sure: ObjectConfidence) -> dict[str, Any]:
        """Return the pictures of the confidence of objects."""
        held = np.flatnonzero(reported.labels >= 0)
        membership: Floats = sure.membership[held]
        names = _names(reported, sure.membership.shape[1])
        return _block(
            [
                self._one(
                    "bars",
                    lambda: plotting.membership_bars(
                        membership, labels=reported.labels[held], names=names
                    ),
                    wide=True,
                ),
                self._one(
                    "silhouette",
                    lambda: plotting.silhouette_bars(sure, names=names),
                    lambda: of_bars(silhouettes_of(sure), names),
                ),
            ]
        )

    def of_partitions(self, reported: Reported) -> dict[str, Any]:
        """Return the pictures of the clusterings."""
        judged = reported.judged
        assert judged is not None
        members = judged.members
        return _block([self._one("map", lambda: plotting.partition_map(members))])

    def of_tree(self, tree: ConsensusTree) -> dict[str, Any]:
        """Return the picture of the consensus tree with its support; none for a tree without splits."""
        if not tree.splits:
            return _block([])
        return _block(
            [self._one("supported_tree", lambda: plotting.consensus_tree(tree), wide=True)]
        )

    def of_ways(self, reported: Reported, assignments: Ints) -> dict[str, Any]:
        """Return a picture of each way in which the clusterings disagree."""
        judged = reported.judged
        assert judged is not None
        pictures = []
        for way in range(int(assignments.max()) + 1):
            members = judged.members.subset(partitions=assignments == way)
            pictures.append(
                self._one(
                    f"way_{way + 1}",
                    partial(
                        _heatmap,
                        members,
                        {"cluster": reported.labels},
                        "cluster",
                        names=reported.shown_clusters,
                    ),
                )
            )
        return _block(pictures)

    def _one(
        self,
        kind: str,
        draw: Draw,
        alternative: Callable[[], str] | None = None,
        *,
        wide: bool = False,
        name: str = "",
    ) -> dict[str, Any] | None:
        """Return one picture, or the reason why it could not be drawn.

        Parameters
        ----------
        kind : str
            Kind of picture.
        draw : callable
            Returns its axes.
        alternative : callable, default=None
            Returns a description of the picture in words. None: its title.
        wide : bool, default=False
            Whether it takes the whole width of the page.
        name : str, default=""
            The entry of READ that explains how to read it. Empty: the entry of its kind.
        """
        if not self._wanted or self._missing:
            return None
        title, how = READ[name or kind]
        picture = {"id": kind, "title": title, "how": how, "wide": wide}
        try:
            with apart_from_pyplot(), warnings.catch_warnings():
                # Warnings about the layout; those about the result were shown earlier.
                warnings.simplefilter("ignore")
                ax = draw()
                source, width, height = _encoded(ax.figure)
            alt = ax.get_title() if alternative is None else alternative()
        except MissingExtraError as error:
            self._missing = str(error)
            return {**picture, "error": shown_error(error)}
        except Exception as error:  # a page that lacks a picture is better than no page
            return {**picture, "error": shown_error(error)}
        return {
            **picture,
            "alt": alt or title,
            "source": source,
            "width": width,
            "height": height,
            "file": f"{kind}.{'svg' if 'svg' in source[:20] else 'png'}",
        }


def shown_error(error: Exception) -> str:
    """Return the reason why a picture is missing."""
    if isinstance(error, MissingExtraError):
        return f"There are no pictures. {error}"
    text = " ".join(shown(word) for word in str(error)[:500].split())
    return f"This picture could not be drawn: {type(error).__name__}: {text}"


def _names(reported: Reported, width: int) -> list[str]:
    """Return names for the columns of a membership, some of which may have no objects."""
    return [*reported.shown_clusters, *(str(k) for k in range(reported.n_clusters, width))]


def _block(pictures: list[dict[str, Any] | None]) -> dict[str, Any]:
    return {"kind": "pictures", "pictures": [p for p in pictures if p is not None]}


def _curve(selection: Any, criterion: str) -> Callable[[], str]:
    return lambda: of_curve(curve_of(selection, criterion))


def _heatmap(
    members: Any, labels: Any, order: str = "", *, names: Sequence[str] | None = None
) -> Any:
    order = order or ("dendrogram" if members.n_samples <= _ALL_PAIRS else "cluster")
    return plotting.coassociation_heatmap(
        members, labels=labels, order=order, max_pixels=_PIXELS, names=names
    )


def _encoded(figure: Any) -> tuple[str, int, int]:
    """Return a picture as a data address, and its width and height in pixels of the page."""
    import matplotlib

    # The same picture has the same bytes: no date, and fixed ids of elements.
    with matplotlib.rc_context({"svg.hashsalt": "conclust", "svg.fonttype": "path"}):
        content = _saved(figure, "svg", metadata={"Date": None, "Creator": None})
    kind = "svg+xml"
    if len(content) > _MOST_SVG:
        image = _saved(figure, "png", dpi=200, metadata={"Software": None})
        if len(image) < len(content):
            content, kind = image, "png"
    inches = figure.get_size_inches()
    width, height = (round(96 * float(size)) for size in inches)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}", width, height


def _saved(figure: Any, form: str, **more: Any) -> bytes:
    content = io.BytesIO()
    save(figure, content, form, **more)
    return content.getvalue()
