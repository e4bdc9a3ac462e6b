"""What a table says about how it is to be read, and what only a person can say."""

from __future__ import annotations

import datetime

import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter
import yaml

import sudare
from sudare.core.errors import DataError, ParameterError
from sudare.sources.detected_source import detect_source


def keys(path_or_table, **given):
    found = detect_source(path_or_table, **given)
    assert not found.questions
    return found.spec.model_dump(exclude_defaults=True)


@pytest.fixture
def text(tmp_path):
    def make(lines, encoding="utf-8", name="people.csv"):
        path = tmp_path / name
        path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
        return path

    return make


def column(values, **more):
    return pa.table({"x": values, **more})


def test_a_plain_file_needs_no_key(text):
    assert keys(text(["age,job,day", *["39,nurse,2024-02-28"] * 30])) == {}


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", None), ("utf-8-sig", None), ("cp1252", "cp1252"), ("utf-16", "utf-16")],
)
def test_encodings(text, encoding, expected):
    assert keys(text(["größe,job", "1,Bäcker", "2,Köchin"], encoding)).get("encoding") == expected


def test_a_byte_that_windows_does_not_have(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,job\n1,\x81\xe4\n")
    assert keys(path)["encoding"] == "latin-1"


def test_what_is_given_is_not_looked_for(text):
    path = text(["größe|job,x", "1|Bäcker,y"], "cp1252")
    assert keys(path, encoding="latin-1", delimiter="|") == {"encoding": "latin-1", "delimiter": "|"}
    with pytest.raises(ParameterError, match="encoding"):
        detect_source(path, encoding="no-such-thing")


@pytest.mark.parametrize("above", [["Export"], ["Export, of 2024", "", "confidential"], ["a,b"]])
def test_lines_above_the_header(text, above):
    found = keys(text([*above, "age,job,sex,zip", *["39,nurse,F,10115"] * 30]))
    assert found == {"skip_rows": len(above)}


def test_the_setting_of_spreadsheet_programs_is_no_line_above(text):
    assert keys(text(["sep=;", "age;job;sex", *["39;nurse;F"] * 30])) == {}


def test_a_delimiter_that_the_header_does_not_show(text):
    assert keys(text(["age (in years, rounded, as stated);job", *["39;nurse"] * 30])) == {"delimiter": ";"}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["78,1", "79,25", "80"], {"decimal": ","}),
        (["1.234,5", "12,75", "7"], {"decimal": ",", "thousands": "."}),
        (["1,234.5", "12.75", "7"], {"thousands": ","}),
        (["78.1", "79.25", "80"], {}),
        (["1,2,3", "4,5", "6,7"], {}),
        (["a,b", "c,d", "e"], {}),
        (["10115", "80331", "50667"], {}),
    ],
)
def test_numbers(cells, expected):
    assert keys(column(cells * 30)) == expected


def test_one_column_decides_for_all():
    """Three digits behind a comma or a point may be either; another column tells."""
    assert keys(column(["1,234", "5,678"] * 9, y=["1,5", "2,75"] * 9)) == {"decimal": ","}
    assert keys(column(["1.234", "5.678"] * 9, y=["1,5", "2,75"] * 9)) == {"decimal": ",", "thousands": "."}
    assert keys(column(["1,234", "5,678"] * 9, y=["1,234.5", "2.5"] * 9)) == {"thousands": ","}


@pytest.mark.parametrize("odd", ["78.1", "ca. 80"])
def test_a_point_elsewhere_is_no_mark_between_thousands(odd):
    assert detect_source(column([f"{row},{row % 10}" for row in range(40, 90)] + [odd])).spec.thousands is None


def test_numbers_that_nobody_can_tell_are_a_question():
    found = detect_source(column(["1,234", "5,678"] * 9))
    assert "Numbers in column 'x' have a comma with three digits behind it" in found.questions[0]
    assert found.spec.decimal == "."
    found = detect_source(column(["1,5", "2,75"] * 9, y=["1,234.5", "2.5"] * 9))
    assert "One file has one way of writing numbers" in found.questions[0]


def test_points_with_three_digits_behind_them_are_a_question():
    """2.453 beside 500 is two and a half, or two and a half thousand: a factor of 1000."""
    found = detect_source(column(["500", "2.453", "2.836", "78.678", "41"] * 9))
    assert "Numbers in column 'x' have a point with three digits behind it" in found.questions[0]
    assert 'decimal: "," and thousands: "."' in found.questions[0]
    for other in ("2.45", "0.453", "2453"):  # no one writes so who puts points between thousands
        assert not detect_source(column(["500", "2.453", "2.836", "78.678", other] * 9)).questions


def test_points_between_millions_are_no_fraction():
    found = detect_source(column(["1.820.822", "1.212.238", "27.166"] * 9))
    assert (found.spec.decimal, found.spec.thousands, found.questions) == (",", ".", ())
    assert "comma before their fraction" not in found.reasons["decimal"]


