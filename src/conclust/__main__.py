"""The script ``conclust``, also ``python -m conclust``: Ctrl-C and SIGTERM wait until all is imported.

Extension modules drop exceptions that are raised while they are imported. Only modules that Python has imported anyway when a script
begins are imported here.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["process"]


def process() -> NoReturn:
    """Run the command of this process and end it."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    # All products use one thread, so that bits do not depend on the processors; OpenBLAS would start others as
    # it is loaded, which takes .1 to .2 CPU seconds.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from conclust.cli import process as run

    run()


if __name__ == "__main__":
    process()
