"""Methods that benchmark papers name: a file each, in the form of their papers. The core does not import this folder."""

from conclust.consensus.literature.cehm import CEHM
from conclust.consensus.literature.ces2 import CEs2
from conclust.consensus.literature.drec import DREC
from conclust.consensus.literature.eccms import ECCMS
from conclust.consensus.literature.ecpcs import ECPCS
from conclust.consensus.literature.fuzzy_rows import FuzzyRows
from conclust.consensus.literature.gpmgla import GPMGLA
from conclust.consensus.literature.lce import LCE
from conclust.consensus.literature.mdec import MDEC
from conclust.consensus.literature.pta import PTA
from conclust.consensus.literature.ptgp import PTGP
from conclust.consensus.literature.spce import SPCE

__all__ = [
    "CEHM",
    "DREC",
    "ECCMS",
    "ECPCS",
    "GPMGLA",
    "LCE",
    "MDEC",
    "PTA",
    "PTGP",
    "SPCE",
    "CEs2",
    "FuzzyRows",
]
