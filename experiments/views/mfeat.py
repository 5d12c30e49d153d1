"""Six views of handwritten numerals: members from all of them, beside each view alone and one matrix.

python -m experiments.views.mfeat [--quick] [--seeds 4] [--out FOLDER]

The views are the kinds of features of mfeat (2,000 numerals): columns 0 to 75 Fourier coefficients, 76 to 291 profile
correlations, 292 to 355 Karhunen-Loeve coefficients, 356 to 595 pixels, 596 to 642 Zernike moments, 643 to 648
morphology. 60 members of the default kind, columns standardised; consensus by LWEA and by AutoConsensus, told the
number of classes. Once, each view lacks three tenths of the numerals, drawn for each view by itself. Known classes serve for
scoring only.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust import LWEA, AutoConsensus, Ensemble, EnsembleGenerator, MultiViewGenerator
from conclust.datasets import load
from conclust.metrics import adjusted_rand_index, normalized_mutual_information
from experiments.output import Row, options, show, write

VIEWS = {
    "Fourier": slice(0, 76),
    "profiles": slice(76, 292),
    "Karhunen-Loeve": slice(292, 356),
    "pixels": slice(356, 596),
    "Zernike": slice(596, 643),
    "morphology": slice(643, 649),
}
MEMBERS = 60
LACKING = 0.3


def ensembles(X: NDArray[np.float64], seed: int, members: int) -> dict[str, Ensemble]:
    """Return the ensembles that are compared, by name."""
    found = {}
    base = EnsembleGenerator(scale="standard")
    for weigh in (True, False):
        makes = MultiViewGenerator(base, members, weigh=weigh, random_state=seed, n_jobs=1)
        name = "all views" if weigh else "all views, not weighted"
        found[name] = makes.fit({name: X[:, of] for name, of in VIEWS.items()}).ensemble_
    rng = np.random.default_rng(seed)
    lacking = {name: rng.random((len(X), 1)) < LACKING for name in VIEWS}
    parts = {name: np.where(lacking[name], np.nan, X[:, of]) for name, of in VIEWS.items()}
    makes = MultiViewGenerator(base, members, random_state=seed, n_jobs=1)
    found["all views, each without 30 %"] = makes.fit(parts).ensemble_
    for name, columns in {"one matrix": slice(None), **VIEWS}.items():
        one = EnsembleGenerator(scale="standard", n_partitions=members, random_state=seed, n_jobs=1)
        found[name] = Ensemble(one.fit_transform(X[:, columns]))
    return found


def run(arguments: argparse.Namespace) -> None:
    data = load("mfeat")
    X, classes = np.asarray(data.X, dtype=np.float64), data.y
    seeds, members = range(arguments.seed, arguments.seed + arguments.seeds), MEMBERS
    if arguments.quick:
        kept = np.random.default_rng(0).permutation(len(X))[:200]
        X, classes, seeds, members = X[np.sort(kept)], classes[np.sort(kept)], range(1), 12
    k = len(np.unique(classes))
    scores: dict[str, list[list[float]]] = {}
    for seed in seeds:
        for name, ensemble in ensembles(X, seed, members).items():
            row = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # members finer than the number told
                for method in (LWEA(k), AutoConsensus(k, n_jobs=1)):
                    labels = method.fit_predict(ensemble)
                    held = labels >= 0  # -1: a numeral that no view has
                    row += [
                        float(adjusted_rand_index(classes[held], labels[held])),
                        float(normalized_mutual_information(classes[held], labels[held])),
                    ]
            scores.setdefault(name, []).append(row)
        print(f"seed {seed}", flush=True)
    rows: list[Row] = []
    for name, each in scores.items():
        lwea_ari, lwea_nmi, auto_ari, auto_nmi = np.mean(each, axis=0).tolist()
        rows.append(
            {
                "members of": name,
                "LWEA ARI": lwea_ari,
                "NMI": lwea_nmi,
                "least ARI": float(np.min([row[0] for row in each])),
                "AutoConsensus ARI": auto_ari,
                "its NMI": auto_nmi,
            }
        )
    formats: dict[str, Any] = {}
    show(rows, f"Means over {len(seeds)} seeds", formats)
    note = (
        f"{members} members, {k} clusters; means over {len(seeds)} seeds, 'least ARI' the smallest of LWEA's. Columns are "
        "standardised."
    )
    write(rows, "mfeat", arguments, formats, note=note)


def main(given: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="seeds")
    run(parser.parse_args(given))


if __name__ == "__main__":
    main()
