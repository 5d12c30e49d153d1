"""Converts the parameters of EnsembleGenerator to tasks, and raises their errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np

from conclust._random import seed_sequence, spawn_seeds
from conclust._types import Floats
from conclust._validation import is_it, is_whole, refuse
from conclust.exceptions import DenseLimitError, ParameterError
from conclust.generation.kinds.communities import (
    GivenGraph,
    NeighbourRecipe,
    Searches,
    check_graph_alone,
    neighbour_recipes,
)
from conclust.generation.kinds.grid import ALL_PAIRS, mixed_numbers
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe
from conclust.generation.kinds.registry import KINDS, METHODS, Asked
from conclust.generation.members import (
    OWNER,
    ClustererRecipe,
    Plan,
    Recipe,
    Sizes,
    Task,
    center_based,
    check_choices,
    clip,
    count_distinct,
    extent,
    label_type,
    place,
    sole_parameter,
    stream,
)

_DEFAULT_PARTITIONS = 100
_INIT = "k-means++"
# Number of objects that members are fitted on unless `fit_on` is given: _FIT_ON, or _FOR_EACH per requested cluster if that is more.
# Up to that number nothing is drawn, so that the time grows without a jump.
_FIT_ON = 10_000
_FOR_EACH = 10
# Number of graphs of landmarks that spectral members share.
SHARED_GRAPHS = 4  # of landmarks, if all members see the same objects and features
MOST_DENSE = 20_000  # objects for which n x n matrices are made


def fitted_on(generator: Any, n: int) -> int | None:
    """Return the number of objects on which each member is fitted, among those it draws of n; None: all."""
    fit_on: int | None = generator.fit_on
    asked = generator.asked
    knowing = [kind for kind in asked.kinds if not _labels_others(kind)]
    if fit_on is None:
        numbers = asked.numbers or [check_numbers(generator.n_clusters, OWNER)]
        most = max((extent(_several(some) or [1])[1] for some in numbers), default=1)
        size = max(_FIT_ON, _FOR_EACH * most)
        return size if n > size and not knowing else None
    drawn = _n_drawn(generator, n)
    if fit_on < drawn and knowing:
        name = knowing[0] if isinstance(knowing[0], str) else type(knowing[0]).__name__
        raise ParameterError(
            f"The 'fit_on' parameter of {OWNER} must be None or at least the {drawn} objects that a member "
            f"draws with {name}, whose members cannot label objects that they were not fitted on. Got "
            f"{fit_on} instead. Use 'kmeans', 'spectral', KMeans or MiniBatchKMeans, or "
            f"sample_fraction={max(fit_on / n, 1e-4):.2g}: the objects not drawn are missing then."
        )
    return fit_on if fit_on < n and not knowing else None


def _n_drawn(generator: Any, n: int) -> int:
    return max(2, round(float(generator.sample_fraction) * n))


def _labels_others(method: Any) -> bool:
    """Return whether members of this kind can label points on which they were not fitted."""
    return method in KINDS if isinstance(method, str) else center_based(method)


def make_plan(
    generator: Any,
    points: Floats,
    n: int | None = None,
    fit_on: int | None = None,
    given: GivenGraph | None = None,
) -> Plan:
    """Check the generator's parameters against each other and the scaled points, draw all seeds and sizes.

    Parameters
    ----------
    generator : EnsembleGenerator
        Its parameters, each in its range.
    points : ndarray of shape (n_some, n_features)
        The points, or some of them where members are fitted on some.
    n : int, default=None
        Number of points. None: those given.
    fit_on : int, default=None
        Maximum number of drawn objects on which each member is fitted. None: all.
    given : GivenGraph or None, default=None
        The user's graph of the objects.
    """
    n, d = len(points) if n is None else n, points.shape[1]
    rows, columns = float(generator.sample_fraction), float(generator.feature_fraction)
    n_objects = _n_drawn(generator, n)
    n_fitted = None if fit_on is None else min(fit_on, n_objects)
    sizes = Sizes(n, n_objects, d, max(1, round(columns * d)), rows, n_fitted)
    asked = generator.asked
    check_graph_alone(generator, asked.names, given)
    if generator.init != _INIT and not {"kmeans", "mixed"} & set(asked.names):
        expected = (
            f"{_INIT!r} without members by 'kmeans' or 'mixed', the only ones with such starts"
        )
        refuse("init", OWNER, expected, generator.init)
    root = seed_sequence(generator.random_state, OWNER)
    choices = check_numbers(generator.n_clusters, OWNER)
    dense = next((name for name in asked.names if name == "mixed" or name in ALL_PAIRS), None)
    if dense is not None and sizes.n_objects > MOST_DENSE:
        raise DenseLimitError(
            f"method={dense!r} needs matrices of {sizes.n_objects} x {sizes.n_objects}, which are made for at most "
            f"{MOST_DENSE} objects. Use method='kmeans' or 'spectral', which need none, or draw fewer objects "
            "(sample_fraction)."
        )
    # Members by neighbours share the same objects, drawn by the seed of the first member.
    recipes = neighbour_recipes(spawn_seeds(root, 1)[0], given)
    draft = _Draft(generator, points, sizes, root, recipes)
    if dense == "mixed":
        check_choices(choices, sizes)
        ks = mixed_numbers(points, sizes, root) if choices is None else tuple(sorted(set(choices)))
        pairs: list[tuple[Any, Sequence[int]]] = [(name, ks) for name in (*ALL_PAIRS, "kmeans")]
        return draft.of_pairs(pairs)
    if asked.numbers is None:
        return draft.in_turn(choices)
    if choices is not None:
        expected = "None where the method is a list of algorithms with their numbers of clusters"
        refuse("n_clusters", OWNER, expected, generator.n_clusters)
    pairs = [
        (kind, _several(some) or []) for kind, some in zip(asked.kinds, asked.numbers, strict=True)
    ]
    return draft.of_pairs(pairs)


# -------------------------------------------------------------------------------- n_clusters


def check_numbers(value: Any, owner: str) -> Sequence[int] | None:
    """Return the numbers of clusters to choose from; None: the default range."""
    if value is None:
        return None
    choices = _several(value)
    if choices is None:
        refuse(
            "n_clusters",
            owner,
            "an int in the range [1, inf), a non-empty range or list of them, or None",
            value,
        )
    return choices


def _several(value: Any) -> Sequence[int] | None:
    """Return a non-empty list of positive ints, or None for anything else."""
    choices = [value] if is_whole(value) else value
    listed = isinstance(choices, list | tuple) or (
        isinstance(choices, np.ndarray) and choices.ndim == 1
    )
    if listed and all(is_whole(k) for k in choices):
        choices = [int(k) for k in choices]
    elif not isinstance(choices, range):
        return None
    return choices if len(choices) > 0 and extent(choices)[0] >= 1 else None


# ------------------------------------------------------------------------------------- methods


def _pick(entry: _Entry, seed: int, turn: int) -> int | None:
    """Return the number of clusters of a member: by design for members by neighbours, else drawn, as the papers draw it."""
    if entry.choices is None:
        return None
    if isinstance(entry.recipe, NeighbourRecipe | LandmarkSpectralRecipe):
        return int(entry.choices[int(place(turn)[0] * len(entry.choices))])
    return int(entry.choices[int(stream(seed, 0).integers(len(entry.choices)))])


def check_method(method: Any, owner: str) -> None:
    """Refuse a `method` that makes no members."""
    asked = Asked.of(method)
    if asked.numbers is not None:
        for entry, kind, numbers in zip(method, asked.kinds, asked.numbers, strict=True):
            if _several(numbers) is None or not (_is_dense(kind) or _makes_members(kind)):
                expected = (
                    "a list of pairs, each of an algorithm and its numbers of clusters such as ('single', [3, 5]): "
                    f"{', '.join(map(repr, (*ALL_PAIRS, *KINDS)))} or a scikit-learn clusterer (an instance); an int, "
                    "or a range or list of ints in the range [1, inf)"
                )
                refuse("method", owner, expected, entry)
        return
    if isinstance(method, str):
        valid = method in METHODS
    else:
        valid = bool(asked.kinds) and all(map(_makes_members, asked.kinds))
    if valid:
        return
    names = ", ".join(repr(name) for name in METHODS)
    *some, last = (repr(name) for name in KINDS)
    expected = (
        f"{names}, a scikit-learn clusterer (an instance), a non-empty list of clusterers, "
        f"{', '.join(some)} and {last}, or a list of pairs of an algorithm and its numbers of clusters"
    )
    refuse("method", owner, expected, method, is_it(method, METHODS))


@dataclass(frozen=True)
class _Entry:
    """The recipe of a member in a list, whose entries alternate.

    ``choices`` None: it keeps the number of clusters that it has. ``random``: two members differ, even
    of all objects and features. ``shares``: members may share what a run makes.
    """

    recipe: Recipe
    choices: Sequence[int] | None
    random: bool
    shares: bool = False


def _sharing(entry: _Entry, searches: Searches, sizes: Sizes) -> _Entry:
    """Return an entry whose members share graphs of landmarks, if it makes any.

    The graphs share a search for landmarks if all points are landmarks, and the landmarks of a sample, among which all other
    objects are placed at once.
    """
    recipe = entry.recipe
    if not isinstance(recipe, LandmarkSpectralRecipe) or entry.choices is None:
        return entry
    alike = sizes.n_fitted is not None or sizes.n <= recipe.n_landmarks
    shared = replace(recipe, searches=searches if alike else None)
    return replace(entry, recipe=shared, shares=True)


def _is_dense(method: Any) -> bool:
    return isinstance(method, str) and method in ALL_PAIRS


@dataclass(frozen=True)
class _Draft:
    """What a plan is made from.

    Attributes
    ----------
    generator : EnsembleGenerator
        Its parameters.
    points : ndarray of shape (n_samples, n_features)
        The data.
    sizes : Sizes
        Objects and features, of the data and of a member.
    root : SeedSequence
        Source of all seeds.
    recipes : dict
        Recipes of members by neighbours.
    """

    generator: Any
    points: Floats
    sizes: Sizes
    root: np.random.SeedSequence
    recipes: dict[str, NeighbourRecipe]

    def of_pairs(self, pairs: list[tuple[Any, Sequence[int]]]) -> Plan:
        """Plan algorithms with their own numbers of clusters, a member for each number."""
        sizes = self.sizes
        each: list[tuple[Recipe, list[int], list[int]]] = []
        total = 0
        for algorithm, ks in pairs:
            check_choices(ks, sizes)
            columns = list(range(total, total + len(ks)))
            total += len(ks)
            if _is_dense(algorithm):  # one tree or embedding for all numbers
                each.append((ALL_PAIRS[algorithm], columns, list(ks)))
                continue
            entry = self.entry(algorithm, ks)
            if entry.choices is None:
                name = entry.recipe.name
                expected = (
                    f"a list without numbers of clusters for {name}, which has no such parameter"
                )
                refuse("method", OWNER, expected, (name, tuple(ks)))
            each += [(entry.recipe, [u], [k]) for u, k in zip(columns, ks, strict=True)]
        if self.generator.n_partitions not in (None, total):
            expected = f"None or {total}, one for each algorithm and number of clusters"
            refuse("n_partitions", OWNER, expected, self.generator.n_partitions)
        seeds = spawn_seeds(self.root, len(each))
        tasks = _designed([sizes.task(*one, seed) for one, seed in zip(each, seeds, strict=True)])
        named = all(isinstance(algorithm, str) for algorithm, _ in pairs)
        measured = named and any(_chooses(recipe) for recipe, _, _ in each)
        most = max(max(ks) for _, ks in pairs)
        kept_type = label_type([most]) if named and not measured else np.dtype(np.int32)
        return Plan(tuple(tasks), total, kept_type, None, measured)

    def in_turn(self, choices: Sequence[int] | None) -> Plan:
        """Plan members by named kinds and by users' clusterers, one after the other; numbers are drawn from `choices`."""
        sizes = self.sizes
        methods, named = self.generator.asked.kinds, self.generator.asked.are_named
        check_choices(choices, sizes)
        entries = [self.entry(method, choices) for method in methods]
        if choices is not None and all(entry.choices is None for entry in entries):
            names = ", ".join(sorted({entry.recipe.name for entry in entries}))
            refuse("n_clusters", OWNER, f"None with {names}, which has no such parameter", choices)
        total = _DEFAULT_PARTITIONS
        if named:
            total = min(total, len(methods) * min(KINDS[name].most for name in methods))
        elif self.generator.asked.listed:
            total = len(methods)
        total = self.generator.n_partitions or total
        whole = sizes.most_clusters == sizes.n and sizes.n_features == sizes.d
        if sizes.n_objects == sizes.n and sizes.n_features == sizes.d:
            searches = self.recipes["graph"].searches
            entries = [_sharing(entry, searches, sizes) for entry in entries]
        for entry in entries:
            if total > len(entries) and whole and not entry.random:
                other = (
                    "give a list of clusterers with other parameters"
                    if entry.choices is None
                    else "draw numbers of clusters (n_clusters)"
                )
                raise ParameterError(
                    f"The {total} partitions of {OWNER} would hold the same one several times: "
                    f"{entry.recipe.name} has nothing random. Draw objects (sample_fraction) or "
                    f"features (feature_fraction), {other}, or ask for n_partitions={len(entries)}."
                )
        tasks, seeds = [], spawn_seeds(self.root, total)
        turns = _turns([entries[u % len(entries)].recipe.name for u in range(total)])
        for columns in _runs_in_turn(entries, total):
            entry = entries[columns[0] % len(entries)]
            requested = [_pick(entry, seeds[u], turns[u]) for u in columns]
            tasks.append(sizes.task(entry.recipe, columns, requested, seeds[columns[0]]))
        tasks = _designed(tasks)
        # The number of clusters of users' clusterers, and whether they find noise, is not known in advance.
        measured = named and any(_chooses(entry.recipe) for entry in entries)
        kept_type = np.dtype(np.int32)
        if named and not measured:
            most = max(extent(entry.choices)[1] for entry in entries if entry.choices is not None)
            kept_type = label_type([most])
        return Plan(tuple(tasks), total, kept_type, "threads" if named else None, measured)

    def entry(self, method: Any, choices: Sequence[int] | None) -> _Entry:
        """Return how a kind or a clusterer makes its members; numbers are drawn from `choices`."""
        sizes = self.sizes
        if isinstance(method, str):
            if method in self.recipes:
                return _Entry(self.recipes[method], choices, random=True)
            if choices is None:
                # Fine partitions show where the borders are.
                wide = range(2, min(50, max(10, isqrt(sizes.n))) + 1)
                # If some of the drawn points are equal, the recipe finds at most one cluster per distinct point.
                choices = clip(
                    wide, min(count_distinct(self.points, wide.stop), sizes.most_clusters)
                )
            starting: Any = KINDS[method].recipe
            recipe = replace(starting, init=self.generator.init) if method == "kmeans" else starting
            return _Entry(recipe, choices, random=True)
        numbers = choices if sole_parameter(method, "n_clusters") else None
        drawn = numbers is not None and len(numbers) > 1
        return _Entry(
            ClustererRecipe(method),
            numbers,
            random=drawn or sole_parameter(method, "random_state") != "",
        )


