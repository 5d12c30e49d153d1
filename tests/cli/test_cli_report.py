"""``conclust report``: a result folder in, a page out."""

import numpy as np
import pytest

from conclust.cli import main

LABELS = np.repeat([[0, 0, 1], [1, 1, 1], [2, 2, 0]], 6, axis=0)


@pytest.fixture
def result(tmp_path):
    np.save(tmp_path / "labels.npy", LABELS)
    out = tmp_path / "result"
    assert main(["combine", str(tmp_path / "labels.npy"), "-k", "3", "-q", "--out", str(out)]) == 0
    return out


def test_the_page_is_written_into_the_folder(result, capsys):
    assert main(["report", str(result), "--no-pictures"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"The report is {result / 'report.html'} (0.")
    assert said.err == f"Reading {result}.\n"
    text = (result / "report.html").read_text("utf-8")
    assert "3 clusters in 18 objects" in text
    assert main(["report", str(result), "--no-pictures"]) == 1
    assert "already exists. Give --force" in capsys.readouterr().err
    assert main(["report", str(result), "--no-pictures", "--force", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (result / "report.html").read_text("utf-8") == text


def test_the_page_goes_where_it_is_wanted(result, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["report", str(result), "--out", str(out), "--no-pictures", "--objects", "5"]) == 0
    assert "the 5 most uncertain of 18 objects" in out.read_text("utf-8")
    assert not (result / "report.html").exists()
    assert main(["report", str(result), "--out", str(tmp_path)]) == 1
    assert "is a folder. Give --out the name of a file" in capsys.readouterr().err
    assert main(["report", str(result), "--out", str(tmp_path / "no" / "x.html")]) == 1
    assert "does not exist. Create it first." in capsys.readouterr().err


def test_a_result_that_is_made_again_loses_its_page(result, tmp_path):
    assert main(["report", str(result), "--no-pictures", "-q"]) == 0
    again = [
        "combine",
        str(tmp_path / "labels.npy"),
        "-k",
        "2",
        "-q",
        "--out",
        str(result),
        "--force",
    ]
    assert main(again) == 0
    assert not (result / "report.html").exists()


@pytest.mark.parametrize("spoil", ["nothing", "file", "empty"])
def test_what_is_no_result_is_refused_in_a_sentence(spoil, tmp_path, capsys):
    given = tmp_path / "given"
    if spoil == "file":
        given.write_text("x")
    elif spoil == "empty":
        given.mkdir()
    assert main(["report", str(given)]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"conclust report: {given} ")
    assert "conclust cluster" in error
    assert list(tmp_path.rglob("*.html")) == []


def test_the_page_goes_to_standard_output_on_request(result, capfd):
    assert main(["report", str(result), "--out", "-", "--no-pictures"]) == 0
    said = capfd.readouterr()
    assert said.out.startswith("<!doctype html>")
    assert said.out.rstrip().endswith("</html>")
    assert said.err == f"Reading {result}.\n"
    assert not (result / "report.html").exists()
