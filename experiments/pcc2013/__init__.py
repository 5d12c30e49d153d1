"""Lourenço et al., Probabilistic consensus clustering using evidence accumulation (2013)."""
