from conclust.similarity.bottleneck import information_bottleneck as information_bottleneck
from conclust.similarity.certainty import cluster_certainty as cluster_certainty
from conclust.similarity.jaccard import approximate_simrank as approximate_simrank
from conclust.similarity.jaccard import cluster_jaccard as cluster_jaccard
from conclust.similarity.jaccard import simrank as simrank
from conclust.similarity.trajectories import trajectory_similarity as trajectory_similarity
from conclust.similarity.triples import common_neighbours as common_neighbours
from conclust.similarity.triples import connected_triples as connected_triples
from conclust.similarity.triples import triple_quality as triple_quality

__all__ = [
    "approximate_simrank",
    "cluster_certainty",
    "cluster_jaccard",
    "common_neighbours",
    "connected_triples",
    "information_bottleneck",
    "simrank",
    "trajectory_similarity",
    "triple_quality",
]
