"""Converts a result to a plain account: the decision, facts, and sections of texts, tables and pictures.

Numbers come from `conclust.selection`, `conclust.confidence` and `conclust.plotting`; here they get explanations.
"""

from __future__ import annotations

import math
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
from conclust.report.names import shown, shown_text
from conclust.report.overview import always_apart, how_named, overview_section
from conclust.report.pictures import Gallery
from conclust.report.sample import drawn_text, sample_of
from conclust.report.tables import column, numbers, section, table, text_block
from conclust.report.words.checklist import HEADS, as_csv, as_markdown, checklist_of
from conclust.report.words.citing import cited, filled_cells, listed, methods_text
from conclust.report.words.decision import decision_of, p_text
from conclust.report.words.why import why_section
from conclust.results.record import IMPUTED
from conclust.results.result import Reported

FORMAT = 1
_MANY_CLUSTERS = 60
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
        sections.append(_what_to_do(decision["next"]))
    sections.append(why_section(reported, gallery))
    if alone and judged is not None:
        pictures = gallery.of_clusters(drawn)
        sections.append(section("evidence", "What the clusterings show", [pictures]))
    if judged is not None:
        sections.append(_partitions(drawn, gallery, of=reported.n_samples))
    checklist = checklist_of(reported, decision)
    sections += [_run(reported), _citing(reported), _checklist(checklist)]
    sections.append(_repeating(reported))
    return {
        "format": FORMAT,
        "decision": decision,
        "source": shown(reported.record.source.file) if reported.record.source.file else "",
        "facts": _facts(reported, clusters),
        "clusters": list(reported.shown_clusters),
        "colours": gallery.colours(reported.n_clusters),
        "sections": sections,
        "checklist": checklist,
    }


def _facts(reported: Reported, clusters: ClusterConfidence | None) -> list[dict[str, str]]:
    """Return the main numbers for the top of the page, each with its explanation."""
    record, judged = reported.record, reported.judged
    facts = [("Objects", f"{reported.n_samples:,}", "Rows of the input.")]
    if reported.selection is not None and not math.isnan(reported.selection.p_value):
        p, rest = p_text(reported.selection).split(", ")
        how = (
            "P-value of a single cluster, by Monte Carlo: the share of data sets, including the points, that are at least "
            f"as stable as the points. {rest} were drawn, so that it cannot be smaller than 1 / (R + 1)."
        )
        facts.append((f"p-value ({rest})", p.removeprefix("p = ").removeprefix("p "), how))
    if record.features:
        facts.append(("Features", f"{record.features:,}", "Numeric columns of the points."))
    of_categories = 0
    if record.categories:
        n_columns = len(record.categories)
        how = f"Columns of categories: {listed(record.categories)}."
        if record.method is not None:
            of_categories = n_columns
            how += " Each joins the clusterings as one more partition."
            if record.category_weight is not None:
                how += f" It counts for {record.category_weight:g} clusterings."
        facts.append(("Categories", f"{n_columns:,}", how))
    if record.filling is not None:
        gaps = filled_cells(record.filling)
        how = f"Empty cells filled by the {IMPUTED[record.filling.how]} of the column: {gaps}."
        facts.append(("Filled cells", f"{record.filling.cells:,}", how))
    if judged is not None:
        made = "Partitions of the objects that were combined."
        if record.method is None and reported.selection is not None:
            made = "Clusterings of draws of the objects, with the number of clusters chosen."
        elif of_categories:
            made = "Partitions made of the features. The columns of categories were combined with them."
        facts.append(("Clusterings", f"{judged.members.n_partitions - of_categories:,}", made))
    if clusters is not None:
        mean = float(np.average(clusters.confidence, weights=clusters.sizes))
        how = (
            "Mean over the objects of the membership of their own cluster "
            "(conclust.confidence.confidences). 1 is certain."
        )
        facts.append(("Mean confidence", f"{mean:.2f}", how))
    if record.by_chance is not None:
        how = (
            "The same mean when partitions with clusters of the same sizes, drawn at random, are combined into "
            "the same number of clusters (conclust.confidence.chance_confidence)."
        )
        facts.append(("By chance", f"{record.by_chance:.2f}", how))
    return [{"name": name, "value": value, "how": how} for name, value, how in facts]


