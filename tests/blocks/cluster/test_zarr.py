"""Untrusted Zarr arrays: codecs that would run code are refused before a chunk is read."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

from tests.test_security import Trap  # noqa: E402

from conclust.blocks import LabelStore  # noqa: E402
from conclust.exceptions import FileFormatError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LABELS = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])


def hostile(folder, **changes):
    """Write an array of integers whose chunk is a pickle; return its path."""
    path = folder / "labels.zarr"
    array = zarr.create_array(
        str(path),
        shape=LABELS.shape,
        chunks=LABELS.shape,
        dtype="i8",
        zarr_format=2,
        compressors=None,
    )
    array[:] = LABELS
    entries = json.loads((path / ".zarray").read_text())
    (path / ".zarray").write_text(json.dumps({**entries, **changes}))
    (path / "0.0").write_bytes(pickle.dumps(Trap(folder / "run")))
    return path


CODECS = {
    "filter": {"filters": [{"id": "pickle", "protocol": 5}]},
    "compressor": {"compressor": {"id": "pickle", "protocol": 5}},
}


@pytest.mark.parametrize("name", CODECS)
def test_a_codec_that_runs_code_is_refused(name, tmp_path):
    path = hostile(tmp_path, **CODECS[name])
    with pytest.raises(
        FileFormatError, match="holds pickles, which can run code and are never read"
    ):
        LabelStore(path).facts  # noqa: B018
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_valid_arrays_are_read(zarr_format, tmp_path):
    path = tmp_path / "labels.zarr"
    array = zarr.create_array(
        str(path), shape=LABELS.shape, chunks=(2, 2), dtype="i8", zarr_format=zarr_format
    )
    array[:] = LABELS
    assert list(LabelStore(path).facts.cluster_counts) == [2, 2]
