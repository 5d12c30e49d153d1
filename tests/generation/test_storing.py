"""A fitted generator is restored from its file with the same members and labels, and forged files are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from conclust import ConsensusClustering, EnsembleGenerator
from conclust._files.storage import read_npz, write_npz
from conclust.exceptions import FileFormatError, InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) * [1, 10, 100, 1] + [0, 5, 1000, 0]
NEW = RNG.normal(size=(40, 4)) * [1, 10, 100, 1] + [0, 5, 1000, 0]
KINDS = [
    {},
    {"method": "kmeans", "scale": "minmax", "feature_fraction": 0.5},
    {"method": "kmeans", "scale": None, "n_clusters": range(2, 7), "fit_on": 50},
    {"method": ["spectral", "graph"], "scale": "standard", "n_partitions": 8},
    {"method": "spectral", "n_graphs": 2, "n_partitions": 6},
    {"method": "density", "n_partitions": 4, "n_clusters": np.array([3, 4])},
    {"method": "spherical", "n_partitions": 4, "sample_fraction": 0.8},
]


def fitted(**parameters):
    made = {"n_partitions": 10, "random_state": 3, "n_jobs": 1, **parameters}
    return EnsembleGenerator(**made).fit(X)


def again(generator, tmp_path):
    generator.save(tmp_path / "generator.npz")
    return EnsembleGenerator.load(tmp_path / "generator.npz")


@pytest.mark.parametrize("kind", KINDS)
def test_new_points_get_the_same_labels(kind, tmp_path):
    generator = fitted(**kind)
    read = again(generator, tmp_path)
    labels, same = generator.transform(NEW), read.transform(NEW)
    np.testing.assert_array_equal(labels, same)
    assert labels.dtype == same.dtype
    assert read.members_ == generator.members_
    assert (read.scale_, read.scale_reason_) == (generator.scale_, generator.scale_reason_)
    assert type(read.scaler_) is type(generator.scaler_)
    if generator.scaler_ is not None:
        np.testing.assert_array_equal(read.scaler_.transform(NEW), generator.scaler_.transform(NEW))
    names = [*read.get_feature_names_out()]
    assert names == [*generator.get_feature_names_out()]
    # Parameters that affect the result are stored: fitted again, it makes the same members.
    np.testing.assert_array_equal(
        read.set_params(n_jobs=1).fit_transform(X), generator.fit_transform(X)
    )


def test_equal_generators_give_equal_bytes(tmp_path):
    fitted().save(tmp_path / "one.npz")
    fitted().save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_column_names_are_restored(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    generator = EnsembleGenerator("kmeans", 5, random_state=0).fit(frame)
    read = again(generator, tmp_path)
    assert read.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        read.transform(frame[["a", "b", "d", "c"]])


def test_a_pipeline_works_with_a_loaded_generator(tmp_path):
    model = ConsensusClustering(generator=EnsembleGenerator("kmeans", 10), random_state=0).fit(X)
    placed = model.predict(NEW)
    model.generator_ = again(model.generator_, tmp_path)
    np.testing.assert_array_equal(model.predict(NEW), placed)


def test_generators_that_cannot_label_new_points_are_not_saved(tmp_path):
    path = tmp_path / "generator.npz"
    with pytest.raises(InputError, match=r"members by .* have none"):
        EnsembleGenerator("mixed", n_clusters=[2, 3], random_state=0).fit(X).save(path)
    with pytest.raises(InputError, match="Python object"):
        EnsembleGenerator([KMeans(3, n_init=1)], scale=None, random_state=0).fit(X).save(path)
    with pytest.raises(InputError, match="an int as random_state"):
        fitted(method="kmeans", random_state=np.random.default_rng(0)).save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("nearest_centers_shapes", lambda a: a * 1000),
        ("nearest_centers_shapes", lambda a: a * 0),
        ("nearest_centers_shapes", lambda a: a - 2**62),
        ("nearest_centers_shapes", lambda a: a[:-1]),
        ("nearest_centers_shapes", lambda a: a[:, ::-1]),
        ("nearest_centers_numbers", lambda a: a + 1),
        ("members", lambda a: a + 1),
        ("members", lambda a: a * 0),
        ("members", lambda a: a[:-1]),
        ("members", lambda a: a[:, :3]),
        ("members", lambda a: a + 2**62),
        ("seeds", lambda a: a[:-1]),
        ("features", lambda a: a + 4),
        ("features", lambda a: a - 4),
        ("features", lambda a: a[:-1]),
        ("nearest_centers", lambda a: a * np.nan),
        ("nearest_centers", lambda a: a[:-1]),
        ("scaling", lambda a: a[:1]),
        ("scaling", lambda a: a[:, :1]),
        ("scaling", lambda a: a * np.inf),
        ("scaling", lambda a: a * 0),
    ],
)
def test_forged_arrays_are_refused(tmp_path, name, change):
    path = tmp_path / "generator.npz"
    fitted(method="kmeans", scale="standard", feature_fraction=0.5).save(path)
    arrays, meta = read_npz(path)
    with np.errstate(all="ignore"):
        arrays[name] = change(arrays[name])
    write_npz(path, arrays, meta)
    with pytest.raises(FileFormatError, match=r"generator\.npz is damaged"):
        EnsembleGenerator.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "x"},
        {"version": 4},
        {"parameters": None},
        {"parameters": {"method": "kmeans"}},
        {"n_features": 3},
        {"n_features": -1},
        {"n_features": True},
        {"feature_names": ["a"]},
        {"feature_names": [1, 2, 3, 4]},
        {"scale": None},
        {"scale": "x"},
        {"scale": []},
        {"scale_reason": None},
        {"n_scaled": 0},
        {"methods": ["kmeans"]},
        {"methods": [1] * 10},
        {"models": None},
        {"models": ["nearest"]},
        {"models": [["nearest"]] * 10},
        {"models": ["landmarks"] * 10},
        {"label_type": "float64"},
        {"label_type": ["int8"]},
    ],
)
def test_forged_descriptions_are_refused(tmp_path, change):
    path = tmp_path / "generator.npz"
    fitted(method="kmeans", scale="minmax").save(path)
    arrays, meta = read_npz(path)
    write_npz(path, arrays, {**meta, **change})
    with pytest.raises(FileFormatError, match=r"generator\.npz"):
        EnsembleGenerator.load(path)
