"""Criteria of the resamples for each number of clusters, and their table."""
