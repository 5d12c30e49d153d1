"""Labels in blocks: ensembles larger than the memory, from files, and on a cluster.

A method that needs of the objects only sums is a procedure over blocks of them: a task reads the labels
of a block and returns something small, and the procedure adds up in the order of the blocks. Who runs
the tasks changes no bit: threads of this process, or the workers of a Dask client.
"""

from conclust.blocks.arrays import BlockedArray
from conclust.blocks.checkpoints import checkpoint
from conclust.blocks.store import LabelStore

__all__ = ["BlockedArray", "LabelStore", "checkpoint"]