def _run(reported: Reported) -> dict[str, Any]:
    """Return the section on the run."""
    record, blocks = reported.record, [text_block(methods_text(reported))]
    unplaced = int(np.count_nonzero(reported.labels < 0))
    if unplaced:
        blocks.append(text_block(f"{count(unplaced, 'object')} without a clustering: label -1."))
    if record.scores is not None:
        blocks.append(
            text_block(
                "Known classes were given to score the result only: accuracy H = "
                f"{record.scores['consistency_index']:.3f} (share of objects in the cluster matched to "
                f"their class), adjusted Rand index {record.scores['adjusted_rand_index']:.3f}."
            )
        )
    if record.seconds:
        columns = [
            column("step", "Step", "What was done.", kind="text"),
            column("seconds", "Seconds", "Wall-clock time on the machine that ran it.", digits=2),
        ]
        cells = [
            [shown(name) for name in record.seconds],
            numbers(list(record.seconds.values()), 3),
        ]
        blocks.append(table("How long it took", columns, cells))
    return section("run", "What was run", blocks)


def _what_to_do(what_next: str) -> dict[str, Any]:
    tips = [
        *filter(None, [what_next]),
        "Accept it: one cluster is an answer. Differences between objects may be gradual; then an "
        "ordering, such as principal components, is more informative than clusters.",
        "Check the features: many uninformative features hide a few informative ones, and of columns that differ in spread "
        "the widest dominate (--scale standard). More objects find weaker clusters.",
        "If groups are needed anyway, request a number (-k 3, n_clusters=3). The division may be useful, "
        "but state that the number was requested.",
    ]
    return section("overview", "What you can do", [_list("", tips)])


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
    cells: list[Any] = [
        list(range(K)),
        sizes.tolist(),
        numbers(sizes / sizes.sum()),
        numbers(clusters.confidence),
        numbers(clusters.consensus),
        numbers(clusters.jaccard),
        others.argmax(axis=1).tolist(),
        numbers(others.max(axis=1)),
    ]
    columns = _columns_of_clusters(how_named(reported))
    blocks = [
        table(f"The {count(K, 'cluster')}", columns, cells, first=_MANY_CLUSTERS),
        gallery.of_clusters(drawn, sure),
    ]
    return section("clusters", "The clusters in numbers", blocks)


def _columns_of_clusters(how: str) -> list[dict[str, Any]]:
    """Return the columns of the table of clusters; `how`: how clusters are named."""
    return [
        column("cluster", "Cluster", how, kind="cluster"),
        column("size", "Objects", "Number of objects."),
        column("share", "Share", "Share of the objects that are in a cluster.", digits=3),
        column(
            "confidence",
            "Confidence",
            "Mean membership of its objects in this cluster; 1 is certain.",
            digits=3,
        ),
        column(
            "consensus",
            "Consensus",
            "Cluster consensus (Monti et al. 2003): mean over the pairs of its objects of the share of "
            "clusterings that put both together, among those that observed both.",
            digits=3,
        ),
        column(
            "jaccard",
            "Recovery",
            "Mean over the clusterings of the largest Jaccard coefficient with one of their clusters "
            "(Hennig 2007). For resamples with the same number of clusters: below 0.6 unreliable, "
            "from 0.85 very stable. Finer clusterings always lower it.",
            digits=3,
        ),
        column(
            "next",
            "Next",
            "The other cluster into which an object drawn from this one falls most often if its "
            "cluster is drawn again.",
            kind="cluster",
        ),
        column(
            "overlap",
            "Overlap",
            "The probability m_ab of falling into this next cluster.",
            digits=3,
        ),
    ]


