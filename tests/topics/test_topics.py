import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.random_projection import GaussianRandomProjection

from conclust import TopicConsensus
from conclust.exceptions import InputError, ParameterError
from conclust.metrics import adjusted_rand_index


def embeddings(seed, n=500, d=96, k=8, spread=1.0):
    """Return unit vectors of documents on k topics, a tenth of them on none."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    topic = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    X = centres[topic] + spread * rng.normal(size=(n, d)) / np.sqrt(d)
    none = rng.random(n) < 0.1
    X[none] = rng.normal(size=(np.count_nonzero(none), d))
    topic[none] = -1
    return X / np.linalg.norm(X, axis=1)[:, None], topic


def mean_pairs(results):
    def score(a, b):  # noise is a group of its own here, as in a model's list of topics
        return adjusted_rand_index(a + 1, b + 1)

    return np.mean([score(a, b) for a, b in combinations(results, 2)])


class Answers(BaseEstimator):
    """A clusterer, or a reducer, that returns what it is given."""

    def __init__(self, value=0):
        self.value = value

    def fit_predict(self, X):
        return self.value

    fit_transform = fit_predict


class Unstable(BaseEstimator):
    """A reduction to 16 random directions, different for each seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit_transform(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        return X @ rng.normal(size=(X.shape[1], 16))


def test_other_seeds_give_the_same_topics_where_single_runs_differ():
    X, topic = embeddings(0, spread=0.6)
    parts = {"reducer": Unstable(), "clusterer": HDBSCAN(min_cluster_size=10, copy=True)}
    single = [
        TopicConsensus(**parts, n_members=1, random_state=s).fit(X).labels_ for s in range(10)
    ]
    many = [TopicConsensus(**parts, n_members=50, random_state=s).fit(X).labels_ for s in range(4)]
    assert mean_pairs(single) <= 0.7
    assert mean_pairs(many) >= 0.95
    assert min(adjusted_rand_index(topic + 1, labels + 1) for labels in many) > 0.8


@pytest.mark.parametrize("row", [np.ones(8), np.zeros(8), np.random.default_rng(0).normal(size=30)])
def test_equal_embeddings_are_noise_without_a_warning(row):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicConsensus(n_members=3, random_state=0).fit(np.tile(row, (60, 1)))
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()


class Model:
    """The part of BERTopic that uses `hdbscan_model`."""

    def __init__(self, hdbscan_model):
        self.hdbscan_model = hdbscan_model

    def fit_transform(self, embeddings, y=None):
        try:
            self.hdbscan_model.fit(embeddings, y=y)
        except TypeError:
            self.hdbscan_model.fit(embeddings)
        labels = self.hdbscan_model.labels_
        return [int(label) for label in labels], self.hdbscan_model.probabilities_

    def transform(self, embeddings):
        return self.hdbscan_model.predict(embeddings)


def test_topic_consensus_replaces_hdbscan_in_bertopic():
    X, topic = embeddings(1, n=400, spread=0.6)
    model = Model(TopicConsensus(n_members=10, random_state=0))
    topics, probabilities = model.fit_transform(X)
    assert set(topics) == set(range(-1, max(topics) + 1))
    sizes = np.bincount(np.array(topics)[np.array(topics) >= 0])
    assert (np.diff(sizes) <= 0).all()
    assert sizes.min() >= 10
    assert probabilities.shape == (400,)
    assert (probabilities[np.array(topics) < 0] == 0).all()
    assert (probabilities[np.array(topics) >= 0] > 0).all()
    assert probabilities.max() <= 1 + 1e-12
    held = topic >= 0
    assert adjusted_rand_index(topic[held], np.array(topics)[held] + 1) > 0.9
    assert np.mean(model.transform(X + 1e-6) == topics) > 0.95


def test_objects_that_most_members_call_noise_are_noise():
    class Given(BaseEstimator):
        """What the points say."""

        def fit_predict(self, X):
            return X[:, 0].astype(int)

    X = np.repeat([[0.0], [1.0], [-1.0]], [20, 15, 5], axis=0)

    class Same(BaseEstimator):
        def fit_transform(self, X, y=None):
            return X

    model = TopicConsensus(Same(), Given(), n_members=3, random_state=0).fit(X)
    assert model.labels_.tolist() == [0] * 20 + [1] * 15 + [-1] * 5
    assert model.probabilities_.tolist() == [1.0] * 35 + [0.0] * 5
    strict = TopicConsensus(Same(), Given(), n_members=3, min_topic_size=16).fit(X)
    assert strict.labels_.tolist() == [0] * 20 + [-1] * 20


def test_noise_everywhere_gives_no_topic():
    X = np.random.default_rng(0).random((40, 6))
    model = TopicConsensus(clusterer=DBSCAN(eps=1e-9), n_members=3, random_state=0).fit(X)
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.predict(X[:3]) == -1).all()


