"""Absurd numbers of repetitions are refused at once: their seeds alone would fill the memory."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from conclust import EAC, ConsensusClustering, EnsembleGenerator
from conclust._validation import _REPETITIONS
from conclust.exceptions import ParameterError
from tests import fuzz_calls

KNOWN = fuzz_calls.callables()
CASES = [
    (name, parameter)
    for name, thing in KNOWN.items()
    for parameter in inspect.signature(thing).parameters
    if parameter in _REPETITIONS
]
LABELS = np.random.default_rng(0).integers(0, 3, (30, 4))
POINTS = np.random.default_rng(1).normal(size=(30, 2))


def run(thing, options):
    made = thing(**options)
    if hasattr(made, "fit"):
        of_points = isinstance(made, EnsembleGenerator | ConsensusClustering)
        made.fit(POINTS if of_points else LABELS)


def test_all_repetition_limits_are_tested():
    assert len(CASES) >= 45
    assert {parameter for _, parameter in CASES} == set(_REPETITIONS)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_more_than_a_million_are_refused(name, parameter):
    thing = KNOWN[name]
    sound = {
        "labels": LABELS[:, 0] if name.startswith("confidence") else LABELS,
        "consensus": LABELS[:, 0],
        "membership": np.eye(3)[LABELS[:, 0]],
        "X": POINTS,
        "n_samples": 30,
        "n_clusters": 2,
        "k": [2, 3],
        "pieces": LABELS[:, 0],
        "pairs": [(0, 1)],
        "model": EAC(2).fit(LABELS),
    }
    parameters = inspect.signature(thing).parameters
    options = {
        other: sound.get(other, LABELS)
        for other, about in parameters.items()
        if about.default is about.empty or other == "n_clusters"
    }
    if name.endswith(".BayesianEnsemble"):
        options["solver"] = "variational" if parameter == "n_init" else "gibbs"
    with pytest.raises(ParameterError, match=rf"'{parameter}' parameter of .* 1000000\]"):
        run(thing, options | {parameter: 10**6 + 1})
