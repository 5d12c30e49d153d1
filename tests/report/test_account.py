"""The content of a report: the decision first, numbers with their explanations, and no unsupported claims."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris, make_blobs

from conclust import (
    EAC,
    HBGF,
    PCC,
    AutoConsensus,
    ConsensusClustering,
    Ensemble,
    EnsembleGenerator,
    GraphConsensus,
    TopicConsensus,
    WeightedPCC,
    confidence,
    report,
)
from conclust.exceptions import InputError, ParameterError
from conclust.selection import choose, choose_from

pytestmark = pytest.mark.filterwarnings("ignore::conclust.exceptions.SelectionWarning")


@pytest.fixture(scope="module")
def model(blobs):
    return ConsensusClustering(random_state=0).fit(blobs)


def account(*args, **kwargs):
    return report.account(*args, **{"pictures": False, **kwargs})


def section(found, name):
    (one,) = [part for part in found["sections"] if part["id"] == name]
    return one


def tables(found, name):
    return [block for block in section(found, name)["blocks"] if block["kind"] == "table"]


def cells(table, name):
    at = [column["name"] for column in table["columns"]].index(name)
    return [row[at] for row in table["rows"]]


def test_the_account_of_iris_is_complete():
    iris = load_iris(as_frame=True).data
    generator = EnsembleGenerator("kmeans", init="random")
    content = account(ConsensusClustering(generator=generator, random_state=0).fit(iris), X=iris)
    why = 'no test against a single cluster was run (n_clusters="auto" runs it)'
    assert content["decision"] == {
        "head": "2 clusters in 150 objects",
        "sentence": f"2 clusters in 150 objects: few points are near the border (2 % of the number within the clusters); no p-value: {why}.",
        "plain": "2 groups: few points are near the border (2 % of the number within the clusters). Whether there "
        "are groups at all was not tested.",
        "next": content["decision"]["next"],
        "by": "borders",
        "reason": None,
        "clusters": 2,
        "objects": 150,
        **dict.fromkeys(("asked_for", "p_value", "references", "null", "borders")),
        "objects_in_no_cluster": 0,
        "why_no_p": why,
        "alternatives": [],
        "doubts": ["1 row repeats all numbers of another: objects 142 and 101."],
    }
    (clusters,) = tables(content, "clusters")
    assert cells(clusters, "size") == [50, 100]
    first = section(content, "features")["blocks"][1]["clusters"][0]["rows"][0]
    setosa = iris["petal length (cm)"][:50]
    assert first["feature"] == "petal length (cm)"
    assert first["inside"] == f"{setosa.mean():.3g}"


def test_numbers_match_the_confidence_module(model, blobs):
    content = account(model, X=blobs)
    (clusters,) = tables(content, "clusters")
    sure = confidence.cluster_confidence(model)
    assert cells(clusters, "size") == sure.sizes.tolist()
    for name in ("consensus", "jaccard", "confidence"):
        np.testing.assert_allclose(cells(clusters, name), getattr(sure, name), atol=1e-6)
    (objects,) = tables(content, "objects")
    each = confidence.object_confidence(model)
    order = [int(name) for name in cells(objects, "object")]
    assert sorted(order) == list(range(90))
    shown = cells(objects, "confidence")
    assert shown == sorted(shown)
    np.testing.assert_allclose(shown, each.confidence[order], atol=1e-4)
    assert cells(objects, "cluster") == each.labels[order].tolist()
    (members,) = tables(content, "partitions")
    quality = confidence.partition_confidence(model)
    at = cells(members, "clustering")
    np.testing.assert_allclose(cells(members, "ari"), quality.ari[at], atol=1e-4)
    features = confidence.cluster_features(blobs, model.labels_)
    top = section(content, "features")["blocks"][1]["clusters"][1]["rows"][0]
    assert top["difference"] == pytest.approx(
        features.difference[1, features.largest(1, 1)[0]], abs=1e-4
    )


def test_a_selection_has_a_reason(chosen, blobs):
    content = account(chosen, X=blobs)
    decision = content["decision"]
    (code,) = [block for block in section(content, "repeat")["blocks"] if block["kind"] == "code"]
    assert code["text"] == (
        "conclust.selection.choose(X, [2, 3, 4], n_resamples=12, n_references=19, sequential=False, "
        "scale=None, random_state=0)"
    )
    assert decision["sentence"] == (
        "3 clusters in 90 objects: one Gaussian cloud is rejected (p = 0.05, 19 rotations); 3 of 3 borders hold (p < .05, Holm)."
    )
    assert decision["reason"] == chosen.reason
    why = tables(content, "why")[0]
    assert why["stressed"] == 3
    assert cells(why, "k") == [2, 3, 4]
    rcsi = [pair[0] for pair in cells(why, "rcsi")]
    np.testing.assert_allclose(rcsi, chosen.table["rcsi"], atol=1e-6)
    assert cells(tables(content, "overview")[0], "separation") == ["well separated by gaps"] * 3
    assert "p-value (19 rotations)" in [fact["name"] for fact in content["facts"]]


def test_a_p_value_is_never_zero(chosen):
    forged = replace(chosen, p_value=0.0)
    assert "(p < 0.05, 19 rotations)" in account(forged)["decision"]["sentence"]


def test_ensembles_without_points_have_no_p_value(chosen):
    content = account(choose_from(chosen.ensembles))
    why = "labels alone give no reference without clusters to compare with"
    assert content["decision"]["sentence"].endswith(f"no p-value: {why}.")
    assert content["decision"]["p_value"] is None
    assert "There are no points here" in section(content, "features")["blocks"][0]["text"]


def test_one_cluster_has_a_separate_page():
    cloud = np.random.default_rng(2).normal(size=(60, 3))
    chosen = choose(cloud, range(2, 5), n_resamples=12, n_references=19, random_state=0)
    assert chosen.n_clusters == 1
    content = account(chosen, X=cloud)
    assert content["decision"]["sentence"].startswith(
        "1 cluster in 60 objects: K = 2 to 4 clusters are not more stable than in one Gaussian cloud of the "
        "same covariance (p = "
    )
    assert [part["id"] for part in content["sections"]] == [
        "overview",
        "why",
        "run",
        "cite",
        "checklist",
        "repeat",
    ]


def test_one_cluster_of_clusterings_shows_their_evidence():
    cloud = np.random.default_rng(3).normal(size=(80, 2))
    model = ConsensusClustering(random_state=0).fit(cloud)
    assert model.n_clusters_ == 1
    content = account(model, X=cloud)
    assert "few enough points near its borders" in content["decision"]["sentence"]
    assert (
        section(content, "overview")["blocks"][0]["items"][0] == content["decision"]["next"] != ""
    )
    assert section(content, "why")["blocks"][0]["text"].startswith(
        "The points determined the number. One cluster"
    )
    alone = account(AutoConsensus().fit(model.ensemble_), ensemble=model.ensemble_)
    assert "chosen by agreement" not in content["decision"]["sentence"]
    assert alone["decision"]["by"] == "support"


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            EAC(3),
            "3 clusters in 90 objects, the number requested; no p-value: the number was given",
        ),
        (PCC(5, random_state=0), "5 clusters in 90 objects"),
        (HBGF(2, random_state=0), "2 clusters in 90 objects, the number requested"),
        (WeightedPCC(3, random_state=0), "clusters in 90 objects, the number requested"),
    ],
)
def test_any_method_is_reported_with_its_ensemble(method, said, model):
    fitted = method.fit(model.ensemble_)
    content = account(fitted, ensemble=model.ensemble_)
    assert said in content["decision"]["sentence"]
    cite = section(content, "cite")["blocks"][1]["items"]
    assert any(type(method).__name__ in line and method.method.citation in line for line in cite)


def test_other_labels_and_clusterers_are_reported_with_an_ensemble(blobs, model):
    kmeans = KMeans(3, n_init=3, random_state=5).fit(blobs)
    by_model = account(kmeans, ensemble=model.ensemble_, X=blobs)
    by_labels = account(kmeans.labels_, ensemble=model.ensemble_, X=blobs)
    assert tables(by_model, "clusters") == tables(by_labels, "clusters")
    assert "as given" in by_labels["decision"]["sentence"]
    sizes = np.bincount(confidence.object_confidence(kmeans.labels_, model.ensemble_).labels)
    assert cells(tables(by_labels, "clusters")[0], "size") == sizes.tolist()


def test_a_selection_of_another_number_raises_a_doubt(model, chosen, blobs):
    two = ConsensusClustering(n_clusters=2, random_state=0).fit(blobs)
    content = account(two, X=blobs, selection=chosen)
    assert "the number requested; against one cluster p = 0.05" in content["decision"]["sentence"]
    assert content["decision"]["doubts"][0] == (
        "Resampling shows 3 clusters, but this result has 2."
    )
    same = account(model, X=blobs, selection=chosen)
    assert same["decision"]["by"] == "p-value"
    assert same["decision"]["doubts"] == list(chosen.doubts)


def test_names_are_taken_from_frames(model, blobs):
    frame = pd.DataFrame(blobs, index=[f"plant {i}" for i in range(90)], columns=list("abcd"))
    content = account(model, X=frame)
    (objects,) = tables(content, "objects")
    assert set(cells(objects, "object")) == {f"plant {i}" for i in range(90)}
    rows = section(content, "features")["blocks"][1]["clusters"][0]["rows"]
    assert {row["feature"] for row in rows} == set("abcd")
    given = account(model, X=blobs, names=range(100, 190), feature_names=["w", "x", "y", "z"])
    assert set(cells(tables(given, "objects")[0], "object")) == set(map(str, range(100, 190)))


def test_the_most_uncertain_objects_are_listed(model):
    content = account(model, max_objects=7)
    (objects,) = tables(content, "objects")
    assert len(objects["rows"]) == 7
    worst = np.sort(confidence.confidences(model))[:7]
    np.testing.assert_allclose(cells(objects, "confidence"), worst, atol=1e-4)
    assert "the 7 most uncertain of 90 objects" in section(content, "objects")["blocks"][0]["text"]


def test_points_are_measured_in_the_scale_of_the_clustering():
    X, _ = make_blobs(120, centers=[[0, 0], [0, 9]], cluster_std=0.6, random_state=0)
    X[:, 0] *= 1000.0  # if there is nothing to show
    generator = EnsembleGenerator("kmeans", scale="standard")
    model = ConsensusClustering("EAC", generator, n_clusters=2, random_state=0).fit(X)
    content = account(model, X=X)
    assert cells(tables(content, "overview")[0], "separation") == ["well separated by gaps"] * 2


def test_the_report_describes_how_members_were_made(blobs):
    generator = EnsembleGenerator("spectral", 6, feature_fraction=0.5, fit_on=50)
    model = ConsensusClustering("EAC", generator, n_clusters=2, random_state=0).fit(blobs)
    description = (
        "spectral clustering on landmarks with many numbers of clusters (50 % of the features each, each "
        "fitted on 50 objects at most)"
    )
    assert description in str(account(model, X=blobs))


def test_points_may_have_gaps(model, blobs):
    X = blobs.copy()
    X[3, 1] = np.nan
    content = account(model, X=X)
    assert "gaps not tested" in str(cells(tables(content, "overview")[0], "separation"))
    assert section(content, "features")["blocks"][1]["of"] == 4


def test_objects_in_no_cluster_are_counted():
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [-1, -1, -1]], [8, 8, 2], axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = EAC(2).fit(labels)
    content = account(model, ensemble=labels)
    assert content["decision"]["objects_in_no_cluster"] == 2
    assert "2 objects without a clustering" in section(content, "run")["blocks"][1]["text"]
    assert len(tables(content, "objects")[0]["rows"]) == 16


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda m, X: report.account(PCC(2)), "not fitted"),
        (lambda m, X: report.account(m.consensus_), "needs the ensemble"),
        (lambda m, X: report.account(m, X=X[:5]), "a row for each of the 90 objects"),
        (lambda m, X: report.account(m, X=X, names=["a"]), "a name for each of the 90 objects"),
        (lambda m, X: report.account(m, X=X, feature_names=["a"]), "each of the 4 features"),
        (
            lambda m, X: report.account(m, selection=choose_from(m.ensemble_.labels[:9], [2])),
            "same objects",
        ),
        (lambda m, X: report.account("nowhere"), "does not exist"),
        (lambda m, X: report.account("nowhere", ensemble=m.ensemble_), "brings its own ensemble"),
    ],
)
def test_invalid_input_is_refused(given, said, model, blobs):
    with pytest.raises(ValueError, match=said):
        given(model, blobs)


def test_parameters_out_of_range_are_refused(model):
    with pytest.raises(ParameterError, match="'max_objects' parameter of report"):
        account(model, max_objects=0)
    with pytest.raises(ParameterError, match="'pictures' parameter of report"):
        report.account(model, pictures="no")
    with pytest.raises(InputError):
        account([0, 1, 2], ensemble=Ensemble([[0, 0], [1, 1]]))


def test_the_account_is_plain_data(model, chosen, blobs):
    content = account(model, X=blobs, selection=chosen)

    def walk(value):
        assert value is None or type(value) in (str, int, float, bool, list, dict), type(value)
        for part in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            walk(part)

    walk(content)
    assert json.loads(json.dumps(content, allow_nan=False)) == content


@pytest.mark.long
def test_a_number_chosen_by_resampling_is_not_recorded_as_requested(blobs):
    model = ConsensusClustering(n_clusters="auto", random_state=0).fit(blobs)
    content = account(model, X=blobs)
    assert content["decision"]["by"] == "p-value"
    assert content["decision"]["asked_for"] is None
    assert content["decision"]["reason"] == model.selection_.reason


@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "clusterer": KMeans(n_init=1),
            "n_jobs": 1,
            "scale": "minmax",
            "n_references": 5,
            "alpha": 0.2,
        },
        {"null": None, "random_state": np.random.SeedSequence(3, spawn_key=(4,))},
        {"n_components": 2, "max_dense": 50, "n_pairs": 1000},
    ],
    ids=["plain", "clusterer", "no null", "many objects"],
)
# Few resamples leave pairs without evidence.
@pytest.mark.filterwarnings("ignore::conclust.exceptions.EvidenceWarning")
def test_the_printed_call_gives_the_same_selection(blobs, given):
    import conclust

    first = choose(blobs, [2, 3], **{"n_resamples": 6, "n_references": 19, **given})
    for actual, names in (
        (first, {"X": blobs}),
        (choose_from(first.ensembles, max_dense=50, n_pairs=1000), {"ensembles": first.ensembles}),
        (choose_from(first.ensembles[2], [2, 4]), {"ensemble": first.ensembles[2]}),
    ):
        blocks = section(account(actual), "repeat")["blocks"]
        (code,) = [block["text"] for block in blocks if block["kind"] == "code"]
        repeated = eval(code, {"conclust": conclust, "numpy": np, "KMeans": KMeans} | names)
        assert repeated.reason == actual.reason
        assert repeated.null.tobytes() == actual.null.tobytes()
        for name, column in actual.table.items():
            assert repeated.table[name].tobytes() == column.tobytes(), name


def test_random_seeds_are_printed_in_full(blobs):
    # Browsers read integers of JSON exactly only up to 2**53.
    selection = choose(blobs, [2, 3], n_resamples=5, n_references=19)
    seed = selection.settings["random_state"]
    assert seed > 2**53
    blocks = section(account(selection), "repeat")["blocks"]
    (settings,) = [block["settings"] for block in blocks if block["kind"] == "settings"]
    assert settings["selection"]["random_state"] == str(seed)


def test_clusterings_that_support_two_partitions_are_reported():
    rng = np.random.default_rng(0)
    first = np.repeat([0, 1, 2, 3], 25)
    second = np.where(rng.random(100) < 0.4, rng.integers(0, 4, 100), first)
    which = np.arange(40) % 5 < 3
    labels = np.where(which, first[:, None], second[:, None])
    labels[rng.random(labels.shape) < 0.05] = 0
    content = account(EAC(4).fit(labels), ensemble=Ensemble(labels), pictures=True)
    texts = [block["text"] for block in section(content, "partitions")["blocks"] if "text" in block]
    assert any("disagree in two ways, 60 % and 40 %" in text for text in texts)
    kinds = [
        picture["id"]
        for block in section(content, "partitions")["blocks"]
        if block["kind"] == "pictures"
        for picture in block["pictures"]
    ]
    assert kinds[:2] == ["way_1", "way_2"]
    one = account(EAC(4).fit(labels[:, which]), ensemble=Ensemble(labels[:, which]))
    assert "disagree in" not in json.dumps(section(one, "partitions"))


NAMES = ("AutoConsensus", "DBSCAN", "GraphConsensus", "TopicConsensus")


def texts(found, name):
    return str([block for block in section(found, name)["blocks"] if block["kind"] != "table"])


@pytest.mark.parametrize(
    ("model", "given", "papers"),
    [
        (GraphConsensus(random_state=0), "network", ("Tabatabaee", "Traag", "Peixoto")),
        (GraphConsensus("ecg", split=False, random_state=0), "network", ("Poulin", "Traag")),
        (TopicConsensus(n_members=3, random_state=0), "embeddings", ("Fred and Jain", "Campello")),
        (
            TopicConsensus(clusterer=DBSCAN(3), n_members=3, random_state=0),
            "embeddings",
            ("Fred and Jain",),
        ),
        (AutoConsensus(random_state=0), "labels", ("Fred and Jain",)),
    ],
)
def test_the_call_of_a_report_repeats_the_fit(model, given, papers):
    X, classes = make_blobs(120, 12, centers=3, random_state=0)
    graph = sp.csr_array((classes[:, None] == classes) & ~np.eye(120, dtype=bool)).astype(float)
    inputs = {"network": graph, "embeddings": X, "labels": np.column_stack([classes] * 3)}
    model.fit(inputs[given])
    found = account(model, ensemble=inputs["labels"] if given == "labels" else None)
    call = section(found, "repeat")["blocks"][-1]["call"]
    again = eval(call, {name: globals()[name] for name in NAMES}, inputs)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    for paper in papers:
        assert paper in texts(found, "cite")
        assert paper in texts(found, "run")
    assert "Peixoto" in papers or "Peixoto" not in texts(found, "cite")
    assert "auto" not in found["decision"]["sentence"]
    if given != "labels":
        assert type(model).__name__ in found["decision"]["sentence"]


def test_a_test_is_named_that_the_estimator_has(blobs):
    labels = KMeans(3, n_init=1, random_state=0).fit_predict(blobs)
    for result, does in (
        (TopicConsensus(n_members=3, random_state=0).fit(blobs), "conclust.selection.choose"),
        (ConsensusClustering(random_state=0).fit(blobs), 'n_clusters="auto"'),
        (labels, "conclust.selection.choose"),
    ):
        members = labels[:, None] if result is labels else None
        found = account(result, X=blobs, ensemble=members)
        assert f"({does} runs it)" in found["decision"]["sentence"]


def test_a_model_of_points_lacks_a_test_and_not_a_reference():
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [8.0]], 30, axis=0)
    model = ConsensusClustering(generator=EnsembleGenerator("kmeans", 10), random_state=0).fit(X)
    sentence = account(model)["decision"]["sentence"]
    assert "labels alone give no reference" not in sentence
    assert 'n_clusters="auto"' in sentence
