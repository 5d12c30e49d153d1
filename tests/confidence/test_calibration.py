"""The probability that the pairs of an object hold in a fresh sample, and everything that shows it."""

import csv
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import conclust as cc
from conclust import ConsensusClustering, EnsembleGenerator
from conclust.cli import main
from conclust.confidence import Calibration, calibrated
from conclust.confidence.calibration import _found_again, kept_shares
from conclust.exceptions import InputError, ParameterError
from conclust.report import account, write
from conclust.results import load
from conclust.words.confidence import kept_sentence

FEW = EnsembleGenerator(n_partitions=12)


@pytest.fixture(scope="module")
def points():
    return make_blobs(160, centers=3, cluster_std=1.0, center_box=(-8, 8), random_state=3)[0]


@pytest.fixture(scope="module")
def model(points):
    model = ConsensusClustering(generator=FEW, random_state=0).fit(points)
    calibrated(model, points, n_halvings=3, random_state=0)
    return model


def by_pairs(own, fresh):
    """The share of each object's pairs that hold, one pair at a time."""
    found = []
    for i in range(len(own)):
        together = {k: [] for k in set(own)}
        for j in range(len(own)):
            if j != i:
                together[own[j]].append(fresh[i] == fresh[j])
        others = [np.mean(held) for k, held in together.items() if k != own[i]]
        parts = [np.mean(together[own[i]])] if together[own[i]] else []
        parts += [1 - max(others)] if others else []
        found.append(np.mean(parts) if parts else 1.0)
    return found


@pytest.mark.parametrize(("K", "L"), [(1, 1), (1, 3), (2, 1), (2, 2), (4, 3), (3, 5)])
def test_half_of_the_pairs_are_companions_and_half_are_of_the_cluster_most_mixed_with(K, L):
    rng = np.random.default_rng(K + 10 * L)
    own, fresh = rng.integers(K, size=30), rng.integers(L, size=30)
    own[:K], own[-1], fresh[:L] = np.arange(K), K, np.arange(L)  # the last object is alone
    np.testing.assert_allclose(kept_shares(own, fresh), by_pairs(own, fresh), atol=1e-12)


def test_clear_clusters_are_kept_and_the_map_rises(model):
    found = model.calibration_
    assert found.kept.min() > 0.9
    assert (np.diff(found.confidence) > 0).all()
    assert (np.diff(found.share) >= 0).all()
    np.testing.assert_array_equal(found.of([np.nan, 1.0]), [np.nan, found.share[-1]])


@pytest.mark.parametrize("stretch", [1, 5])
@pytest.mark.parametrize(
    ("consensus", "number"), [(None, "n_clusters"), (None, "min_clusters"), ("pcc", "n_clusters")]
)
def test_one_gaussian_cut_in_two_is_kept_by_half_at_most(stretch, consensus, number):
    X = np.random.default_rng(0).normal(size=(120, 2)) * [stretch, 1]
    model = ConsensusClustering(consensus, FEW, random_state=0, **{number: 2}).fit(X)
    assert calibrated(model, X, n_halvings=3, random_state=0).kept.max() <= 0.6


def test_a_fresh_sample_finds_the_number_as_often_as_it_does():
    """A border of unknown strength: its evidence in a sample, in parts of this sample and in another one varies by one each."""
    rng = np.random.default_rng(0)
    of_sample = rng.normal(size=20_000) + 2.0  # of a strength that may be anything
    in_parts = (of_sample + rng.normal(size=(200, 20_000)) > 2).sum(axis=0)
    strength = of_sample + rng.normal(size=20_000)
    fresh = strength + rng.normal(size=20_000) > 2
    for found in (40, 100, 160):
        said = pytest.approx(_found_again(np.array([200.0 - found, found])), abs=0.06)
        assert fresh[np.abs(in_parts - found) < 5].mean() == said


@pytest.mark.long
def test_a_single_cluster_is_found_again_as_often_as_its_evidence_says():
    """All halves show one cluster, but not all samples of laws of two and three nearer and farther ones."""
    rng, said, fresh = np.random.default_rng(0), [], []
    for K, distance in product((2, 3), (3.0, 3.5, 4.0)):
        law = distance * np.eye(5)[np.arange(120) % K] / np.sqrt(2)
        samples = law + rng.normal(size=(12, 120, 5))
        models = [ConsensusClustering(generator=FEW, random_state=0).fit(X) for X in samples]
        ones = [(m, X) for m, X in zip(models, samples, strict=True) if m.n_clusters_ == 1]
        said += [calibrated(m, X, n_halvings=1, random_state=0).kept.mean() for m, X in ones]
        fresh += [0.5 + 0.5 * (len(ones) - 1) / 11] * len(ones)
    assert 0.9 > np.mean(fresh) == pytest.approx(np.mean(said), abs=0.07)


