"""The style of all plots: they fit a page, keep the user's settings and leak nothing."""

import gc
import itertools
import weakref

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tests.plotting.test_pictures import members, painted

from conclust import EAC, ConsensusClustering
from conclust import plotting as P
from conclust.confidence import object_confidence, power
from conclust.plotting.canvas.reading import shortened
from conclust.plotting.maps import embedding_of
from conclust.plotting.numbers import power_curves
from conclust.selection import choose


def pixels(ax):
    """Return the figure as pixels of a fixed size."""
    ax.figure.set_size_inches(5, 4)
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def pictures():
    rng = np.random.default_rng(0)
    z, ensemble = members(n=90, K=5)
    Y = rng.dirichlet([0.4] * 5, 90)
    partitions = {k: (z * k) // 5 for k in (2, 3, 4, 5)}
    chosen = choose(rng.normal(size=(30, 2)), 4, n_resamples=5, n_references=19, random_state=0)
    tree = EAC(5).fit(ensemble)
    needs = power(np.arange(90) % 3, Y + 9 * np.eye(5)[np.arange(90) % 3], random_state=0)
    return {
        "cdf": lambda ax: P.cdf_curves(chosen, chosen=3, ax=ax),
        "area": lambda ax: P.criterion_curve(chosen, "delta", chosen=2, ax=ax),
        "pac": lambda ax: P.criterion_curve(chosen, chosen=3, ax=ax),
        "sharp": lambda ax: P.criterion_curve({2: 1.0, 3: 2.0}, "sharp", chosen=3, ax=ax),
        "rcsi": lambda ax: P.criterion_curve(chosen, "rcsi", chosen=3, ax=ax),
        "ranks": lambda ax: P.critical_difference(Y[:20], ax=ax),
        "power": lambda ax: power_curves(needs, ax=ax),
        "flow": lambda ax: P.flow_diagram(partitions, ax=ax),
        "bars": lambda ax: P.membership_bars(Y, ax=ax),
        "silhouette": lambda ax: P.silhouette_bars(z, ensemble, ax=ax),
        "tree": lambda ax: P.dendrogram(tree, ax=ax),
        "map": lambda ax: P.partition_map(ensemble, ax=ax),
        "embedding": lambda ax: P.embedding(Y, z, Y.max(axis=1), ax=ax),
        "heatmap": lambda ax: P.coassociation_heatmap(ensemble, labels={"found": tree}, ax=ax),
    }


PICTURES = pictures()


@pytest.mark.parametrize("name", PICTURES)
def test_figures_fit_their_page(name):
    ax = PICTURES[name](None)
    figure = ax.figure
    renderer = painted(ax)
    across = 2.54 * figure.get_size_inches()[0]
    assert across < 17.51
    page = figure.bbox
    beyond = [*ax.get_xticklabels(), *ax.get_yticklabels()]  # labels of ticks outside of the limits
    shown = [
        text
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_text().strip() and text.get_visible() and text not in beyond
    ]
    assert len(shown) > 2
    for text in shown:
        box = text.get_window_extent(renderer)
        assert box.x0 > page.x0 - 2, (name, text.get_text())
        assert box.x1 < page.x1 + 2, (name, text.get_text())
        assert box.y0 > page.y0 - 2, (name, text.get_text())
        assert box.y1 < page.y1 + 2, (name, text.get_text())
        assert 5 <= text.get_fontsize() <= 8.01, text.get_text()


@pytest.mark.parametrize("name", PICTURES)
def test_plots_accept_axes_and_do_not_change_settings(name):
    before = dict(matplotlib.rcParams)
    figure = Figure()
    ax = figure.add_subplot()
    assert PICTURES[name](ax) is ax
    PICTURES[name](None)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("style_of_user", ["dark_background", {"axes.grid": True}])
@pytest.mark.parametrize("name", PICTURES)
def test_own_figures_do_not_follow_themes(name, style_of_user):
    from matplotlib import pyplot

    expected = pixels(PICTURES[name](None))
    with pyplot.style.context(style_of_user):
        assert np.array_equal(pixels(PICTURES[name](None)), expected)


def test_figures_are_not_kept_alive():
    from matplotlib import pyplot

    pyplot.close("all")
    kept = [weakref.ref(PICTURES[name](None).figure) for name in PICTURES]
    gc.collect()
    assert [ref for ref in kept if ref() is not None] == [kept[-1]]  # pyplot's current figure
    pyplot.close("all")
    gc.collect()
    assert kept[-1]() is None


def test_a_pipeline_is_drawn_like_its_consensus():
    X = np.random.default_rng(0).normal(size=(40, 3)) + 6 * np.repeat([[0], [1]], 20, axis=0)
    model = ConsensusClustering("eac", n_clusters=2, random_state=0).fit(X)
    consensus, ensemble = model.consensus_, model.ensemble_
    sure = object_confidence(consensus, ensemble).confidence
    wrong = 1 - np.roll(model.labels_, 7)
    for of_model, of_consensus, of_others in (
        (P.dendrogram(model), P.dendrogram(consensus), P.dendrogram(EAC(3).fit(ensemble))),
        (P.partition_map(model), P.partition_map(ensemble), P.partition_map(members()[1])),
        (
            P.silhouette_bars(model),
            P.silhouette_bars(consensus.labels_, ensemble),
            P.silhouette_bars(wrong, ensemble),
        ),
        (
            P.embedding(X, model),
            P.embedding(X, consensus.labels_, sure),
            P.embedding(X, wrong, sure),
        ),
    ):
        np.testing.assert_array_equal(pixels(of_model), pixels(of_consensus))
        assert (pixels(of_model) != pixels(of_others)).any()


def test_user_names_are_not_parsed_as_formulas():
    z, ensemble = members(n=30, K=3)
    names = np.array(["$x$", "a_$y$b", r"$\frac{1$"])[z % 3]
    ax = P.coassociation_heatmap(ensemble, labels={r"$\nonsense{$": names})
    painted(ax)  # an invalid formula would raise an error
    curve = P.criterion_curve({2: 1.0, 3: 2.0}, r"$\alpha{$")
    painted(curve)
    assert not curve.title.get_parse_math()
    shown = [text for text in ax.figure.findobj(matplotlib.text.Text) if "$" in text.get_text()]
    assert len(shown) > 3
    assert not any(text.get_parse_math() for text in shown)


def test_shortened_names_stay_different():
    names = [f"segment of the market, number {k}" for k in range(3)]
    assert shortened(names, 18) == [f"segment … number {k}" for k in range(3)]
    assert shortened(["premium customers abroad", "basic"], 18) == ["premium customers…", "basic"]
    middle = [f"regulatory T cells {sign} of the blood (CD127)" for sign in ("FOXP3+", "FOXP3-")]
    assert len(set(shortened(middle, 18))) == 2
    assert max(map(len, shortened([*middle, "basic"], 18))) <= 18
    assert shortened(["the same long name for both"] * 2, 18) == ["the same long nam…"] * 2


def test_labels_of_adjacent_numbers_of_clusters_do_not_touch():
    numbers = [2, 3, 4, 5, 6, 9, 11, 14, 15, 16, 25]
    ax = P.criterion_curve({K: 0.1 * K for K in numbers}, "support")
    renderer = painted(ax)
    boxes = [label.get_window_extent(renderer) for label in ax.get_xticklabels()]
    assert len(boxes) > 5
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_points_of_a_pipeline_are_drawn_in_the_scale_of_its_members():
    X = np.random.default_rng(0).normal(size=(60, 3)) + 9 * np.eye(3)[np.arange(60) % 3]
    model = ConsensusClustering(random_state=0).fit(X * [1.0, 1e4, 1.0])
    assert model.generator_.scale_ == "standard"
    actual = embedding_of(X * [1.0, 1e4, 1.0], model)
    expected = embedding_of(model.generator_.scaler_.transform(X * [1.0, 1e4, 1.0]), model.labels_)
    np.testing.assert_allclose(actual.places, expected.places, atol=1e-9)
    other = np.random.default_rng(1).normal(size=(60, 2))
    np.testing.assert_array_equal(embedding_of(other, model).places, other)