def days(form, count=60):
    first = datetime.date(2024, 1, 1)
    return [(first + datetime.timedelta(days=3 * day)).strftime(form) for day in range(count)]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("%d.%m.%Y", "dd.mm.yyyy"),
        ("%m/%d/%Y", "mm/dd/yyyy"),
        ("%d/%m/%Y", "dd/mm/yyyy"),
        ("%Y/%m/%d", "yyyy/mm/dd"),
        ("%d.%m.%y", "dd.mm.yy"),
        ("%d-%m-%Y 12:30", "dd-mm-yyyy hh:mm"),
        ("%d.%m.%Y 12:30:15", "dd.mm.yyyy hh:mm:ss"),
        ("%d %b %Y", "dd mmm yyyy"),
        ("%d-%b-%Y", "dd-mmm-yyyy"),
    ],
)
def test_dates(form, expected):
    found = detect_source(column(days(form)))
    assert found.spec.dates == {"x": [expected]}
    assert pa.types.is_temporal(found.table["x"].type)
    assert found.table["x"].null_count == 0


def test_dates_as_computers_write_them_need_no_key():
    assert keys(column(days("%Y-%m-%d"))) == {}
    assert keys(column([f"{day} 12:00" for day in days("%Y-%m-%d")])) == {}


def test_dates_with_and_without_a_time():
    found = keys(column(days("%d.%m.%Y") + days("%d.%m.%Y 12:30")))
    assert found == {"dates": {"x": ["dd.mm.yyyy", "dd.mm.yyyy hh:mm"]}}


def test_a_few_wrong_dates_do_not_hide_the_others():
    assert keys(column([*days("%d.%m.%Y"), "30.02.2024"])) == {"dates": {"x": ["dd.mm.yyyy"]}}


def test_a_wrong_date_as_computers_write_them_gets_a_format():
    """By the format, a release says which record holds it; without, all dates would be categories."""
    assert keys(column([*days("%Y-%m-%d"), "2024-02-30"])) == {"dates": {"x": ["yyyy-mm-dd"]}}


def test_two_readings_of_a_date_are_a_question():
    found = detect_source(column(["03.04.2024", "05.06.2024"] * 9, y=["03.04.2024", "12.12.2023"] * 9))
    assert found.spec.dates == {}
    assert len(found.questions) == 1
    assert "Dates in columns 'x' and 'y' can be read in 2 ways" in found.questions[0]
    assert "dates: {x: dd.mm.yyyy, y: dd.mm.yyyy} or {x: mm.dd.yyyy, y: mm.dd.yyyy}" in found.questions[0]
    assert found.table["x"].to_pylist()[0] == "03.04.2024"


def test_years_of_two_digits_that_lie_ahead_are_no_proposal():
    """Born in 45 is read as 2045: a person must say what is meant."""
    assert keys(column([f"{day % 28 + 1:02d}.03.{30 + day % 35}" for day in range(60)])) == {}


def test_a_few_years_of_two_digits_that_lie_ahead_are_a_question():
    found = detect_source(column([*(f"{day % 28 + 1:02d}.03.{70 + day % 30}" for day in range(95)), "01.02.45"]))
    assert found.spec.dates == {}
    assert "Dates in column 'x' have years of two digits" in found.questions[0]
    assert "write below source: dates: {x: dd.mm.yy}" in found.questions[0]


@pytest.mark.parametrize("word", ["unknown", "n/a", "k.A."])
def test_a_first_record_with_a_missing_word_is_no_line_of_names(text, word):
    with pytest.raises(DataError, match="columns 1 and 2 have the same name") as raised:
        detect_source(text([f"Paul,Paul,{word}", "Meier,Kurz,34"]))
    assert "Paul" not in str(raised.value)


def test_blanks_and_letters():
    found = keys(column(["m", "m ", "M", "w"] * 9, y=["a", "b"] * 18, z=["Yes", "yes", "no", "NO"] * 9))
    assert found == {"trim": {"*": True}, "case": {"x": "lower", "z": "lower"}}


def test_reasons_name_columns_and_no_cell(text):
    lines = ["name;weight;day;sex", *[f"Meier{row};7{row % 10},5;{20 + row % 8}.01.2024;m " for row in range(30)]]
    found = detect_source(text([*lines, "Meier;70,5;21.01.2024;M"]))
    told = " ".join(found.reasons.values())
    assert set(found.reasons) - {"encoding"} == {"decimal", "dates", "trim", "case"}
    assert "Meier" not in told and "70,5" not in told


def test_a_frame_is_looked_at_too():
    frame = pd.DataFrame({"x": ["1,5", "2,25"] * 9, "n": [1, 2] * 9})
    assert keys(frame) == {"decimal": ","}
    assert frame["x"].tolist()[:2] == ["1,5", "2,25"]


