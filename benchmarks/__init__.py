"""Benchmarks: each beside its baseline, in one run. Never timed tests."""
