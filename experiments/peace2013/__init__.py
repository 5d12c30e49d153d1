"""PEACE 2013: probabilistic evidence accumulation for clustering ensembles."""
