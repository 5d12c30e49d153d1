"""Results are never lost if messages cannot be printed; labels pass through pipes."""

import bz2
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from conclust import Ensemble
from conclust.cli import console as talk
from conclust.cli import main
from conclust.cli.console import Talk, Voice, plain

COMMAND = [sys.executable, "-m", "conclust.cli"]
ROWS = "0,0,1\n" * 4 + "1,2,0\n" * 4
COMBINED = [
    "ensemble.npz",
    "labels.csv",
    "memberships.csv",
    "model.npz",
    "report.npz",
    "result.json",
]


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,b,c\n" + ROWS)
    return path


def shell(line, folder, **more):
    """Run a line of bash, with the command as $P; return the process as it ended."""
    names = {**os.environ, "P": " ".join(COMMAND), **more}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=names,
        capture_output=True,
        timeout=120,
    )


def listing(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# ---- results are written before they are summarised


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$P combine labels.csv -k 2 --out o >&- 2>&-", 0, b""),
        ("$P combine labels.csv -k 2 --out o 2>/dev/full", 0, b""),
        (
            "$P combine labels.csv -k 2 --out o > /dev/full",
            1,
            b"The results are complete in o, but could not be printed: No space left",
        ),
        ("$P methods | head -1 > /dev/null", 0, b""),
        ("$P methods >&-", 0, b""),
        ("$P --help | true", 0, b""),
        ("$P --help >&-", 0, b""),
        ("$P --help > /dev/full", 1, b"conclust: The output could not be printed: No space left"),
        ("$P report --help > /dev/full", 1, b"conclust: The output could not be printed: No space"),
        ("$P --version > /dev/full", 1, b"conclust: The output could not be printed: No space"),
        ("$P report --help > /dev/full 2>&1", 1, b""),
    ],
)
def test_closed_and_full_streams_end_in_one_message(matrix, line, code, said):
    done = shell(line, matrix.parent)
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr
    assert b"Exception ignored" not in done.stderr
    if "combine" in line:
        assert listing(matrix.parent / "o") == COMBINED
        assert json.loads((matrix.parent / "o/result.json").read_text())["clusters"] == 2


