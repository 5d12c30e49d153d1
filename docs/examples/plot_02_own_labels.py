"""
Do my five clusterings agree, and who is the odd one out?
=========================================================

Five algorithms cluster the same wines. The consensus needs only their labels, and shows how far each of them is from what
they have in common.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import conclust as cc
from conclust import confidence, plotting

X = StandardScaler().fit_transform(load_wine().data)
labels = pd.DataFrame(
    {
        "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
        "Ward": AgglomerativeClustering(3).fit_predict(X),
        "Gaussians": GaussianMixture(3, random_state=0).fit_predict(X),
        "spectral": SpectralClustering(3, affinity="nearest_neighbors", random_state=0).fit_predict(
            X
        ),
        "single linkage": AgglomerativeClustering(3, linkage="single").fit_predict(X),
    }
)

# %%
# The map of clusterings: four are similar, and single linkage is similar to none, because it cuts off two wines.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plotting.partition_map(labels, ax=ax)
ax.set_title("Similarity of the five clusterings")
plt.show()

# %%
# Single linkage hardly affects the consensus. The agreement of each clustering with the consensus identifies it. (The warning is
# about single linkage, too: nearly all wines are in one of its clusters.)
model = cc.PCC(3, divergence="l2", random_state=0).fit(labels)
found = confidence.partition_confidence(model, labels)
print(pd.DataFrame({"ARI with the consensus": found.ari.round(2)}, index=labels.columns))

# %%
# Memberships show the wines on which the four differ.
_, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
plotting.membership_bars(model, ax=ax)
ax.set_title("A bar for each wine: how much of it belongs to each cluster")
plt.show()

# %%
# Read next: :doc:`/how-to/combine_my_own`, :doc:`/how-to/weigh_members`.
