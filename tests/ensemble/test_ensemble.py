from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble
from conclust.ensemble import MISSING, NOISE
from conclust.ensemble.labels import canonical_labels
from conclust.exceptions import FileFormatError, InputError, ParameterError

matrices = st.integers(2, 9).flatmap(
    lambda n: st.integers(1, 4).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(-2, 5), min_size=m, max_size=m), min_size=n, max_size=n
        )
    )
)


def naive_canonical(column):
    """Number clusters by first appearance, one object at a time."""
    seen = {}
    return [v if v < 0 else seen.setdefault(v, len(seen)) for v in column]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(matrices)
def test_labels_are_canonical_and_derived_quantities_match_their_definitions(rows):
    labels = np.array(rows)
    absent = (labels == -1).all(axis=0)
    if absent.any():
        with pytest.raises(
            InputError, match=f"Partition {np.argmax(absent)} is missing everywhere"
        ):
            Ensemble(labels)
        return
    e = Ensemble(labels)
    expected = np.column_stack([naive_canonical(column) for column in labels.T.tolist()])
    np.testing.assert_array_equal(e.labels, expected)
    counts = [len({v for v in column if v >= 0}) for column in labels.T]
    np.testing.assert_array_equal(e.cluster_counts, counts)
    np.testing.assert_array_equal(e.offsets, np.cumsum([0, *counts]))
    for u, names in enumerate(e.names):
        seen = [v for v in labels[:, u] if v >= 0]
        assert list(names) == list(dict.fromkeys(seen))
    np.testing.assert_array_equal(e.present, labels != -1)
    np.testing.assert_array_equal(e.observed, (labels != -1).any(axis=1))
    assert e.has_missing == (labels == -1).any()
    assert e.has_noise == (labels == -2).any()
    B = np.zeros((len(labels), sum(counts)))
    for i in range(len(labels)):
        for u in range(labels.shape[1]):
            if expected[i, u] >= 0:
                B[i, e.offsets[u] + expected[i, u]] = 1
    np.testing.assert_array_equal(e.indicator.toarray(), B)
    np.testing.assert_array_equal(e.gram.toarray() if sp.issparse(e.gram) else e.gram, B.T @ B)


def test_narrow_types_and_canonical_labels_become_canonical():
    for column in ([-1, 127], [127, -1, 126], [0, 1, 127], [0, 1, -2, 1, 2], [1, 0], [-2, -1]):
        labels = np.array(column, dtype=np.int8)
        np.testing.assert_array_equal(canonical_labels(labels), naive_canonical(column))
    already = np.array([0, 0, 1, -1, 2])
    assert not np.shares_memory(canonical_labels(already), already)


# -- what comes in


def test_every_form_of_missing_and_noise_is_read():
    expected = np.array([[0, 0], [MISSING, 1], [1, NOISE]])
    inputs = [
        np.array([[5, 7], [-1, 8], [6, -2]]),
        np.array([[5, 7], [np.nan, 8], [6, -2]]),
        np.array([[5, 7], [None, 8], [6, -2]], dtype=object),
        [[5, 7], [None, 8], [6, -2]],
        [["a", "b"], [None, "c"], ["d", -2]],
        [["a", "b"], [float("nan"), "c"], ["d", -2]],
        pd.DataFrame({"u": pd.array([5, None, 6], dtype="Int64"), "v": [7, 8, -2]}),
        pd.DataFrame({"u": [5, pd.NA, 6], "v": [7, 8, -2]}),
        pd.DataFrame({"u": pd.Categorical(["a", None, "b"]), "v": ["x", "y", -2]}),
        pl.DataFrame({"u": [5, None, 6], "v": [7, 8, -2]}),
    ]
    for labels in inputs:
        np.testing.assert_array_equal(Ensemble(labels).labels, expected, err_msg=repr(labels))


