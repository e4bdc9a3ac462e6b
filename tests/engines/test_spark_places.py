"""Where rows come from and go to on Spark, what their columns may be called and hold, and what is left behind."""

import datetime
import decimal
import json
import os
import signal
import subprocess
import sys
import types

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.comparing import assert_same, rows_of

import sudare
from sudare.core.errors import (
    AuditFailedError,
    DataError,
    ParameterError,
    PolicyUnmetError,
    SudareError,
    TargetError,
    UnsupportedError,
)  # fmt: skip

ODD = ["a`b", 'c"d', "e.f", "g;h", "ü ñ", "drop table x; --", "{i}"]


def policy(columns, k=3, **more):
    return {
        "version": 1, "columns": columns, "require": [{"model": "k-anonymity", "k": k}], "method": {"name": "top-down"},
    } | more  # fmt: skip


def table(rows=600, seed=0):
    random = np.random.default_rng(seed)
    return pa.table({"age": random.integers(20, 60, rows), "sex": random.choice(["m", "f"], rows)})


PLAIN = policy({"age": {"role": "quasi"}, "sex": {"role": "quasi"}})


@pytest.fixture
def parquet(tmp_path):
    pq.write_table(table(), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_names_are_names_and_nothing_else(spark, in_pieces, tmp_path):
    random = np.random.default_rng(2)
    given = pa.table({name: random.integers(0, 9, 400) for name in ODD})
    pq.write_table(given, tmp_path / "odd [1].parquet")
    asked = policy({name: {"role": "insensitive" if name == "e.f" else "quasi"} for name in ODD})
    out = tmp_path / "re lease.parquet"
    spread = sudare.anonymize(tmp_path / "odd [1].parquet", asked, out=out, engine="spark")
    assert pq.read_schema(next(out.iterdir())).names == ODD
    assert_same(sudare.anonymize(given, asked), spread)
    assert sudare.audit(out, asked, engine="spark").passed


def test_types_and_missing_cells(spark, in_pieces):
    random = np.random.default_rng(3)
    rows = 500

    def some(values, kind=None):
        cells = [values[place] for place in random.integers(0, len(values), rows)]
        return pa.array(cells, kind)

    day = datetime.date(2020, 1, 1)
    given = pa.table({
        "text": some(["a", "b", "", None]),
        "number": some([1.5, float("nan"), -0.0, 0.0, None, 7.25], pa.float64()),
        "day": some([None, *(day + datetime.timedelta(days=n) for n in range(20))], pa.date32()),
        "time": some([datetime.datetime(2020, 1, 1, hour) for hour in range(12)], pa.timestamp("us")),
        "money": some([decimal.Decimal("1.10"), decimal.Decimal("2.25"), None], pa.decimal128(9, 2)),
        "flag": some([True, False, None], pa.bool_()),
        "small": some([1, 2, 3], pa.int8()),
        "never": pa.nulls(rows, pa.string()),
        "ill": some([0.5, float("nan"), None, -0.0, 0.0, 3.0], pa.float64()),
        "left": some([[1, 2], [], None], pa.list_(pa.int32())),
    })  # fmt: skip
    roles = {name: {"role": "quasi"} for name in given.column_names[:8]}
    asked = policy(roles | {"ill": {"role": "sensitive"}, "left": {"role": "insensitive"}}, k=4)
    asked["require"].append({"model": "l-diversity", "l": 2, "column": "ill"})
    frame = spark.createDataFrame(given).repartition(2)  # times have a zone there
    assert_same(sudare.anonymize(frame.toArrow(), asked), sudare.anonymize(frame, asked))


def test_a_frame_gives_a_frame_that_stays_as_it_is(spark, in_pieces):
    frame = spark.createDataFrame(table())
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    release = sudare.anonymize(frame, PLAIN)
    assert release.path is None
    assert type(release.data) is type(frame)
    assert release.data.toArrow().equals(release.data.toArrow())
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before
    assert sudare.audit(release.data, PLAIN).passed
    release.data.unpersist()


def test_a_folder_of_parquet_and_its_certificate(spark, parquet, tmp_path):
    out = tmp_path / "release.parquet"
    release = sudare.anonymize(parquet, PLAIN, out=out, engine="spark")
    assert release.path == out
    assert out.is_dir()
    paper = json.loads((tmp_path / "release.parquet.sudare.json").read_text())
    assert paper == release.certificate
    assert rows_of(release) == rows_of(sudare.anonymize(table(), PLAIN))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "people.parquet", "release.parquet", "release.parquet.sudare.json",
    ]  # fmt: skip
    assert sudare.audit(out, PLAIN, engine="spark").passed
    again = sudare.anonymize(parquet, PLAIN, out=out, engine="spark")  # an older release is replaced
    assert again.certificate["release_sha256"] == release.certificate["release_sha256"]
    part = next(out.iterdir())
    changed = pq.read_table(part)
    pq.write_table(changed.slice(1), part)
    report = sudare.audit(out, PLAIN, engine="spark")
    assert not report.passed
    assert {problem.where for problem in report.problems} == {"certificate.release_sha256", "certificate.rows_out"}


