from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.naive import measures as naive

from conclust import EAC, PCC, AutoConsensus, ConsensusClustering, Ensemble, EnsembleGenerator
from conclust.exceptions import InputError, ParameterError, SparseInputError
from conclust.metrics import anmi

X, truth = make_blobs(240, 2, centers=3, cluster_std=0.6, random_state=0)


def test_the_pipeline_equals_generator_then_consensus():
    generator = EnsembleGenerator("kmeans", n_partitions=12, random_state=3)
    model = ConsensusClustering(PCC(3, random_state=4), generator).fit(X)
    labels = clone(generator).fit_transform(X)
    by_hand = PCC(3, random_state=4).fit(labels)
    assert model.ensemble_ == Ensemble(labels)
    np.testing.assert_array_equal(model.labels_, by_hand.labels_)
    np.testing.assert_array_equal(model.membership_, by_hand.membership_)
    assert model.n_clusters_ == by_hand.n_clusters_
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_fit_transform_takes_the_arguments_of_fit():
    model = ConsensusClustering(generator=EnsembleGenerator("kmeans", 8), random_state=0)
    pairs = [[0, i] for i in np.flatnonzero(truth != truth[0])[:3]]
    shares = model.fit_transform(X, must_link=pairs)
    fitted = clone(model).fit(X, must_link=pairs)
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
    np.testing.assert_array_equal(shares, fitted.predict_proba(X))
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight': points have"):
        model.fit_transform(X, sample_weight=np.ones(len(X)))


def test_components_are_cloned_and_not_modified():
    generator, consensus = EnsembleGenerator("kmeans", n_partitions=5), PCC(3)
    ConsensusClustering(consensus, generator, random_state=0).fit(X)
    assert not hasattr(generator, "members_")
    assert not hasattr(consensus, "labels_")
    assert consensus.random_state is None


def test_one_seed_serves_both_components():
    fits = [
        ConsensusClustering(
            PCC(3), EnsembleGenerator("kmeans", n_partitions=6), random_state=7
        ).fit(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].membership_, fits[1].membership_)
    other = ConsensusClustering(
        PCC(3), EnsembleGenerator("kmeans", n_partitions=6), random_state=8
    ).fit(X)
    assert other.ensemble_ != fits[0].ensemble_


def test_auto_selects_the_number_by_resampling_points():
    generator = EnsembleGenerator("kmeans", n_partitions=12, scale="standard")
    model = ConsensusClustering("hbgf", generator, n_clusters="auto", random_state=0).fit(X)
    assert model.selection_.n_clusters == model.n_clusters_ == model.consensus_.n_clusters == 3
    assert model.selection_.p_value == 0.025
    assert model.selection_.settings["scale"] == "standard"
    np.testing.assert_array_equal(
        ConsensusClustering("hbgf", generator, n_clusters=3, random_state=0).fit_predict(X),
        model.labels_,
    )
    assert clone(model).n_clusters == "auto"
    assert not hasattr(ConsensusClustering(random_state=0).fit(X[:60]), "selection_")


@pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
def test_resampling_decides_with_auto_only_if_there_are_no_borders():
    moons = make_moons(150, noise=0.05, random_state=3)[0]
    seen = ConsensusClustering(n_clusters="auto", random_state=0).fit(moons)
    np.testing.assert_array_equal(
        seen.labels_, ConsensusClustering(random_state=0).fit_predict(moons)
    )
    assert seen.n_clusters_ == 2 != seen.selection_.n_clusters  # k-means cuts the crescents
    found = seen.selection_.n_clusters
    assert f"k-means shows {found} clusters, which may be parts of these (" in seen.reason_
    assert "which is not small" not in seen.reason_  # p = .025
    touching = np.random.default_rng(0).normal(size=(200, 2)) + 3.0 * np.eye(2)[0] * np.repeat(
        [[1], [0]], 100, axis=0
    )
    returns = ConsensusClustering(n_clusters="auto", random_state=0).fit(touching)
    assert ConsensusClustering(random_state=0).fit(touching).n_clusters_ == 1
    assert returns.n_clusters_ == returns.selection_.n_clusters == 2
    assert "the tree shows no border" in returns.reason_


