"""
Twelve methods on one ensemble
==============================

Twelve methods combine the same forty clusterings of handwritten digits. The known digits are used for the score only.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_digits

import conclust as cc
from conclust import plotting

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
labels = cc.EnsembleGenerator(random_state=0).fit_transform(X)

names = "AutoConsensus EAC LWEA LWGP HBGF MCLA ECPCS PTA CumulativeVoting QMI SEC MixtureModel"
found = pd.DataFrame({name: getattr(cc, name)(10).fit_predict(labels) for name in names.split()})
scores = found.apply(lambda one: cc.metrics.normalized_mutual_information(y, one)).sort_values()
print(scores.round(3))

# %%
# Best on top, by the mutual information with the digits.
_, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
ax.plot(scores, scores.index, "o")
ax.set_title("Mutual information of twelve methods with the digits")
plt.show()

# %%
# The similarity of their results. Methods with similar results are adjacent.
_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plotting.partition_map(found, ax=ax)
ax.set_title("Similarity of the results of the twelve methods")
plt.show()

# %%
# Read next: :doc:`/how-to/compare_methods`, :doc:`/how-to/choose_a_method`, :doc:`/methods`.
