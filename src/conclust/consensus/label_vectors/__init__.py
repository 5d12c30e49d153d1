"""k-means on label vectors: objects of a cluster have similar labels."""

from conclust.consensus.label_vectors.information import InformationTheoreticKMeans
from conclust.consensus.label_vectors.qmi import QMI

__all__ = ["QMI", "InformationTheoreticKMeans"]
