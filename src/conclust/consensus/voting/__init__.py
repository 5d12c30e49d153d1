"""Consensus by voting: the clusters of partitions are matched, then votes are counted."""

from conclust.consensus.voting.cumulative import CumulativeVoting
from conclust.consensus.voting.least_squares import Voting
from conclust.consensus.voting.positional import PositionalVoting

__all__ = ["CumulativeVoting", "PositionalVoting", "Voting"]
