from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.cases import E1, planted
from tests.naive import least_squares as naive

import conclust
from conclust import Ensemble
from conclust._kernels import FactoredSolver
from conclust.consensus.papers.probabilistic.placements import factored_model
from conclust.exceptions import EvidenceWarning, InputError, ParameterError, UnseenLabelWarning

# The factored solver's tests; the other divergences and solvers: test_pairwise.py.
PCC = partial(conclust.PCC, divergence="l2")


def random_labels(rng, n, m, k, missing=0.0, noise=0.0):
    labels = rng.integers(0, k, (n, m))
    labels[rng.random((n, m)) < missing] = -1
    labels[rng.random((n, m)) < noise] = -2
    labels[0] = 0  # no partition is missing everywhere
    return labels


def model_solver(ensemble, k):
    model = factored_model.FactoredModel.of(ensemble)
    return model, model.solver(ensemble.label_view, k)


CASES = {
    "complete": {},
    "missing": {"missing": 0.4},
    "noise": {"noise": 0.2},
    "missing, noise": {"missing": 0.3, "noise": 0.2},
}


# Of 130 clusters the Grams are so wide that two partitions go together, not four.
@pytest.mark.parametrize("k", [1, 4, 7, 21, 130])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("relaxation", [1.0, 1.8])
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_tracks_the_loss_as_defined(case, relaxation, weighted, k):
    rng = np.random.default_rng(k)
    labels = random_labels(rng, 24, 6, 4, **CASES[case])
    weights = rng.random(6) + 0.1 if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    _, solver = model_solver(ensemble, k)
    Y = factored_model.padded(rng.dirichlet(np.ones(k), 24))
    constant = naive.loss(labels, np.zeros((24, 1)), weights)
    solver.rebuild(Y, 1)
    previous = solver.objective()
    for _ in range(6):
        assert solver.objective() + constant == pytest.approx(
            naive.loss(labels, Y[:, :k], weights), rel=1e-9
        )
        change, _, _ = solver.sweep(Y, 0.0, 0.0, 1, relaxation)
        assert change <= 1e-12 * abs(constant)
        assert solver.objective() - previous == pytest.approx(change, abs=1e-9 * constant)
        previous = solver.objective()
    assert (Y[:, k:] == 0).all()
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.sum(axis=1), 1, atol=1e-12)
    assert solver.residual(Y, 1) == pytest.approx(
        naive.kkt_residual(labels, Y[:, :k], weights), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_matches_the_definition_of_the_paper(case, weighted):
    rng = np.random.default_rng(5)
    labels = random_labels(rng, 30, 7, 3, **CASES[case])
    weights = rng.random(7) + 0.1 if weighted else None
    model = PCC(3, random_state=0).fit(Ensemble(labels, weights=weights))
    assert model.objective_ == pytest.approx(
        naive.objective(labels, model.membership_, weights), rel=1e-9
    )
    assert model.kkt_residual_ == pytest.approx(
        naive.kkt_residual(labels, model.membership_, weights), rel=1e-4, abs=1e-9
    )
    assert (np.diff(model.trace_) <= 1e-9 * model.objective_).all()


def test_soft_members_are_weighted_by_their_posteriors():
    rng = np.random.default_rng(2)
    memberships = [rng.dirichlet(np.ones(k), 20) for k in (2, 3, 4)]
    weights = [1.0, 0.5, 2.0]
    ensemble = Ensemble.from_memberships(memberships, weights=weights)
    model = PCC(3, random_state=0, tol=0, tol_kkt=1e-9, max_iter=2000).fit(ensemble)
    expected = naive.soft_objective(memberships, model.membership_, weights)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert model.kkt_residual_ <= 1e-8


def test_three_unrelated_objects_reach_the_known_optimum():
    # Every partition separates all three: the best two clusters leave 1/2 per partition.
    labels = np.tile([[0], [1], [2]], 8)
    model = PCC(2, random_state=0, tol=0, max_iter=2000).fit(labels)
    assert model.objective_ == pytest.approx(4.0, abs=1e-6)
    assert PCC(3, random_state=0, n_init=10).fit(labels).objective_ == pytest.approx(0, abs=1e-9)


def test_a_uniform_start_is_perturbed_with_a_message():
    with pytest.warns(EvidenceWarning, match="stationary point"):
        model = PCC(2, init=np.full((4, 2), 0.5), random_state=0).fit(E1)
    assert model.objective_ < 1e-6


def test_rounds_track_the_loss_and_never_raise_it():
    # Above the serial limit the blocks of a round work on copies: 20,000 objects, hard labels.
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 20_000)
    labels = np.column_stack(
        [np.where(rng.random(20_000) < 0.2, rng.integers(0, 4, 20_000), truth) for _ in range(10)]
    )
    ensemble = Ensemble(labels)
    _, solver = model_solver(ensemble, 4)
    Y = factored_model.padded(rng.dirichlet(np.ones(4), 20_000))
    solver.rebuild(Y, 2)
    for _ in range(8):
        before = solver.objective()
        change, _, _ = solver.sweep(Y, 0.0, 0.0, 2)
        assert change <= 0
        tracked = solver.objective()
        assert tracked - before == pytest.approx(change, rel=1e-6, abs=1e-9 * abs(before))
        solver.rebuild(Y, 2)
        assert solver.objective() == pytest.approx(tracked, rel=1e-9)
    np.testing.assert_allclose(Y.sum(axis=1), 1, atol=1e-12)