def test_minus_one_can_mean_noise():
    labels = [[0.0, 1.0], [-1.0, np.nan], [1.0, 1.0]]
    np.testing.assert_array_equal(
        Ensemble(labels, missing="noise").labels, [[0, 0], [NOISE, MISSING], [1, 0]]
    )
    for objects in (
        [["a", 1], [-1, None], ["b", 1]],
        pd.DataFrame({"u": ["a", -1, "b"], "v": pd.array([1, None, 1], dtype="Int64")}),
        np.array([[0, 1], [-1, None], [1, 1]], dtype=object),
    ):
        e = Ensemble(objects, missing="noise")
        np.testing.assert_array_equal(e.labels, [[0, 0], [NOISE, MISSING], [1, 0]])
        codes, unseen = e.encode(objects, missing="noise")
        np.testing.assert_array_equal(codes, e.codes)
        assert unseen == 0
    with pytest.raises(ParameterError, match="'missing' parameter of Ensemble"):
        Ensemble(labels, missing="huh")


def test_bool_and_mixed_columns_are_read():
    e = Ensemble(pd.DataFrame({"b": [True, False, True], "s": ["x", "y", "x"]}))
    np.testing.assert_array_equal(e.labels, [[0, 0], [1, 1], [0, 0]])
    assert e.names == ((1, 0), ("x", "y"))


def test_canonical_uint8_is_used_without_a_copy():
    labels = Ensemble(np.random.default_rng(0).integers(0, 5, (50, 7))).codes.copy()
    e = Ensemble(labels)
    assert np.shares_memory(e.codes, labels)
    assert not e.codes.flags.writeable
    assert labels.flags.writeable  # the user's array is not modified
    other = labels[:, ::-1]
    assert not np.shares_memory(Ensemble(other).codes, other)
    renamed = (labels + 1).astype(np.uint8)
    assert not np.shares_memory(Ensemble(renamed).codes, renamed)


def test_canonical_int8_is_used_without_a_copy_and_holds_missing_and_noise():
    labels = np.array([[0, -1, 0], [1, 0, -2], [-1, 0, 1], [0, 1, 1]], dtype=np.int8)
    e = Ensemble(labels)
    assert np.shares_memory(e.codes, labels)
    assert not e.codes.flags.writeable
    assert labels.flags.writeable
    wide = Ensemble(labels.astype(np.int64))
    assert e == wide
    assert e.names == wide.names
    np.testing.assert_array_equal(e.labels, labels)
    assert (e.has_missing, e.has_noise) == (True, True)
    noise = Ensemble(labels, missing="noise")
    assert noise == Ensemble(labels.astype(np.int64), missing="noise")
    renamed = np.where(labels < 0, labels, 1 - labels).astype(np.int8)
    assert not np.shares_memory(Ensemble(renamed).codes, renamed)
    assert Ensemble(renamed) == wide
    many = np.arange(128, dtype=np.int8)[:, np.newaxis]
    assert np.shares_memory(Ensemble(many).codes, many)
    for bad in (-3, -128):
        with pytest.raises(InputError, match=f"Got {bad} at row 128"):
            Ensemble(np.vstack([many, np.array([[bad]], dtype=np.int8)]))


def test_a_memory_mapped_file_is_read(tmp_path):
    labels = Ensemble(np.random.default_rng(0).integers(0, 5, (300, 7))).codes
    np.save(tmp_path / "labels.npy", labels)
    mapped = np.load(tmp_path / "labels.npy", mmap_mode="r")
    e = Ensemble(mapped)
    assert np.shares_memory(e.codes, mapped)
    np.testing.assert_array_equal(e.codes, labels)
    np.save(tmp_path / "wide.npy", labels.astype(np.int64))
    assert Ensemble(np.load(tmp_path / "wide.npy", mmap_mode="r")) == e


