"""Cuts of a tree that do not split one cluster while another contains joined islands of points."""

from __future__ import annotations

from collections.abc import Mapping

from conclust._types import Ints
from conclust.points.evidence import Borders

# A cut with separate islands replaces the horizontal one if its evidence is larger by more than this.
ISLAND_EVIDENCE = 2.0


def cuts_with_islands(borders: Borders, cuts: Mapping[int, Ints]) -> dict[int, tuple[Ints, float]]:
    """Return for each number of clusters the cut with the largest evidence, with islands kept separate.

    A tree joins by mean similarity, so that two small islands may be joined before the halves of a large cluster
    are. Beside the cut into K clusters, cuts into fewer are examined, whose largest joined islands are
    taken out as clusters until there are K. One of them is chosen where its evidence is clearly larger.

    Parameters
    ----------
    borders : Borders
        The borders between the pieces of the points.
    cuts : dict of int to ndarray of int64 of shape (n_samples,)
        Number of clusters to the clusters of the points.

    Returns
    -------
    dict of int to (ndarray of int64 of shape (n_samples,), float)
        Number of clusters to clusters and their evidence.
    """
    best = {K: (labels, borders.evidence(labels)) for K, labels in cuts.items()}
    if borders.n_islands < 2:
        return best
    joined = {K: borders.joined_islands(labels) for K, labels in cuts.items()}
    chosen = dict(best)
    for K, (_, plain) in best.items():
        most = plain + ISLAND_EVIDENCE
        for fewer, islands in joined.items():
            missing = K - fewer
            if not 1 <= missing <= len(islands):
                continue
            labels, evidence = best[fewer]
            gained = evidence + sum(island.evidence for island in islands[:missing])
            if gained > most:
                most = gained
                apart = labels.copy()
                for number, island in enumerate(islands[:missing]):
                    apart[island.members] = int(labels.max()) + 1 + number
                chosen[K] = apart, gained
    return chosen
