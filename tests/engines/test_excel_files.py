"""Workbooks: what is in a sheet, and everything that can be wrong with a file."""

from __future__ import annotations

import datetime
import io
import zipfile

import msoffcrypto.format.ooxml
import pyarrow as pa
import pytest
import xlsxwriter

import sudare
from sudare.core.errors import DataError
from sudare.engines import TextForm, file_columns, open_path, read_file
from sudare.engines.excel_files import find_sheet

DAY = datetime.date(2024, 2, 29)


@pytest.fixture
def book(tmp_path):
    """Write a workbook: its sheets are lists of rows, or functions that fill a sheet."""

    def make(name="people.xlsx", **sheets):
        path = tmp_path / name
        with xlsxwriter.Workbook(path) as workbook:
            dated = workbook.add_format({"num_format": "dd.mm.yyyy"})
            timed = workbook.add_format({"num_format": "dd.mm.yyyy hh:mm"})
            for title, rows in sheets.items():
                sheet = workbook.add_worksheet(title)
                if callable(rows):
                    rows(sheet)
                    continue
                for number, row in enumerate(rows):
                    for place, cell in enumerate(row):
                        if isinstance(cell, datetime.datetime):
                            sheet.write_datetime(number, place, cell, timed)
                        elif isinstance(cell, datetime.date):
                            sheet.write_datetime(number, place, cell, dated)
                        elif cell is not None:
                            sheet.write(number, place, cell)
        return path

    return make


def problems(path, form=None):
    with pytest.raises(DataError) as raised:
        read_file(path, file_columns(path, form or TextForm()), form or TextForm())
    return str(raised.value)


def test_cells_have_the_types_that_the_sheet_gives_them(book):
    noon = datetime.datetime(2024, 2, 29, 12, 30)
    rows = [
        ["age", "weight", "day", "moment", "sick", "job", "mixed", "dated"],
        [39, 78.5, DAY, noon, True, "nurse", 7, DAY],
        [None, None, None, None, None, None, None, None],
        [40, None, None, None, False, None, "x", noon],
        [41.0, 80, DAY, noon, None, "cook", 1.5, None],
    ]
    path = book(people=rows)
    table = read_file(path, file_columns(path, TextForm()), TextForm())
    assert table.column_names == rows[0]
    assert table["age"].to_pylist() == [39, 40, 41]
    assert table["age"].type == pa.int64()
    assert table["weight"].to_pylist() == [78.5, None, 80.0]
    assert table["day"].to_pylist() == [DAY, None, DAY]
    assert table["day"].type == pa.date32()
    assert table["moment"].to_pylist() == [noon, None, noon]
    assert table["sick"].to_pylist() == [True, False, None]
    assert table["job"].to_pylist() == ["nurse", None, "cook"]
    assert table["mixed"].to_pylist() == ["7", "x", "1.5"]
    assert table["dated"].to_pylist() == [datetime.datetime(2024, 2, 29), noon, None]


@pytest.mark.parametrize(("form", "expected"), [
    ("00000", ["01067", "80331", None, "10115"]),
    ("0", [1067, 80331, None, 10115]),
    (None, [1067, 80331, None, 10115]),
])  # fmt: skip
def test_leading_zeros_that_a_sheet_shows_are_read(tmp_path, form, expected):
    """A postal code of Dresden is 01067, in a workbook as in text."""
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as made:
        sheet, style = made.add_worksheet(), made.add_format({"num_format": form} if form else {})
        sheet.write_row(0, 0, ["age", "plz"])
        for row, code in enumerate([1067, 80331, None, 10115], 1):
            sheet.write(row, 0, 30 + row)
            sheet.write(row, 1, code, style)
    assert read_file(path, ["plz"], TextForm())["plz"].to_pylist() == expected


def test_zeros_are_added_only_where_all_numbers_are_shown_so(tmp_path):
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as made:
        sheet, style = made.add_worksheet(), made.add_format({"num_format": "0000"})
        sheet.write_row(0, 0, ["a", "b"])
        for row in range(1, 5):
            sheet.write(row, 0, row, style if row < 3 else None)
            sheet.write(row, 1, row + 0.5, style)
    found = read_file(path, ["a", "b"], TextForm())
    assert found["a"].to_pylist() == [1, 2, 3, 4]
    assert found["b"].to_pylist() == [1.5, 2.5, 3.5, 4.5]


def test_the_only_sheet_with_cells_is_the_table(book):
    path = book(cover=[], people=[["age"], [39], [40]], end=[])
    assert read_file(path, ["age"], TextForm())["age"].to_pylist() == [39, 40]


