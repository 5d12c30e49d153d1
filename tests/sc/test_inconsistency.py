"""Members from the graph of an AnnData, their inconsistency, clusters that they split, and the report."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import conclust.sc as ccs
from conclust.confidence import inconsistency
from conclust.exceptions import EvidenceWarning, ParameterError

anndata = pytest.importorskip("anndata")
mpl.use("Agg")


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


def test_tables_are_restored_from_files(adata, tmp_path):
    ccs.tl.consensus(adata, prefix="leiden_")
    ccs.tl.inconsistency(adata, prefix="leiden_", by="all")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for key, part in (
        ("consensus", "clusters"),
        ("consensus", "columns"),
        ("inconsistency", "table"),
    ):
        pd.testing.assert_frame_equal(
            back.uns[key][part], adata.uns[key][part], check_dtype=False, check_index_type=False
        )
