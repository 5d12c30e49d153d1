"""The tutorial on customers: its commands print what the page says, and Python gives the labels of the shell."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from conclust import results
from conclust.cli import main
from conclust.report import account

pd = pytest.importorskip("pandas")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "customers.md"


def blocks(kind):
    """Return the blocks of one kind on the page."""
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def printed(command, capsys):
    """Return the output of a command on the page."""
    words = shlex.split(command)
    if words[0] == "conclust":
        assert main(words[1:]) == 0
        return capsys.readouterr().out
    lines = Path(words[-1]).read_text().splitlines(keepends=True)
    assert words[0] in ("head", "cat")
    return "".join(lines[: int(words[1][1:])] if words[0] == "head" else lines)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_print_the_output_on_the_page(here, capsys):
    script, in_python = blocks("python")
    exec(compile(script, "tables.py", "exec"), {})
    n_commands = 0
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, expected = part.split("\n", 1)
            assert printed(command, capsys) == expected, command
            n_commands += 1
    assert n_commands == 8
    names: dict = {}
    exec(compile(in_python, "page.py", "exec"), names)
    by_shell = results.load("result")
    np.testing.assert_array_equal(names["model"].labels_, by_shell.labels)
    assert "3 clusters in 600 objects" in Path("customers.html").read_text("utf-8")
    table = account("result", pictures=False)["sections"][0]["blocks"][2]
    for cluster, features, size, _, _, separation in table["rows"]:
        line = f"| {cluster} | {features} | {size} | {separation} |"
        assert line in PAGE.read_text("utf-8")
