"""The sample of hospital encounters that comes with the package, its hierarchies and its policy."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sudare import datasets
from sudare.datasets import diabetes, diabetes_hierarchies, diabetes_policy
from sudare.datasets.preparation import DIABETES_DRUGS, main, make_diabetes
from sudare.hierarchies import from_csv, levels, missing_values
from sudare.policy import Policy

ITEMS = pa.list_(pa.string())
COLUMNS = {
    "encounter": pa.int64(),
    "patient": pa.int64(),
    "race": pa.string(),
    "gender": pa.string(),
    "age": pa.string(),
    "admission_type": pa.int8(),
    "time_in_hospital": pa.int8(),
    "diagnoses": ITEMS,
    "drugs": ITEMS,
    "readmitted": pa.string(),
}


def test_rows_and_columns():
    table = diabetes()
    assert table.num_rows == 8986
    assert pc.count_distinct(table["patient"]).as_py() == 6300
    assert pc.count_distinct(table["encounter"]).as_py() == 8986
    assert table.schema.equals(pa.schema(COLUMNS.items()))
    assert [name for name in COLUMNS if table[name].null_count] == ["race"]


def test_cells_are_clean():
    table = diabetes()
    for name in ("race", "gender", "age", "readmitted"):
        assert "?" not in table[name].unique().to_pylist()
    assert set(table["readmitted"].unique().to_pylist()) == {"NO", "<30", ">30"}
    assert len(table["age"].unique()) == 10
    for name, most in (("diagnoses", 3), ("drugs", 23)):
        sets = table[name].to_pylist()
        assert all(len(items) == len(set(items)) <= most for items in sets)
        assert "?" not in {item for items in sets for item in items}
    assert set(pc.list_flatten(table["drugs"]).unique().to_pylist()) <= set(DIABETES_DRUGS)
    assert len(DIABETES_DRUGS) == len(set(DIABETES_DRUGS)) == 23


def test_it_is_small():
    assert Path(datasets.__file__).with_name("diabetes.parquet").stat().st_size < 400_000


def test_every_item_has_its_place_in_the_hierarchies():
    table, files = diabetes(), diabetes_hierarchies()
    assert set(files) == {"diagnoses", "drugs"}
    for name, path in files.items():
        hierarchy = from_csv(path)
        assert len(missing_values(hierarchy, pc.list_flatten(table[name]).unique())) == 0
        assert hierarchy.root == "*"
    assert levels(from_csv(files["diagnoses"])) == (915, 881, 18, 1)  # every code of the whole data set
    assert levels(from_csv(files["drugs"])) == (23, 10, 1)


@pytest.mark.parametrize(
    "line",
    [
        "8;008.x;001-139 infectious and parasitic;*",
        "139;139.x;001-139 infectious and parasitic;*",
        "140;140.x;140-239 neoplasms;*",
        "250.83;250.x;240-279 endocrine and metabolic;*",
        "V45;V45.x;V01-V91 health status and contact with services;*",
        "E950;E950.x;E000-E999 external causes;*",
        "999;999.x;800-999 injury and poisoning;*",
    ],
)
def test_chapters(line):
    assert line in diabetes_hierarchies()["diagnoses"].read_text(encoding="utf-8").splitlines()


def test_no_label_means_two_things():
    for path in diabetes_hierarchies().values():
        by_level = [set(column.to_pylist()) for column in from_csv(path).columns()]
        assert len(set().union(*by_level)) == sum(map(len, by_level))


def test_the_policy():
    policy = Policy.load(diabetes_policy())
    assert policy.quasi == ["race", "gender", "age", "admission_type", "diagnoses", "drugs"]
    assert policy.sensitive == ["readmitted"]
    assert policy.named("identifier") == ["encounter"]
    assert policy.named("subject") == ["patient"]
    assert policy.named("insensitive") == ["time_in_hospital"]
    assert [spec.describe() for spec in policy.require] == ["k-anonymity (k = 5, count = subjects)"]
    assert [name for name, spec in policy.columns.items() if spec.kind == "items"] == ["diagnoses", "drugs"]
    assert policy.method.name == "top-down"
    assert set(policy.columns) == set(COLUMNS)


def source(path):
    """Write three encounters of two patients in the form of the source, with a column that is not wanted."""
    head = ["encounter_id", "patient_nbr", "race", "gender", "age", "weight", "admission_type_id", "time_in_hospital"]
    head += ["diag_1", "diag_2", "diag_3", *DIABETES_DRUGS, "readmitted"]
    rows = [
        (["11", "1", "?", "Female", "[0-10)", "?", "6", "1", "250.83", "?", "?"], {}, "NO"),
        (["12", "2", "Asian", "Male", "[70-80)", "?", "1", "3", "8", "V45", "8"], {"insulin": "Up"}, "<30"),
        (["13", "1", "?", "Female", "[0-10)", "?", "2", "2", "276", "276", "E950"], {"metformin": "Steady"}, ">30"),
    ]
    lines = [[*row, *(given.get(drug, "No") for drug in DIABETES_DRUGS), end] for row, given, end in rows]
    path.write_text("".join(",".join(line) + "\n" for line in [head, *lines]), encoding="utf-8")
    return path


def test_making_the_file(tmp_path):
    make_diabetes(source(tmp_path / "source.csv"), tmp_path / "all.parquet")
    table = pq.read_table(tmp_path / "all.parquet")
    assert table.schema.names == list(COLUMNS)
    assert table["encounter"].to_pylist() == [11, 12, 13]
    assert table["race"].to_pylist() == [None, "Asian", None]
    assert table["diagnoses"].to_pylist() == [["250.83"], ["8", "V45"], ["276", "E950"]]
    assert table["drugs"].to_pylist() == [[], ["insulin"], ["metformin"]]
    assert table["admission_type"].to_pylist() == [6, 1, 2]


def test_patients_are_taken_whole(tmp_path):
    main("diabetes", str(source(tmp_path / "source.csv")), str(tmp_path / "some.parquet"), "1")
    assert pq.read_table(tmp_path / "some.parquet")["patient"].to_pylist() in ([1, 1], [2])


def test_making_the_hierarchy(tmp_path):
    make_diabetes(source(tmp_path / "source.csv"), tmp_path / "all.parquet")
    main("diagnoses", str(tmp_path / "all.parquet"), str(tmp_path / "diagnoses.csv"))
    assert (tmp_path / "diagnoses.csv").read_text(encoding="utf-8").splitlines() == [
        "8;008.x;001-139 infectious and parasitic;*",
        "250.83;250.x;240-279 endocrine and metabolic;*",
        "276;276.x;240-279 endocrine and metabolic;*",
        "E950;E950.x;E000-E999 external causes;*",
        "V45;V45.x;V01-V91 health status and contact with services;*",
    ]


def test_looking_at_the_policy_does_not_load_arrow():
    code = "import sys; from sudare.datasets import *; diabetes_policy(); diabetes_hierarchies(); "
    code += "print([m for m in ('pyarrow', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
