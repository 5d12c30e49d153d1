"""Users' names: of clusters, one each; for display at most one line, without invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from conclust._validation import shown as found
from conclust.exceptions import InputError

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


def named(at: int, names: Sequence[Any] | None) -> str:
    """Return the name of an object for display, or its number."""
    return str(at) if names is None else shown(names[at])


def _spelled(character: re.Match[str]) -> str:
    code = ord(character[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def read_cluster_names(given: Any, n_clusters: int) -> tuple[str, ...]:
    """Return a name for each cluster; without surrounding spaces.

    Parameters
    ----------
    given : sequence of str
        Names, in the order of the clusters.
    n_clusters : int
        Number of clusters.

    Raises
    ------
    InputError
        If it is not one name for each cluster, or a name is empty or given twice.
    """
    expected = (
        f"The 'cluster_names' (--names) must be {n_clusters} different names, one for each cluster."
    )
    names = tuple(name.strip() for name in read_names(given, n_clusters, expected))
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{expected} Got {found(list(names))} instead.")
    return names


def read_names(given: Any, n: int, expected: str) -> tuple[str, ...]:
    """Return n names as text; refuse anything else by the sentence that says what is expected."""
    if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"{expected} Got {found(given)} instead.")
    names = tuple(map(str, given))
    if len(names) != n:
        raise InputError(f"{expected} Got {len(names)} instead.")
    return names


def shown_text(text: str) -> str:
    """Return a sentence for display; a very long one is truncated."""
    words = [shown(word) for word in text[:2000].split(" ")]
    return " ".join(words) + ("…" if len(text) > 2000 else "")
