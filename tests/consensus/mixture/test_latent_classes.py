"""Latent class analysis: the numbers that other programs print for the same answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.cases import PATHOLOGISTS

from conclust import MixtureModel


def fitted(labels, k):
    return MixtureModel(k, smoothing=0, tol=1e-13, max_iter=20000, random_state=0).fit(labels)


# StepMix 3.0.0 on the same rows (score, bic, relative_entropy).
@pytest.mark.parametrize(
    ("k", "log_likelihood", "bic", "entropy_r2"),
    [
        (2, -317.2568373864449, 706.0739441398748, 0.9855082645053548),
        (3, -293.70497879730226, 697.1357039573148, 0.9256661696936405),
    ],
)
def test_the_pathologists_have_the_likelihood_of_stepmix(k, log_likelihood, bic, entropy_r2):
    model = fitted(PATHOLOGISTS, k)
    assert model.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-6)
    assert model.bic_ == pytest.approx(bic, abs=2e-6)
    assert model.entropy_r2_ == pytest.approx(entropy_r2, abs=1e-4)


# stepmix.datasets.data_bakk_response(n_samples=1000, sep_level=.9, random_state=42): number of respondents with each row of
# six answers, read as a binary number.
BAKK = [
    [
        175,
        16,
        16,
        3,
        26,
        1,
        1,
        0,
        21,
        1,
        2,
        0,
        5,
        0,
        0,
        3,
        27,
        3,
        1,
        1,
        5,
        0,
        1,
        3,
        27,
        6,
        1,
        1,
        5,
        2,
        2,
        16,
    ],
    [
        23,
        3,
        1,
        0,
        1,
        0,
        0,
        4,
        25,
        0,
        2,
        5,
        2,
        2,
        2,
        12,
        25,
        4,
        1,
        5,
        0,
        5,
        1,
        21,
        181,
        26,
        22,
        19,
        20,
        17,
        25,
        175,
    ],
]


@pytest.mark.parametrize(
    ("k", "log_likelihood", "bic"),
    [(2, -3211.958214422385, 6513.717247471538), (3, -2902.92855386088, 5944.012213301403)],
)
def test_the_example_of_stepmix_has_its_likelihood(k, log_likelihood, bic):
    rows = np.repeat(np.arange(64), np.ravel(BAKK))
    model = fitted((rows[:, None] >> np.arange(6)[::-1]) & 1, k)
    assert model.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-6)
    assert model.bic_ == pytest.approx(bic, abs=2e-6)


def test_answers_alike_within_classes_leave_no_doubt():
    labels = np.repeat([[0, 0, 0], [1, 1, 1]], 10, axis=0)
    assert fitted(labels, 2).entropy_r2_ == pytest.approx(1.0)
    assert math.isnan(fitted(labels, 1).entropy_r2_)
