"""The common battery: laws of every consensus estimator, in every form."""

from __future__ import annotations

import inspect
import pickle
import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from tests.registry import FORMS, WITHOUT_MATRIX, asked_for, exemptions, make, public_estimators
from tests.weighting import test_degenerate

import conclust
from conclust import Ensemble, weighting
from conclust.exceptions import (
    DenseLimitError,
    EvidenceWarning,
    InputError,
    ParameterError,
    UnsupportedEnsembleError,
)

EXEMPT = exemptions()


def planted(seed=0, n=90, m=15, k=3, flip=0.1):
    """Labels of k planted clusters, each with a share of random labels and other names."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    truth[:k] = np.arange(k)
    columns = []
    for _ in range(m):
        column = rng.permutation(k)[truth]
        wrong = rng.random(n) < flip
        columns.append(np.where(wrong, rng.integers(0, k, n), column))
    return np.column_stack(columns), truth


def same(a, b):
    return adjusted_rand_score(a, b) == 1.0


def fit(form, labels, k):
    with warnings.catch_warnings():
        # Some of these inputs are meant to have pairs without evidence.
        warnings.simplefilter("ignore", EvidenceWarning)
        return make(form, k).fit(labels)


@cache
def usual(form):
    """Return the form fitted to the planted labels, once for all tests: they do not change it."""
    return fit(form, planted()[0], 3)


def of_each_class(test):
    """Mark a law that holds by what all forms of a class share: it is tried on one of them."""
    test.of_each_class = True
    return test


def pytest_generate_tests(metafunc):
    if "form" in metafunc.fixturenames:
        once = hasattr(metafunc.function, "of_each_class")
        metafunc.parametrize("form", asked_for(of_each_class=once), indirect=True)


@pytest.fixture
def form(request):
    test = request.function.__name__.removeprefix("test_")
    reason = EXEMPT.get((request.param, test))
    if reason is not None:
        pytest.skip(f"exempt: {reason}")
    return request.param


def test_the_registry_lists_every_estimator():
    assert {name for name, _ in FORMS.values()} == set(public_estimators())


def test_every_exemption_names_a_form_and_a_test():
    modules = sys.modules[__name__], test_degenerate
    for form, test in EXEMPT:
        assert form in FORMS
        assert any(hasattr(module, f"test_{test}") for module in modules), test


# -- equivalent evidence


@pytest.mark.long
def test_cluster_names_change_no_bit(form):
    labels, _ = planted()
    rng = np.random.default_rng(1)
    renamed = np.column_stack([rng.permutation(50)[column] for column in labels.T])
    a, b = usual(form), fit(form, renamed, 3)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    if hasattr(a, "membership_"):
        np.testing.assert_array_equal(a.membership_, b.membership_)


def test_reordering_objects_permutes_the_labels(form):
    labels, _ = planted()
    order = np.random.default_rng(2).permutation(len(labels))
    assert same(usual(form).labels_[order], fit(form, labels[order], 3).labels_)


def test_the_order_of_partitions_does_not_matter(form):
    labels, _ = planted()
    order = np.random.default_rng(3).permutation(labels.shape[1])
    assert same(usual(form).labels_, fit(form, labels[:, order], 3).labels_)


def test_integer_weights_act_as_repetitions(form):
    labels, _ = planted()
    weights = np.arange(labels.shape[1]) % 3
    expected = fit(form, np.repeat(labels, weights, axis=1), 3).labels_
    for unit in (1.0, 1 / weights.sum()):
        assert same(fit(form, Ensemble(labels, weights=unit * weights), 3).labels_, expected)


# -- required results


def test_planted_clusters_are_found(form):
    labels, truth = planted(flip=0.05)
    assert same(fit(form, labels, 3).labels_, truth)


@cache
def beside_bad_partitions():
    """Return an ensemble whose last five partitions are random, two learned weights of it, and the planted clusters."""
    labels, truth = planted(flip=0.05)
    rng = np.random.default_rng(1)
    ensemble = Ensemble(np.hstack([labels, rng.integers(0, 3, (len(truth), 5))]))
    X = rng.normal(size=(len(truth), 2)) + 8.0 * np.eye(3, 2)[truth]
    agreed = weighting.agreement_weights(ensemble, scale=True)
    valid = weighting.validity_weights(ensemble, X, random_state=0)
    return ensemble, (agreed, valid), truth


def test_learned_weights_exclude_poor_partitions(form):
    ensemble, learned, truth = beside_bad_partitions()
    for weights in learned:
        assert weights[-5:].max() < 0.4 * weights[:-5].min()
        assert same(fit(form, ensemble.reweighted(weights), 3).labels_, truth)


def test_unanimous_partitions_are_returned(form):
    truth = np.repeat(np.arange(4), 12)
    rng = np.random.default_rng(0)
    labels = np.column_stack([rng.permutation(4)[truth] for _ in range(9)])
    model = fit(form, labels, 4)
    np.testing.assert_array_equal(model.labels_, truth)
    assert model.n_clusters_ == 4


def clinal(seed, alpha, n=160, k=4):
    """Return memberships of unequal groups, a quarter of the objects along a line from one group to another."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(alpha * np.linspace(0.5, 1.5, k), n)
    along = np.linspace(0, 1, n // 4)
    q[: n // 4] = np.outer(along, np.eye(k)[0]) + np.outer(1 - along, np.eye(k)[1])
    return np.round(q, 6)


@pytest.mark.parametrize(("seed", "alpha"), [(0, 0.3), (2, 2.0)])
def test_copies_of_a_soft_partition_give_its_most_probable_clusters(form, seed, alpha):
    method = make(form, 4).method
    if not method.soft_members:
        pytest.skip("takes no soft members, and says so")
    q, rng = clinal(seed, alpha), np.random.default_rng(seed)
    members = Ensemble.from_memberships([q[:, rng.permutation(4)] for _ in range(6)])
    labels = fit(form, members, 4).labels_
    if method.soft_members == "labels":
        np.testing.assert_array_equal(labels, fit(form, members.labels, 4).labels_)
    else:
        assert same(q.argmax(axis=1), labels)


def test_unanimous_partitions_survive_30_percent_missing(form):
    truth = np.repeat(np.arange(4), 12)
    rng = np.random.default_rng(0)
    labels = np.column_stack([truth] * 20)
    labels[rng.random(labels.shape) < 0.3] = -1
    np.testing.assert_array_equal(fit(form, labels, 4).labels_, truth)


def test_noise_is_evidence_of_separation(form):
    truth = np.repeat(np.arange(3), 15)
    labels = np.column_stack([truth] * 12)
    labels[np.random.default_rng(0).random(labels.shape) < 0.1] = -2
    model = fit(form, labels, 3)
    assert same(model.labels_, truth)


def test_an_object_that_is_always_noise_has_a_label(form):
    labels, truth = planted(flip=0.0)
    labels = np.vstack([labels, np.full(labels.shape[1], -2)])
    model = fit(form, labels, 4)
    assert model.labels_[-1] >= 0
    assert same(model.labels_[:-1], truth)


def test_one_partition_is_its_own_consensus(form):
    truth = np.repeat([0, 1, 2], 10)
    np.testing.assert_array_equal(fit(form, truth[:, None], 3).labels_, truth)


def test_one_cluster_contains_all_objects(form):
    labels, _ = planted()
    model = fit(form, labels, 1)
    assert (model.labels_ == 0).all()
    assert model.n_clusters_ == 1


def test_as_many_clusters_as_requested_are_found_or_fewer_with_a_warning(form):
    method, short = make(form, 2).method, 0
    if method.n_clusters not in ("exact", "optional"):
        pytest.skip("its number is a bound, or emerges")
    for seed in range(6):
        rng = np.random.default_rng([52, seed])
        n, k = int(rng.choice([8, 12, 40])), int(rng.integers(2, 6))
        truth, m = rng.integers(0, k, n), int(rng.choice([3, 8]))
        flips = rng.random((n, m)) < rng.choice([0.2, 0.5, 1.0])
        labels = np.where(flips, rng.integers(0, k, (n, m)), truth[:, None])
        if len(np.unique(labels, axis=0)) < k:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make(form, k).fit(labels)
        warned = any(f"where n_clusters={k} was requested" in str(one.message) for one in caught)
        assert warned == (model.n_clusters_ < k)
        short += warned
    assert method.fewer or not short


def test_two_objects_are_clustered(form):
    model = fit(form, np.array([[0, 0], [1, 1]]), 2)
    np.testing.assert_array_equal(model.labels_, [0, 1])


def test_singletons_everywhere_are_accepted(form):
    labels = np.column_stack([np.arange(8)] * 3)
    model = fit(form, labels, 8)
    assert model.n_clusters_ == 8


def test_unobserved_pairs_leave_all_numbers_finite(form):
    # Two halves of objects, each observed by different partitions.
    truth = np.repeat(np.arange(2), 10)
    labels = np.column_stack([truth] * 8)
    labels[::2, :4] = labels[1::2, 4:] = -1
    model = fit(form, labels, 2)
    assert model.labels_.min() == 0
    for name, value in vars(model).items():
        # The residual is not known before the first sweep.
        if name.endswith("_") and name != "residuals_" and isinstance(value, float | np.ndarray):
            assert np.isfinite(value).all(), name


def test_duplicated_objects_stay_together(form):
    labels, _ = planted(n=40)
    twice = np.repeat(labels, 2, axis=0)
    found = fit(form, twice, 3).labels_
    np.testing.assert_array_equal(found[::2], found[1::2])


# 300 clusters where 3 are requested.
@pytest.mark.long
@of_each_class
@pytest.mark.filterwarnings("ignore::conclust.exceptions.EnsembleWarning")
def test_more_than_255_clusters_and_partitions(form):
    truth = np.arange(300)
    labels = np.column_stack([truth] * 3)
    assert fit(
        form, np.repeat(labels, 2, axis=0), 300 if "EAC" in form.replace("PEACE", "") else 3
    ).labels_.shape == (600,)
    wide = np.column_stack([np.repeat([0, 1], 10)] * 300)
    np.testing.assert_array_equal(fit(form, wide, 2).labels_, np.repeat([0, 1], 10))


@of_each_class
def test_objects_missing_everywhere_get_minus_one_and_a_warning(form):
    labels, _ = planted()
    labels[[5, 40]] = -1
    with pytest.warns(EvidenceWarning, match="2 objects are missing in every partition"):
        model = make(form, 3).fit(labels)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ == -1), [5, 40])
    rest = np.delete(np.arange(len(labels)), [5, 40])
    assert same(model.labels_[rest], fit(form, labels[rest], 3).labels_)
    if hasattr(model, "membership_"):
        k = model.membership_.shape[1]
        np.testing.assert_array_equal(model.membership_[[5, 40]], 1 / k)


