"""B'B in blocks, and methods that avoid it, against the complete matrix."""

import os
import subprocess
import sys

import numpy as np
import pytest

import conclust
from conclust import Ensemble
from conclust.consensus.linkage import cluster_stability
from conclust.consensus.literature import fuzzy_rows
from conclust.consensus.papers.matrix import left_stochastic
from conclust.ensemble import derived as _gram
from conclust.exceptions import DenseLimitError
from conclust.measures.agreement import partition_similarities
from conclust.similarity import cluster_certainty, cluster_jaccard
from conclust.spectra import gram
from conclust.spectra import transfer_cut as spectral

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], [12, 10, 18])
HARD = np.where(RNG.random((40, 15)) < 0.75, TRUTH[:, None], RNG.integers(0, 4, (40, 15)))
HOLES = np.where(
    RNG.random(HARD.shape) < 0.15, -1, np.where(RNG.random(HARD.shape) < 0.1, -2, HARD)
)


def ensembles():
    rng = np.random.default_rng(1)
    soft = [rng.dirichlet(np.ones(k) * 0.3, 40) for k in (3, 4, 2, 5)]
    for P in soft:  # a member correlated with the truth, so that there is structure to find
        P[:, :2] += np.eye(3)[TRUTH][:, :2] * 2
        P /= P.sum(axis=1, keepdims=True)
    return {
        "hard": Ensemble(HARD),
        "holes": Ensemble(HOLES, weights=np.arange(1, 16)),
        "soft": Ensemble.from_memberships(soft),
    }


@pytest.fixture(params=["hard", "holes", "soft"])
def ensemble(request):
    return ensembles()[request.param]


@pytest.fixture
def small(monkeypatch):
    """Treat everything as too large to be stored from here on."""

    def hold_nothing():
        monkeypatch.setattr(gram, "_ENTRIES", 100)
        monkeypatch.setattr(gram, "_BLOCK", 300)
        monkeypatch.setattr(spectral, "_HELD", 8)
        monkeypatch.setattr(fuzzy_rows, "_CELLS", 300)
        monkeypatch.setattr(left_stochastic, "_DENSE", 8)
        monkeypatch.setattr(conclust.measures.agreement, "_CELLS", 60)

    return hold_nothing


def test_blocks_are_the_rows_of_the_gram(ensemble, monkeypatch):
    whole = ensemble.indicator.toarray().T @ ensemble.indicator.toarray()
    np.testing.assert_allclose(ensemble.gram.toarray(), whole, rtol=1e-12)
    rng = np.random.default_rng(2)
    mass = rng.random(40)
    for entries in (1 << 24, 100, 1):
        monkeypatch.setattr(gram, "_ENTRIES", entries)
        monkeypatch.setattr(gram, "_BLOCK", entries)
        blocks = list(gram.gram_blocks(ensemble))
        assert gram.is_held(ensemble) == (len(blocks) == 1) == (entries > 100)
        np.testing.assert_allclose(
            np.vstack([block.gram.toarray() for block in blocks]), whole, rtol=1e-12
        )
        ends = [(block.partitions.start, block.partitions.stop) for block in blocks]
        assert [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])]
        assert ends[-1][1] == ensemble.n_partitions
        for block in blocks:
            assert block.rows.start == ensemble.offsets[block.partitions.start]
            assert block.rows.stop == ensemble.offsets[block.partitions.stop]
        weighted = np.vstack([b.gram.toarray() for b in gram.gram_blocks(ensemble, mass)])
        B = ensemble.indicator.toarray()
        np.testing.assert_allclose(weighted, B.T @ (mass[:, None] * B), rtol=1e-12)
        scale = rng.random(len(whole))
        np.testing.assert_allclose(
            gram.scaled_gram_norm(ensemble, scale),
            ((scale[:, None] * whole * scale) ** 2).sum(),
            rtol=1e-12,
        )


def test_the_counted_gram_equals_the_product():
    e = Ensemble(np.random.default_rng(1).integers(0, 40, (300, 20)))  # 800 clusters, many disjoint
    product = (e.indicator.T @ e.indicator).tocsr()
    product.sort_indices()
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(e.gram, part), getattr(product, part))


