"""``conclust demo``: the default, told nothing, on real data with known classes.

The known classes are read in `_measured` only, after the fits: no method receives them or their number.
"""

from __future__ import annotations

import argparse
import textwrap
import time
import warnings
from dataclasses import asdict, dataclass, replace
from html import escape
from itertools import combinations

import numpy as np

from conclust import datasets, report
from conclust._files.storage import atomic_write, write_json
from conclust._files.versions import versions
from conclust._validation import count
from conclust.cli.console import Talk
from conclust.cli.requested import jobs
from conclust.exceptions import EnsembleWarning, InputError
from conclust.generation.generator import EnsembleGenerator
from conclust.metrics import adjusted_rand_index
from conclust.pipeline import ConsensusClustering
from conclust.results.writing import OutputFolder
from conclust.words.card import card_of
from conclust.words.reason import SHELL
from conclust.words.shell import DEMO, DEMO_TABLE, STEPS

# The four sets of scikit-learn with classes, and the first two of the papers' sets that are tables without gaps.
_SETS = ("iris", "wine", "breast_cancer", "digits", "house_votes_232", "ionosphere")
_SEEDS = 5
_REPORTED = "wine"  # the data set of the full report, if it is among those requested
_PAGE, _REPORT, _FIGURES = "demo.html", "report.html", "results.json"


@dataclass(frozen=True)
class _Row:
    """What was found in a data set: by the first seed, and by all of them."""

    dataset: str
    objects: int
    columns: int
    classes: int
    clusters: int
    adjusted_rand_index: float
    agreement_of_seeds: float
    clusters_of_seeds: list[int]
    reason: str
    seconds: float


def run(arguments: argparse.Namespace) -> None:
    """Cluster each set with five seeds, print the table, write the pages."""
    talk = Talk(arguments)
    names = _chosen(arguments.data)
    sets = {name: datasets.load(name) for name in names}
    start = time.perf_counter()
    rows: list[_Row] = []
    cards: list[str] = []
    files = [_PAGE, _REPORT, _FIGURES]
    with OutputFolder(arguments.out, force=arguments.force, names=files) as folder:
        talk.result(_wrapped(DEMO) + "\n")
        for name, data in sets.items():
            row, model = _measured(data, arguments)
            rows.append(row)
            talk.step(f"  {name} ({row.seconds:.1f} s)")
            card = card_of(model)
            if name == (_REPORTED if _REPORTED in names else names[0]):
                report.write(
                    model, folder.file(_REPORT), X=data.X, feature_names=data.feature_names
                )
                card = replace(card, link=_REPORT)
            cards.append(f"<h2>{escape(name)}</h2>\n{card.html()}")
        table = _table(rows)
        page = _page(table, cards).encode()
        atomic_write(folder.file(_PAGE), lambda file: file.write(page))
        figures = {"rows": [asdict(row) for row in rows], "versions": versions()}
        write_json(folder.file(_FIGURES), {"seed": arguments.seed, **figures})
    reasons = "\n\n".join(_wrapped(f"{row.dataset}. {row.reason}") for row in rows)
    out = arguments.out
    end = STEPS["demo"].format(time.perf_counter() - start, out / _PAGE, out / _REPORT)
    talk.result("\n\n".join([table, _wrapped(DEMO_TABLE), reasons, _wrapped(end)]))


def _chosen(data: str | None) -> list[str]:
    if data is None:
        here = set(datasets.available())
        return [name for name in _SETS if name in here]
    names = [name.strip() for name in data.split(",") if name.strip()]
    if not names:
        raise InputError("--data does not name a data set. An example is --data iris,wine.")
    return list(dict.fromkeys(names))


def _measured(
    data: datasets.Dataset, arguments: argparse.Namespace
) -> tuple[_Row, ConsensusClustering]:
    """Return the row of a data set, and the model of the first seed."""
    begin = time.perf_counter()
    models = []
    for seed in range(arguments.seed, arguments.seed + _SEEDS):
        generator = EnsembleGenerator(n_jobs=jobs(arguments))
        model = ConsensusClustering(generator=generator, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EnsembleWarning)
            models.append(model.fit(data.X))
    found = [model.labels_ for model in models]
    row = _Row(
        data.name,
        data.X.shape[0],
        data.X.shape[1],
        len(data.target_names),
        models[0].n_clusters_,
        adjusted_rand_index(data.y, found[0]),
        float(np.mean([adjusted_rand_index(a, b) for a, b in combinations(found, 2)])),
        [model.n_clusters_ for model in models],
        models[0].reason_parts.text(SHELL),
        time.perf_counter() - begin,
    )
    return row, models[0]


def _table(rows: list[_Row]) -> str:
    lines = [f"{'':<17}{'objects':>8}{'classes':>9}{'found':>7}{'ARI':>7}{'5 seeds':>9}"]
    for row in rows:
        numbers = ", ".join(map(str, sorted(set(row.clusters_of_seeds))))
        lines.append(
            f"{row.dataset:<17}{row.objects:>8,}{row.classes:>9}{row.clusters:>7}"
            f"{_rounded(row.adjusted_rand_index):>7}{_rounded(row.agreement_of_seeds):>9}  ({numbers})"
        )
    ari, agreement = np.mean([(r.adjusted_rand_index, r.agreement_of_seeds) for r in rows], axis=0)
    return "\n".join([*lines, f"{'mean':<41}{_rounded(ari):>7}{_rounded(agreement):>9}"])


def _rounded(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # no -0.00


def _wrapped(text: str) -> str:
    return textwrap.fill(text, width=80, break_long_words=False, break_on_hyphens=False)


def _page(table: str, cards: list[str]) -> str:
    style = (
        ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;"
        "padding:0 1rem}pre{overflow-x:auto}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}"
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>conclust demo</title>'
        f"<style>{style}</style><h1>{count(len(cards), 'data set')}, without any further information</h1>"
        f"<p>{escape(DEMO)}</p><pre>{escape(table)}</pre><p>{escape(DEMO_TABLE)}</p>"
        f'<p>A full report of one of them: <a href="{_REPORT}">{_REPORT}</a>.</p>{"".join(cards)}</html>\n'
    )
