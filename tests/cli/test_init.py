"""`sudare init` on a terminal: what nobody should have to open the draft for."""

import json

import pytest
import xlsxwriter
import yaml
from typer.testing import CliRunner

from sudare.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def doubtful(tmp_path):
    path = tmp_path / "people.csv"
    lines = [
        f"{place % 12 + 1:02}/{place % 11 + 1:02}/1950,{'fm'[place % 2]},{20 + place % 50}" for place in range(300)
    ]
    path.write_text("\n".join(["born,sex,age", *lines]) + "\n")
    return path


@pytest.fixture
def workbook(tmp_path):
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("cover", "people", "2024"):
            sheet = book.add_worksheet(name)
            lines = (
                [["Visits"]] if name == "cover" else [["sex", "age"], *(["fm"[n % 2], 20 + n % 9] for n in range(90))]
            )
            for number, line in enumerate(lines):
                sheet.write_row(number, 0, line)
    return path


def test_questions_are_on_the_screen(doubtful, tmp_path):
    out = tmp_path / "draft.yaml"
    done = run("init", doubtful, "--out", out)
    assert done.stdout == f"Drafted {out}. Read every line before you use it.\n"
    assert done.stderr.splitlines()[-2:] == [
        "the draft has one question that you must answer, above source:",
        "  Dates in column 'born' can be read in 2 ways.",
    ]
    printed = run("init", doubtful)
    assert printed.stdout == out.read_text()
    assert "one question" in printed.stderr
    assert "one question" in run("init", doubtful, "--explain").stderr
    assert "question" not in run("init", doubtful, "--quiet", "--out", tmp_path / "more.yaml").output


@pytest.mark.parametrize("more", [[], ["--explain"]])
def test_questions_are_in_json(doubtful, more):
    found = json.loads(run("init", doubtful, "--json", *more).stdout)
    assert len(found["questions"]) == 1
    assert "mm/dd/yyyy" in found["questions"][0]
    assert len(found["notices"]) == 2


@pytest.mark.parametrize("more", [[], ["--explain"]])
def test_questions_of_a_preset_are_on_the_screen_and_in_json(tmp_path, more):
    path = tmp_path / "places.csv"
    lines = [f"{place % 12 + 1:02}/{place % 11 + 1:02}/1950,{(2139, 10001, 60614)[place % 3]}" for place in range(300)]
    path.write_text("\n".join(["seen,zip", *lines]) + "\n")
    told = [
        "the draft has 2 questions that you must answer; look for 'Question' in it:",
        "  Dates in column 'seen' can be read in 2 ways.",
        "  Column 'zip': have leading zeros been lost?",
    ]
    assert run("init", path, "--preset", "hipaa-safe-harbor", *more).stderr.splitlines()[-3:] == told
    found = json.loads(run("init", path, "--preset", "hipaa-safe-harbor", "--json", *more).stdout)
    assert found["notices"] == told
    assert len(found["questions"]) == 2
    assert found["policy"].count("Question:") == 2


def test_the_sheet_is_named(workbook):
    done = run("init", workbook)
    assert "sheet 'people' was read: one of 3 sheets with cells; the sheet before it is no table." in done.stderr
    assert yaml.safe_load(done.stdout)["source"]["sheet"] == "people"
    for wanted in ("2024", "3"):
        done = run("init", workbook, "--sheet", wanted)
        assert yaml.safe_load(done.stdout)["source"]["sheet"] == "2024"
        assert "sheet" not in done.stderr


def test_what_has_no_effect_is_refused(workbook, doubtful):
    for arguments in ([workbook, "--delimiter", ";"], [workbook, "--encoding", "cp1252"], [doubtful, "--sheet", "1"]):
        done = run("init", *arguments)
        assert done.exit_code == 2
        assert "has no effect" in done.stderr
    done = run("init", workbook, "--sheet", "4")
    assert done.exit_code == 2
    assert "has no sheet 4, only 3" in done.stderr
