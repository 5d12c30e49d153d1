import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from conclust import EnsembleGenerator
from conclust.exceptions import CacheWarning, ParameterError
from conclust.generation import cache as cache_module

IRIS = load_iris().data

# A slow clusterer that records each of its runs in a file.
SLOW = """
import os, sys, time
import numpy as np
from sklearn.cluster import KMeans

class Slow(KMeans):
    def fit_predict(self, X, y=None):
        with open(os.environ["RUNS"], "a") as file:
            file.write(f"{self.random_state}\\n")
        time.sleep(float(os.environ["PAUSE"]))
        return super().fit_predict(X)
"""
RUN = """
import signal
import sys
import numpy as np
from sklearn.datasets import load_iris
from conclust import EnsembleGenerator
from slow_clusterer import Slow

signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in a background job
generator = EnsembleGenerator(
    Slow(3, n_init=1), 10, random_state=0, cache_dir=sys.argv[1], n_jobs=int(sys.argv[2])
)
np.save(sys.argv[3], generator.fit_transform(load_iris().data))
print(generator.n_cached_)
"""


class Laboratory:
    """Runs of the slow generator in separate processes."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        self.members = self.cache / "members"
        self.runs = folder / "runs.txt"
        self.runs.touch()
        (folder / "slow_clusterer.py").write_text(SLOW)

    def start(self, name, *, pause, n_jobs=1):
        environment = dict(os.environ, RUNS=str(self.runs), PAUSE=str(pause))
        environment["PYTHONPATH"] = str(self.folder)
        command = [sys.executable, "-c", RUN, self.cache, str(n_jobs), self.folder / f"{name}.npy"]
        # Files, not pipes: workers that outlive their parent would keep a pipe open.
        out, err = self.folder / f"{name}.out", self.folder / f"{name}.err"
        with out.open("w") as stdout, err.open("w") as stderr:
            return subprocess.Popen(
                command, env=environment, stdout=stdout, stderr=stderr, start_new_session=True
            )

    def finish(self, process, name):
        """Return the labels, and the number of members from the cache."""
        code = process.wait(timeout=120)
        err = (self.folder / f"{name}.err").read_text()
        assert (code, err) == (0, "")
        return np.load(self.folder / f"{name}.npy"), int((self.folder / f"{name}.out").read_text())

    def computed(self):
        return self.runs.read_text().split()

    def kept(self):
        return len(list(self.members.glob("*.json")))


@pytest.fixture
def laboratory(tmp_path):
    return Laboratory(tmp_path)


@pytest.mark.parametrize(("blow", "n_jobs"), [(signal.SIGKILL, 2), (signal.SIGINT, 1)])
def test_a_stopped_run_resumes_from_the_cache(laboratory, blow, n_jobs):
    victim = laboratory.start("victim", pause=0.3, n_jobs=n_jobs)
    try:
        deadline = time.monotonic() + 200
        while laboratory.kept() < 3:
            assert victim.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        victim.send_signal(blow)
        assert victim.wait() == -blow
        assert not (laboratory.folder / "victim.npy").exists()
        # Workers of a dead parent finish their tasks: their members count too.
        labels, n_cached = laboratory.finish(laboratory.start("heir", pause=0), "heir")
    finally:
        if n_jobs > 1:  # orphans otherwise wait for minutes for more work
            os.killpg(victim.pid, signal.SIGTERM)
    assert n_cached >= 3
    # Each member once, and the interrupted one again.
    assert 10 <= len(laboratory.computed()) <= 11
    assert len(set(laboratory.computed())) == 10
    assert laboratory.kept() == 10
    expected = EnsembleGenerator(KMeans(3, n_init=1), 10, random_state=0).fit_transform(IRIS)
    assert np.array_equal(labels, expected)


def test_two_concurrent_processes_share_the_work(laboratory):
    pair = [laboratory.start(name, pause=0.4) for name in ("one", "two")]
    (first, a), (second, b) = (
        laboratory.finish(process, name) for process, name in zip(pair, ("one", "two"), strict=True)
    )
    assert np.array_equal(first, second)
    assert len(laboratory.computed()) == 10
    assert len(set(laboratory.computed())) == 10
    assert (10 - a) + (10 - b) == 10
    assert 0 < a < 10  # neither waited for the other to do all the work
    assert not list(laboratory.members.glob("*.lock"))


# ------------------------------------------------------------------------------ in this process


@pytest.fixture
def generator(tmp_path):
    return EnsembleGenerator("kmeans", n_partitions=4, random_state=0, cache_dir=tmp_path / "cache")


def _files(generator, pattern):
    return sorted((Path(generator.cache_dir) / "members").glob(pattern))


def assert_same_model(ours, theirs):
    assert type(ours) is type(theirs)
    if ours is not None:
        assert vars(ours).keys() == vars(theirs).keys()
        for name, part in vars(ours).items():
            other = getattr(theirs, name)
            assert part.same_as(other) if name == "search" else np.array_equal(part, other)


@pytest.mark.parametrize(
    "method",
    [
        "kmeans",
        "mixed",
        "pairs",
        "spherical",
        "spectral",
        "graph",
        "density",
        "som",
        "kinds",
        "clusterers",
    ],
)
def test_cached_members_are_read_back_unchanged(tmp_path, method):
    plain = {
        "kmeans": EnsembleGenerator("kmeans", n_partitions=4),
        "mixed": EnsembleGenerator("mixed", n_clusters=[2, 3]),
        "pairs": EnsembleGenerator([("average", [2, 3]), ("kmeans", [4])]),
        "spherical": EnsembleGenerator("spherical", 3),
        "spectral": EnsembleGenerator("spectral", 3),
        "graph": EnsembleGenerator("graph", 3),
        "density": EnsembleGenerator("density", 3),
        "som": EnsembleGenerator("som", 3),
        "kinds": EnsembleGenerator(["spectral", "kmeans", "graph"], 4),
        "clusterers": EnsembleGenerator([DBSCAN(eps=0.4), KMeans(3, n_init=1)], 4),
    }[method].set_params(random_state=0, sample_fraction=0.6, feature_fraction=0.7, scale="minmax")
    expected = plain.fit_transform(IRIS)
    m = expected.shape[1]
    cached = clone(plain).set_params(cache_dir=tmp_path / "a" / "cache")
    for n_cached in (0, m):
        labels = cached.fit_transform(IRIS)
        assert cached.n_cached_ == n_cached
        assert np.array_equal(labels, expected)
        assert labels.dtype == expected.dtype
        assert cached.members_ == plain.members_
        for ours, theirs in zip(cached.members_, plain.members_, strict=True):
            assert_same_model(ours.model, theirs.model)
        assert np.array_equal(cached.transform(IRIS), plain.transform(IRIS))
    assert len(_files(cached, "*.json")) <= m  # one for all members of a run


def test_the_cache_holds_private_npy_and_json_files(generator):
    generator.fit(IRIS)
    suffixes = {path.suffix for path in _files(generator, "*")}
    assert suffixes == {".npy", ".json"}
    for folder in (Path(generator.cache_dir), Path(generator.cache_dir) / "members"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in _files(generator, "*.npy"):
        np.load(path, allow_pickle=False)
    entry = json.loads(_files(generator, "*.json")[0].read_text())
    assert entry["run"]["recipe"]["name"] == "kmeans"
    assert set(entry["run"]["versions"]) == {"conclust", "numpy", "scikit-learn", "scipy"}


@pytest.mark.parametrize("kind", ["npy", "json"])
def test_a_flipped_byte_is_detected_and_the_member_computed_again(generator, kind):
    expected = generator.fit_transform(IRIS)
    victim = _files(generator, f"*.{kind}")[1]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 0b100
    victim.write_bytes(content)
    with pytest.warns(CacheWarning, match="computed again") as caught:
        labels = generator.fit_transform(IRIS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.array_equal(labels, expected)
    assert generator.n_cached_ == 3
    assert np.array_equal(generator.fit_transform(IRIS), expected)
    assert generator.n_cached_ == 4


def _rewrite(path, change):
    entry = json.loads(path.read_text())
    change(entry)
    path.write_text(json.dumps(entry))


def _labelled(entry):
    """Return what the JSON of a member says of its labels."""
    return dict(entry["members"]["records"])["Labelled"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry, array: entry.write_text("{}"),
        lambda entry, array: entry.write_bytes(entry.read_bytes()[:-40]),
        lambda entry, array: array.unlink(),
        lambda entry, array: array.write_bytes(array.read_bytes()[:-1]),
        lambda entry, array: _rewrite(entry, lambda e: e.update(format=1)),
        lambda entry, array: _rewrite(entry, lambda e: e.update(members=[])),
        lambda entry, array: _rewrite(entry, lambda e: e["run"].update(seed=1)),
        lambda entry, array: _rewrite(entry, lambda e: _labelled(e).update(n_clusters=1)),
        lambda entry, array: _rewrite(entry, lambda e: _labelled(e).update(n_clusters="3")),
        lambda entry, array: _rewrite(entry, lambda e: _labelled(e).update(model=None, labels=0)),
        lambda entry, array: _rewrite(entry, lambda e: e.update(arrays={})),
        lambda entry, array: _rewrite(entry, lambda e: e.update(arrays={"array_0": "../.."})),
    ],
)
def test_damaged_entries_are_computed_again(generator, damage):
    expected = generator.fit_transform(IRIS)
    first = _files(generator, "*.json")[0]
    hashes = json.loads(first.read_text())["arrays"]
    damage(first, first.with_name(f"{hashes['array_0']}.npy"))
    with pytest.warns(CacheWarning, match="computed again"):
        labels = generator.fit_transform(IRIS)
    assert np.array_equal(labels, expected)
    assert generator.fit(IRIS).n_cached_ == 4


def test_swapped_members_are_detected(generator):
    expected = generator.fit_transform(IRIS)
    one, two = _files(generator, "*.json")[:2]
    text = one.read_text()
    one.write_text(two.read_text())
    two.write_text(text)
    with pytest.warns(CacheWarning, match="describes another member") as caught:
        assert np.array_equal(generator.fit_transform(IRIS), expected)
    assert len(caught) == 2


def test_other_points_or_parameters_give_other_entries(generator, monkeypatch):
    generator.fit(IRIS)
    touched = IRIS.copy()
    touched[77, 2] = np.nextafter(touched[77, 2], 9)
    assert generator.fit(touched).n_cached_ == 0
    assert generator.fit(IRIS[:, :3]).n_cached_ == 0
    assert generator.fit(IRIS.reshape(75, 8)).n_cached_ == 0
    for change in (
        {"random_state": 1},
        {"scale": "minmax"},
        {"scale": "standard"},
        {"sample_fraction": 0.9},
        {"feature_fraction": 0.5},
        {"n_clusters": [17]},
        {"method": KMeans(3, n_init=1)},
        {"method": KMeans(3, n_init=1, tol=1e-3)},
        {"method": KMeans(3, n_init=1, init=IRIS[:3])},
        {"method": KMeans(3, n_init=1, init=IRIS[1:4])},
    ):
        assert clone(generator).set_params(**change).fit(IRIS).n_cached_ == 0, change
    assert clone(generator).fit(IRIS).n_cached_ == 4
    assert clone(generator).set_params(n_partitions=6, n_jobs=2).fit(IRIS).n_cached_ == 4
    assert clone(generator).fit(np.asfortranarray(IRIS)).n_cached_ == 4
    monkeypatch.setattr(cache_module, "_versions", lambda: {"numpy": "99"})
    assert clone(generator).fit(IRIS).n_cached_ == 0


def test_no_tree_is_built_when_all_cuts_are_cached(tmp_path, monkeypatch):
    generator = EnsembleGenerator("mixed", n_clusters=[2], random_state=0, cache_dir=tmp_path)
    expected = generator.fit_transform(IRIS)
    monkeypatch.setattr(hierarchy, "linkage", None)
    assert np.array_equal(generator.fit_transform(IRIS), expected)


# ----------------------------------------------------------------------------- locks and folders


def _locks(generator):
    """Return the lock files of a generator's members, by letting it run."""
    return [path.with_suffix(".lock") for path in _files(generator, "*.json")]


