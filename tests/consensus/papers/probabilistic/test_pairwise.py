"""PCC over pairs: the pairwise solver against definitions, equalities and closed forms."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
from tests.cases import E1, planted, random_labels
from tests.naive import least_squares
from tests.naive import pairs_objective as naive

from conclust import PCC, Ensemble
from conclust.consensus.papers.probabilistic import descent
from conclust.consensus.papers.probabilistic.problem import Stopping
from conclust.consensus.papers.probabilistic.search import starts
from conclust.divergences import Divergence, kl, l2, mahalanobis, power
from conclust.evidence import SparseEvidence, evidence, sample_pairs
from conclust.exceptions import InputError, ParameterError

DEFINITIONS = {
    "kl": (kl, naive.kl),
    "l2": (l2, naive.l2),
    "power": (power(1.4), naive.power(1.4)),
    "mahalanobis": (mahalanobis([[2, 0], [0, 1]]), lambda p, q: 3 * (p - q) ** 2),
}
OWN = Divergence(kl.value, kl.derivative, kl.curvature, name="own kl")


def solved(known, Y, divergence, max_iter=500, tol=0.0, tol_kkt=1e-9):
    return descent.descend(known, Y, divergence, Stopping(max_iter, tol, tol_kkt))


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 17])
def test_the_objective_and_the_gaps_match_their_definition(name, weighted, k):
    divergence, d = DEFINITIONS[name]
    labels = random_labels(k, 20, 6, 3, 0.2)
    weights = np.random.default_rng(0).random(6) + 0.1 if weighted else None
    c, N = least_squares.counts(labels, weights)
    Y = starts.inside(np.random.default_rng(1).dirichlet(np.ones(k), 20))
    work = descent._Work(evidence(Ensemble(labels, weights=weights)), Y, divergence)
    assert work.objective() == pytest.approx(naive.objective(c, N, Y, d), rel=1e-9)
    work.measure()
    for i in (0, 1, 7, 18, 19):
        gradient = np.empty(k)
        for cluster in range(k):
            step = np.zeros_like(Y)
            step[i, cluster] = 1e-6
            rise = naive.objective(c, N, Y + step, d) - naive.objective(c, N, Y - step, d)
            gradient[cluster] = rise / 2e-6
        gap = (gradient.max() - gradient.min()) / N[i].sum()
        assert work.gaps[i] * work.scale == pytest.approx(gap, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("divergence", [kl, l2, power(1.4), OWN], ids=lambda d: d.name)
def test_the_objective_falls_monotonically_to_a_stationary_point(divergence):
    Y = starts.inside(np.random.default_rng(0).dirichlet(np.ones(4), 60))
    pair_evidence = evidence(random_labels(0, 60, 8, 4, 0.2))
    work = descent._Work(pair_evidence, Y, divergence)
    before = work.objective()
    for _ in range(10):
        work.visit(work.everyone, 0.0, 0.0, finish=False)
        after = work.objective()
        assert after <= before * (1 + 1e-13)
        before = after
    found = solved(pair_evidence, Y, divergence, max_iter=3000, tol_kkt=1e-6)
    assert found.residual <= 1e-6
    assert (np.diff(found.trace[:, 0]) <= 1e-9).all()
    assert (found.membership >= 0).all()
    np.testing.assert_allclose(found.membership.sum(axis=1), 1, atol=1e-12)


@pytest.mark.long
def test_a_custom_kl_gives_the_result_of_kl():
    labels = random_labels(4, 120, 20, 4, 0.2)
    Y = starts.inside(np.random.default_rng(0).dirichlet(np.ones(4), 120))
    without = Divergence(kl.value, kl.derivative)
    for pair_evidence in (evidence(labels), sample_pairs(labels, 20, random_state=0)):
        best = descent.descend(pair_evidence, Y, kl, Stopping(1000, 1e-9, 1e-8))
        for custom in (OWN, without):
            mine = descent.descend(pair_evidence, Y, custom, Stopping(1000, 1e-9, 1e-8))
            assert mine.objective == pytest.approx(best.objective, rel=1e-6)


@pytest.fixture
def slots(monkeypatch):
    """Split sweeps over few objects into slots as well; 0: no slots."""

    def cut(number):
        monkeypatch.setattr(descent, "_MANY", 2 if number else 10**9)
        monkeypatch.setattr(descent, "_SLOTS", max(number, 1))

    return cut


@pytest.fixture
def busy(monkeypatch):
    """Let threads help with few pairs too."""
    monkeypatch.setattr(descent, "_FEW_ENTRIES", 0)


def forms_of(labels):
    return {"dense": evidence(labels), "pattern": sample_pairs(labels, 20, random_state=0)}


@pytest.mark.parametrize("n", [1, 7, 999, 1000, 1001, 4099])
def test_slots_cover_each_object_once_and_are_spread_out(n):
    size, order = descent._slots(n)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert size == (1 if n < 1000 else -(-n // 32))
    if size > 1:
        assert np.ptp(order[:size]) > n // 2


@pytest.mark.parametrize("form", ["dense", "pattern"])
@pytest.mark.parametrize("divergence", [kl, l2, power(1.4), OWN], ids=lambda d: d.name)
def test_objects_in_a_slot_move_independently(busy, form, divergence):
    pair_evidence = forms_of(random_labels(0, 60, 8, 3, 0.2))[form]
    Y = starts.inside(np.random.default_rng(0).dirichlet(np.ones(3), 60))
    together = descent._Work(pair_evidence, Y, divergence, threads=2)
    before = together.Y.copy()
    together.visit(together.everyone, 0.0, 0.0, slot=60)
    for i in range(60):
        alone = descent._Work(pair_evidence, Y, divergence)
        alone.visit(alone.everyone[i : i + 1], 0.0, 0.0)
        np.testing.assert_array_equal(together.Y[i], alone.Y[i])
        assert (alone.Y[i] != before[i]).any()
    # The objects of the next slot are visited against the moved ones.
    known_then = together.Y[:, :3].copy()
    together.visit(together.everyone[:1], 0.0, 0.0, slot=60)
    again = descent._Work(pair_evidence, known_then, divergence)
    again.visit(again.everyone[:1], 0.0, 0.0)
    np.testing.assert_array_equal(together.Y, again.Y)


@pytest.mark.parametrize("form", ["dense", "pattern"])
@pytest.mark.parametrize("divergence", [kl, l2], ids=lambda d: d.name)
def test_threads_change_no_bits(busy, form, divergence):
    labels = planted(0, 1100, 12, 4, flip=0.2)[0]
    pair_evidence = forms_of(labels)[form]
    Y = starts.inside(np.eye(4)[labels[:, 0]])
    stopping = Stopping(30, 1e-6, 1e-8)
    one = descent.descend(pair_evidence, Y, divergence, stopping)
    assert one.n_iter > 4
    for threads in (2, 3, 7):
        other = descent.descend(pair_evidence, Y, divergence, stopping, threads=threads)
        np.testing.assert_array_equal(one.membership, other.membership)
        np.testing.assert_array_equal(one.trace, other.trace)
        assert (one.objective, one.residual) == (other.objective, other.residual)


@pytest.mark.parametrize("form", ["dense", "pattern"])
@pytest.mark.parametrize("divergence", [kl, l2, power(1.4), OWN], ids=lambda d: d.name)
def test_moving_in_slots_reaches_the_limit_of_sequential_moves(slots, form, divergence):
    labels = planted(2, 400, 20, 4, flip=0.2)[0]
    pair_evidence = forms_of(labels)[form]
    Y = starts.inside(np.eye(4)[labels[:, 0]])
    found = []
    for number in (32, 0):
        slots(number)
        found.append(solved(pair_evidence, Y, divergence, tol=1e-10))
        assert (np.diff(found[-1].trace[:, 0]) <= 1e-9).all()
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("form", ["dense", "pattern"])
@pytest.mark.parametrize("divergence", [kl, l2, OWN], ids=lambda d: d.name)
@pytest.mark.parametrize("max_iter", [1, 500])
def test_objects_move_one_by_one_if_moving_together_raises_f(slots, form, divergence, max_iter):
    # No two objects are ever together: all at once they leave the cluster with more mass, and
    # meet in the other.
    pair_evidence = forms_of(np.tile(np.arange(60)[:, None], 5))[form]
    share = np.random.default_rng(0).uniform(0.55, 0.65, 60)
    Y = np.column_stack([share, 1 - share])
    start = descent._Work(pair_evidence, Y, divergence).objective()
    slots(1)
    together = descent._Work(pair_evidence, Y, divergence)
    together.visit(together.everyone, 0.0, 0.0, together.slot)
    assert together.objective() > 1.05 * start
    said = []
    stopping = Stopping(max_iter, 1e-9, 1e-9)
    found = descent.descend(
        pair_evidence, Y, divergence, stopping, report=lambda line, *of: said.append(line)
    )
    assert any("move one by one" in message for message in said)
    assert (np.diff(found.trace[:, 0]) <= 1e-9).all()
    there = descent._Work(pair_evidence, found.membership, divergence)
    assert found.objective == pytest.approx(there.objective(), rel=1e-9)
    if max_iter == 1:
        assert found.objective == start
    else:
        slots(0)
        in_turn = solved(pair_evidence, Y, divergence, tol=1e-9)
        assert found.objective == pytest.approx(in_turn.objective, rel=0.02)


def test_equal_divergences_give_equal_solutions():
    labels = planted(0, 80, 15, 3, flip=0.2)[0]
    fit = {"random_state": 0, "solver": "pairwise", "init": np.eye(3)[labels[:, 0]]}
    one, same = (PCC(3, divergence=d, **fit).fit(labels) for d in ("kl", "i"))
    np.testing.assert_array_equal(one.membership_, same.membership_)
    square, scaled = (PCC(3, divergence=d, **fit).fit(labels) for d in ("l2", "mahalanobis"))
    assert scaled.objective_ == pytest.approx(2 * square.objective_, rel=1e-6)
    two = PCC(3, divergence=power(2.0), **fit).fit(labels)
    assert two.objective_ == pytest.approx(square.objective_, rel=1e-4)
    factored = PCC(3, divergence="l2", init=fit["init"]).fit(labels)
    assert square.objective_ == pytest.approx(factored.objective_, rel=1e-3)


@pytest.mark.parametrize("divergence", ["kl", "l2", "power", OWN], ids=str)
@pytest.mark.parametrize("init", ["auto", "spectral"])
def test_worked_example_has_optimum_zero(divergence, init):
    model = PCC(2, divergence=divergence, solver="pairwise", init=init, random_state=0).fit(E1)
    assert model.objective_ == pytest.approx(0, abs=1e-6)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_three_unrelated_objects_reach_the_known_optimum():
    model = PCC(2, random_state=0, tol=0).fit(np.tile([[0], [1], [2]], 8))
    assert model.objective_ == pytest.approx(2 * 8 * log(2), rel=1e-9)


@pytest.mark.parametrize("solver", ["pairwise", "landmark", "greedy"])
def test_solvers_find_planted_clusters_and_place_new_objects(solver):
    labels, truth = planted(1, 200, 20, 3, flip=0.2)
    model = PCC(3, solver=solver, random_state=0).fit(labels)
    agree = np.zeros((3, 3))
    np.add.at(agree, (truth, model.labels_), 1)
    assert agree.max(axis=1).sum() > 195
    assert model.solver_.startswith(solver)
    assert (model.predict(labels) == model.labels_).mean() > 0.99


def test_many_objects_are_placed_as_single_ones_are():
    rng = np.random.default_rng(0)
    fixed = rng.dirichlet(np.ones(3), 900)
    N = np.full((300, 900), 5.0)
    c = rng.binomial(5, rng.dirichlet(np.ones(3), 300) @ fixed.T).astype(float)
    together = descent.place_against(c, N, fixed, kl, 1e-10)
    for i in (0, 7, 8, 150, 299):
        alone = descent.place_against(c[[i]], N[[i]], fixed, kl, 1e-10)
        np.testing.assert_allclose(together[[i]], alone, atol=1e-6)


def test_invalid_patterns_of_pairs_are_refused():
    labels = planted(1, 30, 10, 3, flip=0.2)[0]
    good = sample_pairs(labels, 5, random_state=0)
    one_sided = good.counts.copy()
    one_sided[0] = 10 - one_sided[0]
    empty = np.zeros(31, dtype=np.int64)
    for change, message in (
        ({"counts": one_sided}, "symmetric"),
        ({"copresence": np.zeros_like(good.copresence)}, "N_ij > 0"),
    ):
        with pytest.raises(InputError, match=message):
            replace(good, **change)
    for pairs, message in (
        (sample_pairs(labels[:20], 5, random_state=0), "20 objects"),
        (SparseEvidence(empty, good.indices[:0], good.counts[:0], good.copresence[:0]), "without"),
    ):
        with pytest.raises(InputError, match=message):
            PCC(3, pairs=pairs).fit(labels)
    assert PCC(3, pairs=good, random_state=0).fit(labels).objective_ > 0
    assert PCC(3, pairs=0.5, random_state=0).fit(labels).objective_ > 0


def test_custom_divergences_are_refused_by_other_solvers():
    with pytest.raises(ParameterError, match="use solver='pairwise' or 'greedy'"):
        PCC(2, divergence=OWN, solver="landmark").fit(E1)
