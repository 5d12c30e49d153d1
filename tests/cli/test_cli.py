"""The commands, through main([...]) and once in a separate process."""

import csv
import json
import os
import warnings
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from conclust import Ensemble
from conclust._files import spreadsheets as _spreadsheets
from conclust.cli import main, refusals
from conclust.cli.commands import consensus
from conclust.cli.parser import build_parser
from conclust.exceptions import EvidenceWarning, ParameterError
from conclust.results.folder import write_result

COMBINED = [
    "labels.csv",
    "memberships.csv",
    "ensemble.npz",
    "model.npz",
    "report.npz",
    "result.json",
]
CLUSTERED = [*COMBINED, "features.csv"]


def table(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def result(out):
    return json.loads((Path(out) / "result.json").read_text())


def listing(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


@pytest.fixture
def iris(tmp_path):
    """Iris with flower names, one of them a formula, and its species."""
    data = load_iris()
    path = tmp_path / "iris.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["flower", *data.feature_names, "species"])
        for i, (row, y) in enumerate(zip(data.data.tolist(), data.target, strict=True)):
            writer.writerow([f"=f({i})" if i < 2 else f"f{i}", *row, data.target_names[y]])
    return path


@pytest.fixture
def matrix(tmp_path):
    """Three partitions of eight objects, as a file; two clusters are clear."""
    path = tmp_path / "labels.csv"
    path.write_text("a,b,c\n" + "0,0,1\n" * 2 + "0,,1\n" + "0,0,-1\n" + "1,2,0\n" * 3 + "1,1,0\n")
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def cluster(iris, out, *more):
    columns = ["--id-column", "flower", "--label-column", "species"]
    few = ["--partitions", "20", "--jobs", "1"]
    return main(["cluster", str(iris), "--out", str(out), *columns, *few, *more])


# ---- cluster


def test_cluster_runs_pcc(iris, out, capsys):
    assert cluster(iris, out, "--method", "pcc", "-k", "3", "--seed", "4") == 0
    printed = capsys.readouterr()
    assert "3 clusters of 150 objects, from 20 clusterings" in printed.out
    assert "Against the known classes: H = 0." in printed.out
    assert "Columns not scaled: they seem to have the same unit." in printed.err
    assert sorted(CLUSTERED) == listing(out)
    rows, soft = table(out / "labels.csv"), table(out / "memberships.csv")
    assert list(rows[0]) == ["flower", "label", "confidence"]
    assert [row["flower"] for row in rows[:3]] == ["'=f(0)", "'=f(1)", "f2"]
    assert [row["flower"] for row in soft] == [row["flower"] for row in rows]
    membership = np.array([[float(row[f"cluster_{k}"]) for k in range(3)] for row in soft])
    np.testing.assert_allclose(membership.sum(axis=1), 1, atol=1e-6)
    actual = np.array([int(row["label"]) for row in rows])
    np.testing.assert_array_equal(actual, membership.argmax(axis=1))
    sure = np.array([float(row["confidence"]) for row in rows])
    np.testing.assert_allclose(sure, membership.max(axis=1), atol=1e-6)
    written = result(out)
    assert written["clusters"] == 3
    assert written["cluster_sizes"] == np.bincount(actual).tolist()
    assert written["seed"] == 4
    assert written["settings"]["method"] == "pcc"
    assert written["settings"]["generator"]["scale"] == "auto"
    assert written["settings"]["scale"] is None
    assert written["converged"] is True
    assert {"objective", "kkt_residual", "solver", "n_iter"} <= written.keys()
    assert 0.7 < written["agreement_with_known_classes"]["consistency_index"] <= 1
    assert written["input"]["columns"] == load_iris().feature_names  # no name, no species
    assert {"conclust", "numpy", "python"} <= written["versions"].keys()
    assert written["seconds"].keys() == {"read", "generate", "combine", "write", "total"}
    assert Ensemble.load(out / "ensemble.npz").shape == (150, 20)


def test_known_classes_change_no_label(iris, tmp_path):
    assert cluster(iris, tmp_path / "a", "--max-clusters", "3", "--quiet") == 0
    lines = iris.read_text().splitlines()
    iris.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",x" for line in lines[1:])]))
    assert cluster(iris, tmp_path / "b", "--max-clusters", "3", "--quiet") == 0
    one, other = ((tmp_path / x / "labels.csv").read_bytes() for x in "ab")
    assert one == other


