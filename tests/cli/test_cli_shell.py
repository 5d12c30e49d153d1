"""Shell support: completions, the manual page, examples, the facts of the build."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import conclust
from conclust.cli import main
from conclust.cli.choice import choose, find, offered_settings
from conclust.cli.parser import build_parser
from conclust.cli.shell.completion import SHELLS, script
from conclust.cli.shell.examples import EXAMPLES
from conclust.cli.shell.grammar import commands_of, options_of
from conclust.cli.shell.manual import page

PARSER = build_parser()
COMMANDS = {command.name: command for command in commands_of(PARSER)}
SETTINGS = offered_settings()


def printed(capsys, *words):
    assert main(list(words)) == 0
    return capsys.readouterr().out


# ---- the grammar as data


def test_the_grammar_covers_the_parser():
    (choices,) = (a for a in PARSER._actions if isinstance(a, argparse._SubParsersAction))
    assert list(COMMANDS) == list(choices.choices)
    for name, parser in choices.choices.items():
        flags = {flag for option in COMMANDS[name].flagged for flag in option.flags}
        assert flags == parser._option_string_actions.keys()
        places = [a.dest for a in parser._actions if not a.option_strings]
        assert len(COMMANDS[name].places) == len(places)
        assert all(option.help for group in COMMANDS[name].groups for option in group.options), name
    assert {flag for option in options_of(PARSER) for flag in option.flags} >= {"--version", "-h"}


def test_completion_offers_option_values():
    def taken(command, flag):
        (option,) = (one for one in COMMANDS[command].flagged if flag in one.flags)
        return option.takes, option.values, option.again

    assert taken("cluster", "--out") == ("folder", 1, False)
    assert taken("report", "--out") == ("file", 1, False)
    assert taken("combine", "--weights") == ("file", 1, False)
    assert taken("combine", "--method") == ("method", 1, False)
    assert taken("combine", "--set") == ("setting", 1, True)
    assert taken("combine", "--missing") == ("words", 1, False)
    assert taken("combine", "--force") == ("nothing", 0, False)
    assert taken("select", "--window") == ("text", 2, False)
    assert [one.takes for one in COMMANDS["predict"].places] == ["folder", "file"]
    assert [one.takes for one in COMMANDS["methods"].places] == ["method"]


# ---- completion


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_printed(shell, capsys):
    assert printed(capsys, "completion", shell) == script(shell, PARSER, SETTINGS)


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_have_every_option(shell):
    text = script(shell, PARSER, SETTINGS)
    for command in COMMANDS.values():
        for option in command.flagged:
            for flag in option.flags:
                spelled = flag
                if shell == "fish":
                    spelled = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                assert spelled in text


FILES = ["points.csv", "points two.csv"]


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text("")
    (tmp_path / "result").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def completions(tmp_path_factory):
    home = tmp_path_factory.mktemp("completions")
    for shell in SHELLS:
        (home / shell).write_text(script(shell, PARSER, SETTINGS))
    return home


def by_bash(completions, folder, line):
    """Return the completions of bash at the end of a line."""
    words = re.findall(r"=|[^\s=]+", line)  # as bash cuts a line
    if line.endswith(" "):
        words.append("")
    asked = f"""
    source {shlex.quote(str(completions / "bash"))}
    COMP_WORDS=({" ".join(shlex.quote(word) for word in words)})
    COMP_CWORD={len(words) - 1}
    _conclust
    if (( ${{#COMPREPLY[@]}} )); then printf '%s\\n' "${{COMPREPLY[@]}}"; fi
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], cwd=folder, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def by_fish(completions, folder, line):
    asked = f"source {shlex.quote(str(completions / 'fish'))}; complete -C {shlex.quote(line)}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "HOME": str(folder / "result")},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [text.partition("\t")[0].replace("\\ ", " ") for text in done.stdout.splitlines()]


WAYS = {"bash": by_bash, "fish": by_fish}
OF_EAC = {
    *(f"linkage={word}" for word in ("single", "average", "complete", "ward")),
    *("metric=evidence", "metric=profile", "pairs=none", "pairs=", "max_dense="),
}
ASKED = {
    "conclust ": set(COMMANDS),
    "conclust cl": {"cluster"},
    "conclust cluster --generator multi": {"multimetric"},
    "conclust cluster --generator=multi": {"multimetric"},
    "conclust combine points.csv --missing ": {"unobserved", "noise"},
    "conclust methods pc": {"pcc"},
    "conclust combine --method hb": {"hbgf"},
    "conclust completion ": set(SHELLS),
    "conclust help sel": {"select"},
    "conclust cluster poin": set(FILES),
    "conclust cluster --out res": {"result"},
    "conclust report re": {"result"},
    "conclust cluster --seed ": set(),
    "conclust cluster --gen": {"--generator"},
    "conclust select --nul": {"--null"},
    "conclust --ver": {"--version"},
    "conclust combine --method eac --set ": OF_EAC,
    "conclust combine --method=EAC --set ": OF_EAC,
    "conclust combine --method eac --set li": {of for of in OF_EAC if of.startswith("li")},
    "conclust combine --method eac --set=li": {of for of in OF_EAC if of.startswith("li")},
    "conclust cluster --method eac --set linkage=a": {"linkage=average"},
    "conclust cluster --method eac --set=linkage=a": {"linkage=average"},
    "conclust cluster --method eac --set metric=": {"metric=evidence", "metric=profile"},
    "conclust cluster --method addremadd --set refine=t": {"refine=true"},
    "conclust cluster --method addremadd --set starts": {"starts=all", "starts="},
    "conclust cluster --set linkage=average --method hbgf --set jo": {"joint=true", "joint=false"},
    "conclust cluster --set max": {"max_samples="},
    "conclust cluster --method pcc --set divergence=k": {"divergence=kl"},
    "conclust cluster --method nosuch --set ": set(),
}


@pytest.mark.parametrize("shell", WAYS)
@pytest.mark.parametrize("line", ASKED)
def test_completion_works_in_a_shell(shell, line, completions, folder):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    actual = {
        name.rstrip("/").removeprefix("--generator=").removeprefix("--set=")
        for name in WAYS[shell](completions, folder, line)
    }
    expected = ASKED[line]
    if shell == "bash":  # completes the part after the last =, unless it is part of the completion
        name = re.search(r"[^ =]+=(?=[^ =]*$)", line)
        expected = {value.removeprefix(name[0]) for value in expected} if name else expected
    assert actual == expected


def test_offered_settings_are_accepted():
    for spellings, offered in SETTINGS.items():
        for text in offered:
            name, _, word = text.partition("=")
            for spelling in spellings if word else ():
                words = ["combine", "x.csv", "--method", spelling, "-k", "3", "--set", text]
                arguments = PARSER.parse_args(words)
                if find(spelling, arguments.usage_error).n_clusters == "emerges":
                    arguments.clusters = None
                assert name in choose(arguments).parameters


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_loads_its_completion_script(shell, completions):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    quiet = {"fish": ["--no-execute"]}.get(shell, ["-n"])
    done = subprocess.run([shell, *quiet, completions / shell], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")


# ---- the manual page


def test_the_manual_page_is_valid_troff(capsys):
    text = printed(capsys, "help", "--man")
    assert text == page(PARSER, conclust.__version__)
    lines = text.splitlines()
    assert lines[0] == f'.TH CONCLUST 1 "" "conclust {conclust.__version__}" "User Commands"'
    heads = [line for line in lines if line.startswith(".SH")]
    assert heads[:4] == [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH COMMANDS"]
    # Every line is text, or one of these requests with its arguments; every opened block is closed.
    for line in lines:
        if line.startswith((".", "'")):
            assert re.fullmatch(r"\.(TH|SH|SS|TP|PP|B|I|nf|fi)( .*)?", line), line
        assert re.fullmatch(r"(?:[^\\]|\\[-&e]|\\f[BIR]|\\\(dq)*", line), line
    assert lines.count(".nf") == lines.count(".fi") == len(COMMANDS)
    output = text.replace("\\-", "-")
    for command in COMMANDS.values():
        assert f'.SS "conclust {command.name}"' in output
        for option in command.flagged:
            for flag in option.flags:
                assert flag == "-h" or flag == "--help" or f"\\fB{flag}\\fR" in output


def test_the_manual_page_renders(tmp_path):
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("there is no man here")
    path = tmp_path / "conclust.1"
    path.write_text(page(PARSER, "1.2.3"), "utf-8")
    done = subprocess.run(
        ["man", "--warnings=w", "-l", path],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **os.environ,
            "MANWIDTH": "100",
            "MANPAGER": "cat",
            "LC_ALL": "C.UTF-8",
            "MANROFFOPT": "-c",
        },
    )
    assert done.returncode == 0
    assert done.stderr == ""
    text = re.sub(".\b", "", done.stdout)
    assert "conclust 1.2.3" in text
    assert "--feature-fraction F" in text
    assert "    cut -d, -f2- labels.csv | conclust combine - -k 3 --out - > clusters.csv\n" in text


def test_the_manual_page_needs_no_package(tmp_path):
    source = Path(conclust.__file__).parent.parent
    code = f"import sys; sys.path.insert(0, {str(source)!r}); import runpy\n"
    code += f"sys.argv = ['manual', '1.2.3', {str(tmp_path / 'page')!r}]\n"
    code += "runpy.run_module('conclust.cli.shell', run_name='__main__')\n"
    code += "assert not {'numpy', 'scipy', 'sklearn'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], check=True, timeout=60)
    assert (tmp_path / "page").read_text("utf-8") == page(PARSER, "1.2.3")


# ---- examples


def test_every_command_prints_examples(capsys):
    assert EXAMPLES.keys() == COMMANDS.keys()
    for command, examples in EXAMPLES.items():
        output = printed(capsys, "help", command)
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
    Path("b.csv").write_text("label\n" + "1\n0\n" * 10)
    aside = {
        "cluster": ["--label-column", "class", "--partitions", "20", "--jobs", "1"],
        "report": ["--no-pictures"],
    }
    for command in ("cluster", "predict", "compare", "report", "methods", "help"):
        for _, line in EXAMPLES[command]:
            words = words_of(line)
            if ".gz" in line or "man -l" in line:
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
