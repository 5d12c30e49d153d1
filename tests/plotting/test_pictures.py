"""Plots show the data of their definitions."""

import io
import itertools
from typing import ClassVar

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram as scipy_dendrogram
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score, silhouette_samples

from conclust import HBGF, AutoConsensus, Ensemble
from conclust import plotting as P
from conclust.evidence import coassociation
from conclust.exceptions import InputError, ParameterError
from conclust.plotting import objects
from conclust.plotting.flows import flow_of, tracks_of
from conclust.plotting.maps import embedding_of
from conclust.plotting.members import partition_map_of
from conclust.plotting.numbers import cdf_of, curve_of
from conclust.plotting.objects import bars_of, silhouettes_of
from conclust.plotting.trees import tree_of
from conclust.selection import choose


def members(seed=0, n=40, m=12, K=4):
    rng = np.random.default_rng(seed)
    z = np.sort(rng.integers(0, K, n))
    return z, Ensemble(np.where(rng.random((n, m)) < 0.25, rng.integers(0, K, (n, m)), z[:, None]))


def painted(ax):
    """Draw the figure, and return the renderer."""
    ax.figure.savefig(io.BytesIO(), format="png")
    return FigureCanvasAgg(ax.figure).get_renderer()


def lines_of(ax, kind=LineCollection):
    return [c for c in ax.collections if isinstance(c, kind)]


# -- curves over the number of clusters


class Chosen:
    """The attributes of a Selection that plots read."""

    labels: ClassVar = {2: np.array([0, 0, 1, 1]), 3: np.array([0, 0, 1, 2])}
    k = np.array([2, 3])
    n_clusters = 3
    p_value = 0.01
    n_references = 2
    null = np.array([[0.5, 0.4], [0.6, 0.3]])
    table: ClassVar = {
        "pac": np.array([0.3, 0.1]),
        "pac_se": np.array([0.03, 0.01]),
        "rcsi": np.array([0.6, 1.3]),
        "delta": np.array([0.4, 0.2]),
    }

    def cdf(self, k):
        return np.array([0.0, 1.0]), np.array([1 / k, 1.0])


def test_a_selection_supplies_all_curves():
    chosen = Chosen()
    curve = curve_of(chosen)
    assert (curve.chosen, curve.p_value) == (3, 0.01)
    np.testing.assert_array_equal(curve.error, [0.03, 0.01])
    np.testing.assert_array_equal(curve_of(chosen, "rcsi").values, [0.6, 1.3])
    assert len(curve_of(chosen, "delta").null) == 0
    assert list(cdf_of(chosen)) == [2, 3]
    widths = {line.get_label(): line.get_linewidth() for line in P.cdf_curves(chosen).lines}
    assert widths["3"] > widths["2"]
    for criterion in ("delta", "pac", "rcsi"):
        ax = P.criterion_curve(chosen, criterion)
        painted(ax)
    logs = np.log(chosen.null)
    band = ax.collections[0].get_paths()[0].vertices
    low, high = np.quantile(logs.mean(axis=0) - logs, (0.05, 0.95), axis=0)
    for k, a, b in zip((2, 3), low, high, strict=True):
        actual = band[band[:, 0] == k, 1]
        np.testing.assert_allclose([actual.min(), actual.max()], [a, b])
    assert "p = 0.01 (2 references)" in ax.get_legend().get_title().get_text()
    assert max(P.criterion_curve(chosen).get_yticks()) <= 1
    assert P.criterion_curve({2: 0.1, 3: 0.2}, "pac").get_legend() is None
    painted(P.flow_diagram(chosen))
    with pytest.raises(InputError, match="no criterion 'x'"):
        curve_of(chosen, "x")


def test_the_result_of_choose_can_be_drawn():
    X, _ = make_blobs(90, centers=3, n_features=3, random_state=0)
    selection = choose(X, k=range(2, 6), n_resamples=12, n_references=19, random_state=0)
    curve = curve_of(selection)
    np.testing.assert_array_equal(curve.k, selection.k)
    np.testing.assert_array_equal(curve.values, selection.table["pac"])
    np.testing.assert_array_equal(curve.null, selection.null)
    assert (curve.p_value, curve.chosen) == (selection.p_value, selection.n_clusters)
    np.testing.assert_array_equal(curve_of(selection, "rcsi").values, selection.table["rcsi"])
    logs = np.log(selection.null)
    np.testing.assert_allclose(curve_of(selection, "rcsi").null, logs.mean(axis=0) - logs)
    for k, (values, heights) in cdf_of(selection).items():
        pairs = selection.consensus_matrix(k)[np.triu_indices(90, 1)]
        pairs = pairs[~np.isnan(pairs)]
        at = np.searchsorted(np.sort(pairs), values + 1e-12, "right") / len(pairs)
        np.testing.assert_allclose(heights, at)
    np.testing.assert_array_equal(tracks_of(selection)[0], selection.k)
    painted(P.cdf_curves(selection))
    for criterion in ("delta", "pac", "rcsi"):
        painted(P.criterion_curve(selection, criterion))
    painted(P.flow_diagram(selection))
    painted(P.dendrogram(selection.trees[3], 3))
    painted(P.coassociation_heatmap(selection.ensembles[3], labels=selection.labels[3]))