def test_a_process_waits_for_a_member_computed_elsewhere(generator):
    expected = generator.fit_transform(IRIS)
    path = _locks(generator)[1]
    entry = path.with_suffix(".json")
    content = entry.read_bytes()
    entry.unlink()
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def done():
            entry.write_bytes(content)
            path.unlink()
            file.close()

        timer = threading.Timer(0.5, done)
        timer.start()
        labels = generator.fit_transform(IRIS)
        timer.join()
    assert np.array_equal(labels, expected)
    assert generator.n_cached_ == 4


def test_a_lock_of_a_dead_process_is_taken_over(generator):
    expected = generator.fit_transform(IRIS)
    for path in _locks(generator):
        path.with_suffix(".json").unlink()
        path.touch()  # the file remains, but no process holds it
    assert np.array_equal(generator.fit_transform(IRIS), expected)
    assert generator.n_cached_ == 0
    assert not _files(generator, "*.lock")


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_file_systems_without_locks_keep_members(generator, monkeypatch, number):
    def refuse(descriptor, operation):
        raise OSError(number, os.strerror(number))

    expected = generator.fit_transform(IRIS)
    for path in _files(generator, "*.json"):
        path.unlink()
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert np.array_equal(generator.fit_transform(IRIS), expected)
    assert generator.n_cached_ == 0
    assert np.array_equal(generator.fit_transform(IRIS), expected)
    assert generator.n_cached_ == 4


