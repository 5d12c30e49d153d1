"""Partitions whose names mean the same classes: answers of raters, by majority and by the model of Dawid and Skene."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pytest
from tests.cases import PATHOLOGISTS

import conclust as cc
from conclust._random import spawn_generators
from conclust.cli import main
from conclust.confidence import chance_confidence
from conclust.confidence.calibration import shuffled
from conclust.exceptions import InputError, ParameterError
from conclust.report import account

# A fifth of the answers is missing, so that slides have different raters.
SPARSE = np.where((7 * np.arange(118)[:, None] + 3 * np.arange(7)) % 5 == 0, -1, PATHOLOGISTS)

# Crowd-Kit 1.4.2, DawidSkene(n_iter=20, tol=-inf) on SPARSE: the probability of cancer for rows of answers ("9" is
# missing), and each rater's probability of the answer 0, without cancer and with it.
CROWD_KIT = {
    "0100901": 1.044516e-01,
    "0109101": 5.901553e-01,
    "0190001": 1.589669e-02,
    "0190101": 7.453587e-01,
    "0900109": 1.621138e-02,
    "1100901": 9.598897e-01,
    "1109001": 6.198416e-01,
    "1109101": 9.966268e-01,
    "1190001": 7.682183e-01,
    "1900009": 1.831718e-02,
    "1900109": 7.717467e-01,
    "9100191": 9.730539e-01,
}
CROWD_KIT_ERRORS = [
    [0.8662866416731066, 0.03077263653441696],
    [0.7000051978234741, 0.020114809498699142],
    [0.9999999999978362, 0.24662833904216874],
    [0.9999999999977727, 0.5010282982100688],
    [0.8431249416240405, 0.028898016824981828],
    [0.9999999999978074, 0.5660305638615288],
    [0.9258133032919327, 2.0393767812499962e-08],
]


def dawid_skene(**parameters):
    return cc.MixtureModel(names="shared", **parameters)


def by_class(model, values, axis=1):
    """Put the columns of `values` in the order of the sorted names."""
    return np.take(values, np.argsort(model.classes_), axis=axis)


def test_dawid_and_skene_finds_the_probabilities_of_crowd_kit():
    model = dawid_skene(smoothing=0, max_iter=19, tol=0)
    with pytest.warns(match="iterations of EM"):
        cancer = by_class(model.fit(SPARSE), model.membership_)[:, 1]
    rows = ["".join(map(str, row)).replace("-1", "9") for row in SPARSE]
    for answers, probability in CROWD_KIT.items():
        assert cancer[rows.index(answers)] == pytest.approx(probability, rel=1e-6)


def test_dawid_and_skene_finds_the_error_rates_of_crowd_kit():
    model = cc.MixtureModel(smoothing=0, max_iter=20, tol=0)
    with pytest.warns(match="iterations of EM"):
        model.fit(cc.Ensemble(SPARSE, names="shared"))
    found = by_class(model, by_class(model, model.confusion_), axis=2)
    np.testing.assert_allclose(found[:, :, 0], CROWD_KIT_ERRORS, atol=2e-8)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)


def test_the_majority_is_the_share_of_the_answers():
    slide, rater = np.nonzero(SPARSE >= 0)
    answers = {"slide": slide, "rater": rater, "label": SPARSE[slide, rater]}
    model = cc.Voting().fit(
        cc.Ensemble.from_long(answers, "slide", "rater", "label", names="shared")
    )
    expected = (SPARSE == 1).sum(axis=1) / (SPARSE >= 0).sum(axis=1)
    np.testing.assert_allclose(by_class(model, model.membership_)[:, 1], expected)
    decided = expected != 0.5
    answers = model.classes_[model.labels_]
    np.testing.assert_array_equal(answers[decided], (expected > 0.5)[decided])


ANSWERS = [
    ["cat", "cat", None],
    ["dog", "dog", "cat"],
    ["cat", "dog", None],
    ["dog", None, "bird"],
    ["dog", "dog", "dog"],
]


@pytest.mark.parametrize("model", [cc.Voting(names="shared"), dawid_skene()])
def test_the_names_are_the_classes(model):
    model.fit(ANSWERS)
    assert sorted(model.classes_) == ["bird", "cat", "dog"]
    answers = model.classes_[model.labels_]
    assert list(answers[[0, 1, 4]]) == ["cat", "dog", "dog"]
    assert list(model.classes_[model.predict([["dog", "dog", None]])]) == ["dog"]


def test_a_tie_shows_in_the_memberships():
    model = cc.Voting(names="shared").fit(ANSWERS)
    first, second = np.sort(model.membership_, axis=1)[:, :-3:-1].T
    np.testing.assert_array_equal(np.flatnonzero(first == second), [2, 3])


def test_other_names_change_the_names_alone():
    one, two = dawid_skene().fit(SPARSE), dawid_skene().fit(np.where(SPARSE < 0, -1, SPARSE + 7))
    np.testing.assert_array_equal(one.membership_, two.membership_)
    np.testing.assert_array_equal(one.classes_ + 7, two.classes_)


def test_a_class_that_is_nowhere_most_probable_is_named_last():
    labels = np.zeros((20, 3), dtype=int)
    labels[:, 0], labels[10:, 1:], labels[0, 2] = 1, 1, 2
    model = cc.Voting(names="shared", hard=True).fit(labels)
    assert model.membership_.shape == (20, 2)
    assert list(model.classes_) == [1, 0, 2] or list(model.classes_) == [0, 1, 2]
    model = dawid_skene(smoothing=0, tol=1e-12, max_iter=5000).fit(labels)
    assert model.confusion_.shape == (3, model.membership_.shape[1], 3)
    assert sorted(model.classes_) == [0, 1, 2]


def test_raters_of_different_objects_are_connected_by_their_names():
    labels = np.full((8, 4), -1)
    labels[:4, :2] = [[0, 0], [0, 0], [1, 1], [1, 1]]
    labels[4:, 2:] = [[1, 1], [0, 0], [1, 1], [0, 0]]
    for model in (cc.Voting(names="shared"), dawid_skene()):
        answers = model.fit(labels).classes_[model.labels_]
        np.testing.assert_array_equal(answers, [0, 0, 1, 1, 1, 0, 1, 0])


def test_an_ensemble_keeps_that_its_names_are_shared(tmp_path):
    whole = cc.Ensemble(ANSWERS, names="shared")
    whole.save(tmp_path / "e.npz")
    soft = cc.Ensemble(cc.Ensemble.from_memberships([np.eye(3), np.eye(3)]), names="shared")
    kept = [
        whole.subset([0, 1, 3]).subset(partitions=[0, 1]),
        whole.part(np.array([0, 1])).reweighted([1, 2, 3]),
        pickle.loads(pickle.dumps(whole)),
        cc.Ensemble.load(tmp_path / "e.npz"),
        cc.Ensemble.concat([whole, whole]),
        soft.subset([0, 1]).most_probable(),
    ]
    assert {one.naming for one in kept} == {"shared"}
    assert cc.Ensemble.concat([whole, cc.Ensemble(ANSWERS)]).naming == "own"
    assert repr(whole).endswith("names shared)")
    with pytest.raises(ParameterError, match="'names' parameter of Ensemble must be"):
        cc.Ensemble(ANSWERS, names="equal")


def test_memberships_with_shared_columns_are_averaged():
    first, second = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.4, 0.6]])
    model = cc.Voting(names="shared").fit(cc.Ensemble.from_memberships([first, second]))
    np.testing.assert_allclose(by_class(model, model.membership_), (first + second) / 2)


def test_a_noise_label_is_an_answer_for_no_class():
    model = cc.Voting(names="shared").fit([[0, 0, -2], [1, 1, 1]])
    np.testing.assert_allclose(by_class(model, model.membership_), [[5 / 6, 1 / 6], [0, 1]])
    alone, noisy = (
        dawid_skene().fit([[0, 0], [1, 1]]),
        dawid_skene().fit([[0, 0], [1, 1], [-2, -2]]),
    )
    np.testing.assert_allclose(noisy.membership_[:2], alone.membership_, atol=1e-6)


@pytest.mark.parametrize("model", [cc.Voting(2), cc.MixtureModel(2)])
def test_the_names_have_the_number_of_classes(model):
    with pytest.raises(ParameterError, match="None with names='shared'"):
        model.fit(cc.Ensemble(ANSWERS, names="shared"))


def test_a_name_that_is_a_number_for_one_and_text_for_another_is_refused():
    frame = np.array([[1, "1"], [2, "2"]], dtype=object)
    with pytest.raises(InputError, match="as a number and as text"):
        cc.Voting(names="shared").fit(frame)


@pytest.mark.parametrize("make", [lambda: cc.Voting(names="shared"), dawid_skene])
def test_a_saved_model_has_its_classes(make, tmp_path):
    model = make().fit(ANSWERS)
    model.save(tmp_path / "model.npz")
    again = cc.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.predict(ANSWERS), model.predict(ANSWERS))


def test_chance_shuffles_the_answers():
    """By hand: the columns are permuted, and the names stay what they are, although partitions list them in other orders."""
    labels = np.array([["b", "a", "a"], ["a", "b", "a"], ["a", "a", "b"], ["b", "b", "b"]] * 10)
    model = cc.Voting(names="shared").fit(labels)
    chance = chance_confidence(model, labels, n_draws=1, random_state=0)
    _, rng = spawn_generators(np.random.SeedSequence(0), 2)
    mixed = shuffled((labels == "b").astype(np.int64), rng)
    share = mixed.mean(axis=1)
    assert chance.by_chance == pytest.approx(np.maximum(share, 1 - share).mean())


@pytest.mark.parametrize("method", ["Voting", "MixtureModel"])
def test_the_shell_takes_shared_names(method, tmp_path, capsys):
    path = tmp_path / "answers.csv"
    path.write_text("a,b,c\nx,x,y\ny,y,y\nx,x,x\ny,x,y\n=z,=z,=z\n,,\n")
    out = str(tmp_path / "out")
    words = ["combine", str(path), "--method", method, "--set", "names=shared", "--out", out]
    assert main(words) == 0
    assert "3 clusters of 6 objects" in capsys.readouterr().out
    assert main(["predict", out, str(path), "--out", "-", "-q"]) == 0
    placed = capsys.readouterr().out
    for text in (placed, (tmp_path / "out" / "labels.csv").read_text()):
        rows = csv.DictReader(text.splitlines())
        assert [row["label"] for row in rows] == ["x", "y", "x", "y", "'=z", "-1"]
    assert "object,cluster_x,cluster_y" in (tmp_path / "out" / "memberships.csv").read_text()
    assert account(out, pictures=False)["clusters"] == ["x", "y", "=z"]
    with pytest.raises(SystemExit):
        main([*words, "-k", "2"])
    said = " ".join(capsys.readouterr().err.split())
    assert (
        f"{method} with --set names=shared determines the number of clusters itself: omit -k"
        in said
    )