def test_cluster_runs_eac_and_repeats_its_seed(iris, tmp_path, capsys):
    more = ["--method", "eac", "--set", "linkage=ward", "--clusters", "3", "--scale", "none"]
    assert cluster(iris, tmp_path / "a", *more) == 0
    assert "columns not scaled" in capsys.readouterr().err.lower()
    written = [
        "ensemble.npz",
        "features.csv",
        "labels.csv",
        "model.npz",
        "report.npz",
        "result.json",
    ]
    assert listing(tmp_path / "a") == written
    assert list(table(tmp_path / "a/labels.csv")[0]) == ["flower", "label", "confidence"]
    assert cluster(iris, tmp_path / "b", *more) == 0
    same = [(tmp_path / x / "ensemble.npz").read_bytes() for x in "ab"]
    assert same[0] == same[1]
    assert cluster(iris, tmp_path / "c", *more, "--seed", "1") == 0
    assert (tmp_path / "c/ensemble.npz").read_bytes() != same[0]


def test_mixed_ensemble_and_cache(tmp_path, out, capsys):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(30, 2)) + rng.integers(0, 2, (30, 1)) * 5)
    arguments = ["cluster", str(tmp_path / "x.npy"), "--generator", "mixed", "--max-clusters", "2"]
    arguments += ["--cache", str(tmp_path / "cache"), "--jobs", "1", "--out"]
    assert main([*arguments, str(out)]) == 0
    assert (tmp_path / "cache").is_dir()
    assert main([*arguments, str(tmp_path / "again")]) == 0
    assert (out / "labels.csv").read_bytes() == (tmp_path / "again/labels.csv").read_bytes()
    rows = table(out / "labels.csv")
    assert [row["object"] for row in rows] == [str(i) for i in range(30)]
    assert "EnsembleGenerator" in capsys.readouterr().err  # progress


def test_an_ensemble_of_two_kinds_is_made_recorded_and_reported(tmp_path, out):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(60, 2)) + rng.integers(0, 2, (60, 1)) * 9)
    arguments = ["--generator", "kmeans+spectral", "--partitions", "6", "--max-clusters", "2"]
    assert main(["cluster", str(tmp_path / "x.npy"), *arguments, "--out", str(out), "-q"]) == 0
    settings = json.loads((out / "result.json").read_text())
    assert '"method": ["kmeans", "spectral"]' in json.dumps(settings)
    assert main(["report", str(out), "-q"]) == 0
    page = (out / "report.html").read_text()
    assert "many numbers of clusters and spectral clustering on landmarks" in page


@pytest.mark.parametrize("kinds", ["auto", "density", "graph+kmeans", "spherical+kmeans+spectral"])
def test_kinds_of_members_are_joined_by_plus(kinds):
    parsed = build_parser().parse_args(["cluster", "x.csv", "--generator", kinds])
    assert parsed.generator == kinds


@pytest.mark.parametrize("kinds", ["", "kmens", "kmeans+", "auto+kmeans", "kmeans+mixed"])
def test_other_kinds_of_members_are_refused(kinds, capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["cluster", "x.csv", "--generator", kinds])
    assert "Choose from" in capsys.readouterr().err


# ---- combine


