"""The view of labels for the kernels: made once, by one converter, in supported types only."""

import gc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import conclust
from conclust import Ensemble
from conclust._kernels import cluster_sizes, count_reserved, refine_labels
from conclust.ensemble.labels import label_view

LABELS = np.array([[0, 0], [0, -1], [1, -2], [1, 1], [0, 1]])


def sizes_of(view, n_clusters):
    sizes = np.zeros(n_clusters, dtype=np.int64)
    cluster_sizes(view, sizes)
    return sizes.tolist()


def test_an_ensemble_has_one_view():
    ensemble = Ensemble(LABELS)
    view = ensemble.label_view
    assert ensemble.label_view is view
    assert (view.n_objects, view.n_partitions, view.n_clusters) == (5, 2, 4)
    assert not view.complete
    assert Ensemble(LABELS[:, :1]).label_view.complete


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_codes_of_all_types_give_the_same_sums(dtype):
    codes, offsets = Ensemble(LABELS).codes, Ensemble(LABELS).offsets
    last, own = np.iinfo(dtype).max, np.iinfo(codes.dtype).max
    wide = np.where(codes >= own - 1, last - own + codes.astype(dtype), codes).astype(dtype)
    view = label_view(wide, offsets)
    assert sizes_of(view, 4) == [3, 2, 1, 2]
    missing, noise = np.zeros((2, 2), dtype=np.int64)
    count_reserved(view, missing, noise)
    assert (missing.tolist(), noise.tolist()) == ([0, 1], [0, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float32, np.float64])
def test_codes_of_other_types_are_refused(dtype):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        label_view(np.zeros((3, 2), dtype=dtype))


def test_a_view_keeps_its_arrays_alive():
    view = label_view(np.zeros((100_000, 2), dtype=np.uint8), np.array([0, 1, 2]))
    view = view.reweighted(np.ones(2)).reweighted(None)
    gc.collect()
    np.full((100_000, 2), 7, dtype=np.uint8)
    assert sizes_of(view, 2) == [100_000, 100_000]


def test_posteriors_are_sorted_without_changing_the_input():
    rng = np.random.default_rng(0)
    soft = Ensemble.from_memberships([rng.dirichlet(np.ones(3), 30) for _ in range(4)])
    B = soft.indicator
    starts = B.indptr
    back = np.concatenate([np.arange(starts[i], starts[i + 1])[::-1] for i in range(30)])
    shuffled = sp.csr_array((B.data[back], B.indices[back], starts), shape=B.shape)
    losses = []
    for posteriors in (B, shuffled):
        view = label_view(soft.codes, soft.offsets, np.ones(4), posteriors, complete=True)
        chosen = np.arange(30) % 3
        losses.append(refine_labels(view, np.ones(30), 3, 0, 2.0, np.zeros(0), 20, 0.0, chosen)[0])
    assert losses[0] == losses[1]
    assert not shuffled.has_sorted_indices


def test_views_are_made_in_one_place():
    package = Path(conclust.__file__).parent
    makers = {
        path.name for path in package.rglob("*.py") if " LabelView(" in path.read_text("utf-8")
    }
    assert makers == {"labels.py"}
