"""WeightedPCC: the two propositions, distances by definition, the limits, random partitions."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics import adjusted_rand_score
from tests.naive import weighted as naive

from conclust import PCC, Ensemble, WeightedPCC
from conclust.consensus.papers.probabilistic.distances import AllPairs
from conclust.consensus.papers.probabilistic.weighted import capped_weights, ridge_weights
from conclust.exceptions import EvidenceWarning, ParameterError

BOTH = pytest.mark.parametrize("regularization", ["simplex", "l2"])


def noisy(seed=0, n=90, k=3, good=16, random=4, flip=0.15):
    """Partitions of planted clusters with `flip` of the labels at random, and random partitions."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    columns = [
        np.where(rng.random(n) < flip, rng.integers(0, k, n), truth) for _ in range(good)
    ] + [rng.integers(0, k, n) for _ in range(random)]
    return np.column_stack(columns), truth


def with_missing(labels, share=0.3, seed=1):
    """Make a share of the objects missing, more in the later partitions."""
    rng = np.random.default_rng(seed)
    shares = np.linspace(0.2, 1.8, labels.shape[1]) * share
    return np.where(rng.random(labels.shape) < shares, -1, labels)


# -- the weight step


def by_linear_programme(d, caps):
    actual = linprog(d, A_eq=np.ones((1, len(d))), b_eq=[1], bounds=[(0, c) for c in caps])
    assert actual.success
    return actual.fun


@pytest.mark.parametrize("m", [1, 2, 5, 20, 56, 150])
def test_proposition_1_solves_the_linear_programme(m):
    rng = np.random.default_rng(m)
    for rho in {min(1.0, 1 / (0.8 * m)), 1 / m, 1.0, *rng.uniform(1 / m, 1, 5)}:
        d = rng.integers(0, 12, m) * 1.0  # ties too
        caps = np.full(m, rho)
        alpha = capped_weights(d, caps)
        assert alpha.sum() == pytest.approx(1, abs=1e-14)
        assert ((alpha >= 0) & (alpha <= rho * (1 + 1e-9))).all()
        assert alpha @ d == pytest.approx(by_linear_programme(d, caps), abs=1e-9)


@pytest.mark.parametrize("m", [10, 150, 155, 1000])
def test_whole_numbers_survive_floating_point(m):
    alpha = capped_weights(np.arange(float(m)), np.full(m, (0.8 * m) ** -1))
    assert np.count_nonzero(alpha) == round(0.8 * m)


def test_equal_distances_share_the_weight():
    np.testing.assert_allclose(
        capped_weights(np.array([1.0, 1, 1, 0]), np.full(4, 0.4)), [0.2, 0.2, 0.2, 0.4]
    )


def test_weights_with_different_caps_match_the_linear_programme():
    rng = np.random.default_rng(0)
    for _ in range(20):
        caps = rng.uniform(0.02, 0.4, 12)
        caps *= max(1.0, 1.01 / caps.sum())
        d = rng.random(12)
        alpha = capped_weights(d, caps)
        assert (alpha <= caps * (1 + 1e-9)).all()
        assert alpha @ d == pytest.approx(by_linear_programme(d, caps), abs=1e-9)


def test_weights_by_proposition_2_are_optimal():
    rng = np.random.default_rng(1)
    for lam in (1e-3, 0.1, 1.0, 50.0):
        d = rng.integers(0, 9, 9) / 4
        alpha = ridge_weights(d, lam, np.full(9, 1 / 9))
        np.testing.assert_allclose(alpha, naive.proposition_2(d, lam), atol=1e-9)
        np.testing.assert_allclose(alpha, naive.project(-d / lam), atol=1e-9)


def test_repeated_partitions_share_the_weight_of_one():
    d = np.array([0.3, 0.1, 0.4])
    times = np.array([2, 1, 3])
    each = np.repeat(d, times)
    once = ridge_weights(d, 0.6, times / 6)
    # m = 3 weighted partitions have the penalty of 6 partitions at half the strength.
    many = ridge_weights(each, 1.2, np.full(6, 1 / 6))
    np.testing.assert_allclose([many[:2].sum(), many[2], many[3:].sum()], once, atol=1e-12)


# -- distances


def ensembles():
    labels, _ = noisy(n=40)
    noise = np.where(np.random.default_rng(5).random(labels.shape) < 0.1, -2, labels)
    return {
        "complete": labels,
        "missing": with_missing(labels),
        "noise": noise,
        "both": with_missing(noise),
        "one mask": np.where(np.arange(40)[:, None] < [0] * 15 + [9] * 5, -1, labels),
    }


