"""Locks of folders, which keep processes that write to the same folder apart."""

from __future__ import annotations

import os
import platform
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked_folder(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a folder; the system releases it if the process dies.

    Yields False if another process holds the folder and `wait` is false. Without effect, and True, where there are no
    such locks: on Windows and on some network file systems.
    """
    if sys.platform == "win32":
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY)
    held = True
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            held = False
        except OSError:
            pass
        yield held
    finally:
        if held:  # processes forked meanwhile have the descriptor, too
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def machine() -> str:
    """Return a short name of this machine, for folders that only its processes may take for abandoned."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def is_abandoned(folder: Path) -> bool:
    """Return whether no process of this machine holds a folder; False where that is unknown.

    Locks of other machines do not count on network file systems that are mounted with local locks.
    """
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
