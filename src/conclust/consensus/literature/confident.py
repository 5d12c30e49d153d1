"""The graph of high-confidence pairs: distinct rows that most partitions put together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from conclust._types import Floats, Ints
from conclust.ensemble import DistinctRows
from conclust.evidence import coassociation_blocks, frequencies

# Tolerance for shares that are equal on paper but differ in their last bits, such as 8 of 10 and 0.8.
_ROUNDING = 1e-12
# Number of pairs counted at once, in several arrays of eight bytes each.
_BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class ConfidentGraph:
    """Distinct rows of labels, joined if enough partitions put them together.

    Attributes
    ----------
    edges : csr_array of shape (n_rows, n_rows)
        The co-association c_ij / N_ij of joined rows; symmetric, nothing on the diagonal.
    masses : ndarray of shape (n_rows,)
        Number of objects with each row.
    components : ndarray of int64 of shape (n_rows,)
        Connected component of each row, numbered by first appearance.
    unobserved : csr_array of shape (n_rows, n_rows), bool
        Pairs that no partition observed together; symmetric, nothing on the diagonal.
    """

    edges: sp.csr_array
    masses: Floats
    components: Ints
    unobserved: sp.csr_array

    def laplacian(self) -> sp.csr_array:
        """Return the Laplacian diag(H 1) - H of the graph of all objects, on the distinct rows.

        Its eigenvectors with equal entries for equal objects are those of diag(H m) - sqrt(m) H sqrt(m),
        times 1 / sqrt(m), with the masses m.
        """
        root = sp.diags_array(np.sqrt(self.masses))
        return sp.csr_array(sp.diags_array(self.edges @ self.masses) - root @ self.edges @ root)

    def groups(self) -> list[Ints]:
        """Return the rows of each component that has more than one."""
        order = np.argsort(self.components, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.components[order])) + 1)
        return [part for part in parts if len(part) > 1]


def confident_graph(start: DistinctRows, alpha: float) -> ConfidentGraph:
    """Join the rows whose co-association is at least `alpha`.

    Parameters
    ----------
    start : DistinctRows
        Rows, and the number of objects with each.
    alpha : float
        Above 0. No co-association is above 1.
    """
    n = len(start)
    edges, unobserved = [], []
    for block in coassociation_blocks(start.ensemble, block_rows=max(1, _BLOCK_ENTRIES // n)):
        shares = frequencies(block.counts, block.copresence)
        local = np.arange(len(block.rows))
        shares[local, local + block.rows.start] = 0.0
        unobserved.append(sp.csr_array(np.isnan(shares)))
        shares[~(shares >= alpha - _ROUNDING)] = 0.0
        edges.append(sp.csr_array(shares))
    H = sp.csr_array(sp.vstack(edges, format="csr"))
    components = connected_components(H, directed=False)[1] if n > 1 else np.zeros(n)
    return ConfidentGraph(
        H,
        start.masses,
        components.astype(np.int64),
        sp.csr_array(sp.vstack(unobserved, format="csr")),
    )
