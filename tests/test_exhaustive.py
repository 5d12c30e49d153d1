"""Optimisers of a criterion over partitions against brute force: all partitions of seven objects."""

from __future__ import annotations

import pytest
from tests.exhaustive import CASES, random_ensembles


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_optimum_is_found_and_the_objective_matches_its_definition(name):
    case = CASES[name]
    actual = 0
    for seed, labels in enumerate(random_ensembles(40)):
        model = case.fit(labels, seed)
        objective, optimal = case.reached(labels, model)
        assert model.objective_ == pytest.approx(objective, abs=1e-9)
        actual += optimal
    assert actual >= 40 * case.share
