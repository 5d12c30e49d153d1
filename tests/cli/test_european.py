"""Tables as spreadsheets write them: notations found by whole columns, one refusal, predict that reads alike, doubts."""

from __future__ import annotations

import json
import shlex
from datetime import date

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.cli import european

from conclust.cli import main
from conclust.cli.reading.inputs import Reading, read_points
from conclust.exceptions import InputError
from conclust.report import account

HOW = ["--categories", "Tarif,Kanal,Newsletter", "--id-column", "Kundennr", "--impute", "median"]
GIVEN = Reading(id_column="Kundennr", categories=("Tarif", "Kanal", "Newsletter"), gaps=True)


def points(tmp_path, lines, **how):
    path = tmp_path / "points.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_points(path, Reading(**how))


def column(tmp_path, *cells, **how):
    """Read one column of a file with semicolons, beside one of whole numbers."""
    read = points(tmp_path, ["x;n", *(f"{cell};{i}" for i, cell in enumerate(cells))], **how)
    return read.X[:, 0].tolist()


def test_the_customers_are_read_in_one_go(tmp_path):
    european.write(tmp_path / "okt.csv", 200)
    rows, _ = european.segments(200)
    read = read_points(tmp_path / "okt.csv", GIVEN)
    assert read.names == (
        "Umsatz (EUR)",
        "Bestellungen",
        "Retourenquote",
        "Alter",
        "Kunde seit",
        "letzte Bestellung",
    )
    number = [
        float(cell.rstrip(" %").replace(".", "").replace(",", "."))
        for _, _, _, _, *cells, _, _, _ in rows
        for cell in cells
    ]
    np.testing.assert_allclose(read.X[:, :3].ravel(), number, rtol=1e-12)
    unknown = [row[7] == "k.A." for row in rows]
    assert sum(unknown) == 10
    assert np.isnan(read.X[:, 3]).tolist() == unknown
    epoch = date(1970, 1, 1)
    german = [(date(*map(int, reversed(row[8].split(".")))) - epoch).days for row in rows]
    assert read.X[:, 4].tolist() == german
    assert read.X[:, 5].tolist() == [(date.fromisoformat(row[9]) - epoch).days for row in rows]
    said = " ".join(read.notes)
    for what in (
        "decimal commas in 'Umsatz (EUR)'",
        "per cent, decimal commas in 'Retourenquote'",
        "dates (DD.MM.YYYY) as days in 'Kunde seit'",
        "dates (YYYY-MM-DD) as days in 'letzte Bestellung'",
        "'k.A.' as empty in 'Alter'",
    ):
        assert what in said


def test_one_refusal_lists_all_columns_and_a_command_that_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    truth = european.write(tmp_path / "okt 24.csv", 300)
    words = ["cluster", "okt 24.csv", "-k", "4", "--partitions", "10"]
    assert main(words) == 1
    refusal = capsys.readouterr().err
    for name in european.HEADER.split(";"):
        assert repr(name) in refusal
    (command,) = [line for line in refusal.splitlines() if line.startswith("  conclust ")]
    assert command.strip().startswith("conclust cluster 'okt 24.csv' -k 4")
    assert main(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr()
    assert "decimal commas in 'Umsatz (EUR)'" in printed.err.splitlines()[0]
    lines = (tmp_path / "result" / "labels.csv").read_text().splitlines()
    assert adjusted_rand_score(truth, [line.split(",")[1] for line in lines[1:]]) > 0.9


def test_names_of_columns_are_quoted_for_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i}.5,{'ab'[i % 2]},{'xy'[i % 2]},free text {i}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(['n,"Tarif (alt, neu)",$PATH,note', *rows]))
    assert main(["cluster", "a.csv", "--drop", "note", "--partitions", "4", "--out", "o"]) == 1
    (command,) = [
        line for line in capsys.readouterr().err.splitlines() if line.startswith("  conclust ")
    ]
    assert main(shlex.split(command)[1:]) == 0
    assert json.loads((tmp_path / "o/result.json").read_text())["input"]["categories"] == [
        "Tarif (alt, neu)",
        "$PATH",
    ]


