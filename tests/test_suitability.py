"""The warning of an ensemble that does not suit PCC, WeightedPCC and Voting, and whose line it is."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from tests.cases import E1, E2, planted

from conclust import EAC, LWEA, PCC, Ensemble, EnsembleGenerator, Voting, WeightedPCC, weighting
from conclust.consensus.suitability import misfit
from conclust.exceptions import EnsembleWarning
from conclust.metrics import adjusted_rand_index

METHODS = (PCC, WeightedPCC, Voting)


def blobs(k, sizes, seed=0):
    """Partitions of well-separated blobs by k-means with numbers of clusters from a range."""
    X, truth = make_blobs(300, centers=k, n_features=10, center_box=(-10, 10), random_state=seed)
    generator = EnsembleGenerator(n_partitions=40, n_clusters=sizes, random_state=seed)
    return generator.fit_transform(X), truth


def test_the_default_generator_and_six_blobs():
    labels, truth = blobs(6, range(2, 11))
    for method in METHODS:
        with pytest.warns(EnsembleWarning, match="have only 2 to 4 clusters where others have 6"):
            found = method(6, random_state=0).fit(labels).labels_
        # PCC does merge two of them, whatever the start; the others may be lucky.
        assert method is not PCC or adjusted_rand_index(truth, found) < 0.95
    for named in (EAC(6), LWEA(6)):
        assert adjusted_rand_index(truth, named.fit(labels).labels_) == 1.0


def test_some_partitions_with_fewer_clusters():
    with pytest.warns(EnsembleWarning, match="have only 2 clusters where others have 5 and more"):
        PCC(5, random_state=0).fit(blobs(5, [2, 5])[0])


def test_partitions_with_far_more_clusters():
    labels, _ = blobs(4, range(12, 20))
    with pytest.warns(EnsembleWarning, match=r"far more than the 4 .*coarsen\(ensemble, 4\)"):
        Voting(4, random_state=0).fit(labels)
    Voting(4, random_state=0).fit(weighting.coarsen(labels, 4))


def test_degenerate_partitions():
    labels, truth = planted(n=80, m=8, k=4)
    lump = np.zeros((80, 3), dtype=np.int64)
    lump[[0, 1, 2], [0, 1, 2]] = 1
    mixed = np.hstack([labels, lump])
    message = "3 of 11 partitions have more than 90% of their objects in one cluster, which makes"
    for n_clusters in (4, None):
        with pytest.warns(EnsembleWarning, match=f"{message} WeightedPCC merge"):
            WeightedPCC(n_clusters, random_state=0).fit(mixed)
    good = ~weighting.degenerate_partitions(mixed)
    found = PCC(4, random_state=0).fit(Ensemble(mixed).subset(partitions=good))
    assert adjusted_rand_index(truth, found.labels_) > 0.95


@pytest.mark.parametrize("sizes", [[6], range(5, 8), range(6, 13)])
def test_suited_ensembles_bring_no_warning(sizes):
    labels, _ = blobs(6, sizes)
    assert misfit(Ensemble(labels), 6) == ""


def test_small_unanimous_and_bounded_ones_bring_none():
    truth = np.arange(12) % 3
    for labels, k in ((E1, 2), (E2, 2), (E2, 5), (np.tile(truth[:, None], 4), 10)):
        assert misfit(Ensemble(labels), k) == ""
    # Without a number nothing is said of partitions of all sizes.
    assert misfit(Ensemble(blobs(6, range(2, 11))[0]), None) == ""


def test_partitions_count_by_their_weights():
    labels, _ = blobs(5, [2, 5])
    ensemble = Ensemble(labels)
    heavy = np.where(ensemble.cluster_counts == 2, 0.1, 1.0)
    assert misfit(ensemble.reweighted(heavy), 5) == ""
    assert misfit(ensemble, 5) != ""


def test_it_points_at_the_users_line():
    labels, _ = blobs(5, [2, 5])
    model = Voting(5, random_state=0)
    for fit in (model.fit, model.fit_predict, make_pipeline(model).fit):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fit(labels)
        assert [one.filename for one in heard if one.category is EnsembleWarning] == [__file__]
