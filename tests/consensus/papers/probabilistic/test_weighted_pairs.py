"""WeightedPCC on a pattern of pairs: distances, limits, requirements on the pattern."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score
from tests.consensus.papers.probabilistic.test_weighted import ensembles, noisy, with_missing
from tests.naive import weighted as naive

from conclust import Ensemble, WeightedPCC
from conclust.consensus.pairs import read_pairs
from conclust.consensus.papers.probabilistic.distances import PairPattern
from conclust.evidence import SparseEvidence, sample_pairs
from conclust.exceptions import ParameterError

BOTH = pytest.mark.parametrize("regularization", ["simplex", "l2"])


def every_pair(n):
    """Return the pattern of all pairs."""
    indptr = np.arange(n + 1) * (n - 1)
    indices = np.concatenate([np.delete(np.arange(n), i) for i in range(n)]).astype(np.int32)
    counts = np.ones(len(indices), dtype=np.uint32)
    return SparseEvidence(indptr, indices, counts, counts)


def mask_of(pattern):
    return pattern.to_scipy().astype(bool).toarray() | (
        csr_array((np.ones(len(pattern.indices)), pattern.indices, pattern.indptr)).toarray() > 0
    )


@pytest.mark.parametrize("case", ensembles())
def test_distances_match_their_definition(case):
    labels = ensembles()[case]
    pattern = sample_pairs(labels, 4, random_state=0)
    Y = np.random.default_rng(0).dirichlet(np.full(5, 0.3), size=len(labels))
    actual = PairPattern(Ensemble(labels), pattern, 1).distances(Y)
    expected = naive.distances(labels, Y, mask_of(pattern))
    np.testing.assert_allclose(actual, expected, rtol=1e-11)


def test_distances_of_soft_partitions_match_their_definition():
    rng = np.random.default_rng(0)
    soft = [rng.dirichlet(np.ones(k), size=40) for k in (2, 3, 4)]
    soft[1][:7] = 0
    ensemble = Ensemble.from_memberships(soft)
    Y = rng.dirichlet(np.ones(3), size=40)
    actual = PairPattern(ensemble, every_pair(40), 1).distances(Y)
    np.testing.assert_allclose(actual, [naive.soft_distance(P, Y) for P in soft], rtol=1e-11)


@BOTH
@pytest.mark.parametrize("missing", [False, True])
def test_the_full_pattern_gives_the_result_of_all_pairs(regularization, missing):
    labels, _ = noisy(n=60)
    if missing:
        labels = with_missing(labels, 0.2)
    make = {"regularization": regularization, "random_state": 0, "tol": 1e-10}
    whole = WeightedPCC(3, pairs=every_pair(60), **make).fit(labels)
    plain = WeightedPCC(3, **make).fit(labels)
    assert whole.objective_ == pytest.approx(plain.objective_, rel=1e-5)
    np.testing.assert_allclose(whole.weights_, plain.weights_, atol=2e-3)


@BOTH
@pytest.mark.parametrize("missing", [False, True])
def test_the_objective_never_rises_and_matches_its_definition(regularization, missing):
    labels, truth = noisy(1, n=120)
    if missing:
        labels = with_missing(labels)
    pattern = sample_pairs(labels, 15, random_state=0)
    model = WeightedPCC(
        3, regularization=regularization, pairs=pattern, random_state=0, tol=1e-9
    ).fit(labels)
    steps = model.trace_
    assert (np.diff(steps) <= 1e-9 * steps[0]).all()
    d = naive.distances(labels, model.membership_, mask_of(pattern))
    np.testing.assert_allclose(model.distances_, d, rtol=1e-9)
    assert model.weights_[16:].sum() <= (0.01 if regularization == "simplex" else 0.05)
    assert adjusted_rand_score(model.labels_, truth) > 0.9
    assert (model.predict(labels) == model.labels_).mean() > 0.95


def test_objects_missing_everywhere_are_in_no_pair():
    labels, _ = noisy(n=60)
    labels[[3, 30]] = -1
    pattern = sample_pairs(labels, 12, random_state=0)
    with pytest.warns(match="2 objects are missing in every partition"):
        model = WeightedPCC(3, pairs=pattern, random_state=0).fit(labels)
    assert np.flatnonzero(model.labels_ == -1).tolist() == [3, 30]
    np.testing.assert_allclose(
        model.distances_[:3],
        naive.distances(
            np.delete(labels, [3, 30], axis=0),
            np.delete(model.membership_, [3, 30], axis=0),
            np.delete(np.delete(mask_of(pattern), [3, 30], 0), [3, 30], 1),
        )[:3],
        rtol=1e-9,
    )


@pytest.mark.parametrize("pairs", [0, -3, 2.5, 0.0, True, "all"])
def test_invalid_numbers_of_pairs_are_refused(pairs):
    with pytest.raises(ParameterError, match="'pairs' parameter of WeightedPCC must be an int"):
        WeightedPCC(3, pairs=pairs).fit(noisy(n=20)[0])


def test_a_share_of_the_pairs_is_their_number():
    ensemble = Ensemble(noisy(n=101)[0])
    observed = np.ones(101, dtype=bool)
    for share, per_object in ((0.1, 5), (0.3, 15), (0.31, 16)):
        used = read_pairs(share, ensemble, observed, "PCC", random_state=0, n_jobs=1)
        drawn = sample_pairs(ensemble, per_object, random_state=0)
        assert used.n_pairs == drawn.n_pairs
        # An object may be drawn by one that it has drawn.
        assert 0.8 * share < used.n_pairs / (101 * 50) <= share + 0.01