@pytest.mark.parametrize(("k", "dtype"), [(254, np.uint8), (255, np.uint16), (70_000, np.uint32)])
def test_codes_take_the_smallest_type(k, dtype):
    labels = np.column_stack([np.arange(k), np.zeros(k, dtype=int)])
    e = Ensemble(labels)
    assert e.codes.dtype == dtype
    np.testing.assert_array_equal(e.labels, labels)
    labels[0, 0], labels[1, 0] = -1, -2
    e = Ensemble(labels)
    np.testing.assert_array_equal(e.labels[:3, 0], [-1, -2, 0])


def test_many_partitions_and_large_label_values_are_read():
    labels = np.random.default_rng(0).integers(0, 3, (20, 400)) * 10**12
    e = Ensemble(labels)
    assert e.n_partitions == 400
    np.testing.assert_array_equal(
        np.vectorize(lambda u, k: e.names[u][k])(np.arange(400), e.labels), labels
    )


def test_block_borders_do_not_change_labels(monkeypatch):
    import conclust.ensemble.labels as module

    labels = np.random.default_rng(1).integers(-2, 40, (200, 6))
    whole = Ensemble(labels)
    monkeypatch.setattr(module, "_BLOCK_CELLS", 7 * 6)
    assert Ensemble(labels) == whole
    assert Ensemble(labels.astype(float)) == whole
    canonical = whole.codes.copy()
    canonical[canonical >= 254] = 0
    again = Ensemble(canonical).codes.copy()
    assert np.shares_memory(Ensemble(again).codes, again)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"one number per partition, shape \(2,\)"),
        ([1.0, -1.0], "at least 0"),
        ([0.0, 0.0], "not all 0"),
        ([1.0, np.nan], "finite"),
        ([1.0, np.inf], "finite"),
        (["a", "b"], "must be numbers"),
        ([1e-31, 1], "0 or between 1e-30 and 1e.30.* Got 1e-31 for partition 0"),
        ([1, 1e31], "Got 1e.31 for partition 1"),
        ([1e300, 1e300], "Divide all weights by the largest"),
        ([5e-324, 0], "Divide all weights by the largest"),
        ([10**400, 1], "must be numbers"),
        ([1j, 2], "must be numbers"),
        (np.array([1j, 2]), "must be numbers"),
        (np.ma.masked_array([1.0, 2.0], mask=[1, 0]), "finite"),
    ],
)
def test_invalid_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        Ensemble([[0, 0], [1, 1]], weights=weights)


# -- frozen, comparable


