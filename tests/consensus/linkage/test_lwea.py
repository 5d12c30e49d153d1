"""Clusters weighted by certainty (LWEA, LWGP), against worked examples and naive twins on all pairs."""

import warnings

import numpy as np
import pytest
from tests.cases import E1, E2, planted
from tests.naive import similarity as naive
from tests.naive.linkage import between, random_labels, replay

from conclust import EAC, HBGF, LWEA, LWGP, Ensemble
from conclust.exceptions import DenseLimitError, EvidenceWarning, ParameterError
from conclust.metrics import adjusted_rand_index


def quiet(model, ensemble):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return model.fit(ensemble)


def heights(model):
    return np.sort(model.linkage_matrix_[:, 2])


def test_the_first_worked_example_is_reproduced():
    model = LWEA(2).fit(E1)
    # S12 = .738810 joins at 0 as one row; 34 = .289732; (13 + 14) / 2 = .072143 / 2.
    np.testing.assert_allclose(heights(model), [0, 1 - 0.289732, 1 - 0.0360715], atol=1e-6)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert LWEA(3).fit(E1).labels_.tolist() == [0, 0, 1, 2]


def test_the_second_worked_example_is_reproduced():
    # Huang, Wang and Lai 2018, theta = 0.4: the published form of S and its cuts.
    eci = naive.certainty(E2, 0.4)[1]
    S = naive.locally_weighted(E2, eci)
    pairs = {(0, 1): 0.241303, (1, 2): 0.307384, (3, 4): 0.554488, (3, 5): 0.221155}
    for (i, j), value in {**pairs, (0, 5): 0.086230}.items():
        assert S[i, j] == pytest.approx(value, abs=1e-6)
    assert LWEA(2).fit(E2).labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert LWEA(3).fit(E2).labels_.tolist() == [0, 0, 0, 1, 1, 2]


def test_the_normalized_worked_example_is_reproduced():
    model = LWEA(2, normalized=True, theta=0.08).fit(E1)
    # NWCA: 34 = .015500, 13 = .000237, 14 = 0.
    np.testing.assert_allclose(heights(model), [0, 1 - 0.0155, 1 - 0.000237 / 2], atol=1e-6)


def test_unanimous_partitions_and_one_partition_are_returned():
    truth = np.array([0, 1, 1, 2, 0, 2])
    for columns in (1, 4):
        for normalized in (False, True):
            model = LWEA(normalized=normalized).fit(np.tile(truth[:, None], columns))
            assert model.labels_.tolist() == truth.tolist()
            assert (model.certainty_ == 1.0).all()


@pytest.mark.parametrize("linkage", ["single", "average", "complete", "ward"])
def test_large_theta_gives_evidence_accumulation(linkage):
    labels = random_labels(np.random.default_rng(2), 30, 7, missing=0.1, noise=0.1)
    # Weights without ties, which rounding errors would break.
    ensemble = Ensemble(labels, weights=np.sqrt([2, 3, 5, 7, 11, 13, 17]))
    local = quiet(LWEA(4, theta=1e12, linkage=linkage), ensemble)
    plain = quiet(EAC(4, linkage=linkage), ensemble)
    np.testing.assert_allclose(heights(local), heights(plain), atol=1e-9)


@pytest.mark.parametrize("linkage", ["single", "average", "complete", "ward"])
@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.3, 0), (0, 0.2), (0.2, 0.2)])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_tree_matches_greedy_merging_of_all_pairs(linkage, missing, noise, normalized):
    rng = np.random.default_rng(11)
    labels = random_labels(rng, 18, 6, missing=missing, noise=noise)
    weights = rng.random(6) + 0.1
    certainty = naive.certainty(labels, 0.3, weights, normalized)[1]
    S = naive.locally_weighted(labels, certainty, weights)
    self_similarity = np.diag(S).copy()
    if noise:  # in a singleton, which is certain
        self_similarity += (labels == -2) @ weights / ((labels != -1) @ weights)
    S = S / self_similarity.max() if normalized else S
    D = np.where(np.isnan(S), 1.0, 1.0 - S)
    model = quiet(
        LWEA(3, theta=0.3, normalized=normalized, linkage=linkage),
        Ensemble(labels, weights=weights),
    )
    same = (labels[:, None, :] == labels[None, :, :]).all(axis=2) & (labels >= 0).any(axis=1)
    noisy = (labels == -2).any(axis=1)
    same &= ~noisy[:, None] & ~noisy
    D[same] = 0.0
    np.fill_diagonal(D, 0.0)
    D = np.sqrt(D) if linkage == "ward" else D
    replay(model.linkage_matrix_, lambda A, B: between(D, A, B, linkage), 1e-8)


