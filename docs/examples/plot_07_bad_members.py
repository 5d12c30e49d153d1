"""
Some of my clusterings are random: does it matter?
==================================================

Less than you might expect: random clusterings contradict each other as much as they contradict the good ones. They lower the
confidence, and learnt weights restore part of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import conclust as cc
from conclust import metrics, plotting

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
good = (
    cc.EnsembleGenerator(n_partitions=14, n_clusters=3, random_state=0).fit_transform(X).astype(int)
)
labels = np.hstack([good, rng.integers(0, 3, (150, 6))])

plain = cc.PCC(3, divergence="l2", random_state=0).fit(labels)
learnt = cc.WeightedPCC(3, random_state=0).fit(labels)
for name, model in (("all alike", plain), ("weights learnt", learnt)):
    score = metrics.adjusted_rand_index(y, model.labels_)
    print(f"{name}: ARI {score:.2f}, mean membership {model.membership_.max(axis=1).mean():.2f}")

# %%
# The last six, 14 to 19, are random: in the map they are similar to no other clustering.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plotting.partition_map(labels, ax=ax)
ax.set_title("Similarity of the twenty clusterings")
plt.show()

# %%
_, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.bar(range(20), learnt.weights_)
ax.set_title("Weights that WeightedPCC learnt")
plt.show()
print("weight 0:", (learnt.weights_ == 0).nonzero()[0].tolist())

# %%
# Read next: :doc:`/how-to/weigh_members`.
