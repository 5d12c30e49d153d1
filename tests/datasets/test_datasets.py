"""Data sets: by name, from a formula, and only from valid files."""

import csv
import gzip
import hashlib
import io
import json
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.stats import multivariate_normal
from sklearn import datasets as sk

from conclust import datasets, metrics
from conclust.datasets.folder import PUBLISHED, Published
from conclust.exceptions import DatasetNotFoundError, FileFormatError, InputError, ParameterError

# Name, points and class sizes.
GENERATED = {
    "rings": (75, 150, 225),
    "half_rings": (100, 300),
    "spirals": (100, 100),
    "cigars": (100, 100, 25, 25),
    "gaussian_mixture": (200, 200, 200, 200),
}


# ------------------------------------------------------------------------------------ generators


@pytest.mark.parametrize(("name", "sizes"), GENERATED.items(), ids=str)
def test_generated_sets_have_their_shapes_and_classes(name, sizes):
    dataset = datasets.load(name)
    assert dataset.name == name
    assert dataset.X.shape == (sum(sizes), 2)
    assert dataset.X.dtype == np.float64
    assert np.isfinite(dataset.X).all()
    assert dataset.y.dtype == np.int64
    assert tuple(np.bincount(dataset.y)) == sizes
    assert len(dataset.target_names) == len(sizes)
    assert dataset.feature_names == ("x", "y")
    repeated = getattr(datasets, name)(random_state=0)
    assert (repeated.X == dataset.X).all()
    assert (datasets.load(name, random_state=1).X != dataset.X).any()
    with pytest.raises(FrozenInstanceError):
        dataset.name = "other"


def test_rings_have_the_given_radii():
    actual = datasets.rings((500, 500, 500), noise=0.1, random_state=0)
    radius = np.hypot(*actual.X.T)
    for k in range(3):
        radii = radius[actual.y == k]
        assert radii.mean() == pytest.approx(k + 1, abs=0.02)
        assert radii.std() == pytest.approx(0.1, abs=0.01)
    exact = datasets.rings((9, 9), noise=0, random_state=0)
    assert np.hypot(*exact.X.T) == pytest.approx(exact.y + 1)


@pytest.mark.parametrize("name", ["half_rings", "spirals"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_groups_are_separated(name, seed):
    dataset = datasets.load(name, random_state=seed)
    groups = fcluster(linkage(dataset.X, "single"), len(dataset.target_names), "maxclust")
    assert metrics.adjusted_rand_index(dataset.y, groups) == 1


def test_membership_is_the_posterior():
    means = [[0.0, 0, 0], [2, 1, 0], [0, -1, 3]]
    covariances = [np.eye(3), np.diag([2.0, 1, 0.5]), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 2]]]
    sizes = (50, 100, 30)
    actual = datasets.gaussian_mixture(sizes, means=means, covariances=covariances, random_state=0)
    density = np.column_stack(
        [
            size * multivariate_normal(mean, covariance).pdf(actual.X)
            for size, mean, covariance in zip(sizes, means, covariances, strict=True)
        ]
    )
    assert actual.membership == pytest.approx(density / density.sum(axis=1, keepdims=True))
    assert actual.feature_names == ("x1", "x2", "x3")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: datasets.rings((10, 0)),
            r"'sizes' parameter of rings must be an int in the range",
        ),
        (lambda: datasets.rings(()), "'sizes' parameter of rings must be a sequence of ints"),
        (lambda: datasets.rings(450), "'sizes' parameter of rings"),
        (lambda: datasets.cigars((10, 10)), "'sizes' parameter of cigars must be a sequence of 4"),
        (lambda: datasets.half_rings((1, 2, 3)), "a sequence of 2 ints"),
        (lambda: datasets.rings(noise=-0.1), "'noise' parameter of rings must be a float"),
        (lambda: datasets.half_rings(noise=1.5), r"'noise' parameter of half_rings .* \[0, 1\]"),
        (lambda: datasets.spirals(turns=0), "'turns' parameter of spirals"),
        (lambda: datasets.rings(random_state=-1), "'random_state' parameter of rings"),
        (lambda: datasets.gaussian_mixture((5, 5)), "given for 2 components"),
        (lambda: datasets.gaussian_mixture((5, 5), means=[[0, 0]]), r"shape \(2, n_features\)"),
        (lambda: datasets.gaussian_mixture((5,), means=[["a"]]), "numbers"),
        (lambda: datasets.gaussian_mixture((5,), means=[[np.nan]]), "finite"),
        (lambda: datasets.gaussian_mixture(covariances=[1, 2]), "positive definite"),
        (
            lambda: datasets.gaussian_mixture(
                (5,), means=[[0, 0]], covariances=[[[1, 0.5], [0, 1]]]
            ),
            "positive definite",
        ),
    ],
)
def test_invalid_parameters_of_generators_are_refused(call, sentence):
    with pytest.raises(ParameterError, match=sentence):
        call()


