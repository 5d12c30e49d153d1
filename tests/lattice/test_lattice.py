"""Partitions and concepts against brute force; the paper's theorems."""

from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import lattice as naive
from tests.naive.partitions import all_partitions

from conclust import Ensemble
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.lattice import Concept, FormalContext, is_finer, join, meet
from conclust.plotting import line_diagram

FOUR = [np.array(p) for p in all_partitions(4)]


# -- partitions


@pytest.mark.parametrize("n", [2, 4])
def test_meet_join_and_order_match_their_definitions(n):
    for a in all_partitions(n):
        for b in all_partitions(n):
            assert naive.blocks(meet(a, b)) == naive.meet(a, b)
            assert naive.blocks(join(a, b)) == naive.join(a, b)
            assert is_finer(a, b) == naive.is_finer(a, b)


def test_the_meet_of_an_ensemble_is_its_distinct_rows():
    labels = np.random.default_rng(0).integers(0, 3, (200, 5))
    np.testing.assert_array_equal(meet(*labels.T), Ensemble(labels).distinct_rows().inverse)


def test_names_noise_and_one_partition_are_accepted():
    np.testing.assert_array_equal(meet(["b", "a", "b"]), [0, 1, 0])
    np.testing.assert_array_equal(join(["b", "a", "b"]), [0, 1, 0])
    np.testing.assert_array_equal(meet([0, -2, -2, 0], [0, 0, 0, 0]), [0, 1, 2, 0])
    np.testing.assert_array_equal(join([0, -2, -2, 0], [0, 0, 1, 2]), [0, 0, 1, 0])


@pytest.mark.parametrize("operation", [meet, join, is_finer])
def test_partitions_that_cannot_be_compared_are_refused(operation):
    with pytest.raises(InputError, match="partition 1 misses object 2"):
        operation([0, 0, 1], [0, 1, -1])
    with pytest.raises(InputError, match="Got 3 labels in partition 0 and 2 in partition 1"):
        operation([0, 0, 1], [0, 1])
    with pytest.raises(InputError, match="'partition 0' must be a 1-D array"):
        operation([[0, 0], [1, 1]], [0, 1])


# -- concepts


tables = st.tuples(st.integers(0, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.booleans(), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows, dtype=bool).reshape(shape))
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(tables)
def test_concepts_match_the_closures_of_all_sets(table):
    context = FormalContext(table)
    actual = context.concepts()
    expected = (
        naive.concepts(table) if len(table) else {(frozenset(), frozenset(range(table.shape[1])))}
    )
    assert {(frozenset(c.extent), frozenset(c.intent)) for c in actual} == expected
    assert len(actual) == len(expected)
    # Lectic order: bit g of an extent weighs 2^-g.
    weights = [sum(2.0**-g for g in c.extent) for c in actual]
    assert weights == sorted(weights)
    lattice = context.lattice()
    assert lattice.concepts == actual
    covers = set(map(tuple, lattice.covers.tolist()))
    assert covers == naive.covering_pairs([frozenset(c.extent) for c in actual])
    for lower, upper in covers:
        assert lattice.levels[upper] > lattice.levels[lower]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(tables.filter(len), st.data())
def test_derivations_form_a_galois_connection(table, data):
    context = FormalContext(table)
    A = data.draw(st.sets(st.sampled_from(context.objects)))
    B = data.draw(st.sets(st.sampled_from(context.attributes)))
    assert (set(B) <= set(context.intent(A))) == (set(A) <= set(context.extent(B)))
    closed = context.closure(A)
    assert set(A) <= set(closed)
    assert context.closure(closed) == closed
    assert context.intent(closed) == context.intent(A)


def test_objects_and_attributes_are_named_at_their_concepts():
    lattice = FormalContext([[1, 1, 0], [1, 0, 1], [1, 0, 1]], attributes="abc").lattice()
    for g, i in enumerate(lattice.object_concepts):
        assert lattice.concepts[i].extent == lattice.context.closure([g])
    for m, i in zip("abc", lattice.attribute_concepts, strict=True):
        assert lattice.concepts[i].extent == lattice.context.extent([m])


def test_too_many_concepts_are_refused():
    context = FormalContext(~np.eye(8, dtype=bool))
    assert len(context.concepts(max_concepts=256)) == 256
    with pytest.raises(InputError, match=r"more than 255 concepts\. Raise 'max_concepts'"):
        context.concepts(max_concepts=255)
    with pytest.raises(ParameterError, match="'max_concepts'"):
        context.lattice(max_concepts=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1],), "two-dimensional array of bools"),
        (([[0, 2]],), "or of 0 and 1"),
        (([["yes"]],), "dtype <U3"),
        (([[0, 1]], ["a", "b"]), "'objects' of a context must be 1 different names"),
        (([[0, 1]], ["a"], ["b", "b"]), "'attributes' of a context must be 2 different names"),
    ],
)
def test_invalid_contexts_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        FormalContext(*arguments)


def test_unknown_names_are_refused():
    context = FormalContext([[0, 1]], ["g"], ["a", "b"])
    with pytest.raises(InputError, match="no object 'h'"):
        context.intent(["h"])
    with pytest.raises(InputError, match="no attribute 'c'"):
        context.extent(["a", "c"])


# -- Theorem 2: the concepts of pairs and two-block partitions are all partitions


def block_labels(name, letters):
    """Read "ab|c" as labels of the letters."""
    return [next(k for k, block in enumerate(name.split("|")) if x in block) for x in letters]