@pytest.mark.parametrize("sheet", ["b", 2])
def test_a_sheet_is_chosen_by_its_name_or_its_number(book, sheet):
    path = book(a=[["x"], [1]], b=[["y"], [2]])
    assert read_file(path, ["y"], TextForm(sheet=sheet)).to_pylist() == [{"y": 2}]


def test_of_several_sheets_one_must_be_named(book):
    path = book(people=[["x"], [1]], visits=[["y"], [2]])
    assert "has 2 sheets with cells. Hint: set source: {sheet: ...} to one of people, visits" in problems(path)
    assert "has no sheet 'visit'. Did you mean 'visits'?" in problems(path, TextForm(sheet="visit"))
    assert "has no sheet 3, only 2" in problems(path, TextForm(sheet=3))
    assert "no sheet with cells" in problems(book("empty.xlsx", people=[]))


def test_rows_above_the_header_are_skipped(book):
    path = book(people=[["Export of 2024"], [], ["age", "job"], [39, "nurse"]])
    assert read_file(path, ["age", "job"], TextForm(skip_rows=1)).to_pylist() == [{"age": 39, "job": "nurse"}]
    assert "column 2 has cells, but no name" in problems(path)


def test_the_table_may_begin_anywhere(book):
    path = book(people=[[], [None, None, "age"], [None, None, 39]])
    assert read_file(path, ["age"], TextForm()).to_pylist() == [{"age": 39}]


def test_cells_that_would_silently_be_missing_are_errors(book):
    def fill(sheet):
        sheet.write_row(0, 0, ["age", "double", "share"])
        for row in range(1, 9):
            sheet.write(row, 0, row)
            sheet.write_formula(row, 1, f"=A{row + 1}*2", value=2 * row)
            sheet.write_formula(row, 2, "=1/0", value="#DIV/0!" if row < 8 else 0.5)
        sheet.write(9, 0, 9)
        sheet.write_formula(9, 1, "=A10*2", value="")
        sheet.merge_range(10, 0, 11, 0, "merged")

    path = book(people=fill)
    strip_results(path, "B10")
    told = problems(path)
    assert "7 cells (cells C2, C3, C4, C5, C6 and more) hold an error" in told
    assert "1 cell (cell B10) holds a formula without a result" in told
    assert "has merged cells in 1 row (row 11)" in told
    assert "merged cells" in told and "#DIV" not in told


def strip_results(path, address):
    """Take the stored result of a formula away, as programs do that write formulas without computing them."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    name = "xl/worksheets/sheet1.xml"
    before, cell, after = parts[name].partition(f'<c r="{address}"'.encode())
    inside, end, rest = after.partition(b"</c>")
    inside = b">" + inside.partition(b">")[2].partition(b"</f>")[0] + b"</f>"
    parts[name] = before + cell + inside + end + rest
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part, content in parts.items():
            new.writestr(part, content)


def test_formulas_with_results_are_read_as_these(book):
    def fill(sheet):
        sheet.write_row(0, 0, ["age", "double", "word"])
        sheet.write(1, 0, 39)
        sheet.write_formula(1, 1, "=A2*2", value=78)
        sheet.write_formula(1, 2, '="a"&"b"', value="ab")

    assert read_file(book(people=fill), ["double", "word"], TextForm()).to_pylist() == [{"double": 78, "word": "ab"}]


def test_a_password_is_told(book, tmp_path):
    path = book(people=[["age"], [39]])
    locked = tmp_path / "locked.xlsx"
    with path.open("rb") as plain, locked.open("wb") as out:
        msoffcrypto.format.ooxml.OOXMLFile(plain).encrypt("secret", out)
    assert "is protected by a password" in problems(locked)


@pytest.mark.parametrize("content", [b"age,job\n39,nurse\n", b"PK\x03\x04" + b"\0" * 100, b"\0" * 1000])
def test_what_is_no_workbook_is_told(tmp_path, content):
    path = tmp_path / "people.xlsx"
    path.write_bytes(content)
    assert "it is damaged, or it is not a workbook" in problems(path)


def test_a_cut_workbook_is_told(book, tmp_path):
    whole = book(people=[["age"], *([row] for row in range(1000))]).read_bytes()
    for size in range(100, len(whole), len(whole) // 20):
        path = tmp_path / "cut.xlsx"
        path.write_bytes(whole[:size])
        assert "people" not in problems(path)


def test_a_million_rows_without_cells_are_no_records(book):
    def fill(sheet):
        sheet.write(0, 0, "age")
        sheet.write(1, 0, 39)
        sheet.set_row(1_048_575, 20)

    assert read_file(book(people=fill), ["age"], TextForm()).num_rows == 1


def test_a_cell_in_the_last_corner_is_told(book):
    def fill(sheet):
        sheet.write_row(0, 0, ["age"])
        sheet.write(1, 0, 39)
        sheet.write(1_048_575, 16_383, "x")

    assert "has a cell so far from the others" in problems(book(people=fill))


def test_a_zip_bomb_is_told(book, tmp_path):
    plain = book(people=[["age"], [39]])
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        with new.open("xl/media/image1.bin", "w") as part:
            for _ in range(300):
                part.write(bytes(1 << 20))
    assert "would unpack to 300 MiB" in problems(path)


def test_a_part_that_is_larger_than_it_says_is_told(book, tmp_path):
    """A zip entry may lie about its size; the sheet is then damaged."""
    whole = bytearray(book(people=[["age"], *([row] for row in range(5000))]).read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(whole))) as parts:
        info = parts.getinfo("xl/worksheets/sheet1.xml")
    size = info.file_size.to_bytes(4, "little")
    path = tmp_path / "lie.xlsx"
    path.write_bytes(bytes(whole).replace(size, (1000).to_bytes(4, "little")))
    assert "it is damaged, or it is not a workbook" in problems(path)


@pytest.mark.parametrize("ending", [".xls", ".xlsb"])
def test_old_workbooks_are_to_be_saved_anew(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    path.write_bytes(b"x")
    assert "save it as .xlsx" in problems(path)


NAMES = "urn:oasis:names:tc:opendocument:xmlns"
CALC = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="{names}:office:1.0" xmlns:table="{names}:table:1.0" xmlns:text="{names}:text:1.0"
 xmlns:calcext="{calc}" office:version="1.3">
<office:body><office:spreadsheet><table:table table:name="people">
<table:table-row><table:table-cell office:value-type="string"><text:p>age</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>job</text:p></table:table-cell></table:table-row>
{rows}
<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/>
</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"""
ODS_ROW = """<table:table-row{repeat}><table:table-cell office:value-type="float" office:value="{age}"{error}>
<text:p>{age}</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>nurse</text:p>
</table:table-cell></table:table-row>"""


