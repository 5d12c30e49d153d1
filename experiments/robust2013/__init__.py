"""Lourenço et al., Consensus clustering with robust evidence accumulation (2013)."""
