"""Jobs of a cluster: paths of variables that are not set, late signals, joined files."""

import numpy as np
import pytest

from conclust.cli import main
from conclust.cli.commands import consensus
from conclust.cli.reading.inputs import Reading, read_ensemble, read_points
from conclust.exceptions import FileFormatError
from conclust.results import writing


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.fixture
def command(tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, (30, 5))
    np.save(tmp_path / "labels.npy", labels)
    return ["combine", str(tmp_path / "labels.npy"), "-k", "2", "--quiet", "--out"]


@pytest.mark.parametrize("force", [False, True])
def test_messages_of_late_interrupts_name_the_complete_result(
    command, tmp_path, monkeypatch, capsys, force
):
    out = tmp_path / "result"
    arguments = [*command, str(out)]
    if force:
        assert main(arguments) == 0
    monkeypatch.setattr(writing, "sync_folder", fail_with(KeyboardInterrupt()))
    assert main([*arguments, *["--force"] * force]) == 130
    assert f"interrupted; the results are complete in {out}." in capsys.readouterr().err
    assert (out / "result.json").exists()
    assert not list(tmp_path.rglob("*.tmp"))


def test_sentences_of_the_system_end_with_one_period(command, tmp_path, monkeypatch, capsys):
    for sentence in ("Input/output error", "It no longer exists."):
        monkeypatch.setattr(consensus.inputs, "read_ensemble", fail_with(OSError(sentence)))
        assert main([*command, str(tmp_path / "result")]) == 1
        assert capsys.readouterr().err.endswith(f": {sentence.removesuffix('.')}.\n")


@pytest.mark.parametrize("option", ["--out", "--cache"])
def test_an_empty_path_is_not_the_current_folder(option, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["cluster", "points.csv", option, "", "--force"])
    assert caught.value.code == 2
    assert f"argument {option}: must name a file or folder, got ''" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("header", [None, True])
@pytest.mark.parametrize("rows", [3, 200_000])
@pytest.mark.parametrize(
    ("names", "row"), [("a,b", "1,2"), ("id,b", "x,2"), ("id,text,b", "x,u,2")]
)
def test_headers_of_joined_files_are_refused_not_read_as_objects(
    tmp_path, names, row, rows, header
):
    part = f"{names}\n" + f"{row}\n" * rows
    path = tmp_path / "a.csv"
    path.write_text(part + part)
    sentence = f"has its header again in line {rows + 2},"
    for read in (read_ensemble, read_points):
        if read is read_ensemble or "id" not in names:
            with pytest.raises(FileFormatError, match=sentence):
                read(path, Reading(header=header))


def test_headers_above_names_and_labels_of_text_are_refused_where_they_come_again(tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"o{i},{'xyz'[i % 3]},{i % 2 or 'u'}\n" for i in range(8))
    for part in (rows, rows.replace("o", "p")):  # the same objects twice, or others
        path.write_text(f"id,a,b\n{rows}id,a,b\n{part}")
        with pytest.raises(FileFormatError, match="has its header again in line 10,"):
            read_ensemble(path, Reading())
    path.write_text("object,ground\n" + "ground,ground\nobject,ground\n" * 4)
    assert read_ensemble(path, Reading()).ensemble.n_samples == 9


def test_first_lines_of_labels_that_come_again_are_objects(tmp_path):
    path = tmp_path / "a.csv"
    for content in ("x,y\nx,y\n", "x,y\nu,v\nx,y\n", "x\n1\nx\n", "x,x\n1,1\nx,x\n"):
        path.write_text(content)
        assert read_ensemble(path, Reading()).ensemble.n_samples == content.count("\n")
    path.write_text("x,y\n1,2\nx,y\n")
    assert read_ensemble(path, Reading(header=False)).ensemble.n_samples == 3


@pytest.mark.parametrize("names", ["0,1,2", "1,2,3"])
def test_objects_may_have_the_numbers_in_the_header_as_labels(tmp_path, names):
    path = tmp_path / "a.csv"
    path.write_text(f"{names}\n1,1,1\n{names}\n0,0,0\n")
    for read in (read_ensemble, read_points):
        read(path, Reading(header=True))
    assert read_ensemble(path, Reading(header=True)).ensemble.n_samples == 3
