"""The methods that read labels in blocks, in every form that their battery runs. A method with
``blocks`` that is missing here fails ``test_blocks_battery.py``.
"""

from __future__ import annotations

import numpy as np
from tests.cases import planted

import conclust

# name of the form -> (class, parameters, closeness to the fit in memory).
# "equal": to rounding. "batch": equal except for noise, which in memory is attracted by its own labels.
# "optimum": the same optimum, reached on another path.
FORMS = {
    "PCC l2": ("PCC", {"divergence": "l2"}, "optimum"),
    "HBGF": ("HBGF", {}, "equal"),
    "HBGF transfer cut": ("HBGF", {"joint": False}, "equal"),
    "LWGP": ("LWGP", {}, "equal"),
    "LWGP normalized": ("LWGP", {"normalized": True}, "equal"),
    "EAC": ("EAC", {"linkage": "single"}, "equal"),
    "QMI": ("QMI", {"n_init": 3}, "batch"),
    "InformationTheoreticKMeans": ("InformationTheoreticKMeans", {"n_init": 3}, "batch"),
    "KCC": ("KCC", {"n_init": 3}, "batch"),
    "KCC cosine, normalized": (
        "KCC",
        {"utility": "U_cos", "normalized": True, "n_init": 3},
        "batch",
    ),
    "CumulativeVoting": ("CumulativeVoting", {}, "equal"),
    "CumulativeVoting urcv": ("CumulativeVoting", {"scheme": "urcv"}, "equal"),
    "CumulativeVoting rcv": ("CumulativeVoting", {"scheme": "rcv"}, "equal"),
    "CumulativeVoting lwcv": ("CumulativeVoting", {"scheme": "lwcv"}, "equal"),
    "CumulativeVoting bvote": ("CumulativeVoting", {"scheme": "bvote"}, "equal"),
}


TOLERANCE = {"equal": 1e-9, "batch": 1e-9}


def made(form, k=3, seed=0):
    """Return the estimator of a form."""
    name, parameters, _ = FORMS[form]
    estimator = getattr(conclust, name)(k, **parameters)
    return estimator.set_params(random_state=seed) if draws(estimator) else estimator


def draws(estimator):
    """Return whether it has a seed."""
    return "random_state" in estimator.get_params()


def cases():
    """Labels of every kind, with the weights of their partitions."""
    rng = np.random.default_rng(5)
    plain, _ = planted(seed=1, n=300, m=8, k=3, flip=0.3)
    missing, _ = planted(seed=2, n=300, m=8, k=3, flip=0.2, missing=0.3)
    noise, _ = planted(seed=3, n=300, m=8, k=3, flip=0.2, missing=0.2, noise=0.1)
    # A partition missing throughout whole blocks, and labels that first appear in the last block.
    late, truth = planted(seed=4, n=300, m=8, k=3, flip=0.2)
    late[:150, 2] = -1
    late[:, 5] = np.where(np.arange(300) > 290, 7 + truth, 0)
    nowhere = missing.copy()
    nowhere[[0, 17, 18, 299]] = -1
    # A complete block that no partition observed.
    nowhere[100:140] = -1
    apart, _ = planted(seed=6, n=300, m=6, k=4, flip=0.0)
    apart[apart == 3] = 2  # components of the graph
    apart[:5] = -2
    return {
        "plain": (plain, None),
        "weights": (plain, rng.uniform(0.5, 2.0, 8)),
        "missing": (missing, None),
        "noise": (noise, rng.uniform(0.5, 2.0, 8)),
        "late": (late, None),
        "nowhere": (nowhere, None),
        "components": (apart, None),
    }
