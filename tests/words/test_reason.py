"""Reasons for a number of clusters, in three parts."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import conclust as cc
from conclust.words.reason import SHELL, Other, Reason, as_well_supported


def test_the_next_steps_are_in_the_terms_of_python_or_of_the_shell():
    reason = Reason(2, "why", (as_well_supported((5, 3)),), testable=True)
    assert reason.next() == (
        "3 and 5 are equally well supported: pass n_clusters=3 or 5 to see them. "
        "Pass n_clusters='auto' to test what k-means finds, with a p-value."
    )
    assert reason.next(SHELL) == (
        "3 and 5 are equally well supported: pass -k 3 or 5 to see them. Pass -k auto to test what k-means finds, with a p-value."
    )
    assert Reason(2, "why", (Other("the rest is noise", ()),)).next() == "The rest is noise."


def test_the_reason_of_equal_clusterings_is_their_agreement():
    model = cc.AutoConsensus().fit(np.repeat([0, 1, 2], 40)[:, np.newaxis])
    assert model.reason_.startswith("3 clusters: all clusterings show these clusters.")


def test_the_default_names_the_other_answers_of_the_irises():
    model = cc.ConsensusClustering(random_state=0).fit(load_iris().data)
    assert model.n_clusters_ == 2
    assert "pass n_clusters=3 to see it" in model.reason_
    assert "n_clusters='auto'" in model.reason_


def test_one_cluster_names_the_best_division():
    model = cc.ConsensusClustering(random_state=0).fit(
        np.random.default_rng(0).normal(size=(100, 3))
    )
    assert model.n_clusters_ == 1
    assert "The best division has 2 clusters: pass n_clusters=2 to see it" in model.reason_


def test_a_given_number_names_the_one_that_the_clusterings_suggest():
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [2, 2, 2]], 9, axis=0)
    assert "alone suggest 3: pass n_clusters=3" in cc.AutoConsensus(2).fit(labels).reason_
    assert cc.AutoConsensus(3).fit(labels).reason_ == (
        "3 clusters: this number was given. The clusterings alone suggest the same number: leave n_clusters out to see why."
    )


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (cc.MCLA(2), "this number was given. No other number was compared: AutoConsensus()"),
        (cc.PCC(5), "at most 5 were allowed; no more have objects. For exactly 5, choose"),
        (cc.PCC(), "at most 3 were allowed; all have objects. No other"),
        (cc.EAC(), "this number has the longest lifetime in the tree of the clusterings (0.67). The next longest is that of 2 (0.33): pass n_clusters=2"),
        (cc.MedianPartition(), "the partition with the best objective that was found ("),
    ],
)  # fmt: skip
def test_the_reason_of_a_method_comes_from_its_fit(model, why):
    labels = np.repeat([[0, 0, 0], [1, 1, 0], [2, 2, 1]], 9, axis=0)
    assert why in model.fit(labels).reason_parts.text()
