"""Declared ranges of parameters: ends are accepted, values beyond are refused, docstrings agree."""

import inspect
import math
import re
import warnings
from dataclasses import replace
from types import NoneType

import numpy as np
import pytest
from tests.registry import public_estimators
from tools.methods_table import documented

import conclust
from conclust import divergences
from conclust._parameters import Parameter, Range, parameters_of
from conclust.exceptions import DenseLimitError, MissingExtraError, ParameterError

KINDS = [getattr(conclust, name) for name in sorted(public_estimators())]
OF_POINTS = [
    conclust.ConsensusClustering,
    conclust.EnsembleGenerator,
    conclust.GraphConsensus,
    conclust.MultiViewGenerator,
    conclust.TopicConsensus,
]
KINDS += OF_POINTS
DECLARED = [
    (kind, one)
    for kind in KINDS
    for one in parameters_of(kind).values()
    if isinstance(one.rule, Range)
]
OF_LABELS = [(kind, one) for kind, one in DECLARED if kind not in OF_POINTS]

# Conditions that the table cannot express, and where they are checked.
ELSEWHERE = {
    "BayesianEnsemble.smoothing": "another range for each solver",
    "ConsensusClustering.consensus": "a name or an object",
    "ConsensusClustering.generator": "an object",
    "FCAConsensus.threshold": "a number of the partitions, a share of them or 'auto'",
    "KernelWeightedPartition.indices": "an array",
    "MultiViewGenerator.generator": "an object",
    "TopicConsensus.clusterer": "an object",
    "TopicConsensus.reducer": "an object",
    "WeightedEAC.data": "an array",
    "WeightedEAC.indices": "names or functions",
    "WeightedPCC.rho": "between 1 / m and 1 with m partitions",
}

BY_THE_BASE = ("n_clusters", "missing", "random_state", "verbose")

LABELS = np.column_stack(
    [np.repeat([0, 1, 2], 6), np.repeat([0, 1, 2], [7, 5, 6]), np.repeat([0, 1, 1], 6)]
)


def name(value):
    return f"{value[0].__name__}.{value[1].name}"


def borders(one):
    """Return the values at the borders of a parameter, and values just beyond them."""
    if one.words and one.kinds & {bool, int, float}:
        taken, refused = borders(replace(one, words=(), kinds=one.kinds - {str}))
        return [*one.words, *taken], ["", "nothing of the kind", *refused]
    if one.words:
        return list(one.words), ["", "nothing of the kind", *([] if one.others else [3, ["a"]])]
    none = [None] if one.none else []
    if bool in one.kinds:
        return [True, False, *none], [1, "yes", *([] if one.none else [None])]
    wrong = ["one", math.nan, math.inf, True, [1], *([] if one.none else [None])]
    if int in one.kinds:
        low, high = one.rule.whole(one.name)
        beyond = [] if high is None else [high + 1]
        return [low, np.int32(low + 1), *none], [low - 1, low + 0.5, *beyond, *wrong]
    low, high, closed = one.rule.reals()
    taken, refused = none, wrong
    for end, away, inside in ((low, -math.inf, "left"), (high, math.inf, "right")):
        if math.isfinite(end):
            belongs = closed in ("both", inside)
            (taken if belongs else refused).append(end)
            if belongs:
                refused.append(math.nextafter(end, away))
    # Next to an open end: a number of usual size.
    return [*taken, 0.5 * (low + min(high, low + 2.0))], refused


def estimator(kind, /, **given):
    has = parameters_of(kind)
    if "n_clusters" in has:
        given.setdefault("n_clusters", 3)
    return kind(**{key: v for key, v in {"random_state": 0, **given}.items() if key in has})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_parameter_is_declared_or_its_check_is_named(kind):
    for one in parameters_of(kind).values():
        listed = f"{kind.__name__}.{one.name}" in ELSEWHERE
        assert listed == (one.rule is None and one.name not in BY_THE_BASE), one.name
        if one.rule is not None:
            one.check(one.default, kind.__name__)


@pytest.mark.parametrize("declared", DECLARED, ids=name)
def test_values_out_of_range_are_refused_before_reading_data(declared):
    kind, one = declared
    for value in borders(one)[1]:
        with pytest.raises(ParameterError) as refused:
            estimator(kind, **{one.name: value}).fit("neither labels nor points")
        sentence = f"The {one.name!r} parameter of {kind.__name__} must be "
        assert str(refused.value).startswith(sentence), value