def test_an_ensemble_is_frozen():
    e = Ensemble([[0, 1], [1, 1]], weights=[1, 2])
    for name in ("codes", "weights", "anything"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(e, name, 1)
    with pytest.raises(AttributeError, match="frozen"):
        del e.codes
    for array in (e.codes, e.labels, e.cluster_counts, e.offsets, e.weights, e.present, e.observed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_hash_depends_on_content_not_on_names():
    labels = np.random.default_rng(0).integers(-1, 4, (30, 5))
    labels[0] = 0
    a, b = Ensemble(labels), Ensemble(np.where(labels >= 0, 9 - labels, labels))
    assert a == b
    assert hash(a) == hash(b)
    assert a.fingerprint == b.fingerprint
    assert a != Ensemble(labels[::-1])
    assert a != Ensemble(labels, weights=np.arange(1, 6))
    assert a != Ensemble(np.where(labels == -1, -2, labels))
    assert a != "something else"
    assert len({a, b, a.reweighted([1, 1, 1, 1, 2])}) == 2
    assert a.reweighted([1, 1, 1, 1, 2]).reweighted(None) == a


def test_ensembles_can_be_pickled_and_copied():
    for e in (
        Ensemble([["a", 0], ["b", -1], ["a", -2]], weights=[1, 2]),
        Ensemble.from_memberships([[[0.5, 0.5], [0, 1]], [[1.0], [np.nan]]]),
    ):
        for again in (pickle.loads(pickle.dumps(e)), copy.deepcopy(e), copy.copy(e)):
            assert again == e
            assert again.names == e.names
            assert repr(again) == repr(e)


# -- soft members


def test_memberships_are_stored_as_probabilities():
    P = np.array([[0.2, 0.8], [0.0, 1.0], [np.nan, np.nan], [0.6, 0.4]])
    Q = np.array([[1.0], [1.0], [1.0], [0.0]])
    e = Ensemble.from_memberships([P, Q], weights=[1, 3])
    assert e.is_soft
    np.testing.assert_array_equal(e.labels, [[0, 0], [0, 0], [-1, 0], [1, -1]])
    # Columns in order of first appearance as the most probable cluster.
    B = np.array([[0.8, 0.2, 1], [1, 0, 1], [0, 0, 1], [0.4, 0.6, 0]])
    np.testing.assert_allclose(e.indicator.toarray(), B)
    np.testing.assert_allclose(e.gram.toarray() if sp.issparse(e.gram) else e.gram, B.T @ B)
    swapped = Ensemble.from_memberships([P[:, ::-1], Q], weights=[1, 3])
    assert swapped == e


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([], "at least one"),
        ([[[0.5, 0.6]]], "sum to 1"),
        ([[[50, 50], [90, 10]]], "rows sum to about 100: divide"),
        ([[[1.5, -0.5]]], "sum to 1"),
        ([[[np.inf, 0.5]]], "sum to 1"),
        ([[[0.5, np.nan]]], "sum to 1"),
        ([[[1.0], [1.0]], [[1.0]]], r"shape \(2, n_clusters\)"),
        ([[1.0, 0.0]], r"of shape"),
        (5, "sequence of membership matrices, one per partition. Got 5"),
        ([5], "Membership 0 must be a matrix of numbers"),
        ([[[1, 2], [1]]], "Membership 0 must be a matrix of numbers"),
        ([np.eye(2), np.array([["1", "0"], ["0", "1"]])], "Membership 1 .* dtype <U1"),
        ([sp.csr_array(np.eye(2))], "toarray"),
        ([np.ones((1, 1))], "1 sample"),
        ([np.ones((0, 1))], "0 sample"),
        (np.eye(2), "Membership 0 must be a matrix"),
    ],
)
def test_invalid_memberships_are_refused(memberships, message):
    with pytest.raises(InputError, match=message):
        Ensemble.from_memberships(memberships)


# -- parts and wholes


