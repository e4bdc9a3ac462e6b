"""Encoding of single-valued columns: every type that Arrow has for them."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.table import encode_column, smallest


def cells(column):
    """The column as Python values again."""
    values = [*column.values.to_pylist(), None]
    return [values[code] for code in column.codes]


NUMBERS = {
    "int8": (pa.array([3, None, -1], pa.int8()), [3.0, -1.0]),
    "uint8": (pa.array([3, None, 1], pa.uint8()), [3.0, 1.0]),
    "int64": (pa.array([3, None, -(10**15)]), [3.0, -1e15]),
    "float16": (pa.array(np.array([1.5, np.nan, 0.5], np.float16)), [1.5, 0.5]),
    "float32": (pa.array([1.5, None, 0.5], pa.float32()), [1.5, 0.5]),
    "float64": (pa.array([1.5, None, -0.5]), [1.5, -0.5]),
    "decimal32": (pa.array([Decimal("1.50"), None, Decimal("0.25")], pa.decimal32(5, 2)), [1.5, 0.25]),
    "decimal64": (pa.array([Decimal("1.50"), None, Decimal("0.25")], pa.decimal64(5, 2)), [1.5, 0.25]),
    "decimal128": (pa.array([Decimal("1.50"), None, Decimal("0.25")]), [1.5, 0.25]),
    "decimal256": (pa.array([Decimal("1.50"), None, Decimal("0.25")], pa.decimal256(40, 2)), [1.5, 0.25]),
    "date32": (pa.array([date(1970, 1, 11), None, date(1970, 1, 1)]), [10.0, 0.0]),
    "date64": (pa.array([date(1970, 1, 11), None, date(1970, 1, 1)], pa.date64()), [10.0, 0.0]),
    "timestamp s": (pa.array([90, None, 10], pa.timestamp("s")), [90.0, 10.0]),
    "timestamp ms": (pa.array([90, None, 10], pa.timestamp("ms")), [0.09, 0.01]),
    "timestamp us": (pa.array([90, None, 10], pa.timestamp("us")), [90e-6, 10e-6]),
    "timestamp ns": (pa.array([90, None, 10], pa.timestamp("ns")), [90e-9, 10e-9]),
    "timestamp with zone": (pa.array([90, None, 10], pa.timestamp("s", "Asia/Tokyo")), [90.0, 10.0]),
    "time32": (pa.array([time(0, 1), None, time(0, 0, 5)], pa.time32("s")), [60.0, 5.0]),
    "time32 ms": (pa.array([time(0, 1), None, time(0, 0, 5)], pa.time32("ms")), [60.0, 5.0]),
    "time64": (pa.array([time(0, 1), None, time(0, 0, 5)], pa.time64("us")), [60.0, 5.0]),
    "duration": (pa.array([timedelta(days=1), None, timedelta(seconds=3)]), [86400.0, 3.0]),
    "dictionary": (pa.array([3, None, -1]).dictionary_encode(), [3.0, -1.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_everything_on_an_axis_is_numeric(name):
    array, places = NUMBERS[name]
    column = encode_column("c", array)
    assert column.kind == "numeric"
    assert column.codes.tolist() == [1, 2, 0]
    assert column.codes.dtype == np.uint8
    assert (column.missing, column.missing_code, column.size) == (True, 2, 3)
    np.testing.assert_allclose(column.positions, places[::-1])
    assert column.domain == pytest.approx(places[0] - places[1])
    assert column.values.null_count == 0
    assert len(column) == 3


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["b", None, "a"]), ["a", "b"]),
        (pa.array(["b", None, "a"], pa.large_string()), ["a", "b"]),
        (pa.array(["b", None, "a"], pa.string_view()), ["a", "b"]),
        (pa.array(["b", None, "a"]).dictionary_encode(), ["a", "b"]),
        (pa.chunked_array([["b"], [], [None, "a"]]), ["a", "b"]),
        (pa.array([True, None, False]), ["false", "true"]),
    ],
    ids=["string", "large_string", "string_view", "dictionary", "chunked", "bool"],
)
def test_text_and_truth_values_are_categories(array, expected):
    column = encode_column("c", array)
    assert column.kind == "categorical"
    assert column.codes.tolist() == [1, 2, 0]
    assert column.values.to_pylist() == expected
    assert column.positions is None
    assert column.domain == 3.0  # missing counts as one


def test_categories_stand_by_code_point():
    column = encode_column("c", pa.array(["é", "z", "Z", "日", "", "😀"]))
    assert column.values.to_pylist() == ["", "Z", "z", "é", "日", "😀"]


@pytest.mark.parametrize("kind", [None, "numeric", "categorical"])
def test_not_a_number_is_missing_and_minus_zero_is_zero(kind):
    column = encode_column("c", pa.array([math.nan, -0.0, 0.0, None, 1.5]), kind=kind)
    assert column.codes.tolist() == [2, 0, 0, 2, 1]
    assert column.values.to_pylist() == ([0.0, 1.5] if kind != "categorical" else ["0", "1.5"])
    if kind != "categorical":
        assert math.copysign(1, column.values[0].as_py()) == 1


@pytest.mark.parametrize("kind", [None, "numeric", "categorical"])
def test_infinity_is_an_error(kind):
    with pytest.raises(DataError, match=r"column 'c': 2 cells are infinite"):
        encode_column("c", pa.array([math.inf, 1.0, -math.inf]), kind=kind)


def test_infinity_in_text_is_an_error_where_numbers_were_asked_for():
    for text in ("inf", "-Infinity", "+INF"):
        with pytest.raises(DataError, match="1 cell is infinite"):
            encode_column("c", pa.array(["1", text]), kind="numeric")
    assert encode_column("c", pa.array(["1", "inf"])).kind == "categorical"
    with pytest.raises(DataError, match="1 cell is infinite"):
        encode_column("c", pa.array(["1", "1e999"]))


TEXTS = {
    "integers": (["10", " 9 ", "+3", "-1", None], [10, 9, 3, -1, None]),
    "longest integers": (["999999999999999999", "1"], [999999999999999999, 1]),
    "decimals": (["1.5", ".5", "5.", "1e3", "-0.0", "0"], [1.5, 0.5, 5.0, 1000.0, 0.0, 0.0]),
    "not a number": (["1", "NaN", "nan", "2.5"], [1.0, None, None, 2.5]),
    "dates": (["2020-02-29", "1999-12-31"], [date(2020, 2, 29), date(1999, 12, 31)]),
    "times": (
        ["2020-02-28", "2020-02-28T10:00", "2020-02-28 10:00:00.5"],
        [datetime(2020, 2, 28), datetime(2020, 2, 28, 10), datetime(2020, 2, 28, 10, 0, 0, 500000)],
    ),
}


@pytest.mark.parametrize("kind", [None, "numeric"])
@pytest.mark.parametrize("name", TEXTS)
def test_text_that_looks_like_numbers_is_parsed(name, kind):
    texts, expected = TEXTS[name]
    column = encode_column("c", pa.array(texts), kind=kind)
    assert column.kind == "numeric"
    assert cells(column) == expected


def test_nanoseconds_are_not_cut_off():
    column = encode_column("c", pa.array(["2020-02-28 10:00:00.123456789", "2020-02-28 10:00:00.123456788"]))
    assert column.kind == "numeric"
    assert column.codes.tolist() == [1, 0]
    assert column.values.type == pa.timestamp("ns")


@pytest.mark.parametrize(
    "texts",
    [["007", "12"], ["00", "1"], ["-05", "1"], ["a", "1"], ["2020-02-30", "2020-02-28"], ["1", ""], ["1", "2020-01-01"],
     ["1,5", "2,5"], ["0x1F"], ["1 2"], ["١"], ["--1"], ["1e"], ["."], ["true"]],
)  # fmt: skip
def test_text_that_only_partly_looks_like_numbers_stays_text(texts):
    column = encode_column("c", pa.array(texts))
    assert column.kind == "categorical"
    assert cells(column) == texts


def test_leading_zeros_are_numbers_where_that_was_asked_for():
    column = encode_column("c", pa.array(["007", "12", "-05"]), kind="numeric")
    assert cells(column) == [7, 12, -5]


def test_categories_are_not_touched():
    texts = [" 1", "1", "+1", "nan", "1.0"]
    assert cells(encode_column("c", pa.array(texts), kind="categorical")) == texts


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1", "secret", "2", "hidden", None], "2 of 5 cells are not numbers or dates (records 2 and 4)"),
        (["secret"], "1 of 1 cells"),
        (["1", "2020-01-01"], "mixes numbers and dates"),
        (["2020-02-30"], "dates that do not exist"),
    ],
)
def test_junk_is_counted_and_never_shown(texts, message):
    with pytest.raises(DataError) as caught:
        encode_column("c", pa.array(texts), kind="numeric")
    assert message in str(caught.value)
    assert "column 'c'" in str(caught.value)
    assert not any(text in str(caught.value) for text in ("secret", "hidden", "2020"))
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "array",
    [pa.array([b"a"]), pa.array([{"a": 1}]), pa.array([["a"]]), pa.array([(1, 2, 3)], pa.month_day_nano_interval())],
    ids=["binary", "struct", "list", "interval"],
)
def test_other_types_are_refused(array):
    with pytest.raises(DataError, match="column 'c'"):
        encode_column("c", array)


def test_texts_for_missing():
    column = encode_column("c", pa.array(["NA", "1", None, "?"]), missing=["NA", "?"])
    assert cells(column) == [None, 1, None, None]
    assert column.missing


@pytest.mark.parametrize("kind", [None, "numeric", "categorical"])
@pytest.mark.parametrize("array", [pa.nulls(3), pa.nulls(3, pa.string()), pa.nulls(3, pa.float64())])
def test_nothing_but_missing(array, kind):
    column = encode_column("c", array, kind=kind)
    assert column.codes.tolist() == [0, 0, 0]
    assert (column.size, column.missing_code, len(column.values)) == (1, 0, 0)
    if column.positions is not None:
        assert column.domain == 0.0


def test_an_order_of_categories():
    column = encode_column("c", pa.array(["low", "high", None, "middle"]), order=["low", "middle", "high", "more"])
    assert column.values.to_pylist() == ["low", "middle", "high"]
    assert column.codes.tolist() == [0, 2, 3, 1]
    numbers = encode_column("c", pa.array([1, 3, 2]), order=["3", "2", "1"])
    assert (numbers.kind, numbers.codes.tolist()) == ("categorical", [2, 0, 1])
    with pytest.raises(DataError, match="2 of its 3 values are not in the policy's order") as caught:
        encode_column("c", pa.array(["secret", "low", "hidden"]), order=["low"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "kind"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32)],
)
def test_codes_take_the_smallest_type(size, kind):
    assert encode_column("c", pa.array(range(size))).codes.dtype == kind
    assert smallest(np.arange(size), size).dtype == kind


def test_a_missing_value_takes_a_code_too():
    assert encode_column("c", pa.array([*range(256), None])).codes.dtype == np.uint16
    assert encode_column("c", pa.array([*range(255), None])).codes.dtype == np.uint8


def test_nothing_overflows_at_the_ends_of_the_axis():
    wide = encode_column("c", pa.array([-1.7e308, 0.0, 1.7e308]))
    assert math.isfinite(wide.domain)
    assert (wide.positions[1] - wide.positions[0]) / wide.domain == pytest.approx(0.5)
    long = encode_column("c", pa.array([-(2**63), 0, 2**63 - 1]))
    assert (long.positions[1] - long.positions[0]) / long.domain == pytest.approx(0.5)
    near = encode_column("c", pa.array([2**62, 2**62 + 1, 2**62 + 4]))
    assert (np.diff(near.positions) / near.domain).tolist() == [0.25, 0.75]
    assert encode_column("c", pa.array([2**64 - 1, 2**64 - 3], pa.uint64())).domain == 2.0


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1))
def test_any_text_comes_back(texts):
    column = encode_column("c", pa.array(texts, pa.string()), kind="categorical")
    assert cells(column) == texts
    assert column.values.to_pylist() == sorted(set(texts) - {None}, key=lambda text: text.encode())


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_any_integer_comes_back(numbers):
    column = encode_column("c", pa.array(numbers, pa.int64()))
    assert cells(column) == numbers
    assert (np.diff(column.positions) >= 0).all()
    assert math.isfinite(column.domain)


def test_the_weight_is_kept():
    assert encode_column("c", pa.array([1]), weight=2.5).weight == 2.5
