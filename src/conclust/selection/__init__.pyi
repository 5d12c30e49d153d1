from conclust.selection.choosing import choose as choose
from conclust.selection.choosing import choose_from as choose_from
from conclust.selection.judged.pairs import PairCounts as PairCounts
from conclust.selection.judged.pairs import pair_distribution as pair_distribution
from conclust.selection.monti import consensus_clustering as consensus_clustering
from conclust.selection.runs import choose_run as choose_run
from conclust.selection.selection import Selection as Selection

__all__ = [
    "PairCounts",
    "Selection",
    "choose",
    "choose_from",
    "choose_run",
    "consensus_clustering",
    "pair_distribution",
]
