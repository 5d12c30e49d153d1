"""Figures saved with one drawing have the layout of matplotlib's own way."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest
from matplotlib.figure import Figure

from conclust import plotting
from conclust.plotting.canvas.figures import apart_from_pyplot, save


def pictures():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (40, 6))
    yield plotting.coassociation_heatmap(labels, labels={"cluster": labels[:, 0]})
    yield plotting.membership_bars(rng.dirichlet(np.ones(3), 20))


@pytest.mark.parametrize("which", [0, 1])
def test_saved_figures_have_the_layout_of_savefig(which):
    places = []
    for saved in (lambda figure, to: figure.savefig(to, format="svg"), partial(save, form="svg")):
        with apart_from_pyplot({"axes.titley": 1.0}):
            figure = list(pictures())[which].figure
            for _ in range(2):  # also after it has been saved once
                saved(figure, io.BytesIO())
                places.append(np.array([ax.get_position().bounds for ax in figure.axes]))
        assert not any("get_tightbbox" in vars(ax) for ax in figure.axes)
    np.testing.assert_allclose(places[2:], places[:2], atol=0.01)


def test_figures_without_a_layout_are_saved():
    figure = Figure()
    figure.subplots().plot([1, 2])
    content = io.BytesIO()
    save(figure, content, "png")
    assert content.getvalue().startswith(b"\x89PNG")
    assert "draw" not in vars(figure)
