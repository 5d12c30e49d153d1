"""Products with the indicator matrix, bipartite graphs of labels, and their transfer cut (floor 2)."""
