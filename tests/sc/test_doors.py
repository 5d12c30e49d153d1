"""Files, backed and lazy data, MuData, the namespace, plots, and scanpy."""

import numpy as np
import pandas as pd
import pytest

import conclust.sc as ccs
from conclust.exceptions import InputError

anndata = pytest.importorskip("anndata")

FORMATS = ["h5ad", "zarr"]


def written(adata, path, form):
    if form == "h5ad":
        adata.write_h5ad(path)
        return anndata.read_h5ad(path)
    adata.write_zarr(path)
    return anndata.read_zarr(path)


def same(one, other):
    assert type(one) is type(other) or np.ndim(one) == np.ndim(other)
    if isinstance(one, dict):
        assert set(one) == set(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_index_type=False)
    else:
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("method", ["PCC", "EAC"])
def test_files_restore_all_results(adata, tmp_path, form, method):
    adata.uns["cell_type_colors"] = ["#111111", "#222222", "#333333", "#444444"]
    ccs.tl.consensus(
        adata,
        prefix="leiden_",
        method=method,
        n_clusters=4,
        weights=[1, 1, 1, 1, 1, 2],
        colors_from="cell_type",
    )
    ccs.tl.stability(adata, prefix="leiden_", groupby="cell_type")
    back = written(adata, tmp_path / f"cells.{form}", form)
    for key in ("consensus", "consensus_colors", "cell_type_stability"):
        same(adata.uns[key], back.uns[key])
    for key in ("consensus", "consensus_confidence", "cell_type_stability"):
        assert back.obs[key].tolist() == adata.obs[key].tolist()
        assert back.obs[key].dtype.kind == adata.obs[key].dtype.kind
    if method == "PCC":
        np.testing.assert_array_equal(
            back.obsm["consensus_membership"], adata.obsm["consensus_membership"]
        )
    # A reference restored from a file places cells identically.
    for reference in (adata, back):
        new = adata[:30].copy()
        ccs.tl.predict(new, reference)
        assert new.obs["consensus"].tolist() == adata.obs["consensus"][:30].tolist()
    if form == "h5ad":
        third = written(back, tmp_path / "again.h5ad", form)
        same(third.uns["consensus"], back.uns["consensus"])


def test_backed_data_are_not_loaded(adata, tmp_path):
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    ccs.tl.consensus(adata, prefix="leiden_")
    before = path.read_bytes()
    backed = anndata.read_h5ad(path, backed="r")
    ccs.tl.consensus(backed, prefix="leiden_")
    assert backed.isbacked
    assert backed.obs["consensus"].tolist() == adata.obs["consensus"].tolist()
    backed.file.close()
    assert path.read_bytes() == before


def test_a_copy_of_backed_data_is_refused_before_the_fit(adata, tmp_path, monkeypatch):
    path = tmp_path / "cells.h5ad"
    ccs.tl.consensus(adata, prefix="leiden_")
    adata.write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    # Whatever reads the columns comes after the refusal.
    monkeypatch.setattr("conclust.sc.tl.read_columns", None)
    for call in (
        lambda: ccs.tl.consensus(backed, prefix="leiden_", copy=True),
        lambda: ccs.tl.predict(backed, adata, copy=True),
        lambda: ccs.tl.stability(backed, prefix="leiden_", groupby="cell_type", copy=True),
        lambda: ccs.tl.members(backed, copy=True),
        lambda: ccs.tl.inconsistency(backed, prefix="leiden_", copy=True),
    ):
        with pytest.raises(InputError, match=r"must be in memory .* adata\.to_memory\(\)"):
            call()
    with pytest.raises(InputError, match=r"must not be a view .* adata\.to_memory\(\)"):
        ccs.tl.consensus(backed[:100], prefix="leiden_")
    monkeypatch.undo()
    assert (
        "again"
        in ccs.tl.consensus(backed.to_memory(), prefix="leiden_", key_added="again", copy=True).obs
    )
    backed.file.close()


