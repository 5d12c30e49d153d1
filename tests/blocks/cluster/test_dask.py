"""Workers of a Dask cluster give the same bits, even if one of them is lost."""

import os
import threading
import time

import numpy as np
import pandas as pd
import pytest

dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")

from tests.blocks.forms import FORMS, cases, made  # noqa: E402
from tests.blocks.test_blocks_battery import assert_same_bits  # noqa: E402
from tests.cases import planted  # noqa: E402

from conclust import HBGF, PCC, CumulativeVoting  # noqa: E402
from conclust.blocks import BlockedArray, LabelStore  # noqa: E402
from conclust.blocks.dask_runner import DaskRunner  # noqa: E402
from conclust.exceptions import InputError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CASES = cases()
# A runner does not see the form of the passes that it distributes: one form of each class.
ONE_EACH = list({name: form for form, (name, *_) in reversed(FORMS.items())}.values())


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def saved(labels, folder):
    np.save(folder / "labels.npy", labels)
    return folder / "labels.npy"


def test_a_missing_client_is_refused():
    with pytest.raises(InputError, match="no active Dask client"):
        LabelStore(np.zeros((4, 2), dtype=int), runner="dask").facts  # noqa: B018


@pytest.mark.parametrize(
    ("form", "case"),
    [(form, "noise") for form in ONE_EACH] + [("HBGF", "nowhere"), ("HBGF", "components")],
)
def test_two_workers_give_the_same_bits_as_one_process(form, case, client, tmp_path):
    labels, weights = CASES[case]
    path = saved(labels, tmp_path)
    here = made(form).fit(LabelStore(path, weights=weights, block_rows=120))
    there = made(form).fit(LabelStore(path, weights=weights, block_rows=120, runner="dask"))
    assert_same_bits(here, there)


def test_a_killed_worker_changes_no_bit(client, tmp_path):
    labels, _ = planted(seed=3, n=60_000, m=30, k=8, flip=0.3, missing=0.1)
    path = saved(labels, tmp_path)
    model = PCC(8, divergence="l2", tol=1e-9, max_iter=12, random_state=0)
    here = model.fit(LabelStore(path, block_rows=4_000))
    expected = np.asarray(here.labels_), here.trace_.copy()
    killed = []

    def kill():
        time.sleep(1.5)
        pids = client.run(os.getpid)
        killed.append(next(iter(pids.values())))
        os.kill(killed[0], 9)

    killer = threading.Thread(target=kill)
    killer.start()
    there = PCC(8, divergence="l2", tol=1e-9, max_iter=12, random_state=0)
    there.fit(LabelStore(path, block_rows=4_000, runner="dask"))
    killer.join()
    assert killed
    np.testing.assert_array_equal(expected[0], np.asarray(there.labels_))
    np.testing.assert_array_equal(expected[1], there.trace_)
    client.wait_for_workers(2)


def test_dask_arrays_give_dask_arrays(client):
    labels, _ = CASES["missing"]
    array = dask_array.from_array(labels, chunks=(70, 3))
    plain = CumulativeVoting(3).fit(labels)
    model = CumulativeVoting(3).fit(array)
    assert isinstance(model.labels_, dask_array.Array)
    assert isinstance(model.membership_, dask_array.Array)
    np.testing.assert_array_equal(model.labels_.compute(), plain.labels_)
    membership = model.membership_.compute(scheduler="threads")
    np.testing.assert_allclose(membership, plain.membership_, rtol=1e-12)
    new = model.predict(array[:100])
    assert isinstance(new, dask_array.Array)
    np.testing.assert_array_equal(new.compute(), plain.predict(labels[:100]))
    rows = model.predict_proba(array[:100]).compute()
    np.testing.assert_allclose(rows, plain.predict_proba(labels[:100]), rtol=1e-12)


@pytest.mark.parametrize("few", [0, 1 << 28])  # more labels, and fewer
def test_dask_data_frames_give_the_labels_of_pandas(few, client, monkeypatch):
    monkeypatch.setattr("conclust.blocks.store._FEW", few)
    dataframe = pytest.importorskip("dask.dataframe")
    labels, _ = CASES["plain"]
    table = pd.DataFrame(labels).astype(str).add_prefix("r")
    frame = dataframe.from_pandas(table, npartitions=4)
    assert isinstance(LabelStore(frame).runner(), DaskRunner) == (few == 0)
    model = CumulativeVoting(3).fit(frame)
    plain = CumulativeVoting(3).fit(table)
    np.testing.assert_array_equal(model.labels_.compute(), plain.labels_)


@pytest.mark.parametrize("there", [True, False])
def test_masked_cells_are_missing(there, request):
    client = request.getfixturevalue("client") if there else None
    labels, _ = planted(seed=2, n=90, m=6, k=3, flip=0.2, missing=0.2)
    given = np.where(labels < 0, 77, labels).astype(np.uint8)
    masked = np.ma.masked_array(given, labels < 0)
    lazy = dask_array.from_array(masked, chunks=(25, 4))
    store = LabelStore(lazy, block_rows=40, runner="dask" if client else "threads")
    actual = HBGF(3, random_state=0).fit(store)
    np.testing.assert_array_equal(store.facts.missing_counts, (labels < 0).sum(axis=0))
    expected = HBGF(3, random_state=0).fit(labels)
    np.testing.assert_array_equal(actual.labels_, expected.labels_)


def test_zarr_arrays_are_read_by_workers(tmp_path):
    labels, _ = CASES["noise"]
    array = zarr.create_array(
        store=str(tmp_path / "labels.zarr"), shape=labels.shape, chunks=(64, 8), dtype="int8"
    )
    array[:] = labels
    plain = CumulativeVoting(3).fit(labels)
    by_path = CumulativeVoting(3).fit(LabelStore(tmp_path / "labels.zarr"))
    by_array = CumulativeVoting(3).fit(array)
    for model in (by_path, by_array):
        assert isinstance(model.labels_, BlockedArray)
        np.testing.assert_array_equal(np.asarray(model.labels_), plain.labels_)


def test_labels_in_the_memory_of_the_client_are_not_sent_to_workers(client):
    with pytest.raises(InputError, match="not sent to workers"):
        CumulativeVoting(3).fit(LabelStore(CASES["plain"][0], runner="dask"))


def test_a_task_of_the_only_thread_fits_on_the_cluster(tmp_path):
    labels, _ = CASES["noise"]
    path = saved(labels, tmp_path)

    def fitted():
        model = CumulativeVoting(3).fit(LabelStore(path, runner="dask", block_rows=60))
        return np.asarray(model.labels_)

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as own,
    ):
        actual = own.submit(fitted, pure=False).result(timeout=60)
    np.testing.assert_array_equal(actual, CumulativeVoting(3).fit(labels).labels_)
