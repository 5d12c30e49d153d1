"""Arrow tables, lazy frames, denormal posteriors, long numbers: read, or refused with a clear error."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import conclust as cc
from conclust import Ensemble
from conclust.exceptions import InputError
from conclust.metrics import contingency

LABELS = np.array([[0, 0, 1], [0, 1, -1], [1, 1, 0], [2, -2, 0]])


def test_arrow_tables_are_read():
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    columns = {"a": [1, 2, 1, None], "b": ["x", "y", "y", None], "c": [0.0, np.nan, 1.0, 1.0]}
    expected = cc.Ensemble(
        np.array([[1, "x", 0], [2, "y", None], [1, "y", 1], [None, None, 1]], dtype=object)
    )
    table = pa.table(columns)
    table = table.set_column(1, "b", table.column("b").dictionary_encode())
    assert cc.Ensemble(table) == expected
    assert cc.Ensemble(pa.RecordBatch.from_pydict(columns)) == expected
    labels = pa.table({f"p{u}": column for u, column in enumerate(LABELS.T)})
    assert cc.Ensemble(labels) == cc.Ensemble(LABELS)
    model = cc.PCC(2, random_state=0).fit(labels)
    assert model.feature_names_in_.tolist() == ["p0", "p1", "p2"]
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    np.testing.assert_array_equal(cc.coassociation(labels), cc.coassociation(LABELS))


def test_lazy_frames_are_collected():
    frame = pl.LazyFrame(LABELS, schema=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=UserWarning, module="conclust")
        assert cc.Ensemble(frame) == cc.Ensemble(LABELS)
        model = cc.EAC(2).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"A lazy frame has no rows yet. Pass X.collect\(\)"):
        cc.EnsembleGenerator(n_partitions=2).fit(frame)


@pytest.mark.parametrize("small", [5e-324, 1e-310])
def test_denormal_posteriors_count_as_zero(small):
    ensemble = cc.Ensemble.from_memberships([[[small, 1], [small, 1], [1, 0]], [[small, 1]] * 3])
    assert ensemble.indicator.data.min() == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for model in (
            cc.ECPCS(2, random_state=0),
            cc.KCC(2, normalized=True, random_state=0),
            cc.CEHM(2),
            cc.LCE(2, similarity="srs", consensus="hierarchical"),
        ):
            assert len(model.fit(ensemble).labels_) == 3


def test_long_values_are_shortened_in_messages():
    with pytest.raises(InputError, match="Got an int of 16610 bits in partition 0"):
        cc.Ensemble([[10**5000], [1]])
    with pytest.raises(InputError) as refusal:
        cc.Ensemble(LABELS, weights="a" * 9000)
    assert len(str(refusal.value)) < 400
    with pytest.raises(ValueError, match="Got an int of 16610 bits instead"):
        cc.PCC(-(10**5000)).fit(LABELS)


@pytest.mark.parametrize("factor", [1e160, 1e-200])
def test_points_of_any_magnitude_are_clustered(factor):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 5 * labels[:, None]
    members = np.column_stack([labels, rng.integers(0, 2, 40), rng.integers(0, 3, 40)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gaps = cc.confidence.cluster_gaps(X * factor, labels, random_state=0)
        features = cc.confidence.cluster_features(X * factor, labels)
        weights = cc.weighting.validity_weights(members, X * factor, random_state=0)
    usual = cc.confidence.cluster_gaps(X, labels, random_state=0)
    np.testing.assert_allclose(gaps.dip, usual.dip, rtol=1e-9)
    plain = cc.confidence.cluster_features(X, labels)
    np.testing.assert_allclose(features.difference, plain.difference, rtol=1e-9)
    np.testing.assert_allclose(features.inside, plain.inside * factor, rtol=1e-9)
    np.testing.assert_allclose(
        weights, cc.weighting.validity_weights(members, X, random_state=0), rtol=1e-9
    )
    assert weights[0] == 1.0
    assert weights[1:].max() < 0.5


def test_large_integers_stay_different_in_columns_with_empty_cells():
    arrow = pytest.importorskip("pyarrow")
    values = [2**60, None, 2**60 + 1, 2**60]
    columns = (
        pl.Series(values),
        pd.Series(values, dtype="Int64"),
        pd.Series(values, dtype="int64[pyarrow]"),
        arrow.array(values),
        pd.Categorical(values),
        pd.Series(pd.Categorical(values)),
    )
    for column in columns:
        np.testing.assert_array_equal(
            contingency(column, list("aabc")).table, [[1, 0, 1], [0, 1, 0]]
        )
    frames = (
        pl.DataFrame({"x": values}),
        pl.LazyFrame({"x": values}),
        pd.DataFrame({"x": columns[1]}),
        pd.DataFrame({"x": columns[2]}),
        pd.DataFrame({"x": columns[4]}),
        arrow.table({"x": values}),
    )
    for frame in frames:
        np.testing.assert_array_equal(Ensemble(frame).labels.ravel(), [0, -1, 1, 0])
        assert Ensemble(frame).names == ((2**60, 2**60 + 1),)
    small = pl.DataFrame({"x": [3, None, 4, 3]})
    np.testing.assert_array_equal(Ensemble(small).labels.ravel(), [0, -1, 1, 0])


@pytest.mark.parametrize("names", [range(6), list("abcdef")])
def test_a_graph_in_place_of_points_or_labels_is_refused(names):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([(names[i], names[(i + 1) % 6]) for i in range(6)])
    calls = (
        lambda: cc.ConsensusClustering().fit(graph),
        lambda: cc.EnsembleGenerator().fit(graph),
        lambda: cc.TopicConsensus().fit(graph),
        lambda: cc.MultiViewGenerator().fit([graph, graph]),
        lambda: cc.EAC(2).fit(graph),
        lambda: cc.metrics.adjusted_rand_index(graph, graph),
    )
    for call in calls:
        with pytest.raises(InputError, match=r"Got a graph, Graph: conclust\.GraphConsensus"):
            call()
    # Columns of a frame are its attributes.
    frame = pd.DataFrame({"is_directed": [0, 0, 1, 1], "to_directed": [0, 0, 1, 0]})
    assert Ensemble(frame).n_partitions == 2


def test_series_with_the_same_row_names_in_another_order_are_not_compared():
    one = pd.Series([0, 0, 1, 1], index=list("abcd"))
    other = pd.Series([1, 1, 1, 0], index=list("dcba"))
    X = pd.DataFrame([[0.0, 1.0], [1.0, 0.0], [5.0, 4.0], [4.0, 5.0]], index=list("abcd"))
    calls = (
        lambda other: cc.metrics.adjusted_rand_index(one, other),
        lambda other: cc.metrics.relabel(one, other),
        lambda other: cc.metrics.labels_like(one, other),
        lambda other: cc.metrics.names_from(one, other),
        lambda other: cc.metrics.anmi(other, one.to_frame()),
        lambda other: cc.metrics.js_divergence(*(pd.get_dummies(s) for s in (one, other))),
        lambda other: cc.lattice.meet(one, other),
        lambda other: cc.lattice.is_finer(other, one),
        lambda other: cc.metrics.expected_loss(one.to_frame(), other),
        lambda other: cc.confidence.credible_ball(one.to_frame(), other),
        lambda other: cc.confidence.object_confidence(other, one.to_frame()),
        lambda other: cc.confidence.cluster_features(X, other),
        lambda other: cc.confidence.cluster_categories(other.to_frame(), one),
        lambda other: cc.confidence.cluster_gaps(X, other, n_draws=1, n_splits=1),
    )
    for call in calls:
        with pytest.raises(InputError, match="in another order"):
            call(other)
        call(other[::-1])
        call(other.reset_index(drop=True))  # without names
    with pytest.raises(InputError, match="in another order"):
        cc.confidence.border_tests(X, other)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([5, 6, 7, 8], pd.Index([5, 6, 7, 8], dtype="Int64")),  # equal, but not to pandas
        ([0, 1, 2, 0], [0, 1, 0, 2]),  # of pieces of different lengths, concatenated
        (list("abcd"), pd.CategoricalIndex(list("abcd"))),
        (list("abcd"), pd.Index(list("abcd"), dtype="string")),
        ([3, 1, 2, 0], [4, 1, 2, 0]),  # of rows that were filtered
    ],
)
def test_rows_without_another_order_are_compared(first, second):
    labels = [0, 0, 1, 1]
    one, other = pd.Series(labels, index=first), pd.Series(labels, index=second)
    assert cc.metrics.adjusted_rand_index(one, other) == 1.0
    assert cc.metrics.adjusted_rand_index(other, one) == 1.0


def test_repeated_text_in_another_order_is_refused():
    one = pd.Series([0, 0, 1, 1], index=list("aabb"))
    with pytest.raises(InputError, match="in another order"):
        cc.metrics.adjusted_rand_index(one, one[::-1])


def test_a_dict_of_columns_or_nodes_is_refused_with_the_way_to_read_it():
    labels = {"one": [0, 0, 1], "two": [1, 0, 0]}
    for call in (Ensemble, cc.EAC(2).fit):
        with pytest.raises(InputError, match=r"Got a dict: .*column_stack.*from_communities"):
            call(labels)