def test_combine_writes_a_consensus_of_labels(matrix, out, capsys):
    assert main(["combine", str(matrix), "--max-clusters", "2", "--out", str(out)]) == 0
    assert [row["label"] for row in table(out / "labels.csv")] == list("00001111")
    assert "2 clusters of 8 objects, from 3 clusterings. Sizes: 4, 4." in capsys.readouterr().out
    saved = (out / "ensemble.npz").rename(out.parent / "saved.npz")
    repeated = ["combine", str(saved), "--method", "eac", "--clusters", "2"]
    assert main([*repeated, "--out", str(out), "--force"]) == 0
    assert [row["label"] for row in table(out / "labels.csv")] == list("00001111")
    assert not (out / "memberships.csv").exists()  # belongs to the replaced result


def test_combine_with_weights_and_noise(matrix, out, tmp_path):
    (tmp_path / "w.csv").write_text("1\n0\n2\n")
    more = ["--weights", str(tmp_path / "w.csv"), "--missing", "noise", "--max-clusters", "2"]
    assert main(["combine", str(matrix), *more, "--out", str(out), "-q"]) == 0
    ensemble = Ensemble.load(out / "ensemble.npz")
    np.testing.assert_array_equal(ensemble.weights, [1, 0, 2])
    assert ensemble.labels[3, 2] == -2
    assert ensemble.labels[2, 1] == -1


