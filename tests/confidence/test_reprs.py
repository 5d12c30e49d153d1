"""Every result of conclust.confidence is displayed as a line or a short table for any number of objects."""

import inspect

import numpy as np
import pytest

from conclust import AutoConsensus, Ensemble, confidence
from conclust.metrics import names_from

N_SAMPLES, N_PARTITIONS = 240, 60
# Displayed as tables with a line for each border or split.
TABLES = {"BorderTests", "ConsensusTree"}


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 4, N_SAMPLES)
    points = 6.0 * np.c_[classes // 2, classes % 2] + rng.normal(size=(N_SAMPLES, 2))
    labels = np.where(
        rng.random((N_SAMPLES, N_PARTITIONS)) < 0.1,
        rng.integers(0, 4, (N_SAMPLES, N_PARTITIONS)),
        classes[:, None],
    )
    ensemble = Ensemble(labels)
    consensus = AutoConsensus().fit(ensemble)
    ball = confidence.credible_ball(ensemble, consensus.labels_)
    made = [
        ball,
        ball.horizontal,
        names_from(consensus.labels_, classes),
        confidence.border_tests(points, consensus.labels_, random_state=0),
        confidence.chance_confidence(consensus, ensemble, random_state=0),
        confidence.cluster_categories(classes[:, None], consensus.labels_),
        confidence.cluster_confidence(consensus, ensemble),
        confidence.cluster_features(points, consensus.labels_),
        confidence.cluster_gaps(points, consensus.labels_, random_state=0),
        confidence.cluster_splits(consensus, ensemble),
        confidence.consensus_tree(ensemble),
        confidence.core_partition(ensemble, random_state=0),
        confidence.inconsistency(ensemble),
        confidence.modes(ensemble, random_state=0),
        confidence.object_confidence(consensus, ensemble),
        confidence.partition_confidence(consensus, ensemble),
        confidence.power(consensus.labels_, points, random_state=0),
    ]
    return {type(result).__name__: result for result in made}


def test_reprs_are_short(results):
    for name, result in results.items():
        shown = repr(result)
        assert name in TABLES or shown.startswith(f"{name}("), shown
        assert "array(" not in shown
        assert len(shown) < 800, f"{name}: {len(shown)} characters"


def test_every_public_result_class_has_a_short_repr(results):
    public = {
        name
        for name in confidence.__all__
        if inspect.isclass(getattr(confidence, name)) and name != "Split"
    }
    assert public - set(results) == set()