@pytest.mark.parametrize(("n", "bell"), [(2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_concepts_of_the_context_of_pairs_are_the_partitions(n, bell):
    letters = "abcdef"[:n]
    context = FormalContext.of_partitions(n)
    assert len(context.objects) == n * (n - 1) // 2
    assert len(context.attributes) == 2 ** (n - 1) - 1
    lattice = context.lattice()
    assert len(lattice) == bell
    # A concept's partition is the meet of its intent ...
    partitions = [
        meet(np.zeros(n, dtype=int), *(block_labels(name, letters) for name in concept.intent))
        for concept in lattice.concepts
    ]
    assert {tuple(p) for p in partitions} == set(map(tuple, all_partitions(n)))
    # ... and its extent the pairs that the partition puts together (so that it is their join).
    for concept, p in zip(lattice.concepts, partitions, strict=True):
        pairs = [x + y for (i, x), (j, y) in combinations(enumerate(letters), 2) if p[i] == p[j]]
        assert list(concept.extent) == pairs
        atoms = [[letters.index(y if z == x else z) for z in letters] for x, y in concept.extent]
        np.testing.assert_array_equal(join(np.arange(n), *atoms), p)
    # Covers map to covers: an isomorphism.
    covers = {tuple(pair) for pair in lattice.covers}
    if n < 6:
        finer = {
            (i, j)
            for i, p in enumerate(partitions)
            for j, q in enumerate(partitions)
            if i != j and is_finer(p, q)
        }
        assert covers == {
            (i, j)
            for i, j in finer
            if not any((i, k) in finer and (k, j) in finer for k in range(bell))
        }
    # In the partition lattice a cover merges two blocks: levels count them.
    for p, level in zip(partitions, lattice.levels, strict=True):
        assert level == n - 1 - p.max()


def test_sizes_of_the_partition_context_are_bounded():
    with pytest.raises(ParameterError, match=r"must be an int in the range \[2, 12\]"):
        FormalContext.of_partitions(13)


# -- Theorem 3: a partition is found among the extents exactly if its blocks are closed


def test_blocks_are_extents_of_an_antichain_if_and_only_if_closed():
    rng = np.random.default_rng(0)
    outcomes = []
    for _ in range(60):
        labels = np.column_stack([FOUR[u] for u in rng.integers(0, 15, rng.integers(1, 4))])
        context = FormalContext.from_ensemble(labels)
        extents = {frozenset(concept.extent) for concept in context.concepts()}
        for truth in FOUR:
            actual = naive.blocks(truth) <= extents
            assert actual == all(
                set(context.closure(block)) == block for block in naive.blocks(truth)
            )
            outcomes.append(actual)
    assert 0 < np.mean(outcomes) < 1


def test_the_partition_context_matches_the_worked_example():
    labels = np.array([[0, 5], [0, -1], [1, -2]])
    context = FormalContext.from_ensemble(labels)
    assert context.attributes == ((0, 0), (0, 1), (1, 5))
    np.testing.assert_array_equal(context.incidence, [[1, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert Concept((0, 1), ((0, 0),)) in context.concepts()
    soft = Ensemble.from_memberships([np.eye(2)])
    with pytest.raises(UnsupportedEnsembleError, match="soft"):
        FormalContext.from_ensemble(soft)


# -- the line diagram


def drawn(ax):
    """Return the places of the concepts and the lines between them."""
    lines, points = ax.collections
    return np.asarray(points.get_offsets()), np.array(lines.get_segments())


@pytest.mark.parametrize("n", [2, 4, 5])
def test_the_line_diagram_has_a_line_for_every_cover(n):
    lattice = FormalContext.of_partitions(n).lattice()
    places, lines = drawn(line_diagram(lattice))
    np.testing.assert_allclose(lines, places[lattice.covers])
    assert (lines[:, 0, 1] < lines[:, 1, 1]).all()  # the lower concept is lower
    assert len(np.unique(places.round(9), axis=0)) == len(lattice)
    np.testing.assert_array_equal(places[:, 1], lattice.levels)
    np.testing.assert_allclose(places[[0, -1], 0], 0, atol=1e-12)


def test_figure_1_names_pairs_and_two_block_partitions_once():
    lattice = FormalContext.of_partitions(4).lattice()
    ax = line_diagram(lattice)
    texts = {text.get_text(): text.xy for text in ax.texts}
    assert set(texts) == {*lattice.context.objects, *lattice.context.attributes}
    assert {name: y for name, (_, y) in texts.items()} == {
        name: 1 if "|" not in name else 2 for name in texts
    }
    assert ax.get_title() == "Lattice of 15 concepts"


def test_a_line_diagram_has_its_labels():
    lattice = FormalContext(np.ones((30, 1)), attributes=["all"]).lattice()
    assert [text.get_text() for text in line_diagram(lattice).texts] == [
        "all",
        "0, 1, 2, 3, 4 … (30)",
    ]
    assert not line_diagram(lattice, labels=None).texts
    with pytest.raises(ParameterError, match="'labels' parameter of line_diagram"):
        line_diagram(lattice, labels="full")


@pytest.mark.parametrize("what", [np.zeros((3, 2), int), None, "lattice"])
def test_invalid_lattices_are_refused(what):
    with pytest.raises(InputError, match=f"got {type(what).__name__}: FormalContext.from_ens"):
        line_diagram(what)


def test_names_in_the_line_diagram_are_not_parsed_as_formulas():
    context = FormalContext(np.eye(2, dtype=bool), [r"$\nonsense{$", "b"], ["$x$", "d"])
    ax = line_diagram(context.lattice())
    ax.figure.savefig(io.BytesIO(), format="png")  # an invalid formula would raise an error
    assert {text.get_text() for text in ax.texts} >= {r"$\nonsense{$", "$x$"}
