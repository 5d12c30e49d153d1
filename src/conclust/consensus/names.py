"""Names of methods as users spell them; imports no method."""

from __future__ import annotations

__all__ = ["plain_name"]


def plain_name(name: str) -> str:
    """Return a name in lowercase letters without hyphens; "auto" is AutoConsensus."""
    plain = name.lower().replace("-", "").replace("_", "")
    return "autoconsensus" if plain == "auto" else plain
