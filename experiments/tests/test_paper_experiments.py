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
from experiments.pcc2013 import convergence, explained, tables
from experiments.pcc2013 import printed as of_pcc
from experiments.peace2013 import printed as of_peace
from experiments.peace2013 import settings as peace_settings
from experiments.peace2013 import text
from experiments.peace2013.stemmer import stem
from experiments.robust2013 import figures as robust
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


@pytest.mark.parametrize("dimensions", [3])
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


def test_clusters_are_aligned_with_the_true_ones():
    truth = np.eye(3)[[0, 0, 1, 2, 2]]
    Y = np.column_stack([np.zeros(5), truth[:, 2], truth[:, 0], truth[:, 1]])
    np.testing.assert_array_equal(
        convergence.aligned(Y, truth), np.column_stack([truth, np.zeros(5)])
    )


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
