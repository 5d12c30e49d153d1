"""Members fitted on some of the objects, and points that are read in blocks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from tests.naive import generation as naive

from conclust import EnsembleGenerator
from conclust.exceptions import InputError, ParameterError
from conclust.generation import plan
from conclust.generation.kinds.registry import settings_for
from conclust.generation.labelling import labelling as rows
from conclust.generation.labelling.labelling import is_in_blocks
from conclust.generation.members import Task, drawn_objects, fitted_objects

X, KIND = make_blobs(3000, 4, centers=3, cluster_std=1.0, random_state=0)
FORMS = {
    "kmeans": {},
    "observed": {"sample_fraction": 0.3},
    "features": {"feature_fraction": 0.5},
    "scaled": {"scale": "minmax"},
    "standard": {"scale": "standard", "sample_fraction": 0.7},
    "spherical": {"method": "spherical", "n_partitions": 4},
    "spectral": {"method": "spectral", "n_partitions": 3},
    "graph": {"method": "graph", "n_partitions": 3},
    "density": {"method": "density", "n_partitions": 3, "sample_fraction": 0.5},
    "som": {"method": "som", "n_partitions": 3, "sample_fraction": 0.5},
    "in turn": {
        "method": ["kmeans", "spectral", "graph"],
        "n_partitions": 4,
        "feature_fraction": 0.7,
    },
    "scikit-learn": {
        "method": [KMeans(4, n_init=1), MiniBatchKMeans(3, n_init=1)],
        "n_partitions": 6,
    },
}


def made(form, **more):
    defaults = {"method": "kmeans", "n_partitions": 8, "fit_on": 400, "random_state": 0}
    return EnsembleGenerator(**(defaults | FORMS[form] | more))


class OnDisk:
    """A matrix like those of Zarr and HDF5, with a shape, a type, and slices of rows. It counts the rows read."""

    def __init__(self, content):
        self.content, self.shape, self.dtype = content, content.shape, content.dtype
        self.read, self.largest = 0, 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice), "only slices of rows are supported"
        actual = self.content[rows]
        self.read += len(actual)
        self.largest = max(self.largest, len(actual))
        return actual


# ---------------------------------------------------------------------------------- fitted objects


@pytest.mark.parametrize("form", FORMS)
def test_fit_transform_labels_all_objects_as_transform_does(form):
    generator = made(form)
    labels = generator.fit_transform(X)
    others = generator.transform(X)
    observed = labels != -1
    assert (labels == others)[observed].all()
    fraction = FORMS[form].get("sample_fraction", 1.0)
    assert (observed.sum(axis=0) == round(fraction * len(X))).all()
    for u, member in enumerate(generator.members_):
        assert member.n_fitted == 400
        assert member.n_objects == round(fraction * len(X))
        seen = labels[observed[:, u], u].tolist()
        assert seen == naive.canonical(seen)
        assert member.n_clusters == len(set(seen))


def test_an_ensemble_gets_the_same_labels_in_one_byte():
    many = EnsembleGenerator("kmeans", 3, n_clusters=150, fit_on=400, random_state=0)
    assert many._labels(X).dtype == np.uint8
    np.testing.assert_array_equal(many._labels(X), many.fit_transform(X))


def test_members_equal_those_fitted_to_their_samples():
    generator = made("kmeans").fit(X)
    for u, member in enumerate(generator.members_):
        task = Task(None, (u,), (None,), member.seed, len(X), 4, 400)
        sample = fitted_objects(None, task, len(X))
        assert len(np.unique(sample)) == 400
        # Lloyd's fixed point: each centre is the mean of its points of the sample.
        labels = naive.nearest(X[sample], member.centers)
        means = [X[sample][labels == k].mean(axis=0) for k in range(member.n_clusters)]
        np.testing.assert_allclose(member.centers, means, atol=0.1)
    samples = {
        fitted_objects(None, Task(None, (), (), m.seed, 3000, 4, 400), 3000).tobytes()
        for m in generator.members_
    }
    assert len(samples) == 8


def test_samples_are_uniform_over_observed_objects():
    counts = np.zeros(60)
    for seed in range(400):
        task = Task(None, (0,), (None,), seed, 30, 2, 12)
        observed = drawn_objects(60, 30, seed)
        sample = fitted_objects(observed, task, 60)
        assert set(sample) <= set(observed)
        assert len(set(sample)) == 12
        assert (np.diff(sample) > 0).all()
        counts[sample] += 1
    # 400 draws of a fifth of the objects: four standard deviations.
    assert (np.abs(counts - 80) < 4 * np.sqrt(400 * 0.2 * 0.8)).all()


def test_observed_objects_do_not_depend_on_fit_on():
    some = made("observed").fit_transform(X)
    all_ = made("observed", fit_on=None).fit_transform(X)
    np.testing.assert_array_equal(some == -1, all_ == -1)


def test_a_limit_above_the_observed_objects_has_no_effect():
    whole = EnsembleGenerator("kmeans", n_partitions=6, sample_fraction=0.1, random_state=3)
    np.testing.assert_array_equal(
        clone(whole).fit_transform(X), clone(whole).set_params(fit_on=300).fit_transform(X)
    )
    np.testing.assert_array_equal(
        clone(whole).fit_transform(X), clone(whole).set_params(fit_on=10**9).fit_transform(X)
    )


def test_the_default_samples_above_the_limit_only(monkeypatch):
    def sizes(**more):
        parameters = {"method": "kmeans", "n_partitions": 2, "random_state": 0} | more
        generator = EnsembleGenerator(**parameters).fit(X)
        return {member.n_fitted for member in generator.members_}

    assert sizes() == {3000}
    monkeypatch.setattr(plan, "_FIT_ON", 3000)
    assert sizes() == {3000}
    monkeypatch.setattr(plan, "_FIT_ON", 500)
    assert sizes() == {500}
    assert sizes(sample_fraction=0.1) == {300}
    assert sizes(fit_on=700) == {700}
    # Members that cannot label new points are still fitted on all.
    assert sizes(method=DBSCAN(), sample_fraction=0.2) == {600}


def test_the_default_limit_is_10000_objects_or_ten_per_cluster():
    assert (plan._FIT_ON, plan._FOR_EACH) == (10_000, 10)
    generator = EnsembleGenerator("kmeans")

    def fitted_on(generator, n):
        return plan.fitted_on(settings_for(generator, n, 2), n)

    assert fitted_on(generator, 10_000) is None
    assert fitted_on(generator, 10_001) == 10_000
    # Ten objects for each requested cluster.
    assert fitted_on(generator.set_params(n_clusters=[2, 3000]), 100_000) == 30_000
    assert fitted_on(generator, 30_000) is None
    generator.set_params(n_clusters=None, method=[("kmeans", [2]), ("spectral", range(2, 2001))])
    assert fitted_on(generator, 100_000) == 20_000
    assert fitted_on(generator.set_params(method=["kmeans", DBSCAN()]), 100_000) is None


@pytest.mark.parametrize(
    "method",
    [
        DBSCAN(),
        AgglomerativeClustering(3),
        ["kmeans", DBSCAN()],
        [KMeans(3), DBSCAN()],
    ],
    ids=str,
)
def test_members_that_cannot_label_others_are_refused_with_an_alternative(method):
    generator = EnsembleGenerator(
        method, 2 if isinstance(method, list) else 1, fit_on=100, random_state=0
    )
    with pytest.raises(
        ParameterError, match="'fit_on' parameter of EnsembleGenerator must be None or at least"
    ) as caught:
        generator.fit(X[:200])
    for way in ("KMeans", "'spectral'", "sample_fraction=0.5"):
        assert way in str(caught.value)
    generator.set_params(fit_on=200).fit(X[:200])
    generator.set_params(fit_on=100, sample_fraction=0.5).fit(X[:200])


def test_mixed_members_are_refused():
    with pytest.raises(ParameterError, match="draws with mixed"):
        EnsembleGenerator("mixed", fit_on=50).fit(X[:100])


def test_more_clusters_than_fitted_objects_are_refused():
    with pytest.raises(
        ParameterError, match=r"at most 20 objects that a member is fitted on \(fit_on\). Got 30"
    ):
        EnsembleGenerator("kmeans", n_clusters=30, fit_on=20).fit(X)


# ------------------------------------------------------------------------------ blocks of points


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 1,024 rows, few spots, one sample at a time."""
    monkeypatch.setattr(rows, "_BLOCK_BYTES", 8 * 1024)
    monkeypatch.setattr(rows, "_SPOTS", 2)
    monkeypatch.setattr(rows, "_SPOT", 100)
    monkeypatch.setattr(rows, "_HELD", 1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "dtype"),
    [*((form, np.float64) for form in FORMS), ("scaled", np.float32), ("observed", np.int64)],
)
def test_points_on_disk_get_the_labels_of_those_in_memory(form, dtype, tmp_path, small_blocks):
    points = (X * 1000).astype(dtype)
    np.save(tmp_path / "points.npy", points)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    generator = made(form)
    expected = generator.fit_transform(points)
    disk = OnDisk(points)
    for source in (mapped, disk, points.tolist(), np.asfortranarray(points)):
        np.testing.assert_array_equal(clone(generator).fit_transform(source), expected)
        np.testing.assert_array_equal(
            generator.fit(source).transform(source), generator.transform(points)
        )
    assert disk.largest <= 1024
    blocks = list(generator.transform_blocks(disk))
    assert [len(block) for block in blocks] == [1024, 1024, 952]
    np.testing.assert_array_equal(np.concatenate(blocks), generator.transform(points))


