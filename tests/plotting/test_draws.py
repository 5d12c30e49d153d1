"""Plots of draws: blocks of an estimate, a ball with its bounds, expected loss over K."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import planted

from conclust import BayesEstimate, Ensemble
from conclust import plotting as P
from conclust.confidence import credible_ball
from conclust.exceptions import InputError
from conclust.metrics import expected_loss


@pytest.fixture(scope="module")
def draws():
    return Ensemble(planted(0, 60, 20, 3, flip=0.2)[0])


def test_blocks_are_the_clusters(draws):
    labels = np.repeat([0, 1, -1], [30, 20, 10])
    ax = P.similarity_blocks(draws, labels)
    assert [(box.get_x(), box.get_width()) for box in ax.patches] == [(0, 30), (30, 20)]
    with pytest.raises(InputError, match="needs the labels"):
        P.similarity_blocks(draws, None)


def test_a_ball_is_drawn_with_its_bounds(draws):
    ball = credible_ball(draws, BayesEstimate(random_state=0).fit(draws).labels_)
    ax = P.ball_columns(ball)
    assert len(ax.images) == 4
    # The estimate's own column is in blocks: one colour for each cluster, each once.
    column = np.asarray(ax.images[0].get_array())[:, 0]
    changes = np.count_nonzero((np.diff(column, axis=0) != 0).any(axis=1))
    assert changes == ball.labels.max()
    assert f"{ball.radius:.3g}" in ax.get_title()


def test_losses_fall_with_more_clusters(draws):
    curve = P.expected_loss_of(draws, [1, 2, 3, 8], loss="binder")
    assert (np.diff(curve.losses) <= 0).all()
    assert (curve.n_clusters <= curve.k).all()
    alone = expected_loss(draws, np.zeros(60, dtype=int), loss="binder")
    assert curve.losses[0] == pytest.approx(alone)
    free = BayesEstimate(loss="binder", random_state=0, n_init=8).fit(draws)
    assert curve.losses[-1] == pytest.approx(free.expected_loss_)
    ax = P.expected_loss_curve(curve)
    assert ax.get_ylabel() == "expected loss, BINDER"
    with pytest.raises(InputError, match="needs a number"):
        P.expected_loss_of(draws, [])