# -- flows


def test_a_sequential_test_names_the_references_of_its_p_value():
    X, _ = make_blobs(60, centers=3, n_features=3, cluster_std=0.5, random_state=1)
    selection = choose(
        X, range(2, 5), n_resamples=10, n_references=19, sequential=True, random_state=0
    )
    assert len(selection.null) > selection.n_references  # some only fix mean and deviation
    assert curve_of(selection).n_references == selection.n_references
    title = P.criterion_curve(selection, "rcsi").get_legend().get_title().get_text()
    assert f"({selection.n_references} references)" in title


def test_colours_continue_in_the_clusters_that_share_most():
    partitions = {2: [0, 0, 0, 1, 1, 1], 3: [2, 2, 0, 1, 1, 1], 4: [0, 0, 3, 1, 2, -1]}
    k, colours = tracks_of(partitions)
    np.testing.assert_array_equal(k, [2, 3, 4])
    np.testing.assert_array_equal(colours[0], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(colours[1], [0, 0, 2, 1, 1, 1])
    np.testing.assert_array_equal(colours[2], [0, 0, 2, 1, 3, -1])


@pytest.mark.parametrize("seed", range(3))
def test_flows_count_shared_objects(seed):
    rng = np.random.default_rng(seed)
    partitions = {k: rng.integers(0, k, 60) for k in (2, 3, 5)}
    actual, (_, tracks) = flow_of(partitions), tracks_of(partitions)
    rows = {k: tracks[i] for i, k in enumerate((2, 3, 5))}
    for k, colour, size in zip(actual.k, actual.colour, actual.size, strict=True):
        assert size == np.count_nonzero(rows[k] == colour)
    flows = {}
    for (a, b), count, share in zip(actual.edges, actual.count, actual.share, strict=True):
        same_colour = rows[actual.k[a]] == actual.colour[a]
        other = rows[actual.k[b]] == actual.colour[b]
        assert count == np.count_nonzero(same_colour & other)
        assert share == pytest.approx(count / np.count_nonzero(other))
        flows[b] = flows.get(b, 0) + share
    np.testing.assert_allclose(list(flows.values()), 1)
    assert (actual.x >= 0).all()
    assert (actual.x <= 1).all()
    ax = P.flow_diagram(partitions)
    (edges,) = lines_of(ax)
    assert len(edges.get_segments()) == np.count_nonzero(actual.share >= 0.05)
    assert len(ax.texts) == len(actual.k)


def test_clusters_that_split_stand_below_their_origin():
    z = np.repeat(np.arange(4), 10)
    flow = flow_of({2: z // 2, 4: np.array([2, 0, 3, 1])[z]})
    assert len(flow.edges) == 4
    left = flow.x[flow.edges[flow.edges[:, 0] == np.argmin(flow.x[:2]), 1]]
    right = flow.x[flow.edges[flow.edges[:, 0] == np.argmax(flow.x[:2]), 1]]
    assert left.max() < right.min()


# -- objects


def test_bars_are_the_memberships_in_order_and_fill_the_height():
    rng = np.random.default_rng(0)
    Y = rng.dirichlet([0.3, 0.3, 0.3], 30)
    actual = bars_of(Y)
    np.testing.assert_allclose(actual.values, Y[actual.order])
    np.testing.assert_array_equal(actual.clusters, Y.argmax(axis=1)[actual.order])
    largest = actual.values.max(axis=1)
    for k in range(3):
        assert (np.diff(largest[actual.clusters == k]) <= 0).all()
    ax = P.membership_bars(Y)
    total = np.zeros(30)
    for k, area in enumerate(ax.collections[:3]):
        vertices = area.get_paths()[0].vertices
        for i in range(30):
            inside = vertices[(vertices[:, 0] > i - 1e-9) & (vertices[:, 0] < i + 1 + 1e-9)]
            # Both edges of a bar have its two heights.
            here = np.unique(inside[:, 1].round(12))
            assert any(abs(b - a - actual.values[i, k]) < 1e-9 for a in here for b in here)
        total += actual.values[:, k]
    np.testing.assert_allclose(total, 1)


def test_bars_of_many_objects_are_means_within_clusters():
    Y = np.repeat([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], 500, axis=0)
    ax = P.membership_bars(Y, max_bars=7)
    heights = np.unique(ax.collections[0].get_paths()[0].vertices[:, 1].round(9))
    assert heights.max() <= 1
    assert ax.get_xlim() == (0, 1500)
    with pytest.raises(ParameterError, match="'max_bars'"):
        P.membership_bars(Y, max_bars=0)


def test_silhouettes_equal_those_of_scikit_learn_in_order():
    z, ensemble = members()
    apart = 1 - coassociation(ensemble, normalize=True)
    np.fill_diagonal(apart, 0)
    expected = silhouette_samples(apart, z, metric="precomputed")
    actual = silhouettes_of(z, ensemble)
    np.testing.assert_allclose(actual.values, expected[actual.order], atol=1e-12)
    np.testing.assert_array_equal(actual.clusters, np.sort(z))
    ax = P.silhouette_bars(z, ensemble)
    assert f"mean {expected.mean():.2f}" in ax.get_title()
    drawn = np.concatenate([area.get_paths()[0].vertices[:, 0] for area in ax.collections])
    assert {*actual.values.round(9)} <= {*drawn.round(9)}
    gone = np.where(np.arange(40) == 7, -1, z)
    assert len(silhouettes_of(gone, ensemble).order) == 39


def test_silhouettes_of_many_objects_are_averaged(monkeypatch):
    z, ensemble = members(n=60)
    whole = silhouettes_of(z, ensemble)
    monkeypatch.setattr(objects, "_MOST_BARS", 12)
    ax = P.silhouette_bars(z, ensemble)
    for k, area in enumerate(ax.collections):
        drawn = set(area.get_paths()[0].vertices[:, 0].round(9)) - {0.0}
        values = whole.values[whole.clusters == k]
        count = 12 * len(values) // 60
        edges = np.arange(count + 1) * len(values) // count
        means = [values[a:b].mean() for a, b in itertools.pairwise(edges)]
        assert drawn == {*np.round(means, 9)}


# -- trees


@pytest.mark.parametrize("seed", range(3))
def test_the_dendrogram_draws_the_merges_of_scipy(seed):
    tree = linkage(np.random.default_rng(seed).normal(size=(20, 3)), "average")
    actual = tree_of(tree, 4)
    theirs = scipy_dendrogram(tree, no_plot=True)
    assert sorted(map(tuple, np.sort(actual.y[:, :2], axis=1).round(9))) == sorted(
        (round(min(d[0], d[3]), 9), round(max(d[0], d[3]), 9)) for d in theirs["dcoord"]
    )
    np.testing.assert_allclose(np.sort(actual.y[:, 2]), np.sort([d[1] for d in theirs["dcoord"]]))
    # Every merge spans its own leaves, and no other, in their order; so it does in scipy's order.
    below = {i: {i} for i in range(20)}
    place = np.argsort(actual.order)
    for row, (a, b) in enumerate(tree[:, :2].astype(int)):
        below[20 + row] = below[a] | below[b]
        seats = sorted(place[list(below[20 + row])])
        assert seats[-1] - seats[0] == len(seats) - 1
    low, high = actual.lifetime
    assert (low, high) == (tree[15, 2], tree[16, 2])
    assert np.count_nonzero(actual.cluster < 0) == 3
    np.testing.assert_array_equal(np.sort(np.diff(actual.ends)).sum(), 20)


def test_very_large_trees_are_truncated():
    n = 200_000
    tree = np.column_stack(
        [
            np.r_[0, n + np.arange(n - 2)],
            np.arange(1, n),
            np.linspace(0, 1, n - 1),
            np.arange(2, n + 1),
        ]
    )
    ax = P.dendrogram(tree, 3)
    assert len(lines_of(ax)[0].get_segments()) == 500


# -- partitions


def test_the_map_shows_the_ordered_mutual_information():
    _, ensemble = members(m=9)
    picture = partition_map_of(ensemble)
    L = ensemble.labels[:, picture.order]
    expected = [
        [normalized_mutual_info_score(a, b, average_method="geometric") for a in L.T] for b in L.T
    ]
    np.testing.assert_allclose(picture.similarity, expected, atol=1e-12)
    np.testing.assert_array_equal(np.sort(picture.order), np.arange(9))
    image = P.partition_map(ensemble).images[0].get_array()
    np.testing.assert_allclose(image, picture.similarity)
    z = np.repeat([0, 1], 20)
    mixed = np.column_stack([z, np.arange(40) % 2, z, np.arange(40) % 2])
    order = partition_map_of(mixed).order
    assert set(order[:2]) in ({0, 2}, {1, 3})
    assert P.partition_map(mixed[:, :1]).get_title() == "Agreement of 1 partition"


def test_a_figure_is_not_taken_for_axes():
    with pytest.raises(InputError, match=r"'ax' must be axes of matplotlib. Got Figure instead"):
        P.membership_bars(np.eye(2), ax=Figure())


# -- clusters, traces, embeddings


def neighbours(K, n, share, largest=1.0):
    """Return memberships of clusters in a ring: of a share of the objects a part is in the next one."""
    rng = np.random.default_rng(0)
    sizes = np.linspace(largest, 1.0, K)
    clusters = rng.choice(K, n, p=sizes / sizes.sum())
    Y = np.eye(K)[clusters]
    Y[rng.random(n) < share] *= 0.6
    Y[np.arange(n), (clusters + 1) % K] += 1.0 - Y.sum(axis=1)
    return Y


@pytest.mark.parametrize("shape", [(30, 5), (200, 120), (60, 400)])
def test_coordinates_are_principal_components(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.linspace(3, 1, shape[1])
    embedding = embedding_of(X, np.zeros(shape[0], int))
    pca = PCA(2, svd_solver="full").fit(X)
    expected = pca.transform(X)
    signs = np.sign((expected * embedding.places).sum(axis=0))
    np.testing.assert_allclose(embedding.places, expected * signs, atol=1e-8)
    np.testing.assert_allclose(embedding.shares, pca.explained_variance_ratio_)


def test_the_embedding_of_an_ensemble_separates_its_clusters():
    z, ensemble = members(n=120, m=30)
    embedding = embedding_of(ensemble, z)
    expected = PCA(2, svd_solver="full").fit_transform(ensemble.indicator.toarray() / np.sqrt(30))
    np.testing.assert_allclose(np.abs(embedding.places), np.abs(expected), atol=1e-8)


def test_uncertain_objects_are_faded():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    actual = embedding_of(X, [0, 0, 1, -1], [1.0, 0.5, np.nan, 0.25])
    np.testing.assert_array_equal(actual.places, X)
    np.testing.assert_array_equal(actual.confidence, [1, 0.5, 0, 0.25])
    ax = P.embedding(X, [0, 0, 1, -1], [1.0, 0.5, np.nan, 0.25])
    shown = np.concatenate([c.get_facecolors() for c in ax.collections])
    np.testing.assert_allclose(np.sort(shown[:, 3]), np.sort(0.12 + 0.88 * actual.confidence))
    offsets = np.concatenate([c.get_offsets() for c in ax.collections])
    assert {*map(tuple, offsets)} == {*map(tuple, X)}
    model = AutoConsensus(2, random_state=0).fit(np.repeat([[0] * 6, [1] * 6], 4, axis=0))
    np.testing.assert_allclose(
        embedding_of(np.zeros((8, 2)), model).confidence, model.membership_.max(axis=1)
    )
    many = P.embedding(np.zeros((50, 2)), np.zeros(50, int), max_samples=20)
    assert many.get_title().startswith("20 of 50 objects")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: P.cdf_curves({}), "Expected a Selection"),
        (lambda: P.criterion_curve([0.1]), "a dict of numbers of clusters"),
        (lambda: P.flow_diagram({2: [0, 1], 3: [0, 1, 2]}), "of the same objects"),
        (lambda: P.membership_bars([[0.5, 0.1]]), "probabilities"),
        (lambda: P.silhouette_bars([0, 1]), "needs the ensemble"),
        (lambda: P.dendrogram([[0, 1]]), "SciPy's form"),
        (lambda: P.dendrogram([[0, 1, 2.0, 2], [2, 3, 1.0, 3]]), "rising height"),
        (lambda: P.dendrogram(HBGF(2).fit([[0, 0], [0, 0], [1, 1]])), "HBGF keeps none"),
        (lambda: P.embedding(np.zeros((3, 2)), [0, 1]), "each of the 2 objects"),
        (lambda: P.embedding([[0, np.nan]] * 2, [0, 1]), "NaN in column 1"),
        (lambda: P.embedding(np.zeros((2, 2)), [0, 1], [2, 0]), "from 0 to 1"),
        (lambda: P.embedding(np.zeros((2, 2)), [0.5, 1]), "a whole number for each"),
        (lambda: P.embedding(Ensemble(np.eye(3, dtype=int)), [0, 1]), "of the 2 objects"),
    ],
)
def test_invalid_input_is_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