@of_each_class
def test_warnings_point_at_the_calling_line(form):
    labels, _ = planted(seed=5)
    labels[[4, 40]] = -1
    for call in ("fit", "fit_predict"):
        model = make(form, 3)
        if "max_iter" in model.get_params():
            model.set_params(max_iter=1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, call)(labels)
        assert caught
        assert {one.filename for one in caught} == {__file__}
        line = inspect.currentframe().f_lineno - 3
        assert {one.lineno for one in caught} == {line}


@of_each_class
def test_a_fit_that_ends_early_warns(form):
    model = make(form, 5)
    limits = {"max_iter": 1, "tol": 0.0, "tol_kkt": 0.0, "n_init": 1} | {"random_state": 1}
    if "max_iter" not in model.get_params():
        pytest.skip("makes no iterations, or a given number of them")
    model.set_params(**{key: v for key, v in limits.items() if key in model.get_params()})
    labels, _ = planted(n=200, k=5, flip=0.6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(labels)
    warned = [str(one.message) for one in caught if one.category is ConvergenceWarning]
    assert len(warned) == (not model.converged_)
    assert all("max_iter=1" in message for message in warned)


@of_each_class
def test_more_clusters_than_objects_are_refused(form):
    with pytest.raises(
        ParameterError, match=r"'n_clusters' parameter of \w+ must be .*Got 9 instead"
    ):
        make(form, 9).fit(np.zeros((4, 2), dtype=int))


@of_each_class
def test_the_default_number_of_clusters_is_as_documented(form):
    labels, _ = planted(flip=0.0)
    if make(form, None)._number_needed() == "exact":
        name = FORMS[form][0]
        with pytest.raises(
            ParameterError,
            match=rf"^The 'n_clusters' parameter of {name} must be an int in the range \[1, 90\]. Got "
            rf"None instead. {name} needs the number of clusters; AutoConsensus\(\) chooses it.$",
        ):
            fit(form, labels, None)
        return
    model = fit(form, labels, None)
    assert 1 <= model.n_clusters_ <= len(labels)


# -- conventions


@of_each_class
def test_labels_are_consecutive_integers_by_first_appearance(form):
    found = usual(form).labels_
    assert found.dtype == np.int64
    _, first = np.unique(found, return_index=True)
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


def test_membership_rows_are_distributions(form):
    model = usual(form)
    if not hasattr(model, "membership_"):
        assert not hasattr(model, "predict_proba")
        return
    Y = model.membership_
    assert Y.dtype == np.float64
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(Y.argmax(axis=1), model.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@of_each_class
def test_memberships_have_one_column_per_nonempty_cluster(form):
    planted_labels, _ = planted(n=60)
    unanimous = np.column_stack([np.repeat(np.arange(4), 12)] * 9)
    for labels in (planted_labels, unanimous):
        model = fit(form, labels, 8)
        if not hasattr(model, "membership_"):
            return
        Y, k = model.membership_, model.n_clusters_
        assert k == len(np.unique(model.labels_))
        assert Y.shape[1] <= 8
        assert (Y.max(axis=0) > 1e-9).all()
        np.testing.assert_allclose(Y.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(np.unique(Y.argmax(axis=1)), np.arange(k))
        assert (np.diff(Y.sum(axis=0)[k:]) <= 0).all()
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(labels).sum(axis=1), 1, atol=1e-9)
            assert model.predict_proba(labels[:2]).shape == (2, Y.shape[1])
            assert model.predict(labels).max() < Y.shape[1]


@of_each_class
def test_every_kind_of_input_gives_the_same_result(form):
    labels, _ = planted()
    expected = usual(form).labels_
    read_only = labels.copy()
    read_only.flags.writeable = False
    wide = np.zeros((labels.shape[0] * 2, labels.shape[1] * 3), dtype=labels.dtype)
    wide[::2, ::3] = labels
    names = np.array(["a", "b", "c"])[labels]
    inputs = {
        "Ensemble": Ensemble(labels),
        "list": labels.tolist(),
        "uint8": labels.astype(np.uint8),
        "float": labels.astype(float),
        "big endian": labels.astype(">i4"),
        "read-only": read_only,
        "strided": wide[::2, ::3],
        "objects": names.astype(object),
        "pandas categories": pd.DataFrame(
            {f"p{u}": pd.Categorical(names[:, u]) for u in range(names.shape[1])}
        ),
        "polars strings": pl.DataFrame(
            {f"p{u}": names[:, u].tolist() for u in range(names.shape[1])}
        ),
    }
    for kind, given in inputs.items():
        np.testing.assert_array_equal(fit(form, given, 3).labels_, expected, err_msg=kind)


@pytest.mark.long
def test_threads_change_no_bit(form):
    """Of many objects, which are divided among threads; of few, test_reproducibility.py."""
    n = 9_000
    if "EAC" in form and "single" not in form and "pairs" not in form:
        n = 2_000  # n x n
    if form.startswith(("PTA", "BayesianEnsemble Gibbs", "BayesEstimate nid", "CEs2")):
        n = 2_000  # seconds of 9,000
    if form.startswith("PCC power"):
        n = 1_200  # some of the objects are solved first, as of more
    if "greedy" in form:
        n = 300  # all pairs, at every step
    labels, _ = planted(n=n, m=12, flip=0.2)
    models = []
    for n_jobs in (1, 3):
        model = make(form, 3).set_params(n_jobs=n_jobs)
        if "max_iter" in model.get_params() and "greedy" not in form:
            model.set_params(max_iter=3)  # each divides its objects alike
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of evidence, and of an early end
            models.append(model.fit(labels))
    one, other = models
    np.testing.assert_array_equal(one.labels_, other.labels_)
    if hasattr(one, "membership_"):
        np.testing.assert_array_equal(one.membership_, other.membership_)
    if hasattr(one, "objective_"):
        assert one.objective_ == other.objective_


def test_the_trace_goes_from_the_start_to_the_objective(form):
    labels, _ = planted(n=60, seed=3)
    model = fit(form, labels, 3)
    if not hasattr(model, "trace_"):
        pytest.skip("does not iterate from a start, or says nothing on the way")
    trace = model.trace_
    assert trace.dtype == np.float64
    assert 1 <= len(trace) <= model.n_iter_ + 1
    assert trace.shape == (len(trace),)
    assert trace[-1] == pytest.approx(model.objective_, rel=1e-9, abs=1e-9)
    steps, rounding = np.diff(trace), 1e-9 * np.abs(trace).max()
    assert (steps <= rounding).all() or (steps >= -rounding).all()
    if hasattr(model, "residuals_"):
        assert model.residuals_.shape == trace.shape
        assert (model.residuals_[1:] >= 0).all()


@of_each_class
def test_estimators_can_be_cloned_and_pickled(form):
    labels, _ = planted()
    model = make(form, 3)
    before = model.get_params()
    fitted = clone(model).fit(labels)
    assert fitted.get_params() == before
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    assert not hasattr(model, "labels_")


@of_each_class
def test_a_second_fit_replaces_the_first(form):
    labels, _ = planted()
    other, _ = planted(seed=5, n=60, m=7)
    model = make(form, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        model.fit(other).fit(labels)
    np.testing.assert_array_equal(model.labels_, usual(form).labels_)
    assert model.n_features_in_ == labels.shape[1]


@of_each_class
def test_the_first_parameter_is_the_number_of_clusters(form):
    cls = type(make(form, 2))
    assert next(iter(inspect.signature(cls).parameters)) == "n_clusters"
    assert clone(cls()).get_params() == cls().get_params()  # constructs without arguments


@of_each_class
def test_ground_truth_is_ignored(form):
    labels, truth = planted()
    model = make(form, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        found = model.fit_predict(labels, truth)
    np.testing.assert_array_equal(found, usual(form).labels_)


# -- invalid input


BAD = {
    "empty": (np.empty((0, 3)), "0 sample"),
    "no partition": (np.empty((3, 0)), "0 feature"),
    "one object": ([[0, 1, 0]], "1 sample"),
    "one dimension": ([0, 1, 0], "Expected 2D array"),
    "three dimensions": (np.zeros((2, 2, 2)), "3D array"),
    "ragged": ([[0, 1], [0]], "different lengths"),
    "complex": (np.zeros((3, 2), dtype=complex), "Complex data not supported"),
    "not whole": ([[0.5, 1], [0, 1]], "0.5 at row 0, partition 0"),
    "infinite": ([[0, np.inf], [0, 1]], r"infinite \(inf\) at row 0, partition 1"),
    "negative": ([[0, 0], [0, -7]], "Got -7 at row 1, partition 1"),
    "a partition missing everywhere": ([[0, -1], [1, -1]], "Partition 1 is missing everywhere"),
    "dates": (np.zeros((2, 2), dtype="M8[s]"), "dtype datetime64"),
    "too large": (np.full((2, 2), 2**63, dtype=np.uint64), "int64"),
    "dictionaries": (np.array([[{}, 1], [2, 3]], dtype=object), "Got {} in partition 0"),
}


@of_each_class
def test_invalid_labels_are_refused(form):
    for given, message in BAD.values():
        with pytest.raises(InputError, match=message):
            make(form, 1).fit(given)


@of_each_class
def test_sparse_labels_are_refused(form):
    import scipy.sparse as sp

    with pytest.raises(TypeError, match="dense label matrix"):
        make(form, 2).fit(sp.csr_array(np.eye(4)))


@of_each_class
def test_invalid_numbers_of_clusters_are_refused(form):
    message = rf"The 'n_clusters' parameter of {FORMS[form][0]} must be an int"
    for k in (0, -1, 2.5, "two", True):
        with pytest.raises(ParameterError, match=message):
            make(form, k).fit(planted()[0])


@of_each_class
def test_unknown_values_of_missing_are_refused(form):
    model = make(form, 2)
    if "missing" in model.get_params():  # otherwise the Ensemble says what -1 means
        with pytest.raises(ParameterError, match="'missing'"):
            model.set_params(missing="huh").fit(planted()[0])


@of_each_class
def test_prediction_before_fit_is_refused(form):
    model = make(form, 2)
    if hasattr(model, "predict"):
        with pytest.raises(NotFittedError):
            model.predict([[0, 1]])
    else:
        assert "predict" not in dir(model)
        name = type(model).__name__
        for what in ("predict", "predict_proba"):
            with pytest.raises(
                AttributeError, match=f"{name} does not place new objects. .*PCC.* do"
            ):
                getattr(model, what)
    if not model.method.membership:
        with pytest.raises(AttributeError, match=r"gives labels only\. .*PCC.* give memberships"):
            _ = model.membership_
    with pytest.raises(AttributeError, match=r"has no attribute 'nonesuch'$"):
        _ = model.nonesuch
    if hasattr(model, "predict_proba"):
        with pytest.raises(NotFittedError):
            model.predict_proba([[0, 1]])


def test_the_dense_limit_error_names_alternatives(form):
    labels, _ = planted()
    estimator = make(form, 3)
    if not hasattr(estimator, "max_dense"):
        assert "n^2" not in estimator.method.cost or hasattr(estimator, "pairs")
        return
    estimator.max_dense = 10  # of the methods of the literature, no parameter
    parameters = FORMS[form][1]
    name = FORMS[form][0]
    without = name in WITHOUT_MATRIX and "complete" not in parameters.values()
    # PTA's similarities cover all pairs for any linkage.
    tree = parameters.get("linkage") == "single" and name != "PTA"
    # Average linkage, its default, of complete labels.
    tree |= name in ("EAC", "WeightedEAC") and parameters.get("linkage", "average") == "average"
    if without or tree or "pairs" in parameters:
        assert same(estimator.fit(labels).labels_, usual(form).labels_)
        return
    limit = "max_dense=10 allows" if "max_dense" in estimator.get_params() else "the 10 allowed"
    with pytest.raises(DenseLimitError, match=limit) as caught:
        estimator.fit(labels)
    others = set(public_estimators()) - {type(estimator).__name__}
    assert "pairs=" in str(caught.value) or any(name in str(caught.value) for name in others)


@of_each_class
def test_every_estimator_declares_its_properties(form):
    cls = type(make(form, 2))
    method = cls.method
    assert method.title
    assert method.citation
    assert method.cost
    given = "n_clusters" in inspect.signature(cls).parameters
    assert given == (method.n_clusters != "emerges")
    assert hasattr(usual(form), "membership_") == method.membership


@of_each_class
def test_unsupported_input_is_refused_by_name(form):
    labels, _ = planted()
    estimator = make(form, 3)
    method = estimator.method
    missing = labels.copy()
    missing[3, 1] = -1
    memberships = [np.eye(3)[column] for column in labels.T]
    for taken, ensemble, word in (
        (estimator._takes_missing(), Ensemble(missing), "missing labels"),
        (method.weights, Ensemble(labels, weights=np.ones(labels.shape[1])), "weights"),
        (method.soft_members, Ensemble.from_memberships(memberships), "soft members"),
    ):
        if taken:
            assert fit(form, ensemble, 3).labels_.shape == (len(labels),)
        else:
            with pytest.raises(UnsupportedEnsembleError, match=word):
                make(form, 3).fit(ensemble)


def test_the_list_of_methods_matches_the_estimators():
    listed = {method.estimator for method in conclust.methods()}
    assert listed == set(public_estimators())
