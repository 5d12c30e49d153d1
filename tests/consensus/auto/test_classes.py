"""Latent classes: the consensus of partitions that agree little."""

import itertools
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.naive.mixture import joint

import conclust as cc
from conclust.confidence import chance_confidence
from conclust.consensus.auto.agreement import agree_little, agreement, shuffled
from conclust.consensus.auto.votes import certain_clusters
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import EvidenceWarning


def latent(seed, n=400, K=3, p=12, m=4, concentration=0.6):
    """Return labels with a distribution in each class, and the classes."""
    rng = np.random.default_rng([seed, n, K, p])
    classes = rng.integers(0, K, n)
    labels = np.empty((n, p), dtype=int)
    for column in labels.T:
        bounds = np.cumsum(rng.dirichlet(np.full(m, concentration), K), axis=1)[classes]
        column[:] = np.minimum((rng.random(n)[:, None] > bounds).sum(axis=1), m - 1)
    return labels, classes


def repeated(K, n, p, share):
    """Return p copies of a partition into K clusters, with a share of the labels drawn at random."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n)[:, None] % K, p, axis=1)
    wrong = rng.random(labels.shape) < share
    labels[wrong] = rng.integers(0, K, wrong.sum())
    return labels


def entropy(names):
    counts = np.unique(np.array(names), return_counts=True)[1] / len(names)
    return -sum(share * math.log2(share) for share in counts)


def unexplained(labels, weights):
    """Loop over ordered pairs of partitions; -2 is noise, a cluster of its own, and clusters of noise explain nothing."""
    columns = [
        [f"noise {i}" if value == -2 else str(value) for i, value in enumerate(column)]
        for column in labels.T
    ]
    total = 0.0
    for (u, one), (v, other) in itertools.permutations(enumerate(columns), 2):
        clusters = {name for name in one if "noise" not in name}
        held = sum("noise" not in name for name in one)
        for name in clusters:
            inside = [other[i] for i in range(len(one)) if one[i] == name]
            total += weights[u] * weights[v] * len(inside) / held * entropy(inside)
    return total


@pytest.mark.parametrize("noise", [False, True])
def test_agreement_equals_loops_over_pairs(noise):
    labels, _ = latent(0, n=60, p=5)
    if noise:
        labels[np.random.default_rng(1).random(labels.shape) < 0.1] = -2
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    ensemble = cc.Ensemble(labels, weights=weights)
    found = agreement(ensemble)
    weights = certain_clusters(ensemble)[0].partition_weights
    drawn = shuffled(cc.Ensemble(labels).labels, np.random.default_rng(0))
    assert found == pytest.approx(1 - unexplained(labels, weights) / unexplained(drawn, weights))
    for column, permuted in zip(labels.T, drawn.T, strict=True):
        assert sorted(np.unique(column, return_counts=True)[1]) == sorted(
            np.unique(permuted, return_counts=True)[1]
        )


def test_agreement_of_equal_and_of_independent_partitions():
    column = np.random.default_rng(0).integers(0, 4, 3000)
    assert agreement(cc.Ensemble(np.column_stack([column] * 4))) == 1.0
    independent = np.random.default_rng(1).integers(0, 4, (3000, 20))
    assert abs(agreement(cc.Ensemble(independent))) < 0.002
    independent[np.random.default_rng(2).random(independent.shape) < 0.3] = -1
    assert abs(agreement(cc.Ensemble(independent))) < 0.002
    assert agreement(cc.Ensemble(np.zeros((5, 3), dtype=int))) == 1.0
    # Many small clusters agree by chance.
    small = np.random.default_rng(3).integers(0, 60, (300, 10))
    assert abs(agreement(cc.Ensemble(small))) < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_a_given_number_of_classes_is_found(seed):
    labels, classes = latent(seed)
    model = cc.AutoConsensus(3).fit(labels)
    assert model.evidence_ == "latent classes"
    assert model.n_clusters_ == 3
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.9
    tree = cc.AutoConsensus(3)
    tree.fit_like(labels, SimpleNamespace(evidence_="certain"))
    assert tree.evidence_ == "certain"
    gain = cc.metrics.adjusted_rand_index(classes, model.labels_)
    assert gain >= cc.metrics.adjusted_rand_index(classes, tree.labels_)


def test_labels_are_the_most_probable_classes():
    """Recomputed by loops from the distributions of the classes."""
    labels, _ = latent(1, n=150, p=6)
    model = cc.AutoConsensus(3).fit(labels)
    classes = model._model.classes
    thetas = [theta.T for theta in np.split(classes.theta, classes.offsets[1:-1])]
    numbered = np.column_stack([canonical_labels(column) for column in labels.T])
    P = joint(numbered, classes.mixing, thetas)
    np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    mixture = cc.MixtureModel(3, n_init=5, random_state=0).fit(labels)
    reached = np.log(P.sum(axis=1)).sum()
    assert reached >= mixture.log_likelihood_ - 1e-3 * abs(mixture.log_likelihood_)


def test_memberships_are_shares_of_the_evidence():
    """Recomputed by loops over pairs of objects; the cluster of an object has its largest share."""
    labels, _ = latent(1, n=60, p=6)
    model = cc.AutoConsensus(3).fit(labels)
    weighted, certainty = certain_clusters(cc.Ensemble(labels))
    B, counting = weighted.indicator.toarray(), weighted.column_weights * certainty
    similarity = (B * counting) @ B.T
    for i in range(60):
        means = [similarity[i, model.labels_ == k].mean() for k in range(3)]
        np.testing.assert_allclose(
            sorted(model.membership_[i]), sorted(np.array(means) / sum(means))
        )
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(labels), model.labels_)


def test_em_begins_from_given_clusters():
    labels, _ = latent(2)
    plain = cc.MixtureModel(4, n_init=2, random_state=3).fit(labels)
    poor = np.arange(400) % 4
    model = cc.MixtureModel(4)
    with model.starting_from([poor, plain.labels_]):
        model.fit(labels)
    assert model.objective_ >= plain.objective_ - 1e-6 * abs(plain.objective_)
    objectives = []
    for start in (poor, plain.labels_):
        with model.starting_from([start]):
            objectives.append(model.fit(labels).objective_)
    with model.starting_from([poor, plain.labels_]):
        assert model.fit(labels).objective_ == max(objectives)


@pytest.mark.parametrize("seed", range(3))
def test_independent_partitions_are_one_cluster(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (600, 12))
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == model.n_clusters_shown_ == 1
    assert model.reason_.startswith(
        "One cluster: the partitions agree little, so they count as independent within clusters, and 1 latent class has the lowest ICL ("
    )
    given = cc.AutoConsensus(3).fit(labels)
    assert given.n_clusters_ == 3
    assert given.reason_ == (
        "The number, 3, was given; the partitions by themselves show 1 cluster, as latent classes."
    )


def test_attributes_with_the_same_number_of_labels_show_fewer_classes():
    labels, classes = latent(4, n=600, K=2)
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == 2
    assert model.reason_.startswith("2 clusters: the partitions agree little")
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.9
    assert not {1, 2} & set(model.alternatives_)


def test_attributes_with_the_same_number_of_labels_name_a_larger_number_of_classes():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 5, 800)
    answers = (rng.random((800, 40)) < rng.random((5, 40))[classes]).astype(int)
    model = cc.AutoConsensus().fit(answers)
    assert model.n_clusters_ == 2
    assert model.reason_.endswith("5 latent classes have the lowest ICL (pass n_clusters=5).")
    assert model.alternatives_[0] == 5
    assert 2 not in model.alternatives_
    given = cc.AutoConsensus(5).fit(answers)
    assert cc.metrics.adjusted_rand_index(classes, given.labels_) > 0.9


def labels_by_a_crowd(seed, error=0.3):
    """300 objects of six classes, labelled by ten people; three of them never use one of the labels."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 6, 300)
    labels = np.repeat(classes[:, None], 10, axis=1)
    wrong = rng.random(labels.shape) < error
    labels[wrong] = rng.integers(0, 6, wrong.sum())
    for unused in range(3):
        labels[labels[:, unused] == unused, unused] = unused + 1
    return labels, classes


