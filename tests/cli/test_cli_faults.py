"""Files that exhaust memory or break readers, inputs that would be overwritten, signals at startup, and kills."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.forging import rewrite

from conclust.blocks import LabelStore
from conclust.cli import main
from conclust.cli.reading.inputs import read_points
from conclust.cli.requested import Reading
from conclust.exceptions import FileFormatError, InputError
from conclust.results.folder import load_alone
from conclust.results.writing import machine

LABELS = np.repeat([[1, 2], [2, 1]], 5, axis=0)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("a,b\n0,0\n0,0\n1,1\n1,0\n")
    return path


def test_control_characters_in_numbers_are_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b\n1,2\n3,\x1d4\n")
    with pytest.raises(
        InputError, match=r"'\\x1d4' in line 3, column 2 .* is not a number"
    ) as refused:
        read_points(path, Reading())
    assert "\x1d" not in str(refused.value)


# ---- Parquet and Zarr in blocks


def test_an_invalid_parquet_file_in_blocks_is_refused(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1xxxxxxxxxxxxPAR0")
    with pytest.raises(FileFormatError, match="is damaged, or does not have the format"):
        LabelStore(path)


def test_a_damaged_parquet_page_in_blocks_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    rng = np.random.default_rng(0)
    parquet.write_table(pa.table({"a": rng.integers(0, 9, 500)}), path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[40:80] = bytes(40)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="is damaged, or does not have the format"):
        LabelStore(path).facts  # noqa: B018


# ---- --force


def combine(*words):
    return main(["combine", *map(str, words), "-k", "2", "-q"])


def test_force_never_replaces_an_input_file(table, tmp_path, capsys):
    before = table.read_bytes()
    assert combine(table, "--out", table, "--force") == 1
    assert "is an input of this command, which --force does not replace" in capsys.readouterr().err
    assert table.read_bytes() == before
    out = tmp_path / "h"
    assert combine(table, "--out", out) == 0
    kept = {path.name: path.read_bytes() for path in out.iterdir()}
    assert combine(out / "ensemble.npz", "--out", out, "--force") == 1
    assert combine(out / "labels.csv", "--out", out / ".." / "h", "--force") == 1
    for name in ("result.json", "labels.csv", "ensemble.npz"):
        assert main(["report", str(out), "--out", str(out / name), "--force"]) == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == kept
    # Files that are not inputs are still replaced.
    assert combine(table, "--out", out, "--force") == 0
    assert main(["report", str(out), "--no-pictures", "--force", "-q"]) == 0
    assert main(["report", str(out), "--no-pictures", "--force", "-q"]) == 0


# ---- signals


def test_the_script_handles_signals_from_the_start():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="conclust")
    assert script.value == "conclust.__main__:process"


def test_the_package_runs_as_a_module():
    """Where the folder of scripts is not on the path, as after many installations on Windows."""
    done = subprocess.run(
        [sys.executable, "-m", "conclust", "methods", "hbgf"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("HBGF: ")
    wrong = subprocess.run(
        [sys.executable, "-m", "conclust", "cluster"], capture_output=True, text=True, timeout=60
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("conclust cluster: the following arguments are required")


def test_a_result_with_altered_columns_is_refused(tmp_path, table, capsys):
    out = tmp_path / "out"
    assert (
        main(["combine", str(table), "-k", "2", "--method", "voting", "--out", str(out), "-q"]) == 0
    )
    rewrite(out, source=replace(load_alone(out).record.source, columns=("a",)))
    assert main(["predict", str(out), str(table), "--out", str(tmp_path / "new.csv")]) == 1
    error_output = capsys.readouterr().err
    assert "internal error" not in error_output
    assert "columns" in error_output


# ---- killed processes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("exists", [False, True])
def test_the_next_command_removes_the_folder_of_a_killed_one(table, tmp_path, exists):
    out = tmp_path / "out"
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(5000, 20)))
    command = [sys.executable, "-m", "conclust.cli", "cluster", str(tmp_path / "x.npy")]
    more = ["--partitions", "100000", "--jobs", "1", "--out", str(out)]
    if exists:
        out.mkdir()
    place = out if exists else out.parent
    with subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True) as process:
        try:
            while "Clustering" not in (line := process.stderr.readline()):
                assert line, "ended before it began"
            (left,) = place.glob(".conclust-*.tmp")
            # Another command leaves the folder of a running process.
            combine = ["combine", str(table), "-k", "2", "-q", "--out"]
            assert main([*combine, str(place / "other")]) == 0
            assert left.is_dir()
        finally:
            process.kill()
    assert left.is_dir()
    shutil.rmtree(place / "other")
    assert main([*combine, str(out)]) == 0
    assert not list(place.glob(".conclust-*"))
    assert json.loads((out / "result.json").read_text())["clusters"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_temporary_folders_of_other_machines_stay(table, tmp_path):
    """If locks are local to a machine, another machine cannot see that a process still runs."""
    names = [f".conclust-{name}-0123.tmp" for name in (machine(), "another")]
    for name in names:
        (tmp_path / name).mkdir()
    assert main(["combine", str(table), "-k", "2", "-q", "--out", str(tmp_path / "out")]) == 0
    assert [name for name in names if (tmp_path / name).exists()] == names[1:]
