"""Linkage: how trees of objects are grown, and how dendrograms are cut (floor 2)."""
