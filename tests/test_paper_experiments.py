"""Small versions of the papers' experiments run, count correctly, and resume after a stop."""

import csv
import json
import re

import numpy as np
import pytest
from experiments import kept as keeping
from experiments import paper_sets, results
from experiments.fca2016 import figures as fca
from experiments.kept import Kept, fill
from experiments.pcc2013 import convergence, digits, explained, kdd, matrices, standins, tables
from experiments.pcc2013 import printed as of_pcc
from experiments.peace2013 import figures as peace
from experiments.peace2013 import printed as of_peace
from experiments.peace2013 import settings as peace_settings
from experiments.peace2013 import text
from experiments.peace2013.stemmer import stem
from experiments.robust2013 import figures as robust
from experiments.robust2013.settings import even
from sklearn.feature_extraction.text import TfidfTransformer

from conclust.datasets import Dataset


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------------- kept results


def squares(unit, names):
    return {name: {"square": int(unit) ** 2 / 3, "name": name} for name in names}


def test_results_are_kept_and_continued(tmp_path, capsys):
    path, settings = tmp_path / "there" / "found.json", {"runs": 3}
    store = Kept(path, settings)
    fill(store, {"1": ["a"], "2": ["a"]}, squares, 1)
    assert json.loads(path.read_text())["found"]["2"]["a"] == {"square": 1.333333, "name": "a"}
    assert "2 of 2" in capsys.readouterr().out
    asked = []

    def seen(unit, names):
        asked.append((unit, names))
        return squares(unit, names)

    repeated = Kept(path, settings)
    fill(repeated, {"1": ["a", "b"], "2": ["a"], "3": ["b"]}, seen, 1)
    assert asked == [("1", ["b"]), ("3", ["b"])]
    assert set(Kept(path, settings).found["1"]) == {"a", "b"}
    with pytest.raises(SystemExit, match=r"made with .* give these, or another --out"):
        Kept(path, {"runs": 4})


def test_results_do_not_depend_on_processes(tmp_path):
    one, two = Kept(tmp_path / "one.json", {}), Kept(tmp_path / "two.json", {})
    wanted = {str(unit): ["a", "b"] for unit in range(5)}
    fill(one, wanted, squares, 1)
    fill(two, wanted, squares, 2)
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()


def test_work_before_a_failure_is_kept(tmp_path):
    def fails(unit, names):
        if unit == "3":
            raise RuntimeError("no more")
        return squares(unit, names)

    store = Kept(tmp_path / "found.json", {})
    with pytest.raises(RuntimeError, match="no more"):
        fill(store, {str(unit): ["a"] for unit in range(5)}, fails, 1)
    assert set(Kept(tmp_path / "found.json", {}).found) == {"0", "1", "2"}
    assert keeping.rounded({"a": (np.float64(0.12345678), np.arange(2))}) == {
        "a": [0.123457, [0, 1]]
    }


# -------------------------------------------------------------------------------------- PCC's tables


def test_tables_of_small_ensembles_are_computed(tmp_path, capsys):
    tables.main(["--quick", "--sets", "iris", "--jobs", "1", "--out", str(tmp_path)])
    actual = {row["method"]: row for row in rows_of(tmp_path / "table_5.csv") if row["iris"]}
    assert 0.8 < float(actual["PCC-KL"]["iris"]) <= 1.0
    rows = rows_of(tmp_path / "table_5.csv")
    assert rows[1] == {"method": "(printed)", "iris": "0.97"}
    assert len(rows_of(tmp_path / "reached.csv")) == 4
    spread = rows_of(tmp_path / "table_4_spread.csv")
    assert [row["over starts"] for row in spread[:3]] == ["std", "max", "min"]
    assert [row["iris, printed"] for row in spread[:3]] == ["0.1", "0.91", "0.69"]
    assert "Table 4" in capsys.readouterr().out


def made_up_tables():
    """Two sets; PCC-KL is the best on one, CSPA on the other, by a hair with a second."""
    store = Kept(None, {})
    for kind in paper_sets.KINDS:
        for name, scores in {
            "iris": {"PCC-KL": 0.9, "CSPA": 0.8},
            "wine": {"PCC-KL": 0.7, "CSPA": 0.91, "QMI": 0.906},
        }.items():
            for seed in range(2):
                values = {
                    method: {"H": [scores.get(method, 0.5) + 0.01 * seed]}
                    for method in tables.PAPERS
                }
                store.add(f"{kind}/{name}/{seed}", values)
            store.add(f"{kind}/{name}/starts", {"PCC-KL": {"H": [0.1, 0.3]}})
    return store


