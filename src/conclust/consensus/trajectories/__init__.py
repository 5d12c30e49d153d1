"""Consensus by trajectories: objects are alike if random walks from them go to the same places."""

from conclust.consensus.trajectories.pta import PTA
from conclust.consensus.trajectories.ptgp import PTGP

__all__ = ["PTA", "PTGP"]