def test_auto_finds_a_single_cluster():
    one = np.random.default_rng(0).normal(size=(100, 3))
    model = ConsensusClustering(n_clusters="auto", random_state=0).fit(one)
    assert model.n_clusters_ == model.selection_.n_clusters == 1
    assert model.selection_.p_value > 0.05
    assert (model.labels_ == 0).all()
    assert model.membership_.shape == (100, 1)


def test_auto_is_refused_by_methods_without_a_number():
    for method in ("fcaconsensus", "medianpartition"):
        with pytest.raises(ParameterError, match=r"must be None with .* Got 'auto' instead"):
            ConsensusClustering(method, n_clusters="auto").fit(X)
    with pytest.raises(ParameterError, match=r"\[1, inf\), 'auto' or None. Got 'many' instead"):
        ConsensusClustering(n_clusters="many").fit(X)


def test_new_points_are_labelled_by_every_member_and_placed():
    model = ConsensusClustering(
        PCC(3), EnsembleGenerator("kmeans", n_partitions=20), random_state=0
    ).fit(X)
    new = X + 1e-9
    np.testing.assert_array_equal(model.predict(new), model.labels_)
    proba = model.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba.argmax(axis=1), model.predict(new))
    far = model.predict(X[:5] + 0.01)
    np.testing.assert_array_equal(far, model.labels_[:5])


def test_subsampled_members_leave_labels_missing_and_predict_all():
    generator = EnsembleGenerator("kmeans", n_partitions=30, sample_fraction=0.5)
    model = ConsensusClustering(PCC(3), generator, random_state=0).fit(X)
    assert model.ensemble_.has_missing
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert adjusted_rand_score(model.labels_, model.predict(X)) > 0.95


def test_members_that_cannot_label_new_points_are_refused():
    generator = EnsembleGenerator([DBSCAN(eps=0.5), DBSCAN(eps=0.7)])
    model = ConsensusClustering(PCC(3), generator, random_state=0).fit(X)
    with pytest.raises(InputError, match="cannot label new points"):
        model.predict(X + 1)


def test_a_consensus_that_cannot_predict_has_no_predict():
    model = ConsensusClustering(EAC(3), EnsembleGenerator("kmeans", n_partitions=6), random_state=0)
    assert not hasattr(model, "predict")
    assert not hasattr(model.fit(X), "predict_proba")
    for name in ("predict", "predict_proba", "transform", "fit_transform"):
        with pytest.raises(
            AttributeError,
            match=f"no attribute '{name}': its consensus has no "
            r"'predict(_proba)?'\. .*EAC does not place new objects\. .*PCC.* do\.",
        ):
            getattr(model, name)
    with pytest.raises(AttributeError, match="EAC gives labels only"):
        _ = model.membership_
    unfitted = ConsensusClustering("hbgf", n_clusters=3)
    assert not hasattr(unfitted, "predict")
    assert hasattr(ConsensusClustering("pcc"), "predict")


def test_the_pipeline_works_in_scikit_learn_and_with_frames():
    model = make_pipeline(StandardScaler(), ConsensusClustering(PCC(3), random_state=0))
    labels = model.fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.9
    frame = pd.DataFrame(X, columns=["x", "y"])
    direct = ConsensusClustering(PCC(3), random_state=0).fit(frame)
    assert list(direct.feature_names_in_) == ["x", "y"]
    np.testing.assert_array_equal(direct.predict(frame), direct.predict(frame[["x", "y"]]))
    with pytest.raises(ValueError, match="feature names"):
        direct.predict(frame.rename(columns={"x": "z"}))


@pytest.mark.parametrize("consensus", ["auto", PCC(3)])
def test_names_that_only_fit_or_predict_has_are_warned_of_once(consensus):
    frame = pd.DataFrame(X, columns=["x", "y"])
    for fitted, new in ((X, frame), (frame, X)):
        model = ConsensusClustering(consensus, random_state=0).fit(fitted)
        with pytest.warns(UserWarning, match="feature names, but ConsensusClustering") as messages:
            labels = model.predict(new)
        assert len(messages) == 1
        np.testing.assert_array_equal(labels, model.predict(fitted))