def cut_solver(ensemble, k, rounds):
    """A solver that works in rounds of simultaneous blocks although the ensemble is small."""
    model = factored_model.FactoredModel.of(ensemble)
    return FactoredSolver(
        ensemble.label_view, model.group_of, model.n_groups, k, serial_limit=1, rounds=rounds
    )


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_round_that_would_raise_the_loss_is_shortened(case, weighted):
    # One round of 16 simultaneous blocks from nearly uniform: together they overshoot.
    rng = np.random.default_rng(0)
    labels = random_labels(rng, 48, 3, 2, **CASES[case])
    weights = np.array([1.0, 2.0, 0.5]) if weighted else None
    ensemble = Ensemble(labels, weights=weights)
    shortened = 0
    for seed in range(10):
        solver = cut_solver(ensemble, 3, rounds=1)
        Y = factored_model.padded(np.random.default_rng(seed).dirichlet(np.full(3, 30.0), 48))
        constant = naive.loss(labels, np.zeros((48, 1)), weights)
        solver.rebuild(Y, 1)
        for _ in range(6):
            change, _, short = solver.sweep(Y, 0.0, 0.0, 2)
            shortened += short
            assert change <= 1e-12 * constant
            assert solver.objective() + constant == pytest.approx(
                naive.loss(labels, Y[:, :3], weights), rel=1e-9
            )
            np.testing.assert_allclose(Y.sum(axis=1), 1, atol=1e-12)
    assert shortened > 0


def test_planted_partition_is_found_at_every_size():
    for n in (50, 30_000):
        rng = np.random.default_rng(n)
        truth = rng.integers(0, 5, n)
        labels = np.column_stack(
            [np.where(rng.random(n) < 0.15, rng.integers(0, 5, n), truth) for _ in range(20)]
        )
        model = PCC(5, random_state=0).fit(labels)
        agree = np.zeros((5, 5))
        np.add.at(agree, (truth, model.labels_), 1)
        assert (agree.max(axis=1).sum() / n) > 0.99
        assert model.converged_


@pytest.mark.parametrize("divergence", ["l2", "kl", "mahalanobis", "power"])
def test_a_membership_is_the_start_as_it_is(divergence):
    labels, _ = planted(3, 80, 10, 4, flip=0.35)
    first = PCC(4, divergence=divergence, n_init=1, random_state=0).fit(labels)
    again = PCC(4, divergence=divergence, init=first.membership_, random_state=0).fit(labels)
    assert (first.membership_ == 0).any()
    assert again.trace_[0] == pytest.approx(first.objective_, rel=1e-6)
    assert again.objective_ <= again.trace_[0]


@pytest.mark.parametrize("divergence", ["l2", "kl"])
def test_a_solution_without_empty_columns_is_accepted_as_a_start(divergence):
    labels = np.column_stack([np.repeat([0, 1, 2], 15)] * 10)
    labels[::7, :3] = 0
    first = PCC(8, divergence=divergence, random_state=0).fit(labels)
    assert first.membership_.shape[1] < 8
    refitted = PCC(8, divergence=divergence, init=first.membership_, random_state=0).fit(labels)
    assert refitted.n_clusters_max_ == 8
    assert refitted.objective_ <= first.objective_ * (1 + 1e-5)
    np.testing.assert_array_equal(refitted.labels_, first.labels_)


def test_the_default_bound_is_the_size_of_the_largest_partition():
    labels = np.array([[0, 0], [1, 0], [2, 1], [3, 1]])
    assert PCC(random_state=0).fit(labels).n_clusters_max_ == 4


# -- new objects


