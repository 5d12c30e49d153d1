# What _core has from graph/, for type checkers: there is no module of this name.
import numpy as np
from numpy.typing import NDArray

# partition
class PartRefiner:
    def __init__(
        self,
        vertex_weights: NDArray[np.float64],
        k: int,
        capacity: float,
        max_passes: int,
        patience: int,
    ) -> None: ...
    def dense(self, matrix: NDArray[np.float64], labels: NDArray[np.int64]) -> int: ...
    def counts(
        self, matrix: NDArray[np.uint8] | NDArray[np.uint16], labels: NDArray[np.int64]
    ) -> int: ...
    def sparse(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float64],
        labels: NDArray[np.int64],
    ) -> int: ...
    def hypergraph(
        self,
        edges_at: NDArray[np.int64],
        edges: NDArray[np.int32],
        pins_at: NDArray[np.int64],
        pins: NDArray[np.int32],
        edge_weights: NDArray[np.float64],
        labels: NDArray[np.int64],
    ) -> int: ...

def count_ties(
    matrix: NDArray[np.uint8] | NDArray[np.uint16],
    labels: NDArray[np.int64],
    ties: NDArray[np.float64],
) -> None: ...
def fill_parts(
    scores: NDArray[np.float64],
    order: NDArray[np.int64],
    vertex_weights: NDArray[np.float64],
    capacity: float,
    labels: NDArray[np.int64],
) -> None: ...

# smoothing: X is written by read
class SparseLines:
    def __init__(
        self, starts: NDArray[np.int64], others: NDArray[np.int32], values: NDArray[np.float64]
    ) -> None: ...

class MaskedSylvester:
    def __init__(
        self,
        H: SparseLines,
        L: SparseLines,
        inverse_pivots: NDArray[np.float64],
        fixed_starts: NDArray[np.int64],
        fixed_columns: NDArray[np.int32],
        root: NDArray[np.float64],
        X: NDArray[np.float64],
        residual: NDArray[np.float64],
    ) -> None: ...
    def step(self) -> float: ...
    def read(self, X: NDArray[np.float64]) -> None: ...

# walks
def walk_step(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    chances: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def walk_gram(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    chances: NDArray[np.float64],
    times: int,
    M: NDArray[np.float64],
    between: NDArray[np.float64],
    n_threads: int,
) -> None: ...
