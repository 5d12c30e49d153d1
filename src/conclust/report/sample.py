"""The objects of tables and pictures: all of them, or a sample of a large result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conclust._types import Ints
from conclust.results.result import Reported

MOST_DRAWN = 100_000
"""Maximum number of objects that tables and pictures are made from."""
_FEW = 100  # clusters up to this size are sampled completely


def sample_of(reported: Reported) -> Reported:
    """Return the result of at most about 100,000 objects, evenly spaced within each cluster.

    Clusters keep their numbers and nearly their shares; those of at most 100 objects are kept whole. Objects keep
    their names or numbers.
    """
    if reported.n_samples <= MOST_DRAWN or reported.judged is None:
        return reported
    judged = reported.judged
    at = _spaced(reported.labels)
    if judged.members.has_missing:
        # Every partition keeps an object that it observed.
        present = judged.members.present
        unseen = np.flatnonzero(~present[at].any(axis=0))
        at = np.union1d(at, present[:, unseen].argmax(axis=0))
    part = replace(
        judged,
        labels=judged.labels[at],
        members=judged.members.subset(at),
        membership=None if judged.membership is None else judged.membership[at],
    )
    return replace(
        reported,
        labels=reported.labels[at],
        judged=part,
        points=None if reported.points is None else reported.points[at],
        kept=None if reported.kept is None else reported.kept[at],
        names=[str(i) if reported.names is None else reported.names[i] for i in at.tolist()],
    )


def _spaced(labels: Ints) -> Ints:
    """Return the indices of the sample, in increasing order."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels - labels.min()))
    drawn = []
    for members in np.split(order, ends[:-1]):
        size = len(members)
        wanted = max(min(size, _FEW), round(size * MOST_DRAWN / len(labels)))
        drawn.append(members[np.arange(wanted) * size // max(wanted, 1)])
    return np.sort(np.concatenate(drawn))