def ods(path, rows):
    content = ODS.format(rows=rows, names=NAMES, calc=CALC).replace("\n", "").replace('"xmlns', '" xmlns')
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        parts.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{manifest}"/>')
        parts.writestr("content.xml", content)
    return path


def test_open_document_sheets(tmp_path):
    rows = "".join(ODS_ROW.format(age=age, repeat="", error="") for age in (39, 40))
    path = ods(tmp_path / "people.ods", rows)
    assert open_path(path, TextForm()).names == ["age", "job"]
    assert read_file(path, ["age", "job"], TextForm()).to_pylist() == [
        {"age": 39, "job": "nurse"},
        {"age": 40, "job": "nurse"},
    ]


def test_faults_of_open_document_sheets(tmp_path):
    error = ODS_ROW.format(age=0, repeat="", error=' calcext:value-type="error"')
    assert "1 cell (cell A2) holds an error" in problems(ods(tmp_path / "a.ods", error))
    many = ODS_ROW.format(age=1, repeat=' table:number-rows-repeated="2000000000"', error="")
    assert "has a cell so far from the others" in problems(ods(tmp_path / "b.ods", many))


def rewritten(path, change, part="xl/worksheets/sheet1.xml", name=None):
    """Change the XML of a sheet as other programs would have written it."""
    with zipfile.ZipFile(path) as old:
        parts = {each: old.read(each) for each in old.namelist()}
    parts[name or part] = change(parts.pop(part).decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for each, content in parts.items():
            new.writestr(each, content)
    return path


ONE_ERROR = [["age"], [39], [40]]


@pytest.mark.parametrize(
    "change",
    [
        lambda xml: xml.replace('<c r="A3"><v>40</v>', "<c r='A3' t='e'><v>#N/A</v>"),
        lambda xml: xml.replace('<c r="A3"><v>40</v>', '<c t="e"><v>#N/A</v>'),
        lambda xml: xml.replace('<c r="A3"><v>40</v>', '<c\n t="e"\n r="A3">\n<v>#N/A</v>'),
        lambda xml: xml.replace('<c r="A3"><v>40</v>', '<c r="A3"><f>1/0</f><v xml:space="preserve"></v>'),
        lambda xml: xml.replace('<c r="A3"><v>40</v>', '<c r="A3">\n  <f>1/0</f>\n  <v/>'),
        lambda xml: xml.replace('<c r="A3"><v>40</v>', '<c r="A3"><f t="shared" si="0"/>'),
    ],
)
@pytest.mark.parametrize("name", ["xl/worksheets/sheet1.xml", "xl/worksheets/Sheet1.XML"])
def test_faults_are_found_however_the_file_is_written(book, change, name):
    assert "1 cell (cell A3) holds" in problems(rewritten(book(people=ONE_ERROR), change, name=name))


def test_odd_markup_takes_no_time_and_gives_no_traceback(book):
    """These were slow, or errors of the library."""
    path = rewritten(book(people=ONE_ERROR), lambda xml: xml.replace("<c r", "<c " * 80_000 + "<c r", 1))
    assert "it is damaged" in problems(path)
    path = rewritten(book("b.xlsx", people=ONE_ERROR), lambda xml: xml.replace('row r="2"', f'row r="{"9" * 5000}"'))
    assert "it is damaged" in problems(path)


def test_bytes_that_do_not_unpack_are_told(book, tmp_path):
    content = bytearray(book(people=[["age"], *([row * 7919 % 1000] for row in range(3000))]).read_bytes())
    for place in range(200, len(content), 97):
        path = tmp_path / "damaged.xlsx"
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :])
        try:
            read_file(path, file_columns(path, TextForm()), TextForm())
        except DataError as error:
            assert "damaged.xlsx" in str(error) or "column" in str(error)


