# What _core has from borders/, for type checkers: there is no module of this name.
import numpy as np
from numpy.typing import NDArray

# valleys: places, sizes and counts are written; borders is (m, 2), first is 0 or 1 for each point
def border_places(
    scores: NDArray[np.float64],
    gram: NDArray[np.float64],
    first: NDArray[np.uint8],
    borders: NDArray[np.int64],
    places: NDArray[np.float64],
    sizes: NDArray[np.int64],
) -> None: ...
def count_valleys(
    scores: NDArray[np.float64],
    gram: NDArray[np.float64],
    first: NDArray[np.uint8],
    borders: NDArray[np.int64],
    counts: NDArray[np.int64],
    threads: int,
) -> None: ...

# dip: dips are written
def dips_of_sorted(
    samples: NDArray[np.float64], dips: NDArray[np.float64], threads: int
) -> None: ...