def test_data_in_dask_are_not_computed(adata):
    import dask.array as dask_array

    def refuse(block):
        raise AssertionError("the data were read")

    lazy = dask_array.from_array(adata.X, chunks=(60, 6)).map_blocks(
        refuse, dtype=np.float32, meta=adata.X[:0]
    )
    there = anndata.AnnData(lazy, obs=adata.obs.copy())
    ccs.tl.consensus(adata, prefix="leiden_")
    ccs.tl.consensus(there, prefix="leiden_")
    ccs.tl.stability(there, prefix="leiden_", groupby="cell_type")
    assert there.obs["consensus"].tolist() == adata.obs["consensus"].tolist()
    with pytest.raises(AssertionError, match="were read"):
        there.X.compute()


def test_a_view_becomes_a_copy_as_in_anndata(adata):
    view = adata[:120]
    with pytest.warns(anndata.ImplicitModificationWarning):
        ccs.tl.consensus(view, prefix="leiden_")
    assert not view.is_view
    assert "consensus" not in adata.obs


@pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning", "ignore:Cannot join columns")
def test_mudata_is_accepted(adata):
    import mudata

    mdata = mudata.MuData({"rna": adata, "adt": adata.copy()})
    keys = ["rna:leiden_1", "adt:leiden_1.25"]
    for key in keys:
        mdata.obs[key] = adata.obs[key.split(":")[1]]
    ccs.tl.consensus(mdata, keys, method="PCC", n_clusters=6)
    ccs.tl.consensus(adata, ["leiden_1", "leiden_1.25"], method="PCC", n_clusters=6)
    assert mdata.obs["consensus"].tolist() == adata.obs["consensus"].tolist()
    np.testing.assert_array_equal(
        mdata.obsm["consensus_membership"], adata.obsm["consensus_membership"]
    )
    model = ccs.tl.consensus(mdata, keys, copy=True)
    assert "consensus" in model.obs


def test_the_namespace_lists_the_functions(adata):
    ccs.register()
    adata.conclust.consensus(prefix="leiden_")
    direct = ccs.tl.consensus(adata, prefix="leiden_", copy=True)
    assert adata.obs["consensus"].tolist() == direct.obs["consensus"].tolist()
    adata.conclust.stability(prefix="leiden_", groupby="cell_type")
    assert adata.conclust.ensemble("leiden_1").shape == (240, 1)
    new = adata[:5].copy()
    new.conclust.predict(adata)
    assert new.obs["consensus"].tolist() == adata.obs["consensus"][:5].tolist()
    for draw in (
        lambda: adata.conclust.membership(),
        lambda: adata.conclust.resolutions(prefix="leiden_"),
        lambda: adata.conclust.coassociation(prefix="leiden_"),
    ):
        assert draw().get_title()


# ------------------------------------------------------------------------------------ pictures


def test_memberships_have_the_colours_of_the_clusters(adata):
    from matplotlib.colors import to_rgb

    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4)
    colours = ["#ff0000", "#00ff00", "#0000ff", "#123456"]
    adata.uns["consensus_colors"] = np.array(colours, dtype=object)
    drawn = {tuple(c.get_facecolor()[0][:3]) for c in ccs.pl.membership(adata).collections}
    assert drawn == {to_rgb(colour) for colour in colours}


def test_cells_without_a_cluster_are_not_drawn(adata):
    for name in adata.obs.columns.drop("cell_type"):
        adata.obs.loc[adata.obs_names[::6], name] = np.nan
    with pytest.warns(UserWarning, match="40 objects are missing"):
        ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=4)
    assert ccs.pl.membership(adata).get_title() == "Membership of 200 cells"


@pytest.mark.parametrize("given", [True, False])
def test_memberships_have_the_names_of_the_categories(adata, given):
    from matplotlib.colors import to_rgb

    ccs.tl.consensus(adata, prefix="leiden_", method="PCC", n_clusters=4, names_from="cell_type")
    column = adata.obs["consensus"]
    turned = column.cat.reorder_categories(column.cat.categories[[2, 0, 3, 1]])
    adata.obs["consensus"] = turned.cat.rename_categories({"T": "T cells"})
    colours = {"T cells": "#ff0000", "B": "#00ff00", "NK": "#0000ff", "DC": "#123456"}
    names = adata.obs["consensus"].cat.categories.tolist()
    if given:
        adata.uns["consensus_colors"] = [colours[name] for name in names]
    ax = ccs.pl.membership(adata)
    (above,) = ax.child_axes
    assert [text.get_text() for text in above.texts] == names
    sizes = adata.obs["consensus"].value_counts()
    ends = np.cumsum([sizes[name] for name in names])
    # The middle of each cluster's bars is drawn in its colour.
    for name, end in zip(names, ends, strict=True):
        middle = end - sizes[name] / 2
        (own,) = [
            band
            for band in ax.collections
            if any(path.contains_point((middle, 0.3)) for path in band.get_paths())
        ]
        if given:
            assert tuple(own.get_facecolor()[0][:3]) == to_rgb(colours[name])


