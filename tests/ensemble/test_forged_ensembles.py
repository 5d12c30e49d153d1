"""Files of ensembles with false sizes or contradictory content."""

import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conclust import Ensemble
from conclust._files.storage import read_npz, write_npz
from conclust.ensemble.file import FORMAT, VERSION
from conclust.exceptions import FileFormatError

SOFT = Ensemble.from_memberships(
    [
        np.array([[0.7, 0.3, 0.0], [0.0, 0.5, 0.5], [0.2, 0.2, 0.6], [np.nan] * 3]),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.25, 0.75]]),
    ]
)


def write(path, codes, counts, *, names=None, **more):
    counts = np.asarray(counts)
    names = [None] * counts.size if names is None else names
    meta = {"format": FORMAT, "version": VERSION, "names": names}
    write_npz(path, {"codes": codes, "cluster_counts": counts, **more}, meta)


def refused(path, match=None):
    """Check that loading is refused quickly, without memory for the declared sizes."""
    tracemalloc.start()
    begun = time.process_time()
    try:
        with pytest.raises(FileFormatError, match=match):
            Ensemble.load(path)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < 4 << 20, f"{taken >> 20} MiB"
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("count", [3, 30_000_000, 2**31, 2**32 - 2, 2**62, 2**63 - 1])
def test_false_cluster_counts_are_refused(tmp_path, count):
    path = tmp_path / "e.npz"
    dtype = np.uint8 if count < 255 else np.uint32
    write(path, np.array([[0], [1]], dtype), [count])
    assert path.stat().st_size < 1000
    refused(path, "by its counts a partition has")


@pytest.mark.parametrize("count", [2**33, 2**62])
def test_false_counts_of_many_partitions_are_refused(tmp_path, count):
    write(tmp_path / "e.npz", np.zeros((2, 8), np.uint32), [count] * 8)
    refused(tmp_path / "e.npz")


@pytest.mark.parametrize(
    ("codes", "counts", "match"),
    [
        ([[0]], [1], "do not fit"),  # one object
        ([[0], [0], [0]], [2], "clusters without objects"),
        ([[1], [0], [1]], [2], "by first appearance"),
        ([[0], [2], [1]], [3], "by first appearance"),
        ([[255], [1], [0]], [2], "by first appearance"),
        ([[0], [1], [3]], [3], "beyond the clusters"),
        ([[0, 0], [1, 0], [1, 0]], [2, 2], "clusters without objects"),
    ],
)
def test_invalid_codes_are_refused(tmp_path, codes, counts, match):
    write(tmp_path / "e.npz", np.array(codes, np.uint8), counts)
    refused(tmp_path / "e.npz", match)


def test_many_empty_clusters_are_refused(tmp_path):
    """70,000 empty clusters made nine methods request 36 GiB."""
    codes = np.zeros((80_000, 1), np.uint32)
    write(tmp_path / "e.npz", codes, [70_000])
    with pytest.raises(FileFormatError, match="clusters without objects"):
        Ensemble.load(tmp_path / "e.npz")


def soft_file(path, **changes):
    B = SOFT.indicator
    parts = {
        "codes": SOFT.codes.copy(),
        "counts": SOFT.cluster_counts.copy(),
        "soft_starts": B.indptr.astype(np.int64),
        "soft_columns": B.indices.astype(np.int64),
        "soft_values": B.data.copy(),
    }
    parts.update(changes)
    write(path, parts.pop("codes"), parts.pop("counts"), **parts)
    return path