def test_cells_and_claims_are_counted():
    kept = made_up_tables()
    cells = {
        (row["ensemble"], row["method"], row["set"]): row
        for row in tables.reached(kept, ["iris", "wine"])
    }
    assert len(cells) == 8
    iris = cells["ensemble 1", "PCC-KL", "iris"]
    assert (iris["printed"], iris["mean H"], iris["reached"]) == (0.86, pytest.approx(0.905), "yes")
    assert cells["ensemble 2", "PCC-KL", "iris"]["reached"] == "no"  # .905 < .97 - .01
    assert cells["ensemble 1", "PCC-KL", "wine"]["reached"] == "no"
    best = {
        row["method"]: row["best, of ours"]
        for row in tables.claims(kept, ["iris", "wine"])
        if row["ensemble"] == "ensemble 1"
    }
    assert best == dict.fromkeys(tables.PAPERS, 0) | {"PCC-KL": 1, "CSPA": 1, "QMI": 1}
    spread = tables.spread(kept, "ensemble 1", "H", ["iris"])[:3]
    assert [row["iris"] for row in spread] == [pytest.approx(0.1), 0.3, 0.1]


def test_printed_tables_are_consistent():
    for (kind, measure), table in of_pcc.AVERAGES.items():
        for method, values in table.items():
            assert len(values) == len(of_pcc.COLUMNS)
            if measure != "H":
                continue
            rand = of_pcc.AVERAGES[kind, "Rand"][method]
            # The columns of one run: an average over starts need not obey it.
            spread = of_pcc.SPREADS[kind, "H"].get(method, (np.zeros(9),))[0]
            for name in ("house-votes", "breast-cancer", "ionosphere"):
                at = of_pcc.COLUMNS.index(name)
                if spread[at] == 0:
                    h = values[at]
                    assert rand[at] == pytest.approx(h**2 + (1 - h) ** 2, abs=0.011)
    assert len(of_peace.TEXT["CI"]["PEACE"]) == 4


def test_sets_are_scaled_where_units_differ():
    for name in ("iris", "wine"):
        X, y = paper_sets.points(name)
        assert len(np.unique(y)) == paper_sets.SETS[name].k
        assert (X.max() == 1.0) == (name == "wine")
    labels = paper_sets.members("ensemble 2", "iris", paper_sets.points("iris")[0], 0)
    assert labels.shape == (150, 6 * 10)


# ---------------------------------------------------------------------------------- the other papers


def test_figures_of_the_robustness_paper_are_drawn(tmp_path):
    robust.main(["--quick", "--sets", "iris", "--jobs", "1", "--out", str(tmp_path)])
    (row,) = rows_of(tmp_path / "mixed_noisy.csv")
    assert float(row["WEIGHTED+rho"]) > 0.8
    assert 0 <= float(row["random weight, rho"]) < 0.2
    assert (tmp_path / "figure_3.png").stat().st_size > 10_000
    assert len(rows_of(tmp_path / "claims.csv")) == 12
    X, _ = paper_sets.points("iris")
    assert robust.ensemble("mixed", "iris", X, 0, few=True).shape == (150, 56)
    assert even(range(2, 11), 9) == list(range(2, 11))
    assert even(range(2, 11), 10)[::9] == [2, 10]


def test_robust_claims_are_counted():
    store = Kept(None, {})
    gains = {"iris": 0.02, "wine": 0.004, "cigar": -0.02}
    for kind in robust.KINDS:
        for name, gain in gains.items():
            values = {"clean": 0.5, "noisy": 0.4}
            better = {key: value + gain for key, value in values.items()} | {"kept": 0.1}
            store.add(
                f"{kind}/{name}/0",
                {
                    "UN-WEIGHTED": values,
                    "WEIGHTED+rho": better,
                    "WEIGHTED+l2": values | {"kept": 0.0},
                    **dict.fromkeys(robust.LATER, values),
                },
            )
    rows = robust.claims(store, list(gains))
    actual = {(row["ensembles"], row["partitions"], row["weights"]): row for row in rows}
    rho = actual["mixed", "clean", "WEIGHTED+rho"]
    assert (rho["better"], rho["same"], rho["worse"]) == (1, 1, 1)
    assert actual["mixed", "clean", "WEIGHTED+l2"]["same"] == 3
    both = actual["k-means", "clean", "the better of both"]
    assert (both["better"], both["worse"], both["paper: better"]) == (1, 0, 8)
    moved = robust.moved(store, list(gains))
    assert [row["mean change"] for row in moved] == pytest.approx([-0.1] * 12)