def _chooses(recipe: Recipe) -> bool:
    """Return whether the number of clusters of a member is unknown until it is made."""
    return isinstance(recipe, NeighbourRecipe)


def _turns(names: Sequence[str]) -> list[int]:
    """Return for each name how many equal ones precede it."""
    seen: Counter[str] = Counter()
    turns = []
    for name in names:
        turns.append(seen[name])
        seen[name] += 1
    return turns


def _designed(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks with their turns in the design of their kind, and the objects that members by neighbours share."""
    designed = []
    for task, turn in zip(tasks, _turns([task.recipe.name for task in tasks]), strict=True):
        recipe = task.recipe
        if isinstance(recipe, NeighbourRecipe):
            sample_seed = recipe.searches.sample_seed
            task = replace(task, recipe=recipe.designed(turn), sample_seed=sample_seed)
        elif isinstance(recipe, LandmarkSpectralRecipe):
            shared = recipe.searches
            seed = None if shared is None else shared.sample_seed
            task = replace(task, recipe=recipe.designed(turn), sample_seed=seed)
        designed.append(task)
    return designed


def _runs_in_turn(entries: Sequence[_Entry], total: int) -> list[list[int]]:
    """Return the members that each run makes: one, or all members of a shared graph."""
    runs: list[list[int]] = []
    graphs: list[list[int]] = []
    turn = 0
    for u in range(total):
        if not entries[u % len(entries)].shares:
            runs.append([u])
            continue
        if turn < SHARED_GRAPHS:
            graphs.append([])
            runs.append(graphs[-1])
        graphs[turn % SHARED_GRAPHS].append(u)
        turn += 1
    return runs


def _makes_members(method: Any) -> bool:
    """Return whether a method is allowed in a list: a name, or an instance of a clusterer."""
    if isinstance(method, str):
        return method in KINDS
    has_both = hasattr(method, "fit_predict") and hasattr(method, "get_params")
    return has_both and not isinstance(method, type)