def test_days_before_the_calendar_begins_are_told(book):
    """Excel shows 0 as a day of January 1900, a usual mark for an unknown date; it reads as midnight."""
    path = book(people=[["born"], [datetime.date(1980, 2, 1)], [datetime.date(1980, 3, 1)]])
    path = rewritten(path, lambda xml: xml.replace("<v>29252</v>", "<v>0</v>"))
    assert "column 'born': has times without a date, or days before 1900, among its dates (record 1)" in problems(path)


def test_merged_cells_of_open_documents(tmp_path):
    merged = ODS_ROW.format(age=39, repeat="", error=' table:number-rows-spanned="2"')
    assert "has merged cells in 1 row (row 2)" in problems(ods(tmp_path / "a.ods", merged))
    formula = ODS_ROW.format(age=39, repeat="", error=' table:formula="of:=1/0"').replace(">39<", ">#DIV/0!<")
    assert "1 cell (cell A2) holds an error" in problems(ods(tmp_path / "b.ods", formula))
    empty = ODS_ROW.format(age=39, repeat="", error=' table:formula="of:=A1"').replace(
        ' office:value-type="float" office:value="39"', ""
    )
    assert "1 cell (cell A2) holds a formula without a result" in problems(ods(tmp_path / "c.ods", empty))


def test_a_table_that_begins_far_below(book):
    path = book(people=[*[[]] * 150, ["age"], [39]])
    assert read_file(path, ["age"], TextForm()).to_pylist() == [{"age": 39}]
    assert "  age:" in sudare.draft(book("b.xlsx", people=[*[[]] * 150, ["age"], *[[30 + row] for row in range(50)]]))


COVER = [["Report"], ["As of", "1.1.2024"], ["Made by", "Xmary"]]
PEOPLE = [["age", "job"], *[[30 + row, "nurse"] for row in range(20)]]
BARE = [["xmary", 39.5], *[["xjohn", 40.5]] * 200, ["xmary", 41.5]]
"""Records without a header: the first name comes again, far below."""


@pytest.mark.parametrize(
    ("sheets", "chosen"),
    [
        ({"cover": COVER, "people": PEOPLE}, "people"),
        ({"cover": [["As of", DAY], ["Records", 20]], "people": PEOPLE}, "people"),
        ({"cover": COVER, "notes": [["Notes"], ["see there"]], "bare": BARE, "people": PEOPLE}, "people"),
        ({"bare": BARE, "notes": [["Notes"], ["see there"]]}, "bare"),
        ({"cover": COVER, "bare": BARE}, "cover"),
        ({"bare": [["xmary"], ["xjohn"], ["xmary"]], "ages": [["age"], [39]]}, "ages"),
        ({"people": PEOPLE, "cover": COVER, "more": PEOPLE}, "people"),
        ({"cover": COVER}, "cover"),
        ({"years": [[2023, 2024], [1, 2]], "people": PEOPLE}, "years"),
    ],
)
def test_the_first_sheet_whose_first_row_has_names_is_found(book, sheets, chosen):
    found = find_sheet(book(**sheets))
    assert (found.name, found.full) == (chosen, len(sheets))
    assert found.passed == tuple(sheets)[: list(sheets).index(chosen)]


def test_a_given_sheet_is_not_judged(book):
    path = book(cover=COVER, people=PEOPLE)
    assert find_sheet(path, "cover").name == "cover"
    assert find_sheet(path, 1).above == 1
