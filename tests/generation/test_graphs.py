"""Members that share graphs of landmarks: k-means on the leading columns of one embedding."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.naive import landmarks as naive

from conclust import EnsembleGenerator
from conclust._threads import UnwantedError, heeding, in_threads, stop_if_unwanted
from conclust.generation import plan
from conclust.generation.cache import MemberCache
from conclust.generation.kinds import landmarks
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe
from conclust.generation.members import Task

IRIS = load_iris().data


def generated(*args, n_graphs=plan.SHARED_GRAPHS, X=IRIS, **kwargs):
    """Return a generator whose "spectral" members share this number of graphs, and its labels."""
    generator = EnsembleGenerator(*args, **{"random_state": 0, **kwargs})
    with mock.patch.object(plan, "SHARED_GRAPHS", n_graphs):
        return generator, generator.fit_transform(X)


def graphs_of(generator):
    """The graph of each spectral member."""
    models = [member.model for member in generator.members_ if member.method == "spectral"]
    return [(id(model.search), model.n_nearest) for model in models]


def dense_rows(model, X, k):
    """The leading k columns of the bipartite graph's singular vectors, of a dense SVD."""
    found, squares = model.search.nearest(X, model.n_nearest)
    exact = cdist(X, model.search.points, "sqeuclidean")
    np.testing.assert_allclose(np.take_along_axis(exact, found.astype(int), 1), squares, atol=1e-9)
    A = np.zeros_like(exact)
    weights = np.array([naive.weights(distances, model.sigma) for distances in squares])
    np.put_along_axis(A, found.astype(int), weights, 1)
    A = naive.bridged(A, model.search.points, model.sigma)
    rows, columns = A.sum(axis=1), A.sum(axis=0)
    root = np.where(columns > 0, 1 / np.sqrt(np.where(columns > 0, columns, 1)), 0)
    U, values, _ = np.linalg.svd(A / np.sqrt(rows)[:, None] * root, full_matrices=False)
    places = (U * values / np.sqrt(rows)[:, None])[: len(X), :k]
    return places / np.linalg.norm(places, axis=1, keepdims=True)


@pytest.mark.long
@pytest.mark.parametrize("k", [3, 5, 8])
def test_members_equal_k_means_of_the_leading_singular_vectors(k):
    X, y = make_blobs(400, 3, centers=8, cluster_std=1.2, center_box=(-7, 7), random_state=1)
    generator, labels = generated("spectral", 24, n_clusters=[3, 5, 8], n_graphs=1, X=X)
    mine = [u for u, member in enumerate(generator.members_) if member.model.loads.shape[1] == k]
    assert mine
    rows = dense_rows(generator.members_[0].model, X, k)
    twin = KMeans(k, n_init=20, random_state=0).fit(rows)
    # From one start each: the best of them is as good as the twin, and equal to it.
    spread = [
        sum(
            ((rows[labels[:, u] == c] - rows[labels[:, u] == c].mean(0)) ** 2).sum()
            for c in range(k)
        )
        for u in mine
    ]
    best = mine[int(np.argmin(spread))]
    assert min(spread) <= twin.inertia_ * (1 + 1e-6)
    assert adjusted_rand_score(labels[:, best], twin.labels_) == 1
    assert adjusted_rand_score(labels[:, best], y) > (0.8 if k == 8 else 0.3)


def test_embeddings_of_fewer_clusters_are_leading_columns():
    generator, _ = generated("spectral", 8, n_clusters=range(2, 10), n_graphs=1)
    models = sorted((m.model for m in generator.members_), key=lambda model: model.loads.shape[1])
    assert len({model.loads.shape[1] for model in models}) > 2
    for model in models:
        np.testing.assert_array_equal(models[-1].loads[:, : model.loads.shape[1]], model.loads)
        assert model.search is models[0].search
    # Up to a rotation for equal values, as with several components: products of rows are the same, but for the error of
    # vectors, which is the root of that of eigenvalues.
    rows, found = dense_rows(models[0], IRIS, 4), models[0]
    ties = naive.ties(IRIS, found.search.points, found.search, found.n_nearest)
    mine = ties @ models[-1].loads[:, :4]
    mine /= np.linalg.norm(mine, axis=1, keepdims=True)
    np.testing.assert_allclose(mine @ mine.T, rows @ rows.T, atol=0.01)


@pytest.mark.parametrize("n_graphs", [3, 4])
def test_members_alternate_between_graphs(n_graphs):
    generator, labels = generated("spectral", n_graphs=n_graphs)
    assert labels.shape == (150, 20)
    graphs = graphs_of(generator)
    # All points are landmarks, of every graph.
    assert graphs == [(graphs[0][0], (5, 7, 10, 14)[u % n_graphs]) for u in range(20)]
    # Members of a graph differ by their number of clusters and start.
    assert len({column.tobytes() for column in labels.T}) > 10
    np.testing.assert_array_equal(generator.transform(IRIS), labels)


def test_the_result_depends_on_the_seed_only():
    n_graphs = 2
    for more in ({}, {"fit_on": 90}):
        _, labels = generated("spectral", 7, n_graphs=n_graphs, **more)
        for n_jobs in (2, 4):
            other, again = generated("spectral", 7, n_graphs=n_graphs, n_jobs=n_jobs, **more)
            np.testing.assert_array_equal(again, labels)
            np.testing.assert_array_equal(other.transform(IRIS), labels)
        _, fewer = generated("spectral", 4, n_graphs=n_graphs, **more)
        np.testing.assert_array_equal(fewer, labels[:, :4])
        _, different = generated("spectral", 7, n_graphs=n_graphs, random_state=1, **more)
        assert (different != labels).any()


