"""
Which irises are uncertain?
===========================

One cluster of irises stands apart, two touch. The consensus of a hundred clusterings says which flowers lie on the
border; a single clustering puts them somewhere and keeps silent.
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
# Points fade where they are unsure: all of them between the two clusters that touch.
_, ax = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
plotting.embedding(X, model.labels_, sure.silhouette.clip(0, 1), ax=ax)
ax.set_title("Irises by cluster, faded where uncertain")
plt.show()

# %%
# The silhouette on the consensus is positive for flowers that keep company with their own cluster. The few bars near
# zero are the flowers to look at again.
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
plotting.silhouette_bars(model, ax=ax)
ax.set_title("How clearly each iris belongs to its cluster")
plt.show()

# %%
# By number, with the cluster that each might belong to instead:
least = np.argsort(sure.silhouette)[:5]
for i in least:
    print(
        f"iris {i}: cluster {sure.labels[i]} or {sure.second[i]}, silhouette {sure.silhouette[i]:.2f}"
    )

# %%
# Read next: :doc:`/how-to/say_how_sure`.
