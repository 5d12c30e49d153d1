"""Faults found by random arguments (`tests/fuzz_calls.py`): each now gives a result or a clear error."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import conclust as cc
from conclust.exceptions import ConclustError, InputError, ParameterError

LABELS = np.random.default_rng(0).integers(0, 3, (12, 4))
POINTS = np.random.default_rng(1).normal(size=(12, 3))


def test_labels_without_clusters_have_no_features():
    actual = cc.confidence.cluster_features(POINTS, np.full(12, -1))
    assert actual.difference.shape == (0, 3)
    some = np.where(np.arange(12) < 4, -1, np.arange(12) % 2)
    shown = cc.confidence.cluster_features(POINTS, some)
    only = cc.confidence.cluster_features(POINTS[4:], some[4:])
    np.testing.assert_allclose(shown.difference, only.difference)


def test_parts_without_clusters_agree():
    labels = np.array([0, 1, -1, -1, -1])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(5):
            actual = cc.confidence.border_tests(POINTS[:5], labels, random_state=seed, n_jobs=1)
            assert ((actual.agreement >= 0) & (actual.agreement <= 1)).all()


def test_labels_without_clusters_have_no_gaps():
    actual = cc.confidence.cluster_gaps(POINTS, np.full(12, -1), n_jobs=1)
    assert actual.dip.shape == actual.neighbours.shape == (0, 0)


def test_shares_of_denormal_numbers_are_at_most_1():
    actual = cc.evidence.frequencies([1.0, 5e-324], [5e-324, 5e-324])
    np.testing.assert_array_equal(actual, [1.0, 1.0])


def test_a_huge_sample_size_is_handled_quickly():
    labels = np.arange(12) % 3
    begun = time.process_time()
    huge = cc.confidence.cluster_gaps(
        POINTS, labels, max_samples=10**5000, random_state=0, n_jobs=1
    )
    usual = cc.confidence.cluster_gaps(POINTS, labels, random_state=0, n_jobs=1)
    assert time.process_time() - begun < 2
    np.testing.assert_array_equal(huge.p_value, usual.p_value)


def test_a_number_of_modes_above_the_draws_is_reduced():
    huge = cc.confidence.modes(LABELS, n_modes=2, max_modes=10**30, random_state=0)
    usual = cc.confidence.modes(LABELS, n_modes=2, max_modes=4, random_state=0)
    np.testing.assert_array_equal(huge.mean_distances, usual.mean_distances)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: cc.ConsensusClustering().fit({"a": POINTS}),
            InputError,
            "Points must form a matrix .* Got dict: MultiViewGenerator",
        ),
        (
            lambda: cc.Ensemble.from_communities([[[0, 1]]], nodes=[[1, 2], [3]]),
            InputError,
            "The 'nodes' must be a list of nodes. Got a list that holds a collection.",
        ),
        (
            lambda: cc.ConsensusClustering(cc.EnsembleGenerator("kmeans", 3)).fit(POINTS),
            ParameterError,
            "'consensus' parameter .* It has no labels_ after fit. Members are made by generator=",
        ),
        (
            lambda: cc.metrics.labels_like([0, 1], [0, 1], ids=np.array(3), previous_ids=[0, 1]),
            InputError,
            "'ids' must be a list of identifiers. Got",
        ),
        (
            lambda: cc.PCC(2, init=[[1], [2, 3]]).fit(LABELS),
            InputError,
            "'init' must form an array",
        ),
        (lambda: cc.placing.warm_start(LABELS, np.eye(3)), InputError, "An Ensemble is needed"),
        (lambda: cc.weighting.relevance_weights(10**5000), InputError, "'values' must be numbers"),
        (
            lambda: cc.Ensemble(LABELS).encode(LABELS, missing=np.zeros(2)),
            ParameterError,
            "The 'missing' parameter of Ensemble.encode must be one of",
        ),
        (
            lambda: cc.report.account(
                cc.EAC(2).fit(LABELS), ensemble=LABELS, X=POINTS, feature_names=1e308
            ),
            InputError,
            "'feature_names' must be a name for each of the 3 features. Got 1e",
        ),
    ],
)
def test_invalid_arguments_give_clear_errors(call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call()
    assert isinstance(caught.value, ConclustError)


def without_numpy_warnings(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return call()


def test_a_tiny_theta_makes_every_uncertain_cluster_worthless():
    actual = without_numpy_warnings(lambda: cc.similarity.cluster_certainty(LABELS, theta=5e-324))
    assert set(actual) <= {0.0, 1.0}
    assert (actual == 0.0).any()


@pytest.mark.parametrize(
    "fit",
    [
        cc.EnsembleGenerator().fit,
        cc.TopicConsensus().fit,
        lambda X: cc.MultiViewGenerator().fit([X, X]),
        lambda X: cc.EnsembleGenerator("kmeans", 3).fit(POINTS).transform(X),
    ],
)
def test_an_integer_of_hundreds_of_digits_among_points_is_refused(fit):
    points = POINTS.astype(object)
    points[3, 1] = 10**400
    with pytest.raises(InputError, match=r"an integer that is too large for a float64"):
        fit(points)


@pytest.mark.parametrize("unit", [1e90, 1e150, 1e160, 1e200, 1e-200])
def test_points_with_infinite_squares_are_scaled_by_default(unit):
    """Those whose squares alone have infinite squares are clustered as they are."""
    X = np.random.default_rng(0).normal(size=(90, 3)) + 8 * np.arange(3)[:, None].repeat(30, 0)
    model = cc.ConsensusClustering(random_state=0)
    actual = without_numpy_warnings(lambda: model.fit(X * unit))
    assert cc.metrics.adjusted_rand_index(actual.labels_, np.arange(3).repeat(30)) == 1.0
    assert (actual.generator_.scale_ == "minmax") == (not 1e-150 < unit < 1e152)
    why = "is too large for a computer"
    assert (why in actual.generator_.scale_reason_) == (not 1e-150 < unit < 1e152)


def test_spectral_members_of_points_whose_squares_are_infinite_are_refused():
    generator = cc.EnsembleGenerator("spectral", 3, scale=None, random_state=0)
    with pytest.raises(InputError, match=r"numbers up to 1e\+152.*scale='minmax'"):
        without_numpy_warnings(lambda: generator.fit(POINTS * 1e160))


@pytest.mark.parametrize("make", [cc.datasets.rings, cc.datasets.spirals])
def test_infinite_noise_of_generated_sets_is_refused(make):
    with pytest.raises(
        ParameterError, match=r"'noise' parameter of .* in the range \[0, 1e\+100\]"
    ):
        without_numpy_warnings(lambda: make(noise=1e308))
    assert np.isfinite(without_numpy_warnings(lambda: make(noise=1e100)).X).all()


def test_the_dip_of_ragged_rows_is_refused():
    with pytest.raises(InputError, match="values of dip must form an array"):
        cc.confidence.dip([[1, 2], [3]])


@pytest.mark.parametrize("unit", [2.0**530, 2.0**-530])
def test_borders_of_points_with_infinite_squares_are_handled(unit):
    X = np.random.default_rng(0).normal(size=(90, 2)) + 8 * np.arange(3)[:, None].repeat(30, 0)
    y = np.arange(3).repeat(30)
    usual, extreme = (
        without_numpy_warnings(
            lambda x=x: cc.confidence.border_tests(x, y, n_splits=3, random_state=0, n_jobs=1)
        )
        for x in (X, X * unit)
    )
    np.testing.assert_array_equal(usual.p_value, extreme.p_value)


def test_a_report_of_an_invalid_selection_is_refused():
    model = cc.PCC(3, n_init=1, random_state=0).fit(LABELS)
    with pytest.raises(InputError, match=r"'selection' must be a Selection, .* Got generator"):
        cc.report.account(model, ensemble=LABELS, selection=(i for i in range(3)))


def _twice_named():
    arrow = pytest.importorskip("pyarrow")
    return arrow.table([arrow.array([0, 0, 1])] * 2, names=["a", "a"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cc.EAC(2).fit(_twice_named()), "different names. Got 'a' more than once"),
        (lambda: cc.FCAConsensus(threshold=10**400).fit(LABELS), "'threshold' parameter"),
        (lambda: cc.plotting.embedding([[10**400, 1], [1, 2]], [0, 1]), "must hold numbers"),
        (lambda: cc.report.write(cc.EAC(2).fit(LABELS), None), "must be the path of a file"),
        (lambda: cc.datasets.gaussian_mixture(covariances=5e-324), "'covariances' parameter"),
    ],
)
def test_far_fetched_input_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ConclustError, match=sentence):
        call()
