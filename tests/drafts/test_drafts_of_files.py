"""Drafts of files: what a draft says of dates, sheets and questions agrees with how the file was read."""

import pyarrow as pa
import pytest
import xlsxwriter
import yaml

import sudare
from sudare.core.errors import DataError
from sudare.drafts.patterns import date_form
from sudare.policy import DateFormat, Policy


def dates_file(folder, write):
    """Write a file of people whose birth dates are written in one way, and return its path."""
    lines = [
        f"{'fm'[place % 2]};{write(1930 + place % 80, place % 12 + 1, place % 28 + 1)};{place % 7}\n"
        for place in range(300)
    ]
    path = folder / "people.csv"
    path.write_text("sex;geburtsdatum;visits\n" + "".join(lines), encoding="utf-8")
    return path


def remark(text, name):
    """Return all comments of a draft in one line, up to a column."""
    before = text.partition(f"\n  {name}:")
    return " ".join(line.strip(" #") for line in (before[0] + before[2].partition("\n")[0]).splitlines())


def test_short_years_are_named_with_their_format(tmp_path):
    text = sudare.draft(dates_file(tmp_path, lambda y, m, d: f"{d:02}.{m:02}.{y % 100:02}"))
    said = remark(text, "geburtsdatum")
    assert "write their format below source, such as dates: {geburtsdatum: dd.mm.yy}" in said
    assert "years up to 68 are read as 20xx" in said
    assert "only YYYY-MM-DD" not in said


def test_a_remark_about_dates_agrees_with_the_question(tmp_path):
    text = sudare.draft(dates_file(tmp_path, lambda y, m, d: f"{min(d, 12):02}/{m:02}/{y}"))
    assert "decide how they are read, see the question about them" in remark(text, "geburtsdatum")
    assert "such as dates:" not in text
    assert "# Question: Dates in column 'geburtsdatum'" in text


def test_dates_without_words_for_their_format(tmp_path):
    text = sudare.draft(dates_file(tmp_path, lambda y, m, d: f"{y}年{m}月{d}日"))
    assert "write them as YYYY-MM-DD" in remark(text, "geburtsdatum")


def test_the_format_of_a_remark_is_one_that_a_policy_takes(tmp_path):
    path = dates_file(tmp_path, lambda y, m, d: f"{y}/{m}/{d}")
    policy = yaml.safe_load(sudare.draft(path))
    form = remark(sudare.draft(path), "geburtsdatum").partition("dates: {geburtsdatum: ")[2].partition("}")[0]
    policy.setdefault("source", {})["dates"] = {"geburtsdatum": form}
    policy["columns"]["geburtsdatum"]["kind"] = "numeric"
    released = sudare.anonymize(path, Policy.parse(policy))
    assert all(guarantee["holds"] for guarantee in released.certificate["guarantees"])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("05.06.45", "dd.mm.yy"), ("5/6/1945", "dd/mm/yyyy"), ("5/26/1945", "mm/dd/yyyy"), ("1945/6/5", "yyyy/mm/dd"),
        ("1945-06-05T07:08", "yyyy-mm-ddThh:mm"), ("05.06.1945 07:08:09", "dd.mm.yyyy hh:mm:ss"),
        ("19450605", "yyyymmdd"), ("5. Juni 1945", "dd. mmm yyyy"), ("5-JUN-45", "dd-mmm-yy"),
        ("5 Jun 1945", "dd mmm yyyy"),
    ],
)  # fmt: skip
def test_formats_of_dates(text, form):
    assert date_form([text]) == form
    DateFormat.of(form)


def test_texts_without_a_format():
    assert date_form(["1945年6月5日", "soon", "1945-06-05 noon", "1945-06-05T7 o'clock"]) == ""


def test_a_file_of_one_column_may_have_another_delimiter(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("name;age\n" + "".join(f"p{place};{place}\n" for place in range(60)))
    with pytest.raises(DataError, match="is the delimiter right"):
        sudare.draft(path, delimiter=",")
    table = pa.table({"name": [f"p{place}" for place in range(60)], "phone": [str(place) for place in range(60)]})
    with pytest.raises(DataError, match="write the policy by hand"):
        sudare.draft(table)


def test_names_that_repeat_may_be_a_record(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("no,yes,no,yes,mary\nyes,yes,yes,no,john\n")
    with pytest.raises(DataError) as raised:
        sudare.draft(path)
    first, *others = map(str, raised.value.problems)
    assert "2 names occur more than once: the first line may be a record" in first
    assert len(others) == 2
    path.write_text("age,sex,age\n1,f,1\n")
    with pytest.raises(DataError) as raised:
        sudare.draft(path)
    assert len(raised.value.problems) == 1


def test_one_column_is_no_columns(tmp_path):
    assert "# 3 records, 1 column.\n" in sudare.draft(pa.table({"age": [1, 2, 2]}))
    assert "# 1 record, 2 columns.\n" in sudare.draft(pa.table({"age": [1], "sex": ["f"]}))
    assert "# 1,200 records, 1 column.\n" in sudare.draft(pa.table({"age": [1, 2, 2] * 400}))


def workbook(path, **sheets):
    """Write sheets, each a list of rows, and return the path."""
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


COVER = [["Report"], ["As of", "1.1.2024"], ["Made by", "xmary"]]


def test_a_cover_of_two_columns_is_passed_over(tmp_path):
    people = [["age", "sex"], *[[30 + row % 40, "fm"[row % 2]] for row in range(100)]]
    path = workbook(tmp_path / "a.xlsx", Cover=COVER, People=people)
    assert yaml.safe_load(sudare.draft(path))["source"]["sheet"] == "People"
    assert sudare.explain(path).notices[0].startswith("sheet 'People' was read")


def test_a_sheet_without_a_header_is_named(tmp_path):
    bare = [["xmary", 39], *[["xjohn", 40]] * 5]
    path = workbook(tmp_path / "a.xlsx", Cover=COVER, Bare=bare)
    for sheet, name in ((None, "Cover"), ("Cover", "Cover"), (2, "Bare")):
        for verb in (sudare.draft, sudare.explain):
            with pytest.raises(DataError) as raised:
                verb(path, sheet=sheet)
            said = str(raised.value)
            assert f"sheet '{name}', the first line: looks like a record" in said
            assert "name another sheet with --sheet" in said
            assert "write the policy by hand" in said
            assert "xmary" not in said
            assert "1.1.2024" not in said
