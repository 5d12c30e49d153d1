"""Consensus functions: label matrix -> consensus, one file or folder per family."""
