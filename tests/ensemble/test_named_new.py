"""New objects given as an Ensemble are read with the names of its clusters."""

import numpy as np
import pytest

import conclust as cc
from conclust.confidence import company
from conclust.exceptions import InputError, UnseenLabelWarning
from conclust.placing import shared_clusterings

LABELS = np.repeat([[2, 0, 1], [1, 2, 0], [0, 1, 2]], 5, axis=0)
NAMED = np.array(["x", "y", "z"], dtype=object)[LABELS]


@pytest.mark.parametrize("labels", [LABELS, NAMED], ids=["numbers", "names"])
@pytest.mark.parametrize(
    "name",
    [
        "AutoConsensus",
        "Voting",
        "MixtureModel",
        "CumulativeVoting",
        "KCC",
        "MCLA",
        "PCC",
        "WeightedPCC",
    ],
)
def test_predict_reads_the_names_of_an_ensemble(name, labels):
    model = getattr(cc, name)(3).fit(cc.Ensemble(labels))
    np.testing.assert_array_equal(model.predict(cc.Ensemble(labels)), model.predict(labels))
    some = [14, 0, 7]
    np.testing.assert_array_equal(
        model.predict(cc.Ensemble(labels[some])), model.predict(labels[some])
    )


def test_missing_noise_and_unseen_labels_of_an_ensemble():
    model = cc.AutoConsensus(3).fit(LABELS)
    new = np.array([[2, -1, 1], [-2, 2, 0], [-1, -1, -1], [0, 7, 2]])
    with pytest.warns(UnseenLabelWarning, match=r"1 label .*: column 1: 7 \(1\)\."):
        expected = model.predict_proba(new)
    with pytest.warns(UnseenLabelWarning, match="1 label"):
        found = model.predict_proba(cc.Ensemble(new))
    np.testing.assert_array_equal(found, expected)


def test_functions_of_new_objects_read_the_names():
    consensus, ensemble = np.repeat([0, 1, 2], 5), cc.Ensemble(LABELS)
    new = LABELS[::4]
    np.testing.assert_array_equal(
        shared_clusterings(ensemble, consensus, cc.Ensemble(new)),
        shared_clusterings(ensemble, consensus, new),
    )
    np.testing.assert_array_equal(
        company(consensus, ensemble, new=cc.Ensemble(new)), company(consensus, ensemble, new=new)
    )


def test_further_partitions_as_an_ensemble_are_placed_by_their_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2)) + 10 * np.repeat([[0, 0], [1, 0], [0, 1]], 5, axis=0)
    further = cc.Ensemble(NAMED)
    model = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(X, partitions=further)
    np.testing.assert_array_equal(model.predict(X, partitions=further), model.labels_)


def test_soft_ensembles_are_no_labels_of_new_objects():
    soft = cc.Ensemble.from_memberships([np.full((4, 2), 0.5)] * 3)
    with pytest.raises(InputError, match="must be hard"):
        cc.AutoConsensus(3).fit(LABELS).predict(soft)
