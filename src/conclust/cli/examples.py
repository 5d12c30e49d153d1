"""The examples at the end of each command's help: a purpose, and the command."""

from __future__ import annotations

_ROWS = """
demo | six data sets, or those of them that are available | conclust demo
demo | only the irises | conclust demo --data iris --out iris-demo
cluster | points in, consensus clusters out: the folder result | conclust cluster points.csv
cluster | three clusters, from a tree | conclust cluster points.csv --method eac -k 3 --out three
cluster | a compressed table with decimal commas and empty cells; labels only | conclust cluster points.csv.gz --decimal comma --impute median --out clusters.csv
combine | your own clusterings, one per column | conclust combine labels.csv
combine | another method, with one of its parameters | conclust combine labels.csv --method pcc -k 5 --set divergence=l2 --out five
combine | in a pipe | cut -d, -f2- labels.csv | conclust combine - -k 3 --out - > clusters.csv
select | the number of clusters, which may be one | conclust select points.csv
select | quicker, without a p-value | conclust select points.csv -k 2:6 --null none --resamples 20 --out quick
report | the page result/report.html | conclust report result
report | a page to pass on | conclust report result --out page.html --objects 100
predict | new points, assigned to the clusters of a result | conclust predict result new.csv
predict | labels only | conclust predict result new.csv --out placed.csv
repeat | check that the result is the same | conclust repeat result points.csv
compare | two clusterings of the same objects | conclust compare a.csv b.csv
compare | the classes of a table and the clusters of a result | conclust compare points.csv result/labels.csv --column class --second-column label
compare | which of several runs to keep | conclust compare --all a.csv b.csv c.csv
compare | which of scanpy's resolutions to keep | conclust compare --all obs.csv --column 'leiden_*'
methods | all methods | conclust methods
methods | one of them, with its parameters for --set | conclust methods hbgf
"""
EXAMPLES: dict[str, list[tuple[str, str]]] = {}
for _row in _ROWS.strip().splitlines():
    _command, _what, _line = _row.split(" | ", 2)  # a line may be a pipe
    EXAMPLES.setdefault(_command, []).append((_what, _line))


def examples_of(command: str) -> str:
    """Return the examples of a command as the end of its help."""
    lines = (f"  {line}\n      {what}" for what, line in EXAMPLES[command])
    return "\n".join(["examples:", *lines])
