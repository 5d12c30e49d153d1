"""The tool behind `make stubs`: accepted and reported differences."""

from __future__ import annotations

from tools.check_stubs import ALLOWED, unexplained

LITERAL = "conclust.ensemble.Noise is not a Union"


def test_a_difference_with_a_reason_is_accepted():
    faults, unused = unexplained([LITERAL])
    assert faults == []
    assert len(unused) == len(ALLOWED) - 1


def test_a_difference_without_a_reason_is_a_fault():
    report = "conclust.PCC.fit is inconsistent, stub does not have parameter 'y'"
    assert unexplained([LITERAL, report], {r"conclust\.ensemble\.": "why"}) == ([report], [])


def test_an_unneeded_reason_is_reported():
    assert unexplained([LITERAL], {r"conclust\.": "one", "gone": "two"}) == ([], ["gone"])
