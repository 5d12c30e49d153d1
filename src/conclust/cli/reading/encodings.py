"""Encodings of CSV files: from the byte order mark, else from ``--encoding``, else UTF-8."""

from __future__ import annotations

import argparse
import codecs
from typing import BinaryIO

# As Excel ("Unicode text") and `>` of PowerShell 5 write them.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MAX_LINE = 1 << 24  # bytes
# Characters that every text encoding has.
_SIGNS = "09aZ.,;\t\r\n\"'-"


def encoding_named(name: str) -> str:
    """Return the usual name of an encoding in which tables can be read."""
    try:
        usual = codecs.lookup(name).name
        readable = _SIGNS.encode(usual).decode(usual) == _SIGNS
    except (LookupError, UnicodeError, ValueError):
        readable = False
    if not readable:
        raise argparse.ArgumentTypeError(
            f"must be an encoding of text that Python knows, such as cp1252, latin-1 or utf-16-le, got {name!r}"
        )
    return usual


def encoding_of(beginning: bytes, given: str | None) -> str:
    """Return the encoding of a file that begins with these bytes; raise ValueError if another must be given."""
    for mark, encoding in _MARKS.items():
        if beginning.startswith(mark):
            return encoding
    if given is not None:
        if given in ("utf-16", "utf-32"):
            raise ValueError(
                f"does not begin with a byte order mark. Give --encoding {given}-le, or {given}-be"
            )
        return given
    # Most letters of a table are below U+0100, of which UTF-16 writes one byte as 0.
    first, second = beginning[::2], beginning[1::2]
    for half, other, name in ((second, first, "utf-16-le"), (first, second, "utf-16-be")):
        if 0 not in other and half.count(0) * 2 >= len(half) > 1:
            raise ValueError(
                f"appears to be in UTF-16 without a byte order mark. Give --encoding {name}, or save it as UTF-8"
            )
    return "utf-8-sig"


def undecodable(file: BinaryIO, encoding: str, given: str | None, error: UnicodeError) -> str:
    """Return what is wrong with a file that is not in its encoding.

    Parameters
    ----------
    file : binary file
        The file, from its beginning.
    encoding : str
        Encoding in which it was read.
    given : str or None
        Encoding that the user gave.
    error : UnicodeError
        Error of the decoder.
    """
    name = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16"}.get(encoding, encoding)
    if "\n".encode(encoding) != b"\n" and encoding != "utf-8-sig":
        return f"is damaged: it is not valid {name} ({getattr(error, 'reason', error)})"
    line = 1
    # Its last line may be cut off.
    for number, content in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), start=1):
        try:
            content.decode(encoding)
        except UnicodeError:
            line = number
            break
    if encoding == given:
        return f"is not in {name}: line {line}. Use --encoding to name its encoding"
    return (
        f"is not in {name}: line {line}. Give its encoding, for instance --encoding cp1252 for Windows-1252, or save it "
        "as UTF-8"
    )
