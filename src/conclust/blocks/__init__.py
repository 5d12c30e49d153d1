"""Labels in blocks: ensembles larger than memory, in files or on a cluster.

A method that needs only sums over the objects is a procedure over blocks of objects: a task reads the labels
of a block and returns something small, and the procedure adds up in the order of the blocks. The tasks run in
threads of this process or on the workers of a Dask client, with the same bits.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
