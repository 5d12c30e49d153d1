"""The output of ``conclust --version``."""

from __future__ import annotations

import platform
from importlib.metadata import version

from conclust._kernels import bitslice_forms
from conclust._threads import thread_count


def lines() -> list[str]:
    """Return the version, and everything that may affect speed and results, one line each."""
    fastest, *others = bitslice_forms()
    packages = ("numpy", "scipy", "scikit-learn")
    threads = thread_count(None)
    return [
        f"conclust {version('conclust')}",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages),
        f"kernels: {fastest}" + (f" (also {', '.join(others)})" if others else ""),
        f"threads: {threads}",
        platform.platform(),
    ]
