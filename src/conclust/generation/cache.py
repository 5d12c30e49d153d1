"""Finished members on disk, so that an interrupted run resumes and two runs share the work.

The members of one run of an algorithm are a JSON, in the form of saved models, whose name is the SHA-256 of everything that
determines them. It is written last. Each array is an NPY named by its own SHA-256: one that members share, such as the points
of members by neighbours, is stored once. The process that computes the members holds a lock on their lock file, which the
system releases if the process dies. On file systems without locks (some Lustre and NFS mounts) two processes may compute the
same members, with the same bits.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from conclust._files import storage
from conclust._files.saving import from_parts, parts_of
from conclust._validation import refuse
from conclust.exceptions import FileFormatError, ParameterError
from conclust.generation.members import Labelled, Task

if sys.platform != "win32":
    import fcntl

_FORMAT = 4
_FOLDER = "members"
_DIGEST = re.compile("[0-9a-f]{64}", re.ASCII)
_OWNER = "EnsembleGenerator"
_NO_PATH = {errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK}
_POLL = 0.05  # seconds between two checks of a lock held by another process
_STALE = 3600.0  # seconds after which a temporary file must come from a killed process


def open_cache(folder: storage.PathLike, digest: str, scale: str | None, n: int) -> MemberCache:
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
        refuse("cache_dir", _OWNER, "a folder or a path where one can be made", os.fspath(folder))
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

    def description(self, task: Task) -> dict[str, Any]:
        """Return everything that determines the members of a run, as JSON data."""
        return {
            "points": self.digest,
            "scale": self.scale,
            "recipe": _render(task.recipe, "recipe", _OWNER),
            "n_clusters": list(task.n_clusters),
            "n_objects": task.n_objects,
            "n_fitted": task.n_fitted,
            "n_features": task.n_features,
            "seed": task.seed,
            "sample_seed": task.sample_seed,
            "versions": _versions(),
        }

    def path(self, task: Task, kind: str = ".json") -> Path:
        """Return a file of the members of a run."""
        return self.folder / f"{_hash(self.description(task))}{kind}"

    def read(self, task: Task) -> list[Labelled] | None:
        """Return the members of a run, or None if they are not here; damaged files are an error."""
        path = self.path(task)
        try:
            with _no_strangers(path):
                entry = storage.read_json(path)
        except FileNotFoundError:
            return None
        # The name is the hash of the description, so neither can be changed without the other.
        if not isinstance(entry, dict) or _hash(entry.get("run")) != path.stem:
            raise FileFormatError(f"{path} describes another member.")
        hashes = entry.get("arrays")
        if entry.get("format") != _FORMAT or not isinstance(hashes, dict):
            raise FileFormatError(f"{path} does not describe a member.")
        arrays = {name: self._array(digest) for name, digest in hashes.items()}
        members = from_parts(path, arrays, entry.get("members"))
        n = self.n if task.n_fitted is None else task.n_fitted
        if not isinstance(members, list) or len(members) != len(task.n_clusters):
            raise FileFormatError(f"{path} does not describe a member.")
        if not all(isinstance(one, Labelled) and one.labels.shape == (n,) for one in members):
            raise FileFormatError(f"{path} does not hold labels of {n} objects.")
        return [replace(one, labels=one.labels.astype(np.int32)) for one in members]

    def _array(self, digest: Any) -> NDArray[Any]:
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise FileFormatError(f"{digest!r} is not the SHA-256 of an array.")
        path = self.folder / f"{digest}.npy"
        try:
            if _digest_of(path) != digest:
                raise FileFormatError(f"{path} does not have the SHA-256 that is its name.")
            array: NDArray[Any] = storage.read_npy(path)
            return array
        except FileNotFoundError as error:
            raise FileFormatError(f"{path} does not exist.") from error

    def write(self, task: Task, members: list[Labelled]) -> None:
        """Store the members of a run: arrays first, then the JSON that makes them valid."""
        most = max(1, *(member.n_clusters for member in members))
        narrow = np.min_scalar_type(-most - 1)  # a signed type
        small = [replace(member, labels=member.labels.astype(narrow)) for member in members]
        arrays, described = parts_of(small)
        hashes = {}
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            digest = hashes[name] = hashlib.sha256(buffer.getvalue()).hexdigest()
            path = self.folder / f"{digest}.npy"
            with _no_strangers(path):
                stored = path.is_file() and not path.is_symlink()
                if not stored or _digest_of(path) != digest:
                    storage.atomic_write(path, partial(_copy, buffer.getvalue()))
        entry = {
            "format": _FORMAT,
            "run": self.description(task),
            "arrays": hashes,
            "members": described,
        }
        with _no_strangers(self.path(task)):
            storage.write_json(self.path(task), entry)

    @contextmanager
    def locked(
        self, task: Task, *, wait: bool, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[bool]:
        """Hold the lock of the members of a run; False if another process holds it.

        Parameters
        ----------
        task : Task
            The run.
        wait : bool
            Whether to wait for the other process.
        stopped : callable
            Whether the run was interrupted, which ends the wait.
        """
        path = self.path(task, ".lock")
        while True:
            with _no_strangers(path):
                lock = _lock(path)
            if lock is not None or not wait or stopped():
                break
            time.sleep(_POLL)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                _unlock(*lock)


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
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
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
    with storage.open_regular(path) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _copy(content: bytes, file: BinaryIO) -> None:
    file.write(content)


# ------------------------------------------------------------------------------------- keys


def _hash(description: Any) -> str:
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _versions() -> dict[str, str | None]:
    return {name: _version_of(name) for name in ("conclust", "numpy", "scikit-learn", "scipy")}


def _render_clusterer(clusterer: Any) -> dict[str, Any]:
    """Return the class and all parameters of a clusterer as plain values.

    ``random_state`` is left out: each member's seed takes its place.

    Raises
    ------
    ParameterError
        If a parameter has no permanent representation (a function, an object that is not an estimator).
    """
    rendered: dict[str, Any] = {
        "class": _class_name(clusterer),
        "version": _version_of(type(clusterer).__module__.partition(".")[0]),
    }
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
        return {
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "sha256": hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(),
        }
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _render_clusterer(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = [part.name for part in fields(value) if part.compare]
        return {"class": _class_name(value)} | {
            part: _render(getattr(value, part), part, owner) for part in parts
        }
    raise ParameterError(
        f"The 'cache_dir' parameter of {_OWNER} must be None with {owner}({name}={value!r}): a "
        f"{type(value).__name__} has no permanent representation, so its members could not "
        "be distinguished from others."
    )


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


@once
def _version_of(package: str) -> str | None:
    """Return the version of a package, if it has one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