def test_strips_have_the_colours_of_their_categories(adata):
    from matplotlib.colors import to_rgb

    colours = {"B": "#ff0000", "DC": "#00ff00", "NK": "#0000ff", "T": "#123456"}
    adata.uns["cell_type_colors"] = list(colours.values())
    adata.obs["half"] = pd.Categorical(np.repeat(["a", "b"], 120))
    ax = ccs.pl.coassociation(
        adata, prefix="leiden_", groupby=["half", "cell_type"], order="cluster"
    )
    strips = [child for child in ax.child_axes if child.get_label() == "clusters"]
    drawn = np.asarray(strips[2].images[0].get_array()).reshape(-1, 3)
    # Sorted by the first strip; within it the number of cells of each colour is that of each type.
    for name, colour in colours.items():
        cells = int((np.abs(drawn - to_rgb(colour)).max(axis=1) < 1e-6).sum())
        assert cells == int((adata.obs["cell_type"] == name).sum())
    assert {text.get_text() for text in strips[0].texts} >= {"a", "b"}


# -------------------------------------------------------------------------------------- scanpy


@pytest.mark.filterwarnings("ignore")
def test_scanpy_draws_the_results(adata):
    import matplotlib
    import scanpy as sc

    matplotlib.use("agg")
    sc.pp.pca(adata, n_comps=3)
    sc.pl.pca(adata, color="cell_type", show=False)  # gives the types their colours
    ccs.tl.consensus(adata, prefix="leiden_", n_clusters=4, colors_from="cell_type")
    ours = list(adata.uns["consensus_colors"])
    assert set(ours) <= set(adata.uns["cell_type_colors"])
    ax = sc.pl.pca(adata, color="consensus", show=False)
    assert list(adata.uns["consensus_colors"]) == ours
    drawn = {matplotlib.colors.to_hex(c) for c in ax.collections[0].get_facecolor()}
    assert drawn == {colour.lower() for colour in ours}
    sc.pl.pca(adata, color="consensus_confidence", show=False)
    # Without a parent scanpy assigns colours itself.
    ccs.tl.consensus(adata, prefix="leiden_", method="EAC", n_clusters=6, key_added="other")
    sc.pl.pca(adata, color="other", show=False)
    assert len(adata.uns["other_colors"]) == 6
    sc.tl.rank_genes_groups(adata, "consensus", method="t-test")
    assert adata.uns["rank_genes_groups"]["names"].dtype.names == ("0", "1", "2", "3")
    sc.tl.dendrogram(adata, "consensus")
    assert "dendrogram_consensus" in adata.uns


@pytest.mark.parametrize("mixed", [[1, "1", 2, 2], [1.0, "1.0", 2.0, 2.0]])
def test_a_number_and_its_text_are_refused_in_a_column_as_in_an_ensemble(mixed):
    obs = pd.DataFrame({"run_a": pd.Categorical(mixed), "run_b": list("xxyy")}, index=list("abcd"))
    with pytest.raises(InputError, match=r"label 1 of adata.obs\['run_a'\] occurs as a number"):
        ccs.get.ensemble(anndata.AnnData(obs=obs), prefix="run_")


def test_the_text_of_the_missing_value_of_pandas_is_missing_in_a_column():
    seen = pd.Series(pd.array([1, None, 2, 1], dtype="Int64"), index=list("abcd"))
    obs = pd.DataFrame({"run_a": seen.astype(str).astype("category"), "run_b": list("xxyy")})
    ensemble = ccs.get.ensemble(anndata.AnnData(obs=obs), prefix="run_")
    assert ensemble.labels.tolist() == [[0, 0], [-1, 0], [1, 1], [0, 1]]
