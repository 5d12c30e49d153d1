"""The number of clusters by the points: planted clusters from several seeds, clouds, and the sum over a tree by brute force."""

from itertools import product

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import PowerTransformer

from conclust import AutoConsensus, ConsensusClustering
from conclust.datasets import load
from conclust.exceptions import ParameterError
from conclust.generation.scaling import made_symmetric
from conclust.neighbours import neighbour_graph
from conclust.number.borders import Branches, Divisions, counts_at_borders, evidence_of
from conclust.number.centers import means_and_covariance
from conclust.number.constants import SMALLEST
from conclust.number.halves import divide_by_halves


def fitted(X, seed=0, **parameters):
    return ConsensusClustering(random_state=seed, **parameters).fit(X)


@pytest.mark.parametrize("seed", range(3))
def test_separated_blobs_are_found(seed):
    X, y = make_blobs(300, centers=5, n_features=4, center_box=(-12, 12), random_state=seed)
    model = fitted(X, seed)
    assert model.n_clusters_ == 5
    assert model.reason_.startswith("5 clusters: few points are near each border")
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert len(model.border_depths_) == 4
    assert (model.border_depths_ > 0.5).all()


@pytest.mark.parametrize("kind", ["uniform", "normal", "exponential", "laplace"])
def test_one_cloud_is_one_cluster(kind):
    model = fitted(getattr(np.random.default_rng(5), kind)(size=(400, 3)))
    assert model.n_clusters_ == 1
    assert model.reason_.startswith("One cluster: ")


@pytest.mark.parametrize(
    "X",
    [
        make_moons(500, noise=0.05, random_state=4),
        make_circles(500, noise=0.05, factor=0.5, random_state=4),
    ],
)
def test_bent_clusters_are_found(X):
    points, y = X
    model = fitted(points)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("size", [10, 20])
def test_few_points_in_separated_blobs_are_found(n_clusters, size):
    y = np.repeat(np.arange(n_clusters), size)
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    X = centers[y] + np.random.default_rng([7, size]).normal(size=(len(y), 2))
    model = fitted(X)
    assert model.n_clusters_ == n_clusters
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_small_clusters_in_many_dimensions_are_counted():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 12)
    model = fitted(10 * np.eye(20)[y] + rng.normal(size=(96, 20)))
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("times", [2, 5, "one to five"])
def test_points_that_are_repeated_count_once(times):
    X, y = load_wine(return_X_y=True)
    if times == "one to five":
        times = np.random.default_rng(0).integers(1, 6, len(X))
    model = fitted(np.repeat(X, times, axis=0))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(np.repeat(y, times), model.labels_) > 0.7
    assert len(model.consensus_.tree_objects_) == len(X)


def test_repeats_by_rounding_are_evidence():
    rng = np.random.default_rng(0)
    ages = np.concatenate([rng.normal(25, 5, 500), rng.normal(60, 8, 500)]).round()
    assert fitted(ages[:, np.newaxis]).n_clusters_ == 2
    answers = np.repeat([[1, 1, 5], [5, 4, 1]], 200, axis=0) + rng.integers(0, 2, (400, 3))
    assert fitted(answers).n_clusters_ == 2


def test_the_number_keeps_to_bounds():
    X = np.random.default_rng(0).normal(size=(300, 2))
    divided = fitted(X, min_clusters=3)
    assert divided.n_clusters_ >= 3
    assert "more clusters were requested than the points show" in divided.reason_
    np.testing.assert_array_equal(divided.labels_, fitted(X, n_clusters=3).labels_)
    X, _ = make_blobs(300, centers=5, n_features=4, center_box=(-12, 12), random_state=0)
    limited = ConsensusClustering(consensus=AutoConsensus(max_clusters=3), random_state=0)
    assert limited.fit(X).n_clusters_ <= 3


def test_too_few_points_for_a_border_are_as_few_clusters_as_may_be():
    X = np.random.default_rng(0).normal(size=(10, 2))
    models = fitted(X), fitted(X, min_clusters=2)
    assert [model.n_clusters_ for model in models] == [1, 2]
    assert all("too few points to show a border" in model.reason_ for model in models)


def test_a_given_number_is_none_with_a_speck():
    X = np.exp(np.random.default_rng(77013).normal(size=(400, 4)))
    assert np.bincount(fitted(X, n_clusters=2).labels_).min() > 40


