"""Members from the graph of an AnnData, their inconsistency, clusters that they split, and the report."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import conclust as cc
import conclust.sc as ccs
from conclust import report
from conclust.confidence import inconsistency
from conclust.exceptions import EvidenceWarning, InputError, ParameterError
from conclust.metrics import adjusted_rand_index
from conclust.neighbours import neighbour_graph

anndata = pytest.importorskip("anndata")
mpl.use("Agg")


@pytest.fixture
def graphed(adata):
    graph = neighbour_graph(np.asarray(adata.X, dtype=float), 15, weights="jaccard")
    adata.obsp["connectivities"] = graph.to_scipy()
    return adata


def test_members_are_columns_of_leiden(graphed):
    del graphed.obs["leiden_0.5"]
    ccs.tl.members(graphed, 6, resolution=[1.0, 0.2, 0.5], key_added="own")
    table = graphed.uns["own_members"]["table"]
    assert table.index.tolist() == [f"own_{u}" for u in range(6)]
    assert table["resolution"].tolist() == [0.2, 0.2, 0.5, 0.5, 1.0, 1.0]
    for name, clusters in table["clusters"].items():
        assert graphed.obs[name].nunique() == clusters
    coarse = graphed.obs["own_0"]
    assert adjusted_rand_index(graphed.obs["cell_type"], coarse) > 0.95
    repeated = ccs.tl.members(
        graphed, 6, resolution=[1.0, 0.2, 0.5], key_added="own", n_jobs=3, copy=True
    )
    pd.testing.assert_frame_equal(repeated.obs, graphed.obs)


def test_members_of_a_longer_run_are_removed(graphed, tmp_path):
    ccs.tl.members(graphed, 10)
    graphed.obs["leiden_mine"] = graphed.obs["cell_type"]
    graphed.obs["leiden_12"] = graphed.obs["cell_type"]
    graphed.write_h5ad(tmp_path / "cells.h5ad")
    for cells in (graphed, anndata.read_h5ad(tmp_path / "cells.h5ad")):
        shorter = ccs.tl.members(cells, 4, random_state=1, copy=True)
        assert shorter.uns["leiden_members"]["table"].index.tolist() == [
            f"leiden_{u}" for u in range(4)
        ]
        made = {f"leiden_{u}" for u in range(4)}
        assert set(shorter.obs.columns) - set(graphed.obs.columns) == set()
        assert {f"leiden_{u}" for u in range(4, 10)}.isdisjoint(shorter.obs.columns)
        assert made | {"leiden_mine", "leiden_12"} <= set(shorter.obs.columns)
        assert "leiden_9" in cells.obs
    # A record that is not of this function removes nothing.
    graphed.uns["leiden_members"] = {"table": pd.DataFrame(index=["leiden_mine"])}
    ccs.tl.members(graphed, 2)
    assert "leiden_mine" in graphed.obs


def test_drawn_resolutions_rise_and_follow_the_seed(graphed):
    ccs.tl.members(graphed, 5, key_added="a")
    ccs.tl.members(graphed, 5, key_added="b", random_state=1)
    a, b = (graphed.uns[f"{key}_members"]["table"]["resolution"].to_numpy() for key in "ab")
    assert (np.diff(a) > 0).all()
    assert a.min() >= 0.3
    assert a.max() <= 5.0
    assert not np.array_equal(a, b)


def test_the_graph_of_a_key_is_used(graphed):
    graphed.obsp["mine"] = graphed.obsp.pop("connectivities")
    graphed.uns["near"] = {"connectivities_key": "mine"}
    ccs.tl.members(graphed, 2, neighbors_key="near")
    with pytest.raises(
        InputError, match=r"no obsp\['connectivities'\].*scanpy.pp.neighbors\(adata\)"
    ):
        ccs.tl.members(graphed, 2)
    with pytest.raises(InputError, match=r"key_added='far'\) writes it.*obsp has \['mine'\]"):
        ccs.tl.members(graphed, 2, neighbors_key="far")


def test_the_graph_of_the_record_of_scanpy_is_used(graphed):
    expected = ccs.tl.members(graphed, 2, copy=True).obs
    graphed.obsp["mine"] = graphed.obsp.pop("connectivities")
    graphed.uns["neighbors"] = {"connectivities_key": "mine"}
    pd.testing.assert_frame_equal(ccs.tl.members(graphed, 2, copy=True).obs, expected)


@pytest.mark.parametrize("neighbors_key", [None, "neighbors"])
@pytest.mark.parametrize("record", [{"connectivities_key": "other"}, {"params": {}}])
def test_the_usual_graph_is_used_before_the_record_as_by_scanpy(graphed, neighbors_key, record):
    expected = ccs.tl.members(graphed, 2, copy=True).obs
    graphed.obsp["other"] = graphed.obsp["connectivities"] * 0.0
    graphed.uns["neighbors"] = record
    found = ccs.tl.members(graphed, 2, neighbors_key=neighbors_key, copy=True).obs
    pd.testing.assert_frame_equal(found, expected)


def test_the_graph_of_a_key_of_obsp_is_used(graphed):
    expected = ccs.tl.members(graphed, 2, copy=True).obs
    graphed.obsp["mine"] = graphed.obsp.pop("connectivities")
    found = ccs.tl.members(graphed, 2, obsp="mine", copy=True)
    pd.testing.assert_frame_equal(found.obs, expected)
    assert found.uns["leiden_members"]["params"]["obsp"] == "mine"
    with pytest.raises(InputError, match=r"no obsp\['other'\]\. adata\.obsp has \['mine'\]"):
        ccs.tl.members(graphed, 2, obsp="other")
    with pytest.raises(InputError, match=r"either 'neighbors_key' or 'obsp'"):
        ccs.tl.members(graphed, 2, obsp="mine", neighbors_key="near")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_members": 0}, "The 'n_members' parameter of sc.tl.members"),
        ({"resolution": 0.0}, "'resolution'"),
        ({"resolution": []}, "'resolution'"),
        ({"quality": "leiden"}, "'quality'"),
    ],
)
def test_invalid_parameters_are_refused(graphed, parameters, words):
    with pytest.raises(ParameterError, match=words):
        ccs.tl.members(graphed, **parameters)


def test_inconsistency_is_computed_by_group(adata):
    obs = pd.DataFrame(
        {
            "r_1_0": [0, 0, 1, 1, 2, 2],
            "r_1_1": [2, 2, 0, 0, 1, 1],
            "r_2_0": [0, 0, 0, 1, 1, 1],
            "r_2_1": [0, 0, 1, 1, 2, 2],
        },
        index=[f"c{i}" for i in range(6)],
    )
    cells = anndata.AnnData(obs=obs)
    ccs.tl.inconsistency(cells, prefix="r_")
    table = cells.uns["inconsistency"]["table"]
    assert table["ic"].tolist() == [
        1.0,
        inconsistency(obs[["r_2_0", "r_2_1"]].to_numpy()).coefficient,
    ]
    # ECS of these: 5/9, so the coefficient is 1 / (1/2 + 5/18) = 9/7.
    assert table.loc["r_2", "ic"] == pytest.approx(9 / 7)
    assert table["different"].tolist() == [1, 2]
    ccs.tl.inconsistency(cells, prefix="r_", by="number", key_added="by_number")
    assert cells.uns["by_number"]["table"].index.tolist() == ["3", "2"]
    assert cells.uns["by_number"]["table"]["columns"].tolist() == [3, 1]
    ccs.tl.inconsistency(cells, prefix="r_", by="all", key_added="all")
    assert cells.uns["all"]["table"]["columns"].tolist() == [4]
    with pytest.raises(ParameterError, match="'by'"):
        ccs.tl.inconsistency(cells, prefix="r_", by="seed")


def test_a_cluster_that_most_columns_split_is_reported(adata):
    type_of = adata.obs["cell_type"].to_numpy()
    for u in range(8):
        names = type_of.astype(object).copy()
        if u < 3:
            names[np.isin(type_of, ["T", "B"])] = "lymphocyte"
        adata.obs[f"run_{u}"] = pd.Categorical(names)
    with pytest.warns(
        EvidenceWarning, match=r"cluster lymphocyte is split in two by 5 of 8 columns"
    ):
        ccs.tl.consensus(adata, prefix="run_", n_clusters=3, names_from="run_0")
    table = adata.uns["consensus"]["clusters"]
    assert table.loc["lymphocyte", ["parts", "split_by"]].tolist() == [2, 5]
    assert (table.drop("lymphocyte")["parts"] == 1).all()


def test_tables_are_restored_from_files(graphed, tmp_path):
    ccs.tl.members(graphed, 4, resolution=[0.2, 0.4])
    ccs.tl.consensus(graphed, [f"leiden_{u}" for u in range(4)])
    ccs.tl.inconsistency(graphed, [f"leiden_{u}" for u in range(4)])
    graphed.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for key, part in (
        ("consensus", "clusters"),
        ("consensus", "columns"),
        ("leiden_members", "table"),
        ("inconsistency", "table"),
    ):
        pd.testing.assert_frame_equal(
            back.uns[key][part], graphed.uns[key][part], check_dtype=False, check_index_type=False
        )


def test_the_clustering_tree_has_the_values_of_its_circles(adata):
    ax = ccs.pl.clustree(adata, ["leiden_0.5", "leiden_1"])
    stable = np.asarray(ax.collections[1].get_facecolors())
    assert len(stable) == 6  # circles of two and of four clusters
    assert ax.title.get_fontsize() == 8  # the style's font size
    adata.obs["gene"] = np.where(adata.obs["leiden_0.5"] == "0", 1.0, 3.0)
    ax = ccs.pl.clustree(adata, ["leiden_0.5"], color="gene")
    low, high = np.asarray(ax.collections[-1].get_facecolors())
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1"]  # names of the clusters
    assert not np.allclose(low, high)
    assert ax.get_title() == "Clustering tree, by gene"
    with pytest.raises(InputError, match=r"column of adata\.obs"):
        ccs.pl.clustree(adata, prefix="leiden_", color="no gene")
    with pytest.raises(InputError, match="must be numbers"):
        ccs.pl.clustree(adata, prefix="leiden_", color="cell_type")


def test_the_circles_of_the_clustering_tree_have_the_names_of_the_clusters():
    types = np.repeat(["T cells", "B cells", "a name that is too long"], [30, 20, 10])
    obs = pd.DataFrame({"x_1": [7] * 60, "x_2": types}, index=[f"c{i}" for i in range(60)])
    ax = ccs.pl.clustree(anndata.AnnData(obs=obs), prefix="x_")
    texts = [text.get_text() for text in ax.texts]
    assert sorted(texts) == ["7", "B cells", "T cells", "a name that is …"]
    x = {
        text.get_text(): text.xy[0]
        for text in ccs.pl.resolutions(anndata.AnnData(obs=obs), prefix="x_").texts
    }
    assert {text.get_text(): text.xy[0] for text in ax.texts} == {
        "7": x["60"],
        "T cells": x["30"],
        "B cells": x["20"],
        "a name that is …": x["10"],
    }


@pytest.mark.parametrize("picture", [ccs.pl.clustree, ccs.pl.resolutions, ccs.pl.coassociation])
def test_pictures_of_fewer_than_two_cells_are_refused(adata, picture):
    n = 1
    with pytest.raises(InputError, match=f"{picture.__name__} needs at least two cells. Got {n}"):
        picture(adata[:n].copy(), prefix="leiden_")


@pytest.mark.parametrize("name", ["clustree", "resolutions", "coassociation", "membership"])
def test_pictures_are_saved_and_shown(adata, name, tmp_path, monkeypatch):
    from matplotlib import pyplot

    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.gcf()))
    ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=4)
    options = {} if name == "membership" else {"prefix": "leiden_"}
    picture = getattr(ccs.pl, name)
    ax = picture(adata, **options, save=tmp_path / "cells.pdf", show=True)
    assert shown == [ax.figure]
    assert (tmp_path / "cells.pdf").read_bytes().startswith(b"%PDF")
    picture(adata, **options, save=str(tmp_path / "cells.png"), show=False)
    assert (tmp_path / "cells.png").read_bytes().startswith(b"\x89PNG")
    assert len(shown) == 1
    for save in (True, ".pdf", "cells", 3):
        with pytest.raises(ParameterError, match=f"'save' parameter of sc.pl.{name}"):
            picture(adata, **options, save=save)
    with pytest.raises(ParameterError, match=f"'show' parameter of sc.pl.{name}"):
        picture(adata, **options, show=None)


def test_an_anndata_is_reported(adata, tmp_path):
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    page = report.write(adata, tmp_path / "cells.html", key="consensus", pictures=False)
    text = page.read_text("utf-8")
    assert "cell" in text
    content = report.account(adata, key="consensus", pictures=False)
    assert "4 clusters" in content["decision"]["sentence"]
    with pytest.raises(InputError, match=r"key='consensus'. No key was given; .*\['consensus'\]"):
        report.write(adata, tmp_path / "x.html")
    with pytest.raises(InputError, match="There is no 'other'"):
        report.write(adata, tmp_path / "x.html", key="other")
    with pytest.raises(InputError, match="which the result is not"):
        report.write([0, 1], tmp_path / "x.html", key="consensus", ensemble=[[0], [1]])


def facts_of(account):
    return {fact["name"]: fact["value"] for fact in account["facts"]}


def texts_of(account, section):
    (found,) = [part for part in account["sections"] if part["id"] == section]
    return str(found["blocks"])


@pytest.mark.parametrize(
    ("method", "estimator"),
    [
        ("PCC", cc.PCC(10, random_state=0)),
        ("EAC", cc.EAC(4)),
        (None, cc.AutoConsensus(random_state=0)),
        ("WEAC", cc.WEAC(4)),
    ],
)
def test_an_anndata_and_its_model_have_the_same_report(adata, method, estimator):
    n_clusters = estimator.n_clusters
    ccs.tl.consensus(
        adata, prefix="leiden_", method=method, n_clusters=n_clusters, names_from="cell_type"
    )
    stored = report.account(adata, key="consensus", pictures=False)
    ensemble = ccs.get.ensemble(adata, list(adata.uns["consensus"]["columns"].index))
    model = report.account(estimator.fit(ensemble), ensemble=ensemble, pictures=False)
    assert stored["clusters"] == adata.obs["consensus"].cat.categories.tolist()
    assert set(stored["clusters"]) == {"T", "B", "NK", "DC"}
    assert stored["decision"] == model["decision"]
    facts = facts_of(stored)
    assert facts == facts_of(model)
    assert "By chance" in facts
    assert facts["Mean confidence"] == f"{adata.obs['consensus_confidence'].mean():.3f}"
    for section in ("run", "cite", "why"):
        assert texts_of(stored, section) == texts_of(model, section)
    for section in ("partitions", "clusters"):
        assert len(texts_of(stored, section)) > 200
    assert type(estimator).__name__ in texts_of(stored, "run")
    # The call of the page finds the same consensus.
    again = adata.copy()
    del again.obs["consensus"]
    exec(stored["files"]["call"], {"conclust": cc, "adata": again})
    assert again.obs["consensus"].tolist() == adata.obs["consensus"].tolist()


def test_a_report_follows_categories_that_were_changed_since(adata, tmp_path):
    ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=10)
    mean = report.account(adata, key="consensus", pictures=False)["facts"]
    column = adata.obs["consensus"].cat
    adata.obs["consensus"] = column.reorder_categories(
        column.categories[::-1]
    ).cat.rename_categories(lambda name: f"group {name}")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    turned = report.account(back, key="consensus", pictures=False)
    assert turned["facts"] == mean
    assert turned["clusters"] == back.obs["consensus"].cat.categories.tolist()
    # Two categories that are joined have the sum of their memberships.
    names = turned["clusters"]
    joined = back.obs["consensus"].astype(object).replace({names[1]: names[0]})
    back.obs["consensus"] = joined.astype("category")
    fewer = report.account(back, key="consensus", pictures=False)
    assert len(fewer["clusters"]) == len(names) - 1
    assert float(facts_of(fewer)["Mean confidence"]) >= float(facts_of(turned)["Mean confidence"])


@pytest.mark.filterwarnings("ignore:5 objects are missing")
def test_cells_without_labels_and_a_single_cluster_are_reported(adata):
    for name in [name for name in adata.obs if name.startswith("leiden_")]:
        adata.obs.loc[adata.obs.index[:5], name] = np.nan
    for method in ("PCC", "EAC", None):
        ccs.tl.consensus(adata, prefix="leiden_", method=method, n_clusters=4)
        found = report.account(adata, key="consensus", pictures=False)
        assert found["decision"]["objects_in_no_cluster"] == 5
        mean = adata.obs["consensus_confidence"].mean()
        assert facts_of(found)["Mean confidence"] == f"{mean:.3f}"
    rng = np.random.default_rng(0)
    for u in range(6):
        adata.obs[f"noise_{u}"] = pd.Categorical(rng.integers(0, 3, len(adata)).astype(str))
    ccs.tl.consensus(adata, prefix="noise_")
    found = report.account(adata, key="consensus", pictures=False)
    assert found["decision"]["clusters"] == adata.uns["consensus"]["n_clusters"] == 1


def test_cells_that_were_placed_are_reported_without_a_method(adata):
    ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=4)
    new = adata[:100].copy()
    ccs.tl.predict(new, adata)
    placed = report.account(new, key="consensus", pictures=False)
    assert "By chance" not in facts_of(placed)
    assert "combined" not in texts_of(placed, "run")
    assert "PCC" in texts_of(placed, "repeat")


def test_a_directed_graph_is_refused(adata):
    adata.obsp["connectivities"] = sp.csr_array(
        ([1.0, 1.0], ([0, 5], [1, 2])), shape=(len(adata), len(adata))
    )
    with pytest.raises(InputError, match="directed"):
        ccs.tl.members(adata, 2)