def test_a_part_of_many_objects_takes_memory_of_the_part():
    labels = np.tile(np.arange(8, dtype=np.int8), 25_000)[:, None] * np.ones(20, dtype=np.int8)
    ensemble = Ensemble(labels)
    tracemalloc.start()
    part = ensemble.subset(np.arange(0, 200_000, 100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert part.shape == (2000, 20)
    assert peak < 8e6  # the labels of all objects as int64 are 32 MB


def test_a_subset_equals_the_ensemble_of_its_labels():
    labels = np.random.default_rng(0).integers(-1, 4, (30, 5))
    labels[:2] = [[0], [1]]
    e = Ensemble(labels, weights=np.arange(1.0, 6))
    rows, columns = np.array([3, 0, 1, 29, 7]), np.array([4, 1])
    part = e.subset(rows, columns)
    assert part == Ensemble(labels[np.ix_(rows, columns)], weights=[5, 2])
    assert part.names == Ensemble(labels[np.ix_(rows, columns)]).names
    mask = np.zeros(30, bool)
    mask[[0, 1, 5]] = True
    assert e.subset(mask) == Ensemble(labels[mask], weights=e.weights)
    assert e.subset(partitions=[-1]) == Ensemble(labels[:, [4]], weights=[5])
    soft = Ensemble.from_memberships([np.eye(3)[[0, 1, 2, 1]], np.full((4, 2), 0.5)])
    np.testing.assert_allclose(soft.subset([1, 3], [0]).indicator.toarray()[:, 0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": [0, 99]}, "'samples' to keep"),
        ({"samples": [0.5, 1.0]}, "'samples' to keep"),
        ({"partitions": [[0]]}, "'partitions' to keep"),
        ({"samples": [0]}, "1 sample"),
        ({"samples": [1, 2], "partitions": [0]}, "missing everywhere"),
    ],
)
def test_invalid_subsets_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Ensemble([[0, 0], [-1, 0], [-1, 1]]).subset(**arguments)


def test_concat_joins_partitions():
    labels = np.random.default_rng(0).integers(-2, 4, (30, 5))
    labels[0] = 0
    wide = np.column_stack([np.arange(300)[:30] * 9, np.arange(30)])
    a, b = Ensemble(labels), Ensemble(wide, weights=[2, 3])
    both = Ensemble.concat([a, b])
    assert both == Ensemble(np.hstack([labels, wide]), weights=[1, 1, 1, 1, 1, 2, 3])
    assert both.names == a.names + b.names
    assert Ensemble.concat([a]) == a
    many = Ensemble(np.arange(600).reshape(-1, 1) % 300)
    few = Ensemble(np.where(np.arange(600) % 7 == 0, -1, np.arange(600) % 3).reshape(-1, 1))
    np.testing.assert_array_equal(
        Ensemble.concat([few, many]).labels, np.hstack([few.labels, many.labels])
    )
    soft = Ensemble.from_memberships([np.full((30, 2), 0.5)])
    assert Ensemble.concat([soft, soft]).indicator.shape == (30, 4)
    for bad, message in (
        ([], "at least one"),
        ([a, few], "same objects"),
        ([a, soft], "Hard and soft"),
    ):
        with pytest.raises(InputError, match=message):
            Ensemble.concat(bad)


def test_observed_only_removes_objects_missing_everywhere():
    e = Ensemble([[0, 0], [-1, -1], [1, 0], [-1, 0]])
    part = e.observed_only()
    assert part == Ensemble([[0, 0], [1, 0], [-1, 0]])
    assert part.observed_only() is part


def test_encode_matches_new_labels_by_name():
    e = Ensemble([["x", 5], ["y", 7], ["x", 7]])
    codes, unseen = e.encode([["y", 5], ["z", 9], [None, 7]])
    np.testing.assert_array_equal(codes, [[1, 0], [254, 254], [255, 1]])
    assert unseen == 2
    numbers = Ensemble([[5, 5], [7, 5]])
    codes, unseen = numbers.encode(np.array([[7.0, np.nan], [6.0, -2.0]]))
    np.testing.assert_array_equal(codes, [[1, 255], [254, 254]])
    assert unseen == 1
    codes, unseen = Ensemble([["x"], ["y"]]).encode([[0], [1]])  # numbers are not valid names
    assert unseen == 2
    with pytest.raises(InputError, match="same 2 partitions"):
        numbers.encode([[1, 2, 3]])
    with pytest.raises(InputError, match="Got -7 at row 0, partition 1"):
        numbers.encode([[5, -7]])


# -- files


def test_an_ensemble_is_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    ensembles = [
        Ensemble(rng.integers(0, 4, (20, 3))),
        Ensemble([["a", 0], ["b", -1], ["a", -2]], weights=[1, 2]),
        Ensemble(np.arange(600).reshape(-1, 1) % 300),
        Ensemble.from_memberships([rng.dirichlet(np.ones(3), 10), np.full((10, 2), 0.5)]),
    ]
    for i, e in enumerate(ensembles):
        path = tmp_path / f"{i}.npz"
        e.save(path)
        again = Ensemble.load(path)
        assert again == e
        assert again.names == e.names
        assert repr(again) == repr(e)
        first = path.read_bytes()
        again.save(path)
        assert path.read_bytes() == first


def test_names_that_json_does_not_represent_are_refused(tmp_path):
    e = Ensemble(np.array([[(1, 2)], [(3, 4)]], dtype="i,i").astype(object))
    with pytest.raises(InputError, match="whole numbers or strings"):
        e.save(tmp_path / "e.npz")
    assert not list(tmp_path.iterdir())


def broken(tmp_path, **changes):
    from conclust._files.storage import write_npz
    from conclust.ensemble.file import FORMAT, VERSION

    e = Ensemble([[0, 0], [1, 0], [2, 1]])
    meta = {"format": FORMAT, "version": VERSION, "names": [None, None]}
    arrays = {"codes": e.codes, "cluster_counts": e.cluster_counts}
    for key, value in changes.items():
        (meta if key in meta else arrays)[key] = value
    write_npz(tmp_path / "e.npz", arrays, meta)
    return tmp_path / "e.npz"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something"}, "does not hold a conclust ensemble"),
        ({"version": 2}, "format version 2"),
        ({"names": [None]}, "names"),
        ({"names": [[0, 1, 1], None]}, "names"),
        ({"names": [[0, 1, 2.5], None]}, "names"),
        ({"codes": np.array([[0, 0], [1, 0], [3, 1]], np.uint8)}, "beyond the clusters"),
        ({"codes": np.zeros((3, 2), np.uint16)}, "do not fit"),
        ({"codes": np.zeros((0, 2), np.uint8)}, "do not fit"),
        (
            {"codes": np.full((3, 2), 255, np.uint8), "cluster_counts": np.array([0, 0])},
            "missing everywhere",
        ),
        ({"cluster_counts": np.array([3, 2, 1])}, "do not fit"),
        ({"cluster_counts": np.array([3, -2])}, "do not fit"),
        ({"weights": np.array([1.0])}, "one number per partition"),
        ({"soft_values": np.array([1.0])}, "absent"),
        (
            {
                "soft_starts": np.array([0, 1, 2, 9]),
                "soft_columns": np.array([0, 1, 3]),
                "soft_values": np.array([1.0, 1.0, 1.0]),
            },
            "not probabilities",
        ),
    ],
)
def test_damaged_ensembles_are_refused(tmp_path, changes, message):
    with pytest.raises(FileFormatError, match=message):
        Ensemble.load(broken(tmp_path, **changes))


