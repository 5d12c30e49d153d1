"""A consensus as columns of the user's frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from tests.cases import planted

import conclust as cc
from conclust.confidence import confidences
from conclust.exceptions import EvidenceWarning, InputError, ParameterError

LABELS, _ = planted(seed=2, n=30, m=6, k=3, flip=0.2)
SOFT = cc.PCC(3, random_state=0).fit(LABELS)
HARD = cc.EAC(3).fit(LABELS)


class Places(pd.DataFrame):
    """A frame with state besides its columns, like GeoDataFrame."""

    _metadata = ["crs"]  # noqa: RUF012

    @property
    def _constructor(self):
        return Places


def test_columns_follow_the_attributes_of_the_model():
    frame = cc.to_frame(SOFT)
    width = SOFT.membership_.shape[1]
    assert frame.columns.tolist() == [
        "label",
        "confidence",
        *(f"cluster_{k}" for k in range(width)),
    ]
    np.testing.assert_array_equal(frame["label"], SOFT.labels_)
    np.testing.assert_array_equal(frame["confidence"], confidences(SOFT, LABELS))
    np.testing.assert_array_equal(frame.iloc[:, 2:], SOFT.membership_)
    assert cc.to_frame(HARD).columns.tolist() == ["label"]
    printed = cc.to_frame(HARD, ensemble=LABELS)
    np.testing.assert_array_equal(printed["confidence"], confidences(HARD, LABELS))


@pytest.mark.parametrize("soft", [True, False])
def test_a_pipeline_supplies_its_members(soft):
    X, _ = make_blobs(60, random_state=0)
    consensus = cc.PCC() if soft else cc.EAC()
    model = cc.ConsensusClustering(consensus, n_clusters=3, random_state=0).fit(X)
    np.testing.assert_array_equal(cc.to_frame(model)["confidence"], confidences(model))
    assert ("cluster_0" in cc.to_frame(model)) == soft


def test_pandas_frames_keep_their_index_and_columns():
    given = Places({"town": list(map(str, range(30)))}, index=pd.RangeIndex(100, 130, name="id"))
    given.crs = "EPSG:4326"
    actual = cc.to_frame(SOFT, given)
    assert type(actual) is Places
    assert actual.crs == "EPSG:4326"
    pd.testing.assert_index_equal(actual.index, given.index)
    assert actual.columns.tolist()[:3] == ["town", "label", "confidence"]
    assert given.columns.tolist() == ["town"]
    index = pd.MultiIndex.from_product([["a", "b", "c"], range(10)])
    pd.testing.assert_index_equal(cc.to_frame(HARD, index).index, index)
    assert cc.to_frame(HARD, [f"o{i}" for i in range(30)]).index[2] == "o2"


@pytest.mark.filterwarnings("error")
def test_frames_with_columns_of_several_levels_keep_them():
    model = cc.PCC(2, random_state=0).fit([[0, 0], [0, 0], [1, 1]])
    frame = pd.DataFrame(np.eye(3), columns=pd.MultiIndex.from_product([["a"], list("xyz"), ["p"]]))
    actual = cc.to_frame(model, frame)
    assert actual.columns[3:5].tolist() == [("label", "", ""), ("confidence", "", "")]
    pd.testing.assert_frame_equal(actual.iloc[:, :3], frame)
    np.testing.assert_array_equal(actual["label"].to_numpy().ravel(), model.labels_)
    with pytest.raises(InputError, match=r"has columns \['label'\] already"):
        cc.to_frame(model, frame.rename(columns={"a": "label"}))


def test_names_that_are_tuples_are_not_levels():
    model = cc.PCC(2, random_state=0).fit([[0, 0], [0, 0], [1, 1]])
    names = pd.Index([("label", "mean"), ("label", "max")], tupleize_cols=False)
    actual = cc.to_frame(model, pd.DataFrame(np.eye(3)[:, :2], columns=names))
    assert actual.columns[:3].tolist() == [*names, "label"]


def test_polars_frames_keep_their_columns():
    given = pl.DataFrame({"town": list(map(str, range(30)))})
    actual = cc.to_frame(SOFT, given)
    assert isinstance(actual, pl.DataFrame)
    assert actual.columns[:3] == ["town", "label", "confidence"]
    assert actual["label"].to_list() == SOFT.labels_.tolist()
    alone = cc.to_frame(HARD, given["town"])
    assert alone.columns == ["town", "label"]
    assert actual["label"].dtype == pl.Int64


def test_unclustered_objects_have_label_minus_one():
    labels = LABELS.copy()
    labels[4] = -1
    with pytest.warns(EvidenceWarning):
        model = cc.PCC(3, random_state=0).fit(labels)
    frame = cc.to_frame(model)
    assert frame["label"].iloc[4] == -1
    assert np.isnan(frame["confidence"].iloc[4])
    np.testing.assert_array_equal(frame["confidence"], confidences(model, labels))


def test_a_result_without_a_cluster_has_a_frame():
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = cc.TopicConsensus(n_members=2, min_topic_size=29, random_state=0).fit(X)
    assert model.n_clusters_ == 0
    frame = cc.to_frame(model)
    assert (frame["label"] == -1).all()
    assert frame["confidence"].isna().all()


def test_a_prefix_distinguishes_two_results():
    both = cc.to_frame(HARD, cc.to_frame(SOFT), prefix="eac_")
    assert both.columns.tolist()[-1] == "eac_label"
    for frame in (cc.to_frame(SOFT), pl.DataFrame({"label": range(30)})):
        with pytest.raises(InputError, match=r"columns \['label'\] already"):
            cc.to_frame(HARD, frame)
    with pytest.raises(InputError, match="already"):
        cc.to_frame(HARD, pl.Series("label", range(30)))


def test_invalid_arguments_are_refused():
    with pytest.raises(InputError, match="Got 3 rows, and there are 30 labels"):
        cc.to_frame(HARD, [1, 2, 3])
    with pytest.raises(InputError, match="Collect it"):
        cc.to_frame(HARD, pl.DataFrame({"a": range(30)}).lazy())
    with pytest.raises(NotFittedError):
        cc.to_frame(cc.EAC())
    with pytest.raises(ParameterError, match="'prefix'"):
        cc.to_frame(HARD, prefix=None)


def test_other_things_than_a_model_and_its_objects_are_refused():
    with pytest.raises(InputError, match=r"takes a fitted estimator\. Got an ndarray"):
        cc.to_frame(HARD.labels_)
    with pytest.raises(InputError, match=r"or a list of names\. Got an ndarray of shape \(30, 6\)"):
        cc.to_frame(HARD, LABELS + np.arange(6) / 7)
