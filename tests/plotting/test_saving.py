"""Figures saved with one drawing have the bytes of matplotlib's own way."""

from __future__ import annotations

import io

import matplotlib
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


@pytest.mark.long
@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize("which", [0, 1])
def test_saved_figures_have_the_bytes_of_savefig(form, which):
    more = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[form]
    contents = []
    for saved in (
        lambda figure, to: figure.savefig(to, format=form, metadata=more),
        lambda figure, to: save(figure, to, form, metadata=more),
    ):
        with apart_from_pyplot(), matplotlib.rc_context({"svg.hashsalt": "conclust"}):
            figure = list(pictures())[which].figure
            for _ in range(2):  # also after it has been saved once
                content = io.BytesIO()
                saved(figure, content)
                contents.append(content.getvalue())
    assert contents[0] == contents[2]
    assert contents[1] == contents[3]


def test_figures_without_a_layout_are_saved():
    figure = Figure()
    figure.subplots().plot([1, 2])
    content = io.BytesIO()
    save(figure, content, "png")
    assert content.getvalue().startswith(b"\x89PNG")
    assert "draw" not in vars(figure)
