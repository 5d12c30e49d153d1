"""The pictures of the tutorial on points: its wines, as its own lines cluster them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

import conclust as cc
from conclust import confidence, plotting
from conclust.selection import choose

__all__ = ["wine_choice", "wine_map", "wine_pairs"]


@cache
def _wines() -> tuple[np.ndarray, Any]:
    """Return the wines and the model of the tutorial."""
    X = load_wine().data
    generator = cc.EnsembleGenerator(scale="standard")
    return X, cc.ConsensusClustering(generator=generator, random_state=0).fit(X)


def wine_pairs() -> Figure:
    """How often two wines are together in the forty clusterings."""
    _, model = _wines()
    return _figure(
        plotting.coassociation_heatmap(model.ensemble_, labels={"cluster": model.labels_})
    )


def wine_choice() -> Figure:
    """The criterion of each number of clusters, beside that of clouds without groups."""
    X, _ = _wines()
    found = choose(X, k=range(2, 7), scale="standard", n_references=39, random_state=0)
    return _figure(plotting.criterion_curve(found, "rcsi"))


def wine_map() -> Figure:
    """The wines in two dimensions, the uncertain ones pale."""
    X, model = _wines()
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    sure = confidence.object_confidence(model)
    return _figure(plotting.embedding(standardised, model.labels_, sure.confidence))


def _figure(ax: Any) -> Figure:
    figure: Figure = ax.figure
    return figure
