"""Models are saved: what is loaded has the same bits, and a damaged or forged file is refused."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import conclust as cc
from conclust._files.saving import of_bytes, to_bytes
from conclust._files.storage import read_npz, write_npz
from conclust.blocks import LabelStore
from conclust.divergences import Divergence, mahalanobis
from conclust.exceptions import FileFormatError, InputError
from tests import registry

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 20)
LABELS = np.where(RNG.random((60, 8)) < 0.15, RNG.integers(0, 3, (60, 8)), TRUTH[:, None])
NEW = np.vstack([LABELS[::7], np.full(8, -1), np.full(8, -2), RNG.integers(0, 5, (20, 8))])
POINTS, _ = make_blobs(90, 3, centers=4, random_state=0)
MORE, _ = make_blobs(50, 3, centers=4, random_state=1)
PIPELINES = {
    "default": {},
    "a number": {"n_clusters": 4},
    "auto": {"n_clusters": "auto"},
    "hbgf": {"consensus": "hbgf", "n_clusters": 3},
    "eac": {"consensus": "eac", "n_clusters": 4},
    "pcc": {"consensus": cc.PCC(6, divergence="l2")},
    "several kinds": {"generator": cc.EnsembleGenerator(["spectral", "graph", "kmeans"], 12)},
    "directions": {"generator": cc.EnsembleGenerator("spherical", 12)},
    "features": {"generator": cc.EnsembleGenerator("kmeans", 12, feature_fraction=0.7)},
}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def pipeline(**parameters):
    few = {"generator": cc.EnsembleGenerator(n_partitions=12, n_jobs=1)}
    return cc.ConsensusClustering(random_state=0, **few | parameters)


def again(model, path):
    model.save(path / "model.npz")
    return cc.load(path / "model.npz")


def assert_same(one, other):
    """Values have the same types and bits; objects the same attributes."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.flags.f_contiguous) == (other.dtype, other.flags.f_contiguous)
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    elif hasattr(one, "__dict__") and not isinstance(one, cc.Ensemble):
        assert_same(dict(sorted(vars(one).items())), dict(sorted(vars(other).items())))
    elif one == one:
        assert one == other


@pytest.mark.parametrize("form", registry.asked_for())
def test_every_form_is_loaded_with_the_same_bits(form, tmp_path):
    model = registry.make(form, 3).fit(cc.Ensemble(LABELS))
    loaded = again(model, tmp_path)
    for place in ("predict", "predict_proba"):
        if hasattr(model, place):
            assert_same(getattr(model, place)(NEW), getattr(loaded, place)(NEW))
    assert_same(model.labels_, loaded.labels_)
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("name", PIPELINES)
def test_clusterings_of_points_are_loaded_with_the_same_bits(name, tmp_path):
    model = pipeline(**PIPELINES[name]).fit(POINTS)
    loaded = again(model, tmp_path)
    for place in ("predict", "predict_proba"):
        if hasattr(model, place):
            assert_same(getattr(model, place)(MORE), getattr(loaded, place)(MORE))
    assert_same(model.labels_, loaded.labels_)
    assert_same(model.generator_.transform(MORE), loaded.generator_.transform(MORE))
    assert (loaded.reason_, loaded.ensemble_) == (model.reason_, model.ensemble_)
    assert loaded.generator_.members_ == model.generator_.members_
    if name == "auto":
        assert loaded.selection_.pac().tolist() == model.selection_.pac().tolist()


def test_missing_labels_names_constraints_and_weights_are_kept(tmp_path):
    names = np.array(["a", "b", "c"], dtype=object)[LABELS]
    names[::9, 0] = None
    ensemble = cc.Ensemble(names, weights=np.arange(8.0))
    new = names[::5]
    for model in (
        cc.AutoConsensus(3).fit(ensemble, must_link=[[0, 30]], cannot_link=[[1, 2]]),
        cc.PCC(4, divergence="l2", granularity="matched", random_state=0).fit(ensemble),
        cc.PCC(4, divergence=mahalanobis([[2, 0], [0, 1]]), random_state=0).fit(ensemble),
        cc.Voting(3, random_state=0).fit(ensemble),
    ):
        loaded = again(model, tmp_path)
        assert_same(model.predict_proba(new), loaded.predict_proba(new))
        assert_same(model.predict(new), loaded.predict(new))


def test_names_of_columns_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(POINTS, columns=list("abc"))
    loaded = again(pipeline(n_clusters=3).fit(frame), tmp_path)
    assert loaded.feature_names_in_.tolist() == list("abc")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c"]])


def test_members_without_a_model_know_the_points_of_their_fit(tmp_path):
    generator = cc.EnsembleGenerator("mixed", n_clusters=[2, 3], random_state=0).fit(POINTS)
    loaded = again(generator, tmp_path)
    assert_same(generator.transform(POINTS), loaded.transform(POINTS))
    with pytest.raises(InputError, match="cannot label new points"):
        loaded.transform(MORE)