def test_old_temporary_files_are_removed(generator):
    generator.fit(IRIS)
    folder = Path(generator.cache_dir) / "members"
    old, young = folder / ".conclust-0.tmp", folder / ".conclust-1.tmp"
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    generator.fit(IRIS)
    assert not old.exists()
    assert young.exists()


def test_invalid_folders_are_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    generator = EnsembleGenerator("kmeans", n_partitions=2, random_state=0, cache_dir=file)
    with pytest.raises(
        ParameterError, match=r"'cache_dir' .*a folder or a path where .*Got '.*file'"
    ):
        generator.fit(IRIS)
    (tmp_path / "cache").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache" / "members").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ParameterError, match=r"\(no link\) that belongs to you"):
        generator.set_params(cache_dir=tmp_path / "cache").fit(IRIS)


@pytest.mark.parametrize("name", ["below/a/file", "nul\0", "loop", "x" * 300, "file/members"])
def test_invalid_cache_paths_are_refused(tmp_path, name):
    (tmp_path / "below").write_text("a file")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "members").write_text("a file")
    folder = f"{tmp_path}/{name}" if name != "file/members" else tmp_path / "file"
    with pytest.raises(
        ParameterError, match="'cache_dir' parameter of EnsembleGenerator must be a"
    ):
        EnsembleGenerator("kmeans", random_state=0, cache_dir=folder).fit(IRIS)


