import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, leaves_list, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.exceptions import NotFittedError

import conclust as cc
from conclust import EAC, PCC, ConsensusClustering, Ensemble, EnsembleGenerator, plotting
from conclust.evidence import coassociation, evidence
from conclust.exceptions import InputError, MissingExtraError, ParameterError
from conclust.plotting import coassociation_heatmap, heatmaps
from conclust.plotting.canvas.orders import dendrogram_order
from conclust.plotting.canvas.reading import mean_shares


def picture(ax):
    return ax.images[0].get_array()


def shuffled_blocks(seed=0, sizes=(5, 9, 6)):
    """Two partitions that agree on blocks, objects in random order."""
    rng = np.random.default_rng(seed)
    z = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return z, Ensemble(np.column_stack([z, z]))


@pytest.mark.parametrize("order", ["vat", "dendrogram"])
def test_clusters_are_contiguous(order):
    _, ensemble = shuffled_blocks()
    shares = picture(coassociation_heatmap(ensemble, order=order))
    assert set(np.unique(shares)) == {0.0, 1.0}
    edges = np.flatnonzero(np.diff(shares[0])).size  # 1..1 0..0: one step from the first block
    assert edges == 1
    borders = np.count_nonzero(np.diag(shares, 1) == 0)
    assert borders == 2  # three blocks along the diagonal


def test_the_given_order_keeps_the_shares():
    L = np.array([[0, 0, 1], [0, 1, -1], [1, 1, 1], [-1, -1, 0]])
    shares = picture(coassociation_heatmap(Ensemble(L), order=None))
    np.testing.assert_allclose(shares[0, :3], [1, 1 / 2, 1 / 3])
    assert shares.mask[1, 3]  # never in one partition together
    assert not shares.mask[0, 3]


@pytest.mark.parametrize("clusters", [4, 90])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_blocks_of_a_picture_are_means_over_pairs(clusters, missing):
    # Few clusters are counted from the labels, many by a product of sparse matrices.
    rng = np.random.default_rng(clusters)
    L = rng.integers(clusters, size=(120, 6))
    L[rng.random(L.shape) < missing] = -1
    weights, order = rng.random(6) + 0.1, rng.permutation(120)
    seen = (L >= 0)[order] * 1.0
    both = np.einsum("iu,ju,u->ij", seen, seen, weights)
    same = np.einsum("iju,u->ij", (L[order, None] == L[order]) & (L[order, None] >= 0), weights)
    blocks = np.repeat(np.eye(20), 6, axis=1)
    expected = (blocks @ same @ blocks.T) / (blocks @ both @ blocks.T)
    actual = mean_shares(Ensemble(L, weights=weights), order, 20)
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_dendrogram_order_keeps_clusters_contiguous(seed):
    points = np.random.default_rng(seed).normal(size=(25, 3))
    apart = cdist(points, points) / 20
    order = dendrogram_order(apart)
    np.testing.assert_array_equal(np.sort(order), np.arange(25))
    tree = linkage(squareform(apart, checks=False), "average")
    joined = squareform(cophenet(tree))[np.ix_(order, order)]
    # In such an order, more distant objects are never closer in the tree.
    for i in range(25):
        assert (np.diff(joined[i, i:]) >= -1e-9).all()
        assert (np.diff(joined[i, : i + 1]) <= 1e-9).all()
    # Turned so that neighbours are nearer than in SciPy's order of the same tree.
    steps = [apart[o[:-1], o[1:]].sum() for o in (order, leaves_list(tree))]
    assert steps[0] < steps[1]


def test_a_given_order_is_used():
    _, ensemble = shuffled_blocks()
    shares = coassociation(ensemble, normalize=True)
    order = np.random.default_rng(1).permutation(20)
    ax = coassociation_heatmap(ensemble, order=order)
    np.testing.assert_allclose(picture(ax), shares[np.ix_(order, order)])
    assert ax.get_xlabel() == "objects, in the order given"


def test_many_objects_are_averaged_in_blocks():
    n = 20
    shares = np.add.outer(np.arange(n), np.arange(n)) / (2 * n)
    ax = coassociation_heatmap(shares, order=None, max_pixels=5)
    expected = shares.reshape(5, 4, 5, 4).mean(axis=(1, 3))
    np.testing.assert_allclose(picture(ax), expected)
    assert ax.get_xlim() == (0, n)
    assert ax.get_title() == "Co-association of 20 objects"


