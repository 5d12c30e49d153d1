"""
Some of my clusterings are random: does it matter?
==================================================

Less than one fears: random clusterings contradict each other as much as the good ones. What they cost is confidence, and
learnt weights give it back.
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
# The last six are random: the map shows them as like none.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plotting.partition_map(labels, ax=ax)
ax.set_title("How alike the twenty clusterings are")
plt.show()

# %%
_, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
plotting.weight_bars(learnt, ax=ax)
ax.set_title("Weights that WeightedPCC learnt, the heaviest first")
plt.show()

# %%
# Read next: :doc:`/how-to/weigh_members`.
