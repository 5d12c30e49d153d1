"""Locally weighted ensemble clustering (2018): its pools of ready partitions."""
