from conclust.blocks.arrays import BlockedArray as BlockedArray
from conclust.blocks.store import LabelStore as LabelStore

__all__ = [
    "BlockedArray",
    "LabelStore",
]