@pytest.mark.parametrize("seed", range(3))
def test_independent_errors_do_not_hide_the_number_of_classes(seed):
    labels, classes = labels_by_a_crowd(seed)
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == model.n_clusters_shown_ == 6
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.9
    assert model.reason_.startswith("6 clusters: the partitions agree little")
    assert model.reason_.endswith(" 6 clusters also have the longest lifetime.")
    told = cc.AutoConsensus(6).fit(labels)
    assert np.array_equal(told.labels_, model.labels_)
    assert "the partitions by themselves show the same number" in told.reason_


@pytest.mark.parametrize("seed", range(4))
def test_answers_that_measure_one_trait_are_one_cluster(seed):
    """Latent classes and the tree both cut the trait in the middle."""
    rng = np.random.default_rng(seed)
    answers = rng.normal(size=(300, 1)) * rng.uniform(0.5, 1.5, 8) + rng.normal(size=(300, 8))
    columns = [
        np.searchsorted(np.quantile(column, np.linspace(0, 1, 2 + at % 3 + 1)[1:-1]), column)
        for at, column in enumerate(answers.T)
    ]
    assert cc.AutoConsensus().fit(np.column_stack(columns)).n_clusters_ == 1


def test_clusterings_that_agree_do_not_become_classes():
    labels = repeated(4, 300, 10, 0.1)
    assert not agree_little(cc.Ensemble(labels))
    assert cc.AutoConsensus(4).fit(labels).evidence_ == "certain"


def test_clusters_with_borders_that_no_partition_crosses_do_not_become_classes():
    """A large blob is divided differently by each partition, so these agree little; the small ones are whole."""
    X, y = make_blobs([800, 40, 40], n_features=20, center_box=(-10, 10), random_state=1)
    labels = cc.EnsembleGenerator(
        "kmeans", 40, n_clusters=range(5, 20), random_state=0
    ).fit_transform(X)
    assert agree_little(cc.Ensemble(labels))
    model = cc.AutoConsensus(3).fit(labels)
    assert model.evidence_ != "latent classes"
    assert cc.metrics.adjusted_rand_index(y, model.labels_) == 1.0


