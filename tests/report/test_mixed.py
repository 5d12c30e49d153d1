"""Categories and filled cells: in features.csv, in result.json, and in every part of the page that counts them."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import conclust as cc
from conclust import report
from conclust.cli import main
from conclust.confidence import cluster_features
from conclust.exceptions import InputError
from conclust.report.reading import read_result


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    """120 customers in three segments: two columns of numbers with gaps, two of categories."""
    X, segment = make_blobs(120, centers=3, n_features=2, cluster_std=0.5, random_state=1)
    rng = np.random.default_rng(0)
    plan = np.array(["basic", "plus", "premium"], dtype=object)[segment]
    region = np.array(["town", "country"], dtype=object)[rng.integers(0, 2, 120)]
    frame = pd.DataFrame(
        {"age": X[:, 0], "income": 70_000 + 1000 * X[:, 1], "plan": plan, "region": region}
    )
    frame.loc[::17, "plan"] = None
    frame.loc[::10, "income"] = np.nan
    frame.loc[3:5, "age"] = np.nan
    path = tmp_path_factory.mktemp("mixed") / "customers.csv"
    frame.to_csv(path, index=False)
    return frame, path


@pytest.fixture(scope="module")
def folder(customers, tmp_path_factory):
    out = tmp_path_factory.mktemp("mixed") / "result"
    words = ["--categories", "plan,region", "--impute", "median", "--partitions", "20", "-k", "3"]
    assert main(["cluster", str(customers[1]), *words, "-q", "--out", str(out)]) == 0
    return out


def blocks(account, name):
    return next(part["blocks"] for part in account["sections"] if part["id"] == name)


def labels_of(folder):
    with (folder / "labels.csv").open(newline="") as file:
        return np.array([int(row["label"]) for row in csv.DictReader(file)])


def test_features_csv_has_categories_and_counts_filled_cells(customers, folder):
    frame, labels = customers[0], labels_of(folder)
    with (folder / "features.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = [row for row in rows if not row["category"]]
    shares = [row for row in rows if row["category"]]
    assert {row["feature"] for row in numbers} == {"age", "income"}
    assert {(row["feature"], row["category"]) for row in shares} == {
        *(("plan", name) for name in ("basic", "plus", "premium")),
        *(("region", name) for name in ("town", "country")),
    }
    for row in rows:
        k = int(row["cluster"])
        cells = frame.loc[labels == k, row["feature"]]
        others = frame.loc[labels != k, row["feature"]]
        if row["category"]:
            inside, outside = ((c.dropna() == row["category"]).mean() for c in (cells, others))
            assert row["filled"] == "0"
        else:
            inside, outside = cells.mean(), others.mean()  # of the cells that were not filled
            assert int(row["filled"]) == cells.isna().sum()
        assert float(row["inside"]) == pytest.approx(inside)
        assert float(row["outside"]) == pytest.approx(outside)
    record = json.loads((folder / "result.json").read_text())
    assert record["input"]["categories"] == ["plan", "region"]
    assert record["input"]["filled"] == [3, 12]


def test_the_page_shows_shares_with_features(folder):
    content = report.account(folder, pictures=False)
    text, features = blocks(content, "features")
    assert "15 were empty and were filled by the median" in text["text"]
    assert (features["of"], features["categories"]) == (2, 2)
    for part in features["clusters"]:
        names = [row["feature"] for row in part["rows"]]
        assert {"age", "income"} < set(names)
        (plan,) = [row for row in part["rows"] if row["sign"] > 0 and "plan" in row["feature"]]
        assert int(plan["inside"].removesuffix(" %")) > 80
        incomes = [row["inside"] for row in part["rows"] if row["feature"] == "income"]
        assert all(text.replace(",", "").isdigit() for text in incomes)  # not 7.032e+04


def test_a_category_that_looks_like_a_formula_is_guarded_and_read_back(tmp_path):
    X, y = make_blobs(60, centers=2, n_features=2, cluster_std=0.5, random_state=1)
    lines = [f"{a:.3f},{b:.3f},=plan {k}" for (a, b), k in zip(X, y, strict=True)]
    (tmp_path / "points.csv").write_text("a,b,=plan\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out"
    words = ["--categories", "=plan", "--partitions", "10", "-k", "2", "-q"]
    assert main(["cluster", str(tmp_path / "points.csv"), *words, "--out", str(out)]) == 0
    assert ",'=plan 0,0" in (out / "features.csv").read_text()
    features = read_result(out).features
    assert features.category_names == ("=plan",)
    assert set(features.categories.category) == {"=plan 0", "=plan 1"}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_with_text_is_taken_column_by_column(customers, library):
    frame = customers[0].assign(id=[f"c{i}" for i in range(120)])
    numbers = frame[["age", "income"]].fillna(0.0)
    model = cc.ConsensusClustering(
        n_clusters=3,
        generator=cc.EnsembleGenerator("kmeans", n_partitions=20, scale="minmax"),
        random_state=0,
    ).fit(numbers.to_numpy())
    given = frame.assign(age=numbers["age"], income=numbers["income"])
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(given)
    features = read_result(model, X=given).features
    assert features.names == ("age", "income")
    assert features.category_names == ("plan", "region")  # 'id' names the customers
    expected = cluster_features(numbers, model.labels_)
    np.testing.assert_allclose(features.found.difference, expected.difference, rtol=1e-12)
    with pytest.raises(InputError, match="must have a column of numbers"):
        read_result(model, X=frame[["plan"]])
    with pytest.raises(InputError, match="must have the 2 features that the model was fitted to"):
        read_result(model, X=given.drop(columns="age") if library == "pandas" else given[:, 1:])


def test_a_pipeline_is_reported_by_its_last_step(customers):
    frame = customers[0].fillna({"age": 0.0, "income": 70_000.0})
    numbers = frame[["age", "income"]]
    model = cc.ConsensusClustering(n_clusters=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(numbers)
    reported = read_result(pipeline, X=numbers)
    assert reported.labels.tolist() == model.labels_.tolist()
    assert reported.features.names == ("age", "income")
    np.testing.assert_allclose(reported.features.found.inside[:, 1].mean(), 70_000, rtol=0.2)
    np.testing.assert_allclose(reported.points, StandardScaler().fit_transform(numbers))
    chosen = ColumnTransformer([("numbers", MinMaxScaler(), ["age", "income"])])
    mixed = read_result(make_pipeline(chosen, model).fit(frame), X=frame)
    assert mixed.features.category_names == ("plan", "region")
    assert mixed.gaps is not None
    with pytest.raises(Exception, match="not fitted"):
        read_result(make_pipeline(StandardScaler(), cc.ConsensusClustering()))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (70321.4, "70,300"),
        (1234567.0, "1,230,000"),
        (0.01234567, "0.0123"),
        (-5.5, "-5.5"),
        (0.0, "0"),
        (999.96, "1,000"),
        (1.5e-7, "1.5e-07"),
        (3e12, "3e+12"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_are_formatted_for_readers(value, said):
    from conclust._validation import brief

    assert brief(value) == said


@pytest.mark.long
def test_a_table_of_arrow_is_reported_like_the_frame(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra 'parquet'")
    X, segment = make_blobs(60, centers=3, n_features=2, random_state=1)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=np.array(["u", "v", "w"])[segment])
    model = cc.ConsensusClustering(n_clusters=3, random_state=0).fit(frame[["a", "b"]])
    table = pa.table({name: frame[name].tolist() for name in frame})
    pages = [report.write(model, tmp_path / f"{i}.html", X=X) for i, X in enumerate([frame, table])]
    assert pages[0].read_bytes() == pages[1].read_bytes()