def test_evidence_is_the_logarithm_of_a_ratio_of_likelihoods():
    near, middle = 3.0, 20.0

    def likelihood(densities, probabilities):
        shares = np.array(densities) / (1 + np.array(densities))
        return (np.array(probabilities) * shares**near * (1 - shares) ** middle).sum()

    with_border = likelihood([0.1, 0.3, 0.5], [1 / 3] * 3)
    without = likelihood([0.7, 1.0, 1.5], np.array([0.2, 4.0, 2.0]) / 6.2)
    expected = np.log(with_border / without)
    assert evidence_of(np.array([[near, middle]]))[0] == pytest.approx(expected, rel=1e-12)
    assert evidence_of(np.zeros((1, 2)))[0] == pytest.approx(0.0, abs=1e-12)


def divisions_by_brute_force(branches, evidence):
    """Every division into branches, with its evidence: a join is undone, or its branches are one."""

    def of(branch):
        if branch < branches.n_ends:
            return [(1, 0.0, [branch])]
        join = branch - branches.n_ends
        a, b = branches.joined[join]
        if not branches.tested[join]:
            sizes = np.diff(branches.spans[[a, b]], axis=1)[:, 0]
            found = of(a if sizes[0] >= sizes[1] else b)
            return [(1, 0.0, [branch]), *(each for each in found if each[0] > 1)]
        parts = [
            (k + m, x + y + evidence[join], left + right)
            for (k, x, left), (m, y, right) in product(of(a), of(b))
        ]
        return [(1, 0.0, [branch]), *parts]

    return of(len(branches.spans) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_divisions_are_as_good_as_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 2)) + rng.integers(0, 3, (90, 1)) * 3
    branches = Branches.of(linkage(X, "average"))
    assert 0 < branches.tested.sum() < 12
    evidence = np.where(branches.tested, rng.normal(scale=4, size=len(branches.joined)), 0.0)
    divisions = Divisions(branches, evidence, 90)
    every = divisions_by_brute_force(branches, evidence)
    for K in range(1, len(divisions.evidence) + 1):
        best = max((value for k, value, _ in every if k == K), default=-np.inf)
        assert divisions.evidence[K - 1] == pytest.approx(best)
        clusters, undone = divisions.branches_of(K)
        assert len(clusters) == K
        assert evidence[undone].sum() == pytest.approx(best)


def test_branches_are_runs_of_places_that_hold_the_clusters_of_the_tree():
    X = np.random.default_rng(3).normal(size=(120, 3))
    tree = linkage(X, "average")
    branches = Branches.of(tree)
    members = [{i} for i in range(120)]
    for left, right, *_ in tree:
        members.append(members[int(left)] | members[int(right)])
    known = {frozenset(each) for each in members}
    for begin, end in branches.spans:
        assert frozenset(branches.order[begin:end].tolist()) in known
    for (a, b), tested in zip(branches.joined, branches.tested, strict=True):
        assert branches.spans[a, 1] == branches.spans[b, 0]
        if tested:
            assert np.diff(branches.spans[[a, b]], axis=1).min() >= SMALLEST


def test_few_points_are_counted_near_a_gap_and_many_within_a_cloud():
    rng = np.random.default_rng(1)
    for gap, least, most in ((8.0, 0.0, 0.05), (0.0, 0.5, 3.0)):
        X = rng.uniform(size=(400, 2)) * [4.0, 2.0]
        X[200:, 0] += 4.0 + gap
        tree = linkage(np.repeat([0.0, 1.0], 200)[:, np.newaxis] + 1e-3 * X, "average")
        branches = Branches.of(tree)
        near, emptier, mean = counts_at_borders(X, tree, branches)[-1]
        assert least <= near / emptier <= most
        assert emptier <= mean


@pytest.mark.parametrize("n", [12, 300])
def test_the_shared_covariance_equals_ledoit_and_wolf(n):
    rng = np.random.default_rng(n)
    X, labels = rng.normal(size=(n, 5)) * np.arange(1, 6), np.arange(n) % 3
    means, covariance = means_and_covariance(X, labels, 3)
    assert means[1] == pytest.approx(X[labels == 1].mean(axis=0))
    expected, _ = ledoit_wolf(X - means[labels], assume_centered=True)
    assert covariance == pytest.approx(expected, rel=1e-9)
    assert means_and_covariance(np.eye(3)[labels], labels, 3)[1] is None
    flat = np.column_stack([(-1.0) ** np.arange(4), np.zeros(4)])  # the formula shrinks it by 0
    _, covariance = means_and_covariance(flat, np.zeros(4, dtype=np.int64), 1)
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_columns_are_raised_to_the_powers_of_scikit_learn():
    X = np.random.default_rng(0).exponential(size=(300, 3)) * [1, 5, 0]
    powered = PowerTransformer().fit_transform((X - X.mean(0))[:, :2] / X.std(0)[:2])
    np.testing.assert_allclose(made_symmetric(X), powered * X.std(0)[:2], atol=1e-5)


