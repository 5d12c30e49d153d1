"""Reports: a result as one self-contained HTML file.

``reading.py`` reads a model, a selection, labels or a folder into a ``Reported`` (`conclust.results`); ``contents.py`` and its neighbours make an account of plain data; ``page.py`` with
``page.css`` and ``page.js`` makes the page.
"""

from conclust.report.writing import account, write

__all__ = ["account", "write"]


def __dir__() -> list[str]:
    return __all__
