"""The only importer of the C++ extension: nothing else in conclust imports ``_core``.

The kernels hold no policy and check nothing: their preconditions are in the headers beside them,
and the callers on the floors above guarantee them.
"""

import atexit
import threading
from typing import TYPE_CHECKING, Any

from conclust._kernels._core import *  # noqa: F403
from conclust._kernels._core import listen_to_kernels, report_leaks, whole
from conclust._progress import advance
from conclust._threads import stop_if_unwanted
from conclust.exceptions import MissingExtraError

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Return what takes the place of a kernel that ``make demo`` does not build, until it is called."""
        if whole or name.startswith("_"):
            raise AttributeError(name)

        def missing(*_: object, **__: object) -> None:
            raise MissingExtraError("This needs more than 'make demo' builds: run 'make setup'.")

        return missing


def _asked(share: float) -> None:
    """Progress callback of the kernels; a negative share means that the progress is unknown."""
    stop_if_unwanted()
    if share >= 0:
        advance(share)


def _allow_daemon_threads() -> None:
    """Take what daemon threads hold when the process exits for no leak."""
    if any(thread.daemon for thread in threading.enumerate()):
        report_leaks(False)


listen_to_kernels(_asked)
atexit.register(_allow_daemon_threads)
