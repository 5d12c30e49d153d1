"""Evidence: the number of partitions that put two objects together, c_ij, and that observed both, N_ij.

Counts come from the bit-sliced kernels and are kept as counts: the frequency c_ij / N_ij is formed
when it is needed (`frequencies`), and is undefined where N_ij is 0. Weights turn counts into sums
of weights, soft members into sums of products of memberships, C = B diag(w) B'.

The package is not called coassociation, because a module would hide the function of the same name.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
