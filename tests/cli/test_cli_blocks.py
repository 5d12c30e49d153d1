"""``conclust combine --blocks`` and ``--checkpoint``."""

import json

import numpy as np
import pytest
from tests.cases import planted

from conclust import MCLA, PCC
from conclust.blocks import BlockedArray, LabelStore
from conclust.cli import main

LABELS, _ = planted(seed=1, n=240, m=8, k=3, flip=0.2, missing=0.1)


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "labels.npy", LABELS)
    return tmp_path / "labels.npy"


def combine(file, *more):
    return main(["combine", str(file), "--jobs", "1", *more, "--out", str(file.parent / "out")])


def test_labels_equal_those_of_the_python_api(file, capsys):
    assert combine(file, "--blocks", "--method", "mcla", "-k", "3") == 0
    printed = capsys.readouterr()
    assert "3 clusters of 240 objects, from 8 clusterings." in printed.out
    actual = np.load(file.parent / "out" / "labels.npy")
    np.testing.assert_array_equal(actual, MCLA(3, random_state=0).fit(LABELS).labels_)
    result = json.loads((file.parent / "out" / "result.json").read_text())
    assert result["clusters"] == 3
    assert sum(result["cluster_sizes"]) == 240
    assert result["ensemble"]["blocks"] == 8


def test_a_run_resumes_from_its_checkpoint(file, capsys):
    run = file.parent / "run"
    how = ("--method", "pcc", "--set", "divergence=l2", "-k", "3", "--checkpoint", str(run))
    assert combine(file, *how) == 0
    first = np.load(file.parent / "out" / "labels.npy")
    assert (run / "sweeps.npz").stat().st_size < 1 << 20
    assert "Resuming from" not in capsys.readouterr().err
    assert combine(file, *how, "--force") == 0
    assert f"Resuming from {run}." in capsys.readouterr().err
    np.testing.assert_array_equal(np.load(file.parent / "out" / "labels.npy"), first)
    assert len(np.unique(first)) == len(np.unique(PCC(3, divergence="l2").fit(LABELS).labels_))


def test_a_checkpoint_of_another_fit_is_refused(file, capsys):
    run = str(file.parent / "run")
    assert combine(file, "--method", "hbgf", "-k", "3", "--checkpoint", run) == 0
    assert combine(file, "--method", "hbgf", "-k", "2", "--checkpoint", run, "--force") != 0
    assert "Use a separate folder for each fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "needs all labels at once. Give --method: "),
        (("--method", "eac", "-k", "3"), "needs all labels at once"),
        (("--method", "mcla", "-k", "3", "--id-column", "id"), "--id-column is for tables"),
    ],
)
def test_options_that_blocks_do_not_support_are_refused(file, more, words, capsys):
    with pytest.raises(SystemExit):
        combine(file, "--blocks", *more)
    assert words in capsys.readouterr().err


def test_a_missing_file_is_refused(file, capsys):
    assert combine(file.with_name("none.npy"), "--blocks", "--method", "mcla", "-k", "3") != 0
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "predict"])
def test_commands_that_need_the_clusterings_refuse_results_of_blocks(command, file, capsys):
    assert combine(file, "--blocks", "--method", "mcla", "-k", "3") == 0
    capsys.readouterr()
    out = str(file.parent / "out")
    words = [command, out] if command == "report" else [command, out, str(file), "--out", "-"]
    assert main(words) == 1
    error_output = capsys.readouterr().err
    assert "was made from labels in blocks" in error_output
    assert "'conclust combine' without --blocks" in error_output
    assert not (file.parent / "out" / "report.html").exists()


def test_an_interrupt_prints_where_the_state_is_kept(file, monkeypatch, capsys):
    run = file.parent / "run"
    how = ("--method", "pcc", "--set", "divergence=l2", "-k", "3", "--checkpoint", str(run))

    def interrupted(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(BlockedArray, "save", interrupted)
    assert combine(file, *how) == 130
    error_output = capsys.readouterr().err
    assert (
        f"interrupted; no result was written. The state is in {run}: run the same" in error_output
    )
    monkeypatch.undo()
    assert combine(file, *how) == 0


def test_a_run_interrupted_before_the_first_state_starts_over(file, monkeypatch, capsys):
    run = file.parent / "run"
    how = ("--method", "pcc", "--set", "divergence=l2", "-k", "3", "--checkpoint", str(run))

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(LabelStore, "facts", property(interrupted))
    assert combine(file, *how) == 130
    error_output = capsys.readouterr().err
    assert f"interrupted; nothing was written. {run} has no state yet" in error_output
    assert "run the same command again to start over" in error_output
    monkeypatch.undo()
    assert combine(file, *how) == 0
    assert "Going on" not in capsys.readouterr().err
    with pytest.raises(SystemExit):
        combine(file, "--method", "eac", "-k", "3", "--checkpoint", str(run))
    assert "--checkpoint: EAC needs all labels" in capsys.readouterr().err


def test_columns_that_name_the_objects_are_no_clusterings(tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    n = len(LABELS)
    runs = {f"r{u}": LABELS[:, u] for u in range(LABELS.shape[1])}
    file = tmp_path / "labels.parquet"
    how = ("--method", "hbgf", "-k", "3", "--force")
    parquet.write_table(pyarrow.table({"name": [f"o{i}" for i in range(n)], **runs}), file)
    assert combine(file, *how) == 0
    whole = np.loadtxt(tmp_path / "out" / "labels.csv", delimiter=",", skiprows=1, usecols=1)
    assert combine(file, "--blocks", *how) == 0
    printed = capsys.readouterr()
    assert "Left out, because its values name the objects: 'name'." in printed.err
    assert "from 8 clusterings" in printed.out
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "labels.npy"), whole)
    parquet.write_table(pyarrow.table({**runs, "number": np.arange(n)}), file)
    assert combine(file, "--blocks", *how) == 1
    assert "the column 'number' has 240 different labels" in capsys.readouterr().err
    assert combine(file, "--blocks", "--columns", "r0,r1,number", *how) == 0


def test_a_column_of_numbers_of_objects_in_an_array_is_refused(tmp_path, capsys):
    file = tmp_path / "labels.npy"
    np.save(file, np.column_stack([np.arange(len(LABELS)), LABELS]))
    assert combine(file, "--blocks", "--method", "hbgf", "-k", "3") == 1
    assert "the column 1 has 240 different labels for 240 objects" in capsys.readouterr().err


def test_spellings_of_empty_cells_are_not_for_blocks(tmp_path, capsys):
    np.save(tmp_path / "a.npy", np.zeros((4, 2), dtype=np.int64))
    more = ["--blocks", "--method", "hbgf", "-k", "2", "--na", "9", "--out", str(tmp_path / "r")]
    with pytest.raises(SystemExit):
        main(["combine", str(tmp_path / "a.npy"), *more])
    assert "--blocks: --na is for tables that are read at once." in capsys.readouterr().err
