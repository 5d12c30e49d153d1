"""The borders between clusters: the table of p-values, and the tree with its support."""

from __future__ import annotations

from typing import Any

from conclust._validation import count
from conclust.confidence import BorderTests
from conclust.confidence.borders.power import WANTED, BorderPower
from conclust.confidence.borders.result import described, headline
from conclust.report.pictures import Gallery
from conclust.report.tables import column, numbers, section, table, text_block
from conclust.results.result import Reported

_FEW = 400


def border_words(reported: Reported) -> str:
    """Return the addition to the first line: "3 of 4 borders hold (p < .05, Holm)"; empty without tests."""
    if reported.borders is None or reported.n_clusters == 1:
        return ""
    tests, K = reported.borders, reported.n_clusters
    rejected = _rejected(reported)
    line = headline(K, tests.n_held(), tests.n_borders, tests.alpha, more_than_gaussian=rejected)
    return line.removeprefix(f"{K} clusters").lstrip(",; ")


def _rejected(reported: Reported) -> bool:
    """Return whether a test rejected that the points are one Gaussian."""
    selection = reported.selection
    return selection is not None and selection.p_value <= selection.settings.get("alpha", 0.05)


def borders_section(reported: Reported, gallery: Gallery) -> dict[str, Any] | None:
    """Return the section on the borders between clusters; None if they were not tested.

    Parameters
    ----------
    reported : Reported
        Result to report.
    gallery : Gallery
        Makes the pictures.
    """
    borders = reported.borders
    if borders is None or reported.n_clusters == 1:
        return None
    text = described(borders, more_than_gaussian=_rejected(reported))
    how = (
        f"In each of {len(borders.agreement)} random splits, a third of the points was clustered separately. The other points "
        "between two clusters were projected onto the line through their centres, and the dip test shows whether they have "
        "one mode there. The p-value is twice the median over the splits, adjusted for the number of borders by Holm's "
        "method. It is valid for clusters from any method. If a border does not hold, it is not shown to be absent"
    )
    few = reported.n_samples < _FEW
    how += (
        f": among {reported.n_samples:,} objects, only clusters that lie far apart have borders that hold."
        if few
        else "."
    )
    if len(borders.agreement):
        how += f" The clusterings of the parts agree with the clusters on {100 * borders.agreement.mean():.0f} % of the points."
    blocks: list[dict[str, Any]] = [
        text_block(text),
        text_block(how),
        _table(borders),
    ]
    if (power := reported.power) is not None:
        blocks += [text_block(f"{power.told()} {_in_more(power)}"), gallery.of_power(power)]
    if reported.border_tree is not None:
        blocks.append(gallery.of_tree(reported.border_tree))
    return section("borders", "Which borders hold", blocks)


def _in_more(power: BorderPower) -> str:
    """Return how many borders are to be expected in as many objects, and in twice as many."""
    likely = [int((power.at(times * power.n_samples) >= WANTED).sum()) for times in (1, 2)]
    return (
        f"Of {count(len(power.needed), 'border')}, {likely[0] or 'none'} would hold in at least 8 of 10 samples of as many objects, "
        f"and {likely[1] or 'none'} in samples of twice as many."
    )


def _table(borders: BorderTests) -> dict[str, Any]:
    columns = [
        column("first", "Cluster", "One of two neighbouring clusters.", kind="cluster"),
        column("second", "and", "The other one.", kind="cluster"),
        column(
            "holds", "Holds", f"Whether the adjusted p is at most {borders.alpha:g}.", kind="text"
        ),
        column("adjusted", "Adjusted p", "For the number of borders (Holm 1979).", digits=4),
        column("p_value", "p", "By the dip test, of this border alone.", digits=4),
        column(
            "valley_p_value",
            "Valley p",
            "By the valley test: fewer points in a window between two peaks than in either. Exact, and weaker.",
            digits=4,
        ),
        column(
            "first_peak", "Peak", "Mean number of points at the first cluster's peak.", digits=1
        ),
        column("valley", "Valley", "In the valley between the two.", digits=1),
        column("second_peak", "Peak", "At the second cluster's peak.", digits=1),
    ]
    border_columns = borders.table
    cells: list[Any] = [
        border_columns["first"].tolist(),
        border_columns["second"].tolist(),
        ["yes" if holds else "no" for holds in border_columns["holds"]],
    ]
    cells += [numbers(border_columns[entry["name"]]) for entry in columns[3:]]
    return table("Borders between neighbouring clusters, the least certain first", columns, cells)
