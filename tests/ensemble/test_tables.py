"""Ensembles from tables: joined by identifiers, and in long form, against loops over dicts."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conclust import PCC, Ensemble
from conclust.exceptions import EvidenceWarning, InputError, ParameterError
from conclust.metrics import adjusted_rand_index


def naive_join(tables, on, objects):
    """Look up every cell separately."""
    columns = []
    for table in tables.values():
        for name in table:
            if name != on:
                label_of = dict(zip(table[on], table[name], strict=True))
                columns.append([label_of.get(one) for one in objects])
    return [list(row) for row in zip(*columns, strict=True)]


def places(seed, text=False):
    rng = np.random.default_rng(seed)
    every = [f"p{i:03d}" for i in range(40)]
    tables = {}
    for name, width in (("north", 2), ("south", 1), ("west", 3)):
        ids = rng.permutation(every)[: rng.integers(15, 35)].tolist()
        table = {"id": ids}
        for u in range(width):
            values = rng.integers(-2, 4, len(ids))
            table[f"run {u}"] = [f"c{v}" for v in values] if text else values
        tables[name] = table
    objects = sorted(set().union(*(table["id"] for table in tables.values())))
    return tables, objects


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("text", [False, True])
def test_join_looks_up_every_cell(kind, text):
    tables, objects = places(0, text)
    wanted = Ensemble(naive_join(tables, "id", objects))
    given = {name: kind(table) for name, table in tables.items()}
    joined = Ensemble.join(given, on="id")
    assert joined == wanted
    assert joined.names == wanted.names
    assert joined.shape == (len(objects), 6)


def test_the_order_of_rows_in_tables_changes_nothing():
    tables, objects = places(1)
    joined = Ensemble.join(tables, on="id")
    turned = {
        name: {column: list(values)[::-1] for column, values in table.items()}
        for name, table in tables.items()
    }
    assert Ensemble.join(turned, on="id") == joined
    order = objects[::-1]
    backwards = Ensemble.join(tables, on="id", objects=order)
    np.testing.assert_array_equal(backwards.present, joined.present[::-1])


def test_missing_noise_and_absent_objects_are_distinguished():
    a = {"id": [1, 2, 3], "a": [0, -1, -2]}
    b = {"id": [3, 4], "b": [7, 7]}
    plain = Ensemble.join({"a": a, "b": b}, "id").labels
    np.testing.assert_array_equal(plain, [[0, -1], [-1, -1], [-2, 0], [-1, 0]])
    noisy = Ensemble.join({"a": a, "b": b}, "id", missing="noise").labels
    np.testing.assert_array_equal(noisy, [[0, -1], [-2, -1], [-2, 0], [-1, 0]])
    words = {"id": [1, 2, 3], "a": ["x", "-1", None]}
    labels = Ensemble.join({"a": words, "b": b}, "id", missing="noise").labels
    np.testing.assert_array_equal(labels, [[0, -1], [-2, -1], [-1, 0], [-1, 0]])
    frame = pd.DataFrame({"id": [1, 3], "a": pd.array([1, None], dtype="Int64")})
    np.testing.assert_array_equal(
        Ensemble.join({"f": frame, "b": b}, "id").labels, [[0, -1], [-1, 0], [-1, 0]]
    )
    weighted = Ensemble.join({"a": a, "b": b}, "id", weights=[1, 3])
    assert weighted.weights.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"a": {"x": [1], "l": [0]}}, "Table 'a' has no column 'id'. It has: x, l."),
        ({"a": {"id": [1, 1], "l": [0, 1]}}, "Table 'a' has the identifier 1 more than once."),
        ({"a": {"id": [1, None], "l": [0, 1]}}, "Table 'a': row 1 has no identifier"),
        ({"a": {"id": ["x", ""], "l": [0, 1]}}, "Table 'a': row 1 has no identifier"),
        ({"a": {"id": [" ", "x"], "l": [0, 1]}}, "Table 'a': row 0 has no identifier"),
        ({"a": {"id": [1, 2]}}, "has no column of labels besides 'id'"),
        ({"a": {"id": [1, "2"], "l": [0, 1]}}, "types that cannot be sorted together"),
        ({"a": 7}, "must be a frame of pandas or polars"),
        (
            {"a": {"id": [1, 2], "l": [0]}},
            "Table 'a': the column 'l' must have one value per row, 2. Got 1.",
        ),
        ({"a": {"id": [1, 2], "l": [0, 1, 2]}}, "must have one value per row, 2. Got 3."),
    ],
)
def test_tables_that_cannot_be_joined_are_refused(tables, sentence):
    if "sorted" in sentence:
        assert Ensemble.join(tables, "id", objects=[1, "2"]).n_samples == 2
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        Ensemble.join(tables, on="id")


def test_join_refuses_invalid_arguments():
    table = {"id": [1, 2], "l": [0, 1]}
    with pytest.raises(ParameterError, match=r"'tables' parameter of Ensemble\.join"):
        Ensemble.join([table], on="id")
    with pytest.raises(InputError, match="2 is in a table, and not among"):
        Ensemble.join({"a": table}, "id", objects=[1, 3])
    with pytest.raises(InputError, match="1 are repeated"):
        Ensemble.join({"a": table}, "id", objects=[1, 2, 2])


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_long_and_wide_forms_give_the_same_ensemble(kind):
    rng = np.random.default_rng(2)
    wide = rng.integers(0, 4, (30, 6))
    seen = rng.random(wide.shape) < 0.6
    seen[:, 0] = True
    rows = [(i, f"r{u}", f"c{wide[i, u]}") for i, u in np.argwhere(seen)]
    rows = [rows[k] for k in rng.permutation(len(rows))] + rows[:3]  # said again: the same
    frame = kind(
        dict(zip(("what", "who", "pile"), map(list, zip(*rows, strict=True)), strict=True))
    )
    actual = Ensemble.from_long(frame, "what", "who", "pile")
    assert actual == Ensemble(np.where(seen, wide, -1))
    turned = Ensemble.from_long(
        frame, "what", "who", "pile", partitions=[f"r{u}" for u in range(5, -1, -1)]
    )
    np.testing.assert_array_equal(turned.labels, actual.labels[:, ::-1])
    assert PCC(4, divergence="l2", random_state=0).fit(actual).labels_.shape == (30,)


def test_the_long_form_refuses_two_clusters_for_one_object():
    frame = {"o": ["a", "a", "b"], "p": [0, 0, 0], "c": [1, 2, 1]}
    with pytest.raises(
        InputError, match="Partition 0 puts the object 'a' into two clusters, 1 and 2"
    ):
        Ensemble.from_long(frame, "o", "p", "c")
    with pytest.raises(InputError, match="The frame has no column 'x'"):
        Ensemble.from_long(frame, "o", "p", "x")
    with pytest.raises(InputError, match="the same length"):
        Ensemble.from_long({**frame, "c": [1]}, "o", "p", "c")


# ---- the shell


def test_a_list_of_tables_is_named_by_its_type():
    table = pd.DataFrame({"id": ["a", "b"], "k": [0, 1]})
    with pytest.raises(ParameterError, match=r"dict of names to tables\. Got a list instead\."):
        Ensemble.join([table, table], on="id")


def test_unsigned_integers_above_int64_are_no_missing_labels():
    large = np.array([2**64 - 1, 2**64 - 1, 5], dtype=np.uint64)
    frame = pd.DataFrame({"object": list("abc"), "run": ["r"] * 3, "cluster": large})
    with pytest.raises(InputError, match=r"must fit in int64\. Got 18446744073709551615"):
        Ensemble.from_long(frame, "object", "run", "cluster")
    table = pd.DataFrame({"id": np.array([2**63 + 1, 5], dtype=np.uint64), "k": [1, 0]})
    in_order = Ensemble.join({"x": table, "y": table}, on="id")
    assert in_order == Ensemble.join({"x": table, "y": table}, on="id", objects=[5, 2**63 + 1])


def test_large_integers_stay_apart_if_another_column_has_gaps():
    runs = {"one": [2**53] * 3 + [2**53 + 1] * 3, "two": [0, 0, np.nan, 1, 1, 1.0]}
    assert Ensemble(pd.DataFrame(runs)).cluster_counts.tolist() == [2, 2]
    signed = {"one": [2**62, 2**62 + 1], "two": np.array([2**62, 2**62 + 1], dtype=np.uint64)}
    assert Ensemble(pd.DataFrame(signed)).cluster_counts.tolist() == [2, 2]
    small = {"one": [7, 7, 9], "two": [0.0, np.nan, 1.0]}
    assert Ensemble(pd.DataFrame(small)).labels.tolist() == [[0, 0], [0, -1], [1, 1]]


def test_tables_without_a_common_identifier_are_warned_of():
    a = {"id": ["p1", "p2"], "a": [0, 1]}
    b = {"id": ["P1", "P2"], "b": [0, 1]}
    with pytest.warns(
        EvidenceWarning, match=r"'a' \(the first is 'p1'\), 'b' \(the first is 'P1'\)"
    ):
        Ensemble.join({"a": a, "b": b}, "id")
    c = {"id": ["p1", "p3"], "c": [0, 1]}
    with pytest.warns(EvidenceWarning, match=r"in another table: 'b' \(the first is 'P1'\)\."):
        Ensemble.join({"a": a, "b": b, "c": c}, "id")
    # A chain of tables: the first and the last are compared through the second.
    chain = {"d": {"id": ["p3", "p4"], "d": [0, 1]}}
    assert Ensemble.join({"a": a, "c": c, **chain}, "id").n_samples == 4
    assert Ensemble.join({"a": a}, "id").n_samples == 2


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_are_identifiers_and_names_in_any_unit(unit):
    days = np.array(["1960-01-01", "2020-01-01", "2021-01-01"], dtype=f"M8[{unit}]")
    usual = pd.DataFrame({"day": pd.to_datetime(days).as_unit("us"), "a": [0, 0, 1]})
    other = {"day": days[::-1], "b": days[[0, 0, 2]]}
    ensemble = Ensemble.join({"a": usual, "b": other}, "day")
    np.testing.assert_array_equal(ensemble.labels, [[0, 0], [0, 1], [1, 1]])
    order = list(pd.to_datetime(days[::-1]))
    turned = Ensemble.join({"a": usual, "b": other}, "day", objects=order)
    np.testing.assert_array_equal(turned.labels, [[0, 0], [1, 0], [1, 1]])
    gap = {"day": np.array(["NaT", days[0]], dtype=days.dtype), "b": [0, 1]}
    with pytest.raises(InputError, match="row 0 has no identifier"):
        Ensemble.join({"a": usual, "b": gap}, "day")
    fine = np.array([1, 2, 3], dtype="M8[ns]")  # finer than what datetime holds
    again = Ensemble.join(
        {"a": {"t": fine, "a": [0, 1, 1]}, "b": {"t": fine[:2], "b": [5, 6]}}, "t"
    )
    np.testing.assert_array_equal(again.labels, [[0, 0], [1, 1], [1, -1]])


def test_tables_of_arrow_and_lazy_frames_are_read():
    arrow = pytest.importorskip("pyarrow")
    a = {"id": ["p1", "p2", "p3"], "x": [2**60, None, 2**60 + 1]}
    b = {"id": ["p3", "p1"], "y": ["u", "v"]}
    expected = Ensemble.join({"a": a, "b": b}, "id")
    for make in (arrow.table, pl.LazyFrame):
        assert Ensemble.join({"a": make(a), "b": make(b)}, "id") == expected
    sorts = {"o": ["a", "b", "a"], "p": [1, 1, 2], "c": ["x", "y", "z"]}
    long = Ensemble.from_long(sorts, "o", "p", "c")
    for make in (arrow.table, pl.LazyFrame):
        assert Ensemble.from_long(make(sorts), "o", "p", "c") == long


def test_empty_text_is_missing_in_every_form_of_table():
    columns = {"a": ["x", "", "y", "x"], "b": ["u", "v", "  ", "u"]}
    wanted = [[0, 0], [-1, 1], [1, -1], [0, 0]]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    forms = [rows, np.array(rows), pd.DataFrame(columns), pd.DataFrame(columns).astype("category")]
    for labels in forms:
        assert Ensemble(labels).labels.tolist() == wanted
        assert Ensemble(labels).names == (("x", "y"), ("u", "v"))
    long = {
        "object": np.repeat([0, 1, 2, 3], 2),
        "question": ["a", "b"] * 4,
        "answer": np.ravel(rows).tolist(),
    }
    assert Ensemble.from_long(long, "object", "question", "answer").labels.tolist() == wanted
    joined = Ensemble.join({"one": {"id": [0, 1, 2, 3], **columns}}, on="id")
    assert joined.labels.tolist() == wanted
    filled = adjusted_rand_index(["x", "x", "y"], [0, 1, 1])
    assert adjusted_rand_index(["x", "", "x", "y"], [0, 0, 1, 1]) == filled


@pytest.mark.parametrize("answers", [["no", "yes"], [0, 1]])
def test_answers_of_a_crowd_take_one_byte_per_cell(answers):
    n, m = 3_000, 700
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(n), 3)
    workers = (np.arange(3 * n) + rng.integers(0, m // 3, 3 * n) * 3) % m
    table = {
        "item": items,
        "worker": workers,
        "answer": np.array(answers)[rng.integers(0, 2, 3 * n)],
    }
    tracemalloc.start()
    ensemble = Ensemble.from_long(table, "item", "worker", "answer")
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ensemble.shape == (n, m)
    assert held < 1.05 * n * m
    assert peak < 4 * n * m
    codes = ensemble.labels[items, workers]
    assert [ensemble.names[u][k] for u, k in zip(workers, codes, strict=True)] == table[
        "answer"
    ].tolist()