# ------------------------------------------------------------------------------------- ensembles


def test_planted_ensembles_follow_the_membership():
    rows = np.array([[1.0, 0, 0], [0, 0, 1], [0.5, 0, 0.5], [0.2, 0.3, 0.5], [0, 1, 0]])
    ensemble = datasets.planted_ensemble(rows, 20_000, random_state=0)
    names = np.array(
        [[ensemble.names[u][c] for c in codes] for u, codes in enumerate(ensemble.codes.T)]
    )
    shares = np.array([(names == k).mean(axis=0) for k in range(3)]).T
    assert shares == pytest.approx(rows, abs=0.015)
    assert (shares[rows == 0] == 0).all()
    repeated = datasets.planted_ensemble(rows, 20_000, random_state=0)
    assert repeated == ensemble


def test_planted_ensembles_take_rows_that_rounding_left_below_1():
    rows = np.array([[1 / 3 - 3e-7, 2 / 3 - 3e-7, 0.0]] * 5000)
    ensemble = datasets.planted_ensemble(rows, 20, random_state=0)
    assert set(ensemble.cluster_counts) == {2}


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: datasets.planted_ensemble([[0.5, 0.4]], 2), InputError, "row 0"),
        (lambda: datasets.planted_ensemble([[1.0]] * 3, 0), ParameterError, "'n_partitions'"),
    ],
)
def test_invalid_parameters_of_ensembles_are_refused(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


# ----------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer"])
def test_sets_of_scikit_learn_are_loaded(name):
    dataset = datasets.load(name)
    expected = getattr(sk, f"load_{name}")()
    assert np.array_equal(dataset.X, expected.data)
    assert (dataset.y == expected.target).all()
    assert dataset.target_names == tuple(str(target) for target in expected.target_names)
    assert len(dataset.feature_names) == dataset.X.shape[1]


def test_names_lists_all_and_available_the_loadable_sets(monkeypatch):
    monkeypatch.delenv("CONCLUST_DATA", raising=False)
    names = datasets.names()
    assert names == sorted(set(names))
    assert datasets.available() == sorted([*GENERATED, "iris", "wine", "digits", "breast_cancer"])
    assert set(datasets.available()) < set(names)


@pytest.mark.parametrize(
    "name", ["irsi", "../iris", "/etc/passwd", "iris.csv.gz", "", "zoo\0", 3, None, ["iris"]]
)
def test_unknown_names_are_refused(name):
    with pytest.raises(
        ParameterError, match="'name' parameter of load must be one of the data sets"
    ):
        datasets.load(name)


# ---------------------------------------------------------------------------------------- folder


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

    def arrays(self, name: str, **arrays: np.ndarray) -> None:
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        self.put(name, f"{name}.npz", content.getvalue())


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
    dataset = datasets.load("zoo")
    np.testing.assert_array_equal(dataset.X, [[1, 1], [np.nan, 0], [2.5, 2], [-1000, 0]])
    assert dataset.y.tolist() == [1, 0, 1, 0]  # classes that are numbers, in their order
    assert dataset.target_names == ("9", "10")
    assert dataset.feature_names == ("hair", "kind")
    assert "UCI" in dataset.source
    assert "zoo" in datasets.available()


def test_a_table_with_a_byte_order_mark_is_read(zoo):
    zoo.table([HEADER, *[[i, "a", "xy"[i % 2]] for i in range(4)]], header="\ufeff")
    assert datasets.load("zoo").feature_names[0] == "hair"


def test_a_table_longer_than_a_block_is_read(folder, monkeypatch):
    n = 40_000
    small(monkeypatch, "zoo", n_samples=n, n_features=2, n_classes=3, text_features=("kind",))
    words = np.array(["tcp", "udp", "icmp", "other"])[np.arange(n) % 4]
    folder.table([HEADER, *[[i, words[i], i % 3] for i in range(n)]])
    dataset = datasets.load("zoo")
    assert (dataset.X[:, 0] == np.arange(n)).all()
    assert (dataset.X[:, 1] == np.array([2, 3, 0, 1])[np.arange(n) % 4]).all()
    assert (dataset.y == np.arange(n) % 3).all()


FOUR = [[1, "b", "x"], [2, "a", "y"], [3, "a", "x"], [4, "a", "y"]]


def test_arrays_are_read(folder, monkeypatch):
    small(monkeypatch, "sc_yan", n_samples=3, n_features=2, n_classes=2)
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    folder.arrays("sc_yan", X=X, y=np.array(["b", "a", "b"]), features=np.array(["G1", "G2"]))
    dataset = datasets.load("sc_yan")
    assert dataset.X.dtype == np.float64
    assert (dataset.X == X).all()
    assert dataset.y.tolist() == [1, 0, 1]
    assert dataset.feature_names == ("G1", "G2")


def test_published_ensembles_are_loaded_as_labels(folder, monkeypatch):
    small(monkeypatch, "pool_lwea_mfeat", n_samples=3, n_features=2, n_classes=2)
    X = np.array([[1, 7], [2, 7], [2, 3]], dtype=np.uint8)
    folder.arrays("pool_lwea_mfeat", X=X, y=np.array([1, 1, 2], dtype=np.int16))
    dataset = datasets.load("pool_lwea_mfeat")
    assert dataset.X.dtype == np.uint8
    assert (dataset.X == X).all()
    assert dataset.feature_names == ("p1", "p2")


TEXT = sp.csr_array(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 5]]))


