"""Latent class analysis: the numbers that other programs print for the same answers."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from tests.cases import PATHOLOGISTS

from conclust import MixtureModel
from conclust.cli import main


def fitted(labels, k):
    return MixtureModel(k, smoothing=0, tol=1e-13, max_iter=20000, random_state=0).fit(labels)


# StepMix 3.0.0 on the same rows, by the number of classes: score, bic, relative_entropy.
STEPMIX = {
    2: (-317.2568373864449, 706.0739441398748, 0.9855082645053548),
    3: (-293.70497879730226, 697.1357039573148, 0.9256661696936405),
}


# stepmix.datasets.data_bakk_response(n_samples=1000, sep_level=.9, random_state=42): number of respondents with each row of
# six answers, read as a binary number.
BAKK = (
    "175 16 16 3 26 1 1 0 21 1 2 0 5 0 0 3 27 3 1 1 5 0 1 3 27 6 1 1 5 2 2 16 "
    "23 3 1 0 1 0 0 4 25 0 2 5 2 2 2 12 25 4 1 5 0 5 1 21 181 26 22 19 20 17 25 175"
)


@pytest.mark.parametrize(
    ("k", "log_likelihood", "bic"),
    [(2, -3211.958214422385, 6513.717247471538), (3, -2902.92855386088, 5944.012213301403)],
)
def test_the_example_of_stepmix_has_its_likelihood(k, log_likelihood, bic):
    rows = np.repeat(np.arange(64), np.array(BAKK.split(), int))
    model = fitted((rows[:, None] >> np.arange(6)[::-1]) & 1, k)
    assert model.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-6)
    assert model.bic_ == pytest.approx(bic, abs=2e-6)


def test_answers_alike_within_classes_leave_no_doubt():
    labels = np.repeat([[0, 0, 0], [1, 1, 1]], 10, axis=0)
    assert fitted(labels, 2).entropy_r2_ == pytest.approx(1.0)
    assert math.isnan(fitted(labels, 1).entropy_r2_)


@pytest.mark.parametrize(("asked", "k"), [([], 3), (["--max-clusters", "2"], 2), (["-k", "2"], 2)])
def test_the_shell_finds_the_classes_of_the_pathologists(asked, k, tmp_path, capsys):
    table, out = tmp_path / "survey.csv", tmp_path / "out"
    answers = np.where(PATHOLOGISTS == 1, "=yes", "no")
    lines = [",".join(row) for row in ["ABCDEFG", *answers]]
    table.write_text("\n".join(lines))
    words = ["combine", str(table), "--latent-classes", "--out", str(out)]
    assert main([*words, *asked]) == 0
    said, result = capsys.readouterr(), json.loads((out / "result.json").read_text())
    log_likelihood, bic, entropy_r2 = STEPMIX[k]
    assert result["objective"] == pytest.approx(log_likelihood, abs=1e-6)
    assert result["bic"] == pytest.approx(bic, abs=2e-6)
    line = f"log-likelihood {log_likelihood:.4f}, BIC {bic:.2f}, entropy R2 {entropy_r2:.4f}"
    assert f"Latent classes: {line}" in said.out
    assert f"  {k} classes: {line}" in said.err
    assert ("of up to" in said.out) == ("-k" not in asked)
    with (out / "memberships.csv").open() as file:
        z = np.array([row[1:] for row in list(csv.reader(file))[1:]], dtype=float)
    with (out / "profiles.csv").open() as file:
        for row, column in zip(csv.DictReader(file), PATHOLOGISTS.T, strict=True):
            for c, shares in enumerate((z.T @ np.eye(2)[column]) / z.sum(axis=0)[:, None]):
                assert row[f"cluster_{c}"] == ["no", "'=yes"][shares.argmax()]
                assert float(row[f"probability_{c}"]) == pytest.approx(shares.max(), abs=1e-5)


def test_the_shell_refuses_latent_classes_by_another_method(capsys):
    with pytest.raises(SystemExit):
        main(["combine", "survey.csv", "--latent-classes", "--method", "eac"])
    assert "leave --method out" in capsys.readouterr().err
