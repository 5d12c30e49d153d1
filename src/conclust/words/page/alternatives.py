"""Alternative texts of pictures: how to read each kind, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conclust._types import Floats
from conclust.plotting.numbers import Curve
from conclust.plotting.objects import Bars
from conclust.words.page.columns import rows_of

_BAND = (
    "The grey band holds nine tenths of the references, which have no clusters; the ring is the "
    "chosen number, and bars are standard errors."
)

# Kind, title, and how to read it.
_READ = """
rcsi | More stable than without clusters? | Height: how much more stable the clusters are than in clouds without clusters, on a logarithmic
    scale. Look for a point far above the grey band. {band} If the curve stays in the band, the data look like one cloud.
pac | Ambiguous pairs | Height: the share of pairs of objects that are neither nearly always together nor nearly always apart. Low is
    stable, but the curve falls with K even without clusters, so compare it with the references. The ring is the chosen number.
sharp | Within against between | Height: the difference between the rates of being together within and between clusters. The highest point
    is the chosen number (the ring); bars are standard errors.
cdf | Distribution of the consensus | A curve for each number of clusters: the share of pairs that are together at most this often. Stable
    clusters have a curve that is flat in the middle and steps at 0 and 1: pairs are always together or never.
delta | Growth of the area | Growth of the area under the distribution function with each further cluster. Shown because other programs show
    it; it is a poor criterion for the choice.
flow | How clusters split | A row of circles for each number of clusters, as large as the clusters. Lines show where objects go when one
    more cluster is allowed. A real cluster gets one line; if its objects come from several clusters, the number is too large.
support | Support of each number of clusters | Height: the lifetime of this number of clusters in the co-association tree, minus the extent
    to which fine clusterings cut across their borders. The highest point is the best supported number; the ring is the number of this
    result.
tree | Dendrogram | Objects that are often together join low down. In the shaded band the tree has the chosen number of clusters: the higher
    the band, the longer they persist.
power | How many objects the borders need | The probability that each border holds in a sample of this size, by its tests in parts of the
    objects and the points along it. The line marks the number that you have; far to the right of it, the curves are rough. At 0: more
    objects are not expected to help.
supported_tree | Splits of the tree, and which hold | From the top down, each cluster splits in two; the height of a split is the share of
    clusterings that keep its two parts apart. Solid: the border between the parts holds. Dashed: it does not, and the two parts are better
    treated as one cluster. p is adjusted for the number of splits (Holm). Below: the lowest parts, as wide as they have objects, in the
    colour of the cluster that they are in where borders hold.
heatmap | How often pairs are together | Objects from top to bottom and from left to right, with those that belong together next to each
    other. Dark: the clusterings put both together. Dark squares on the diagonal with pale surroundings are clear clusters; shading between
    two squares marks objects that belong to both. The strips name the clusters.
embedding_points | Objects in two dimensions | The points, along the two directions in which they vary most (or as they are, where they have
    two features). Colours and marks are clusters; pale objects are uncertain. Two dimensions may hide gaps that exist in more dimensions.
embedding_members | Objects by the clusterings | Objects that the clusterings put together are close to each other; the axes are not the
    features. Colours and marks are clusters; pale objects are uncertain.
bars | Membership of every object | A thin bar for each object, by cluster, the most certain first; colours are the shares of the clusters.
    One colour from bottom to top: certain. Several: between clusters.
silhouette | Silhouettes | A bar for each object, by cluster, the longest first. Long: the clusterings put it with its own cluster and not
    with the next. To the left: they put it more often with another cluster. Numbers: mean and number of objects of each cluster.
map | Similarity of the clusterings | Clusterings from top to bottom and from left to right, similar ones next to each other. Dark squares:
    the clusterings agree. A pale line is a clustering that agrees with no other.
"""
_WAY = (
    "Co-association in the clusterings of the {} way alone, sorted by the clusters of the consensus. Dark squares off the "
    "diagonal: clusters that these clusterings put together. Squares that fall apart: clusters that they split."
)
READ = {kind: (title, how.format(band=_BAND)) for kind, title, how in rows_of(_READ)}
READ |= {
    f"way_{number}": (f"The {word} way", _WAY.format(word))
    for number, word in enumerate(("first", "second", "third"), 1)
}


def of_curve(curve: Curve) -> str:
    """Return a criterion over K in words: every value.

    Parameters
    ----------
    curve : Curve
        Data of the picture.

    Returns
    -------
    str
        A sentence or two.
    """
    text = f"{curve.criterion} for each number of clusters: {_each(curve, curve.values)}."
    if len(curve.null):
        means = _each(curve, curve.null.mean(axis=0))
        text += f" Mean of {len(curve.null)} references: {means}."
    return text


def _each(curve: Curve, values: Floats) -> str:
    return ", ".join(
        f"{k}: {value:.3g}" if np.isfinite(value) else f"{k}: none"
        for k, value in zip(curve.k.tolist(), values.tolist(), strict=True)
    )


def of_bars(bars: Bars, names: Sequence[str]) -> str:
    """Return silhouettes in words: the mean of each cluster.

    Parameters
    ----------
    bars : Bars
        Data of the picture.
    names : sequence of str
        Names of the clusters.

    Returns
    -------
    str
        A sentence.
    """
    means = ", ".join(
        f"{names[k]}: {bars.values[bars.clusters == k].mean():.2f}"
        for k in np.unique(bars.clusters)[:40]
    )
    return f"Mean silhouette of each cluster: {means}. Of all objects: {bars.values.mean():.2f}."
