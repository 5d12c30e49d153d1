"""The result folder of the command line is complete or absent, and has no formulas."""

import csv
import random
import threading
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from conclust import results
from conclust._files.spreadsheets import guard_text, unguarded
from conclust.cli import main
from conclust.cli.commands.consensus import send
from conclust.cli.reading.inputs import Reading, read_ensemble
from conclust.exceptions import OutputExistsError
from conclust.results import writing as outputs
from conclust.results.writing import LabelTable, OutputFolder, write_labels, write_memberships
from conclust.words.shell import sizes_line

AUTO = Reading()


@pytest.mark.parametrize(
    "text",
    [
        *["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-inf", "+1 2", "--1"],
        *["\n=1+1", " =x", "\u3000=x", "\ufeff=x", "\u200b=x", "\x00=x", " \n @x"],
        *["\uff1d1+1", "\uff0bx", "\uff0dx", "\uff20x"],  # full-width signs
    ],
)
def test_formulas_are_escaped(text):
    assert guard_text(text) == "'" + text
    assert unguarded(guard_text(text)) == text


@pytest.mark.parametrize("text", ["-1", "+2.5", "-1e-5", "a=1", "", "'a", "-.5", "+3.", " -5"])
def test_numbers_and_plain_text_are_not_escaped(text):
    assert guard_text(text) == text
    assert unguarded(text) == text


def test_tables_escape_formulas_and_quote_names(tmp_path):
    ids = ["=evil()", "-5", 'a,"b"\n']
    path = tmp_path / "labels.csv"
    sure = np.array([1, 0.5, 1 / 3])
    write_labels(path, np.array([0, 1, -1]), LabelTable(ids, "=who", sure))
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["'=who", "label", "confidence"],
            ["'=evil()", "0", "1.0"],
            ["-5", "1", "0.5"],
            ['a,"b"\n', "-1", "0.333333"],
        ]
    write_memberships(path, np.array([[0.25, 0.75]]), LabelTable())
    assert path.read_text() == "object,cluster_0,cluster_1\n0,0.25,0.75\n"


def test_names_that_other_readers_would_split_are_quoted_and_read_back(tmp_path):
    names = ["x\r=1+1", "a;=1+1", "b\t=1+1", "c\r\n=1", "d\r;\t\nd", '"e"\r"']
    quoted = [f'"{name.replace(chr(34), 2 * chr(34))}",{i % 2}' for i, name in enumerate(names)]
    rows = [f"{name},{i % 2}" for i, name in enumerate([*quoted, "plain,0"])]
    table, out = tmp_path / "runs.csv", tmp_path / "out"
    table.write_bytes("\n".join(["id,r1,r2", *rows, ""]).encode())
    assert not main(
        ["combine", str(table), "-k", "2", "--method", "voting", "--out", str(out), "-q"]
    )
    written = (out / "labels.csv").read_bytes().decode()
    assert all(f"\n{start}" in written for start in [*quoted, "plain,0"])
    assert list(results.load(out).names) == [*names, "plain"]
    assert not main(["report", str(out), "-q"])
    again = ["predict", str(out), str(table), "--out", str(tmp_path / "again.csv"), "-q"]
    assert not main(again)


def test_tables_written_in_chunks_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "_CHUNK", 7)
    actual = np.array(random.Random(0).choices(range(5), k=40))
    write_labels(tmp_path / "l.csv", actual, LabelTable())
    back = read_ensemble(tmp_path / "l.csv", AUTO, ())
    names = np.array(back.ensemble.names[0])
    np.testing.assert_array_equal(names[back.ensemble.labels[:, 0]], actual)
    assert back.ids == [str(i) for i in range(40)]


