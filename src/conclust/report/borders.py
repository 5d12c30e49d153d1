"""The borders between clusters: the table of p-values, and the tree with its support."""

from __future__ import annotations

from typing import Any

from conclust.confidence import BorderTests
from conclust.report.pictures import Gallery
from conclust.report.tables import numbers, section, table, text_block
from conclust.results.result import Reported
from conclust.words.borders import described
from conclust.words.page.columns import BORDERS, CAPTIONS
from conclust.words.page.decision import is_rejected
from conclust.words.page.sections import in_more, tests_of_borders

_TEXTS = ("first", "second", "holds")


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
    text = described(borders, more_than_gaussian=is_rejected(reported.selection))
    how = tests_of_borders(borders.agreement, reported.n_samples)
    blocks: list[dict[str, Any]] = [text_block(text), text_block(how), _table(borders)]
    if (power := reported.power) is not None:
        blocks += [text_block(f"{power.told()} {in_more(power)}"), gallery.of_power(power)]
    if reported.border_tree is not None:
        blocks.append(gallery.of_tree(reported.border_tree))
    return section("borders", blocks)


def _table(borders: BorderTests) -> dict[str, Any]:
    cells = {name: numbers(values) for name, values in borders.table.items() if name not in _TEXTS}
    cells |= {name: borders.table[name].tolist() for name in ("first", "second")}
    cells["holds"] = ["yes" if holds else "no" for holds in borders.table["holds"]]
    return table(CAPTIONS["borders"], BORDERS, cells, alpha=borders.alpha)
