"""The facts of labels in blocks: everything about all objects that each block needs, from one pass.

Clusters are numbered by the first object of each, as in an Ensemble: every block lists its labels in the
order in which they appear, and these lists are joined in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._kernels import presence_signatures
from conclust._types import Bools, Floats, Ints
from conclust.ensemble import Ensemble
from conclust.ensemble.derived import PresenceGroups
from conclust.ensemble.labels import (
    Missing,
    Names,
    code_labels,
    code_type,
    encode_labels,
    label_view,
    missing_code,
    read_new_labels,
    refuse_absent,
    refuse_twins,
)

# Number of objects in a block: at least a quarter of a second of work, so that scheduling costs little.
_ROWS = 1 << 20
_FEWEST = 8  # number of blocks, if there are enough objects
# Mixes the signatures of blocks.
_MIX = 0x9E3779B97F4A7C15


def block_rows_of(n: int) -> int:
    """Return the number of objects in a block. It depends on the total number only, because results depend on it."""
    return max(1, min(_ROWS, -(-n // _FEWEST)))


@dataclass(frozen=True)
class Census:
    """Facts of one block.

    Attributes
    ----------
    names : Names
        Labels of each partition, by first appearance.
    missing, noise : ndarray of int64 of shape (n_partitions,)
        Number of missing labels and of noise labels.
    signatures : ndarray of uint64 of shape (n_partitions,)
        Hash of the objects that each partition observed.
    unobserved : int
        Number of objects that no partition observed.
    plain : bool
        Whether the labels are bytes that can be codes.
    """

    names: Names
    missing: Ints
    noise: Ints
    signatures: NDArray[np.uint64]
    unobserved: int
    plain: bool


def census(raw: Any, missing: Missing, begin: int = 0) -> Census:
    """Read the labels of a block, whose first object is `begin`, for the first time."""
    coded = code_labels(raw, missing=missing, least=1, first=begin)
    signatures = np.empty(coded.codes.shape[1], dtype=np.uint64)
    presence_signatures(label_view(coded.codes), signatures)
    nowhere = 0
    if coded.n_missing.any():
        nowhere = int((coded.codes.min(axis=1) == missing_code(coded.codes.dtype)).sum())
    dtype = raw.dtype if type(raw) is np.ndarray else None
    plain = dtype == np.uint8 or (dtype == np.int8 and missing == "unobserved")
    return Census(
        coded.names,
        coded.n_missing,
        coded.n_noise,
        signatures,
        nowhere,
        plain,
    )


@dataclass(frozen=True)
class Part:
    """A block of objects as tasks see it.

    Attributes
    ----------
    index : int
        Number of the block.
    begin : int
        Its first object.
    n_objects : int
        Number of objects.
    ensemble : Ensemble
        Those that a partition observed, one or more, clusters numbered as in the whole.
    observed : ndarray of bool of shape (n_objects,) or None
        Mask of the observed objects; None: all.
    """

    index: int
    begin: int
    n_objects: int
    ensemble: Ensemble
    observed: Bools | None


@dataclass(frozen=True)
class Facts:
    """Facts of all objects, known before a method begins.

    Attributes
    ----------
    n_samples : int
        Number of objects, including those that no partition observed.
    n_unobserved : int
        Number of unobserved objects.
    block_rows : int
        Objects of a block.
    names : Names
        The user's label of every cluster.
    cluster_counts, offsets : ndarray of int64
        As those of an Ensemble.
    weights : ndarray of shape (n_partitions,) or None
        Weights of the partitions.
    missing_counts, noise_counts : ndarray of int64 of shape (n_partitions,)
        Labels that are missing (objects that no partition observed are not counted), and noise.
    groups : PresenceGroups
        Partitions that observed the same objects.
    code_type : dtype
        Type of the codes.
    missing : {"unobserved", "noise"}
        Meaning of -1.
    plain : bool
        Whether the labels in the source are the codes.
    """

    n_samples: int
    n_unobserved: int
    block_rows: int
    names: Names
    cluster_counts: Ints
    offsets: Ints
    weights: Floats | None
    missing_counts: Ints
    noise_counts: Ints
    groups: PresenceGroups
    code_type: np.dtype[Any]
    missing: Missing
    plain: bool

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_samples // self.block_rows)

    def span(self, block: int) -> tuple[int, int]:
        """Return the first object of a block, and the first after it."""
        begin = block * self.block_rows
        return begin, min(self.n_samples, begin + self.block_rows)

    def codes(self, raw: Any) -> NDArray[Any]:
        """Return the codes of some labels."""
        if self.plain and isinstance(raw, np.ndarray):
            # -1 and -2 are the codes of missing and noise.
            return np.ascontiguousarray(raw).view(np.uint8)
        read = read_new_labels(raw, missing=self.missing)
        return encode_labels(read, self.names, self.code_type, missing=self.missing)[0]

    def part(self, block: int, raw: Any) -> Part | None:
        """Return a block from its labels; None if no partition observed any of its objects."""
        codes = self.codes(raw)
        observed = None
        if self.n_unobserved:
            is_observed = np.asarray(codes.min(axis=1) != missing_code(codes.dtype))
            if not is_observed.all():
                observed, codes = is_observed, codes[is_observed]
        if len(codes) == 0:
            return None
        return Part(block, self.span(block)[0], len(raw), self.ensemble(codes), observed)

    def ensemble(self, codes: NDArray[Any]) -> Ensemble:
        """Return some objects; clusters keep their numbers."""
        return Ensemble.numbered(codes, self.names, self.weights)


def joined(
    parts: Iterable[Census],
    shape: tuple[int, int],
    block_rows: int,
    missing: Missing,
    weights: Floats | None,
) -> Facts:
    """Join the facts of the blocks, in their order."""
    n, m = shape
    numbers: list[dict[Any, int]] = [{} for _ in range(m)]
    absent, noise = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    signatures = np.zeros(m, dtype=np.uint64)
    nowhere, plain = 0, True
    for facts in parts:
        for cluster_names, names in zip(numbers, facts.names, strict=True):
            for name in names:
                cluster_names.setdefault(name, len(cluster_names))
        absent += facts.missing
        noise += facts.noise
        signatures = signatures * np.uint64(_MIX) + facts.signatures
        nowhere += facts.unobserved
        plain &= facts.plain
    refuse_absent(absent, n)
    names = tuple(tuple(cluster_names) for cluster_names in numbers)
    refuse_twins(names)
    counts = np.array([len(cluster_names) for cluster_names in names], dtype=np.int64)
    dtype = np.dtype(code_type(int(counts.max())))
    same = all(list(cluster_names) == list(range(len(cluster_names))) for cluster_names in names)
    return Facts(
        n_samples=n,
        n_unobserved=nowhere,
        block_rows=block_rows,
        names=names,
        cluster_counts=counts,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        weights=weights,
        missing_counts=absent - nowhere,
        noise_counts=noise,
        groups=PresenceGroups.of(signatures),
        code_type=dtype,
        missing=missing,
        plain=plain and same and dtype == np.uint8,
    )
