"""Normal texts: one value is one text, whatever type and spelling a source gives it."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sudare.transformations.normal_texts import normal_texts

TABLE = {
    "": None,
    "   ": None,
    "\u00a0\t": None,
    "1": "1",
    " 1 ": "1",
    "1.0": "1",
    "1.00": "1",
    "1.": "1",
    "-1.50": "-1.5",
    "0.10": "0.1",
    ".5": "0.5",
    "-.5": "-0.5",
    ".0": "0",
    "0": "0",
    "-0": "0",
    "-0.00": "0",
    "10": "10",
    "100.0": "100",
    "\u00a01.00\u3000": "1",
    # codes
    "007": "007",
    "007.50": "007.50",
    "-07": "-07",
    "00": "00",
    "1e5": "1e5",
    "+1": "+1",
    "1,0": "1,0",
    "1.2.0": "1.2.0",
    "-": "-",
    ".": ".",
    "-.": "-.",
    "١.٠": "١.٠",
    # large numbers are exact
    "123456789012345678901234567890.10": "123456789012345678901234567890.1",
    # composed
    "e\u0301": "\u00e9",
    "\u212b": "\u00e5".upper(),
    "Ab c": "Ab c",
    # moments
    "2024-01-05": "2024-01-05",
    "2024-01-05 10:00:00": "2024-01-05T10:00:00",
    "2024-01-05T10:00:00": "2024-01-05T10:00:00",
    "2024-01-05T10:00:00.000": "2024-01-05T10:00:00",
    "2024-01-05 10:00:00.500000": "2024-01-05T10:00:00.5",
    "2024-01-05 10:00": "2024-01-05T10:00:00",
    "2024-01-05T00:00:00": "2024-01-05",
    "2024-01-05 00:00": "2024-01-05",
    "2024-01-05 00:00:00.000": "2024-01-05",
    "2024-01-05 00:00:00.001": "2024-01-05T00:00:00.001",
    "2024-01-05T12:00:00+02:00": "2024-01-05T10:00:00Z",
    "2024-01-05 12:00:00+0200": "2024-01-05T10:00:00Z",
    "2024-01-05T12:00:00.50+02": "2024-01-05T10:00:00.5Z",
    "2024-01-05T10:00:00Z": "2024-01-05T10:00:00Z",
    "2024-01-05T00:00:00Z": "2024-01-05T00:00:00Z",
    "2024-01-01T00:30:00+01:00": "2023-12-31T23:30:00Z",
    # which only begin like moments
    "2024-01-05 10:00:00 h": "2024-01-05 10:00:00 h",
    "2024-01-05 10:00:001": "2024-01-05 10:00:001",
    "2024-01-05 10:00:00.": "2024-01-05 10:00:00.",
    "2024-13-45T10:00:00+02:00": "2024-13-45T10:00:00+02:00",
    "2024-01-05x10:00:00": "2024-01-05x10:00:00",
    "0001-01-01T00:00:00+02:00": "0001-01-01T00:00:00+02:00",
}


def one(value, kind=None):
    [found] = normal_texts(pa.array([value], kind)).to_pylist()
    return found


@pytest.mark.parametrize("text", TABLE)
def test_table(text):
    assert one(text) == TABLE[text]


def test_all_at_once_in_any_part_of_an_array():
    texts = [None, *TABLE, None]
    wanted = [None, *TABLE.values(), None]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        cells = pa.array(texts, pa.string()).cast(kind) if pa.types.is_dictionary(kind) else pa.array(texts, kind)
        found = normal_texts(cells)
        assert found.type == pa.large_string()
        found.validate(full=True)
        assert found.to_pylist() == wanted
        for first, count in ((0, 5), (3, 11), (len(texts) - 1, 1), (5, 0)):
            assert normal_texts(cells.slice(first, count)).to_pylist() == wanted[first : first + count]


SAME = [
    ("1", 1, 1.0, Decimal("1.00"), np.float32(1), np.int8(1)),
    ("0", 0, -0.0, Decimal("-0.0")),
    ("-12.5", -12.5, Decimal("-12.500"), np.float32(-12.5)),
    ("0.1", 0.1, Decimal("0.10"), np.float32(0.1)),
    ("0.0000001", 1e-7, Decimal("0.0000001")),
    ("9007199254740993", 2**53 + 1, Decimal("9007199254740993.0")),
    ("1152921504606846976", 2**60, 2.0**60),
    ("100000000000000000000", 1e20, Decimal("100000000000000000000")),
    ("true", True),
    ("2024-01-05", dt.date(2024, 1, 5), dt.datetime(2024, 1, 5)),
    ("2024-01-05T10:00:00", dt.datetime(2024, 1, 5, 10)),
    ("2024-01-05T10:00:00.25", dt.datetime(2024, 1, 5, 10, 0, 0, 250_000)),
    ("2024-01-05T09:00:00Z", dt.datetime(2024, 1, 5, 10, tzinfo=dt.timezone(dt.timedelta(hours=1)))),
    ("10:20:30", dt.time(10, 20, 30)),
    (None, float("nan"), None),
]


@pytest.mark.parametrize("values", SAME, ids=lambda values: str(values[0]))
def test_types_agree(values):
    assert [one(value) for value in values[1:]] == [values[0]] * (len(values) - 1)
    assert one(values[0]) == values[0]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units_of_time_agree(unit):
    moments = [dt.datetime(2024, 1, 5), dt.datetime(1950, 12, 31, 23, 59, 59), None]
    cells = pa.array(moments, pa.timestamp(unit))
    assert normal_texts(cells).to_pylist() == ["2024-01-05", "1950-12-31T23:59:59", None]
    zoned = cells.cast(pa.timestamp(unit, "Europe/Berlin"))
    assert normal_texts(zoned).to_pylist() == ["2024-01-05T00:00:00Z", "1950-12-31T23:59:59Z", None]


def test_odd_types():
    assert one(0.5, pa.float16()) == "0.5"
    assert one(dt.date(2024, 1, 5), pa.date64()) == "2024-01-05"
    assert one(Decimal("1E3"), pa.decimal128(5, -2)) == "1000"
    assert one(Decimal("1E-9"), pa.decimal128(12, 10)) == "0.000000001"
    assert one(float("inf")) == "inf"
    assert one(None) is None
    assert normal_texts(pa.array([], pa.string())).to_pylist() == []
    assert normal_texts(pa.nulls(2)).to_pylist() == [None, None]
    assert normal_texts(pa.array([1.0, 2.5, 1e300, None])).to_pylist() == ["1", "2.5", str(int(1e300)), None]


def naive(text):
    """The rules of the module, for texts that are no moments."""
    text = unicodedata.normalize("NFC", text).strip()
    if not text:
        return None
    if re.fullmatch(r"-?(0|[1-9][0-9]*|(?=\.[0-9]))(\.[0-9]*)?", text):
        plain = format(Decimal(text), "f")
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        return "0" if plain in ("-0", "0") else plain
    return text


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.text(alphabet="0123456789.-+e \t\u00a0\x1f", max_size=8),
            st.text(max_size=6),
            st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000).map(str),
        ),
        max_size=20,
    )
)
@example(["\x1c\u00a0\x1f1.0"])
@example(["\u037e", "\u2000x"])
def test_against_the_naive_rules(texts):
    found = normal_texts(pa.array(texts, pa.string()))
    assert found.to_pylist() == [None if text is None else naive(text) for text in texts]
    assert normal_texts(found).equals(found)


@given(st.datetimes(min_value=dt.datetime(1, 1, 2), max_value=dt.datetime(9999, 12, 30)), st.integers(-14, 14))
def test_moments_as_texts_and_as_timestamps(moment, hours):
    cell = pa.array([moment], pa.timestamp("us"))
    assert one(moment.isoformat()) == one(moment.isoformat(" ")) == normal_texts(cell)[0].as_py()
    zoned = moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=hours)))
    cell = pa.array([zoned.astimezone(dt.UTC)], pa.timestamp("us", "Asia/Tokyo"))
    assert one(zoned.isoformat()) == normal_texts(cell)[0].as_py()
    assert one(one(zoned.isoformat())) == one(zoned.isoformat())


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_themselves(number):
    text = one(number)
    assert float(text) == number
    assert "e" not in text.lower()
    assert one(text) == text
