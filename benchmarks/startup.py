"""From nothing to a first result: what importing costs, and iris to a consensus.

python -m benchmarks.startup
"""

from __future__ import annotations

from benchmarks.timing import fresh_process

FIRST = """
import numpy as np
from conclust import HBGF
HBGF(3).fit(np.random.default_rng(0).integers(0, 3, (200, 10)))
"""
POINTS = """
import numpy as np
from conclust import ConsensusClustering
ConsensusClustering(random_state=0).fit(np.random.default_rng(0).normal(size=(150, 4)))
"""
SHELL = """
import contextlib, io
from conclust.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({words!r})
"""
IRIS = """
from sklearn.datasets import load_iris
from conclust import PCC, ConsensusClustering
ConsensusClustering(PCC(3), random_state=0).fit(load_iris().data)
"""


def main(repeats: int = 5) -> None:
    rows = {
        "python": "pass",
        "import numpy": "import numpy",
        "import conclust": "import conclust",
        "import conclust, numpy": "import conclust, numpy",
        "import sklearn.cluster": "import sklearn.cluster",
        "first HBGF, 200 x 10": FIRST,
        "first ConsensusClustering, 150 x 4": POINTS,
        "conclust methods": SHELL.format(words=["methods"]),
        "conclust --help": SHELL.format(words=["--help"]),
        "conclust --version": SHELL.format(words=["--version"]),
        "iris: 40 members, PCC": IRIS,
    }
    print(f"A fresh process, medians of {repeats}.")
    print(f"{'':<36} {'wall s':>8} {'CPU s':>8} {'over numpy':>11}")
    base = fresh_process(rows["import numpy"], repeats)
    for name, program in rows.items():
        seconds = fresh_process(program, repeats)
        over = seconds.wall - base.wall
        print(f"{name:<36} {seconds.wall:>8.3f} {seconds.cpu:>8.3f} {over:>+11.3f}")


if __name__ == "__main__":
    main()
