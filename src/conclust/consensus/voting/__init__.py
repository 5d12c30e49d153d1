"""Consensus by voting: partitions made to speak of the same clusters, then counted."""

from conclust.consensus.voting.least_squares import Voting

__all__ = ["Voting"]
