"""Methods that choose their number, on partitions that all have the same number of clusters."""

import warnings

import numpy as np
import pytest

import conclust as cc
from conclust.exceptions import EnsembleWarning
from conclust.trees.agglomeration import common_number

N = 120


def moved(K, share, seed, n_partitions=15):
    """Return partitions into K planted clusters, in which a share of the objects is in a cluster at random."""
    rng = np.random.default_rng([seed, K])
    planted = np.arange(N) % K
    labels = np.repeat(planted[:, None], n_partitions, axis=1)
    wrong = rng.random(labels.shape) < share
    labels[wrong] = rng.integers(0, K, wrong.sum())
    labels[:K] = np.arange(K)[:, None]  # every cluster has an object
    return labels


def answers_of_three_classes(n=230, n_items=12, n_levels=5):
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(n_levels, 0.6), size=(n_items, 3))
    kind = np.arange(n) % 3
    return np.array([[rng.choice(n_levels, p=item[k]) for item in chances] for k in kind])


def test_the_common_number_requires_equal_numbers_of_clusters():
    labels = moved(4, 0.1, 0, n_partitions=3)
    assert common_number(cc.Ensemble(labels)) == 4
    assert common_number(cc.Ensemble(labels[:, :2])) is None
    other = np.column_stack([labels, np.arange(N) % 7])
    assert common_number(cc.Ensemble(other)) is None
    assert common_number(cc.Ensemble(other, weights=[1, 1, 1, 0])) == 4
    assert common_number(cc.Ensemble(np.zeros((5, 3), dtype=int))) is None


# All that choose their number by lifetime, in the order of their names.
BY_LIFETIME = {
    "EAC": cc.EAC(),
    "EAC, single": cc.EAC(linkage="single"),
    "EAC, ward": cc.EAC(linkage="ward"),
    "EAC, pairs": cc.EAC(pairs=20, random_state=0),
    "ECCMS": cc.ECCMS(),
    "ECPCS": cc.ECPCS(consensus="hierarchical"),
    "LCE": cc.LCE(similarity="srs", consensus="hierarchical"),
    "LWEA": cc.LWEA(),
    "LWEA, normalized": cc.LWEA(normalized=True),
    "MDEC": cc.MDEC(),
    "MultiEAC": cc.MultiEAC(),
    "PTA": cc.PTA(),
    "PTA, single": cc.PTA(linkage="single"),
    "WEAC": cc.WEAC(),
    "WeightedEAC": cc.WeightedEAC(),
}


def test_all_methods_with_lifetimes_are_tested():
    methods = {method.estimator for method in cc.methods()}
    documented = {name for name in methods if "lifetimes_ :" in (getattr(cc, name).__doc__ or "")}
    assert documented == {name.split(",")[0] for name in BY_LIFETIME}


@pytest.mark.parametrize("name", BY_LIFETIME)
def test_a_number_by_lifetime_is_no_larger_than_that_of_the_partitions(name):
    K = 3
    labels = np.random.default_rng(0).integers(0, K, (N, 27))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = BY_LIFETIME[name].fit(labels)
    lives = model.lifetimes_
    # The longest lifetime among 2 and 3 clusters; the message mentions if it is not the longest of all.
    assert model.n_clusters_ == 2 + int(np.argmax(lives[: K - 1] >= lives[: K - 1].max() - 1e-9))
    (warning,) = [w for w in caught if issubclass(w.category, EnsembleWarning)]
    assert warning.filename == __file__
    assert str(warning.message) == (
        f"All partitions have {K} clusters, so they cannot show more: the longest lifetime is that of "
        f"{2 + int(np.argmax(lives))} clusters, and {name.split(',')[0]} takes the longest of at most {K}. Pass "
        f"n_clusters={K} to choose their number."
    )


@pytest.mark.parametrize("seed", range(3))
def test_lwea_by_lifetime_finds_as_many_clusters_as_agree(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cc.LWEA().fit(moved(4, 0.05, seed)).n_clusters_ == 4


def test_constraints_may_require_more_clusters_than_a_partition_has():
    labels = np.random.default_rng(0).integers(0, 3, (N, 27))
    apart = [(i, j) for i in range(5) for j in range(i)]
    for method in (cc.EAC(), cc.LWEA()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert method.fit(labels, cannot_link=apart).n_clusters_ == 5
        with pytest.warns(EnsembleWarning, match="All partitions have 3 clusters"):
            assert method.fit(labels, cannot_link=apart[:1]).n_clusters_ <= 3


def test_a_number_above_the_distinct_objects_is_not_claimed():
    labels = np.repeat([[0, 0], [0, 1], [1, 1]], 4, axis=0)
    model = cc.AutoConsensus(7).fit(labels)
    assert model.n_clusters_ == 3
    assert model.reason_.startswith("3 clusters: 7 were requested, but only 3 have objects.")
    assert "asked for" not in cc.AutoConsensus(3).fit(labels).reason_
