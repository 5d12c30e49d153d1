"""
Can k-means find half rings and rings?
======================================

Not by itself: it finds round groups. But members that cut the shapes into many small pieces, different ones each time, show
which points are neighbours, and a tree built from this evidence follows the shape.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

import conclust as cc
from conclust import datasets, metrics

sets = [(datasets.half_rings(random_state=0), 2), (datasets.rings(random_state=0), 3)]


def draw(ax, data, labels, title):
    """Draw points by label, with the agreement with the known classes."""
    score = metrics.adjusted_rand_index(data.y, labels)
    ax.scatter(*data.X.T, c=[f"C{k}" for k in labels], s=4)
    ax.set(title=f"{title}: ARI {score:.2f}", xticks=[], yticks=[], aspect="equal")


# %%
# k-means, given the number of groups:
_, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for ax, (data, k) in zip(axes, sets, strict=True):
    draw(ax, data, KMeans(k, n_init=10, random_state=0).fit_predict(data.X), "k-means")
plt.show()

# %%
# A hundred runs of k-means with 15 to 39 clusters each, and their default consensus, given the same number of groups:
_, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for ax, (data, k) in zip(axes, sets, strict=True):
    generator = cc.EnsembleGenerator("kmeans", 100, n_clusters=range(15, 40), random_state=0)
    members = generator.fit_transform(data.X)
    draw(ax, data, cc.AutoConsensus(k).fit_predict(members), "consensus")
plt.show()

# %%
# The classes are used for the score only. Read next: :doc:`/explanation/what_it_is`.