def _objects(
    reported: Reported, sure: ObjectConfidence, max_objects: int, gallery: Gallery, *, of: int
) -> dict[str, Any]:
    """Return the table of the most uncertain objects; `of`: number of objects of the result."""
    held = np.flatnonzero(reported.labels >= 0)
    order = held[np.argsort(sure.confidence[held], kind="stable")]
    listed = order[:max_objects]
    names = (
        [str(i) for i in listed] if reported.names is None else [reported.names[i] for i in listed]
    )
    quarter, half = np.quantile(sure.confidence[held], [0.1, 0.5])
    text = (
        f"Half of the objects have a confidence of at least {half:.2f}, nine in ten of at least "
        f"{quarter:.2f}. The table begins with the least certain ones, which lie between their cluster and the "
        "next."
    )
    if len(listed) < len(order):
        text += (
            f" It holds the {len(listed):,} most uncertain of {len(order):,} objects; all of them are in "
            + ("labels.csv." if reported.record.command else "the result.")
        )
    n_apart = int(always_apart(reported, sure, of=of).sum())
    if n_apart:
        verb = "is" if n_apart == 1 else "are"
        text += f" {count(n_apart, 'object')} {verb} alone in every clustering: no clustering shows the right cluster."
    text += drawn_text(reported, of)
    cells: list[Any] = [
        [shown(name) for name in names],
        reported.labels[listed].tolist(),
        sure.second[listed].tolist(),
        *(
            numbers(values[listed], 4)
            for values in (
                sure.confidence,
                sure.margin,
                sure.item_consensus,
                sure.silhouette,
                sure.agreement,
            )
        ),
        sure.seen[listed].tolist(),
    ]
    blocks = [
        text_block(text),
        table("The most uncertain objects", _columns_of_objects(), cells, search="Find an object"),
        gallery.of_objects(reported, sure),
    ]
    return section("objects", "Which objects are uncertain", blocks)


def _columns_of_objects() -> list[dict[str, Any]]:
    return [
        column("object", "Object", "Its name in the input, or its row, from 0.", kind="name"),
        column("cluster", "Cluster", "The cluster that it is in.", kind="cluster"),
        column("second", "Next", "The next most probable cluster.", kind="cluster"),
        column(
            "confidence",
            "Confidence",
            "Its membership in its own cluster; 1 is certain. For methods without memberships: the share "
            "of its own cluster among the objects that clusterings put together with it.",
            digits=3,
        ),
        column(
            "margin", "Margin", "Confidence minus the membership in the next cluster.", digits=3
        ),
        column(
            "item_consensus",
            "Together",
            "Item consensus (Monti et al. 2003): how often clusterings put it together with another object "
            "of its cluster, averaged over these objects.",
            digits=3,
        ),
        column(
            "silhouette",
            "Silhouette",
            "From -1 to 1, with distances 1 - co-association: below 0, it is more often "
            "together with objects of another cluster.",
            digits=3,
        ),
        column(
            "agreement",
            "Agreement",
            "Share of the clusterings that agree. A clustering agrees if most objects of its cluster there "
            "are also in its cluster here.",
            digits=3,
        ),
        column("seen", "Seen", "Number of clusterings that observed it."),
    ]


