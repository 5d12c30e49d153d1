"""Correspondence of labels: exact, one to one, and in the names of the reference."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust.exceptions import InputError
from conclust.measures import matching
from conclust.measures.contingency import contingency
from conclust.measures.matching import best_matching, match, names_from, relabel

tables = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def shared(table, rows, columns):
    return int(table.table[rows, columns].sum())


def best_by_force(table):
    dense = table.table if table.shape[0] <= table.shape[1] else table.table.T
    k, j = dense.shape
    return max(int(dense[range(k), list(chosen)].sum()) for chosen in permutations(range(j), k))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(tables)
def test_dense_and_sparse_matchings_are_optimal(labels):
    table = contingency(*labels)
    rows, columns = best_matching(table)
    assert len(rows) == len(columns) == min(table.shape)
    assert shared(table, rows, columns) == best_by_force(table)
    rows, columns = matching._sparse_matching(table)
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert shared(table, rows, columns) == best_by_force(table)


def test_large_tables_are_matched_sparsely(monkeypatch):
    rng = np.random.default_rng(0)
    a = rng.integers(300, size=2000)
    b = np.where(rng.random(2000) < 0.5, a, rng.integers(400, size=2000))
    table = contingency(a, b)
    expected = shared(table, *best_matching(table))
    monkeypatch.setattr(matching, "DENSE_CELLS", 0)
    assert shared(table, *best_matching(table)) == expected


def test_match_gives_the_names_of_the_reference():
    reference = ["a", "a", "b", "b", "c"]
    assert match(reference, [3, 3, 1, 1, 2]) == {3: "a", 1: "b", 2: "c"}
    assert relabel(reference, [3, 3, 1, 1, 2]).tolist() == reference


def test_surplus_clusters_get_new_names():
    assert match([0, 0, 5, 5, 5, 5], [7, 7, 8, 8, 9, 6]) == {7: 0, 8: 5, 9: 6, 6: 7}
    assert match(["new 1", "new 1", "b"], [0, 1, 2]) == {0: "new 1", 1: "new 2", 2: "b"}


@settings(derandomize=True, max_examples=100, deadline=None)
@given(tables)
def test_relabel_keeps_the_partition(labels):
    reference, other = labels
    renamed = relabel(reference, other)
    assert contingency(other, renamed).identical
    assert relabel(reference, renamed).tolist() == renamed.tolist()
    if len(set(other)) <= len(set(reference)):
        assert set(renamed.tolist()) <= set(reference)


def test_missing_labels_and_noise_are_kept():
    actual = relabel([0, 0, 1, 1, -1, -2], [5, 5, 9, 9, -2, -1])
    assert actual.tolist() == [0, 0, 1, 1, -2, -1]
    assert actual.dtype == np.int64
    names = relabel(["a", "a", "b", None], [1, None, 0, -2])
    assert names.tolist() == ["a", None, "b", -2]


def test_noise_is_not_matched():
    # All objects of cluster 4 are noise in the reference: it gets the remaining name.
    assert match([-2, -2, 0, 1], [4, 4, 8, -2]) == {4: 1, 8: 0}
    assert match([-2, -2, 1], [0, 0, -2]) == {0: 1}


def test_names_without_shared_objects_are_given_away_last():
    assert match([0, 0, 3, -1], [6, 6, -1, 7]) == {6: 0, 7: 3}


def test_incomparable_labels_are_refused():
    with pytest.raises(InputError, match="the same length"):
        match([0, 1], [0, 1, 1])
    with pytest.raises(InputError, match="No object has a label in both"):
        relabel([0, -1], [-1, 0])


# ----------------------------------------------------------------------- names after classes


def names_by_counting(labels, classes):
    """Name clusters in rising order: count classes, most objects first among clusters of one class."""
    actual = {}
    for k in sorted({label for label in labels if label >= 0}):
        there = [
            c for label, c in zip(labels, classes, strict=True) if label == k and c is not None
        ]
        counts = {c: there.count(c) for c in classes if c in there}
        top = max(counts.values(), default=0)
        best = [c for c, n in counts.items() if n == top]
        actual[k] = (best, top, top / len(there) if there else None)
    return actual


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(-2, 3), min_size=n, max_size=n),
            st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n),
        )
    )
)
def test_clusters_have_the_names_of_their_largest_class(case):
    labels, classes = case
    named = names_from(labels, classes)
    expected = names_by_counting(labels, classes)
    assert len(named.names) == len(set(named.names)) == len(expected)
    for at, (k, (best, top, share)) in enumerate(expected.items()):
        if not best:
            assert named.names[at] == f"cluster {k}"
            assert np.isnan(named.shares[at])
        else:
            assert named.names[at].split(" ")[0] == best[0]
            assert named.shares[at] == share
        assert named.ties[at] == (tuple(best) if len(best) > 1 else ())
        plain = [
            i for i, (b, _, _) in enumerate(expected.values()) if b and best and b[0] == best[0]
        ]
        if best and named.names[at] == best[0]:
            assert top == max(list(expected.values())[i][1] for i in plain)
    for label, name in zip(labels, named.labels, strict=True):
        assert name == (None if label < 0 else named.names[sorted(expected).index(label)])


def test_names_in_use_are_skipped():
    named = names_from([0, 0, 0, 1, 1, 2], ["T", "T", "T", "T", "T", "T 2"])
    assert named.names == ("T", "T 3", "T 2")


def test_clusters_with_names_are_in_order_of_appearance():
    named = names_from(["b", "b", "a"], [1, 1, 2])
    assert named.names == ("1", "2")
    assert named.labels.tolist() == ["1", "1", "2"]


def test_no_two_clusters_have_one_name():
    named = names_from([0, 0, 1, 1, 2, 2], ["cluster 1", "cluster 1", None, None, "B", "B"])
    assert named.names == ("cluster 1", "cluster 1 2", "B")
    assert names_from([0, 0, 1, 1], [1, 1, "1", "1"]).names == ("1", "1 2")
