"""Points in real Dask and Zarr arrays (`make cluster`)."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from conclust import EnsembleGenerator
from conclust.generation.kinds.communities import GraphRecipe
from conclust.generation.kinds.landmarks import LandmarkSpectralRecipe
from conclust.generation.members import KMeansRecipe

da = pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr")

X, _ = make_blobs(5000, 4, centers=3, random_state=0)


@pytest.mark.parametrize(
    "more", [{}, {"scale": "standard", "sample_fraction": 0.5}, {"method": "spectral"}], ids=str
)
def test_labels_equal_those_of_points_in_memory(more):
    def made():
        defaults = {"method": "kmeans", "n_partitions": 6, "fit_on": 400, "random_state": 0}
        return EnsembleGenerator(**(defaults | more))

    whole = made()
    labels = whole.fit_transform(X)
    expected = whole.transform(X)
    lazy_points = da.from_array(X, chunks=(700, 3))
    lazy = made().fit_transform(lazy_points)
    assert lazy.chunks == (lazy_points.chunks[0], (6,))
    assert lazy.dtype == labels.dtype
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), expected)
    stored = zarr.array(X, chunks=(512, 2))
    np.testing.assert_array_equal(made().fit_transform(stored), labels)
    blocks = list(whole.transform_blocks(stored))
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def test_members_are_fitted_on_the_workers_to_the_same_bits(monkeypatch):
    distributed = pytest.importorskip("distributed")

    def made():
        return EnsembleGenerator(["kmeans", "graph", "spectral"], 12, fit_on=400, random_state=0)

    expected = made().fit(X).transform(X)
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        for recipe in (KMeansRecipe, GraphRecipe, LandmarkSpectralRecipe):
            monkeypatch.setattr(recipe, "run", None)  # in this process
        with distributed.Client(cluster):
            lazy = made().fit_transform(da.from_array(X, chunks=(700, 3)))
            np.testing.assert_array_equal(lazy.compute(), expected)


def test_unknown_numbers_of_objects_are_refused_with_an_alternative():
    points = da.from_array(X, chunks=(700, 4))
    with pytest.raises(ValueError, match=r"compute_chunk_sizes\(\)"):
        EnsembleGenerator("kmeans", fit_on=400).fit(points[points[:, 0] > 0])
