"""Damaged and forged files through every command: refused with a clear error, or read; never an internal error.

CONCLUST_DAMAGE=10000 sets the number of cases, CONCLUST_DAMAGE_SEED=1 their seed.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tests.damage import FORGED, Workshop

pytest.importorskip("pyarrow", reason="the extra 'parquet'")
CASES = int(os.environ.get("CONCLUST_DAMAGE", "60"))
SEED = int(os.environ.get("CONCLUST_DAMAGE_SEED", "0"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("workshop"))


def test_damaged_files_are_refused_or_read(workshop):
    outcomes = [workshop.case(np.random.default_rng([SEED, i])) for i in range(CASES)]
    assert [outcome for outcome in outcomes if outcome.fault] == []
    # Most damage is detected; otherwise the file gives a result.
    refused = sum(outcome.code > 0 for outcome in outcomes)
    assert 0 < refused < CASES


RESULTS = ("combine", "cluster", "select")


def own_entries(workshop, name):
    """Return the entries of a result that those before it do not have."""
    before = RESULTS[: RESULTS.index(name)]
    known = {place for other in before for place in workshop.entries[other]}
    return [place for place in workshop.entries[name] if place not in known]


@pytest.mark.parametrize("name", RESULTS)
def test_forged_entries_give_no_internal_error(workshop, name):
    """Tests every entry with one of the values, in turn: `report` for select and every other entry, else `predict`."""
    faults = []
    for number, place in enumerate(own_entries(workshop, name)):
        value, rng = FORGED[number % len(FORGED)], np.random.default_rng((0, 3)[number % 2])
        with tempfile.TemporaryDirectory(dir=workshop.folder) as scratch:
            outcome = workshop.forged(name, place, value, rng, Path(scratch))
        if outcome.fault:
            faults.append(outcome)
    assert faults == []


@pytest.mark.parametrize("name", RESULTS)
def test_missing_entries_give_no_internal_error(workshop, name):
    """Tests every entry under another name, as by one damaged byte: `report` and `predict`."""
    faults = []
    for place in own_entries(workshop, name):
        if isinstance(place[-1], str):
            # `report` for entries of entries, `predict` for the others.
            rng = np.random.default_rng(3 if len(place) > 1 else 0)
            with tempfile.TemporaryDirectory(dir=workshop.folder) as scratch:
                outcome = workshop.renamed(name, place, rng, Path(scratch))
            if outcome.fault:
                faults.append(outcome)
    assert faults == []
