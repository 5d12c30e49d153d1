"""Partitions with little or no information, and weights that are large, small or 0, for a form of each class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.cases import DEGENERATE, degenerate, planted
from tests.registry import asked_for, exemptions, make

import conclust
from conclust import Ensemble

EXEMPT = exemptions()
LABELS, TRUTH = planted(n=45, m=8, k=3)
M = LABELS.shape[1]


def fit(form, X, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # conclust's own, and ConvergenceWarning
        return make(form, k).fit(X)


def same(a, b):
    return adjusted_rand_score(a.labels_, b.labels_) == 1.0


def assert_same_objective(a, b):
    if hasattr(a, "objective_"):
        assert a.objective_ == pytest.approx(b.objective_, rel=1e-4, abs=1e-9)


@pytest.fixture(params=asked_for(of_each_class=True))
def form(request):
    test = request.function.__name__.removeprefix("test_")
    reason = EXEMPT.get((request.param, test))
    if reason is not None:
        pytest.skip(f"exempt: {reason}")
    return request.param


def takes(form, column):
    return make(form, 2)._takes_missing() or not (np.asarray(column) == -1).any()


@pytest.mark.parametrize("kind", DEGENERATE)
def test_the_position_of_a_degenerate_partition_does_not_matter(form, kind):
    column = degenerate(kind, len(LABELS))
    if not takes(form, column):
        pytest.skip("takes no missing labels, and says so")
    first, last = (fit(form, np.insert(LABELS, u, column, axis=1), 3) for u in (0, M))
    assert same(first, last)
    assert_same_objective(first, last)


@pytest.mark.parametrize("kind", DEGENERATE)
def test_a_degenerate_partition_does_not_hide_clear_clusters(form, kind):
    column = degenerate(kind, len(LABELS))
    if not takes(form, column):
        pytest.skip("takes no missing labels, and says so")
    clear = np.column_stack([np.random.default_rng(u).permutation(3)[TRUTH] for u in range(6)])
    model = fit(form, np.insert(clear, 2, column, axis=1), 3)
    assert adjusted_rand_score(model.labels_, TRUTH) == 1.0


@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_partitions_alone_are_accepted(form, kind):
    column = degenerate(kind, 12)
    if not takes(form, column):
        pytest.skip("takes no missing labels, and says so")
    # As many clusters as objects were observed, where that is one or two.
    model = fit(form, np.column_stack([column] * 3), min(2, np.count_nonzero(column != -1)))
    np.testing.assert_array_equal(model.labels_ >= 0, column != -1)
    if hasattr(model, "objective_"):
        assert np.isfinite(model.objective_)
    if hasattr(model, "membership_"):
        np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)


def test_noise_everywhere_equals_singletons_everywhere(form):
    noise, singletons = np.full((len(LABELS), 1), -2), np.arange(len(LABELS))[:, None]
    a = fit(form, np.hstack([noise, LABELS]), 3)
    b = fit(form, np.hstack([singletons, LABELS]), 3)
    assert same(a, b)
    assert_same_objective(a, b)


def test_partitions_of_weight_0_have_no_effect(form):
    clear, _ = planted(n=45, m=8, k=3, flip=0.05)
    without = fit(form, Ensemble(clear, weights=np.ones(M)), 3)
    other = np.random.default_rng(0).integers(0, 5, len(clear))
    for column in (other, *(degenerate(kind, len(clear)) for kind in ("noise only", "one object"))):
        if takes(form, column):
            labels, weights = np.insert(clear, 1, column, axis=1), np.insert(np.ones(M), 1, 0.0)
            model = fit(form, Ensemble(labels, weights=weights), 3)
            assert same(model, without)
            assert_same_objective(model, without)


def test_the_scale_of_the_weights_does_not_matter(form):
    weights = np.random.default_rng(0).random(M) + 0.5
    expected = fit(form, Ensemble(LABELS, weights=weights), 3)
    for scale in (1e-25, 1e-3, 1 / weights.sum(), 3.0, 100.0, 1e6, 2.0**60):
        model = fit(form, Ensemble(LABELS, weights=weights * scale), 3)
        np.testing.assert_array_equal(model.labels_, expected.labels_, err_msg=str(scale))


def test_equal_weights_equal_no_weights(form):
    """The same labels; memberships as far as iterations go. On labels without clusters more than one optimum is as good."""
    actual, expected = (fit(form, Ensemble(LABELS, weights=w), 3) for w in (np.ones(M), None))
    assert same(actual, expected)
    assert same(fit(form, Ensemble(LABELS, weights=np.full(M, 1 / M)), 3), expected)
    if hasattr(actual, "membership_"):
        np.testing.assert_allclose(actual.membership_, expected.membership_, atol=1e-4)


def test_one_hot_memberships_give_the_result_of_labels(form):
    """The same labels, where clusters are clear: CSPA and HGPA break ties among equal cuts otherwise for memberships."""
    if not make(form, 3).method.soft_members:
        pytest.skip("takes no soft members, and says so")
    actual = fit(form, Ensemble.from_memberships([np.eye(3)[column] for column in LABELS.T]), 3)
    assert same(actual, fit(form, LABELS, 3))


def test_objects_observed_with_weight_0_only_are_accepted(form):
    labels = np.insert(LABELS, 2, TRUTH, axis=1)
    if not takes(form, [-1]):
        pytest.skip("takes no missing labels, and says so")
    rare = [0, 7, 40]
    labels[rare] = -1
    labels[rare, 2] = 0
    ensemble = Ensemble(labels, weights=np.insert(np.ones(M), 2, 0.0))
    model = fit(form, ensemble, 3)
    assert (model.labels_ >= 0).all()
    if not hasattr(model, "predict"):
        return
    predicted = model.predict(labels)
    assert (predicted >= 0).all()
    np.testing.assert_array_equal(predicted[rare], model.labels_[rare])
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(
            model.predict_proba(labels)[rare], model.membership_[rare], atol=1e-6
        )


# -- numbers computed by hand, or from equivalent evidence


def test_partitions_of_noise_count_as_singletons_in_any_position():
    t = np.repeat([0, 1, 2], [5, 10, 15])[:, None]
    noise, singletons = np.full((30, 1), -2), np.arange(30)[:, None]
    for columns in ([noise, t, t, t], [t, noise, t, t], [t, t, t, noise], [singletons, t, t, t]):
        # Three times 2 (1 - sum p^2), and 2 (sum_r p_r / n_r - 1 / n) of the singletons.
        model = conclust.QMI(3, random_state=0).fit(np.hstack(columns))
        assert model.objective_ == pytest.approx(6 * (1 - 14 / 36) + 2 * (3 / 30 - 1 / 30))


@pytest.mark.parametrize("mass", [0.0, 1e-300])
def test_soft_clusters_without_objects_are_ignored(form, mass):
    model = make(form, 2)
    if not model.method.soft_members:
        pytest.skip("takes no soft members, and says so")
    member = np.column_stack([np.arange(12) % 2, np.arange(12) % 2 == 0, np.full(12, mass)])
    actual = fit(form, Ensemble.from_memberships([member] * 3), 2)
    np.testing.assert_array_equal(actual.labels_, np.arange(12) % 2)
    if hasattr(actual, "objective_"):
        assert np.isfinite(actual.objective_)


def test_partitions_without_common_objects_give_finite_weights():
    # No two of these observed the same object, noise only or not.
    labels = np.full((4, 3), -1)
    labels[0, 0], labels[1, 1], labels[2, 2] = 0, -2, -2
    model = fit("WeightedEAC single", np.hstack([labels, [[0], [0], [1], [1]]]), 2)
    assert np.isfinite(model.weights_).all()


def test_noise_has_the_entropy_of_singletons():
    singles = np.hstack([np.arange(45)[:, None], LABELS])
    noise = np.hstack([np.full((45, 1), -2), LABELS])
    a, b = (fit("KernelWeightedPartition", X, 3).weights_ for X in (singles, noise))
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_objects_observed_without_weight_represent_no_cluster():
    labels = np.insert(LABELS, 0, 1, axis=1)
    labels[0, 1:] = -1
    ensemble = Ensemble(labels, weights=np.insert(np.ones(M), 0, 0.0))
    model = fit("PCC l2", ensemble, 6)
    # The first object joins the largest cluster of the others.
    sizes = np.bincount(model.labels_[1:])
    assert sizes[0] == sizes.max()
    np.testing.assert_allclose(model.membership_[0], 1 / model.membership_.shape[1])


def test_weighted_pcc_predicts_fitted_objects():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 30)
    labels = np.column_stack([truth] * 4 + [rng.integers(0, 3, 30)])
    labels[[5, 25], :4] = -1
    model = conclust.WeightedPCC(3, random_state=0).fit(labels)
    assert model.weights_[4] == 0
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_, atol=1e-6)
