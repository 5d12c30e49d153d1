"""The constants of the number of clusters. experiments/default/README.md says what they were settled on, and what else was tried."""

from __future__ import annotations

import numpy as np

# A border is tested between two branches of a tree with at least 8 objects each: the 60 highest ones. Pieces of the tree, between
# which valleys are counted and whose pooled covariance sets the scale, are as many at most.
SMALLEST, MOST = 8, 60
# Halvings of the points, the same in every run; as many runs of k-means find clusters around centres.
HALVINGS = 8
# Most objects that are counted, and that are halved for clusters that overlap, drawn at random.
MOST_OBJECTS = 3_000
# Objects whose mean is a place of reference.
OBJECTS_A_PLACE = 3
# Width of the band along the border, as a share of the distance of the nearer cluster's middle.
BAND = 0.5
# Density along a border as a share of that in the clusters, with its probability: where there is a border, and where a
# tree cuts through one cluster; the same at the borders between pieces.
WITH_BORDER = np.array([0.1, 0.3, 0.5]), np.ones(3) / 3
WITHOUT_BORDER = np.array([0.7, 1.0, 1.5]), np.array([0.2, 4.0, 2.0]) / 6.2
# Cost of a further cluster, and by how much more clusters must be better than fewer, in units of log-likelihood.
COST, CLEAR = 3.0, 1.0
# Neighbours in the graph of the points, and the largest density along its paths at a border.
NEIGHBOURS, ALONG_PATHS = 10, 0.6
# Of a given number: the share of ties that a cut of a tree may lose at most, of those that clusters around centres lose.
LESS_TORN = 0.75
# Most clusters that overlap.
LARGEST_HALVED = 8
