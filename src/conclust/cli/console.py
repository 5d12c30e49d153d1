"""Messages to the user at the terminal: a failure to print never loses a result.

`speaking` puts a `Voice` in place of standard output and of standard error: a pipe without a
reader, a full device, a closed stream or an alphabet too small raise no error, and control
characters of file names are shown, not sent.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from conclust.exceptions import InputError

STREAM = Path("-")
"""The name of standard input and standard output on the command line."""

# Terminals obey control characters; direction characters reverse text; lone surrogates stand for bytes of
# file names that are not UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: object) -> str:
    r"""Return text with control characters and undecodable bytes escaped, as \x1b."""
    return _UNPRINTABLE.sub(_spelled, str(text))


def words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the command line, as it was typed."""
    return tuple(plain(word) for word in getattr(arguments, "words", ()))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # the byte that the surrogate encodes
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class Voice:
    """A text stream for people that never raises.

    Parameters
    ----------
    stream : text stream or None
        Stream for the text. None (Python's value for a closed stream): the text is dropped.

    Attributes
    ----------
    failure : Exception or None
        Error with which the stream stopped accepting text.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: Exception | None = None

    def write(self, text: str) -> int:
        """Write `text`, escaping characters that the stream's encoding lacks."""
        self._try(lambda stream: _write(stream, plain(text)))
        return len(text)

    def flush(self) -> None:
        """Send the text written so far."""
        self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def send(self, content: bytes) -> None:
        """Write bytes unchanged, for tables that other programs read.

        Raises
        ------
        InputError
            The stream is closed.
        """
        if self._stream is None:
            raise InputError("Standard output is closed: the labels cannot be written.")
        self._try(lambda stream: _send(stream, content))

    def close_quietly(self) -> None:
        """Flush; after a failure, redirect Python's flush at exit to nowhere."""
        self.flush()
        if self.failure is None or self._stream is None:
            return
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            self._stream.flush()
        except (OSError, ValueError):
            pass  # no file descriptor, so nothing is flushed at exit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, act: Any) -> None:
        if self._stream is None or self.failure is not None:
            return
        try:
            act(self._stream)
        except (OSError, ValueError) as error:
            self.failure = error


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        code = stream.encoding or "ascii"
        stream.write(text.encode(code, "backslashreplace").decode(code))


def _send(stream: TextIO, content: bytes) -> None:
    stream.flush()
    if hasattr(stream, "buffer"):
        stream.buffer.write(content)
    else:  # as io.StringIO: text only
        stream.write(content.decode())
    stream.flush()


@contextmanager
def speaking() -> Iterator[tuple[Voice, Voice]]:
    """Replace standard output and standard error by streams that never raise while a command runs."""
    before = sys.stdout, sys.stderr
    voices = Voice(before[0]), Voice(before[1])
    sys.stdout, sys.stderr = voices
    try:
        yield voices
    finally:
        for voice in voices:
            voice.close_quietly()
        sys.stdout, sys.stderr = before


def send_table(content: bytes) -> None:
    """Write a table that another program reads on standard output."""
    if isinstance(sys.stdout, Voice):
        sys.stdout.send(content)
    else:
        _send(sys.stdout, content)


class Talk:
    """Prints steps to standard error, and results to standard output unless the labels go there."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._quiet = arguments.quiet
        self._piped = getattr(arguments, "out", None) == STREAM
        self.verbosity = 0 if arguments.quiet else 2 if arguments.verbose else 1

    def step(self, text: str) -> None:
        """Print the current step."""
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def detail(self, text: str) -> None:
        """Print a detail, with ``-v`` only."""
        if self.verbosity > 1:
            self.step(text)

    def result(self, text: str, line: str = "") -> None:
        """Print the result; with ``-q`` only `line`, unless it is empty or the labels go to standard output."""
        if not self._quiet:
            print(text, file=sys.stderr if self._piped else sys.stdout, flush=True)
        elif line and not self._piped:
            print(line, flush=True)

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Periodically print how long `what` has been running, for work that reports no progress."""
        if self._quiet:
            yield
            return
        start, done = time.monotonic(), threading.Event()

        def beat() -> None:
            while not done.wait(_pause(time.monotonic() - start)):
                self.step(f"  still {what}: {_duration(time.monotonic() - start)}")

        thread = threading.Thread(target=beat, name="conclust-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
        self.detail(f"  {what}: {time.monotonic() - start:.1f} s")


def _pause(elapsed: float) -> float:
    """Return the seconds until the next line: about five at first, more in long work."""
    return min(60.0, max(5.0, elapsed / 4))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