def test_averages_leave_out_pairs_without_evidence():
    shares = np.array([[1, np.nan, 0, 0], [np.nan, 1, 0, 0.5], [0, 0, 1, 1], [0, 0.5, 1, 1]])
    ax = coassociation_heatmap(shares, order=None, max_pixels=2)
    np.testing.assert_allclose(picture(ax), [[1, 0.125], [0.125, 1]])
    assert coassociation_heatmap(shares).get_legend() is not None
    assert coassociation_heatmap(np.eye(3)).get_legend() is None


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_very_many_objects_are_averaged_without_the_matrix(monkeypatch, missing):
    rng = np.random.default_rng(0)
    L = rng.integers(0, 3, (90, 6))
    L[rng.random(L.shape) < missing] = -1
    L[:, 0] = np.where((L == -1).all(axis=1), 1, L[:, 0])
    ensemble = Ensemble(L, weights=rng.uniform(1, 2, 6))
    z = rng.integers(-1, 3, 90)
    c, N = evidence(ensemble)
    whole = coassociation_heatmap(ensemble, labels=z, order="cluster", max_pixels=9)
    monkeypatch.setattr(heatmaps, "_MAX_OBJECTS", 30)
    for order, placed in (
        ("cluster", np.argsort(np.where(z < 0, 9, z), kind="stable")),
        (None, np.arange(90)),
        (np.arange(90)[::-1], np.arange(90)[::-1]),
    ):
        ax = coassociation_heatmap(ensemble, labels=z, order=order, max_pixels=9)
        sums = [M[np.ix_(placed, placed)].reshape(9, 10, 9, 10).sum(axis=(1, 3)) for M in (c, N)]
        np.testing.assert_allclose(picture(ax), sums[0] / sums[1])
        assert ax.get_title() == "Co-association of 90 objects"
        right = strips_of(ax)[0].images[0].get_array()[:, 0]
        assert len(right) == 90
    assert picture(whole).shape == (9, 9)


def test_very_many_objects_are_sampled(monkeypatch):
    monkeypatch.setattr(heatmaps, "_MAX_OBJECTS", 30)
    rng = np.random.default_rng(0)
    ensemble = Ensemble(rng.integers(0, 3, size=(1000, 5)))
    first = coassociation_heatmap(ensemble)
    assert first.get_title() == "Co-association of 30 objects drawn from 1,000"
    assert picture(first).shape == (30, 30)
    np.testing.assert_array_equal(picture(first), picture(coassociation_heatmap(ensemble)))
    other = coassociation_heatmap(ensemble, random_state=1)
    assert (picture(first) != picture(other)).any()
    B = ensemble.indicator.toarray()
    by_matrix = coassociation_heatmap(B @ B.T / 5)
    np.testing.assert_allclose(picture(by_matrix), picture(first))
    order = rng.permutation(1000)
    matrix = B @ B.T / 5
    drawn = picture(coassociation_heatmap(matrix, order=order))
    plain = picture(coassociation_heatmap(matrix, order=None))
    chosen = np.sort(np.random.default_rng(0).choice(1000, 30, replace=False))
    place = np.argsort(np.argsort(order)[chosen])
    np.testing.assert_allclose(drawn, plain[np.ix_(place, place)])


# -- what can be drawn


def test_labels_evidence_and_shares_give_the_same_plot():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, (30, 8))
    expected = picture(coassociation_heatmap(Ensemble(labels)))
    shares = coassociation(labels, normalize=True)
    for given in (labels, labels.tolist(), evidence(labels), shares):
        np.testing.assert_allclose(picture(coassociation_heatmap(given)), expected, atol=1e-12)


def test_models_are_shown_with_their_clusters():
    X = np.random.default_rng(3).normal(size=(40, 2)) + np.repeat([[0, 0], [9, 9]], 20, axis=0)
    whole = ConsensusClustering(
        EAC(2), EnsembleGenerator("kmeans", n_partitions=10), random_state=0
    ).fit(X)
    ax = coassociation_heatmap(whole, order="cluster")
    expected = coassociation_heatmap(whole.ensemble_, order="cluster", labels=whole.labels_)
    np.testing.assert_allclose(picture(ax), picture(expected))
    assert [len(strips_of(actual)) for actual in (ax, expected)] == [2, 2]

    soft = PCC(2, random_state=0).fit(whole.ensemble_)
    shown = coassociation_heatmap(soft, order=None)
    np.testing.assert_allclose(picture(shown), soft.membership_ @ soft.membership_.T)
    assert len(strips_of(shown)) == 2


def strips_of(ax):
    return [child for child in ax.child_axes if child.get_label() == "clusters"]


