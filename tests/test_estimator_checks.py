"""scikit-learn's own checks, with every expected failure and its reason."""

from __future__ import annotations

import os
from functools import partial

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.registry import public_estimators

import conclust as cc
from conclust.exceptions import InputError

# check -> why a consensus of label matrices cannot pass it.
OF_LABELS = {
    "check_clustering": "feeds points of blobs where labels belong: real numbers are refused",
    "check_positive_only_tag_during_fit": "makes labels fractional, which are refused before negatives",
}


def declared(estimator):
    method = getattr(estimator, "method", None)
    soft = hasattr(type(estimator), "predict_proba")
    return method and (method.n_clusters, method.membership, soft, estimator._takes_missing())


POSITIVE = "check_positive_only_tag_during_fit"
# scikit-learn 1.6 subtracts a mean from integer labels in place before calling the estimator.
OWN_FAULT = sklearn.__version__.startswith("1.6.")


def expected(estimator):
    if isinstance(estimator, cc.ConsensusClustering):
        return {}
    missing = estimator.__sklearn_tags__().input_tags.allow_nan
    skipped = () if missing or OWN_FAULT else (POSITIVE,)
    return {check: why for check, why in OF_LABELS.items() if check not in skipped}


# Methods of a given number of clusters refuse to be fitted without one: theirs is given here, and that
# all of them construct without arguments is checked in test_battery.py.
FASTER = {
    "BaumEagon": {"n_init": 1, "max_iter": 20_000},
    "BayesEstimate": {"n_init": 2},
    "PEACE": {"n_init": 1},
    "PTA": {"n_steps": 3},  # with fewer than 16 distinct rows they warn otherwise
    "PTGP": {"n_steps": 3},
}
CHECKED = [
    *(
        kind(
            **FASTER.get(name, {}),
            **({"n_clusters": 2} if kind.method.n_clusters == "exact" else {}),
        )
        for name, kind in public_estimators().items()
    ),
    cc.ConsensusClustering(generator=cc.EnsembleGenerator(n_partitions=8)),
    cc.ConsensusClustering(cc.EAC(2), cc.EnsembleGenerator(n_partitions=8)),
]
# What a check looks at is mostly what estimators of the same declarations share: one of each undergoes all checks, the
# others undergo every third, each check by others. With CONCLUST_FORMS=first the others undergo none.
FIRST = list({declared(estimator): estimator for estimator in reversed(CHECKED)}.values())
SHARE = 0 if os.environ.get("CONCLUST_FORMS") == "first" else 3
EVERY = parametrize_with_checks(CHECKED)
ASKED = [
    (estimator, check)
    for number, (estimator, check) in enumerate(EVERY.args[1])
    if any(estimator is first for first in FIRST) or (SHARE and number % SHARE == 0)
]


def test_every_public_estimator_is_checked():
    assert set(public_estimators().values()) <= {type(estimator) for estimator in CHECKED}


# Not scikit-learn's own marks: for each of these failures pytest reads scikit-learn's longest file again.
@pytest.mark.parametrize(("estimator", "check"), ASKED, **EVERY.kwargs)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    name = (check.func if isinstance(check, partial) else check).__name__
    if name == POSITIVE and OWN_FAULT and name in expected(estimator):
        with pytest.raises(
            (InputError, AssertionError, TypeError), match=r"whole numbers|Cannot cast ufunc"
        ):
            check(estimator)
    elif name in expected(estimator):
        with pytest.raises((InputError, AssertionError), match="whole numbers"):
            check(estimator)
    else:
        check(estimator)
