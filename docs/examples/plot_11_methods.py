"""
Twelve methods on one ensemble: time and agreement
==================================================

The same hundred clusterings of handwritten digits go through twelve methods. The known digits serve for the score only.
"""

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import conclust as cc
from conclust import metrics, plotting

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
labels = cc.EnsembleGenerator(random_state=0).fit_transform(X)

names = "AutoConsensus EAC LWEA LWGP HBGF MCLA ECPCS PTA CumulativeVoting QMI SEC MixtureModel"
found, seconds, scores = {}, [], []
for name in names.split():
    kind = getattr(cc, name)
    seeded = {"random_state": 0} if "random_state" in kind().get_params() else {}
    start = time.process_time()
    found[name] = kind(10, **seeded).fit(labels).labels_
    seconds.append(time.process_time() - start)
    scores.append(metrics.normalized_mutual_information(y, found[name]))

# %%
# Up is better, left is faster.
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(seconds, scores, s=14)
for name, x, score in zip(found, seconds, scores, strict=True):
    ax.annotate(name, (x, score), (4, 2), textcoords="offset points", fontsize=7)
ax.set(
    xscale="log",
    xlabel="CPU seconds",
    ylabel="NMI with the digits",
    title="Twelve methods: agreement with the digits against time",
)
plt.show()

# %%
# How alike their answers are: methods of one family stand together.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plotting.partition_map(list(zip(*found.values(), strict=True)), ax=ax)
ax.set_title("How alike the answers of the twelve methods are")
plt.show()

# %%
# Read next: :doc:`/how-to/choose_a_method`, :doc:`/methods`.
