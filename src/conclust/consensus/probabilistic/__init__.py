"""Probabilistic consensus: inner products of memberships explain the co-associations."""
