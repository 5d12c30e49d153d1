"""A page of very many objects is small, and made without a matrix of all pairs."""

import resource
import sys
import warnings

import numpy as np
import pytest

from conclust import AutoConsensus, Ensemble, report
from conclust.selection import choose_from

N, M, K = 30_000, 20, 6


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="ru_maxrss is in kilobytes on Linux"
)
def test_a_page_of_very_many_objects_is_below_five_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.integers(0, K, N)
    columns = [rng.permutation(12)[2 * z + (rng.random(N) < 0.4)] for _ in range(M)]
    labels = np.column_stack(columns).astype(np.int16)
    noisy = rng.random((N, M)) < 0.15
    labels[noisy] = rng.integers(0, 12, noisy.sum())
    X = rng.normal(size=(N, 10)) + 3 * np.eye(10)[z]
    ensemble = Ensemble(labels)
    model = AutoConsensus(K, random_state=0).fit(ensemble)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = choose_from(ensemble, range(5, 8), random_state=0)
    before = peak()
    page = report.write(
        model,
        tmp_path / "large.html",
        ensemble=ensemble,
        X=X,
        selection=chosen,
        names=[f"cell {i:06d} of a plate with a long name" for i in range(N)],
    )
    # A byte for each pair is 900,000.
    assert peak() - before < 600_000
    assert page.stat().st_size < 5_000_000
    text = page.read_text("utf-8")
    assert f"{K} clusters in {N:,} objects" in text
    assert f"the 2,000 most uncertain of {N:,} objects" in text
    assert "could not be drawn" not in text
