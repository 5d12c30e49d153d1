"""Pictures of a result: drawn by `conclust.plotting`, embedded as SVG, or as PNG if that is smaller."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from conclust import plotting
from conclust._types import Ints
from conclust.confidence import ConsensusTree, ObjectConfidence
from conclust.confidence.borders.power import BorderPower
from conclust.ensemble import Ensemble
from conclust.exceptions import MissingExtraError
from conclust.plotting.canvas.figures import apart_from_pyplot, save
from conclust.plotting.canvas.style import cluster_colours
from conclust.plotting.numbers import curve_of, power_curves
from conclust.plotting.objects import silhouettes_of
from conclust.results.result import Reported
from conclust.words.names import shown
from conclust.words.page.alternatives import READ, of_bars, of_curve
from conclust.words.page.columns import NO_PICTURE, NO_PICTURES

_MOST_SVG = 250_000  # size in bytes above which the smaller of SVG and PNG is used
_ALL_PAIRS = 4000  # maximum number of objects of a heatmap ordered by a tree
_PIXELS = 500
# Texts stay texts, titles need no search for their place, and the same picture has the same ids of elements.
_ON_PAGES = {"svg.fonttype": "none", "svg.hashsalt": "conclust", "axes.titley": 1.0}

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
        selection, pictures, K = reported.selection, [], reported.n_clusters
        if selection is not None:
            criteria = ("rcsi" if len(selection.null) else "sharp", "pac", "delta")
            pictures += [self._curve(name, selection) for name in criteria]
            pictures.append(self._one("cdf", lambda: plotting.cdf_curves(selection)))
            if K > 1 and selection.labels:
                draw = partial(plotting.flow_diagram, selection)
                pictures.append(self._one("flow", draw, wide=True))
        elif len(reported.record.supports) > 1:
            values = {s.n_clusters: s.support for s in reported.record.supports}
            pictures.append(self._curve("support", values, chosen=K))
        tree = reported.tree
        if tree is not None and K > 1:
            leaves = reported.labels[reported.labels >= 0]
            labels = leaves if len(leaves) == len(tree) + 1 else None
            draw = partial(plotting.dendrogram, tree, K, labels=labels)
            pictures.append(self._one("tree", draw, wide=True))
        return _block(pictures)

    def _curve(self, name: str, given: Any, **more: Any) -> dict[str, Any] | None:
        draw = partial(plotting.criterion_curve, given, name, **more)
        return self._one(name, draw, lambda: of_curve(curve_of(given, name)))

    def of_clusters(
        self, reported: Reported, sure: ObjectConfidence | None = None
    ) -> dict[str, Any]:
        """Return the pictures of the clusters; of one cluster, which has no confidence, by the clusterings."""
        members, names = _members(reported), _names(reported, sure)
        of_points = sure is not None and reported.points is not None
        place: Any = reported.points if of_points else members
        certain = None if sure is None else sure.confidence
        labels = reported.labels
        return _block(
            [
                self._one("heatmap", lambda: _heatmap(members, reported, names=names)),
                self._one(
                    "embedding",
                    lambda: plotting.embedding(place, labels, certain, names=names),
                    name="embedding_points" if of_points else "embedding_members",
                ),
            ]
        )

    def of_objects(self, reported: Reported, sure: ObjectConfidence) -> dict[str, Any]:
        """Return the pictures of the confidence of objects."""
        held, names = np.flatnonzero(reported.labels >= 0), _names(reported, sure)
        membership, labels = sure.membership[held], reported.labels[held]
        bars = partial(plotting.membership_bars, membership, labels=labels, names=names)
        return _block(
            [
                self._one("bars", bars, wide=True),
                self._one(
                    "silhouette",
                    lambda: plotting.silhouette_bars(sure, names=names),
                    lambda: of_bars(silhouettes_of(sure), names),
                ),
            ]
        )

    def of_partitions(self, reported: Reported) -> dict[str, Any]:
        """Return the pictures of the clusterings."""
        return _block([self._one("map", partial(plotting.partition_map, _members(reported)))])

    def of_tree(self, tree: ConsensusTree) -> dict[str, Any]:
        """Return the picture of the consensus tree with its support; none for a tree without splits."""
        draw = partial(plotting.consensus_tree, tree)
        return _block([self._one("supported_tree", draw, wide=True)] if tree.splits else [])

    def of_power(self, power: BorderPower) -> dict[str, Any]:
        """Return the picture of the number of objects that borders need."""
        return _block([self._one("power", partial(power_curves, power))])

    def of_ways(self, reported: Reported, assignments: Ints) -> dict[str, Any]:
        """Return a picture of each way in which the clusterings disagree."""
        pictures, names = [], _names(reported)
        for way in range(int(assignments.max()) + 1):
            members = _members(reported).subset(partitions=assignments == way)
            draw = partial(_heatmap, members, reported, "cluster", names=names)
            pictures.append(self._one(f"way_{way + 1}", draw))
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
            with apart_from_pyplot(_ON_PAGES), warnings.catch_warnings():
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
        return NO_PICTURES.format(error)
    text = " ".join(shown(word) for word in str(error)[:500].split())
    return NO_PICTURE.format(type(error).__name__, text)


def _members(reported: Reported) -> Ensemble:
    assert reported.judged is not None
    return reported.judged.members


def _names(reported: Reported, sure: ObjectConfidence | None = None) -> list[str]:
    """Return names for the columns of a membership, some of which may have no objects."""
    width = 0 if sure is None else sure.membership.shape[1]
    return [*reported.shown_clusters, *(str(k) for k in range(reported.n_clusters, width))]


def _block(pictures: list[dict[str, Any] | None]) -> dict[str, Any]:
    return {"kind": "pictures", "pictures": [p for p in pictures if p is not None]}


def _heatmap(members: Ensemble, reported: Reported, order: str = "", *, names: Any) -> Any:
    order = order or ("dendrogram" if members.n_samples <= _ALL_PAIRS else "cluster")
    labels = {"cluster": reported.labels}
    return plotting.coassociation_heatmap(
        members, labels=labels, order=order, max_pixels=_PIXELS, names=names
    )


def _encoded(figure: Any) -> tuple[str, int, int]:
    """Return a picture as a data address, and its width and height in pixels of the page."""
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
