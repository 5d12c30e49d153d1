import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from conclust import EAC, ConsensusClustering, EnsembleGenerator, MultiViewGenerator
from conclust.exceptions import InputError
from conclust.metrics import adjusted_rand_index
from conclust.similarity import cluster_certainty

KMEANS = EnsembleGenerator("kmeans", n_clusters=4)


@pytest.fixture
def views():
    """Two views that show half of four kinds each, and one of noise with many columns."""
    rng = np.random.default_rng(0)
    kind = np.repeat(range(4), 30)
    left = 6.0 * np.eye(2)[kind // 2] + rng.normal(size=(120, 2))
    parity = 6.0 * np.eye(2)[kind % 2] + rng.normal(size=(120, 2))
    return {"left": left, "parity": parity, "noise": 3.0 * rng.normal(size=(120, 50))}, kind


def test_members_come_from_each_view_and_from_unions(views):
    parts, _ = views
    makes = MultiViewGenerator(KMEANS, 25, union_share=0.4, random_state=0).fit(parts)
    assert makes.ensemble_.n_partitions == len(makes.views_) == 25
    singles = [of for of in makes.views_ if len(of) == 1]
    assert [singles.count((name,)) for name in parts] == [5, 5, 5]
    unions = {of for of in makes.views_ if len(of) > 1}
    assert len(unions) == 4
    assert all(set(of) <= set(parts) for of in unions)
    # The members of a view equal those of its generator.
    of_left = makes.generators_["left",].transform(parts["left"])
    np.testing.assert_array_equal(
        EAC(3).fit_predict(of_left), EAC(3).fit_predict(makes.ensemble_.labels[:, :5])
    )


def test_weights_are_mean_certainties_and_lower_for_noise(views):
    parts, _ = views
    makes = MultiViewGenerator(KMEANS, 30, union_share=0.0, random_state=0).fit(parts)
    expected = []
    for name in parts:
        labels = makes.ensemble_.labels[:, [of == (name,) for of in makes.views_]]
        certain = cluster_certainty(labels)
        at = 0
        for column in labels.T:
            sizes = [np.count_nonzero(column == c) for c in dict.fromkeys(column.tolist())]
            expected.append(np.dot(certain[at : at + len(sizes)], sizes) / len(column))
            at += len(sizes)
    np.testing.assert_allclose(makes.weights_, np.array(expected) / np.mean(expected))
    np.testing.assert_allclose(makes.ensemble_.weights, makes.weights_)
    mean = {name: makes.weights_[[of == (name,) for of in makes.views_]].mean() for name in parts}
    assert mean["noise"] < min(mean["left"], mean["parity"])
    plain = MultiViewGenerator(KMEANS, 6, weigh=False, random_state=0).fit(parts)
    assert plain.ensemble_.weights is None


def test_a_union_weights_views_equally_at_any_scale(views):
    parts, _ = views
    scaled = {name: part * (1000.0 if name == "noise" else 1.0) for name, part in parts.items()}
    a, b = (
        MultiViewGenerator(KMEANS, 12, union_share=1.0, random_state=1).fit(each).ensemble_.labels
        for each in (parts, scaled)
    )
    agree = [adjusted_rand_index(x, y) for x, y in zip(a.T, b.T, strict=True)]
    assert min(agree) > 0.9


def test_all_forms_of_views_agree(views):
    parts, _ = views
    makes = MultiViewGenerator(KMEANS, 8, random_state=2)
    expected = makes.fit_transform(parts)
    frames = {name: pd.DataFrame(view) for name, view in parts.items()}
    np.testing.assert_array_equal(makes.fit_transform(frames), expected)
    np.testing.assert_array_equal(makes.fit_transform(list(parts.values())), expected)
    np.testing.assert_array_equal(clone(makes).set_params(n_jobs=2).fit_transform(parts), expected)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"a": [[0.0], [1.0]]}, "two views or more. Got 1"),
        ({"a": [[0.0], [1.0]], "b": [[0.0], [1.0], [2.0]]}, r"same objects.*\{'a': 2, 'b': 3\}"),
        (np.eye(3), "such as"),
        (3, "Got int"),
    ],
)
def test_invalid_views_are_refused(X, words):
    with pytest.raises(InputError, match=words):
        MultiViewGenerator().fit(X)


@pytest.mark.parametrize(
    "model", [EnsembleGenerator("kmeans", 3), ConsensusClustering(n_clusters=2)]
)
def test_several_matrices_are_refused_with_the_class_that_takes_them(model):
    points = np.random.default_rng(0).normal(size=(60, 3))
    for views, kind in (({"a": points, "b": points[:, :2]}, "dict"), ([points, points], "list")):
        with pytest.raises(InputError, match=f"MultiViewGenerator makes members of a {kind}"):
            model.fit(views)
    with pytest.raises(InputError, match=r"Got set\."):
        EnsembleGenerator("kmeans", 3).fit({1, 2})
    assert EnsembleGenerator("kmeans", 3).fit_transform([row.tolist() for row in points]).shape == (
        60,
        3,
    )


