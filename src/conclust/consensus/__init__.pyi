from conclust.consensus import acceleration as acceleration
from conclust.consensus import auto as auto
from conclust.consensus import base as base
from conclust.consensus import constraints as constraints
from conclust.consensus import graph as graph
from conclust.consensus import label_rows as label_rows
from conclust.consensus import label_vectors as label_vectors
from conclust.consensus import linkage as linkage
from conclust.consensus import literature as literature
from conclust.consensus import median as median
from conclust.consensus import method as method
from conclust.consensus import mixture as mixture
from conclust.consensus import pairs as pairs
from conclust.consensus import papers as papers
from conclust.consensus import suitability as suitability
from conclust.consensus import voting as voting

__all__ = [
    "acceleration",
    "auto",
    "base",
    "constraints",
    "graph",
    "label_rows",
    "label_vectors",
    "linkage",
    "literature",
    "median",
    "method",
    "mixture",
    "pairs",
    "papers",
    "suitability",
    "voting",
]
