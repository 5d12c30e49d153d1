"""Any input gives a result within the contract, or a clear error.

CONCLUST_FUZZ=10000 sets the number of cases (by default a few for each form of each estimator),
CONCLUST_FUZZ_SEED=1 their seeds. Each case may take a second of processor time.
"""

from __future__ import annotations

import os
import time
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests.fuzz import Case, cases
from tests.registry import FORMS, make

from conclust.exceptions import (
    ConclustError,
    InputError,
    ParameterError,
    UnsupportedEnsembleError,
)

CASES = int(os.environ.get("CONCLUST_FUZZ", "0"))
SEED = int(os.environ.get("CONCLUST_FUZZ_SEED", "0"))
EACH = max(1, CASES // len(FORMS)) if CASES else 4


@pytest.mark.parametrize("form", sorted(FORMS))
def test_random_input_gives_a_result_or_an_error(form):
    soft = bool(make(form, 2).method.soft_members)
    for kind in (False, True) if soft else (False,):

        @seed(zlib.crc32(form.encode()) + SEED)
        @settings(
            max_examples=-(-EACH // (1 + soft)),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(cases(kind))
        def run(case):
            check(form, case)

        run()


def check(form: str, case: Case) -> None:
    """Fit, and read all attributes that a user can read."""
    X, new, present, weights = case.data()
    model = make(form, case.k)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    if case.container == "noise as -1":
        if "missing" not in model.get_params():
            return  # the Ensemble says what -1 means
        model.set_params(missing="noise")
        present = np.ones_like(present)
    refusal = expected_refusal(model, case, present, weights)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # conclust's own, and ConvergenceWarning
        refused = None
        try:
            model.fit(X)
        except ConclustError as error:
            refused = error
        if refused is None:
            assert not refusal, refusal
            contract(model, new, case, present)
        else:
            message = f"{type(refused).__name__}: {refused}"
            assert type(refused) in refusal, message
            assert len(message) > 50, message
            assert message.endswith("."), message
    if CASES:
        assert time.process_time() - begun < 1.0


def expected_refusal(model, case, present, weights):
    """Return the errors that a case may raise; none if it must succeed."""
    method = model.method
    if not present.any(axis=0).all():
        return {InputError}
    # Objects missing everywhere are removed first.
    observed = present[present.any(axis=1)]
    if (
        (not observed.all() and not model._takes_missing())
        or (weights is not None and not method.weights)
        or (case.soft and not method.soft_members)
    ):
        # More clusters than objects are refused first, by methods that read their number first.
        return {UnsupportedEnsembleError, ParameterError}
    exact = method.n_clusters in ("exact", "optional")
    if exact and case.k > np.count_nonzero(present.any(axis=1)):
        return {ParameterError}
    return set()


def contract(model, new, case, present):
    """Check labels, memberships, the objective and the predictions for new objects."""
    seen = present.any(axis=1)
    check_labels(model.labels_, seen)
    actual = model.labels_[seen]
    _, first = np.unique(actual, return_index=True)
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(np.unique(actual), np.arange(model.n_clusters_))
    if model.method.membership:
        check_membership(model.membership_, case.n)
    for name in ("objective_", "log_likelihood_", "elbo_", "bic_", "icl_", "weights_", "inertia_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    if not hasattr(model, "predict") or new is None:
        return
    check_labels(model.predict(new), seen)
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(new)
        check_membership(P, case.n)
        assert P.shape == model.membership_.shape


def check_labels(labels, seen):
    assert labels.dtype == np.int64
    assert labels.shape == seen.shape
    np.testing.assert_array_equal(labels >= 0, seen)
    assert labels.min() >= -1


def check_membership(Y, n):
    assert Y.dtype == np.float64
    assert len(Y) == n
    assert np.isfinite(Y).all()
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.sum(axis=1), 1.0, atol=1e-9)