@pytest.mark.parametrize("kind", [".json", ".npy", ".lock"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_foreign_files_with_the_name_of_an_entry_are_refused(tmp_path, kind, n_jobs):
    generator = EnsembleGenerator(
        "kmeans", n_partitions=3, random_state=0, cache_dir=tmp_path / "cache", n_jobs=n_jobs
    )
    generator.fit(IRIS)
    members = tmp_path / "cache" / "members"
    (entry,) = sorted(members.glob("*.json"))[:1]
    hashes = json.loads(entry.read_text())["arrays"]
    entry.unlink()
    strange = entry.with_suffix(kind) if kind != ".npy" else members / f"{hashes['array_0']}.npy"
    strange.unlink(missing_ok=True)
    strange.mkdir()
    with pytest.raises(ParameterError, match=f"{strange.name} is a folder instead: remove it"):
        generator.fit(IRIS)
    strange.rmdir()
    strange.symlink_to(strange.name)
    if kind == ".npy":  # never read: the JSON is gone; and a link is replaced, not followed
        generator.fit(IRIS)
        assert not strange.is_symlink()
        return
    with pytest.raises(ParameterError, match=f"{strange.name} is a link instead: remove it"):
        generator.fit(IRIS)


def test_without_random_state_nothing_is_reused(tmp_path):
    with pytest.raises(ParameterError, match=r"'random_state' .*an int with cache_dir"):
        EnsembleGenerator("kmeans", n_partitions=2, cache_dir=tmp_path).fit(IRIS)


@pytest.mark.parametrize(
    ("clusterer", "name"),
    [
        (DBSCAN(metric=lambda a, b: abs(a - b).sum()), "metric"),
        (KMeans(3, init=np.array([[None] * 4] * 3)), "init"),
        (make_pipeline(SelectKBest(), KMeans(3)), "score_func"),
    ],
)
def test_parameters_without_a_stable_name_are_refused(tmp_path, clusterer, name):
    generator = EnsembleGenerator(clusterer, 1, random_state=0, cache_dir=tmp_path)
    with pytest.raises(ParameterError, match=rf"'cache_dir' .* must be None with \w+\(.*{name}="):
        generator.fit(IRIS)
