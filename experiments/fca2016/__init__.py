"""Bocharov et al., A lattice-based consensus clustering algorithm (2016)."""
