"""Examples in the help, the facts of the build, misplaced options."""

from __future__ import annotations

import argparse
import platform
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import conclust
from conclust.cli import main
from conclust.cli.examples import EXAMPLES
from conclust.cli.parser import build_parser

PARSER = build_parser()


# ---- examples


def test_every_command_has_examples():
    (commands,) = (a for a in PARSER._actions if isinstance(a, argparse._SubParsersAction))
    assert EXAMPLES.keys() == commands.choices.keys()
    for command, examples in EXAMPLES.items():
        output = commands.choices[command].format_help()
        for what, line in examples:
            assert f"\n  {line}\n      {what}\n" in output


def words_of(line):
    """Return the words of the conclust command in a line of a shell."""
    actual = re.search(r"\bconclust ([^|>)]*)", line)
    return shlex.split(actual[1])


@pytest.mark.parametrize(("command", "line"), [(c, e[1]) for c in EXAMPLES for e in EXAMPLES[c]])
def test_examples_parse_as_their_command(command, line):
    words = words_of(line)
    assert words[0] == command
    assert PARSER.parse_args(words).command == command


def test_examples_run_as_described(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], 20, axis=0)
    X = centres + rng.normal(scale=0.3, size=centres.shape)
    rows = [f"{x:.3f},{y:.3f},{'abc'[i // 20]}" for i, (x, y) in enumerate(X.tolist())]
    Path("points.csv").write_text("\n".join(["x,y,class", *rows]) + "\n")
    Path("new.csv").write_text("x,y\n0.1,0.1\n4.1,0.0\n")
    labels = [f"n{i},{i // 20},{i // 10},{i % 20 // 19 + i // 20}" for i in range(60)]
    Path("labels.csv").write_text("\n".join(["name,a,b,c", *labels]) + "\n")
    Path("a.csv").write_text("label\n" + "0\n1\n" * 10)
    for name in ("b.csv", "c.csv"):
        Path(name).write_text("label\n" + "1\n0\n" * 10)
    Path("obs.csv").write_text("cell,leiden_0.5,leiden_1.0\nu,0,0\nv,0,1\nw,1,2\n")
    aside = {
        "cluster": ["--label-column", "class", "--partitions", "20", "--jobs", "1"],
        "report": ["--no-pictures"],
    }
    for command in ("cluster", "predict", "compare", "report"):
        for _, line in EXAMPLES[command]:
            words = words_of(line)
            if ".gz" in line:
                continue
            assert main([*words, *aside.get(command, ())]) == 0, line
            assert capsys.readouterr().out
    placed = Path("placed.csv").read_text().splitlines()
    assert len(placed) == 3
    assert Path("page.html").stat().st_size > 10_000
    for _, line in EXAMPLES["combine"][:2]:
        words = words_of(line)
        out = [] if "--out" in words else ["--out", "combined"]
        assert main([*words, *out, "--jobs", "1"]) == 0, line


# ---- the facts of the build


def test_version_reports_the_environment(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    first, versions, kernels, threads, system = capsys.readouterr().out.splitlines()
    assert first == f"conclust {conclust.__version__}"
    assert versions.startswith(f"Python {platform.python_version()}, numpy {np.__version__}, ")
    assert re.fullmatch(r"kernels: (avx512|avx2|portable)( \(also .*\))?", kernels)
    assert re.fullmatch(r"threads: [1-9]\d*", threads)
    assert system == platform.platform()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--", "-points.csv", "--out", "r"], "--out"),
        (["--", "-points.csv", "-k", "3"], "-k"),
        (["points.csv", "--", "--out=r"], "--out"),
    ],
)
def test_options_after_the_end_of_the_options_are_named(capsys, words, name):
    with pytest.raises(SystemExit) as ended:
        main(["cluster", *words])
    assert ended.value.code == 2
    assert f"{name} comes after --, which ends the options." in capsys.readouterr().err
