"""Folders that are named by an address, as on S3 or HDFS: ``file://`` goes through the same library of Spark."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from tests.engines.comparing import rows_of
from tests.engines.test_spark_places import PLAIN, policy, table

import sudare
from sudare.core.errors import AuditFailedError, DataError, PolicyUnmetError, TargetError, UnsupportedError
from sudare.pipeline.spark import spark_release


@pytest.fixture
def folder(tmp_path, spark):
    """A folder with a table in it, and the address of the folder."""
    (tmp_path / "lake").mkdir()
    pq.write_table(table(), tmp_path / "lake" / "people.parquet")
    return tmp_path / "lake", (tmp_path / "lake").as_uri()


def names(folder):
    """What is in a folder, but for the sums that this kind of file system keeps."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".crc"))


def test_a_release_by_its_address(folder):
    folder, address = folder
    out = f"{address}/release.parquet"
    for _ in range(2):  # an older release is replaced
        release = sudare.anonymize(f"{address}/people.parquet", PLAIN, out=out, engine="spark")
    assert release.place.shown == out
    assert out in repr(release)
    assert out in release._repr_html_()
    assert names(folder) == ["people.parquet", "release.parquet", "release.parquet.sudare.json"]
    assert all(name.endswith(".parquet") for name in names(folder / "release.parquet"))
    paper = json.loads((folder / "release.parquet.sudare.json").read_text())
    assert paper == release.certificate
    local = sudare.anonymize(table(), PLAIN)
    made = sudare.Release(release.certificate, path=folder / "release.parquet")
    assert rows_of(made) == rows_of(local)
    assert sudare.audit(out, PLAIN, engine="spark").passed
    part = next(path for path in (folder / "release.parquet").iterdir() if path.name.endswith(".parquet"))
    pq.write_table(pq.read_table(part).slice(1), part)
    part.with_name(f".{part.name}.crc").unlink()
    assert not sudare.audit(out, PLAIN, engine="spark").passed
    (folder / "release.parquet.sudare.json").write_text("nothing")
    (folder / ".release.parquet.sudare.json.crc").unlink()
    with pytest.raises(AuditFailedError, match="not a readable certificate"):
        sudare.audit(out, PLAIN, engine="spark")
    with pytest.raises(DataError, match="can only be read by Spark"):
        sudare.estimate(release, of="age")


def test_values_that_are_drawn(folder):
    folder, address = folder
    drawn = policy({"age": {"role": "quasi"}, "sex": {"role": "sensitive"}})
    drawn |= {"require": [{"model": "l-diversity", "l": 2, "column": "sex"}], "method": {"name": "dummies"}}
    release = sudare.anonymize(
        f"{address}/people.parquet", drawn, out=f"{address}/release.parquet", engine="spark"
    )  # fmt: skip
    assert release.certificate["rows_out"] == 600
    assert sudare.audit(f"{address}/release.parquet", drawn, engine="spark").passed


def test_nothing_is_left_of_what_was_not_placed(folder):
    folder, address = folder
    source = f"{address}/people.parquet"
    (folder / "other.parquet").mkdir()
    with pytest.raises(TargetError, match="is not a release"):
        sudare.anonymize(source, PLAIN, out=f"{address}/other.parquet", engine="spark")
    with pytest.raises(TargetError, match="the source itself"):
        sudare.anonymize(source, PLAIN, out=source, engine="spark")
    with pytest.raises(TargetError, match=r"ends in \.parquet"):
        sudare.anonymize(source, PLAIN, out=f"{address}/release.csv", engine="spark")
    with pytest.raises(PolicyUnmetError):
        strict = policy(PLAIN["columns"], k=601)
        sudare.anonymize(source, strict, out=f"{address}/release.parquet", engine="spark")
    with pytest.raises(DataError, match="no such file"):
        sudare.anonymize(f"{address}/nobody.parquet", PLAIN, out=f"{address}/release.parquet", engine="spark")
    assert names(folder) == ["other.parquet", "people.parquet"]


def test_a_release_that_fails_the_audit_takes_no_place(folder, monkeypatch):
    folder, address = folder
    source, out = f"{address}/people.parquet", f"{address}/release.parquet"
    release = sudare.anonymize(source, PLAIN, out=out, engine="spark")

    def failing(*_, **__):
        drafts = [path for path in folder.iterdir() if path.name.startswith("sudare_tmp_")]
        assert [draft.stat().st_mode & 0o777 for draft in drafts] == [0o700]
        raise AuditFailedError("release: is not what was promised.")

    monkeypatch.setattr(spark_release, "prove", failing)
    with pytest.raises(AuditFailedError, match="promised"):
        sudare.anonymize(source, PLAIN, out=out, engine="spark")
    monkeypatch.undo()
    assert names(folder) == ["people.parquet", "release.parquet", "release.parquet.sudare.json"]
    assert json.loads((folder / "release.parquet.sudare.json").read_text()) == release.certificate
    assert sudare.audit(out, PLAIN, engine="spark").passed


def test_a_place_where_nothing_can_be_written(folder):
    _, address = folder
    with pytest.raises((TargetError, DataError)) as raised:
        sudare.anonymize(f"{address}/people.parquet", PLAIN, out="file:///proc/no/release.parquet", engine="spark")
    assert "file:///proc/no/release.parquet" in str(raised.value)


@pytest.mark.parametrize("out", ["s3a://me:secret@bucket/release.parquet", "postgresql://me:secret@host/db#release"])
def test_secrets_are_not_told(folder, out):
    _, address = folder
    with pytest.raises((DataError, UnsupportedError)) as raised:
        sudare.anonymize(f"{address}/people.parquet", PLAIN, out=out, engine="spark")
    assert "secret" not in str(raised.value)
    with pytest.raises((DataError, UnsupportedError)) as raised:
        sudare.anonymize(out, PLAIN, out=f"{address}/release.parquet", engine="spark")
    assert "secret" not in str(raised.value)
    with pytest.raises((DataError, UnsupportedError)) as raised:
        sudare.audit(out, PLAIN, engine="spark")
    assert "secret" not in str(raised.value)


def test_a_kind_of_folder_that_spark_does_not_know(folder):
    _, address = folder
    with pytest.raises(DataError, match="nowhere://bucket"):
        sudare.anonymize("nowhere://bucket/people.parquet", PLAIN, out=f"{address}/release.parquet", engine="spark")


def test_without_spark_the_engine_is_named(tmp_path):
    (tmp_path / "policy.json").write_text(json.dumps(PLAIN))
    command = [sys.executable, "-m", "sudare", "anonymize", "s3a://bucket/people.parquet", "--policy", "policy.json"]
    ended = subprocess.run(
        [*command, "--out", "release.parquet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ended.returncode == 2
    assert "engine spark" in ended.stderr
