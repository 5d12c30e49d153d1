"""Confidence of objects, clusters and partitions, against the definitions and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_samples
from tests.naive import confidence as naive

from conclust import EAC, HBGF, PCC, ConsensusClustering, Ensemble, EnsembleGenerator, WeightedPCC
from conclust import confidence as confident
from conclust.confidence import (
    cluster_confidence,
    company,
    confidences,
    item_consensus,
    object_confidence,
    partition_confidence,
)
from conclust.confidence.objects import agreement_of, cluster_sums
from conclust.confidence.reading import read_consensus
from conclust.evidence import coassociation
from conclust.exceptions import InputError, ParameterError
from conclust.membership import cluster_similarity


def case(seed, *, n=14, m=6, K=3, missing=0.0, noise=0.0, weights=False):
    """Make labels of a consensus, and members that follow it with errors."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    L = np.where(rng.random((n, m)) < 0.4, rng.integers(0, K + 2, (n, m)), labels[:, None])
    L[rng.random((n, m)) < noise] = -2
    L[rng.random((n, m)) < missing] = -1
    L[0, :] = np.where((L == -1).all(axis=0), 0, L[0])
    given = rng.uniform(0.5, 3.0, m) if weights else None
    return labels, Ensemble(L, weights=given)


KINDS = [
    {},
    {"weights": True},
    {"noise": 0.2},
    {"missing": 0.3},
    {"missing": 0.5, "noise": 0.1, "weights": True},
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_measures_match_their_definitions(kind, seed):
    labels, ensemble = case(seed, **kind)
    items = naive.item_consensus(labels, ensemble)
    np.testing.assert_allclose(item_consensus(labels, ensemble), items, atol=1e-12)
    kept = naive.company(labels, ensemble)
    np.testing.assert_allclose(company(labels, ensemble), kept, atol=1e-12)
    with_singles = np.r_[labels[:-2], labels.max() + 1, labels.max() + 2]
    theirs = naive.company(with_singles, ensemble)
    np.testing.assert_allclose(company(with_singles, ensemble), theirs, atol=1e-12)
    # New objects with the labels of old ones have the same company.
    given = ensemble.labels[::-1].copy()
    for u, names in enumerate(ensemble.names):
        there = given[:, u] >= 0
        given[there, u] = np.array(names)[given[there, u]]
    repeated = company(labels, ensemble, new=given)
    # An object that is alone in a partition is company for new ones.
    with_alone = naive.company(labels, ensemble, alone=True)
    np.testing.assert_allclose(repeated, with_alone[::-1], atol=1e-12)
    by_majority = naive.agreement(labels, ensemble, "majority")
    np.testing.assert_allclose(object_confidence(labels, ensemble).agreement, by_majority)
    # Several one-to-one matchings may be best: the same number of objects agrees in all of them.
    observed_weight = ensemble.present @ naive.weights_of(ensemble)
    one, other = (
        np.nansum(observed_weight * shares)
        for shares in (
            agreement_of(read_consensus(labels, ensemble, ""), "one_to_one"),
            naive.agreement(labels, ensemble, "one_to_one"),
        )
    )
    assert one == pytest.approx(other)
    sure = cluster_confidence(labels, ensemble)
    np.testing.assert_allclose(sure.consensus, naive.cluster_consensus(labels, ensemble))
    np.testing.assert_allclose(sure.jaccard, naive.jaccard(labels, ensemble))
    np.testing.assert_array_equal(sure.sizes, np.bincount(labels))


def test_the_worked_example_of_four_objects():
    labels = [[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    sure = cluster_confidence([0, 0, 1, 1], labels)
    np.testing.assert_allclose(sure.consensus, [1, 2 / 3])
    np.testing.assert_allclose(sure.confidence, [8 / 9, 8 / 9])
    items = item_consensus([0, 0, 1, 1], labels)
    np.testing.assert_allclose(items, [[1, 1 / 6], [1, 1 / 6], [1 / 3, 2 / 3], [0, 2 / 3]])
    assert np.isnan(item_consensus([0, 0, 0, 1], labels)[3, 1])


def test_pairs_are_weighted_by_copresence_with_many_objects():
    labels, ensemble = case(3, n=30, missing=0.4, weights=True)
    w = ensemble.weights
    L = ensemble.labels
    seen = np.einsum("iu,ju,u->ij", L != -1, L != -1, w)
    same = np.einsum("iju,u->ij", (L[:, None] == L[None]) & (L >= 0)[:, None], w)
    np.fill_diagonal(seen, 0)
    np.fill_diagonal(same, 0)
    Z = np.eye(3)[labels]
    actual = item_consensus(labels, ensemble, max_dense=10)
    np.testing.assert_allclose(actual, (same @ Z) / (seen @ Z), atol=1e-12)
    # Without missing labels both computations agree.
    labels, ensemble = case(3, n=30)
    np.testing.assert_allclose(
        item_consensus(labels, ensemble, max_dense=10), item_consensus(labels, ensemble)
    )


@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.1)])
def test_counts_without_the_indicator_equal_its_products(missing, noise):
    _, ensemble = case(5, n=60, m=11, missing=missing, noise=noise, weights=True)
    consensus = np.random.default_rng(1).integers(-1, 4, ensemble.n_samples)
    judged = read_consensus(consensus, ensemble, "test")
    B, Z = ensemble.indicator, judged.indicator
    np.testing.assert_array_equal(judged.shared, (B.T @ Z).toarray())
    sums, _ = cluster_sums(judged, 1, 1)
    both = ((B * ensemble.column_weights) @ (B.T @ Z)).toarray()
    clustered = np.flatnonzero(judged.labels >= 0)
    both[clustered, judged.labels[clustered]] -= (B @ ensemble.column_weights)[clustered]
    np.testing.assert_allclose(sums, np.maximum(both, 0.0), atol=1e-12)


