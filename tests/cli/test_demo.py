import csv
import json
import sys
import warnings

import numpy as np
import pytest

from conclust import ConsensusClustering, EnsembleGenerator, datasets
from conclust.cli import main
from conclust.cli.commands import demo
from conclust.confidence import object_confidence
from conclust.exceptions import SelectionWarning


def run(out, *more):
    return main(["demo", "--out", str(out), "--jobs", "1", *more])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One run on the two smallest sets."""
    folder = tmp_path_factory.mktemp("demo")
    capture = pytest.MonkeyPatch()
    capture.chdir(folder)
    printed = []
    capture.setattr("builtins.print", lambda text, **_: printed.append(text))
    try:
        assert run("demo-report", "--data", "iris,wine") == 0
    finally:
        capture.undo()
    return folder / "demo-report", "\n".join(printed)


def test_the_output_fits_the_terminal_and_explains_the_runs(done):
    _, printed = done
    assert max(map(len, printed.splitlines())) <= 80
    for needed in ("random k-means", "mixed algorithms", "min-max", "EAC Ward", "scoring only"):
        assert needed in printed
    assert "confidence" not in printed  # confidence is meaningless without its null
    lines = [line for line in printed.splitlines() if line.startswith("iris ")]
    assert len(lines) == 3  # accuracy and ARI of both ensembles, clusters found
    for line, columns in zip(lines, demo._COLUMNS.values(), strict=False):
        assert len(line.split()) == 2 + 2 * len(columns)


def test_the_demo_runs_from_points_to_a_report(done):
    out, printed = done
    wine = datasets.load("wine")
    begin, rest = printed.split("How good is the result?")
    words = " ".join(begin.split())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        model = ConsensusClustering(
            generator=EnsembleGenerator(scale="standard"), n_clusters="auto", random_state=0
        ).fit(wine.X)
    assert model.n_clusters_ == 3
    assert f"How many clusters? {model.selection_.reason}" in words
    assert "p = 0.025, 39 rotations" in words
    sizes = np.bincount(model.labels_)
    assert f"Sizes: {', '.join(map(str, sizes))}." in words
    surest = object_confidence(model).confidence
    assert f"{np.count_nonzero(surest < 0.6)} in all: object {surest.argmin()} (" in words
    page = (out / "report.html").read_text("utf-8")
    assert "3 clusters in 178 objects: one Gaussian cloud is rejected" in page
    assert "flavanoids" in page
    assert "report.html" in rest


def test_the_printed_figures_equal_those_in_the_files(done):
    out, printed = done
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (1 + 2 * 10)  # k-means alone; members and nine methods, twice
    written = json.loads((out / "results.json").read_text())
    assert [row["method"] for row in written["rows"]] == [row["method"] for row in rows]
    shown = [line.split()[2:] for line in printed.splitlines() if line.startswith("iris ")]
    for line, kind in zip(shown, ("kmeans", "mixed"), strict=False):
        cells = {
            row["method"]: row
            for row in rows
            if row["dataset"] == "iris" and row["ensemble"] in (kind, "none")
        }
        assert line == [
            f"{float(cells[method][name]) + 0.0:.2f}"
            for method in demo._COLUMNS[kind].values()
            for name in ("consistency_index", "adjusted_rand_index")
        ]
    actual = {
        (row["dataset"], row["ensemble"], row["method"]): float(row["consistency_index"])
        for row in rows
    }
    assert actual["wine", "kmeans", "PCC"] > actual["wine", "kmeans", "mean member"]
    mean = np.mean([actual[name, "kmeans", "AutoConsensus"] for name in ("iris", "wine")])
    alone = np.mean([actual[name, "none", "k-means alone"] for name in ("iris", "wine")])
    flat = " ".join(printed.split())
    assert f"AutoConsensus has accuracy {mean:.2f} on average, one k-means {alone:.2f}" in flat


def made_up(dataset, ensemble, method, accuracy):
    return demo._Row(dataset, 10, 2, 3, ensemble, 5, method, 3, 3, 3, accuracy, accuracy, 1.0)


def test_the_gain_of_the_consensus_is_counted():
    pairs = {"a": (0.9, 0.8), "b": (0.7, 0.705), "c": (0.5, 0.9), "d": (0.6, 0.5)}
    rows = [
        made_up(name, kind, method, value)
        for name, (ours, alone) in pairs.items()
        for kind, method, value in (
            ("kmeans", "AutoConsensus", ours),
            ("none", "k-means alone", alone),
            ("kmeans", "mean member", 0.25),
        )
    ]
    printed = " ".join(demo._gain(rows).split())
    assert (
        "accuracy 0.68 on average, one k-means 0.73, the clusterings that it combines 0.25"
        in printed
    )
    assert (
        "better than k-means on 2 of 4 data sets, within 0.01 of it on 1 and worse on 1" in printed
    )


@pytest.mark.parametrize(("plain", "told"), [(0.2, True), (0.85, False)])
def test_a_failure_of_pcc_prints_a_remedy(plain, told):
    rows = [
        made_up(name, "mixed", method, value)
        for name, accuracy in (("a", 0.8), ("b", plain))
        for method, value in (("PCC", accuracy), ("PCC, weighted", 0.88), ("AutoConsensus", 0.9))
    ]
    printed = "\n".join(demo._failures(rows))
    assert ("Where PCC fails: b" in printed) == told
    assert ("certainty_weights(labels)" in printed) == told
    assert ("accuracy 0.88" in " ".join(printed.split())) == told


def test_the_demo_writes_its_pictures(done):
    out, _ = done
    names = sorted(path.name for path in out.iterdir())
    assert names == [
        "iris_coassociation.png",
        "iris_membership.png",
        "report.html",
        "results.csv",
        "results.json",
    ]
    for name in names[:2]:
        assert (out / name).read_bytes().startswith(b"\x89PNG")


def test_only_the_score_reads_the_classes(tmp_path, monkeypatch):
    """The same number of other classes gives other scores and exactly the same labels."""
    values = []
    score = demo._score
    monkeypatch.setattr(
        demo, "_score", lambda classes, labels: (values.append(labels), score(classes, labels))[1]
    )
    assert run(tmp_path / "a", "--data", "iris", "--quiet") == 0
    load = datasets.load

    def other(name):
        data = load(name)
        object.__setattr__(data, "y", np.roll(data.y, 70))
        return data

    half = len(values)
    monkeypatch.setattr(datasets, "load", other)
    assert run(tmp_path / "b", "--data", "iris", "--quiet") == 0
    assert len(values) == 2 * half
    for first, second in zip(values[:half], values[half:], strict=True):
        np.testing.assert_array_equal(first, second)


def test_without_matplotlib_the_demo_prints_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run(tmp_path / "a", "--data", "wine") == 0
    printed = capsys.readouterr()
    assert printed.err.count("No pictures: ") == 1
    assert "pip install 'matplotlib>=" in printed.err
    assert "pictures of" not in printed.out
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "report.html",
        "results.csv",
        "results.json",
    ]


def test_the_demo_refuses_unknown_data_sets(tmp_path, capsys, monkeypatch):
    assert run(tmp_path / "a", "--data", "no_such_set") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "there is no data set 'no_such_set'. Is it" in printed.err
    assert run(tmp_path / "a", "--data", "iris,bresat_cancer") == 1
    assert "Is it breast_cancer or" in capsys.readouterr().err
    # Known but unavailable: also refused before the introduction.
    monkeypatch.delenv("CONCLUST_DATA", raising=False)
    assert run(tmp_path / "a", "--data", "zoo") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "'zoo' is not on this machine" in printed.err
    assert run(tmp_path / "a", "--data", " , ") == 1
    assert "does not name a data set" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
    (tmp_path / "b").mkdir()
    (tmp_path / "b/x").write_text("x")
    assert run(tmp_path / "b", "--data", "iris") == 1
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.array([[1.0, np.nan]] * 3), "missing values"),
        (np.array([["a"]] * 3), "not a table of numbers"),
    ],
)
def test_incomplete_data_sets_are_refused(X, sentence):
    data = datasets.Dataset("x", X, np.array([0, 1, 1]), ("a",), ("p", "q"), "made up")
    with pytest.raises(demo.InputError, match=sentence):
        demo._checked("x", data)


@pytest.mark.parametrize(
    ("kind", "k", "n", "expected"),
    [
        ("kmeans", 3, 150, [*range(3, 21)]),
        ("kmeans", 10, 1000, [*range(10, 51)]),
        ("kmeans", 1, 8, [*range(2, 8)]),
        ("mixed", 3, 150, [3, 4, 5, 6, 7, 8, 9, 10, 15, 20]),
        ("mixed", 2, 12, [3, 4, 5, 6, 7, 8, 9, 10]),
        ("mixed", 10, 1000, [10, 12, 15, 20, 35, 50]),
    ],
)
def test_numbers_of_clusters_match_the_paper(kind, k, n, expected):
    assert demo._numbers_of_clusters(kind, k, n) == expected


def test_the_demo_uses_the_available_data_sets(monkeypatch):
    monkeypatch.setattr(datasets, "available", lambda: ["digits", "ionosphere", "rings", "iris"])
    assert demo._chosen(None) == ["iris", "digits", "ionosphere"]
    assert demo._chosen("wine, iris,wine") == ["wine", "iris"]
