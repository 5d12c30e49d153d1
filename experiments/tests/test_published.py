"""Published sets for the experiments: read from a folder, and only from the files that its manifest describes."""

import csv
import gzip
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from experiments import published
from experiments.published import PUBLISHED, DatasetNotFoundError, Published

from conclust.exceptions import FileFormatError


class Folder:
    """A folder of published sets as users make it, and functions that damage it."""

    def __init__(self, path: Path):
        self.path = path
        self.records: list[dict[str, object]] = []

    def put(self, name: str, file: str, content: bytes) -> None:
        (self.path / file).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        self.records.append({"name": name, "file": file, "sha256": digest})
        self.write()

    def write(self) -> None:
        (self.path / "manifest.json").write_text(json.dumps(self.records))

    def table(self, rows: list[list[object]], header: str = "") -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self.put("zoo", "zoo.csv.gz", gzip.compress((header + text.getvalue()).encode()))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCLUST_DATA", str(tmp_path))
    return Folder(tmp_path)


def small(monkeypatch, name, **changes):
    """Replace a set of the catalogue by a small generated one."""
    entry = PUBLISHED[name]
    fields = {field: getattr(entry, field) for field in Published.__dataclass_fields__}
    monkeypatch.setitem(PUBLISHED, name, Published(**{**fields, **changes}))


HEADER = ["hair", "kind", "label"]


@pytest.fixture
def zoo(folder, monkeypatch):
    small(monkeypatch, "zoo", n_samples=4, n_features=2, n_classes=2, text_features=("kind",))
    return folder


def test_a_table_is_read(zoo):
    zoo.table([HEADER, [1, "b", "10"], ["", "a", "9"], ["2.5", "c", "10"], ["-1e3", "a", "9"]])
    dataset = published.load("zoo")
    np.testing.assert_array_equal(dataset.X, [[1, 1], [np.nan, 0], [2.5, 2], [-1000, 0]])
    assert dataset.y.tolist() == [1, 0, 1, 0]  # classes that are numbers, in their order
    assert dataset.target_names == ("9", "10")
    assert dataset.feature_names == ("hair", "kind")
    assert "UCI" in dataset.source
    assert "zoo" in published.available()


FOUR = [[1, "b", "x"], [2, "a", "y"], [3, "a", "x"], [4, "a", "y"]]


def test_a_wrong_hash_is_refused(zoo):
    zoo.table([HEADER, *FOUR])
    path = zoo.path / "zoo.csv.gz"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not the file that its manifest describes"):
        published.load("zoo")


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"file": "zoo.csv.gz"}]', '[{"name": 1}]'])
def test_a_damaged_manifest_is_refused(zoo, text):
    (zoo.path / "manifest.json").write_text(text)
    for call in (published.available, lambda: published.load("zoo")):
        with pytest.raises(FileFormatError, match=r"manifest.json is damaged"):
            call()


def test_missing_sets_are_refused(folder, monkeypatch):
    def refused(state):
        with pytest.raises(DatasetNotFoundError) as caught:
            published.load("ionosphere")
        sentence = str(caught.value)
        for part in ("radar", "351 x 34", "UCI", "'ionosphere.csv.gz'", "CONCLUST_DATA", state):
            assert part in sentence
        assert isinstance(caught.value, FileNotFoundError)
        assert "ionosphere" not in published.available()

    refused("no manifest.json")
    folder.write()
    refused("lacks it")
    folder.put("ionosphere", "ionosphere.csv.gz", b"")
    (folder.path / "ionosphere.csv.gz").unlink()
    refused("file is missing")
    monkeypatch.setenv("CONCLUST_DATA", str(folder.path / "nowhere"))
    refused("no manifest.json")
    monkeypatch.delenv("CONCLUST_DATA")
    refused("not set")


def test_a_set_may_have_another_file_name(folder, monkeypatch):
    small(monkeypatch, "iris_uci", n_samples=2, n_features=1, n_classes=2)
    content = gzip.compress(b"length,label\n1,a\n2,b\n")
    folder.put("iris", "iris.csv.gz", content)
    assert published.load("iris_uci").X.tolist() == [[1], [2]]
    assert published.load("iris").X.shape == (150, 4)  # scikit-learn's, as ever
