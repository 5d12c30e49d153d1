"""The command line: ``conclust COMMAND``; ``conclust --help`` lists all commands.

Exit codes: 0 done; 1 the input, the data or the disk does not allow it; 2 the command line is
wrong; 70 an error in conclust itself; 130 and 143 interrupted and terminated. Errors are one sentence on standard error;
``--debug`` adds the traceback. Results are written before they are summed up on standard output: a
pipe without a reader is not an error.
"""

from __future__ import annotations

import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from conclust.cli.console import STREAM, Voice, speaking
from conclust.cli.parser import build_parser
from conclust.cli.refusals import in_shell, refuse_ending, refuse_own_input
from conclust.exceptions import ConclustError

__all__ = ["main", "process"]

EXIT_FAILURE = 1
EXIT_INTERNAL = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130  # as shells report SIGINT
EXIT_TERMINATED = 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments. None: those of the process.

    Returns
    -------
    int
        The exit code: see the module's text. A wrong command line and ``--help`` end in
        SystemExit, as raised by argparse.
    """
    return _main(argv, ending=False)


def process() -> NoReturn:
    """Run the command of this process and end it: later interrupts have no effect."""
    sys.exit(_main(None, ending=True))


def _main(argv: Sequence[str] | None, *, ending: bool) -> int:
    with speaking() as (out, _):
        arguments = _parse(argv, out)
        arguments.words = list(sys.argv[1:] if argv is None else argv)
        inputs = [value for name, value in vars(arguments).items() if name != "out"]
        inputs += getattr(arguments, "memberships", None) or []
        if inputs.count(STREAM) > 1:
            arguments.usage_error("standard input (-) can be read once only.")
        code = _run(arguments, ending=ending)
        out.flush()
        return _print_result(arguments, out) if code == 0 else code


def _parse(argv: Sequence[str] | None, out: Voice) -> Any:
    """Return the arguments; end the process after ``--help`` and ``--version``, as argparse does."""
    try:
        return build_parser().parse_args(argv)
    except SystemExit as end:
        if end.code:
            raise
        out.flush()
        why = _unprinted(out)
        if not why:
            raise
        print(f"conclust: The output could not be printed: {why}", file=sys.stderr)
        raise SystemExit(EXIT_FAILURE) from None


def _run(arguments: Any, *, ending: bool) -> int:
    before = _result(arguments)
    try:
        with _plain_warnings(arguments.quiet):
            refuse_ending(arguments)
            refuse_own_input(arguments)
            command = arguments.command_of(arguments)
            with _terminable(ending=ending):
                command(arguments)
    except ConclustError as error:
        return _fail(arguments, EXIT_FAILURE, in_shell(error))
    except KeyboardInterrupt:
        text = f"interrupted; {_kept(arguments, before)}"
        return _fail(arguments, EXIT_INTERRUPTED, text)
    except _Terminated:
        text = f"terminated; {_kept(arguments, before)}"
        return _fail(arguments, EXIT_TERMINATED, text)
    except BrokenPipeError:
        return 0  # the reader of the labels has closed the pipe
    except OSError as error:
        return _fail(arguments, EXIT_FAILURE, _describe(error))
    except MemoryError:
        text = "this machine does not have enough memory for these data."
        return _fail(arguments, EXIT_FAILURE, text)
    except Exception as error:  # any other exception is an error in conclust
        text = f"internal error: {type(error).__name__}: {error}"
        hint = "" if arguments.debug else " Please report it with the output of --debug."
        return _fail(arguments, EXIT_INTERNAL, text + hint)
    return 0


def _result(arguments: Any) -> tuple[int, int] | None:
    """Return the identity of the result that ``--out`` names, or None if it does not exist."""
    out = getattr(arguments, "out", None)
    if out is None or out == STREAM:
        return None
    try:
        status = (out / "result.json" if out.is_dir() else out).stat()
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_mtime_ns


def _kept(arguments: Any, before: tuple[int, int] | None) -> str:
    """Return the message about what an interrupted command has saved; `before`: the result that was there."""
    if _result(arguments) not in (None, before):
        return f"the results are complete in {arguments.out}."
    if not getattr(arguments, "cache", None):
        return "nothing was written."
    return (
        f"nothing was written. The finished members are kept in {arguments.cache}: run the same command again "
        "to resume."
    )


def _print_result(arguments: Any, out: Voice) -> int:
    """Return the exit code of a command that has finished, even if its output could not be printed."""
    why = _unprinted(out)
    if not why:
        return 0
    path = getattr(arguments, "out", None)
    if path == STREAM:
        lost = "The table could not be written to standard output, or not all of it"
    elif path is not None:
        lost = f"The results are complete in {path}, but could not be printed"
    else:
        lost = "The output could not be printed"
    return _fail(arguments, EXIT_FAILURE, f"{lost}: {why}")


def _unprinted(out: Voice) -> str:
    """Return why the output could not be printed; empty if it was, or if its reader has closed the pipe."""
    if out.failure is None or isinstance(out.failure, BrokenPipeError | ValueError):
        return ""
    return _describe(out.failure) if isinstance(out.failure, OSError) else f"{out.failure}."


class _Terminated(BaseException):
    """SIGTERM as an exception, so that temporary files are removed."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise _Terminated


@contextmanager
def _terminable(*, ending: bool) -> Iterator[None]:
    """Let SIGTERM raise as Ctrl-C does, unless the caller handles it; both waited for a script's imports."""
    # Handlers are set in the main thread only.
    here = threading.current_thread() is threading.main_thread()
    handled = here and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    masks = ending and hasattr(signal, "pthread_sigmask")  # not on Windows
    try:
        if handled:
            signal.signal(signal.SIGTERM, _terminate)
        if masks:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        yield
    except ImportError as error:
        # Extension modules make one of an exception that is raised while they are imported.
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt | _Terminated):
            cause = cause.__context__
        if cause is not None:
            raise cause from None
        raise
    finally:
        if masks:  # nothing is left to interrupt
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        if handled:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _plain_warnings(quiet: bool) -> Iterator[None]:
    """Print warnings for users as sentences, and omit those for programmers."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not quiet:
            print(f"conclust: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


def _describe(error: OSError) -> str:
    what = error.strerror or str(error)
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{what.removesuffix('.')}."


def _fail(arguments: Any, code: int, sentence: str) -> int:
    if arguments.debug:
        traceback.print_exc()
    print(f"conclust {arguments.command}: {sentence}", file=sys.stderr)
    return code
