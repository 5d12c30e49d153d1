"""conclust combine --rows answers: tables in long form."""

import csv
import warnings

import numpy as np
import pandas as pd
import pytest

from conclust import Ensemble, EnsembleGenerator
from conclust.cli import main
from conclust.cli.reading.inputs import Reading, read_answers, read_ensemble
from conclust.exceptions import InputError, OrientationWarning

COLUMNS = ("card", "person", "pile")


def sorts(seed=0, n_cards=30, n_people=12):
    """Return answers in random order, a fifth of them missing, and the piles as a table of cards and people."""
    rng = np.random.default_rng(seed)
    wide = np.where(rng.random((n_cards, n_people)) < 0.8, np.arange(n_cards)[:, None] % 3, 3)
    answers = [
        (f"p{u}", f"card {i}", f"pile {wide[i, u]}")
        for i in range(n_cards)
        for u in range(n_people)
        if rng.random() < 0.8
    ]
    frame = pd.DataFrame(answers, columns=["person", "card", "pile"])
    return frame.sample(frac=1, random_state=seed), wide


def test_answers_are_the_cells_of_a_table_of_objects_and_partitions(tmp_path):
    frame, wide = sorts()
    frame.to_csv(tmp_path / "long.csv", index=False)
    found = read_answers(tmp_path / "long.csv", Reading(columns=COLUMNS))
    assert found.ids == frame["card"].drop_duplicates().tolist()
    assert list(found.names) == frame["person"].drop_duplicates().tolist()
    given = set(zip(frame["card"], frame["person"], strict=True))
    ensemble = found.ensemble
    for i, card in enumerate(found.ids):
        for u, person in enumerate(found.names):
            code = ensemble.labels[i, u]
            if (card, person) not in given:
                assert code == -1
            else:
                pile = wide[int(card.split()[1]), int(person[1:])]
                assert ensemble.names[u][code] == f"pile {pile}"
    frame.to_parquet(tmp_path / "long.parquet")
    same = read_answers(tmp_path / "long.parquet", Reading(columns=COLUMNS))
    assert np.array_equal(same.ensemble.labels, ensemble.labels)


def test_missing_noise_codes_and_weights_of_answers(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("i,u,k\n1,a,0\n2,a,-1\n1,b,99\n2,b,-2\n3,b,7\n3,a,0\n")
    (tmp_path / "w.csv").write_text("b,a\n2,1\n")
    how = {"columns": ("i", "u", "k"), "na": ("99",)}
    found = read_answers(path, Reading(**how, weights=tmp_path / "w.csv"))
    assert found.ensemble.labels.tolist() == [[0, -1], [-1, -2], [0, 0]]
    assert found.ensemble.weights.tolist() == [1, 2]
    noisy = read_answers(path, Reading(**how, missing="noise"))
    assert noisy.ensemble.labels.tolist() == [[0, -1], [-2, -2], [0, 0]]


def test_the_shell_combines_answers(tmp_path, capsys):
    frame, _ = sorts()
    frame.to_csv(tmp_path / "long.csv", index=False)
    out = tmp_path / "out"
    options = ["--rows", "answers", "--columns", ",".join(COLUMNS), "--out", str(out)]
    assert main(["combine", str(tmp_path / "long.csv"), *options]) == 0
    assert " of 30 objects, from 12 clusterings. Sizes: 10, 10, 10." in capsys.readouterr().out
    assert '"rows": "answers"' in (out / "result.json").read_text()
    with (out / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    planted = [int(row["card"].split()[1]) % 3 for row in rows]
    assert len({(k, row["label"]) for k, row in zip(planted, rows, strict=True)}) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "needs three columns"),
        (["--columns", "card,person"], "needs three columns"),
        (["--columns", "card,person,heap"], "there is no column 'heap'"),
        (
            ["--columns", "card,person,pile", "--id-column", "card"],
            "leave --id-column, --label-column and --drop out",
        ),
    ],
)
def test_unreadable_answers_are_refused(options, message, tmp_path, capsys):
    sorts()[0].to_csv(tmp_path / "long.csv", index=False)
    arguments = ["combine", str(tmp_path / "long.csv"), "--rows", "answers", *options]
    try:
        code = main(arguments)
    except SystemExit as error:
        code = error.code
    assert code
    assert message in capsys.readouterr().err


def test_two_piles_of_one_card_are_refused_by_name(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("card,person,pile\nnail,ann,a\nmilk,ann,a\nnail,ann,b\n")
    with pytest.raises(InputError, match="'ann' puts the object 'nail' into two clusters"):
        read_answers(path, Reading(columns=COLUMNS))


def test_answers_that_are_read_as_labels_give_a_hint(tmp_path):
    frame, _ = sorts()
    with pytest.warns(
        OrientationWarning, match=r"columns 0 and 1 are different.*from_long"
    ) as caught:
        Ensemble(frame)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    frame["number"] = frame["card"].str[5:]  # another name of each card
    frame[["pile", "card", "number", "person"]].to_csv(tmp_path / "long.csv", index=False)
    with pytest.warns(OrientationWarning, match=r"columns 1 and 3 are different.*--rows answers"):
        read_ensemble(tmp_path / "long.csv", Reading())


def test_three_partitions_give_no_hint():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (12, 25, 200):
            for n_clusters in (2, 5, n // 4):
                Ensemble(rng.integers(0, n_clusters, (n, 3)))
            points = rng.normal(size=(n, 2))
            generator = EnsembleGenerator("kmeans", 3, n_clusters=[3, 5, 8], random_state=0)
            Ensemble(generator.fit_transform(points))
            Ensemble(np.column_stack([np.arange(n), np.arange(n) % 3, np.arange(n) % 2]))