def test_soft_members_are_compared_by_products_of_memberships():
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1], 6)
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 12) for _ in range(4)])
    M = coassociation(soft, normalize=True)
    np.fill_diagonal(M, 0)
    Z = np.eye(2)[labels]
    np.testing.assert_allclose(item_consensus(labels, soft), M @ Z / (Z.sum(axis=0) - Z))
    assert company(labels, soft).sum(axis=1) == pytest.approx(1.0)
    # Partitions without doubt are hard ones: who is alone in one of them has no company there.
    hard = np.column_stack([labels, np.arange(12), np.minimum(np.arange(12), 10)])
    sure = Ensemble.from_memberships([np.eye(column.max() + 1)[column] for column in hard.T])
    np.testing.assert_allclose(company(labels, sure), naive.company(labels, Ensemble(hard)))
    single = np.r_[labels[:-1], 2]
    np.testing.assert_allclose(company(single, sure), naive.company(single, Ensemble(hard)))
    # Jaccard coefficients use the most probable clusters of the members.
    np.testing.assert_array_equal(
        cluster_confidence(labels, soft).jaccard,
        cluster_confidence(labels, Ensemble(soft.labels)).jaccard,
    )
    assert np.isfinite(partition_confidence(labels, soft).ari).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_silhouette_equals_that_of_scikit_learn(seed):
    labels, ensemble = case(seed, n=25, m=9)
    apart = 1.0 - coassociation(ensemble, normalize=True)
    np.fill_diagonal(apart, 0.0)
    sure = object_confidence(labels, ensemble)
    expected = silhouette_samples(apart, labels, metric="precomputed")
    np.testing.assert_allclose(sure.silhouette, expected, atol=1e-12)


def test_a_cluster_of_one_and_one_cluster_have_no_silhouette():
    _, ensemble = case(0)
    np.testing.assert_array_equal(object_confidence(np.zeros(14, int), ensemble).silhouette, 0)
    alone = np.r_[0, np.ones(13, int)]
    assert object_confidence(alone, ensemble).silhouette[0] == 0


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(150, centers=3, cluster_std=3.0, n_features=4, random_state=0)
    labels = EnsembleGenerator(
        "kmeans", n_partitions=20, n_clusters=[3, 4], sample_fraction=0.8, random_state=0
    ).fit_transform(X)
    return X, y, Ensemble(labels)


def test_margin_and_entropy_come_from_the_membership(blobs):
    _, _, ensemble = blobs
    model = PCC(3, divergence="l2", random_state=0).fit(ensemble)
    sure = object_confidence(model, ensemble)
    Y = np.sort(model.membership_, axis=1)
    np.testing.assert_allclose(sure.confidence, Y[:, -1])
    np.testing.assert_allclose(sure.margin, Y[:, -1] - Y[:, -2])
    np.testing.assert_allclose(
        sure.entropy, scipy_entropy(Y, axis=1) / np.log(Y.shape[1]), atol=1e-12
    )
    at = np.arange(150)
    np.testing.assert_allclose(model.membership_[at, sure.second], Y[:, -2])
    np.testing.assert_array_equal(sure.seen, ensemble.present.sum(axis=1))
    np.testing.assert_array_equal(sure.labels, model.labels_)
    overlap = cluster_confidence(model, ensemble).overlap
    np.testing.assert_allclose(overlap, cluster_similarity(model.membership_)[:3, :3])


