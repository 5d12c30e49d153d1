import errno
import json
import os
import pickle
import signal
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from conclust._files import storage as _storage
from conclust._files.storage import (
    Expected,
    atomic_write,
    read_json,
    read_npy,
    read_npz,
    write_json,
    write_npz,
)
from conclust.blocks.runners import write_own
from conclust.exceptions import FileFormatError, InputError

ARRAYS = [
    np.arange(12, dtype=np.uint8).reshape(3, 4),
    np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    np.arange(12).reshape(3, 4)[::2, ::-1],
    np.array([[True, False], [False, True]]),
    np.array(["a", "Zürich", ""]),
    np.array([b"xy", b"z"]),
    np.arange(5, dtype=">i4"),
    np.float32(2.5),
    np.empty((0, 3)),
    np.array([1 + 2j]),
]


class Bomb:
    """Creates a file if a pickle is executed."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def npy(descr="<f8", shape="(2,)", data=b"\0" * 16, fortran="False", version=(1, 0), length=None):
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    size = len(header) if length is None else length
    field = struct.pack("<H" if version == (1, 0) else "<I", size)
    return b"\x93NUMPY" + bytes(version) + field + header + data


def zipped(path, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def leftovers(folder):
    return sorted(entry.name for entry in Path(folder).iterdir())


# ---- writing


def test_atomic_write_replaces_the_complete_file(tmp_path):
    target = tmp_path / "f"
    atomic_write(target, lambda file: file.write(b"old"))
    atomic_write(target, lambda file: file.write(b"new"))
    assert target.read_bytes() == b"new"
    assert leftovers(tmp_path) == ["f"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_atomic_write_failing_in_the_middle_keeps_the_old_file(tmp_path, error):
    target = tmp_path / "f"
    target.write_bytes(b"old")

    def write(file):
        file.write(b"half")
        raise error

    with pytest.raises(error):
        atomic_write(target, write)
    assert target.read_bytes() == b"old"
    assert leftovers(tmp_path) == ["f"]


def test_an_interrupt_when_the_temporary_file_is_opened_leaves_nothing(tmp_path, monkeypatch):
    opened = os.open

    def interrupted(*arguments):
        os.close(opened(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "f", lambda file: file.write(b"x"))
    monkeypatch.undo()
    assert leftovers(tmp_path) == []


def test_atomic_write_failing_to_move_leaves_nothing(tmp_path):
    (tmp_path / "f").mkdir()  # a file cannot replace a folder
    with pytest.raises(OSError, match="f"):
        atomic_write(tmp_path / "f", lambda file: file.write(b"x"))
    assert leftovers(tmp_path) == ["f"]


def test_atomic_write_replaces_a_link_not_its_target(tmp_path):
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    atomic_write(tmp_path / "link", lambda file: file.write(b"x"))
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert not (tmp_path / "link").is_symlink()


def test_atomic_write_respects_umask(tmp_path):
    old = os.umask(0o027)
    try:
        atomic_write(tmp_path / "f", lambda file: file.write(b"x"))
    finally:
        os.umask(old)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_atomic_write_flushes_file_then_moves_then_flushes_folder(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("fsync"), fsync(fd)))
    monkeypatch.setattr(Path, "replace", lambda a, b: (steps.append("replace"), replace(a, b)))
    atomic_write(tmp_path / "f", lambda file: file.write(b"x"))
    assert steps == ["fsync", "replace", "fsync"]


# ---- round trips


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}-{a.ndim}")
@pytest.mark.parametrize("mmap", [False, True])
def test_npy_files_are_read_back(tmp_path, array, mmap):
    np.save(tmp_path / "a.npy", array)
    back = read_npy(tmp_path / "a.npy", mmap=mmap)
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy", allow_pickle=False), array)


def test_memory_maps_are_read_only_and_unbounded(tmp_path, monkeypatch):
    monkeypatch.setattr(_storage, "reading_limit", lambda: 4)
    np.save(tmp_path / "a.npy", np.arange(100))
    mapped = read_npy(tmp_path / "a.npy", mmap=True)
    assert isinstance(mapped, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        mapped[0] = 1


def test_files_of_numpy_are_read(tmp_path):
    arrays = {f"a{i}": np.asarray(array) for i, array in enumerate(ARRAYS)}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        back, meta = read_npz(tmp_path / "a.npz")
        assert meta == {}
        for name, array in arrays.items():
            np.testing.assert_array_equal(back[name], array)


def test_npz_files_with_metadata_are_read_back(tmp_path):
    arrays = {f"a{i}": array for i, array in enumerate(ARRAYS)}
    meta = {
        "version": 1,
        "text": "Zürich",
        "n": np.int64(3),
        "w": np.array([0.5, 1.0]),
        "none": None,
    }
    write_npz(tmp_path / "a.npz", arrays, meta)
    back, meta_back = read_npz(tmp_path / "a.npz")
    assert meta_back == {"version": 1, "text": "Zürich", "n": 3, "w": [0.5, 1.0], "none": None}
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as by_numpy:
        np.testing.assert_array_equal(by_numpy["a0"], arrays["a0"])


def test_npz_bytes_depend_on_the_content_only(tmp_path, monkeypatch):
    write_npz(tmp_path / "a", {"x": np.arange(3)}, {"v": 1})
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_npz(tmp_path / "b", {"x": np.arange(3)}, {"v": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_json_files_are_read_back(tmp_path):
    content = {"b": [1, 2.5, None, True], "a": "Zürich"}
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == content
    assert (tmp_path / "a.json").read_bytes().endswith(b"}\n")


def test_invalid_json_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    with pytest.raises(TypeError, match="set cannot be written"):
        write_json(tmp_path / "a.json", {"x": {1}})
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [b"{", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\xff", b"[" * 100_000],
    ids=lambda c: repr(c[:8]),
)
def test_malformed_json_is_refused(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FileFormatError, match="not valid JSON"):
        read_json(tmp_path / "a.json")


def test_large_json_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_storage, "_MAX_JSON", 50)
    (tmp_path / "a.json").write_text(json.dumps("x" * 100))
    with pytest.raises(FileFormatError, match="larger than 50 bytes, the limit"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize(
    "array", [np.array([None, "a"]), np.array(["2020"], "M8[D]"), np.zeros(2, "i4,f4")]
)
def test_only_plain_arrays_are_written(tmp_path, array):
    with pytest.raises(InputError, match="x: an array of dtype"):
        write_npz(tmp_path / "a.npz", {"x": array}, {})
    assert leftovers(tmp_path) == []


# ---- hostile NPY


HOSTILE = {
    "cut off in the data": (
        npy(data=b"\0" * 15),
        "is cut off: its array needs 16 bytes, 15 are available",
    ),
    "cut off in the header": (npy()[:30], "is cut off: it ends within its header"),
    "empty": (b"", "is cut off"),
    "text": (b"1,2,3\n4,5,6\n", "is not an NPY file"),
    "trailing": (npy(data=b"\0" * 17), "1 bytes follow the end"),
    "version 3": (npy(version=(3, 0)), "NPY version 3.0"),
    "huge header": (npy(version=(2, 0), length=1 << 31), "header of 2147483648 bytes"),
    "objects": (npy(descr="|O"), "Python objects"),
    "objects in fields": (npy(descr=[("a", "|O")]), "the dtype"),
    "dates": (npy(descr="<M8[s]"), "the dtype"),
    "empty strings": (npy(descr="<U0", shape="(10000000000,)", data=b""), "the dtype"),
    "endless strings": (npy(descr="<U9999999999"), "the dtype"),
    "enormous": (npy(shape="(1000000000000,)"), "is cut off: its array needs 8000000000000 bytes"),
    "overflowing": (npy(shape="(4294967296, 4294967296)", data=b""), "has the shape"),
    "negative": (npy(shape="(-2, -1)"), "has the shape"),
    "true as a length": (npy(shape="(True, 2)"), "has the shape"),
    "many dimensions": (npy(shape="(" + "1," * 33 + ")"), "has the shape"),
    "order is not a bool": (npy(fortran="2"), "cannot be understood"),
    "code": (npy(shape="__import__('os').system('false')"), "cannot be understood"),
    "nested": (npy(shape="(" * 5000), "cannot be understood"),
    "characters that do not exist": (
        npy(descr="<U1", data=b"\xff" * 8),
        "characters that do not exist",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("mmap", [False, True])
def test_hostile_npy_is_refused(tmp_path, name, mmap):
    content, sentence = HOSTILE[name]
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a.npy") as caught:
        read_npy(tmp_path / "a.npy", mmap=mmap)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_npy_inside_npz_is_refused(tmp_path, name):
    zipped(tmp_path / "a.npz", [("x.npy", HOSTILE[name][0])])
    with pytest.raises(FileFormatError, match=r"a.npz"):
        read_npz(tmp_path / "a.npz")


def test_the_default_limit_is_half_of_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": 10, "SC_PAGE_SIZE": 100}.__getitem__)
    np.save(tmp_path / "a.npy", np.zeros(62))
    assert read_npy(tmp_path / "a.npy").size == 62
    np.save(tmp_path / "a.npy", np.zeros(63))
    with pytest.raises(FileFormatError, match="at most 500 bytes"):
        read_npy(tmp_path / "a.npy")


def test_pickles_are_never_read(tmp_path):
    ran = tmp_path / "ran"
    content = pickle.dumps(Bomb(ran))
    (tmp_path / "a.npy").write_bytes(content)
    (tmp_path / "a.npz").write_bytes(content)
    np.save(tmp_path / "b.npy", np.array([Bomb(ran)], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "b.npz", x=np.array([Bomb(ran)], dtype=object))
    for file, read in [
        ("a.npy", read_npy),
        ("b.npy", read_npy),
        ("a.npz", read_npz),
        ("b.npz", read_npz),
    ]:
        with pytest.raises(FileFormatError, match="pickle"):
            read(tmp_path / file)
    assert not ran.exists()


@pytest.mark.parametrize("read", [read_npy, read_npz, read_json])
def test_paths_that_are_not_files_are_refused(tmp_path, read):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent")
    with pytest.raises((FileFormatError, IsADirectoryError)):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="not a regular file"):
        read(tmp_path / "pipe")


# ---- hostile NPZ


def good(tmp_path, compression=np.savez_compressed):
    compression(tmp_path / "a.npz", x=np.arange(1000), y=np.zeros((3, 3)))
    return tmp_path / "a.npz"


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.999])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_truncated_npz_file_is_refused(tmp_path, keep, save):
    path = good(tmp_path, save)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(FileFormatError, match=r"a.npz is cut off"):
        read_npz(path)


@pytest.mark.parametrize("flip", [0x01, 0xFF])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_flipped_byte_is_detected_or_harmless(tmp_path, save, flip):
    save(tmp_path / "a.npz", x=np.arange(40, dtype=np.uint8))
    content = (tmp_path / "a.npz").read_bytes()
    for i in range(len(content)):
        (tmp_path / "a.npz").write_bytes(
            content[:i] + bytes([content[i] ^ flip]) + content[i + 1 :]
        )
        try:
            arrays, _ = read_npz(tmp_path / "a.npz")
        except FileFormatError:
            continue
        ((_, array),) = arrays.items()  # a flip in the name, the clock or the rights
        np.testing.assert_array_equal(array, np.arange(40))


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"1,2\n", b"PK\x03\x04" * 10, b"\x93NUMPY\x01\x00"]
)
def test_invalid_npz_files_are_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"is not an NPZ file|is cut off"):
        read_npz(tmp_path / "a.npz")


def test_zip_bomb_is_refused_by_its_declared_size(tmp_path):
    bomb = npy(descr="|u1", shape=f"({50_000_000},)", data=b"\0" * 50_000_000)
    path = zipped(tmp_path / "a.npz", [("x.npy", bomb)], zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(FileFormatError, match=r"unpacks to 47.7 MiB; at most 1.0 MiB"):
        read_npz(path, max_bytes=1 << 20)


def test_the_sum_of_the_sizes_is_bounded(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"x{i}": np.zeros(1000) for i in range(10)})
    assert len(read_npz(tmp_path / "a.npz", max_bytes=90_000)[0]) == 10
    with pytest.raises(FileFormatError, match="unpacks to"):
        read_npz(tmp_path / "a.npz", max_bytes=50_000)


def test_a_zip_bomb_with_a_false_size_is_refused(tmp_path):
    bomb = npy(descr="|u1", shape="(10000000,)", data=b"\0" * 10_000_000)
    path = zipped(tmp_path / "a.npz", [("x.npy", bomb)], zipfile.ZIP_DEFLATED)
    content = path.read_bytes().replace(struct.pack("<I", len(bomb)), struct.pack("<I", 200))
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a.npz"):
        read_npz(path, max_bytes=1 << 20)


def test_a_header_larger_than_its_entry_is_refused(tmp_path):
    zipped(tmp_path / "a.npz", [("x.npy", npy(shape="(100000000,)"))])
    with pytest.raises(
        FileFormatError, match="the array 'x' in it needs 800000000 bytes, 16 are available"
    ):
        read_npz(tmp_path / "a.npz")


def test_enormous_directory_is_refused_before_it_is_parsed(tmp_path):
    zipped(tmp_path / "a.npz", [(f"{i}{'x' * 200}.npy", b"") for i in range(5000)])
    with pytest.raises(FileFormatError, match="directory of 1"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("size", [10, 29_800, 29_950, 30_000, 30_001, 40_000])
def test_arrays_around_the_limit_of_zip_are_written(size, tmp_path, monkeypatch):
    """The header of an array may carry its entry beyond 2 GiB, where sizes need 64 bits."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 30_000)
    write_npz(tmp_path / "a.npz", {"x": np.ones(size, dtype=np.uint8)}, {})
    assert read_npz(tmp_path / "a.npz")[0]["x"].shape == (size,)


