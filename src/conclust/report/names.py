"""Users' names for display: at most one line, without invisible characters."""

from __future__ import annotations

import re

__all__ = ["LONGEST", "shown"]

LONGEST = 100
"""Maximum number of characters of a name that are shown."""

# Control characters, lone surrogates and characters that change the direction of text.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]"
)


def shown(name: object) -> str:
    """Return a name for display: invisible characters are escaped, long names truncated."""
    text = str(name)
    cut = f"… ({len(text):,} characters)" if len(text) > LONGEST else ""
    return _UNSEEN.sub(_spelled, text[:LONGEST]) + cut


def _spelled(character: re.Match[str]) -> str:
    code = ord(character[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
