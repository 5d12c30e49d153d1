"""
Which irises are uncertain?
===========================

One cluster of irises stands apart, and two touch. The consensus of forty clusterings shows which flowers lie on the border
between the two. A single clustering puts each of these flowers into a cluster and does not show that it is uncertain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import conclust as cc
from conclust import confidence, plotting

X = load_iris().data
model = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(X)
sure = confidence.object_confidence(model)

# %%
# Pale points are uncertain. All of them lie between the two clusters that touch.
_, ax = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
plotting.embedding(X, model.labels_, sure.silhouette.clip(0, 1), ax=ax)
ax.set_title("Irises by cluster, faded where uncertain")
plt.show()

# %%
# The silhouette on the consensus is positive for flowers that the clusterings put together with their own cluster. The few
# flowers with a negative silhouette were more often with another cluster; look at these again.
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
plotting.silhouette_bars(model, ax=ax)
ax.set_title("How clearly each iris belongs to its cluster")
plt.show()

# %%
# The five lowest silhouettes, with the number of each flower and the cluster that it might belong to instead:
least = np.argsort(sure.silhouette)[:5]
for i in least:
    print(
        f"iris {i}: cluster {sure.labels[i]} or {sure.second[i]}, silhouette {sure.silhouette[i]:.2f}"
    )

# %%
# Read next: :doc:`/how-to/say_how_sure`.
