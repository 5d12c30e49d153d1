"""Every public consensus estimator, in every form the common battery runs.

A new estimator in conclust's public names that is not here fails `test_battery.py`.
"""

from __future__ import annotations

import conclust
from conclust.consensus.base import ConsensusClusterer

# name of the form -> (class, parameters). `n_clusters` is set by the battery.
FORMS: dict[str, tuple[str, dict[str, object]]] = {
    "PCC l2": ("PCC", {"random_state": 0}),
    "EAC single": ("EAC", {"linkage": "single"}),
    "EAC average": ("EAC", {"linkage": "average"}),
    "EAC complete": ("EAC", {"linkage": "complete"}),
    "EAC ward": ("EAC", {"linkage": "ward"}),
    "EAC single, sampled pairs": ("EAC", {"linkage": "single", "pairs": 30, "random_state": 0}),
    "EAC average, sampled pairs": ("EAC", {"linkage": "average", "pairs": 30, "random_state": 0}),
}

# (form, test of the battery) -> why the form is exempt from it.
EXEMPT: dict[tuple[str, str], str] = {
    ("PCC l2", "refuses_more_clusters_than_objects"): "n_clusters is an upper bound",
}


def public_estimators() -> dict[str, type[ConsensusClusterer]]:
    """Return the consensus estimators among conclust's public names."""
    found = {}
    for name in conclust.__all__:
        value = getattr(conclust, name)
        if isinstance(value, type) and issubclass(value, ConsensusClusterer):
            found[name] = value
    return found


def make(form: str, n_clusters: int | None) -> ConsensusClusterer:
    """Return a new estimator of a form."""
    name, parameters = FORMS[form]
    return getattr(conclust, name)(n_clusters, **parameters)