MEASURES = {
    "nmi": lambda e: partition_similarities(e, measure="nmi"),
    "ari": lambda e: partition_similarities(e, measure="ari"),
    "stability": cluster_stability,
    "certainty": cluster_certainty,
    "jaccard": lambda e: cluster_jaccard(e).toarray(),
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_do_not_need_the_full_gram(name, ensemble, small):
    if ensemble.is_soft and name in ("nmi", "ari"):
        pytest.skip("compares hard partitions")
    expected = MEASURES[name](ensemble)
    small()
    np.testing.assert_allclose(MEASURES[name](ensemble), expected, rtol=1e-12, atol=1e-14)


METHODS = [
    ("Voting", {}),
    ("PositionalVoting", {}),
    ("CumulativeVoting", {}),
    ("FuzzyCommunities", {}),
    ("FuzzyRows", {}),
    ("FuzzyRows", {"kind": "cmedoids"}),
    ("LeftStochastic", {}),
    ("HGPA", {}),
    ("HBGF", {}),
    ("MCLA", {}),
    ("MultiEAC", {}),
    ("WeightedEAC", {}),
    ("KernelWeightedPartition", {}),
    ("WeightedNMF", {}),
]


@pytest.mark.filterwarnings("ignore")  # iterations that end early
@pytest.mark.parametrize(("name", "parameters"), METHODS)
def test_methods_do_not_need_the_full_gram(name, parameters, ensemble, small):
    cls = getattr(conclust, name)
    if "n_clusters" in cls().get_params():
        parameters = {"n_clusters": 3, **parameters}
    if "random_state" in cls().get_params():
        parameters = {"random_state": 0, **parameters}
    try:
        expected = cls(**parameters).fit(ensemble)
    except conclust.exceptions.UnsupportedEnsembleError:
        pytest.skip("takes no such ensemble")
    small()
    model = cls(**parameters).fit(ensemble)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    for attribute in ("membership_", "objective_", "residual_"):
        if getattr(expected, attribute, None) is not None:
            np.testing.assert_allclose(
                getattr(model, attribute), getattr(expected, attribute), rtol=1e-6, atol=1e-7
            )


def test_left_stochastic_takes_few_objects_and_many_clusters(monkeypatch):
    """As many clusters requested as objects, and far more in the partitions."""
    labels = Ensemble(np.random.default_rng(0).integers(0, 3, (4, 30)))
    expected = conclust.LeftStochastic(3, random_state=0).fit(labels)
    monkeypatch.setattr(left_stochastic, "_DENSE", 8)
    model = conclust.LeftStochastic(3, random_state=0).fit(labels)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.residual_, expected.residual_, atol=1e-8)


def test_oversized_requests_are_refused_with_their_size(monkeypatch):
    e = Ensemble(HARD)
    monkeypatch.setattr(_gram, "_MOST", 1000)
    with pytest.raises(
        DenseLimitError, match=r"Gram matrix .* entries \(0\.0 GiB\).*At most 1,000"
    ):
        e.gram  # noqa: B018
    with pytest.raises(DenseLimitError, match=r"Jaccard similarities of all clusters .*HBGF"):
        conclust.MCLA(3, random_state=0).fit(e)


def test_the_estimated_number_of_entries_is_never_too_low(ensemble):
    assert ensemble.gram.nnz <= ensemble.gram_entries <= int(ensemble.offsets[-1]) ** 2
    apart = Ensemble(np.arange(500)[:, None] % [500, 499, 250])
    assert apart.gram.nnz <= apart.gram_entries == 500 * 9


_PEAK = """
import resource, warnings
import numpy as np
import conclust
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
L = np.where(rng.random((100, 2000)) < 0.7, np.arange(100)[:, None] % 3, rng.integers(0, 3, (100, 2000)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for cls in (conclust.Voting, conclust.KernelWeightedPartition, conclust.HGPA):
    cls(3, random_state=0).fit(L)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="ru_maxrss is in kilobytes on Linux"
)
def test_many_partitions_need_little_memory():
    """2,000 partitions of 100 objects are 6,000 clusters: all of B'B was 1 to 2 GB."""
    done = subprocess.run(
        [sys.executable, "-c", _PEAK],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    )
    assert int(done.stdout) < 700
