"""The script ``conclust``, also ``python -m conclust``: Ctrl-C and SIGTERM are handled before anything that takes time is imported.

Only modules that Python has imported anyway when a script begins are imported here.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["leave", "process"]


def leave(number: int, frame: object) -> NoReturn:
    """End the process at once with one line: no command has started, so there is nothing to clean up."""
    word = b"interrupted" if number == signal.SIGINT else b"terminated"
    try:
        os.write(2, b"conclust: " + word + b".\n")
    finally:  # standard error may be closed
        os._exit(128 + number)


def process() -> NoReturn:
    """Run the command of this process and end it."""
    # Unless the shell ignores the signal.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)
    # All products use one thread, so that bits do not depend on the processors; OpenBLAS would start others as
    # it is loaded, which takes .1 to .2 CPU seconds.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from conclust.cli import process as run

    run()


if __name__ == "__main__":
    process()
