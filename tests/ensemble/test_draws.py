"""Draws of a partition in the forms of sampling programs."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from conclust import Ensemble
from conclust.exceptions import InputError, OrientationWarning, ParameterError


class Named:
    """An array with named dimensions, as in xarray."""

    def __init__(self, values, dims):
        self.values, self.dims = values, dims

    def transpose(self, *order):
        return Named(self.values.transpose([self.dims.index(name) for name in order]), order)


RNG = np.random.default_rng(0)
CHAINS = RNG.integers(-3, 4, (2, 10, 6)) ** 2  # chains x draws x objects; labels 0, 1, 4, 9


def labels_of(rows):
    return Ensemble(np.asarray(rows).T).labels


def test_rows_are_draws():
    assert np.array_equal(Ensemble.from_draws(CHAINS[0]).labels, labels_of(CHAINS[0]))
    listed = [list(row) for row in CHAINS[0]]
    assert np.array_equal(Ensemble.from_draws(listed).labels, labels_of(CHAINS[0]))
    assert Ensemble.from_draws(CHAINS).shape == (6, 20)
    assert np.array_equal(Ensemble.from_draws(CHAINS).labels, labels_of(CHAINS.reshape(20, 6)))


def test_burn_in_and_thinning_apply_to_each_chain():
    actual = Ensemble.from_draws(CHAINS, burn=3, thin=2, weights=np.arange(1.0, 21.0))
    assert np.array_equal(actual.labels, labels_of(CHAINS[:, 3::2].reshape(8, 6)))
    assert actual.weights.tolist() == [4, 6, 8, 10, 14, 16, 18, 20]


def test_missing_labels_and_noise_have_their_usual_codes():
    draws = [[0, 0, -1], [1, -2, 1]]
    assert Ensemble.from_draws(draws).labels.tolist() == [[0, 0], [0, -2], [-1, 0]]
    assert Ensemble.from_draws(draws, missing="noise").labels[2, 0] == -2


def test_masked_labels_are_missing():
    rng = np.random.default_rng(1)
    masks = rng.random(CHAINS.shape) < 0.2
    masked = np.ma.masked_array(CHAINS, masks)
    for draws, mask in ((CHAINS, masks), (CHAINS[0], masks[0])):
        wanted = Ensemble.from_draws(np.where(mask, np.nan, draws))
        actual = Ensemble.from_draws(np.ma.masked_array(draws, mask), missing="noise")
        assert np.array_equal(actual.labels, wanted.labels)
    thinned = Ensemble.from_draws(masked, burn=2, thin=3)
    assert np.array_equal(thinned.present, ~masks[:, 2::3].reshape(-1, 6).T)


def test_more_chains_than_draws_give_a_hint():
    turned = CHAINS.transpose(1, 0, 2)
    with pytest.warns(OrientationWarning, match="10 chains of 2 draws of 6 objects") as caught:
        assert Ensemble.from_draws(turned).shape == (6, 20)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ensemble.from_draws(CHAINS)
        Ensemble.from_draws(Named(turned, ("chain", "draw", "object")))
        Ensemble.from_draws(CHAINS[:, :1])


def test_named_dimensions_are_recognised():
    turned = Named(CHAINS.transpose(2, 1, 0), ("object", "draw", "chain"))
    assert np.array_equal(Ensemble.from_draws(turned).labels, Ensemble.from_draws(CHAINS).labels)
    one = Named(CHAINS[0].T, ("object", "draw"))
    assert np.array_equal(Ensemble.from_draws(one).labels, labels_of(CHAINS[0]))


def test_the_posterior_of_an_arviz_object_is_read():
    means = Named(RNG.normal(size=(2, 10, 6)), ("chain", "draw", "object"))
    z = Named(CHAINS, ("chain", "draw", "object"))
    posterior = SimpleNamespace(data_vars={"mu": means, "z": z})
    idata = SimpleNamespace(posterior=posterior)
    wanted = Ensemble.from_draws(CHAINS).labels
    assert np.array_equal(Ensemble.from_draws(idata).labels, wanted)
    assert np.array_equal(Ensemble.from_draws(posterior, variable="z").labels, wanted)
    with pytest.raises(ParameterError, match=r"one of \{.mu., .z.\}"):
        Ensemble.from_draws(idata, variable="y")
    with pytest.raises(InputError, match="not clear which variable"):
        Ensemble.from_draws({"a": CHAINS, "b": CHAINS})


@pytest.mark.parametrize(
    ("draws", "options", "message"),
    [
        ([0, 1, 0], {}, "n_draws, n_samples"),
        ([[0, 1], [0]], {}, "of the same objects"),
        (CHAINS, {"burn": 10}, "range \\[0, 9\\]"),
        (CHAINS, {"thin": 0}, "'thin' parameter of from_draws"),
        (CHAINS, {"weights": np.ones(8)}, "before burn and thin: 20"),
        (CHAINS, {"weights": [[1.0], [1.0, 2.0]]}, "'weights' must form an array"),
        (np.empty((0, 5), int), {}, r"Got one of shape \(0, 5\)"),
        ("draws.npy", {}, "Got 'draws.npy'"),
        (CHAINS, {"variable": "z"}, "None for draws that are one array"),
        (Named(np.zeros((2, 3, 4), int), ("draw", "a", "b")), {}, "one dimension of objects"),
    ],
)
def test_unreadable_draws_are_refused(draws, options, message):
    with pytest.raises((InputError, ParameterError), match=message):
        Ensemble.from_draws(draws, **options)