def test_an_ascii_terminal_gets_escapes(matrix):
    done = shell("$P combine labels.csv -k 2 --out €", matrix.parent, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"Results are in \\u20ac." in done.stdout
    assert listing(matrix.parent / "€") == COMBINED


def test_names_that_are_not_utf8_are_escaped(matrix, capsys):
    wild = os.fsdecode(os.fsencode(matrix.parent) + b"/\xff\xfe.csv")
    Path(wild).write_text("a,b\n0,1\n0,1\n1,0\n")
    assert main(["combine", wild, "-k", "2", "--out", str(matrix.parent / "o")]) == 0
    assert "\\xff\\xfe.csv: 3 objects" in capsys.readouterr().err
    written = json.loads((matrix.parent / "o/result.json").read_text())
    assert written["input"]["file"].endswith("\\xff\\xfe.csv")


def test_control_characters_in_file_names_are_escaped(tmp_path, capsys):
    for name in ("no\033[2Jsuch.csv", "no\rsuch.csv", "no\u202esuch.csv", "no\x9bsuch.csv"):
        assert main(["combine", name, "--out", str(tmp_path / "o")]) == 1
        error_output = capsys.readouterr().err
        assert name not in error_output
        assert error_output.strip().isprintable()
        assert "such.csv: No such file" in error_output


def test_plain_text_escapes_invisible_characters():
    assert plain("a\x1b[2J\x7f\u202e\udcff\ud800\n\té") == "a\\x1b[2J\\x7f\\u202e\\xff\\ud800\n\té"


def test_a_dangling_link_is_refused_before_the_work(matrix, capsys, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr("conclust.cli.reading.inputs.read_ensemble", fail)
    (matrix.parent / "dang").symlink_to("nowhere")
    assert main(["combine", str(matrix), "--out", str(matrix.parent / "dang")]) == 1
    assert "dang is a broken link" in capsys.readouterr().err


def test_an_impossible_folder_is_named_as_the_user_typed_it(matrix, capsys):
    (matrix.parent / "file").write_text("x")
    assert main(["combine", str(matrix), "--out", str(matrix.parent / "file" / "o")]) == 1
    error_output = capsys.readouterr().err
    assert "file/o: Not a directory." in error_output
    assert ".tmp" not in error_output


@pytest.mark.parametrize("command", ["cluster", "combine"])
def test_empty_known_classes_are_refused_before_the_work(tmp_path, command, capsys, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,b,class\n" + "0,0,\n" * 5 + "1,1,NA\n" * 5)
    monkeypatch.setattr("conclust.cli.commands.consensus._finish", None)
    more = ["--label-column", "class", "--out", str(tmp_path / "o")]
    assert main([command, str(path), *more]) == 1
    assert (
        "a.csv: --label-column: the column 'class' has no known classes" in capsys.readouterr().err
    )
    assert not (tmp_path / "o").exists()


def test_classes_of_objects_without_a_label_give_no_score(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a,b,class\n" + "0,0,\n" * 5 + "1,1,\n" * 5 + ",,x\n")
    more = ["--label-column", "class", "--out", str(tmp_path / "o"), "-k", "2"]
    assert main(["combine", str(path), *more]) == 0
    assert "known classes" not in capsys.readouterr().out
    written = json.loads((tmp_path / "o/result.json").read_text())
    assert written["agreement_with_known_classes"] is None


class Full:
    """A stream that accepts no text."""

    encoding = "utf-8"

    def write(self, text):
        raise OSError(28, "No space left on device")

    def fileno(self):
        raise io.UnsupportedOperation("fileno")

    def flush(self):
        raise OSError(28, "No space left on device")


def test_a_stream_keeps_its_first_failure():
    voice = Voice(Full())
    assert voice.write("abc") == 3
    voice.flush()
    assert voice.failure.errno == 28
    voice.close_quietly()
    silent = Voice(None)
    silent.write("abc")
    silent.flush()
    assert silent.failure is None
    assert not silent.isatty()


# ---- pipes


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.decode())))


def test_labels_pass_through_pipes(matrix):
    done = shell("cat labels.csv | $P combine - -k 2 --out -", matrix.parent)
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert [row["label"] for row in rows] == list("00001111")
    assert list(rows[0]) == ["object", "label", "confidence"]
    assert b"Read standard input: 8 objects, 3 clusterings" in done.stderr
    assert b"2 clusters of 8 objects" in done.stderr
    assert listing(matrix.parent) == ["labels.csv"]
    quiet = shell("$P combine /dev/stdin -k 2 --out - -q < labels.csv", matrix.parent)
    assert (quiet.returncode, quiet.stderr, quiet.stdout) == (0, b"", done.stdout)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$P combine labels.csv -k 2 --out - -q | true", 0, b""),
        ("$P combine labels.csv -k 2 --out - -q >&-", 1, b"Standard output is closed"),
        (
            "$P combine labels.csv -k 2 --out - -q > /dev/full",
            1,
            b"could not be written to standard output, or not all of it: No space left on device",
        ),
        ("$P combine - -k 2 --out o -q <&-", 1, b"standard input is closed"),
    ],
)
def test_closed_and_missing_pipes_are_reported(matrix, line, code, said):
    done = shell(line, matrix.parent)
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr
    assert bool(done.stderr) == bool(said)


def test_empty_input_is_refused_and_a_pipe_is_read_by_its_path(matrix, capsys, monkeypatch):
    folder = str(matrix.parent / "o")
    with Path(os.devnull).open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        assert main(["combine", "-", "-k", "2", "--out", folder, "-q"]) == 1
    assert "standard input is empty" in capsys.readouterr().err
    read, write = os.pipe()
    os.write(write, matrix.read_bytes())
    os.close(write)
    assert main(["combine", f"/dev/fd/{read}", "-k", "2", "--out", folder, "-q"]) == 0
    os.close(read)
    assert capsys.readouterr().err == ""


