"""Results of the methods are written into an AnnData by scanpy's conventions."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import conclust as cc
import conclust.sc as ccs
from conclust.confidence import cluster_confidence, confidences, partition_confidence
from conclust.exceptions import (
    EvidenceWarning,
    FileFormatError,
    InputError,
    ParameterError,
    UnseenLabelWarning,
    UnsupportedEnsembleError,
)
from conclust.words.confidence import kept_sentence

anndata = pytest.importorskip("anndata")


def matrix(columns):
    return np.column_stack(list(columns.values()))


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        (None, cc.AutoConsensus(random_state=0)),
        ("pcc", cc.PCC(random_state=0)),
        ("eac", cc.EAC(random_state=0)),
        ("HBGF", cc.HBGF(random_state=0)),
        (cc.PCC(divergence="l2"), cc.PCC(divergence="l2", random_state=0)),
        (cc.QMI(3, random_state=5), cc.QMI(3, random_state=5)),
    ],
)
def test_the_consensus_matches_the_estimator(adata, columns, method, estimator):
    adata.uns.clear()
    labels = matrix(columns)
    direct = estimator.set_params(n_clusters=4).fit(labels)
    assert ccs.tl.consensus(adata, prefix="leiden_", method=method, n_clusters=4) is None
    written = adata.obs["consensus"]
    assert written.cat.categories.tolist() == [str(k) for k in range(direct.n_clusters_)]
    np.testing.assert_array_equal(written.cat.codes, direct.labels_)
    np.testing.assert_array_equal(adata.obs["consensus_confidence"], confidences(direct, labels))
    soft = hasattr(direct, "membership_")
    assert ("consensus_membership" in adata.obsm) == soft
    if soft:
        held = adata.obsm["consensus_membership"]
        assert held.dtype == np.float32
        np.testing.assert_allclose(held, direct.membership_, atol=1e-7)
    record = adata.uns["consensus"]
    assert record["n_clusters"] == direct.n_clusters_
    clusters = record["clusters"]
    assert clusters.index.tolist() == written.cat.categories.tolist()
    np.testing.assert_array_equal(clusters["cells"], np.bincount(direct.labels_))
    sure = pd.Series(confidences(direct, labels)).groupby(direct.labels_).mean()
    np.testing.assert_allclose(clusters["confidence"], sure)
    compared = partition_confidence(direct, labels)
    assert record["columns"].index.tolist() == list(columns)
    np.testing.assert_array_equal(record["columns"]["agreement"], compared.nmi)
    np.testing.assert_array_equal(record["columns"]["weight"], compared.weight)
    assert ("objective" in record) == hasattr(direct, "objective_")
    assert record["params"]["method"] == type(direct).__name__
    assert record["params"]["keys"].tolist() == list(columns)
    entries = json.loads(record["params"]["method_params"])
    assert entries == {
        k: v for k, v in direct.get_params().items() if k not in ("n_jobs", "verbose")
    }


def test_cell_types_are_recovered(adata):
    ccs.tl.consensus(adata, prefix="leiden_")
    assert adata.uns["consensus"]["n_clusters"] == 4
    assert adjusted_rand_score(adata.obs["cell_type"], adata.obs["consensus"]) > 0.95


def test_columns_come_in_natural_order(adata):
    assert ccs.get.ensemble(adata, prefix="leiden_").cluster_counts.tolist() == [2, 3, 4, 5, 6, 40]
    ccs.tl.consensus(adata, prefix="leiden_")
    assert adata.uns["consensus"]["params"]["keys"].tolist() == [
        "leiden_0.5",
        "leiden_0.75",
        "leiden_1",
        "leiden_1.25",
        "leiden_1.5",
        "leiden_10",
    ]


@pytest.mark.parametrize("missing", ["unobserved", "noise"])
def test_labels_of_any_type_are_read(missing):
    plain = np.array([[0, 1], [0, -1], [1, -2], [1, 0], [-1, 0]])
    expected = cc.Ensemble(plain, missing=missing)
    forms = {
        "int": plain,
        "float": plain.astype(float),
        "str": plain.astype(str),
        "category": plain.astype(str),
    }
    for form, values in forms.items():
        obs = pd.DataFrame(values, columns=["a", "b"], index=list("vwxyz"))
        if form == "category":
            obs = obs.astype("category")
        actual = ccs.get.ensemble(anndata.AnnData(obs=obs), ["a", "b"], missing=missing)
        assert actual == expected, form
        assert actual.names == (("0", "1"), ("1", "0")), form


def test_empty_text_is_missing_as_in_an_ensemble():
    obs = pd.DataFrame({"a": ["", "x", "y", "x"], "b": ["p", " ", "q", "p"]}, index=list("wxyz"))
    expected = cc.Ensemble(obs)
    for column in ("object", "category"):
        actual = ccs.get.ensemble(anndata.AnnData(obs=obs.astype(column)), ["a", "b"])
        assert actual == expected
        assert actual.observed_counts.tolist() == [3, 3]


def test_a_gap_is_missing_for_any_meaning_of_minus_one():
    obs = pd.DataFrame(
        {"a": [0.0, 0.0, np.nan, -1.0], "b": ["x", None, "y", "y"]}, index=list("wxyz")
    )
    for missing, label in (("unobserved", -1), ("noise", -2)):
        actual = ccs.get.ensemble(anndata.AnnData(obs=obs), ["a", "b"], missing=missing)
        assert actual.labels.tolist() == [[0, 0], [0, -1], [-1, 1], [label, 1]]


def test_a_cell_without_labels_has_no_cluster(adata, columns):
    keys = list(columns)
    adata.obs.loc[adata.obs.index[3], keys] = np.nan
    with pytest.warns(EvidenceWarning, match="missing in every partition"):
        ccs.tl.consensus(adata, keys)
    assert adata.obs["consensus"].isna().to_numpy().nonzero()[0].tolist() == [3]
    assert np.isnan(adata.obs["consensus_confidence"].iloc[3])
    assert adata.uns["consensus"]["clusters"]["cells"].sum() == len(adata) - 1
    adata.obs.loc[adata.obs.index[3], keys] = "0"
    adata.obs.loc[adata.obs.index[7], keys[0]] = np.nan
    with pytest.raises(UnsupportedEnsembleError, match="does not accept missing labels"):
        ccs.tl.consensus(adata, keys, method="WeightedNMF", n_clusters=3)


def test_weights_affect_the_consensus(adata, columns):
    ccs.tl.consensus(adata, list(columns), weights=[0, 0, 0, 0, 0, 1], method="EAC", n_clusters=40)
    assert adjusted_rand_score(columns["leiden_10"], adata.obs["consensus"]) == 1.0
    assert adata.uns["consensus"]["columns"]["weight"].tolist() == [0, 0, 0, 0, 0, 1]


def test_weights_with_names_follow_the_columns(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    agreement = adata.uns["consensus"]["columns"]["agreement"]
    expected = ccs.get.ensemble(adata, prefix="leiden_", weights=agreement.to_numpy())
    turned = agreement.iloc[[3, 1, 5, 0, 2, 4]]
    assert ccs.get.ensemble(adata, prefix="leiden_", weights=turned) == expected
    with pytest.raises(InputError, match="names of other partitions"):
        ccs.get.ensemble(adata, ["leiden_1.25", "leiden_10"], weights=turned.iloc[:2])


def test_a_copy_does_not_modify_the_original(adata):
    before = adata.copy()
    model = ccs.tl.consensus(adata, prefix="leiden_", copy=True)
    assert "consensus" in model.obs
    assert adata.obs.columns.tolist() == before.obs.columns.tolist()
    assert not adata.uns
    repeated = ccs.tl.stability(model, prefix="leiden_", groupby="cell_type", copy=True)
    assert "cell_type_stability" in repeated.uns
    assert "cell_type_stability" not in model.uns


def test_a_second_consensus_replaces_the_first(adata):
    ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=6)
    assert "objective" in adata.uns["consensus"]
    with pytest.warns(EvidenceWarning, match="cluster 1 is split in two by 4 of 6 columns"):
        ccs.tl.consensus(adata, prefix="leiden_", method="EAC", n_clusters=3)
    assert "consensus_membership" not in adata.obsm
    assert "objective" not in adata.uns["consensus"]
    assert adata.obs["consensus"].cat.categories.tolist() == ["0", "1", "2"]


def test_results_of_conclust_are_not_its_inputs(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, key_added="leiden_consensus")
    keys = adata.uns["leiden_consensus"]["params"]["keys"].tolist()
    first = adata.obs["leiden_consensus"].copy()
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, key_added="leiden_consensus")
    assert adata.uns["leiden_consensus"]["params"]["keys"].tolist() == keys
    assert (adata.obs["leiden_consensus"] == first).all()
    with pytest.raises(InputError, match="were written by conclust"):
        ccs.tl.consensus(adata, prefix="leiden_c")
    ccs.tl.consensus(adata, ["leiden_consensus", "leiden_1"], n_clusters=4)


def test_clusters_have_the_names_of_their_types(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, names_from="cell_type")
    assert set(adata.obs["consensus"].cat.categories) == {"T", "B", "NK", "DC"}
    assert (adata.obs["consensus"].astype(str) == adata.obs["cell_type"].astype(str)).mean() > 0.95
    new = adata[:9].copy()
    ccs.tl.predict(new, adata)
    assert new.obs["consensus"].tolist() == adata.obs["consensus"][:9].tolist()


# ------------------------------------------------------------------------------------ colours

PARENT = ["#111111", "#222222", "#333333", "#444444"]


def test_clusters_have_the_colours_of_their_types(adata):
    adata.uns["cell_type_colors"] = PARENT
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, colors_from="cell_type")
    table = pd.crosstab(adata.obs["consensus"], adata.obs["cell_type"])
    expected = [PARENT[k] for k in table.to_numpy().argmax(axis=1)]
    assert adata.uns["consensus_colors"] == expected
    adata.uns["consensus_colors"] = ["#abcdef"] * 4
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, colors_from="cell_type")
    assert adata.uns["consensus_colors"] == ["#abcdef"] * 4


def test_no_two_clusters_share_a_colour(adata):
    adata.uns["cell_type_colors"] = PARENT
    ccs.tl.consensus(adata, ["leiden_10"], method="EAC", n_clusters=40, colors_from="cell_type")
    actual = adata.uns["consensus_colors"]
    assert len(actual) == len(set(actual)) == 40
    assert set(PARENT) <= set(actual)
    table = pd.crosstab(adata.obs["consensus"], adata.obs["cell_type"]).to_numpy()
    for k, colour in enumerate(PARENT):
        owner = actual.index(colour)
        assert table[owner].argmax() == k
        best = table.argmax(axis=1) == k
        assert table[owner, k] == table[best, k].max()


def test_colours_require_a_parent_with_colours(adata):
    for parent, lacking in (
        ("cell_type", "uns\\['cell_type_colors'\\]"),
        ("nowhere", "obs\\['nowhere'\\]"),
    ):
        with pytest.raises(InputError, match=lacking):
            ccs.tl.consensus(adata, prefix="leiden_", colors_from=parent)
    assert "consensus" not in adata.obs


# ---------------------------------------------------------------------------------- new cells


@pytest.mark.parametrize("method", [None, "PCC", "EAC"])
def test_old_cells_keep_their_clusters(adata, method):
    ccs.tl.consensus(adata, prefix="leiden_", method=method, n_clusters=4)
    adata.uns["consensus_colors"] = PARENT
    new = adata[::3].copy()
    new.obs = new.obs.drop(columns=[c for c in new.obs if c.startswith("consensus")])
    for part in (new.uns, new.obsm):
        part.clear()
    assert ccs.tl.predict(new, adata) is None
    old = adata.obs["consensus"].iloc[::3]
    assert (new.obs["consensus"] == old).mean() > 0.98
    assert new.obs["consensus"].cat.categories.tolist() == old.cat.categories.tolist()
    assert new.uns["consensus_colors"] == PARENT
    assert ("consensus_membership" in new.obsm) == (method != "EAC")
    sure = new.obs["consensus_confidence"]
    assert np.abs(sure - adata.obs["consensus_confidence"].iloc[::3]).max() < 0.1
    assert new.uns["consensus"]["params"]["placed_by"] == (
        "shared clusterings" if method == "EAC" else (method or "AutoConsensus")
    )


def test_new_cells_are_placed_as_by_the_estimator(adata, columns):
    keys = list(columns)
    model = cc.PCC(5, random_state=3).fit(matrix(columns))
    ccs.tl.consensus(adata, keys, method="PCC", n_clusters=5, random_state=3, key_added="mine")
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.permutation(labels)[:50] for labels in columns.values()])
    rows[0, 2] = 999  # a cluster that no old cell has
    rows[1] = -1
    obs = pd.DataFrame(rows, columns=keys, index=[f"new{i}" for i in range(50)]).astype(str)
    new = anndata.AnnData(obs=obs.replace("-1", np.nan).astype("category"))
    with pytest.warns(UnseenLabelWarning, match="1 label did not occur in fit"):
        ccs.tl.predict(new, reference=adata, key="mine")
    with pytest.warns(UnseenLabelWarning):
        labels, rows = model.predict(rows), model.predict_proba(rows)
    np.testing.assert_array_equal(new.obs["mine"].cat.codes, labels)
    assert labels[1] == -1
    assert np.isnan(new.obs["mine_confidence"].iloc[1])
    np.testing.assert_allclose(new.obsm["mine_membership"], rows, atol=1e-7)


def test_clusters_can_be_renamed_before_placing_new_cells(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    names = (
        adata.obs["cell_type"]
        .groupby(adata.obs["consensus"], observed=True)
        .agg(lambda t: t.mode()[0])
    )
    adata.obs["consensus"] = adata.obs["consensus"].cat.rename_categories(names)
    new = adata[:40].copy()
    ccs.tl.predict(new, adata)
    assert (new.obs["consensus"] == adata.obs["consensus"][:40]).mean() > 0.95
    assert set(new.obs["consensus"].cat.categories) == {"T", "B", "NK", "DC"}


def test_a_changed_reference_is_refused(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    new = adata[:10].copy()
    other = adata.copy()
    other.obs["consensus"] = other.obs["consensus"].to_numpy()[::-1]
    with pytest.raises(InputError, match="cells or columns were changed"):
        ccs.tl.predict(new, other)
    with pytest.raises(InputError, match="has no consensus 'other'"):
        ccs.tl.predict(new, adata, key="other")
    del new.obs["leiden_10"]
    with pytest.raises(InputError, match=r"lacks the columns \['leiden_10'\]"):
        ccs.tl.predict(new, adata)
    content = adata.uns["consensus"].pop("model")
    with pytest.raises(InputError, match="has no model in uns"):
        ccs.tl.predict(adata[:10].copy(), adata)
    adata.uns["consensus"]["model"] = content[:-9]
    with pytest.raises(FileFormatError, match=r"uns.*'model'.* is cut off"):
        ccs.tl.predict(adata[:10].copy(), adata)


def test_new_cells_are_placed_by_some_of_the_reference(adata):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    expected, new = adata[:40].copy(), adata[:40].copy()
    ccs.tl.predict(expected, adata)
    some = adata[::2].copy()
    del some.obs["leiden_10"]
    ccs.tl.predict(new, some)
    assert new.obs["consensus"].tolist() == expected.obs["consensus"].tolist()


# ---------------------------------------------------------------------------------- stability


def test_stability_is_written_per_cluster(adata, columns):
    ccs.tl.stability(adata, prefix="leiden_", groupby="cell_type")
    actual = adata.uns["cell_type_stability"]["table"]
    assert actual.index.tolist() == adata.obs["cell_type"].cat.categories.tolist()
    types = adata.obs["cell_type"].to_numpy().astype(object)
    direct = cluster_confidence(types, matrix(columns))
    order = list(dict.fromkeys(types))
    for name in ("consensus", "jaccard", "confidence"):
        expected = dict(zip(order, getattr(direct, name), strict=True))
        assert actual[name].to_dict() == expected
    assert actual["cells"].to_dict() == adata.obs["cell_type"].value_counts().to_dict()
    np.testing.assert_array_equal(
        adata.obs["cell_type_stability"], confidences(types, matrix(columns))
    )


def test_a_resolution_is_scored_against_the_others(adata):
    adata.obs["leiden_1"] = (
        adata.obs["leiden_1"].cat.add_categories("99").where(np.arange(240) != 5)
    )
    ccs.tl.stability(adata, prefix="leiden_", groupby="leiden_1", key_added="stable")
    record = adata.uns["stable"]
    assert "leiden_1" not in record["params"]["keys"]
    assert record["table"].index.tolist() == ["0", "1", "2", "3"]
    assert np.isnan(adata.obs["stable"].iloc[5])
    assert record["table"]["cells"].sum() == 239


def test_coordinates_are_clustered_as_by_the_estimator(adata, points, tmp_path):
    adata.obsm["X_pca"] = points[0]
    ccs.tl.cluster(adata, calibrate=True, names_from="cell_type", random_state=3)
    model = cc.ConsensusClustering(random_state=3).fit(points[0])
    cc.confidence.calibrated(model, points[0], random_state=3)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert adjusted_rand_score(read.obs["clusters"], model.labels_) == 1
    assert set(read.obs["clusters"]) == {"T", "B", "NK", "DC"}
    for name, values in {
        "confidence": model.membership_.max(axis=1),
        "kept": model.calibration_.kept,
    }.items():
        np.testing.assert_array_equal(read.obs[f"clusters_{name}"], values)
    named = kept_sentence(model.calibration_.kept, read.obs_names)
    assert read.uns["clusters"]["kept"] == named
    with pytest.raises(InputError, match="ConsensusClustering to them"):
        ccs.tl.predict(adata, read, "clusters")
    ccs.tl.cluster(adata, n_clusters=3)
    assert adata.uns["clusters"]["n_clusters"] == 3
    assert "clusters_kept" not in adata.obs  # those of other clusters


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda a: ccs.tl.consensus(a), InputError, "Got neither"),
        (lambda a: ccs.tl.consensus(a, ["leiden_1"], prefix="leiden_"), InputError, "Got both"),
        (lambda a: ccs.tl.consensus(a, ["leiden_2"]), InputError, r"Got \['leiden_2'\]"),
        (lambda a: ccs.tl.consensus(a, []), InputError, "Got none"),
        (lambda a: ccs.tl.consensus(a, prefix="louvain"), InputError, "begins with 'louvain'"),
        (lambda a: ccs.tl.consensus(a.obs, ["leiden_1"]), InputError, "must be an AnnData"),
        (
            lambda a: ccs.tl.consensus(a, "leiden_1", key_added="leiden_1"),
            ParameterError,
            "key_added",
        ),
        (lambda a: ccs.tl.consensus(a, "leiden_1", key_added=""), ParameterError, "key_added"),
        (lambda a: ccs.tl.consensus(a, "leiden_1", method="pccc"), ParameterError, "Is it 'PCC'"),
        (lambda a: ccs.tl.consensus(a, "leiden_1", method=3), ParameterError, "'method'"),
        (lambda a: ccs.tl.cluster(a, "X"), ParameterError, "'use_rep'.*There are none"),
        (
            lambda a: ccs.tl.consensus(a, "leiden_1", random_state=-1),
            ParameterError,
            "random_state",
        ),
        (lambda a: ccs.tl.consensus(a, "leiden_1", missing="no"), ParameterError, "'missing'"),
        (lambda a: ccs.tl.consensus(a, "leiden_1", copy=1), ParameterError, "'copy'"),
        (
            lambda a: ccs.tl.consensus(a, "leiden_1", method="FCAConsensus", n_clusters=2),
            ParameterError,
            "finds the number by itself",
        ),
        (
            lambda a: ccs.tl.consensus(
                a, "leiden_1", method=cc.PCC(random_state=np.random.default_rng(0))
            ),
            InputError,
            "Generator is neither",
        ),
        (
            lambda a: ccs.tl.stability(a, "leiden_1", groupby="type"),
            InputError,
            r"'groupby' of sc.tl.stability must be a column.*Got \['type'\]",
        ),
    ],
)
def test_errors_describe_the_problem(adata, call, error, said):
    before = adata.obs.columns.tolist()
    with pytest.raises(error, match=said):
        call(adata)
    assert adata.obs.columns.tolist() == before


def test_columns_whose_names_are_numbers_are_not_read(adata):
    adata.obs[7] = 0
    for keys in ([7], ["7"]):
        with pytest.raises(InputError, match=r"must be columns of adata\.obs"):
            ccs.tl.consensus(adata, keys)
    assert ccs.get.ensemble(adata, prefix="leiden_").n_partitions == 6


def test_numbers_that_are_not_labels_are_refused(adata):
    adata.obs["share"] = np.linspace(0, 1, len(adata))
    with pytest.raises(InputError, match=r"obs\['share'\] holds .* which is not a label"):
        ccs.tl.consensus(adata, ["leiden_1", "share"])
    adata.obs["infinite"] = np.where(np.arange(len(adata)) == 3, np.inf, 0.0)
    with pytest.raises(InputError, match="holds inf, which is not a label"):
        ccs.tl.consensus(adata, ["leiden_1", "infinite"])
    adata.obs["below"] = -3
    with pytest.raises(InputError, match="holds -3, which is not a label"):
        ccs.tl.consensus(adata, ["leiden_1", "below"])