def test_only_spectral_members_of_a_list_share_graphs():
    kinds = ["kmeans", "spectral", "spectral"]
    own, without = generated(kinds, 9)
    shared, labels = generated(kinds, 9, n_graphs=2)
    assert [member.method for member in shared.members_] == kinds * 3
    near = [0, 3, 6]
    np.testing.assert_array_equal(labels[:, near], without[:, near])
    graphs = graphs_of(shared)
    assert graphs == graphs[:2] * 3
    assert len(set(graphs)) == 2
    assert len(set(graphs_of(own))) == 4


def test_all_points_are_labelled_after_fitting_a_sample():
    X, _ = make_moons(2000, noise=0.05, random_state=0)
    generator, labels = generated("spectral", 6, n_graphs=2, fit_on=500, X=X)
    assert labels.shape == (2000, 6)
    assert {member.n_fitted for member in generator.members_} == {500}
    np.testing.assert_array_equal(generator.transform(X), labels)
    one_by_one, _ = generated("spectral", 6, n_graphs=2, fit_on=500, n_jobs=3, X=X)
    np.testing.assert_array_equal(
        np.vstack(list(one_by_one.transform_blocks([X[:7], X[7:]]))), labels
    )


def shared_graphs(**kwargs):
    graphs = graphs_of(generated("spectral", 7, **kwargs)[0])
    return [graphs.count(graph) for graph in graphs]


def test_members_share_four_graphs_unless_they_see_different_objects_or_features():
    assert sorted(shared_graphs()) == [1, 2, 2, 2, 2, 2, 2]
    assert sorted(shared_graphs(fit_on=100)) == [1, 2, 2, 2, 2, 2, 2]
    assert shared_graphs(sample_fraction=0.9) == [1] * 7
    assert shared_graphs(fit_on=100, feature_fraction=0.5) == [1] * 7


def test_each_member_is_cached_and_reused(tmp_path):
    # Several members of one graph have the same number of clusters, but differ.
    given = {"n_clusters": 4, "n_graphs": 1, "cache_dir": tmp_path}
    first, labels = generated("spectral", 5, **given)
    assert first.n_cached_ == 0
    again, found = generated("spectral", 5, **given)
    assert again.n_cached_ == 5
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_array_equal(again.transform(IRIS), labels)
    _, without = generated("spectral", 5, n_clusters=4, n_graphs=1)
    np.testing.assert_array_equal(without, labels)


def test_cached_members_of_a_graph_need_one_search(tmp_path):
    def made():
        return generated("spectral", 5, n_clusters=[2, 3, 4, 5, 6], n_graphs=1, cache_dir=tmp_path)

    first, labels = made()
    again, read = made()
    np.testing.assert_array_equal(read, labels)
    models = [[member.model for member in generator.members_] for generator in (first, again)]
    for of_one in models:
        assert all(model.search is of_one[0].search for model in of_one)
    # Searches of equal content, from models in files, also count as one graph.
    assert models[0][0].search is not models[1][0].search
    assert models[0][0].shares_search(models[1][1])


def test_members_of_one_graph_are_made_in_parallel_to_the_same_bits(monkeypatch):
    numbers = (2, 3, 4, 5, 7, 8)
    alone, together = (
        LandmarkSpectralRecipe(threads=threads).run(IRIS, numbers, np.random.default_rng(0))
        for threads in (1, 3)
    )
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.model.centers, other.model.centers)
    used = []

    def seen(function, items, threads):
        used.append(threads)
        return in_threads(function, items, threads)

    monkeypatch.setattr(landmarks, "in_threads", seen)
    monkeypatch.setattr("conclust._threads._processors", lambda: 4)
    _, many = generated("spectral", 6, n_clusters=[2, 3, 4], n_graphs=1, n_jobs=4)
    generated("spectral", 6, n_clusters=[2, 3, 4], n_graphs=2, n_jobs=4)
    _, one = generated("spectral", 6, n_clusters=[2, 3, 4], n_graphs=1, n_jobs=1)
    assert used == [4, 2, 2, 1]
    np.testing.assert_array_equal(many, one)


def test_unneeded_work_is_cancelled_in_nested_threads():
    def work(item):
        for _ in range(1000):
            time.sleep(0.01)
            stop_if_unwanted()

    began = time.monotonic()
    with pytest.raises(UnwantedError), heeding(lambda: time.monotonic() - began > 0.1):
        in_threads(work, [1, 2, 3], 3)
    assert time.monotonic() - began < 5


def test_the_cache_key_covers_all_inputs_of_a_member():
    cache = MemberCache.__new__(MemberCache)
    object.__setattr__(cache, "digest", "of the points")
    object.__setattr__(cache, "scale", None)
    recipe = LandmarkSpectralRecipe(n_nearest=5)
    task = Task(recipe, (0, 1, 2), (4, 4, 5), 7, 150, 4)
    changes = [{"recipe": replace(recipe, n_nearest=6)}, {"n_clusters": (4, 5, 5)}, {"seed": 8}]
    runs = [cache.description(replace(task, **change)) for change in ({}, *changes)]
    assert all(one != other for one, other in itertools.combinations(runs, 2))
    # The number of threads changes no member.
    assert cache.description(replace(task, recipe=replace(recipe, threads=2))) == runs[0]