@pytest.mark.parametrize("more", [[], ["--columns", "a,b,c"]])
def test_a_slip_and_a_column_that_cannot_be_read_are_settled_by_the_command(
    tmp_path, monkeypatch, capsys, more
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{x},{y},07/0{i % 9 + 1}/2024" for i, (x, y) in enumerate(rng.normal(size=(40, 2)))]
    rows[7] = "oops,1,01/01/2024"
    (tmp_path / "a.csv").write_text("\n".join(["a,b,c", *rows]))
    words = ["cluster", "a.csv", "--partitions", "4", "-k", "2", "--out", "o", *more]
    assert main(words) == 1
    refusal = capsys.readouterr().err
    assert "'oops' in line 9, column 1 ('a') is not a number" in refusal
    (command,) = [line for line in refusal.splitlines() if line.startswith("  conclust ")]
    assert main(shlex.split(command)[1:]) == 0
    assert json.loads((tmp_path / "o/result.json").read_text())["input"]["columns"] == ["a", "b"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("2.707,91", "481,70"), [2707.91, 481.7]),
        (("2,707.91", "481.70"), [2707.91, 481.7]),
        (("1'234.5", "7"), [1234.5, 7]),
        (("12 345", "7"), [12345, 7]),
        (("12\u202f345,5", "7"), [12345.5, 7]),
        (("23,7 %", "5%"), [23.7, 5]),
        (("12,50 €", "1.000,00 €"), [12.5, 1000]),
        (("1,5e-03", "2"), [0.0015, 2]),
        (("\u22121,5", "2"), [-1.5, 2]),
        (("07-13-2024", "08-01-2024"), [19917, 19936]),
        (("1.234", "5.678"), [1.234, 5.678]),  # a point alone is a decimal sign
        (("0,123", "5,678"), [0.123, 5.678]),  # no thousands begin with 0
        (("07.04.2024", "8.4.2024"), [19820, 19821]),
        (("07/13/2024", "08/01/2024"), [19917, 19936]),
        (("2024-04-07 12:00:00", "2024-04-08T06:00"), [19820.5, 19821.25]),
    ],
)
def test_notations_are_found_by_the_whole_column(tmp_path, cells, values):
    assert column(tmp_path, *cells) == values


def test_other_columns_and_options_decide_ambiguous_columns(tmp_path):
    with pytest.raises(
        InputError, match=r"'1,234', which may be comma or point .*\n.*\n.*\n\n.*--decimal=comma"
    ):
        column(tmp_path, "1,234", "5,678")
    assert column(tmp_path, "1,234", "5,678", decimal="comma") == [1.234, 5.678]
    assert column(tmp_path, "1,234", "5,678", decimal="point") == [1234, 5678]
    lines = ["x;y", "1,234;0,5", "5,678;1,5"]
    assert points(tmp_path, lines).X[:, 0].tolist() == [1.234, 5.678]
    lines = ["x;y", "1.234;0,5", "5.678;1,5"]
    assert points(tmp_path, lines).X[:, 0].tolist() == [1234, 5678]
    with pytest.raises(InputError, match=r"MM/DD/YYYY"):
        column(tmp_path, "07/04/2024", "08/04/2024")


def test_codes_and_points_that_may_stand_between_thousands_are_named(tmp_path):
    lines = ["plz;umsatz;n", *(f"0{1067 + i % 3};{i}.{700 + i};{i:02d}" for i in range(1, 9))]
    read = points(tmp_path, lines)
    assert read.names == ("umsatz", "n")
    assert "its column 'plz', which may name the rows, left out" in read.notes
    assert any("not between thousands" in note and "'umsatz'" in note for note in read.notes)
    assert points(tmp_path, lines, decimal="comma").X[0].tolist() == [1701, 1]
    assert points(tmp_path, lines, columns=("plz", "n")).X[0].tolist() == [1068, 1]


