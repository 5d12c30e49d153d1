"""
Why does my topic model change with the seed?
=============================================

A reduction to few dimensions and a clustering by density draw random numbers, and documents on a border go here or there. A
consensus keeps what most runs have together. Embeddings of five hundred documents are drawn: eight topics, and a tenth of no topic.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.random_projection import GaussianRandomProjection

import conclust as cc
from conclust.metrics import adjusted_rand_index, partition_similarities

rng = np.random.default_rng(0)
centres = rng.normal(size=(8, 96))
topic = rng.integers(0, 8, 500)
X = centres[topic] + 0.6 * rng.normal(size=(500, 96))
X[:50] = 1.2 * rng.normal(size=(50, 96))

# %%
# Six runs with one member each, then six consensuses of fifty members, all with seeds of their own.
results = {}
for members in (1, 50):
    model = cc.TopicConsensus(GaussianRandomProjection(16), n_members=members)
    seeds = [model.set_params(random_state=seed).fit_predict(X) + 1 for seed in range(6)]
    results[members] = seeds
    mean = np.mean([adjusted_rand_index(a, b) for a, b in combinations(seeds, 2)])
    print(f"{members:2} members: mean ARI between seeds {mean:.2f}")

_, ax = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for axes, (members, seeds) in zip(ax, results.items(), strict=True):
    table = partition_similarities(np.column_stack(seeds), measure="ari")
    shown = axes.imshow(table, vmin=0, vmax=1)
    axes.set(title=f"{members} member{'s' * (members > 1)} a run", xlabel="seed", ylabel="seed")
plt.colorbar(shown, ax=ax, label="adjusted Rand index")
plt.show()

# %%
# Documents of no topic: a share of the members with the others of the topic, which is low on borders.
model.fit(X)
_, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
bins = np.linspace(0, 1, 21)
ax.hist([model.probabilities_[50:], model.probabilities_[:50]], bins, stacked=True)
ax.legend(["of a topic", "of none"])
ax.set(xlabel="probability", ylabel="documents", title="How sure each document is; 0 is noise")
plt.show()

# %%
# Read next: :doc:`/how-to/combine_topics`.
