"""Releases that are audited where they are: as strictly as files are."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import AuditFailedError, DataError

from .cases import ADULT, policy

RULES = policy(require=[{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "income"}])


@pytest.fixture
def release(home):
    home.load("adult", ADULT)
    sudare.anonymize(home.address("adult"), RULES, out=home.address("release"))
    return home.address("release")


def found(report):
    apart = ("seconds", "release_sha256", "notes", "certificate")
    return {key: value for key, value in report.to_dict().items() if key not in apart}


def plain(table):
    """Return a table without what a driver notes at its columns, which an audit refuses in a file."""
    return table.cast(pa.schema([pa.field(each.name, each.type) for each in table.schema]))


def test_a_table_audits_like_its_file(home, release, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(plain(home.read("release")), tmp_path / "release.parquet")
    assert found(sudare.audit(release, RULES)) == found(sudare.audit(tmp_path / "release.parquet", RULES))
    assert sudare.audit(release, RULES).passed


def test_a_table_audits_like_its_file_where_it_fails(home, release, tmp_path):
    import pyarrow.parquet as pq

    home.run("DROP TABLE release_sudare")
    pq.write_table(plain(home.read("release")), tmp_path / "release.parquet")
    strict = policy(require=[{"model": "k-anonymity", "k": 40}, {"model": "l-diversity", "l": 2, "column": "income"}])
    inside, outside = sudare.audit(release, strict), sudare.audit(tmp_path / "release.parquet", strict)
    assert not inside.passed
    assert found(inside) == found(outside)


def test_the_result_of_a_release_is_audited_where_it_is(home):
    home.load("adult", ADULT)
    made = sudare.anonymize(home.address("adult"), RULES, out=home.address("release"))
    report = sudare.audit(made, RULES)
    assert report.passed and "classes" in report.verified


def test_any_table_can_be_audited(home):
    """Whoever made it."""
    home.load("adult", ADULT)
    report = sudare.audit(home.address("adult"), RULES)
    assert not report.passed
    assert report.rows == ADULT.num_rows


def some_row(home):
    """Return what tells one row of the release from most others."""
    return "age = (SELECT min(age) FROM release)"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE release SET age = '17' WHERE {}",
        "UPDATE release SET income = '>50K' WHERE {}",
        "DELETE FROM release WHERE {}",
        "INSERT INTO release SELECT * FROM release WHERE {}",
        "UPDATE release SET age = NULL WHERE {}",
    ],
)
def test_tampering_with_rows_is_found(home, release, change):
    home.run(change.format(some_row(home)))
    report = sudare.audit(release, RULES)
    assert not report.passed
    with pytest.raises(AuditFailedError):
        report.raise_if_failed()


def test_rows_that_change_places_are_the_same_release(home, release):
    """A table has no order."""
    home.run(
        "CREATE TABLE other AS SELECT * FROM release ORDER BY income, age DESC",
        "DROP TABLE release",
        "ALTER TABLE other RENAME TO release",
    )
    assert sudare.audit(release, RULES).passed


def rewritten(home, change):
    [text] = home.read("release_sudare")["certificate"].to_pylist()
    certificate = json.loads(text)
    change(certificate)
    told = json.dumps(certificate).replace("'", "''")
    home.run(f"UPDATE release_sudare SET certificate = '{told}'")


@pytest.mark.parametrize(
    "change",
    [
        lambda paper: paper.update(release_sha256="0" * 64),
        lambda paper: paper.pop("release_sha256"),
        lambda paper: paper.update(rows_out=7),
        lambda paper: paper.update(rows_out=None),
        lambda paper: paper["loss"].update(gcp=paper["loss"]["gcp"] + 0.001),
        lambda paper: paper["loss_by_column"]["age"].update(gcp=paper["loss_by_column"]["age"]["gcp"] + 0.001),
    ],
)
def test_a_wrong_certificate_is_found(home, release, change):
    rewritten(home, change)
    assert not sudare.audit(release, RULES).passed


def test_the_certificate_of_another_release_is_found(home, release):
    other = policy(require=[{"model": "k-anonymity", "k": 50}])
    sudare.anonymize(home.address("adult"), other, out=home.address("other"))
    home.run("DROP TABLE release_sudare", "ALTER TABLE other_sudare RENAME TO release_sudare")
    assert not sudare.audit(release, RULES).passed


@pytest.mark.parametrize("text", ["", "{", "3", "null", "[]", '"x"'])
def test_a_certificate_that_is_none(home, release, text):
    home.run(f"UPDATE release_sudare SET certificate = '{text}'")
    with pytest.raises(AuditFailedError, match="release_sudare: is not a readable certificate"):
        sudare.audit(release, RULES)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM release_sudare",
        "INSERT INTO release_sudare SELECT * FROM release_sudare",
        "UPDATE release_sudare SET certificate = NULL",
        "ALTER TABLE release_sudare RENAME COLUMN certificate TO other",
    ],
)
def test_a_table_of_certificates_that_is_none(home, release, statement):
    home.run(statement)
    with pytest.raises(AuditFailedError, match="release_sudare: is not a readable certificate"):
        sudare.audit(release, RULES)


def test_a_column_that_is_not_there(home, release):
    home.run("ALTER TABLE release DROP COLUMN sex")
    with pytest.raises(DataError, match="sex"):
        sudare.audit(release, RULES)


def test_an_identifier_that_is_there_is_found(home, release):
    home.run("ALTER TABLE release ADD COLUMN fnlwgt INTEGER")
    rules = {**RULES, "columns": {**RULES["columns"], "fnlwgt": {"role": "identifier"}}}
    assert not sudare.audit(release, rules).passed


def test_a_release_of_a_file_in_a_database_is_audited_there(home, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(ADULT, tmp_path / "adult.parquet")
    sudare.anonymize(tmp_path / "adult.parquet", RULES, out=home.address("release"))
    assert sudare.audit(home.address("release"), RULES).passed


def test_the_command_line_audits_tables(home, release):
    from typer.testing import CliRunner

    from sudare.cli import app

    def audit():
        with open_policy() as path:
            return CliRunner().invoke(app, ["audit", release, "--policy", path])

    from contextlib import contextmanager
    from tempfile import NamedTemporaryFile

    @contextmanager
    def open_policy():
        with NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(RULES, file)
            file.flush()
            yield file.name

    assert audit().exit_code == 0
    home.run("DELETE FROM release WHERE age = (SELECT min(age) FROM release)")
    result = audit()
    assert result.exit_code == 1
    assert "Traceback" not in result.output


@pytest.mark.parametrize("k", [5, 40])
def test_spark_audits_like_a_file(spark, in_pieces, tmp_path, k):
    """Where it passes, and where it fails."""
    out = tmp_path / "release.parquet"
    sudare.anonymize(ADULT, RULES, out=out)
    (tmp_path / "release.parquet.sudare.json").unlink()
    asked = policy(require=[{"model": "k-anonymity", "k": k}, *RULES["require"][1:]])
    there, here = sudare.audit(out, asked, engine="spark"), sudare.audit(out, asked)
    assert there.passed is here.passed is (k == 5)
    assert found(there) == found(here)


def test_spark_finds_the_same_losses(spark, in_pieces, tmp_path):
    out = tmp_path / "release.parquet"
    facts = sudare.anonymize(spark.createDataFrame(ADULT), RULES, out=out).certificate
    report = sudare.audit(out, RULES, engine="spark")
    assert report.passed, report.problems
    assert {"loss.gcp", "loss.precision", "loss.relative_uncertainty"} <= set(report.verified)
    paper = tmp_path / "release.parquet.sudare.json"
    facts["loss"]["gcp"] += 0.001
    paper.write_text(json.dumps(facts))
    wrong = sudare.audit(out, RULES, engine="spark").problems
    assert [problem.where for problem in wrong] == ["certificate.loss.gcp"]
