"""
Which resolution for my cells?
==============================

You need not choose: combine them. Cells are clustered at many resolutions, and the consensus shows which groups most resolutions
share and which cells change from group to group. The counts are simulated: cells of five types, two of which differ little, and
some cells between two types. Spectral clustering of the graph of neighbours is used in place of Leiden.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import PCA

import conclust as cc
from conclust import confidence, metrics, plotting

rng = np.random.default_rng(0)
types = np.repeat(range(6), [150, 120, 90, 60, 60, 30])
programme = rng.gamma(1.0, 1.0, (5, 200))
programme[4] = np.where(rng.random(200) < 0.7, programme[3], programme[4])
way = rng.random((30, 1))  # the last cells are on the way from one type to another
rates = np.vstack([programme[types[:480]], way * programme[0] + (1 - way) * programme[1]])
counts = rng.poisson(rates * rng.gamma(4.0, 0.25, (510, 1)))
shares = counts / counts.sum(axis=1, keepdims=True)
X = PCA(10, random_state=0).fit_transform(np.log1p(1000 * shares))

# %%
# A column for each resolution and seed, as ``adata.obs`` has them.
numbers = range(4, 11)
cut = {"affinity": "nearest_neighbors", "assign_labels": "cluster_qr", "n_neighbors": 15}
with warnings.catch_warnings(action="ignore"):  # types without a neighbour in common
    columns = {k: SpectralClustering(k, **cut, random_state=0).fit_predict(X) for k in numbers}

# %%
# A stable group has a single line from row to row; further down, groups are split or exchange cells.
_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plotting.flow_diagram(columns, ax=ax)
ax.set_title("Groups of cells from the coarsest to the finest resolution")
plt.show()

# %%
# The consensus of all seven, which also finds the number of groups. Cells are pale if the resolutions disagree about them.
labels = np.column_stack(list(columns.values()))
model = cc.AutoConsensus().fit(labels)
sure = confidence.confidences(model.labels_, labels)
_, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
plotting.embedding(X, model.labels_, sure, ax=ax)
ax.set_title("Cells by consensus, faded where resolutions disagree")
plt.show()
score = metrics.adjusted_rand_index(types[:480], model.labels_[:480])
print(
    f"{model.n_clusters_} groups, ARI with the types: {score:.2f}, confidence on the way: {sure[480:].mean():.2f}"
)

# %%
# Read next: :doc:`/how-to/combine_cells`, :doc:`/explanation/what_makes_members_good`.
