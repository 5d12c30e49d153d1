"""granularity="matched": partitions of many more clusters than the consensus, merged and weighted inside."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from conclust import PCC, PEACE, Ensemble, WeightedPCC
from conclust.evidence import sample_pairs
from conclust.exceptions import EnsembleWarning, ParameterError, UnseenLabelWarning
from conclust.metrics import adjusted_rand_index
from conclust.weighting import certainty_weights, coarsen
from conclust.weighting.granularity import matched

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.EnsembleWarning")
QUICK = {"n_init": 2, "random_state": 0}
ESTIMATORS = [
    PCC(3, divergence="l2", **QUICK),
    PCC(3, divergence="kl", **QUICK),
    PCC(3, divergence="l2", pairs=20, **QUICK),
    PEACE(3, **QUICK),
    WeightedPCC(3, **QUICK),
]
NAMES = [f"{type(model).__name__}-{i}" for i, model in enumerate(ESTIMATORS)]


def uneven(n=90, missing=0.0, noise=0.0, seed=0):
    """Return three clusters, each split into up to five parts by eight partitions, and the true clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    labels = np.column_stack(
        [truth * 5 + rng.integers(0, parts, n) for parts in (1, 2, 2, 3, 4, 4, 5, 5)]
    )
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 15, int(wrong.sum()))
    labels[rng.random(labels.shape) < missing] = -1
    labels[rng.random(labels.shape) < noise] = -2
    labels[:3, 0] = [0, 5, 10]
    return labels, truth


@pytest.mark.parametrize("model", ESTIMATORS, ids=NAMES)
@pytest.mark.parametrize("kind", ["missing", "weighted"])
def test_the_result_is_the_consensus_of_coarser_weighted_partitions(model, kind):
    labels, _ = uneven(missing=0.2 * (kind == "missing"), noise=0.05 * (kind == "missing"))
    weights = np.linspace(0.5, 2, 8) if kind == "weighted" else None
    ensemble = Ensemble(labels, weights=weights)
    certain = ensemble.reweighted(certainty_weights(ensemble) * ensemble.partition_weights)
    by_hand = coarsen(certain, 3)
    expected = clone(model).fit(by_hand)
    fitted = clone(model).set_params(granularity="matched").fit(ensemble)
    np.testing.assert_array_equal(fitted.membership_, expected.membership_)
    assert fitted.objective_ == expected.objective_
    assert (
        fitted.kkt_residual_ == expected.kkt_residual_ if hasattr(fitted, "kkt_residual_") else True
    )


@pytest.mark.parametrize("model", ESTIMATORS, ids=NAMES)
def test_new_objects_are_placed_by_their_original_labels(model):
    labels, _ = uneven(missing=0.1, noise=0.05)
    named = np.array([f"part {name}" for name in labels.ravel()], dtype=object).reshape(
        labels.shape
    )
    named[labels < 0] = None
    named[labels == -2] = -2
    model = clone(model).set_params(granularity="matched").fit(named)
    ensemble, recode = matched(Ensemble(named), 3)
    # A fitted object is placed by its labels in the merged partitions.
    merged = clone(model).set_params(granularity="given").fit(ensemble)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenLabelWarning)
        placed = model.predict_proba(named)
        np.testing.assert_allclose(placed, merged.predict_proba(ensemble.labels), atol=1e-12)
    np.testing.assert_array_equal(recode(Ensemble(named).codes), ensemble.codes)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(named), model.predict(named)
    )
    with pytest.warns(UnseenLabelWarning):
        model.predict([["nobody"] * 8])


def test_more_than_255_codes_are_merged():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), 200)
    labels = np.column_stack([truth * 200 + rng.integers(0, 150, 600) for _ in range(2)])
    ensemble = Ensemble(labels)
    coarse, recode = matched(ensemble, 3)
    assert ensemble.codes.dtype == np.uint16
    assert coarse.codes.dtype == np.uint8
    special = np.array([[65535, 65534]], dtype=np.uint16)
    assert recode(special)[0].tolist() == [255, 254]
    np.testing.assert_array_equal(recode(ensemble.codes), coarse.codes)


def test_matching_granularity_corrects_uneven_partitions():
    """Clusters split into eight parts are not evidence against their pairs, and coarse ones not evidence for theirs."""
    scores = {"given": [], "matched": []}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth = np.arange(200) % 4
        fine = [truth * 20 + rng.integers(0, 8, 200) for _ in range(6)]
        coarse = [rng.permutation(4)[truth] // 2 for _ in range(2)]
        labels = np.column_stack(fine + coarse)
        for column in labels.T:
            wrong = rng.random(200) < 0.15
            column[wrong] = rng.permutation(column[wrong])
        for granularity, actual in scores.items():
            model = PCC(4, divergence="l2", granularity=granularity, random_state=0).fit(labels)
            actual.append(adjusted_rand_index(truth, model.labels_))
    assert min(scores["matched"]) > 0.93
    assert np.mean(scores["matched"]) > np.mean(scores["given"]) + 0.1


def test_invalid_arguments_are_refused():
    labels, _ = uneven()
    for kind in (PCC, PEACE, WeightedPCC):
        pairs = sample_pairs(Ensemble(labels), 10, random_state=0)
        with pytest.raises(ParameterError, match="belongs to the partitions as given"):
            kind(3, granularity="matched", pairs=pairs).fit(labels)


@pytest.mark.filterwarnings("default::conclust.exceptions.EnsembleWarning")
def test_the_warning_of_many_clusters_recommends_matched_granularity():
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(4), 100)
    labels = np.column_stack([truth * 30 + rng.integers(0, 15, 400) for _ in range(6)])
    with pytest.warns(EnsembleWarning, match="granularity='matched'"):
        PCC(4, divergence="l2", random_state=0).fit(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnsembleWarning)
        PCC(4, divergence="l2", granularity="matched", random_state=0).fit(labels)