@pytest.mark.parametrize(("name", "number"), [("iris", 2), ("wine", 3), ("cancer", 2)])
def test_seeds_agree(name, number):
    data = load_breast_cancer() if name == "cancer" else load(name)
    X, y = (data.data, data.target) if name == "cancer" else (data.X, data.y)
    models = [fitted(X, seed) for seed in range(200, 203)]
    assert [model.n_clusters_ for model in models] == [number] * 3
    assert all(adjusted_rand_score(models[0].labels_, model.labels_) > 0.85 for model in models)
    assert adjusted_rand_score(y, models[0].labels_) > 0.55


@pytest.mark.parametrize("n", [150, 500])
@pytest.mark.parametrize("kind", ["normal", "correlated", "skewed", "flat", "heavy", "long tails"])
def test_halves_of_one_cloud_confirm_no_clusters(kind, n):
    rng = np.random.default_rng(n)
    cloud = {
        "normal": rng.normal(size=(n, 10)),
        "correlated": rng.normal(size=(n, 1)) + rng.normal(size=(n, 6)),
        "skewed": rng.gamma(1.5, size=(n, 8)),
        "flat": rng.random((n, 2)),
        "heavy": rng.standard_t(4, size=(n, 6)),
        "long tails": np.exp(rng.normal(size=(n, 5))),
    }[kind]
    assert divide_by_halves(cloud, neighbour_graph(cloud, 10), 1, n)[0] is None


def test_halves_confirm_clusters_that_overlap():
    centers = np.array([[0.0, 0, 0, 0], [4, 0, 0, 0], [0, 4, 0, 0]])
    X, y = make_blobs([140, 120, 100], 4, centers=centers, random_state=3)
    halved, _ = divide_by_halves(X, neighbour_graph(X, 10), 1, 20)
    assert adjusted_rand_score(halved.labels, y) > 0.85
    assert len(halved.depths) == 2


def test_a_dense_group_next_to_a_loose_one_is_found():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(300, 3)), rng.normal([5, 0, 0], 2, size=(150, 3))])
    halved, _ = divide_by_halves(X, neighbour_graph(X, 10), 1, 20)
    assert adjusted_rand_score(halved.labels, np.arange(450) >= 300) > 0.6


def test_a_ring_is_not_cut_along_its_paths():
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 500)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    assert divide_by_halves(ring, neighbour_graph(ring, 10), 1, 20)[0] is None


@pytest.mark.parametrize("name", ["iris", "cloud"])
def test_clusters_at_numbers_that_the_reason_names_equal_a_fit_with_this_number(name):
    X = load("iris").X if name == "iris" else np.random.default_rng(0).normal(size=(300, 4))
    model = fitted(X)
    assert model.labels_at(model.n_clusters_) is model.labels_
    assert list(model.evidence_) == {"iris": [3, 4], "cloud": [2]}[name]
    for K in model.evidence_:
        other = fitted(X, n_clusters=K)
        assert other.labels_.tolist() == model.labels_at(K).tolist()
        assert (other.centers_ is not None) == (name == "cloud")
    with pytest.raises(ParameterError, match="fit with n_clusters=40"):
        model.labels_at(40)


def test_a_number_that_constraints_require_is_not_the_next_best_too():
    links = {"must_link": [[0, 60]], "cannot_link": [[0, 1]]}
    model = ConsensusClustering(random_state=0).fit(load("iris").X, **links)
    assert model.n_clusters_ == 3
    assert model.reason_.startswith("3 clusters: the constraints require this number")
    assert "n_clusters=3" not in model.reason_
    assert not model.evidence_


def test_points_without_a_division_are_not_sent_to_a_test():
    assert "auto" not in fitted(np.ones((50, 2))).reason_
    assert "auto" in fitted(np.random.default_rng(0).random((16, 2))).reason_
