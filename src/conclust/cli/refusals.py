"""Refusals of the library in the words of the command line. Imported by every command: light."""

from __future__ import annotations

import re

__all__ = ["with_option"]

# The options that give a generator its parameters; to methods parameters are given by --set, but for these.
_GENERATOR = {
    "method": "--generator",
    "n_partitions": "--partitions",
    "sample_fraction": "--sample-fraction",
    "feature_fraction": "--feature-fraction",
    "fit_on": "--fit-on",
    "n_graphs": "--graphs",
}
_METHOD = {"n_clusters": "-k", "max_clusters": "--max-clusters", "linkage": "--linkage"}
_REFUSED = re.compile(r"The '(\w+)' parameter of (\w+)(?= must)")


def with_option(refusal: str) -> str:
    """Name the option beside the parameter that a refusal of the library names."""

    def named(found: re.Match[str]) -> str:
        name, owner = found.groups()
        option = (_GENERATOR if owner == "EnsembleGenerator" else _METHOD).get(name)
        return f"{found[0]} ({option})" if option else found[0]

    return _REFUSED.sub(named, refusal)
