"""Tables of text line up, whatever is in them, and stay plain."""

import pytest

from sudare.core.text_tables import TextColumn, padded, text_table, text_width

LEFT = TextColumn(right=False, gap=0)


def test_columns_line_up():
    assert text_table([LEFT, TextColumn()], [["name", "n"], ["a", "12,345"], ["long name", ""]]) == [
        "name            n",
        "a          12,345",
        "long name",
    ]


def test_wide_letters_take_two_columns():
    lines = text_table([LEFT, TextColumn()], [["病名", "1"], ["flu", "22"], ["ｶﾅ", "3"]])
    assert lines == ["病名   1", "flu   22", "ｶﾅ     3"]
    assert {text_width(line) for line in lines} == {8}
    assert padded("病", 4) == "病  "
    assert padded("long", 2) == "long"


def test_columns_have_a_least_width_and_a_gap():
    columns = [TextColumn(right=False, gap=2, least=5), TextColumn(gap=0, least=4), TextColumn(gap=1)]
    assert text_table(columns, [["a", "b", "c"]]) == ["  a       b c"]


def test_lines_are_never_broken():
    (line,) = text_table([LEFT, TextColumn()], [["x" * 3000, "y" * 3000]])
    assert line == f"{'x' * 3000}  {'y' * 3000}"


@pytest.mark.parametrize("cell", ["[bold]a[/bold]", ":smile:", "[/]", "https://a.example", "1,000", "'quoted'"])
def test_cells_are_text(cell, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert text_table([LEFT, TextColumn()], [[cell, "1"]]) == [f"{cell}  1"]


@pytest.mark.parametrize("cell", ["a\nb", "a\tb", "a\r\nb", "a\u2028b", "a\x85b"])
def test_a_row_is_a_line(cell):
    (line,) = text_table([LEFT, TextColumn()], [[cell, "1"]])
    assert line.split() == ["a", "b", "1"]


def test_many_rows_take_no_time():
    """A command may list as many rows as there are."""
    rows = [[f"name {place}", str(place)] for place in range(100_000)]
    lines = text_table([LEFT, TextColumn()], rows)
    assert len(lines) == len(rows)
    assert {len(line) for line in lines} == {len("name 99999  99999")}
