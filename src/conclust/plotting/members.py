"""The partitions of an ensemble: their similarities and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from conclust._types import Floats, Ints
from conclust._validation import count, shown
from conclust.ensemble import Ensemble, as_ensemble
from conclust.ensemble.columns import column_names
from conclust.exceptions import InputError
from conclust.measures.agreement import Measure, partition_similarities
from conclust.plotting.canvas.figures import axes, colour_bar, count_along, show_image
from conclust.plotting.canvas.orders import dendrogram_order
from conclust.plotting.canvas.reading import shortened
from conclust.plotting.canvas.style import COLUMN, drawn_in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Maximum number of partitions with names along the axes, and of characters of a name.
_MOST_NAMES, _LONGEST_NAME = 24, 20
# Names of up to 4 characters fit in a figure of one column; more characters need more space, in inches each.
_SHORT_NAME, _WIDTH_OF_CHARACTER = 4, 0.055


@dataclass(frozen=True)
class PartitionMap:
    """Similarities of the partitions.

    Attributes
    ----------
    order : ndarray of shape (n_partitions,)
        Partitions from top to bottom, with similar ones next to each other.
    similarity : ndarray of shape (n_partitions, n_partitions)
        Similarities in that order; NaN for two partitions that share no object.
    """

    order: Ints
    similarity: Floats


def partition_map_of(
    ensemble: Ensemble | ArrayLike | Any, *, measure: Measure = "nmi"
) -> PartitionMap:
    """Return the data of the map of partitions as arrays.

    Parameters
    ----------
    ensemble : Ensemble, array-like of shape (n_samples, n_partitions) or fitted ConsensusClustering
        The partitions; for soft ones the most probable clusters.
    measure : {"nmi", "ari"}, default="nmi"
        Normalized mutual information or adjusted Rand index.

    Returns
    -------
    PartitionMap
        Order and similarities.

    Raises
    ------
    ParameterError
        If `measure` is not one of these.

    Examples
    --------
    >>> from conclust.plotting.members import partition_map_of
    >>> partition_map_of([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]]).order
    array([1, 0, 2])
    """
    members = as_ensemble(getattr(ensemble, "ensemble_", ensemble))
    hard = Ensemble(members.labels) if members.is_soft else members
    similarities = partition_similarities(hard, measure=measure)
    apart = 1.0 - np.clip(np.nan_to_num(similarities), 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    order = dendrogram_order(apart) if len(similarities) > 1 else np.zeros(1, dtype=np.int64)
    return PartitionMap(order, similarities[np.ix_(order, order)])


@drawn_in_style
def partition_map(
    ensemble: Ensemble | ArrayLike | Any,
    *,
    measure: Measure = "nmi",
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the similarities of the partitions of an ensemble.

    Dark squares on the diagonal are partitions that agree; a pale row is a partition that
    agrees with no other.

    Parameters
    ----------
    ensemble : Ensemble, array-like of shape (n_samples, n_partitions) or fitted ConsensusClustering
        The partitions; for soft ones the most probable clusters.
    measure : {"nmi", "ari"}, default="nmi"
        Normalized mutual information or adjusted Rand index (below 0 it is drawn as 0).
    names : sequence of str, default=None
        Names of the partitions, in the order of the columns. None: the names of the columns of a frame, or else their
        numbers from 0. They are written along the axes if there are at most 24 partitions.
    ax : matplotlib Axes, default=None
        Where to draw. None makes a new figure (``ax.figure``), 8.5 cm wide, or wider if names are long.

    Returns
    -------
    Axes
        The axes with the picture.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    ParameterError
        If `measure` is not one of these.
    InputError
        If there is not one name for each partition.

    Examples
    --------
    >>> from conclust.plotting import partition_map
    >>> ax = partition_map([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    >>> ax.get_title()
    'Agreement of 3 partitions'
    """
    picture = partition_map_of(ensemble, measure=measure)
    m = len(picture.order)
    words = _partition_words(column_names(ensemble) if names is None else names, m)
    are_named = m <= _MOST_NAMES
    longest = max(map(len, words))
    # Words next to each other have space for about 30 characters in total.
    are_upright = m * longest > 30
    beyond = _WIDTH_OF_CHARACTER * max(0, longest - _SHORT_NAME) if are_named else 0.0
    ax = axes(ax, (COLUMN + beyond, 0.84 * COLUMN + are_upright * beyond))
    image = show_image(ax, picture.similarity, (0, m, m, 0), aspect="equal")
    measures = {"nmi": "normalized mutual information", "ari": "adjusted Rand index"}
    colour_bar(ax, image, measures[measure], 24, 0)
    if are_named:
        at, ordered = np.arange(m) + 0.5, [words[u] for u in picture.order]
        ax.set_yticks(at, ordered)
        ax.set_xticks(at, ordered, rotation=90 if are_upright else 0)
        ax.tick_params(length=0)
        for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
            label.set_parse_math(False)
    else:
        count_along(ax.xaxis)
    along = "partitions, similar ones adjacent"
    ax.set(xlabel=along, ylabel=along, title=f"Agreement of {count(m, 'partition')}")
    return ax


def _partition_words(names: Any, n_partitions: int) -> list[str]:
    """Return the name of each partition, shortened if it is long, or its number from 0."""
    if names is None:
        return [str(u) for u in range(n_partitions)]
    words = [] if isinstance(names, str) else [" ".join(str(name).split()) for name in names]
    if len(words) != n_partitions:
        raise InputError(
            f"The 'names' of partition_map must be a name for each of the {n_partitions} partitions. "
            f"Got {shown(names)} instead."
        )
    return shortened(words, _LONGEST_NAME)
