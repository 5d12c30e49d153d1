"""Must-link and cannot-link pairs: satisfied by every method that accepts them, refused if contradictory."""

from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from tests.naive import constraints as naive
from tests.naive import optima

import conclust as cc
from conclust.confidence import questions
from conclust.consensus.auto.repair import merges_of, pieces_of, typical_objects
from conclust.consensus.auto.votes import certain_clusters
from conclust.consensus.constraints import coloured, read_constraints, unlinked
from conclust.consensus.linkage import cut
from conclust.consensus.linkage.constrained import grown
from conclust.evidence import coassociation, copresence
from conclust.exceptions import InputError, ParameterError, UnsupportedEnsembleError
from conclust.metrics import adjusted_rand_index
from conclust.trees.agglomeration import from_merges


def members(seed=0, n=60, m=15, K=4, wrong=0.35, lost=0.0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, K, n)
    labels = np.where(rng.random((n, m)) < wrong, rng.integers(0, K, (n, m)), z[:, None])
    labels[rng.random((n, m)) < lost] = -1
    return z, labels


def answers(seed, z, n_pairs):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, len(z), (2 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    same = z[pairs[:, 0]] == z[pairs[:, 1]]
    return pairs[same], pairs[~same]


def sets_of(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist())}


def kept(labels, must_link, cannot_link):
    together = all(labels[a] == labels[b] for a, b in must_link)
    return together and all(labels[a] != labels[b] for a, b in cannot_link)


# ---- reading


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_closures_and_contradictions_show_the_shortest_chain(seed):
    rng = np.random.default_rng(seed)
    n = 30
    must = rng.integers(0, n, (22, 2))
    apart = rng.integers(0, n, (3, 2))
    apart = apart[apart[:, 0] != apart[:, 1]]
    chains = [naive.shortest_chain(must.tolist(), a, b) for a, b in apart.tolist()]
    wrong = [chain for chain in chains if chain is not None]
    if wrong:
        with pytest.raises(InputError, match="contradict each other") as refused:
            read_constraints(must, apart, n)
        named = str(refused.value).split("puts the objects ")[1].split(" together")[0]
        chain = [int(one) for one in named.split(" - ")]
        assert len(chain) == min(map(len, wrong))
        pairs = {frozenset(pair) for pair in must.tolist()}
        assert all(frozenset(pair) in pairs for pair in pairwise(chain))
        apart = np.array([p for p, c in zip(apart.tolist(), chains, strict=True) if c is None])
    found = read_constraints(must, apart, n)
    assert sets_of(found.groups) == {frozenset(s) for s in naive.closure(n, must.tolist())}
    wanted = {tuple(sorted(found.groups[pair].tolist())) for pair in apart.reshape(-1, 2)}
    assert set(map(tuple, found.apart.tolist())) == wanted


@pytest.mark.parametrize(
    ("must", "cannot", "sentence"),
    [
        ([(0, 1), (1, 2)], [(2, 0)], "the objects 2 - 1 - 0 together"),
        ([(0, 99)], None, "objects from 0 to 59. Got 0 to 99"),
        ([(0.5, 1.0)], None, "array of whole numbers"),
        ([0, 1], None, "of shape"),
        (None, [(3, 3)], "has object 3 apart from itself"),
        ([(0, 1), (2,)], None, "must be pairs"),
        (zip([0], [1], strict=True), None, r"Got zip: give list\(must_link\)"),
        (None, iter([(0, 1)]), r"give list\(cannot_link\)"),
        (pd.DataFrame({"a": pd.array([0, None], "Int64"), "b": [1, 2]}), None, "whole numbers"),
    ],
)
def test_invalid_pairs_are_refused(must, cannot, sentence):
    _, labels = members()
    with pytest.raises(InputError, match=sentence):
        cc.EAC(3).fit(labels, must_link=must, cannot_link=cannot)


