"""Placement of objects that were not fitted: by sums over clusters, by landmarks, or by fitted objects."""
