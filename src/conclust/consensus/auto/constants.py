"""The constants of the default on labels: experiments/labels/README.md says what they were settled on."""

# Jeffreys' prior of a distribution of labels.
PRIOR = 0.5
# Cuts into more clusters than given, from which EM begins, too.
FINER = 2
# Stages of the search: how many of the most probable partitions begin EM, and its rounds. After each, the gate is looked at.
STAGES = ((1, 1), (10, 2), (1, 8))
# Support of a number in the trees from which it is clear; .08 to .15 give nearly the same.
CLEAR = 0.1
# Largest number of clusters that is considered if none is given, and the shortest lifetime in the trees: 0 gives the same.
MOST, SHORTEST = 60, 0.005
# Partitions are weighted by this power of their certainty (experiments/default/weights.py).
STEEPNESS = 2
# All objects enter the trees if they have few distinct rows of labels, up to this multiple of max_samples.
EQUAL_ROWS = 10
# Pieces of the clusters that constraints move, and the rank from which an object is typical of its piece (experiments/answers).
PIECES, TYPICAL = 30, 0.7
# Dissimilarities of units are in [0, 2], and up to this value most pairs of objects are in the same cluster.
SAME_CLUSTER = 1.5