def test_large_directory_in_a_zip64_record_is_refused(tmp_path):
    path = zipped(tmp_path / "a.npz", [("x.npy", npy())])
    content = path.read_bytes()
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(content) - 22, 1)
    path.write_bytes(content[:-22] + record + locator + content[-22:])
    with pytest.raises(FileFormatError, match=r"directory of 1024.0 GiB"):
        read_npz(path)


def test_entries_that_are_not_arrays_are_refused(tmp_path):
    zipped(tmp_path / "a.npz", [("x.npy", npy()), ("evil.py", b"1")])
    with pytest.raises(FileFormatError, match=r"'evil.py' in it is not an array"):
        read_npz(tmp_path / "a.npz")
    with pytest.warns(UserWarning, match="Duplicate name"):
        zipped(tmp_path / "b.npz", [("x.npy", npy()), ("x.npy", npy())])
    with pytest.raises(FileFormatError, match="repeated"):
        read_npz(tmp_path / "b.npz")


# ---- expectations


EXPECTED = {"codes": Expected("u", 2), "weights": Expected("f", 1, optional=True)}


def test_expected_arrays_are_read(tmp_path):
    write_npz(tmp_path / "a.npz", {"codes": np.zeros((2, 2), np.uint8)}, {"v": 1})
    arrays, meta = read_npz(tmp_path / "a.npz", expected=EXPECTED)
    assert arrays.keys() == {"codes"}
    assert meta == {"v": 1}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "lacks the array 'codes'"),
        (
            {"codes": np.zeros((2, 2), np.uint8), "x": np.zeros(2)},
            "an array 'x' that does not belong",
        ),
        (
            {"codes": np.zeros((2, 2))},
            "dtype float64 and 2 dimensions; expected a dtype of kind u and 2",
        ),
        ({"codes": np.zeros(2, np.uint8)}, "dtype uint8 and 1 dimensions"),
    ],
)
def test_unexpected_arrays_are_refused(tmp_path, arrays, sentence):
    write_npz(tmp_path / "a.npz", arrays, {})
    with pytest.raises(FileFormatError) as caught:
        read_npz(tmp_path / "a.npz", expected=EXPECTED)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        (np.frombuffer(b"[1]", np.uint8), "not a JSON object"),
        (np.frombuffer(b"{", np.uint8), "not valid JSON"),
        (np.zeros(3), "not text"),
    ],
)
def test_invalid_metadata_is_refused(tmp_path, meta, sentence):
    np.savez(tmp_path / "a.npz", meta=meta)
    with pytest.raises(FileFormatError, match=sentence):
        read_npz(tmp_path / "a.npz")


