"""Small versions of the experiments run, and write what they print."""

import csv
import importlib
import json

import numpy as np
import pytest
from experiments import __main__ as everything
from experiments.ccp2010 import examples
from experiments.confidence import ranking
from experiments.default import battery
from experiments.leaderboard import board, pools, tables
from experiments.leaderboard.published import ARI_TRUE_K, ENTRY_OF, NMI_MAX_TRUE_K
from experiments.pcc2013 import planted

import conclust
from conclust.datasets import Dataset, available
from conclust.exceptions import DatasetNotFoundError
from conclust.number import constants


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_planted_truth_is_recovered(tmp_path, capsys):
    planted.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "planted.csv")
    assert {row["divergence"] for row in rows} == {"kl", "l2"}
    assert all(row["as in the paper"] == "yes" for row in rows)
    assert json.loads((tmp_path / "planted.json").read_text())["options"]["seed"] == 0
    assert "paper's J" in capsys.readouterr().out


def test_consensusclusterplus_and_conclust_give_the_same_counts(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [8, 12, 16])
    X = 2.0 ** (8 + rng.normal(size=(3, 60))[y] + rng.normal(size=(36, 60)))
    data = Dataset("made_up", X, y, tuple(map(str, range(60))), tuple("abc"), "made up")
    monkeypatch.setattr(examples, "load", lambda name: data)
    examples.main(["--sets", "golub_leukemia", "--reps", "12", "--quick", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "golub_leukemia_12.csv")
    assert [row["K"] for row in rows] == ["2", "3", "4"]
    for row in rows:
        assert float(row["means differ by"]) < 1e-12
        assert 0 <= float(row["area"]) - float(row["area, exact"]) <= 0.01 + 1e-12
        assert float(row["PAC"]) == pytest.approx(float(row["PAC, exact"]))
    assert float(rows[1]["classes alike"]) == float(rows[1]["ARI"]) == 1.0
    assert "no p-value" in capsys.readouterr().out


def test_consensusclusterplus_separates_pairs_that_were_never_drawn():
    drawn = np.array([[0, -1], [0, 0], [-1, 0], [1, 1]])
    actual = examples.theirs(drawn, 2)
    assert actual.matrix.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    # Four of six pairs are never together: 4 / 6 up to .99, 1 at 1.
    assert actual.area == pytest.approx((99 * 4 / 6 + 1) / 100)
    assert actual.pac == 0


def test_the_default_has_scores_by_seed_next_to_others(tmp_path, capsys):
    only = ["--groups", "shapes", "clouds", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    battery.main(only)
    rows = {row["sets"]: row for row in rows_of(tmp_path / "battery.csv")}
    assert list(rows) == ["shapes", "clouds", "all"]
    assert [row["number"] for row in rows.values()] == ["2", "2", "4"]
    assert rows["shapes"]["range"] == "1.000 to 1.000"  # circles and crescents, two seeds
    for key in ("found", "agree", "least", "told", "told agree"):
        assert float(rows["shapes"][key]) == pytest.approx(1.0)
    assert float(rows["shapes"]["k-means, told"]) < 0.7 < float(rows["shapes"]["HDBSCAN, placed"])
    assert rows["clouds"]["told"] == rows["clouds"]["k-means, told"] == ""  # a single class
    assert {rows["clouds"][name] for name in ("found", "mixture")} <= {"0.0", "0.5", "1.0"}
    printed = capsys.readouterr().out
    assert all(name in printed for name in (*battery.OTHERS, "CPU s", "seeds 300, 301"))
    battery.main(only)  # from what was kept
    assert printed.splitlines()[-4:] == capsys.readouterr().out.splitlines()[-4:]


def test_the_rent_of_each_part_is_listed(capsys):
    battery.main(["--groups", "clouds", "--seeds", "300", "--quick", "--rent", "--jobs", "1"])
    printed = capsys.readouterr().out
    assert all(part in printed for part in (*battery.PARTS, "groups changed"))
    assert set(battery.CONSTANTS) == {name for name in vars(constants) if name.isupper()}
    assert all(replaced for part, replaced in battery.PARTS.items() if part != "nothing")
    as_is = {"found": [0.9], "agree": 1.0}
    scores = dict.fromkeys(battery.PARTS, as_is) | {"whitening": {"found": [0.895], "agree": 1}}
    lines = {
        "pairs: one": scores | {"halves": {"found": [0.5], "agree": 0.8}},
        "clouds: one": scores,
    }
    rows = {row["without"]: row for row in battery.rent_table_of(lines)}
    changed = {part: row["groups changed"] for part, row in rows.items() if row["groups changed"]}
    assert changed == {"halves": "pairs -0.400"}
    assert (rows["halves"]["groups"], rows["halves"]["agree"]) == pytest.approx((-0.2, -0.1))


@pytest.fixture
def made_up_pool(monkeypatch):
    """A pool of 100 partitions of 200 objects, each with more clusters than the four classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 50)
    X = 2 * y[:, np.newaxis] + rng.integers(0, 2, (200, 100))
    X[rng.random(X.shape) < 0.1] = 0
    data = Dataset("pool_lwea_mfeat", X, y, tuple(map(str, range(100))), tuple("abcd"), "made up")
    monkeypatch.setattr(board, "available", lambda: ["pool_lwea_mfeat"])
    monkeypatch.setattr(pools, "load", lambda name: data)


def test_every_method_runs_on_a_pool(made_up_pool, tmp_path, capsys):
    entries = ["MedianPartition", "EAC", "HBGF", "LCE (cts, hierarchical)", "PCC (l2, matched)"]
    few = ["--entries", *entries, "--pools", "usps", "mfeat", "--draws", "3"]
    board.main([*few, "--jobs", "1", "--limit", "60", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "Not here, left out: usps" in printed
    assert "beside published means" in printed
    rows = {row["method"]: row for row in rows_of(tmp_path / "pools_long.csv")}
    names = ["EAC", "HBGF", "PCC (l2, matched)", "LCE (cts, hierarchical)"]
    assert list(rows) == ["mean member", *names, "MedianPartition"]
    for name in names:
        assert (rows[name]["draws"], rows[name]["left out"]) == ("3", "")
        assert float(rows[name]["NMI"]) > float(rows["mean member"]["NMI"])
    lines = (tmp_path / "pools.md").read_text().splitlines()
    assert lines[0] == "| method | mfeat |"
    mean, spread = (float(rows["HBGF"][key]) for key in ("NMI", "spread"))
    assert f"| HBGF | {mean:.3f} ±{spread:.3f} |" in lines
    assert any(line.startswith(f"| MedianPartition{tables.FINDS} | ") for line in lines)
    ranked = rows_of(tmp_path / "board.csv")
    assert [float(row["NMI"]) for row in ranked] == sorted(
        (float(row["NMI"]) for row in rows.values()), reverse=True
    )
    ranks = {row["method"]: row["mean rank"] for row in ranked}
    assert sum(float(rank) for rank in ranks.values() if rank) == 1 + 2 + 3 + 4
    assert ranks[f"MedianPartition{tables.FINDS}"] == ""
    assert (tmp_path / "board.png").stat().st_size > 10_000


def test_a_stopped_run_resumes(made_up_pool, tmp_path, monkeypatch):
    given = ["--entries", "EAC", "HBGF", "--draws", "2", "--jobs", "1", "--out", str(tmp_path)]
    real, measured = board.measure, []

    def measure(entry, *rest):
        measured.append(entry.name)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return real(entry, *rest)

    monkeypatch.setattr(board, "measure", measure)
    with pytest.raises(KeyboardInterrupt):
        board.main(given)
    board.main(given)
    assert measured == ["EAC", "HBGF", "HBGF"]
    first = rows_of(tmp_path / "pools_long.csv")
    board.main([*given, "--again", "EAC"])
    assert measured[3:] == ["EAC"]
    repeated = rows_of(tmp_path / "pools_long.csv")
    assert [row["NMI"] for row in repeated] == [row["NMI"] for row in first]
    with pytest.raises(SystemExit, match="was made with"):
        board.main([*given, "--seed", "1"])


def test_a_method_that_refuses_is_excluded_with_its_reason(
    made_up_pool, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(conclust.DREC, "max_dense", 10)
    board.main(["--entries", "DREC", "HBGF", "--draws", "2", "--out", str(tmp_path)])
    assert "DREC left out of mfeat: " in capsys.readouterr().out
    _, hbgf, drec = rows_of(tmp_path / "pools_long.csv")
    assert (drec["draws"], drec["NMI"], hbgf["draws"]) == ("0", "", "2")
    assert "DREC cuts a matrix of" in drec["left out"]
    table = (tmp_path / "pools.md").read_text()
    assert "| DREC | - |" in table
    assert "-: the method refuses the pool." in table
    assert tables.FEWER not in table


def test_means_over_pools_cover_methods_that_take_all_pools():
    row = {"spread": None, "draws": 1, "told": True, "NMI max": 0.5, "ARI": 0.5, "CPU s": 1.0}
    rows = [
        row | {"pool": "mfeat", "method": "EAC", "NMI": 0.5},
        row | {"pool": "mfeat", "method": "HBGF", "NMI": 0.5},
        row | {"pool": "usps", "method": "EAC", "NMI": 0.75},
        row | {"pool": "usps", "method": "HBGF", "NMI": None},
    ]
    assert [(line["method"], line["mean"]) for line in tables.wide(rows)] == [
        ("EAC", "0.625"),
        ("HBGF", None),
    ]
    ranked = [(line["method"], line["NMI"], line["mean rank"]) for line in tables.board(rows)]
    assert ranked == [("EAC", 0.625, 1.0), ("HBGF", None, None)]


def test_equal_scores_share_a_rank():
    row = {"spread": None, "draws": 1, "told": True, "NMI max": 0.5, "ARI": 0.5, "CPU s": 1.0}
    scores = {"EAC": (0.5, 0.2), "HBGF": (0.5, 0.4), "LWEA": (0.6, 0.3)}
    rows = [
        row | {"pool": pool, "method": name, "NMI": pair[at]}
        for at, pool in enumerate(("mfeat", "usps"))
        for name, pair in scores.items()
    ]
    ranks = {line["method"]: line["mean rank"] for line in tables.board(rows)}
    assert ranks == {"EAC": 2.75, "HBGF": 1.75, "LWEA": 1.5}


def test_published_means_cover_the_printed_pools():
    assert {len(row) for row in (*NMI_MAX_TRUE_K.values(), *ARI_TRUE_K.values())} == {10}
    assert set(NMI_MAX_TRUE_K) == set(ARI_TRUE_K) == set(ENTRY_OF)
    row = {"method": "SEC", "told": True, "ARI": 0.3}
    rows = [row | {"pool": "mfeat", "NMI max": 0.9}, row | {"pool": "usps", "NMI max": 0.4}]
    (line,) = tables.beside_published(rows)
    assert (line["NMI, published"], line["NMI, ours"], line["pools (NMI)"]) == (0.372, 0.4, 1)
    assert line["ARI, published"] == pytest.approx((0.361 + 0.191) / 2)
    assert line["pools (ARI)"] == 2


@pytest.mark.skipif(
    "pool_lwea_mfeat" not in available(),
    reason="the mfeat pool is not in the folder that CONCLUST_DATA names",
)
def test_mfeat_reaches_the_published_score(tmp_path):
    names = ["EAC", "HBGF", "LWEA", "LWGP", "MCLA", "CSPA", "HGPA"]
    few = ["--draws", "8", "--limit", "60", "--out", str(tmp_path)]
    board.main(["--pools", "mfeat", "--entries", *names, *few])
    rows = {row["method"]: row for row in rows_of(tmp_path / "pools_long.csv")}
    for name in names:
        assert rows[name]["draws"] == "8"
        published = NMI_MAX_TRUE_K[name][pools.POOLS.index("mfeat")]
        assert float(rows[name]["NMI max"]) >= published - 0.035, name


def test_the_list_names_every_script(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["experiments", "--list"])
    everything.main()
    printed = capsys.readouterr().out
    assert all(name in printed for name in everything.NAMES)
    for name in everything.NAMES:
        assert callable(importlib.import_module(f"experiments.{name}").main), name
    monkeypatch.setattr("sys.argv", ["experiments", "nonesuch"])
    with pytest.raises(SystemExit):
        everything.main()
    assert "unknown: nonesuch" in capsys.readouterr().err


def test_a_missing_set_is_skipped_and_requested_alone_is_an_error(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CONCLUST_DATA", str(tmp_path))
    monkeypatch.setattr(everything, "NAMES", ("pcc2013.kdd",))
    monkeypatch.setattr("sys.argv", ["experiments", "--quick"])
    everything.main()
    assert "Left out: " in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["experiments", "--quick", "pcc2013.kdd"])
    with pytest.raises(DatasetNotFoundError, match="kdd99"):
        everything.main()


def test_correctness_uses_a_one_to_one_matching():
    y = np.array([0, 0, 0, 1, 1, 2])
    labels = np.array([5, 5, 7, 7, 7, 7])
    np.testing.assert_array_equal(
        ranking.right_of(y, labels), [True, True, False, True, True, False]
    )
    ece, brier = ranking.calibration(np.array([0.95, 0.95, 0.2, 0.2]), np.array([1, 1, 0, 1]) > 0)
    assert ece == pytest.approx(0.5 * 0.05 + 0.5 * 0.3)
    assert brier == pytest.approx((2 * 0.05**2 + 0.2**2 + 0.8**2) / 4)
