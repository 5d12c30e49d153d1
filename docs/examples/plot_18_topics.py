"""
Why does my topic model change with the seed?
=============================================

The reduction to few dimensions uses random numbers, so documents on a border change their topic with the seed. A consensus
keeps together what most runs keep together. The embeddings of five hundred documents are simulated: eight topics, and a tenth of the
documents without a topic.
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
# Six runs with one member each, then six consensus results of fifty members each, all with different seeds.
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
    axes.set(title=f"{members} member{'s' * (members > 1)} per run", xlabel="seed", ylabel="seed")
plt.colorbar(shown, ax=ax, label="adjusted Rand index")
plt.show()

# %%
# The probability of a document is the share of members that put it together with the others of its topic. It is low on borders.
model.fit(X)
_, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
bins = np.linspace(0, 1, 21)
ax.hist([model.probabilities_[50:], model.probabilities_[:50]], bins, stacked=True)
ax.legend(["with a topic", "without a topic"])
ax.set(xlabel="probability", ylabel="documents", title="How sure each document is; 0 is noise")
plt.show()

# %%
# Read next: :doc:`/how-to/combine_topics`.
