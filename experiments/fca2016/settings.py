"""What was chosen for the paper's section 4 where its text leaves it open, before anything was scored.

- "Five-dimensional" objects and "the dimension number p = 3" contradict each other: both.
- "The variance of each cluster lies in 0.1 - 0.3" and centres from "N(0, 0.7)": the numbers are variances, or they are
  standard deviations. Both.
- Clusters are of equal size, up to one object; objects are in random order, on which FCA-Consensus depends; each
  k-means draws its number of clusters uniformly from the set given.
- Methods are told the number of clusters, PCC as an upper bound, but FCA-Consensus. Its threshold is half of the votes in
  the comparison, since the paper does not say which it took; "best share" takes for each setting the share with the best mean,
  which only someone who knows the clusters can do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conclust import (
    CSPA,
    EAC,
    HGPA,
    LWEA,
    LWGP,
    MCLA,
    PCC,
    AddRemAdd,
    AutoConsensus,
    CumulativeVoting,
    FCAConsensus,
    PositionalVoting,
    Voting,
)

__all__ = [
    "COMPARED",
    "MEMBERS",
    "METHODS",
    "PARTITIONS",
    "READINGS",
    "RUNS",
    "SAID",
    "SETS",
    "SHARES",
    "SIZES",
]

PARTITIONS = 100
SETS, RUNS = 10, 10
# (features, what 0.1 to 0.3 and 0.7 are)
READINGS = tuple((d, spread) for d in (5, 3) for spread in ("variance", "deviation"))

# True clusters and the members' numbers of clusters: Figures 2 and 5 to 8; 3, with five clusters; 4, with three.
COMPARED: tuple[tuple[int, tuple[int, ...]], ...] = (
    (2, (2, 3, 4, 5)),
    (3, (2, 3)),
    (5, (2, 5)),
    (9, tuple(range(2, 10))),
)
MEMBERS: tuple[tuple[int, ...], ...] = ((2,), (2, 3, 4, 5), (5,), (5, 6, 7, 8, 9), (9,))
SIZES = (100, 300, 500, 1000)
SHARES: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# What the paper says of its method beside the eight others.
SAID = {2: "beats the others", 3: "beats almost all", 5: "median", 9: "median"}

METHODS: dict[str, Callable[[int, int], Any]] = {
    "FCA-Consensus": lambda k, seed: FCAConsensus(0.5),
    "AddRemAdd": lambda k, seed: AddRemAdd(k, random_state=seed),
    "Voting": lambda k, seed: Voting(k, algorithm="one_pass", random_state=seed),
    "cVote": lambda k, seed: CumulativeVoting(k),
    "Condorcet": lambda k, seed: PositionalVoting(k, count="condorcet", random_state=seed),
    "Borda": lambda k, seed: PositionalVoting(k, count="borda", random_state=seed),
    "MCLA": lambda k, seed: MCLA(k, random_state=seed),
    "HGPA": lambda k, seed: HGPA(k, random_state=seed),
    "CSPA": lambda k, seed: CSPA(k, random_state=seed),
    "FCA (auto)": lambda k, seed: FCAConsensus(),
    "PCC-KL": lambda k, seed: PCC(k, random_state=seed),
    "EAC-AL": lambda k, seed: EAC(k),
    "LWEA": lambda k, seed: LWEA(k),
    "LWGP": lambda k, seed: LWGP(k, random_state=seed),
    "lwcv": lambda k, seed: CumulativeVoting(k, scheme="lwcv"),
    "AutoConsensus": lambda k, seed: AutoConsensus(k, random_state=seed),
}