def test_a_member_that_is_all_noise_has_no_weight():
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(60, 3)), rng.normal(size=(60, 4))]
    noisy = EnsembleGenerator(["kmeans", DBSCAN(eps=1e-9)], scale=None, sample_fraction=0.9)
    made = MultiViewGenerator(noisy, n_partitions=8, random_state=0).fit(views)
    all_noise = (np.asarray(made.ensemble_.labels) < 0).all(axis=0)
    assert all_noise.any()
    assert not all_noise.all()
    assert ((made.weights_ == 0) == all_noise).all()
    only_noise = EnsembleGenerator([DBSCAN(eps=1e-9)], scale=None, sample_fraction=0.9)
    made = MultiViewGenerator(only_noise, n_partitions=4, union_share=0, random_state=0).fit(views)
    assert (made.weights_ == 1).all()


def test_rows_in_another_order_are_refused(views):
    points = np.random.default_rng(0).normal(size=(60, 3))
    one = pd.DataFrame(points, index=[f"o{i}" for i in range(60)])
    other = one.sample(frac=1, random_state=0)
    with pytest.raises(
        InputError, match="The rows of 'b' have the names of those of 'a', in another order"
    ):
        MultiViewGenerator(random_state=0).fit({"a": one, "b": other})
    MultiViewGenerator(n_partitions=4, random_state=0).fit({"a": one, "b": other.loc[one.index]})
    further = pd.DataFrame({"k": np.arange(60) % 2}, index=other.index)
    with pytest.raises(InputError, match="The rows of 'partitions' have the names of those of 'X'"):
        ConsensusClustering().fit(one, partitions=further)


def test_members_of_digits_with_missing_halves_equal_the_trees_of_scikit_learn():
    X = load_digits().data[:600]
    halves = {"top": X[:, :32].copy(), "bottom": X[:, 32:].copy()}
    halves["top"][::3], halves["bottom"][1::5] = np.nan, np.nan
    trees = [AgglomerativeClustering(10, linkage=linkage) for linkage in ("ward", "complete")]
    makes = MultiViewGenerator(EnsembleGenerator(trees, scale=None), 6, union_share=1 / 3)
    labels = makes.fit(halves).ensemble_.labels
    assert makes.views_[::2] == [("top",), ("bottom",), ("top", "bottom")]
    for u, names in enumerate(makes.views_):
        seen = ~np.any([np.isnan(halves[name]).any(axis=1) for name in names], axis=0)
        points = [halves[name][seen] for name in names]
        if len(points) > 1:
            points = [(half - half.mean(axis=0)) / half.var(axis=0).sum() ** 0.5 for half in points]
        expected = trees[u % 2].fit_predict(np.hstack(points))
        assert adjusted_rand_score(expected, labels[seen, u]) == 1.0
        np.testing.assert_array_equal(labels[:, u] == -1, ~seen)


def test_views_without_a_common_object_have_no_union(views):
    parts, _ = views
    parts["left"][::2], parts["parity"][1::2] = np.nan, np.nan
    with pytest.raises(InputError, match=r"views 'left', 'parity' and 'noise'\. .* union_share=0"):
        MultiViewGenerator(KMEANS, 30, random_state=0).fit(parts)


def test_gaps_of_a_view_are_named_by_the_view():
    points = np.random.default_rng(0).normal(size=(30, 2))
    for value, said in ((np.nan, r"NaN in column 1 \(1 row\)"), (np.inf, "infinity in column 1")):
        gap = points.copy()
        gap[3, 1] = value
        with pytest.raises(InputError, match=f"left'? contains {said}"):
            MultiViewGenerator().fit({"right": points, "left": gap})


def test_views_of_one_name_are_refused(views):
    points = views[0]
    with pytest.raises(InputError, match=r"views must have different names\. Got '1'"):
        MultiViewGenerator().fit({"1": points["left"], 1: points["parity"], "c": points["noise"]})


def test_views_of_partly_other_objects_are_refused():
    points = np.random.default_rng(0).normal(size=(30, 2))
    one = pd.DataFrame(points, index=[f"o{i}" for i in range(30)])
    other = pd.DataFrame(points, index=[f"o{i}" for i in range(1, 31)])
    with pytest.raises(InputError, match=r"different objects: they share 29 of 30 names.*'o30'"):
        MultiViewGenerator().fit({"a": one, "b": other})
    # Numbers may count rows before some were left out, and groups are no names of objects.
    numbered = one.set_axis(range(10, 40))
    grouped = one.set_axis(["o1", "o2"] * 15)
    for rows in (one.reset_index(drop=True), numbered, grouped):
        MultiViewGenerator(KMEANS, n_partitions=4, random_state=0).fit({"a": one, "b": rows})
        MultiViewGenerator(KMEANS, n_partitions=4, random_state=0).fit({"a": numbered, "b": rows})


def test_a_union_does_not_lose_a_view_of_huge_numbers(views):
    points = views[0]
    usual = {"left": points["left"], "parity": points["parity"]}
    huge = {"left": points["left"], "parity": points["parity"] * 2.0**600}
    only_unions = MultiViewGenerator(KMEANS, n_partitions=6, union_share=1.0, random_state=0)
    expected = only_unions.fit(usual).ensemble_.labels
    np.testing.assert_array_equal(only_unions.fit(huge).ensemble_.labels, expected)