def test_errors_of_atomic_write_name_the_file_itself(tmp_path):
    (tmp_path / "folder").mkdir()
    for target, error in (
        (tmp_path / "none" / "f", FileNotFoundError),
        (tmp_path / "folder", OSError),
    ):
        with pytest.raises(error) as caught:
            atomic_write(target, lambda file: file.write(b"x"))
        assert caught.value.filename == str(target)
        assert ".tmp" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "is_named"),
    [(errno.ENOSPC, True), (errno.EFBIG, True), (errno.EIO, False)],  # EIO may be of an input
)
def test_errors_of_a_full_disk_name_the_file(tmp_path, number, is_named):
    def write(file):
        file.write(b"half")
        raise OSError(number, "reason")

    with pytest.raises(OSError, match="reason") as caught:
        atomic_write(tmp_path / "f", write)
    assert caught.value.filename == (str(tmp_path / "f") if is_named else None)
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the sizes of files")
def test_memberships_that_do_not_fit_are_refused_by_name_and_leave_nothing(tmp_path):
    import resource

    place, value = tmp_path / "membership-0-1.npy", np.arange(20_000.0).reshape(-1, 4)
    assert write_own(place, value) == place
    np.testing.assert_array_equal(np.load(place), value)
    place.unlink()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_own(place, value)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert caught.value.filename == str(place)
    assert leftovers(tmp_path) == []


def test_devices_are_written_to_and_not_replaced():
    atomic_write("/dev/null", lambda file: file.write(b"content"))
    assert Path("/dev/null").is_char_device()
