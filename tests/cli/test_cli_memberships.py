"""conclust combine --memberships: files of STRUCTURE and ADMIXTURE."""

from __future__ import annotations

import json

import numpy as np
import pytest

from conclust import Ensemble
from conclust.cli import main


@pytest.fixture
def runs(tmp_path):
    """Write one membership matrix permuted, rounded to 6, 4 and 3 decimals, with blanks, tabs and commas, and twice as CLUMPP does."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet([0.2, 0.3, 0.4, 0.5], 120)
    files = []
    for name, decimals, separator in (("a.6.Q", 6, " "), ("b.4.Q", 4, "\t"), ("c.3.meanQ", 3, ",")):
        columns = q[:, rng.permutation(4)]
        np.savetxt(tmp_path / name, columns, fmt=f"%.{decimals}f", delimiter=separator)
        files.append(str(tmp_path / name))
    rows = [f"{i} {i} (0) 1 : {a} {b} {c} {d}\n" for i, (a, b, c, d) in enumerate(q.round(3))]
    (tmp_path / "d.indfile").write_text("".join([*rows, "\n", *rows]))
    return q, [*files, str(tmp_path / "d.indfile")]


@pytest.mark.parametrize("method", ["voting", "eac", "pcc"])
def test_runs_of_one_membership_give_its_most_probable_clusters(runs, tmp_path, method):
    q, files = runs
    out = tmp_path / "out"
    arguments = ["combine", "--memberships", *files, "-k", "4", "--method", method]
    assert main([*arguments, "--out", str(out)]) == 0
    labels = np.loadtxt(out / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    top = q.argmax(axis=1)
    np.testing.assert_array_equal(labels[:, None] == labels, top[:, None] == top)
    saved = Ensemble.load(out / "ensemble.npz")
    assert saved.is_soft
    np.testing.assert_allclose(saved.indicator.sum(axis=1), 5)
    assert json.loads((out / "result.json").read_text())["input"]["columns"] == [*files, files[-1]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x y\n1 2\n", "line 1: a row of memberships has numbers"),
        ("0.5 0.7\n1 0\n", "sum to 1, up to rounding"),
    ],
)
def test_files_that_are_no_memberships_are_refused(tmp_path, capsys, text, sentence):
    bad = tmp_path / "bad.Q"
    bad.write_text(text)
    arguments = ["combine", "--memberships", str(bad), "-k", "2"]
    assert main([*arguments, "--out", str(tmp_path / "o")]) == 1
    message = capsys.readouterr().err
    assert sentence in message
    assert "bad.Q" in message
    assert not (tmp_path / "o").exists()


def test_labels_and_memberships_exclude_each_other(runs, tmp_path, capsys):
    _, files = runs
    for arguments in (
        [],
        [files[0], "--memberships", *files],
        ["--memberships", *files, "--rows", "draws"],
    ):
        with pytest.raises(SystemExit):
            main(["combine", *arguments, "--out", str(tmp_path / "o")])
        assert "--memberships" in capsys.readouterr().err
