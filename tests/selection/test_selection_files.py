"""Selections in files: saved ones are restored, and damaged ones are refused."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.forging import forge

import conclust
from conclust import Ensemble, report
from conclust.confidence import BorderTests
from conclust.exceptions import FileFormatError, InputError
from conclust.selection import Selection, choose, choose_from

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")
X, _ = make_blobs(60, centers=3, n_features=3, cluster_std=0.7, random_state=1)
QUICK = {"n_resamples": 6, "n_references": 19}


def chosen(**changes):
    return choose(X, [2, 3, 5], **{**QUICK, "random_state": 0, **changes})


KINDS = {
    "points": chosen,
    "many objects": lambda: chosen(max_dense=20, n_pairs=1000, max_test=40),
    "no null": lambda: chosen(null=None, random_state=None),
    "several": lambda: choose_from(
        {
            2: [[0, 0], [0, 1], [1, 1]],
            3: np.array([["a", "b", "c"], ["a", "b", "b"], ["b", "", "a"]]),
        }
    ),
    "one ensemble": lambda: choose_from(chosen().ensembles[3], [2, 4]),
    "one cluster": lambda: choose_from(np.zeros((12, 4), dtype=int)),
}


def alike(one, other):
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    if isinstance(one, BorderTests):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if hasattr(one, "table"):
        return alike(one.table, other.table) and one.sampled == other.sampled
    return one == other or (one != one and other != other)


# Few resamples leave pairs without evidence.
@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_selection_is_read_back_unchanged(kind, tmp_path):
    actual = KINDS[kind]()
    actual.save(tmp_path / "s.npz")
    restored = conclust.load(tmp_path / "s.npz")
    for each in fields(Selection):
        assert alike(getattr(actual, each.name), getattr(restored, each.name)), each.name
    shared = len({id(one) for one in actual.ensembles.values()})
    assert len({id(one) for one in restored.ensembles.values()}) == shared
    np.testing.assert_array_equal(restored.labels_, actual.labels_)
    np.testing.assert_array_equal(restored.consensus_matrix(2), actual.consensus_matrix(2))
    restored.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "s.npz").read_bytes()
    given = {"pictures": False, "max_objects": 5}
    assert repr(report.account(restored, **given)) == repr(report.account(actual, **given))


def test_unknown_entries_are_refused(tmp_path):
    names = np.empty((3, 2), dtype=object)
    names[:, 0] = ["a", "a", "b"]
    names[:, 1] = ["a", "b", "half of a pair: \ud800"]
    with pytest.raises(InputError, match="surrogate"):
        choose_from(Ensemble(names), [2]).save(tmp_path / "s.npz")
    assert not (tmp_path / "s.npz").exists()


def changed(at, value):
    def make(array):
        array = array.copy()
        array[at] = value
        return array

    return make


DAMAGE = {
    "no words": ("Selection", "reason", lambda _: None),
    "number of clusters": ("Selection", "n_clusters", lambda _: 2.5),
    "p-value": ("Selection", "p_value", lambda _: 1.5),
    "borders": ("Selection", "borders", lambda _: 7),
    "a column is lost": ("Selection", "table", lambda t: {"dict": [[t["dict"][0][0], 1]]}),
    "k falls": ("Selection", "k", lambda a: a[::-1].copy()),
    "k of another type": ("Selection", "k", lambda a: a.astype(float)),
    "null": ("Selection", "null", lambda a: a[:, :-1]),
    "leaves": ("Selection", "leaves", lambda t: {"dict": t["dict"][::-1]}),
    "neighbours": ("BorderTests", "neighbours", lambda a: a[:1]),
    "merges": ("BorderTests", "merges", lambda _: {"tuple": [{"record": 0}]}),
    "pairs": ("PairCounts", "table", lambda a: a[:-1]),
    "pairs below none": ("PairCounts", "table", changed((1, 0), -1)),
    "more together than seen": ("PairCounts", "table", changed((1, 3), 1)),
    "codes": ("Ensemble", "codes", lambda a: a[:, :-1]),
    "cluster counts": ("Ensemble", "cluster_counts", changed(0, 2**40)),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("selection") / "s.npz"
    chosen().save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused_in_one_sentence(name, saved, tmp_path):
    path = tmp_path / "s.npz"
    path.write_bytes(saved)
    conclust.load(path)
    forge(path, *DAMAGE[name])
    with pytest.raises(FileFormatError, match=r"s\.npz"):
        conclust.load(path)


def test_truncated_and_foreign_files_are_refused(saved, tmp_path):
    path = tmp_path / "s.npz"
    path.write_bytes(saved[: len(saved) // 2])
    with pytest.raises(FileFormatError, match="cut off"):
        conclust.load(path)
    with pytest.raises(FileNotFoundError):
        conclust.load(tmp_path / "nowhere.npz")
