"""
How many kinds of tumours do resamples show?
============================================

It depends on the distance more than on the criterion. R packages cut trees on the correlations of four fifths of the samples.
Here, they find no number at which pairs of tumours are always or never together; k-means on the same measurements does. The gene
expressions of the papers cannot be included, so this example uses 569 breast tumours with 30 measurements of their nuclei each.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from conclust import metrics, plotting
from conclust.selection import choose, choose_from

tumours = load_breast_cancer()
X = StandardScaler().fit_transform(np.log(tumours.data + 0.01))
D, ks = 1 - np.corrcoef(X), range(2, 6)

# %%
# Fifty draws. The tree of a draw is cut at every number of clusters; -1 are the samples that were not drawn.
rng = np.random.default_rng(0)
resamples = {k: np.full((569, 50), -1) for k in ks}
for b in range(50):
    drawn = rng.choice(569, 455, replace=False)
    tree = linkage(squareform(D[np.ix_(drawn, drawn)], checks=False), "average")
    for k in ks:
        resamples[k][drawn, b] = fcluster(tree, k, "maxclust")
with warnings.catch_warnings(action="ignore"):  # doubts: no number is clear
    by_correlation = choose_from(resamples)
by_kmeans = choose(X, k=ks, n_references=39, random_state=0)
print("k-means:", by_kmeans.reason)

# %%
# A number of clusters is stable if its curve is flat in the middle. On the right, this is the curve of two clusters.
_, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
both = {"correlation": by_correlation, "k-means": by_kmeans}
for ax, (name, found) in zip(axes, both.items(), strict=True):
    plotting.cdf_curves(found, ax=ax)
    ax.set_title(f"How often pairs are together: {name}")
plt.show()

# %%
# How often each pair is together, with the two clusters of k-means and the diagnoses, which were not used.
labels = by_kmeans.labels_
_, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
strips = {"consensus": labels, "diagnosis": tumours.target}
plotting.coassociation_heatmap(by_kmeans.ensembles[2], labels=strips, ax=ax)
ax.title.set_text("Consensus matrix of 569 tumours")
plt.show()
print(f"ARI with the diagnoses: {metrics.adjusted_rand_index(tumours.target, labels):.2f}")

# %%
# Read next: :doc:`/how-to/choose_k`, and gene expressions: :doc:`/reference/made/experiments/ccp2010/README`.
