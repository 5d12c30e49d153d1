"""
How many clusters, and is it more than one?
===========================================

The same test is applied to wines and to a cloud of the same covariance without clusters. Criteria find several clusters in both;
the comparison with rotations of the points finds them in the wines only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from conclust import plotting
from conclust.selection import choose

X = StandardScaler().fit_transform(load_wine().data)
cloud = np.random.default_rng(0).multivariate_normal(X.mean(axis=0), np.cov(X.T), size=len(X))

wines = choose(X, k=range(2, 8), n_references=39, random_state=0)
fog = choose(cloud, k=range(2, 8), n_references=39, random_state=0)
print("Wines:", wines.reason)
print("Cloud:", fog.reason)

# %%
# From three clusters on, the share of ambiguous pairs falls as the number of clusters grows, in the references and in the cloud,
# although they have no clusters. The band contains nine of ten references. The wines are far below it at three clusters.
_, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
plotting.criterion_curve(wines, ax=ax)
ax.set_title("Wines: far below the references at three")
plt.show()

# %%
_, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
plotting.criterion_curve(fog, ax=ax)
ax.set_title("Cloud: among the references everywhere")
plt.show()

# %%
# Read next: :doc:`/explanation/how_k_is_chosen`.
