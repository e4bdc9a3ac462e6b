"""Text files as programs write them: titles, blank lines, lines of nothing but delimiters, delimiters at line ends."""

from __future__ import annotations

import gzip

import pytest

from sudare.core.errors import DataError
from sudare.engines import TextForm, file_columns, open_file, read_file, unpacked_size

HEADER, ROWS = "age;job;note", ["34;nurse;a", "36;cook;"]


def both(path, text, form=None, columns=("age", "job", "note")):
    """Return the records of a file, read as a whole and as a stream; both must be the same."""
    form = form or TextForm()
    path.write_bytes(text.encode(form.encoding))
    whole = read_file(path, list(columns), form)
    stream = open_file(path, list(columns), form, stream=True)
    assert stream.table().to_pylist() == whole.to_pylist()
    return whole.to_pylist()


PLAIN = [{"age": "34", "job": "nurse", "note": "a"}, {"age": "36", "job": "cook", "note": None}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", ";;", ";;\n", ";;\n;;\n\n;;\n"])
def test_lines_without_cells_are_no_records(tmp_path, end, last):
    text = "\n".join([HEADER, ROWS[0], "", ";;", ROWS[1], last])
    assert both(tmp_path / "people.csv", text.replace("\n", end)) == PLAIN


@pytest.mark.parametrize("column", ["age", "note"])
def test_a_record_is_told_by_columns_that_nobody_asked_for(tmp_path, column):
    text = "\n".join([HEADER, ";nurse;", ";;", ROWS[1]])
    expected = [{column: None}, {column: "36" if column == "age" else None}]
    assert both(tmp_path / "people.csv", text, columns=[column]) == expected


def test_texts_for_missing_are_no_empty_line(tmp_path):
    assert len(both(tmp_path / "people.csv", f"{HEADER}\nNA;NA;NA\n;;\n{ROWS[0]}\n", TextForm(missing=("", "NA")))) == 2


def test_blank_lines_of_a_single_column_are_missing_cells(tmp_path):
    assert both(tmp_path / "people.csv", "age\n34\n\n36\n", columns=["age"]) == [
        {"age": "34"}, {"age": None}, {"age": "36"},
    ]  # fmt: skip


def test_long_files_lose_the_same_lines_as_a_stream(tmp_path):
    lines = [f"{row};job {row % 9};note {row % 90}" if row % 1000 else ";;" for row in range(600_000)]
    found = both(tmp_path / "people.csv", "\n".join([HEADER, *lines]))
    assert len(found) == 599_400


@pytest.mark.parametrize("named", [HEADER, f"{HEADER};", f"{HEADER};;"])
def test_delimiters_at_the_ends_of_lines(tmp_path, named):
    rows = [row + ";" * max(named.count(";") - 2, 1) for row in ROWS]
    assert both(tmp_path / "people.csv", "\n".join([named, *rows])) == PLAIN
    assert file_columns(tmp_path / "people.csv", TextForm()) == ["age", "job", "note"]


def test_a_cell_behind_the_last_name_is_told(tmp_path):
    path = tmp_path / "people.csv"
    for stream in (False, True):
        path.write_text(f"{HEADER};\n{ROWS[0]};\n{ROWS[1]};secret\n")
        with pytest.raises(DataError) as raised:
            open_file(path, ["age"], TextForm(), stream=stream).table()
        assert "1 cell stands behind the last of its 3 named columns" in str(raised.value)
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("above", [1, 3])
def test_lines_above_the_header_are_skipped(tmp_path, above):
    title = "\n".join(["Export; of today", 'with "quotes', "and; more; marks"][:above])
    assert both(tmp_path / "people.csv", "\n".join([title, HEADER, *ROWS]), TextForm(skip_rows=above)) == PLAIN


@pytest.mark.parametrize("setting", ["sep=;", '"sep=;"'])
def test_the_setting_of_spreadsheet_programs(tmp_path, setting):
    assert both(tmp_path / "people.csv", "\n".join([setting, HEADER, *ROWS])) == PLAIN
    assert (
        both(tmp_path / "people.csv", "\n".join(["sep=|", *[row.replace(";", "|") for row in [HEADER, *ROWS]]]))
        == PLAIN
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_encodings(tmp_path, encoding):
    form = TextForm(encoding=encoding if encoding != "utf-8-sig" else "utf-8")
    path = tmp_path / "people.csv"
    path.write_bytes("größe;straße\n1;ä\n".encode(encoding))
    assert read_file(path, ["größe", "straße"], form).to_pylist() == [{"größe": "1", "straße": "ä"}]


def test_quoted_line_breaks(tmp_path):
    text = 'age;note\n34;"a\nb;c"\n;\n36;"""d"""\n'
    assert both(tmp_path / "people.csv", text, columns=["age", "note"]) == [
        {"age": "34", "note": "a\nb;c"}, {"age": "36", "note": '"d"'},
    ]  # fmt: skip


def test_headers_that_repeat_a_name_are_told_by_name(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;job;age;job\n1;2;3;4\n")
    with pytest.raises(DataError) as raised:
        file_columns(path, TextForm())
    assert "columns 1 and 3 have the same name, 'age'" in str(raised.value)
    assert "columns 2 and 4 have the same name, 'job'" in str(raised.value)


def test_a_first_record_is_not_told(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Meier;M;34;Meier\nHuber;F;35;Huber\n")
    with pytest.raises(DataError, match="columns 1 and 4 have the same name") as raised:
        file_columns(path, TextForm())
    assert "Meier" not in str(raised.value)


def test_compressed_text_is_judged_by_what_it_unpacks_to(tmp_path):
    """A file that would fill the memory is read piece by piece, however small it is."""
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age;job\n" + b"34;nurse\n" * 2_000_000))
    assert 10_000_000 < unpacked_size(path) < 40_000_000
    assert path.stat().st_size < 100_000
    assert unpacked_size(tmp_path / "people.csv.gz") > 100 * path.stat().st_size


@pytest.mark.parametrize("stream", [False, True])
def test_a_quotation_mark_without_its_end_is_told(tmp_path, stream):
    """Everything up to the next one would be a single cell, with other people's names in it."""
    rows = [f"{30 + row};nurse;Meier {row};M" for row in range(40)]
    rows[10], rows[20] = '40;"gout;Meier 10;M', '50;gout";Meier 20;M'
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age;job;name;sex", *rows]) + "\n")
    with pytest.raises(DataError) as raised:
        open_file(path, ["age", "sex"], TextForm(), stream=stream).table()
    assert "a quoted field of one record holds what looks like whole records (record 11)" in str(raised.value)
    assert "Meier" not in str(raised.value)


@pytest.mark.parametrize("columns", [2, 3, 4, 7])
@pytest.mark.parametrize("later", [1, 2, 5])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quotation_mark_in_any_column_swallows_no_records(tmp_path, columns, later, end):
    """Two of them in the same column of different records part neither into too many fields nor into too few."""
    for column in range(columns):
        rows = [[f"{name}{row}" for name in "abcdefg"[:columns]] for row in range(20)]
        rows[9][column] = '"' + rows[9][column]
        rows[9 + later][column] += '"'
        text = end.join(";".join(row) for row in [list("ABCDEFG"[:columns]), *rows, []])
        path = tmp_path / "people.csv"
        path.write_bytes(text.encode())
        for stream in (False, True):
            with pytest.raises(DataError, match=r"whole records \(record 10\)"):
                open_file(path, ["A"], TextForm(), stream=stream).table()


@pytest.mark.parametrize("mark", ["\x0c", "\x0b", "\x1e", "\x85", "\u2028"])
def test_marks_that_only_python_takes_for_line_ends_hide_no_swallowed_record(tmp_path, mark):
    rows = [f"a{row};b{row}{mark};c{row}" for row in range(20)]
    rows[9], rows[10] = f'a9;"b9{mark};c9', f'a10;b10{mark}";c10'
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["A;B;C", *rows, ""]), encoding="utf-8", newline="")
    with pytest.raises(DataError, match=r"whole records \(record 10\)"):
        open_file(path, ["A"], TextForm(), stream=False).table()


@pytest.mark.parametrize("columns", [2, 3, 4, 7])
@pytest.mark.parametrize("record", [5, 18])
def test_a_quotation_mark_that_never_ends_is_no_cell(tmp_path, columns, record):
    rows = [[f"{name}{row}" for name in "abcdefg"[:columns]] for row in range(20)]
    rows[record][-1] = '"' + rows[record][-1]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(";".join(row) for row in [list("ABCDEFG"[:columns]), *rows, []]))
    with pytest.raises(DataError, match=rf"whole records \(record {record + 1}\)"):
        open_file(path, ["A"], TextForm(), stream=False).table()


def test_letters_with_line_breaks_are_no_records(tmp_path):
    letter = '"Dear colleague,\n\nhe slept; ate; drank.\nYours"'
    text = "\n".join(["age;job;note;sex", *[f"{row};nurse;{letter};F" for row in range(30)]])
    assert len(both(tmp_path / "people.csv", text, columns=["age", "note"])) == 30
    narrow = "\n".join(["note;sex", *[f"{letter};F" for _ in range(30)]])
    assert len(both(tmp_path / "people.csv", narrow, columns=["note"])) == 30


def test_a_header_with_nul_is_told(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a\0,b\n1,2\n3,4\n")
    with pytest.raises(DataError, match="NUL"):
        file_columns(path, TextForm())


def test_endings_in_capitals(tmp_path):
    path = tmp_path / "PEOPLE.CSV.GZ"
    path.write_bytes(gzip.compress(b"age,job\n1,x\n"))
    with pytest.raises(DataError, match=r"write \.gz in small letters"):
        file_columns(path, TextForm())


def test_words_alone_may_be_a_record(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Anna;HIV;HIV\nBob;Flu;Gout\n")
    with pytest.raises(DataError, match="if it is a record, put a line with names above it") as raised:
        file_columns(path, TextForm())
    assert "HIV" not in str(raised.value)
