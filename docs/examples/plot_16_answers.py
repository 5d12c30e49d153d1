"""
Answers about pairs of objects
==============================

An expert answers for some pairs of objects whether they belong together. Which pairs are worth asking about?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import conclust as cc
from conclust.confidence import questions

X, y = make_blobs(
    [120, 120, 60, 60],
    centers=[(0, 0), (5, 0), (0, 3.4), (1.9, 4.9)],
    cluster_std=0.75,
    random_state=1,
)
labels = cc.EnsembleGenerator("kmeans", 40, n_clusters=(2, 8), random_state=0).fit_transform(X)
before = cc.AutoConsensus(3).fit(labels).labels_
pairs = questions(labels, 8)
same = y[pairs[:, 0]] == y[pairs[:, 1]]
answers = {"must_link": pairs[same], "cannot_link": pairs[~same]}
after = cc.AutoConsensus(4).fit(labels, **answers).labels_

# %%
# Eight questions. Each is about the most typical objects of two parts that a merge of the tree joins.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(*X.T, c=[f"C{k}" for k in before], s=8)
for pair, together in zip(pairs, same, strict=True):
    ax.plot(*X[pair].T, color="black", linestyle="-" if together else ":", marker="o", ms=3)
ax.set_title("Three clusters, and eight pairs (dotted: not together)")
plt.show()

# %%
# The result agrees with the answers: objects that do not belong together are in different clusters.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(*X.T, c=[f"C{k}" for k in after], s=8)
ax.set_title("Four clusters that keep the answers")
plt.show()
print("kept:", bool(np.all((after[pairs[:, 0]] == after[pairs[:, 1]]) == same)))

# %%
# Read next: :doc:`/how-to/use_answers`, :doc:`/how-to/say_how_sure`.
