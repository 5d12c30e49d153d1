"""Common parts of all plots: axes, style, strips of clusters, orders, and readers of input."""