def test_a_generator_of_frames_predicts_like_one_of_arrays():
    generator = EnsembleGenerator("kmeans", n_partitions=8)
    plain = ConsensusClustering(PCC(3), generator, random_state=0).fit(X)
    frames = ConsensusClustering(
        PCC(3), clone(generator).set_output(transform="pandas"), random_state=0
    ).fit(X)
    np.testing.assert_array_equal(frames.predict(X), plain.predict(X))
    np.testing.assert_array_equal(frames.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"generator": 3}, "'generator' parameter of ConsensusClustering"),
        (
            {"consensus": 3},
            "'consensus' parameter of ConsensusClustering must be None, an estimator that fits an Ensemble or the "
            "name of a method. Got 3 instead. A number of clusters is given as n_clusters=3.",
        ),
        ({"consensus": "hbfg"}, r"Got 'hbfg' instead. Is it 'HBGF'.*conclust.methods\(\) lists"),
        ({"consensus": "zzz"}, r"Got 'zzz' instead. conclust.methods\(\) lists them all"),
        ({"consensus": PCC}, "an estimator that fits an Ensemble or the name of a method"),
        ({"n_clusters": 0}, "'n_clusters' parameter of ConsensusClustering must be an int"),
        ({"n_clusters": 2.5}, "'n_clusters' parameter of ConsensusClustering must be an int"),
        (
            {"consensus": "FCAConsensus", "n_clusters": 3},
            "must be None with FCAConsensus, which determines the number",
        ),
        (
            {"consensus": "HBGF"},
            r"'n_clusters' parameter of HBGF .* None instead. HBGF needs the number",
        ),
        ({"consensus": "EAC", "n_clusters": 241}, r"'n_clusters' parameter of EAC .*\[1, 240\]"),
        ({"random_state": "x"}, "'random_state'"),
        ({"consensus": PCC(0)}, "'n_clusters' parameter of PCC"),
        ({"generator": EnsembleGenerator("kmeans", n_partitions=0)}, "'n_partitions'"),
    ],
)
def test_invalid_components_are_named(parameters, message):
    with pytest.raises((ParameterError, TypeError), match=message):
        ConsensusClustering(**parameters).fit(X)


def test_prediction_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        ConsensusClustering().predict(X)
    with pytest.raises(NotFittedError):
        _ = ConsensusClustering().labels_


# -- methods by name, and their number of clusters


@pytest.mark.parametrize("name", ["HBGF", "cumulative-voting", "fuzzy_rows"])
def test_a_method_is_selected_by_name(name):
    model = ConsensusClustering(
        name, EnsembleGenerator("kmeans", n_partitions=15), n_clusters=3, random_state=0
    ).fit(X)
    assert type(model.consensus_).__name__.lower() == name.lower().replace("-", "").replace("_", "")
    assert model.consensus_.n_clusters == 3
    assert model.n_clusters_ == 3
    assert clone(model).get_params()["consensus"] == name