def test_sheets(tmp_path):
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, lines in {
            "cover": [],
            "people": [["Visits"], [], ["age", "job"], *[[39, "x "]] * 30],
            "b": [["y"], [1]],
        }.items():
            sheet = book.add_worksheet(name)
            for number, line in enumerate(lines):
                sheet.write_row(number, 0, line)
    found = detect_source(path)
    assert found.spec.model_dump(exclude_defaults=True) == {"sheet": "people", "skip_rows": 2, "trim": {"*": True}}
    assert found.reasons["sheet"] == "the first of 2 sheets with cells"
    assert found.table.column_names == ["age", "job"]


def workbook(path, sheets):
    with xlsxwriter.Workbook(path) as book:
        for name, lines in sheets.items():
            sheet = book.add_worksheet(name)
            for number, line in enumerate(lines):
                sheet.write_row(number, 0, line)
    return path


def test_a_cover_sheet_is_passed_over(tmp_path):
    people = [["age", "job"], *[[39, "x"]] * 30]
    covers = {"cover": [["Visits"]], "about": [["written by"], ["the ward"]]}
    found = detect_source(workbook(tmp_path / "a.xlsx", {**covers, "people": people, "more": people}))
    assert found.spec.sheet == "people"
    assert found.reasons["sheet"] == "one of 4 sheets with cells; the sheets before it are no tables"
    with pytest.raises(DataError, match=r"b\.xlsx, sheet 'cover': has columns but no records"):
        detect_source(workbook(tmp_path / "b.xlsx", {"cover": [["Visits"]], "empty": []}))


def test_a_given_sheet_is_read_by_name_or_number(tmp_path):
    sheets = {"people": [["age", "job"], [39, "x"]], "2024": [["sex", "day"], ["f", 3]], "head": [["sex", "day"]]}
    path = workbook(tmp_path / "a.xlsx", sheets)
    for wanted, name in {"people": "people", 1: "people", "1": "people", "2024": "2024", 2: "2024"}.items():
        found = detect_source(path, sheet=wanted)
        assert found.spec.sheet == name
        assert found.table.column_names == sheets[name][0]
    for wanted in ("3", "head", 4, "0", 0, -1, "peopl", ""):
        with pytest.raises((DataError, ParameterError), match="sheet"):
            detect_source(path, sheet=wanted)


def test_what_has_no_effect_is_refused(text, tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"people": [["age", "job"], [39, "x"]]})
    with pytest.raises(ParameterError) as raised:
        detect_source(path, encoding="cp1252", delimiter=";")
    assert [problem.where for problem in raised.value.problems] == ["encoding", "delimiter"]
    with pytest.raises(ParameterError, match="sheet: has no effect: it is for Excel workbooks"):
        detect_source(text(["age,job", "39,x"]), sheet=1)
    with pytest.raises(ParameterError, match="delimiter: has no effect"):
        detect_source(pa.table({"age": [1]}), delimiter=";")


def test_files_that_cannot_be_read(tmp_path):
    for name, content in {"none.csv": None, "empty.csv": b"", "head.csv": b"age,job\n", "bad.xlsx": b"PK"}.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError):
            detect_source(tmp_path / name)


@pytest.mark.parametrize("head", [",name,city", "pid,,town,job"])
def test_a_header_with_a_blank_name_is_no_line_above(text, head):
    """Otherwise a first record would be taken for the names."""
    marks = head.count(",")
    rows = [",".join(f"word{row}{place}" for place in range(marks + 1)) for row in range(30)]
    assert "skip_rows" not in detect_source(text([head, *rows])).spec.model_dump(exclude_defaults=True)


def test_lines_of_a_quoted_name_are_no_lines_above(text):
    found = detect_source(text(['"Ort\n(heute)\n#",Alter', *["Bonn,39"] * 30]))
    assert found.spec.skip_rows == 0
    assert found.table.column_names == ["Ort\n(heute)\n#", "Alter"]


def test_a_line_of_values_is_never_taken_for_names(text):
    path = text(["Export", *["39;nurse;F"] * 30])
    with pytest.raises(DataError):
        detect_source(path)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1'234.50", "12.5", "2'345"], {"thousands": "'"}),
        (["1 234,50", "12,5"], {"decimal": ",", "thousands": " "}),
        (["1\u00a0234,5", "3,5"], {"decimal": ",", "thousands": " "}),
        (["1\u202f234", "12"], {"thousands": " "}),
        (["0.123", "0.456"], {}),
    ],
)
def test_rare_marks_between_thousands(cells, expected):
    assert keys(column(cells * 20)) == expected


@pytest.mark.parametrize("name", ["Ort\n(Wohnung)", "x\nversion: 2\n#", "a\u2028b", "a\rb", "a\x85b"])
def test_odd_names_of_columns_stay_in_their_comments(name):
    frame = pd.DataFrame({name: ["a ", "b", "A"] * 20, "age": range(20, 80)})
    drafted = yaml.safe_load(sudare.draft(frame))
    assert drafted["version"] == 1
    assert list(drafted["columns"]) == [name, "age"]
