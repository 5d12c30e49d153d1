"""
Why does my network lose its small communities?
===============================================

Modularity has a resolution limit: in a large network, a single run merges communities that are connected by a single edge.
Different runs merge different communities, so nodes that all runs keep together belong together. By default, each community is
also clustered by itself and split if its parts describe it better. The network is a ring of 150 cliques of six nodes.
"""

import matplotlib.pyplot as plt
import networkx as nx

import conclust as cc

G = nx.ring_of_cliques(150, 6)

# %%
# One run, then the edges on which more and more runs agree.
counts = [1, 2, 5, 10, 20, 50]
models = [cc.GraphConsensus("strict", n_runs=n, split=False, random_state=0) for n in counts]
found = [model.fit(G).n_clusters_ for model in models]
_, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
ax.plot(counts, found, "o-", color="C1")
ax.axhline(150, color="0.6", linewidth=1, label="cliques")
ax.legend()
ax.set(xscale="log", xlabel="runs that have to agree", ylabel="communities found")
ax.set_title("Strict consensus against the resolution limit of modularity")
plt.show()

# %%
# The four kinds, with ten runs each (ECG: 16), as published and with the split, which is the default.
for kind in ("fast", "threshold", "strict", "ecg"):
    published = cc.GraphConsensus(kind, split=False, random_state=0).fit(G)
    model = cc.GraphConsensus(kind, random_state=0).fit(G)
    print(f"{kind:10} {published.n_clusters_:4} communities, {model.n_clusters_:4} with the split")

# %%
# The constant Potts model has no such limit where the resolution lies between the densities within and between communities.
model = cc.GraphConsensus(quality="cpm", resolution=0.1, n_runs=1, random_state=0).fit(G)
print(model.n_clusters_, "communities by the Potts model")

# %%
# ``to_communities`` returns sets of nodes, as networkx does. Here is a smaller ring, with the edges between communities in colour.
small = nx.ring_of_cliques(30, 6)
strict = cc.GraphConsensus("strict", n_runs=10, split=False, random_state=0).fit(small)
community = {node: k for k, nodes in enumerate(strict.to_communities()) for node in nodes}
between = [(a, b) for a, b in small.edges if community[a] != community[b]]
around = nx.kamada_kawai_layout(small)
_, ax = plt.subplots(figsize=(5, 5), layout="constrained")
nx.draw_networkx_edges(small, around, ax=ax, edge_color="0.75")
nx.draw_networkx_edges(small, around, between, ax=ax, edge_color="C5", width=2)
colours = [f"C{community[node] % 8}" for node in small]
nx.draw_networkx_nodes(small, around, ax=ax, node_size=18, node_color=colours)
ax.set_title(f"{len(between)} edges between communities are found in 30 cliques")
ax.set_axis_off()
plt.show()

# %%
# Read next: :doc:`/how-to/combine_communities`.