def test_n_clusters_overrides_that_of_the_estimator():
    given = EAC(5)
    generator = EnsembleGenerator("kmeans", n_partitions=10)
    model = ConsensusClustering(given, generator, n_clusters=3, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert given.n_clusters == 5
    assert ConsensusClustering(given, generator, random_state=0).fit(X).n_clusters_ == 5
    assert ConsensusClustering(n_clusters=2, generator=generator).fit(X).n_clusters_ <= 2


def test_impossible_requests_are_refused_before_members_are_made():
    class Never(EnsembleGenerator):
        def fit_transform(self, X, y=None):
            raise AssertionError("members were made")

    for parameters in ({"consensus": "hbgf"}, {"consensus": "eac", "n_clusters": 1000}):
        with pytest.raises(ParameterError, match="'n_clusters' parameter of"):
            ConsensusClustering(generator=Never(), **parameters).fit(X)


# -- score


def test_score_is_the_agreement_with_new_members():
    generator = EnsembleGenerator("kmeans", n_partitions=12)
    new = X[:100] + 0.01
    for consensus in (PCC(3), EAC(3)):
        model = ConsensusClustering(consensus, generator, random_state=5).fit(X)
        held_out = clone(model.generator_).set_params(random_state=model._held_out_seed)
        members = held_out.fit_transform(new)
        assert (members != clone(model.generator_).fit_transform(new)).any()
        labels = model.generator_.transform(new)
        found_labels = (
            model.predict(new)
            if hasattr(model, "predict")
            else clone(model.consensus_).fit(labels).labels_
        )
        expected = np.mean(
            [naive.nmi(found_labels.tolist(), m.tolist(), "geometric") for m in members.T]
        )
        assert model.score(new) == pytest.approx(expected)
        assert model.score(new, truth[:100]) == model.score(new)
        refitted = ConsensusClustering(consensus, generator, random_state=5).fit(X)
        assert refitted.score(new) == model.score(new)


@pytest.mark.parametrize(("consensus", "centers"), [(EAC(), 3), ("hbgf", 5)], ids=str)
def test_a_grid_search_finds_the_number_of_clusters(consensus, centers):
    points, _ = make_blobs(120, centers=centers, n_features=6, center_box=(-10, 10), random_state=0)
    generator = EnsembleGenerator("kmeans", n_partitions=15, n_clusters=range(2, 9))
    model = ConsensusClustering(consensus, generator, random_state=0)
    search = GridSearchCV(model, {"n_clusters": range(2, 8)}, cv=2).fit(points)
    assert search.best_params_ == {"n_clusters": centers}
    assert (search.cv_results_["std_test_score"] > 0).any()


def test_score_needs_members_that_label_new_points():
    generator = EnsembleGenerator(
        [DBSCAN(eps=e) for e in np.linspace(0.4, 0.6, 9)], sample_fraction=0.9
    )
    model = ConsensusClustering(EAC(3), generator, random_state=0).fit(X)
    held_out = clone(model.generator_).set_params(random_state=model._held_out_seed)
    assert model.score(X) == anmi(model.labels_, held_out.fit_transform(X))
    with pytest.raises(InputError, match="cannot label new points"):
        model.score(X + 1)
    fixed = FunctionTransformer(lambda points: (points > 0).astype(int))
    with pytest.raises(ParameterError, match="must have a 'random_state' for score"):
        ConsensusClustering(EAC(2), fixed).fit(X).score(X)
    with pytest.raises(NotFittedError):
        ConsensusClustering().score(X)


# -- transform


def test_transform_returns_memberships_in_the_requested_container():
    model = ConsensusClustering(
        PCC(3), EnsembleGenerator("kmeans", n_partitions=15), random_state=0
    )
    names = ["cluster_0", "cluster_1", "cluster_2"]
    frame = pd.DataFrame(X, columns=["x", "y"])
    fitted = clone(model).set_output(transform="pandas").fit(frame)
    k = fitted.membership_.shape[1]
    assert list(fitted.get_feature_names_out())[:3] == names
    frame_out = fitted.transform(frame)
    assert list(frame_out.columns)[:3] == names
    assert frame_out.shape == (240, k)
    np.testing.assert_array_equal(frame_out.to_numpy(), fitted.predict_proba(frame))
    plain = clone(model)
    np.testing.assert_array_equal(plain.fit_transform(X), frame_out.to_numpy())
    assert isinstance(plain.transform(X), np.ndarray)
    np.testing.assert_allclose(plain.transform(X), plain.membership_, atol=0.1)
    step = make_pipeline(model, KMeans(3, n_init=1, random_state=0))
    assert adjusted_rand_score(truth, step.fit_predict(X)) > 0.9
    restored = pickle.loads(pickle.dumps(fitted))
    assert list(restored.transform(frame).columns) == list(frame_out.columns)


# -- at the door


class AnnData:
    """The objects of scanpy: points and tables of labels in one."""

    def __init__(self, n):
        self.shape, self.X = (n, 3), np.zeros((n, 3))
        self.obs = pd.DataFrame({"leiden": ["a", "b"] * (n // 2)})
        self.obsm = {}


def test_annotated_data_is_refused_with_an_alternative():
    adata = AnnData(10)
    for model in (PCC(2), EAC(), Ensemble):
        with pytest.raises(InputError, match=r"Got an AnnData: .* adata.obs\[columns\]"):
            model(adata) if model is Ensemble else model.fit(adata)
    for model in (EnsembleGenerator("kmeans"), ConsensusClustering()):
        with pytest.raises(InputError, match=r"Got an AnnData: pass adata.obsm\['X_pca'\]"):
            model.fit(adata)


def test_text_among_points_is_refused_with_an_alternative():
    numbers = np.arange(12.0).reshape(6, 2)
    frame = pd.DataFrame(numbers, columns=["age", "income"])
    frame["region"] = ["north", "south"] * 3
    frame["id"] = [f"C{i}" for i in range(6)]
    message = r"text in columns 'region', 'id' \('north' at row 0\).*, partitions=X\[categories\]\)"
    for model in (EnsembleGenerator("kmeans"), ConsensusClustering()):
        with pytest.raises(InputError, match=message):
            model.fit(frame)
    with pytest.raises(InputError, match=r"text in columns 2, 3 \('north' at row 0\)"):
        EnsembleGenerator("kmeans").fit(frame.to_numpy(dtype=object))
    with pytest.raises(InputError, match="in columns 'region', 'id'"):
        EnsembleGenerator("kmeans").fit(pl.from_pandas(frame))
    fitted = EnsembleGenerator("kmeans", n_partitions=2, n_clusters=2).fit(frame[["age", "income"]])
    with pytest.raises(InputError, match="'income'"):
        fitted.transform(frame[["age", "income"]].astype({"income": str}).replace("1.0", "much"))
    with pytest.raises(ValueError, match="NaN"):
        EnsembleGenerator("kmeans").fit(np.where(numbers == 3, np.nan, numbers))
    # The advice of the error works.
    made = EnsembleGenerator("kmeans", n_partitions=5, n_clusters=2, random_state=0).fit_transform(
        numbers
    )
    both = Ensemble.concat([Ensemble(frame[["region"]]), Ensemble(made)])
    assert both.shape == (6, 6)


def test_sparse_points_are_refused_with_an_alternative():
    points = csr_array(np.maximum(X, 0))
    for model in (EnsembleGenerator("kmeans"), ConsensusClustering()):
        with pytest.raises(
            SparseInputError, match=r"Sparse data .*, TruncatedSVD\(50\)\.fit_transform\(X\)"
        ):
            model.fit(points)
    model = make_pipeline(TruncatedSVD(1), ConsensusClustering("eac", random_state=0))
    assert model.fit_predict(points).shape == (240,)


def test_the_default_recovers_textbook_blobs():
    X, y = make_blobs(600, centers=6, n_features=10, center_box=(-10, 10), random_state=0)
    for n_clusters in (None, 6):
        model = ConsensusClustering(n_clusters=n_clusters, random_state=0).fit(X)
        assert isinstance(model.consensus_, AutoConsensus)
        assert model.n_clusters_ == 6
        assert adjusted_rand_score(y, model.labels_) == 1.0
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert model.membership_.max(axis=1).mean() > 0.95


def test_the_default_finds_no_clusters_in_noise():
    draws = [np.random.default_rng(seed).uniform(size=(500, 2)) for seed in range(10)]
    found = [
        ConsensusClustering(random_state=seed).fit(X).n_clusters_ for seed, X in enumerate(draws)
    ]
    assert found.count(1) >= 8


def test_a_fit_of_an_array_forgets_the_names_of_columns():
    X = make_blobs(60, 2, random_state=0)[0]
    labels = (X > 0).astype(int)
    for model, data in (
        (ConsensusClustering(random_state=0), X),
        (EnsembleGenerator("kmeans", n_partitions=3, random_state=0), X),
        (EAC(2), labels),
    ):
        model.fit(pd.DataFrame(data, columns=["x", "y"]))
        assert model.feature_names_in_.tolist() == ["x", "y"]
        model.fit(data)
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 2


def test_a_clusterer_or_a_word_as_generator_gets_advice():
    with pytest.raises(ParameterError, match="many times, pass generator=EnsembleGenerator"):
        ConsensusClustering(generator=KMeans(3)).fit(X)
    with pytest.raises(ParameterError, match=r"generator=EnsembleGenerator\('kmeans'\)"):
        ConsensusClustering(generator="kmeans").fit(X)


def test_forgotten_partitions_of_new_points_are_named():
    further = truth[:, None] % 2
    model = ConsensusClustering(random_state=0).fit(X, partitions=further)
    with pytest.raises(InputError, match=r"of shape \(5, 1\)\. Got none instead"):
        model.predict(X[:5])
    with pytest.raises(InputError, match=r"of shape \(5, 1\)\. Got shape \(4, 1\) instead"):
        model.predict(X[:5], partitions=further[:4])


def test_columns_of_further_partitions_are_compared_by_name():
    further = pd.DataFrame({"plan": truth % 2, "region": truth // 2})
    model = ConsensusClustering(random_state=0).fit(X, partitions=further)
    labels = model.predict(X, partitions=further)
    with pytest.raises(InputError, match=r"same order: \['plan', 'region'\]"):
        model.predict(X, partitions=further[["region", "plan"]])
    by_place = further[["region", "plan"]].to_numpy()[:, ::-1]
    np.testing.assert_array_equal(model.predict(X, partitions=by_place), labels)


def test_contradictory_constraints_are_refused_before_the_members_are_made():
    class Unused(EnsembleGenerator):
        def fit_transform(self, X, y=None, **more):
            raise AssertionError("members were made")

    model = ConsensusClustering(generator=Unused())
    with pytest.raises(InputError, match="contradict each other"):
        model.fit(X, must_link=[(0, 1)], cannot_link=[(0, 1)])


def test_a_later_fit_keeps_no_results_of_an_earlier_one():
    model = ConsensusClustering(n_clusters="auto", random_state=0).fit(X)
    assert model.selection_.n_clusters == model.n_clusters_
    model.set_params(n_clusters=2).fit(X)
    fresh = ConsensusClustering(n_clusters=2, random_state=0).fit(X)
    assert not hasattr(model, "selection_")
    assert model.reason_ == fresh.reason_
    assert {name for name in vars(model) if name.endswith("_")} == {
        name for name in vars(fresh) if name.endswith("_")
    }


@pytest.mark.parametrize(
    ("parts", "name", "way"),
    [
        ({}, "generator__n_partitions", "generator=EnsembleGenerator()"),
        ({}, "consensus__linkage", "consensus=AutoConsensus()"),
        ({"consensus": "hbgf"}, "consensus__n_init", "consensus=HBGF()"),
    ],
)
def test_parameters_of_parts_that_are_no_estimators_are_refused_with_the_way(parts, name, way):
    with pytest.raises(ParameterError, match=re.escape(f"no parameter {name!r} if ")) as refused:
        ConsensusClustering(**parts).set_params(**{name: 3})
    assert str(refused.value).endswith(f"make it with {way}.")
    model = ConsensusClustering().set_params(
        generator=EnsembleGenerator(), generator__n_partitions=3
    )
    assert model.generator.n_partitions == 3


def test_with_categories_borders_do_not_count_and_each_has_a_column():
    codes = np.arange(len(X)) % 3
    model = ConsensusClustering(random_state=0).fit(X, partitions=codes[:, None])
    assert "with categories, borders between the points do not count" in model.reason_
    assert "n_clusters='auto'" in model.reason_
    given = ConsensusClustering(n_clusters=3, random_state=0).fit(X, partitions=codes[:, None])
    assert "do not count" not in given.reason_
    with pytest.raises(InputError, match=r"one-dimensional data: pass a table of one column"):
        ConsensusClustering().fit(X, partitions=codes)
