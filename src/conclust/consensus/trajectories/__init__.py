"""Consensus by trajectories: objects are similar if random walks from them visit the same objects."""

from conclust.consensus.trajectories.pta import PTA
from conclust.consensus.trajectories.ptgp import PTGP

__all__ = ["PTA", "PTGP"]