def test_pairs_are_sets_and_nullable_columns_too():
    _, labels = members()
    pairs = [(0, 31), (5, 31), (7, 50)]
    plain = cc.EAC(3).fit(labels, must_link=pairs).linkage_matrix_
    frame = pd.DataFrame(pairs, dtype="Int64")
    for given in (set(pairs), frame, frame.to_numpy(dtype=object), np.array(pairs, np.uint8)):
        model = cc.EAC(3).fit(labels, must_link=given)
        np.testing.assert_array_equal(model.linkage_matrix_, plain)


# ---- trees


@pytest.mark.parametrize("linkage", ["average", "single", "complete"])
@pytest.mark.parametrize("seed", range(2))
def test_the_tree_matches_brute_force(linkage, seed):
    rng = np.random.default_rng(seed)
    D = rng.random((16, 16))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    z = rng.integers(0, 4, 16)
    must, cannot = answers(seed, z, 14)
    steps = naive.agglomerate(D, linkage, must.tolist(), cannot.tolist())
    read = read_constraints(must, cannot, 16)
    *merges, smallest = grown(D.copy(), np.ones(16), linkage, read.groups, read.apart)
    tree = from_merges(*merges)
    assert smallest == len(steps[-1])
    assert (np.diff(tree[:, 2]) >= 0).all()
    for clusters in steps:
        assert sets_of(cut(tree, len(clusters))) == {frozenset(c) for c in clusters}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_eac_with_constraints_merges_greedily(weighted, lost):
    z, labels = members(2, n=30, lost=lost)
    must, cannot = answers(3, z, 12)
    weights = np.random.default_rng(0).random(labels.shape[1]) + 0.5
    ensemble = cc.Ensemble(labels, weights=weights if weighted else None)
    D = 1 - coassociation(ensemble, normalize=True)
    steps = naive.agglomerate(D, "complete", must.tolist(), cannot.tolist())
    model = cc.EAC(len(steps[-1]), linkage="complete")
    found = model.fit(ensemble, must_link=must, cannot_link=cannot).labels_
    assert kept(found, must, cannot)
    if weighted:  # no ties
        assert sets_of(found) == {frozenset(c) for c in steps[-1]}


@pytest.mark.long
@pytest.mark.parametrize(
    "model",
    [
        cc.EAC(linkage="average"),
        cc.EAC(linkage="single"),
        cc.EAC(linkage="complete"),
        cc.LWEA(linkage="average"),
        cc.LWEA(linkage="single"),
        cc.AutoConsensus(),
    ],
    ids=str,
)
def test_a_number_is_refused_only_if_no_partition_keeps_the_constraints(model):
    """Checked against all assignments of seven objects."""
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, int(rng.integers(2, 5)), (7, 6))
        K = int(rng.integers(2, 5))
        pairs = np.array(list(combinations(range(7), 2)))
        must = pairs[rng.random(len(pairs)) < 0.04]
        cannot = pairs[rng.random(len(pairs)) < rng.uniform(0.2, 0.7)]
        if any(naive.shortest_chain(must.tolist(), a, b) for a, b in cannot.tolist()):
            continue  # a contradiction, whatever the number
        possible = any(
            len(set(z)) == K and kept(z, must, cannot) for z in product(range(K), repeat=7)
        )
        model = type(model)(**{**model.get_params(), "n_clusters": K})
        if possible:
            found = model.fit(labels, must_link=must, cannot_link=cannot).labels_
            assert kept(found, must, cannot)
            assert found.max() + 1 == K
        else:
            refused += 1
            with pytest.raises(InputError, match=r"keeps at least|leaves at most"):
                model.fit(labels, must_link=must, cannot_link=cannot)
    assert refused > 3