def test_a_table_of_spark(spark, parquet, tmp_path):
    spark.sql("CREATE DATABASE IF NOT EXISTS sudare_test")
    try:
        spark.createDataFrame(table()).write.saveAsTable("sudare_test.people")
        for _ in range(2):
            release = sudare.anonymize("sudare_test.people", PLAIN, out="sudare_test.release", engine="spark")
        names = {row.name for row in spark.catalog.listTables("sudare_test")}
        assert names == {"people", "release", "release_sudare"}
        assert sudare.audit("sudare_test.release", PLAIN, engine="spark").passed
        assert release.certificate["classes"] == sudare.anonymize(table(), PLAIN).certificate["classes"]
        with pytest.raises(TargetError, match="is not a release"):
            sudare.anonymize(parquet, PLAIN, out="sudare_test.people", engine="spark")
        with pytest.raises(PolicyUnmetError):
            sudare.anonymize("sudare_test.people", policy(PLAIN["columns"], k=601), out="sudare_test.b", engine="spark")
        assert {row.name for row in spark.catalog.listTables("sudare_test")} == names
    finally:
        spark.sql("DROP DATABASE sudare_test CASCADE")


@pytest.mark.parametrize("given, out, wrong", [
    ("nothing.parquet", "r.parquet", DataError), ("no_such_table", "r.parquet", DataError),
    ("people.parquet", "r.csv", TargetError), ("people.parquet", "people.parquet", TargetError),
    ("text.csv", "r.parquet", UnsupportedError), ("people.parquet", "no/folder/r.parquet", TargetError),
    ("people.parquet", None, TargetError), ("a b;c", "r.parquet", DataError),
])  # fmt: skip
def test_what_cannot_be_is_said(spark, parquet, tmp_path, monkeypatch, given, out, wrong):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.csv").write_text("age,sex\n1,m\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(wrong) as caught:
        sudare.anonymize(given, PLAIN, out=out, engine="spark")
    assert "Exception" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_another_engine_is_refused():
    with pytest.raises(ParameterError, match="spark"):
        sudare.anonymize(table(), PLAIN, engine="sparc")


def test_order_keep_is_refused(spark):
    with pytest.raises(UnsupportedError, match="order"):
        sudare.anonymize(spark.createDataFrame(table()), PLAIN | {"release": {"order": "keep"}})


