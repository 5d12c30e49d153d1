"""What the `method` of a generator names."""

from __future__ import annotations

from typing import Any

__all__ = ["algorithms", "is_named"]


def is_named(method: Any) -> bool:
    """Tell whether all members are of our own kinds."""
    listed = method if isinstance(method, list | tuple) else [method]
    return all(isinstance(entry, str) for entry in listed)
