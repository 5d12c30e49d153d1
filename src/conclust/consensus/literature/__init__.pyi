from conclust.consensus.literature.cehm import CEHM as CEHM
from conclust.consensus.literature.ces2 import CEs2 as CEs2
from conclust.consensus.literature.drec import DREC as DREC
from conclust.consensus.literature.eccms import ECCMS as ECCMS
from conclust.consensus.literature.ecpcs import ECPCS as ECPCS
from conclust.consensus.literature.fuzzy_rows import FuzzyRows as FuzzyRows
from conclust.consensus.literature.gpmgla import GPMGLA as GPMGLA
from conclust.consensus.literature.lce import LCE as LCE
from conclust.consensus.literature.mdec import MDEC as MDEC
from conclust.consensus.literature.pta import PTA as PTA
from conclust.consensus.literature.ptgp import PTGP as PTGP
from conclust.consensus.literature.spce import SPCE as SPCE

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
