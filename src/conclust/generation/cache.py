"""Finished members on disk, so that an interrupted run resumes and two runs share the work.

A member is an NPY of labels and a JSON written last, with the SHA-256 of each file. Its name is the SHA-256 of
everything that determines it. Each array of its model, where it has one, is an NPY named by its own SHA-256: an array
that members share, such as the points of members by neighbours, is stored once. The process that computes a member
holds a lock on its lock file, which the system releases if the process dies. On file systems without locks (some
Lustre and NFS mounts) two processes may compute the same member, with the same bits.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from conclust._files.storage import (
    PathLike,
    atomic_write,
    open_regular,
    read_json,
    read_npy,
    write_json,
)
from conclust._types import Floats
from conclust._validation import refuse
from conclust.ensemble import NOISE
from conclust.exceptions import CacheWarning, FileFormatError, ParameterError, warn
from conclust.generation.labelling.models import MODELS, Model
from conclust.generation.members import Labelled, Task

if sys.platform != "win32":
    import fcntl

_FORMAT = 3
_FOLDER = "members"
_ARRAY = ".array.npy"
_DIGEST = re.compile("[0-9a-f]{64}", re.ASCII)
_OWNER = "EnsembleGenerator"
_NO_PATH = {errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK}
_POLL = 0.05  # seconds between two checks of a lock held by another process
_STALE = 3600.0  # seconds after which a temporary file must come from a killed process


@dataclass
class CacheReport:
    """The work of the cache: members read from it, and sentences on damaged ones."""

    n_read: int = 0
    damaged: list[str] = field(default_factory=list)

    def add(self, other: CacheReport) -> None:
        """Add the counts of another report."""
        self.n_read += other.n_read
        self.damaged += other.damaged

    def warn_of_damage(self) -> None:
        """Warn of each damaged member."""
        for sentence in self.damaged:
            warn(sentence, CacheWarning)


def points_digest(points: Floats) -> str:
    """Return the SHA-256 of the shape, dtype and bytes of C-contiguous points."""
    return blocks_digest(points.shape, [points])


def blocks_digest(shape: tuple[int, ...], blocks: Iterable[Floats]) -> str:
    """Return the digest of points of this shape from their consecutive blocks."""
    digest = hashlib.sha256(f"{shape} {np.dtype(np.float64).str} ".encode())
    for block in blocks:
        digest.update(block.data)
    return digest.hexdigest()


def check_folder(folder: Any, owner: str) -> None:
    """Refuse a `cache_dir` that is neither a path nor None."""
    if folder is not None and not isinstance(folder, str | os.PathLike):
        refuse("cache_dir", owner, "a path or None", folder)


def check_repeatable(random_state: Any, owner: str) -> None:
    """Refuse a cache of members that no later run makes."""
    if random_state is None:
        takes = "an int with cache_dir, or no later run could reuse the same members"
        refuse("random_state", owner, takes, None)


def open_cache(folder: PathLike, digest: str, scale: str | None, n: int) -> MemberCache:
    """Return the cache in `folder`, created if necessary; only the user can read its entries."""
    if sys.platform == "win32":
        refuse("cache_dir", _OWNER, "None where there are no POSIX file locks", folder)
    home = Path(folder)
    members = home / _FOLDER
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):  # distinguished below
            members.mkdir(mode=0o700)
        status = os.lstat(members)
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        if isinstance(error, OSError) and error.errno not in _NO_PATH:
            raise  # missing rights or a full disk: the path itself is valid
        wanted = "a folder or a path where one can be made"
        refuse("cache_dir", _OWNER, wanted, os.fspath(folder))
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        refuse(
            "cache_dir",
            _OWNER,
            f"a folder in which {_FOLDER!r} is a folder (no link) that belongs to you",
            os.fspath(folder),
        )
    if stat.S_IMODE(status.st_mode) != 0o700:
        members.chmod(0o700)
    _sweep(members)
    return MemberCache(members, digest, scale, n)


def _sweep(folder: Path) -> None:
    """Remove temporary files left by killed processes."""
    for path in folder.glob(".conclust-*.tmp"):
        try:
            if time.time() - path.stat().st_mtime > _STALE:
                path.unlink()
        except FileNotFoundError:
            continue  # another process removed it


@dataclass(frozen=True)
class MemberCache:
    """The members in one folder, for one set of points and its scaling."""

    folder: Path
    digest: str
    scale: str | None
    n: int

    def description(self, task: Task, place: int) -> dict[str, Any]:
        """Return everything that determines a member, as JSON data; `place` is its index in the run."""
        n_requested = task.n_clusters[place]
        entries: dict[str, Any] = {
            "points": self.digest,
            "scale": self.scale,
            "recipe": task.recipe.parameters(),
            "n_clusters": n_requested,
            # One run of an algorithm may make several members, and its numbers depend on all of them.
            "n_clusters_of_the_run": list(task.n_clusters),
            "n_objects": task.n_objects,
            "n_features": task.n_features,
            "seed": task.seed,
            "versions": _versions(),
        }
        if task.n_fitted is not None:
            entries["n_fitted"] = task.n_fitted
        if task.n_clusters.count(n_requested) > 1:
            entries["place_in_the_run"] = place
        return entries

    def key(self, task: Task, place: int) -> str:
        """Return the file name of the member with this index in the run."""
        return _hash(self.description(task, place))

    def _path(self, key: str, kind: str) -> Path:
        return self.folder / f"{key}{kind}"

    def read_all(
        self, keys: Sequence[str], n_labelled: int | None = None
    ) -> tuple[list[Labelled | None], CacheReport]:
        """Read the members in the cache, with this number of labels (None: all objects); report damaged ones."""
        n = self.n if n_labelled is None else n_labelled
        members: list[Labelled | None] = []
        report = CacheReport()
        for key in keys:
            try:
                members.append(self._read(key, n))
            except FileFormatError as error:
                members.append(None)
                report.damaged.append(
                    f"A cached member is damaged and was computed again ({error}). Nothing is lost; if it happens again, "
                    "check the disk."
                )
        report.n_read = sum(member is not None for member in members)
        return members, report

    def _read(self, key: str, n: int) -> Labelled | None:
        path = self._path(key, ".json")
        try:
            with _no_strangers(path):
                entry = read_json(path)
        except FileNotFoundError:
            return None
        try:
            n_found, hashes, member = entry["n_clusters_found"], entry["sha256"], entry["member"]
            named = entry["format"] == _FORMAT and entry["key"] == key
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"{path} does not describe a member.") from error
        # The key is the hash of the description, so neither can be changed without the other.
        if not named or _hash(member) != key:
            raise FileFormatError(f"{path} describes another member.")
        if type(n_found) is not int or not 0 <= n_found <= n or not isinstance(hashes, dict):
            raise FileFormatError(f"{path} does not describe a member.")
        labels = self._payload(self._path(key, ".npy"), hashes.get(".npy"))
        shape, kind = labels.shape, labels.dtype.kind
        if shape != (n,) or kind != "i" or labels.min() < NOISE or labels.max() >= n_found:
            raise FileFormatError(f"{self._path(key, '.npy')} does not hold labels of {n} objects.")
        return Labelled(labels.astype(np.int32), n_found, self._model(key, entry, n_found, hashes))

    def _model(
        self, key: str, entry: dict[str, Any], n_clusters: int, hashes: dict[str, str]
    ) -> Model | None:
        kind = entry.get("model")
        if kind is None:
            return None
        if kind not in MODELS:
            raise FileFormatError(f"{self._path(key, '.json')} does not describe a member.")
        arrays = {}
        for name, (type_, ndim) in MODELS[kind].layout.items():
            digest = hashes.get(name)
            if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
                raise FileFormatError(f"{self._path(key, '.json')} does not describe a member.")
            path = self._path(digest, _ARRAY)
            array = arrays[name] = self._payload(path, digest)
            if array.dtype.kind != type_ or array.ndim != ndim:
                raise FileFormatError(f"{path} does not hold {name}.")
        model = MODELS[kind].unpacked(arrays)
        if model is None or model.n_clusters != n_clusters:
            raise FileFormatError(f"{self._path(key, '.json')} does not fit the files next to it.")
        return model

    def _payload(self, path: Path, digest: str | None) -> NDArray[Any]:
        try:
            if _digest_of(path) != digest:
                raise FileFormatError(f"{path} does not have the SHA-256 recorded next to it.")
            array: NDArray[Any] = read_npy(path)
            return array
        except FileNotFoundError as error:
            raise FileFormatError(f"{path} does not exist.") from error

    def write(self, key: str, task: Task, place: int, member: Labelled) -> None:
        """Store a member: payloads first, then the JSON that makes them valid."""
        highest = np.min_scalar_type(-max(1, member.n_clusters) - 1)  # a signed type
        payloads = {".npy": member.labels.astype(highest)}
        if member.model is not None:
            payloads |= member.model.packed()
        hashes = {}
        for name, array in payloads.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            digest = hashes[name] = hashlib.sha256(buffer.getvalue()).hexdigest()
            path = self._path(*((key, name) if name == ".npy" else (digest, _ARRAY)))
            with _no_strangers(path):
                stored = name != ".npy" and path.is_file() and not path.is_symlink()
                if not stored or _digest_of(path) != digest:
                    atomic_write(path, partial(_copy, buffer.getvalue()))
        entry = {
            "format": _FORMAT,
            "key": key,
            "member": self.description(task, place),
            "n_clusters_found": member.n_clusters,
            "model": None if member.model is None else member.model.kind,
            "sha256": hashes,
        }
        with _no_strangers(self._path(key, ".json")):
            write_json(self._path(key, ".json"), entry)

    @contextmanager
    def locked(
        self, keys: Sequence[str], *, wait: bool, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[bool]:
        """Hold the locks of all `keys`, or none (False) if another process holds one.

        Waiting polls without holding anything, so two processes cannot wait for each other. It ends when `stopped`
        returns true.
        """
        while True:
            with ExitStack() as stack:
                all_locked = True
                for key in keys:
                    with _no_strangers(self._path(key, ".lock")):
                        lock = _lock(self._path(key, ".lock"))
                    if lock is None:
                        all_locked = False
                        break
                    stack.callback(_unlock, *lock)
                if all_locked or not wait or stopped():
                    yield all_locked
                    return
            time.sleep(_POLL)


@contextmanager
def _no_strangers(path: Path) -> Iterator[None]:
    """Raise an error if something else has the name of an entry."""
    try:
        yield
    except OSError as error:
        strange = path.is_symlink() or (path.exists() and not path.is_file())
        if not strange or isinstance(error, FileNotFoundError):
            raise
        what = "link" if path.is_symlink() else "folder" if path.is_dir() else "device"
        raise ParameterError(
            f"The 'cache_dir' parameter of {_OWNER} must be a folder into which no one else writes. "
            f"Got one in which {os.fspath(path)} is a {what} instead: remove it."
        ) from error


if sys.platform != "win32":

    def _flock(descriptor: int) -> None:
        """Lock an open file, where its file system has locks."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise

    def _lock(path: Path) -> tuple[Path, int] | None:
        """Lock the file `path`, or return None if it is locked already."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            descriptor = os.open(path, flags, 0o600)
            try:
                _flock(descriptor)
                # If the holder removed the file, this is the lock of a deleted file.
                if os.fstat(descriptor).st_nlink:
                    return path, descriptor
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def _unlock(path: Path, descriptor: int) -> None:
    path.unlink(missing_ok=True)
    os.close(descriptor)


def _digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _copy(content: bytes, file: BinaryIO) -> None:
    file.write(content)


# ------------------------------------------------------------------------------------- keys


def _hash(description: Any) -> str:
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@once
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("conclust", "numpy", "scikit-learn", "scipy")}


def render_clusterer(clusterer: Any) -> dict[str, Any]:
    """Return the class and all parameters of a clusterer as plain values.

    ``random_state`` is left out: each member's seed takes its place.

    Raises
    ------
    ParameterError
        If a parameter has no permanent representation (a function, an object that is not an estimator).
    """
    rendered: dict[str, Any] = {"class": _class_name(clusterer), "version": _version_of(clusterer)}
    for name, value in clusterer.get_params(deep=True).items():
        if name != "random_state" and not name.endswith("__random_state"):
            rendered[f"parameter {name}"] = _render(value, name, type(clusterer).__name__)
    return rendered


def _render(value: Any, name: str, owner: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}  # infinity and NaN are not valid JSON
    if isinstance(value, list | tuple):
        return [_render(item, name, owner) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _render(item, name, owner) for key, item in value.items()}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        content = np.ascontiguousarray(value)
        return {
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "sha256": hashlib.sha256(content.tobytes()).hexdigest(),
        }
    if hasattr(value, "get_params") and not isinstance(value, type):
        return render_clusterer(value)
    raise ParameterError(
        f"The 'cache_dir' parameter of {_OWNER} must be None with {owner}({name}={value!r}): a "
        f"{type(value).__name__} has no permanent representation, so its members could not "
        "be distinguished from others."
    )


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _version_of(value: Any) -> str | None:
    """Return the version of the package of a clusterer, if it has one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(type(value).__module__.partition(".")[0])
    except PackageNotFoundError:
        return None
