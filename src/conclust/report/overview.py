"""The groups at a glance: for each cluster its strongest features, its size, and its separation in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._arrays.rows import ratio
from conclust._types import Bools, Floats
from conclust._validation import count
from conclust.confidence import ClusterConfidence, ObjectConfidence
from conclust.confidence.calibration import kept_sentence
from conclust.report.differences import heat_table, strongest
from conclust.report.sample import drawn_text
from conclust.report.tables import column, numbers, section, table, text_block
from conclust.report.words.citing import listed
from conclust.results.result import Reported

_CERTAIN = 0.9
_RARE = 0.05  # overlap below which clusters are rarely confused
_LISTED = 3  # maximum number of neighbours named in a cell
_MANY_CLUSTERS = 60


def overview_section(
    reported: Reported,
    sure: ObjectConfidence,
    clusters: ClusterConfidence,
    what_next: str,
    *,
    of: int,
) -> dict[str, Any]:
    """Return the section with the names of the clusters and how well they are separated.

    Parameters
    ----------
    reported : Reported
        Result to report.
    sure : ObjectConfidence
        Confidence of the objects.
    clusters : ClusterConfidence
        Confidence and overlap of the clusters, and their sizes in the whole result.
    what_next : str
        The sentences on other numbers of clusters; may be empty.
    of : int
        Number of objects of the whole result, of which `reported` may be a sample.
    """
    K, sizes = reported.n_clusters, clusters.sizes
    columns = [column("cluster", "Cluster", how_named(reported), kind="cluster")]
    cells: list[Any] = [list(range(K))]
    if reported.features is not None:
        how = (
            "The features and categories in which it differs most from the other objects: its mean or share, with "
            "the value for the other objects in parentheses."
        )
        columns.append(column("features", "What distinguishes it", how, kind="text"))
        cells.append(["; ".join(strongest(reported.features, k)) for k in range(K)])
    columns += [
        column("size", "Objects", "Number of objects."),
        column("share", "Share", "Share of the objects that are in a cluster.", kind="share"),
        column(
            "confidence", "Confidence", "Mean confidence of its objects; 1 is certain.", digits=2
        ),
        column("separation", "Separation", _HOW_SEPARATED, kind="text"),
    ]
    mean = clusters.confidence
    if reported.kept is not None:
        held = ~np.isnan(reported.kept) & (reported.labels >= 0)
        own = reported.labels[held]
        kept = np.bincount(own, reported.kept[held], minlength=K)
        mean = ratio(kept, np.bincount(own, minlength=K).astype(float), np.nan)
        how = "Mean probability of its objects to keep their companions in a fresh sample."
        columns[-2] = column("kept", "Would stay", how, kind="share")
    gaps = None if reported.gaps is None else reported.gaps.separated()
    with_company = (reported.labels >= 0) & ~always_apart(reported, sure, of=of)
    apart = np.bincount(reported.labels[with_company], minlength=K) == 0
    cells += [
        sizes.tolist(),
        numbers(sizes / sizes.sum()),
        numbers(mean),
        separations(clusters.overlap, gaps, reported.shown_clusters, apart),
    ]
    blocks = [
        text_block(_certainty(reported, sure) + drawn_text(reported, of), "How sure."),
        table(f"The {count(K, 'group')}", columns, cells, first=_MANY_CLUSTERS),
    ]
    if reported.features is not None:
        blocks += heat_table(reported.features, reported.cluster_titles)
    if what_next:
        blocks.append(text_block(what_next, "What next."))
    return section("overview", "The groups at a glance", blocks)


def how_named(reported: Reported) -> str:
    """Explain how the clusters of this page correspond to the labels of the result."""
    where = "labels.csv" if reported.record.command else "the result"
    if reported.cluster_names is None:
        return f"Its label in {where}, from 0 in order of first appearance."
    if (reported.record.settings.get("consensus") or {}).get("names") == "shared":
        return f"The name of the class in {where}."
    pairs = ", ".join(f"{k} is {name}" for k, name in enumerate(reported.cluster_names[:12]))
    more = " and so on" if len(reported.cluster_names) > 12 else ""
    return f"Its name. Labels in {where}: {pairs}{more}."


_HOW_SEPARATED = (
    "A gap is tested on the points of two clusters, projected onto the line between their centres (held-out halves, "
    "Hartigan's dip, mean p at most 0.05). Half of the objects of two clusters are tested: few objects show no clear gap, and a bent one is not found. An overlap is the probability that an object drawn from the cluster falls into "
    f"the other one if its cluster is drawn again; overlaps below {_RARE:.0%} are not mentioned."
)


def _certainty(reported: Reported, sure: ObjectConfidence) -> str:
    """Return how often objects keep their companions in fresh samples, or else the number of certain objects."""
    if reported.kept is not None:
        return kept_sentence(reported.kept)
    in_cluster = reported.labels >= 0
    certain = int(np.count_nonzero(sure.confidence[in_cluster] >= _CERTAIN))
    total = int(in_cluster.sum())
    text = (
        f"{certain:,} of {count(total, 'object')} have a confidence of at least {_CERTAIN:g}. "
        "Confidence is agreement between the clusterings, not the probability of being right"
    )
    shell = reported.record.command == "cluster"
    if not (shell or reported.points is not None) or reported.record.source.categories:
        return f"{text}."
    way = "--calibrate" if shell else "conclust.confidence.calibrated(model, X)"
    return f"{text}; {way} measures how often such objects keep their companions in a fresh sample."


def always_apart(reported: Reported, sure: ObjectConfidence, *, of: int) -> Bools:
    """Return which objects every partition puts apart from all others, though they share a consensus cluster.

    All False for a sample: objects that are alone in it may have company in the whole.
    """
    if reported.n_samples < of:
        return np.zeros(reported.n_samples, dtype=np.bool_)
    return np.asarray((reported.labels >= 0) & np.isnan(sure.company))


def separations(
    overlap: Floats, gaps: Bools | None, names: Sequence[str], apart: Bools
) -> list[str]:
    """Return in words how well each cluster is separated from the others.

    Parameters
    ----------
    overlap : ndarray of shape (n_clusters, n_clusters)
        Probability that an object drawn from a cluster falls in each cluster when it is drawn again.
    gaps : ndarray of bool of shape (n_clusters, n_clusters) or None
        Whether there is a gap between two clusters. None: not tested.
    names : sequence of str
        Names of the clusters.
    apart : ndarray of bool of shape (n_clusters,)
        Clusters of objects that have no company in any partition, so that their overlaps mean nothing.
    """
    K, texts = len(overlap), []
    for a in range(K):
        others = [b for b in range(K) if b != a]
        near = [b for b in others if overlap[a, b] >= _RARE]
        near.sort(key=lambda b: -overlap[a, b])
        without = [] if gaps is None else [b for b in others if not gaps[a, b]]
        parts = []
        if without:
            parts.append(
                f"next to {listed([names[b] for b in without], _LISTED)} without a clear gap"
            )
        if apart[a]:
            near = []
            parts.append("each of its objects is alone in every clustering")
        if near:
            shares = [f"{names[b]} ({100 * overlap[a, b]:.0f} %)" for b in near]
            parts.append(f"overlaps with {listed(shares, _LISTED)}")
        if gaps is not None and not without:
            parts.insert(0, "a gap to every other cluster" if near else "well separated by gaps")
        elif not parts:
            parts.append("rarely confused with others (gaps not tested)")
        texts.append("; ".join(parts))
    return texts