@pytest.mark.parametrize(
    "cells",
    [
        ("1,5", "2.5"),  # two notations
        ("31.02.2024", "01.02.2024"),
        ("1.23.456", "1"),
        ("5 %", "5"),
        ("k.A.", "none"),
        ("1_000", "2"),
        ("0x1F", "2"),
        ("\u0661", "2"),
    ],
)
def test_columns_that_disagree_are_refused(tmp_path, cells):
    with pytest.raises(InputError, match="'x' "):
        column(tmp_path, *cells, gaps=True)


def test_words_are_answers_besides_words(tmp_path):
    """Only beside numbers "-" and "k.A." are empty."""
    lines = ["x;plan", *(f"{i};{'k.A.' if i % 3 else 'Pro'}" for i in range(9))]
    read = points(tmp_path, lines, categories=("plan",))
    assert set(read.categories[:, 0]) == {"k.A.", "Pro"}


def test_predict_reads_as_the_result_was_read(tmp_path, capsys):
    european.write(tmp_path / "okt.csv", 200)
    out = str(tmp_path / "o")
    command = f"cluster {tmp_path / 'okt.csv'} -k 4 --partitions 10 --out {out} -q"
    assert main([*command.split(), *HOW]) == 0
    rows, _ = european.segments(200)
    labels = [
        line.split(",")[:2] for line in (tmp_path / "o/labels.csv").read_text().splitlines()[1:]
    ]
    since = [date(*map(int, row[8].split(".")[::-1])).toordinal() for row in rows]
    mean = np.mean([day for day, (_, label) in zip(since, labels, strict=True) if label == "0"])
    heat = json.dumps(account(out, pictures=False)["sections"][0])
    assert f'"{date.fromordinal(round(mean))}"' in heat
    three = [
        row
        for row in rows
        if row[7] != "k.A." and float(row[4].replace(".", "").replace(",", ".")) >= 1000
    ][:3]
    for row in three:
        row[4] = row[4].split(",")[0]  # 2.707 alone would be a number with a decimal point
    three[0][1] = "Business"
    new = tmp_path / "nov.csv"
    new.write_text("\n".join([european.HEADER, *(";".join(row) for row in three)]))
    capsys.readouterr()
    assert main(["predict", out, str(new), "--out", str(tmp_path / "p")]) == 0
    assert "column 'Tarif': 'Business' (1)." in capsys.readouterr().err
    placed = [
        line.split(",")[:2] for line in (tmp_path / "p/labels.csv").read_text().splitlines()[1:]
    ]
    assert all(row in labels for row in placed)
    new.write_text(
        "\n".join(
            [
                european.HEADER,
                *(";".join(row) for row in three),
                three[0][0] + ";Pro;Web;ja;viel;1;1 %;30;01.01.2020;2024-01-01",
            ]
        )
    )
    assert main(["predict", out, str(new), "--out", str(tmp_path / "q")]) == 1
    assert "'viel' in line 5" in capsys.readouterr().err


def test_totals_and_repeats_are_named_in_the_shell_and_kept_for_the_page(tmp_path, capsys):
    european.write(tmp_path / "okt.csv", 200, repeats=2, total=True)
    assert (
        main(
            [
                "cluster",
                str(tmp_path / "okt.csv"),
                *HOW,
                "-k",
                "4",
                "--partitions",
                "5",
                "--out",
                str(tmp_path / "o"),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().err
    said = json.loads((tmp_path / "o/result.json").read_text())["warnings"]
    for doubt in (
        "'Summe' is the sum of all others in column 'Umsatz (EUR)'",
        "'K-00199' (3 times)",
        "2 rows repeat",
    ):
        assert doubt in printed
        assert any(doubt in text for text in said)
