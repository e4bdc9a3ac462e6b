"""Released columns read back: the different cells, what each says, and the numbers and days in their texts."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sudare.releases import Anything, Choice, Interval, parse_cell
from sudare.releases.cell_reader import HalfOpen, distinct, label_of, read_cell, read_cells
from sudare.releases.cell_values import days_in, is_written_number

TEXTS = ["[1, 5]", None, "*", "[1, 5]", "{a, null}", None, "日本"]


def shapes(values):
    """The same cells as text, with a dictionary, and with a dictionary for each chunk."""
    plain = pa.array(values, pa.string())
    yield pa.chunked_array([plain])
    yield pa.chunked_array([plain.dictionary_encode()])
    yield pa.chunked_array([plain[:3].dictionary_encode(), plain[3:].dictionary_encode()])
    unused = pa.DictionaryArray.from_arrays(
        pa.array([None if value is None else 1 + TEXTS.index(value) for value in values]), pa.array(["unused", *TEXTS])
    )
    yield pa.chunked_array([unused])


@pytest.mark.parametrize("cells", list(shapes(TEXTS)), ids=["text", "coded", "chunks", "unused"])
def test_each_row_has_the_number_of_its_cell(cells):
    found = read_cells(cells)
    texts = found.texts.to_pylist()
    assert [texts[number] for number in found.of_row.tolist()] == TEXTS
    assert len(found) == len(set(TEXTS))
    assert texts[-1] is None
    assert found.cells[found.of_row[0]] == Interval("1", "5")
    ordered = found.in_order()
    assert ordered.texts.to_pylist() == [*sorted(text for text in set(TEXTS) if text is not None), None]
    assert [ordered.texts.to_pylist()[number] for number in ordered.of_row.tolist()] == TEXTS


def test_not_a_number_is_a_missing_cell():
    found = read_cells(pa.chunked_array([pa.array([np.nan, 2.0, None])]))
    assert found.of_row.tolist() == [1, 0, 1]
    assert found.texts.to_pylist() == ["2", None]


@pytest.mark.parametrize("cells", [pa.nulls(0), pa.nulls(3), pa.array([], pa.string())])
def test_columns_without_values_are_read(cells):
    numbers, values = distinct(cells)
    assert numbers.tolist() == [0] * len(cells)
    assert values.null_count == len(values) == min(len(cells), 1)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("[1, 5]", Interval("1", "5")), ("[0, 2.5)", HalfOpen("0", "2.5")), ("*", Anything()), (None, None),
        ("{a, b}", Choice(("a", "b"))), ("[x, y)", "[x, y)"), ("[01, 02)", "[01, 02)"), ('"*"', "*"),
    ],
)  # fmt: skip
def test_a_cell_is_read(text, cell):
    assert read_cell(text) == cell


def test_a_band_is_a_label_as_well():
    assert label_of(read_cell("[0, 2.5)")) == "[0, 2.5)"
    assert label_of(read_cell("[0, 2]")) is None
    assert label_of(read_cell("{a, b}")) is None


def test_ends_are_found_many_at_once():
    low, high = read_cells(pa.array(["[1, 5]", "7", "*", None])).ends()
    assert low.to_pylist() == ["1", "7", "*", None]
    assert high.to_pylist() == ["5", "7", "*", None]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("2020-Q1", (2020, 1, 1), (2020, 3, 31)), ("1999-Q4", (1999, 10, 1), (1999, 12, 31)),
     ("2020-02", (2020, 2, 1), (2020, 2, 29)), ("2020", (2020, 1, 1), (2020, 12, 31))],
)  # fmt: skip
def test_quarters_and_months_are_days(text, first, last):
    assert days_in(text) == (date(*first).toordinal(), date(*last).toordinal())


@pytest.mark.parametrize("text", ["2020-Q5", "20-Q1", "Q1", "2020-Q1x", "0000-Q1"])
def test_what_is_no_quarter_is_no_day(text):
    assert days_in(text) is None


def test_codes_with_leading_zeros_are_no_numbers():
    assert is_written_number("12")
    assert not is_written_number("012")


@pytest.mark.parametrize(
    "cell",
    [
        None, "", float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"),
        Decimal("NaN"),
    ],
)  # fmt: skip
def test_missing_values_of_all_libraries_are_missing(cell):
    assert parse_cell(cell) is None


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (39, "39"), (39.0, "39"), (-0.5, "-0.5"), (np.int64(7), "7"), (np.float32(0.5), "0.5"),
        (Decimal("1.50"), "1.50"),
        (True, "true"), (np.bool_(False), "false"), (date(2020, 1, 5), "2020-01-05"),
        (datetime(2020, 1, 5), "2020-01-05"), (datetime(2020, 1, 5, 6, 30), "2020-01-05T06:30:00"),
        (datetime(2020, 1, 5, tzinfo=UTC), "2020-01-05T00:00:00+00:00"), (pd.Timestamp("2020-01-05"), "2020-01-05"),
        (pd.Timestamp("2020-01-05 06:30"), "2020-01-05T06:30:00"), (np.datetime64("2020-01-05"), "2020-01-05"),
        (np.datetime64("2020-01-05T00:00:00", "ns"), "2020-01-05"), (time(8, 30), "08:30:00"),
        (timedelta(seconds=90), "PT90S"), (pd.Timedelta(milliseconds=1500), "PT1.5S"), (np.str_("x"), "x"),
    ],
)  # fmt: skip
def test_values_that_are_no_text_are_read_as_a_release_writes_them(cell, text):
    assert parse_cell(cell) == text


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_cells_of_frames_are_read(frame):
    columns = {"age": ["[1, 5]", None, ""], "day": [date(2020, 1, 1), None, date(2020, 1, 2)], "n": [1.0, None, 2.5]}
    found = {name: [parse_cell(cell) for cell in frame(columns)[name].to_list()] for name in columns}
    assert found == {
        "age": [Interval("1", "5"), None, None], "day": ["2020-01-01", None, "2020-01-02"], "n": ["1", None, "2.5"],
    }  # fmt: skip
