"""``conclust report``: turns a result folder into a page."""

import json

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
    printed = capsys.readouterr()
    assert printed.out.startswith(f"The report is {result / 'report.html'} (0.")
    assert printed.err == f"Reading {result}.\n"
    text = (result / "report.html").read_text("utf-8")
    assert "3 clusters in 18 objects" in text
    assert main(["report", str(result), "--no-pictures"]) == 1
    assert "already exists. Give --force" in capsys.readouterr().err
    assert main(["report", str(result), "--no-pictures", "--force", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (result / "report.html").read_text("utf-8") == text


def test_the_page_is_written_to_the_requested_path(result, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["report", str(result), "--out", str(out), "--no-pictures", "--objects", "5"]) == 0
    assert "the 5 most uncertain of 18 objects" in out.read_text("utf-8")
    assert not (result / "report.html").exists()
    assert main(["report", str(result), "--out", str(tmp_path)]) == 1
    assert "is a folder. Give --out the name of a file" in capsys.readouterr().err
    assert main(["report", str(result), "--out", str(tmp_path / "no" / "x.html")]) == 1
    assert "does not exist. Create it first." in capsys.readouterr().err


def test_replacing_a_result_removes_its_page(result, tmp_path):
    assert main(["report", str(result), "--no-pictures", "-q"]) == 0
    repeated = [
        "combine",
        str(tmp_path / "labels.npy"),
        "-k",
        "2",
        "-q",
        "--out",
        str(result),
        "--force",
    ]
    assert main(repeated) == 0
    assert not (result / "report.html").exists()


@pytest.mark.parametrize("spoil", ["nothing", "file", "empty"])
def test_invalid_results_are_refused_in_one_sentence(spoil, tmp_path, capsys):
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
    printed = capfd.readouterr()
    assert printed.out.startswith("<!doctype html>")
    assert printed.out.rstrip().endswith("</html>")
    assert printed.err == f"Reading {result}.\n"
    assert not (result / "report.html").exists()


def clusters_of(page):
    """Return the names of the clusters of a page."""
    text = page.read_text("utf-8")
    return json.loads(text.partition('id="account">')[2].partition("</script>")[0])["clusters"]


def test_clusters_count_from_0_or_have_names(result, tmp_path, capsys):
    page = result / "report.html"
    assert main(["report", str(result), "--no-pictures", "-q"]) == 0
    assert clusters_of(page) == ["0", "1", "2"]
    report = ["report", str(result), "--no-pictures", "-q", "--force", "--names"]
    assert main([*report, 'gold,"tin, old",clay']) == 0
    assert clusters_of(page) == ["gold", "tin, old", "clay"]
    (tmp_path / "names.txt").write_text("gold\ntin, old\nclay\n\n")
    assert main([*report, str(tmp_path / "names.txt")]) == 0
    assert clusters_of(page) == ["gold", "tin, old", "clay"]
    capsys.readouterr()
    assert main([*report, "gold,tin"]) == 1
    assert "must be 3 different names, one for each cluster. Got 2" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*report, "gold,tin,tin"])
    assert "must be different names" in capsys.readouterr().err


def test_names_may_be_longer_than_the_name_of_a_file(result):
    names = [letter * 90 for letter in "abc"]
    assert (
        main(["report", str(result), "--no-pictures", "-q", "--force", "--names", ",".join(names)])
        == 0
    )
    assert clusters_of(result / "report.html") == names


def test_the_checklist_alone_is_written_as_a_table(result, tmp_path, capsys):
    out = tmp_path / "list.csv"
    assert main(["report", str(result), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"The reporting checklist is {out}.\n"
    first, *rows = out.read_text("utf-8").splitlines()
    assert first == '"Part","Item","State","What"'
    assert '"Data","Number of objects","done","18."' in rows
    assert '"Data","Missing values","done","No label of the clusterings is missing."' in rows
