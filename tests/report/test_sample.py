"""Tables and pictures of a large result are made from a sample of its objects, which keeps every cluster."""

from dataclasses import replace

import numpy as np
import pytest

from conclust import Ensemble
from conclust.confidence.reading import read_consensus
from conclust.report import contents as page
from conclust.report.pictures import Gallery
from conclust.results.result import Record, Reported


@pytest.fixture
def large(monkeypatch):
    """A result of 3,000 objects, sampled above 1,000: two large clusters, one of seven objects, objects in none."""
    monkeypatch.setattr(page, "MOST_DRAWN", 1_000)
    labels = np.repeat([0, 1, 2, -1], [2_000, 903, 7, 90])
    partitions = np.column_stack([np.maximum(labels, 0)] * 3)
    partitions[:5, 0] = 1
    return Reported(labels, Record(), read_consensus(labels, Ensemble(partitions), "report"))


def test_a_sample_keeps_all_clusters_and_approximate_shares(large):
    drawn = page.sample_of(large)
    counts = np.bincount(drawn.labels + 1)
    # A third of each, but small clusters and unclustered objects completely.
    assert counts.tolist() == [90, 667, 301, 7]
    assert (large.labels[list(map(int, drawn.names))] == drawn.labels).all()
    assert drawn.judged.members.n_samples == len(drawn.labels)


def test_a_small_result_is_not_sampled(large):
    some = replace(large, labels=large.labels[:900])
    assert page.sample_of(some) is some


def test_the_page_mentions_the_sample_and_counts_all_objects(large):
    account = page.contents(large, max_objects=10, gallery=Gallery(wanted=False))
    overview, clusters = account["sections"][:2]
    assert "a sample of 1,065 of the 3,000 objects" in overview["blocks"][0]["text"]
    table = clusters["blocks"][0]
    sizes = [column["name"] for column in table["columns"]].index("size")
    assert [row[sizes] for row in table["rows"]] == [2_000, 903, 7]


def test_every_partition_observes_an_object_of_the_sample(large):
    labels = large.judged.members.labels.copy()
    labels[:, 2] = -1
    labels[[1, 2], 2] = 0
    part = page.sample_of(replace(large, judged=replace(large.judged, members=Ensemble(labels))))
    assert part.judged.members.present.any(axis=0).all()
