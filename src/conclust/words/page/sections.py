"""Texts of the sections of the page, from the numbers that they are about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from conclust._types import Bools, Floats
from conclust._validation import count
from conclust.confidence import ClusterConfidence, ObjectConfidence
from conclust.confidence.borders.power import WANTED, BorderPower
from conclust.confidence.posterior.modes import Modes
from conclust.results.record import Filling, Record
from conclust.results.result import Reported
from conclust.words.card import agreed
from conclust.words.confidence import kept_sentence
from conclust.words.names import named
from conclust.words.page.citing import filled, filled_cells, listed, methods_text
from conclust.words.page.decision import p_value_text, references

RARE = 0.05  # overlap below which clusters are rarely confused
_LISTED = 3  # maximum number of neighbours named in a cell
_FEW = 400

CITING = "A sentence for a methods section is at the top of 'What was run'. The result relies on these works:"
CHECKLIST = (
    "What a report on a cluster analysis should say, filled in as far as this result allows. The items are our own, after C. Hennig's "
    "questions (Pattern Recognition Letters 64, 2015): TRoCA's checklist (protocol: BMJ Open 15(8), 2025) is not published yet."
)
_ONE_CLUSTER = (
    "Accept it: one cluster is an answer. Differences between objects may be gradual; then an "
    "ordering, such as principal components, is more informative than clusters.",
    "Check the features: many uninformative features hide a few informative ones, and if columns differ in spread, "
    "the widest dominate ({scale}). More objects find weaker clusters.",
    "If groups are needed anyway, request a number ({number}). The division may be useful, "
    "but state that the number was requested.",
)


def one_cluster(reported: Reported) -> list[str]:
    """Return what can be done about one cluster, in the terms of the shell or of Python."""
    shell = bool(reported.record.command)
    scale, number = ("--scale standard", "-k") if shell else ("scale='standard'", "n_clusters")
    return [tip.format(scale=scale, number=number) for tip in _ONE_CLUSTER]


def main_numbers(reported: Reported, clusters: ClusterConfidence | None) -> list[dict[str, str]]:
    """Return the main numbers for the top of the page, each with its explanation."""
    record, judged, selection = reported.record, reported.judged, reported.selection
    facts = [("Objects", f"{reported.n_samples:,}", "Rows of the input.")]
    if selection is not None and not math.isnan(selection.p_value):
        drawn = references(selection)
        how = (
            "P-value of a single cluster, by Monte Carlo: the share of data sets, including the points, that are at least "
            f"as stable as the points. {drawn} were drawn, so it cannot be smaller than 1 / (R + 1)."
        )
        facts.append((f"p-value ({drawn})", p_value_text(selection), how))
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
        how = f"Empty cells {filled(record.filling)}: {filled_cells(record.filling)}."
        facts.append(("Filled cells", f"{record.filling.cells:,}", how))
    if judged is not None:
        made = "Partitions of the objects that were combined."
        if record.method is None and selection is not None:
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


def what_was_run(reported: Reported) -> list[str]:
    """Return a sentence for a methods section, objects without a clustering, and the scores."""
    texts, scores = [methods_text(reported)], reported.record.scores
    unplaced = int(np.count_nonzero(reported.labels < 0))
    if unplaced:
        texts.append(f"{count(unplaced, 'object')} without a clustering: label -1.")
    if scores is not None:
        texts.append(
            "Known classes were given to score the result only: accuracy H = "
            f"{scores['consistency_index']:.3f} (share of objects in the cluster matched to "
            f"their class), adjusted Rand index {scores['adjusted_rand_index']:.3f}."
        )
    return texts


def uncertain_objects(
    confidence: Floats, n_listed: int, n_apart: int, command: str, drawn: str
) -> str:
    """Return how certain the objects are; `n_apart`: objects alone in every clustering, `drawn`: words on a sample."""
    tenth, half = np.quantile(confidence, [0.1, 0.5])
    text = (
        f"Half of the objects have a confidence of at least {half:.2f}, nine in ten of at least "
        f"{tenth:.2f}. The table begins with the least certain ones, which lie between their cluster and the next."
    )
    if n_listed < len(confidence):
        where = "labels.csv" if command else "the result"
        text += f" It holds the {n_listed:,} most uncertain of {len(confidence):,} objects; all of them are in {where}."
    if n_apart:
        verb = "is" if n_apart == 1 else "are"
        text += f" {count(n_apart, 'object')} {verb} alone in every clustering: no clustering shows the right cluster."
    return text + drawn


def clusterings(quality: Any, n_categories: int, drawn: str, *, agreement: bool) -> str:
    """Return how diverse the clusterings are, and how well they agree with a consensus."""
    counts = quality.n_clusters
    what = count(len(counts) - n_categories, "clustering")
    if n_categories:
        what += f" and {count(n_categories, 'column')} of categories,"
    text = (
        f"{what} of {counts.min()} to {counts.max()} clusters. Mean diversity "
        f"{_mean(quality.diversity)} (1 minus the normalized mutual information of two of them)."
    )
    if agreement:
        text += f" Mean agreement with the consensus: adjusted Rand index {_mean(quality.ari)}."
    return text + drawn


def _mean(values: Floats) -> str:
    return f"{np.nanmean(values):.2f}" if np.isfinite(values).any() else "not known"


def several_ways(several: Modes) -> str:
    """Return in how many ways the clusterings agree, and what the ways are."""
    return (
        f"{several.sentence} Each way is an estimate from the clusterings that are nearest to it in the variation of "
        f"information. The dip test of a single way has p = {several.p_values[0]:.2g}."
    )


def repeating(record: Record) -> str:
    """Return what gives the same result again."""
    same = "The same versions and the same seed give the same result, to the bit, with any number of threads."
    if record.labels_hash is None:
        return same
    return f"{same} 'conclust repeat', with the folder of the result and the file of points, checks it by the hashes below."


def drawn_text(drawn: Reported, n_samples: int) -> str:
    """Return a sentence that names the sample; empty if there is none."""
    if drawn.n_samples == n_samples:
        return ""
    return f" Computed from a sample of {drawn.n_samples:,} of the {n_samples:,} objects, evenly spaced within each cluster."


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


def certainty(reported: Reported, sure: ObjectConfidence) -> str:
    """Return how many pairs of objects fresh samples keep, or else the number of certain objects."""
    names = reported.names
    if reported.kept is not None:
        return kept_sentence(reported.kept, names)
    shell = reported.record.command == "cluster"
    held = np.flatnonzero(reported.labels >= 0)
    least = int(held[np.nanargmin(sure.confidence[held])])
    way = "--calibrate" if shell else "conclust.confidence.calibrated(model, X)"
    made = shell or (reported.points is not None and "generator" in reported.record.settings)
    measurable = made and not reported.record.source.categories
    return agreed(sure.confidence[held], named(least, names), way if measurable else "")


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
        near = [] if apart[a] else [b for b in others if overlap[a, b] >= RARE]
        near.sort(key=lambda b: -overlap[a, b])
        without = [] if gaps is None else [names[b] for b in others if not gaps[a, b]]
        parts = []
        if without:
            parts.append(f"touches {listed(without, _LISTED)} (no empty gap between them)")
        if apart[a]:
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


def tests_of_borders(agreement: Floats, n_samples: int) -> str:
    """Return how borders were tested: the agreement of the parts with the clusters is that of each split."""
    few = f": among {n_samples:,} objects, only clusters that lie far apart have borders that hold"
    text = (
        f"In each of {len(agreement)} random splits, a third of the points was clustered separately. The other points "
        "between two clusters were projected onto the line through their centres, and the dip test shows whether they have "
        "one mode there. The p-value is twice the median over the splits, adjusted for the number of borders by Holm's "
        "method. It is valid for clusters from any method. If a border does not hold, it is not shown to be absent"
        f"{few * (n_samples < _FEW)}."
    )
    if len(agreement):
        text += f" The clusterings of the parts agree with the clusters on {100 * agreement.mean():.0f} % of the points."
    return text


def in_more(power: BorderPower) -> str:
    """Return how many borders are to be expected in as many objects, and in twice as many."""
    likely = [int((power.at(times * power.n_samples) >= WANTED).sum()) for times in (1, 2)]
    return (
        f"Of {count(len(power.needed), 'border')}, {likely[0] or 'none'} would hold in at least 8 of 10 samples of the same size, "
        f"and {likely[1] or 'none'} in samples twice as large."
    )


def without_features(command: str) -> str:
    """Return why there are no features to compare."""
    if command == "combine":
        return "The result was made from clusterings: there are no points, and so no features to compare."
    return (
        "There are no points here: pass them as X (conclust.report.write(result, path, X=points))."
    )


def differences(filling: Filling | None, *, mixed: bool) -> str:
    """Return what the differences of features are; `mixed`: with categories."""
    what = "features and categories" if mixed else "features"
    text = (
        f"The {what} in which each cluster lies farthest from the other objects: the difference of the "
        f"means{', or of the shares of a category,' * mixed} in standard deviations about them (Cohen's d). "
        "There are deliberately no p-values: clusters that were found in these features differ in them by "
        "construction, and testing them on the same data is circular (Gao, Bien and Witten 2024)."
    )
    if filling is None:
        return text
    return (
        f"{text} Means are over the cells that had a value: {filling.cells:,} were empty and were {filled(filling)} "
        f"for the clustering ({filled_cells(filling)})."
    )