def put_text(folder, monkeypatch, **changes):
    small(monkeypatch, "webkb_1041", n_samples=3, n_features=3, n_classes=2)
    arrays = {
        "indptr": TEXT.indptr,
        "indices": TEXT.indices,
        "counts": TEXT.data.astype(np.uint16),
        "shape": np.array(TEXT.shape),
        "vocabulary": np.array(["a", "b", "c"]),
        "y": np.array(["p", "q", "p"]),
    }
    folder.arrays("webkb_1041", **{**arrays, **changes})


def test_word_counts_are_sparse(folder, monkeypatch):
    put_text(folder, monkeypatch)
    dataset = datasets.load("webkb_1041")
    assert sp.issparse(dataset.X)
    assert (dataset.X.toarray() == TEXT.toarray()).all()
    assert dataset.feature_names == ("a", "b", "c")
    assert repr(dataset) == "Dataset('webkb_1041', X of 3 x 3, 2 classes)"


def test_pickles_are_not_read(folder, monkeypatch):
    small(monkeypatch, "sc_yan", n_samples=2, n_features=1, n_classes=2)
    folder.arrays("sc_yan", X=np.array([[1.0], [2.0]]), y=np.array(["a", None], dtype=object))
    with pytest.raises(FileFormatError, match="pickle"):
        datasets.load("sc_yan")


def test_a_wrong_hash_is_refused(zoo):
    zoo.table([HEADER, *FOUR])
    path = zoo.path / "zoo.csv.gz"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not the file that its manifest describes"):
        datasets.load("zoo")


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"file": "zoo.csv.gz"}]', '[{"name": 1}]'])
def test_a_damaged_manifest_is_refused(zoo, text):
    (zoo.path / "manifest.json").write_text(text)
    for call in (datasets.available, lambda: datasets.load("zoo")):
        with pytest.raises(FileFormatError, match=r"manifest.json is damaged"):
            call()


def test_missing_sets_are_refused(folder, monkeypatch):
    def refused(state):
        with pytest.raises(DatasetNotFoundError) as caught:
            datasets.load("ionosphere")
        sentence = str(caught.value)
        for part in ("radar", "351 x 34", "UCI", "'ionosphere.csv.gz'", "CONCLUST_DATA", state):
            assert part in sentence
        assert isinstance(caught.value, FileNotFoundError)
        assert "ionosphere" not in datasets.available()

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
    assert datasets.load("iris_uci").X.tolist() == [[1], [2]]
    assert datasets.load("iris").X.shape == (150, 4)  # scikit-learn's, as ever


REAL = os.environ.get("CONCLUST_DATA", "")
with_data = pytest.mark.skipif(not REAL, reason="CONCLUST_DATA names no folder of published sets")


@with_data
@pytest.mark.parametrize("name", sorted(set(PUBLISHED) - {"kdd99_10percent"}))
def test_published_sets_are_loaded(name):
    if name not in datasets.available():
        pytest.skip(f"{name} is not in the folder that CONCLUST_DATA names")
    dataset = datasets.load(name)
    entry = PUBLISHED[name]
    assert dataset.X.shape == (entry.n_samples, entry.n_features)
    assert len(np.unique(dataset.y)) == entry.n_classes == len(dataset.target_names)
    if name == "house_votes_435":
        assert np.isnan(dataset.X).sum() == 392
    elif not sp.issparse(dataset.X):
        assert np.isnan(dataset.X).sum() == (16 if name == "breast_cancer_699" else 0)
