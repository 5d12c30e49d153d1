"""Making ensembles: points to a label matrix (floor 3).

``generator.py`` is the estimator, ``plan.py`` turns its parameters into tasks, ``members.py``,
``grid.py`` and ``landmarks.py`` define single members, ``models.py`` how they label
new points, ``running.py`` runs them, ``crew.py`` side by side, ``cache.py`` keeps them on disk,
``corruption.py`` spoils an ensemble on purpose.
"""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
