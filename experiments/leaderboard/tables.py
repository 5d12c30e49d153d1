"""The tables of the leaderboard, from its long one."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from experiments.leaderboard.pools import POOLS, SETTLED
from experiments.leaderboard.published import ARI_TRUE_K, ENTRY_OF, NMI_MAX_TRUE_K
from experiments.output import Row

__all__ = [
    "FEWER",
    "FINDS",
    "MEMBER",
    "below_members",
    "beside_published",
    "board",
    "legend",
    "split",
    "wide",
]

MEMBER = "mean member"
FEWER = "†"  # fewer draws than there are
FINDS = "‡"  # not told the number of clusters


def wide(rows: list[Row]) -> list[Row]:
    """Return a line a method, a column a pool: the mean NMI and its standard deviation.

    Of several pools also the mean over them, where a method takes all.
    """
    pools, cells = _by_pool(rows)
    most = max(row["draws"] for row in rows)
    table = []
    for name, of_pools in cells.items():
        line: Row = {"method": _marked(name, of_pools)}
        line |= {pool: _cell(of_pools[pool], most) for pool in pools}
        if len(pools) > 1:
            means = [of_pools[pool]["NMI"] for pool in pools]
            line["mean"] = None if None in means else f"{np.mean(means):.3f}"
        table.append(line)
    return table


def board(rows: list[Row]) -> list[Row]:
    """Return a line a method, best first: means over the pools, and the mean rank among those told K.

    A method that refuses a pool has no mean and no rank; it comes last.
    """
    pools, cells = _by_pool(rows)
    whole = [
        name for name, of in cells.items() if all(of[pool]["NMI"] is not None for pool in pools)
    ]
    ranked = [name for name in whole if cells[name][pools[0]]["told"]]
    ranks = np.array(
        [_ranks([cells[name][pool]["NMI"] for name in ranked]) for pool in pools]
    ).mean(axis=0)
    rank_of = dict(zip(ranked, ranks.tolist(), strict=True))
    table = []
    for name, of in cells.items():
        line: Row = {"method": _marked(name, of)}
        for key in ("NMI", "NMI max", "ARI", "CPU s"):
            there = name in whole and (key != "CPU s" or name != MEMBER)
            line[key] = float(np.mean([of[pool][key] for pool in pools])) if there else None
        line["mean rank"] = rank_of.get(name)
        table.append(line)
    return sorted(
        table, key=lambda line: -1.0 if line["NMI"] is None else line["NMI"], reverse=True
    )


def split(rows: list[Row]) -> list[Row]:
    """Return means over the pools that the power of AutoConsensus was settled on, and over the others.

    Methods that take all pools, best on the others first.
    """
    pools, cells = _by_pool(rows)
    parts = {
        "settled": [pool for pool in pools if pool in SETTLED],
        "others": [pool for pool in pools if pool not in SETTLED],
    }
    table = []
    for name, of in cells.items():
        if all(of[pool]["NMI"] is not None for pool in pools):
            line: Row = {"method": _marked(name, of)}
            for part, some in parts.items():
                for key in ("NMI", "ARI"):
                    value = float(np.mean([of[pool][key] for pool in some])) if some else None
                    line[f"{key}, {part}"] = value
            table.append(line)
    return sorted(table, key=lambda line: -(line["NMI, others"] or 0.0))


def beside_published(rows: list[Row]) -> list[Row]:
    """Return the means of printed methods beside ours, over the pools for which a number is printed."""
    pools, cells = _by_pool(rows)
    table = []
    for printed, entry in ENTRY_OF.items():
        of = cells.get(entry)
        if of is None:
            continue
        line: Row = {"method": entry}
        for key, name, numbers in (
            ("NMI max", "NMI", NMI_MAX_TRUE_K[printed]),
            ("ARI", "ARI", ARI_TRUE_K[printed]),
        ):
            both = [
                (numbers[POOLS.index(pool)], of[pool][key])
                for pool in pools
                if of[pool][key] is not None
            ]
            pairs = np.array([pair for pair in both if pair[0] is not None], dtype=float)
            theirs, ours = pairs.mean(axis=0).tolist() if len(pairs) else (None, None)
            line |= {f"{name}, published": theirs, f"{name}, ours": ours}
            line[f"pools ({name})"] = len(pairs)
        table.append(line)
    return table


def below_members(rows: list[Row]) -> list[Row]:
    """List where a consensus is worse than the mean of what it combines."""
    alone = {row["pool"]: row["ARI"] for row in rows if row["method"] == MEMBER}
    return [
        {key: row[key] for key in ("method", "pool", "ARI", "clusters")}
        | {MEMBER: alone[row["pool"]]}
        for row in rows
        if row["ARI"] is not None and row["ARI"] < alone[row["pool"]]
    ]


def legend(rows: list[Row], given: argparse.Namespace) -> str:
    """Say what the wide table holds."""
    text = f"Mean NMI with the known classes and its standard deviation over {given.draws} draws."
    if any(0 < row["draws"] < given.draws for row in rows):
        text += (
            f" {FEWER}: over the first {given.few}, a fit takes more than {given.limit:g} CPU s."
        )
    if any(not row["told"] and row["method"] != MEMBER for row in rows):
        text += f" {FINDS}: finds its own number of clusters."
    if any(row["NMI"] is None for row in rows):
        text += " -: the method refuses the pool."
    return text


def _by_pool(rows: list[Row]) -> tuple[list[str], dict[str, dict[str, Row]]]:
    """Return the pools, and the rows of each method by pool."""
    cells: dict[str, dict[str, Row]] = {}
    for row in rows:
        cells.setdefault(row["method"], {})[row["pool"]] = row
    return list(dict.fromkeys(row["pool"] for row in rows)), cells


def _marked(name: str, of_pools: dict[str, Row]) -> str:
    told = next(iter(of_pools.values()))["told"]
    return name if told or name == MEMBER else f"{name}{FINDS}"


def _cell(row: Row, most: int) -> str | None:
    if row["NMI"] is None:
        return None
    spread = "" if row["spread"] is None else f" ±{row['spread']:.3f}"
    return f"{row['NMI']:.3f}{spread}{FEWER if row['draws'] < most else ''}"


def _ranks(values: list[Any]) -> list[float]:
    """Return ranks from 1 for the largest; equal values share their mean."""
    given = np.array(values, dtype=float)
    larger = (given[:, None] < given).sum(axis=1)
    return list(larger + ((given[:, None] == given).sum(axis=1) + 1) / 2)
