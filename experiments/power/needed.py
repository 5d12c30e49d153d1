"""How many objects a border needs: what `confidence.power` says of one sample, and what fresh samples need.

python -m experiments.power.needed [--quick] [--seeds 890 891 892 893 894] [--jobs 1] [--out FOLDER]

Planted mixtures of two to four clusters, 2 to 20 features, shares by Dirichlet(5), a sample of 200 to 5,000 points; clusters by
k-means told the number. Six of each seed have unit Gaussians at the corners of a simplex, 2.6 to 5 standard deviations apart; three are
uneven: t of 10 degrees, spreads that differ by a fifth, centres anywhere, at least so far apart. Needed: fresh samples of
75, 127, ... 15,113 points are drawn, 24 of each size, until every border holds twice in nearly all, or in none of more than
3,000; a probit in the root of the size through the shares that hold says where 80 % do. Beside them single clouds, cut in two to four
by k-means: no number of points is to be foreseen. Settled with the simplices of the seeds 700 to 714 and 800 to 814.
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
from experiments.borders.sets import CLOUDS, gaussians
from experiments.kept import fill, opened
from experiments.output import Row, options, show, write

SIZES = [int(75 * 1.7**k) for k in range(11)]
DRAWS, SEEN, MOST = 24, 3000, 15_000
MIXTURES = {"simplex": 6, "uneven": 3}

Numbers = NDArray[np.float64]


def law_of(rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw a mixture: distance, features and shares."""
    K, distance = int(rng.integers(2, 5)), float(rng.uniform(2.6, 5))
    return distance, int(rng.integers(max(2, K - 1), 21)), tuple(rng.dirichlet(np.full(K, 5.0)))


def number_of(rng: np.random.Generator) -> int:
    """Draw a number of points."""
    return int(np.exp(rng.uniform(np.log(200), np.log(5000))))


