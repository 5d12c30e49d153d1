"""The warning about an ensemble that does not suit PCC, WeightedPCC and Voting, and its line."""

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from tests.cases import E1, E2, planted

import conclust as cc
from conclust.consensus.suitability import merged_groups, misfit
from conclust.exceptions import EnsembleWarning
from conclust.metrics import adjusted_rand_index, contingency

METHODS = (cc.PCC, cc.WeightedPCC, cc.Voting)


def blobs(k, sizes, seed=0):
    """Partitions of well-separated blobs by k-means with numbers of clusters from a range."""
    X, truth = make_blobs(300, centers=k, n_features=10, center_box=(-10, 10), random_state=seed)
    generator = cc.EnsembleGenerator(
        "kmeans", 40, n_clusters=sizes, init="random", random_state=seed
    )
    return generator.fit_transform(X), truth


def test_too_coarse_partitions_merge_blobs_with_a_warning():
    labels, truth = blobs(6, range(2, 11))
    message = "PCC returned 5 clusters, but the finer partitions separate 6 groups"
    with pytest.warns(EnsembleWarning, match=message):
        found_labels = cc.PCC(6, random_state=0).fit(labels).labels_
    assert adjusted_rand_index(truth, found_labels) < 0.95
    for named in (cc.EAC(6), cc.LWEA(6)):
        assert adjusted_rand_index(truth, named.fit(labels).labels_) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_some_coarse_partitions_give_a_warning(method):
    labels, truth = blobs(5, [2, 5, 6])
    with pytest.warns(EnsembleWarning, match=f"{method.__name__} returned .* clusters, but"):
        found_labels = method(5, random_state=0).fit(labels).labels_
    assert adjusted_rand_index(truth, found_labels) < 0.95


@pytest.mark.parametrize("method", METHODS)
def test_only_merged_clusters_warn(method):
    for sizes in (range(2, 6), range(2, 11), range(5, 11)):
        labels, truth = blobs(5, sizes, 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = method(5, random_state=0).fit(labels)
        messages = any("but the finer partitions" in str(one.message) for one in caught)
        table = contingency(truth, model.labels_).table
        merged = ((table > 0.5 * table.sum(axis=1, keepdims=True)).sum(axis=0) > 1).any()
        # Where no partition has more clusters than there are blobs, partitions may err together.
        assert messages == merged or (merged and max(sizes) == 5)


def test_groups_match_the_simple_rule():
    labels, truth = blobs(6, range(2, 11))
    for consensus in (truth, np.minimum(truth, 4), truth // 2, np.zeros_like(truth)):
        counts = labels.max(axis=0) + 1
        finer = labels[:, counts > len(np.unique(consensus))]
        finer = finer[:, finer.max(axis=0) >= np.median(finer.max(axis=0))]
        together = (finer[:, None] == finer[None]).mean(axis=2) > 0.5
        number, group = connected_components(together)
        assert number == 6
        merged = sum(len(np.unique(group[consensus == k])) > 1 for k in np.unique(consensus))
        assert merged_groups(cc.Ensemble(labels), consensus, 6) == (6, merged)


def test_groups_are_found_in_missing_noise_and_soft_labels():
    labels, truth = blobs(4, range(4, 9))
    rng = np.random.default_rng(0)
    labels = labels.astype(int)
    labels[rng.random(labels.shape) < 0.2] = -1
    labels[rng.random(labels.shape) < 0.02] = -2
    labels[:3] = -1
    ensemble = cc.Ensemble(labels).observed_only()
    assert merged_groups(ensemble, np.minimum(truth[3:], 2), 4) == (4, 1)
    soft = cc.Ensemble.from_memberships([np.eye(4)[truth]] * 3)
    assert merged_groups(soft, np.minimum(truth, 2), 4) == (0, 0)


def test_many_objects_are_sampled(monkeypatch):
    labels, truth = blobs(4, range(4, 9))
    whole = merged_groups(cc.Ensemble(labels), np.minimum(truth, 2), 4)
    monkeypatch.setattr("conclust.consensus.suitability._SAMPLE", 100)
    assert merged_groups(cc.Ensemble(labels), np.minimum(truth, 2), 4) == whole == (4, 1)


def test_partitions_with_far_too_many_clusters_warn():
    labels, _ = blobs(4, range(12, 20))
    with pytest.warns(EnsembleWarning, match=r"far more than the 4 .*coarsen\(ensemble, 4\)"):
        cc.Voting(4, random_state=0).fit(labels)
    cc.Voting(4, random_state=0).fit(cc.weighting.coarsen(labels, 4))
    # PCC minds only more of them.
    assert misfit(cc.Ensemble(labels), 4, least=20) == ""
    assert "far more than the 4" in misfit(cc.Ensemble(blobs(4, range(21, 25))[0]), 4, least=20)
    assert misfit(cc.Ensemble(labels), None) == ""


def test_a_single_degenerate_partition_is_singular():
    lump = np.zeros((80, 1), dtype=np.int64)
    lump[0] = 1
    labels = np.hstack([planted(n=80, m=4, k=4)[0], lump])
    assert "1 of 5 partitions has more than 90% of its objects" in misfit(cc.Ensemble(labels), 4)


def test_degenerate_partitions_give_a_warning():
    labels, truth = planted(n=80, m=8, k=4)
    lump = np.zeros((80, 3), dtype=np.int64)
    lump[[0, 1, 2], [0, 1, 2]] = 1
    mixed = np.hstack([labels, lump])
    message = "3 of 11 partitions have more than 90% of their objects in one cluster, which makes"
    for n_clusters in (4, None):
        with pytest.warns(EnsembleWarning, match=f"{message} WeightedPCC merge"):
            cc.WeightedPCC(n_clusters, random_state=0).fit(mixed)
        with pytest.warns(EnsembleWarning, match=f"{message} MultiEAC merge"):
            cc.MultiEAC(n_clusters).fit(mixed)
    good = ~cc.weighting.degenerate_partitions(mixed)
    model = cc.PCC(4, random_state=0).fit(cc.Ensemble(mixed).subset(partitions=good))
    assert adjusted_rand_index(truth, model.labels_) > 0.95


@pytest.mark.parametrize("sizes", [[6], range(5, 8), range(6, 13)])
def test_suitable_ensembles_give_no_warning(sizes):
    labels, _ = blobs(6, sizes)
    assert misfit(cc.Ensemble(labels), 6) == ""


def test_small_and_unanimous_ensembles_give_no_warning():
    truth = np.arange(12) % 3
    for labels, k in ((E1, 2), (E2, 2), (E2, 5), (np.tile(truth[:, None], 4), 10)):
        assert misfit(cc.Ensemble(labels), k) == ""


def test_requested_fewer_clusters_than_groups_do_not_warn():
    labels, _ = blobs(6, range(6, 11))
    cc.PCC(4, random_state=0).fit(labels)  # warnings are errors


def test_partitions_count_by_their_weights():
    labels, _ = blobs(4, range(12, 20))
    few = np.column_stack([labels, np.arange(300) % 4])
    ensemble = cc.Ensemble(few)
    assert misfit(ensemble, 4) != ""
    assert misfit(ensemble.reweighted([1e-9] * 40 + [1.0]), 4) == ""


def test_the_warning_points_at_the_line_of_the_user():
    labels, _ = blobs(5, [2, 5, 6])
    model = cc.Voting(5, random_state=0)
    for fit in (model.fit, model.fit_predict, make_pipeline(model).fit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(labels)
        lines = [one.filename for one in caught if one.category is EnsembleWarning]
        assert set(lines) == {__file__}
