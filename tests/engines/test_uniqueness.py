"""What is unique in a release is counted where it is: the same as in a file, and as pandas counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import AuditFailedError

QUASI, PLAIN = ["age", "sex"], ["stay", "labs", "ward"]
LIMIT = {"model": "uniqueness", "most": 0.05}


def patients(rows=400, seed=3):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(20, 60, rows),
            "sex": draw.choice(["F", "M"], rows),
            "stay": draw.integers(1, 15, rows),
            "labs": [None if number > 140 else int(number) for number in draw.integers(1, 150, rows)],
            "ward": draw.choice(["north", "south", None], rows).tolist(),
            "diag": [
                f"R{row}" if row < 12 else None if row < 20 else str(each)
                for row, each in enumerate(draw.choice(["A", "B", "C"], rows, p=[0.8, 0.15, 0.05]))
            ],
            "who": np.arange(rows) // 2,
        }
    )


def policy(require=(), people=False, **parts):
    roles = dict.fromkeys(QUASI, "quasi") | dict.fromkeys(PLAIN, "insensitive") | {"diag": "sensitive"}
    first = {"model": "k-anonymity", "k": 5}
    if people:
        roles["who"], first["count"] = "subject", "subjects"
    return {"columns": {name: {"role": role} for name, role in roles.items()}, "require": [first, *require], **parts}


def told(report):
    """What a report warns of; where people are counted, an engine looks at fewer combinations."""
    return counted([one.to_dict() for one in report.warnings])


def counted(warnings):
    return [one for one in warnings if one["kind"] != "unique-combination"]


def check(report, rows):
    """Compare what is told with what pandas counts in the rows of the release."""
    frame = rows.to_pandas()
    [few] = [one["figures"] for one in report if one["kind"] == "rare-values"]
    assert few == {"fewer_than": 5, "values": int((frame.diag.value_counts() < 5).sum())}
    assert few["values"] == 12
    found = {(one["kind"], tuple(one["columns"])): one["figures"].get("share") for one in report}
    for kind, names in (("unique-released", [*QUASI, *PLAIN]), ("unique-insensitive", PLAIN)):
        assert found[kind, tuple(names)] == round(float((~frame.duplicated(names, keep=False)).mean()), 3) > 0
    frame["diag"] = frame.diag.fillna("missing")
    alike = float((frame.groupby(QUASI).diag.transform("nunique") == 1).mean())
    assert found.get(("homogeneous", ("diag",)), 0.0) == round(alike, 3)


@pytest.mark.parametrize("people", [False, True], ids=["records", "people"])
def test_a_table_is_warned_of_as_its_file_is(home, tmp_path, people):
    import pyarrow.parquet as pq

    home.load("patients", patients())
    rules = policy(people=people)
    release = sudare.anonymize(home.address("patients"), rules, out=home.address("release"))
    rows = home.read("release").replace_schema_metadata(None)
    rows = rows.cast(pa.schema([pa.field(one.name, one.type) for one in rows.schema]))  # drivers note types at columns
    pq.write_table(rows, tmp_path / "release.parquet")
    inside = sudare.audit(home.address("release"), rules)
    assert inside.passed
    assert (
        told(inside)
        == told(sudare.audit(tmp_path / "release.parquet", rules))
        == counted(release.certificate["warnings"])
    )
    if not people:
        check(told(inside), rows)


def test_a_limit_keeps_a_table_from_being_made(home):
    home.load("patients", patients())
    with pytest.raises(AuditFailedError, match="uniqueness"):
        sudare.anonymize(home.address("patients"), policy([LIMIT]), out=home.address("release"))
    assert "release" not in home.tables()


def test_spark_counts_the_same(spark, tmp_path):
    import pyarrow.parquet as pq

    frame = spark.createDataFrame(patients()).repartition(2)
    for people in (False, True):
        rules = policy(people=people)
        release = sudare.anonymize(frame, rules, out=str(tmp_path / f"release {people}.parquet"))
        rows = pq.read_table(tmp_path / f"release {people}.parquet")
        pq.write_table(rows, tmp_path / "release.parquet")
        assert told(sudare.audit(tmp_path / "release.parquet", rules)) == counted(release.certificate["warnings"])
        again = sudare.audit(str(tmp_path / f"release {people}.parquet"), rules, engine="spark")
        assert again.passed, again.problems
        assert told(again) == counted(release.certificate["warnings"])
        if not people:
            check(release.certificate["warnings"], rows)


def test_a_limit_keeps_spark_from_writing(spark, tmp_path):
    frame = spark.createDataFrame(patients()).repartition(2)
    with pytest.raises(AuditFailedError, match="uniqueness"):
        sudare.anonymize(frame, policy([LIMIT]), out=str(tmp_path / "release.parquet"))
    assert not (tmp_path / "release.parquet").exists()
