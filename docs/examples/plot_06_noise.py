"""
What if HDBSCAN labels objects as noise?
========================================

A density clusterer leaves objects out, and their number depends on a parameter. Noise is evidence that an object is apart from
all others, and counts as such. Six values of the parameter are combined here; the more often an object is left out, the less
it belongs to any cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN

import conclust as cc
from conclust import datasets

data = datasets.half_rings((150, 300), noise=0.5, random_state=0)
sizes = [5, 8, 12, 18, 26, 36]
runs = [HDBSCAN(min_cluster_size=size, copy=True).fit_predict(data.X) for size in sizes]
labels = np.column_stack(runs)  # -1: noise, as HDBSCAN writes it

# %%
# Three of the six: noise is grey.
_, axes = plt.subplots(1, 3, figsize=(8, 2.8), layout="constrained")
for ax, u in zip(axes, (0, 2, 4), strict=True):
    noise = labels[:, u] < 0
    ax.scatter(*data.X[noise].T, s=4, color="0.8")
    ax.scatter(*data.X[~noise].T, s=4, c=[f"C{k}" for k in labels[~noise, u]])
    title = f"{labels[:, u].max() + 1} clusters of at least {sizes[u]}, noise {noise.mean():.0%}"
    ax.set_title(title, fontsize=8)
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# How often each object is noise, and the consensus. ``missing="noise"`` declares that -1 means noise.
ensemble = cc.Ensemble(labels, missing="noise")
model = cc.AutoConsensus(2).fit(ensemble)
often = (labels == -1).mean(axis=1)
_, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
shown = axes[0].scatter(*data.X.T, s=5, c=often)
axes[1].scatter(*data.X.T, s=5, c=[f"C{k}" for k in model.labels_], alpha=1 - 0.8 * often)
for ax, title in zip(
    axes, ("How often it is noise", "Consensus, frequent noise faded"), strict=True
):
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
plt.colorbar(shown, ax=axes[0])
plt.show()

print(f"{(often == 1).sum()} objects are noise in every run, {(often > 0).sum()} in some.")

# %%
# Read next: :doc:`/how-to/missing_and_noise`.
