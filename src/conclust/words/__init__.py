"""Sentences and cards made from facts, which Python, the shell and the report share."""
