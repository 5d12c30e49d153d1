"""The README's example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import conclust

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, str(README), "exec"), names)
    model = names["model"]
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(names["y"], model.labels_) == 1.0
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1)


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_two_commands_are_targets(command):
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert f"\n{command.split()[1]}: setup\n" in makefile
    assert command in README.read_text(encoding="utf-8")


def test_every_method_is_named():
    words = set(re.findall(r"\w+", README.read_text(encoding="utf-8")))
    assert {method.estimator for method in conclust.methods()} <= words
