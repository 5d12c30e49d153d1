"""The two steps of generation with the array API standard only: strict arrays, NumPy, and PyTorch if installed."""

from itertools import pairwise

import numpy as np
import pytest
from tests.naive import generation as naive
from tests.naive import kmeans as naive_kmeans

from conclust.exceptions import InputError, ParameterError
from conclust.generation.labelling.array_api import label_block, lloyd_step


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def library(request):
    module = pytest.importorskip(request.param)
    return module, getattr(module, "tensor", None) or module.asarray


def cases(whole):
    rng = np.random.default_rng(0)
    draw = (lambda *shape: rng.integers(-4, 5, shape).astype(float)) if whole else rng.normal
    X = draw(size=(300, 5)) if not whole else draw(300, 5)
    centers = draw(size=(14, 5)) if not whole else draw(14, 5)
    return X, centers, [0, 1, 5, 14]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_labels_match_the_naive_twin(library, whole, dtype):
    xp, array = library
    X, centers, offsets = cases(whole)
    X, centers = X.astype(dtype), centers.astype(dtype)
    labels = label_block(array(X), array(centers), offsets)
    assert type(labels) is type(array(X))
    assert labels.dtype == xp.uint8
    expected = [naive.nearest(X, centers[a:b]) for a, b in pairwise(offsets)]
    np.testing.assert_array_equal(np.asarray(labels), np.stack(expected, axis=1))


def test_many_clusters_get_wider_labels(library):
    xp, array = library
    X = np.arange(300.0)[:, None]
    labels = label_block(array(X), array(X), [0, 300])
    assert labels.dtype == xp.int32
    assert np.asarray(labels)[:, 0].tolist() == list(range(300))


def test_lloyd_iterations_match_the_naive_twin(library):
    _, array = library
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(m, 1, (60, 3)) for m in (0, 2, 5)])
    centers = X[[0, 70, 130]].copy()
    expected, ends = naive_kmeans.lloyd(X, centers, 50)
    for _ in range(50):
        parts = [lloyd_step(array(part), array(centers)) for part in np.array_split(X, 4)]
        sums = sum(np.asarray(part[1]) for part in parts)
        counts = sum(np.asarray(part[2]) for part in parts)
        centers = sums / counts[:, None]
    np.testing.assert_allclose(centers, ends, rtol=1e-12)
    np.testing.assert_array_equal(np.concatenate([np.asarray(part[0]) for part in parts]), expected)
    assert counts.sum() == len(X)


def test_mismatched_arrays_are_refused(library):
    _, array = library
    X = array(np.zeros((3, 2)))
    with pytest.raises(InputError, match="same number of columns"):
        label_block(X, array(np.zeros((3, 1))), [0, 3])
    with pytest.raises(InputError, match="both be float32, or both float64"):
        lloyd_step(X, array(np.zeros((3, 2), dtype=np.float32)))
    for offsets in ([0, 2], [1, 3], [0, 2, 2, 3], []):
        with pytest.raises(ParameterError, match="must be ints that rise from 0"):
            label_block(X, X, offsets)


def test_lists_are_refused_with_an_alternative():
    with pytest.raises(InputError, match=r"np.asarray\(X\)"):
        lloyd_step([[1.0]], [[1.0]])