def uneven(rng: np.random.Generator, law: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a mixture with centres and spreads drawn beside."""
    distance, d, shares = law
    centres = rng.normal(size=(len(shares), d))
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    apart[np.diag_indices(len(shares))] = np.inf
    return *law, centres * distance / apart.min(), np.exp(rng.normal(0, 0.2, len(shares)))


def sample(rng: np.random.Generator, n: int, law: tuple[Any, ...]) -> tuple[Numbers, Any]:
    """Draw points, and their clusters by k-means with the numbers of the planted ones."""
    distance, d, shares, *other = law
    K = len(shares)
    if other:
        centres, spreads = other
        y = np.repeat(np.arange(K), np.round(n * np.array(shares)).astype(int))
        t = rng.normal(size=(len(y), d)) / np.sqrt(rng.chisquare(10, (len(y), 1)) / 10)
        X = t * spreads[y][:, None] + centres[y]
    else:
        X, y = gaussians(rng, n, distance, d, shares=shares)
    found = KMeans(K, n_init=3, random_state=0).fit_predict(X)
    table = np.zeros((K, K))
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


def of_clouds(seed: int) -> dict[str, list[float]]:
    """Return of each cloud the least number that is said, cut in two, in three and in four; -1: none is foreseen."""
    found = {}
    for at, (name, draw) in enumerate(CLOUDS.items()):
        said = []
        for K in (2, 3, 4):
            rng = np.random.default_rng([seed, at, K])
            X = draw(rng, number_of(rng))
            labels = KMeans(K, n_init=3, random_state=0).fit_predict(X)
            needed = power(labels, X, random_state=seed, n_jobs=1).needed
            said.append(min(needed[np.isfinite(needed)], default=-1.0))
        found[name] = said
    return found


def measure(unit: str, names: list[str]) -> dict[str, Any]:
    """Return what is said of each border of a mixture, or what it needs: numbers, and shares that hold with n."""
    design, *rest = unit.split()
    if design == "clouds":
        return {"said": of_clouds(int(rest[0]))}
    seed, number = map(int, rest)
    rng = np.random.default_rng([seed, number, *[1] * (design == "uneven")])
    law = law_of(rng)
    n = number_of(rng)
    if design == "uneven":
        law = uneven(rng, law)
    K = len(law[2])
    borders = np.triu_indices(K, 1)
    found: dict[str, Any] = {"n": n, "law": law[:3]}
    if "said" in names:
        X, labels = sample(rng, n, law)
        told = power(labels, X, random_state=seed, n_jobs=1)
        said = np.stack([np.full((K, K), float(MOST)), np.zeros((K, K))])
        a, b = np.sort([told.first, told.second], axis=0)
        said[:, a, b] = np.minimum(told.needed, MOST), told.probability
        found["said"] = said[:, *borders].T
    if "needed" in names:
        rng = np.random.default_rng([seed, number, 7])
        held: list[Numbers] = []
        for size in SIZES:
            held.append(holding(rng, size, law))
            nearly = np.min(held[-2:], axis=0) >= 0.92
            if len(held) > 1 and (nearly | ((held[-1] == 0) & (size > SEEN))).all():
                break
        needed = [needed_of(each, SIZES[: len(held)]) for each in np.transpose(held)]
        found["needed"] = np.transpose([needed, holding(rng, n, law)])
    return found


def near(said: Numbers, needed: Numbers, factor: float = 1.5) -> NDArray[np.bool_]:
    """Return where what is said and what is needed differ by at most the factor."""
    return np.asarray(np.abs(np.log(said / needed)) <= np.log(factor))


def by_border(mixtures: list[Any]) -> list[Row]:
    """Return how near the numbers of borders are, by how many points they need."""
    n = np.repeat([one["n"] for one in mixtures], [len(one["said"]) for one in mixtures])
    said, needed = (np.concatenate([one[k] for one in mixtures])[:, 0] for k in ("said", "needed"))
    parts = {
        "all": needed > 0, "needed: at most 15,000": needed < MOST, "at most n": needed <= n,
        "n to 4 n": (needed > n) & (needed <= 4 * n) & (needed < MOST),
        "more than 4 n": (needed > 4 * n) & (needed < MOST), "more than 15,000": needed >= MOST,
    }  # fmt: skip
    rows: list[Row] = []
    for name, some in [part for part in parts.items() if part[1].any()]:
        shares = {f"within {f:g}": float(near(said, needed, f)[some].mean()) for f in (1.5, 2)}
        ratio = float(np.median((said / needed)[some]))
        rows.append({"borders": name, "number": int(some.sum()), **shares, "said / needed": ratio})
    return rows


def by_mixture(found: dict[str, list[Any]]) -> list[Row]:
    """Return how near the numbers of whole mixtures are, by three ways of counting."""
    rows: list[Row] = []
    for design, mixtures in found.items():
        pairs = [np.array([one["said"], one["needed"]])[..., 0] for one in mixtures]
        most = np.array([pair.max(axis=1) for pair in pairs]).T
        every = [near(*pair) for pair in pairs]
        rows.append({
            "mixtures": design, "number": len(pairs), "borders": sum(map(len, every)),
            "of all borders": float(np.concatenate(every).mean()),
            "each mixture as one": float(np.mean([each.mean() for each in every])),
            "number for all borders": float(near(*most).mean()),
            "where at most 15,000": float(near(*most)[most[1] < MOST].mean()),
            "every border": float(np.mean([each.all() for each in every])),
        })  # fmt: skip
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[890, 891, 892, 893, 894])
    arguments: argparse.Namespace = parser.parse_args(argv)
    seeds = arguments.seeds[: 1 if arguments.quick else None]
    units = {
        design: [f"{design} {seed} {k}" for k in range(1 if arguments.quick else number) for seed in seeds]
        for design, number in MIXTURES.items()
    }  # fmt: skip
    kept = opened(arguments, "needed.kept.json", {"draws": DRAWS})
    wanted = {unit: ["n", "law", "said", "needed"] for each in units.values() for unit in each}
    clouds = [f"clouds {seed}" for seed in seeds]
    fill(kept, wanted | {unit: ["said"] for unit in clouds}, measure, arguments.jobs or 1)
    found = {design: [kept.found[unit] for unit in each] for design, each in units.items()}
    everything = [one for each in found.values() for one in each]
    rows = by_mixture(found | {"all": everything})
    show(rows, "Within a factor of 1.5")
    write(rows, "mixtures", arguments)
    rows = by_border(everything)
    show(rows, "What is said to be needed, and what is")
    write(rows, "needed", arguments)
    chance, held = (
        np.concatenate([one[k] for one in everything])[:, 1] for k in ("said", "needed")
    )
    group = np.searchsorted([0.05, 0.35, 0.65, 0.95], chance)
    rows = []
    for some in (group == g for g in np.unique(group)):
        means = {"said": float(chance[some].mean()), "held": float(held[some].mean())}
        rows.append(means | {"borders": int(some.sum())})
    show(rows, "The probability to hold with n, and the share of fresh samples in which it did")
    write(rows, "probability", arguments)
    said = np.array([list(kept.found[unit]["said"].values()) for unit in clouds])
    rows = [
        {"cloud": name} | {f"cut in {cut}": float(np.mean(each < 0)) for cut, each in zip((2, 3, 4), of_one.T, strict=True)}
        for name, of_one in zip(CLOUDS, np.swapaxes(said, 0, 1), strict=True)
    ]  # fmt: skip
    rows.append({"cloud": "all"} | {f"cut in {k + 2}": float(np.mean(said[..., k] < 0)) for k in range(3)})  # fmt: skip
    show(rows, "Single clouds: no number of points is foreseen")
    write(rows, "clouds", arguments)


if __name__ == "__main__":
    main()
