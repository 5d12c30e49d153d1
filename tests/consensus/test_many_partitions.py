"""Matrices that grow with the partitions are refused before they are made."""

import numpy as np
import pytest

from conclust import GPMGLA, Ensemble, KernelWeightedPartition
from conclust.exceptions import DenseLimitError

LABELS = np.random.default_rng(0).integers(0, 3, (20, 40))


def test_similarities_of_too_many_partitions_are_refused(monkeypatch):
    monkeypatch.setattr("conclust.consensus.median.kernel_weighted._MOST_PARTITIONS", 39)
    model = KernelWeightedPartition(3, random_state=0)
    with pytest.raises(DenseLimitError, match=r"40 partitions .* Give learn_weights=False"):
        model.fit(LABELS)
    assert model.set_params(learn_weights=False).fit(LABELS).n_clusters_ <= 3


def test_thousands_of_partitions_are_refused_at_once():
    labels = Ensemble(np.random.default_rng(0).integers(0, 3, (10, 10_001)))
    with pytest.raises(DenseLimitError, match="GPMGLA"):
        GPMGLA(3).fit(labels)
    with pytest.raises(DenseLimitError, match="KernelWeightedPartition"):
        KernelWeightedPartition(3).fit(labels)
