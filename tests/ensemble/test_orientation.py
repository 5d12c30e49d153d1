"""The hint for label rows that look like clusterings, and its pointer to the user's line."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import conclust as cc
from conclust import weighting
from conclust.exceptions import EvidenceWarning, OrientationWarning
from conclust.metrics import anmi, partition_similarities

TWO = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]


@pytest.mark.parametrize(
    "read",
    [
        lambda labels: cc.PCC(random_state=0).fit(labels),
        lambda labels: cc.EAC(2).fit_predict(labels),
        lambda labels: make_pipeline(FunctionTransformer(), cc.HBGF(2)).fit(labels),
        lambda labels: cc.coassociation(labels),
        lambda labels: cc.evidence.pair_counts(labels, [0], [1]),
        lambda labels: anmi([0, 1], labels),
        lambda labels: partition_similarities(labels),
        lambda labels: weighting.agreement_weights(labels),
    ],
)
def test_one_hint_points_at_the_line_of_the_user(read):
    with pytest.warns(
        OrientationWarning, match="2 rows and 6 columns, and are read as 2"
    ) as printed:
        read(TWO)
    assert len(printed) == 1
    assert printed[0].filename == __file__
    assert "numpy.transpose" in str(printed[0].message)


def test_an_ensemble_gives_no_hint():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cc.coassociation(cc.Ensemble(TWO))


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).integers(1, 5, (12, 400)),  # names from 1 on, as R gives them
        [list("aaaabbb"), list("ababccc")],
        [[0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 1, 2], [1, 1, 1, 0, 0, 0, 2, 2]],
        [[0, -1, 1, 1, 0, 2], [0, 0, -2, 1, 1, 1]],
    ],
)
def test_rows_that_are_clusterings_are_recognised(rows):
    with pytest.warns(OrientationWarning):
        cc.copresence(rows)


@pytest.mark.parametrize(
    "labels",
    [
        [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 1]],  # few objects, few partitions
        np.tile([[0], [0], [1]], 50),  # columns are numbered as by clusterers
        cc.EnsembleGenerator("kmeans", n_partitions=60, random_state=0).fit_transform(
            np.random.default_rng(0).normal(size=(12, 2))
        ),
        np.random.default_rng(1).integers(0, 3, (30, 60)),
        np.arange(400).reshape(4, 100),  # rows that are not clusterings either
        [[-2] * 6, [-2] * 6],  # no cluster at all
    ],
)
def test_small_ensembles_give_no_hint(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cc.coassociation(labels)


def test_the_hint_comes_once_by_default():
    code = "for _ in range(3):\n    cc.EAC(2).fit([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        exec(compile(code, "<script>", "exec"), {"cc": cc})
    (hint,) = (warning for warning in caught if warning.category is OrientationWarning)
    assert (hint.filename, hint.lineno) == ("<script>", 2)


def test_an_impossible_share_of_pairs_is_refused_with_the_valid_range():
    labels = np.random.default_rng(0).integers(0, 3, (600, 10))
    model = cc.PCC(3, pairs=0.001, max_iter=1, tol=1e9, tol_kkt=1e9, random_state=0)
    with pytest.warns(EvidenceWarning, match=r"180 pairs of 600 .* pairs=1, .* 0\.0033") as printed:
        model.fit(labels)
    assert printed[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", EvidenceWarning)
        model.set_params(pairs=0.003).fit(labels)


def test_a_list_of_clusterings_is_refused_with_the_expected_form():
    runs = [np.arange(12) % k for k in (2, 3, 4)]
    with pytest.warns(OrientationWarning, match=r"list of 3 vectors of 12 .* 3 objects in 12 part"):
        assert cc.Ensemble(runs).shape == (3, 12)
    with pytest.warns(OrientationWarning) as caught:
        cc.EAC(2).fit(runs)
    assert len(caught) == 1  # not separately for the list and for its content
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrientationWarning)
        cc.Ensemble(np.column_stack(runs))
        cc.Ensemble([row.tolist() for row in runs])  # written out: rows
        cc.Ensemble(list(np.column_stack(runs)))  # one row per object


def test_draws_in_rows_are_recognised_whatever_their_number():
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 4, (200, 15))
    by_appearance = np.array([_numbered(draw) for draw in draws])
    for base in (0, 1):
        with pytest.warns(
            OrientationWarning, match=r"200 objects in 15 .*from_draws\(labels\)"
        ) as caught:
            ensemble = cc.Ensemble(by_appearance + base)
        assert ensemble.shape == (200, 15)
        assert caught[0].filename == __file__
    with pytest.warns(OrientationWarning) as caught:
        cc.EAC(2).fit(by_appearance)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrientationWarning)
        assert cc.Ensemble.from_draws(by_appearance).shape == (15, 200)
        cc.Ensemble(by_appearance.T)
        cc.Ensemble(draws)
        # Columns numbered by first appearance, whose later clusters are rare: the first object is 0 everywhere.
        columns = (rng.random((200, 15)) < 0.2).astype(int)
        columns[:, 0] = columns[0] = 0
        columns[150:, 1:] *= 2
        columns[150:, 1] = 1
        cc.Ensemble(columns)
        # Cuts of a tree at 1, 2, ... clusters: the first column is constant, too.
        tree = cc.EAC().fit(draws).linkage_matrix_
        cc.Ensemble(np.column_stack([cc.consensus.linkage.cut(tree, k) for k in range(1, 12)]))


def _numbered(labels):
    """Return labels numbered by first appearance."""
    seen = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


def test_blocks_of_indicators_are_named_with_the_way_to_read_them():
    labels = np.random.default_rng(0).integers(0, 3, (60, 4))
    indicators = np.hstack([np.eye(3, dtype=np.int64)[column] for column in labels.T])
    with pytest.warns(OrientationWarning, match=r"from_memberships\(\[labels\[:, :3\], \.\.\.\]\)"):
        cc.Ensemble(indicators)
    soft = cc.Ensemble.from_memberships(np.hsplit(indicators, 4))
    np.testing.assert_array_equal(soft.most_probable().labels, cc.Ensemble(labels).labels)
    indicators[7, 3:6] = 1  # two clusters of one object
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cc.Ensemble(indicators)
