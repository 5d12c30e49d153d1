"""The papers' experiments, run again: a folder per paper, a script per experiment."""
