"""Ends of ranges: values that many hold stay, and all others become round numbers that as many share."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.table.encode_values import positions
from sudare.table.range_ends import safe_ends


def shown(values, counts, least, kind=None):
    """Return the lower and the upper end that a range shows for each value."""
    array = pa.array(values, kind) if kind is not None else pa.array(values)
    held = np.array(counts, dtype=np.int64)
    found = safe_ends(array, positions(array), held, held, least)
    if found is None:
        return list(values), list(values)
    ends = found.values.to_pylist()
    places = positions(array)
    assert (found.positions[found.low] <= places).all()
    assert (found.positions[found.high] >= places).all()
    return [ends[at] for at in found.low], [ends[at] for at in found.high]


def is_round(number):
    """Say whether a whole number is 1, 2 or 5 times a power of ten, times a whole number that is at least 2."""
    return number == 0 or number % 2 == 0 or number % 5 == 0


def test_values_that_enough_hold_are_shown_as_they_are():
    assert shown([17, 18, 37], [5, 5, 6], 5) == ([17, 18, 37], [17, 18, 37])


def test_an_outlier_becomes_a_round_number_of_its_magnitude():
    low, high = shown([20_000, 30_000, 1_234_567], [9, 9, 1], 5)
    assert (low[2], high[2]) == (0, 2_000_000)


def test_values_that_are_shown_anyway_do_not_hide_a_rare_one():
    # 17 is always shown as 17, so that an end of 18 would say 18 and nothing else
    low, high = shown([17, 18, 40, 41, 42, 43, 44], [9, 1, 1, 1, 1, 1, 1], 5)
    assert high[1] not in (17, 18)
    assert low[1] not in (17, 18)
    assert (low[2:], high[2:]) == ([40] * 5, [45] * 5) or high[2] % 5 == 0


@pytest.mark.parametrize(
    ("days", "least", "expected"),
    [
        (["1950-02-02", "1950-02-07"], 2, ("1950-02-01", "1950-03-01")),
        (["1950-01-15", "1950-03-07"], 2, ("1950-01-01", "1950-04-01")),
        (["1950-01-15", "1950-11-07"], 2, ("1950-01-01", "1951-01-01")),
        (["1951-01-15", "1953-11-07"], 2, ("1950-01-01", "1955-01-01")),
    ],
)
def test_dates_move_to_the_first_of_a_month_a_quarter_a_year_or_several(days, least, expected):
    values = [dt.date.fromisoformat(day) for day in days]
    low, high = shown(values, [1] * len(values), least)
    assert (str(low[0]), str(high[-1])) == expected


def test_times_move_to_full_units_of_the_clock():
    moments = [dt.datetime(2024, 5, 6, 7, 8, 9, 10), dt.datetime(2024, 5, 6, 7, 8, 9, 700)]
    low, high = shown(moments, [1, 1], 2)
    assert (low[0], high[1]) == (dt.datetime(2024, 5, 6, 7, 8, 9), dt.datetime(2024, 5, 6, 7, 8, 10))


def test_times_of_day_stay_within_their_day():
    low, high = shown([dt.time(3, 4, 5), dt.time(23, 59, 59)], [1, 1], 2)
    assert (low[0], high[1]) == (dt.time(0), dt.time(23, 59, 59, 999_999))


def test_dates_stay_within_the_years_that_a_text_can_have():
    low, high = shown([dt.date(1, 3, 4), dt.date(9999, 3, 4)], [1, 1], 2)
    assert (low[0], high[1]) == (dt.date(1, 1, 1), dt.date(9999, 12, 31))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([100, 127], pa.int8()),
        ([2**63 - 2, 2**63 - 1], pa.int64()),
        ([-(2**63), -(2**63) + 1], pa.int64()),
        ([2**64 - 2, 2**64 - 1], pa.uint64()),
        ([Decimal("1.25"), Decimal("3.70")], pa.decimal128(38, 2)),
        ([Decimal(10) ** 37, Decimal(10) ** 37 + 1], pa.decimal128(38, 0)),
        ([0.1, 0.30000000000000004, 1e22], pa.float64()),
        ([1e-300, 1e308], pa.float64()),
        ([-1.7e308, 1.7e308], pa.float64()),
        ([0.1, 0.7], pa.float32()),
        ([dt.timedelta(seconds=5), dt.timedelta(seconds=55)], pa.duration("us")),
        ([dt.datetime(1700, 2, 2), dt.datetime(2262, 1, 1)], pa.timestamp("ns")),
        ([dt.datetime(1900, 2, 2), dt.datetime(2090, 1, 1)], pa.timestamp("s", "Europe/Zurich")),
        ([dt.date(1900, 2, 2), dt.date(2090, 1, 1)], pa.date64()),
    ],
)
def test_every_kind_of_number_moves_outward(values, kind):
    low, high = shown(values, [1] * len(values), 2, kind)
    plain = pa.array(values, kind).to_pylist()
    assert all(end <= value for end, value in zip(low, plain, strict=True))
    assert all(end >= value for end, value in zip(high, plain, strict=True))


whole = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40, unique=True).map(sorted)
fractions = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: value + 0.0), min_size=1, max_size=40, unique=True
).map(sorted)


@settings(max_examples=300, deadline=None)
@given(st.one_of(whole, fractions), st.data(), st.integers(2, 8))
def test_each_end_is_common_or_shared_by_enough_rare_values(values, data, least):
    counts = data.draw(st.lists(st.integers(1, 10), min_size=len(values), max_size=len(values)))
    low, high = shown(values, counts, least)
    rare = [count < least for count in counts]
    width = values[-1] - values[0]
    for ends, outward in ((low, -1), (high, 1)):
        for value, end, few in zip(values, ends, rare, strict=True):
            assert (end - value) * outward >= 0
            if not few:
                assert end == value
                continue
            sharing = sum(n for other, n, seldom in zip(ends, counts, rare, strict=True) if seldom and other == end)
            # else nothing but the magnitude of the whole column shows
            assert sharing >= least or abs(Fraction(end) - Fraction(value)) <= 2 * 10 * max(Fraction(width), 1)
        if all(isinstance(value, int) for value in values):
            assert all(is_round(end) for end, few in zip(ends, rare, strict=True) if few)
