"""Cards of results in notebooks."""

import re

import networkx as nx
import numpy as np
import pytest
import sklearn
from tests.registry import asked_for, make

import conclust as cc
from conclust import report
from conclust.confidence import border_tests
from conclust.exceptions import SelectionWarning
from conclust.selection import choose_from
from conclust.words.card import Card, agreed


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 30, axis=0) + rng.normal(size=(90, 2))


@pytest.fixture(scope="module")
def model(points):
    return cc.ConsensusClustering(random_state=0).fit(points)


def labels():
    rng = np.random.default_rng(1)
    noise = rng.random((60, 8)) < 0.1
    return np.where(noise, rng.integers(0, 3, (60, 8)), np.arange(60)[:, np.newaxis] % 3)


@pytest.mark.parametrize("form", asked_for(of_each_class=True))
def test_every_fitted_method_has_a_card_with_its_number(form):
    fitted = make(form, 3)
    assert "conclust-card" not in fitted._repr_html_()
    fitted.fit(labels())
    html = fitted._repr_html_()
    assert f"<b>{fitted.n_clusters_} cluster" in html
    assert "<script" not in html
    assert "<details><summary>Parameters</summary><style>" in html
    assert fitted._repr_mimebundle_()["text/html"].startswith("<style>\n.conclust-card")
    for size in np.bincount(fitted.labels_)[:6]:
        assert f"<span>{size} " in html


def test_other_results_have_cards(points, model):
    with pytest.warns(SelectionWarning, match="4 clusters are as good"):
        selection = choose_from(cc.Ensemble(labels()), [2, 3, 4])
    assert "4 clusters are as good" in selection._repr_html_()
    topics = cc.TopicConsensus(n_members=5, random_state=0).fit(points)
    for result, head in (
        (model, "3 clusters"),
        (model.ensemble_, "40 clusterings"),
        (selection, "3 clusters"),
        (border_tests(points, model.labels_, random_state=0), "3 clusters"),
        (cc.GraphConsensus(random_state=0).fit(nx.karate_club_graph()), "4 clusters"),
        (topics, f"{topics.n_clusters_} clusters"),
    ):
        html = result._repr_html_()
        assert f"<b>{head}" in html
        assert "<script" not in html


def test_the_least_certain_object_is_not_rounded_up_to_the_threshold():
    assert "1 of 2 objects" in agreed(np.array([0.95, 0.8999]), "1", "")
    assert "object 1, with 0.89." in agreed(np.array([0.95, 0.8999]), "1", "")


def test_the_card_has_the_reason_and_the_next_steps(model):
    html = model._repr_html_()
    assert "Few points are near each border" in html
    assert model.reason_parts.next().replace("'", "&#x27;") in html
    certain = np.count_nonzero(model.membership_.max(axis=1) >= 0.9)
    who = "All 90" if certain == 90 else f"{certain} of 90"
    assert f"{who} objects have a confidence of at least 0.9" in html


def test_the_card_links_to_the_last_report_of_the_fit(tmp_path, monkeypatch, points):
    monkeypatch.chdir(tmp_path)
    fitted = cc.ConsensusClustering(random_state=0).fit(points)
    assert '<a href="my' not in fitted._repr_html_()
    report.write(fitted, "my report.html", X=points, pictures=False)
    assert '<a href="my%20report.html">my report.html</a>' in fitted._repr_html_()
    assert '<a href="my' not in fitted.fit(points)._repr_html_()


def test_all_text_is_escaped():
    bad = "<script>alert('&')</script>"
    html = Card(bad, bad, bad, [(bad, 3)], [(bad, bad)], bad).html()
    assert "<script" not in html
    assert "alert('" not in html
    assert html.count("&lt;script&gt;") == 7


def test_only_the_largest_clusters_have_bars():
    sizes = [(f"cluster {k}", size) for k, size in enumerate([5, 1, 90, 4, 3, 2, 8, 7, 6])]
    html = Card("9 clusters", "", sizes=sizes).html()
    assert html.count("<i ") == 6
    assert "cluster 2" in html
    assert "cluster 1<" not in html
    assert "and 3 more, with 1 to 3 each" in html
    assert Card("7 clusters", "", sizes=sizes[:7]).html().count("<i ") == 7


def test_a_card_is_legible_without_style():
    """JupyterLab shows none in a notebook that it does not trust."""
    html = Card("2 clusters", "9 objects", sizes=[("cluster 0", 3), ("cluster 1", 6)]).html()
    text = re.sub("<style>.*</style>", "", html, flags=re.DOTALL).replace("</div>", "\n")
    lines = re.sub("<[^>]*>", "", text).split("\n")
    assert lines[:3] == ["2 clusters: 9 objects", "cluster 0: 3 (33 %)", "cluster 1: 6 (67 %)"]


def test_the_style_applies_to_the_card_only():
    style = re.search("<style>(.*?)</style>", Card("", "").html(), re.DOTALL)[1]
    selectors = [part for rule in re.findall(r"([^{}]+)\{", style) for part in rule.split(",")]
    assert selectors
    assert all(selector.strip().startswith(".conclust-card") for selector in selectors)


def test_text_is_shown_if_scikit_learn_is_configured_so(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
