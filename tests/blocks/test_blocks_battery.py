"""Laws that every method for labels in blocks must satisfy."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.blocks.forms import FORMS, TOLERANCE, cases, made

import conclust
from conclust import Ensemble
from conclust.blocks import LabelStore
from conclust.blocks.methods import factored
from conclust.divergences import Divergence, kl
from conclust.exceptions import EvidenceWarning

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
    if FORMS[form][2] == "batch" and case == "noise":
        assert parts.objective_ == pytest.approx(whole.objective_, rel=0.02)
        assert adjusted_rand_score(actual, whole.labels_) > 0.9
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
    if FORMS[form][2] in ("equal", "batch"):
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


def test_methods_that_need_all_labels_refuse_blocks():
    store = LabelStore(CASES["plain"][0])
    with pytest.raises(
        conclust.exceptions.UnsupportedEnsembleError,
        match="EAC, HBGF, InformationTheoreticKMeans, KCC, LWGP",
    ):
        conclust.LWEA(3).fit(store)
    assert conclust.LWEA(3).fit(store.ensemble()).n_clusters_ == 3


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (conclust.PCC(3, divergence="l2", pairs=30), "pairs"),
        (conclust.PCC(3, divergence="l2", granularity="matched"), "granularity"),
        (conclust.PCC(3, divergence="l2", init="spectral"), "init"),
        (conclust.PCC(3, divergence="l2", solver="pairwise"), "solver"),
        (conclust.PCC(3), "divergence"),
        (conclust.PCC(3, divergence=OWN), "divergence"),
        (conclust.HBGF(3, partitioner="internal"), "partitioner"),
        (conclust.EAC(3), "linkage"),
        (conclust.EAC(3, linkage="single", pairs=9), "pairs"),
        (conclust.EAC(300, linkage="single"), "n_clusters"),
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


@pytest.mark.parametrize("form", ["PCC l2", "HBGF", "KCC"])
def test_results_larger_than_memory_are_written_to_files(form, monkeypatch):
    labels, weights = CASES["noise"]
    expected = fitted(form, labels, weights, block_rows=40)
    monkeypatch.setattr("conclust.blocks.runners._MEMORY", 0)
    assert_same_bits(expected, fitted(form, labels, weights, block_rows=40))


def test_overshooting_blocks_are_stepped_back(monkeypatch):
    # All blocks at once on labels without clusters; shortened rounds are counted.
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, (60, 5))
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[:, 0] = rng.integers(0, 4, 60)
    monkeypatch.setattr(factored, "_ROUNDS", 1)
    shorter, taken = factored.Descent._shorter, []

    def counted(self, before, after, blocks):
        actual = shorter(self, before, after, blocks)
        taken.append((self._change(before, after), self._change(before, actual)))
        return actual

    monkeypatch.setattr(factored.Descent, "_shorter", counted)
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