def test_figures_of_the_peace_paper_are_drawn(tmp_path):
    peace.main(["--quick", "--sets", "iris", "--jobs", "1", "--out", str(tmp_path)])
    (row,) = rows_of(tmp_path / "ensemble_2_ci.csv")
    assert all(float(row[method]) > 0.6 for method in peace.PAPER)
    assert (tmp_path / "figure_2.png").exists()
    store = Kept(tmp_path / "figures.json", {"few": True})
    for actual in store.found.values():
        actual["PEACE"] = dict.fromkeys(peace.SCORES, 1.1)
    claims = peace.claims(store, ["iris"])
    assert all((row["PEACE best"], row["sets"]) == (1, 1) for row in claims)


def test_stems_match_the_examples_of_porter():
    # The examples of Porter's paper.
    pairs = """
        caresses caress ponies poni ties ti cats cat feed feed agreed agre plastered plaster bled bled motoring motor
        sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed
        fizz failing fail filing file happy happi sky sky relational relat conditional condit rational ration valenci
        valenc digitizer digit radicalli radic vietnamization vietnam operator oper feudalism feudal decisiveness decis
        hopefulness hope callousness callous formaliti formal sensibiliti sensibl triplicate triplic formative form
        electriciti electr electrical electr goodness good revival reviv allowance allow airliner airlin adjustable
        adjust defensible defens irritant irrit replacement replac adjustment adjust dependent depend adoption adopt
        homologou homolog communism commun activate activ effective effect bowdlerize bowdler probate probat rate rate
        cease ceas controll control roll roll generalizations gener oscillators oscil
    """.split()  # noqa: SIM905
    assert [stem(word) for word in pairs[::2]] == pairs[1::2]


@pytest.fixture
def made_up_texts(monkeypatch):
    """Three groups of documents, one of which shares word stems with another, and a group to be dropped."""
    rng = np.random.default_rng(0)
    stems = ["connect", "relat", "driver", "church", "window", "planet"]
    words = (*stems, "connected", "relational", "the", "rare")
    groups = ("alt.a", "rec.b", "rec.c", "talk.politics.misc")
    y = np.repeat(np.arange(4), 60)
    counts = rng.poisson(0.3, (240, 10))
    for group in range(4):
        rows = y == group
        counts[np.ix_(rows, [2 * min(group, 2), 2 * min(group, 2) + 1])] += rng.poisson(
            4.0, (60, 2)
        )
    counts[:, 8] = 9
    counts[:, 9] = 0
    counts[:3, 9] = 1
    counts[5, :8] = 0
    made = Dataset("mini_newsgroups", text.sp.csr_array(counts), y, words, groups, "made up")
    monkeypatch.setattr(text, "load", lambda name: made)
    monkeypatch.setattr(text, "available", lambda: ["mini_newsgroups"])
    monkeypatch.setitem(peace_settings.DIMENSIONS, "miniN", 5)
    return counts, y


def test_texts_are_prepared_as_in_the_paper(made_up_texts):
    counts, y = made_up_texts
    X, classes, without = text.documents("miniN")
    # 180 of three groups, less the one without a word; rec.b and rec.c are one class.
    assert X.shape == (179, 5)
    assert without == 1
    np.testing.assert_array_equal(np.bincount(classes), [59, 120])
    kept_counts = counts[y < 3]
    joined = kept_counts[:, :6].copy()
    joined[:, 0] += kept_counts[:, 6]
    joined[:, 1] += kept_counts[:, 7]
    weights = TfidfTransformer().fit_transform(joined).toarray()
    # Columns by the alphabet of the stems, without the one that varies least.
    order = np.argsort(["connect", "relat", "driver", "church", "window", "planet"])
    weights = weights[:, order]
    chosen = np.sort(np.argsort(-weights.var(axis=0))[:5])
    np.testing.assert_allclose(X, np.delete(weights[:, chosen], 5, axis=0), atol=1e-12)