def _partitions(reported: Reported, gallery: Gallery, *, of: int) -> dict[str, Any]:
    """Return how the clusterings compare with the consensus; `of`: number of objects of the result."""
    quality = partition_confidence(reported.judged)
    many = reported.n_clusters > 1
    counts = quality.n_clusters
    categories = reported.record.categories if reported.record.method is not None else ()
    n_made = len(counts) - len(categories)
    what = count(n_made, "clustering")
    if categories:
        what += f" and {count(len(categories), 'column')} of categories,"
    text = (
        f"{what} of {counts.min()} to {counts.max()} clusters. Mean diversity "
        f"{_mean(quality.diversity)} (1 minus the normalized mutual information of two of them)."
    )
    if many:
        text += f" Mean agreement with the consensus: adjusted Rand index {_mean(quality.ari)}."
    text += drawn_text(reported, of)
    columns = [
        column("clustering", "Clustering", "Its column in the ensemble, from 0."),
        column("clusters", "Clusters", "Number of its clusters."),
        column("seen", "Seen", "Number of objects that it observed."),
    ]
    cells: list[Any] = [
        list(range(len(counts))),
        counts.tolist(),
        quality.seen.tolist(),
    ]
    if categories:
        how = "Its source: the features, or one column of categories."
        columns.insert(1, column("source", "Made of", how, kind="name"))
        cells.insert(1, ["features"] * n_made + [shown(name) for name in categories])
    if many:
        columns += [
            column("ari", "ARI", "Adjusted Rand index with the consensus.", digits=3),
            column("nmi", "NMI", "Normalized mutual information with the consensus.", digits=3),
        ]
        cells += [numbers(quality.ari, 4), numbers(quality.nmi, 4)]
    columns += [
        column(
            "diversity",
            "Diversity",
            "1 minus its mean normalized mutual information with the others.",
            digits=3,
        ),
        column("weight", "Weight", "Its share of the total weight.", digits=3),
    ]
    cells += [numbers(quality.diversity, 4), numbers(quality.weight, 6)]
    order = np.argsort(quality.ari if many else quality.diversity, kind="stable")[:1000]
    cells = [[values[i] for i in order.tolist()] for values in cells]
    blocks = [
        text_block(text),
        *_ways(reported, gallery),
        table("Clusterings, least similar to the consensus first", columns, cells, first=10),
        gallery.of_partitions(reported),
    ]
    return section("partitions", "How good the clusterings are", blocks)


def _ways(reported: Reported, gallery: Gallery) -> list[dict[str, Any]]:
    """Return the modes of the clusterings, with a picture of each; empty if there is only one."""
    assert reported.judged is not None
    several = several_modes(reported.judged.members)
    if several is None:
        return []
    text = (
        f"{several.sentence} Each way is an estimate from the clusterings that are nearest to it in the variation of "
        f"information. The dip test of a single way has p = {several.p_values[0]:.2g}."
    )
    return [text_block(text), gallery.of_ways(reported, several.assignments)]


def _mean(values: Any) -> str:
    return f"{np.nanmean(values):.2f}" if np.isfinite(values).any() else "not known"


def _citing(reported: Reported) -> dict[str, Any]:
    text = "A sentence for a methods section is at the top of 'What was run'. The result relies on these works:"
    return section("cite", "How to cite", [text_block(text), _list("", cited(reported))])


def _checklist(items: list[list[str]]) -> dict[str, Any]:
    """Return the section with the items of a report on a cluster analysis."""
    text = (
        "What a report on a cluster analysis should say, filled in as far as this result tells. The items are ours, after C. Hennig's "
        "questions (Pattern Recognition Letters 64, 2015): TRoCA's checklist (protocol: BMJ Open 15(8), 2025) is not published yet."
    )
    how = ("The stage.", "What to report.", "Whether this result tells it.", "What it tells.")
    columns = [
        column(title.lower(), title, why, kind="text")
        for title, why in zip(HEADS, how, strict=True)
    ]
    files = [
        ["checklist.csv", "text/csv", as_csv(items)],
        ["checklist.md", "text/markdown", as_markdown(items)],
    ]
    listed_items = table("Reporting checklist", columns, zip(*items, strict=True), first=40)
    blocks = [text_block(text), listed_items, {"kind": "files", "files": files}]
    return section("checklist", "Reporting checklist", blocks)


def _repeating(reported: Reported) -> dict[str, Any]:
    record = reported.record
    same = "The same versions and the same seed give the same result, to the bit, with any number of threads."
    settings = plain(record.settings)
    if record.labels_hash is not None:
        same += " 'conclust repeat', with the folder of the result and the file of points, checks it by the hashes below."
        settings |= {
            "sha256 of columns": [*record.source.hashes],
            "sha256 of labels": record.labels_hash,
        }
    blocks: list[dict[str, Any]] = [text_block(same)]
    if record.call:
        blocks.append({"kind": "code", "title": "To repeat it", "text": shown_text(record.call)})
    blocks.append(
        {"kind": "settings", "call": record.call, "settings": settings, "versions": record.versions}
    )
    return section("repeat", "How to repeat it", blocks)


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
