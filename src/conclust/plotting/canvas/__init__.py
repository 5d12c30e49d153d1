"""What all pictures share: axes, style, strips of clusters, orders, and what can be drawn."""
