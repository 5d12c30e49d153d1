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
    def dense(
        self,
        matrix: NDArray[np.float64] | NDArray[np.uint8] | NDArray[np.uint16],
        labels: NDArray[np.int64],
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
