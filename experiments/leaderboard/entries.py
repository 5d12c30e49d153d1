"""What takes part: every method with its default parameters, and settings that make another method of it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import conclust
from conclust import methods

__all__ = ["Entry", "entries"]

# Settings by which one class is several methods of the literature, or another answer to the question.
_SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "CEs2": ({"determinacy": "quadratic"},),
    "CumulativeVoting": ({"scheme": "lwcv"},),
    "EAC": ({"linkage": "single"},),
    "ECPCS": ({"consensus": "hierarchical"},),
    "KCC": ({"utility": "U_c"}, {"utility": "U_cos"}),
    "LCE": (
        {"similarity": "wtq"},
        *(
            {"similarity": name, "consensus": "hierarchical"}
            for name in ("cts", "wtq", "srs", "asrs")
        ),
    ),
    "LWEA": ({"theta": 0.2}, {"normalized": True}),
    "MDEC": ({"consensus": "spectral"}, {"consensus": "bipartite"}),
    "PCC": (
        {"granularity": "matched"},
        {"divergence": "l2"},
        {"divergence": "l2", "granularity": "matched"},
    ),
    "PEACE": ({"granularity": "matched"},),
    "PTA": ({"linkage": "complete"}, {"linkage": "single"}),
    "WeightedPCC": ({"granularity": "matched"},),
}


@dataclass(frozen=True)
class Entry:
    """A method with its settings.

    Attributes
    ----------
    name : str
        The class and the settings that are not its defaults.
    estimator : str
        The class.
    settings : dict
        Those settings.
    told : bool
        Whether it is told the number of clusters; otherwise it finds its own.
    """

    name: str
    estimator: str
    settings: dict[str, Any]
    told: bool

    def make(self, k: int, seed: int, jobs: int | None) -> Any:
        """Return the estimator, told the number of clusters if it can be."""
        kind = getattr(conclust, self.estimator)
        given = {"random_state": seed, "n_jobs": jobs}
        if self.told:
            given["n_clusters"] = k
        has = inspect.signature(kind).parameters
        return kind(**{key: value for key, value in given.items() if key in has}, **self.settings)


def entries() -> list[Entry]:
    """List what takes part: first those that are told the number of clusters."""
    found = []
    for method in methods():
        told = method.n_clusters != "emerges"
        for settings in ({}, *_SETTINGS.get(method.estimator, ())):
            words = ", ".join(_word(key, value) for key, value in settings.items())
            name = f"{method.estimator} ({words})" if words else method.estimator
            found.append(Entry(name, method.estimator, settings, told))
    return sorted(found, key=lambda entry: not entry.told)


def _word(key: str, value: Any) -> str:
    """Say a setting: a word as it is, a number with its name, a switch by its name."""
    if value is True:
        return key
    return value if isinstance(value, str) else f"{key}={value}"
