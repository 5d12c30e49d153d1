"""Comparison of methods: each row equals the result of the method alone."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from tests.naive.measures import consistency_index

import conclust as cc
from conclust import metrics
from conclust.confidence import confidences
from conclust.exceptions import EvidenceWarning, InputError, ParameterError
from conclust.plotting.trials import comparison_of
from conclust.trials.entries import USUAL


def members(seed=0, n=60, m=12, K=4, lost=0.0):
    rng = np.random.default_rng(seed)
    z = np.sort(rng.integers(0, K, n))
    labels = np.where(rng.random((n, m)) < 0.2, rng.integers(0, K, (n, m)), z[:, None])
    labels[rng.random((n, m)) < lost] = -1
    return z, labels


class FirstColumn:
    """A custom method without parameters and base class."""

    def fit_predict(self, X):
        assert type(X) is np.ndarray
        assert X.dtype.kind == "i"
        X[:, 1:] = 0  # its own copy
        return X[:, 0] * 10


class Seeded(BaseEstimator):
    """A custom method with the parameters of scikit-learn."""

    def __init__(self, n_clusters=2, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit_predict(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        return rng.integers(0, self.n_clusters, len(X))


class Short:
    def fit_predict(self, X):
        return X[:3, 0]


class Broken:
    def fit_predict(self, X):
        raise ZeroDivisionError("by zero")


@pytest.mark.parametrize("name", USUAL)
def test_a_row_matches_the_method_run_alone(name):
    z, labels = members()
    (trial,) = cc.compare(labels, [name], n_clusters=4, truth=z, random_state=7)
    kind = getattr(cc, name)
    seeded = {"random_state": 7} if "random_state" in kind().get_params() else {}
    alone = kind(n_clusters=4, **seeded).fit(labels).labels_
    np.testing.assert_array_equal(trial.labels, alone)
    assert trial.n_clusters == alone.max() + 1
    assert trial.status == "ok"
    assert trial.scores["ari"] == pytest.approx(adjusted_rand_score(z, alone))
    nmi = normalized_mutual_info_score(z, alone, average_method="geometric")
    assert trial.scores["nmi"] == pytest.approx(nmi)
    assert trial.scores["h"] == pytest.approx(consistency_index(z, alone))
    each = [
        normalized_mutual_info_score(column, alone, average_method="geometric")
        for column in labels.T
    ]
    assert trial.scores["anmi"] == pytest.approx(np.mean(each))
    assert trial.scores["certainty"] == pytest.approx(confidences(alone, labels).mean())
    assert trial.cpu_seconds >= 0


def test_other_methods_do_not_change_a_row():
    z, labels = members(1)
    together = cc.compare(labels, ["CSPA", "PCC", "HBGF"], n_clusters=4, truth=z)
    for trial in together:
        (alone,) = cc.compare(labels, [trial.method], n_clusters=4, truth=z)
        np.testing.assert_array_equal(alone.labels, trial.labels)
        assert alone.scores == trial.scores


def test_all_methods_run_or_give_a_reason():
    z, labels = members(2, lost=0.05)
    comparison = cc.compare(labels, "all", n_clusters=4, truth=z)
    assert [trial.method for trial in comparison] == [method.estimator for method in cc.methods()]
    for method, trial in zip(cc.methods(), comparison, strict=True):
        if method.missing or method.missing_with:
            assert trial.has_result or trial.status.startswith("refused: "), trial
        else:
            assert trial.status.startswith(
                f"refused: {method.estimator} does not accept missing labels"
            )
            assert trial.labels is None
            assert trial.n_clusters is None
    assert sum(trial.has_result for trial in comparison) > 40


def test_the_truth_affects_only_its_scores():
    z, labels = members(3)
    names = ["PCC", "EAC", "QMI"]
    without, other = cc.compare(labels, names), cc.compare(labels, names, truth=z[::-1])
    assert without.score_names == ("anmi", "certainty")
    for a, b in zip(without, other, strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
        assert a.scores == {k: b.scores[k] for k in a.scores}


def test_methods_that_need_a_number_get_that_of_auto():
    _, labels = members(4)
    comparison = cc.compare(labels, ["HBGF", "EAC", "MCLA"])
    auto = cc.AutoConsensus(random_state=0).fit(labels).n_clusters_
    assert comparison.n_clusters_told == auto
    note = f"Methods that need the number of clusters were given {auto}, which AutoConsensus finds."
    assert comparison.told_by_auto
    assert repr(comparison).splitlines()[-1] == note
    assert f"<p>{note}</p>" in comparison._repr_html_()
    given = cc.compare(labels, ["HBGF"], n_clusters=3)
    assert not given.told_by_auto
    assert "were given" not in repr(given)
    np.testing.assert_array_equal(
        comparison["HBGF"].labels, cc.HBGF(auto, random_state=0).fit(labels).labels_
    )
    np.testing.assert_array_equal(comparison["EAC"].labels, cc.EAC().fit(labels).labels_)
    assert cc.compare(labels, ["EAC"]).n_clusters_told is None
    assert cc.compare(labels, [cc.HBGF(2)])["HBGF"].n_clusters == 2


def test_custom_methods_are_compared():
    _, labels = members(5)
    mine = Seeded()
    kept = labels.copy()
    comparison = cc.compare(
        labels,
        {"mine": FirstColumn(), "drawn": mine, "short": Short(), "broken": Broken(), "tree": "eac"},
        n_clusters=3,
        random_state=5,
    )
    np.testing.assert_array_equal(labels, kept)
    np.testing.assert_array_equal(comparison["mine"].labels, cc.Ensemble(labels).labels[:, 0])
    drawn = np.random.default_rng(5).integers(0, 3, 60)
    assert metrics.rand_index(comparison["drawn"].labels, drawn) == 1.0
    assert (mine.n_clusters, mine.random_state) == (2, None)
    assert comparison["short"].status == (
        "failed: ValueError: fit_predict must return a label for each of the 60 objects. Got 3."
    )
    assert comparison["broken"].status == "failed: ZeroDivisionError: by zero"
    assert comparison["tree"].n_clusters == 3
    weighted = cc.compare(cc.Ensemble(labels, weights=np.arange(1, 13)), [FirstColumn(), "EAC"])
    assert weighted[0].status.startswith("refused: FirstColumn gets labels only")
    assert weighted[1].status == "ok"


def test_an_error_of_conclust_itself_is_not_hidden(monkeypatch):
    _, labels = members(6)

    def fail(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr(cc.EAC, "_fit", fail)
    with pytest.raises(RuntimeError, match="a fault"):
        cc.compare(labels, ["EAC"])


def test_a_warning_of_all_methods_is_given_once():
    _, labels = members(7)
    labels[3] = -1
    truth = np.where(np.arange(60) < 5, -1, 0)
    # HBGF needs the number, which AutoConsensus finds with the same warning.
    for methods in (["EAC", "PCC"], ["EAC", "PCC", Seeded()], ["EAC", "HBGF"]):
        with pytest.warns(EvidenceWarning, match="1 object is missing in every") as caught:
            comparison = cc.compare(labels, methods, truth=truth)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert {trial.status for trial in comparison} == {"ok"}
        assert comparison[0].labels[3] == -1


def test_other_warnings_are_in_their_rows():
    _, labels = members(7, m=4, lost=0.6)
    with pytest.warns(EvidenceWarning, match="missing in every") as caught:
        comparison = cc.compare(labels, ["EAC", "LWEA", "HBGF"], n_clusters=4)
    assert len(caught) == 1
    for name in ("EAC", "LWEA"):
        assert comparison[name].status.startswith("warned: No partition observed both objects")
    assert comparison["HBGF"].status == "ok"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = cc.compare(labels, ["HBGF"], n_clusters=4)
    assert alone["HBGF"].status.startswith("warned: 6 objects are missing in every")
    # The number is found by AutoConsensus, whose warning is in no row.
    with pytest.warns(EvidenceWarning, match="No partition observed both objects") as caught:
        cc.compare(labels, ["HBGF"])
    assert len(caught) == 1


def test_soft_members_and_unknown_truth_are_accepted():
    soft = cc.Ensemble.from_memberships([np.eye(3)[[0, 0, 1, 1, 2, 2]]] * 4)
    comparison = cc.compare(soft, ["PCC", "EAC"], n_clusters=3, truth=[0, 0, 1, -1, None, 2])
    assert comparison["EAC"].scores["ari"] == 1.0
    assert comparison["EAC"].scores["anmi"] == 1.0
    nothing = cc.compare(soft, ["EAC"], truth=[-1] * 6)
    assert math.isnan(nothing[0].scores["ari"])
    assert nothing.to_frame()["ari"].isna().all()


def test_the_table_the_frame_and_the_ranking_agree():
    z, labels = members(8)
    comparison = cc.compare(labels, ["PCC", "EAC", "EAC", Short()], n_clusters=4, truth=z)
    frame = comparison.to_frame()
    assert list(frame.columns) == [
        *("method", "n_clusters", "ari", "nmi", "h", "anmi", "certainty", "cpu_seconds", "status")
    ]
    assert list(frame["method"]) == ["PCC", "EAC", "EAC (2)", "Short"]
    assert frame["n_clusters"].isna().tolist() == [False, False, False, True]
    assert frame["ari"][0] == comparison["PCC"].scores["ari"]
    lines = repr(comparison).splitlines()
    assert lines[0].split() == [
        "method",
        "clusters",
        "ARI",
        "NMI",
        "H",
        "ANMI",
        *lines[0].split()[6:],
    ]
    assert len(lines) == 5
    assert "<td>Short</td>" in comparison._repr_html_()
    best = comparison.ranked("anmi")
    assert [one.scores["anmi"] for one in best] == sorted(
        (one.scores["anmi"] for one in best), reverse=True
    )
    assert len(best) == 3
    assert list(comparison.labels) == ["PCC", "EAC", "EAC (2)"]
    with pytest.raises(InputError, match="Got 'speed'"):
        comparison.ranked("speed")
    with pytest.raises(KeyError, match="There are: PCC"):
        comparison["HBGF"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("eca", "Is it 'SEC' or 'EAC'"),
        ([], "must be None, 'all', a sequence"),
        (7, "must be None, 'all', a sequence"),
        ([cc.EAC], r"Give an instance: EAC\(\)"),
        ([object()], "objects with fit_predict"),
        ([KMeans(3)], r"EnsembleGenerator\(KMeans"),
    ],
)
def test_invalid_methods_are_refused(given, sentence):
    with pytest.raises(ParameterError, match=sentence):
        cc.compare(members()[1], given)


def test_invalid_arguments_are_refused():
    _, labels = members()
    with pytest.raises(ParameterError, match="'n_clusters' parameter of compare"):
        cc.compare(labels, ["EAC"], n_clusters=0)
    with pytest.raises(InputError, match="Got 3 labels and an ensemble of 60"):
        cc.compare(labels, ["EAC"], truth=[0, 1, 2])
    with pytest.raises(ParameterError, match="'random_state' parameter of compare"):
        cc.compare(labels, ["EAC"], random_state="now")


def test_the_plot_shows_the_ranking():
    z, labels = members(9)
    actual = cc.compare(labels, ["PTA", "EAC", "PCC", Short()], n_clusters=4, truth=z)
    ranking = comparison_of(actual, score="nmi")
    assert ranking.without == ["Short"]
    assert list(ranking.values) == sorted(ranking.values, reverse=True)
    ax = cc.plotting.comparison(actual, score="nmi")
    assert [text.get_text() for text in ax.get_yticklabels()] == [*ranking.methods, "Short"]
    (dots,) = (line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(dots.get_xdata(), ranking.values)
    with pytest.raises(ParameterError, match=r"result of conclust\.compare"):
        cc.plotting.comparison(labels)
    with pytest.raises(InputError, match="nothing to draw"):
        cc.plotting.comparison(cc.compare(labels, [Short()]))


# ---- the shell


class WithoutClusters:
    def fit_predict(self, labels):
        return np.full(len(labels), -1)


def test_a_method_without_clusters_has_the_scores_of_the_others():
    labels = np.repeat([[0, 1], [0, 1], [1, 0]], 4, axis=0)
    for truth in (None, labels[:, 0]):
        compared = cc.compare(labels, [WithoutClusters()], truth=truth)
        assert tuple(compared.trials[0].scores) == compared.score_names
