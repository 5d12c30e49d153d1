"""
What if every clustering saw only some of the objects?
======================================================

Missing labels are not evidence, and conclust does not fill them in. Here 60 clusterings observe all tissue samples, then fewer
and fewer of them. The consensus gets worse only slowly, until a pair is observed less than once on average.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import conclust as cc
from conclust import metrics

X, y = load_breast_cancer(return_X_y=True)
shares = [1.0, 0.7, 0.5, 0.3, 0.2, 0.1]
scores, seen = [], []
for share in shares:
    generator = cc.EnsembleGenerator(
        n_partitions=60, sample_fraction=share, scale="standard", random_state=0
    )
    labels = generator.fit_transform(X)
    together = cc.copresence(labels)
    seen.append(together[np.triu_indices_from(together, 1)].mean())
    scores.append(
        metrics.adjusted_rand_index(
            y, cc.PCC(2, divergence="l2", random_state=0).fit(labels).labels_
        )
    )
    print(
        f"{share:.0%} seen: {(labels == -1).mean():.0%} of the labels missing, ARI {scores[-1]:.2f}"
    )

# %%
# A clustering observes a pair with the square of the share: at one tenth, one clustering in a hundred has both objects.
_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(shares, seen, marker="o")
ax.set(
    xlabel="share of the objects that each clustering observes",
    ylabel="clusterings",
    title="How many clusterings observed a pair",
)
plt.show()

# %%
_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(shares, scores, marker="o")
ax.set(
    xlabel="share of the objects that each clustering observes",
    ylabel="ARI",
    ylim=(0, 1),
    title="Agreement of the consensus with the diagnoses",
)
plt.show()

# %%
# Read next: :doc:`/explanation/missing_is_not_noise`.
