"""Similarities of objects refined before they are cut."""

from conclust.consensus.refinement.drec import DREC
from conclust.consensus.refinement.eccms import ECCMS

__all__ = ["DREC", "ECCMS"]