def test_the_same_seed_gives_the_same_probabilities(points, model):
    again = calibrated(model, points, n_halvings=3, random_state=0)
    np.testing.assert_array_equal(again.kept, model.calibration_.kept)


def test_it_is_stored_with_the_model_and_forgotten_by_a_fit(points, model, tmp_path):
    model.save(tmp_path / "model.npz")
    stored = cc.load(tmp_path / "model.npz").calibration_
    for name in ("kept", "confidence", "share", "n_halvings"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(model.calibration_, name))
    refitted = cc.load(tmp_path / "model.npz").fit(points)
    assert not hasattr(refitted, "calibration_")


def test_card_report_and_frame_show_it(points, model, tmp_path):
    sentence = kept_sentence(model.calibration_.kept)
    assert sentence in model._repr_html_()
    write(model, tmp_path / "page.html", X=points)
    assert sentence in (tmp_path / "page.html").read_text(encoding="utf-8")
    frame = cc.to_frame(model)
    np.testing.assert_array_equal(frame["kept"], model.calibration_.kept)
    parts = {part["id"]: part["blocks"] for part in account(model, pictures=False)["sections"]}
    shares = {}
    for name, at in (("overview", 2), ("objects", 1)):
        table = parts[name][at]
        column = [each["title"] for each in table["columns"]].index("Pairs kept")
        shares[name] = {row[0]: row[column] for row in table["rows"]}
    means = frame.groupby("label")["kept"].mean()
    np.testing.assert_allclose([*shares["overview"].values()], means, atol=1e-5)
    assert len(shares["objects"]) == len(frame)
    for name, share in shares["objects"].items():
        assert share == pytest.approx(frame["kept"][int(name)], abs=1e-4)


def test_the_shell_writes_it_and_reads_it_back(points, tmp_path, capsys):
    np.savetxt(tmp_path / "points.csv", points, delimiter=",")
    out = tmp_path / "result"
    options = ["--partitions", "12", "--calibrate", "--out", str(out)]
    main(["cluster", str(tmp_path / "points.csv"), *options])
    kept = load(out).kept
    assert "object c, the least" in kept_sentence(np.array([0.9, 0.9, 0.6]), ["a", "b", "c"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        f"{kept.size and load(out).n_clusters} clusters of {len(points)} objects"
    )
    assert kept_sentence(kept) in lines
    np.testing.assert_allclose(kept, cc.load(out / "model.npz").calibration_.kept, atol=1e-6)
    main(["predict", str(out), str(tmp_path / "points.csv"), "--out", str(tmp_path / "new.csv")])
    with (tmp_path / "new.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == {"object", "label", "confidence", "kept"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "eac"], "EAC cannot place new points: give a --method that can"),
        (["--categories", "a"], "without columns of categories: leave --calibrate or"),
    ],
)
def test_the_shell_refuses_to_calibrate_before_it_reads_points(words, said, capsys):
    with pytest.raises(SystemExit):
        main(["cluster", "missing.csv", "--calibrate", *words])
    assert said in capsys.readouterr().err


def test_models_of_more_than_points_are_refused(points, model):
    with pytest.raises(ParameterError, match="'n_halvings' parameter of calibrated"):
        calibrated(model, points, n_halvings=0)
    with pytest.raises(ParameterError, match="a fitted ConsensusClustering that can predict"):
        calibrated(cc.AutoConsensus(2).fit(np.repeat([[0], [1]], 20, axis=0)), points)
    few = ConsensusClustering(generator=FEW, random_state=0).fit(points[:20])
    with pytest.raises(InputError, match="at least 32 objects"):
        calibrated(few, points[:20])
    columns = np.arange(160)[:, None] % 2
    more = ConsensusClustering(generator=FEW, random_state=0).fit(points, partitions=columns)
    with pytest.raises(InputError, match="without 1 further partition"):
        calibrated(more, points)


def test_a_damaged_map_is_refused():
    assert not Calibration(np.ones(3), np.array([1.0, 0.5]), np.ones(2), 1)._restored()
