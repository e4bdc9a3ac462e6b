"""Ends of released cells on an axis: numbers, days, seconds."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.releases.numeric.spans import read_spans, spans_on

DAY = date(1970, 1, 1).toordinal()


def texts(*cells):
    return pa.array(cells, pa.large_string())


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("39", 39, 39), ("-1.5", -1.5, -1.5), ("1e+300", 1e300, 1e300), ("[17, 25]", 17, 25),
        ("[-1.5, 1e+300]", -1.5, 1e300), ("[0.5, 1)", 0.5, 1), ("[-3, -1]", -3, -1),
        ("20-39", 20, 39), ("[60-70)", 60, 70), ("[0-4]", 0, 4), ("-5-4", -5, 4),
    ],
)  # fmt: skip
def test_numbers(text, low, high):
    found = read_spans(texts(text))
    assert (found.axis, found.low.tolist(), found.high.tolist()) == ("number", [low], [high])


@pytest.mark.parametrize(
    "text",
    ["", "x", "*", "012", "[1, x]", "[5, 1]", "[1, 2", "1, 2", "39-20", "1-2-3", "nan", "inf", "1e999", "-", ".",
     "{1, 2}", "90+", "902**", "٣"],
)  # fmt: skip
def test_what_is_no_number(text):
    found = spans_on("number", texts(text))
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert not found.known.any()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2020-02-29", date(2020, 2, 29), date(2020, 2, 29)),
        ("[2020-01-01, 2020-03-31]", date(2020, 1, 1), date(2020, 3, 31)),
        ("2020-Q1", date(2020, 1, 1), date(2020, 3, 31)),
        ("2020-02", date(2020, 2, 1), date(2020, 2, 29)),
        ("[1969-12-31, 1970-01-02]", date(1969, 12, 31), date(1970, 1, 2)),
    ],
)
def test_days(text, low, high):
    found = read_spans(texts(text, None))
    assert found.axis == "day"
    assert (found.low[0], found.high[0]) == (low.toordinal() - DAY, high.toordinal() - DAY)
    assert found.whole
    assert np.isnan(found.low[1])


def test_a_moment_is_a_part_of_its_day():
    found = read_spans(texts("[1970-01-01T06:00:00, 1970-01-02T12:00:00]"))
    assert (found.low[0], found.high[0], found.whole) == (0.25, 1.5, False)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("08:30:00", 30600, 30600), ("[00:00:01.5, 00:01:00]", 1.5, 60), ("PT90S", 90, 90), ("[PT-1.5S, PT3S]", -1.5, 3)],
)
def test_seconds(text, low, high):
    found = read_spans(texts(text))
    assert (found.axis, found.low[0], found.high[0], found.whole) == ("second", low, high, False)


def test_a_year_is_a_number_unless_others_are_dates():
    assert read_spans(texts("2020", "2021")).axis == "number"
    assert read_spans(texts("2020", "2021-03-04")).axis == "day"


@pytest.mark.parametrize("cells", [("1", "x"), ("2020-01-01", "x"), ("1", "08:30"), (None, None), ()])
def test_cells_that_share_no_axis_have_none(cells):
    assert read_spans(texts(*cells)) is None


@pytest.mark.parametrize(
    ("cells", "whole"), [(("1", "[2, 3]"), True), (("1", "[2, 3.5]"), False), (("[1, 2)",), False), (("[6-7)",), False)]
)
def test_whole_numbers(cells, whole):
    assert read_spans(texts(*cells)).whole is whole


@given(st.lists(st.tuples(st.integers(-(10**15), 10**15), st.integers(0, 10**6)), min_size=1))
def test_intervals_of_whole_numbers_come_back(ends):
    cells = [f"[{low}, {low + more}]" if more else str(low) for low, more in ends]
    found = read_spans(texts(*cells))
    assert found.low.tolist() == [low for low, _ in ends]
    assert found.high.tolist() == [low + more for low, more in ends]
    assert found.whole


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_intervals_of_fractions_come_back(one, other):
    low, high = min(one, other), max(one, other)
    found = spans_on("number", texts(f"[{low!r}, {high!r}]"))
    assert (found.low[0], found.high[0]) == (low, high)


@given(st.lists(st.one_of(st.none(), st.text(max_size=12))))
def test_any_text_is_read_or_not(cells):
    found = read_spans(texts(*cells))
    if found is not None:
        there = [place for place, cell in enumerate(cells) if cell is not None]
        assert np.all(found.low[there] <= found.high[there])