def test_texts_are_clustered(made_up_texts, tmp_path, capsys):
    text.main(["--quick", "--sets", "miniN", "--jobs", "1", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "tables_2_3.csv")
    ours = [row for row in rows if row["score"] == "CI" and row["method"] == "PEACE"]
    assert [row["ensemble"] for row in ours] == ["E1a", "E1b"]
    for row in ours:
        values = {key: float(row[key]) for key in ("selected", "av", "max", "min")}
        assert values["min"] <= values["av"] <= values["max"]
        assert values["min"] <= values["selected"] <= values["max"]
    assert "1 documents without any" in capsys.readouterr().out
    later = {(row["method"], row["score"]): row for row in rows_of(tmp_path / "later.csv")}
    assert len(later) == (len(text.TEXT_METHODS) + len(text.TEXT_LATER)) * 3
    assert later["PEACE", "CI"]["E1a, miniN"] == ours[0]["selected"]
    assert all(0 < float(row["E1b, miniN"]) <= 1 for row in later.values())
    values = {"CI": [0.2, 0.9, 0.4], "criterion": [3.0, 1.0, 2.0]}
    assert text.spread(values, "CI") == (
        0.9, pytest.approx(0.5), pytest.approx(np.std([0.2, 0.9, 0.4])), 0.9, 0.2,
    )  # fmt: skip


def test_figures_of_the_fca_paper_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(fca, "COMPARED", fca.COMPARED[:2])
    monkeypatch.setattr(fca, "MEMBERS", fca.MEMBERS[:1])
    monkeypatch.setattr(fca, "SIZES", (100,))
    fca.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    two, _ = rows_of(tmp_path / "figures_5_to_8_5_variance.csv")
    # Two clusters: nearly found, as the paper has it.
    assert float(two["FCA, best share"]) > 0.95
    assert float(two["FCA, best share"]) >= float(two["FCA-Consensus"])
    best = {row["best share"] for row in rows_of(tmp_path / "figure_2_5_variance.csv")}
    assert len(best) > 1  # "the best is not constant"
    row = dict.fromkeys(fca.PAPERS, 0.5) | {"CSPA": 0.9, "MCLA": 0.504}
    assert fca.rank_of(row, "FCA-Consensus") == 2
    assert len(rows_of(tmp_path / "claims.csv")) == 2


@pytest.mark.parametrize("dimensions", [3, 5])
def test_fca_clusters_have_the_spread_of_the_paper(dimensions):
    for spread, centre, low, high in (
        ("variance", np.sqrt(0.7), np.sqrt(0.1), np.sqrt(0.3)),
        ("deviation", 0.7, 0.1, 0.3),
    ):
        within, between = [], []
        for seed in range(40):
            X, y = fca.draw_points(900, 9, dimensions, spread, seed)
            centres = np.array([X[y == c].mean(axis=0) for c in range(9)])
            within += [float((X[y == c] - centres[c]).std()) for c in range(9)]
            between.append(centres.std())
        assert low * 0.85 < min(within)
        assert max(within) < high * 1.15
        assert np.mean(between) == pytest.approx(centre, rel=0.1)


# -------------------------------------------------------------------------- sections 7.1, 7.3 and 7.4


def test_solvers_converge_to_the_same_objective(tmp_path):
    convergence.main(["--quick", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "convergence.csv")
    for divergence in ("kl", "l2"):
        values = [float(row["objective"]) for row in rows if row["divergence"] == divergence]
        np.testing.assert_allclose(values, min(values), rtol=1e-3)
    assert all(float(row["KKT gap"]) < 1e-4 for row in rows)
    assert (tmp_path / "convergence.png").exists()


def test_clusters_are_aligned_with_the_true_ones():
    truth = np.eye(3)[[0, 0, 1, 2, 2]]
    Y = np.column_stack([np.zeros(5), truth[:, 2], truth[:, 0], truth[:, 1]])
    np.testing.assert_array_equal(
        convergence.aligned(Y, truth), np.column_stack([truth, np.zeros(5)])
    )


def test_kdd_runs_on_generated_connections(tmp_path, capsys, monkeypatch):
    names = tuple(f"f{k}" for k in range(6)) + kdd.CONSTANT
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 2500)
    X = rng.normal(size=(10_000, 8)) + 8.0 * rng.normal(size=(4, 8))[y]
    X[:, 6:] = 1.0
    made_up = Dataset("kdd99_10percent", X, y, names, ("other", *kdd.CLASSES), "made up")
    monkeypatch.setattr(kdd, "load", lambda name: made_up)
    monkeypatch.setattr(kdd, "METHODS", {k: kdd.METHODS[k] for k in ("PCC-l2, nK steps", "CSPA")})
    points, classes = kdd.connections(100, rng)
    assert points.shape == (300, 6)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(classes, np.repeat([0, 1, 2], 100))
    kdd.made.cache_clear()
    kdd.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    kdd.made.cache_clear()
    rows = rows_of(tmp_path / "figure_5.csv")
    assert [row["K"] for row in rows] == ["3", "10", "3", "10"]
    assert float(rows[0]["H"]) > 0.9
    assert [float(row["per mille"]) for row in rows_of(tmp_path / "figure_6.csv")] == [
        pytest.approx(2000 * pairs / 2999) for pairs in (2, 15)
    ]
    assert "H of a member" in capsys.readouterr().out


def test_strokes_of_a_digit_are_drawn(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    shapes = rng.uniform(0, 100, (3, 16))
    y = np.repeat([0, 1], 60)
    X = np.where(y[:, None] == 0, shapes[rng.integers(0, 3, 120)], 0) + rng.normal(size=(120, 16))
    made_up = Dataset("pendigits", X, y, tuple(map(str, range(16))), ("2", "3"), "made up")
    monkeypatch.setattr(digits, "load", lambda name: made_up)
    digits.main(["--quick", "--jobs", "1", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "digits.csv")
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1.0)
    assert all(0 <= float(row["m to 1"]) <= 1 for row in rows)
    assert (tmp_path / "figure_8.png").stat().st_size > 10_000
    assert "largest m_kl" in capsys.readouterr().out
    Y = np.array([[0.2, 0.8], [0.9, 0.1], [0.6, 0.4], [0.0, 1.0]])
    assert digits.in_blocks(Y).tolist() == [1, 2, 3, 0]


def test_stand_ins_are_judged_by_methods_other_than_pcc(tmp_path, monkeypatch):
    monkeypatch.setattr(standins, "CANDIDATES", {"rings": ("rings",)})
    standins.main(["--quick", "--out", str(tmp_path)])
    with (tmp_path / "standins.csv").open(encoding="utf-8") as file:
        printed, found = csv.DictReader(file)
    away = np.mean([abs(float(found[one]) - float(printed[one])) for one in standins.JUDGES])
    assert float(found["judges away"]) == pytest.approx(away, abs=1e-3)
    assert printed["PCC-KL"] == "0.53"


def test_matrices_are_drawn(tmp_path):
    matrices.main(["--quick", "--sets", "iris", "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"figure_3.png", "figure_4.png"}


def test_cells_are_explained():
    store = Kept(None, {})
    for seed in range(2):
        values = {
            "PCC-KL": [[0.5, 10.0], [0.4, 11.0], [0.9, 12.0 + seed]],
            "PCC-l2": [[0.5, 1.0]] * 3,
        }
        ways = {m: dict(zip(explained.WAYS, actual, strict=True)) for m, actual in values.items()}
        for scaling in explained.SCALINGS:
            store.add(f"iris/{scaling}/{seed}", ways)
    first, *_, last = explained.rows_of(store, ["iris"])
    assert (first["H"], first["H, nK steps"], first["H, from the classes"]) == (0.5, 0.4, 0.9)
    assert first["objective above ours, %"] == pytest.approx(10.0)
    assert first["objective above ours from the classes, %"] == pytest.approx(25.0)
    assert (last["method"], last["objective above ours from the classes, %"]) == ("PCC-l2", 0.0)


def test_the_page_of_results_matches_the_folders():
    page = results.page()
    assert "<!-- table" not in page
    assert (results.HERE / "RESULTS.md").read_text("utf-8") == page
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page):
        assert (results.HERE / link).exists(), link