def test_strips_show_the_clusters_in_the_plotted_order():
    z, ensemble = shuffled_blocks()
    ax = coassociation_heatmap(ensemble, labels=z)
    ax.figure.canvas.draw()
    right, above = (strip.images[0].get_array() for strip in strips_of(ax))
    assert right.shape == (20, 1, 3)
    assert above.shape == (1, 20, 3)
    np.testing.assert_array_equal(right[:, 0], above[0])
    edges = np.flatnonzero(np.abs(np.diff(above[0], axis=0)).sum(axis=1))
    borders = np.flatnonzero(np.diag(picture(ax), 1) == 0)
    np.testing.assert_array_equal(edges, borders)
    texts = [text.get_text() for text in strips_of(ax)[1].texts]
    assert sorted(texts) == ["0", "1", "2"]


def test_matching_clusters_share_colours_and_none_is_grey():
    z, ensemble = shuffled_blocks()
    names = np.array(["red", "green", "blue"], dtype=object)[z]
    names[:2] = None
    model = EAC(3).fit(ensemble)
    strips = {"EAC": model, "class": names, "number": np.where(z == 1, -1.0, z)}
    ax = coassociation_heatmap(ensemble, labels=strips, order=None)
    first, second, third = (strip.images[0].get_array()[:, 0] for strip in strips_of(ax)[::2])
    np.testing.assert_array_equal(second[2:], first[2:])
    assert len(np.unique(second[:2], axis=0)) == 1
    assert (second[:2] != first[:2]).any(axis=1).all()
    np.testing.assert_array_equal(third[z != 1], first[z != 1])
    np.testing.assert_array_equal(third[z == 1], np.tile(second[0], ((z == 1).sum(), 1)))
    texts = {text.get_text() for strip in strips_of(ax) for text in strip.texts}
    assert {"EAC", "class", "number"} <= texts


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: coassociation_heatmap(np.full((2, 3), 0.5)), InputError, "square matrix"),
        (lambda: coassociation_heatmap(np.zeros((0, 0))), InputError, "at least one partition"),
        (lambda: coassociation_heatmap([[2, 3], [3, 2]]), InputError, "normalize=True"),
        (lambda: coassociation_heatmap([[2, 1], [1, 3]]), InputError, "from 1 to 3"),
        (lambda: coassociation_heatmap([[1, -0.5], [-0.5, 1]]), InputError, "from -0.5 to 1"),
        (lambda: coassociation_heatmap([[1, 0.5], [0.1, 1]]), InputError, "symmetric"),
        (
            lambda: coassociation_heatmap(EAC(2).fit([[0, 0], [0, 0], [1, 1]])),
            InputError,
            "labels=model",
        ),
        (lambda: coassociation_heatmap(PCC()), NotFittedError, "not fitted"),
        (lambda: coassociation_heatmap(np.eye(2), labels=[0]), InputError, "each of the 2 objects"),
        (lambda: coassociation_heatmap(np.eye(2), order="cluster"), ParameterError, "'order'"),
        (
            lambda: coassociation_heatmap(np.eye(2), order=[0, 0]),
            InputError,
            "of the 2 objects once",
        ),
        (lambda: coassociation_heatmap(np.eye(2), order="x"), ParameterError, "'order'"),
        (lambda: coassociation_heatmap(np.eye(2), max_pixels=0), ParameterError, "'max_pixels'"),
    ],
)
def test_invalid_input_is_refused(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert sentence in str(caught.value)


def test_missing_matplotlib_prints_the_pip_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'matplotlib>="):
        coassociation_heatmap(np.eye(2))


def test_scripts_hold_one_figure_at_a_time(tmp_path, recwarn):
    from matplotlib import pyplot

    pyplot.close("all")
    user_figure = pyplot.figure()
    made = [
        coassociation_heatmap(np.eye(2)) for _ in range(30)
    ]  # pyplot warns about 20 open figures
    assert pyplot.gcf() is made[-1].figure
    assert pyplot.get_fignums() == [
        user_figure.number,
        made[-1].figure.number,
    ]  # the user's figure is not changed
    assert not [w for w in recwarn if "figures have been opened" in str(w.message)]
    made[0].figure.savefig(tmp_path / "first.png")
    assert pyplot.imread(tmp_path / "first.png").std() > 0.1
    pyplot.close("all")


def test_only_public_names_are_listed():
    assert dir(plotting) == sorted(plotting.__all__)
    assert {"coassociation_heatmap", "line_diagram"} < set(dir(plotting))
    assert cc.plotting is plotting
