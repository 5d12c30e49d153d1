"""Arguments in the wrong order, and one kind in place of another, are refused with the right order."""

import numpy as np
import pandas as pd
import pytest

from conclust import AutoConsensus, ConsensusClustering, Ensemble, plotting
from conclust.confidence import border_tests, object_confidence, power
from conclust.exceptions import InputError
from conclust.selection import choose

RNG = np.random.default_rng(0)
X, LABELS = RNG.normal(size=(60, 4)), np.repeat([0, 1, 2], 20)
ENSEMBLE = Ensemble(np.column_stack([LABELS, LABELS, RNG.integers(0, 3, 60)]))
MODEL = AutoConsensus().fit(ENSEMBLE)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: border_tests(MODEL, X), r"The order is border_tests\(X, labels\)\."),
        (lambda: border_tests(MODEL, pd.DataFrame(X)), r"column of it\. The order is border_tests"),
        (lambda: power(X, MODEL), r"The order is power\(model, X\)\."),
        (lambda: object_confidence(ENSEMBLE, MODEL), r"object_confidence\(consensus, ensemble\)\."),
        (lambda: plotting.silhouette_bars(X), r"silhouette_bars\(consensus, ensemble\)\."),
        (lambda: border_tests(ENSEMBLE, LABELS), "Got an Ensemble, whose numbers are names"),
        (lambda: ConsensusClustering().fit("a.csv"), r"Got 'a\.csv'.* pandas\.read_csv"),
        (lambda: power(LABELS, ENSEMBLE), "Got an Ensemble"),
        (lambda: choose(MODEL), r"Got an estimator, AutoConsensus\.$"),
        (lambda: ConsensusClustering().fit(MODEL), r"Got an estimator, AutoConsensus\."),
        (lambda: AutoConsensus().fit(MODEL), r"AutoConsensus\. Pass its labels_\."),
    ],
)
def test_arguments_in_place_of_others_are_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