def test_the_same_seed_gives_the_same_topics_with_any_threads_and_after_copying():
    X, _ = embeddings(2, n=200)
    model = TopicConsensus(
        GaussianRandomProjection(5), KMeans(6, n_init=1), n_members=6, random_state=3, n_jobs=1
    ).fit(X)
    for other in (clone(model).set_params(n_jobs=3), pickle.loads(pickle.dumps(model))):
        refitted = other.fit(X)
        np.testing.assert_array_equal(refitted.ensemble_.labels, model.ensemble_.labels)
        np.testing.assert_array_equal(refitted.labels_, model.labels_)
    assert len({c.tobytes() for c in model.ensemble_.labels.T}) == 6


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"reducer": "umap"}, "'reducer'"),
        ({"reducer": PCA}, "'reducer'"),
        ({"clusterer": KMeans}, "'clusterer'"),
        ({"clusterer": Answers.fit_predict}, "'clusterer'"),
    ],
)
def test_invalid_parameters_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=f"The {words} parameter of TopicConsensus"):
        TopicConsensus(**parameters).fit(np.eye(20))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros(3, dtype=int), r"shape \(3,\) and dtype int64"),
        (0, r"shape \(\)"),
        (np.zeros((40, 1), dtype=int), r"shape \(40, 1\)"),
        (np.full(40, 0.5), "dtype float64"),
        (np.array(["a"] * 40), "dtype <U1"),
    ],
)
def test_labels_of_a_clusterer_that_are_not_one_int_each_are_refused(value, words):
    X, _ = embeddings(0, n=40)
    model = TopicConsensus(clusterer=Answers(value), n_members=2, random_state=0)
    with pytest.raises(InputError, match=f"Answers must label 40 objects with ints.*{words}"):
        model.fit(X)
    model = TopicConsensus(Answers(X[:7]), n_members=2, random_state=0)
    with pytest.raises(
        InputError, match="The reducer Answers must return a row for each of the 40"
    ):
        model.fit(X)


def test_a_reducer_that_writes_into_its_input_changes_neither_the_data_nor_the_topics():
    X, _ = embeddings(3, n=200)
    before = X.copy()
    usual = TopicConsensus(PCA(8), n_members=4, random_state=0).fit(X)
    in_place = TopicConsensus(PCA(8, copy=False), n_members=4, random_state=0).fit(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(in_place.labels_, usual.labels_)
    np.testing.assert_array_equal(in_place.ensemble_.labels, usual.ensemble_.labels)
    np.testing.assert_array_equal(in_place.predict(before), usual.predict(before))


def test_the_warning_filters_of_the_process_are_restored():
    X, _ = embeddings(2, n=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # scikit-learn warns where its filters are lost
        before = list(warnings.filters)
        for seed in range(3):
            TopicConsensus(n_members=20, n_jobs=4, random_state=seed).fit(X)
            assert warnings.filters == before


def test_a_lazy_frame_is_refused():
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
    with pytest.raises(InputError, match="A lazy frame has no rows yet"):
        TopicConsensus(n_members=2).fit(frame)
