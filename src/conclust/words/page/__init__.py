"""Sentences of the report: the decision, its reasons, pictures in words, citations."""