def test_an_ensemble_of_an_ensemble_is_equal():
    plain = Ensemble([["b", 5], ["a", 5], ["b", -1], ["a", -2]], weights=[1.0, 2.0])
    again = Ensemble(plain)
    assert again == plain
    assert (again.names, again.weights.tolist()) == (plain.names, [1.0, 2.0])
    assert Ensemble(plain, weights=[3, 1]) == plain.reweighted([3, 1])
    soft = Ensemble.from_memberships([[[0.5, 0.5], [0.0, 1.0]], [[1.0], [1.0]]])
    assert Ensemble(soft).is_soft
    assert Ensemble(soft) == soft
    with pytest.raises(InputError, match=r"one number per partition, shape \(2,\)"):
        Ensemble(plain, weights=[1])
    with pytest.raises(ParameterError, match=r"'unobserved' with an Ensemble.*ensemble.labels"):
        Ensemble(plain, missing="noise")


def test_memberships_whose_rows_are_in_another_order_are_refused():
    names = [f"o{i}" for i in range(4)]
    Y = pd.DataFrame(np.eye(2)[[0, 0, 1, 1]], index=names)
    with pytest.raises(
        InputError, match="'membership 1' have the names of those of 'membership 0'"
    ):
        Ensemble.from_memberships([Y, Y[::-1]])
    assert Ensemble.from_memberships([Y, Y[::-1].loc[names], Y.to_numpy()]).n_partitions == 3
    with pytest.raises(InputError, match="a sequence of membership matrices"):
        Ensemble.from_memberships({"a": Y})
