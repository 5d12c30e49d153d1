from conclust.consensus.label_vectors.information import (
    InformationTheoreticKMeans as InformationTheoreticKMeans,
)
from conclust.consensus.label_vectors.kcc import KCC as KCC
from conclust.consensus.label_vectors.qmi import QMI as QMI
from conclust.consensus.label_vectors.sec import SEC as SEC

__all__ = [
    "KCC",
    "QMI",
    "SEC",
    "InformationTheoreticKMeans",
]
