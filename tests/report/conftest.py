import warnings

import pytest
from sklearn.datasets import make_blobs

from conclust.selection import choose


@pytest.fixture(scope="session")
def blobs():
    """Three blobs of 90 points."""
    X, _ = make_blobs(90, centers=3, n_features=4, cluster_std=0.6, random_state=1)
    return X


@pytest.fixture(scope="session")
def chosen(blobs):
    """The selection of their number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return choose(blobs, range(2, 5), n_resamples=12, n_references=19, random_state=0)
