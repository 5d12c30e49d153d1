# What _core has from kmeans/, for type checkers: there is no module of this name.
from typing import Any

import numpy as np
from numpy.typing import NDArray

# kmeans: codes (uint8 or uint16), found, inertia and centers are written
class KMeansDraws:
    def __init__(
        self,
        points: NDArray[np.float64],
        drawn: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        starts: NDArray[np.int32] | None = None,
    ) -> None: ...

class KMeansSearch:
    def __init__(
        self,
        n_clusters: int,
        candidates: int,
        max_iter: int,
        tol: float,
        refills: bool,
        form: str = "auto",
    ) -> None: ...

class KMeansResults:
    def __init__(
        self,
        codes: NDArray[Any],  # of one or two bytes: see codes.h
        found: NDArray[np.int32],
        inertia: NDArray[np.float64],
        centers: NDArray[np.float64] | None = None,
    ) -> None: ...

def kmeans_runs(
    draws: KMeansDraws,
    search: KMeansSearch,
    out: KMeansResults,
    begin: int,
    end: int,
    n_threads: int,
) -> None: ...

# kmeans/landmarks: centers (r, K); labels (n,) are written
def landmark_labels(
    found: NDArray[np.int32],
    weights: NDArray[np.float64],
    loads: NDArray[np.float64],
    centers: NDArray[np.float64],
    half: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> None: ...

# kmeans/labelling: labels (n, stride), not of 8 bytes, are written; returns how many needed sums in doubles
def label_block(
    points: NDArray[np.float32] | NDArray[np.float64],
    centers: NDArray[np.float64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    places: NDArray[np.int32],
    labels: NDArray[Any],
    n_threads: int,
    form: str = "auto",
) -> int: ...

# kmeans/nearest: labels are changed, sums and totals added to, distances written; returns the changes
def lloyd_round(
    x: NDArray[np.float64],
    mass: NDArray[np.float64],
    centers: NDArray[np.float64],
    labels: NDArray[np.int64],
    distances: NDArray[np.float64],
    sums: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> int: ...

# kmeans/seeds: chosen is written; returns how many of it
def seed_points(
    columns: NDArray[np.float64],
    mass: NDArray[np.float64],
    uniform: NDArray[np.float64],
    options: int,
    chosen: NDArray[np.int64],
) -> int: ...