@pytest.mark.parametrize("case", ensembles())
def test_distances_match_their_definition(case):
    labels = ensembles()[case]
    Y = np.random.default_rng(0).dirichlet(np.full(5, 0.3), size=len(labels))
    actual = AllPairs(Ensemble(labels), 5, 1).distances(Y)
    np.testing.assert_allclose(actual, naive.distances(labels, Y), rtol=1e-11)


def test_distances_of_soft_partitions_match_their_definition():
    rng = np.random.default_rng(0)
    soft = [rng.dirichlet(np.ones(k), size=30) for k in (2, 3, 4)]
    soft[1][:7] = 0
    Y = rng.dirichlet(np.ones(3), size=30)
    actual = AllPairs(Ensemble.from_memberships(soft), 3, 1).distances(Y)
    np.testing.assert_allclose(actual, [naive.soft_distance(P, Y) for P in soft], rtol=1e-11)


# -- the alternation


@BOTH
@pytest.mark.parametrize(("seed", "missing"), [(0, False), (1, True)])
def test_the_objective_never_rises_and_matches_its_definition(regularization, missing, seed):
    labels, _ = noisy(seed, flip=0.3)
    if missing:
        labels = with_missing(labels)
    model = WeightedPCC(4, regularization=regularization, random_state=seed, tol=1e-9).fit(labels)
    steps = model.trace_
    assert (np.diff(steps) <= 1e-9 * steps[0]).all()
    assert model.trace_.shape == (model.n_iter_ + 1,)
    assert model.converged_
    d = naive.distances(labels, model.membership_)
    np.testing.assert_allclose(model.distances_, d, rtol=1e-9)
    expected = model.weights_ @ d
    if regularization == "l2":
        expected += 0.25 * len(labels) ** 2 * (model.weights_ @ model.weights_)
    assert model.objective_ == pytest.approx(expected, rel=1e-10)
    assert model.objective_ == steps[-1]
    assert model.weights_.sum() == pytest.approx(1, abs=1e-12)
    assert model.effective_n_partitions_ == pytest.approx(1 / sum(model.weights_**2))


@pytest.mark.parametrize(
    "parameters",
    [{"rho": 1 / 20}, {"regularization": "l2", "lam": 1e12}],
    ids=["rho at its least", "lam without end"],
)
@pytest.mark.parametrize("missing", [False, True])
def test_equal_weights_give_pcc(parameters, missing):
    labels = noisy()[0]
    model = PCC(3, divergence="l2", random_state=0)
    if missing:  # one share for all: the same scale
        for u in range(20):
            labels[np.random.default_rng(u).permutation(90)[:20], u] = -1
    weighted = WeightedPCC(3, random_state=0, **parameters).fit(labels)
    np.testing.assert_allclose(weighted.weights_, 1 / 20, rtol=1e-6)
    assert weighted.effective_n_partitions_ == pytest.approx(20)
    plain = model.fit(labels).membership_
    if missing:
        np.testing.assert_allclose(weighted.membership_, plain, atol=1e-6)
    else:
        np.testing.assert_array_equal(weighted.membership_, plain)


@BOTH
@pytest.mark.parametrize(("seed", "missing"), [(0, False), (1, True)])
def test_random_partitions_lose_weight(regularization, seed, missing):
    labels, truth = noisy(seed, n=150)
    if missing:
        labels = with_missing(labels, 0.2)
    model = WeightedPCC(3, regularization=regularization, random_state=seed).fit(labels)
    assert model.weights_[16:].sum() <= (0.01 if regularization == "simplex" else 0.05)
    assert adjusted_rand_score(model.labels_, truth) > 0.95


@BOTH
def test_weights_of_the_ensemble_are_used(regularization):
    labels, _ = noisy(flip=0.3)
    weights = np.arange(20) % 3
    make = {"regularization": regularization, "random_state": 0}
    model = WeightedPCC(3, **make).fit(Ensemble(labels, weights=weights))
    assert not model.weights_[weights == 0].any()
    kept = weights > 0
    refitted = WeightedPCC(3, **make).fit(Ensemble(labels[:, kept], weights=2.0 * weights[kept]))
    np.testing.assert_allclose(model.weights_[kept], refitted.weights_, atol=1e-6)
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()
    if regularization == "simplex":  # caps in proportion: the same as repeated columns
        repeated = WeightedPCC(3, **make).fit(np.repeat(labels, weights, axis=1))
        sums = np.bincount(np.repeat(np.arange(20), weights), repeated.weights_, minlength=20)
        np.testing.assert_allclose(model.weights_, sums, atol=1e-6)