def test_lifetimes_start_where_distinct_rows_are_formed():
    # Uncertain clusters make all similarities small: from height 0 the rows would live longest.
    labels, _ = planted(n=60, m=12, k=3, flip=0.15)
    for theta in (0.4, 1.0):
        model = LWEA(theta=theta).fit(labels)
        distinct = len(np.unique(labels, axis=0))
        assert model.n_clusters_ == 3 < distinct
        assert (model.lifetimes_ >= 0).all()
        assert heights(model)[60 - distinct] > model.lifetimes_[distinct - 2]


def test_pairs_without_evidence_are_reported():
    labels = [[0, -1], [0, -1], [-1, 0], [-1, 0], [1, 1]]
    with pytest.warns(
        EvidenceWarning, match="No partition observed both objects of 4 pairs"
    ) as caught:
        LWEA(2).fit(labels)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("linkage", ["complete", "ward"])
def test_too_many_rows_for_a_dense_matrix_are_refused(linkage):
    labels = np.arange(12).reshape(-1, 1) % 8
    with pytest.raises(
        DenseLimitError, match=f"LWEA with linkage='{linkage}' needs a matrix of all pairs of the 8"
    ):
        LWEA(2, linkage=linkage, max_dense=7).fit(labels)


@pytest.mark.parametrize(
    "given",
    [{"theta": 0.0}, {"theta": "a"}, {"normalized": 1}, {"linkage": "median"}, {"max_dense": 0}],
)
def test_invalid_parameters_of_lwea_are_refused(given):
    with pytest.raises(ParameterError, match=f"{next(iter(given))!r} parameter of LWEA"):
        LWEA(2, **given).fit(E1)


def test_lwea_beats_eac_on_fine_partitions():
    # Members have about three times the true number of clusters, split at random positions.
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(5, 2)) * 4
    truth = np.repeat(np.arange(5), 60)
    X = centers[truth] + rng.normal(size=(300, 2))
    labels = np.column_stack(
        [
            ((X[:, None] - X[rng.choice(300, k, replace=False)]) ** 2).sum(axis=2).argmin(axis=1)
            for k in rng.integers(3, 18, 10)
        ]
    )
    local, plain = LWEA(5).fit(labels).labels_, EAC(5).fit(labels).labels_
    assert adjusted_rand_index(truth, local) >= adjusted_rand_index(truth, plain)


# -- LWGP


@pytest.mark.parametrize(
    ("labels", "eigenvalues", "two", "three"),
    [
        (E1, [1, 0.929210, 0.272509], [0, 0, 1, 1], [0, 0, 1, 2]),
        # Average linkage of LWEA makes {1, 2, 3}, {4, 5}, {6} of the second at K = 3.
        (E2, [1, 0.836496, 0.393142, 0.157056], [0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 1]),
    ],
)
def test_the_transfer_cut_matches_the_worked_examples(labels, eigenvalues, two, three):
    model = LWGP(len(eigenvalues), random_state=0).fit(labels)
    np.testing.assert_allclose(model.singular_values_**2, eigenvalues, atol=1e-6)
    assert LWGP(2, random_state=0).fit(labels).labels_.tolist() == two
    assert LWGP(3, random_state=0).fit(labels).labels_.tolist() == three


@pytest.mark.parametrize(("missing", "noise"), [(0, 0), (0.2, 0), (0.2, 0.2)])
@pytest.mark.parametrize("normalized", [False, True])
def test_the_graph_is_the_indicator_times_certainty(missing, noise, normalized):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 30, 6, missing=missing, noise=noise)
    weights = rng.random(6) + 0.1
    certainty = naive.certainty(labels, 0.3, weights, normalized)[1]
    columns = [
        weights[u] * np.isin(np.arange(30), list(cluster))
        for u, part in enumerate(naive.blocks(labels))
        for cluster in part
    ]
    A = np.column_stack(columns) * certainty
    rows, cols = A.sum(axis=1), A.sum(axis=0)
    rows[rows == 0] = np.inf
    values = np.linalg.svd(A / np.sqrt(rows[:, None] * cols), compute_uv=False)
    model = LWGP(4, theta=0.3, normalized=normalized, random_state=0)
    model.fit(Ensemble(labels, weights=weights))
    np.testing.assert_allclose(model.certainty_, certainty, rtol=1e-11)
    np.testing.assert_allclose(model.singular_values_, values[:4], atol=1e-9)


def test_large_theta_gives_the_unweighted_transfer_cut():
    labels, _ = planted(n=80, m=8, k=4, flip=0.2)
    local = LWGP(4, theta=1e12, random_state=0).fit(labels)
    plain = HBGF(4, joint=False, random_state=0).fit(labels)
    np.testing.assert_allclose(local.singular_values_, plain.singular_values_, atol=1e-9)
    assert (local.labels_ == plain.labels_).all()


@pytest.mark.parametrize("given", [{"theta": -1.0}, {"normalized": None}, {"n_init": 0}])
def test_invalid_parameters_of_lwgp_are_refused(given):
    with pytest.raises(ParameterError, match=f"{next(iter(given))!r} parameter of LWGP"):
        LWGP(2, **given).fit(E1)
