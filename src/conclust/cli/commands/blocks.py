"""``conclust combine --blocks``: labels of more objects than fit into memory."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import Any

import numpy as np

from conclust._validation import count
from conclust.blocks import LabelStore, checkpoint
from conclust.blocks.checkpoints import has_state
from conclust.blocks.sources import FrameFiles
from conclust.cli.choice import choose
from conclust.cli.commands.consensus import refuse_labels_from
from conclust.cli.console import STREAM, Talk, plain
from conclust.cli.reading.columns import names_objects, naming_columns
from conclust.cli.reading.inputs import read_weights
from conclust.cli.reading.notation import Reading
from conclust.cli.reading.tables import listed, table_of_frame
from conclust.cli.record import Clock, parameters, recorded_warnings, words
from conclust.cli.requested import jobs
from conclust.cli.summary import names_for, sizes_line
from conclust.exceptions import InputError
from conclust.results.record import EnsembleFacts, Record, Settings, Source, write_record
from conclust.results.writing import OutputFolder, is_table_name


def run_blocks(arguments: argparse.Namespace) -> None:
    """Combine a label matrix read in blocks; write labels.npy."""
    choice = choose(arguments)
    _check(arguments, choice.method)
    refuse_labels_from(arguments)
    talk, clock = Talk(arguments), Clock()
    with OutputFolder(arguments.out, force=arguments.force) as folder:
        store = _store(arguments, talk)
        n, m = store.shape
        talk.step(f"Reading {arguments.labels}: {count(n, 'object')}, {count(m, 'clustering')}.")
        facts = store.facts
        if arguments.columns is None:
            _refuse_names(arguments, store)
        clock.lap("read")
        model = choice.estimator(
            seed=arguments.seed, jobs=jobs(arguments), verbose=int(talk.verbosity > 1)
        )
        name = choice.method.estimator
        talk.step(f"Combining {count(m, 'clustering')} ({name}), {count(store.n_blocks, 'block')}.")
        if arguments.checkpoint is not None and has_state(arguments.checkpoint):
            talk.step(f"Resuming from {arguments.checkpoint}.")
        checkpointing = (
            nullcontext() if arguments.checkpoint is None else checkpoint(arguments.checkpoint)
        )
        with recorded_warnings() as warned, checkpointing:
            model.fit(store)
            clock.lap("combine")
            talk.step(f"Writing {arguments.out}.")
            model.labels_.save(folder.file("labels.npy"))
        sizes = _sizes(model)
        names, unnamed = names_for(arguments.names, len(sizes))
        clock.lap("write")
        record = Record(
            command=arguments.command,
            arguments=words(arguments),
            source=Source(plain(arguments.labels), n),
            settings=Settings(
                method=name.lower(), consensus=parameters(model), missing=arguments.missing
            ).entries(),
            seed=arguments.seed,
            ensemble=EnsembleFacts(n, m, facts.fingerprint, blocks=store.n_blocks),
            n_clusters=int(model.n_clusters_),
            cluster_sizes=sizes.tolist(),
            cluster_names=names,
            n_unplaced=facts.n_unobserved,
            warnings=tuple(warned),
            seconds=clock.seconds(),
        )
        write_record(folder.file("result.json"), record)
    lines = [
        f"{count(len(sizes), 'cluster')} of {count(n, 'object')}, from {count(m, 'clustering')}. "
        f"{sizes_line(sizes, names)}"
    ]
    if facts.n_unobserved:
        lines.append(f"{count(facts.n_unobserved, 'object')} without a clustering: label -1.")
    lines += [f"Results are in {arguments.out}.", *filter(None, [unnamed])]
    talk.result("\n".join(lines), lines[0])


def _check(arguments: argparse.Namespace, method: Any) -> None:
    """End with the usage if blocks contradict another option."""
    from conclust.consensus.registry import methods

    if not method.blocks:
        able = ", ".join(one.estimator.lower() for one in methods() if one.blocks)
        arguments.usage_error(
            f"{_option(arguments)}: {method.estimator} needs all labels at once. Give --method: {able}."
        )
    if STREAM in (arguments.labels, arguments.out) or is_table_name(arguments.out):
        arguments.usage_error(
            f"{_option(arguments)} reads a file and writes a folder; it supports neither streams nor tables."
        )
    for name in ("id_column", "label_column", "drop", "na", "encoding", "key"):
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            arguments.usage_error(
                f"{_option(arguments)}: {option} is for tables that are read at once."
            )


def _option(arguments: argparse.Namespace) -> str:
    """Return the option that turns on blocks."""
    return "--blocks" if arguments.blocks else "--checkpoint"


def _store(arguments: argparse.Namespace, talk: Talk) -> LabelStore:
    columns = None if arguments.columns is None else [str(name) for name in arguments.columns]
    how = {
        "missing": arguments.missing,
        "n_jobs": jobs(arguments),
        "verbose": int(talk.verbosity > 0),
    }
    if not arguments.labels.exists():
        raise InputError(f"There is no file {arguments.labels}.")
    store = LabelStore(arguments.labels, columns=columns, **how)
    if columns is None and isinstance(store.source, FrameFiles) and store.source.groups:
        head = table_of_frame(store.source.head(), str(arguments.labels), Reading())
        naming = [column.name for column in naming_columns(head, head.columns)]
        if naming and len(naming) < len(head.columns):
            talk.step(f"Left out, because its values name the objects: {listed(naming)}.")
            columns = [name for name in head.names if name not in naming]
            store = LabelStore(arguments.labels, columns=columns, **how)
    if arguments.weights is None:
        return store
    names = getattr(store.source, "columns", ())
    weights = read_weights(arguments.weights, store.shape[1], names)
    return LabelStore(arguments.labels, columns=columns, weights=weights, **how)


def _refuse_names(arguments: argparse.Namespace, store: LabelStore) -> None:
    """Refuse a column that names the objects, as `read_ensemble` does."""
    facts = store.facts
    observed = facts.n_samples - facts.n_unobserved - facts.missing_counts
    names = getattr(store.source, "columns", range(1, store.shape[1] + 1))
    for name, n_clusters, n_observed in zip(names, facts.cluster_counts, observed, strict=True):
        if names_objects(int(n_clusters), int(n_observed)):
            raise InputError(
                f"{arguments.labels}: the column {name!r} has {n_clusters:,} different labels for {n_observed:,} objects, so "
                "it names them instead of clustering them. Leave it out: list the clusterings of a Parquet file with --columns."
            )


def _sizes(model: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of objects in each cluster."""
    sizes = np.zeros(model.n_clusters_, dtype=np.int64)
    for block in model.labels_.blocks():
        sizes += np.bincount(block[block >= 0], minlength=len(sizes))
    return sizes
