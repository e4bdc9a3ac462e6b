"""Released columns read back: the different cells, what each says, and the numbers and days in their texts."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from sudare.releases import Anything, Choice, Interval
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
