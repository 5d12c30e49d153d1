"""How many objects a border needs: what `confidence.power` says of one sample, and what fresh samples need.

python -m experiments.power.needed [--quick] [--seeds 710 711 712 713 714] [--jobs 1] [--out FOLDER]

Planted mixtures of two to four unit Gaussians at the corners of a simplex, 2.6 to 5 standard deviations apart, 2 to 20
features, shares by Dirichlet(5), a sample of 200 to 5,000 points; clusters by k-means told the number. Needed: fresh samples of
75, 127, ... 15,113 points are drawn, 24 of each size, until every border holds twice in nearly all, or in none of more than
3,000; a probit in the root of the size through the shares that hold says where 80 % do. Settled with the seeds 700 to 704.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize
from scipy.stats import norm
from sklearn.cluster import KMeans

from conclust.confidence import border_tests, power
from experiments.borders.sets import gaussians
from experiments.kept import fill, opened
from experiments.output import Row, options, show, write

SIZES = [int(75 * 1.7**k) for k in range(11)]
DRAWS, MIXTURES, SEEN, MOST = 24, 8, 3000, 15_000

Numbers = NDArray[np.float64]


def sample(rng: np.random.Generator, n: int, law: tuple[Any, ...]) -> tuple[Numbers, Any]:
    """Draw points, and their clusters by k-means with the numbers of the Gaussians."""
    distance, d, shares = law
    X, y = gaussians(rng, n, distance, d, shares=shares)
    found = KMeans(len(shares), n_init=3, random_state=0).fit_predict(X)
    table = np.zeros((len(shares), len(shares)))
    np.add.at(table, (found, y), 1)
    return X, linear_sum_assignment(table, maximize=True)[1][found]


def holding(rng: np.random.Generator, n: int, law: tuple[Any, ...]) -> Numbers:
    """Return the share of fresh samples in which each border holds."""
    held = np.zeros((len(law[2]), len(law[2])))
    for _ in range(DRAWS):
        X, labels = sample(rng, n, law)
        tests = border_tests(X, labels, random_state=rng, n_jobs=1)
        held[np.ix_(tests.names, tests.names)] += tests.separated() / DRAWS
    return held[np.triu_indices(len(held), 1)]


def needed_of(held: Numbers, sizes: Sequence[int]) -> float:
    """Return the size with which 80 % hold, at most 15,000."""
    roots = np.sqrt(sizes)

    def misfit(v: Numbers) -> float:
        u = (roots - np.exp(v[0])) / np.exp(v[1])
        return -float((held * norm.logcdf(u) + (1 - held) * norm.logsf(u)).sum())

    middle = np.log(roots[np.argmax(held >= 0.5)])
    v = np.exp(minimize(misfit, [middle, middle - 1.4], method="Nelder-Mead").x)
    return min(MOST, float((v[0] + norm.ppf(0.8) * v[1]) ** 2)) if held.max() >= 0.6 else MOST


def measure(unit: str, names: list[str]) -> dict[str, Any]:
    """Return for each border of a mixture what is said and what is needed, and both shares that hold with n."""
    rng = np.random.default_rng([int(part) for part in unit.split()])
    K, distance = int(rng.integers(2, 5)), float(rng.uniform(2.6, 5))
    law = (distance, int(rng.integers(max(2, K - 1), 21)), tuple(rng.dirichlet(np.full(K, 5.0))))
    n = int(np.exp(rng.uniform(np.log(200), np.log(5000))))
    X, labels = sample(rng, n, law)
    told = power(labels, X, random_state=rng, n_jobs=1)
    said = np.stack([np.full((K, K), float(MOST)), np.zeros((K, K))])
    a, b = np.sort([told.first, told.second], axis=0)
    said[:, a, b] = np.minimum(told.needed, MOST), told.probability
    held: list[Numbers] = []
    for size in SIZES:
        held.append(holding(rng, size, law))
        nearly = np.min(held[-2:], axis=0) >= 0.92
        if len(held) > 1 and (nearly | ((held[-1] == 0) & (size > SEEN))).all():
            break
    needed = [needed_of(each, SIZES[: len(held)]) for each in np.transpose(held)]
    above = said[:, *np.triu_indices(K, 1)]
    return {"n": n, "law": law, "borders": np.vstack([above, needed, holding(rng, n, law)]).T}


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[710, 711, 712, 713, 714])
    arguments: argparse.Namespace = parser.parse_args(argv)
    units = [f"{seed} {number}" for seed in arguments.seeds for number in range(MIXTURES)]
    units = units[: 1 if arguments.quick else None]
    kept = opened(arguments, "needed.kept.json", {"draws": DRAWS})
    fill(kept, {unit: ["n", "law", "borders"] for unit in units}, measure, arguments.jobs or 1)
    each = [(one["n"], *b, 1 / len(one["borders"])) for one in map(kept.found.get, units) for b in one["borders"]]  # fmt: skip
    n, said, chance, needed, held, weight = np.array(each).T
    ratio, off = said / needed, np.abs(np.log(said / needed))
    parts = {
        "all": needed > 0, "needed: at most 15,000": needed < MOST, "at most n": needed <= n,
        "n to 4 n": (needed > n) & (needed <= 4 * n) & (needed < MOST),
        "more than 4 n": (needed > 4 * n) & (needed < MOST), "more than 15,000": needed >= MOST,
    }  # fmt: skip
    rows: list[Row] = []
    for name, some in [part for part in parts.items() if part[1].any()]:
        shares = {f"within {f:g}": float(np.mean(off[some] <= np.log(f))) for f in (1.5, 2)}
        mixtures = float(np.average(off[some] <= np.log(1.5), weights=weight[some]))
        last = {"1.5, by mixture": mixtures, "said / needed": float(np.median(ratio[some]))}
        rows.append({"borders": name, "number": int(some.sum()), **shares, **last})
    show(rows, "What is said to be needed, and what is")
    write(rows, "needed", arguments)
    group = np.searchsorted([0.05, 0.35, 0.65, 0.95], chance)
    listed: list[Row] = []
    for some in (group == g for g in np.unique(group)):
        means = {"said": float(chance[some].mean()), "held": float(held[some].mean())}
        listed.append(means | {"borders": int(some.sum())})
    show(listed, "The probability to hold with n, and the share of fresh samples in which it did")
    write(listed, "probability", arguments)


if __name__ == "__main__":
    main()
