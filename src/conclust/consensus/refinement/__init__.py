"""Similarities of objects refined before they are cut."""

from conclust.consensus.refinement.drec import DREC
from conclust.consensus.refinement.eccms import ECCMS
from conclust.consensus.refinement.spce import SPCE

__all__ = ["DREC", "ECCMS", "SPCE"]
