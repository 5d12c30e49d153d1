"""How many clusters: resampling, criteria, and one p-value for a single cluster (floor 4).

``choosing.py`` is for points and for labels that are there, ``monti.py`` for resampling without a test, ``runs.py`` for the
choice among runs. In ``resampled/``, draws of the
points are clustered and compared with references; in ``judged/``, pairs of objects are counted and one K is judged.
``decision.py`` decides, and ``second.py`` tests the borders.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
