"""k-means on label vectors: clusters whose members carry the same labels."""

from conclust.consensus.label_vectors.information import InformationTheoreticKMeans
from conclust.consensus.label_vectors.qmi import QMI

__all__ = ["QMI", "InformationTheoreticKMeans"]
