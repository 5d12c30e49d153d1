"""The README's example and commands run unchanged, and its numbers match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import conclust
from conclust.cli.parser import build_parser

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, str(README), "exec"), names)
    model = names["model"]
    assert f"{model.n_clusters_}, and why" in text
    assert (len(model.labels_), model.ensemble_.n_partitions) == (178, 40)
    confidence = conclust.confidence.confidences(model)
    assert confidence[68] == pytest.approx(confidence.min(), abs=1e-2)
    assert model.membership_[68].round(2).tolist() == [0.0, 0.5, 0.5]
    assert f"the {(confidence < 0.9).sum()} wines whose confidence is below 0.9" in text
    assert (tmp_path / "wines.html").stat().st_size > 100_000


def test_the_number_of_methods_is_current():
    assert f"any of {len(conclust.methods())} consensus methods" in README.read_text("utf-8")


def test_links_and_benchmarks_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        assert (README.parent / "".join(target)).is_file(), target
    table = text[text.index("| command |") : text.index("**Accuracy.**")]
    commands = re.findall(r"`(\w+)[^`]*` \|$", table, re.MULTILINE)
    assert len(commands) == 6
    for name in commands:
        assert (README.parent / "benchmarks" / f"{name}.py").is_file(), name


def test_its_commands_parse():
    parser = build_parser()
    lines = re.findall(r"^conclust (\w.+?)(?:  +#.*)?$", README.read_text("utf-8"), re.MULTILINE)
    assert len(lines) == 6
    for line in lines:
        command = parser.parse_args(line.split()).command
        assert line.startswith(command)