def test_a_partition_of_one_object_has_no_effect():
    labels, truth = noisy()
    labels[1:, 5] = -1
    with pytest.warns(EvidenceWarning, match="1 partitions \\(the first is partition 5\\)"):
        model = WeightedPCC(3, random_state=0).fit(labels)
    assert model.weights_[5] == 0
    assert np.isnan(model.distances_[5])
    assert adjusted_rand_score(model.labels_, truth) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        least = WeightedPCC(3, rho=1 / 20, random_state=0).fit(labels)
    np.testing.assert_allclose(np.delete(least.weights_, 5), 1 / 19)


def test_a_given_membership_is_the_start_of_algorithm_1():
    labels, truth = noisy()
    rng = np.random.default_rng(0)
    for start in (rng.dirichlet([1, 1, 1], len(labels)), rng.integers(0, 3, len(labels))):
        model = WeightedPCC(3, init=start, random_state=0).fit(labels)
        Y = start if start.ndim == 2 else np.eye(3)[start]
        d = naive.distances(labels, Y)
        assert model.trace_[0] == pytest.approx(d.mean())
        rho = 1 / (0.8 * labels.shape[1])
        first = capped_weights(d, np.full(len(d), rho))
        assert model.trace_[1] == pytest.approx(first @ d)
        assert adjusted_rand_score(truth, model.labels_) > 0.9
    with pytest.raises(
        ParameterError, match="'init' parameter of WeightedPCC must be one of 'auto'"
    ):
        WeightedPCC(3, init=np.ones((2, 2))).fit(labels)


# -- new objects


def test_partitions_without_weight_do_not_affect_new_objects():
    labels, _ = noisy(n=150)
    model = WeightedPCC(3, random_state=0).fit(labels)
    new = labels[:3].copy()
    np.testing.assert_array_equal(model.predict(new), model.labels_[:3])
    new[:, 16:] = -1
    np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(labels[:3]))
    new[1, :16] = -1
    new[1, 17] = 0
    assert (
        model.predict(new)[1] == 0
    )  # as labelled by `fit`: observed, although only by partitions without weight
    np.testing.assert_allclose(model.predict_proba(new)[1], 1 / 3)


# -- parameters


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"rho": 0.03}, r"'rho' parameter of WeightedPCC must be a float in the range \[1/20, 1\]"),
        ({"rho": 1.01}, r"'rho' .* Got 1.01 instead"),
        ({"rho": 0}, r"'rho' .* Got 0 instead"),
        ({"rho": np.nan}, r"'rho' .* Got nan instead"),
        ({"rho": True}, r"'rho' .* Got True instead"),
        ({"rho": "auto"}, r"'rho' .* Got 'auto' instead"),
    ],
)
def test_invalid_parameters_are_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        WeightedPCC(3, **parameters).fit(noisy()[0])


def test_the_smallest_rho_survives_rounding():
    for m in (3, 7, 20, 49):
        labels = noisy(good=m - 1, random=1)[0]
        for rho in (1 / m, 1 / m - 1e-17, (0.7 * m) ** -1 * 0.7):
            weights = WeightedPCC(3, rho=rho, random_state=0).fit(labels).weights_
            np.testing.assert_allclose(weights, 1 / m)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("regularization", ["simplex", "l2"])
def test_starts_on_few_objects_end_where_those_on_all_do(regularization, missing, monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 900)
    labels = np.where(rng.random((900, 12)) < 0.4, rng.integers(0, 5, (900, 12)), truth[:, None])
    labels[rng.random(labels.shape) < missing] = -1
    few = WeightedPCC(5, regularization=regularization, random_state=0).fit(labels)
    monkeypatch.setattr("conclust.consensus.papers.probabilistic.weighted._FEW", (2000, 4000))
    every = WeightedPCC(5, regularization=regularization, random_state=0).fit(labels)
    assert few.objective_ == pytest.approx(every.objective_, rel=1e-5)
    np.testing.assert_array_equal(few.labels_, every.labels_)
    np.testing.assert_allclose(few.weights_, every.weights_, atol=1e-3)
