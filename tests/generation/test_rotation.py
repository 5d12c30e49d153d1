"""Points with more features than objects are rotated into as many coordinates as there are objects."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from tests.forging import forge

import conclust
from conclust import EnsembleGenerator
from conclust.exceptions import FileFormatError
from conclust.generation import generator as module
from conclust.generation.labelling.models import Rotation

Points = NDArray[np.float64]


def blobs(n: int = 90, d: int = 400, k: int = 3, seed: int = 0) -> tuple[Points, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 0.6 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def unrotated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "rotation_pays", lambda *_: False)


def test_a_rotation_keeps_all_distances_and_inner_products() -> None:
    X = blobs()[0]
    new = blobs(seed=1)[0][:70]
    rotation, rotated = Rotation.of(X, moved=False)
    assert rotated.shape == (90, 91)
    both, both_rotated = np.vstack([X, new]), np.vstack([rotated, rotation(new)])
    np.testing.assert_allclose(cdist(rotated, both_rotated), cdist(X, both), atol=1e-6)
    np.testing.assert_allclose(rotated @ both_rotated.T, X @ both.T, atol=1e-9)


def test_new_points_have_their_distance_from_the_span_of_the_fit() -> None:
    X = blobs()[0]
    rotation, _ = Rotation.of(X, moved=False)
    new = blobs(seed=1)[0]
    basis = np.linalg.svd(X, full_matrices=False)[2]
    outside = np.linalg.norm(new - new @ basis.T @ basis, axis=1)
    np.testing.assert_allclose(rotation(new)[:, -1], outside, rtol=1e-10)


def test_points_of_the_fit_have_their_coordinates_to_the_bit() -> None:
    X = blobs()[0]
    X[5] = X[17]
    X[6] = 0.0
    rotation, rotated = Rotation.of(X, moved=False)
    assert np.array_equal(rotated[5], rotated[17])
    assert not rotated[6].any()
    assert rotation.axes.shape == (400, 89)
    chosen = [40, 5, 6, 40]
    assert np.array_equal(rotation(X[chosen]), rotated[chosen])


@pytest.mark.parametrize(
    "method", ["auto", "spectral", "graph", "density", "kmeans", "spherical", "som"]
)
def test_rotated_points_give_the_same_members(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    X, new = blobs()[0], blobs(n=40, seed=1)[0]
    maker = EnsembleGenerator(method, 20, random_state=3)
    labels = maker.fit_transform(X)
    assert maker._rotation is not None
    others = maker.transform(new)
    unrotated(monkeypatch)
    plain = EnsembleGenerator(method, 20, random_state=3)
    assert np.array_equal(plain.fit_transform(X), labels)
    assert plain._rotation is None
    assert np.array_equal(plain.transform(new), others)


@pytest.mark.parametrize("scale", [None, "standard", "minmax"])
def test_points_of_the_fit_keep_their_labels(scale: Any) -> None:
    X = (blobs()[0] > 0).astype(float)  # many distances are equal
    maker = EnsembleGenerator(scale=scale, random_state=0)
    labels = maker.fit_transform(X)
    assert maker._rotation is not None
    assert np.array_equal(maker.transform(X), labels)
    assert np.array_equal(maker.transform(X[::-3]), labels[::-3])
    assert np.array_equal(np.vstack(list(maker.transform_blocks(np.array_split(X, 7)))), labels)


def test_labels_of_a_point_do_not_depend_on_the_points_around_it() -> None:
    X = blobs()[0]
    maker = EnsembleGenerator(random_state=0).fit(X)
    new = blobs(n=150, seed=1)[0]
    together = maker.transform(new)
    alone = np.vstack([maker.transform(row[np.newaxis]) for row in new])
    assert np.array_equal(alone, together)


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "mixed", "n_partitions": None},
        {"method": [KMeans(3, n_init=1)]},
        {"method": "kmeans", "feature_fraction": 0.5},
    ],
)
def test_other_members_see_the_points_as_they_are(changes: dict[str, Any]) -> None:
    X = blobs()[0]
    maker = EnsembleGenerator(**{"n_partitions": 12, "random_state": 0} | changes)
    maker.fit(X)
    assert maker._rotation is None


@pytest.mark.parametrize("method", ["kmeans", ["graph", "kmeans"]])
def test_centres_are_means_of_the_points_in_their_features(method: Any) -> None:
    X = blobs()[0]
    maker = EnsembleGenerator(method, 12, scale="standard", random_state=0)
    labels = maker.fit_transform(X)
    assert maker._rotation is not None
    Z = maker.scaler_.transform(X)
    for member, column in zip(maker.members_, labels.T, strict=True):
        if member.method == "graph":
            assert member.centers is None
            continue
        means = [Z[column == cluster].mean(axis=0) for cluster in range(member.n_clusters)]
        np.testing.assert_allclose(member.centers, means, atol=1e-9)


def test_points_are_rotated_where_it_pays() -> None:
    X = np.random.default_rng(0).normal(size=(60, 240))

    def rotated(features: int, *given: Any) -> bool:
        return EnsembleGenerator(*given, random_state=0).fit(X[:, :features])._rotation is not None

    assert [rotated(d) for d in (61, 89, 90)] == [False, False, True]
    assert [rotated(d, "kmeans") for d in (90, 239, 240)] == [False, False, True]
    assert [rotated(240, "kmeans", n) for n in (9, 10)] == [False, True]


@pytest.mark.parametrize("unit", [1e6, 1e12, 1.7e18])
def test_columns_far_from_0_leave_the_digits_of_others(unit: float) -> None:
    X, y = blobs(k=2)
    X[y == 1] += 0.3
    far = np.column_stack([X, np.full(len(X), unit)])
    plain = EnsembleGenerator("kmeans", 20, n_clusters=2, scale=None, random_state=0)
    expected = plain.fit_transform(X)
    assert np.array_equal(plain.fit_transform(far), expected)
    assert plain._rotation is not None


def test_distances_remain_after_the_origin_is_moved() -> None:
    X, new = blobs()[0] + 50.0, blobs(seed=1)[0]
    rotation, rotated = Rotation.of(X)
    assert not rotated[0].any()
    np.testing.assert_allclose(cdist(rotation(new), rotated), cdist(new, X), rtol=1e-9)
    np.testing.assert_allclose(rotation.back(rotated), X, atol=1e-10)


def test_a_generator_comes_back_with_its_rotation(tmp_path: Path) -> None:
    X, new = blobs()[0], blobs(n=40, seed=1)[0]
    maker = EnsembleGenerator(["kmeans", "graph", "spectral"], 12, random_state=0).fit(X)
    maker.save(tmp_path / "generator.npz")
    for again in (
        conclust.load(tmp_path / "generator.npz"),
        pickle.loads(pickle.dumps(maker)),
    ):
        assert np.array_equal(again.transform(new), maker.transform(new))
        assert np.array_equal(again.transform(X), maker.transform(X))
        for one, other in zip(again.members_, maker.members_, strict=True):
            assert np.array_equal(one.centers, other.centers)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *itertools.product(("origin", "axes", "coordinates", "digests"), ("absent", "shorter")),
        ("axes", "infinite"),
        ("coordinates", "infinite"),
    ],
)
def test_damaged_rotations_are_refused(tmp_path: Path, name: str, how: str) -> None:
    path = tmp_path / "generator.npz"
    EnsembleGenerator(n_partitions=12, random_state=0).fit(blobs()[0]).save(path)
    change = {
        "absent": lambda array: np.zeros(0),
        "shorter": lambda array: array[:-1],
        "infinite": lambda array: np.full_like(array, np.inf),
    }
    forge(path, "Rotation", name, change[how])
    with pytest.raises(FileFormatError, match="damaged"):
        conclust.load(path)


def test_a_cache_keeps_members_of_rotated_points(tmp_path: Path) -> None:
    X = blobs()[0]
    plain = EnsembleGenerator(random_state=0).fit_transform(X)
    for n_cached in (0, 40):
        maker = EnsembleGenerator(random_state=0, cache_dir=tmp_path)
        assert np.array_equal(maker.fit_transform(X), plain)
        assert maker.n_cached_ == n_cached
