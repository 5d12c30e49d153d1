"""k-means on label vectors: clusters whose members carry the same labels."""

from conclust.consensus.kmeans.information import InformationTheoreticKMeans
from conclust.consensus.kmeans.qmi import QMI

__all__ = ["QMI", "InformationTheoreticKMeans"]
