"""How many clusters: resampling, criteria, and one p-value for a single cluster (floor 4).

``choosing.py`` is for points and for labels that are there, ``monti.py`` for resampling without a test, ``runs.py`` for the
choice among runs. In ``resampled/``, draws of the
points are clustered and compared with references; in ``judged/``, pairs of objects are counted and one K is judged.
``decision.py`` decides, and ``second.py`` tests the borders.
"""

from conclust.selection.choosing import choose, choose_from
from conclust.selection.judged.pairs import PairCounts, pair_distribution
from conclust.selection.monti import consensus_clustering
from conclust.selection.runs import RunChoice as RunChoice
from conclust.selection.runs import choose_run
from conclust.selection.selection import Selection

__all__ = [
    "PairCounts",
    "Selection",
    "choose",
    "choose_from",
    "choose_run",
    "consensus_clustering",
    "pair_distribution",
]


def __dir__() -> list[str]:
    return __all__