def test_results_do_not_depend_on_n_jobs(small_blocks):
    disk = OnDisk(X)
    for form in ("kmeans", "observed", "scikit-learn"):
        expected = made(form).fit_transform(X)
        np.testing.assert_array_equal(made(form, n_jobs=2).fit_transform(disk), expected)


def test_fitting_reads_few_rows(small_blocks):
    disk = OnDisk(np.tile(X, (20, 1)))
    made("kmeans", n_partitions=1, scale=None).fit(disk)
    # A few spots, one pass for the sample, the head in which clusters appear.
    assert disk.read <= 200 + len(disk.content) + 5 * 1024


def test_small_matrices_on_disk_are_read_completely():
    disk = OnDisk(X)
    whole = EnsembleGenerator("kmeans", n_partitions=3, random_state=0)
    np.testing.assert_array_equal(clone(whole).fit_transform(disk), whole.fit_transform(X))
    fitted = EnsembleGenerator(AgglomerativeClustering(3), 1).fit(disk)
    np.testing.assert_array_equal(fitted.transform(OnDisk(X)), fitted.transform(X))


def test_a_cluster_may_first_appear_in_the_last_row(small_blocks):
    late = np.concatenate([np.zeros((2999, 1)), [[50.0]]])
    late[::3] = 1.0
    generator = EnsembleGenerator(
        "kmeans", n_partitions=30, n_clusters=3, fit_on=2500, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="found fewer clusters"):
        labels = generator.fit_transform(OnDisk(late))
    actual = {m.n_clusters for m in generator.members_}
    assert 3 in actual
    for column in labels.T:
        assert column.tolist() == naive.canonical(column.tolist())


