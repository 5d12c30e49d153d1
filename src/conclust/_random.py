"""The source of all random numbers: everything descends from a SeedSequence.

``random_state`` is None, an int, a ``numpy.random.Generator``, a ``SeedSequence`` or (for
scikit-learn's sake) a ``RandomState``. Children are spawned up front: the draws of one
consumer never depend on another, on threads or on the order of work.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from conclust._validation import is_whole, refuse

__all__ = [
    "RandomStateLike",
    "generator",
    "repeating",
    "seed_sequence",
    "spawn_generators",
    "spawn_seeds",
    "spawn_sequences",
    "spawned_seed",
]

RandomStateLike: TypeAlias = (
    int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None
)


def seed_sequence(random_state: Any, owner: str = "this function") -> np.random.SeedSequence:
    """Return the root of all randomness of one call.

    A Generator or RandomState is advanced by one draw, so that two calls with the same object
    differ, as with scikit-learn.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31 - 1)))
    if not is_whole(random_state) or random_state < 0:
        refuse(
            "random_state",
            owner,
            "None, an int in the range [0, inf), a numpy Generator, SeedSequence or RandomState",
            random_state,
        )
    return np.random.SeedSequence(int(random_state))


def repeating(root: np.random.SeedSequence) -> int | str:
    """Return the `random_state` that repeats a call: an int, or a SeedSequence written out."""
    entropy: Any = root.entropy
    whole = isinstance(entropy, int | np.integer)
    if whole and not root.spawn_key:
        return int(entropy)
    words = int(entropy) if whole else [int(part) for part in entropy]
    key = tuple(int(part) for part in root.spawn_key)
    return f"numpy.random.SeedSequence({words}, spawn_key={key})"


def generator(random_state: Any, owner: str = "this function") -> np.random.Generator:
    """Return one PCG64 generator seeded from `random_state`."""
    return np.random.Generator(np.random.PCG64(seed_sequence(random_state, owner)))


def spawn_generators(root: np.random.SeedSequence, n: int) -> list[np.random.Generator]:
    """Return `n` independent generators descending from `root`."""
    return [np.random.Generator(np.random.PCG64(child)) for child in spawn_sequences(root, n)]


def spawn_seeds(root: np.random.SeedSequence, n: int, *, bits: int = 64) -> list[int]:
    """Return `n` independent seeds of 32 or 64 bits descending from `root`.

    64 bits feed the counter-based generators of the kernels, 32 bits the ``random_state`` of
    scikit-learn's estimators.
    """
    dtype = np.uint64 if bits == 64 else np.uint32
    return [int(child.generate_state(1, dtype)[0]) for child in spawn_sequences(root, n)]


def spawned_seed(root: np.random.SeedSequence, i: int) -> int:
    """Return number `i` of the seeds of 64 bits that `spawn_seeds` returns."""
    return int(_child(root, i).generate_state(1, np.uint64)[0])


def spawn_sequences(root: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Return `n` independent children of `root`."""
    return [_child(root, i) for i in range(n)]


def _child(root: np.random.SeedSequence, i: int) -> np.random.SeedSequence:
    # Not root.spawn(), which changes root: a SeedSequence passed by the user (or cloned by
    # scikit-learn) must give the same children each time.
    return np.random.SeedSequence(
        root.entropy, spawn_key=(*root.spawn_key, i), pool_size=root.pool_size
    )