@pytest.mark.parametrize("model", [cc.EAC, cc.LWEA, cc.AutoConsensus])
def test_as_many_clusters_as_groups_of_objects_that_are_together(model):
    """Among equal objects, too, and with more clusters than the units of AutoConsensus."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z, labels = rng.permutation(np.repeat(np.arange(4), 12)), rng.integers(0, 2, (48, 3))
        pairs = rng.integers(0, 48, (16, 2))
        must = pairs[z[pairs[:, 0]] == z[pairs[:, 1]]]
        cannot = pairs[z[pairs[:, 0]] != z[pairs[:, 1]]]
        given = read_constraints(must, cannot, 48)
        for K in (given.n_groups - 1, given.n_groups):
            found = model(K).fit(labels, must_link=must, cannot_link=cannot).labels_
            assert kept(found, must, cannot)
            if len(must) or model is not cc.AutoConsensus:
                assert found.max() + 1 == K


METHODS = [
    cc.EAC(4),
    cc.EAC(),
    cc.EAC(linkage="single"),
    cc.LWEA(4),
    cc.LWEA(),
    cc.LWEA(4, normalized=True, linkage="complete"),
    cc.AddRemAdd(random_state=0),
    cc.AddRemAdd(5, criterion="combined", random_state=0),
    cc.AddRemAdd(refine=False, scale_shift="modularity", random_state=0),
    cc.PCC(6, divergence="l2", random_state=0),
    cc.PCC(6, divergence="l2", granularity="matched", random_state=0),
    cc.AutoConsensus(4),
    cc.AutoConsensus(),
    cc.AutoConsensus(max_samples=40, random_state=0),
]


@pytest.mark.long
@pytest.mark.parametrize("model", METHODS, ids=str)
def test_all_constraints_are_kept(model):
    z, labels = members(0, lost=0.1)
    must, cannot = answers(10, z, 15)
    found = model.fit(labels, must_link=must, cannot_link=cannot)
    assert kept(found.labels_, must, cannot)
    assert found.n_clusters_ >= 4 - 1
    if hasattr(found, "membership_"):
        np.testing.assert_array_equal(found.membership_.argmax(axis=1), found.labels_)
        np.testing.assert_allclose(found.membership_.sum(axis=1), 1.0)
    again = model.fit(labels, must_link=must[::-1, ::-1], cannot_link=cannot[::-1])
    assert adjusted_rand_index(again.labels_, found.labels_) == 1.0
    free = model.fit(labels).labels_  # nothing is left of them
    np.testing.assert_array_equal(free, type(model)(**model.get_params()).fit(labels).labels_)


def test_the_pipeline_keeps_constraints_when_choosing_the_number():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(c, 0.6, (60, 2)) for c in ((0, 0), (5, 0), (0, 5))])
    model = cc.ConsensusClustering(random_state=0)
    assert model.fit(X).n_clusters_ == 3
    apart = [(0, 60), (0, 120), (60, 120), (1, 0), (1, 60), (1, 120)]
    found = model.fit(X, cannot_link=apart)
    assert found.n_clusters_ == 4
    assert kept(found.labels_, [], apart)
    joined = model.fit(X, must_link=[(0, 60)])
    assert kept(joined.labels_, [(0, 60)], [])


def test_impossible_numbers_of_clusters_are_refused():
    _, labels = members()
    triangle = [(0, 1), (1, 2), (0, 2)]
    for model in (cc.EAC(2), cc.AutoConsensus(2)):
        with pytest.raises(InputError, match="'cannot_link' keeps at least 3 clusters"):
            model.fit(labels, cannot_link=triangle)
    with pytest.raises(InputError, match="'must_link' leaves at most 58 clusters"):
        cc.EAC(59).fit(labels, must_link=[(0, 1), (1, 2)])
    assert cc.EAC().fit(labels, cannot_link=triangle).n_clusters_ >= 3


def test_methods_without_constraints_name_those_with():
    _, labels = members()
    for model in (cc.HBGF(3), cc.EAC(3, linkage="ward")):
        with pytest.raises(
            UnsupportedEnsembleError, match="does not accept must_link or cannot_link"
        ):
            model.fit(labels, must_link=[(0, 1)])
    with pytest.raises(UnsupportedEnsembleError, match=r"cannot_link\. AutoConsensus"):
        cc.HBGF(3).fit(labels, must_link=[(0, 1)])
    with pytest.raises(UnsupportedEnsembleError, match=r"not with linkage='ward'"):
        cc.LWEA(3, linkage="ward").fit(labels, must_link=[(0, 1)])
    labels[7] = -1
    with pytest.raises(InputError, match="Object 7 is in must_link or cannot_link, and missing"):
        cc.EAC(3).fit(labels, must_link=[(0, 7)])


# ---- local search


def kept_by(must, cannot):
    """Return which of all partitions of seven objects satisfy the pairs."""
    good = np.ones(len(optima.ALL), dtype=bool)
    for a, b in must:
        good &= optima.ALL[:, a] == optima.ALL[:, b]
    for a, b in cannot:
        good &= optima.ALL[:, a] != optima.ALL[:, b]
    return good


@pytest.mark.parametrize("criterion", ["ensemble", "combined"])
@pytest.mark.parametrize("k", [None, 3])
def test_addremadd_finds_the_best_partition_under_constraints(criterion, k):
    rng = np.random.default_rng(1)
    reached = 0
    for labels in optima.random_ensembles(20, seed=3):
        order = rng.permutation(7)
        must, cannot = (
            order[:4].reshape(2, 2),
            np.array([[order[0], order[2]], [order[4], order[1]]]),
        )
        values = optima.semi_averages(labels, criterion, explained=k is None)
        good = kept_by(must, cannot)
        if k is not None:
            good &= k == optima.CLUSTERS
        model = cc.AddRemAdd(k, criterion=criterion, random_state=0)
        model.fit(labels, must_link=must, cannot_link=cannot)
        place = optima.place_of(model.labels_)
        assert good[place]
        assert model.objective_ == pytest.approx(values[place], abs=1e-9)
        reached += values[place] >= values[good].max() - 1e-9
    assert reached >= 19


def test_addremadd_keeps_constraints_outside_its_sample():
    z, labels = members(3, n=1600, K=6, wrong=0.5)
    must, cannot = answers(4, z, 60)
    for model in (cc.AddRemAdd(n_init=1), cc.AddRemAdd(8, n_init=1), cc.AddRemAdd(refine=False)):
        model.set_params(starts=3, random_state=0).fit(labels, must_link=must, cannot_link=cannot)
        assert kept(model.labels_, must, cannot)


def test_addremadd_separates_pairs_by_colouring():
    """A cycle of five in three clusters; all pairs of four in three are refused."""
    _, labels = members(0, K=2)
    cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    model = cc.AddRemAdd(3, random_state=0).fit(labels, cannot_link=cycle)
    assert model.n_clusters_ == 3
    assert kept(model.labels_, [], cycle)
    everyone = list(combinations(range(4), 2))
    with pytest.raises(InputError, match="found no assignment to 3 clusters"):
        cc.AddRemAdd(3, random_state=0).fit(labels, cannot_link=everyone)


@pytest.mark.parametrize("seed", range(10))
def test_a_colouring_is_found_where_there_is_one(seed):
    """Checked against all assignments of seven units."""
    rng = np.random.default_rng(seed)
    share, n_colours = rng.uniform(0.2, 0.95), int(rng.integers(1, 6))
    pairs = [pair for pair in combinations(range(7), 2) if rng.random() < share]
    possible = any(
        all(colours[a] != colours[b] for a, b in pairs)
        for colours in product(range(n_colours), repeat=7)
    )
    found = coloured(7, np.array(pairs).reshape(-1, 2), n_colours)
    assert (found is not None) == possible
    if found is not None:
        assert all(found[a] != found[b] and found[a] < n_colours for a, b in pairs)


def test_a_colouring_that_needs_choices_to_be_undone():
    """The first free colours of a dense graph of known classes do not suffice."""
    undone = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        classes = rng.integers(0, 4, 24)
        pairs = rng.integers(0, 24, (90, 2))
        pairs = pairs[classes[pairs[:, 0]] != classes[pairs[:, 1]]]
        found = coloured(24, pairs, 4)
        assert found is not None
        assert (found[pairs[:, 0]] != found[pairs[:, 1]]).all()
        undone += naive.first_free_colours(24, pairs, 4) is None
    assert undone > 0


# ---- PCC


def soft_or_hard(kind, n):
    z, labels = members(7, n=n, m=9, lost=0.15 if kind == "missing" else 0.0)
    rng = np.random.default_rng(0)
    if kind == "soft":
        return z, cc.Ensemble.from_memberships([rng.dirichlet(np.ones(4), n) for _ in range(6)])
    return z, cc.Ensemble(labels, weights=rng.random(9) + 0.5 if kind == "weighted" else None)


def pair_objective(ensemble, Y):
    """f from all pairs: the sum of N (c / N - y'y)^2."""
    c, N = (M(ensemble).astype(float) for M in (coassociation, copresence))
    i, j = np.triu_indices(len(Y), 1)
    c, N, p = c[i, j], N[i, j], (Y @ Y.T)[i, j]
    return float(np.sum(c[N > 0] ** 2 / N[N > 0]) - 2 * c @ p + N @ p**2)


@pytest.mark.parametrize("kind", ["hard", "missing", "weighted", "soft"])
def test_pcc_is_stationary_under_constraints(kind):
    """Checked against SciPy's descent of f by single groups over their open clusters."""
    z, ensemble = soft_or_hard(kind, 24)
    must, cannot = answers(3, z, 9)
    model = cc.PCC(5, divergence="l2", tol=1e-13, max_iter=2000, random_state=0)
    model.fit(ensemble, must_link=must, cannot_link=cannot)
    Y = model.membership_
    assert kept(model.labels_, must, cannot)
    assert max(Y[a] @ Y[b] for a, b in cannot) == 0.0
    assert model.objective_ == pytest.approx(pair_objective(ensemble, Y), rel=1e-9)
    assert model.trace_[-1] == pytest.approx(model.objective_)
    groups = read_constraints(must, cannot, 24).groups
    for g in np.unique(groups):
        inside = np.flatnonzero(groups == g)
        near = [b for a, b in np.concatenate([cannot, cannot[:, ::-1]]) if groups[a] == g]
        closed = (Y[near] > 0).any(axis=0)

        def value(y, inside=inside):
            moved = Y.copy()
            moved[inside] = y
            return pair_objective(ensemble, moved)

        best = minimize(
            value,
            Y[inside[0]],
            bounds=[(0, 0 if shut else 1) for shut in closed],
            constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert best.fun >= model.objective_ - 1e-4 * abs(model.objective_)


@pytest.mark.long
def test_pcc_with_constraints_gives_the_same_bits_with_any_threads_and_platforms():
    z, labels = members(2, n=300, K=4)
    must, cannot = answers(1, z, 30)
    found = [
        cc.PCC(6, divergence="l2", random_state=0, n_jobs=jobs).fit(
            labels, must_link=must, cannot_link=cannot
        )
        for jobs in (1, 3)
    ]
    np.testing.assert_array_equal(found[0].membership_, found[1].membership_)
    free = np.setdiff1d(np.arange(300), np.concatenate([must, cannot]).ravel())
    again = found[0].predict(labels[free])
    assert (again == found[0].labels_[free]).mean() > 0.98
    clique = list(combinations(range(7), 2))
    with pytest.raises(InputError, match="PCC found no assignment to n_clusters=6 clusters"):
        found[0].fit(labels, cannot_link=clique)
    seen = np.append(np.repeat(0.0, 15), 1.0)
    codes = np.column_stack([labels, np.where(np.arange(300) == must[0, 0], -1, z)])
    with pytest.raises(InputError, match="1 objects in must_link or cannot_link are observed"):
        found[0].fit(cc.Ensemble(codes, weights=seen), must_link=must[:1])
    for model in (cc.PCC(3), cc.PCC(3, divergence="l2", pairs=5)):
        with pytest.raises(UnsupportedEnsembleError, match=r"PCC\(divergence='l2'\) do"):
            model.fit(labels, must_link=must)


# ---- questions


@pytest.mark.parametrize("K", [None, 5])
def test_the_value_of_a_question_equals_that_of_its_merge(K):
    """Checked against loops over the merges of single objects: there are as many pieces as known and asked answers more."""
    _, labels = members(6, n=40)
    model = cc.AutoConsensus(K).fit(labels)
    weighted, certainty = certain_clusters(cc.Ensemble(labels))
    counting = weighted.column_weights * certainty
    each, found = np.arange(40), model.labels_
    speaks = typical_objects(pieces_of(model.linkage_matrix_, found, 30), weighted, counting)
    left, right, *_ = merges_of(each, found, speaks, weighted, counting, unlinked(40))
    parts = [[i] for i in range(40)]
    worth = []
    for t, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        ratio = (40 - t) / (model.n_clusters_ + 0.5)
        size = min(len(parts[a]), len(parts[b]))
        worth.append((size * min(ratio, 1 / ratio), -t, parts[a], parts[b]))
        parts[a] = parts[a] + parts[b]
    B = weighted.indicator.toarray()
    S = (B * counting) @ B.T

    def typical(part):
        eligible = [i for i in sorted(part) if speaks[i]] or sorted(part)
        return max(eligible, key=lambda i: round(sum(S[i, j] for j in part), 9))

    best = sorted(worth, key=lambda each: (-each[0], -each[1]))[:10]
    wanted = [sorted((typical(one), typical(other))) for *_, one, other in best]
    assert questions(labels, 10, n_clusters=K).tolist() == wanted


def test_questions_about_a_fitted_model():
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1, 2], 50)
    X = rng.normal(np.array([(0, 0), (5, 0), (0, 3.2)])[z], 1.0, (150, 2))
    model = cc.ConsensusClustering(n_clusters=2, random_state=0).fit(X)
    pairs = questions(model, 6)
    assert pairs.shape == (6, 2)
    assert len(set(z[pairs[0]].tolist())) == 2
    same = z[pairs[:, 0]] == z[pairs[:, 1]]
    given = {"must_link": pairs[same], "cannot_link": pairs[~same]}
    model = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(X, **given)
    assert kept(model.labels_, pairs[same], pairs[~same])
    more = {tuple(pair) for pair in questions(model, 6, **given).tolist()}
    assert not more & {tuple(pair) for pair in pairs.tolist()}
    with pytest.raises(InputError, match="has its own number of clusters"):
        questions(model, 6, n_clusters=3)
    with pytest.raises(InputError, match=r"needs a model with the default consensus\. Got EAC"):
        questions(cc.ConsensusClustering("EAC", n_clusters=3, random_state=0).fit(X), 6)
    large = cc.ConsensusClustering(cc.AutoConsensus(max_samples=20), random_state=0).fit(X)
    with pytest.raises(InputError, match="must be fitted with the answers"):
        questions(large, 6, **given)


def test_questions_are_not_repeated():
    z, labels = members(5, n=80, K=3, wrong=0.3)
    pairs = questions(labels, 12)
    assert pairs.shape == (12, 2)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    np.testing.assert_array_equal(questions(labels, 5), pairs[:5])
    must = pairs[z[pairs[:, 0]] == z[pairs[:, 1]]]
    cannot = pairs[z[pairs[:, 0]] != z[pairs[:, 1]]]
    more = questions(labels, 12, must_link=must, cannot_link=cannot)
    constraints = read_constraints(must, cannot, 80)
    for a, b in more:
        one, other = sorted((constraints.groups[a], constraints.groups[b]))
        assert one != other
        assert [one, other] not in constraints.apart.tolist()
    with pytest.raises(ParameterError, match="'n' parameter of questions"):
        questions(labels, 0)
    # Two answers determine everything about three objects.
    pairs = questions([[0, 0], [0, 0], [1, 1]], 5)
    assert len(pairs) == 2
    assert questions([[0, 0], [0, 0], [1, 1]], 5, must_link=pairs).shape == (0, 2)