def test_nothing_is_left_of_a_release_that_fails(spark, parquet, tmp_path, monkeypatch):
    from sudare.pipeline.spark import spark_release as spread

    spark.catalog.clearCache()

    def fail(*_, **__):
        raise AuditFailedError("no")

    monkeypatch.setattr(spread, "prove", fail)
    with pytest.raises(AuditFailedError):
        sudare.anonymize(parquet, PLAIN, out=tmp_path / "r.parquet", engine="spark")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(spread, "prove", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sudare.anonymize(parquet, PLAIN, out=tmp_path / "r.parquet", engine="spark")
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()  # nor does Spark keep anything


def test_no_cell_is_in_a_message(spark, tmp_path):
    given = spark.createDataFrame(pa.table({"age": ["17", "secret-word"] * 50}))
    with pytest.raises(SudareError) as caught:
        sudare.anonymize(given, policy({"age": {"role": "quasi", "kind": "numeric"}}))
    assert "secret" not in str(caught.value)

    def stumble(batches):
        for _ in batches:
            raise ValueError("secret-word")
        yield from ()

    with pytest.raises(SudareError) as caught:
        sudare.anonymize(given.mapInArrow(stumble, "age string"), policy({"age": {"role": "quasi"}}))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_lost_worker_does_not_change_the_release(spark, in_pieces, tmp_path, monkeypatch):
    from sudare.pipeline.spark import spark_release as spread

    marker = tmp_path / "killed"

    class Killing(spread._Making):
        def __call__(self, parcels):
            for parcel in super().__call__(parcels):
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                yield parcel

    given = table(1500, seed=4)
    local = sudare.anonymize(given, PLAIN)
    monkeypatch.setattr(spread, "_Making", Killing)
    frame = spark.createDataFrame(given).repartition(3)
    for out in (None, tmp_path / "r.parquet"):
        marker.unlink(missing_ok=True)
        release = sudare.anonymize(frame, PLAIN, out=out)
        assert marker.exists()
        assert_same(local, release)


def test_the_command_line(spark, parquet, tmp_path):
    from typer.testing import CliRunner

    from sudare.cli.commands import app

    (tmp_path / "p.json").write_text(json.dumps(PLAIN))
    common = ["--policy", str(tmp_path / "p.json"), "--engine", "spark"]
    out = str(tmp_path / "r.parquet")
    made = CliRunner().invoke(app, ["anonymize", str(parquet), *common, "--out", out, "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["rows_out"] == 600
    assert CliRunner().invoke(app, ["audit", out, *common]).exit_code == 0
    hint = CliRunner().invoke(app, ["audit", out, *common[:2]])
    assert hint.exit_code == 2
    assert "--engine spark" in hint.output


CONNECT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
import sudare
from sudare.pipeline.spark import spark_audit, spark_release

spark_release.SHARD, spark_release.BUNDLE, spark_audit.BUCKET = 200, 250, 300
session = SparkSession.builder.remote("local[2]").getOrCreate()
assert ".connect." in type(session).__module__
frame = session.createDataFrame(pq.read_table("people.parquet"))
policy = json.loads(open("p.json").read())
release = sudare.anonymize(frame, policy)
assert ".connect." in type(release.data).__module__
assert sudare.audit(release.data, policy).passed
pq.write_table(release.data.toArrow(), "frame.parquet")
open("frame.json", "w").write(json.dumps(release.certificate))
sudare.anonymize(frame, policy, out="folder.parquet")
session.stop()
"""


def test_connect(spark, parquet, tmp_path):
    """In a process of its own: a session of Connect and a classic one do not go together."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpc: pip install 'pyspark[connect]'")
    (tmp_path / "p.json").write_text(json.dumps(PLAIN))
    given = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    given |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", CONNECT], cwd=tmp_path, env=given, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    local = sudare.anonymize(table(), PLAIN)
    for name, paper in (("frame", "frame.json"), ("folder", "folder.parquet.sudare.json")):
        certificate = json.loads((tmp_path / paper).read_text())
        made = types.SimpleNamespace(path=tmp_path / f"{name}.parquet", data=None, certificate=certificate)
        assert_same(local, made)
