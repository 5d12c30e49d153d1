"""Partitions that are attributes of the objects."""
