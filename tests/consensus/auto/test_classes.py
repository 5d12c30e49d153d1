"""Latent classes: the consensus of partitions that hardly agree."""

import itertools
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from tests.naive.mixture import joint

import conclust as cc
from conclust.confidence import chance_confidence
from conclust.consensus.auto.agreement import agreement, are_classes
from conclust.ensemble.labels import canonical_labels


def latent(seed, n=400, K=3, p=12, m=4, concentration=0.6):
    """Return labels with a distribution in each class, and the classes."""
    rng = np.random.default_rng([seed, n, K, p])
    classes = rng.integers(0, K, n)
    labels = np.empty((n, p), dtype=int)
    for column in labels.T:
        bounds = np.cumsum(rng.dirichlet(np.full(m, concentration), K), axis=1)[classes]
        column[:] = np.minimum((rng.random(n)[:, None] > bounds).sum(axis=1), m - 1)
    return labels, classes


def entropy(names):
    counts = np.unique(np.array(names), return_counts=True)[1] / len(names)
    return -sum(share * math.log2(share) for share in counts)


def naive_agreement(labels, weights):
    """Loop over ordered pairs of partitions; -2 is noise, a cluster of its own."""
    columns = [
        [f"noise {i}" if value == -2 else str(value) for i, value in enumerate(column)]
        for column in labels.T
    ]
    explained = total = 0.0
    for (u, one), (v, other) in itertools.permutations(enumerate(columns), 2):
        left = 0.0
        for name in set(one):
            inside = [other[i] for i in range(len(one)) if one[i] == name]
            left += len(inside) / len(one) * entropy(inside)
        count = [len({name for name in column if "noise" not in name}) for column in (one, other)]
        chance = (count[0] - 1) * (count[1] - 1) / (2 * len(one) * math.log(2))
        explained += weights[u] * weights[v] * (entropy(other) - left - chance)
        total += weights[u] * weights[v] * entropy(other)
    return explained / total


@pytest.mark.parametrize("noise", [False, True])
def test_agreement_equals_loops_over_pairs(noise):
    labels, _ = latent(0, n=60, p=5)
    if noise:
        labels[np.random.default_rng(1).random(labels.shape) < 0.1] = -2
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    found = agreement(cc.Ensemble(labels, weights=weights))
    assert found == pytest.approx(naive_agreement(labels, weights))


def test_agreement_of_equal_and_of_independent_partitions():
    column = np.random.default_rng(0).integers(0, 4, 3000)
    assert agreement(cc.Ensemble(np.column_stack([column] * 4))) == pytest.approx(1.0, abs=0.01)
    independent = np.random.default_rng(1).integers(0, 4, (3000, 20))
    assert abs(agreement(cc.Ensemble(independent))) < 0.001
    independent[np.random.default_rng(2).random(independent.shape) < 0.3] = -1
    assert abs(agreement(cc.Ensemble(independent))) < 0.001
    assert agreement(cc.Ensemble(np.zeros((5, 3), dtype=int))) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_given_number_of_classes_is_found(seed):
    labels, classes = latent(seed)
    model = cc.AutoConsensus(3).fit(labels)
    assert model.evidence_ == "latent classes"
    assert model.n_clusters_ == 3
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.9
    tree = cc.AutoConsensus(3)
    with tree.deciding_like(SimpleNamespace(evidence_="certain")):
        tree.fit(labels)
    assert tree.evidence_ == "certain"
    gain = cc.metrics.adjusted_rand_index(classes, model.labels_)
    assert gain >= cc.metrics.adjusted_rand_index(classes, tree.labels_)


def test_memberships_are_the_probabilities_of_a_mixture():
    """Recomputed by loops from the distributions of the classes."""
    labels, _ = latent(1, n=150, p=6)
    model = cc.AutoConsensus(3).fit(labels)
    classes = model._classes
    thetas = [theta.T for theta in np.split(classes.theta, classes.offsets[1:-1])]
    numbered = np.column_stack([canonical_labels(column) for column in labels.T])
    P = joint(numbered, classes.mixing, thetas)
    np.testing.assert_allclose(model.membership_, P / P.sum(axis=1, keepdims=True))
    mixture = cc.MixtureModel(3, n_init=5, random_state=0)
    with mixture.starting_from(model.labels_):
        mixture.fit(labels)
    reached = np.log(P.sum(axis=1)).sum()
    assert reached >= mixture.log_likelihood_ - 1e-3 * abs(mixture.log_likelihood_)
    np.testing.assert_allclose(model.predict_proba(labels), model.membership_)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(labels), model.labels_)


def test_em_from_the_tree_is_one_of_the_starts():
    labels, _ = latent(2)
    plain = cc.MixtureModel(4, n_init=2, random_state=3).fit(labels)
    for given in (plain.labels_, np.arange(400) % 4):
        model = cc.MixtureModel(4, n_init=2, random_state=3)
        with model.starting_from(given):
            model.fit(labels)
        assert model.objective_ >= plain.objective_
    poor = cc.MixtureModel(4, n_init=1, max_iter=500, random_state=3)
    with poor.starting_from(plain.labels_):
        poor.fit(labels)
    assert poor.objective_ >= plain.objective_ - 1e-3 * abs(plain.objective_)


@pytest.mark.parametrize("seed", range(3))
def test_independent_partitions_are_one_cluster(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (600, 12))
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == model.n_clusters_shown_ == 1
    assert model.reason_.startswith(
        "One cluster: the partitions hardly agree, so they count as independent within clusters, and the ICL of one latent class"
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
    assert model.reason_.startswith("2 clusters: the partitions hardly agree")
    assert cc.metrics.adjusted_rand_index(classes, model.labels_) > 0.9
    assert not {1, 2} & set(model.alternatives_)


def test_clusterings_that_agree_do_not_become_classes():
    rng = np.random.default_rng(0)
    z = np.arange(300) % 4
    labels = np.repeat(z[:, None], 10, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 4, wrong.sum())
    assert not are_classes(cc.Ensemble(labels))
    assert cc.AutoConsensus(4).fit(labels).evidence_ == "certain"


def test_clusterings_of_a_cloud_remain_one_cluster():
    X = np.random.default_rng(0).normal(size=(500, 20))
    labels = cc.EnsembleGenerator(
        "kmeans", 20, n_clusters=range(2, 11), random_state=0
    ).fit_transform(X)
    assert are_classes(cc.Ensemble(labels))
    model = cc.AutoConsensus().fit(labels)
    assert model.n_clusters_ == 1
    best = model.alternatives_[0]
    assert model.reason_.endswith(
        f"if they are attributes and not clusterings, {best} latent classes have the lowest ICL (pass n_clusters={best})."
    )
    assert cc.ConsensusClustering(random_state=0).fit(X).n_clusters_ == 1


def test_soft_partitions_and_pairs_of_partitions_have_no_classes():
    labels, _ = latent(0)
    assert are_classes(cc.Ensemble(labels))
    assert not are_classes(cc.Ensemble(labels[:, :2]))
    rng = np.random.default_rng(0)
    soft = cc.Ensemble.from_memberships([rng.dirichlet(np.ones(3), 50) for _ in range(6)])
    assert not are_classes(soft)
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
    # Memberships by similarity are near 1/3 for random partitions; probabilities of classes are not.
    assert chance_confidence(fitted, agreeing, random_state=0).by_chance.max() < 0.6
