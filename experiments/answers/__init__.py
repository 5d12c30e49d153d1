"""How much answers about pairs of objects help."""
