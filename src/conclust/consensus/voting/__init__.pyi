from conclust.consensus.voting.cumulative import CumulativeVoting as CumulativeVoting
from conclust.consensus.voting.least_squares import Voting as Voting
from conclust.consensus.voting.positional import PositionalVoting as PositionalVoting

__all__ = [
    "CumulativeVoting",
    "PositionalVoting",
    "Voting",
]
