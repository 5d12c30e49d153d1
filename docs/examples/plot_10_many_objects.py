"""
A hundred thousand objects: what does it cost?
==============================================

Methods whose time is linear in the number of objects take tenths of a second for a hundred thousand objects, and seconds for a
million. The times are measured while this page is built.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import conclust as cc
from conclust import metrics

rng = np.random.default_rng(0)
truth = rng.integers(0, 5, 100_000)
labels = np.where(
    rng.random((100_000, 20)) < 0.3, rng.integers(0, 5, (100_000, 20)), truth[:, None]
)

methods = {
    "HBGF": cc.HBGF(5, random_state=0),
    "Voting": cc.Voting(5, random_state=0),
    "QMI": cc.QMI(5, random_state=0),
    "PCC (l2)": cc.PCC(5, divergence="l2", random_state=0),
}
sizes = [10_000, 30_000, 100_000]
seconds = {name: [] for name in methods}
scores = []
for name, method in methods.items():
    method.fit(labels[:100])  # load everything before measuring
    for n in sizes:
        start = time.process_time()
        found = method.fit(labels[:n]).labels_
        seconds[name].append(time.process_time() - start)
    scores.append(metrics.adjusted_rand_index(truth, found))

# %%
_, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, values in seconds.items():
    ax.plot(sizes, values, marker="o", label=name)
ax.set(
    xlabel="objects",
    ylabel="CPU seconds",
    title="CPU seconds to combine twenty clusterings",
)
ax.legend(frameon=False)
plt.show()

# %%
_, ax = plt.subplots(figsize=(5.5, 2.4), layout="constrained")
ax.barh(list(methods), scores)
ax.set(xlim=(0, 1), xlabel="ARI", title="Agreement with the clusters that were planted")
plt.show()

# %%
# Read next: :doc:`/how-to/large_data`.
