"""Laws that every method for labels in blocks must satisfy."""

import itertools
import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.blocks.forms import FORMS, TOLERANCE, cases, made

import conclust
from conclust import Ensemble
from conclust.blocks import LabelStore, checkpoint
from conclust.blocks.runners import LocalRunner
from conclust.consensus.probabilistic import weighted
from conclust.consensus.probabilistic.distances import AllPairs
from conclust.consensus.probabilistic.solvers import blocked
from conclust.divergences import Divergence, kl
from conclust.exceptions import EvidenceWarning, InputError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CASES = cases()
SPECIFIC = (
    "membership_",
    "objective_",
    "trace_",
    "singular_values_",
    "votes_",
    "merged_",
    "reference_membership_",
    "partition_weights_",
    "weights_",
    "distances_",
)
OWN = Divergence(kl.value, kl.derivative, kl.curvature, name="own kl")


@pytest.fixture(autouse=True)
def in_blocks(monkeypatch):
    """Turns off reading few objects at once, because the laws are about many objects."""
    monkeypatch.setattr(weighted, "_READ_ALL", 0)


def fitted(form, labels, weights=None, k=3, **how):
    return made(form, k).fit(LabelStore(labels, weights=weights, **how))


def everything(model):
    actual = {"labels": np.asarray(model.labels_)}
    for name in SPECIFIC:
        if hasattr(model, name):
            actual[name] = np.asarray(getattr(model, name))
    return actual


def assert_same_bits(one, other):
    one, other = everything(one), everything(other)
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


def test_every_method_that_reads_blocks_is_tested():
    declared = {method.estimator for method in conclust.methods() if method.blocks}
    assert declared == {name for name, _, _ in FORMS.values()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", FORMS)
def test_blocks_give_the_result_of_labels_in_memory(form, case):
    labels, weights = CASES[case]
    whole = made(form).fit(Ensemble(labels, weights=weights))
    parts = fitted(form, labels, weights, block_rows=37)
    actual = np.asarray(parts.labels_)
    if FORMS[form][2] == "optimum":
        constant = getattr(whole, "objective_constant_", None) or 0.0
        assert parts.objective_ <= whole.objective_ + constant + 1e-3 * abs(whole.objective_)
        assert adjusted_rand_score(actual, whole.labels_) > 0.97
        return
    if FORMS[form][2] == "close" and case == "nowhere":
        return  # other landmarks are drawn
    if FORMS[form][2] in ("batch", "anywhere") and case == "noise":
        assert parts.objective_ == pytest.approx(whole.objective_, rel=0.02)
        assert adjusted_rand_score(actual, whole.labels_) > 0.9
        return
    if FORMS[form][2] == "anywhere" and case == "components":
        somewhere = (labels >= 0).any(axis=1)
        assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-9)
        assert adjusted_rand_score(actual[somewhere], whole.labels_[somewhere]) == 1.0
        return
    tolerance = TOLERANCE[FORMS[form][2]]
    assert (actual == whole.labels_).mean() >= 1.0 - tolerance
    assert parts.n_clusters_ == whole.n_clusters_
    if hasattr(whole, "objective_"):
        assert parts.objective_ == pytest.approx(whole.objective_, rel=tolerance, abs=1e-9)
    if hasattr(whole, "membership_"):
        np.testing.assert_allclose(np.asarray(parts.membership_), whole.membership_, atol=tolerance)


@pytest.mark.parametrize("method", [conclust.HBGF, conclust.LWGP])
def test_more_parts_than_singular_values_are_found_as_in_memory(method):
    labels = np.random.default_rng(0).integers(0, 2, (120, 3))  # 8 distinct rows, 4 singular values
    model = method(5, random_state=0).fit(labels)
    in_blocks = method(5, random_state=0).fit(LabelStore(labels, block_rows=25))
    assert len(model.singular_values_) == 4
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(in_blocks.labels_, model.labels_)


