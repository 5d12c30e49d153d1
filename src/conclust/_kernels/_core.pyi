from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conclust._kernels._core_borders import *  # noqa: F403
from conclust._kernels._core_graph import *  # noqa: F403
from conclust._kernels._core_kmeans import *  # noqa: F403
from conclust._kernels._core_neighbours import *  # noqa: F403

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[Any]  # uint8, uint16 or uint32: see codes.h

# false if `make demo` built it: without the kernels that the default does not call
whole: bool

# called ten times a second with the share of its work that a long kernel has done, -1 if it does not know
def listen_to_kernels(listener: Callable[[float], object]) -> None: ...

# whether nanobind prints at exit which objects and functions of the extension are still alive
def report_leaks(wanted: bool) -> None: ...

# labels: what a kernel reads of them; it holds the arrays
class LabelView:
    def __init__(
        self,
        codes: Codes,
        offsets: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
        soft_starts: NDArray[np.int64] | None = None,
        soft_columns: NDArray[np.int32] | None = None,
        soft_values: NDArray[np.float64] | None = None,
        complete: bool = False,
    ) -> None: ...
    @property
    def n_objects(self) -> int: ...
    @property
    def n_partitions(self) -> int: ...
    @property
    def n_clusters(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    def reweighted(self, weights: NDArray[np.float64] | None) -> LabelView: ...

# pair objective: counts of 1, 2 or 4 bytes, or float64; dense without starts and partners
class PairCounts:
    def __init__(
        self,
        c: NDArray[Any],
        N: NDArray[Any],
        starts: NDArray[np.int64] | None = None,
        partners: NDArray[np.int32] | None = None,
    ) -> None: ...

# concepts
class ConceptGrowth:
    def __init__(self, labels: LabelView) -> None: ...
    def start(self, threshold: float) -> None: ...
    def grow(self, words: int) -> bool: ...
    @property
    def n_concepts(self) -> int: ...
    @property
    def n_passes(self) -> int: ...
    def read(self, concept_of: NDArray[np.int64], intents: NDArray[np.uint8]) -> None: ...
    def assign(
        self, sizes: NDArray[np.int64], concept_of: NDArray[np.int64], begin: int, end: int
    ) -> None: ...

# coassociation
class BitSlices:
    def __init__(self, labels: LabelView, n_threads: int) -> None: ...
    def coassociation(
        self,
        begin: int,
        end: int,
        c: Codes | None,
        present: Codes | None,
        n_threads: int,
        form: str = "auto",
    ) -> None: ...
    def weighted_coassociation(
        self,
        weights: NDArray[np.float64],
        begin: int,
        end: int,
        c: NDArray[np.float64] | None,
        present: NDArray[np.float64] | None,
        n_threads: int,
        form: str = "auto",
    ) -> None: ...

def bitslice_forms() -> list[str]: ...

# clusterwise
def clusterwise_dissimilarities(
    slices: BitSlices,
    own: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    sizes: NDArray[np.int64],
    out: NDArray[np.float64],
    n_threads: int,
    form: str = "auto",
) -> int: ...

# contingency
def contingency_gram(labels: LabelView, gram: NDArray[np.int64], n_threads: int) -> None: ...
def contingency_rows(
    labels: LabelView, first: int, last: int, rows: NDArray[np.int64], n_threads: int
) -> None: ...
def weighted_gram(
    labels: LabelView, mass: NDArray[np.float64], gram: NDArray[np.float64], n_threads: int
) -> None: ...
def squared_tables(
    labels: LabelView, counts: NDArray[np.int64], sums: NDArray[np.float64]
) -> None: ...
def sparse_gram(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    root: NDArray[np.float64],
    gram: NDArray[np.float64],
) -> None: ...

# median
class PartitionSearch:
    def __init__(
        self,
        starts: NDArray[np.int64],
        columns: NDArray[np.int32],
        values: NDArray[np.float64],
        weights: NDArray[np.float64],
        mass: NDArray[np.float64],
        criterion: int,
        fixed: bool,
    ) -> None: ...
    def keep_apart(self, starts: NDArray[np.int64], others: NDArray[np.int64]) -> None: ...
    def set(self, labels: NDArray[np.int64], k: int) -> None: ...
    def transfer(self, order: NDArray[np.int64]) -> int: ...
    def fuse(self, k: int) -> int: ...
    def similarities(self, a: NDArray[np.float64]) -> None: ...
    def objective(self) -> float: ...
    @property
    def n_clusters(self) -> int: ...
    def read(self, labels: NDArray[np.int64]) -> None: ...

class LossSearch:
    def __init__(
        self,
        labels: LabelView,
        mass: NDArray[np.int64],
        shares: NDArray[np.float64],
        loss: int,
        split_cost: float,
        max_clusters: int,
    ) -> None: ...
    def set(self, labels: NDArray[np.int64], k: int) -> None: ...
    def descend(self, seed: int, max_passes: int, exact: bool) -> tuple[int, bool]: ...
    def rebuild(self, seed: int) -> int: ...
    def shake(self, seed: int, turns: int, max_passes: int) -> int: ...
    def loss(self) -> float: ...
    @property
    def n_clusters(self) -> int: ...
    def read(self, labels: NDArray[np.int64]) -> None: ...

class ResemblanceSearch:
    def __init__(
        self,
        labels: NDArray[np.int32],
        mass: NDArray[np.float64],
        offsets: NDArray[np.int64],
        cluster_sizes: NDArray[np.float64],
        factors: NDArray[np.float64],
        all_subsets: bool,
        fixed: bool,
    ) -> None: ...
    def set(self, partition: NDArray[np.int64], k: int) -> None: ...
    def transfer(self, order: NDArray[np.int64]) -> int: ...
    def anneal(self, seed: int, first: int, temperature: float, proposals: int) -> int: ...
    def mean_fall(self, seed: int, proposals: int) -> float: ...
    def objective(self) -> float: ...
    @property
    def n_clusters(self) -> int: ...
    def read(self, partition: NDArray[np.int64]) -> None: ...

def add_rem_add(
    a: NDArray[np.float64],
    mass: NDArray[np.float64],
    alive: NDArray[np.uint8],
    starts: NDArray[np.int64],
    members: NDArray[np.uint8],
) -> float: ...

# pairs: float64 sums with weights, uint32 counts without
Sums = NDArray[np.uint32] | NDArray[np.float64]

class NearestPairs:
    def __init__(
        self, labels: LabelView, k: int, first: int, last: int, most: int, n_threads: int
    ) -> None: ...
    @property
    def exceeded(self) -> bool: ...
    @property
    def n_entries(self) -> int: ...
    def read(self, indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> None: ...

class SymmetricPattern:
    def __init__(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int
    ) -> None: ...
    @property
    def n_entries(self) -> int: ...
    def read(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int
    ) -> None: ...

class PairSample:
    def __init__(self, n_samples: int, per_object: int, seed: int, n_threads: int) -> None: ...
    @property
    def n_entries(self) -> int: ...
    def read(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_threads: int
    ) -> None: ...

# (0 value, 1 slope, 2 curvature; p, q, out)
_Outside: TypeAlias = Callable[
    [int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], None
]

class PairwiseSolver:
    def __init__(
        self,
        pairs: PairCounts,
        k: int,
        divergence: int,
        parameter: float,
        outside: _Outside | None,
        n_threads: int,
    ) -> None: ...
    def take(self, Y: NDArray[np.float64]) -> None: ...
    def visit(
        self,
        Y: NDArray[np.float64],
        objects: NDArray[np.int32],
        slot: int,
        tol: float,
        negligible: float,
        finish: bool,
        gaps: NDArray[np.float64],
    ) -> tuple[float, float, int]: ...
    def objective(self, Y: NDArray[np.float64], begin: int, end: int) -> float: ...
    def residuals(
        self, Y: NDArray[np.float64], begin: int, end: int, gaps: NDArray[np.float64]
    ) -> None: ...

def pair_counts(
    labels: LabelView,
    i: NDArray[np.int64] | NDArray[np.int32],
    j: NDArray[np.int64] | NDArray[np.int32],
    c: Sums,
    present: Sums,
    n_threads: int,
) -> None: ...
def graph_counts(
    labels: LabelView,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    c: Sums,
    present: Sums,
    n_threads: int,
) -> None: ...

# relabel
class Relabeller:
    def __init__(self, n_partitions: int, missing: int, noise: int) -> None: ...
    def observe(self, block: NDArray[Any]) -> int: ...
    def encode(self, block: NDArray[Any], out: Codes) -> int: ...
    def n_clusters(self, partition: int) -> int: ...
    def values(self, partition: int) -> list[int]: ...
    def restore(self, partition: int, values: NDArray[np.int64]) -> None: ...

def continues_canonical(
    block: NDArray[np.uint8], is_signed: bool, met: NDArray[np.uint8]
) -> bool: ...

# rows
def count_reserved(
    labels: LabelView, missing: NDArray[np.int64], noise: NDArray[np.int64]
) -> None: ...
def cluster_sizes(labels: LabelView, sizes: NDArray[np.int64]) -> None: ...
def indicator_rows(
    labels: LabelView,
    table: NDArray[np.float64],
    first: int,
    unit: bool,
    out: NDArray[np.float64],
) -> None: ...
def cluster_sums(
    labels: LabelView,
    values: NDArray[np.float64] | None,
    parts: NDArray[np.int64] | None,
    sums: NDArray[np.float64],
) -> None: ...
def cluster_row_sums(
    labels: LabelView,
    weights: NDArray[np.float64],
    rows: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None: ...
def presence_signatures(labels: LabelView, signature: NDArray[np.uint64]) -> None: ...
def group_rows(rows: NDArray[np.uint8], inverse: NDArray[np.int64]) -> NDArray[np.int64]: ...

# factored
class FactoredSolver:
    def __init__(
        self,
        labels: LabelView,
        group_of: NDArray[np.int32],
        n_groups: int,
        k: int,
        serial_limit: int = 16384,
        rounds: int = 16,
    ) -> None: ...
    def rebuild(self, Y: NDArray[np.float64], threads: int) -> None: ...
    def objective(self) -> float: ...
    def sweep(
        self,
        Y: NDArray[np.float64],
        tol: float,
        negligible: float,
        threads: int,
        relaxation: float = 1.0,
        watched: bool = True,
    ) -> tuple[float, float, int]: ...
    def steps(
        self,
        before: NDArray[np.float64],
        after: NDArray[np.float64],
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        powers: NDArray[np.float64],
        threads: int,
    ) -> None: ...
    def step(
        self,
        sums: NDArray[np.float64],
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        powers: NDArray[np.float64],
        most: float = 1.0,
    ) -> float: ...
    squares: float
    fourths: float
    def residual(self, Y: NDArray[np.float64], threads: int) -> float: ...
    def assign(self, Y: NDArray[np.float64], tol: float, threads: int) -> None: ...
    def take_sums(self, other: FactoredSolver) -> None: ...
    def read_grams(self, G: NDArray[np.float64]) -> None: ...
    def write_grams(self, G: NDArray[np.float64]) -> None: ...
    @property
    def sums(self) -> NDArray[np.float64]: ...
    @property
    def group_sizes(self) -> NDArray[np.float64]: ...

def factored_stride(k: int) -> int: ...

# greedy
class GreedySolver:
    def __init__(
        self,
        pairs: PairCounts,
        Y: NDArray[np.float64],
        divergence: int,
        parameter: float,
        outside: _Outside | None,
        tol: float,
        max_steps: int,
    ) -> None: ...
    def run(self, visits: int) -> bool: ...
    @property
    def steps(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def visits(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def trace(self) -> list[tuple[int, float, float]]: ...
    def read(self, Y: NDArray[np.float64], gradients: NDArray[np.float64]) -> None: ...

# pair_table: adds to table
def pair_table(c: NDArray[Any], N: NDArray[Any], first: int, table: NDArray[np.int64]) -> None: ...

# evidence/partition_terms: writes terms; uint8 or int32, both the same
def partition_terms(
    first: NDArray[Any],
    first_sizes: NDArray[np.int64],
    second: NDArray[Any],
    second_sizes: NDArray[np.int64],
    squares: bool,
    symmetric: bool,
    threads: int,
    terms: NDArray[np.float64],
) -> None: ...

# search/label_vectors: the labels have weights; chosen is changed in place
def seed_labels(
    labels: LabelView,
    counts: NDArray[np.float64],
    n_clusters: int,
    seed: int,
    chosen: NDArray[np.int64],
) -> None: ...
def refine_labels(
    labels: LabelView,
    counts: NDArray[np.float64],
    n_clusters: int,
    spread: int,
    power: float,
    degrees: NDArray[np.float64],
    max_iter: int,
    tol: float,
    chosen: NDArray[np.int64],
) -> tuple[list[float], bool]: ...

# growth: rows of memberships
def grow_rows(
    Y: NDArray[np.float64],
    degree: NDArray[np.float64],
    own_c: NDArray[np.float64],
    observed: NDArray[np.float64],
    fitted: NDArray[np.float64],
    grown: NDArray[np.float64],
) -> None: ...
def own_rows(
    Y: NDArray[np.float64], own_N: NDArray[np.float64], fitted: NDArray[np.float64]
) -> None: ...
def bend_rows(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    third: NDArray[np.float64],
    change: NDArray[np.float64],
    bend: NDArray[np.float64],
) -> None: ...
def leap_rows(
    first: NDArray[np.float64],
    change: NDArray[np.float64],
    bend: NDArray[np.float64],
    third: NDArray[np.float64],
    twice: float,
    square: float,
    least: float,
    ahead: NDArray[np.float64],
) -> None: ...
def largest_change(one: NDArray[np.float64], other: NDArray[np.float64]) -> float: ...

# gibbs: the labels have weights
class GibbsChain:
    def __init__(self, labels: LabelView, smoothing: float) -> None: ...
    def sweep(self, concentration: float, seed: int, clusters: NDArray[np.int64]) -> int: ...

# mixed_gibbs: the labels have weights; clusters is changed in place, mass and use are written
def mixed_gibbs_sweep(
    labels: LabelView,
    alpha: NDArray[np.float64],
    smoothing: float,
    seed: int,
    clusters: NDArray[np.int32],
    mass: NDArray[np.float64],
    use: NDArray[np.float64],
) -> None: ...

# aspect: the pairs of rows [begin, end) are added to sums
def aspect_pairs(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    beta: NDArray[np.float64],
    begin: int,
    end: int,
    sums: NDArray[np.float64],
) -> float: ...

# mixed_membership: new_mass, use and logs are written
def mixed_membership_round(
    labels: LabelView,
    counts: NDArray[np.float64],
    alpha: NDArray[np.float64],
    beta: NDArray[np.float64],
    mass: NDArray[np.float64],
    new_mass: NDArray[np.float64],
    use: NDArray[np.float64],
    logs: NDArray[np.float64],
    threads: int,
) -> float: ...

# landmark
class LandmarkTable:
    def __init__(
        self,
        group_of: NDArray[np.int32],
        prototypes: NDArray[np.float64],
        sums: NDArray[np.float64],
        present: NDArray[np.float64],
        divergence: int,
        parameter: float,
    ) -> None: ...
    def place(
        self,
        labels: LabelView,
        tol: float,
        masses: NDArray[np.float64],
        Y: NDArray[np.float64],
        threads: int,
    ) -> tuple[float, float]: ...

# merging: sums are written
def common_contents(
    columns: Floats, weights: Floats, contents: Floats, q: int, others: Ints, sums: Floats
) -> None: ...

# simplex: X, labels and first are written
def project_rows(
    V: NDArray[np.float64], scale: NDArray[np.float64], X: NDArray[np.float64]
) -> None: ...
def lower_rows(rows: Floats, add: Floats, top: Floats) -> None: ...
def share_rows(rows: Floats, sums: Floats) -> None: ...
def largest_of_rows(
    Y: NDArray[np.float64], labels: NDArray[np.int64], first: NDArray[np.int64]
) -> bool: ...
def squared_evidence(c: NDArray[Any], N: NDArray[Any], first: int) -> float: ...

# agglomerate; counts are uint16 or uint32
def summed_dissimilarities(
    counts: NDArray[Any], table: Floats, row_sizes: Floats, sizes: Floats, out: Floats
) -> None: ...
def agglomerate_average(
    matrix: Floats, sizes: Floats, left: Ints, right: Ints, heights: Floats
) -> None: ...
def agglomerate_complete(
    matrix: Floats, sizes: Floats, left: Ints, right: Ints, heights: Floats
) -> None: ...
def agglomerate_single(
    matrix: Floats, sizes: Floats, left: Ints, right: Ints, heights: Floats
) -> None: ...
def agglomerate_ward(
    matrix: Floats, sizes: Floats, left: Ints, right: Ints, heights: Floats
) -> None: ...

# dendrogram
def cut_tree(tree: NDArray[np.float64], n_clusters: int, labels: NDArray[np.int64]) -> None: ...
def label_merges(left: Ints, right: Ints, heights: Floats, tree: Floats) -> None: ...

# sparse_linkage: counts and copresence are both uint32 or both float64
def sparse_average(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
    copresence: NDArray[Any],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    heights: NDArray[np.float64],
) -> int: ...
def sparse_single(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[Any],
    copresence: NDArray[Any],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    heights: NDArray[np.float64],
) -> int: ...

# linkage of rows: W is a diagonal, or compressed rows
class RowPairs:
    def __init__(
        self,
        starts: NDArray[np.int64],
        columns: NDArray[np.int32],
        values: NDArray[np.float64],
        masses: NDArray[np.float64],
        n_columns: int,
        diagonal: NDArray[np.float64] | None = None,
        mixing_starts: NDArray[np.int64] | None = None,
        mixing_columns: NDArray[np.int32] | None = None,
        mixing_values: NDArray[np.float64] | None = None,
        presence: NDArray[np.float64] | None = None,
    ) -> None: ...

class AverageChain:
    def __init__(self, pairs: RowPairs, until: int) -> None: ...
    def run(self, rows: int) -> int: ...
    def read(
        self,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        heights: NDArray[np.float64],
        leaders: NDArray[np.int64],
    ) -> None: ...

class SingleTree:
    def __init__(self, pairs: RowPairs) -> None: ...
    def grow(self, clusters: int) -> int: ...
    def read(self, order: NDArray[np.int64], heights: NDArray[np.float64]) -> None: ...

# spanning_tree
class SpanningTree:
    def __init__(self, labels: LabelView, form: str = "auto") -> None: ...
    def grow(self, objects: int) -> int: ...
    def read(self, order: NDArray[np.int64], heights: NDArray[np.float64]) -> None: ...
