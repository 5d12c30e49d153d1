"""Pools of partitions with known classes, as people, systems and algorithms make them; at most 620 objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons

from conclust import Ensemble, EnsembleGenerator
from conclust.datasets import available, load
from experiments.leaderboard.pools import POOLS, PREFIX, read

__all__ = ["KINDS", "Pool", "at_levels", "pools_of", "raters", "sorts"]

Labels = NDArray[np.int64]


class Pool(NamedTuple):
    """Partitions with known classes."""

    kind: str
    name: str
    ensemble: Ensemble
    classes: Labels


def sorts(
    rng: np.random.Generator,
    n_groups: int,
    n_per_group: int,
    n_people: int,
    error: float,
    split: float = 0.4,
    merge: float = 0.3,
) -> tuple[Labels, Labels]:
    """Return card sorts, and the groups: people lump pairs of groups, split groups, and put cards on a wrong pile."""
    groups = np.repeat(np.arange(n_groups), n_per_group)
    labels = np.empty((len(groups), n_people), dtype=np.int64)
    for column in labels.T:
        piles, order = groups.copy(), rng.permutation(n_groups)
        for one, other in zip(order[::2], order[1::2], strict=False):
            if rng.random() < merge:
                piles[piles == other] = one
        for pile in np.unique(piles):
            if rng.random() < split:
                cards = rng.permutation(np.flatnonzero(piles == pile))
                piles[cards[: len(cards) // 2]] = 100 + pile
        wrong = rng.random(len(piles)) < error
        piles[wrong] = rng.choice(np.unique(piles), wrong.sum())
        column[:] = np.unique(piles, return_inverse=True)[1]
    return labels, groups


def raters(
    rng: np.random.Generator,
    error: float,
    n_raters: int,
    n_objects: int = 600,
    shares: tuple[float, ...] = (0.35, 0.25, 0.2, 0.15, 0.05),
) -> tuple[Labels, Labels]:
    """Return labels with independent errors, and the classes; the first rater splits the first class."""
    K = len(shares)
    classes = rng.choice(K, n_objects, p=shares)
    labels = np.column_stack(
        [
            np.where(rng.random(n_objects) < error, rng.choice(K, n_objects, p=shares), classes)
            for _ in range(n_raters)
        ]
    )
    labels[(labels[:, 0] == 0) & (rng.random(n_objects) < 0.3), 0] = 2 * K - 1
    return labels, classes


def _sorts(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n_people in (5, 10, 20, 40):
        for n_per_group, n_groups in ((2, 6), (3, 4), (4, 5), (6, 5), (10, 4)):
            for error in (0.03, 0.1):
                name = f"{n_groups} groups of {n_per_group}, {n_people} people, error {error}"
                yield name, *sorts(rng, n_groups, n_per_group, n_people, error)


def _raters(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n_raters, errors in (
        (3, (0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3)),
        (5, (0.05, 0.1, 0.15, 0.2, 0.3)),
        (7, (0.1, 0.2, 0.3, 0.4)),
        (10, (0.1, 0.2, 0.3, 0.4)),
    ):
        for error in errors:
            yield f"{n_raters} raters, error {error}", *raters(rng, error, n_raters)


def _tiny(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n, K, n_people in ((6, 2, 4), (6, 3, 6), (9, 3, 5), (10, 2, 8), (12, 3, 6), (12, 4, 8)):
        classes = np.arange(n) * K // n
        labels = np.repeat(classes[:, np.newaxis], n_people, axis=1)
        for column in labels.T:  # each errs about one object, or splits a group
            if rng.random() < 0.5:
                column[rng.integers(n)] = rng.integers(K)
            else:
                group = np.flatnonzero(column == rng.integers(K))
                column[group[: len(group) // 2]] = K
        yield f"{n} objects, {K} groups, {n_people} people", labels, classes


def _two(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    yield "two raters, error 0.05", *raters(rng, 0.05, 2, 200)
    classes = np.arange(120) % 4
    labels = np.column_stack([classes, classes])
    moved = rng.permutation(120)[:12]
    labels[moved[:6], 0], labels[moved[6:], 1] = rng.integers(0, 4, 6), rng.integers(0, 4, 6)
    yield "two partitions of 120, 5 % apart", labels, classes


def _outlier(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    labels, classes = raters(rng, 0.03, 5, 300)
    yield "random partition into 10", np.column_stack([labels, rng.integers(0, 10, 300)]), classes
    labels, classes = raters(rng, 0.1, 8, 300)
    yield "random partition into 40", np.column_stack([labels, rng.integers(0, 40, 300)]), classes
    labels, classes = sorts(rng, 5, 6, 10, 0.03)
    yield (
        "one person sorts nothing",
        np.column_stack([labels, np.zeros(len(labels), dtype=np.int64)]),
        classes,
    )


def _missing(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n_raters, error in ((8, 0.05), (10, 0.1), (20, 0.2)):
        labels, classes = raters(rng, error, n_raters, 300)
        labels[rng.random(labels.shape) < 0.5] = -1
        yield f"{n_raters} raters, error {error}, half missing", labels, classes


def _noise(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n, N, numbers in (
        (100, 10, (3,)),
        (300, 8, (2, 3, 4, 5)),
        (500, 20, (6,)),
        (60, 5, (2, 4)),
    ):
        sizes = np.resize(numbers, N)
        labels = (rng.random((n, N)) * sizes).astype(np.int64)
        yield f"{n} x {N}, {numbers} labels", labels, np.zeros(n, dtype=np.int64)


def _equal(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n, K, N in ((100, 2, 5), (200, 7, 12), (12, 6, 3)):
        classes = np.unique(rng.permutation(np.arange(n) % K), return_inverse=True)[1]
        yield f"{N} copies of {K} clusters", np.repeat(classes[:, np.newaxis], N, axis=1), classes


def _soft(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n, K, N, noise in ((300, 5, 8, 0.0), (500, 8, 8, 0.0), (300, 4, 6, 0.3)):
        centre = rng.integers(0, K, n)
        alpha = np.where(np.arange(K) == centre[:, np.newaxis], 3.0, 0.3)
        q = np.array([rng.dirichlet(row) for row in alpha])
        members = []
        for _ in range(N):
            p = (1 - noise) * q + noise * rng.dirichlet(np.full(K, 0.5), n)
            members.append(p[:, rng.permutation(K)])
        name = f"{N} {'noisy ' if noise else ''}copies of {K} soft clusters"
        yield name, Ensemble.from_memberships(members), q.argmax(axis=1)


def _one_number(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    K = int(rng.integers(4, 7))
    X, classes = make_blobs(300, centers=K, n_features=4, random_state=rng.integers(1 << 31))
    for number in (K, K + 1, K - 1):
        members = EnsembleGenerator("kmeans", 20, n_clusters=[number], random_state=seed)
        yield f"{K} blobs into {number}", members.fit_transform(X), classes


def _published(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name in [name for name in POOLS if PREFIX + name in available()]:
        pool = read(name)
        columns = np.sort(rng.permutation(pool.labels.shape[1])[:10])
        rows = np.sort(rng.permutation(len(pool.labels))[:500])
        yield name, pool.labels[np.ix_(rows, columns)], pool.classes[rows]


def _kmeans(X: NDArray[Any], seed: int) -> NDArray[Any]:
    return EnsembleGenerator("kmeans", 40, random_state=seed).fit_transform(X)


def _blobs(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for K, d in ((3, 2), (5, 5), (8, 10)):
        X, classes = make_blobs(
            300, centers=K, n_features=d, cluster_std=0.8, random_state=rng.integers(1 << 31)
        )
        yield f"{K} in {d} dimensions", _kmeans(X, seed), classes


def _overlapping(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for K, d, spread in ((4, 2, 1.5), (5, 3, 2.0)):
        X, classes = make_blobs(
            300, centers=K, n_features=d, cluster_std=spread, random_state=rng.integers(1 << 31)
        )
        yield f"{K} in {d} dimensions, spread {spread}", _kmeans(X, seed), classes


def _shapes(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    drawn = int(rng.integers(1 << 31))
    X, classes = make_moons(400, noise=0.06, random_state=drawn)
    yield "moons", _kmeans(X, seed), classes
    X, classes = make_circles(400, noise=0.05, factor=0.4, random_state=drawn)
    yield "circles", _kmeans(X, seed), classes


def _real_points() -> Iterator[tuple[str, NDArray[Any], Labels]]:
    for name, load_set in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        X, classes = load_set(return_X_y=True)
        if name == "wine":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        yield name, X, classes


def _real(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name, X, classes in _real_points():
        rows = np.sort(rng.permutation(len(X))[:500])
        yield name, _kmeans(X[rows], seed), classes[rows]


def _default_real(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name, X, classes in _real_points():
        rows = np.sort(rng.permutation(len(X))[:500])
        yield name, EnsembleGenerator(random_state=seed).fit_transform(X[rows]), classes[rows]


def _default_blobs(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    X, classes = make_blobs(300, centers=5, n_features=4, random_state=rng.integers(1 << 31))
    yield "5 in 4 dimensions", EnsembleGenerator(random_state=seed).fit_transform(X), classes


def _clouds(rng: np.random.Generator) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "square", rng.uniform(size=(300, 2))
    yield "normal, 5", rng.normal(size=(400, 5))
    yield "exponential, 3", rng.exponential(size=(400, 3))
    yield "normal, 40", rng.normal(size=(300, 40))


def _kmeans_clouds(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name, X in _clouds(rng):
        yield name, _kmeans(X, seed), np.zeros(len(X), dtype=np.int64)


def _default_clouds(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name, X in list(_clouds(rng))[1:3]:
        members = EnsembleGenerator(random_state=seed).fit_transform(X)
        yield name, members, np.zeros(len(X), dtype=np.int64)


def at_levels(rng: np.random.Generator, levels: list[Labels], error: float) -> Labels:
    """Return members that label the same objects at several levels, each with errors of its own."""
    return np.column_stack(
        [np.where(rng.random(len(one)) < error, rng.permutation(one), one) for one in levels]
    )


def _levels(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    shares = np.array([20, 15, 14, 12, 10, 10, 8, 7, 4]) / 100
    fine = rng.choice(9, 500, p=shares)
    coarse = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3])[fine]
    yield (
        "types of cells, three of five coarse",
        at_levels(rng, [coarse] * 3 + [fine] * 2, 0.06),
        coarse,
    )
    yield (
        "types of cells, three of five fine",
        at_levels(rng, [coarse] * 2 + [fine] * 3, 0.06),
        fine,
    )
    topics = rng.integers(0, 18, 400)
    classes = topics // 3
    levels = [topics // 6] * 2 + [classes] * 3 + [topics] * 2
    yield "topics at three levels", at_levels(rng, levels, 0.08), classes
    drawn = []
    for _ in range(8):  # each topic at a level of its own, and two classes that are not told apart
        labels, level = topics.copy(), rng.random(6)
        for k in range(6):
            if level[k] < 0.6:
                labels[(classes == k) & ((level[k] < 0.4) | (topics % 3 < 2))] = 100 + k
        if rng.random() < 0.5:
            labels[classes // 2 == rng.integers(3)] = 200
        drawn.append(np.unique(labels, return_inverse=True)[1])
    yield "topics at levels of their own", at_levels(rng, drawn, 0.06), classes


def _attributes(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for name in [name for name in ("zoo", "house_votes_435") if name in available()]:
        data = load(name)
        rows = np.sort(rng.permutation(len(data.y))[: int(0.9 * len(data.y))])
        X = np.asarray(data.X, dtype=np.float64)[rows]
        yield name, X, np.unique(np.asarray(data.y)[rows], return_inverse=True)[1]


def _latent(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n, K, p, m, concentration in ((500, 3, 15, 4, 0.7), (300, 4, 30, 3, 1.0)):
        classes = rng.choice(K, n, p=rng.dirichlet(np.full(K, 5.0)))
        labels = np.empty((n, p), dtype=np.int64)
        for column in labels.T:
            bounds = np.cumsum(rng.dirichlet(np.full(m, concentration), K), axis=1)[classes]
            column[:] = np.minimum((rng.random(n)[:, np.newaxis] > bounds).sum(axis=1), m - 1)
        yield f"{n} x {p}, {K} classes", labels, classes


def erring(rng: np.random.Generator, classes: Labels, error: float) -> Labels:
    """Return labels of which a share is replaced by those of other objects."""
    wrong = rng.random(len(classes)) < error
    return np.where(wrong, rng.choice(classes, len(classes)), classes)


def _crowd(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    classes = rng.choice(5, 300, p=rng.dirichlet(np.full(5, 5.0)))
    labels = np.full((300, 25), -1)
    for worker, column in enumerate(labels.T):
        seen = rng.random(300) < 0.4
        if worker >= 8:
            given = erring(rng, classes, rng.uniform(0.05, 0.3))
        else:  # answers at random, or always the same
            given = rng.integers(0, 5, 300) if worker % 2 else np.full(300, worker % 5)
        column[seen] = given[seen]
    yield "25 workers who see 40 %, 8 spammers", labels, classes


def _merged(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for family in (0, 3):  # models that share errors
        classes = rng.choice(8, 400, p=rng.dirichlet(np.full(8, 8.0)))
        hard, wrong = rng.random(400) < 0.08, rng.integers(0, 8, 400)
        labels = np.empty((400, 6), dtype=np.int64)
        for model, column in enumerate(labels.T):
            names = np.arange(8)
            for _ in range(rng.integers(1, 4)):
                one, other = rng.choice(8, 2, replace=False)
                names[names == names[other]] = names[one]
            given = erring(rng, classes, 0.06)
            column[:] = names[np.where(hard, wrong, given) if model < family else given]
        yield f"6 models that merge classes, {family} of a family", labels, classes


def _depths(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    leaves = rng.integers(0, 18, 400)
    classes, labels = leaves // 2, np.empty((400, 9), dtype=np.int64)
    for column in labels.T:
        column[:] = classes
        for k, depth in enumerate(rng.random(9)):
            if depth < 0.2:
                column[classes == k] = 100 + leaves[classes == k]
            elif depth > 0.8:
                column[classes == k] = 200 + k // 3
        column[:] = np.unique(erring(rng, column, 0.05), return_inverse=True)[1]
    yield "9 annotators, each branch at a depth of its own", labels, classes


def _pile(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    groups, hard = np.arange(48) % 6, rng.beta(0.7, 2.5, 48)
    labels = sorts(rng, 6, 8, 15, 0.05)[0][np.argsort(np.argsort(groups, kind="stable"))]
    labels[rng.random(labels.shape) < hard[:, np.newaxis]] = 99
    yield "15 people with a miscellaneous pile", labels, groups


def _regions(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    classes, region = rng.integers(0, 6, 400), rng.integers(0, 4, 400)
    labels = np.full((400, 12), -1)
    for coder, column in enumerate(labels.T):
        seen = np.isin(region, [coder % 4, (coder + 1 + coder // 4) % 4])
        column[seen] = erring(rng, classes, 0.08)[seen]
    yield "12 coders of two regions of four", labels, classes


def _own_numbers(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    turns = np.repeat(rng.integers(0, 7, 60), rng.integers(3, 15, 60))
    members = []
    for _ in range(7):  # late at changes, speakers merged or divided
        labels = turns.copy()
        for change in np.flatnonzero(np.diff(turns)):
            if rng.random() < 0.5:
                labels[change + 1 : change + rng.integers(2, 4)] = turns[change]
        for _ in range(rng.integers(0, 4)):
            one, other = rng.choice(np.unique(labels), 2)
            labels[labels == other] = one
        for _ in range(rng.integers(0, 4)):
            held = np.flatnonzero(labels == rng.choice(labels))
            labels[held[: rng.integers(1, len(held) + 1)]] = labels.max() + 1
        members.append(np.unique(labels, return_inverse=True)[1])
    yield "7 diarizers with numbers of their own", np.column_stack(members), turns


def _records(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    entities = np.repeat(np.arange(110), rng.integers(1, 7, 110))
    members = []
    for _ in range(5):
        labels = entities.copy()
        for one, other in rng.integers(0, 110, (8, 2)):
            labels[labels == other] = one
        for entity in rng.choice(labels, 10):
            held = np.flatnonzero(labels == entity)
            labels[held[: len(held) // 2]] = labels.max() + 1
        members.append(np.unique(erring(rng, labels, 0.03), return_inverse=True)[1])
    yield "5 matchers of records of 110 entities", np.column_stack(members), entities


def _few(rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
    for n_partitions in (5, 10):
        members = EnsembleGenerator("kmeans", n_partitions, random_state=seed)
        for name, X in _clouds(rng):
            yield f"{n_partitions} of {name}", members.fit_transform(X), np.zeros(len(X), int)


_POOLS: dict[
    str, Callable[[np.random.Generator, int], Iterator[tuple[str, Any, Any]]]
] = {
    "card sorts": _sorts,
    "raters": _raters,
    "tiny": _tiny,
    "two members": _two,
    "one outlier": _outlier,
    "half missing": _missing,
    "noise": _noise,
    "all equal": _equal,
    "soft": _soft,
    "all of one number": _one_number,
    "published pools": _published,
    "k-means of blobs": _blobs,
    "k-means of overlapping blobs": _overlapping,
    "k-means of shapes": _shapes,
    "k-means of real sets": _real,
    "default members of real sets": _default_real,
    "default members of blobs": _default_blobs,
    "k-means of clouds": _kmeans_clouds,
    "default members of clouds": _default_clouds,
    "attributes": _attributes,
    "latent classes": _latent,
    "several levels": _levels,
    "crowds with spammers": _crowd,
    "merged categories": _merged,
    "depths of their own": _depths,
    "a miscellaneous pile": _pile,
    "regions": _regions,
    "numbers of their own": _own_numbers,
    "many small clusters": _records,
    "few k-means of clouds": _few,
}  # fmt: skip
KINDS = tuple(_POOLS)


def pools_of(seed: int, kinds: tuple[str, ...] = KINDS) -> Iterator[Pool]:
    """Yield the pools of a seed; those of a kind do not depend on the other kinds."""
    for at, kind in enumerate(KINDS):
        if kind in kinds:
            for name, labels, classes in _POOLS[kind](np.random.default_rng([seed, at]), seed):
                ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels)
                yield Pool(kind, name, ensemble, np.asarray(classes, dtype=np.int64))