def test_blocks_of_any_kind_are_labelled():
    generator = made("kmeans").fit(X)
    expected = generator.transform(X)
    parts = [X[:1], X[1:1500].tolist(), np.asfortranarray(X[1500:])]
    np.testing.assert_array_equal(
        np.concatenate(list(generator.transform_blocks(iter(parts)))), expected
    )
    fitted = EnsembleGenerator(DBSCAN(), 1).fit(X[:100])
    with pytest.raises(InputError, match="cannot label new points"):
        next(fitted.transform_blocks([X[:10]]))
    with pytest.raises(ValueError, match="NaN"):
        next(generator.transform_blocks([np.full((3, 4), np.nan)]))


def test_gaps_in_a_block_are_refused_as_in_memory(small_blocks):
    bad = X.copy()
    bad[2500, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        made("kmeans").fit_transform(OnDisk(bad))
    generator = made("kmeans").fit(X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        generator.transform(OnDisk(bad))
    with pytest.raises(ValueError, match="3 features"):
        generator.transform(OnDisk(X[:, :3]))


def test_blocks_are_scaled_as_points_in_memory(small_blocks):
    unequal = X * [1, 1000, 1, 1]
    generator = made("kmeans").fit(OnDisk(unequal))
    assert generator.scale_ == "standard"
    np.testing.assert_allclose(generator.scaler_.scale_, unequal.std(axis=0))


def test_points_in_blocks_are_recognised():
    assert is_in_blocks(X)
    assert is_in_blocks(OnDisk(X))
    for other in (
        X.tolist(),
        X[0],
        pd.DataFrame(X),
        X.astype(object),
        X > 0,
        np.ma.array(X),
        OnDisk(X[0]),
        OnDisk,
    ):
        assert not is_in_blocks(other)


def test_cached_members_depend_on_their_samples(tmp_path):
    def run(**more):
        generator = made("kmeans", cache_dir=tmp_path / "cache", **more)
        return generator.fit_transform(X), generator.n_cached_

    first, cached = run()
    assert cached == 0
    repeated, cached = run()
    assert cached == 8
    np.testing.assert_array_equal(first, repeated)
    np.testing.assert_array_equal(first, made("kmeans").fit_transform(X))
    assert run(fit_on=None)[1] == 0
    assert run(fit_on=401)[1] == 0
    assert run(fit_on=None)[1] == 8
