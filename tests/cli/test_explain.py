"""`sudare init --explain`: a table on the terminal, figures in JSON, and no value of a person in either."""

import json

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

from sudare.cli import app

SECRETS = ["qzq-flu", "qzq-gout", "qzq-ulcer"]


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    table = pa.table({
        "age": [20 + row % 50 for row in range(300)],
        "age_group": [(20 + row % 50) // 10 for row in range(300)],
        "diagnosis": [SECRETS[row * 7 % 11 % 3] for row in range(300)],
    })  # fmt: skip
    pc.write_csv(table, path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_a_table_of_the_columns(visits, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # reasons in one line
    out = tmp_path / "draft.yaml"
    done = run("init", visits, "--explain", "--out", out)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["column", "proposal", "distinct", "alone", "singles", "out", "adds", "cost", "why"]
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["age", "quasi"],
        ["age_group", "quasi"],
        ["diagnosis", "sensitive"],
    ]
    assert "follows from 'age'" in lines[2]
    assert out.read_text() == run("init", visits).output
    assert not [secret for secret in SECRETS if secret in done.output]


def test_json(visits):
    found = json.loads(run("init", visits, "--explain", "--json").output)
    assert set(found) == {"policy", "path", "records", "columns", "unchanged", "questions", "notices"}
    assert found["path"] is None and found["records"] == 300
    assert [each["column"] for each in found["columns"]] == ["age", "age_group", "diagnosis"]
    assert found["columns"][1]["repeats"] == ["follows from 'age'"]
    assert set(json.loads(run("init", visits, "--json").output)) == {"policy", "path", "questions", "notices"}


def test_what_cannot_be_drafted_cannot_be_explained(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("age\n")
    done = run("init", path, "--explain")
    assert done.exit_code == 2
    assert "no records" in done.output


def test_the_share_that_stands_out_is_worded_as_in_the_draft(visits):
    done = run("init", visits, "--explain")
    share = done.stdout.splitlines()[-1].removeprefix("one column is released unchanged; it singles out ").split()[0]
    head = " ".join(line.strip("# ") for line in run("init", visits).stdout.splitlines())
    assert f"It singles out {share} of the records" in head
