"""The versions that a result depends on, and the version of the file format."""

from __future__ import annotations

import platform
from importlib.metadata import version

RESULT_FORMAT = 3
"""Entry `format` of result.json: a folder of another format is not read."""


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    packages = ("conclust", "numpy", "scipy", "scikit-learn", "joblib")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "platform": platform.platform(),
    }