def test_random_partitions_among_others_do_not_count():
    random = np.random.default_rng(1).integers(0, 12, (600, 8))
    both = cc.Ensemble(np.hstack([repeated(5, 600, 12, 0.05), random]))
    assert agreement(both) > 0.5
    assert not agree_little(both)
    assert cc.AutoConsensus(5).fit(both).evidence_ == "certain"


def test_clusterings_of_a_cloud_remain_one_cluster():
    X = np.random.default_rng(0).normal(size=(500, 20))
    labels = cc.EnsembleGenerator(
        "kmeans", 20, n_clusters=range(2, 11), random_state=0
    ).fit_transform(X)
    assert agree_little(cc.Ensemble(labels))
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == 1
    best = model.alternatives_[0]
    assert model.reason_.endswith(
        f"if they are attributes and not clusterings, {best} latent classes have the lowest ICL (pass n_clusters={best})."
    )
    assert cc.ConsensusClustering(random_state=0).fit(X).n_clusters_ == 1


def test_soft_partitions_and_pairs_of_partitions_have_no_classes():
    labels, _ = latent(0)
    assert agree_little(cc.Ensemble(labels))
    assert not agree_little(cc.Ensemble(labels[:, :2]))
    rng = np.random.default_rng(0)
    soft = cc.Ensemble.from_memberships([rng.dirichlet(np.ones(3), 50) for _ in range(6)])
    assert not agree_little(soft)
    assert cc.AutoConsensus(2).fit(soft).evidence_ != "latent classes"


def test_the_result_does_not_depend_on_the_seed_or_the_order_of_partitions():
    labels, _ = latent(5)
    first = cc.AutoConsensus(3).fit(labels)
    for model in (cc.AutoConsensus(3, random_state=7, n_jobs=2), cc.AutoConsensus(3, n_jobs=1)):
        np.testing.assert_array_equal(model.fit(labels).membership_, first.membership_)
    turned = cc.AutoConsensus(3).fit(labels[:, ::-1])
    assert cc.metrics.adjusted_rand_index(turned.labels_, first.labels_) > 0.95


def test_objects_outside_the_trees_are_placed():
    labels, classes = latent(6, n=900)
    model = cc.AutoConsensus(3, max_samples=200, random_state=0).fit(labels)
    assert model.evidence_ == "latent classes"
    assert len(model.tree_objects_) == 200
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.85
    np.testing.assert_array_equal(model.predict(labels), model.labels_)


def test_missing_labels_are_left_out():
    labels, classes = latent(7, n=600)
    labels[np.random.default_rng(0).random(labels.shape) < 0.3] = -1
    with pytest.warns(EvidenceWarning, match="No partition observed both objects of 92 pairs"):
        model = cc.AutoConsensus(3).fit(labels)
    assert model.evidence_ == "latent classes"
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.8


@pytest.mark.parametrize("max_samples", [3000, 200])
def test_constraints_that_hold_change_no_label(max_samples):
    labels, classes = latent(8)
    plain = cc.AutoConsensus(3, max_samples=max_samples, random_state=0).fit(labels)
    pairs = np.random.default_rng(0).integers(0, 400, (40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = plain.labels_[pairs[:, 0]] == plain.labels_[pairs[:, 1]]
    model = cc.AutoConsensus(3, max_samples=max_samples, random_state=0)
    model.fit(labels, must_link=pairs[same], cannot_link=pairs[~same])
    if max_samples == 3000:
        np.testing.assert_array_equal(model.labels_, plain.labels_)
    else:  # other objects are drawn for the trees
        assert cc.metrics.adjusted_rand_index(model.labels_, plain.labels_) > 0.8
    alone = np.ones(400, dtype=bool)
    alone[pairs] = False
    np.testing.assert_array_equal(model.predict(labels[alone]), model.labels_[alone])
    true = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    model.fit(labels, must_link=pairs[true], cannot_link=pairs[~true])
    kept = model.labels_[pairs[:, 0]] == model.labels_[pairs[:, 1]]
    np.testing.assert_array_equal(kept, true)
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.85


def test_chance_confidence_takes_the_decision_of_the_model():
    labels, _ = latent(9)
    model = cc.AutoConsensus(3).fit(labels)
    sure = chance_confidence(model, labels, random_state=0)
    assert sure.mean > sure.by_chance.max()
    agreeing = np.repeat(np.arange(300)[:, None] % 3, 8, axis=1)
    agreeing[::7, ::2] = 0
    fitted = cc.AutoConsensus(3).fit(agreeing)
    assert fitted.evidence_ != "latent classes"
    assert chance_confidence(fitted, agreeing, random_state=0).by_chance.max() < 0.6


def test_fits_of_classes_are_not_reported(capsys):
    labels, _ = latent(3)
    cc.AutoConsensus(3, verbose=1).fit(labels)
    told = capsys.readouterr().err
    assert "latent classes" in told
    assert told.count("reading the labels") == 1
