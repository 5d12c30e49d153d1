"""Converts a result to a plain account: the decision, facts, and sections of texts, tables and pictures.

Numbers come from `conclust.selection`, `conclust.confidence` and `conclust.plotting`; here they get explanations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conclust._validation import count
from conclust.confidence import (
    ClusterConfidence,
    ObjectConfidence,
    cluster_confidence,
    object_confidence,
    partition_confidence,
)
from conclust.confidence.posterior.modes import several_modes
from conclust.report.borders import borders_section
from conclust.report.differences import features_section
from conclust.report.overview import always_apart, overview_section
from conclust.report.pictures import Gallery
from conclust.report.sample import sample_of
from conclust.report.tables import numbers, section, table, text_block
from conclust.report.why import why_section
from conclust.results.result import Reported
from conclust.words.confidence import kept_sentence
from conclust.words.names import shown, shown_text
from conclust.words.page import columns
from conclust.words.page.checklist import HEADS, as_csv, as_markdown, checklist_of
from conclust.words.page.citing import cited
from conclust.words.page.decision import decision_of
from conclust.words.page.sections import (
    CHECKLIST,
    CITING,
    clusterings,
    drawn_text,
    how_named,
    main_numbers,
    one_cluster,
    repeating,
    several_ways,
    uncertain_objects,
    what_was_run,
)

FORMAT = 1
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
    sections = []
    if sure is not None and clusters is not None:
        sections += [
            overview_section(drawn, sure, clusters, decision["next"], of=reported.n_samples),
            _clusters(reported, drawn, clusters, sure, gallery),
            *filter(None, [borders_section(reported, gallery)]),
            features_section(reported),
            _objects(drawn, sure, max_objects, gallery, of=reported.n_samples),
        ]
    if alone:
        tips = [*filter(None, [decision["next"]]), *one_cluster(reported)]
        kept = reported.kept
        how_sure = (
            [] if kept is None else [text_block(kept_sentence(kept, reported.names), "Certainty.")]
        )
        sections.append(section("overview", [*how_sure, _list("", tips)], "one"))
    sections.append(why_section(reported, gallery))
    if alone and judged is not None:
        sections.append(section("evidence", [gallery.of_clusters(drawn)]))
    if judged is not None:
        sections.append(_partitions(drawn, gallery, of=reported.n_samples))
    checklist = checklist_of(reported, decision)
    citing = section("cite", [text_block(CITING), _list("", cited(reported))])
    sections += [_run(reported), citing, _checklist(checklist)]
    sections.append(_repeating(reported))
    return {
        "format": FORMAT,
        "decision": decision,
        "source": shown(reported.record.source.file) if reported.record.source.file else "",
        "facts": main_numbers(reported, clusters),
        "clusters": list(reported.shown_clusters),
        "colours": gallery.colours(reported.n_clusters),
        "sections": sections,
        "checklist": checklist,
    }


def _run(reported: Reported) -> dict[str, Any]:
    """Return the section on the run."""
    seconds, blocks = reported.record.seconds, [text_block(text) for text in what_was_run(reported)]
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
    caption, named = f"The {count(K, 'cluster')}", how_named(reported)
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
    drawn, command, titles = drawn_text(reported, of), reported.record.command, columns.CAPTIONS
    text = uncertain_objects(sure.confidence[held], len(top), n_apart, command, drawn)
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
    caption, drawn = columns.CAPTIONS["partitions"], drawn_text(reported, of)
    blocks = [
        text_block(clusterings(quality, len(categories), drawn, agreement=many)),
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
    return [text_block(several_ways(several)), gallery.of_ways(reported, several.assignments)]


def _checklist(items: list[list[str]]) -> dict[str, Any]:
    """Return the section with the items of a report on a cluster analysis."""
    files = [
        ["checklist.csv", "text/csv", as_csv(items)],
        ["checklist.md", "text/markdown", as_markdown(items)],
    ]
    cells = dict(zip(map(str.lower, HEADS), map(list, zip(*items, strict=True)), strict=True))
    listed_items = table(columns.TITLES["checklist"], columns.CHECKLIST, cells, first=40)
    blocks = [text_block(CHECKLIST), listed_items, {"kind": "files", "files": files}]
    return section("checklist", blocks)


def _repeating(reported: Reported) -> dict[str, Any]:
    record = reported.record
    settings = plain(record.settings)
    if record.labels_hash is not None:
        settings |= {
            "sha256 of columns": [*record.source.hashes],
            "sha256 of labels": record.labels_hash,
        }
    blocks: list[dict[str, Any]] = [text_block(repeating(record))]
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
