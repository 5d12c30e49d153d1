"""
Labels that stay while objects come and go
==========================================

Customers are clustered again each month. Are March's clusters the same as January's?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import conclust as cc
from conclust.metrics import labels_like

centers = [(0, 0), (7, 0), (0, 7), (7, 7), (3.5, 12)]
X, _ = make_blobs([160, 130, 110, 90, 60], centers=centers, cluster_std=1.1, random_state=8)
rng = np.random.default_rng(0)
there = [rng.permutation(len(X))[:450] for _ in range(3)]  # who is there in each of three months

found, numbers = [], []
for month, objects in enumerate(there):
    model = cc.ConsensusClustering(n_clusters=5, random_state=month).fit(X[objects])
    found.append(model.labels_)
    if month == 0:
        numbers.append(model.labels_)
        continue
    previous = there[month - 1]
    numbers.append(labels_like(numbers[-1], model.labels_, ids=objects, previous_ids=previous))

# %%
# Each fit numbers its clusters by first appearance: colours change from month to month.
_, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharex=True, sharey=True)
for month, ax in enumerate(axes):
    ax.scatter(*X[there[month]].T, c=[f"C{k}" for k in found[month]], s=6)
    ax.set_title(f"month {month + 1}, as fitted")
plt.show()

# %%
# With ``labels_like`` a cluster keeps its number, and its colour.
_, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharex=True, sharey=True)
for month, ax in enumerate(axes):
    ax.scatter(*X[there[month]].T, c=[f"C{k}" for k in numbers[month]], s=6)
    ax.set_title(f"month {month + 1}, numbers that stay")
plt.show()

# %%
# The share of customers with an unchanged number, among those who were there in the month before:
for month in (1, 2):
    _, now, then = np.intersect1d(there[month], there[month - 1], return_indices=True)
    kept = np.mean(numbers[month][now] == numbers[month - 1][then])
    print(f"month {month + 1}: {kept:.1%} of {len(now)} keep their number")

# %%
# Read next: :doc:`/how-to/labels_that_stay`, :doc:`/how-to/place_new`.
