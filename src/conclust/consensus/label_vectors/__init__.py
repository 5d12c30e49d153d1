"""k-means on label vectors: objects of a cluster have similar labels."""

from conclust.consensus.label_vectors.information import InformationTheoreticKMeans
from conclust.consensus.label_vectors.kcc import KCC
from conclust.consensus.label_vectors.qmi import QMI
from conclust.consensus.label_vectors.sec import SEC

__all__ = ["KCC", "QMI", "SEC", "InformationTheoreticKMeans"]
