"""choose: the number of clusters of points, from end to end."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from conclust import EAC, Ensemble, EnsembleGenerator
from conclust.exceptions import (
    DenseLimitError,
    InputError,
    ParameterError,
    SelectionWarning,
    UnsupportedEnsembleError,
)
from conclust.selection import Selection, choose, choose_from

QUIET = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")


def three(seed=0, n=150, apart=6.0, d=4):
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, d))
    centers[0, 0], centers[1, 1], centers[2, 2] = (apart / np.sqrt(2),) * 3
    return rng.normal(size=(n, d)) + centers[np.arange(n) % 3]


def quick(X, k=range(2, 6), **changes):
    given = {"n_resamples": 20, "n_references": 19, "random_state": 0} | changes
    return choose(X, k, **given)


@QUIET
@pytest.mark.parametrize("clusters", [2, 4, 6])
def test_well_separated_clusters_are_found(clusters):
    for seed in range(2):
        X, _ = make_blobs(40 * clusters, centers=clusters, n_features=5, random_state=seed)
        selection = quick(X, range(2, 8), n_resamples=15)
        assert selection.n_clusters == clusters
        assert selection.p_value == 0.05


@QUIET
def test_three_clusters_three_deviations_apart_are_counted():
    # 150 objects, 10 features; experiments/selection has more resamples, references and numbers.
    values = [quick(three(seed, apart=3.0, d=10)) for seed in range(5)]
    assert sum(one.p_value <= 0.05 for one in values) >= 4
    assert sum(one.n_clusters == 3 for one in values) >= 4


def test_one_cloud_is_one_cluster():
    X = np.random.default_rng(1).normal(size=(120, 3)) @ np.diag([3, 1, 0.5]) + 100
    selection = quick(X)
    assert selection.n_clusters == 1
    assert selection.p_value > 0.05
    assert selection.reason.startswith("1 cluster: K = 2 to 5 clusters are not more stable")
    assert f"p = {selection.p_value:.3g}, 19 rotations" in selection.reason
    assert (selection.labels_ == 0).all()
    assert sorted(selection.labels) == [2, 3, 4, 5]


@QUIET
def test_a_selection_keeps_all_criteria():
    X = three()
    selection = quick(X)
    assert isinstance(selection, Selection)
    assert selection.n_clusters == 3
    assert selection.k.tolist() == [2, 3, 4, 5]
    assert selection.null.shape == (19, 4)
    assert selection.reason.startswith("3 clusters: the most stable of K = ")
    for name, column in selection.table.items():
        assert column.shape == (4,), name
        assert np.isfinite(column).all(), name
    with_errors = {name for name in selection.table if f"{name}_se" in selection.table}
    criteria = ("pac", "area", "delta", "rcsi", "sharp", "mean_ari")
    assert with_errors == {*criteria, "silhouette_points"}
    for k in (2, 3, 4, 5):
        assert isinstance(selection.ensembles[k], Ensemble)
        assert selection.ensembles[k].shape == (150, 20)
        assert (selection.ensembles[k].present.sum(axis=0) == 120).all()
        M = selection.consensus_matrix(k)
        values = M[np.triu_indices(150, 1)]
        values = values[np.isfinite(values)]
        at = k - 2
        assert selection.table["area"][at] == pytest.approx(1 - values.mean(), abs=1e-12)
        exact = np.rint(values * 1e9)
        assert selection.table["pac"][at] == pytest.approx(((exact > 1e8) & (exact <= 9e8)).mean())
        x, heights = selection.cdf(k)
        np.testing.assert_allclose(heights, [(values <= v + 1e-12).mean() for v in x])
        assert len(np.unique(selection.labels[k])) == k
    assert (selection.labels_ == selection.labels[3]).all()
    np.testing.assert_allclose(selection.pac(), selection.table["pac"])
    assert (selection.pac((0.0, 1.0), strict=True) <= selection.pac((0.0, 1.0))).all()
    frame = selection.to_frame()
    assert frame.index.tolist() == [2, 3, 4, 5]
    assert frame.loc[3, "rcsi"] == selection.table["rcsi"][1]
    real = np.log(np.maximum(selection.table["pac"], 0.5 / selection.pairs[3].n_pairs))
    np.testing.assert_allclose(selection.table["rcsi"], np.log(selection.null).mean(axis=0) - real)


@QUIET
def test_no_bit_depends_on_threads_the_order_of_k_or_the_kind_of_seed():
    X = three(2, apart=3.0)
    one = quick(X, n_jobs=1)
    for other in (
        quick(X, n_jobs=3),
        quick(X, [5, 3, 2, 4, 3]),
        quick(X, random_state=np.random.SeedSequence(0)),
    ):
        assert other.p_value == one.p_value
        assert other.null.tobytes() == one.null.tobytes()
        for name, column in one.table.items():
            assert other.table[name].tobytes() == column.tobytes(), name


@QUIET
def test_the_stored_seed_repeats_the_call():
    X = three(2, n=60, apart=3.0)
    for given in (
        5,
        np.random.default_rng(3),
        np.random.RandomState(3),
        np.random.SeedSequence(7, spawn_key=(1, 2)),
    ):
        selection = quick(X, [2, 3], random_state=given)
        kept = selection.settings["random_state"]
        repeated = quick(
            X, [2, 3], random_state=eval(kept, {"numpy": np}) if isinstance(kept, str) else kept
        )
        assert repeated.null.tobytes() == selection.null.tobytes(), given
        assert choose_from(selection.ensembles, random_state=5).settings["random_state"] == 5
    assert quick(X, [2, 3], random_state=5).settings["random_state"] == 5


@QUIET
def test_axes_units_and_constant_features_change_nothing():
    X = three(3, apart=2.5)
    plain = quick(X)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    for changed in (X @ Q, 4.0 * X, X / 3.0, X + 50.0, np.column_stack([X, np.full(150, 2.0)])):
        selection = quick(changed)
        assert selection.p_value == plain.p_value
        np.testing.assert_allclose(selection.null, plain.null)
        np.testing.assert_allclose(selection.table["pac"], plain.table["pac"])


@QUIET
@pytest.mark.parametrize("null", ["gaussian", "unimodal"])
def test_other_nulls_detect_clear_clusters(null):
    selection = quick(three(), null=null)
    assert selection.n_clusters == 3
    assert selection.p_value == 0.05


@QUIET
def test_without_a_null_the_sharp_score_decides_and_there_is_no_p_value():
    selection = quick(three(), null=None)
    assert np.isnan(selection.p_value)
    assert selection.n_references == 0
    assert selection.n_clusters == 3
    assert "no p-value: no null was requested" in selection.reason
    # The error of resamples that all agree is zero, up to rounding.
    assert re.search(r"sharp score \S+ \+/- (0|\d+(\.\d+)?)\)", selection.reason)
    assert selection.null.shape == (0, 4)
    assert "rcsi" not in selection.table


@QUIET
def test_a_sequential_test_draws_few_references_of_one_cloud():
    X = np.random.default_rng(2).normal(size=(80, 3))
    selection = quick(X, n_references=199, sequential=True)
    assert selection.n_clusters == 1
    assert selection.n_references < 150
    assert len(selection.null) == selection.n_references + 19


@QUIET
def test_a_custom_clusterer_is_accepted():
    X = three(n=90)
    selection = quick(X, [2, 3], clusterer=AgglomerativeClustering(), n_resamples=8, n_jobs=1)
    assert selection.n_clusters == 3
    assert selection.p_value == 0.05
    assert selection.settings["clusterer"] == "AgglomerativeClustering()"


@QUIET
def test_many_objects_are_tested_on_a_sample_and_compared_in_sampled_pairs():
    X = three(4, n=900)
    selection = quick(X, max_test=200, max_dense=300, n_pairs=5000)
    assert selection.n_clusters == 3
    assert selection.settings["n_tested"] == 200
    assert selection.settings["n_pairs"] == 5000
    assert selection.pairs[3].sampled
    assert len(selection.leaves[3]) == 300
    assert len(selection.labels_) == 900
    exact = quick(X, max_test=200)
    assert selection.p_value == exact.p_value
    P = 5000
    for at in range(4):
        share = exact.table["pac"][at]
        assert (
            abs(selection.table["pac"][at] - share) <= 4 * np.sqrt(share * (1 - share) / P) + 1e-12
        )


@QUIET
def test_many_objects_need_no_matrix():
    X = np.random.default_rng(5).normal(size=(20_000, 3))
    tracemalloc.start()
    try:
        quick(X, [2, 3], n_resamples=10, max_test=100, max_dense=500, n_pairs=10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # 20,000 squared bytes are 400 MB


def test_doubts_warn_and_are_stored():
    X, _ = make_blobs(160, centers=4, n_features=4, random_state=0)
    with pytest.warns(SelectionWarning, match="4 is the largest number tried"):
        selection = quick(X, [2, 3, 4])
    assert selection.n_clusters == 4
    assert any("largest number tried" in doubt for doubt in selection.doubts)


def test_columns_of_different_spread_are_scaled():
    X = 2 + np.random.default_rng(8).normal(size=(60, 2)) * [1, 1000]
    assert quick(X, [2]).settings["scale"] == "standard"
    assert quick(X, [2], scale=None).settings["scale"] is None
    assert quick(X / [1, 1000], [2]).settings["scale"] is None
    one = quick(X, [2], scale="standard")
    two = quick(X * [5, 0.1], [2], scale="standard")
    assert one.p_value == two.p_value
    quick(X, [2], scale="minmax")


@QUIET
def test_untried_numbers_and_oversized_matrices_are_refused():
    selection = quick(three(n=60), [2, 3])
    with pytest.raises(ParameterError, match=r"one of the numbers tried, \[2, 3\]. Got 7 instead"):
        selection.consensus_matrix(7)
    with pytest.raises(ParameterError, match="one of the numbers tried"):
        selection.cdf(4)
    with pytest.raises(DenseLimitError, match=r"selection.cdf\(K\)"):
        selection.consensus_matrix(2, max_dense=10)
    with pytest.raises(ParameterError, match="window"):
        selection.pac((1, 0))


POINTS = np.random.default_rng(9).normal(size=(30, 3))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"k": []},
            "'k' parameter of choose must be an int from 2 on, or a non-empty range or list",
        ),
        ({"k": [1, 2]}, "Leave 1 out: the p-value already tests for one cluster"),
        ({"k": [2, 40]}, r"up to the 24 objects that a resample draws \(0.8 of 30\)"),
        ({"n_references": 10}, r"\[19, inf\) with alpha=0.05. Got 10 instead"),
        ({"n_references": 19, "alpha": 0.01}, r"\[99, inf\) with alpha=0.01"),
        ({"alpha": 0}, r"float in the range \(0, 1\)"),
        ({"n_components": 4}, r"range \[1, 3\] or None. Got 4"),
        ({"clusterer": "pam"}, "'kmeans' or a scikit-learn clusterer"),
        ({"clusterer": KMeans}, "an instance"),
        ({"max_dense": 5}, "max_dense"),
        ({"n_pairs": 10}, "n_pairs"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": -1}, "random_state"),
        ({"verbose": -1}, "verbose"),
    ],
)
def test_invalid_parameters_are_refused_in_one_form(changes, sentence):
    given = {"k": [2, 3], "random_state": 0} | changes
    with pytest.raises(ParameterError, match=sentence):
        choose(POINTS, **given)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.ones((20, 3)), "All 20 objects of X are equal"),
        (np.full((20, 2), 1e300), "All 20 objects of X are equal"),
        (np.ones((1, 3)), "at least two objects. Got 1"),
        (np.ones((0, 3)), "at least two objects. Got 0"),
        (np.where(POINTS > 2, np.nan, POINTS), r"NaN in column.*SimpleImputer"),
        (
            np.where(np.arange(90).reshape(30, 3) == 7, np.inf, POINTS),
            r"infinity in column 1 \(1 row\)",
        ),
    ],
)
def test_points_that_cannot_be_judged_are_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        choose(X, [2], random_state=0)


# -- given ensembles


@QUIET
def test_resamples_per_number_are_judged_like_those_of_points():
    made = quick(three(apart=4.0))
    selection = choose_from(made.ensembles)
    assert selection.n_clusters == 3
    assert np.isnan(selection.p_value)
    assert "no p-value: labels alone give no reference" in selection.reason
    for name in ("pac", "pac_se", "sharp", "mean_ari", "delta"):
        np.testing.assert_array_equal(selection.table[name], made.table[name])
    assert all((selection.labels[k] == made.labels[k]).all() for k in (2, 3, 4, 5))
    repeated = choose_from({k: made.ensembles[k].labels for k in (5, 2, 4, 3)}, n_jobs=2)
    np.testing.assert_array_equal(repeated.table["sharp"], selection.table["sharp"])


@QUIET
def test_numbers_may_have_few_and_unequal_resamples():
    rng = np.random.default_rng(0)
    truth = np.arange(30) % 3
    labels = np.where(rng.random((30, 20)) < 0.1, rng.integers(0, 3, (30, 20)), truth[:, None])
    selection = choose_from({2: labels[:, :3] // 2, 3: labels[:, 3:7], 4: labels[:, 7:]})
    assert selection.n_clusters == 3
    assert np.isnan(selection.table["delta_se"]).all()
    assert np.isfinite(selection.table["area_se"]).all()


@QUIET
def test_one_ensemble_is_cut_at_each_number():
    X, y = make_blobs(100, centers=4, cluster_std=0.5, random_state=0)
    labels = EnsembleGenerator("kmeans", n_partitions=60, random_state=0).fit_transform(X)
    selection = choose_from(labels)
    assert selection.k.tolist() == list(range(2, 11))
    assert selection.n_clusters == 4
    assert (
        Ensemble(np.column_stack([selection.labels_, y])).codes[:, 0]
        == Ensemble(y[:, None]).codes[:, 0]
    ).all()
    for k in (3, 4, 7):
        assert (selection.labels[k] == EAC(k).fit(labels).labels_).all()
    assert len(set(selection.table["pac"])) == 1
    scores = [adjusted_rand_score(selection.labels[3], column) for column in labels.T]
    assert selection.table["mean_ari"][1] == pytest.approx(np.mean(scores))


@QUIET
def test_identical_partitions_reveal_their_number():
    truth = np.repeat(np.arange(3), 10)
    selection = choose_from(np.tile(truth[:, None], (1, 8)), range(2, 6))
    assert selection.n_clusters == 3
    assert selection.table["pac"].tolist() == [0, 0, 0, 0]


@QUIET
@pytest.mark.parametrize(
    "given",
    [
        np.zeros((12, 4), dtype=int),  # one cluster
        np.column_stack([np.zeros((12, 3), dtype=int), np.full(12, -2)]),  # and noise only
        {2: np.zeros((12, 4), dtype=int), 3: np.zeros((12, 4), dtype=int)},
    ],
)
def test_uniform_pairs_give_one_cluster(given):
    selection = choose_from(given)
    assert selection.n_clusters == 1
    assert selection.reason.startswith("1 cluster: at no number of clusters are objects")
    assert (selection.labels_ == 0).all()


@QUIET
def test_a_number_too_large_for_the_points_is_not_chosen():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    selection = quick(X, k=range(2, 6), n_references=39)
    assert selection.n_clusters == 2
    assert selection.table["resamples_with_k"].tolist() == [1, 0, 0, 0]
    assert selection.alternatives == ()
    assert not any("largest number tried" in doubt for doubt in selection.doubts)
    assert quick(X, k=[4, 6]).n_clusters in (4, 6)  # although the data have neither number


@QUIET
def test_the_default_numbers_are_2_to_10_up_to_the_objects():
    X = three(n=40)
    assert quick(X, None).k.tolist() == list(range(2, 11))
    assert quick(X[:8], None).k.tolist() == list(range(2, 7))


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({}, ParameterError, "an ensemble, or a dict with one for each number"),
        (
            {2: [[0, 0], [0, 1]], 3: [[0, 0], [1, 1], [0, 1]]},
            InputError,
            "2 for K = 2, 3 for K = 3",
        ),
        ({1: [[0, 0], [1, 1]]}, ParameterError, "from 2 on"),
        ({"two": [[0, 0], [1, 1]]}, ParameterError, "from 2 on"),
        ({3: [[0, 0], [0, 1]]}, ParameterError, "up to n_samples=2. Got 3"),
        ({2: [[0], [1]]}, InputError, "two partitions at least"),
        ([[0, 0], [1, -2], [2, 1]], InputError, "no partition puts two objects together"),
        ([[0, 0], [0, -1], [1, -1]], InputError, "K = 2 and without partition 0 there are no two"),
        ({2: Ensemble([[0, 0], [1, 1]], weights=[1, 2])}, UnsupportedEnsembleError, "no weights"),
    ],
)
def test_ensembles_that_cannot_be_judged_are_refused(given, error, sentence):
    with pytest.raises(error, match=sentence):
        choose_from(given)


def test_soft_members_and_numbers_with_a_dict_are_refused():
    soft = Ensemble.from_memberships([np.full((4, 2), 0.5)] * 2)
    with pytest.raises(UnsupportedEnsembleError, match="soft members"):
        choose_from(soft)
    with pytest.raises(ParameterError, match="None with an ensemble for each number"):
        choose_from({2: [[0, 0], [1, 1]]}, [2])