def test_objects_without_evidence_are_counted_in_the_output(tmp_path, out, capsys):
    (tmp_path / "a.csv").write_text("a,b\n0,1\n0,1\n,\n1,0\n1,0\n")
    assert main(["combine", str(tmp_path / "a.csv"), "--max-clusters", "2", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "1 object without a clustering: label -1." in printed.out
    assert "conclust: warning: " in printed.err
    assert "missing in every partition" in printed.err
    assert [row["label"] for row in table(out / "labels.csv")] == ["0", "0", "-1", "1", "1"]
    written = result(out)
    assert written["objects_without_evidence"] == 1
    assert any("missing in every partition" in sentence for sentence in written["warnings"])


# ---- compare


def test_compare_matches_objects_by_order(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("label\nx\nx\ny\ny\nNA\n")
    (tmp_path / "b.csv").write_text("0\n0\n0\n1\n1\n")
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 0
    printed = capsys.readouterr().out
    assert (
        "4 objects compared, matched by order; 1 without a label in one of them left out" in printed
    )
    assert "H          0.7500" in printed
    assert "Rand       0.5000" in printed
    assert "purity     0.7500" in printed
    for name in ("ARI", "NMI", "F1 pairs", "FM", "F1 B3", "F1 class", "VI"):
        assert f"  {name} " in printed


def test_compare_reads_the_requested_column(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("object,label,confidence\n0,0,1\n1,0,1\n2,1,1\n")
    (tmp_path / "b.csv").write_text("x,kind\n1.5,u\n2.5,u\n9.5,v\n")
    both = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert main(["compare", *both, "--second-column", "kind"]) == 0
    assert "ARI        1.0000" in capsys.readouterr().out


def test_compare_matches_objects_by_name(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("object,label,confidence\nu,0,1\nv,0,1\nw,1,1\n")
    (tmp_path / "b.csv").write_text("object,label\nw,7\nu,5\nv,5\n")
    both = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert main(["compare", *both, "--json"]) == 0
    actual = json.loads(capsys.readouterr().out)
    assert actual["matched_by"] == "name"
    assert actual["adjusted_rand_index"] == 1.0
    assert actual["variation_of_information"] == 0.0
    (tmp_path / "b.csv").write_text("object,label\nw,7\nu,5\nz,5\n")
    assert main(["compare", *both]) == 1
    assert "'v' is only in" in capsys.readouterr().err
    (tmp_path / "b.csv").write_text("object,label\nw,7\nu,5\nu,5\n")
    assert main(["compare", *both]) == 1
    assert "the object 'u' more than once" in capsys.readouterr().err


def test_compare_refuses_files_of_different_lengths(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("0\n0\n1\n")
    (tmp_path / "b.csv").write_text("0\n0\n")
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 1
    assert "has 3 objects and" in capsys.readouterr().err


# ---- exit codes


def test_wrong_command_lines_exit_with_2(capsys):
    for arguments in (
        [],
        ["nothing"],
        ["cluster"],
        ["cluster", "x.csv", "y.csv"],
        ["cluster", "x.csv", "--out", "o", "--max-clusters", "0"],
        ["cluster", "x.csv", "--out", "o", "--max-clusters", "2.5"],
        ["cluster", "x.csv", "--out", "o", "--seed", "-1"],
        ["cluster", "x.csv", "--out", "o", "--jobs", "0"],
        ["cluster", "x.csv", "--out", "o", "--method", "kmeans"],
        ["cluster", "x.csv", "--out", "o", "--method", "eac", "--max-clusters", "3"],
        ["cluster", "x.csv", "--out", "o", "--clusters", "3", "--max-clusters", "3"],
        ["cluster", "x.csv", "--out", "o", "--columns", "a,,b"],
        ["cluster", "x.csv", "--out", "o", "--decimal", "x"],
        ["cluster", "x.csv", "--out", "o", "--impute", "magic"],
        ["combine", "x.csv", "--out", "o", "-q", "-v"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2, arguments
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["demo", "cluster", "combine", "predict", "compare"])
def test_help_is_printed(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: conclust {command}" in capsys.readouterr().out


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("conclust ")


FAILURES = {
    "no such file": (None, "absent.csv: No such file or directory."),
    "text in points": ("a,b\n1,2\n3,x\n", "'x' in line 3, column 2 ('b') is not a number"),
    "ragged": ("a,b\n1,2\n3\n", "is ragged"),
    "one object": ("a,b\n1,2\n", "holds 1 object; a clustering needs at least two."),
}


@pytest.mark.parametrize("name", FAILURES)
def test_bad_input_exits_with_1_and_one_sentence(tmp_path, out, name, capsys):
    content, sentence = FAILURES[name]
    path = tmp_path / "absent.csv"
    if content is not None:
        path = tmp_path / "points.csv"
        path.write_text(content)
    assert main(["cluster", str(path), "--out", str(out), "--jobs", "1"]) == 1
    error_output = capsys.readouterr().err
    assert error_output.startswith("conclust cluster: ")
    assert sentence in error_output
    assert "Traceback" not in error_output
    assert not out.exists()


def test_cut_off_files_exit_with_1(tmp_path, out, capsys):
    np.save(tmp_path / "a.npy", np.zeros((100, 3)))
    np.savez(tmp_path / "b.npz", np.zeros((100, 3)))
    for name in ("a.npy", "b.npz"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:300])
        assert main(["cluster", str(path), "--out", str(out)]) == 1
        assert "is cut off" in capsys.readouterr().err


def test_debug_prints_the_traceback(tmp_path, out, capsys):
    assert main(["cluster", str(tmp_path / "x.csv"), "--out", str(out), "--debug"]) == 1
    error_output = capsys.readouterr().err
    assert "Traceback" in error_output
    assert error_output.strip().splitlines()[-1].startswith("conclust cluster: ")


def test_parameters_that_do_not_suit_the_data_exit_with_1(matrix, out, capsys):
    arguments = ["combine", str(matrix), "--method", "eac", "--clusters", "9", "--out", str(out)]
    assert main(arguments) == 1
    assert "'n_clusters' parameter of EAC (-k) must be" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("option", [*refusals._GENERATOR.values(), *refusals._METHOD.values()])
def test_options_named_in_errors_exist(option, capsys):
    with pytest.raises(SystemExit):
        main(["select" if option == "--references" else "cluster", "--help"])
    assert f"{option} " in capsys.readouterr().out


def fail_with(error):
    def fail(*_, **__):
        # A new one: the traceback of an error that lives as long as the tests would hold the kernels' objects until the end.
        raise copy(error)

    return fail


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "interrupted; nothing was written."),
        (RuntimeError("oops"), 70, "internal error: RuntimeError: oops"),
        (MemoryError(), 1, "not have enough memory for these data."),
        (OSError(28, "No space left on device", "x"), 1, "x: No space left on device."),
        (ParameterError("A sentence."), 1, "A sentence."),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_late_failures_have_their_exit_codes(
    matrix, out, monkeypatch, capfd, error, code, sentence
):
    monkeypatch.setattr(consensus, "write_result", fail_with(error))
    before = os.dup(1)
    try:
        assert main(["combine", str(matrix), "--max-clusters", "2", "--out", str(out)]) == code
    finally:
        os.dup2(before, 1)
        os.close(before)
    error_output = capfd.readouterr().err
    assert sentence in error_output
    assert "Traceback" not in error_output
    assert not out.exists()
    assert listing(matrix.parent) == ["labels.csv"]


def test_an_interrupt_prints_where_finished_members_are_kept(tmp_path, out, monkeypatch, capsys):
    monkeypatch.setattr(consensus.of_points, "points_read", fail_with(KeyboardInterrupt()))
    assert main(["cluster", "x.csv", "--out", str(out), "--cache", str(tmp_path / "c")]) == 130
    assert "finished members are kept in" in capsys.readouterr().err


def test_a_failure_in_the_middle_keeps_the_old_result(matrix, out, monkeypatch):
    arguments = ["combine", str(matrix), "--max-clusters", "2", "--out", str(out), "--quiet"]
    assert main(arguments) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr(_spreadsheets, "_NUMBER", None)  # fails while the names are written
    monkeypatch.setattr(
        consensus.writing, "write_memberships", fail_with(OSError(5, "Input/output error"))
    )
    assert main([*arguments, "--force"]) == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


# ---- output folders


def test_a_nonempty_folder_requires_force(matrix, out, capsys):
    arguments = ["combine", str(matrix), "--max-clusters", "2", "--out", str(out), "--quiet"]
    assert main(arguments) == 0
    (out / "mine.txt").write_text("mine")
    assert main(arguments) == 1
    assert "is not empty. Choose another with --out, or give --force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert listing(out) == sorted([*COMBINED, "mine.txt"])


def test_an_unwritable_folder_is_refused_before_the_work(matrix, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(consensus.inputs, "read_ensemble", fail_with(AssertionError("work began")))
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "deeper"):
        assert main(["combine", str(matrix), "--out", str(out)]) == 1
        assert "file" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "x"


# ---- talk


def test_quiet_prints_the_first_line_of_the_result(matrix, out, capsys):
    command = ["combine", str(matrix), "--max-clusters", "2", "--force"]
    assert main([*command, "--out", str(out)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert main([*command, "--out", str(out), "-q"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (first + "\n", "")
    assert main([*command, "--out", "-", "-q"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("object,label,") or printed.out.startswith("label,")
    assert printed.err == ""


def test_the_next_best_number_is_named_with_the_option_that_shows_it(tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 10)[:, None].repeat(6, axis=1)
    labels[:, 4:] //= 2
    labels[rng.random(labels.shape) < 0.1] = 0
    np.savetxt(tmp_path / "a.csv", labels, fmt="%d", delimiter=",")
    assert main(["combine", str(tmp_path / "a.csv"), "--out", str(tmp_path / "o")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 clusters of 40 objects, from 6 clusterings.")
    assert "The next best number is 4: pass -k 4 to see it." in printed


def test_deprecation_warnings_are_not_printed(matrix, out, monkeypatch, capsys):
    def noisy(*arguments, **named):
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        warnings.warn("for the user", EvidenceWarning, stacklevel=1)
        return write_result(*arguments, **named)

    monkeypatch.setattr(consensus, "write_result", noisy)
    assert main(["combine", str(matrix), "--max-clusters", "2", "--out", str(out)]) == 0
    error_output = capsys.readouterr().err
    assert "conclust: warning: for the user" in error_output
    assert "for programmers" not in error_output


# ---- the terminal
