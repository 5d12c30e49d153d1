"""``conclust combine --rows answers``: tables in long form, with an object, a partition and a label in each row."""

from __future__ import annotations

from pathlib import Path

from conclust.cli.reading.columns import OBJECT
from conclust.cli.reading.inputs import Labels, read_weights
from conclust.cli.reading.sources import opened
from conclust.cli.reading.tables import Reading, Table, listed, table_of
from conclust.ensemble import Ensemble, Missing
from conclust.exceptions import InputError


def read_answers(
    path: Path, how: Reading, *, missing: Missing = "unobserved", weights: Path | None = None
) -> Labels:
    """Read a table with one answer per row; objects and partitions are in the order in which they occur.

    Parameters
    ----------
    path : Path
        A table, of which ``how.columns`` names three columns: object, partition, label.
    how : Reading
        Options for reading.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of the label -1.
    weights : Path, default=None
        A file of one weight per partition.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    FileFormatError, InputError
        Its shape or content is not valid for answers.
    """
    with opened(path) as source:
        if not source.has_columns:
            raise InputError(
                f"--rows answers is for tables, CSV and Parquet. {source} is an array."
            )
        with table_of(source, how, labels=True) as table:
            columns = _columns(table, how)
            labels = table.labels(columns[2:], noise=missing == "noise")
            texts = table.texts(columns[:2])
            notes = ("one answer per row", *table.notes)
        names = [table.names[j] for j in columns]
        objects, partitions = ([text.strip() for text in column] for column in texts)
        order = list(dict.fromkeys(objects)), list(dict.fromkeys(partitions))
        frame = dict(zip(names, (objects, partitions, labels[:, 0]), strict=True))
        draw_weights = None
        if weights is not None:
            draw_weights = read_weights(weights, len(order[1]), order[1], encoding=how.encoding)
        try:
            ensemble = Ensemble.from_long(
                frame, *names, objects=order[0], partitions=order[1], weights=draw_weights
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error
    title = names[0] if table.named and names[0] else OBJECT
    return Labels(ensemble, tuple(order[1]), order[0], title, None, notes)


def _columns(table: Table, how: Reading) -> list[int]:
    """Return the columns of the objects, the partitions and the labels."""
    if how.id_column is not None or how.label_column is not None or how.drop:
        raise InputError(
            "With --rows answers leave --id-column, --label-column and --drop out, and give the columns of objects, "
            "clusterings and labels, in this order: --columns card,person,pile."
        )
    columns = [table.column(name, "--columns") for name in how.columns or ()]
    if len(set(columns)) != 3 or len(columns) != 3:
        raise InputError(
            f"--rows answers needs three columns of {table.name}: of objects, clusterings and labels, in this order. Name them, "
            f"as in --columns card,person,pile. The columns are {listed(table.names)}."
        )
    return columns