def test_labels_without_memberships_get_the_company_as_membership(blobs):
    _, _, ensemble = blobs
    sure = object_confidence(EAC(3).fit(ensemble), ensemble)
    np.testing.assert_allclose(sure.membership, company(sure.labels, ensemble))
    np.testing.assert_allclose(sure.membership.sum(axis=1), 1)
    np.testing.assert_allclose(sure.confidence, sure.company)
    np.testing.assert_array_equal(confidences(sure.labels, ensemble), sure.confidence)
    model = PCC(3, divergence="l2", random_state=0).fit(ensemble)
    np.testing.assert_array_equal(confidences(model, ensemble), model.membership_.max(axis=1))


def test_objects_in_no_cluster_have_no_confidence():
    labels, ensemble = case(1)
    L = ensemble.labels.copy()
    L[3] = -1
    gone = np.where(np.arange(14) == 3, -1, labels)
    sure = object_confidence(gone, Ensemble(L))
    for name in ("confidence", "margin", "entropy", "company", "item_consensus", "silhouette"):
        values = getattr(sure, name)
        assert np.isnan(values[3]), name
        assert not np.isnan(np.delete(values, 3)).any(), name
    assert np.isnan(sure.agreement[3])
    assert (sure.seen[3], sure.second[3]) == (0, -1)
    rest = np.delete(np.arange(14), 3)
    without = object_confidence(labels[rest], Ensemble(L[rest]))
    for name in ("confidence", "margin", "entropy", "silhouette", "agreement"):
        np.testing.assert_allclose(getattr(sure, name)[rest], getattr(without, name))
    clusters, expected = (
        cluster_confidence(gone, Ensemble(L)),
        cluster_confidence(labels[rest], Ensemble(L[rest])),
    )
    for name in ("sizes", "consensus", "jaccard", "confidence", "overlap"):
        np.testing.assert_allclose(getattr(clusters, name), getattr(expected, name))


def test_a_consensus_clustering_supplies_its_ensemble():
    X, _ = make_blobs(60, centers=2, random_state=0)
    model = ConsensusClustering(
        "eac", EnsembleGenerator("kmeans", n_partitions=10), n_clusters=2, random_state=0
    ).fit(X)
    given = object_confidence(model.labels_, model.ensemble_)
    np.testing.assert_array_equal(object_confidence(model).agreement, given.agreement)


@pytest.mark.long
def test_partition_scores_agree_with_scikit_learn(blobs):
    _, _, sampled = blobs
    whole = Ensemble(np.where(sampled.labels < 0, 0, sampled.labels), weights=np.arange(1, 21))
    model = HBGF(3, random_state=0).fit(whole.reweighted(None))
    partitions = partition_confidence(model.labels_, whole)
    L = whole.labels
    np.testing.assert_allclose(
        partitions.ari, [adjusted_rand_score(model.labels_, x) for x in L.T], atol=1e-12
    )

    def nmi(a, b):
        return normalized_mutual_info_score(a, b, average_method="geometric")

    np.testing.assert_allclose(partitions.nmi, [nmi(model.labels_, x) for x in L.T])
    diverse = [1 - np.mean([nmi(L[:, u], L[:, v]) for v in range(20) if v != u]) for u in range(20)]
    np.testing.assert_allclose(partitions.diversity, diverse)
    np.testing.assert_allclose(partitions.weight, np.arange(1, 21) / 210)
    np.testing.assert_array_equal(partitions.n_clusters, whole.cluster_counts)
    np.testing.assert_array_equal(partitions.seen, 150)
    learned = WeightedPCC(3, random_state=0).fit(sampled)
    weights = partition_confidence(learned, sampled).weight
    np.testing.assert_allclose(weights, learned.weights_)
    assert partition_confidence([0, 0, 1], [[0], [0], [1]]).diversity == 0


@pytest.mark.parametrize(
    "measure",
    [
        item_consensus,
        company,
        object_confidence,
        cluster_confidence,
        partition_confidence,
    ],
)
def test_labels_of_other_objects_are_refused(measure):
    _, ensemble = case(0)
    with pytest.raises(InputError, match=r"13 labels and an ensemble of 14 objects"):
        measure(np.zeros(13, int), ensemble)
    with pytest.raises(InputError, match="needs the ensemble"):
        measure(np.zeros(14, int))
    with pytest.raises(InputError, match="without any"):
        measure(np.full(14, -1), ensemble)
    if measure in (item_consensus, object_confidence):
        with pytest.raises(ParameterError):
            measure(np.zeros(14, int), ensemble, max_dense=0)


def test_results_do_not_depend_on_the_number_of_threads():
    labels, ensemble = case(2, n=60, missing=0.3)
    one, four = (object_confidence(labels, ensemble, n_jobs=k).item_consensus for k in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_only_public_names_are_listed():
    assert dir(confident) == sorted(confident.__all__, key=str)
