"""Committed results: their sources, reproduced cells, and the numbers in prose."""

import csv
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from experiments import __main__ as everything
from experiments import counted, stale
from experiments.confidence import ranking
from experiments.fca2016 import figures as fca
from experiments.kept import Kept
from experiments.leaderboard import board, pools
from experiments.leaderboard.entries import entries
from experiments.leaderboard.tables import split
from experiments.origin import ROOT, Tree, at_commit, commit, experiment_of, here, origin
from experiments.peace2013 import figures as peace

from conclust.exceptions import DatasetNotFoundError

RESULTS = ROOT / "experiments"


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------- what results are made from


def git(root, *given):
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b", *given],
        check=True,
        capture_output=True,
    )


METHOD = """'''A method.'''
from conclust import _kernels
from conclust.measure import m


class Method:
    def fit(self, X: list) -> int:
        if not X:
            raise ValueError("No objects.")
        found = _kernels.a(X)
        return found + m
"""


@pytest.fixture
def project(tmp_path):
    """A repository with an experiment that imports a method, which imports a measure and a kernel."""
    for path, text in {
        "experiments/__init__.py": "",
        "experiments/one/__init__.py": "",
        "experiments/one/run.py": "from conclust import Method\nfrom experiments import shared\nprint(Method, shared.x)\n",
        "experiments/shared.py": "x = 1\n",
        "experiments/one/result/table.md": "1\n",
        "src/conclust/__init__.py": "",
        "src/conclust/__init__.pyi": "from conclust.method import Method as Method\nfrom conclust.other import Other as Other\n",
        "src/conclust/method.py": METHOD,
        "src/conclust/measure.py": "m = 2  # of all\nunused = 5\n",
        "src/conclust/other.py": "o = 3\n",
        "src/conclust/_kernels/__init__.py": "from conclust._kernels._core import a, c\n",
        "src/conclust/_kernels/one/a.cpp": '#include "two/b.h"\nint x() { return 1; } // one\nm.def("a", &x);\n',
        "src/conclust/_kernels/two/b.h": "int b();\n",
        "src/conclust/_kernels/two/b.cpp": "int b() { return 2; }\n",
        "src/conclust/_kernels/three/c.cpp": 'm.def("c", &y);\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_sources_are_the_imports_of_an_experiment(project):
    assert set(here(project).sources("one.run")) == {
        "Method", "m", "x", "kernels: one/a.cpp", "kernels: two/b.cpp", "kernels: two/b.h",
    }  # fmt: skip
    first = commit(project)
    assert at_commit(first, project).sources("one.run") == here(project).sources("one.run")
    assert at_commit("0" * 40, project) is None


@pytest.mark.parametrize(
    ("path", "old", "new", "changed"),
    [
        ("src/conclust/measure.py", "m = 2", "m = 3", ["m"]),
        ("src/conclust/method.py", "found + m", "found - m", ["Method"]),
        ("src/conclust/_kernels/one/a.cpp", "return 1", "return 2", ["kernels: one/a.cpp"]),
        ("src/conclust/_kernels/two/b.cpp", "return 2", "return 3", ["kernels: two/b.cpp"]),
        ("experiments/shared.py", "1", "2", ["x"]),
        # What decides no number.
        ("src/conclust/measure.py", "# of all", "# of some", []),
        ("src/conclust/measure.py", "unused = 5", "unused = 6", []),
        ("src/conclust/measure.py", "m = 2", "n = 1\n\nm = 2", []),
        ("src/conclust/method.py", "A method.", "Another word.", []),
        ("src/conclust/method.py", "No objects.", "Objects are needed.", []),
        ("src/conclust/method.py", "X: list", "X: object", []),
        ("src/conclust/method.py", "found", "solution", []),
        ("src/conclust/_kernels/one/a.cpp", " // one", "", []),
        ("src/conclust/_kernels/three/c.cpp", "&y", "&z", []),
        ("src/conclust/other.py", "3", "4", []),
        ("experiments/one/result/table.md", "1", "2", []),
    ],
)
def test_results_older_than_their_code_are_listed(project, path, old, new, changed):
    made = {
        "experiment": "one.run",
        "commit": commit(project),
        "sources": here(project).fingerprint("one.run"),
    }
    ((_, state, _),) = stale.account(("one.run",), [made], here(project), project)
    assert state == f"up to date (made from {made['commit']})"
    text = (project / path).read_text()
    assert old in text
    (project / path).write_text(text.replace(old, new))
    ((name, state, actual),) = stale.account(("one.run",), [made], here(project), project)
    assert name == "one.run"
    assert actual == changed
    if changed:
        assert state == (
            f"older than its code (made from {made['commit']}; 1 of 6 definitions have changed)"
        )
    else:
        assert state == f"up to date (made from {made['commit']})"


def test_moved_code_counts_as_unchanged(project):
    before = here(project).fingerprint("one.run")
    (project / "src/conclust/moved.py").write_text("m = 2\n")
    (project / "src/conclust/measure.py").write_text("from conclust.moved import m\n")
    assert here(project).fingerprint("one.run") == before


def test_changed_sources_since_a_commit_are_listed(project):
    assert not commit(project).endswith("-dirty")
    (project / "experiments/one/result/kept.json").write_text("{}\n")
    assert not commit(project).endswith("-dirty")
    (project / "src/conclust/other.py").write_text("o = 5\n")
    assert commit(project).endswith("-dirty")
    assert commit(project.parent) == "unknown"
    ((_, state, changed),) = stale.account(
        ("one.run",), [{"experiment": "one.run", "commit": "0" * 10, "sources": "a"}], here(project), project
    )  # fmt: skip
    assert "not in this clone" in state
    assert changed == []
    ((_, state, _),) = stale.account(("two",), [], here(project), project)
    assert state == "not known what it was made from"


def test_files_record_their_sources(tmp_path):
    made = origin("pcc2013.tables")
    assert set(made) == {"experiment", "commit", "sources"}
    store = Kept(tmp_path / "kept.json", {}, made)
    store.add("a", 1.0)
    store.add("b", 2.0)
    assert json.loads((tmp_path / "kept.json").read_text())["made"] == [made]
    later = Kept(tmp_path / "kept.json", {}, made | {"commit": "another"})
    later.add("c", 3.0)
    assert Kept(tmp_path / "kept.json", {}).made == [made, made | {"commit": "another"}]
    assert experiment_of(ranking.__doc__) == "confidence.ranking"
    with pytest.raises(ValueError, match="how the experiment is run"):
        experiment_of("Nothing.")


def test_every_experiment_documents_its_command():
    tree = here()
    for name in everything.NAMES:
        path = f"experiments/{name.replace('.', '/')}.py"
        assert experiment_of(tree.read(path)) == name


def test_results_record_their_sources_or_are_listed_as_older():
    recorded = {entry["experiment"] for entry in stale.made(RESULTS)}
    assert recorded.isdisjoint(stale.OLDER)
    without_results = {
        "robust2013.random_partitions",
        "posterior.pools",
        "labels.battery",
        "default.battery",
    }
    assert recorded | set(stale.OLDER) | without_results == set(everything.NAMES)
    # The list of older ones may only shrink.
    assert len(stale.OLDER) <= 9


def test_a_tree_skips_missing_files():
    tree = Tree(
        {"experiments/one.py"}, lambda path: "import conclust\nimport numpy\na = conclust.PCC\n"
    )
    assert list(tree.sources("one")) == ["a"]


# --------------------------------------------------------------------------------- single cells, made again


def test_cells_of_the_tables_of_papers_are_reproduced():
    cells = {one.experiment: one for one in stale.CELLS}
    drawn = f"5/variance/{fca.case(300, 3, (2, 3))}/7"
    try:
        for experiment, unit, names in (
            ("pcc2013.tables", "ensemble 1/iris/3", ["PCC-KL", "QMI", "AutoConsensus"]),
            ("pcc2013.tables", "ensemble 2/wine/1", ["PCC-l2", "HBGF", "LWEA"]),
            ("robust2013.figures", "k-means/iris/2", ["WEIGHTED+rho"]),
            ("peace2013.figures", "ensemble 2/wine/4", ["PEACE", "BE"]),
            ("fca2016.figures", drawn, ["share 0.5", "CSPA", "AutoConsensus"]),
        ):
            assert list(stale.moved(cells[experiment], unit, names)) == []
    except DatasetNotFoundError:
        pytest.skip("the sets are not here")


def test_a_cell_that_has_moved_is_listed(monkeypatch):
    (cells,) = (one for one in stale.CELLS if one.experiment == "peace2013.figures")
    unit = "ensemble 2/wine/4"
    kept = counted.kept_in(cells.path)
    kept.found[unit]["BE"]["CI"] += 0.001
    monkeypatch.setattr(stale, "kept_in", lambda path: kept)
    monkeypatch.setattr(
        peace, "measure", lambda unit, names, few: {"BE": {**kept.found[unit]["BE"], "CI": 0.5}}
    )
    ((name, then, now),) = stale.moved(cells, unit, ["BE"])
    assert (name, now["CI"]) == ("BE", 0.5)
    assert then == kept.found[unit]["BE"]


def test_cells_of_the_leaderboard_are_reproduced():
    names = ("AutoConsensus", "LWEA (normalized)", "HBGF")
    chosen = {entry.name: entry for entry in entries() if entry.name in names}
    kept = json.loads((RESULTS / "leaderboard/result/scores.json").read_text())["found"]
    try:
        pool = pools.read("steel_plates")
    except DatasetNotFoundError:
        pytest.skip("the pools are not here")
    ensembles = pools.draws(pool, 2, 0)
    for name, entry in chosen.items():
        for at, ensemble in enumerate(ensembles):
            tally = board.Tally()
            tally.score(pool, [entry.make(pool.k, at, 1).fit(ensemble).labels_])
            then = kept[f"steel_plates/{name}"]
            assert (tally.nmi[0], tally.ari[0]) == (then["nmi"][at], then["ari"][at])


def test_cells_of_the_confidence_are_reproduced():
    try:
        lines = ranking.run("iris", (0, 1))
    except DatasetNotFoundError:
        pytest.skip("the set is not here")
    kept = {
        (row["set"], row["members"]): row for row in rows_of(RESULTS / "confidence/result/sets.csv")
    }
    for kind in ranking.KINDS:
        for measure in ("largest membership", "silhouette", "agreement, one to one"):
            values = [
                line["AUC"]
                for line in lines
                if (line["members"], line["measure"]) == (kind, measure)
            ]
            assert np.mean(values) == pytest.approx(float(kept["iris", kind][measure]), abs=1e-9)


# ------------------------------------------------------------------------------------------ what prose says


def test_the_confidence_page_quotes_its_table():
    text = (RESULTS / "confidence/README.md").read_text("utf-8")
    rows = {
        (row["members"], row["measure"]): row
        for row in rows_of(RESULTS / "confidence/result/ranking.csv")
    }

    def shown(value):
        return f"{float(value):.3f}".replace("0.", ".", 1)

    for measure in ("margin", "company", "item consensus", "1 - entropy"):
        row = rows["both", measure]
        cells = [
            measure, shown(row["AUC"]), f"{shown(row['- largest'])} ± {shown(row['standard error'])}",
            shown(rows["default", measure]["AUC"]), shown(rows["resampled", measure]["AUC"]), shown(row["ECE"]),
        ]  # fmt: skip
        assert f"| {' | '.join(cells)} |" in text
    for kind in ("default", "resampled"):
        row = rows[kind, "silhouette"]
        assert f"{shown(row['- largest'])} ± {shown(row['standard error'])}" in text


def quoted(value, digits=3):
    return f"{float(value):.{digits}f}".replace("0.", ".", 1)


def test_the_leaderboard_page_quotes_its_table():
    rows = {row["method"]: row for row in rows_of(RESULTS / "leaderboard/result/board.csv")}
    lines = rows_of_page(RESULTS / "leaderboard/README.md")
    lines = lines[lines.index(["method", "NMI", "ARI", "mean rank"]) + 1 :]
    assert len(lines) >= 15
    for name, *cells in lines:
        row = rows[name.removesuffix(", the default")]
        expected = [quoted(row["NMI"]), quoted(row["ARI"]), quoted(row["mean rank"], 1)]
        assert cells == expected, name


def test_the_selection_page_quotes_its_table():
    head, *lines = rows_of_page(RESULTS / "selection/result/real.md")
    pages = rows_of_page(RESULTS / "selection/README.md")
    for first in ("objects", "classes"):
        at = next(k for k, line in enumerate(pages) if line[:2] == ["set", first])
        columns = [head.index(name) for name in pages[at]]
        actual = [[line[k] for k in columns] for line in lines]
        assert pages[at + 1 : at + 1 + len(lines)] == actual


def test_the_first_place_is_quoted_with_its_pools():
    rows = [
        {"method": row["method"], "pool": row["pool"], "told": True}
        | {key: float(row[key]) if row[key] else None for key in ("NMI", "ARI")}
        for row in rows_of(RESULTS / "leaderboard/result/pools_long.csv")
    ]
    first, second, *_ = (row for row in split(rows) if row["method"] != board.MEMBER)
    assert "AutoConsensus" in (first["method"], second["method"])
    leads = {f"{first['NMI, others']:.3f}"[1:], f"{second['NMI, others']:.3f}"[1:]}
    for page in (
        "README.md",
        "docs/faq.md",
        "docs/how-to/choose_a_method.md",
        "experiments/leaderboard/README.md",
    ):
        text = (ROOT / page).read_text("utf-8")
        assert re.search(r"\b(?:settled|tuned) on", text), page
        assert leads <= set(re.findall(r"\.\d{3}", text)), page


def test_counts_match_the_tables():
    words = counted.counts()
    table = (RESULTS / "pcc2013/result/table_4.md").read_text("utf-8")
    head, _, *lines = (
        line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")
    )
    rows = {
        line[0]: np.array(line[1:], float)
        for line in lines
        if line[0] not in ("method", "(printed)") and "start" not in line[0]
    }
    best = np.max(list(rows.values()), axis=0)
    near = [
        name
        for name, lead in zip(head[1:], rows["AutoConsensus"] - best, strict=True)
        if lead >= -0.025
    ]
    # The table has two decimals, so it can count too many sets but not too few.
    assert set(words["default within 0.02 on 1, sets"].split(", ")) <= set(near)
    assert words["default within 0.02 on 1"] == "4 of the 9"
    assert counted.number(0.12) == ".12"
    assert counted.number(-0.003) == "-.003"
    assert counted.number(0.0) == counted.number(-0.0001) == "0"
    assert (counted.signed(0.027), counted.signed(-0.5)) == ("+.027", "-.5")
    assert counted.some([]) == "none"


def test_every_result_has_a_page():
    for path in Path(RESULTS).glob("fca2016/result/figures_5_to_8_*_sets.md"):
        head, *lines = rows_of_page(path)
        assert head[:2] == ["clusters", "data set"]
        assert len(lines) == 40


def rows_of_page(path):
    lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("|")]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line
    ]
