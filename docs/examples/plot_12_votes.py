"""
Who votes like whom?
====================

A roll call is a clustering into ayes and noes, in which absent members are missing. Many roll calls form an ensemble. Their
consensus gives groups of people who vote alike, without using the parties. This parliament is simulated: it has three parties,
and the third sides with the first or the second, depending on the topic.
"""

import matplotlib.pyplot as plt
import numpy as np

import conclust as cc
from conclust import plotting

rng = np.random.default_rng(0)
party = np.repeat([0, 1, 2], [60, 45, 15])
left = rng.random(150) < 0.5  # of each roll call: does the first party say aye?
topic = np.repeat([0, 1], 75)  # economy, then foreign affairs
lines = np.column_stack([left, ~left, np.where(topic == 0, left, ~left)])
loyal = rng.uniform(0.75, 0.98, 120)
loyal[54:60] = 0.5  # six without a party line
votes = np.where(rng.random((120, 150)) < loyal[:, None], lines[:, party].T, ~lines[:, party].T)
labels = np.where(rng.random((120, 150)) < 0.1, -1, votes)  # absent

# %%
# How often two members vote alike in roll calls that both attended, and three groups. Parties are shown but not used.
model = cc.LWEA(3).fit(labels)
_, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
strips = {"consensus": model.labels_, "party": party}
plotting.coassociation_heatmap(labels, labels=strips, ax=ax)
ax.title.set_text("How often two members vote alike")
plt.show()

# %%
# The membership of each in the first of two camps: the third party is between them, and so are the six without a party line.
soft = cc.PCC(2, divergence="l2", random_state=0).fit(labels)
_, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.scatter(soft.membership_[:, 0], party + rng.uniform(-0.25, 0.25, 120), s=12)
ax.set(xlim=(-0.03, 1.03), yticks=range(3), xlabel="membership of the first camp", ylabel="party")
ax.set_title("Two camps, and who stands between them")
plt.show()

# %%
# Which roll calls divide the house in the same way: two topics.
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plotting.partition_map(labels, ax=ax)
ax.set_title("Similarity of the roll calls")
plt.show()

# %%
# Read next: :doc:`/explanation/missing_is_not_noise`, :doc:`/mixed_data`.
