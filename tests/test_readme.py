"""The README's example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import conclust

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert max(map(len, block.splitlines())) <= 100
    names: dict = {}  # as pasted into a fresh interpreter
    exec(compile(block, str(README), "exec"), names)
    model = names["model"]
    assert model.labels_.shape == (150,)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1)
    assert names["ax"].get_title() == "Co-association of 150 objects"


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_two_commands_are_targets(command):
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert f"\n{command.split()[1]}: setup\n" in makefile
    assert command in README.read_text(encoding="utf-8")


def test_every_method_is_named():
    words = set(re.findall(r"\w+", README.read_text(encoding="utf-8")))
    assert {method.estimator for method in conclust.methods()} <= words
