# What _core has from neighbours/, for type checkers: there is no module of this name.
import numpy as np
from numpy.typing import NDArray

# neighbours/search: found and squares (q, k) are written
def nearest_points(
    points: NDArray[np.float64],
    names: NDArray[np.int32],
    cells: NDArray[np.int64],
    queries: NDArray[np.float64],
    excluded: NDArray[np.int32],
    groups: NDArray[np.int64],
    list_starts: NDArray[np.int64],
    listed: NDArray[np.int32],
    found: NDArray[np.int32],
    squares: NDArray[np.float64],
    n_threads: int,
    form: str = "auto",
) -> None: ...

# neighbours/graph: starts, ends, weights
def neighbour_graph(
    found: NDArray[np.int32], k: int, jaccard: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...

# neighbours/leiden: labels (n,) are written
def find_communities(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: NDArray[np.float64],
    loads: NDArray[np.float64],
    rate: float,
    seed: int,
    rounds: int,
    labels: NDArray[np.int32],
) -> int: ...

# neighbours/forest: labels (n,) are written
class Forest:
    def __init__(
        self,
        found: NDArray[np.int32],
        squares: NDArray[np.float64],
        cores: NDArray[np.float64],
    ) -> None: ...
    @property
    def n_ties(self) -> int: ...
    def cut(
        self,
        masses: NDArray[np.float64],
        cuts: int,
        least: float,
        labels: NDArray[np.int32],
    ) -> int: ...

# neighbours/vote: decided (q, n_members) is written
def neighbour_vote(
    found: NDArray[np.int32],
    squares: NDArray[np.float64],
    labels: NDArray[np.int32],
    decided: NDArray[np.int32],
) -> None: ...
