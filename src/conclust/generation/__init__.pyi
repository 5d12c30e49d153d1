from conclust.generation.corruption import corrupt as corrupt
from conclust.generation.generator import EnsembleGenerator as EnsembleGenerator
from conclust.generation.members import Member as Member
from conclust.generation.views import MultiViewGenerator as MultiViewGenerator

__all__ = [
    "EnsembleGenerator",
    "Member",
    "MultiViewGenerator",
    "corrupt",
]