def test_starts_of_equal_objective_do_not_depend_on_blocks():
    """The starts of voting end in one solution with permuted clusters, whose objectives differ by rounding."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 5, (5003, 1)), 9, axis=1)
    other = rng.random(labels.shape) < 0.25
    labels[other] = rng.integers(0, 5, other.sum())
    labels[rng.random(labels.shape) < 0.05] = -1
    whole = conclust.Voting(5, random_state=0).fit(labels)
    for rows in (640, 1000, 2500):
        store = LabelStore(labels, block_rows=rows)
        blocked = conclust.Voting(5, random_state=0).fit(store)
        np.testing.assert_array_equal(blocked.labels_, whole.labels_)


@pytest.mark.parametrize("form", FORMS)
def test_threads_and_the_order_of_completion_change_no_bit(form):
    labels, weights = CASES["noise"]
    one = fitted(form, labels, weights, block_rows=29, n_jobs=1)
    assert_same_bits(one, fitted(form, labels, weights, block_rows=29, n_jobs=5))


@pytest.mark.parametrize("form", FORMS)
def test_blocks_may_hold_one_object(form):
    labels = CASES["missing"][0][:40]
    whole = made(form).fit(labels)
    parts = fitted(form, labels, block_rows=1)
    assert adjusted_rand_score(np.asarray(parts.labels_), whole.labels_) > 0.9
    if FORMS[form][2] in ("equal", "batch", "anywhere"):
        assert (np.asarray(parts.labels_) == whole.labels_).all()


@pytest.mark.parametrize("form", FORMS)
def test_unobserved_objects_have_no_label(form):
    labels = CASES["nowhere"][0]
    nowhere = (labels == -1).all(axis=1)
    with pytest.warns(EvidenceWarning, match=f"{nowhere.sum()} objects are missing"):
        model = fitted(form, labels, block_rows=20)
    assert (np.asarray(model.labels_)[nowhere] == -1).all()
    assert (np.asarray(model.labels_)[~nowhere] >= 0).all()
    if hasattr(model, "membership_"):
        rows = np.asarray(model.membership_)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        np.testing.assert_allclose(rows[nowhere], 1.0 / rows.shape[1])


@pytest.mark.parametrize("form", FORMS)
def test_new_objects_are_placed_as_in_memory(form):
    labels = CASES["missing"][0]
    model = fitted(form, labels, block_rows=50)
    if not hasattr(model, "predict"):
        pytest.skip("does not place new objects")
    stored = model.predict(LabelStore(labels[:90], block_rows=40))
    assert stored.shape == (90,)
    np.testing.assert_array_equal(np.asarray(stored), model.predict(labels[:90]))
    if not hasattr(model, "predict_proba"):
        return
    rows = model.predict_proba(LabelStore(labels[:90], block_rows=40))
    np.testing.assert_array_equal(np.asarray(rows), model.predict_proba(labels[:90]))


class Stopped(Exception):
    """An interruption."""


def stopping_after(jobs):
    """A runner that is interrupted after a number of jobs."""
    left = itertools.count(jobs, -1)

    class Runner(LocalRunner):
        def run(self, wanted):
            for actual in super().run(wanted):
                if next(left) == 0:
                    raise Stopped
                yield actual

    return Runner


@pytest.mark.parametrize(
    ("form", "case"), [(form, "noise") for form in FORMS] + [("PCC l2", "plain")]
)
def test_an_interrupted_fit_resumes_from_its_checkpoint(form, case, tmp_path, monkeypatch):
    labels, weights = CASES[case]
    undisturbed = fitted(form, labels, weights, block_rows=31)
    runs = 0
    for jobs in (3, 14):
        folder = tmp_path / str(jobs)
        store = LabelStore(labels, weights=weights, block_rows=31)
        runner = stopping_after(jobs)(1)
        monkeypatch.setattr(store, "runner", lambda runner=runner: runner)
        model = made(form)
        before = vars(model).copy()
        try:
            with checkpoint(folder):
                model.fit(store)
        except Stopped:
            assert vars(model) == before
            runs += 1
        with checkpoint(folder):
            refitted = made(form).fit(LabelStore(labels, weights=weights, block_rows=31))
        assert_same_bits(undisturbed, refitted)
        state = sum(path.stat().st_size for path in folder.glob("*.npz"))
        assert state < 1 << 20
    assert runs


@pytest.mark.parametrize("case", CASES)
def test_distances_of_partitions_match_the_memberships(case):
    labels, weights = CASES[case]
    model = fitted("WeightedPCC", labels, weights, block_rows=37)
    Y = np.asarray(model.membership_)
    somewhere = (labels != -1).any(axis=1)
    pairs = AllPairs(Ensemble(labels[somewhere]), Y.shape[1], 1)
    np.testing.assert_allclose(model.distances_, pairs.distances(Y[somewhere]), rtol=1e-9)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files")
def test_files_of_a_checkpoint_are_on_the_disk_before_their_state(tmp_path, monkeypatch):
    flushed, flush = [], os.fsync

    def recorded(descriptor):
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    labels, _ = CASES["plain"]
    with checkpoint(tmp_path / "run"):
        conclust.PCC(3, divergence="l2", random_state=0).fit(LabelStore(labels, block_rows=60))
    files = [path.name for path in (tmp_path / "run").glob("membership-*.npy")]
    assert len(files) == -(-len(labels) // 60)
    # States are written under temporary names, and the folder is flushed after each.
    last = len(flushed) - 1 - flushed[::-1].index("run")
    assert set(files) <= set(flushed[:last])


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    labels, _ = CASES["plain"]
    with checkpoint(tmp_path):
        made("HBGF").fit(LabelStore(labels, block_rows=50))
        with pytest.raises(InputError, match=r"belongs to HBGF\. Got LWGP instead\. Use"):
            made("LWGP").fit(LabelStore(labels, block_rows=50))
        with pytest.raises(
            InputError, match=r"belongs to HBGF with n_clusters=3\. Got n_clusters=4 instead\. Use"
        ):
            made("HBGF", 4).fit(LabelStore(labels, block_rows=50))
        other = labels.copy()
        other[7, 3] = (other[7, 3] + 1) % 3
        with pytest.raises(InputError, match="belongs to other labels, by their fingerprint"):
            made("HBGF").fit(LabelStore(other, block_rows=50))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n_clusters": np.int64(2)}, {"n_clusters": np.int64(4)}),
        ({"random_state": np.random.SeedSequence(1)}, {"random_state": np.random.SeedSequence(2)}),
    ],
)
def test_a_checkpoint_is_identified_by_the_values_of_parameters(tmp_path, one, other):
    labels, _ = CASES["plain"]

    def fit(changes):
        model = conclust.HBGF(**{"n_clusters": 3, "random_state": 0} | changes)
        return model.fit(LabelStore(labels, block_rows=50))

    with checkpoint(tmp_path):
        fit(one)
        with pytest.raises(InputError, match=r"belongs to HBGF with .*Use a separate folder"):
            fit(other)


def test_a_parameter_without_a_value_to_compare_is_refused_with_a_checkpoint(tmp_path):
    labels, _ = CASES["plain"]
    store = LabelStore(labels, block_rows=50)
    model = made("HBGF")
    model.get_params = lambda deep=True: {"n_clusters": 3, "other": object()}
    with (
        checkpoint(tmp_path),
        pytest.raises(ParameterError, match="cannot be identified by other="),
    ):
        model.fit(store)


def test_methods_that_need_all_labels_refuse_blocks():
    store = LabelStore(CASES["plain"][0])
    with pytest.raises(
        conclust.exceptions.UnsupportedEnsembleError,
        match="HBGF, InformationTheoreticKMeans, KCC, LWGP",
    ):
        conclust.EAC(3).fit(store)
    assert conclust.EAC(3).fit(store.ensemble()).n_clusters_ == 3


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (conclust.PCC(3, divergence="l2", pairs=30), "pairs"),
        (conclust.PCC(3, divergence="l2", granularity="matched"), "granularity"),
        (conclust.PCC(3, divergence="l2", init="spectral"), "init"),
        (conclust.PCC(3, solver="pairwise"), "solver"),
        (conclust.PCC(3, divergence=OWN), "divergence"),
        (conclust.WeightedPCC(3, pairs=30), "pairs"),
        (conclust.WeightedPCC(3, granularity="matched"), "granularity"),
        (conclust.WeightedPCC(3, distance="corrected"), "distance"),
        (conclust.PEACE(3, pairs=30), "pairs"),
        (conclust.PEACE(3, granularity="matched"), "granularity"),
        (conclust.HBGF(3, partitioner="internal"), "partitioner"),
        (conclust.ECPCS(3, consensus="hierarchical"), "consensus"),
        (conclust.Voting(3, hard=True), "hard"),
        (conclust.Voting(3, algorithm="one_pass"), "algorithm"),
    ],
)
def test_parameters_that_need_all_labels_are_refused(model, name):
    with pytest.raises(conclust.exceptions.ParameterError, match=f"'{name}'.*in blocks"):
        model.fit(LabelStore(CASES["plain"][0]))


def test_fits_in_blocks_give_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in FORMS:
            fitted(form, CASES["plain"][0])


def test_reading_memberships_after_their_checkpoint_is_deleted_is_an_error(tmp_path):
    with checkpoint(tmp_path):
        model = made("PCC l2").fit(LabelStore(CASES["plain"][0], block_rows=50))
    labels = np.asarray(model.labels_)
    assert np.asarray(model.membership_).shape == (300, 3)
    for path in tmp_path.glob("membership-*"):
        path.unlink()
    np.testing.assert_array_equal(np.asarray(model.labels_), labels)
    with pytest.raises(FileNotFoundError, match="folder of the checkpoint"):
        np.asarray(model.membership_)
    with checkpoint(tmp_path), pytest.raises(FileNotFoundError, match="Remove the folder"):
        made("PCC l2").fit(LabelStore(CASES["plain"][0], block_rows=50))


def test_a_refused_fit_leaves_no_checkpoint(tmp_path):
    store = LabelStore(CASES["plain"][0], block_rows=50)
    with checkpoint(tmp_path):
        with pytest.raises(conclust.exceptions.ParameterError):
            conclust.HBGF(3, partitioner="internal").fit(store)
        conclust.HBGF(3, random_state=0).fit(store)
    assert (tmp_path / "fit.json").exists()


@pytest.mark.parametrize("form", ["PCC l2", "HBGF", "MixtureModel"])
def test_results_larger_than_memory_are_written_to_files(form, monkeypatch):
    labels, weights = CASES["noise"]
    expected = fitted(form, labels, weights, block_rows=40)
    monkeypatch.setattr("conclust.blocks.own._MEMORY", 0)
    assert_same_bits(expected, fitted(form, labels, weights, block_rows=40))


def test_overshooting_blocks_are_stepped_back(monkeypatch):
    # All blocks at once on labels without clusters; shortened rounds are counted.
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, (60, 5))
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[:, 0] = rng.integers(0, 4, 60)
    monkeypatch.setattr(blocked, "_ROUNDS", 1)
    shorter, taken = blocked.Descent._shorter, []

    def counted(self, before, after, blocks):
        actual = shorter(self, before, after, blocks)
        taken.append((self._change(before, after), self._change(before, actual)))
        return actual

    monkeypatch.setattr(blocked.Descent, "_shorter", counted)
    for weights in (None, rng.uniform(0.5, 2.0, 5)):
        for k in (4, 8):
            model = conclust.PCC(k, divergence="l2", tol=1e-12, max_iter=40, random_state=0)
            model.fit(LabelStore(labels, weights=weights, block_rows=2))
            assert (np.diff(model.trace_) <= 1e-9 * abs(model.trace_[0])).all()
            # The accumulated loss equals that of the current memberships.
            loss = naive_loss(labels, np.asarray(model.membership_), weights)
            assert model.objective_ == pytest.approx(loss, rel=1e-9)
    assert taken
    assert all(whole > 0.0 and part <= 1e-9 for whole, part in taken)


def naive_loss(labels, Y, weights):
    """The sum over partitions and pairs of (together - y_i'y_j)^2."""
    products = Y @ Y.T
    total = 0.0
    for u, weight in enumerate(np.ones(labels.shape[1]) if weights is None else weights):
        for i, j in itertools.combinations(np.flatnonzero(labels[:, u] != -1), 2):
            same = labels[i, u] == labels[j, u] and labels[i, u] != -2
            total += weight * (same - products[i, j]) ** 2
    return total


def nearly_random(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 60)), int(rng.integers(2, 8))
    return np.where(rng.random((n, m)) < 0.1, -1, rng.integers(0, 4, (n, m)))


@pytest.mark.parametrize("seed", range(4))
def test_weighted_pcc_of_few_objects_equals_the_fit_in_memory(monkeypatch, seed):
    labels = nearly_random(seed)
    weights = np.random.default_rng(seed).random(labels.shape[1]) if seed % 2 else None
    monkeypatch.setattr(weighted, "_READ_ALL", len(labels))
    whole = made("WeightedPCC").fit(Ensemble(labels, weights=weights))
    parts = fitted("WeightedPCC", labels, weights, block_rows=4)
    assert type(parts.labels_).__name__ == type(parts.membership_).__name__ == "BlockedArray"
    assert_same_bits(parts, whole)
    np.testing.assert_array_equal(parts.predict(labels), whole.predict(labels))
    store = LabelStore(labels, block_rows=4)
    np.testing.assert_array_equal(np.asarray(parts.predict(store)), whole.predict(labels))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(parts)).labels_, whole.labels_)
