"""Making ensembles: points to a label matrix (floor 3).

``generator.py`` is the estimator, ``plan.py`` turns its parameters into tasks, ``members.py``,
``mixed.py`` and ``landmarks.py`` define single members, ``models.py`` how they label
new points, ``running.py`` runs them, ``crew.py`` side by side, ``cache.py`` keeps them on disk,
``corruption.py`` spoils an ensemble on purpose.
"""

from conclust.generation.corruption import corrupt
from conclust.generation.generator import EnsembleGenerator
from conclust.generation.members import Member
from conclust.generation.views import MultiViewGenerator

__all__ = ["EnsembleGenerator", "Member", "MultiViewGenerator", "corrupt"]
