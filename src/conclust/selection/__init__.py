"""How many clusters: resampling, criteria, and one p-value for a single cluster (floor 4).

``choosing.py`` is for points, ``monti.py`` for resampling alone, ``ensembles.py`` for labels that are there, ``resampling.py`` clusters draws of them,
``pairs.py`` counts pairs of objects, ``criteria.py`` and ``measuring.py`` judge one K, ``null.py`` and ``testing.py``
compare with references, ``decision.py`` decides.
"""

from conclust.selection.choosing import choose, choose_from
from conclust.selection.judged.pairs import PairCounts, pair_distribution
from conclust.selection.monti import consensus_clustering
from conclust.selection.selection import Selection

__all__ = [
    "PairCounts",
    "Selection",
    "choose",
    "choose_from",
    "consensus_clustering",
    "pair_distribution",
]


def __dir__() -> list[str]:
    return __all__