def listing(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


def fill(folder, text="new"):
    for name in ("labels.csv", "result.json"):
        folder.file(name).write_text(text)


def complete(out):
    with OutputFolder(out, force=True) as folder:
        fill(folder)


def interrupt(out, error):
    with OutputFolder(out, force=True) as folder:
        folder.file("labels.csv").write_text("half")
        raise error


def test_the_folder_appears_complete(tmp_path):
    out = tmp_path / "a" / "b"
    with OutputFolder(out) as folder:
        fill(folder)
        assert not out.exists()
    assert listing(tmp_path) == ["a", "a/b", "a/b/labels.csv", "a/b/result.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [False, True])
def test_a_failure_in_the_middle_leaves_nothing(tmp_path, error, there):
    if there:
        (tmp_path / "a").mkdir()
    before = listing(tmp_path)
    with pytest.raises(error):
        interrupt(tmp_path / "a" if there else tmp_path / "a/b/c", error)
    assert listing(tmp_path) == before


def test_a_failure_in_the_middle_keeps_the_old_results(tmp_path):
    with OutputFolder(tmp_path / "a") as folder:
        fill(folder, "old")
    with pytest.raises(ValueError, match="in the middle"):
        interrupt(tmp_path / "a", ValueError("in the middle"))
    assert listing(tmp_path) == ["a", "a/labels.csv", "a/result.json"]
    assert (tmp_path / "a/labels.csv").read_text() == "old"


def test_errors_of_a_temporary_file_name_the_folder(tmp_path):
    with pytest.raises(OSError, match="No space") as caught, OutputFolder(tmp_path / "a") as folder:
        raise OSError(28, "No space left on device", str(folder.file("labels.csv")))
    assert caught.value.filename == str(tmp_path / "a")


def test_a_failure_while_moving_leaves_the_result_unmarked(tmp_path, monkeypatch):
    with OutputFolder(tmp_path / "a") as folder:
        fill(folder, "old")
    replace = Path.replace

    def fail(self, target):
        if target.name == "result.json":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        complete(tmp_path / "a")
    assert listing(tmp_path) == ["a", "a/labels.csv"]  # no result.json: not a finished result


def test_an_interrupt_while_the_folder_is_made_leaves_nothing(tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def make(self, *arguments, **keywords):
        mkdir(self, *arguments, **keywords)
        if self.name.endswith(".new"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", make)
    with pytest.raises(KeyboardInterrupt), OutputFolder(tmp_path / "a/b"):
        pytest.fail("entered")
    assert listing(tmp_path) == []


def test_a_folder_that_another_process_fills_meanwhile_is_not_overwritten(tmp_path):
    late = OutputFolder(tmp_path / "a")
    late.__enter__()
    complete(tmp_path / "a")
    fill(late, "late")
    with pytest.raises(OutputExistsError, match="the result of another process"):
        late.__exit__(None, None, None)
    assert listing(tmp_path) == ["a", "a/labels.csv", "a/result.json"]
    assert (tmp_path / "a/labels.csv").read_text() == "new"


def test_a_file_of_labels_that_another_process_writes_meanwhile_is_not_overwritten(tmp_path):
    arguments = Namespace(out=tmp_path / "labels.csv", force=False)
    send(np.array([0, 1]), LabelTable(), arguments)
    with pytest.raises(OutputExistsError, match="already exists"):
        send(np.array([1, 1]), LabelTable(), arguments)
    assert arguments.out.read_text() == "object,label\n0,0\n1,1\n"


def test_other_files_written_to_the_folder_meanwhile_do_not_cost_the_result(tmp_path):
    with OutputFolder(tmp_path / "a") as folder:
        (tmp_path / "a/cache").mkdir(parents=True)
        (tmp_path / "a/job.log").touch()
        fill(folder)
    assert listing(tmp_path) == ["a", "a/cache", "a/job.log", "a/labels.csv", "a/result.json"]


def test_a_cache_may_be_in_the_folder_of_the_result(tmp_path):
    points = np.random.default_rng(0).normal(size=(40, 2))
    np.save(tmp_path / "points.npy", points)
    out = tmp_path / "result"
    options = ["-k", "2", "--quiet", "--out", str(out), "--cache", str(out / "cache")]
    assert main(["cluster", str(tmp_path / "points.npy"), *options]) == 0
    assert (out / "result.json").exists()


def test_parents_that_another_process_makes_meanwhile_are_used(tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def make(self, *arguments, **keywords):
        if self.name == "runs":
            mkdir(self)
        mkdir(self, *arguments, **keywords)

    monkeypatch.setattr(Path, "mkdir", make)
    with OutputFolder(tmp_path / "runs/7") as folder:
        fill(folder)
    assert listing(tmp_path) == ["runs", "runs/7", "runs/7/labels.csv", "runs/7/result.json"]


def test_processes_that_replace_one_result_do_not_mix_their_files(tmp_path, monkeypatch):
    replace = Path.replace

    def move(self, target):
        time.sleep(0.01)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", move)
    complete(tmp_path / "a")

    def write(text):
        with OutputFolder(tmp_path / "a", force=True) as folder:
            both_entered.wait(10)
            fill(folder, text)

    for _ in range(5):
        both_entered = threading.Barrier(2)
        threads = [threading.Thread(target=write, args=(text,)) for text in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        texts = {path.read_text() for path in (tmp_path / "a").iterdir()}
        assert len(texts) == 1
        assert texts <= {"one", "two"}


def test_force_replaces_only_files_of_conclust(tmp_path):
    with OutputFolder(tmp_path / "a") as folder:
        fill(folder, "old")
        folder.file("memberships.csv").write_text("old")
    (tmp_path / "a/mine.txt").write_text("mine")
    with pytest.raises(OutputExistsError, match="not empty"), OutputFolder(tmp_path / "a"):
        pass
    with OutputFolder(tmp_path / "a", force=True) as folder:
        fill(folder)
    assert listing(tmp_path / "a") == ["labels.csv", "mine.txt", "result.json"]
    assert (tmp_path / "a/labels.csv").read_text() == "new"


def test_unwritable_paths_are_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExistsError, match="is a file"), OutputFolder(tmp_path / "file"):
        pytest.fail("entered")
    with pytest.raises(NotADirectoryError), OutputFolder(tmp_path / "file/a"):
        pytest.fail("entered")
    with (
        pytest.raises(OSError, match="File name too long"),
        OutputFolder(tmp_path / "x/a" / ("y" * 300)),
    ):
        pytest.fail("entered")
    (tmp_path / "a/labels.csv").mkdir(parents=True)
    with (
        pytest.raises(OutputExistsError, match="is a folder where a file will be"),
        OutputFolder(tmp_path / "a", force=True),
    ):
        pytest.fail("entered")
    assert listing(tmp_path) == ["a", "a/labels.csv", "file"]


def test_unknown_file_names_are_refused(tmp_path):
    with OutputFolder(tmp_path / "a") as folder, pytest.raises(ValueError, match="not a file of"):
        folder.file("../evil")


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with OutputFolder(tmp_path / "link") as folder:
        fill(folder)
    assert listing(tmp_path / "real") == ["labels.csv", "result.json"]


def test_sizes_of_many_clusters_end_with_their_number():
    assert sizes_line(np.arange(1, 11)).endswith("9, 10.")
    assert sizes_line(np.arange(1, 36)) == "Sizes: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 25 more."


@pytest.mark.parametrize("method", ["pcc", "eac"])
def test_objects_in_no_cluster_have_no_confidence(tmp_path, method):
    path = tmp_path / "labels.csv"
    rows = [f"p{i},{i % 2},{i % 2},{i % 2}" for i in range(1, 9)]
    path.write_text("\n".join(["id,a,b,c", "p0,,,", *rows]))
    out = tmp_path / "o"
    assert main(["combine", str(path), "--method", method, "-k", "2", "--out", str(out)]) == 0
    first = (out / "labels.csv").read_text().splitlines()[1]
    assert first == "p0,-1,"
    assert main(["report", str(out), "--out", str(tmp_path / "page.html")]) == 0


@pytest.mark.parametrize(
    ("command", "name"),
    [*(("combine", "labels" + ending) for ending in (".tsv", ".parquet", ".npy", ".csv.zst"))],
)
def test_a_new_folder_is_not_called_like_a_file(tmp_path, command, name, capsys):
    runs = tmp_path / "runs.csv"
    runs.write_text("a,b\n" + "".join(f"{i % 2},{i % 2}\n" for i in range(12)))
    out = tmp_path / name
    with pytest.raises(SystemExit) as ended:
        main([command, str(runs), "-k", "2", "--out", str(out)])
    assert ended.value.code == 2
    assert f"--out: {out} would be a folder. Give the name of a folder" in capsys.readouterr().err
    assert not out.exists()
    out.mkdir()  # a folder that is there may have any name
    assert main([command, str(runs), "-k", "2", "--out", str(out), "-q"]) == 0
