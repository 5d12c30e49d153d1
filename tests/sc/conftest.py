"""Cells to cluster, and columns that look like resolutions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

CENTERS = 8 * np.eye(4, 6)


@pytest.fixture(scope="session")
def points():
    return make_blobs(240, 6, centers=CENTERS, cluster_std=1.2, random_state=0)


@pytest.fixture(scope="session")
def columns(points):
    """Labels by k-means with several numbers of clusters, named like Leiden's at several resolutions."""
    X, _ = points
    return {
        f"leiden_{k / 4:g}": KMeans(k, n_init=3, random_state=k).fit_predict(X)
        for k in (2, 3, 4, 5, 6, 40)
    }


@pytest.fixture
def adata(points, columns):
    import anndata

    X, types = points
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(len(X))])
    for name, labels in reversed(columns.items()):
        obs[name] = pd.Categorical(labels.astype(str))
    obs["cell_type"] = pd.Categorical(np.array(["T", "B", "NK", "DC"])[types])
    return anndata.AnnData(X.astype(np.float32), obs=obs)
