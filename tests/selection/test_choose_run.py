"""The run to keep: against entropies, against all stretches of runs, and on networks whose two levels are planted."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, mutual_info_score, rand_score
from sklearn.neighbors import kneighbors_graph
from tests.naive import losses as naive

from conclust import Ensemble
from conclust.cli import main
from conclust.exceptions import InputError, ParameterError
from conclust.selection import choose_run

FINE = np.repeat(np.arange(16), 16)
COARSE = FINE // 4


def communities(network, resolutions, seed=0):
    """Return the communities of a network at each resolution, as columns that scanpy writes."""
    columns = {}
    for resolution in resolutions:
        labels = np.zeros(len(network), dtype=int)
        found = nx.community.louvain_communities(network, resolution=resolution, seed=seed)
        for number, nodes in enumerate(found):
            labels[list(nodes)] = number
        columns[f"leiden_{resolution:.2f}"] = pd.Categorical(labels.astype(str))
    return pd.DataFrame(columns)


def sweep(seed):
    """Return communities of a network of 16 groups in 4 groups, at 20 resolutions."""
    shares = np.kron(np.eye(4), np.full((4, 4), 0.09)) + 0.01
    np.fill_diagonal(shares, 0.9)
    network = nx.stochastic_block_model([16] * 16, shares.tolist(), seed=seed)
    runs = communities(network, np.geomspace(0.2, 12, 20), seed)
    return runs.set_axis([f"cell{i}" for i in range(len(FINE))])


@pytest.mark.parametrize("seed", range(3))
def test_the_plateau_is_a_planted_level(seed):
    runs = sweep(seed)
    found = choose_run(runs)
    labels = runs.iloc[:, found.plateau_run]
    assert 1.0 in [adjusted_rand_score(level, labels) for level in (COARSE, FINE)]
    assert len(found.plateau) >= 6
    np.testing.assert_array_equal(np.diff(found.plateau), 1)
    assert found.names == tuple(runs.columns)
    frame = found.to_frame()
    assert frame.index[frame["in_plateau"]].tolist() == [found.names[u] for u in found.plateau]
    # The run nearest to all lies between the levels: of a sweep the plateau is to be kept.
    assert found.losses[found.run] == frame["loss"].min()


def drifting(rng, n=40, m=12):
    """Return runs that are equal for a while, then change."""
    columns, labels = [], rng.integers(0, 2, n)
    for _ in range(m):
        if rng.random() < 0.5:
            moved = rng.random(n) < rng.choice([0.05, 0.5])
            labels = np.where(moved, rng.integers(0, 5, n), labels)
        columns.append(np.where(rng.random(n) < 0.1, -1, labels))
    return np.column_stack(columns)


def longest_plateau(apart):
    """Return the longest stretch of runs that are as near to each other as neighbours are on average, and its run to keep."""
    m = len(apart)
    most = np.mean([apart[u][u + 1] for u in range(m - 1)]) + 1e-9
    stretches = [
        range(first, end)
        for first in range(m)
        for end in range(first + 1, m + 1)
        if all(apart[a][b] <= most for a in range(first, end) for b in range(a + 1, end))
    ]
    longest = max(stretches, key=lambda one: (len(one), -one.start))
    means = [np.mean([apart[a][b] for b in longest]) for a in longest]
    return list(longest), longest[int(np.argmin(np.round(means, 12)))]


@pytest.mark.parametrize("loss", ["vi", "binder", "omari"])
@pytest.mark.parametrize("seed", range(4))
def test_losses_and_plateau_are_found_by_comparing_all_pairs_and_all_stretches(loss, seed):
    rng = np.random.default_rng(seed)
    runs, weights = drifting(rng), rng.uniform(0.5, 2.0, 12)
    found = choose_run(Ensemble(runs, weights=weights), loss=loss)
    for u in range(12):
        others = [v for v in range(12) if v != u]
        mean = naive.expected_loss(runs[:, u], runs[:, others], loss, weights=weights[others])
        assert found.losses[u] == pytest.approx(mean, abs=1e-12)
    assert found.run == found.losses.argmin()
    apart = [[naive.loss(a, b, loss) for a in runs.T] for b in runs.T]
    assert (found.plateau.tolist(), found.plateau_run) == longest_plateau(apart)


# In the unit of choose_run: the variation of information in bits; of pairs of objects that differ all n^2.
SCORES = {
    "vi": lambda a, b: (
        (mutual_info_score(a, a) + mutual_info_score(b, b) - 2 * mutual_info_score(a, b))
        / np.log(2)
    ),
    "binder": lambda a, b: (1 - rand_score(a, b)) * (len(a) - 1) / len(a),
    "omari": lambda a, b: 1 - adjusted_rand_score(a, b),
}


@pytest.mark.parametrize("loss", SCORES)
def test_the_resolution_of_irises_to_keep_is_that_by_the_scores_of_scikit_learn(loss):
    X, species = load_iris(return_X_y=True)
    network = nx.from_scipy_sparse_array(kneighbors_graph(X, 15))
    runs = communities(network, np.geomspace(0.1, 4, 16)).to_numpy(int)
    found = choose_run(runs, loss=loss)
    apart = np.array([[SCORES[loss](a, b) for a in runs.T] for b in runs.T])
    np.testing.assert_allclose(found.losses, apart.sum(axis=0) / 15, atol=1e-12)
    assert found.run == apart.sum(axis=0).round(9).argmin()
    assert (found.plateau.tolist(), found.plateau_run) == longest_plateau(apart)
    np.testing.assert_array_equal(found.groups[:, None] == found.groups, apart < 1e-9)
    assert len(set(runs[:, found.plateau_run])) == len(set(species))


def test_equal_runs_are_groups():
    runs = np.array([[0, 1, 0, 5, 5], [0, 1, 1, 5, 5], [1, 0, 1, 7, 7], [1, 0, 1, 7, -1]])
    found = choose_run(runs)
    assert found.groups.tolist() == [0, 0, 1, 0, 2]
    assert found.n_clusters.tolist() == [2, 2, 2, 2, 2]
    assert found.run == 0
    assert "of 5 runs (3 different), 0 is nearest" in found.sentence


def test_runs_of_one_cluster_are_no_plateau():
    one, two = [0, 0, 0, 0], [0, 0, 1, 1]
    assert choose_run(np.column_stack([one, one, one, two, two])).plateau.tolist() == [3, 4]
    assert "no plateau" in choose_run(np.column_stack([one, one, one])).sentence


def test_runs_that_share_no_object_are_not_compared():
    runs = np.array([[0, 0, -1], [0, 1, -1], [-1, -1, 0], [-1, -1, 0]])
    found = choose_run(runs)
    assert np.isnan(found.losses[2])
    assert found.run == 0
    with pytest.raises(InputError, match="No two do"):
        choose_run(runs[:, 1:])
    with pytest.raises(InputError, match="at least two columns"):
        choose_run(runs[:, :1])
    with pytest.raises(ParameterError, match="'loss' parameter of choose_run"):
        choose_run(runs, loss="ari")


def test_the_shell_compares_columns_of_scanpy_and_files(tmp_path, capsys):
    runs = sweep(0)
    table, paths = tmp_path / "obs.csv", []
    runs.assign(n_genes=np.arange(len(runs)) * 1.5).to_csv(table)
    for name in runs:
        paths.append(str(tmp_path / f"{name}.csv"))
        shuffled = runs[[name]].sample(frac=1, random_state=0)
        shuffled.to_csv(paths[-1], index_label="cell", header=["label"])
    expected = choose_run(runs)
    assert main(["compare", "--all", str(table), "--column", "leiden_*", "--json"]) == 0
    of_table = json.loads(capsys.readouterr().out)
    assert main(["compare", "--all", *paths, "--json"]) == 0
    of_files = json.loads(capsys.readouterr().out)
    for said, names in ((of_table, expected.names), (of_files, paths)):
        assert said["plateau"] == [names[u] for u in expected.plateau]
        assert (said["nearest"], said["plateau_run"]) == (
            names[expected.run],
            names[expected.plateau_run],
        )
        rows = [(row["clusters"], row["mean_vi"], row["group"]) for row in said["runs"]]
        np.testing.assert_allclose(
            np.array(rows).T, [expected.n_clusters, expected.losses, expected.groups]
        )
    assert main(["compare", "--all", str(table), "--column", "leiden_*"]) == 0
    printed = capsys.readouterr().out
    assert f"{len(runs)} objects; {expected.sentence}" in printed
    assert f"  {'run':<12}  clusters  mean VI  group\n  leiden_0.20 " in printed
    assert main(["compare", "--all", str(table), "--column", "louvain_*"]) == 1
    assert "there is no column 'louvain_*'" in capsys.readouterr().err
    for words in ([], [paths[0]], [paths[0], paths[1], "--all", paths[2]]):
        with pytest.raises(SystemExit) as ended:
            main(["compare", *words])
        assert ended.value.code == 2
        assert "Give two files, or --all" in capsys.readouterr().err
