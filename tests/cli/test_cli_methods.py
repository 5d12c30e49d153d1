"""--method, --set and ``conclust methods``: every method of the registry, by its name."""

import csv
import json

import numpy as np
import pytest

import conclust
from conclust.cli import main
from conclust.cli.choice import settable
from conclust.cli.commands.methods import TABLE

METHODS = {method.estimator: method for method in conclust.methods()}


@pytest.fixture
def matrix(tmp_path):
    """Twelve partitions of forty objects in three clear clusters, with one label in twenty wrong."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [14, 13, 13])
    wrong = rng.random((40, 12)) < 0.05
    labels = np.where(wrong, rng.integers(0, 3, (40, 12)), truth[:, np.newaxis])
    path = tmp_path / "labels.csv"
    np.savetxt(path, labels, fmt="%d", delimiter=",")
    return path


@pytest.fixture
def gaps(tmp_path):
    """Labels with one missing."""
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n" + "0,0,1\n" * 3 + "0,,1\n" + "1,2,0\n" * 4)
    return path


def combine(path, *more):
    return main(["combine", str(path), "--jobs", "1", *more, "--out", str(path.parent / "out")])


def result(path):
    return json.loads((path.parent / "out" / "result.json").read_text())


def clusters_of(path):
    with (path.parent / "out" / "labels.csv").open(newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


def number(method):
    return {
        "exact": ["--clusters", "3"],
        "optional": ["-k", "3"],
        "upper bound": ["--max-clusters", "3"],
        "emerges": [],
    }[method.n_clusters]


def usage(capsys, *arguments):
    """Return the error message of an invalid command line."""
    with pytest.raises(SystemExit) as ended:
        main(["combine", "absent.csv", "--out", "absent", *arguments])
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_by_its_name(name, matrix):
    method = METHODS[name]
    assert combine(matrix, "--method", name.lower(), *number(method), "-q") == 0
    assert (matrix.parent / "out" / "memberships.csv").exists() == method.membership
    written = result(matrix)
    assert written["settings"]["method"] == name.lower()
    if "random_state" in getattr(conclust, name)().get_params():
        assert written["settings"]["consensus"]["random_state"] == 0
    actual = clusters_of(matrix)
    assert len(set(actual)) == written["clusters"]
    # With one wrong label in twenty, most methods find the three clusters, and all find some.
    assert written["clusters"] > 1
    if method.n_clusters in ("exact", "optional"):
        assert written["clusters"] == 3


def test_method_names_ignore_case(matrix):
    assert combine(matrix, "--method", "Fuzzy-Rows", "-k", "3", "-q") == 0
    assert result(matrix)["settings"]["method"] == "fuzzyrows"


def test_set_passes_parameters_to_the_method(matrix):
    given = ["--set", "p=7.5", "--set", "utility = U_Lp", "--set", "normalized=True"]
    assert combine(matrix, "--method", "kcc", "-k", "3", *given, "--set", "n_init=3", "-q") == 0
    used = result(matrix)["settings"]["consensus"]
    assert (used["p"], used["utility"], used["normalized"]) == (7.5, "U_Lp", True)
    assert (used["n_init"], used["n_clusters"]) == (3, 3)


def test_none_and_words_are_parsed_by_the_type_of_the_parameter(matrix):
    given = ["--set", "pairs=none", "--max-clusters", "3"]
    assert combine(matrix, "--method", "peace", *given, "-q") == 0
    assert result(matrix)["settings"]["consensus"]["pairs"] is None
    more = ["--force", "-q", "--set", "scale_shift=none", "--set", "starts=all"]
    assert combine(matrix, "--method", "addremadd", "-k", "3", *more) == 0
    used = result(matrix)["settings"]["consensus"]
    assert (used["scale_shift"], used["starts"]) == ("none", "all")


def test_the_method_refuses_an_invalid_value(matrix, capsys):
    for text, got in (("tol=wide", "'wide'"), ("tol=-1", "-1"), ("tol=nan", "nan")):
        assert combine(matrix, "--method", "kcc", "-k", "3", "--set", text) == 1
        error_output = capsys.readouterr().err.splitlines()[-1]
        assert error_output.startswith(
            "conclust combine: The 'tol' parameter of KCC must be a float"
        )
        assert error_output.endswith(f"Got {got} instead.")
    assert combine(matrix, "--method", "hbgf", "-k", "3", "--set", "joint=1") == 1
    assert "'joint' parameter of HBGF must be a bool. Got '1'" in capsys.readouterr().err


def test_invalid_choices_are_refused_with_the_nearest_valid_one(capsys):
    hbgf = ["--method", "hbgf", "-k", "2", "--set"]
    for arguments, sentence in (
        (["--method", "hgbf"], "There is no method 'hgbf'. Is it HBGF"),
        (["--method", "xyzzy"], "There is no method 'xyzzy'. 'conclust methods' lists them all."),
        (["--method", "hbgf"], "HBGF needs the number of clusters: pass -k."),
        (["--method", "hbgf", "--max-clusters", "3"], "pass -k."),
        (["-k", "3", "--max-clusters", "3"], "give only one of them"),
        (["--method", "mediod"], "There is no method 'mediod'. Is it CEHM or FuzzyRows"),
        (["--method", "medianpartition", "-k", "3"], "determines the number of clusters itself"),
        (
            ["--method", "fcaconsensus", "--max-clusters", "3"],
            "determines the number of clusters itself",
        ),
        (["-K", "3"], "there is no option -K. Is it -k?"),
        (["--overwrite"], "there is no option --overwrite. Is it --force?"),
        ([*hbgf, "width=3"], "HBGF has no parameter 'width'. It has: partitioner, joint, balance"),
        ([*hbgf, "width"], "--set takes NAME=VALUE, got 'width'."),
        ([*hbgf, "=3"], "--set takes NAME=VALUE, got '=3'."),
        ([*hbgf, "random_state=3"], "--set random_state: pass --seed instead."),
        ([*hbgf, "n_clusters=3"], "--set n_clusters: pass -k instead."),
        ([*hbgf, "n_init=3", "--set", "n_init=4"], "'n_init' is given twice."),
        (["--method", "weightedeac", "--set", "data=x"], "WeightedEAC has no parameter 'data'."),
    ):
        assert sentence in usage(capsys, *arguments), arguments


def test_methods_without_missing_labels_refuse_them(gaps, capsys):
    refusing = [name for name, method in METHODS.items() if not method.missing]
    assert refusing
    for name in refusing:
        assert combine(gaps, "--method", name, "-k", "2") == 1
        error_output = capsys.readouterr().err
        assert f"{name} does not accept missing labels, and the ensemble has them." in error_output
        assert "PCC and EAC do; 'conclust methods' lists all methods." in error_output
        assert not (gaps.parent / "out").exists()


def test_all_parameters_but_arrays_can_be_set():
    told_otherwise = {"n_clusters", "max_clusters", "random_state", "n_jobs", "missing", "verbose"}
    # Parameters that are neither words nor numbers.
    told_otherwise |= {"data", "indices"}
    for name, method in METHODS.items():
        there = set(getattr(conclust, name)().get_params()) - told_otherwise
        assert set(settable(method)) == there, name


def test_cluster_runs_any_method(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 9 * np.repeat(np.eye(3, 2), 20, axis=0)
    np.save(tmp_path / "x.npy", X)
    arguments = ["cluster", str(tmp_path / "x.npy"), "--partitions", "10", "--jobs", "1", "-q"]
    arguments += ["--method", "voting", "-k", "3", "--set", "hard=true"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    actual = clusters_of(tmp_path / "x.npy")
    assert actual == ["0"] * 20 + ["1"] * 20 + ["2"] * 20


def printed(capsys, *name):
    """Return what ``methods`` prints."""
    assert main(["methods", *name]) == 0
    return capsys.readouterr().out


def test_the_list_of_methods_is_printed(capsys):
    lines = printed(capsys).splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(METHODS)]] == list(METHODS)


def test_every_parameter_is_explained():
    for method in json.loads(TABLE.read_text(encoding="utf-8")):
        assert list(method["parameters"]) == list(settable(METHODS[method["estimator"]]))
        for parameter in method["parameters"].values():
            assert parameter["takes"]
            assert parameter["meaning"].endswith((".", ")"))


def test_one_method_is_described_in_full(capsys):
    text = printed(capsys, "hbgf")
    for part in ("Fern and Brodley 2004", METHODS["HBGF"].cost, "  joint=true", "  n_init=10"):
        assert part in text
    assert "random_state" not in text
    assert '{"spectral", "internal"}' in text
    text = " ".join(printed(capsys, "PCC").split())
    assert 'solver=auto {"auto", "factored", "pairwise", "landmark", "greedy"}' in text
    assert '"greedy": the paper\'s algorithm, slow.' in text
    assert ":mod:" not in text
    assert "`" not in text
    with pytest.raises(SystemExit) as ended:
        main(["methods", "nonesuch"])
    assert ended.value.code == 2
    assert "There is no method 'nonesuch'" in capsys.readouterr().err


def test_unobserved_objects_do_not_count_as_missing_labels(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n" + "0,0,1\n" * 3 + ",,\n" + "1,2,0\n" * 4)
    for name, method in METHODS.items():
        if not method.missing:
            assert combine(path, "--method", name, *number(method), "-q", "--force") == 0, name
            assert clusters_of(path)[3] == "-1"