@pytest.mark.parametrize("declared", OF_LABELS, ids=name)
def test_values_at_the_ends_of_ranges_are_accepted(declared):
    """A fit gives labels, or an error that the value does not suit the others or these labels."""
    kind, one = declared
    for value in borders(one)[0]:
        one.check(value, kind.__name__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = estimator(kind, **{one.name: value}).fit(LABELS)
            except DenseLimitError:
                assert one.name in ("max_dense", "pairs")
            except (ParameterError, MissingExtraError):
                assert one.words or one.name == "max_samples"
            else:
                assert model.labels_.shape == (len(LABELS),)


def test_divergences_of_the_signature_are_the_named_ones():
    assert set(parameters_of(conclust.PCC)["divergence"].words) == set(divergences.built_in)


@pytest.mark.parametrize(
    ("kinds", "words", "limits", "value", "sentence"),
    [
        (
            [int, NoneType],
            (),
            {"at_least": 2, "at_most": 4},
            1.0,
            "an int in the range [2, 4] or None. Got 1.0 instead.",
        ),
        ([int], ("all",), {}, 0, "an int in the range [1, inf) or 'all'. Got 0 instead."),
        ([float], (), {"at_most": 16}, -1, "a float in the range [0, 16]. Got -1 instead."),
        ([bool], ("auto",), {}, 1, "a bool or 'auto'. Got 1 instead."),
    ],
)
def test_the_text_of_a_range_matches_scikit_learn(kinds, words, limits, value, sentence):
    kinds = frozenset({*kinds, *([str] if words else [])})
    one = Parameter("x", 1, kinds, words, Range(**limits), False)
    with pytest.raises(ParameterError) as refused:
        one.check(value, "Y")
    assert str(refused.value) == f"The 'x' parameter of Y must be {sentence}"


POINTS = np.random.default_rng(0).normal(size=(18, 3)) + np.repeat(6.0 * np.eye(3), 6, axis=0)
INPUTS = {
    conclust.GraphConsensus: [(i, j) for i in range(18) for j in range(i) if i // 6 == j // 6],
    conclust.MultiViewGenerator: {"a": POINTS, "b": POINTS[:, :2]},
}


@pytest.mark.parametrize("declared", [d for d in DECLARED if d not in OF_LABELS], ids=name)
def test_values_at_the_ends_of_ranges_are_accepted_with_points(declared):
    """Members of three kinds use every parameter of the generator."""
    kind, one = declared
    for value in borders(one)[0]:
        one.check(value, kind.__name__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = estimator(kind, **{one.name: value})
            if isinstance(model, conclust.EnsembleGenerator):
                model.set_params(method=["kmeans", "spectral", "graph"], n_clusters=None)
            model.fit(INPUTS.get(kind, POINTS))


# Phrases of docstrings for the ends of a range: the lower and the upper one.
NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)(?!\d|,\d)"
LOW = r"(\d[\d.e-]*)"
SAYS = {
    rf"\babove {NUMBER}": ("above",),
    rf"\bat least {NUMBER}\b": ("at_least",),
    rf"\bat most {NUMBER}\b": ("at_most",),
    rf"\bin (?:the range )?\({LOW}, {NUMBER}\)": ("above", "below"),
    rf"\bin (?:the range )?\[{LOW}, {NUMBER}\]": ("at_least", "at_most"),
    rf"\bin (?:the range )?\({LOW}, {NUMBER}\]": ("above", "at_most"),
}


def said(text):
    """Return the range in a description."""
    actual = {"above": 0.0} if re.search(r"\bpositive\b", text, re.IGNORECASE) else {}
    for pattern, ends in SAYS.items():
        match = re.search(pattern, text, re.IGNORECASE)
        actual |= dict(zip(ends, map(float, match.groups()), strict=True)) if match else {}
    return actual


@pytest.mark.parametrize("declared", DECLARED, ids=name)
def test_docstrings_state_the_declared_ranges(declared):
    kind, one = declared
    takes, meaning = documented(inspect.getdoc(kind))[one.name]
    assert set(re.findall(r'"(.*?)"', takes.split("default=")[0])) == set(one.words) - {None}
    if not one.kinds & {bool, int, float}:
        return
    first = takes.split(",")[0].split(" or ")[0]
    assert first == next(kind.__name__ for kind in (bool, int, float) if kind in one.kinds)
    if one.rule != Range():  # the usual ranges, 1 or more and 0 or more, need not be mentioned
        described = Range(**said(meaning))
        if int in one.kinds:
            assert described.whole(one.name) == one.rule.whole(one.name)
        else:
            assert described.reals() == one.rule.reals()
