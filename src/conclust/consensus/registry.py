"""Which consensus methods there are: read from the estimators themselves."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import conclust
from conclust.consensus.base import ConsensusClusterer, Method

__all__ = ["methods"]


def methods() -> list[Method]:
    """List the consensus methods: what each needs, takes, gives and costs.

    Returns
    -------
    list of Method
        One entry an estimator, by the name of its class (``estimator``).

    Examples
    --------
    >>> import conclust
    >>> [m.estimator for m in conclust.methods() if m.n_clusters == "upper bound"]
    ['BaumEagon', 'PCC', 'PEACE', 'WeightedPCC']
    """
    homes = conclust._HOMES
    found = []
    for name, home in sorted(homes.items()):
        if home.startswith("conclust.consensus") and home != __name__:
            estimator = getattr(import_module(home), name)
            if isinstance(estimator, type) and issubclass(estimator, ConsensusClusterer):
                found.append(replace(estimator.method, estimator=name))
    return found