def test_labels_in_blocks_leave_a_model_that_places_new_objects(tmp_path):
    np.save(tmp_path / "labels.npy", LABELS.astype(np.int8))
    model = cc.HBGF(3, random_state=0).fit(LabelStore(tmp_path / "labels.npy", block_rows=16))
    assert again(model, tmp_path).labels_.shape == (0,)
    model = cc.KCC(3, random_state=0).fit(LabelStore(tmp_path / "labels.npy", block_rows=16))
    assert_same(model.predict(NEW), again(model, tmp_path).predict(NEW))


def test_a_model_is_written_with_the_same_bytes_each_time():
    model = pipeline()
    one, other = (to_bytes(model.fit(POINTS)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert_same(of_bytes(one, "it").predict(MORE), model.predict(MORE))


def test_functions_and_generators_are_refused_with_the_way_out(tmp_path):
    path = tmp_path / "model.npz"
    squared = Divergence(lambda p, q: (p - q) ** 2, lambda p, q: 2 * (q - p))
    own = cc.PCC(3, divergence=squared, random_state=0).fit(LABELS)
    clusterers = cc.EnsembleGenerator([KMeans(3, n_init=1)], scale=None).fit(POINTS)
    drawn = cc.PCC(3, random_state=np.random.default_rng(0)).fit(LABELS)
    for model, name in ((own, "divergence"), (clusterers, "method"), (drawn, "random_state")):
        with pytest.raises(InputError, match=f"its '{name}' is .* or use joblib"):
            model.save(path)
    with pytest.raises(ValueError, match="not fitted"):
        cc.PCC(3).save(path)
    assert not path.exists()


# ---- damaged and forged files


def read_or_refused(path):
    """Read a file; a file that is not sound is refused, with no other error."""
    with contextlib.suppress(FileFormatError):
        return cc.load(path)
    return None


@pytest.mark.parametrize("kind", ["points", "auto", "pcc", "kcc"])
def test_one_byte_changed_is_noticed_or_without_effect(kind, tmp_path):
    path = tmp_path / "model.npz"
    if kind == "points":
        model, new = pipeline(n_clusters=4).fit(POINTS), MORE
    else:
        estimator = {"auto": cc.AutoConsensus, "pcc": cc.PCC, "kcc": cc.KCC}[kind]
        model, new = estimator(3, random_state=0).fit(LABELS), NEW
    model.save(path)
    content, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for place in rng.integers(0, len(content), 120).tolist():
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        loaded = read_or_refused(path)
        if loaded is None:
            refused += 1
        else:
            assert_same(loaded.predict(new), model.predict(new))
    assert refused > 40


def leaves_of(content, place=()):
    """Return the places of all values of a description."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from leaves_of(value, (*place, key))
    yield place


@pytest.mark.parametrize(
    "make",
    [
        lambda: pipeline(n_clusters=4).fit(POINTS),
        lambda: cc.PCC(3, random_state=0).fit(LABELS),
        lambda: cc.AutoConsensus(3).fit(LABELS),
        lambda: cc.MixtureModel(3, random_state=0).fit(LABELS),
    ],
)
def test_a_forged_file_is_refused_or_places_objects(make, tmp_path):
    path, rng = tmp_path / "model.npz", np.random.default_rng(1)
    model = make()
    model.save(path)
    arrays, meta = read_npz(path)
    new = MORE if isinstance(model, cc.ConsensusClustering) else NEW
    places = list(leaves_of(meta))[:-1]
    for _ in range(60):
        forged_arrays, forged = dict(arrays), read_npz(path)[1]
        if rng.random() < 0.5:
            name = rng.choice(sorted(arrays))
            array = arrays[name]
            changes = (array[:-1], array + 100, -array - 1, array[None], array * 0, array.T)
            with np.errstate(all="ignore"):
                forged_arrays[name] = changes[rng.integers(len(changes))] if array.ndim else array
        else:
            *outer, last = places[rng.integers(len(places))]
            holder = forged
            for key in outer:
                holder = holder[key]
            values = (None, -1, 10**9, "x", [], {}, {"array": "array_0"}, {"record": 0})
            holder[last] = values[rng.integers(len(values))]
        write_npz(tmp_path / "forged.npz", forged_arrays, forged)
        loaded = read_or_refused(tmp_path / "forged.npz")
        if loaded is not None and hasattr(loaded, "predict"):
            # A parameter or a name may have been changed; no kernel reads beyond its arrays.
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                with contextlib.suppress(ValueError, TypeError):
                    loaded.predict(new)


def test_other_files_are_refused_by_name(tmp_path):
    path = tmp_path / "labels.npz"
    cc.Ensemble(LABELS).save(path)
    with pytest.raises(FileFormatError, match="was not written by 'save' of a model"):
        cc.load(path)
    cc.PCC(3, random_state=0).fit(LABELS).save(path)
    arrays, meta = read_npz(path)
    write_npz(path, arrays, meta | {"version": 99})
    with pytest.raises(FileFormatError, match="has format version 99; this conclust reads"):
        cc.load(path)
    for name in ("Ensembles", "os", "ConsensusClusterer", "__main__", "InputError"):
        write_npz(path, {}, meta | {"records": [[name, {}]], "value": {"record": 0}})
        with pytest.raises(FileFormatError, match="is damaged"):
            cc.load(path)
