"""conclust combine --rows draws: one clustering per row, chains, burn-in and thinning."""

from __future__ import annotations

import json

import numpy as np
import pytest

from conclust import BayesEstimate, Ensemble
from conclust.cli import main


@pytest.fixture
def chains():
    rng = np.random.default_rng(0)
    truth = np.repeat([3, 5, 9], 20)
    draws = np.where(rng.random((2, 30, 60)) < 0.1, rng.integers(0, 3, (2, 30, 60)), truth)
    draws[:, :5] = rng.integers(0, 3, (2, 5, 60))
    return draws


def combined(file, out, *more):
    args = [
        "combine",
        str(file),
        "--rows",
        "draws",
        "--method",
        "bayes-estimate",
        "--set",
        "loss=vi",
    ]
    main([*args, "--seed", "0", "--out", str(out), *more])
    labels = np.genfromtxt(
        out / "labels.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    return labels, json.loads((out / "result.json").read_text("utf-8"))


def test_chains_in_an_array_are_combined(chains, tmp_path):
    np.save(tmp_path / "draws.npy", chains)
    labels, result = combined(tmp_path / "draws.npy", tmp_path / "out")
    ensemble = Ensemble.from_draws(chains)
    wanted = BayesEstimate(random_state=0).fit(ensemble)
    assert len(labels) == 60
    assert np.array_equal(labels["label"], wanted.labels_)
    printed = json.dumps(result)
    assert '"rows": "draws"' in printed


def test_a_table_may_hold_one_draw_per_row(chains, tmp_path):
    file = tmp_path / "draws.csv"
    head = ",".join(f"z{i}" for i in range(60))
    np.savetxt(file, chains[0], delimiter=",", fmt="%d", header=head, comments="")
    labels, _ = combined(file, tmp_path / "out")
    wanted = BayesEstimate(random_state=0).fit(Ensemble.from_draws(chains[0]))
    assert np.array_equal(labels["label"], wanted.labels_)
    assert labels[labels.dtype.names[0]][0] == "z0"
