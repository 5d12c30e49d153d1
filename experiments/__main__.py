"""List the experiments, or run all of them: python -m experiments [--quick] [--out FOLDER]."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from conclust.exceptions import DatasetNotFoundError

NAMES = (
    "pcc2013.planted",
    "pcc2013.convergence",
    "pcc2013.tables",
    "pcc2013.explained",
    "pcc2013.standins",
    "pcc2013.matrices",
    "pcc2013.kdd",
    "pcc2013.digits",
    "peace2013.figures",
    "peace2013.text",
    "robust2013.figures",
    "robust2013.random_partitions",
    "fca2016.figures",
    "leaderboard.board",
    "usenc2020.members",
    "usenc2020.graphs",
    "usenc2020.scale",
    "default.battery",
    "default.members",
    "default.weights",
    "default.scale",
    "selection.number",
    "confidence.ranking",
    "calibration.replicates",
    "borders.level",
    "borders.power",
    "borders.beside",
    "power.needed",
    "scale.fitted_on",
    "posterior.pools",
    "ccp2010.examples",
    "answers.questions",
    "answers.many",
    "labels.battery",
    "views.mfeat",
    "networks.communities",
    "networks.published",
    "networks.large",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="The papers' experiments.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all where none is given")
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--quick", action="store_true", help="small versions, in seconds each")
    parser.add_argument("--out", type=Path, help="folder to write the tables to")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. There are {', '.join(NAMES)}")
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"experiments.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        if arguments.list:
            continue
        given = ["--quick"] if arguments.quick else []
        if arguments.out is not None:
            given += ["--out", str(arguments.out / name)]
        try:
            module.main(given)
        except DatasetNotFoundError as error:
            if arguments.names:
                raise
            print(f"Left out: {error}")


if __name__ == "__main__":
    main()
