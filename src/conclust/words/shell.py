"""What the commands of the shell print about their results, from the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conclust._types import Ints
from conclust._validation import count

if TYPE_CHECKING:
    from conclust.confidence import ChanceConfidence

# If the mean confidence by chance is closer to 1 than this, no confidence can be higher.
_PERFECT = 1e-9
STEPS = {
    "made": "Clustering many times ({}).",
    "choosing": "Choosing the number of clusters by subsamples of the points and of references without clusters (-k auto).",
    "weights": "Each column of categories counts for {:g} clusterings.",
    "combining": "Combining {} ({}).",
    "halves": "Clustering halves of the points (--calibrate).",
    "borders": "Testing the borders: parts of the points are clustered separately (--borders).",
    "subsamples": "Clustering {} subsamples of the objects for each number of clusters{}.",
    "references": ", and the same for references without clusters",
    "again": "Making {} again: {}.",
    "same": "The same, to the bit: {}, and all of {}, with the seed {}.",
    "demo": "Done in {:.0f} s. Open {} in a browser: it shows each answer as a notebook does. {} is a full report. For your own points: conclust cluster points.csv, then conclust report result.",
}
"""What is being done, and that it is done."""
DEMO = """\
Consensus clustering: cluster the same objects many times, then combine the clusterings. Here \
ConsensusClustering() is given only the points, not the known classes or their number."""
DEMO_TABLE = """\
How to read this. "classes" is the number of known classes, "found" the number of clusters that were found. ARI is the \
adjusted Rand index of the two: 1 is perfect, 0 is expected by chance. Classes need not be clusters, and clusters \
need not be classes. "5 seeds" is the mean ARI between the answers of five seeds, which is 1 if the answer never \
depends on the seed, followed by the numbers of clusters found."""
WAYS = {
    "centers": "by the centres of the clusters",
    "shares": "by the clusterings they share with each cluster, because {} cannot place new objects",
    "model": "by {}",
}
MEASURES = (
    ("H", "consistency_index", "share of objects in matched clusters, best matching"),
    ("Rand", "rand_index", "share of pairs on which both agree"),
    ("ARI", "adjusted_rand_index", "Rand corrected for chance: 0 expected, 1 equal"),
    ("NMI", "normalized_mutual_information", "shared information over the geometric mean"),
    ("F1 pairs", "pairwise_f1", "F1 score of the pairs put together"),
    ("FM", "fowlkes_mallows_index", "Fowlkes-Mallows: geometric mean of precision and recall"),
    ("F1 B3", "bcubed_f1", "B-cubed: object by object"),
    ("F1 class", "class_f1", "each cluster of A against the best of B"),
    ("purity", "purity", "share of objects in their B cluster's most frequent A cluster"),
    ("VI", "variation_of_information", "bits lost and gained: 0 equal"),
)
DIFFERENCES = {
    "objects": "The data differ: {} objects then, {} now.",
    "columns": "The data differ in the names or the order of the columns: {} then, {} now.",
    "order": "The data differ: {} of {} are in another order ({}).",
    "cells": "The data differ in {} of {} ({}), in {} of {} ({}).",
    "names": "The data differ: the objects have different names or a different order.",
    "labels": "{} of {:,} moved to another cluster.",
    "table": "The labels are the same, but {} differs in {}: {}.",
    "file": "The labels are the same, but {} differs or is missing.",
}


def confidence_line(sure: ChanceConfidence) -> str:
    """Return a line that compares the confidence of the labels with that of random partitions."""
    by_chance = float(sure.by_chance.mean())
    line = f"Mean confidence {sure.mean:.2f} ({by_chance:.2f} expected from random partitions with the same cluster sizes)."
    if sure.means_something:
        return line
    if by_chance > 1 - _PERFECT:
        return f"{line} It cannot distinguish agreement from chance, because it is just as high for random partitions."
    return f"{line} It is not higher than expected: the clusterings do not agree on these clusters."


def last_lines(scores: Mapping[str, float] | None, out: Path) -> list[str]:
    """Return the lines about known classes, if there are some, and the place of the results, if it is a file."""
    lines = [] if str(out) == "-" else [f"Results are in {out}."]
    if scores is None:
        return lines
    H, ari = scores["consistency_index"], scores["adjusted_rand_index"]
    known = f"Against the known classes: H = {H:.3f} (share of objects matched), ARI = {ari:.3f}."
    return [known, *lines]


def sizes_line(sizes: Ints) -> str:
    """Return a line with the sizes of the first ten clusters."""
    texts = [f"{size:,}" for size in sizes[:10]]
    more = f" and {len(sizes) - 10:,} more" if len(sizes) > 10 else ""
    return f"Sizes: {', '.join(texts)}{more}."


def members(n: int, n_categories: int) -> str:
    """Return the number of clusterings, and of columns of categories among all `n`."""
    made = count(n - n_categories, "clustering")
    return f"{made} and {count(n_categories, 'column')} of categories" if n_categories else made


def clusters_line(n_clusters: int, n: int, members: str) -> str:
    """Return a line with the numbers of clusters and objects."""
    return f"{count(n_clusters, 'cluster')} of {count(n, 'object')}, from {members}."


def fit_of_classes(model: Any) -> str:
    """Return how well latent classes fit."""
    return f"log-likelihood {model.log_likelihood_:.4f}, BIC {model.bic_:.2f}, entropy R2 {model.entropy_r2_:.4f}"


def classes_line(model: Any) -> str:
    """Return a line about latent classes."""
    shares = ", ".join(f"{share:.3f}" for share in model.mixing_)
    return f"Latent classes: {fit_of_classes(model)}. Shares: {shares}."


def unplaced_line(n: int, what: str) -> str:
    """Return that some objects have no label, because they have none of `what`."""
    return f"{count(n, 'object')} without {what}: label -1."


def placed_line(n: int, n_clusters: int, way: str) -> str:
    """Return a line about new objects that were placed."""
    return f"{count(n, 'new object')} placed in {count(n_clusters, 'cluster')} ({way})."


def strangers_line(unseen: str) -> str:
    """Return which values an earlier result did not have; "" if there are none."""
    text = "The result did not have these values; in their columns, the objects count as unlike all others:"
    return f"{text} {unseen}." if unseen else ""


def of_versions(was: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return which versions differ from those of a result; "" if none does."""
    names = [name for name, version in was.items() if now.get(name) != version]
    changed = [f"{name} {was[name]} (now {now.get(name, 'missing')})" for name in names]
    return f"The result was made with {', '.join(changed)}." if changed else ""


def compared_line(n: int, left_out: int, *, named: bool) -> str:
    """Return how many objects of two files were compared."""
    more = f"; {left_out:,} without a label in one of them left out" if left_out else ""
    return f"{n:,} objects compared, matched by {'name' if named else 'order'}{more}"


def read_line(name: Any, kinds: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return a line about what was read from a file."""
    source = "standard input" if str(name) == "-" else name
    return f"Read {source}: {'; '.join([', '.join(kinds), *notes])}."


def page_line(path: Path) -> str:
    """Return the place of a page or a checklist."""
    if path.suffix in (".csv", ".md"):
        return f"The reporting checklist is {path}."
    return f"The report is {path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser."
