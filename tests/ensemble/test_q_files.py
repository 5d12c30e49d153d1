"""Files of memberships: ADMIXTURE's, STRUCTURE's and CLUMPP's, and CLUMPP's mean of runs."""

from __future__ import annotations

import numpy as np
import pytest

from conclust import Ensemble, Voting
from conclust.exceptions import InputError

# Rows of three runs of STRUCTURE (K = 3), and of the file that CLUMPP made of them: individuals 1, 3, 6, 12, 14, 30, 85, 104,
# 108, 112 and 148 of 149 in the example "pop_K3" of pophelper.
RUNS = """
0.911 0.067 0.023 0.044 0.931 0.025 0.858 0.126 0.016 0.068 0.914 0.018 0.738 0.227 0.035 0.197 0.387 0.415
0.131 0.481 0.388 0.386 0.205 0.408 0.031 0.030 0.939 0.143 0.256 0.601 0.019 0.011 0.970

0.024 0.070 0.906 0.025 0.930 0.045 0.016 0.124 0.859 0.018 0.911 0.070 0.036 0.241 0.723 0.413 0.392 0.196
0.384 0.490 0.126 0.414 0.204 0.382 0.938 0.031 0.031 0.598 0.258 0.145 0.969 0.011 0.019

0.908 0.068 0.024 0.042 0.933 0.025 0.858 0.125 0.017 0.067 0.914 0.018 0.743 0.222 0.035 0.197 0.385 0.417
0.132 0.482 0.386 0.384 0.206 0.410 0.031 0.031 0.939 0.148 0.250 0.602 0.019 0.011 0.970
"""
MERGED = """
0.0237 0.0683 0.9080 0.0250 0.9313 0.0437 0.0163 0.1250 0.8586 0.0180 0.9136 0.0684 0.0353 0.2300 0.7347
0.4151 0.3881 0.1967 0.3860 0.4843 0.1297 0.4108 0.2051 0.3841 0.9384 0.0307 0.0310 0.6001 0.2546 0.1453
0.9700 0.0110 0.0190
"""


def numbers(text):
    return np.array([float(word) for word in text.split()]).reshape(-1, 3)


Q = [numbers(run) for run in RUNS.strip().split("\n\n")]


def text_of(run):
    return ["  ".join(f"{x:.3f}" for x in row) for row in run]


def as_popfile(runs):
    """CLUMPP's popfile: a number, the memberships and the number of individuals in each row; blank lines between runs."""
    blocks = ["\n".join(f"{i + 1}:  {row} 1" for i, row in enumerate(text_of(run))) for run in runs]
    return "\n    \n   \n".join(blocks) + "\n"


def as_indfile(runs):
    rows = [f"{i + 1} {i + 1} (0) 2 : {row}" for run in runs for i, row in enumerate(text_of(run))]
    return "\n".join(rows) + "\n"


def as_structure(run):
    """Lines of the output of STRUCTURE around its rows; with an interval for each membership."""
    rows = [
        f"{i + 1:3d}  ind{i}:a  (0)  1 :  {row}  (0.000,1.000) (0.000,1.000) (0.000,1.000)"
        for i, row in enumerate(text_of(run))
    ]
    head = "Run parameters:\n   3 populations assumed\n\nInferred ancestry of individuals:\n"
    columns = "        Label (%Miss) Pop:  Inferred clusters (and 90% probability intervals)\n"
    return (
        head
        + columns
        + "\n".join(rows)
        + "\n\n\nEstimated Allele Frequencies in each cluster\n0.1 : 2\n"
    )


def test_voting_has_the_mean_that_clumpp_prints(tmp_path):
    (tmp_path / "combined.txt").write_text(as_popfile(Q))
    model = Voting(3, random_state=0).fit(Ensemble.from_q_files(tmp_path / "combined.txt"))
    # CLUMPP's columns have another order.
    expected = numbers(MERGED)
    order = np.argmax(model.membership_[[0, 1, 10]], axis=1)
    found = model.membership_[:, order[np.argsort(np.argmax(expected[[0, 1, 10]], axis=1))]]
    np.testing.assert_allclose(found, expected, atol=6e-5)


@pytest.mark.parametrize("write", [as_popfile, as_indfile])
def test_the_files_of_clumpp_have_several_runs(write, tmp_path):
    (tmp_path / "K3.txt").write_text(write(Q))
    read = Ensemble.from_q_files([tmp_path / "K3.txt"])
    assert read == Ensemble.from_memberships(Q)


@pytest.mark.parametrize(
    "write",
    [
        lambda run: "\n".join(text_of(run)) + "\n",
        lambda run: "\n".join(text_of(run)).replace("  ", ","),
        as_structure,
    ],
)
def test_a_file_for_each_run(write, tmp_path):
    paths = [tmp_path / f"run{u}" for u in range(3)]
    for path, run in zip(paths, Q, strict=True):
        path.write_text(write(run))
    assert Ensemble.from_q_files(map(str, paths)) == Ensemble.from_memberships(Q)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.5 0.5\n0.3 x\n", r"line 2: a row of memberships has numbers.* Got '0.3 x'"),
        ("0.5 0.5\n1.0\n", "Got rows of different lengths"),
        ("\n\n", "must have rows of memberships of one length. Got none"),
        ("0.5 0.5\n0.3 0.3\n", "that sum to 1"),
    ],
)
def test_a_file_without_memberships_is_refused(text, sentence, tmp_path):
    (tmp_path / "bad.Q").write_text(text)
    with pytest.raises(InputError, match=sentence):
        Ensemble.from_q_files(tmp_path / "bad.Q")
