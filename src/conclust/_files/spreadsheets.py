"""Escapes names in tables so that spreadsheets do not execute them, and reads them back."""

from __future__ import annotations

import re
import unicodedata

_RISKY = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their full-width forms
_BREAKS = ("\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guard_text(text: str) -> str:
    """Escape a text that a spreadsheet could take for a formula; numbers are unchanged."""
    return "'" + text if _runs(text) else text


def unguarded(text: str) -> str:
    """Undo `guard_text`."""
    return text[1:] if text.startswith("'") and _runs(text[1:]) else text


def _runs(text: str) -> bool:
    """Return whether a spreadsheet could execute a text, ignoring blanks and invisible characters."""
    bare = text.lstrip()
    while bare and unicodedata.category(bare[0])[0] in "CZ":
        bare = bare[1:]
    return text.startswith(_BREAKS) or (
        bare.startswith(_RISKY) and not _NUMBER.fullmatch(text.strip(" "))
    )
