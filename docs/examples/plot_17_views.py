"""
What if my data have several kinds of features?
===============================================

Each kind of features (view) shows some of the groups, and in one matrix the view with the most columns dominates.
Members from each view and from unions of views, weighted by their certainty within their view, show all groups. Here "shape" and "colour" show
half of the groups each, and "sound", which has the most columns, shows nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import conclust as cc

rng = np.random.default_rng(0)
kind = np.repeat([0, 1, 2, 3], 60)
views = {
    "shape": 5.0 * np.eye(2)[kind // 2] + rng.normal(size=(240, 2)),
    "colour": 5.0 * np.eye(2)[kind % 2] + rng.normal(size=(240, 2)),
    "sound": 3.0 * rng.normal(size=(240, 60)),
}
kmeans = cc.EnsembleGenerator("kmeans", 40, n_clusters=4, random_state=0)


def score(ensemble):
    """Return the agreement of a consensus with the four groups."""
    return cc.metrics.adjusted_rand_index(kind, cc.LWEA(4).fit_predict(ensemble))


# %%
# Each view alone, all columns in one matrix, and the views together.
scores = {name: score(kmeans.fit_transform(view)) for name, view in views.items()}
scores["one matrix"] = score(kmeans.fit_transform(np.hstack(list(views.values()))))
makes = cc.MultiViewGenerator(kmeans, 40, random_state=0).fit(views)
scores["views together"] = score(makes.ensemble_)
_, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.barh(list(scores), list(scores.values()), color="C1")
ax.invert_yaxis()
ax.set(xlabel="adjusted Rand index", xlim=(0, 1), title="Four groups, of which each view shows two")
plt.show()

# %%
# The weights of the members. Members from "sound" contradict each other and get small weights.
names = [" + ".join(of) for of in makes.views_]
order = list(dict.fromkeys(names))
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(makes.weights_, [order.index(name) for name in names], "o", alpha=0.5, color="C1")
ax.set_yticks(range(len(order)), order)
ax.invert_yaxis()
ax.set(xlabel="weight of a member", title="How certain members are within their view")
plt.show()

# %%
# Read next: :doc:`/how-to/combine_views`.
