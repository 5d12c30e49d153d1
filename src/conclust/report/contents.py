"""Converts a result to a plain account: the decision, facts, and sections of texts, tables and pictures.

Numbers come from `conclust.selection`, `conclust.confidence` and `conclust.plotting`; here they get explanations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conclust._types import Ints
from conclust._validation import count
from conclust.confidence import (
    ClusterConfidence,
    ObjectConfidence,
    cluster_confidence,
    object_confidence,
    partition_confidence,
)
from conclust.confidence.posterior.modes import several_modes
from conclust.report.overview import always_apart, features_section, overview_section
from conclust.report.pictures import Gallery
from conclust.report.tables import numbers, section, table, text_block
from conclust.results.result import Reported
from conclust.words.borders import described
from conclust.words.confidence import kept_sentence
from conclust.words.names import shown, shown_text
from conclust.words.page import columns, sections
from conclust.words.page.checklist import HEADS, as_csv, as_markdown, checklist_of
from conclust.words.page.citing import cited
from conclust.words.page.decision import decision_of, is_rejected
from conclust.words.page.why import of_none, of_p_value, of_supports

FORMAT = 1
MOST_DRAWN = 100_000
"""Maximum number of objects that tables and pictures are made from."""
_FEW = 100  # clusters up to this size are sampled completely
_MANY_CLUSTERS = 60
_OF_OBJECTS = ("confidence", "margin", "item_consensus", "silhouette", "agreement")
_EXACT = 2**53  # largest integer that browsers read exactly from JSON; seeds may be larger


def contents(reported: Reported, *, max_objects: int, gallery: Gallery) -> dict[str, Any]:
    """Return the account of a result.

    Parameters
    ----------
    reported : Reported
        Result to report.
    max_objects : int
        Maximum number of objects listed, the most uncertain ones.
    gallery : Gallery
        Makes the pictures.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts; NaN only in places where it becomes null.
    """
    decision = decision_of(reported)
    judged, alone = reported.judged, reported.n_clusters == 1
    drawn = sample_of(reported)
    sure = clusters = None
    if drawn.judged is not None and not alone:
        sure, clusters = object_confidence(drawn.judged), cluster_confidence(drawn.judged)
        sizes = np.bincount(reported.labels[reported.labels >= 0], minlength=reported.n_clusters)
        clusters = replace(clusters, sizes=sizes)
    # The groups come first, then the method.
    parts = []
    if sure is not None and clusters is not None:
        parts += [
            overview_section(drawn, sure, clusters, decision["next"], of=reported.n_samples),
            _clusters(reported, drawn, clusters, sure, gallery),
            *filter(None, [borders_section(reported, gallery)]),
            features_section(reported),
            _objects(drawn, sure, max_objects, gallery, of=reported.n_samples),
        ]
    if alone:
        tips = [*filter(None, [decision["next"]]), *sections.one_cluster(reported)]
        kept = reported.kept
        how_sure = (
            [] if kept is None else [text_block(kept_sentence(kept, reported.names), "Certainty.")]
        )
        parts.append(section("overview", [*how_sure, _list("", tips)], "one"))
    parts.append(why_section(reported, gallery))
    if alone and judged is not None:
        parts.append(section("evidence", [gallery.of_clusters(drawn)]))
    if judged is not None:
        parts.append(_partitions(drawn, gallery, of=reported.n_samples))
    checklist = checklist_of(reported, decision)
    citing = section("cite", [text_block(sections.CITING), _list("", cited(reported))])
    parts += [_run(reported), citing, _checklist(checklist), _repeating(reported)]
    return {
        "format": FORMAT,
        "decision": decision,
        "source": shown(reported.record.source.file) if reported.record.source.file else "",
        "facts": sections.main_numbers(reported, clusters),
        "clusters": list(reported.shown_clusters),
        "colours": gallery.colours(reported.n_clusters),
        "sections": parts,
        "checklist": checklist,
    }


def _run(reported: Reported) -> dict[str, Any]:
    """Return the section on the run."""
    seconds, blocks = (
        reported.record.seconds,
        [text_block(text) for text in sections.what_was_run(reported)],
    )
    if seconds:
        cells = {"step": list(map(shown, seconds)), "seconds": numbers([*seconds.values()], 3)}
        blocks.append(table(columns.CAPTIONS["steps"], columns.STEPS, cells))
    return section("run", blocks)


def _clusters(
    reported: Reported,
    drawn: Reported,
    clusters: ClusterConfidence,
    sure: ObjectConfidence,
    gallery: Gallery,
) -> dict[str, Any]:
    """Return the table of clusters, and the pictures of them."""
    K, sizes = reported.n_clusters, clusters.sizes
    others = clusters.overlap.copy()
    np.fill_diagonal(others, -1.0)
    cells = {
        "cluster": list(range(K)),
        "size": sizes.tolist(),
        "share": numbers(sizes / sizes.sum()),
        "confidence": numbers(clusters.confidence),
        "consensus": numbers(clusters.consensus),
        "jaccard": numbers(clusters.jaccard),
        "next": others.argmax(axis=1).tolist(),
        "overlap": numbers(others.max(axis=1)),
    }
    caption, named = f"The {count(K, 'cluster')}", sections.how_named(reported)
    blocks = [
        table(caption, columns.CLUSTERS, cells, first=_MANY_CLUSTERS, named=named),
        gallery.of_clusters(drawn, sure),
    ]
    return section("clusters", blocks)


def _objects(
    reported: Reported, sure: ObjectConfidence, max_objects: int, gallery: Gallery, *, of: int
) -> dict[str, Any]:
    """Return the table of the most uncertain objects; `of`: number of objects of the result."""
    held = np.flatnonzero(reported.labels >= 0)
    order = held[np.argsort(sure.confidence[held], kind="stable")]
    top = order[:max_objects]
    names = reported.names
    values = {name: numbers(getattr(sure, name)[top], 4) for name in _OF_OBJECTS}
    cells = {
        "object": [shown(i if names is None else names[i]) for i in top.tolist()],
        "cluster": reported.labels[top].tolist(),
        "second": sure.second[top].tolist(),
        **values,
        "seen": sure.seen[top].tolist(),
    }
    if reported.kept is not None:
        cells["kept"] = numbers(reported.kept[top], 4)
    n_apart = int(always_apart(reported, sure, of=of).sum())
    drawn, command, titles = (
        sections.drawn_text(reported, of),
        reported.record.command,
        columns.CAPTIONS,
    )
    text = sections.uncertain_objects(sure.confidence[held], len(top), n_apart, command, drawn)
    blocks = [
        text_block(text),
        table(titles["objects"], columns.OBJECTS, cells, search=titles["search"]),
        gallery.of_objects(reported, sure),
    ]
    return section("objects", blocks)


def _partitions(reported: Reported, gallery: Gallery, *, of: int) -> dict[str, Any]:
    """Return how the clusterings compare with the consensus; `of`: number of objects of the result."""
    quality = partition_confidence(reported.judged)
    many = reported.n_clusters > 1
    counts = quality.n_clusters
    categories = reported.record.categories if reported.record.method is not None else ()
    n_made = len(counts) - len(categories)
    cells: dict[str, Any] = {
        "clustering": list(range(len(counts))),
        "clusters": counts.tolist(),
        "seen": quality.seen.tolist(),
        "diversity": numbers(quality.diversity, 4),
        "weight": numbers(quality.weight, 6),
    }
    if categories:
        cells["source"] = ["features"] * n_made + list(map(shown, categories))
    if many:
        cells |= {"ari": numbers(quality.ari, 4), "nmi": numbers(quality.nmi, 4)}
    order = np.argsort(quality.ari if many else quality.diversity, kind="stable")[:1000].tolist()
    cells = {name: [values[i] for i in order] for name, values in cells.items()}
    caption, drawn = columns.CAPTIONS["partitions"], sections.drawn_text(reported, of)
    blocks = [
        text_block(sections.clusterings(quality, len(categories), drawn, agreement=many)),
        *_ways(reported, gallery),
        table(caption, columns.PARTITIONS, cells, first=10),
        gallery.of_partitions(reported),
    ]
    return section("partitions", blocks)


def _ways(reported: Reported, gallery: Gallery) -> list[dict[str, Any]]:
    """Return the modes of the clusterings, with a picture of each; empty if there is only one."""
    assert reported.judged is not None
    several = several_modes(reported.judged.members)
    if several is None:
        return []
    return [
        text_block(sections.several_ways(several)),
        gallery.of_ways(reported, several.assignments),
    ]


def _checklist(items: list[list[str]]) -> dict[str, Any]:
    """Return the section with the items of a report on a cluster analysis."""
    files = [
        ["checklist.csv", "text/csv", as_csv(items)],
        ["checklist.md", "text/markdown", as_markdown(items)],
    ]
    cells = dict(zip(map(str.lower, HEADS), map(list, zip(*items, strict=True)), strict=True))
    listed_items = table(columns.TITLES["checklist"], columns.CHECKLIST, cells, first=40)
    blocks = [text_block(sections.CHECKLIST), listed_items, {"kind": "files", "files": files}]
    return section("checklist", blocks)


def _repeating(reported: Reported) -> dict[str, Any]:
    record = reported.record
    settings = plain(record.settings)
    if record.labels_hash is not None:
        settings |= {
            "sha256 of columns": [*record.source.hashes],
            "sha256 of labels": record.labels_hash,
        }
    blocks: list[dict[str, Any]] = [text_block(sections.repeating(record))]
    if record.call:
        call = {"title": columns.CAPTIONS["call"], "text": shown_text(record.call)}
        blocks.append({"kind": "code", **call})
    blocks.append(
        {"kind": "settings", "call": record.call, "settings": settings, "versions": record.versions}
    )
    return section("repeat", blocks)


def plain(value: Any) -> Any:
    """Return a value as plain JSON data; a value that JSON cannot hold becomes text."""
    if isinstance(value, dict):
        return {shown(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | range | set):
        return [plain(part) for part in list(value)[:1000]]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist()) if value.size <= 1000 else f"array of shape {value.shape}"
    if isinstance(value, int) and abs(value) > _EXACT:
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return shown_text(str(value))


def _list(title: str, items: list[str]) -> dict[str, Any]:
    return {"kind": "list", "title": title, "items": items}


def sample_of(reported: Reported) -> Reported:
    """Return the result of at most about 100,000 objects, evenly spaced within each cluster.

    Clusters keep their numbers and nearly their shares; those of at most 100 objects are kept whole. Objects keep
    their names or numbers.
    """
    if reported.n_samples <= MOST_DRAWN or reported.judged is None:
        return reported
    judged = reported.judged
    at = _spaced(reported.labels)
    if judged.members.has_missing:
        # Every partition keeps an object that it observed.
        present = judged.members.present
        unseen = np.flatnonzero(~present[at].any(axis=0))
        at = np.union1d(at, present[:, unseen].argmax(axis=0))
    part = replace(
        judged,
        labels=judged.labels[at],
        members=judged.members.subset(at),
        membership=None if judged.membership is None else judged.membership[at],
    )
    return replace(
        reported,
        labels=reported.labels[at],
        judged=part,
        points=None if reported.points is None else reported.points[at],
        kept=None if reported.kept is None else reported.kept[at],
        names=[str(i) if reported.names is None else reported.names[i] for i in at.tolist()],
    )


def _spaced(labels: Ints) -> Ints:
    """Return the indices of the sample, in increasing order."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels - labels.min()))
    drawn = []
    for members in np.split(order, ends[:-1]):
        size = len(members)
        wanted = max(min(size, _FEW), round(size * MOST_DRAWN / len(labels)))
        drawn.append(members[np.arange(wanted) * size // max(wanted, 1)])
    return np.sort(np.concatenate(drawn))


def why_section(reported: Reported, gallery: Gallery) -> dict[str, Any]:
    """Return the section on the reason for the number of clusters.

    Parameters
    ----------
    reported : Reported
        Result to report.
    gallery : Gallery
        Makes the pictures.

    Returns
    -------
    dict
        A section.
    """
    if reported.selection is not None:
        blocks = _by_selection(reported)
    elif reported.record.supports:
        blocks = _by_support(reported)
    else:
        blocks = [text_block(of_none(reported.record))]
    title = "why one" if reported.n_clusters == 1 else ""
    return section("why", [*blocks, gallery.of_number(reported)], title)


def _by_selection(reported: Reported) -> list[dict[str, Any]]:
    selection = reported.selection
    K, why = reported.n_clusters, reported.record.why
    blocks: list[dict[str, Any]] = [text_block(selection.reason)]
    if selection.n_clusters != K and why is not None:
        blocks.insert(0, text_block(f"{why[:1].upper()}{why[1:]}."))
    blocks.append(text_block(of_p_value(selection, K)))
    if selection.doubts:
        blocks.append(_list(columns.CAPTIONS["doubts"], list(selection.doubts)))
    others = _criteria(selection, columns.REPORTED, columns.CAPTIONS["reported"])
    blocks.append(_criteria(selection, columns.DECIDING, columns.CAPTIONS["deciding"]))
    blocks.append({"kind": "more", "title": columns.CAPTIONS["others"], "blocks": [others]})
    return blocks


def _criteria(selection: Any, criteria: str, caption: str) -> dict[str, Any]:
    """Return criteria with standard errors, one row per number tried."""
    cells: dict[str, Any] = {"k": selection.k.tolist()}
    spreads = set()
    for name, values in selection.table.items():
        if name.endswith("_se") or not np.isfinite(values).any():
            continue
        cells[name] = numbers(values)
        errors = selection.table.get(f"{name}_se")
        if errors is not None and np.isfinite(errors).any():
            spreads.add(name)
            cells[name] = list(map(list, zip(cells[name], numbers(errors), strict=True)))
    found = table(caption, criteria, cells, first=40)
    for column in found["columns"]:
        if column["name"] in spreads:
            column |= {"how": column["how"] + columns.SPREAD, "kind": "spread"}
    return {**found, "stressed": selection.n_clusters}


def _by_support(reported: Reported) -> list[dict[str, Any]]:
    record, K = reported.record, reported.n_clusters
    supports = sorted(record.supports, key=lambda support: support.n_clusters)
    names = ("support", "lifetime", "straddling")
    cells: dict[str, Any] = {name: numbers([getattr(s, name) for s in supports]) for name in names}
    cells["k"] = [s.n_clusters for s in supports]
    found_table = table(columns.CAPTIONS["supports"], columns.SUPPORTS, cells, first=12)
    return [text_block(of_supports(record)), {**found_table, "stressed": K}]


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
    how = sections.tests_of_borders(borders.agreement, reported.n_samples)
    cells = {name: borders.table[name].tolist() for name in ("first", "second")}
    cells |= {
        name: numbers(x) for name, x in borders.table.items() if name not in {"holds", *cells}
    }
    cells["holds"] = ["yes" if holds else "no" for holds in borders.table["holds"]]
    rows = table(columns.CAPTIONS["borders"], columns.BORDERS, cells, alpha=borders.alpha)
    blocks: list[dict[str, Any]] = [text_block(text), text_block(how), rows]
    if (power := reported.power) is not None:
        blocks += [text_block(f"{power.told()} {sections.in_more(power)}"), gallery.of_power(power)]
    if reported.border_tree is not None:
        blocks.append(gallery.of_tree(reported.border_tree))
    return section("borders", blocks)
