"""Warnings about pairs and sets of objects that no partition observed together."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import conclust as cc
from conclust.consensus.base import warn_of_separate_sets
from conclust.exceptions import EvidenceWarning
from conclust.selection import choose_from

TWO_TABLES = np.array(
    [[0, 0, -1, -1]] * 6 + [[1, 1, -1, -1]] * 6 + [[-1, -1, 0, 0]] * 6 + [[-1, -1, 1, 1]] * 6
)


def evidence_warnings(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if one.category is EvidenceWarning]


def half_observed(seed):
    rng = np.random.default_rng(seed)
    kinds = np.repeat([0, 1, 2], 10)
    return np.where(rng.random((30, 5)) < 0.5, kinds[:, None], -1)


def unobserved_pairs(labels):
    present = labels >= 0
    present = present[present.any(axis=1)]
    return sum(not (present[i] & present[j]).any() for i in range(len(present)) for j in range(i))


@pytest.mark.parametrize(
    "method",
    [
        cc.AutoConsensus(),
        cc.PCC(2, random_state=0),
        cc.HBGF(2, random_state=0),
        cc.Voting(2, random_state=0),
        cc.MedianPartition(random_state=0),
        cc.EAC(2),
        cc.WeightedEAC(2),
    ],
    ids=lambda method: type(method).__name__,
)
def test_each_method_warns_once_of_sets_that_no_partition_connects(method):
    messages = evidence_warnings(lambda: method.fit(TWO_TABLES))
    assert sum("2 sets that no partition connects" in one for one in messages) == 1
    assert any("object 12 is the first of another set" in one for one in messages)
    # One partition connects them.
    joined = np.column_stack([TWO_TABLES, np.where(np.arange(24) % 12 == 0, 0, -1)])
    assert not any("sets" in one for one in evidence_warnings(lambda: method.fit(joined)))


def test_sets_are_the_components_of_the_objects():
    rng = np.random.default_rng(0)
    numbers = set()
    for _ in range(300):
        shape = rng.integers(3, 12), rng.integers(1, 7)
        labels = np.where(rng.random(shape) < rng.uniform(0.05, 0.6), 0, -1)
        labels[rng.integers(0, len(labels), labels.shape[1]), np.arange(labels.shape[1])] = 1
        weights = rng.integers(0, 2, labels.shape[1]).astype(float)
        weights[0] = 1.0
        present = (labels >= 0)[:, weights > 0].astype(int)
        observed = np.flatnonzero(present.any(axis=1))
        _, component = connected_components(csr_array(present @ present.T), directed=False)
        n_sets = len(set(component[observed]))
        numbers.add(n_sets)
        messages = evidence_warnings(
            lambda: warn_of_separate_sets(cc.Ensemble(labels, weights=weights))  # noqa: B023
        )
        assert len(messages) == (n_sets > 1)
        if n_sets > 1:
            other = observed[component[observed] != component[observed[0]]][0]
            assert f"are {n_sets} sets" in messages[0]
            assert f"(object {other} is" in messages[0]
    assert {1, 2, 3} <= numbers


def test_auto_consensus_counts_pairs_without_evidence():
    labels = half_observed(0)
    expected = unobserved_pairs(labels)
    assert expected > 10
    for method in (cc.AutoConsensus(), cc.EAC(3, linkage="average")):
        messages = evidence_warnings(lambda: method.fit(labels))  # noqa: B023
        assert (
            sum(
                f"No partition observed both objects of {expected} pairs" in one for one in messages
            )
            == 1
        )
    complete = np.where(labels < 0, 0, labels)
    assert not evidence_warnings(lambda: cc.AutoConsensus().fit(complete))


def test_choose_from_counts_pairs_without_evidence():
    labels = half_observed(1)
    expected = f"No partition observed both objects of {unobserved_pairs(labels)} pairs"
    for ensembles, k in ((labels, [2, 3]), ({2: labels, 3: half_observed(1)}, None)):
        messages = evidence_warnings(lambda: choose_from(ensembles, k, random_state=0))  # noqa: B023
        assert sum(expected in one for one in messages) == 1
    for ensembles, k in ((TWO_TABLES, [2, 3]), ({2: TWO_TABLES, 3: np.fliplr(TWO_TABLES)}, None)):
        messages = evidence_warnings(lambda: choose_from(ensembles, k, random_state=0))  # noqa: B023
        assert sum("2 sets that no partition connects" in one for one in messages) == 1
        assert (
            sum("No partition observed both objects of 144 pairs" in one for one in messages) == 1
        )
