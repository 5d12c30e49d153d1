"""Progress: every method reports its steps on request, and computes the same results."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.cases import planted
from tests.registry import FORMS, asked_for

import conclust as cc
from conclust import _kernels, _progress
from conclust._kernels import agglomerate_average
from conclust._progress import advance, listening, rounds, say, stage, tracked

LABELS, _ = planted(0, 60, 8, 3, flip=0.2)


def estimator(form, **parameters):
    name, given = FORMS[form]
    made = getattr(cc, name)(**given)
    if "n_clusters" in made.get_params():
        made.set_params(n_clusters=3)
    return made.set_params(**parameters)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "form",
    [form for form in asked_for(of_each_class=True) if "verbose" in estimator(form).get_params()],
)
def test_a_verbose_fit_prints_to_standard_error_and_changes_no_bit(form, capsys):
    silent = estimator(form).fit(LABELS)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")
    loud = estimator(form, verbose=1).fit(LABELS)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    name = FORMS[form][0]
    assert all(line.startswith(f"[{name}] ") for line in lines)
    assert lines[1] == f"[{name}] 60 objects in 8 partitions"
    assert f"[{name}] {loud.n_clusters_} cluster" in lines[-1]
    assert np.array_equal(silent.labels_, loud.labels_)
    for attribute, actual in vars(silent).items():
        if isinstance(actual, np.ndarray):
            assert np.array_equal(
                actual, getattr(loud, attribute), equal_nan=actual.dtype.kind == "f"
            )


def test_an_inner_estimator_reports_under_the_name_of_the_outer_one(capsys):
    with listening(1, "Outer"):
        cc.EAC(2).fit(LABELS)
    assert all(line.startswith("[Outer] ") for line in capsys.readouterr().err.splitlines())
    cc.EAC(2).fit(LABELS)
    assert capsys.readouterr().err == ""


class Clock:
    """A clock that advances only on demand."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(_progress.time, "monotonic", lambda: self.now)

    def go(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def lines(capsys):
    return [line.removeprefix("[X] ") for line in capsys.readouterr().err.splitlines()]


def test_a_loop_prints_the_time_left(clock, capsys):
    with listening(1, "X"):
        for _ in tracked(range(10), "starts"):
            clock.go(3.0)
    printed = lines(capsys)
    assert printed[0] == "starts: 1 of 10, about 27 s left"
    assert printed[4] == "starts: 5 of 10, about 15 s left"
    assert printed[-1] == "starts: 10 of 10, about 0 s left"


def test_a_stage_estimates_the_time_left_by_its_share(clock, capsys):
    with listening(1, "X"):
        stage("linkage")
        clock.go(5.0)
        advance(1, 4)
        clock.go(5.0)
        advance(0.5)
        clock.go(10.0)
        advance(0.0)  # other work of the stage
        clock.go(10.0)
        advance(0.5)
    assert lines(capsys) == [
        "linkage",
        "linkage: 25 %, about 15 s left",
        "linkage: 50 %, about 10 s left",
        "linkage",
        "linkage: 50 %, about 10 s left",
    ]


def test_iterations_that_may_end_early_give_a_bound(clock, capsys):
    with listening(1, "X"):
        for _ in tracked(range(2), "starts"):
            for done in range(1, 4):
                clock.go(4.0)
                rounds("steps", done, 8)
    printed = lines(capsys)
    assert printed[0] == "starts: 0 of 2, steps: 1 of at most 8, at most 60 s left"
    # Complete starts give a better estimate.
    assert printed[3] == "starts: 1 of 2, steps: 1 of at most 8, about 16 s left"


def test_a_kernel_reports_the_share_done(monkeypatch):
    shares = []
    monkeypatch.setattr(_kernels, "advance", shares.append)
    n = 4000
    D = np.random.default_rng(0).random((n, n))
    D += D.T
    merges = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    for _ in range(20):
        agglomerate_average(D.copy(), np.ones(n), *merges)
        if len(set(shares)) > 2:
            break
    assert all(0 <= share <= 1 for share in shares)
    assert len(set(shares)) > 2


def test_nothing_is_printed_in_other_threads_or_after_the_fit(capsys):
    with listening(1, "X"):
        thread = threading.Thread(target=lambda: (say("there"), stage("there")))
        thread.start()
        thread.join()
        say("here")
    say("after")
    assert lines(capsys) == ["here"]


def ended_in_the_middle():
    for i in tracked(range(3), "these"):
        if i:
            raise ValueError("on purpose")


def test_a_loop_ended_by_an_error_is_not_reported_again(clock, capsys):
    with listening(1, "X"):
        with pytest.raises(ValueError, match="on purpose"):
            ended_in_the_middle()
        clock.go(5.0)
        rounds("others", 1, 2)
    assert lines(capsys) == ["others: 1 of at most 2, at most 0 s left"]


def test_the_pipeline_reports_both_components(capsys):
    X = np.random.default_rng(0).normal(size=(60, 2))
    silent = cc.ConsensusClustering(random_state=0).fit(X)
    assert capsys.readouterr().err == ""
    loud = cc.ConsensusClustering(random_state=0, verbose=1).fit(X)
    printed = capsys.readouterr().err
    assert "[ConsensusClustering] 40 of 40 members" in printed
    assert "[ConsensusClustering] linkage" in printed
    assert np.array_equal(silent.labels_, loud.labels_)
