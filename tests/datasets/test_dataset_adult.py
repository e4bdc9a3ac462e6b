"""The Adult table that comes with the package, its hierarchies and its policy."""

import subprocess
import sys

import pyarrow as pa
import pytest

from sudare.core.errors import ParameterError
from sudare.datasets import adult, adult_hierarchies, adult_policy
from sudare.datasets.preparation import make_adult
from sudare.hierarchies import from_csv, levels, missing_values
from sudare.policy import Policy

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


@pytest.mark.parametrize(
    ("part", "rows", "complete"), [("train", 32_561, 30_162), ("test", 16_281, 15_060), ("all", 48_842, 45_222)]
)
def test_rows(part, rows, complete):
    table = adult(part)
    assert table.num_rows == rows
    assert table.column_names == COLUMNS
    whole = adult(part, complete=True)
    assert whole.num_rows == complete
    assert all(column.null_count == 0 for column in whole.columns)


def test_cells_are_clean():
    table = adult("all")
    assert {field.type for field in table.schema} == {pa.int32(), pa.string()}
    assert [name for name in COLUMNS if table[name].null_count] == ["workclass", "occupation", "native-country"]
    for name in COLUMNS:
        if table.schema.field(name).type == pa.string():
            for value in table[name].unique().drop_null().to_pylist():
                assert value == value.strip()
                assert value != "?"
    assert table["income"].unique().to_pylist() == ["<=50K", ">50K"]
    assert table.slice(0, 1).to_pylist()[0]["native-country"] == "United-States"


def test_an_unknown_part():
    with pytest.raises(ParameterError, match="Allowed: train, test, all"):
        adult("both")  # type: ignore[arg-type]


def test_every_value_has_its_place_in_the_hierarchies():
    table = adult("all")
    files = adult_hierarchies()
    assert set(files) == set(COLUMNS) - {"fnlwgt", "capital-gain", "capital-loss", "hours-per-week"}
    for name, path in files.items():
        hierarchy = from_csv(path)
        values = table[name].combine_chunks().drop_null().unique()
        assert len(missing_values(hierarchy, values)) == 0
        _, taxonomy = hierarchy.taxonomy(values, True)
        assert taxonomy.size == levels(hierarchy)[0] >= len(values)
        assert hierarchy.root == "*"


def test_age_bands():
    columns = [column.to_pylist() for column in from_csv(adult_hierarchies()["age"]).columns()]
    assert ("39", "35-39", "30-39", "20-39", "*") in zip(*columns, strict=True)


def test_the_policy():
    policy = Policy.load(adult_policy())
    assert policy.quasi == [
        "age",
        "workclass",
        "education-num",
        "marital-status",
        "occupation",
        "race",
        "sex",
        "native-country",
    ]
    assert policy.sensitive == ["income"]
    assert policy.named("insensitive") == ["hours-per-week"]
    assert [spec.describe() for spec in policy.require] == [
        "k-anonymity (k = 10, count = rows)",
        "l-diversity (l = 2, column = income, variant = distinct)",
    ]
    assert policy.method.name == "top-down"
    assert set(policy.columns) <= set(COLUMNS)
    assert all(spec.hierarchy is None for spec in policy.columns.values())


def test_making_the_file(tmp_path, monkeypatch):
    text = "age,workclass\n39, State-gov\n50, ?\n"
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    make_adult(tmp_path / "train.csv", tmp_path / "test.csv", tmp_path / "adult.parquet")
    monkeypatch.setattr("sudare.datasets.files", lambda _: tmp_path)
    assert adult("test").to_pylist() == [{"age": 39, "workclass": "State-gov"}, {"age": 50, "workclass": None}]
    assert adult("all").num_rows == 4


def test_importing_is_light():
    code = "import sys, sudare.datasets; print([m for m in ('pyarrow', 'numpy', 'numba', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
