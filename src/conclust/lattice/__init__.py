"""Partitions as a lattice, and formal concept analysis for small contexts.

The partitions of n objects, ordered by refinement, form a lattice: `meet` and `join` work on label
vectors of any size. A `FormalContext` stores which object has which attribute; its concepts form a
lattice too, and for the right context it is the lattice of partitions.
"""

from conclust.lattice.contexts import Concept, ConceptLattice, FormalContext
from conclust.lattice.partitions import is_finer, join, meet

__all__ = ["Concept", "ConceptLattice", "FormalContext", "is_finer", "join", "meet"]
