"""Probabilistic consensus: memberships whose inner products explain the co-associations."""

from conclust.consensus.probabilistic.pcc import PCC

__all__ = ["PCC"]