@pytest.mark.parametrize("together", [1, 4])  # partitions that observed the same objects
def test_prediction_minimises_the_objects_own_problem(together):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    labels = np.column_stack(
        [np.where(rng.random(300) < 0.2, rng.integers(0, 3, 300), truth) for _ in range(12)]
    )
    labels[np.repeat(rng.random((300, 12 // together)) < 0.2, together, axis=1)] = -1
    model = PCC(3, random_state=0).fit(labels)
    new = labels[:5].copy()
    new[:, 0] = -1
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    Y = model.membership_
    for row, z in zip(new, proba, strict=True):

        def problem(z, row=row):
            total = 0.0
            for u in range(12):
                if row[u] != -1:
                    seen = labels[:, u] != -1
                    same = labels[seen, u] == row[u]
                    total += ((same - Y[seen] @ z) ** 2).sum()
            return total

        best = problem(z)
        for other in rng.dirichlet(np.ones(3), 200):
            assert best <= problem(other) + 1e-6
            assert best <= problem(0.99 * z + 0.01 * other) + 1e-6
    np.testing.assert_array_equal(model.predict(new), proba.argmax(axis=1))


def test_labels_unseen_in_fit_are_singletons_and_warn_once():
    model = PCC(2, random_state=0).fit(E1)
    with pytest.warns(UnseenLabelWarning, match="2 labels") as record:
        proba = model.predict_proba([[9, 0, 0], [0, 9, 0]])
    assert len(record) == 1
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_an_object_missing_everywhere_is_predicted_as_minus_one():
    model = PCC(2, random_state=0).fit(E1)
    np.testing.assert_array_equal(model.predict([[-1, -1, -1], [0, 0, 0]]), [-1, 0])
    np.testing.assert_allclose(model.predict_proba([[-1, -1, -1]]), [[0.5, 0.5]])


def test_prediction_refuses_another_number_of_partitions():
    model = PCC(2, random_state=0).fit(E1)
    with pytest.raises(ValueError, match="3 features"):
        model.predict([[0, 0], [1, 1]])


# -- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"divergence": "kl", "solver": "factored"}, "use solver='pairwise'"),
        ({"pairs": 5, "solver": "factored"}, "use solver='pairwise'"),
        ({"pairs": 5, "solver": "landmark"}, "leave out pairs="),
        ({"init": "huh"}, "one of"),
        ({"init": np.ones((4, 2))}, "rows at least 0 that sum to 1"),
        ({"init": np.full((3, 2), 0.5)}, r"shape \(4, at most 2\)"),
        ({"init": [0, 1, 2, 0]}, "labels of at most 2 clusters"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    model = PCC(**{"n_clusters": 2, **parameters})
    with pytest.raises(ParameterError, match=message):
        model.fit(E1)


def test_minus_one_can_mean_noise():
    labels = np.array([[0, 0], [0, 0], [1, -1], [1, -1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noise = PCC(2, missing="noise", random_state=0).fit(labels)
    as_noise = np.where(labels == -1, -2, labels)
    np.testing.assert_array_equal(
        noise.membership_, PCC(2, random_state=0).fit(as_noise).membership_
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(2, 12).flatmap(
        lambda n: st.integers(1, 5).flatmap(
            lambda m: st.lists(
                st.lists(st.integers(-2, 3), min_size=m, max_size=m), min_size=n, max_size=n
            )
        )
    ),
    st.integers(1, 6),
)
def test_any_small_matrix_is_fitted(rows, k):
    labels = np.array(rows)
    if (labels == -1).all(axis=0).any():
        with pytest.raises(InputError, match="missing everywhere"):
            PCC(k).fit(labels)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PCC(k, random_state=0).fit(labels)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-12)
    seen = ~(labels == -1).all(axis=1)
    expected = naive.objective(labels[seen], model.membership_[seen])
    assert model.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(model.labels_ == -1, ~seen)


@pytest.mark.parametrize("k", [300, 70_000])
def test_codes_may_be_wider_than_one_byte(k):
    # The first 30 objects keep their wide codes; the loss is of those alone.
    rng = np.random.default_rng(0)
    labels = np.column_stack([np.arange(k), rng.integers(0, k, k)])
    ensemble = Ensemble(labels)
    assert ensemble.codes.dtype == (np.uint16 if k == 300 else np.uint32)
    part = ensemble.part(np.arange(30))
    model, _ = model_solver(ensemble, 3)
    solver = model.solver(part.label_view, 3)
    Y = factored_model.padded(rng.dirichlet(np.ones(3), 30))
    solver.rebuild(Y, 1)
    constant = naive.loss(labels[:30], np.zeros((30, 1)))
    assert solver.objective() + constant == pytest.approx(
        naive.loss(labels[:30], Y[:, :3]), rel=1e-9
    )


@pytest.mark.long
@pytest.mark.parametrize("divergence", ["l2", "kl"])
def test_a_fit_with_as_many_clusters_as_objects_ends(divergence):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, (60, 50))
    labels[rng.random(labels.shape) < 0.4] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = PCC(60, divergence=divergence, random_state=0).fit(labels)
    assert model.converged_
    # A higher bound on the clusters does not raise the objective: it is as close to the optimum as with the clusters used.
    few = PCC(model.membership_.shape[1], divergence=divergence, random_state=0).fit(labels)
    assert model.objective_ <= 1.02 * few.objective_
