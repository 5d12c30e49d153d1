"""How many objects a border needs, against brute force."""

import numpy as np
import pytest
from scipy.stats import expon, gamma, laplace, norm, t, uniform
from sklearn.cluster import KMeans

from conclust.confidence import border_tests, dip, power
from conclust.confidence.borders.parts import BINS
from conclust.confidence.borders.power import growth, two_normals
from conclust.exceptions import InputError, ParameterError


def two(rng, n, distance=4.0):
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + distance * y[:, None] * [1, 0], y


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_effects_are_those_that_the_deviates_were_drawn_with(seed):
    rng = np.random.default_rng(seed)
    roots = np.sqrt(np.repeat([50, 100, 200, 400, 800], 40))
    effects = np.array([0.1, 0.2, 0.0])
    z = np.clip(rng.normal(roots[:, None] * effects - 1.3, 0.7), 0, norm.isf(1e-5))
    for usual, two in ((effects / 1.3, np.array([True, True, False])), (z[0], np.zeros(3, bool))):
        found, c = growth(z, roots, usual, two)
        np.testing.assert_allclose(found, effects, atol=0.02)
        assert c == pytest.approx(1.3, abs=0.25)


def test_two_normals_have_the_dip_of_their_law_and_fit_single_clusters_worse():
    laws = [norm(s, 0.3) for s in (0, 1)]
    level = (np.arange(20_000) + 0.5) / 20_000
    of_two = np.concatenate([laws[0].ppf(level), laws[1].ppf(level[::2])])
    ones = uniform(-0.5, 2), expon(-0.3, 0.6), laplace(0.4, 0.4), t(3, 0.5, 0.4), gamma(3, -0.5)
    places = [of_two, *(one.ppf(level) for one in ones)]
    shape = np.array([np.histogram(each, BINS)[0] / len(each) for each in places])
    dips, two = two_normals(shape)
    assert dips[0] == pytest.approx(dip(of_two), rel=0.02)
    assert two.tolist() == [True] + [False] * len(ones)


def test_the_border_holds_in_eighty_percent_of_fresh_samples_of_the_number_said():
    rng = np.random.default_rng(0)
    samples = [two(rng, 1600) for _ in range(3)]
    found = [power(y, X, n=100, random_state=0) for X, y in samples]

    def held(n):
        draws = [
            (X, KMeans(2, random_state=0).fit_predict(X))
            for X, _ in [two(rng, n) for _ in range(40)]
        ]
        return np.mean([border_tests(*draw, random_state=0).n_held() for draw in draws])

    needed = np.median([each.needed for each in found])
    assert held(int(needed / 2)) < 0.8 < held(int(needed * 2))
    assert np.mean([each.probability for each in found]) == pytest.approx(held(100), abs=0.2)


@pytest.mark.parametrize("draw", ["normal", "uniform", "laplace"])
def test_two_halves_of_one_cloud_do_not_show(draw):
    X = getattr(np.random.default_rng(1), draw)(size=(400, 2))
    found = power(np.where(X[:, 0] > np.median(X[:, 0]), "b", "a"), X, random_state=0)
    assert found.needed == np.inf
    assert found.probability < 1e-3
    assert "look like one cluster" in found.told()


def test_a_model_clusters_the_parts_and_results_do_not_depend_on_threads():
    X, _ = two(np.random.default_rng(2), 300, 6.0)
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    found = power(model, X, random_state=0, n_jobs=2)
    assert found.to_frame().equals(power(model, X, random_state=0, n_jobs=1).to_frame())
    assert found.to_frame().columns.tolist() == ["first", "second", "needed", "probability"]
    assert found.told().endswith("objects (you have 300).")
    assert "no border" in power(np.zeros(300), X).told()
    with pytest.raises(ParameterError, match="'n' parameter of power"):
        power(model, X, n=0)
    with pytest.raises(InputError, match="299"):
        power(model, X[:299])
