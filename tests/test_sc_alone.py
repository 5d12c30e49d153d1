"""conclust.sc needs only obs, obsm and uns: tested without anndata (the rest is in tests/sc)."""

import copy

import numpy as np
import pandas as pd
import pytest
from tests.cases import planted

import conclust as cc
import conclust.sc as ccs


class Annotated:
    def __init__(self, obs):
        self.obs, self.obsm, self.uns = obs, {}, {}

    def copy(self):
        return copy.deepcopy(self)


@pytest.fixture
def cells():
    labels, truth = planted(seed=1, n=90, m=6, k=3, flip=0.1, missing=0.1)
    obs = pd.DataFrame(
        labels, columns=[f"run_{u}" for u in range(6)], index=[f"c{i}" for i in range(90)]
    )
    obs["run_1"] = obs["run_1"].astype(str).astype("category")
    obs["run_2"] = obs["run_2"].where(obs["run_2"] >= 0).astype("Int64")
    obs["run_3"] = obs["run_3"].where(obs["run_3"] >= 0)
    obs["type"] = pd.Categorical(np.array(["T", "B", "NK"])[truth])
    return Annotated(obs), cc.Ensemble(labels)


def test_columns_of_every_kind_give_the_same_labels(cells):
    adata, ensemble = cells
    assert ccs.get.ensemble(adata, prefix="run_") == ensemble


def test_tools_work_without_anndata(cells):
    adata, ensemble = cells
    adata.uns["type_colors"] = ["red", "green", "blue"]
    ccs.tl.consensus(adata, prefix="run_", n_clusters=3, names_from="type", colors_from="type")
    assert (adata.obs["consensus"].astype(str) == adata.obs["type"].astype(str)).mean() > 0.95
    model = cc.AutoConsensus(3, random_state=0).fit(ensemble)
    np.testing.assert_array_equal(adata.obs["consensus"].cat.codes, model.labels_)
    colour = dict(
        zip(adata.obs["consensus"].cat.categories, adata.uns["consensus_colors"], strict=True)
    )
    assert colour == {"B": "red", "NK": "green", "T": "blue"}
    ccs.tl.stability(adata, prefix="run_", groupby="type")
    assert adata.uns["type_stability"]["table"].index.tolist() == ["B", "NK", "T"]
    new = Annotated(adata.obs.iloc[:20, :6].copy())
    ccs.tl.predict(new, adata)
    assert new.obs["consensus"].tolist() == adata.obs["consensus"].iloc[:20].tolist()
    actual = ccs.tl.consensus(adata, prefix="run_", method="EAC", n_clusters=3, copy=True)
    assert "consensus_membership" in adata.obsm
    assert "consensus_membership" not in actual.obsm
