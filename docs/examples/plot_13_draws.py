"""
How far do the draws of a posterior spread?
===========================================

Draws of a partition by MCMC are an ensemble. These draws come from a Dirichlet process mixture of normals, fitted to 82 velocities
in four groups, two of which overlap. The pictures show the estimate and its credible ball. The tutorial "I have MCMC draws"
explains the model.
"""

from statistics import NormalDist

import matplotlib.pyplot as plt
import numpy as np

import conclust as cc
from conclust import confidence, plotting


def gibbs(x, n_draws, alpha=1.0, sd=1.4, spread=8.0, seed=0):
    """Return draws of the partition of a Dirichlet process mixture of normals."""
    rng, z = np.random.default_rng(seed), np.zeros(len(x), dtype=int)
    draws = np.empty((n_draws, len(x)), dtype=int)
    for s in range(n_draws):
        for i in range(len(x)):
            z[i] = -1
            names, size = np.unique(z[z >= 0], return_counts=True)
            total = np.array([x[z == k].sum() for k in names] + [0.0])
            size = np.append(size, 0)
            precision = size / sd**2 + 1 / spread**2  # of a cluster's mean, given its objects
            mean = (total / sd**2 + x.mean() / spread**2) / precision
            variance = 1 / precision + sd**2  # of a further object
            odds = np.append(size[:-1], alpha) / np.sqrt(variance)
            odds = odds * np.exp(-((x[i] - mean) ** 2) / (2 * variance))
            k = rng.choice(len(odds), p=odds / odds.sum())
            z[i] = names[k] if k < len(names) else z.max() + 1
        draws[s] = z
    return draws


groups = [(10, 0.6, 12), (20, 1.6, 40), (24, 1.2, 22), (33, 0.9, 8)]
x = [NormalDist(mean, sd).inv_cdf((i + 0.5) / n) for mean, sd, n in groups for i in range(n)]
x = np.array(x)
draws = cc.Ensemble.from_draws([gibbs(x, 300, seed=chain) for chain in range(2)], burn=50, thin=2)

# %%
# How often two objects are together in the draws, and the clusters of the estimate as blocks.
model = cc.BayesEstimate(random_state=0).fit(draws)
_, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
plotting.coassociation_heatmap(draws, labels=model.labels_, order="cluster", ax=ax)
ax.set_title("How often two objects are together")
plt.show()

# %%
# The estimate beside the draws at the border of its credible ball.
# Read next: :doc:`/tutorials/mcmc_draws`.
ball = confidence.credible_ball(draws, model.labels_)
_, ax = plt.subplots(figsize=(4.5, 4.6), layout="constrained")
columns = {
    "fewest clusters": ball.upper_vertical.labels[0],
    "estimate": ball.labels,
    "most clusters": ball.lower_vertical.labels[0],
}
ax.imshow(np.column_stack([*columns.values()]), aspect="auto", interpolation="none")
ax.set_xticks(range(3), columns)
ax.set_title("The estimate and its credible ball")
plt.show()
