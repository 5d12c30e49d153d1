"""CSV files in other encodings than UTF-8, and ``--encoding``."""

import argparse
import gzip

import numpy as np
import pytest

from conclust.cli import main
from conclust.cli.options import encoding_named
from conclust.cli.reading.inputs import Reading, read_ensemble
from conclust.exceptions import FileFormatError


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(
    "encoding", ["cp1252", "latin-1", "utf-16-le", "utf-16-be", "utf-8", "utf-7", "UTF_16LE"]
)
def test_text_in_the_given_encoding_reads_like_utf_8(tmp_path, encoding, packing):
    text = "näme,x,größe\r\nMüller,1,ä\r\nö,2,ß\r\nü,2,ä\r\n" + "é,1,ß\r\n" * 3000
    content = text.encode(encoding)
    path = tmp_path / f"a.csv{packing}"
    path.write_bytes(gzip.compress(content) if packing else content)
    read = read_ensemble(path, Reading(id_column="näme", encoding=encoding_named(encoding)))
    assert read.names == ("x", "größe")
    assert read.ids[:3] == ["Müller", "ö", "ü"]
    assert read.ensemble.names == ((1, 2), ("ä", "ß"))
    assert read.ensemble.labels[:3].tolist() == [[0, 0], [1, 1], [1, 0]]
    assert read.ensemble.n_samples == 3003


def test_byte_order_marks_take_precedence_over_the_given_encoding(tmp_path):
    text = "\ufeffä,日本\n1,🙂\n1,b\n"
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        read = read_ensemble(tmp_path / "a.csv", Reading(encoding="cp1252", header=True))
        assert read.names == ("ä", "日本")
        assert read.ensemble.names == ((1,), ("🙂", "b"))


def test_files_in_another_encoding_than_the_given_one_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    for content, encoding, sentence in (
        ("a,b\n1,2\nß,2\n".encode("cp1252"), "ascii", "is not valid ascii at line 3"),
        ("a,b\n1,2\nß,2\n".encode("cp1252"), "utf-8", "is not valid utf-8 at line 3"),
        (b"a,b\n1,23\n", "utf-16-le", "is not valid utf-16-le"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=sentence):
            read_ensemble(path, Reading(encoding=encoding))
    for name in ("klingon", "hex", "", "rot13", "utf-16", "UTF_32"):
        with pytest.raises(argparse.ArgumentTypeError, match="encoding of text that Python knows"):
            encoding_named(name)


def test_commands_read_all_csv_files_in_the_given_encoding(tmp_path, capsys):
    rows = "".join(f"Mü{i},{i // 5},{i // 6}\n" for i in range(30))
    table, weights = tmp_path / "a.csv", tmp_path / "w.csv"
    table.write_bytes(f"id,größe,é\n{rows}".encode("cp1252"))
    weights.write_bytes("é,größe\n1,2\n".encode("cp1252"))
    words = ["combine", str(table), "--weights", str(weights), "--out", str(tmp_path / "o"), "-q"]
    assert main(words) == 1
    assert "Give its encoding, for instance --encoding cp1252" in capsys.readouterr().err
    assert main([*words, "--encoding", "windows-1252"]) == 0
    assert "Mü7," in (tmp_path / "o" / "labels.csv").read_text("utf-8")
    np.save(tmp_path / "a.npy", np.zeros((4, 3), dtype=int))
    assert main(["combine", str(tmp_path / "a.npy"), "--out", "-", "--encoding", "cp1252"]) == 1
    assert "--encoding and --na are for CSV files" in capsys.readouterr().err
