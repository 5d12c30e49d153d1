"""Resampled clusterings of points and of references without clusters, and the test of one cluster."""