def changed(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


def test_the_unaltered_soft_file_is_valid(tmp_path):
    assert Ensemble.load(soft_file(tmp_path / "e.npz")) == SOFT


B = SOFT.indicator


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"soft_values": B.data * 0.1}, "do not sum to 1"),
        ({"soft_values": changed(B.data, 0, 1.0)}, "do not sum to 1"),
        ({"soft_values": changed(B.data, 0, np.nan)}, "not probabilities"),
        ({"soft_values": changed(B.data, 0, -0.5)}, "not probabilities"),
        ({"soft_values": changed(B.data, 0, 0.0)}, "not probabilities"),
        ({"soft_columns": changed(B.indices, 1, 0)}, "is duplicated"),
        ({"soft_columns": np.minimum(B.indices, 3)}, "is duplicated"),
        ({"counts": np.array([3, 3])}, "cluster is empty"),
        ({"counts": np.array([40, 2])}, "by its counts a partition has"),
        ({"counts": np.array([3, 2**62])}, "by its counts a partition has"),
        ({"codes": changed(SOFT.codes, (3, 0), 0)}, "do not sum to 1"),
        ({"codes": changed(SOFT.codes, (0, 1), 255)}, "by first appearance|do not sum"),
        ({"codes": changed(SOFT.codes, (3, 0), 254)}, "do not sum to 1"),
        ({"codes": changed(SOFT.codes, (3, 1), 0)}, "most probable"),
    ],
)
def test_contradictory_memberships_are_refused(tmp_path, changes, match):
    refused(soft_file(tmp_path / "e.npz", **changes), match)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_saved_ensemble_is_read(tmp_path_factory, data):
    """The file of any valid Ensemble is accepted."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    if rng.random() < 0.5:
        labels = rng.integers(-2, 5, (n, m))
        labels[rng.integers(n)] = rng.integers(-2, 0) if rng.random() < 0.2 else 3
        labels[:, (labels == -1).all(axis=0)] = -2
        ensemble = Ensemble(labels)
    else:
        blocks = []
        for _ in range(m):
            P = rng.dirichlet(np.ones(4), n) * (rng.random((n, 4)) < 0.6)
            P = np.round(P, 1) if rng.random() < 0.5 else P
            sums = P.sum(axis=1, keepdims=True)
            P = np.divide(P, sums, out=np.zeros_like(P), where=sums > 0)
            P[0] = np.eye(4)[rng.integers(4)]
            blocks.append(P)
        ensemble = Ensemble.from_memberships(blocks)
    path = tmp_path_factory.mktemp("saved") / "e.npz"
    for each in (ensemble, ensemble.observed_only(), Ensemble.concat([ensemble, ensemble])):
        if each.n_samples < 2:
            continue
        each.save(path)
        restored = Ensemble.load(path)
        assert restored == each
        assert restored.cluster_counts.tolist() == each.cluster_counts.tolist()


def test_clusters_without_mass_are_removed():
    e = Ensemble.from_memberships([[[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], [[0, 0], [0, 1.0]]])
    assert e.cluster_counts.tolist() == [2, 1]
    assert e.indicator.toarray().tolist() == [[1.0, 0.0, 0.0], [0.5, 0.5, 1.0]]


def test_an_archive_with_an_impossible_size_is_refused(tmp_path):
    """A directory that declares an array of 4 GB, in a file of less than a kilobyte."""
    path = tmp_path / "e.npz"
    Ensemble([[0, 0], [1, 0]]).save(path)
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir
    whole[start + 24 : start + 28] = struct.pack("<I", 4_000_000_000)
    path.write_bytes(whole)
    refused(path, "cannot unpack to 3.7 GiB")


def test_soft_ensembles_take_no_more_memory_than_their_labels(tmp_path):
    """40 KB caused two float64 matrices of all labels, 18 bytes per label."""
    n, m = 40_000, 200
    codes = np.full((n, m), 255, np.uint8)
    codes[0] = 0
    starts = np.concatenate([[0], np.full(n, m)]).astype(np.int64)
    soft = {"soft_starts": starts, "soft_columns": np.arange(m), "soft_values": np.ones(m)}
    write(tmp_path / "e.npz", codes, [1] * m, **soft)
    tracemalloc.start()
    try:
        assert Ensemble.load(tmp_path / "e.npz").shape == (n, m)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * n * m, f"{peak / n / m:.1f} bytes a label"


def test_soft_ensembles_are_checked_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr("conclust.ensemble.file._BLOCK_CELLS", 5)
    assert Ensemble.load(soft_file(tmp_path / "e.npz")) == SOFT
    for place in range(len(B.data)):
        values = changed(B.data, place, B.data[place] * 0.5)
        refused(soft_file(tmp_path / "e.npz", soft_values=values), "do not sum|most probable")
        refused(
            soft_file(tmp_path / "e.npz", soft_values=changed(B.data, place, 5e-324)),
            "not probabilities",
        )


@pytest.mark.parametrize("name", [-1, -2, 10**30, "-1", "-2", True, 1.5, None, [1]])
def test_invalid_cluster_names_are_refused(tmp_path, name):
    path = tmp_path / "e.npz"
    Ensemble([["a"], ["b"]]).save(path)
    arrays, meta = read_npz(path)
    write_npz(path, arrays, {**meta, "names": [["a", name]]})
    refused(path, "the names of its clusters do not fit")