def test_arrays_and_compressed_tables_pass_through_pipes(matrix, capsysbinary, monkeypatch):
    labels = np.array([[0, 0, 1]] * 4 + [[1, 2, 0]] * 4)
    np.save(matrix.parent / "l.npy", labels)
    Ensemble(labels).save(matrix.parent / "e.npz")
    for ending, pack in (("gz", gzip.compress), ("bz2", bz2.compress)):
        (matrix.parent / f"l.csv.{ending}").write_bytes(pack(matrix.read_bytes()))
    printed = []
    for name in ("labels.csv", "l.npy", "e.npz", "l.csv.gz", "l.csv.bz2"):
        with (matrix.parent / name).open("rb") as file:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
            assert main(["combine", "-", "-k", "2", "--out", "-", "-q"]) == 0
        printed.append(capsysbinary.readouterr().out)
    assert printed == [printed[0]] * 5
    assert len(rows_of(printed[0])) == 8


def test_standard_input_is_read_once(matrix, capsys):
    for words in (["compare", "-", "-"], ["combine", "-", "--weights", "-", "--out", "-"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert "can be read once only" in capsys.readouterr().err


# ---- labels in a file, without a folder


def test_labels_may_be_in_a_file_of_any_name(matrix, capsysbinary, monkeypatch):
    monkeypatch.chdir(matrix.parent)
    words = ["combine", "labels.csv", "-k", "2", "--out"]
    assert main([*words, "-"]) == 0
    wanted = capsysbinary.readouterr().out
    name = "found.csv"
    assert main([*words, name]) == 0
    printed = capsysbinary.readouterr().out.decode()
    assert "2 clusters of 8 objects" in printed
    assert f"Results are in {name}." in printed
    written = Path(name).read_bytes()
    assert written == wanted
    assert listing(".") == sorted([name, "labels.csv"])
    # Not replaced without --force; the same labels give the same bytes for any name and time.
    assert main([*words, name]) == 1
    assert b"already exists. Give --force" in capsysbinary.readouterr().err
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert main([*words, name, "--force"]) == 0
    assert main([*words, "other.csv"]) == 0
    assert Path(name).read_bytes() == Path("other.csv").read_bytes() == written
    assert main(["compare", name, "other.csv"]) == 0


def test_a_folder_may_be_named_like_a_table(matrix, monkeypatch, capsys):
    monkeypatch.chdir(matrix.parent)
    Path("old.csv").mkdir()
    assert main(["combine", "labels.csv", "-k", "2", "--out", "old.csv"]) == 0
    assert listing("old.csv") == COMBINED
    capsys.readouterr()
    assert main(["combine", "labels.csv", "-k", "2", "--out", "nowhere/a.csv"]) == 1
    assert (
        "The folder nowhere for a.csv does not exist. Create it first." in capsys.readouterr().err
    )


# ---- progress


def test_long_work_reports_progress(monkeypatch, capsys):
    monkeypatch.setattr(talk, "_pause", lambda elapsed: 0.05)

    class Arguments:
        quiet, verbose, out = False, False, "o"

    with Talk(Arguments).during("combining (PCC)"):
        time.sleep(0.4)
    error_output = capsys.readouterr().err.splitlines()
    assert len(error_output) >= 2
    assert set(error_output) == {"  still combining (PCC): 0 s"}
    assert not any(thread.name == "conclust-heartbeat" for thread in threading.enumerate())
    Arguments.quiet = True
    with Talk(Arguments).during("combining (PCC)"):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_progress_is_printed_less_often_over_time():
    assert [talk._pause(t) for t in (0, 20, 100, 1000)] == [5, 5, 25, 60]
    assert [talk._duration(t) for t in (5.2, 125)] == ["5 s", "2 min 5 s"]
